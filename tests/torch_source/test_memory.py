"""What a graph of PyTorch keeps, by node over time: the same account as the engine's."""

import gc
import io

import pytest
import torch
from torch import nn

import vistorch
from tests.torch_source import models, programs
from vistorch import vt
from vistorch.debug.source import named
from vistorch.debug.timeline import Timeline
from vistorch.debug.timeline import memory as kept_here
from vistorch.torch_source import private
from vistorch.torch_source.memory import TorchTimeline

SOURCE = named("torch")


def timeline(namespace=None):
    return TorchTimeline(SOURCE, namespace)


def small(lib):
    """Two steps of a small network on either library."""
    lib.manual_seed(0)
    net = lib.nn.Sequential(lib.nn.Linear(6, 120), lib.nn.Tanh(), lib.nn.Linear(120, 1))
    x = lib.randn(32, 6)
    for _ in range(2):
        net(x).exp().sum().backward()


def rows_of(made):
    """What its rows say, without lines and ticks, of those that brought something."""
    return [
        tuple(row[k] for k in ("name", "module", "layer", "bytes", "shared"))
        for row in made.rows
        if row["bytes"]
    ]


def test_bytes_rise_and_fall_as_on_the_engine():
    with Timeline() as ours:
        small(vistorch)
    with timeline() as theirs:
        small(torch)
    a, b = ours.record(), theirs.record()
    assert b.peak["bytes"] == a.peak["bytes"] == 32 * (6 + 120 + 1) * 4 and b.bytes[-1] == a.bytes[-1] == 0
    assert len(b.backward) == 2 and b.source.startswith("PyTorch 2.") and a.source == "vistorch"
    assert rows_of(a) == rows_of(b)
    assert all(row["freed"] is not None and "net(x).exp()" in row["where"] for row in b.rows)
    assert set(vars(b)) == set(vars(a)) and set(b.wire()) == set(a.wire())
    assert len(b.graph.nodes) and max(node.row for node in b.graph.nodes) >= 0


@pytest.mark.parametrize("make", [models.lenet, models.gpt, models.lstm], ids=lambda make: make.__name__)
def test_a_standing_graph_keeps_what_its_picture_says(make):
    loss = make()[1]()
    record, graph = SOURCE.kept(loss), SOURCE.capture(loss)
    assert record.peak["bytes"] == sum(node.saved for node in graph.nodes) > 0
    assert record.bytes[-1] == 0 and record.graph is not None
    assert {row["name"] for row in record.rows} == {
        node.name for node in graph.nodes if node.saved or node.shared
    }


@pytest.mark.parametrize("seed", range(6))
def test_a_program_runs_with_the_same_bits_and_ends_with_nothing_kept(seed):
    with timeline() as seen:
        leaves, kept, loss = programs.program(seed)
        try:
            loss.backward()
        except RuntimeError:
            return
        found = programs.grads([*leaves, *kept])
        del loss
    assert private.top_mode() is None
    leaves, kept, loss = programs.program(seed)
    loss.backward()
    assert programs.same(found, programs.grads([*leaves, *kept])) and seen.record().peak["bytes"] >= 0


def test_graphs_that_are_dropped_retained_and_asked_for_by_grad():
    x = torch.ones(1000, requires_grad=True)
    gc.disable()
    try:
        with timeline() as seen:
            for _ in range(3):
                y = x.exp().sin()
                del y
            assert seen.record().bytes[-1] == 0 and len(seen.record().rows) == 6
            y = x.exp().sum()
            y.backward(retain_graph=True)
            assert seen.record().bytes[-1] == 4000
            y.backward()
            assert seen.record().bytes[-1] == 0
            torch.autograd.grad(x.exp().sum(), x)
    finally:
        gc.enable()
    record = seen.record()
    assert record.bytes[-1] == 0 and len(record.backward) == 3 and record.peak["bytes"] == 4000


def test_leaves_own_what_is_theirs_and_hooks_keep_their_secrets():
    w = torch.ones(10, 10, requires_grad=True)
    with timeline() as seen:
        loss = (w.exp() @ w).sum()
        with torch.autograd.graph.saved_tensors_hooks(lambda t: (t,), lambda t: t[0]):
            packed = (torch.ones(3, 10) @ w.sin()).sum()
    record = seen.record()
    assert record.leaves == 400 and record.opaque == 2 and "packed by a hook" in record.says[0]
    del loss, packed


class Double(torch.autograd.Function):
    """A custom Function that keeps its input."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


def test_custom_functions_and_views_are_accounted_for():
    x = torch.ones(1000, requires_grad=True)
    with timeline() as seen:
        Double.apply(x.exp()).view(10, 100).cos().sum().backward()
    rows = {row["name"]: (row["bytes"], row["shared"]) for row in seen.record().rows}
    assert rows == {"ExpBackward0": (4000, 0), "DoubleBackward": (0, 4000), "CosBackward0": (4000, 0)}
    assert seen.record().bytes[-1] == 0


def test_the_command_takes_a_loss_of_either_library():
    net = nn.Sequential(nn.Linear(4, 100), nn.Tanh(), nn.Linear(100, 1))
    loss = net(torch.ones(8, 4)).sum()
    shown = vt.memory(loss)
    assert shown.record.peak["bytes"] == 3328 and "net[0] Linear 4 → 100" in shown.record.text()
    assert shown.record.source.startswith("PyTorch")
    loss.backward()
    for wrong, words in (
        (loss, "the graph was freed by a backward pass"),
        (torch.ones(2), "it has no history"),
        (torch.ones(2, requires_grad=True), "a leaf"),
        (net, "expected a result with history, got Sequential"),
        ([], "expected a result with history, got list"),
    ):
        with pytest.raises(vt.Refusal, match=words):
            vt.memory(wrong)
    ours = vistorch.ones(10, requires_grad=True)
    assert vt.memory((ours.exp() * 2).sum()).record.peak["bytes"] == kept_here(ours.exp()).peak["bytes"] == 40


def test_what_lives_in_memory_is_not_held_by_the_account():
    with timeline() as seen:
        x = torch.ones(10, requires_grad=True)
        loss = x.exp().sum()
        buffer = io.BytesIO()
        torch.save({"x": x.detach()}, buffer)
        loss.backward()
    import weakref

    gone = weakref.ref(x), weakref.ref(loss)
    gc.disable()
    try:
        del x, loss
        assert [one() for one in gone] == [None, None] and seen.record().peak["bytes"] == 40
    finally:
        gc.enable()
