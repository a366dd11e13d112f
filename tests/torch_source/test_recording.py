"""Runs on torch op by op: against each other, and against the same model on the engine."""

import gc
import weakref

import numpy as np
import pytest
import torch

import vistorch
from vistorch import vt
from vistorch.debug.compare import Recording, compare
from vistorch.torch_source import private


def convolutions(lib):
    nn = lib.nn
    net = nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(64, 5),
        nn.Tanh(),
    )
    x = lib.randn(6, 1, 8, 8)
    return (
        net,
        lambda: (
            lib.nn.functional.cross_entropy(net(x), lib.arange(6) % 5) + 0.1 * (net[0].weight ** 2).mean()
        ),
    )


def words(lib):
    nn = lib.nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.norm, self.head = nn.Embedding(7, 8), nn.LayerNorm(8), nn.Linear(8, 7)

        def forward(self, tokens):
            h = self.norm(self.table(tokens))
            return self.head(h * h.sigmoid() + h.mean(-1, keepdim=True))

    net = Net()
    return net, lambda: net(lib.arange(12).reshape(2, 6) % 7).log_softmax(-1).exp().sum(1).max()


def recorded(lib, make, change=None, **options):
    lib.manual_seed(0)
    net, loss = make(lib)
    if change is not None:
        change(net)
    with vt.record(lib.__name__, **options) as run:
        loss().backward()
    return run, net


@pytest.mark.parametrize("make", [convolutions, words])
def test_the_same_model_on_both_libraries_agrees_op_by_op(make):
    ours, theirs = recorded(vistorch, make)[0], recorded(torch, make)[0]
    record = compare(ours, theirs)
    assert record.sentence.startswith("The runs agree"), record.sentence
    assert record.leaves == [] and len(theirs.leaves) == len(ours.leaves) > 3
    assert sum(row["backward"] is not None for row in record.rows) > 8


def test_where_a_run_on_torch_parts_from_the_same_model_here():
    def change(net):
        net[1].eps = 1e-2

    ours, theirs = recorded(vistorch, convolutions)[0], recorded(torch, convolutions, change)[0]
    record = compare(ours, theirs)
    assert record.first["pass"] == "forward" and record.rows[record.first["row"]]["op"] == "native_batch_norm"
    assert "by its own doing" in record.sentence and "layer [1]" in record.sentence
    later = [row["forward"]["state"] for row in record.rows[record.first["row"] + 1 :] if row["forward"]]
    assert "own" not in later and "inherited" in later


def test_two_runs_on_torch():
    def change(net):
        with torch.no_grad():
            net[5].bias[2] += 0.5

    first, second = recorded(torch, convolutions)[0], recorded(torch, convolutions, change)[0]
    assert compare(first, first).sentence.startswith("The runs agree")
    record = compare(first, second)
    assert record.rows[record.first["row"]]["op"] == "addmm" and "differs by up to 0.5" in record.sentence


def test_gradients_are_those_of_the_pass_and_travel_in_a_file(tmp_path):
    run, net = recorded(torch, convolutions, save=tmp_path / "run.vtr")
    again = Recording.load(tmp_path / "run.vtr")
    wanted = sorted(p.grad.numpy().tobytes() for p in net.parameters())
    for one in (run, again):
        assert sorted(np.ascontiguousarray(g).tobytes() for g in one.leaves.values()) == wanted
    assert compare(run, again).sentence.startswith("The runs agree")


def test_recording_changes_no_gradient_and_keeps_nothing():
    gc.disable()
    try:
        torch.manual_seed(0)
        net, loss = convolutions(torch)
        loss().backward()
        plain = [p.grad.clone() for p in net.parameters()]
        _, again = recorded(torch, convolutions)
        for p, g in zip(again.parameters(), plain, strict=True):
            assert torch.equal(p.grad, g)
        x = torch.ones(2, requires_grad=True)
        with vt.record("one") as run:
            y = (x * 2).exp()
            y.sum().backward()
        known = weakref.ref(y)
        del y
        assert known() is None and len(run.ops) == 3
    finally:
        gc.enable()


def test_private_names_of_recording():
    assert private.name_of_op(torch.ops.aten.sum.dim_IntList) == "sum.dim_IntList"
    assert private.name_of_op(torch.ops.aten.sum.default) == "sum.default"
