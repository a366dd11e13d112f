"""What several ranks cost: collectives beside plain mpi4py, DistributedDataParallel's own cost, steps on ranks.

`python -m benchmarks.scale` measures here, fits time = alpha + beta × bytes to an all-reduce for each number of ranks,
holds the model against measured steps, and writes what it says of more. A ring of n ranks over links of their own takes
2 (n - 1) (alpha / 2 + beta' bytes / n); `--latency` and `--bandwidth` describe such links.

Invariant: a number is the median of rounds that alternate between what is compared.
"""

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import time

SIZES = (1 << 10, 1 << 14, 1 << 18, 1 << 22, 1 << 24)
GPUS = (8, 16, 32, 64, 128, 256, 512, 1024)


def rounds(calls, seconds, least=5):
    """The median time of each call, in rounds that alternate between them."""
    found = [[] for _ in calls]
    for call in calls:
        call()
    end = time.perf_counter() + seconds
    while True:  # rank 0's clock ends the rounds of all
        for times, call in zip(found, calls, strict=True):
            begin = time.perf_counter()
            call()
            times.append(time.perf_counter() - begin)
        if _all_done(time.perf_counter() >= end and len(found[0]) >= least):
            break
    return [statistics.median(times) for times in found]


def _all_done(mine):
    """Whether rank 0 has measured enough: all ranks do equally many rounds."""
    import vistorch.distributed as dist

    if not dist.is_initialized() or dist.get_world_size() == 1:
        return mine
    held = [mine]
    dist.broadcast_object_list(held, src=0)
    return held[0]


