"""What it costs to see a graph: its record, its picture, its state for a page; and to listen so that it knows modules.

Where a budget is a time, the other side of the row is a clock that keeps the processor busy for a tenth of it, so that
a ratio below ten keeps the budget.
"""

import random
import time

from benchmarks import models
from benchmarks.rows import add

MANY = 10_000
STEPS = 20


def clock(seconds):
    """A call that takes a tenth of a given time."""

    def run():
        end = time.process_time() + seconds / 10
        while time.process_time() < end:
            pass

    def prepare(lib):
        return run

    return prepare


def resnet(lib):
    """The loss of ResNet-18, and the variables of the session."""
    from vistorch.debug.graph import Calls

    net = models.resnet18(lib.nn)
    x, target = lib.randn(2, 3, 32, 32), lib.randint(0, 10, (2,))
    with Calls(forget=True):
        loss = lib.nn.functional.cross_entropy(net(x), target)
    return loss, {"net": net, "x": x, "loss": loss}


def first_picture(lib):
    """Capture, fold, lay out and paint."""
    from vistorch.debug.graph import capture
    from vistorch.widgets.graph.picture import paint

    loss, names = resnet(lib)
    return lambda: len(paint(capture(loss, namespace=names)))


def first_message(lib):
    """Everything that a page gets: all layouts that can be reached without a kernel, and the text."""
    from vistorch.debug.graph import capture
    from vistorch.widgets._frame import wire

    loss, names = resnet(lib)
    return lambda: len(wire.pack("graph", capture(loss, namespace=names).wire()))


def layout_of(state):
    """The layout of a fold state of ResNet-18 alone."""

    def prepare(lib):
        from vistorch.debug.graph import capture
        from vistorch.debug.graph.scene import Scene

        loss, names = resnet(lib)
        record = state(capture(loss, namespace=names))
        return lambda: Scene(record).width

    return prepare


def edges(kind):
    """Ten thousand boxes."""
    rng = random.Random(0)
    if kind == "chain":
        return [(i, i + 1) for i in range(MANY - 1)]
    if kind == "fan":
        return [(0, i) for i in range(1, MANY)]
    return [(rng.randrange(i), i) for i in range(1, MANY) for _ in range(2)]


def laid_out(kind):
    def prepare(lib):
        from vistorch.debug.layout import Box, lay_out

        boxes, pairs = [Box(i, 150, 24) for i in range(MANY)], edges(kind)
        return lambda: lay_out(boxes, pairs).width

    return prepare


def deep_picture(lib):
    """A chain of ten thousand nodes captured, folded and painted."""
    from vistorch.debug.graph import capture
    from vistorch.widgets.graph.picture import paint

    x = lib.ones(3, requires_grad=True)
    y = x
    for _ in range(MANY):
        y = y * 1.0001
    loss = y.sum()
    return lambda: len(paint(capture(loss)))


def step(lib, net, x, target):
    parameters = list(net.parameters())

    def run():
        for _ in range(STEPS):  # a listener stays for more than one step
            for p in parameters:
                p.grad = None
            lib.nn.functional.cross_entropy(net(x), target).backward()

    return run


def small(lib):
    """A step of three small layers: what listening costs shows most."""
    nn = lib.nn
    net = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 4))
    return step(lib, net, lib.randn(32, 20), lib.randint(0, 4, (32,)))


def lenet(lib):
    return step(lib, models.lenet(lib.nn), lib.randn(16, 3, 32, 32), lib.randint(0, 10, (16,)))


class Both:
    """Two listeners as one."""

    def __init__(self, *listeners):
        self.listeners = listeners

    def __enter__(self):
        for one in self.listeners:
            one.__enter__()

    def __exit__(self, *exc):
        for one in self.listeners:
            one.__exit__(*exc)


def while_it_runs(make, listener):
    def prepare(lib):
        from vistorch.debug import graph

        run, listens = make(lib), listener(graph)

        def inside():
            with listens:
                run()

        return inside

    return prepare


add("graphs", "ResNet-18: capture, layout, SVG (300 ms)", first_picture, base=clock(0.3), budget=10.0)
add("graphs", "ResNet-18: capture, first message (500 ms)", first_message, base=clock(0.5), budget=10.0)
add("graphs", "ResNet-18 folded: layout (30 ms)", layout_of(lambda r: r), base=clock(0.03), budget=10.0)
add(
    "graphs", "ResNet-18 open: layout (100 ms)", layout_of(lambda r: r.unfold()), base=clock(0.1), budget=10.0
)
for _kind in ("chain", "fan", "random"):
    add("graphs", f"10,000 boxes, {_kind}: layout (1 s)", laid_out(_kind), base=clock(1.0), budget=10.0)
add("graphs", "10,000 nodes in a row: capture, layout, SVG (1 s)", deep_picture, base=clock(1.0), budget=10.0)
LISTENERS = {
    "calls": lambda g: g.Calls(),
    "calls and norms for 2 % of the time": lambda g: Both(g.Calls(), g.Norms(share=0.02)),
    "every norm": lambda g: g.Norms(),
}
for _make, _budgets in ((small, (1.2, 1.3, None)), (lenet, (1.05, 1.1, 1.3))):
    for (_name, _listener), _budget in zip(LISTENERS.items(), _budgets, strict=True):
        add(
            "graphs",
            f"steps of {_make.__name__}, {_name}",
            while_it_runs(_make, _listener),
            base=_make,
            budget=_budget,
        )
