"""Marks for NVIDIA's profilers, by cupy; on simulated devices nobody reads them and nothing is done.

Invariant: without CUDA every call is refused in PyTorch's words.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..engine.base import cuda_probe
from ..engine.kernels import simulated

__all__ = ["mark", "range", "range_end", "range_pop", "range_push", "range_start"]

_depth = [0]


def _nvtx() -> Any:
    """Cupy's marks; None where devices are simulated."""
    if not cuda_probe.find().ok:
        raise RuntimeError("NVTX functions not installed. Are you sure you have a CUDA build?")
    if simulated.count():
        return None
    import cupy

    return cupy.cuda.nvtx


def range_push(msg: str) -> int:
    """Begin a range; gives how many are open around it.

    Args:
        msg: its name.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> vistorch.cuda.nvtx.range_push("epoch"), vistorch.cuda.nvtx.range_push("step")
        (0, 1)
        >>> vistorch.cuda.nvtx.range_pop(), vistorch.cuda.nvtx.range_pop()
        (1, 0)
        >>> vistorch.cuda.simulate(None)
    """
    if (nvtx := _nvtx()) is not None:
        nvtx.RangePush(msg)
    _depth[0] += 1
    return _depth[0] - 1


def range_pop() -> int:
    """End the range that began last; gives how many are still open, or a negative number if none was.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> vistorch.cuda.nvtx.range_push("step")
        0
        >>> vistorch.cuda.nvtx.range_pop()
        0
        >>> vistorch.cuda.simulate(None)
    """
    if (nvtx := _nvtx()) is not None:
        nvtx.RangePop()
    _depth[0] = max(_depth[0] - 1, -1)
    return _depth[0]


def range_start(msg: str) -> int:
    """Begin a range that another thread may end: as a mark, for cupy has no such ranges.

    Args:
        msg: its name.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> number = vistorch.cuda.nvtx.range_start("loading")
        >>> vistorch.cuda.nvtx.range_end(number)
        >>> vistorch.cuda.simulate(None)
    """
    mark(msg)
    return 0


def range_end(range_id: int) -> None:
    """End a range that `range_start` began.

    Args:
        range_id: what it gave.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> vistorch.cuda.nvtx.range_end(vistorch.cuda.nvtx.range_start("loading"))
        >>> vistorch.cuda.simulate(None)
    """


def mark(msg: str) -> None:
    """Mark this moment.

    Args:
        msg: its name.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> vistorch.cuda.nvtx.mark("loss is infinite")
        >>> vistorch.cuda.simulate(None)
    """
    if (nvtx := _nvtx()) is not None:
        nvtx.Mark(msg)


@contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """A range around a `with` block.

    Args:
        msg: its name, which may have places for the rest, as in `str.format`.
        *args: for these places.
        **kwargs: for these places.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> with vistorch.cuda.nvtx.range("step {}", 3):
        ...     vistorch.cuda.nvtx.range_push("inside")  # one is open around it
        ...     vistorch.cuda.nvtx.range_pop()
        1
        1
        >>> vistorch.cuda.simulate(None)
    """
    range_push(msg.format(*args, **kwargs))
    try:
        yield
    finally:
        range_pop()
