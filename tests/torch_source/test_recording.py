"""Runs on torch op by op: against each other, and against the same model on the engine."""

import gc
import re
import weakref

import numpy as np
import pytest
import torch

import vistorch
from tests.torch_source.both import NETS, PLANTED, resnet
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


@pytest.fixture(scope="module")
def references():
    """A run without anything planted of each network, by library."""
    made = {}

    def reference(lib, name):
        if (lib, name) not in made:
            made[lib, name] = recorded(lib, NETS[name])[0]
        return made[lib, name]

    return reference


@pytest.mark.parametrize("name", NETS)
def test_networks_are_the_same_on_both_libraries(name, references):
    record = compare(references(vistorch, name), references(torch, name))
    assert record.sentence.startswith("The runs agree"), record.sentence
    states = {side["state"] for row in record.rows for side in (row["forward"], row["backward"]) if side}
    assert states <= {"same", "inherited"}
    apart = {row["op"] for row in record.rows if row["a"] is None or row["b"] is None}
    assert apart <= {"view", "clone", "contiguous", "reshape"}  # layouts


@pytest.mark.parametrize("lib", [vistorch, torch], ids=["vistorch", "torch"])
@pytest.mark.parametrize(("name", "plant", "words"), PLANTED, ids=[f"{a} {b}" for a, b, _ in PLANTED])
def test_a_planted_difference_is_named(lib, name, plant, words, references):
    run = recorded(torch, lambda lib: NETS[name](lib, plant))[0]
    record = compare(references(lib, name), run)
    if lib is torch:  # without what only shapes in the other library
        words = [re.sub(r"number \d+", "number", word) for word in words]
    said = re.sub(r"number \d+", "number", record.sentence) if lib is torch else record.sentence
    assert all(word.lower() in said.lower() for word in words), record.sentence


def test_what_rounding_makes_of_a_deep_network_is_no_difference():
    def wide(add):
        with vt.record("run") as run:
            x = torch.tensor([1.0, 2.0]) + add
            (x * 1e4).sin().exp()
        return run

    record = compare(wide(torch.tensor(0.0)), wide(torch.tensor(3e-7)))
    assert record.sentence.startswith("The runs agree but for rounding: 4 ops"), record.sentence
    assert "in exp (number 4)." in record.sentence or "in sin (number 3)." in record.sentence

    def more(lib):
        net, loss = resnet(lib)
        return net, lambda: loss() * (1.0 if lib is vistorch else 1.00001)

    record = compare(recorded(vistorch, more)[0], recorded(torch, more)[0])
    assert "rounding" not in record.sentence, record.sentence


def test_an_op_that_writes_and_one_of_several_tensors_run_again():
    def twice(lib, scale):
        lib.manual_seed(0)
        x, y = lib.randn(3, requires_grad=True), lib.randn(3)
        with vt.record(lib.__name__) as run:
            h = (x * 2).sub_(scale)
            h = lib.stack([h, y])
            lib.cat([h, h]).exp().sum().backward()
        return run

    record = compare(twice(torch, 3.0), twice(torch, 3.5))
    states = {row["op"]: row["forward"]["state"] for row in record.rows}
    assert states["mul"] == "same" and states["sub"] == "own", states
    assert states["stack"] == states["cat"] == states["exp"] == "inherited"
    backward = {row["op"]: row["backward"]["state"] for row in record.rows}
    assert backward["cat"] == backward["stack"] == "inherited"


def test_half_precision_runs_again():
    def run(scale):
        torch.manual_seed(0)
        net = torch.nn.Linear(4, 4)
        x = torch.randn(3, 4)
        with vt.record("run") as made, torch.autocast("cpu", torch.bfloat16):
            (net(x * scale).relu() * 3).sum().backward()
        return made

    record = compare(run(1.0), run(1.5))
    states = [row["forward"]["state"] for row in record.rows]
    assert states[0] == "own" and "differs" not in states and "own" not in states[1:], states


def test_numbers_that_differ_in_a_late_digit_are_written_so():
    def run(last):
        with vt.record("run") as made:
            torch.tensor([1.0, 2.0, last]).double().mul(3.0)
        return made

    record = compare(run(4.0), run(4.0001), rtol=1e-9, atol=1e-9)
    assert len(set(record.first["values"])) == 2


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
