"""What two ranks do, in words that both libraries understand: each case returns plain values, or raises.

Run as a program, it does all of them on one library and writes what came out: the tests hold ours against PyTorch's.
"""

import json
import sys
import traceback
from datetime import timedelta

DTYPES = "float32 float64 float16 bfloat16 int64 int32 int8 uint8".split()


def values(t):
    if t.is_complex():
        return [[z.real, z.imag] for z in t.reshape(-1).tolist()]
    return t.tolist()


def ramp(torch, n, dtype="float32", add=0):
    return (torch.arange(n) + add).to(getattr(torch, dtype))


def all_reduce(torch, dist, rank):
    found = {}
    for dtype in DTYPES:
        for op in ("SUM", "PRODUCT", "MIN", "MAX"):
            t = ramp(torch, 5, dtype, rank + 1)
            dist.all_reduce(t, op=getattr(dist.ReduceOp, op))
            found[f"{dtype} {op}"] = values(t.double())
    for op in ("BAND", "BOR", "BXOR"):
        t = ramp(torch, 5, "int32", 3 * rank)
        dist.all_reduce(t, op=getattr(dist.ReduceOp, op))
        found[op] = values(t)
    t = torch.complex(ramp(torch, 3), ramp(torch, 3, add=rank))
    dist.all_reduce(t)
    found["complex"] = values(t)
    return found


def odd_tensors(torch, dist, rank):
    found = []
    for make in (
        lambda: ramp(torch, 6, add=rank).reshape(2, 3),
        lambda: torch.tensor(float(rank + 1)),
        lambda: torch.empty(0),
        lambda: torch.empty(2, 0, 3),
        lambda: ramp(torch, 1),
    ):
        t = make()
        dist.all_reduce(t)
        found.append([list(t.shape), values(t)])
        dist.broadcast(t, src=1)
        found.append(values(t))
    t = torch.tensor([rank == 0, True, False])
    dist.broadcast(t, src=0)
    found.append(values(t))
    w = torch.ones(3, requires_grad=True)
    with torch.no_grad():
        dist.all_reduce(w)
    found.append([values(w.detach()), w.requires_grad, w.is_leaf])
    return found


def movements(torch, dist, rank):
    found = {}
    for dtype in [*DTYPES, "bool"]:
        t = ramp(torch, 4, dtype, rank)
        parts = [torch.zeros(4, dtype=t.dtype) for _ in range(2)]
        dist.all_gather(parts, t)
        whole = torch.zeros(8, dtype=t.dtype)
        dist.all_gather_into_tensor(whole, t)
        got = [torch.zeros(4, dtype=t.dtype) for _ in range(2)] if rank == 1 else None
        dist.gather(t, got, dst=1)
        out = torch.zeros(4, dtype=t.dtype)
        dist.scatter(out, [t, t + t if dtype != "bool" else t] if rank == 0 else None, src=0)
        found[dtype] = [values(one.double()) for one in [*parts, whole, out, *(got or [])]]
    stacked = torch.zeros(4, 2)
    dist.all_gather_into_tensor(stacked, torch.full((2, 2), float(rank)))
    found["stacked"] = values(stacked)
    return found


def to_all(torch, dist, rank):
    out = torch.zeros(4)
    dist.all_to_all_single(out, ramp(torch, 4, add=10 * rank))
    uneven = torch.zeros(2 + rank, 2)
    sent = ramp(torch, 10, add=100 * rank).reshape(5, 2)
    dist.all_to_all_single(uneven, sent[: 2 + rank], [1, 1 + rank], [1, 1 + rank] if rank else [1, 1])
    return [values(out), values(uneven)]


def reduced_parts(torch, dist, rank):
    out = torch.zeros(3)
    dist.reduce_scatter(out, [ramp(torch, 3, add=rank), ramp(torch, 3, add=10 * rank)])
    part = torch.zeros(2, 2)
    dist.reduce_scatter_tensor(part, ramp(torch, 8, add=rank).reshape(4, 2))
    t = ramp(torch, 4, add=rank)
    dist.reduce(t, dst=1)
    return [values(out), values(part), values(t) if rank == 1 else None]


def objects(torch, dist, rank):
    found = [None, None]
    dist.all_gather_object(found, {"rank": rank, "text": "x" * (1000 * rank + 3)})
    shared = [None, None, None] if rank else [1, "two", {"three": 3.0}]
    dist.broadcast_object_list(shared, src=0)
    mine = [None]
    dist.scatter_object_list(mine, [["a"], ["b", "c"]] if rank == 0 else None, src=0)
    got = [None, None] if rank == 0 else None
    dist.gather_object(("from", rank), got, dst=0)
    return [found, shared, mine, got]


