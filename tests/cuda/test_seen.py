"""What is seen of a device costs one transfer for each picture, and says what it says of the host's arrays.

The stand-in computes by numpy: it proves how often the host waits and what crosses, not what a GPU computes.
"""

import math
import re

import numpy as np
import pytest

import vistorch
from tests.cuda.seen import Counted, counted
from vistorch import nn
from vistorch.debug.array import parameter, record, strip
from vistorch.debug.device_reads import WHOLE, Batch, brought
from vistorch.debug.graph import Norms, capture
from vistorch.debug.numbers import host
from vistorch.debug.values import Values
from vistorch.debug.variables import survey

F = nn.functional
PLACE = "cuda:0"
LARGE = 600  # a matrix of so many rows and columns in single precision is larger than what crosses whole


@pytest.fixture
def crossed(strict_gpu, monkeypatch) -> Counted:
    """What the host has asked of the device."""
    return counted(monkeypatch, strict_gpu.xp)


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
        assert (math.isnan(a) and math.isnan(b)) or a == pytest.approx(b, rel=rel, abs=1e-9), where
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
