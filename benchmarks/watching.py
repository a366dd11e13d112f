"""What a watched training costs against the same loop alone.

A run stays open from one call of a row to the next, as it does in a notebook; a call is a hundred steps at batch 4 and
ten at batch 128. `python -m benchmarks.watching` prints what a table of ratios cannot: the run's own number beside the
pairs, messages a second, and the memory of a long run (`--soak STEPS`).
Invariant: both sides of a row do the same steps from the same beginning.
"""

import argparse
import contextlib
import gc
import io
import os
import random
import statistics
from importlib.util import find_spec
from time import perf_counter, process_time

from benchmarks import harness, models
from benchmarks.rows import add
from benchmarks.training import images, step_of

STEPS = {4: 100, 128: 10}
VALIDATED = {4: 500, 128: 40}  # batches of a validation: its end costs some milliseconds, however long it was


def loop_of(lib, batch):
    """LeNet, SGD, and so many steps of training."""
    model = models.lenet(lib.nn)
    optimizer = lib.optim.SGD(model.parameters(), lr=0.001, momentum=0.9)
    step = step_of(lib, model, optimizer, *images(lib, batch))

    def run():
        for _ in range(STEPS[batch]):
            step()

    return model, optimizer, run


def validation_of(lib, batch):
    """LeNet after a step of training, and so many batches of a validation: a loss, and how many are right."""
    model, optimizer, loop = loop_of(lib, batch)
    x, y = images(lib, batch)
    loss_of = lib.nn.functional.cross_entropy

    def run():
        model.eval()
        loss, right = 0.0, 0
        with lib.no_grad():
            for _ in range(VALIDATED[batch]):
                out = model(x)
                loss += loss_of(out, y).item()
                right += (out.argmax(1) == y).sum().item()
        model.train()

    loop()
    return model, optimizer, run


def alone(batch, made=loop_of):
    return lambda lib: made(lib, batch)[2]


def turns(lib, batch, notify=None, made=loop_of, findings=True):
    """A loop, the same loop watched, and its run: while it is not watched nothing listens, and no time passes."""
    from vistorch.debug.watch import watch

    model, optimizer, run = made(lib, batch)
    seen = watch(model, optimizer, notify=notify, findings=findings)

    def both():
        gap = perf_counter() - left[0]
        seen.budget.waited += gap
        seen.refresher.next_refresh += gap
        seen.budget.next_look += gap
        with seen.listener:
            # a window goes on where it stood: what it costs to close one is paid too
            if seen.findings.window is not None:
                seen.findings.window.__enter__()
            run()
            seen.listener.end_check()  # a step of training would
        if seen.findings.window is not None:
            seen.findings.window.__exit__()
        left[0] = perf_counter()

    seen.start()
    seen.listener.__exit__()
    seen.findings.drop()
    left = [perf_counter()]
    return run, both, seen


def watched(batch, notify=None, made=loop_of, findings=True):
    """The same loop while a run watches it; `notify(run)` stands for a page."""
    return lambda lib: turns(lib, batch, notify and notify(), made, findings)[1]


def page():
    """What a page costs the loop: a delta, packed, at most 10 times a second."""
    at = {"version": 0, "bytes": 0, "messages": 0}

    def notify(run):
        from vistorch.widgets._frame.wire import pack

        delta = run.delta(at["version"])
        at["version"] = delta["version"]
        at["bytes"] += len(pack("watch", delta))
        at["messages"] += 1

    notify.at = at
    return notify


def drawn_anew(lib):
    """What a plotting callback does once: matplotlib draws the curve anew and makes a picture of it."""
    from matplotlib.figure import Figure

    values = [1 / (i + 1) for i in range(200)]

    def run():
        figure = Figure(figsize=(6, 4))
        axes = figure.subplots()
        axes.plot(values)
        figure.savefig(io.BytesIO(), format="png")

    return run


