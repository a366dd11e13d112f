"""Asking both libraries the same question: values, gradients, texts, exceptions and warnings.

Invariant: torch is the reference; gradients are those of a sum with a different weight for each element.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.distributions.record import Law, Make, Tensors
from tests.ops.library import TOLERANCE, L, attempt, flat, numpy_of, renamed, torch

Ask = Callable[[Any, Tensors], Any]


def pulled(lib: Any, outs: list, leaves: list) -> list:
    """The gradients of all leaves."""
    total: Any = None
    for i, out in enumerate(outs):
        if isinstance(out, lib.Tensor) and out.requires_grad:
            weights = np.cos(np.arange(out.numel()) + i).reshape(tuple(out.shape))
            part = (out * lib.tensor(weights).to(out.dtype)).sum()
            total = part if total is None else total + part
    if total is None or not leaves:
        return []
    return list(lib.autograd.grad(total, leaves, allow_unused=True))


def told(lib: Any, make: Make, ask: Ask, dtype: str, grads: bool) -> tuple[Any, list]:
    """What a distribution answers, and the gradients of the answer by all its parameters."""
    t = Tensors(lib, dtype)
    lib.manual_seed(7)
    made = make(lib.distributions, t)
    answer = flat(ask(made, t))
    return answer, pulled(lib, answer, t.leaves) if grads else []


def same_values(mine: Any, its: Any, tolerance: tuple[float, float], place: str) -> None:
    """Equal texts, or tensors of one type and shape, with values as close as asked."""
    assert isinstance(mine, L.Tensor) == isinstance(its, torch.Tensor), (
        f"{place}: {mine!r}, torch has {its!r}"
    )
    if isinstance(its, torch.Tensor):
        assert renamed(str(its.dtype)) == str(mine.dtype), place
        assert tuple(mine.shape) == tuple(its.shape), place
        rtol, atol = tolerance
        np.testing.assert_allclose(numpy_of(mine), numpy_of(its), rtol=rtol, atol=atol, err_msg=place)
    elif isinstance(its, float) and isinstance(mine, float):
        assert math.isclose(mine, its, rel_tol=1e-9), f"{place}: {mine!r}, torch has {its!r}"
    else:
        assert repr(mine) == renamed(repr(its)), place


def agree(law: Law, make: Make, ask: Ask, dtype: str, grads: bool = True, slopes: bool = False) -> None:
    """Both libraries answer alike, or refuse with the same sentence."""
    ours, theirs = (attempt(told, lib, make, ask, dtype, grads) for lib in (L, torch))
    if theirs.error is not None or ours.error is not None:
        assert repr(ours.error) == renamed(repr(theirs.error)), (ours.error, theirs.error)
        return
    assert list(ours.warned) == [renamed(text) for text in theirs.warned]
    tolerance = law.tolerance.get(dtype, TOLERANCE[dtype])
    of_slopes = law.slopes if slopes and law.slopes is not None else tolerance
    for name, mine, its, allowed in zip(
        ("answer", "gradient"), ours.value, theirs.value, (tolerance, of_slopes), strict=True
    ):
        assert len(mine) == len(its), f"{name}: {mine}, torch has {its}"
        for i, (a, b) in enumerate(zip(mine, its, strict=True)):
            if name == "gradient" and a is not None and b is None:
                assert not a.any(), f"gradient {i}: {a}, torch has none"
            else:
                same_values(a, b, allowed, f"{name} {i}")
