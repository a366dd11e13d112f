"""Recurrent networks as modules: layers above one another, in one direction or two.

What they have in common is in rnn_base.py, their single steps in rnn_cells.py. Invariant: all of the family can be
imported from here.
"""

from __future__ import annotations

from typing import Any

from ...engine.core.tensor import Tensor
from .rnn_base import RNNBase, zeros
from .rnn_cells import GRUCell, LSTMCell, RNNCell, RNNCellBase

__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNBase", "RNNCell", "RNNCellBase"]

ONLY_LSTM = "proj_size argument is only supported for LSTM, not RNN or GRU"


class RNN(RNNBase):
    """A plain recurrent network: h = tanh(w_ih x + b_ih + w_hh h + b_hh), or relu of it.

    Args:
        input_size: features of the input.
        hidden_size: features of the state.
        num_layers: layers above one another.
        nonlinearity: "tanh" or "relu".
        bias: whether layers have biases.
        batch_first: input and output are (batch, time, features).
        dropout: probability of dropout after each layer but the last.
        bidirectional: each layer also runs from the end to the beginning.
        device: where the parameters are.
        dtype: their type.

    Shape:
        (time, batch, input_size) to (time, batch, directions * hidden_size), and the last state (num_layers *
        directions, batch, hidden_size).

    Example:
        >>> import vistorch
        >>> out, hn = vistorch.nn.RNN(3, 4, num_layers=2)(vistorch.ones(5, 1, 3))
        >>> out.shape, hn.shape
        (vistorch.Size([5, 1, 4]), vistorch.Size([2, 1, 4]))
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError(ONLY_LSTM)
        if len(args) > 3:
            nonlinearity, args = args[3], args[:3] + args[4:]
        else:
            nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(f"RNN_{nonlinearity.upper()}", *args, **kwargs)
        self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    """A long short-term memory network.

    Each step computes gates i, f, o = sigmoid(...) and g = tanh(...) of w_ih x + b_ih + w_hh h + b_hh, then
    c = f * c + i * g and h = o * tanh(c), times w_hr where there is a projection.

    Args:
        input_size: features of the input.
        hidden_size: features of the state.
        num_layers: layers above one another.
        bias: whether layers have biases.
        batch_first: input and output are (batch, time, features).
        dropout: probability of dropout after each layer but the last.
        bidirectional: each layer also runs from the end to the beginning.
        proj_size: project h to so many features; 0 for none.
        device: where the parameters are.
        dtype: their type.

    Shape:
        (time, batch, input_size) to (time, batch, directions * (proj_size or hidden_size)), and the last states
        h and c, (num_layers * directions, batch, ...).

    Example:
        >>> import vistorch
        >>> out, (hn, cn) = vistorch.nn.LSTM(3, 4, bidirectional=True)(vistorch.ones(5, 1, 3))
        >>> out.shape, hn.shape, cn.shape
        (vistorch.Size([5, 1, 8]), vistorch.Size([2, 1, 4]), vistorch.Size([2, 1, 4]))
    """

    _letter = "D"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def get_expected_cell_size(self, input: Tensor, batch_sizes: Tensor | None) -> tuple[int, int, int]:
        """The shape of the cell state that goes with an input.

        Args:
            input: what the network is given.
            batch_sizes: of a packed input.

        Example:
            >>> import vistorch
            >>> lstm, x = vistorch.nn.LSTM(2, 3, proj_size=1), vistorch.ones(5, 7, 2)
            >>> lstm.get_expected_cell_size(x, None), lstm.get_expected_hidden_size(x, None)
            ((1, 7, 3), (1, 7, 1))
        """
        return self._expected(input, batch_sizes, self.hidden_size)

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Refuse an input or states that the network cannot take.

        Args:
            input: what the network is given.
            hidden: the first states h and c.
            batch_sizes: of a packed input.
        """
        self.check_input(input, batch_sizes)
        shapes = self.get_expected_hidden_size, self.get_expected_cell_size
        for at, shape in enumerate(shapes):
            said = f"Expected hidden[{at}] size {{}}, got {{}}"
            self.check_hidden_size(hidden[at], shape(input, batch_sizes), said)

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """Both states with the batch in another order.

        Args:
            hx: h and c.
            permutation: the order; None to leave them.
        """
        if permutation is None:
            return hx
        return tuple([super(LSTM, self).permute_hidden(state, permutation) for state in hx[:2]])

    def _zero_state(self, input: Tensor, batch_sizes: Tensor | None) -> Any:
        cell = zeros(self.get_expected_cell_size(input, batch_sizes), dtype=input.dtype, device=input.device)
        return super()._zero_state(input, batch_sizes), cell

    def _check_dims(self, hx: Any, dims: int, kind: str) -> None:
        h, c = hx[0].dim(), hx[1].dim()
        if h != dims or c != dims:
            raise RuntimeError(
                f"For {kind} {dims}-D input, hx and cx should also be {dims}-D but got ({h}-D, {c}-D) tensors"
            )

    def _with_batch(self, hx: Any) -> Any:
        return hx[0].unsqueeze(1), hx[1].unsqueeze(1)

    def _without_batch(self, hx: Any) -> Any:
        return hx[0].squeeze(1), hx[1].squeeze(1)


class GRU(RNNBase):
    """A network of gated recurrent units.

    Each step computes gates r, z = sigmoid(...) and n = tanh(w_in x + b_in + r * (w_hn h + b_hn)), then
    h = (1 - z) * n + z * h.

    Args:
        input_size: features of the input.
        hidden_size: features of the state.
        num_layers: layers above one another.
        bias: whether layers have biases.
        batch_first: input and output are (batch, time, features).
        dropout: probability of dropout after each layer but the last.
        bidirectional: each layer also runs from the end to the beginning.
        device: where the parameters are.
        dtype: their type.

    Shape:
        (time, batch, input_size) to (time, batch, directions * hidden_size), and the last state (num_layers *
        directions, batch, hidden_size).

    Example:
        >>> import vistorch
        >>> out, hn = vistorch.nn.GRU(3, 4, batch_first=True)(vistorch.ones(1, 5, 3))
        >>> out.shape, hn.shape
        (vistorch.Size([1, 5, 4]), vistorch.Size([1, 1, 4]))
    """

    _letter = "D"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError(ONLY_LSTM)
        super().__init__("GRU", *args, **kwargs)
