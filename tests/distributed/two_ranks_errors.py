"""Run as two ranks: what PyTorch's gloo raises where there are two processes, beside what vistorch raises."""

import json
import os
import sys
import warnings
from datetime import timedelta

CASES = {
    "broadcast from 2": lambda d, T, r: d.broadcast(T.ones(2), 2),
    "reduce to 2": lambda d, T, r: d.reduce(T.ones(2), 2),
    "send to itself": lambda d, T, r: d.send(T.ones(2), r),
    "receive from itself": lambda d, T, r: d.recv(T.ones(2), r),
    "send to 2": lambda d, T, r: d.send(T.ones(2), 2),
    "gather without a list": lambda d, T, r: d.gather(T.ones(2)) if r == 0 else None,
    "gather a list at a rank that gets nothing": lambda d, T, r: (
        d.gather(T.ones(2), [T.ones(2)] * 2) if r else None
    ),
    "gather into one": lambda d, T, r: d.gather(T.ones(2), [T.ones(2)]) if r == 0 else None,
    "scatter a list from a rank that gives nothing": lambda d, T, r: (
        d.scatter(T.ones(2), [T.ones(2)] * 2) if r else None
    ),
    "scatter one": lambda d, T, r: d.scatter(T.ones(2), [T.ones(2)]) if r == 0 else None,
    "all_gather into one": lambda d, T, r: d.all_gather([T.ones(2)], T.ones(2)),
    "all_gather into three": lambda d, T, r: d.all_gather([T.ones(2)] * 3, T.ones(2)),
    "all_gather another shape": lambda d, T, r: d.all_gather([T.ones(2), T.ones(3)], T.ones(2)),
    "all_gather_into_tensor": lambda d, T, r: d.all_gather_into_tensor(T.ones(3), T.ones(2)),
    "reduce_scatter of one": lambda d, T, r: d.reduce_scatter(T.ones(2), [T.ones(2)]),
    "reduce_scatter_tensor": lambda d, T, r: d.reduce_scatter_tensor(T.ones(2), T.ones(3)),
    "all_to_all of one": lambda d, T, r: d.all_to_all([T.ones(2)], [T.ones(2)]),
    "all_to_all_single parts": lambda d, T, r: d.all_to_all_single(T.ones(2), T.ones(2), [2], [2]),
    "gather_object without a list": lambda d, T, r: d.gather_object(1) if r == 0 else None,
    "objects from 2": lambda d, T, r: d.broadcast_object_list([1], 2),
    "new_group of 2": lambda d, T, r: d.new_group([0, 2]),
    "new_group of three": lambda d, T, r: d.new_group([0, 1, 2]),
    "new_group twice": lambda d, T, r: d.new_group([1, 1]),
    "new_group of none": lambda d, T, r: d.new_group([]),
    "new_group of an unknown backend": lambda d, T, r: d.new_group([0, 1], backend="bogus"),
    "subgroups of three": lambda d, T, r: d.new_subgroups(3),
    "an empty batch": lambda d, T, r: d.batch_isend_irecv([]),
    "rank outside": lambda d, T, r: d.get_rank(GROUPS[d][1 - r]),
    "size outside": lambda d, T, r: d.get_world_size(GROUPS[d][1 - r]),
    "backend outside": lambda d, T, r: d.get_backend(GROUPS[d][1 - r]),
    "all_reduce outside": lambda d, T, r: d.all_reduce(T.ones(2), group=GROUPS[d][1 - r]),
    "a root outside the group": lambda d, T, r: d.broadcast(T.ones(2), 1 - r, group=GROUPS[d][r]),
}
GROUPS = {}


def outcomes(library, rank, url):
    """By case: the names of the classes of the error, and its text; None, and what was returned."""
    dist = library.distributed
    dist.init_process_group("gloo", init_method=url, rank=rank, world_size=2, timeout=timedelta(seconds=60))
    GROUPS[dist] = [dist.new_group([0]), dist.new_group([1])]
    found = {}
    for name, case in CASES.items():
        try:
            found[name] = None, repr(case(dist, library, rank))
        except Exception as error:
            found[name] = [one.__name__ for one in type(error).__mro__], str(error)
    t = library.ones(2)
    dist.all_reduce(t)  # nothing was begun, on either rank: they are at one operation
    found["after all"] = None, str(t.tolist())
    dist.destroy_process_group()
    return found


def main(folder):
    """Write what both raise."""
    import torch
    import torch.distributed

    import vistorch
    import vistorch.distributed

    warnings.simplefilter("ignore")
    rank = int(os.environ["RANK"])
    found = [outcomes(one, rank, f"file:{'//'}{folder}/{one.__name__}") for one in (torch, vistorch)]
    with open(f"{folder}/{rank}.json", "w") as file:
        json.dump(found, file)


if __name__ == "__main__":
    main(sys.argv[1])
