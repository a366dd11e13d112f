"""softmax, log_softmax and their gradients on a device, each in one launch."""

from __future__ import annotations

from math import prod
from typing import Any

from . import launch

Kernel = Any


def _frame(shape: tuple, dim: int) -> tuple[int, int, int]:
    """A shape as (outer, n, inner)."""
    return prod(shape[:dim]), shape[dim], prod(shape[dim + 1 :])


def _run(xp: Any, name: str, ins: tuple, dim: int, log: bool) -> Any:
    first = ins[0]
    ins = tuple([xp.ascontiguousarray(a) for a in ins])
    out = xp.empty(first.shape, first.dtype)
    outer, n, inner = _frame(first.shape, dim) if first.ndim else (1, 1, 1)
    if inner == 1:
        grid, block, sizes, kind = launch.rows(outer), launch.threads(n), (outer, n), "rows"
    else:
        grid, block, sizes, kind = launch.each(outer * inner), launch.BLOCK, (outer, n, inner), "columns"
    args = (*ins, out, *sizes, int(log))
    launch.launch("softmax", f"{name}_{kind}", first.dtype, grid, block, args)
    return out


def forward(log: bool) -> Any:
    """The function of one array and a dim."""

    def make(plain: Kernel, xp: Any) -> Kernel:
        def kernel(input: Any, dim: int) -> Any:
            if not input.size or not launch.known(input):
                return plain(input, dim)
            return _run(xp, "softmax", (input,), dim, log)

        return kernel

    return make


def gradient(log: bool) -> Any:
    """The gradient, of what came back and of the result."""

    def make(plain: Kernel, xp: Any) -> Kernel:
        def kernel(grad: Any, output: Any, dim: int) -> Any:
            if not output.size or not launch.known(grad, output) or grad.shape != output.shape:
                return plain(grad, output, dim)
            return _run(xp, "slope", (grad, output), dim, log)

        return kernel

    return make