def collectives(seconds):
    """All-reduce, broadcast and all-gather of each size: ours beside plain mpi4py's blocking call."""
    import numpy as np

    import vistorch
    import vistorch.distributed as dist

    group = dist.group.WORLD
    comm, MPI = group.transport.comm, group.transport.MPI
    rows = []
    for size in SIZES:
        t = vistorch.zeros(size // 4)
        plain = np.zeros(size // 4, np.float32)
        into, whole = (
            np.zeros(size // 4 * dist.get_world_size(), np.float32),
            vistorch.zeros(size // 4 * dist.get_world_size()),
        )
        for name, ours, theirs in (
            ("all_reduce", lambda t=t: dist.all_reduce(t), lambda a=plain: comm.Allreduce(MPI.IN_PLACE, a)),
            ("broadcast", lambda t=t: dist.broadcast(t, 0), lambda a=plain: comm.Bcast(a, 0)),
            (
                "all_gather",
                lambda t=t, w=whole: dist.all_gather_into_tensor(w, t),
                lambda a=plain, b=into: comm.Allgather(a, b),
            ),
        ):
            a, b = rounds([ours, theirs], seconds)
            rows.append({"name": name, "bytes": size, "ours": a, "mpi4py": b})
    return rows


def network(kind):
    """A network, and a call that computes its loss on a batch of so many."""
    import vistorch
    from vistorch import nn
    from vistorch.vision import models

    vistorch.manual_seed(0)
    if kind == "lenet":
        return models.lenet(), lambda n: (vistorch.randn(n, 3, 32, 32), vistorch.randint(0, 10, (n,)))
    net = nn.Sequential(*[m for _ in range(4) for m in (nn.Linear(512, 512), nn.ReLU())], nn.Linear(512, 10))
    return net, lambda n: (vistorch.randn(n, 512), vistorch.randint(0, 10, (n,)))


def step_of(net, batch):
    """A step of training on a batch."""
    from vistorch import nn, optim

    optimizer, (x, y) = optim.SGD(net.parameters(), lr=0.01), batch

    def step():
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()

    return step


def steps(seconds, count):
    """A step of each network: with DistributedDataParallel, and the same part of the batch without."""
    import vistorch.distributed as dist
    from vistorch.nn.parallel import DistributedDataParallel

    rows = []
    for kind in ("lenet", "mlp"):
        net, batch = network(kind)
        other, _ = network(kind)
        here = batch(count // dist.get_world_size())
        ddp = DistributedDataParallel(net)
        a, b = rounds([step_of(ddp, here), step_of(other, here)], seconds)
        rows.append(
            {"name": kind, "ddp": a, "plain": b, "bytes": sum(p.numel() * 4 for p in net.parameters())}
        )
    return rows


def rank(path, seconds, count):
    """What each rank does."""
    import vistorch.distributed as dist

    dist.init_process_group("mpi")
    found = {"ranks": dist.get_world_size(), "steps": steps(seconds, count)}
    if dist.get_world_size() > 1:
        found["collectives"] = collectives(seconds)
    if dist.get_rank() == 0:
        with open(path, "w") as file:
            json.dump(found, file)
    dist.destroy_process_group()


def measured(ranks, threads, seconds, count, folder):
    """What so many ranks measure, each with so many threads."""
    path = os.path.join(folder, f"{ranks}-{threads}.json")
    command = [
        sys.executable,
        "-m",
        "vistorch.distributed.run",
        "--nproc",
        str(ranks),
        "-m",
        "benchmarks.scale",
    ]
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    subprocess.run(
        [*command, "--rank", path, "--seconds", str(seconds), "--batch", str(count)],
        env=environment,
        check=True,
    )
    with open(path) as file:
        return json.load(file)


def fitted(rows):
    """The alpha and the beta of an all-reduce: least squares over relative errors."""
    import numpy as np

    rows = [row for row in rows if row["name"] == "all_reduce"]
    times = np.array([row["ours"] for row in rows])
    columns = np.array([[1.0, row["bytes"]] for row in rows]) / times[:, None]
    alpha, beta = np.linalg.lstsq(columns, np.ones(len(rows)), rcond=None)[0]
    return max(alpha, 0.0), beta


def ring(n, size, latency, bandwidth):
    """How long a ring of n ranks takes for an all-reduce of so many bytes."""
    return 2 * (n - 1) * (latency + size / n / bandwidth)


def simulated(compute, size, latency, bandwidth, overlap):
    """Steps of a fixed part of the batch for each rank: time and efficiency for each number of ranks."""
    found = []
    for n in GPUS:
        sends = ring(n, size, latency, bandwidth)
        step = compute + max(0.0, sends - overlap * compute)
        found.append((n, sends, step, compute / step))
    return found


def report(results, given):
    """The tables."""
    lines = [
        "| ranks | operation | bytes | ours, us | mpi4py, us | mpi4py / ours |",
        "| --: | :-- | --: | --: | --: | --: |",
    ]
    for found in results:
        for row in found.get("collectives", ()):
            a, b = row["ours"] * 1e6, row["mpi4py"] * 1e6
            lines.append(
                f"| {found['ranks']} | {row['name']} | {row['bytes']} | {a:.0f} | {b:.0f} | {b / a:.2f} |"
            )
    lines += ["", "| ranks | network | plain step, ms | with DDP, ms | model, ms | model / measured |"]
    lines += ["| --: | :-- | --: | --: | --: | --: |"]
    for found in results:
        alpha, beta = fitted(found["collectives"]) if "collectives" in found else (0.0, 0.0)
        for row in found["steps"]:
            says = row["plain"] + (alpha + beta * row["bytes"] if found["ranks"] > 1 else 0.0)
            lines.append(
                f"| {found['ranks']} | {row['name']} | {row['plain'] * 1e3:.2f} | {row['ddp'] * 1e3:.2f} | "
                f"{says * 1e3:.2f} | {says / row['ddp']:.2f} |"
            )
    for found in results:
        if "collectives" in found:
            alpha, beta = fitted(found["collectives"])
            lines += ["", f"{found['ranks']} ranks here: alpha {alpha * 1e6:.0f} us, {1e-9 / beta:.2f} GB/s"]
    lines += [
        "",
        f"Simulated: {given.megabytes} MB of gradients, {given.compute * 1e3:.0f} ms of computing, links of "
        f"{given.latency * 1e6:.0f} us and {given.bandwidth / 1e9:.0f} GB/s, {given.overlap:.0%} of the computing "
        "overlaps",
        "",
        "| GPUs | all-reduce, ms | step, ms | efficiency |",
        "| --: | --: | --: | --: |",
    ]
    for n, sends, step, good in simulated(
        given.compute, given.megabytes * 1e6, given.latency, given.bandwidth, given.overlap
    ):
        lines.append(f"| {n} | {sends * 1e3:.2f} | {step * 1e3:.2f} | {good:.0%} |")
    return "\n".join(lines)


def main():
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.scale", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--ranks", default="1,2", help="numbers of ranks, one thread each")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each comparison")
    parser.add_argument("--batch", type=int, default=128, help="over all ranks")
    parser.add_argument("--megabytes", type=float, default=100.0, help="of gradients, simulated (ResNet-50)")
    parser.add_argument("--compute", type=float, default=0.1, help="seconds of a step on one GPU, simulated")
    parser.add_argument("--latency", type=float, default=10e-6, help="seconds of a hop, simulated")
    parser.add_argument("--bandwidth", type=float, default=25e9, help="bytes a second of a link, simulated")
    parser.add_argument(
        "--overlap", type=float, default=0.5, help="the part of computing beside which gradients travel"
    )
    parser.add_argument("--simulate-only", action="store_true", help="measure nothing")
    parser.add_argument("--rank", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.rank:
        rank(given.rank, given.seconds, given.batch)
        return
    results = []
    if not given.simulate_only:
        import tempfile

        with contextlib.ExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            results = [
                measured(int(n), 1, given.seconds, given.batch, folder) for n in given.ranks.split(",")
            ]
            one = measured(1, 2, given.seconds, given.batch, folder)
            for row in one["steps"]:
                print(f"one process, two threads: {row['name']} {row['plain'] * 1e3:.2f} ms")
    print(report(results, given))


if __name__ == "__main__":
    main()
