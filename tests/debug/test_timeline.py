"""Saved tensors over time."""

import gc

import numpy as np
import pytest

import vistorch as L
from tests.debug.graphs import bits, build
from vistorch.debug import graph_bytes
from vistorch.debug.timeline import Timeline, memory, size
from vistorch.engine.base.events import listeners
from vistorch.widgets._frame import wire


def test_bytes_rise_forward_and_fall_backward():
    x = L.ones(1000, requires_grad=True)
    with Timeline() as seen:
        y = x.exp()
        z = (y * L.full((1000,), 2.0)).sin()
        z.sum().backward()
    record = seen.record()
    # exp keeps its output, mul the constant, sin its input
    assert record.bytes.tolist() == [0, 4000, 8000, 12000, 12000, 12000, 8000, 4000, 0]
    assert (
        record.backward == [[5, 8]]
        and record.peak["bytes"] == 12000
        and record.peak["what"] == "SinBackward0"
    )
    assert [r["name"] for r in record.rows] == ["ExpBackward0", "MulBackward0", "SinBackward0"]
    assert all(r["at_peak"] for r in record.rows)
    assert record.rows[0]["where"].endswith("y = x.exp()")
    assert [(r["made"], r["freed"]) for r in record.rows] == [(1, 8), (2, 7), (3, 6)]


def test_aliases_count_once_and_until_the_last():
    x = L.ones(1000, requires_grad=True)
    with Timeline() as seen:
        y = x.exp()
        z = y.sin() + y.view(10, 100).cos().sum()
        z.sum().backward()
    record = seen.record()
    assert record.peak["bytes"] == 4000
    shared = {r["name"]: (r["bytes"], r["shared"]) for r in record.rows}
    assert shared == {"ExpBackward0": (4000, 0), "SinBackward0": (0, 4000), "CosBackward0": (0, 4000)}
    assert record.bytes.max() == 4000 and record.bytes[-1] == 0


def test_what_leaves_own_is_apart():
    w = L.ones(10, 10, requires_grad=True)
    with Timeline() as seen:
        (L.ones(3, 10) @ w).sum()
    record = seen.record()
    assert record.leaves == 0 and record.peak["bytes"] == 120
    with Timeline() as seen:
        (w.exp() @ w).sum()
    assert seen.record().leaves == 400


def test_a_graph_that_is_dropped_is_seen_to_go():
    x = L.ones(1000, requires_grad=True)
    with Timeline() as seen:
        for _ in range(3):
            y = x.exp().sin()
            del y
            gc.collect()
        x.sin()
    record = seen.record()
    assert record.peak["bytes"] == 4000 and record.bytes[-1] == 0
    assert len(record.rows) == 6


def test_a_graph_that_is_retained_stays():
    x = L.ones(1000, requires_grad=True)
    with Timeline() as seen:
        y = x.exp().sum()
        y.backward(retain_graph=True)
    assert seen.record().bytes[-1] == 4000
    assert listeners.op is None and listeners.backward is None


@pytest.mark.parametrize("seed", range(30))
def test_it_agrees_with_what_a_graph_keeps(seed):
    """At the end of forward, what lives is what `graph_bytes` counts of all that is alive."""
    case = build(seed, create_graph=False)
    plain = build(seed, create_graph=False)
    plain.backward()
    found = memory(case.roots[0])
    assert found.peak["bytes"] == graph_bytes(case.roots[0]).total
    assert found.bytes[-1] == 0
    with Timeline():
        again = build(seed, create_graph=False)
        again.backward()
    assert [bits(g) for g in plain.grads()] == [bits(g) for g in again.grads()]


def test_modules_lines_and_the_way_to_the_page():
    L.manual_seed(0)
    net = L.nn.Sequential(L.nn.Linear(4, 100), L.nn.Tanh(), L.nn.Linear(100, 2))
    with Timeline("a step") as seen:
        loss = net(L.ones(8, 4)).sum()
    found = seen.record()
    assert found.rows[0]["module"] in ("[1]", "[2]") and found.rows[0]["bytes"] == 3200
    kind, state = wire.unpack(wire.pack(found.kind, found.wire()))
    assert (
        kind == "memory"
        and state["ticks"].dtype == np.int32
        and state["report"].startswith("a step: at most ")
    )
    static = memory(loss, "a step")
    assert static.peak["bytes"] == found.peak["bytes"]


def test_devices_apart():
    L.cuda.simulate(1)
    try:
        x = L.ones(1000, requires_grad=True)
        with Timeline() as seen:
            (x.exp().sum() + x.to("cuda").exp().sum().cpu()).backward()
        record = seen.record()
    finally:
        L.cuda.simulate(0)
    assert set(record.devices) >= {"cpu"} and len(record.devices) == 2
    assert np.array_equal(sum(record.devices.values()), record.bytes)


def test_what_has_no_history():
    with pytest.raises(ValueError, match="tensor 0 has no history"):
        memory(L.ones(2))
    x = L.ones(2, requires_grad=True)
    y = x.exp().sum()
    y.backward()
    assert memory(y).peak["bytes"] == 0  # freed: nothing is kept


def test_sizes():
    assert [size(n) for n in (0, 999, 9999, 10_000, 2_100_000, 3e9)] == [
        "0 B",
        "999 B",
        "9999 B",
        "10 kB",
        "2.1 MB",
        "3 GB",
    ]


def test_a_page_gets_the_largest_and_a_count():
    x = L.ones(10, requires_grad=True)
    with Timeline() as seen:
        y = x
        for _ in range(300):
            y = y.exp().sin()
        y.sum().backward()
    record = seen.record()
    state = record.wire()
    assert len(record.rows) == state["nodes"] == 600 and len(state["rows"]) == 400
    assert state["alive"].max() == 600 and state["alive"][-1] == 0 and state["alive"].dtype == np.int32
    assert state["alive"].tolist() == [
        sum(r["made"] <= t and (r["freed"] is None or r["freed"] > t) for r in record.rows)
        for t in range(len(state["ticks"]))
    ]


def test_layers_have_the_name_of_their_own_network() -> None:
    """Networks with layers at the same paths: each row names the network that its node belongs to."""

    class Block(L.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body = sequence()

        def forward(self, x):
            return self.body(x)

    def sequence() -> L.nn.Module:
        return L.nn.Sequential(L.nn.Linear(3, 3), L.nn.Linear(3, 3))

    known = {"first": sequence(), "second": sequence(), "a": Block(), "b": Block()}
    x = L.ones(2, 3, requires_grad=True) * 1

    def named(y: L.Tensor) -> set[str]:
        return {row["module"] for row in memory(y.sum(), namespace=known).rows}

    assert named(known["first"](x)) == {"first[0]", "first[1]"}
    assert named(known["second"](x)) == {"second[0]", "second[1]"}
    both = named(known["second"](known["first"](x)))
    assert both == {"first[0]", "first[1]", "second[0]", "second[1]"}
    assert named(known["b"](known["a"](x))) == {"a.body[0]", "a.body[1]", "b.body[0]", "b.body[1]"}
