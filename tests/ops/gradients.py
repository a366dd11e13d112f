"""Gradients of a call, and finite differences that know nothing of autograd.

Invariant: a complex gradient is dL/d(real) + i dL/d(imag), so a step d changes L by Re(sum(conj(grad) d)).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from tests.ops.library import Call, build, coarsest, dtype_name, numpy_of, prepare, renamed, run, tensors_of
from tests.ops.record import Op, Sample, kind_of


def noise(shape: Sequence[int], dtype: str, seed: int) -> np.ndarray:
    """A fixed random direction; read-only."""
    return direction(tuple(shape), kind_of(dtype) == "complex", seed)


@lru_cache(4096)
def direction(shape: tuple[int, ...], is_complex: bool, seed: int) -> np.ndarray:
    """A fixed random direction, made once."""
    rng = np.random.default_rng(seed)
    array = np.asarray(rng.uniform(-1, 1, shape))
    if is_complex:
        array = array + 1j * np.asarray(rng.uniform(-1, 1, shape))
    array.setflags(write=False)
    return array


def is_recorded(tensor: Any) -> bool:
    """Whether a result can be differentiated."""
    return tensor.requires_grad and kind_of(dtype_name(tensor.dtype)) in ("float", "complex")


@dataclass
class Derivative:
    """First and second derivatives of one call, all with the same random directions in both libraries."""

    call: Call
    outs: list
    cotangents: list
    first: list = field(default_factory=list)
    second: list = field(default_factory=list)


def forward(
    op: Op, lib: Any, sample: Sample, dtypes: Any, layout: str = "plain", which: Any = True
) -> Derivative | None:
    """Call the op with gradients wanted; None where it raises or nothing of the result is recorded."""
    call = prepare(lib, sample, dtypes, layout, needs_grad=which)
    outcome = run(op, call)
    if outcome.error is not None or not call.grads:
        return None
    value = outcome.value if op.gauge is None else op.gauge(lib, outcome.value)
    outs = [tensor for tensor in tensors_of(value, lib) if is_recorded(tensor)]
    cotangents = [
        build(lib, noise(o.shape, d, 31 + i), d) for i, o in enumerate(outs) for d in [dtype_name(o.dtype)]
    ]
    return Derivative(call, outs, cotangents)


def differentiate(lib: Any, derivative: Derivative, create_graph: bool = False) -> list:
    """The gradients of all inputs that want one; None where an input is not reached."""
    for cotangent in derivative.cotangents:
        cotangent.requires_grad_(create_graph)
    derivative.first = list(
        lib.autograd.grad(
            derivative.outs,
            derivative.call.grads,
            derivative.cotangents,
            create_graph=create_graph,
            retain_graph=True,
            allow_unused=True,
        )
    )
    return derivative.first


def differentiate_again(lib: Any, derivative: Derivative) -> list:
    """Gradients of a random projection of the gradients, for the inputs and the cotangents."""
    recorded = [g for g in derivative.first if g is not None and is_recorded(g)]
    if not recorded:
        return []
    directions = [
        build(lib, noise(g.shape, d, 77 + i), d)
        for i, g in enumerate(recorded)
        for d in [dtype_name(g.dtype)]
    ]
    inputs = [*derivative.call.grads, *derivative.cotangents]
    derivative.second = list(lib.autograd.grad(recorded, inputs, directions, allow_unused=True))
    return derivative.second


def filled(gradients: list, like: list) -> list[np.ndarray]:
    """Arrays, with zeros where there is no gradient."""
    pairs = zip(gradients, like, strict=True)
    return [np.zeros(tuple(x.shape)) if g is None else numpy_of(g) for g, x in pairs]


def compare_lists(
    op: Op, mine: list, theirs: list, close: Any, like: list, strict_none: bool, dtypes: Any = ()
) -> str:
    """Say which gradient differs from torch's. `dtypes`: those of all operands."""
    if len(mine) != len(theirs):
        return f"{len(mine)} gradients, torch has {len(theirs)}"
    for index, (a, b) in enumerate(zip(mine, theirs, strict=True)):
        if strict_none and (a is None) != (b is None):
            return f"gradient {index} is {'None' if a is None else 'there'}, torch's is not"
        if a is None and b is None:
            continue
        if a is not None and b is not None and dtype_name(a.dtype) != dtype_name(b.dtype):
            return f"gradient {index} has dtype {a.dtype}, torch has {b.dtype}"
        (x,), (y,) = filled([a], [like[index]]), filled([b], [like[index]])
        if x.shape != y.shape:
            return f"gradient {index} has shape {x.shape}, torch has {y.shape}"
        # a 0-d double next to floats is computed with in float, its gradient too
        dtype = coarsest(
            dtype_name((b if b is not None else a).dtype), *([dtypes] if isinstance(dtypes, str) else dtypes)
        )
        if not close(x, y, dtype, op):
            return f"gradient {index}\n    {x.tolist()}\n  torch has\n    {y.tolist()}"
    return ""


def names(outs: list) -> list[tuple[str, str]]:
    """The grad_fn names of results."""
    plain = re.compile("^(vis)?torch::autograd::")  # torch says so of some nodes, and of others not
    return [
        ("None", "") if o.grad_fn is None else (type(o.grad_fn).__name__, plain.sub("", o.grad_fn.name()))
        for o in outs
    ]


def same_names(mine: list, theirs: list) -> str:
    """Say which grad_fn is named differently."""
    a, b = names(mine), [(n, renamed(m)) for n, m in names(theirs)]
    return "" if a == b else f"grad_fn {a}, torch has {b}"


def projection(op: Op, lib: Any, sample: Sample, dtypes: Any, data: list[np.ndarray]) -> float:
    """The scalar whose gradient `differentiate` gives, at other values of the inputs."""
    call = prepare(lib, sample, dtypes, data=data)
    value = run(op, call).value
    outs = tensors_of(value if op.gauge is None else op.gauge(lib, value), lib)
    outs = [o for o in outs if kind_of(dtype_name(o.dtype)) in ("float", "complex")]
    total = 0.0
    for index, out in enumerate(outs):
        array = numpy_of(out)
        total += float(
            np.sum(np.real(np.conj(noise(array.shape, dtype_name(out.dtype), 31 + index)) * array))
        )
    return total


def gradient_projection(
    op: Op, lib: Any, sample: Sample, dtypes: Any, data: list[np.ndarray], shown: list[int]
) -> float:
    """The scalar whose gradient `differentiate_again` gives, at other values of the inputs."""
    call = prepare(lib, sample, dtypes, needs_grad=True, data=data)
    value = run(op, call).value
    outs = [o for o in tensors_of(value if op.gauge is None else op.gauge(lib, value), lib) if is_recorded(o)]
    cotangents = [
        build(lib, noise(o.shape, d, 31 + i), d) for i, o in enumerate(outs) for d in [dtype_name(o.dtype)]
    ]
    first = lib.autograd.grad(outs, call.grads, cotangents, allow_unused=True)
    total = 0.0
    for seed, index in enumerate(shown):
        array = numpy_of(first[index])
        total += float(
            np.sum(np.real(np.conj(noise(array.shape, dtype_name(first[index].dtype), 77 + seed)) * array))
        )
    return total
