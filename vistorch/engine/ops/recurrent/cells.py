"""One time step of a recurrent network: the layer's row on a sequence of one step.

Invariant: sizes that do not go together are refused in PyTorch's words before anything is computed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...base import errors
from ...base.casting import casting
from ...core.registry import public
from ...core.tensor import Tensor
from ..linalg.addmm import addmm
from .elman import relu_layer, tanh_layer
from .gru import layer as gru_layer
from .lstm import layer as lstm_layer
from .sequence import fused, no_bias


def _check(input: Tensor, states: tuple, w_ih: Tensor, w_hh: Tensor, gates: int) -> None:
    """Refuse what does not fit, as PyTorch does."""
    features, given = w_ih.size(1), input.size(1)
    if given != features:
        raise RuntimeError(f"input has inconsistent input_size: got {given} expected {features}")
    units = w_hh.size(1)
    for at, state in enumerate(states):
        if input.shape[0] != state.shape[0]:
            raise RuntimeError(
                f"Input batch size {input.shape[0]} doesn't match hidden{at} batch size {state.shape[0]}"
            )
        if state.size(1) != units:
            raise RuntimeError(
                f"hidden{at} has inconsistent hidden_size: got {state.size(1)}, expected {units}"
            )
    for label, w in (("weight_ih", w_ih), ("weight_hh", w_hh)):
        if w.shape[0] != gates * units:
            raise RuntimeError(
                f"{label} first dim must be {gates} * hidden_size = {gates * units}, but got {w.shape[0]}"
            )


def _bias(b: Any, w: Tensor, rows: int) -> Tensor:
    """A bias, zeros where there is none."""
    if b is None:
        return no_bias(w)
    if b._data.shape != w._data.shape[:1]:
        # what does not broadcast is refused in these words
        return b.expand(rows, w.shape[0])[0]
    return b


def _step(
    name: str,
    layer: Callable,
    gates: int,
    input: Any,
    states: tuple,
    w_ih: Any,
    w_hh: Any,
    b_ih: Any,
    b_hh: Any,
) -> tuple:
    """The new states."""
    if not isinstance(input, Tensor):
        raise errors.must_be_tensor(name, "input", 1, input)
    for at, (label, w) in enumerate((("w_ih", w_ih), ("w_hh", w_hh)), 3):
        if not isinstance(w, Tensor):
            raise errors.must_be_tensor(name, label, at, w)
    for at, (label, b) in enumerate((("b_ih", b_ih), ("b_hh", b_hh)), 5):
        if b is not None and not isinstance(b, Tensor):
            raise errors.must_be_tensor(name, label, at, b)
    _check(input, states, w_ih, w_hh, gates)
    n = input.shape[0]
    weights = w_ih, w_hh, _bias(b_ih, w_ih, n), _bias(b_hh, w_hh, n)
    if gates != 3 and not fused((input, *states, *weights)):
        # of two faults PyTorch finds that of the state first
        addmm(weights[3], states[0], w_hh.t())
    return layer(input, states, weights, (n,), False)[1:]


@public(method=False)
def lstm_cell(
    input: Tensor, hx: Any, w_ih: Tensor, w_hh: Tensor, b_ih: Any = None, b_hh: Any = None
) -> tuple[Tensor, Tensor]:
    """One step of an LSTM: (h, c).

    Args:
        input: (batch, features).
        hx: the pair (h, c) before the step, each (batch, units).
        w_ih: weights of the input, (4 * units, features).
        w_hh: weights of the state, (4 * units, units).
        b_ih: bias beside w_ih.
        b_hh: bias beside w_hh.

    Example:
        >>> import vistorch
        >>> x, h = vistorch.ones(1, 2), vistorch.zeros(1, 1)
        >>> vistorch.lstm_cell(x, (h, h), vistorch.ones(4, 2), vistorch.ones(4, 1))
        (tensor([[0.6083]]), tensor([[0.8491]]))
    """
    if casting.on and (recast := casting.ask(lstm_cell, locals())):
        return recast[0]
    if not isinstance(hx, (tuple, list)):
        given = errors.type_name(hx) if not isinstance(hx, Tensor) else "Tensor"
        raise TypeError(f"lstm_cell(): argument 'hx' (position 2) must be tuple of Tensors, not {given}")
    for at, state in enumerate(hx):
        if not isinstance(state, Tensor):
            raise TypeError(
                f"lstm_cell(): argument 'hx' (position 2) must be tuple of Tensors, but found element of type "
                f"{errors.type_name(state)} at pos {at}"
            )
    if len(hx) != 2:
        raise RuntimeError("lstm_cell expects two hidden states")
    h, c = _step("lstm_cell", lstm_layer, 4, input, tuple(hx), w_ih, w_hh, b_ih, b_hh)
    return h, c


def _one_state(hx: Any, name: str) -> tuple:
    if not isinstance(hx, Tensor):
        raise errors.must_be_tensor(name, "hx", 2, hx)
    return (hx,)


@public(method=False)
def gru_cell(
    input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Any = None, b_hh: Any = None
) -> Tensor:
    """One step of a GRU.

    Args:
        input: (batch, features).
        hx: the state before the step, (batch, units).
        w_ih: weights of the input, (3 * units, features).
        w_hh: weights of the state, (3 * units, units).
        b_ih: bias beside w_ih.
        b_hh: bias beside w_hh.

    Example:
        >>> import vistorch
        >>> vistorch.gru_cell(vistorch.ones(1, 2), vistorch.zeros(1, 1), vistorch.ones(3, 2), vistorch.ones(3, 1))
        tensor([[0.1149]])
    """
    if casting.on and (recast := casting.ask(gru_cell, locals())):
        return recast[0]
    return _step("gru_cell", gru_layer, 3, input, _one_state(hx, "gru_cell"), w_ih, w_hh, b_ih, b_hh)[0]


@public(method=False)
def rnn_tanh_cell(
    input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Any = None, b_hh: Any = None
) -> Tensor:
    """One step of a plain recurrent network: tanh(w_ih x + b_ih + w_hh h + b_hh).

    Args:
        input: (batch, features).
        hx: the state before the step, (batch, units).
        w_ih: weights of the input, (units, features).
        w_hh: weights of the state, (units, units).
        b_ih: bias beside w_ih.
        b_hh: bias beside w_hh.

    Example:
        >>> import vistorch
        >>> vistorch.rnn_tanh_cell(vistorch.ones(1, 2), vistorch.zeros(1, 1), vistorch.ones(1, 2), vistorch.ones(1, 1))
        tensor([[0.9640]])
    """
    if casting.on and (recast := casting.ask(rnn_tanh_cell, locals())):
        return recast[0]
    states = _one_state(hx, "rnn_tanh_cell")
    return _step("rnn_tanh_cell", tanh_layer, 1, input, states, w_ih, w_hh, b_ih, b_hh)[0]


@public(method=False)
def rnn_relu_cell(
    input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Any = None, b_hh: Any = None
) -> Tensor:
    """One step of a plain recurrent network: relu(w_ih x + b_ih + w_hh h + b_hh).

    Args:
        input: (batch, features).
        hx: the state before the step, (batch, units).
        w_ih: weights of the input, (units, features).
        w_hh: weights of the state, (units, units).
        b_ih: bias beside w_ih.
        b_hh: bias beside w_hh.

    Example:
        >>> import vistorch
        >>> vistorch.rnn_relu_cell(vistorch.ones(1, 2), vistorch.zeros(1, 1), vistorch.ones(1, 2), vistorch.ones(1, 1))
        tensor([[2.]])
    """
    if casting.on and (recast := casting.ask(rnn_relu_cell, locals())):
        return recast[0]
    states = _one_state(hx, "rnn_relu_cell")
    return _step("rnn_relu_cell", relu_layer, 1, input, states, w_ih, w_hh, b_ih, b_hh)[0]
