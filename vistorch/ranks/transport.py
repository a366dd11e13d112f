"""What moves arrays between ranks: MPI for several, nothing at all for one.

A transport starts an operation on contiguous arrays of the host and returns a request, whose `Test()` says whether it
is done; nothing here waits. Movements are of bytes, so that every dtype travels.

Invariant: both classes have the same methods, and those of `Solo` need no MPI.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .reduce_op import ReduceOp

ANY = -1  # any rank may send


class Done:
    """A request that is complete.

    Args:
        source: the rank that sent.
    """

    def __init__(self, source: int = 0) -> None:
        self.source = source

    def Test(self) -> bool:  # noqa: D102
        return True


class Solo:
    """A world of one rank."""

    rank, size = 0, 1

    def __init__(self) -> None:
        self.waiting: dict[int, list[np.ndarray]] = {}  # by tag: what the rank has sent to itself

    def all_reduce(self, array: np.ndarray, op: ReduceOp) -> Any:
        """Reduce in place."""
        return Done()

    def reduce(self, array: np.ndarray, op: ReduceOp, root: int) -> Any:
        """Reduce in place at the root."""
        return Done()

    def broadcast(self, raw: np.ndarray, root: int) -> Any:
        """Give all the root's bytes."""
        return Done()

    def all_gather(self, raw: np.ndarray, into: np.ndarray) -> Any:
        """Give all the bytes of all."""
        into[...] = raw
        return Done()

    def gather(self, raw: np.ndarray, into: np.ndarray | None, root: int) -> Any:
        """Give the root the bytes of all."""
        if into is not None:
            into[...] = raw
        return Done()

    def scatter(self, raw: np.ndarray | None, into: np.ndarray, root: int) -> Any:
        """Give each its part of the root's bytes."""
        into[...] = raw
        return Done()

    def reduce_scatter(self, array: np.ndarray, into: np.ndarray, counts: list[int], op: ReduceOp) -> Any:
        """Reduce, and give each its part."""
        into[...] = array
        return Done()

    def all_to_all(self, raw: np.ndarray, counts: list[int], into: np.ndarray, into_counts: list[int]) -> Any:
        """Give each its part of everyone's bytes."""
        into[...] = raw
        return Done()

    def send(self, raw: np.ndarray, rank: int, tag: int) -> Any:
        """Send bytes."""
        self.waiting.setdefault(tag, []).append(raw.copy())
        return Done()

    def receive(self, raw: np.ndarray, rank: int, tag: int) -> Any:
        """Receive bytes."""
        return _FromSelf(self.waiting.setdefault(tag, []), raw)

    def barrier(self) -> Any:
        """Wait for all."""
        return Done()

    def part(self, ranks: list[int]) -> Solo:
        """The transport of some of the ranks."""
        return Solo()

    def free(self) -> None:
        """Give back what it holds."""


class _FromSelf:
    """Waits for bytes that this rank sends itself."""

    source = 0

    def __init__(self, queue: list[np.ndarray], raw: np.ndarray) -> None:
        self.queue, self.raw, self.done = queue, raw, False

    def Test(self) -> bool:
        if not self.done and self.queue:
            self.raw[...] = self.queue.pop(0)
            self.done = True
        return self.done


class _Received:
    """A request that knows who sent."""

    def __init__(self, request: Any, status: Any) -> None:
        self.request, self.status = request, status

    def Test(self) -> bool:
        return self.request.Test(self.status)

    @property
    def source(self) -> int:
        return self.status.Get_source()

    @property
    def count(self) -> int:
        return self.status.Get_count()


class MPITransport:
    """Ranks of an MPI job.

    Args:
        comm: mpi4py's communicator.
        MPI: mpi4py's module.
    """

    def __init__(self, comm: Any, MPI: Any) -> None:
        self.comm, self.MPI = comm, MPI
        self.rank, self.size = comm.Get_rank(), comm.Get_size()
        self.ops = {
            ReduceOp.SUM: MPI.SUM,
            ReduceOp.AVG: MPI.SUM,
            ReduceOp.PRODUCT: MPI.PROD,
            ReduceOp.MIN: MPI.MIN,
            ReduceOp.MAX: MPI.MAX,
            ReduceOp.BAND: MPI.BAND,
            ReduceOp.BOR: MPI.BOR,
            ReduceOp.BXOR: MPI.BXOR,
        }
        self.of_bools = {
            ReduceOp.SUM: MPI.LOR,
            ReduceOp.MAX: MPI.LOR,
            ReduceOp.PRODUCT: MPI.LAND,
            ReduceOp.MIN: MPI.LAND,
        }

    def _op(self, array: np.ndarray, op: ReduceOp) -> tuple:
        """The array as MPI takes it, and MPI's operation."""
        if array.dtype.kind == "b":
            return array.view(np.uint8), self.of_bools.get(op, self.ops[op])
        return array, self.ops[op]

    def all_reduce(self, array: np.ndarray, op: ReduceOp) -> Any:
        """Reduce in place."""
        array, how = self._op(array, op)
        return self.comm.Iallreduce(self.MPI.IN_PLACE, array, how)

    def reduce(self, array: np.ndarray, op: ReduceOp, root: int) -> Any:
        """Reduce in place at the root."""
        array, how = self._op(array, op)
        if self.rank == root:
            return self.comm.Ireduce(self.MPI.IN_PLACE, array, how, root)
        return self.comm.Ireduce(array, None, how, root)

    def broadcast(self, raw: np.ndarray, root: int) -> Any:
        """Give all the root's bytes."""
        return self.comm.Ibcast(raw, root)

    def all_gather(self, raw: np.ndarray, into: np.ndarray) -> Any:
        """Give all the bytes of all."""
        return self.comm.Iallgather(raw, into)

    def gather(self, raw: np.ndarray, into: np.ndarray | None, root: int) -> Any:
        """Give the root the bytes of all."""
        return self.comm.Igather(raw, into, root)

    def scatter(self, raw: np.ndarray | None, into: np.ndarray, root: int) -> Any:
        """Give each its part of the root's bytes."""
        return self.comm.Iscatter(raw, into, root)

    def reduce_scatter(self, array: np.ndarray, into: np.ndarray, counts: list[int], op: ReduceOp) -> Any:
        """Reduce, and give each its part."""
        array, how = self._op(array, op)
        into = into.view(np.uint8) if into.dtype.kind == "b" else into
        return self.comm.Ireduce_scatter(array, into, counts, how)

    def all_to_all(self, raw: np.ndarray, counts: list[int], into: np.ndarray, into_counts: list[int]) -> Any:
        """Give each its part of everyone's bytes."""
        return self.comm.Ialltoallv([raw, counts], [into, into_counts])

    def send(self, raw: np.ndarray, rank: int, tag: int) -> Any:
        """Send bytes."""
        return self.comm.Isend(raw, rank, tag)

    def receive(self, raw: np.ndarray, rank: int, tag: int) -> Any:
        """Receive bytes."""
        source = self.MPI.ANY_SOURCE if rank == ANY else rank
        return _Received(self.comm.Irecv(raw, source, tag), self.MPI.Status())

    def barrier(self) -> Any:
        """Wait for all."""
        return self.comm.Ibarrier()

    def part(self, ranks: list[int]) -> MPITransport:
        """The transport of some of the ranks, which all call this."""
        whole = self.comm.Get_group()
        made = self.comm.Create_group(whole.Incl(ranks), ranks[0])
        made.Set_errhandler(self.MPI.ERRORS_RETURN)
        return MPITransport(made, self.MPI)

    def free(self) -> None:
        """Leave the communicator to MPI's end: to free it, all ranks would have to come."""
