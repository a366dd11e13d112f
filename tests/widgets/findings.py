"""Real records of traces, comparisons and memory, for tests of their pictures and pages."""

import vistorch as L
from tests.debug.trace.cells import run
from vistorch.debug.compare import Record, compare
from vistorch.debug.timeline import Timeline
from vistorch.debug.trace import Trace

EVIL = "<img src=x onerror=alert(1)>"
ENTROPY = """p = logits.softmax(-1)
h = -p * p.log()
h = torch.where(p > 0, h, torch.zeros_like(h))
H = h.sum()
H.backward()"""


def traced(source, **names):
    """The trace of some lines; an exception in them ends it."""
    trace = Trace(names=lambda leaf: next((name for name, one in names.items() if one is leaf), None))
    try:
        with trace:
            run(source, torch=L, **names)
    except RuntimeError:
        pass
    return trace.record()


def entropy():
    """The mockup's: NaN in a gradient that a mask hides from the forward pass."""
    logits = L.tensor([[1.0, 0.0, -1.0], [-200.0, 0.0, -200.0]], requires_grad=True)
    return traced(ENTROPY, logits=logits)


def diverging():
    """A network whose steps are far too large: many ops, in modules."""
    L.manual_seed(0)
    net = L.nn.Sequential(
        L.nn.Linear(6, 20), L.nn.ReLU(), L.nn.Linear(20, 20), L.nn.ReLU(), L.nn.Linear(20, 3)
    )
    lines = (
        "opt = torch.optim.SGD(net.parameters(), lr=1e4)\nfor _ in range(8):\n    opt.zero_grad()\n"
        "    loss = net(X).pow(2).mean()\n    loss.backward()\n    opt.step()"
    )
    return traced(lines, net=net, X=L.randn(8, 6))


def forked():
    """Bad values on branches that stand side by side, with norms on the edges between them."""
    L.manual_seed(0)
    lines = "a = (x * 2).relu()\nb = (x * 3).log()\nd = (x - 3).sqrt()\ne = (a + b + d * x.exp()).sum()\ne.backward()"
    return traced(lines, x=L.randn(64, 128, 3, requires_grad=True))


def failed():
    """An exception after a bad value."""
    return traced("y = (x - 1).log()\nz = y @ torch.ones(4)", x=L.ones(2))


def clean():
    """Nothing to find."""
    return traced("y = (x * 2).sum()", x=L.ones(2))


def evil():
    """Markup in the line and in a name."""
    x = L.zeros(2, requires_grad=True)
    return traced(f"y = ({{'{EVIL}': x}}['{EVIL}'] / x).sum()\ny.backward()", **{EVIL: x, "x": x})


def recording(title, slope, module=L.nn.LeakyReLU):
    """A run of a small network."""
    L.manual_seed(0)
    net = L.nn.Sequential(L.nn.Linear(6, 12), module(slope), L.nn.Linear(12, 3))
    x = L.randn(8, 6)
    with Record(title) as made:
        net(x).pow(2).sum().backward()
    return made.recording()


def compared(title="before"):
    """Two runs whose activation differs."""
    return compare(recording(title, 0.1), recording("after", 0.2))


def memory():
    """Two steps of a small network."""
    L.manual_seed(0)
    net = L.nn.Sequential(
        L.nn.Linear(6, 120), L.nn.Tanh(), L.nn.Linear(120, 60), L.nn.Tanh(), L.nn.Linear(60, 1)
    )
    x = L.randn(32, 6)
    with Timeline() as seen:
        for _ in range(2):
            net(x).sum().backward()
    return seen.record()
