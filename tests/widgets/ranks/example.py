"""Runs on ranks, made of numbers."""

from types import SimpleNamespace

import vistorch
from vistorch import nn
from vistorch.debug.ranks import RanksRun
from vistorch.debug.ranks.parting import Trail, judge


def sent(number, rank, load, ranks=4):
    """What a rank sends of one step, in seconds."""
    begin = 100 + number * 0.1
    come = begin + load
    back = come + 0.02
    ops, at = [], 0.0
    ready = [
        max(begin + load_of(one) + 0.02 for one in range(ranks)) + shift for shift in (0.004, 0.02, 0.04)
    ]
    for k, shift in enumerate((0.004, 0.02, 0.04)):
        end = max(ready[k], at) + 0.006
        ops.append(["0", "all_reduce", 3 * number + k + 1, "float32 [9]", back + shift, end, True])
        at = end
    spans = [
        ["load", begin, come],
        ["forward", come, back],
        ["backward", back, at],
        ["optimizer", at, at + 0.003],
    ]
    return {
        "number": number,
        "begin": begin,
        "end": at + 0.003,
        "spans": spans,
        "ops": ops,
        "loss": 2 / (1 + number / 20) + 0.02 * rank,
    }


def load_of(rank):
    return 0.0142 if rank == 2 else 0.001 + 0.0001 * rank


def beat(rank, **more):
    return {
        "now": 100.0,
        "since": 100.0,
        "part": "load",
        "where": "",
        "step": 60,
        "operation": 180,
        "backend": "mpi",
        "memory": 120 << 20,
        "host": "node",
        "pid": 4000 + rank,
        **more,
    }


def going(steps=60):
    """A run of four ranks, of which one is slow."""
    run = RanksRun(4, "main")
    for number in range(steps):
        for rank in range(4):
            run.take(rank, {"steps": [sent(number, rank, load_of(rank))]})
    for rank in range(4):
        run.take(rank, {"beat": beat(rank)})
    return run


def outcome(**more):
    return SimpleNamespace(**{"ok": True, "interrupted": False, "name": "", "says": "", "gone": None, **more})


def slow():
    run = going()
    run.end({rank: outcome() for rank in range(4)})
    return run.record()


def failed():
    run = going(8)
    bad = outcome(ok=False, name="ValueError", says="<b>no data</b>")
    run.end(
        {0: outcome(ok=False, interrupted=True), 1: bad, 2: outcome(), 3: outcome()}, "rank 1: ValueError"
    )
    return run.record()


def waiting():
    return RanksRun(2).record()


def parted():
    """Three ranks whose running mean was changed on one."""
    trails = {}
    for rank in range(3):
        vistorch.manual_seed(0)
        net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))
        with Trail() as trail:
            net(vistorch.arange(8.0).reshape(4, 2))
            if rank == 2:
                net[1].running_mean.mul_(2)
            net(vistorch.arange(8.0).reshape(4, 2))
        trails[rank] = trail
    run = RanksRun(3, "<b>main</b>")
    run.end({rank: outcome() for rank in range(3)})
    run.parting = judge(
        {r: t.wire() for r, t in trails.items()}, values=lambda r, sums: trails[r].values(sums)
    )
    return run.record()


EXAMPLES = {"slow": slow, "failed": failed, "waiting": waiting, "parted": parted}
