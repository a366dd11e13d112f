"""Gradients that travel together: one flat tensor, and which part of it is whose.

Invariant: a parameter is in one bucket, and all ranks have the same buckets in the same order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..engine.core.tensor import Tensor, wrap
from .work import WorkFuture


class GradBucket:
    """What a communication hook is given.

    Example:
        >>> import vistorch
        >>> from vistorch import distributed as dist, nn
        >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
        >>> net = nn.parallel.DistributedDataParallel(nn.Linear(2, 1))
        >>> def hook(state, bucket):
        ...     print(bucket.index(), bucket.is_last(), bucket.buffer().shape, len(bucket.gradients()))
        ...     bucket.set_buffer(bucket.buffer() * 1)
        ...     assert len(bucket.parameters()) == 2 and bucket.part(0).shape == bucket.parameters()[0].shape
        ...     return dist.all_reduce(bucket.buffer(), async_op=True).get_future().then(lambda f: f.value()[0])
        >>> net.register_comm_hook(None, hook)
        >>> net(vistorch.ones(1, 2)).sum().backward()
        0 True vistorch.Size([3]) 2
        >>> dist.destroy_process_group()
    """

    def __init__(self, index: int, parameters: Sequence[Any], numbers: Sequence[int], last: bool) -> None:
        first = parameters[0]
        self._index, self._parameters, self._last = index, list(parameters), last
        self.numbers = list(numbers)
        self.starts, at = [], 0
        for p in parameters:
            self.starts.append(at)
            at += p.numel()
        self._buffer = wrap(first._place.xp.zeros(at, first._data.dtype), first._place)
        self.missing = len(parameters)
        self.future: Any = None

    def index(self) -> int:
        """Its number among the buckets of the pass."""
        return self._index

    def is_last(self) -> bool:
        """Whether no other bucket comes after it."""
        return self._last

    def buffer(self) -> Tensor:
        """All gradients, flat."""
        return self._buffer

    def set_buffer(self, buffer: Tensor) -> None:
        """Take another flat tensor in place of the buffer.

        Args:
            buffer: of the same length.
        """
        if buffer.numel() != self._buffer.numel():
            raise RuntimeError(
                f"set_buffer: the bucket has {self._buffer.numel()} values, the tensor {buffer.numel()}"
            )
        self._buffer = buffer.detach()

    def parameters(self) -> list:
        """Whose gradients they are."""
        return list(self._parameters)

    def gradients(self) -> list[Tensor]:
        """The gradients, each in the shape of its parameter; they share the buffer's memory."""
        return [wrap(self.part(i), self._buffer._place) for i in range(len(self._parameters))]

    def part(self, i: int) -> Any:
        """The array of one gradient, in the shape of its parameter."""
        p, at = self._parameters[i], self.starts[i]
        return self._buffer._data[at : at + p.numel()].reshape(p._data.shape)


def value_of(future: Any) -> Tensor:
    """The flat tensor that a hook's future has."""
    value = future.wait() if isinstance(future, WorkFuture) or hasattr(future, "wait") else future
    while isinstance(value, (list, tuple)):
        value = value[0]
    if not isinstance(value, Tensor):
        raise RuntimeError(
            f"a communication hook returns a future of a tensor, but its value is of type {type(value).__name__}"
        )
    return value


def cut(sizes: Sequence[tuple[Any, int]], first: int, most: int) -> list[list[int]]:
    """Cut a list of parameters into buckets; return their positions.

    Args:
        sizes: for each parameter a kind, which a bucket may not mix, and a number of bytes.
        first: how many bytes the first bucket of a kind may have.
        most: how many the others may have.
    """
    done: list[list[int]] = []
    open_: dict[Any, tuple[list[int], int]] = {}
    limits: dict[Any, int] = {}
    for i, (kind, size) in enumerate(sizes):
        held, total = open_.get(kind, ([], 0))
        held.append(i)
        total += size
        if total >= limits.get(kind, first):
            done.append(held)
            limits[kind] = most
            open_.pop(kind, None)
        else:
            open_[kind] = held, total
    return done + [held for held, _ in open_.values()]
