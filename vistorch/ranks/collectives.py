"""Collective operations on tensors, with PyTorch's names, arguments and errors.

Invariant: everything a rank can see for itself is refused before anything moves.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import numpy as np

from ..engine.base.warn_once import user_level
from ..engine.core.tensor import Tensor
from ..engine.library_name import library
from .buffers import Buffer, spread, stacked
from .errors import DistArgumentError, DistBackendError
from .group import ProcessGroup, chosen, default, get_group_rank, outside
from .reduce_op import ReduceOp, check
from .work import Work, wait

__all__ = """
    all_gather all_gather_coalesced all_gather_into_tensor all_gather_single all_reduce all_reduce_coalesced all_to_all
    all_to_all_single barrier broadcast gather monitored_barrier reduce reduce_scatter reduce_scatter_single
    reduce_scatter_tensor scatter
""".split()


# ---- what all of them check ---------------------------------------------------------------------------------------
def one_tensor(given: Any, name: str) -> Tensor:
    """An argument that is a tensor."""
    if not isinstance(given, Tensor):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type {library}.Tensor\n"
            f"             but got {type(given)} instead."
        )
    return given


def tensor_list(given: Any, name: str) -> list[Tensor]:
    """An argument that is a list of tensors."""
    if not isinstance(given, (list, tuple)):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type List[{library}.Tensor]\n"
            f"             but got {type(given)} instead."
        )
    if not all(isinstance(one, Tensor) for one in given):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type List[{library}.Tensor]\n"
            f"             but got {type(given)} with elements of type {[type(one) for one in given]}."
        )
    return list(given)


def same_dtype(*tensors: Any) -> None:
    """Refuse tensors of different dtypes."""
    found = None
    for t in tensors:
        if found is not None and t.dtype != found:
            raise ValueError(f"Invalid usage of tensors with different dtypesFound {found} and  {t.dtype}")
        found = t.dtype


def not_in_group(group: Any, name: str) -> bool:
    """Whether this rank has no part in an operation; then it is warned."""
    if not outside(group):
        return False
    warnings.warn(
        f"Running {name} on global rank {default().rank()} which does not belong to the given group.",
        stacklevel=user_level(),
    )
    return True


def root_of(group: ProcessGroup, rank: int | None, group_rank: int | None) -> int:
    """The number in the group of a rank that was given by either number."""
    if group_rank is not None:
        if rank is not None:
            raise ValueError("Can't specify both group_rank and global_rank")
        if not 0 <= group_rank < group.size():
            raise DistArgumentError(f"Group rank {group_rank} is not part of group {group}")
        return group_rank
    if rank is None:
        raise ValueError("Must specify global_rank or group_rank")
    found = get_group_rank(group, rank)
    if not 0 <= found < group.size():
        raise DistArgumentError(f"Global rank {rank} is not part of group {group}")
    return found


def described(tensors: Sequence[Tensor]) -> str:
    """Dtypes and shapes in a few words."""
    return ", ".join(f"{str(t.dtype).removeprefix('vistorch.')} {list(t.shape)}" for t in tensors[:4])


def mover(group: ProcessGroup, tensors: Sequence[Tensor]) -> Any:
    """The transport for tensors: that of their device, where the group has one."""
    if group.device_transports and tensors:
        return group.device_transports.get(tensors[0].device.type, group.transport)
    return group.transport


def _on_device(transport: Any) -> bool:
    """Whether a transport moves the tensors' own memory, and no buffer of the host."""
    return getattr(transport, "on_device", False)


class _Reduced:
    """A tensor that is reduced in place: its buffer, and the end."""

    def __init__(self, tensor: Tensor, op: ReduceOp, transport: Any) -> None:
        self.op, self.size = op, transport.size
        self.buffer = transport.buffer(tensor) if _on_device(transport) else Buffer(tensor, wide=True)

    def finish(self) -> None:
        """Divide for an average, and write back."""
        if self.op is ReduceOp.AVG and self.size > 1:
            self.buffer.array[...] = self.buffer.array / self.size
        self.buffer.store()


