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


def seen(lib: Any, make: Make, ask: Ask, dtype: str, grads: bool) -> tuple[Any, list]:
    """What a distribution answers, and the gradients of the answer by all its parameters."""
    t = Tensors(lib, dtype)
    lib.manual_seed(7)
    made = make(lib.distributions, t)
    if not t.leaves:  # what is made of numbers is float32, and is asked about such values
        t.dtype = lib.float32
    answer = flat(ask(made, t))
    return answer, pulled(lib, answer, t.leaves) if grads else []


def same_values(law: Law, mine: Any, its: Any, place: str, slopes: tuple | None = None) -> None:
    """Equal texts, or tensors of one type and shape, with values as close as that type and the record allow."""
    assert isinstance(mine, L.Tensor) == isinstance(its, torch.Tensor), (
        f"{place}: {mine!r}, torch has {its!r}"
    )
    if isinstance(its, torch.Tensor):
        assert renamed(str(its.dtype)) == str(mine.dtype), place
        assert tuple(mine.shape) == tuple(its.shape), place
        kind = str(its.dtype).rpartition(".")[2]
        rtol, atol = slopes or law.tolerance.get(kind, TOLERANCE.get(kind, (0, 0)))
        np.testing.assert_allclose(numpy_of(mine), numpy_of(its), rtol=rtol, atol=atol, err_msg=place)
    elif isinstance(its, float) and isinstance(mine, float):
        assert math.isclose(mine, its, rel_tol=1e-9), f"{place}: {mine!r}, torch has {its!r}"
    else:
        assert repr(mine) == renamed(repr(its)), place


def agree(
    law: Law, make: Make, ask: Ask, dtype: str, grads: bool = True, slopes: bool = False, must: bool = False
) -> None:
    """Both libraries answer alike, or refuse with the same sentence; with `must`, they may not refuse."""
    ours, theirs = (attempt(seen, lib, make, ask, dtype, grads) for lib in (L, torch))
    if theirs.error is not None or ours.error is not None:
        assert repr(ours.error) == renamed(repr(theirs.error)), (ours.error, theirs.error)
        assert not must, theirs.error
        return
    assert list(ours.warned) == [renamed(text) for text in theirs.warned]
    (answers, pulls), (its_answers, its_pulls) = ours.value, theirs.value
    assert len(answers) == len(its_answers), f"{answers}, torch has {its_answers}"
    for i, (a, b) in enumerate(zip(answers, its_answers, strict=True)):
        same_values(law, a, b, f"answer {i}")
    assert len(pulls) == len(its_pulls), f"{len(pulls)} gradients, torch has {len(its_pulls)}"
    for i, (a, b) in enumerate(zip(pulls, its_pulls, strict=True)):
        if a is not None and b is None:
            assert not a.any(), f"gradient {i}: {a}, torch has none"
        else:
            same_values(law, a, b, f"gradient {i}", law.slopes if slopes else None)
