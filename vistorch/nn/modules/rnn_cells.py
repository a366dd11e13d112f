"""One step of a recurrent network as a module.

Invariant: an input without a batch, and a state that is not given, count as a batch of one and as zeros.
"""

from __future__ import annotations

import math
from typing import Any

from ...engine.core.registry import FUNCTIONS
from ...engine.core.tensor import Tensor
from .. import init
from ..parameter import Parameter
from .module import Module

__all__ = ["GRUCell", "LSTMCell", "RNNCell", "RNNCellBase"]

empty, zeros = FUNCTIONS["empty"], FUNCTIONS["zeros"]


class RNNCellBase(Module):
    """What the cells have in common.

    Args:
        input_size: features of the input.
        hidden_size: features of the state.
        bias: whether there are biases.
        num_chunks: how many gates.
        device: where the parameters are.
        dtype: their type.

    Example:
        >>> import vistorch
        >>> vistorch.nn.RNNCellBase(2, 3, True, 4).weight_ih.shape
        vistorch.Size([12, 2])
    """

    __constants__ = ("input_size", "hidden_size", "bias")
    input_size: int
    hidden_size: int
    bias: bool
    weight_ih: Any
    weight_hh: Any
    bias_ih: Any
    bias_hh: Any

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool,
        num_chunks: int,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        rows = num_chunks * hidden_size
        self.weight_ih = Parameter(empty((rows, input_size), device=device, dtype=dtype))
        self.weight_hh = Parameter(empty((rows, hidden_size), device=device, dtype=dtype))
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(
                name, Parameter(empty(rows, device=device, dtype=dtype)) if bias else None
            )
        self.reset_parameters()

    def extra_repr(self) -> str:
        """The sizes, and what is not as usual."""
        shown = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            shown += f", bias={self.bias}"
        nonlinearity = self.__dict__.get("nonlinearity", "tanh")
        return shown if nonlinearity == "tanh" else f"{shown}, nonlinearity={nonlinearity}"

    def reset_parameters(self) -> None:
        """Draw all parameters anew, uniform within 1 / sqrt(hidden_size).

        Example:
            >>> import vistorch
            >>> cell = vistorch.nn.RNNCell(2, 4)
            >>> cell.reset_parameters()
            >>> cell.weight_hh.abs().max() <= 0.5
            tensor(True)
        """
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def _weights(self) -> tuple:
        return self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh

    def _step(self, function: str, input: Tensor, hx: Any) -> Tensor:
        """One step of a cell whose state is one tensor."""
        name = type(self).__name__
        for label, given in (("input", input), ("hidden", hx)):
            if given is not None and given.dim() not in (1, 2):
                raise ValueError(f"{name}: Expected {label} to be 1D or 2D, got {given.dim()}D instead")
        batched = input.dim() == 2
        if not batched:
            input = input.unsqueeze(0)
        if hx is None:
            hx = zeros(input.size(0), self.hidden_size, dtype=input.dtype, device=input.device)
        elif not batched:
            hx = hx.unsqueeze(0)
        out = FUNCTIONS[function](input, hx, *self._weights())
        return out if batched else out.squeeze(0)


class RNNCell(RNNCellBase):
    """One step of a plain recurrent network: tanh(w_ih x + b_ih + w_hh h + b_hh), or relu of it.

    Args:
        input_size: features of the input.
        hidden_size: features of the state.
        bias: whether there are biases.
        nonlinearity: "tanh" or "relu".
        device: where the parameters are.
        dtype: their type.

    Shape:
        (batch, input_size) and (batch, hidden_size) to (batch, hidden_size), or all without the batch.

    Example:
        >>> import vistorch
        >>> vistorch.nn.RNNCell(2, 3)(vistorch.ones(1, 2)).shape
        vistorch.Size([1, 3])
    """

    __constants__ = ("input_size", "hidden_size", "bias", "nonlinearity")
    nonlinearity: str

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """The next state.

        Args:
            input: of this step.
            hx: the state before it, zeros if None.
        """
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return self._step(f"rnn_{self.nonlinearity}_cell", input, hx)


class LSTMCell(RNNCellBase):
    """One step of an LSTM.

    Args:
        input_size: features of the input.
        hidden_size: features of the state.
        bias: whether there are biases.
        device: where the parameters are.
        dtype: their type.

    Shape:
        (batch, input_size) and a pair of (batch, hidden_size) to such a pair, or all without the batch.

    Example:
        >>> import vistorch
        >>> h, c = vistorch.nn.LSTMCell(2, 3)(vistorch.ones(1, 2))
        >>> h.shape
        vistorch.Size([1, 3])
    """

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Tensor, hx: Any = None) -> tuple[Tensor, Tensor]:
        """The next states h and c.

        Args:
            input: of this step.
            hx: the pair of states before it, zeros if None.
        """
        if input.dim() not in (1, 2):
            raise ValueError(f"LSTMCell: Expected input to be 1D or 2D, got {input.dim()}D instead")
        for at, state in enumerate(hx or ()):
            if state.dim() not in (1, 2):
                raise ValueError(f"LSTMCell: Expected hx[{at}] to be 1D or 2D, got {state.dim()}D instead")
        batched = input.dim() == 2
        if not batched:
            input = input.unsqueeze(0)
        if hx is None:
            zero = zeros(input.size(0), self.hidden_size, dtype=input.dtype, device=input.device)
            hx = zero, zero
        elif not batched:
            hx = hx[0].unsqueeze(0), hx[1].unsqueeze(0)
        h, c = FUNCTIONS["lstm_cell"](input, hx, *self._weights())
        return (h, c) if batched else (h.squeeze(0), c.squeeze(0))


class GRUCell(RNNCellBase):
    """One step of a GRU.

    Args:
        input_size: features of the input.
        hidden_size: features of the state.
        bias: whether there are biases.
        device: where the parameters are.
        dtype: their type.

    Shape:
        (batch, input_size) and (batch, hidden_size) to (batch, hidden_size), or all without the batch.

    Example:
        >>> import vistorch
        >>> vistorch.nn.GRUCell(2, 3)(vistorch.ones(2)).shape
        vistorch.Size([3])
    """

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """The next state.

        Args:
            input: of this step.
            hx: the state before it, zeros if None.
        """
        return self._step("gru_cell", input, hx)
