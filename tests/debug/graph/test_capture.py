"""What a record says of the engine's graph."""

import threading

import pytest

import vistorch as L
from vistorch import nn
from vistorch.debug import Lines, Stepper, graph_bytes
from vistorch.debug.graph import Calls, capture

from ..graphs import build
from .networks import Net, chain, graph, run


def test_nodes_edges_and_names():
    x = L.ones(2, 2, requires_grad=True)
    y = x + 2
    z = 3 * y**2
    out = z.mean()
    r = capture(out, namespace={"x": x, "y": y, "z": z, "out": out})
    assert [(n.kind, n.op, n.name, n.label, n.shape, n.step) for n in r.nodes] == [
        ("op", "Mean", "MeanBackward0", "out", (), 1),
        ("op", "Mul", "MulBackward0", "z", (2, 2), 2),
        ("op", "Pow", "PowBackward0", "", (2, 2), 3),
        ("op", "Add", "AddBackward0", "y", (2, 2), 4),
        ("input", "AccumulateGrad", "vistorch::autograd::AccumulateGrad", "x", (2, 2), 0),
    ]
    assert [(e.source, e.target, e.shape) for e in r.edges] == [(i, i + 1, (2, 2)) for i in range(4)]
    assert r.title == "out.backward()" and r.roots == ((0, "out = 27.00"),)
    assert {n.dtype for n in r.nodes} == {"float32"} and {n.device for n in r.nodes} == {"cpu"}
    assert r.nodes[2].formulas and r.nodes[2].formulas[0][0] == "input"


@pytest.mark.parametrize("seed", range(12))
def test_nodes_are_numbered_as_the_stepper_numbers_them(seed):
    case = build(seed, inputs=None)
    r = capture(case.roots)
    stepper = Stepper(case.roots, **case.arguments)
    assert [n.name for n in r.nodes[: stepper.count]] == [n.name() for n in stepper.nodes]
    assert all(e.source < e.target for e in r.edges)
    r.text(), r.wire(), r.scene


def test_bytes_saved_count_once():
    x = L.ones(10, requires_grad=True)
    y = x.exp()
    z = (y.sin() * y).sum()
    r = capture(z)
    assert sum(n.saved for n in r.nodes) == graph_bytes(z).total == 80
    kept = {n.op: [(k.name, k.bytes, k.alias) for k in n.kept] for n in r.nodes}
    assert kept["Exp"] == [("out", 40, False)]
    assert kept["Sin"] == [("input", 40, True)]
    assert sorted(alias for _, _, alias in kept["Mul"]) == [False, True]
    assert {n.op: n.shared for n in r.nodes}["Mul"] == 40


def test_what_a_parameter_owns_is_not_counted():
    w = L.ones(4, 5, requires_grad=True)
    r = capture(((L.ones(3, 4, requires_grad=True) * 1) @ w).sum())
    assert sorted((k.name, k.shape, k.alias) for n in r.nodes if n.op == "Mm" for k in n.kept) == [
        ("input", (3, 4), False),
        ("mat2", (4, 5), True),
    ]
    assert sum(n.saved for n in r.nodes) == 48


def test_modules_group_what_they_made():
    r = graph()
    assert [(g.path, g.title, g.kind, g.parent) for g in r.groups] == [
        ("head", "head", "Linear", -1),
        ("blocks.1", "blocks[1]", "Block", -1),
        ("blocks.1.act", "act (2nd use)", "Tanh", 1),
        ("blocks.1.b", "b", "Linear", 1),
        ("blocks.1.act", "act", "Tanh", 1),
        ("blocks.1.a", "a", "Linear", 1),
        ("blocks.0", "blocks[0]", "Block", -1),
        ("blocks.0.act", "act (2nd use)", "Tanh", 6),
        ("blocks.0.b", "b", "Linear", 6),
        ("blocks.0.act", "act", "Tanh", 6),
        ("blocks.0.a", "a", "Linear", 6),
    ]
    where = [(n.op, r.groups[n.group].path if n.group >= 0 else "") for n in r.nodes if n.step]
    assert where[:5] == [
        ("Mean", ""),
        ("Pow", ""),
        ("Addmm", "head"),
        ("Add", "blocks.1"),
        ("Tanh", "blocks.1.act"),
    ]
    names = dict(Net().named_parameters())
    assert {n.label for n in r.nodes if n.kind == "parameter"} == set(names)


