"""A node of torch against finite differences and our own row: what is right, what is wrong, what cannot be said."""

import pytest
import torch
import torch.nn.functional as F

from tests.torch_source import sweep
from tests.torch_source.models import MODELS
from vistorch.debug.source import named
from vistorch.torch_source.check import check, verdict
from vistorch.torch_source.nodes import NODES
from vistorch.torch_source.stepper import TorchStepper


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x**2


class Wrong(Cube):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x


def node(make):
    torch.manual_seed(0)
    x, y = torch.rand(3, 4, requires_grad=True), torch.rand(3, 4, requires_grad=True)
    return make(x, y).grad_fn


BOTH = {
    "mul": lambda x, y: x * y,
    "by a number": lambda x, y: x * 3,
    "power": lambda x, y: x**3,
    "division": lambda x, y: x / y,
    "softmax": lambda x, y: x.softmax(1),
    "matrix product": lambda x, y: x @ y.t(),
    "linear": lambda x, y: F.linear(x, y, torch.ones(3, requires_grad=True)),
    "gelu": lambda x, y: F.gelu(x),
    "loss": lambda x, y: F.mse_loss(x, y),
    "sum along a dim": lambda x, y: x.sum(-1),
    "mean": lambda x, y: x.mean(),
    "norm": lambda x, y: x.norm(),
    "running sums": lambda x, y: x.cumsum(1),
    "part": lambda x, y: x[:, 1:],
    "convolution": lambda x, y: F.conv2d(x[None, None], torch.ones(2, 1, 2, 2, requires_grad=True)),
}


@pytest.mark.parametrize("name", BOTH)
def test_two_witnesses_agree(name):
    lines = check(node(BOTH[name]))
    assert [ok for ok, _ in lines] == [True, True]
    assert lines[0][1].startswith("finite difference agrees") and lines[1][1].startswith("vistorch agrees")


def test_where_the_inputs_are_gone_one_witness_speaks():
    found = verdict(node(lambda x, y: (x * 2).exp()))
    assert [text.partition(" agrees")[0] for _, text in found.lines] == ["vistorch"] and found.why


def test_a_custom_function_is_held_against_its_own_forward():
    x = torch.rand(3, 4, requires_grad=True)
    right, wrong = (
        Cube.apply(x),
        Wrong.apply(x),
    )  # up to 2.12 a node of Python's dies with the last of its outputs
    assert check(right.grad_fn)[0][0]
    ((ok, text),) = check(wrong.grad_fn)
    assert not ok and "differs by" in text


def test_a_wrong_gradient_of_torch_would_be_seen(monkeypatch):
    from vistorch.torch_source import private

    call = private.call_node
    monkeypatch.setattr(private, "call_node", lambda n, g: [s if s is None else s * 1.01 for s in call(n, g)])
    for name in ("mul", "matrix product", "by a number", "power"):
        lines = verdict(node(BOTH[name])).lines
        assert lines and not any(ok for ok, _ in lines), name


def test_what_cannot_be_said_is_said():
    with pytest.raises(LookupError, match="was freed by a backward pass"):
        n = node(lambda x, y: (x * y).exp())
        freed = torch.rand(3, requires_grad=True).exp()
        freed.sum().backward()
        check(freed.grad_fn)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: pytest.fail("unpacked")):
        n = node(lambda x, y: x.exp())
    with pytest.raises(LookupError, match="what a hook has packed"):
        check(n)


def test_nothing_of_the_program_changes():
    torch.manual_seed(0)
    net, make = MODELS["LeNet"]()
    loss = make()
    said = []
    for n in named("torch").order([loss]):
        if not NODES.is_leaf(n):
            n.register_hook(lambda *g: said.append(1))
    walk = TorchStepper(loss)
    walk.step()
    assert len(said) == 1
    for n in walk.nodes:
        if not NODES.is_leaf(n):
            try:
                assert all(ok for ok, _ in named("torch").check(n, walk.nodes, walk.outputs)), n
            except LookupError:
                continue
    assert len(said) == 1 and all(p.grad is None for p in net.parameters())
    walk.undo()


@pytest.mark.parametrize("name", ["LeNet", "GPT", "LSTM"])
def test_most_nodes_of_a_network_have_a_witness(name):
    torch.manual_seed(0)
    loss = MODELS[name]()[1]()
    walk = TorchStepper(loss)
    kinds, seen = set(), set()
    for n in walk.nodes:
        if NODES.is_leaf(n):
            continue
        kinds.add(n.name())
        try:
            lines = named("torch").check(n, walk.nodes, walk.outputs)
        except LookupError:
            continue
        assert all(ok for ok, _ in lines), (n, lines)
        seen.add(n.name())
    assert len(seen) >= 0.6 * len(kinds), kinds - seen


@pytest.mark.filterwarnings("ignore")
def test_no_op_of_torch_is_called_wrong():
    kinds, _, wrong = sweep.judged()
    assert not wrong
    assert kinds > 180
