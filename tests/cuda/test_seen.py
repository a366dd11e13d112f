"""What is seen of a device costs one transfer for each picture, and says what it says of the host's arrays.

The stand-in computes by numpy: it proves how often the host waits and what crosses, not what a GPU computes.
"""

import math
import re
from collections.abc import Iterator

import numpy as np
import pytest

import vistorch
from tests.cuda.seen import Counted, counted
from vistorch import nn
from vistorch.debug import Stepper, Trace
from vistorch.debug.array import parameter, record, strip
from vistorch.debug.device_reads import WHOLE, Batch, brought
from vistorch.debug.graph import Norms, capture
from vistorch.debug.numbers import all_finite, host
from vistorch.debug.steps import record as steps
from vistorch.debug.trace import deferred
from vistorch.debug.values import Values
from vistorch.debug.variables import survey
from vistorch.widgets.graph.node_values import Inside

F = nn.functional
PLACE = "cuda:0"
VALUES = ("gradient", "before", "after")
LARGE = 600  # a matrix of so many rows and columns in single precision is larger than what crosses whole


@pytest.fixture
def crossed(strict_gpu, monkeypatch) -> Iterator[Counted]:
    """What the host has asked of the device; the host has numpy's kernels alone, as the stand-in."""
    with vistorch.backends.mkldnn.flags(enabled=False):
        yield counted(monkeypatch, strict_gpu.xp)


def net_on(place, width=8):
    vistorch.manual_seed(0)
    net = nn.Sequential(nn.Linear(6, width), nn.ReLU(), nn.Linear(width, 3))
    with vistorch.no_grad():
        net[0].weight[1, 2] = 300.0
    return net.to(place)


def batch_on(place):
    rng = np.random.default_rng(0)
    x = vistorch.tensor(rng.standard_normal((5, 6)).astype("f4"))
    return x.to(place), vistorch.tensor(rng.integers(0, 3, 5)).to(place)


def trained(place, width=8):
    net, (x, y) = net_on(place, width), batch_on(place)
    loss = F.cross_entropy(net(x), y)
    loss.backward(retain_graph=True)
    return net, x, y, loss


def with_gradients(place, width=8):
    """A network of the same numbers on each device, gradients included."""
    net, here = net_on(place, width), trained("cpu", width)[0]
    for p, q in zip(net.parameters(), here.parameters(), strict=True):
        p.grad = q.grad.to(place)
    return net


def alike(a, b, where="", rel=1e-5):
    """Hold two states equal but for the device's name and the last digits."""
    if isinstance(a, dict):
        assert a.keys() == b.keys(), where
        for k in a:
            if k not in ("device", "seconds"):
                alike(a[k], b[k], f"{where}.{k}", rel)
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b), where
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            alike(x, y, f"{where}[{i}]", rel)
    elif isinstance(a, np.ndarray):
        assert a.dtype == b.dtype and a.shape == b.shape, where
        np.testing.assert_allclose(a, b, rtol=rel, atol=1e-6, err_msg=where)
    elif isinstance(a, float) and isinstance(b, (int, float)):
        assert (math.isnan(a) and math.isnan(b)) or a == pytest.approx(b, rel=rel, abs=1e-8), where
    elif isinstance(a, str):
        assert re.sub(rf",\s+device='{PLACE}'", "", a).replace(PLACE, "cpu") == b, where
    else:
        assert a == b, where


def both(crossed, make, *, most=1):
    """Make a picture of what `make` gives on the host and on the device: the same state, one transfer."""
    here = make("cpu")()
    seen = make(PLACE)
    with crossed.at_most(most):
        there = seen()
    alike(there, here)
    return there


def test_an_array_with_its_text(crossed):
    def small(place):
        x, _ = batch_on(place)
        return lambda: (r := record(x)).wire() | {"said": r.text()}

    both(crossed, small)
    large = np.random.default_rng(1).standard_normal((LARGE, LARGE)).astype("f4")
    large[5, 7] = np.nan

    def make(place):
        x = vistorch.tensor(large).to(place)
        return lambda: record(x).text()

    both(crossed, make)
    x = vistorch.tensor(large).to(PLACE)
    with crossed.at_most(1):
        record(x)
    assert crossed.looks[-1][1] < large.nbytes


def test_a_parameter_with_its_gradient(crossed):
    def make(place):
        p = with_gradients(place)[0].weight
        return lambda: (r := parameter(p)).wire() | {"said": r.text()}

    assert len(both(crossed, make)["items"]) == 2


@pytest.mark.parametrize("width", [8, 40_000])
def test_a_module_as_a_strip(crossed, width):
    def make(place):
        net = with_gradients(place, width)
        return lambda: strip(net).wire() if width == 8 else {"said": strip(net).text()}

    both(crossed, make)


