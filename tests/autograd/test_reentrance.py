"""A node whose backward runs a pass of its own, hundreds of levels deep; PyTorch goes on in other threads."""

import sys
import threading
from typing import Any

import pytest
import torch

import vistorch


def nested(L: Any) -> Any:
    class Again(L.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, level: int) -> Any:
            ctx.level = level
            return x.clone()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            if not ctx.level:
                return g, None
            with L.enable_grad():
                y = L.ones(1, requires_grad=True)
                z = Again.apply(y, ctx.level - 1).sum() * 1.0
            z.backward()
            return y.grad, None

    return Again


def gradient(L: Any, levels: int) -> float:
    x = L.ones(1, requires_grad=True)
    nested(L).apply(x, levels).sum().backward()
    return x.grad.item()


@pytest.mark.parametrize("levels", [0, 50, 400])
def test_passes_within_passes(levels: int) -> None:
    before = sys.getrecursionlimit()
    assert gradient(vistorch, levels) == gradient(torch, levels) == 1.0
    assert sys.getrecursionlimit() == before


def test_without_end_it_is_a_recursion_error() -> None:
    before = sys.getrecursionlimit()
    with pytest.raises(RecursionError):
        gradient(vistorch, 10**6)
    assert sys.getrecursionlimit() == before
    assert gradient(vistorch, 400) == 1.0  # the count of levels is back where it was


def test_in_another_thread() -> None:
    found: list = []
    thread = threading.Thread(target=lambda: found.append(gradient(vistorch, 40)))
    thread.start()
    thread.join()
    assert found == [1.0]