def livelossplot(lib):
    """One update of livelossplot after 200 steps: loss and accuracy, drawn and made a picture, as a notebook has it."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from livelossplot import PlotLosses
    from livelossplot.outputs import MatplotlibPlot

    def shown(figure):
        figure.tight_layout()
        figure.savefig(io.BytesIO(), format="png")
        plt.close(figure)

    plot = PlotLosses(outputs=[MatplotlibPlot(after_plots=shown)])
    for i in range(200):
        plot.update({"loss": 1 / (i + 1), "accuracy": 1 - 1 / (i + 1)})

    def run():
        with contextlib.redirect_stdout(io.StringIO()):  # it clears the output of a cell
            plot.send()

    return run


def update(lib):
    """One refresh of a watched training, of what 100 steps left to be read, and its delta, packed."""
    from vistorch.debug.watch import watch

    model, optimizer, loop = loop_of(lib, 4)
    seen, notify = watch(model, optimizer), page()
    with seen:
        loop()
        seen.refresh()
        seen.refresher.next_refresh = float("inf")
        loop()
        sights, losses = list(seen.pending.batches), list(seen.pending.losses)

    def run():
        seen.pending.batches, seen.pending.losses = list(sights), list(losses)
        seen.refresh(notify=False)
        notify(seen)

    return run


def state_of(part):
    """Bytes of a packed delta of a run of 300 steps: of everything, or of what a refresh has changed."""

    def prepare(lib):
        from vistorch.debug.watch import watch
        from vistorch.widgets._frame.wire import pack

        model, optimizer, loop = loop_of(lib, 4)
        with watch(model, optimizer) as seen:
            loop()
            loop()
            seen.refresh()
            version = seen.version
            loop()
        return lambda: len(pack("watch", seen.delta(version if part else 0)))

    return prepare


# ---- what a table of ratios cannot say -----------------------------------------------------------------------------
def pairs(lib, batch, rounds, made=loop_of):
    """Print plain against plain, watched against plain and the run's own number, of loops that take turns."""
    noted = page()
    run, both, seen = turns(lib, batch, noted, made)
    # one loop in all of them: an equal one may be some per cent faster by the layout of its memory
    loops = {"plain": run, "plain again": run, "watched": both}
    for loop in loops.values():
        for _ in range(10):
            loop()
    times = {name: [] for name in loops}
    budget = seen.budget
    spent, elapsed, messages = budget.spent(), budget.elapsed(), noted.at["messages"]
    for _ in range(rounds):
        for name in random.sample(list(loops), len(loops)):
            start = process_time()
            loops[name]()
            times[name].append(process_time() - start)
    plain, again, watched = times.values()
    base = [(a + b) / 2 for a, b in zip(plain, again, strict=True)]
    seconds = budget.elapsed() - elapsed
    what, many = ("steps", STEPS) if made is loop_of else ("batches of a validation", VALIDATED)
    print(f"LeNet at batch {batch}, {rounds} rounds of {many[batch]} {what} in one process, with deltas:")
    print(f"  one of them alone   {statistics.median(base) / many[batch] * 1e6:9.1f} us")
    for name, found, over in (
        ("plain against plain", again, plain),
        ("watched against plain", watched, base),
    ):
        low, middle, high = harness.quartiles([x / y for x, y in zip(found, over, strict=True)])
        print(
            f"  {name:21} {100 * (middle - 1):+6.2f} %  ({100 * (low - 1):+.2f} to {100 * (high - 1):+.2f})"
        )
    print(f"  the run's own number  {100 * (budget.spent() - spent) / seconds:+6.2f} %")
    print(f"  messages a second     {(noted.at['messages'] - messages) / seconds:6.2f}")


def small_step(lib):
    """A network of two layers, SGD, and a step of training at batch 16."""
    nn = lib.nn
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = lib.optim.SGD(model.parameters(), lr=1e-3)
    return model, optimizer, step_of(lib, model, optimizer, lib.randn(16, 8), lib.randint(0, 3, (16,)))


def lenet_step(lib):
    """LeNet, SGD, and a step of training at batch 4."""
    model = models.lenet(lib.nn)
    optimizer = lib.optim.SGD(model.parameters(), lr=0.001, momentum=0.9)
    return model, optimizer, step_of(lib, model, optimizer, *images(lib, 4))


