"""What recurrent layers share: the order of their steps, the walk by small ops, and how one layer is called.

A layer in one direction is one row. Its input is dense, (time, batch, features) with `sizes` None, or packed,
(rows, features), where `sizes` says how many sequences each time step still has. Either way the rows of a step lie
one after another, and a sequence that has ended (or, backwards in time, not begun) keeps its state.

Invariant: the fused kernel and the walk by small ops give the same numbers; the kernel serves plain passes, the walk
serves gradients that are themselves recorded, and operands that the kernel does not know.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...backward.backward_pass import Pass, drain
from ...base import dtypes
from ...base.modes import mode
from ...core.base_ops import clone_
from ...core.graph import edge, sync_rg
from ...core.op_factory import op
from ...core.tensor import Tensor, wrap
from ...core.type_promotion import default_float
from ...kernels.fast.matrices import matmul_of
from ..linalg.addmm import addmm
from ..shape.join import cat, stack

# the output of a network is nobody else's, so that the other order of its dims is no view
swapped = op(
    "swap_steps",
    lambda xp, input: xp.swapaxes(input, 0, 1),
    widen=False,
    name_in_graph="TransposeBackward0",
    formula=r"\bar x = \bar y^\top",
    input=lambda F, g: F.swap_steps(g),
)
FLOATS = frozenset((np.dtype("f4"), np.dtype("f8"), np.dtype("f2"), dtypes.bfloat16.np))


def plan(shape: tuple, sizes: tuple | None, reverse: bool) -> list[tuple[int, int, int]]:
    """(first row, row after the last, sequences) of each step, in the order they are taken."""
    steps, start = [], 0
    for n in (shape[1],) * shape[0] if sizes is None else sizes:
        steps.append((start, start + n, n))
        start += n
    return steps[::-1] if reverse else steps


def flat(x: Any) -> Any:
    """All time steps as rows of one matrix."""
    return x.reshape(math.prod(x.shape[:-1]), x.shape[-1])


def projected(xp: Any, x: Any, w: Any, n_gates: int) -> Any:
    """What all time steps give to each gate: (gates, rows, units).

    Gates come first because each is then one piece of memory, and because a BLAS is faster with several narrow products
    of few rows than with one wide one.
    """
    return matmul_of(xp)(flat(x), by_gate(w, n_gates).transpose(0, 2, 1))


def by_gate(w: Any, n_gates: int) -> Any:
    """Weights or biases with a dim for the gates in front."""
    return w.reshape(n_gates, w.shape[0] // n_gates, *w.shape[1:])


def recurrent(xp: Any, w: Any, n_gates: int, n_steps: int) -> Any:
    """The recurrent weights as the steps multiply by them; for many steps it pays to lay them out so."""
    w = by_gate(w, n_gates).transpose(0, 2, 1)
    return xp.ascontiguousarray(w) if n_steps > 8 else w


def to_input(xp: Any, delta: Any, w: Any, shape: tuple) -> Any:
    """The gradient of the input from those of the gates' arguments, (gates, rows, units)."""
    return matmul_of(xp)(delta.transpose(1, 0, 2).reshape(delta.shape[1], w.shape[0]), w).reshape(shape)


def to_weights(xp: Any, delta: Any, x: Any) -> Any:
    """The gradient of weights that multiplied the rows `x`."""
    return matmul_of(xp)(delta.transpose(0, 2, 1), x).reshape(delta.shape[0] * delta.shape[2], x.shape[1])


def to_bias(delta: Any) -> Any:
    """The gradient of a bias."""
    return delta.sum(1).reshape(-1)


def walk(
    step: Callable, input: Tensor, states: Any, w_ih: Tensor, b_ih: Tensor, sizes: Any, reverse: bool
) -> tuple:
    """A layer by small recorded ops: `step(what the input gives, *states) -> new states`, the first being the output.

    Returns the output and the last states.
    """
    dense = sizes is None
    x = addmm(b_ih, flat(input) if dense else input, w_ih.t())
    if dense and states[0].shape[0] == 1 != input.shape[1]:
        batch, units = input.shape[1], states[-1].shape[1]
        raise RuntimeError(
            f"output with shape [1, {units}] doesn't match the broadcast shape [{batch}, {units}]"
        )
    steps = plan(tuple(input.shape), sizes, reverse)
    made = []
    for start, stop, n in steps:
        given = x[start:stop]
        alive = dense or n == states[0].shape[0]
        new = step(given, *(states if alive else [s[:n] for s in states]))
        made.append(new[0])
        states = new if alive else [cat((now, s[n:])) for now, s in zip(new, states, strict=True)]
    return ((stack if dense else cat)(made[::-1] if reverse else made), *states)


def refuse_integers(t: Tensor) -> None:
    """Gates are computed in place, which integers do not allow."""
    if t._data.dtype.kind in "iu":
        kinds = [dtypes.of(d).scalar_name for d in (default_float(), t._data.dtype)]
        raise RuntimeError("result type {} can't be cast to the desired output type {}".format(*kinds))


def recorded(steps: Callable, gs: list, ins: tuple, wanted: tuple, *consts: Any) -> list:
    """The gradients of a layer's inputs as Tensors with history: the walk by small ops is taken, and gone back.

    Args:
        steps: the forward as a walk, (*inputs, *constants) -> outputs.
        gs: gradients of the outputs, None where there is none.
        ins: the inputs.
        wanted: which of them ask for a gradient.
        *consts: what else the walk takes.
    """
    # copies: where one tensor is two of the inputs, the gradients are to be told apart
    ins = tuple([clone_(t) if ask else t for t, ask in zip(ins, wanted, strict=True)])
    outs = steps(*ins, *consts)
    pairs = [(edge(o), g) for o, g in zip(outs, gs, strict=True) if g is not None and o.requires_grad]
    targets = [edge(t) if ask else None for t, ask in zip(ins, wanted, strict=True)]
    run = Pass(
        [root for root, _ in pairs],
        [g for _, g in pairs],
        create_graph=True,
        retain_graph=True,
        targets=[e for e in targets if e is not None],
        accumulate=False,
    )
    drain(run)
    return [None if e is None else run.caught.get(e) for e in targets]


def fused(ins: tuple) -> bool:
    """Whether the kernel knows these operands: of one real float type, at one place."""
    first = ins[0]
    place, dt = first._place, first._data.dtype
    if dt not in FLOATS:
        return False
    for t in ins:
        if t._place is not place or t._data.dtype != dt:
            return False
    return True


def fits(input: Tensor, states: tuple, weights: tuple, gates: int) -> bool:
    """Whether all shapes go together (projected layers check what is theirs)."""
    w_ih, w_hh, *biases = weights[:4]
    h, c = states[0]._data.shape, states[-1]._data.shape
    rows = w_hh._data.shape[0] if w_hh._data.ndim == 2 else -1
    x = input._data.shape
    return (
        len(h) == 2
        and len(c) == 2
        and c[0] == h[0]
        and rows == gates * c[1]
        and w_hh._data.shape[1] == h[1]
        and w_ih._data.shape == (rows, x[-1])
        and all(b._data.shape == (rows,) for b in biases)
        and (len(x) == 2 or x[1] == h[0])
    )


def kept(ins: tuple) -> bool:
    """Whether a backward pass may follow, so that the kernel is to keep what it reads."""
    return bool(mode.on) and any(sync_rg(t) for t in ins)


def no_bias(w_ih: Tensor) -> Tensor:
    """A bias of zeros for a layer without one: the row's inputs are always the same."""
    d = w_ih._data
    return wrap(w_ih._place.xp.zeros(d.shape[:1], d.dtype), w_ih._place)