def test_the_variables_of_a_notebook(crossed):
    rng = np.random.default_rng(2)
    large, whole = rng.standard_normal((LARGE, LARGE)).astype("f4"), rng.integers(0, 9, (700, 700))

    def make(place):
        net, x, y, loss = trained(place)
        names = {"net": net, "x": x, "y": y, "loss": loss, "z": (x + 1j * x).detach()}
        names |= {"large": vistorch.tensor(large).to(place), "whole": vistorch.tensor(whole).to(place)}
        names["w"] = net[0].weight
        return lambda: survey(names, sort="grad", seconds=60).wire()

    rows = {row["name"]: row for row in both(crossed, make)["rows"]}
    assert rows["net"]["grad_norm"] > 0 and rows["large"]["thumb"]["codes"].shape[0] >= 16
    assert rows["loss"]["number"]


def test_a_graph_with_the_norms_of_its_pass(crossed):
    def make(place):
        with crossed.at_most(0), Norms():
            net, _, _, loss = trained(place)

        def see():
            found = capture(loss, namespace={"net": net})
            nodes = [(n.name, n.label, n.grad, n.value) for n in found.nodes]
            return nodes, [(e.source, e.target, e.norm, e.value) for e in found.edges]

        return see

    nodes, edges = both(crossed, make)
    assert any(grad for *_, grad, _ in nodes) and all(norm is not None for *_, norm, _ in edges)


def test_a_pass_step_by_step(crossed):
    def make(place):
        net, (x, y) = net_on(place), batch_on(place)
        loss = F.cross_entropy(net(x), y) + (net(x).softmax(1) ** 2).mean()

        def see():
            made = steps(Stepper(loss))
            # which values are one array depends on the kernels of a device, so here they stand for their numbers
            values = dict(enumerate(made.values))
            frames = [
                {
                    **f,
                    "outgoing": [
                        {k: values.get(v) if k in VALUES else v for k, v in o.items()} for o in f["outgoing"]
                    ],
                }
                for f in made.frames
            ]
            kept = ("node", "says", "outgoing", "pending", "question")
            return [{k: f[k] for k in kept} for f in frames], made.text()

        return see

    frames, said = both(crossed, make, most=2)  # one for the pass, one for the slopes that follow from it
    assert len(frames) > 8 and any(frame["question"] for frame in frames) and "NaN" not in said


def test_a_pass_over_large_arrays(crossed):
    large = np.random.default_rng(4).standard_normal((LARGE, LARGE)).astype("f4")

    def make(place):
        x = vistorch.tensor(large).to(place).requires_grad_()
        loss = ((x * x).tanh() * 1.0).sum()

        def see():
            made = steps(Stepper(loss))
            return [
                (f["says"], [o["sum"] for o in f["outgoing"]], f["grads"]) for f in made.frames
            ], made.values

        return see

    said = both(crossed, make, most=1)[0]
    assert said[0][0] == "1" and said[-1][0].count("norm") == 2
    assert sum(size for _, size, _ in crossed.looks) < large.nbytes


def test_a_node_of_a_graph(crossed):
    def make(place):
        net, (x, y) = net_on(place), batch_on(place)
        loss = F.cross_entropy(net(x), y)
        inside = Inside([loss])
        number = next(i for i, n in enumerate(inside.nodes((loss,))) if "Addmm" in n.name())

        def see():
            found = inside.look(number)
            assert loss is not None
            return found.numbers, [display.record.wire() for display, _ in found.views]

        return see

    numbers, views = both(crossed, make, most=2)
    assert numbers and len(views) > 1


def of_trace(trace):
    """What a trace found, as plain values."""
    found = trace.record()
    return (
        [(r.name.rstrip("_"), r.state, r.back, r.bad) for r in trace.rows if r.name != "to_place"],
        found.first and (found.first["how"], found.first["pass"], found.first["where"]),
        found.sentence.replace(f", device='{PLACE}'", ""),
        [leaf["nan"] for leaf in found.leaves],
        found.course,
    )


@pytest.mark.parametrize("bad", ["", "forward", "backward", "placed"])
def test_a_trace_asks_once_for_a_step_and_once_more_where_it_is_bad(crossed, bad):
    def make(place):
        net, (x, y) = net_on(place), batch_on(place)
        optimizer = vistorch.optim.SGD(net.parameters(), lr=1e-3)
        mask = vistorch.zeros(5, 3, device=place)
        mask[0, 1] = -math.inf
        before = len(crossed)
        with Trace() as trace:
            for step in range(3):
                h, now = net(x), step == 1
                if bad == "forward" and now:
                    h = (h * 0).log() + h
                if bad == "backward" and now:
                    h = h + (h * 0).sqrt()
                if bad == "placed":
                    h = h.softmax(1) + (h + mask).softmax(1)
                optimizer.zero_grad()
                F.cross_entropy(h, y).backward()
                if bad != "backward":
                    optimizer.step()
        return len(crossed) - before, of_trace(trace), len(trace.rows)

    _, here, _ = make("cpu")
    asked, there, events = make(PLACE)
    assert there == here
    assert asked <= (3 if bad == "" else 6) < events, crossed.looks[-asked:]


