"""What is wrong raises what PyTorch raises under gloo, in a group of one process."""

import warnings

import pytest
import torch
import torch.distributed

import vistorch
import vistorch.distributed

OUTSIDE = {
    "rank": lambda d, T: d.get_rank(group=None),
    "world size": lambda d, T: d.get_world_size(),
    "backend": lambda d, T: d.get_backend(),
    "all_reduce": lambda d, T: d.all_reduce(T.ones(1)),
    "barrier": lambda d, T: d.barrier(),
    "new_group": lambda d, T: d.new_group([0]),
    "destroy": lambda d, T: d.destroy_process_group(),
    "send": lambda d, T: d.send(T.ones(1), 0),
    "no rank": lambda d, T: d.init_process_group("gloo", init_method="tcp://127.0.0.1:29777", world_size=1),
    "no world": lambda d, T: d.init_process_group("gloo", store=d.HashStore()),
    "two ways": lambda d, T: d.init_process_group(
        "gloo", init_method="env://", store=d.HashStore(), rank=0, world_size=1
    ),
    "scheme": lambda d, T: d.init_process_group("gloo", init_method="foo://x", rank=0, world_size=1),
    "unknown backend": lambda d, T: d.init_process_group("bogus", rank=0, world_size=1, store=d.HashStore()),
    "unknown backend of a device": lambda d, T: d.init_process_group(
        "cpu:bogus", rank=0, world_size=1, store=d.HashStore()
    ),
    "timeout": lambda d, T: d.init_process_group(
        "gloo", timeout=5, rank=0, world_size=1, store=d.HashStore()
    ),
}
INSIDE = {
    "twice": lambda d, T: d.init_process_group("gloo", rank=0, world_size=1, store=d.HashStore()),
    "a list": lambda d, T: d.all_reduce([T.ones(2)]),
    "a number": lambda d, T: d.all_reduce(3),
    "op as text": lambda d, T: d.all_reduce(T.ones(2), op="sum"),
    "bits of floats": lambda d, T: d.all_reduce(T.ones(2), op=d.ReduceOp.BAND),
    "largest complex": lambda d, T: d.all_reduce(T.ones(2, dtype=T.complex64), op=d.ReduceOp.MAX),
    "broadcast from 5": lambda d, T: d.broadcast(T.ones(2), 5),
    "broadcast from -1": lambda d, T: d.broadcast(T.ones(2), -1),
    "broadcast from two": lambda d, T: d.broadcast(T.ones(2), 0, group_src=0),
    "broadcast from none": lambda d, T: d.broadcast(T.ones(2)),
    "broadcast from 4 of the group": lambda d, T: d.broadcast(T.ones(2), group_src=4),
    "reduce to 3": lambda d, T: d.reduce(T.ones(2), 3),
    "send to itself": lambda d, T: d.send(T.ones(2), 0),
    "gather into none": lambda d, T: d.gather(T.ones(2)),
    "gather into too many": lambda d, T: d.gather(T.ones(2), [T.ones(2), T.ones(2)]),
    "gather another shape": lambda d, T: d.gather(T.ones(2), [T.ones(3)]),
    "gather at 2": lambda d, T: d.gather(T.ones(2), dst=2),
    "scatter none": lambda d, T: d.scatter(T.ones(2)),
    "scatter too many": lambda d, T: d.scatter(T.ones(2), [T.ones(2), T.ones(2)]),
    "scatter another shape": lambda d, T: d.scatter(T.ones(2), [T.ones(3)]),
    "scatter from 2": lambda d, T: d.scatter(T.ones(2), src=2),
    "all_gather into none": lambda d, T: d.all_gather([], T.ones(2)),
    "all_gather into two": lambda d, T: d.all_gather([T.ones(2), T.ones(2)], T.ones(2)),
    "all_gather another shape": lambda d, T: d.all_gather([T.ones(3)], T.ones(2)),
    "all_gather another type": lambda d, T: d.all_gather([T.ones(2, dtype=T.float64)], T.ones(2)),
    "all_gather into a tensor": lambda d, T: d.all_gather(T.ones(2), T.ones(2)),
    "all_gather_into_tensor": lambda d, T: d.all_gather_into_tensor(T.ones(3), T.ones(2)),
    "all_gather_into_tensor type": lambda d, T: d.all_gather_into_tensor(T.ones(2, dtype=T.int64), T.ones(2)),
    "reduce_scatter": lambda d, T: d.reduce_scatter(T.ones(2), [T.ones(2), T.ones(2)]),
    "all_to_all": lambda d, T: d.all_to_all([T.ones(2)], [T.ones(2), T.ones(2)]),
    "all_to_all_single": lambda d, T: d.all_to_all_single(T.ones(3), T.ones(2)),
    "all_to_all_single parts": lambda d, T: d.all_to_all_single(T.ones(2), T.ones(2), [1], [2]),
    "group 3": lambda d, T: d.all_reduce(T.ones(2), group=3),
    "group as text": lambda d, T: d.get_rank("g"),
    "new_group of another": lambda d, T: d.new_group([7]),
    "new_group of two": lambda d, T: d.new_group([0, 1]),
    "new_group twice": lambda d, T: d.new_group([0, 0]),
    "new_group of none": lambda d, T: d.new_group([]),
    "new_group of an unknown backend": lambda d, T: d.new_group([0], backend="bogus"),
    "object from 3": lambda d, T: d.broadcast_object_list([1], 3),
    "scatter no objects": lambda d, T: d.scatter_object_list([], [1]),
    "scatter two objects": lambda d, T: d.scatter_object_list([None], [1, 2]),
    "gather an object": lambda d, T: d.gather_object(1),
    "P2POp": lambda d, T: d.P2POp(d.all_reduce, T.ones(2), 0),
    "batch": lambda d, T: d.batch_isend_irecv([3]),
    "empty batch": lambda d, T: d.batch_isend_irecv([]),
    "subgroups": lambda d, T: d.new_subgroups(3),
    "destroy 3": lambda d, T: d.destroy_process_group(3),
}


def raised(case, library):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            case(library.distributed, library)
        except Exception as error:
            return error
    return None


@pytest.fixture(scope="module")
def one():
    for library in (torch, vistorch):
        library.distributed.init_process_group(
            "gloo", rank=0, world_size=1, store=library.distributed.HashStore()
        )
    yield
    for library in (torch, vistorch):
        library.distributed.destroy_process_group()


@pytest.mark.parametrize("name", OUTSIDE)
def test_without_a_group(name):
    theirs, ours = raised(OUTSIDE[name], torch), raised(OUTSIDE[name], vistorch)
    assert theirs is not None and isinstance(ours, type(theirs)), (theirs, ours)
    assert str(ours).strip()


@pytest.mark.parametrize("name", INSIDE)
def test_in_a_group_of_one(one, name):
    theirs, ours = raised(INSIDE[name], torch), raised(INSIDE[name], vistorch)
    assert theirs is not None and isinstance(ours, type(theirs)), (theirs, ours)
    raised(lambda d, T: d.all_reduce(T.ones(1)), vistorch)  # nothing was begun: the group is as it was
    assert vistorch.distributed.get_world_size() == 1
