"""What recurrent networks have in common: parameters, checks, and the forms in which a sequence may come.

Invariant: parameters have PyTorch's names and begin as PyTorch's do, drawn in the same order; they are looked up by
name at every call, so that whatever replaces one is used.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

from ...engine.core.registry import FUNCTIONS
from ...engine.core.tensor import Tensor
from .. import init
from ..packed_sequence import PackedSequence
from ..parameter import Parameter
from .module import Module

__all__ = ["RNNBase"]

empty, zeros = FUNCTIONS["empty"], FUNCTIONS["zeros"]
GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


def _check_type(label: str, value: Any, kind: type) -> None:
    if not isinstance(value, kind):
        raise TypeError(f"{label} should be of type {kind.__name__}, got: {type(value).__name__}")


def _casts() -> bool:
    """Whether autocast is on: it gives the input and the weights one type."""
    from ...amp.state import thread

    return bool(thread.enabled)


class RNNBase(Module):
    """What recurrent networks have in common.

    Args:
        mode: "LSTM", "GRU", "RNN_TANH" or "RNN_RELU".
        input_size: features of the input.
        hidden_size: features of the state.
        num_layers: layers above one another.
        bias: whether layers have biases.
        batch_first: input and output are (batch, time, features).
        dropout: probability of dropout after each layer but the last.
        bidirectional: each layer also runs from the end to the beginning.
        proj_size: project the output of an LSTM to so many features; 0 for none.
        device: where the parameters are.
        dtype: their type.

    Example:
        >>> import vistorch
        >>> [name for name, _ in vistorch.nn.RNNBase("GRU", 2, 3).named_parameters()]
        ['weight_ih_l0', 'weight_hh_l0', 'bias_ih_l0', 'bias_hh_l0']
        >>> lstm = vistorch.nn.LSTM(2, 3, batch_first=True)
        >>> [tuple(w.shape) for w in lstm.all_weights[0]]  # four gates above one another
        [(12, 2), (12, 3), (12,), (12,)]
        >>> lstm.flatten_parameters()  # PyTorch's word to cuDNN; nothing to do here
        >>> lstm.reset_parameters()
        >>> lstm.weight_ih_l0.abs().max() <= 1 / 3**0.5
        tensor(True)
    """

    __constants__ = (
        "mode",
        "input_size",
        "hidden_size",
        "num_layers",
        "bias",
        "batch_first",
        "dropout",
        "bidirectional",
        "proj_size",
    )
    mode: str
    input_size: int
    hidden_size: int
    num_layers: int
    bias: bool
    batch_first: bool
    dropout: float
    bidirectional: bool
    proj_size: int

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        self._check(dropout)
        self._all_weights: list[list[str]] = []
        rows = GATES[mode] * hidden_size
        out = proj_size or hidden_size
        for layer in range(num_layers):
            features = input_size if layer == 0 else out * (2 if bidirectional else 1)
            for suffix in ("", "_reverse") if bidirectional else ("",):
                shapes: dict[str, tuple] = {"weight_ih": (rows, features), "weight_hh": (rows, out)}
                if bias:
                    shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
                if proj_size:
                    shapes["weight_hr"] = (proj_size, hidden_size)
                names = []
                for kind, shape in shapes.items():
                    names.append(f"{kind}_l{layer}{suffix}")
                    setattr(self, names[-1], Parameter(empty(shape, device=device, dtype=dtype)))
                self._all_weights.append(names)
        self.reset_parameters()

    def _check(self, dropout: Any) -> None:
        """Refuse what makes no network, in PyTorch's order."""
        if not isinstance(dropout, (int, float)) or not 0 <= dropout <= 1 or isinstance(dropout, bool):
            raise ValueError(
                "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
            )
        if dropout > 0 and self.num_layers == 1:
            warnings.warn(
                "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects "
                f"num_layers greater than 1, but got dropout={dropout} and num_layers={self.num_layers}",
                stacklevel=4,
            )
        _check_type("bias", self.bias, bool)
        _check_type("batch_first", self.batch_first, bool)
        for label in ("input_size", "hidden_size"):
            _check_type(label, getattr(self, label), int)
            if getattr(self, label) <= 0:
                raise ValueError(f"{label} must be greater than zero")
        if self.num_layers <= 0:
            raise ValueError("num_layers must be greater than zero")
        if self.proj_size < 0:
            raise ValueError("proj_size should be a positive integer or zero to disable projections")
        if self.proj_size >= self.hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")
        if self.mode not in GATES:
            raise ValueError(f"Unrecognized RNN mode: {self.mode}")

    def reset_parameters(self) -> None:
        """Draw all parameters anew, uniform within 1 / sqrt(hidden_size)."""
        bound = 1.0 / math.sqrt(self.hidden_size)
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def flatten_parameters(self) -> None:
        """Nothing: parameters are used as they lie. PyTorch lays them out for cuDNN here."""

    @property
    def all_weights(self) -> list[list[Any]]:
        """The parameters of each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    @property
    def _flat_weights_names(self) -> list[str]:
        return [name for names in self._all_weights for name in names]

    @property
    def _flat_weights(self) -> list[Any]:
        return [getattr(self, name) for name in self._flat_weights_names]

    def __getstate__(self) -> dict:
        """The attributes, with the lists of weights that PyTorch keeps beside them."""
        lists = {"_flat_weights_names": self._flat_weights_names, "_flat_weights": self._flat_weights}
        return {**self.__dict__, **lists}

    def __setstate__(self, state: dict) -> None:
        kept = ("_flat_weights_names", "_flat_weights", "_flat_weight_refs")
        super().__setstate__({name: value for name, value in state.items() if name not in kept})

    def extra_repr(self) -> str:
        """The sizes, and what is not as usual."""
        unusual = [
            ("proj_size", self.proj_size != 0),
            ("num_layers", self.num_layers != 1),
            ("bias", self.bias is not True),
            ("batch_first", self.batch_first is not False),
            ("dropout", self.dropout != 0),
            ("bidirectional", self.bidirectional is not False),
        ]
        shown = [f"{label}={getattr(self, label)}" for label, show in unusual if show]
        return ", ".join([str(self.input_size), str(self.hidden_size), *shown])

    def check_input(self, input: Tensor, batch_sizes: Tensor | None) -> None:
        """Refuse an input of another type, number of dims or features.

        Args:
            input: what the network is given.
            batch_sizes: of a packed input.

        Example:
            >>> import vistorch
            >>> vistorch.nn.GRU(2, 3).check_input(vistorch.ones(5, 1, 4), None)
            Traceback (most recent call last):
                ...
            RuntimeError: input.size(-1) must be equal to input_size. Expected 2, got 4
        """
        dtype = getattr(self, self._all_weights[0][0]).dtype
        if input.dtype != dtype and not _casts():
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({dtype}). Convert input: "
                f"input.to({dtype}), or convert model: model.to({input.dtype})"
            )
        dims = 3 if batch_sizes is None else 2
        if input.dim() != dims:
            raise RuntimeError(f"input must have {dims} dimensions, got {input.dim()}")
        if self.input_size != input.size(-1):
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.size(-1)}"
            )

    def _expected(self, input: Tensor, batch_sizes: Tensor | None, features: int) -> tuple[int, int, int]:
        if batch_sizes is not None:
            batch = int(batch_sizes[0].item())
        else:
            batch = input.size(0 if self.batch_first else 1)
        return self.num_layers * (2 if self.bidirectional else 1), batch, features

    def get_expected_hidden_size(self, input: Tensor, batch_sizes: Tensor | None) -> tuple[int, int, int]:
        """The shape of the state that goes with an input.

        Args:
            input: what the network is given.
            batch_sizes: of a packed input.

        Example:
            >>> import vistorch
            >>> gru = vistorch.nn.GRU(2, 3, num_layers=2, bidirectional=True)
            >>> gru.get_expected_hidden_size(vistorch.ones(5, 7, 2), None)  # layers times directions, batch, features
            (4, 7, 3)
        """
        return self._expected(input, batch_sizes, self.proj_size or self.hidden_size)

    def check_hidden_size(
        self, hx: Tensor, expected_hidden_size: tuple, msg: str = "Expected hidden size {}, got {}"
    ) -> None:
        """Refuse a state of another shape.

        Args:
            hx: the state.
            expected_hidden_size: its shape as it should be.
            msg: what to say, with room for both.

        Example:
            >>> import vistorch
            >>> vistorch.nn.GRU(2, 3).check_hidden_size(vistorch.zeros(1, 4, 3), (1, 7, 3))
            Traceback (most recent call last):
                ...
            RuntimeError: Expected hidden size (1, 7, 3), got [1, 4, 3]
        """
        if tuple(hx.shape) != tuple(expected_hidden_size):
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.shape)))

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Refuse an input or a state that the network cannot take.

        Args:
            input: what the network is given.
            hidden: the first state.
            batch_sizes: of a packed input.

        Example:
            >>> import vistorch
            >>> gru = vistorch.nn.GRU(2, 3)
            >>> gru.check_forward_args(vistorch.ones(5, 7, 2), vistorch.zeros(1, 7, 3), None)
            >>> gru.check_forward_args(vistorch.ones(5, 7, 2), vistorch.zeros(1, 4, 3), None)
            Traceback (most recent call last):
                ...
            RuntimeError: Expected hidden size (1, 7, 3), got [1, 4, 3]
        """
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """A state with the batch in another order.

        Args:
            hx: the state.
            permutation: the order; None to leave it.

        Example:
            >>> import vistorch
            >>> state = vistorch.tensor([[[1.0], [2.0], [3.0]]])  # one layer, a batch of three
            >>> vistorch.nn.GRU(2, 1).permute_hidden(state, vistorch.tensor([2, 0, 1])).flatten()
            tensor([3., 1., 2.])
        """
        return hx if permutation is None else hx.index_select(1, permutation)

    # A state is one tensor, except in an LSTM, where these four see a pair.
    _letter = "D tensor"

    def _zero_state(self, input: Tensor, batch_sizes: Tensor | None) -> Any:
        shape = self.get_expected_hidden_size(input, batch_sizes)
        return zeros(shape, dtype=input.dtype, device=input.device)

    def _check_dims(self, hx: Any, dims: int, kind: str) -> None:
        if hx.dim() != dims:
            raise RuntimeError(
                f"For {kind} {dims}-D input, hx should also be {dims}-D but got {hx.dim()}-D tensor"
            )

    def _with_batch(self, hx: Any) -> Any:
        return hx.unsqueeze(1)

    def _without_batch(self, hx: Any) -> Any:
        return hx.squeeze(1)

    def forward(self, input: Any, hx: Any = None) -> Any:
        """Run the network; returns the output of the last layer and the last state.

        Args:
            input: (time, batch, features), (batch, time, features) with batch_first, (time, features) without a
                batch, or a PackedSequence.
            hx: the state to begin with, zeros if None.
        """
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hx)
        if input.dim() not in (2, 3):
            raise ValueError(
                f"{type(self).__name__}: Expected input to be 2D or 3D, got {input.dim()}{self._letter} instead"
            )
        batched, at = input.dim() == 3, 0 if self.batch_first else 1
        if not batched:
            input = input.unsqueeze(at)
        if hx is None:
            hx = self._zero_state(input, None)
        else:
            self._check_dims(hx, 3 if batched else 2, "batched" if batched else "unbatched")
            if not batched:
                hx = self._with_batch(hx)
        self.check_forward_args(input, hx, None)
        out, *last = FUNCTIONS[self.mode.lower()](input, hx, *self._settings(), self.batch_first)
        last = tuple(last) if len(last) > 1 else last[0]
        return (out, last) if batched else (out.squeeze(at), self._without_batch(last))

    def _forward_packed(self, packed: PackedSequence, hx: Any) -> tuple:
        data, batch_sizes, order, back = packed
        if hx is None:
            hx = self._zero_state(data, batch_sizes)
        else:
            hx = self.permute_hidden(hx, order)
        self.check_forward_args(data, hx, batch_sizes)
        out, *last = FUNCTIONS[self.mode.lower()](data, batch_sizes, hx, *self._settings())
        last = tuple(last) if len(last) > 1 else last[0]
        return PackedSequence(out, batch_sizes, order, back), self.permute_hidden(last, back)

    def _settings(self) -> tuple:
        weights = self._flat_weights
        return weights, self.bias, self.num_layers, self.dropout, self.training, self.bidirectional