def test_a_trace_shows_what_was_there_before_it_was_overwritten(crossed):
    def make(place):
        x = vistorch.tensor([4.0, -1.0, 9.0]).to(place)
        y = vistorch.tensor([2.0, 0.0, 3.0]).to(place)
        before = len(crossed)
        with Trace() as trace:
            z = x.sqrt()  # the first bad value, of an x that is written next
            x /= y
            x.mul_(2)
            x[1] = 5.0
            y.fill_(1)
            y.copy_(x)
            vistorch.add(x, y, out=z)
        assert [row.index for row in trace.rows] == list(range(len(trace.rows)))
        hows = [row.facts.how for row in trace.rows if row.facts is not None]
        return len(crossed) - before, of_trace(trace), hows

    _, here, _ = make("cpu")
    asked, there, hows = make(PLACE)
    assert there == here and asked <= 2
    assert hows == ["sqrt of x[1] = -1 gives nan", "div of input[1] = -1 and other[1] = 0 gives -inf"]


def test_a_trace_of_a_bound_and_of_half_types(crossed):
    def make(place):
        x = vistorch.tensor([3.0, 200.0]).to(place)
        with Trace(bound=1e3) as trace:
            (x * 3).requires_grad_().mul(40).sum().backward()
            (x.half() * 400).to(vistorch.float32).log()
        return of_trace(trace)

    assert make(PLACE) == make("cpu")


def test_what_waits_is_bounded(crossed, monkeypatch):
    monkeypatch.setattr(deferred, "EVENTS", 10)
    x = vistorch.ones(4, device=PLACE)
    before = len(crossed)
    with Trace() as trace:
        for _ in range(25):
            x = x * 2
            assert len(trace._later.events) < 10
    assert len(crossed) - before == 3 and len(trace.rows) == 25
    monkeypatch.setattr(deferred, "HELD", 100)
    with Trace() as trace, crossed.at_most(2):
        x = x * 2
        x = vistorch.ones(30, device=PLACE) * 2
        assert not trace._later.events


def test_weights_of_a_device_are_looked_at_together(crossed):
    arrays = [vistorch.full((3,), v, device=PLACE)._data for v in (1.0, 2.0, float("inf"))]
    with crossed.at_most(1):
        assert all_finite(arrays[:2])
    with crossed.at_most(1):
        assert not all_finite([np.ones(2), *arrays])
    assert not all_finite([np.array([np.nan]), *arrays])


def test_norms_of_a_device_leave_no_range(crossed):
    for dtype, size in (("float16", 300.0), ("float32", 1e25), ("int64", 3)):
        x = vistorch.ones(4, device=PLACE, dtype=getattr(vistorch, dtype)) * size
        values = Values(budget=0)
        values.add(x)
        assert values.close()[0]["norm"] == pytest.approx(2 * size, rel=1e-3)
    p = vistorch.full((4,), 1e15, device=PLACE, requires_grad=True)
    with Norms():
        loss = (p * 1e15).sum()
        (loss * 1e15).backward(retain_graph=True)
    assert [e.norm for e in capture(loss).edges if e.norm and e.norm > 1e29] == [pytest.approx(2e30)]


def test_a_table_of_values(crossed):
    rng = np.random.default_rng(3)
    large = rng.standard_normal((LARGE, LARGE)).astype("f4")
    large[3, 4], large[9, 9] = np.inf, -50

    def make(place):
        arrays = [vistorch.tensor(a).to(place) for a in (large, large[:7, :9], large[0] > 0)]

        def close():
            values = Values(4000)
            for a in [*arrays, arrays[0]]:
                values.add(a)
            return values.close()

        return close

    states = both(crossed, make)
    assert [state["exact"] for state in states] == [False, True, True] and states[0]["posinf"] == 1
    assert crossed.looks[-1][1] < large.nbytes < WHOLE * 2


def test_what_was_brought_is_fetched_once(crossed):
    a, b = (vistorch.tensor([v, 2.0]).to(PLACE) for v in (1.0, 5.0))
    with crossed.at_most(2):
        with brought([a, None, 3, b]) as batch:
            assert host(a).tolist() == [1, 2] and host(b)[0] == 5
            assert batch.crossings == 1
            c = a + b
            assert host(c) is host(c) and batch.crossings == 2
    with crossed.at_most(1):
        assert host(a).tolist() == [1, 2]


def test_a_batch_of_the_host_crosses_nothing():
    batch = Batch()
    x = np.ones(3)
    assert batch.whole(x).value is x and batch.ask(x, [x], lambda parts: parts[0].sum()).value == 3
    batch.send()
    assert batch.crossings == 0