def test_without_a_listener_parameters_give_the_group():
    r = graph(listening=False)
    where = {(n.op, r.groups[n.group].path if n.group >= 0 else "") for n in r.nodes if n.step}
    assert {("Addmm", "head"), ("Addmm", "blocks.1.a"), ("Tanh", "blocks.1"), ("Mean", "")} <= where
    # what stands between two blocks has no parameter's module around it on both sides
    assert {group for op, group in where if op == "Add"} == {""}


def test_modules_need_no_variable_when_their_calls_were_recorded():
    loss, _ = run()
    assert {n.label for n in capture(loss).nodes if n.kind == "parameter"} >= {
        "head.weight",
        "blocks.0.a.bias",
    }


def test_two_uses_of_one_network_are_framed():
    net = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
    x = L.ones(1, 2)
    with Calls(forget=True):
        loss = (net(x) + net(x * 2)).sum()
    r = capture(loss, namespace={"net": net})
    assert [g.title for g in r.groups if g.parent < 0] == ["net (2nd use)", "net"]


def test_parts_of_a_network_that_are_called_by_hand_keep_their_paths():
    net = Net()
    with Calls(forget=True):
        loss = net.head(net.blocks[0](L.ones(1, 4))).sum()
    assert {g.path for g in capture(loss, namespace={"net": net}).groups if g.parent < 0} == {
        "head",
        "blocks.0",
    }


def test_calls_of_two_threads_at_once_are_not_guessed():
    gate, done, made = threading.Event(), threading.Event(), []

    class Slow(nn.Module):
        def forward(self, x):
            gate.set()
            done.wait(10)
            return x * 2

    def other():
        made.append(Slow()(L.ones(2, requires_grad=True)).sum())

    net = nn.Sequential(nn.Linear(2, 2))
    with Calls(forget=True):
        thread = threading.Thread(target=other)
        thread.start()
        gate.wait(10)
        loss = net(L.ones(1, 2)).sum()
        done.set()
        thread.join()
    # these nodes were made while both ran: parameters decide instead
    r = capture(loss, modules=net)
    assert [(n.op, r.groups[n.group].path) for n in r.nodes if n.group >= 0 and n.step] == [("Addmm", "0")]
    assert capture(made[0]).groups == ()


def test_the_log_keeps_no_module_alive_and_is_bounded():
    import gc
    import weakref

    from vistorch.debug.graph import module_calls

    net = nn.Linear(2, 2)
    gone = weakref.ref(net)
    with Calls(forget=True):
        loss = net(L.ones(1, 2)).sum()
    del net
    loss.backward()
    del loss
    gc.collect()
    assert gone() is None
    assert module_calls._log.events.maxlen == module_calls.KEPT


def test_an_exception_in_forward_ends_the_call():
    net = nn.Sequential(nn.Linear(2, 3), nn.Linear(2, 3))
    with Calls(forget=True):
        with pytest.raises(RuntimeError):
            net(L.ones(1, 2))
        after = (L.ones(2, requires_grad=True) * 2).sum()
    assert capture(after, modules=net).groups == ()


def test_lines_of_nodes_or_of_the_call():
    with Lines():
        r = graph()
    assert all(": " in n.line for n in r.nodes if n.step)
    assert "self.act(self.b(self.act(self.a(x))))" in next(n.line for n in r.nodes if n.op == "Tanh")
    r = graph()
    made = {n.line.rpartition(": ")[2] for n in r.nodes if n.group >= 0 and n.step}
    assert made == {"loss = net(x).pow(2).mean()"}


