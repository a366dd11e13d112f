"""The graph of a torch loss as a record: nodes, modules, lines, shapes, what is saved, norms, names, formulas."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import vistorch
from tests.torch_source.models import MODELS
from vistorch import vt
from vistorch.debug.source import named
from vistorch.torch_source import listening, rows
from vistorch.torch_source.nodes import NODES


@pytest.fixture
def noted():
    """Lines, modules and norms are noted, as after a first command."""
    listening.start()
    yield
    listening.stop()


def graph_of(output, **around):
    return named("torch").capture(output, around)


def test_a_small_graph_says_what_it_computes():
    x = torch.ones(2, 2, requires_grad=True)
    z = 3 * (x + 2) ** 2
    assert graph_of(z.mean(), x=x, z=z).text() == (
        "backward(): 4 ops, saved 24 B\n"
        "step  op             output  saved\n"
        "   1  Mean           scalar\n"
        "   2  z  Mul         2 × 2     8 B\n"
        "   3  Pow            2 × 2    16 B\n"
        "   4  Add            2 × 2\n"
        "          x (input)  2 × 2"
    )


@pytest.mark.parametrize("name", MODELS)
def test_a_network_has_its_modules_lines_and_norms(name, noted):
    torch.manual_seed(0)
    net, make = MODELS[name]()
    loss = make()
    loss.backward()
    record = graph_of(loss, net=net, loss=loss)
    paths = {path for path, _ in net.named_modules() if path}
    groups = {g.path for g in record.groups if not g.synthetic}
    assert groups and groups <= paths
    labels = {n.label for n in record.nodes if n.kind == "parameter"}
    assert labels == {name for name, _ in net.named_parameters()}
    ops = [n for n in record.nodes if n.kind == "op"]
    lined = [n for n in ops if n.line]
    assert len(lined) > 0.9 * len(ops) and all("models.py" in n.line for n in lined)
    for n in record.nodes:
        if n.kind == "parameter":
            p = dict(net.named_parameters())[n.label]
            assert n.grad == pytest.approx(float(p.grad.norm()), rel=1e-5)
    flowed = [e for e in record.edges if e.norm is not None]
    assert len(flowed) > 0.8 * len(record.edges)
    assert record.source.startswith("PyTorch 2.")
    assert record.wire()["source"] == record.source


def test_norms_of_edges_are_those_of_the_gradients_that_flowed(noted):
    x, w = torch.randn(3, 4, requires_grad=True), torch.randn(4, 2, requires_grad=True)
    y = x @ w
    loss = (y**2).sum()
    loss.backward()
    record = graph_of(loss, x=x, w=w)
    norms = {(record.nodes[e.source].op, record.nodes[e.target].label): e for e in record.edges}
    assert norms["Mm", "x"].norm == pytest.approx(float(x.grad.norm()), rel=1e-5)
    assert norms["Mm", "w"].norm == pytest.approx(float(w.grad.norm()), rel=1e-5)
    assert norms["Sum", ""].norm == pytest.approx(math.sqrt(6), rel=1e-5)


def test_hooks_are_gone_after_a_pass_and_gradients_are_torchs(noted):
    torch.manual_seed(0)
    net, make = MODELS["LeNet"]()
    make().backward()
    seen = [p.grad.clone() for p in net.parameters()]
    listening.stop()
    torch.manual_seed(0)
    net, make = MODELS["LeNet"]()
    make().backward()
    assert all(torch.equal(a, p.grad) for a, p in zip(seen, net.parameters(), strict=True))


def test_memory_is_counted_once_and_what_a_leaf_owns_nowhere():
    x, w = torch.randn(8, 8, requires_grad=True), torch.randn(8, 8, requires_grad=True)
    y = x.exp()
    record = graph_of((y * y).sum() + (x @ w).sum())
    kept = {n.op: n for n in record.nodes}
    assert kept["Exp"].saved == 256 and kept["Exp"].shared == 0
    assert kept["Mul"].saved == 0 and kept["Mul"].shared == 512
    assert kept["Mm"].saved == 0 and kept["Mm"].shared == 512


def test_a_freed_graph_is_shown_and_says_so():
    x = torch.ones(2, requires_grad=True)
    loss = x.exp().sum()
    assert "freed" not in " ".join(graph_of(loss).says)
    loss.backward()
    record = graph_of(loss)
    assert "was freed by a backward pass" in " ".join(record.says) and record.ops == 2


def test_a_graph_is_not_changed_by_being_shown():
    net, make = MODELS["GPT with checkpoints"]()
    runs = []
    net.blocks[0]["ln1"].register_forward_hook(lambda *_: runs.append(1))
    loss = make()
    before = len(runs)
    graph_of(loss, net=net)
    vt.graph(loss, namespace={"net": net})
    assert len(runs) == before, "an unpack hook of the checkpoint ran"
    loss.backward()


def test_modules_used_twice_and_modules_without_a_name(noted):
    shared = nn.Linear(3, 3)
    x = torch.ones(1, 3)
    record = graph_of(shared(torch.tanh(shared(x))).sum(), x=x)
    assert [g.title for g in record.groups] == ["Linear (2nd use)", "Linear"]


def test_groups_are_found_by_parameters_where_nobody_listened():
    net, make = MODELS["LeNet"]()
    record = graph_of(make(), net=net)
    assert {g.path for g in record.groups} >= {"conv1", "conv2", "fc1", "fc2", "fc3"}
    assert not any(n.line for n in record.nodes)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (lambda: torch.ones(2), "this tensor has no graph"),
        (lambda: torch.ones(2, requires_grad=True), "this tensor is a leaf"),
        (lambda: torch.nn.Linear(2, 2), "a graph belongs to a tensor, and this is of type Linear"),
        (lambda: torch.ones(2, requires_grad=True).sum().grad_fn, "a graph belongs to a tensor"),
        (lambda: [], "name the tensor whose graph is to be shown"),
    ],
)
def test_what_has_no_graph_is_answered_with_a_sentence(wrong, sentence):
    with pytest.raises(vt.Refusal, match=sentence) as refused:
        vt.graph(wrong())
    assert "\n" not in str(refused.value)


def test_formulas_are_those_of_our_rows():
    x, y = torch.rand(3, 4, requires_grad=True), torch.rand(3, 4, requires_grad=True)
    ours, other = (vistorch.tensor(t.tolist(), requires_grad=True) for t in (x, y))
    pairs = [
        (x * y, ours * other),
        (x.softmax(1), ours.softmax(1)),
        (x**3, ours**3),
        (x.sum(1), ours.sum(1)),
        (x.mean(), ours.mean()),
        (x[:, 1:], ours[:, 1:]),
        (x[0], ours[0]),
        (x.masked_fill(x > 2, 0.0), ours.masked_fill(ours > 2, 0.0)),
        (F.gelu(x), vistorch.nn.functional.gelu(ours)),
        (F.layer_norm(x, (4,)), vistorch.nn.functional.layer_norm(ours, (4,))),
        (F.mse_loss(x, y), vistorch.nn.functional.mse_loss(ours, other)),
        (x @ y.t(), ours @ other.t()),
        (x.t(), ours.t()),
        (x.cumsum(1), ours.cumsum(1)),
        (x.norm(), ours.norm()),
    ]
    engine = named("vistorch").nodes
    for theirs, mine in pairs:
        shown = {f.input: f.latex for f in NODES.formulas(theirs.grad_fn)}
        wanted = {f.input: f.latex for f in engine.formulas(mine.grad_fn)}
        assert {name: wanted.get(name) for name in shown} == shown, theirs.grad_fn


def test_the_inputs_of_a_node_have_names_as_many_as_its_gradients():
    _, make = MODELS["ResNet-18"]()
    losses = [make(), MODELS["GPT"]()[1](), MODELS["LSTM"]()[1]()]
    for loss in losses:
        for n in named("torch").order([loss]):
            if not NODES.is_leaf(n) and type(n).__module__ != "torch.autograd.function":
                assert len(rows.inputs_of(n)) == len(n.next_functions), n


def test_the_numbers_of_a_formula_are_those_of_the_node():
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    shown = str(vt.step((x**3 / 4).sum(), namespace={"x": x}))
    assert "[1]: 0.25 · 3 · 3^2 = 6.75" in shown, shown
