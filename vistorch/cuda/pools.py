"""Private pools: memory that a program, or a captured graph, keeps apart from the rest.

Invariant: memory of a private pool is given only inside `use_mem_pool`, or to the graphs that share it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from vistorch.engine.library_name import library

from ..engine.base import cuda_probe
from ..engine.kernels import simulated
from ..engine.memory import device_memory, placement
from .devices import existing_index
from .snapshots import memory_snapshot

_numbers = itertools.count(1).__next__


class MemPool:
    """Memory apart from the rest, for what is made inside `use_mem_pool`.

    Args:
        allocator: not supported: memory is the driver's.
        use_on_oom: accepted, as in PyTorch.
        no_split: accepted.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> pool = vistorch.cuda.MemPool()
        >>> with vistorch.cuda.use_mem_pool(pool):
        ...     x = vistorch.ones(3, device="cuda")
        >>> pool.snapshot()  # a simulated device has no memory of its own
        []
        >>> vistorch.cuda.simulate(None)
    """

    def __init__(self, allocator: Any = None, use_on_oom: bool = False, no_split: bool = False):
        if allocator is not None:
            raise NotImplementedError(
                f"{library}.cuda.MemPool takes no allocator: its memory is the driver's"
            )
        self._identity = (0, _numbers())
        self._own: Any = None
        placement.cuda_place(cuda_probe.current_index())
        self._private()

    @property
    def id(self) -> tuple[int, int]:
        """Its pair of numbers.

        Example:
            >>> import vistorch
            >>> vistorch.cuda.simulate(1)
            >>> vistorch.cuda.MemPool().id[0]
            0
            >>> vistorch.cuda.simulate(None)
        """
        return self._identity

    @property
    def allocator(self) -> None:
        """None: the driver's.

        Example:
            >>> import vistorch
            >>> vistorch.cuda.simulate(1)
            >>> vistorch.cuda.MemPool().allocator is None
            True
            >>> vistorch.cuda.simulate(None)
        """
        return

    def use_count(self) -> int:
        """How many graphs work with its memory, and itself.

        Example:
            >>> import vistorch
            >>> vistorch.cuda.simulate(1)
            >>> vistorch.cuda.MemPool().use_count()
            1
            >>> vistorch.cuda.simulate(None)
        """
        return 1 + (0 if self._own is None else self._own.graphs)

    def snapshot(self, include_traces: bool = True) -> list[dict[str, Any]]:
        """Return its segments, as `memory_snapshot` does.

        Args:
            include_traces: accepted, as in PyTorch.

        Example:
            >>> import vistorch
            >>> vistorch.cuda.simulate(1)
            >>> vistorch.cuda.MemPool().snapshot()
            []
            >>> vistorch.cuda.simulate(None)
        """
        return memory_snapshot(self.id)

    def _private(self) -> device_memory.PrivatePool | None:
        """The pool itself; None on simulated devices."""
        if simulated.count():
            return None
        if self._own is None:
            allocator = device_memory.allocator
            assert allocator is not None, "CUDA is in use"
            self._own = allocator.new_pool(self._identity)
        return self._own


@contextmanager
def use_mem_pool(pool: MemPool, device: Any = None) -> Iterator[None]:
    """Take this thread's memory from a pool inside a `with` block.

    Args:
        pool: the pool.
        device: the device, or None for the current one.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> with vistorch.cuda.use_mem_pool(vistorch.cuda.MemPool()):
        ...     vistorch.ones(2, device="cuda").sum().item()
        2.0
        >>> vistorch.cuda.simulate(None)
    """
    index = existing_index(device)
    own = pool._private()
    if own is None:
        yield
        return
    allocator = device_memory.allocator
    assert allocator is not None
    with allocator.within(index, own):
        yield