def test_inputs_without_gradient_show_where_they_have_a_name():
    w, x, mask = L.ones(4, 2, requires_grad=True), L.ones(3, 4), L.ones(3, 2)
    loss = ((x @ w) * mask).sum()
    shown = {n.label: n.kind for n in capture(loss, namespace={"x": x, "w": w}).nodes if n.kind != "op"}
    assert shown == {"x": "input", "w": "input"}
    everything = capture(loss, namespace={"x": x, "w": w}, constants=True)
    assert [n.kind for n in everything.nodes if n.kind != "op"].count("constant") == 1
    assert all(e.dead for e in everything.edges if everything.nodes[e.target].says)


def test_names_from_lists_and_given_ones():
    a, b = L.ones(2, requires_grad=True), L.ones(2, requires_grad=True)
    loss = (a * b).sum()
    assert {n.label for n in capture(loss, namespace={"p": [a, b]}).nodes if not n.step} == {"p[0]", "p[1]"}
    assert {n.label for n in capture(loss, names={"u": a, "v": b}).nodes if not n.step} == {"u", "v"}
    assert {n.label for n in capture(loss, names={a: "u"}).nodes if not n.step} == {"u", ""}
    hidden = capture(loss, namespace={"_a": a, "Out": {1: b}})
    assert {n.label for n in hidden.nodes if not n.step} == {""}


def test_a_view_of_a_parameter_rides_on_its_edge():
    r = graph()
    turned = [n for n in r.nodes if n.op == "T"]
    assert turned and all(n.chip == "T" and n.step == 0 for n in turned)
    assert r.ops == 2 + 1 + 2 * 5
    assert len(r.scene.pills) == 10 and sum(p.ride >= 0 for p in r.scene.pills) == 5


def test_several_outputs_and_several_roots():
    x = L.ones(4, requires_grad=True)
    a, b = x.split([1, 3])
    r = capture([a.sum(), (b * 2).sum(), x.exp()])
    split = next(i for i, n in enumerate(r.nodes) if n.op.startswith("Split"))
    assert sorted((e.output, e.shape) for e in r.edges if e.target == split) == [(0, (1,)), (1, (3,))]
    assert len(r.roots) == 3


def test_a_freed_graph_says_so():
    r = graph(backward=True)
    assert "freed" in r.says[0] and "saved" not in " ".join(r.meta)
    assert all(n.grad is not None for n in r.nodes if n.kind == "parameter")


def test_hooks_that_raise_are_not_run():
    x = L.ones(2, requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: 1 / 0)
    y.grad_fn.register_prehook(lambda g: 1 / 0)
    assert capture(y.sum()).ops == 2


def test_nothing_is_changed():
    loss, names = run()
    before = [n.note if hasattr(n, "note") else None for n in Stepper(loss).nodes]
    capture(loss, namespace=names).wire()
    assert before == [n.note if hasattr(n, "note") else None for n in Stepper(loss).nodes]
    loss.backward()


def test_ten_thousand_nodes():
    x, y = chain(10_000)
    r = capture(y, names={"x": x})
    assert r.ops == 10_001 and len(r.scene.boxes) <= 42
    r.text(), r.wire()


@pytest.mark.parametrize(
    ("make", "error", "sentence"),
    [
        (lambda: L.ones(2), ValueError, "this tensor has no graph: it does not require grad"),
        (lambda: L.ones(2, requires_grad=True).detach(), ValueError, "no graph"),
        (lambda: L.ones(2, requires_grad=True), ValueError, "is a leaf: nothing was recorded"),
        (list, ValueError, "no tensor was given"),
        (lambda: [1.0], TypeError, "expected tensors, but got float"),
    ],
)
def test_bad_input_gets_a_sentence(make, error, sentence):
    with pytest.raises(error, match=sentence):
        capture(make())
