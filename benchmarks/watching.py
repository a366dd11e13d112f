"""What a watched training costs against the same loop alone.

A run stays open from one call of a row to the next, as it does in a notebook; a call is a hundred steps at batch 4 and
ten at batch 128. Invariant: both sides of a row do the same steps from the same beginning.
"""

from time import perf_counter

from benchmarks import models
from benchmarks.rows import add
from benchmarks.training import images, step_of

STEPS = {4: 100, 128: 10}


def loop_of(lib, batch):
    """LeNet, SGD, and so many steps of training."""
    model = models.lenet(lib.nn)
    optimizer = lib.optim.SGD(model.parameters(), lr=0.001, momentum=0.9)
    step = step_of(lib, model, optimizer, *images(lib, batch))

    def run():
        for _ in range(STEPS[batch]):
            step()

    return model, optimizer, run


def alone(batch):
    return lambda lib: loop_of(lib, batch)[2]


def watched(batch, tell=None):
    """The same loop while a run watches it; `tell(run)` stands for a page."""

    def prepare(lib):
        from vistorch.debug.watch import watch

        model, optimizer, run = loop_of(lib, batch)
        seen = watch(model, optimizer, tell=tell)

        def both():
            # the base runs in this process too: meanwhile nothing listens, and that time is not the loop's
            seen.budget.held += perf_counter() - left[0]
            with seen.ear:
                run()
            left[0] = perf_counter()

        seen.start()
        seen.ear.__exit__()
        left = [perf_counter()]
        return both

    return prepare


def page():
    """What a page costs the loop: a delta, packed, at most 10 times a second."""
    at = {"version": 0, "bytes": 0}

    def tell(run):
        from vistorch.widgets.wire import pack

        delta = run.delta(at["version"])
        at["version"] = delta["version"]
        at["bytes"] += len(pack("watch", delta))

    return tell


def livelossplot_like(lib):
    """What the usual plotting callback does once: matplotlib draws the curve anew and makes a picture of it."""
    import io

    from matplotlib.figure import Figure

    values = [1 / (i + 1) for i in range(200)]

    def run():
        figure = Figure(figsize=(6, 4))
        axes = figure.subplots()
        axes.plot(values)
        figure.savefig(io.BytesIO(), format="png")

    return run


def update(lib):
    """One refresh of a watched training and its delta, packed."""
    from vistorch.debug.watch import watch

    model, optimizer, loop = loop_of(lib, 4)
    seen, tell = watch(model, optimizer), page()
    with seen:
        loop()

    def run():
        seen.refresh(tell=False)
        tell(seen)

    return run


for batch in STEPS:
    add("watching", f"LeNet at batch {batch}, watched", watched(batch), base=alone(batch), budget=1.05)
    add(
        "watching",
        f"LeNet at batch {batch}, with deltas",
        watched(batch, page()),
        base=alone(batch),
        budget=1.05,
    )
add("watching", "one update, beside a figure drawn anew", update, base=livelossplot_like, budget=1.0)