def point_to_point(torch, dist, rank):
    other = 1 - rank
    found = []
    if rank == 0:
        dist.send(ramp(torch, 4), 1)
        dist.send(ramp(torch, 2, add=5), 1, tag=7)
        dist.send_object_list(["sent", 3], dst=1)
    else:
        t, u, o = torch.zeros(4), torch.zeros(2), [None, None]
        found.append(dist.recv(t, src=0))
        found.append(dist.recv(u, src=0, tag=7))
        dist.recv_object_list(o, src=0)
        found += [values(t), values(u), o]
    mine, theirs = ramp(torch, 3, add=rank), torch.zeros(3)
    works = [dist.isend(mine, other), dist.irecv(theirs, other)]
    found.append([w.wait() for w in works])
    ops = [dist.P2POp(dist.isend, mine * 2, other), dist.P2POp(dist.irecv, mine2 := torch.zeros(3), other)]
    for work in dist.batch_isend_irecv(ops):
        work.wait()
    t = torch.zeros(3, 2).t()  # not contiguous
    return [*found, values(theirs), values(mine2), list(t.shape)]


def later(torch, dist, rank):
    t = ramp(torch, 5, add=rank)
    work = dist.all_reduce(t, async_op=True)
    waited = work.wait(timedelta(seconds=20))
    return [waited, work.is_completed(), values(t), dist.barrier(async_op=True).wait()]


def groups(torch, dist, rank):
    found = []
    one, both, turned = dist.new_group([0]), dist.new_group([1, 0]), dist.new_group()
    for group in (one, both, turned):
        if group != dist.GroupMember.NON_GROUP_MEMBER:
            t = torch.ones(2)
            dist.all_reduce(t, group=group)
            found.append([values(t), dist.get_rank(group), dist.get_world_size(group)])
            found.append(dist.get_process_group_ranks(group))
    mine, all_of_them = dist.new_subgroups(1)
    found += [dist.get_world_size(mine), len(all_of_them), dist.get_rank(one), dist.get_world_size(one)]
    alone = dist.new_group([rank], use_local_synchronization=True)
    found += [dist.get_world_size(alone), dist.get_global_rank(alone, 0), dist.get_group_rank(both, rank)]
    dist.destroy_process_group(both)
    return found


def about(torch, dist, rank):
    return [
        dist.is_initialized(),
        dist.is_available(),
        dist.get_rank(),
        dist.get_world_size(),
        dist.get_node_local_rank(),
    ]


# Each is refused by both libraries, in these words (of which "torch" and "vistorch" are the same).
REFUSED = {
    "twice": lambda t, d, r: d.init_process_group("gloo"),
    "no tensor": lambda t, d, r: d.all_reduce([1.0]),
    "no list": lambda t, d, r: d.all_gather(t.ones(2), t.ones(2)),
    "list of other things": lambda t, d, r: d.all_gather([1, 2], t.ones(2)),
    "complex maximum": lambda t, d, r: d.all_reduce(t.ones(2, dtype=t.complex64), op=d.ReduceOp.MAX),
    "no source": lambda t, d, r: d.broadcast(t.ones(2)),
    "both": lambda t, d, r: d.broadcast(t.ones(2), src=0, group_src=0),
    "to itself": lambda t, d, r: d.send(t.ones(2), r),
    "no such rank": lambda t, d, r: d.new_group([0, 5]),
    "too many ranks": lambda t, d, r: d.new_group([0, 1, 0]),
    "two subgroups": lambda t, d, r: d.new_subgroups_by_enumeration([[0], [0, 1]]),
    "no subgroups": lambda t, d, r: d.new_subgroups_by_enumeration([]),
    "size of subgroups": lambda t, d, r: d.new_subgroups(3),
    "timeout": lambda t, d, r: d.new_group([0, 1], timeout=5),
    "gather into nothing": lambda t, d, r: d.gather(t.ones(2), None if r == 0 else [t.ones(2)], dst=0),
    "scatter nothing": lambda t, d, r: d.scatter(t.ones(2), None if r == 0 else [t.ones(2)], src=0),
    "P2POp": lambda t, d, r: d.P2POp(d.broadcast, t.ones(2), 1 - r),
    "batch": lambda t, d, r: d.batch_isend_irecv([1]),
    "dtypes": lambda t, d, r: d.all_gather([t.ones(2), t.ones(2).double()], t.ones(2)),
    "wrong splits": lambda t, d, r: d.all_to_all_single(t.ones(4), t.ones(4), [1, 1], [2, 2]),
    "no object": lambda t, d, r: d.scatter_object_list([], [1, 2], src=0),
}
CASES = [
    all_reduce,
    odd_tensors,
    movements,
    to_all,
    reduced_parts,
    objects,
    point_to_point,
    later,
    groups,
    about,
]


def refusals(torch, dist, rank):
    found = {}
    for name, call in REFUSED.items():
        try:
            call(torch, dist, rank)
            found[name] = None
        except Exception as error:
            found[name] = [type(error).__name__, " ".join(str(error).split())]
    return found


def main(library, path):
    if library == "torch":
        import torch
        import torch.distributed as dist
    else:
        import vistorch as torch
        import vistorch.distributed as dist
    import warnings

    warnings.simplefilter("ignore")
    dist.init_process_group("gloo", timeout=timedelta(seconds=60))
    rank, found = dist.get_rank(), {}
    for case in CASES:
        try:
            found[case.__name__] = case(torch, dist, rank)
        except Exception:
            found[case.__name__] = traceback.format_exc()
        dist.barrier()
    # Last, and no barrier after it: gloo's also waits for earlier calls, and may raise again what was refused.
    found["refusals"] = refusals(torch, dist, rank)
    with open(f"{path}.{rank}", "w") as file:
        json.dump(found, file)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:])