def _start(
    name: str,
    group: Any,
    tensors: Sequence[Tensor],
    async_op: bool,
    begin: Callable[[Any], tuple],
    results: Sequence[Any],
    compared: Sequence[Tensor] | None = None,
) -> Work | None:
    """Number an operation, start it, and wait for it if it is to be waited for."""
    what = described(tensors)
    group.begin(name, what, tensors if compared is None else compared)
    try:
        requests, finish = begin(mover(group, tensors))
    except RuntimeError:
        raise
    except Exception as error:  # MPI's own
        raise DistBackendError(f"{name} ({what}): {error}") from error
    return group.run(name, requests, finish, async_op, results, what)


# ---- reductions ---------------------------------------------------------------------------------------------------
def all_reduce(
    tensor: Tensor, op: ReduceOp = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """Reduce a tensor over all ranks, in place: each has the result.

    Args:
        tensor: the values of this rank.
        op: how values become one.
        group: whose ranks; all if None.
        async_op: return a `Work` at once instead of waiting.

    Example:
        >>> import vistorch
        >>> from vistorch import distributed as dist
        >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
        >>> t = vistorch.tensor([1.0, 2.0])
        >>> dist.all_reduce(t)
        >>> t
        tensor([1., 2.])
        >>> dist.destroy_process_group()
    """
    tensor = one_tensor(tensor, "tensor")
    if not_in_group(group, "all_reduce"):
        return None
    return _all_reduce("all_reduce", [tensor], op, chosen(group), async_op)


def _all_reduce(
    name: str, tensors: list[Tensor], op: Any, group: ProcessGroup, async_op: bool
) -> Work | None:
    for t in tensors:
        check(op, t._data.dtype, name)

    def begin(transport: Any) -> tuple:
        held = [_Reduced(t, op, transport) for t in tensors]
        requests = [transport.all_reduce(one.buffer.array, op) for one in held]
        return requests, lambda: [one.finish() for one in held]

    return _start(name, group, tensors, async_op, begin, tensors)


def all_reduce_coalesced(
    tensors: Sequence[Tensor], op: ReduceOp = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """Reduce several tensors over all ranks, in place.

    Args:
        tensors: the values of this rank.
        op: how values become one.
        group: whose ranks; all if None.
        async_op: return a `Work` at once instead of waiting.

    Example:
        >>> import vistorch
        >>> from vistorch import distributed as dist
        >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
        >>> dist.all_reduce_coalesced([vistorch.ones(2), vistorch.ones(3)])
        >>> dist.destroy_process_group()
    """
    given: list[Tensor] = tensor_list([tensors] if isinstance(tensors, Tensor) else tensors, "tensors")
    same_dtype(*given)
    if not_in_group(group, "all_reduce_coalesced"):
        return None
    return _all_reduce("all_reduce_coalesced", given, op, chosen(group), async_op)


def reduce(
    tensor: Tensor,
    dst: int | None = None,
    op: ReduceOp = ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """Reduce a tensor over all ranks; one of them has the result, in place.

    Args:
        tensor: the values of this rank.
        dst: the rank that has the result.
        op: how values become one.
        group: whose ranks; all if None.
        async_op: return a `Work` at once instead of waiting.
        group_dst: the same rank by its number in the group.

    Example:
        >>> import vistorch
        >>> from vistorch import distributed as dist
        >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
        >>> dist.reduce(vistorch.ones(2), dst=0)
        >>> dist.destroy_process_group()
    """
    tensor = one_tensor(tensor, "tensor")
    if not_in_group(group, "reduce"):
        return None
    group = chosen(group)
    root = root_of(group, dst, group_dst)
    check(op, tensor._data.dtype, "reduce")

    def begin(transport: Any) -> tuple:
        held = _Reduced(tensor, op, transport)
        request = transport.reduce(held.buffer.array, op, root)
        return [request], held.finish if transport.rank == root else None

    return _start("reduce", group, [tensor], async_op, begin, [tensor])


def reduce_scatter(
    output: Tensor,
    input_list: Sequence[Tensor],
    op: ReduceOp = ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
) -> Work | None:
    """Reduce a list of tensors over all ranks; each rank has the one of its number.

    Args:
        output: where the result goes.
        input_list: a tensor for each rank.
        op: how values become one.
        group: whose ranks; all if None.
        async_op: return a `Work` at once instead of waiting.

    Example:
        >>> import vistorch
        >>> from vistorch import distributed as dist
        >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
        >>> out = vistorch.empty(2)
        >>> dist.reduce_scatter(out, [vistorch.ones(2)])
        >>> out
        tensor([1., 1.])
        >>> dist.destroy_process_group()
    """
    output, inputs = one_tensor(output, "output"), tensor_list(input_list, "input_list")
    same_dtype(output, *inputs)
    if not_in_group(group, "reduce_scatter"):
        return None
    group = chosen(group)
    if len(inputs) != group.size():
        raise DistArgumentError(
            f"reduce_scatter takes a tensor for each of the {group.size()} ranks, but got {len(inputs)}"
        )
    if tuple(inputs[group.rank()].shape) != tuple(output.shape):
        raise DistArgumentError(
            f"reduce_scatter: the output has the shape {list(output.shape)}, this rank's part of the input "
            f"{list(inputs[group.rank()].shape)}"
        )
    return _reduce_scatter("reduce_scatter", output, inputs, op, group, async_op)


def _reduce_scatter(
    name: str, output: Tensor, inputs: list[Tensor], op: Any, group: ProcessGroup, async_op: bool
) -> Work | None:
    check(op, output._data.dtype, name)

    def begin(transport: Any) -> tuple:
        if _on_device(transport):
            return transport.reduce_scatter_tensors(output, inputs, op)
        parts = [Buffer(t, wide=True).array.reshape(-1) for t in inputs]
        held = Buffer(output, reads=False, wide=True)
        if len(parts) > 1:
            total = np.concatenate(parts)
            counts = [part.size for part in parts]
        else:  # one tensor, cut evenly
            total, counts = parts[0], [held.array.size] * transport.size

        def finish() -> None:
            if op is ReduceOp.AVG and transport.size > 1:
                held.array[...] = held.array / transport.size
            held.store()

        return [transport.reduce_scatter(total, held.array.reshape(-1), counts, op)], finish

    return _start(name, group, [output, *inputs], async_op, begin, [output], inputs)


def reduce_scatter_tensor(
    output: Tensor, input: Tensor, op: ReduceOp = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """Reduce a tensor over all ranks; each rank has its part of the result.

    Args:
        output: where the part goes.
        input: as many values for each rank as `output` has.
        op: how values become one.
        group: whose ranks; all if None.
        async_op: return a `Work` at once instead of waiting.

    Example:
        >>> import vistorch
        >>> from vistorch import distributed as dist
        >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
        >>> out = vistorch.empty(2)
        >>> dist.reduce_scatter_tensor(out, vistorch.ones(2))
        >>> out
        tensor([1., 1.])
        >>> dist.destroy_process_group()
    """
    output, input = one_tensor(output, "output"), one_tensor(input, "input")
    same_dtype(output, input)
    if not_in_group(group, "reduce_scatter_tensor"):
        return None
    group = chosen(group)
    if input.numel() != output.numel() * group.size():
        raise DistArgumentError("input tensor must be the same size as output size times world size")
    return _reduce_scatter("reduce_scatter_tensor", output, [input], op, group, async_op)


reduce_scatter_single = reduce_scatter_tensor


# ---- movements ----------------------------------------------------------------------------------------------------
def broadcast(
    tensor: Tensor,
    src: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Give all ranks the values of one, in place.

    Args:
        tensor: the values, or where they go.
        src: the rank whose values they are.
        group: whose ranks; all if None.
        async_op: return a `Work` at once instead of waiting.
        group_src: the same rank by its number in the group.

    Example:
        >>> import vistorch
        >>> from vistorch import distributed as dist
        >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
        >>> dist.broadcast(vistorch.ones(2), src=0)
        >>> dist.destroy_process_group()
    """
    tensor = one_tensor(tensor, "tensor")
    if not_in_group(group, "broadcast"):
        return None
    group = chosen(group)
    root = root_of(group, src, group_src)

    def begin(transport: Any) -> tuple:
        if _on_device(transport):
            there = transport.buffer(tensor)
            return [transport.broadcast(there.array, root)], there.store
        held = Buffer(tensor, reads=transport.rank == root)
        return [transport.broadcast(held.raw, root)], None if transport.rank == root else held.store

    return _start("broadcast", group, [tensor], async_op, begin, [tensor])


def all_gather(
    tensor_list: Sequence[Tensor], tensor: Tensor, group: Any = None, async_op: bool = False
) -> Work | None:
    """Give all ranks the tensors of all.

    Args:
        tensor_list: where they go, one for each rank.
        tensor: this rank's; it may have another shape than the others'.
        group: whose ranks; all if None.
        async_op: return a `Work` at once instead of waiting.

    Example:
        >>> import vistorch
        >>> from vistorch import distributed as dist
        >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
        >>> parts = [vistorch.zeros(2)]
        >>> dist.all_gather(parts, vistorch.ones(2))
        >>> parts
        [tensor([1., 1.])]
        >>> dist.destroy_process_group()
    """
    outputs, tensor = _tensor_list(tensor_list, "tensor_list"), one_tensor(tensor, "tensor")
    same_dtype(*outputs, tensor)
    if not_in_group(group, "all_gather"):
        return None
    group = chosen(group)
    if len(outputs) != group.size():
        raise DistArgumentError(
            "ProcessGroupMPI::allgather: invalid output tensor list: number of output tensors should equal to the "
            f"world size ({group.size()}), but it is {len(outputs)}"
        )
    if len({t.numel() for t in outputs}) > 1:
        _check_lengths(group, outputs, tensor)
    if outputs[group.rank()].numel() != tensor.numel():
        raise DistArgumentError(
            f"all_gather: this rank's tensor has the shape {list(tensor.shape)}, and its place in tensor_list "
            f"{list(outputs[group.rank()].shape)}"
        )

    def begin(transport: Any) -> tuple:
        if _on_device(transport):
            return transport.all_gather_tensors(outputs, tensor)
        item = tensor._data.itemsize
        counts = [t.numel() * item for t in outputs]
        into = np.empty(sum(counts), np.uint8)
        raw = Buffer(tensor).raw
        if len(set(counts)) == 1:
            request = transport.all_gather(raw, into)
        else:  # each to each, of unequal lengths
            request = transport.all_to_all(
                np.tile(raw, transport.size), [raw.size] * transport.size, into, counts
            )
        return [request], lambda: spread(into, outputs)

    return _start("all_gather", group, [tensor], async_op, begin, outputs)


def _check_lengths(group: ProcessGroup, outputs: Sequence[Tensor], tensor: Tensor) -> None:
    """Raise on all ranks if tensors of several lengths do not fit their places: else some would wait for the others."""
    group.begin("all_gather", "lengths", checks=False)
    lengths = np.zeros(group.size(), np.int64)
    mine = np.array([tensor.numel()], np.int64)
    request = group.transport.all_gather(mine.view(np.uint8), lengths.view(np.uint8))
    group.run("all_gather", [request], None, False)
    for rank, (length, place) in enumerate(zip(lengths, outputs, strict=True)):
        if length != place.numel():
            raise DistArgumentError(
                f"all_gather: the tensor of rank {rank} has {length} elements, and its place in tensor_list "
                f"{place.numel()}"
            )


_tensor_list = tensor_list  # `all_gather` has PyTorch's argument of that name


def all_gather_coalesced(
    output_tensor_lists: Sequence[Sequence[Tensor]],
    input_tensor_list: Sequence[Tensor],
    group: Any = None,
    async_op: bool = False,
) -> Any:
    """Give all ranks several tensors of all.

    Args:
        output_tensor_lists: for each rank, where its tensors go.
        input_tensor_list: this rank's.
        group: whose ranks; all if None.
        async_op: return a future at once instead of waiting.

    Example:
        >>> import vistorch
        >>> from vistorch import distributed as dist
        >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
        >>> parts = [[vistorch.zeros(2)]]
        >>> dist.all_gather_coalesced(parts, [vistorch.ones(2)])
        >>> parts
        [[tensor([1., 1.])]]
        >>> dist.destroy_process_group()
    """
    inputs = tensor_list(input_tensor_list, "tensor_list")
    same_dtype(*inputs)
    if not isinstance(output_tensor_lists, list):
        raise RuntimeError("Invalid function argument: output_tensor_lists should be a list")
    if not_in_group(group, "all_gather_coalesced"):
        return None
    works = [
        all_gather([row[i] for row in output_tensor_lists], one, group, async_op=True)
        for i, one in enumerate(inputs)
    ]
    both = Work(chosen(group), "all_gather_coalesced", [_Whole(works)], results=inputs)
    if async_op:
        return both.get_future()
    both.wait()
    return None


class _Whole:
    """Several works as one request."""

    def __init__(self, works: Sequence[Any]) -> None:
        self.works = list(works)

    def Test(self) -> bool:
        return all(work.is_completed() for work in self.works)


def all_gather_into_tensor(
    output_tensor: Tensor, input_tensor: Tensor, group: Any = None, async_op: bool = False
) -> Work | None:
    """Give all ranks the tensors of all, one behind the other in one tensor.

    Args:
        output_tensor: where they go.
        input_tensor: this rank's.
        group: whose ranks; all if None.
        async_op: return a `Work` at once instead of waiting.

    Example:
        >>> import vistorch
        >>> from vistorch import distributed as dist
        >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
        >>> out = vistorch.zeros(2)
        >>> dist.all_gather_into_tensor(out, vistorch.ones(2))
        >>> out
        tensor([1., 1.])
        >>> dist.destroy_process_group()
    """
    output, input = one_tensor(output_tensor, "output_tensor"), one_tensor(input_tensor, "input_tensor")
    if not_in_group(group, "all_gather_into_tensor"):
        return None
    group = chosen(group)
    if output.dtype != input.dtype:
        raise DistArgumentError("output tensor must have the same type as input tensor")
    if output.numel() != input.numel() * group.size():
        raise DistArgumentError("output tensor size must be equal to world_size times input tensor size")

    def begin(transport: Any) -> tuple:
        if _on_device(transport):
            there = transport.buffer(output)
            return [transport.all_gather(transport.buffer(input).array, there.array)], there.store
        held = Buffer(output, reads=False)
        return [transport.all_gather(Buffer(input).raw, held.raw)], held.store

    return _start("all_gather_into_tensor", group, [input], async_op, begin, [output])


all_gather_single = all_gather_into_tensor


def gather(
    tensor: Tensor,
    gather_list: Sequence[Tensor] | None = None,
    dst: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """Give one rank the tensors of all.

    Args:
        tensor: this rank's.
        gather_list: at that rank, where they go.
        dst: that rank; 0 if not given.
        group: whose ranks; all if None.
        async_op: return a `Work` at once instead of waiting.
        group_dst: the same rank by its number in the group.

    Example:
        >>> import vistorch
        >>> from vistorch import distributed as dist
        >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
        >>> parts = [vistorch.zeros(2)]
        >>> dist.gather(vistorch.ones(2), parts)
        >>> parts
        [tensor([1., 1.])]
        >>> dist.destroy_process_group()
    """
    tensor = one_tensor(tensor, "tensor")
    outputs = tensor_list(gather_list, "gather_list") if gather_list else []
    same_dtype(tensor, *outputs)
    if not_in_group(group, "gather"):
        return None
    group = chosen(group)
    root = root_of(group, 0 if dst is None and group_dst is None else dst, group_dst)
    _check_list("gather_list", "destination", outputs, group, root, tensor)

    def begin(transport: Any) -> tuple:
        if _on_device(transport):
            return transport.gather_tensors(tensor, outputs, root)
        raw = Buffer(tensor).raw
        if transport.rank != root:
            return [transport.gather(raw, None, root)], None
        into = np.empty(raw.size * transport.size, np.uint8)
        return [transport.gather(raw, into, root)], lambda: spread(into, outputs)

    return _start("gather", group, [tensor], async_op, begin, outputs)


def _check_list(
    name: str, which: str, tensors: list[Tensor], group: ProcessGroup, root: int, tensor: Tensor
) -> None:
    if group.rank() != root:
        if tensors:
            raise ValueError(f"Argument ``{name}`` must NOT be specified on non-{which} ranks.")
        return
    if not tensors:
        raise ValueError(f"Argument ``{name}`` must be specified on {which} rank.")
    if len(tensors) != group.size():
        raise DistArgumentError(
            f"``{name}`` has {len(tensors)} tensors, but the group has {group.size()} ranks: it takes one for each."
        )
    for rank, one in enumerate(tensors):
        if one.numel() != tensor.numel():
            raise DistArgumentError(
                f"``{name}``: the tensor for rank {rank} has the shape {list(one.shape)}, but ``tensor`` "
                f"{list(tensor.shape)}"
            )


def scatter(
    tensor: Tensor,
    scatter_list: Sequence[Tensor] | None = None,
    src: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Give each rank one of the tensors of one rank.

    Args:
        tensor: where it goes.
        scatter_list: at that rank, the tensors, one for each rank.
        src: that rank; 0 if not given.
        group: whose ranks; all if None.
        async_op: return a `Work` at once instead of waiting.
        group_src: the same rank by its number in the group.

    Example:
        >>> import vistorch
        >>> from vistorch import distributed as dist
        >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
        >>> out = vistorch.zeros(2)
        >>> dist.scatter(out, [vistorch.ones(2)])
        >>> out
        tensor([1., 1.])
        >>> dist.destroy_process_group()
    """
    tensor = one_tensor(tensor, "tensor")
    inputs = tensor_list(scatter_list, "scatter_list") if scatter_list else []
    same_dtype(tensor, *inputs)
    if not_in_group(group, "scatter"):
        return None
    group = chosen(group)
    root = root_of(group, 0 if src is None and group_src is None else src, group_src)
    _check_list("scatter_list", "source", inputs, group, root, tensor)

    def begin(transport: Any) -> tuple:
        if _on_device(transport):
            return transport.scatter_tensors(tensor, inputs, root)
        held = Buffer(tensor, reads=False)
        raw = stacked(inputs) if transport.rank == root else None
        return [transport.scatter(raw, held.raw, root)], held.store

    return _start("scatter", group, [tensor], async_op, begin, [tensor])


def all_to_all(
    output_tensor_list: Sequence[Tensor],
    input_tensor_list: Sequence[Tensor],
    group: Any = None,
    async_op: bool = False,
) -> Work | None:
    """Give each rank one tensor of every rank.

    Args:
        output_tensor_list: where those for this rank go.
        input_tensor_list: those of this rank, one for each.
        group: whose ranks; all if None.
        async_op: return a `Work` at once instead of waiting.

    Example:
        >>> import vistorch
        >>> from vistorch import distributed as dist
        >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
        >>> parts = [vistorch.zeros(2)]
        >>> dist.all_to_all(parts, [vistorch.ones(2)])
        >>> parts
        [tensor([1., 1.])]
        >>> dist.destroy_process_group()
    """
    outputs = tensor_list(output_tensor_list, "output_tensor_list")
    inputs = tensor_list(input_tensor_list, "input_tensor_list")
    same_dtype(*outputs, *inputs)
    if not_in_group(group, "all_to_all"):
        return None
    group = chosen(group)
    for name, given in (("output_tensor_list", outputs), ("input_tensor_list", inputs)):
        if len(given) != group.size():
            raise DistArgumentError(
                f"all_to_all takes a tensor for each of the {group.size()} ranks, but ``{name}`` has {len(given)}"
            )
    return _all_to_all("all_to_all", outputs, inputs, [], [], group, async_op)


def _all_to_all(
    name: str,
    outputs: list[Tensor],
    inputs: list[Tensor],
    out_counts: list[int],
    in_counts: list[int],
    group: ProcessGroup,
    async_op: bool,
) -> Work | None:
    """Counts in bytes; those of the tensors themselves where none are given."""

    def begin(transport: Any) -> tuple:
        if _on_device(transport):
            return transport.all_to_all_tensors(outputs, inputs)
        raw = stacked(inputs)
        sizes = in_counts or [t.numel() * t._data.itemsize for t in inputs]
        into_sizes = out_counts or [t.numel() * t._data.itemsize for t in outputs]
        into = np.empty(sum(into_sizes), np.uint8)
        return [transport.all_to_all(raw, sizes, into, into_sizes)], lambda: spread(into, outputs)

    # the shapes may differ between ranks: only the operation is compared
    return _start(name, group, [*inputs, *outputs], async_op, begin, outputs, [])


def all_to_all_single(
    output: Tensor,
    input: Tensor,
    output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None,
    group: Any = None,
    async_op: bool = False,
) -> Work | None:
    """Give each rank a part of the tensor of every rank, cut along the first dimension.

    Args:
        output: where the parts for this rank go.
        input: this rank's tensor.
        output_split_sizes: how many rows come from each rank; equally many if not given.
        input_split_sizes: how many rows go to each rank; equally many if not given.
        group: whose ranks; all if None.
        async_op: return a `Work` at once instead of waiting.

    Example:
        >>> import vistorch
        >>> from vistorch import distributed as dist
        >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
        >>> out = vistorch.zeros(2)
        >>> dist.all_to_all_single(out, vistorch.ones(2))
        >>> out
        tensor([1., 1.])
        >>> dist.destroy_process_group()
    """
    output, input = one_tensor(output, "output"), one_tensor(input, "input")
    same_dtype(output, input)
    if not_in_group(group, "all_to_all_single"):
        return None
    group = chosen(group)
    counts = []
    for t, sizes in ((output, output_split_sizes), (input, input_split_sizes)):
        rows = t.size(0) if t.dim() else 1
        each = (t.numel() // rows if rows else 0) * t._data.itemsize
        if not sizes:
            if rows % group.size():
                raise RuntimeError("Tensor's dim 0 does not divide equally across group size")
            sizes = [rows // group.size()] * group.size()
        elif len(sizes) != group.size():
            raise RuntimeError("Number of tensor splits not equal to group size")
        elif sum(sizes) != rows:
            raise RuntimeError("Split sizes doesn't match total dim 0 size")
        counts.append([int(size) * each for size in sizes])
    if group.size() == 1 and counts[0] != counts[1]:
        raise DistArgumentError(
            f"all_to_all_single: ``input`` has the shape {list(input.shape)}, and ``output``, to which all of it goes, "
            f"{list(output.shape)}"
        )
    return _all_to_all("all_to_all_single", [output], [input], counts[0], counts[1], group, async_op)


# ---- meetings -----------------------------------------------------------------------------------------------------
def barrier(
    group: Any = None, async_op: bool = False, device_ids: Any = None, timeout: timedelta | None = None
) -> Work | None:
    """Wait for all ranks.

    Args:
        group: whose ranks; all if None.
        async_op: return a `Work` at once instead of waiting.
        device_ids: PyTorch's; not used.
        timeout: how long; the group's own timeout if not given.

    Example:
        >>> from vistorch import distributed as dist
        >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
        >>> dist.barrier()
        >>> dist.destroy_process_group()
    """
    if not_in_group(group, "barrier"):
        return None
    group = chosen(group)
    if device_ids is not None and not isinstance(device_ids, list):
        raise TypeError("Invalid function argument: device_ids type should be List[int]")
    group.begin("barrier", "")
    work = Work(group, "barrier", [group.transport.barrier()])
    if async_op:
        return work
    work.wait(timeout)
    return None


def monitored_barrier(
    group: Any = None, timeout: timedelta | None = None, wait_all_ranks: bool = False
) -> None:
    """Wait for all ranks, and name those that do not come.

    Args:
        group: whose ranks; all if None.
        timeout: how long; the group's own timeout if not given.
        wait_all_ranks: name all of the missing ranks, not the first alone.

    Example:
        >>> from vistorch import distributed as dist
        >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
        >>> dist.monitored_barrier()
        >>> dist.destroy_process_group()
    """
    if not_in_group(group, "monitored_barrier"):
        return
    group = chosen(group)
    seconds = (timeout or group.timeout).total_seconds()
    group.begin("monitored_barrier", "", checks=False)
    me, ranks, control = group.rank(), group.ranks, group.control
    word = np.zeros(1, np.uint8)
    if me != 0:
        control.send(word, 0, _TAG)
        request = control.receive(word, 0, _TAG)

        def late() -> Exception:
            return DistBackendError(
                f"Rank {ranks[me]} successfully reached monitoredBarrier, but received errors while waiting for "
                f"send/recv from rank {ranks[0]}. Please check rank {ranks[0]} logs for faulty rank."
            )

        wait(request.Test, seconds, group, late)
        return
    missing = {other: control.receive(np.zeros(1, np.uint8), other, _TAG) for other in range(1, group.size())}

    def all_here() -> bool:
        for other in [other for other, request in missing.items() if request.Test()]:
            del missing[other]
        return not missing

    def absent() -> Exception:
        named = [ranks[other] for other in (missing if wait_all_ranks else list(missing)[:1])]
        who = ", ".join(map(str, named))
        group.broken = f"the group is broken since ranks {who} did not come to a monitored_barrier"
        return DistBackendError(
            f"[Rank {ranks[0]}]: Rank{'s' if wait_all_ranks else ''} {who} failed to pass monitoredBarrier in "
            f"{seconds * 1000:.0f} ms"
        )

    wait(all_here, seconds, group, absent)
    for other in range(1, group.size()):
        control.send(word, other, _TAG)


_TAG = 30_000