def windows(lib, name, made, steps):
    """Print what the windows of the tab Findings take: their steps beside the median step outside of them.

    Args:
        lib: vistorch.
        name: of the network.
        made: makes model, optimizer and step.
        steps: how many of them. As many again are timed with a window after every 64 steps, for the price of one.
    """
    from vistorch.debug.watch import watch

    for often in (False, True):
        model, optimizer, step = made(lib)
        seen = watch(model, optimizer)
        job = seen.budget.jobs["findings"]
        if often:
            job.share = float("inf")
        for _ in range(50):
            step()
        inside, outside, opened = [], [], 0
        with seen:
            findings = seen.findings
            last = process_time()
            for _ in range(steps):
                before = findings.window
                step()
                now = process_time()
                watching = before is not None or findings.window is not None
                (inside if watching else outside).append(now - last)
                opened += before is None and findings.window is not None
                last = process_time()
            middle = statistics.median(outside)
            more = [x - middle for x in inside]
            first = sum(more[:9])
            if often:
                later = (sum(more) - first) / max(1, opened)
                charged = job.spent / (opened + 1)
                print(
                    f"  a window after the first: {later * 1e3:.1f} ms, charged with {charged * 1e3:.1f} ms"
                )
            else:
                share = sum(more) / (steps * middle)
                print(
                    f"{name}, {steps} steps of {middle * 1e6:.0f} us: {opened + 1} windows, {100 * share:+.2f} %"
                )
                print(f"  the first window: {first * 1e3:.1f} ms")


def soak(lib, steps):
    """Print the memory of a long run: after a tenth of it, a quarter, half, all."""
    from vistorch.debug.watch import watch

    model = lib.nn.Linear(4, 3)
    optimizer = lib.optim.SGD(model.parameters(), lr=1e-3)
    step = step_of(lib, model, optimizer, lib.randn(8, 4), lib.randint(0, 3, (8,)))
    with watch(model, optimizer, snapshot_bytes=2**20) as seen:
        for i in range(1, steps + 1):
            step()
            if i in (steps // 10, steps // 4, steps // 2, steps):
                gc.collect()
                with open("/proc/self/statm") as file:
                    resident = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
                print(f"  after {i:9,} steps    {resident / 2**20:9.2f} MiB", flush=True)
    curve = seen.metrics.loss
    print(f"  {curve.used} columns of {curve.width} steps, {curve.count.sum():,} losses in them")


def main():
    """Run it all."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.watching", description="What watching costs.")
    parser.add_argument("--rounds", type=int, default=60, help="turns of each loop")
    parser.add_argument("--soak", type=int, default=0, metavar="STEPS", help="also the memory of a long run")
    args = parser.parse_args()
    import vistorch

    for batch in STEPS:
        pairs(vistorch, batch, args.rounds)
        pairs(vistorch, batch, args.rounds, validation_of)
    for name, made in (("LeNet at batch 4", lenet_step), ("two small layers", small_step)):
        windows(vistorch, name, made, 2000)
    if args.soak:
        print(f"{args.soak:,} steps:")
        soak(vistorch, args.soak)


for batch in STEPS:
    name = f"LeNet at batch {batch}"
    add("watching", f"{name}, beside itself", alone(batch), base=alone(batch))
    add("watching", f"{name}, watched", watched(batch), base=alone(batch), budget=1.05)
    add(
        "watching",
        f"{name}, beside findings off",
        watched(batch),
        base=watched(batch, findings=False),
        budget=1.02,
    )
    add("watching", f"{name}, with deltas", watched(batch, page), base=alone(batch), budget=1.05)
    add(
        "watching",
        f"a validation of {name}, with deltas",
        watched(batch, page, validation_of),
        base=alone(batch, validation_of),
    )
add("watching", "one update, beside a figure drawn anew", update, base=drawn_anew, budget=1.0)
if find_spec("livelossplot") is not None:
    add("watching", "one update, beside livelossplot's", update, base=livelossplot, budget=1.0)
add(
    "watching",
    "one delta, beside the whole state",
    state_of(True),
    base=state_of(False),
    kilobytes=40,
    milliseconds=5,
)

if __name__ == "__main__":
    main()
