"""What the pages of graph and stepper ask is checked first; `.grad` follows the page and looking changes nothing."""

import gc
import weakref

import numpy as np
import pytest

import vistorch
from vistorch import nn
from vistorch.debug.graph import graph_listeners
from vistorch.debug.stepper import Stepper
from vistorch.widgets._frame.display import Display
from vistorch.widgets._frame.wire import unpack
from vistorch.widgets.graph.command import graph, leaves
from vistorch.widgets.graph.live import GraphView
from vistorch.widgets.graph.node_values import Inside
from vistorch.widgets.steps import command as stepper
from vistorch.widgets.steps.command import Walker, step
from vistorch.widgets.steps.live import StepsView


@pytest.fixture(autouse=True)
def without_warnings():
    yield
    graph_listeners.stop()


@pytest.fixture
def pages(pages):
    """Pages of these kinds, too."""
    for kind in ("graph", "steps"):
        (pages / f"{kind}.js").write_text((pages / "array.js").read_text())
    return pages


@pytest.fixture
def network():
    vistorch.manual_seed(0)
    with vistorch.debug.graph.Calls():
        net = nn.Sequential(nn.Sequential(nn.Linear(4, 5), nn.ReLU()), nn.Linear(5, 1))
        loss = net(vistorch.randn(3, 4)).pow(2).mean()
    return net, loss, {"net": net, "loss": loss}


def received(view, monkeypatch):
    """Make a view that keeps what it sends; ask it by calling the result."""
    sent = []
    monkeypatch.setattr(view, "send", lambda content, buffers=None: sent.append((content, buffers)))

    def ask(**message):
        sent.clear()
        view._receive(view, {"id": 3, **message}, [])
        return sent[-1] if sent else None

    return ask


@pytest.fixture
def asked(network, monkeypatch, pages):
    _net, loss, names = network
    record = graph(loss, namespace=names).record
    return received(GraphView(Display(record), Inside([loss], leaves(names))), monkeypatch), record


def test_a_fold_that_did_not_travel_comes_from_the_kernel(asked):
    ask, record = asked
    content, (packed,) = ask(type="fold", open=[])
    assert content == {"type": "folded", "id": 3}
    state = unpack(packed)[1]
    assert len(state["open"]) == 0 and len(state["frames"]) == 0
    group = next(iter(record.tree.frames))
    _, (packed,) = ask(type="fold", open=[group, group])
    state = unpack(packed)[1]
    assert list(state["open"]) == [group]


@pytest.mark.parametrize(
    "wrong",
    [{"open": "all"}, {"open": [999]}, {"open": [-1]}, {"open": [True]}, {"open": None}, {"open": [[0]]}],
)
def test_a_fold_of_what_is_no_group_is_refused(asked, wrong):
    content, _ = asked[0](type="fold", **wrong)
    assert content["type"] == "refused"


def test_a_node_is_looked_at_without_changing_a_gradient(asked, network):
    ask, record = asked
    net, loss, _ = network
    relu = next(i for i, n in enumerate(record.nodes) if n.op == "Relu")
    content, buffers = ask(type="look", node=relu, page=True)
    assert (content["type"], content["id"], content["views"]) == ("looked", 3, 2)
    assert len(buffers) == 3 and len(ask(type="look", node=relu)[1]) == 2  # the page comes once
    [[name, noted]] = content["numbers"]
    assert name == "input" and "> 0]" in noted and "=" in noted
    assert all(p.grad is None for p in net.parameters())
    leaf = next(i for i, n in enumerate(record.nodes) if n.kind == "parameter")
    assert ask(type="look", node=leaf)[1]
    loss.backward()
    assert "second time" in ask(type="look", node=relu)[0].get("why", "second time")


def test_each_picture_of_a_node_has_its_own_tiles(asked, network):
    ask, record = asked
    node = next(i for i, n in enumerate(record.nodes) if n.op == "Addmm")
    content, _ = ask(type="look", node=node)
    assert content["views"] > 2  # the bias, the input, the weight
    parts = {"item": 0, "layer": 0, "start": [0, 0], "stop": [1, 1], "block": [1, 1]}
    got = [ask(type="tile", view=v, **parts) for v in (0, 2)]
    assert [c["view"] for c, _ in got] == [0, 2] and got[0][1] != got[1][1]
    assert ask(type="tile", view=9, **parts)[0]["type"] == "refused"
    assert ask(type="tile", view="0", **parts)[0]["type"] == "refused"


def test_a_node_is_checked(asked):
    ask, record = asked
    for i, node in enumerate(record.nodes):
        content, _ = ask(type="check", node=i)
        if node.kind == "op":
            assert content["ok"] is True and "agrees" in content["text"], node.name
        else:
            assert content["ok"] is False and "nothing to check" in content["text"]


@pytest.mark.parametrize("kind", ["look", "check"])
@pytest.mark.parametrize("node", [-1, 10**6, "0", 1.0, None, True])
def test_a_node_that_is_not_there_is_refused(asked, kind, node):
    assert asked[0](type=kind, node=node)[0]["type"] == "refused"


def test_a_view_keeps_no_graph_alive(monkeypatch, pages):
    loss = (vistorch.ones(3, requires_grad=True) * 2).sum()
    ask = received(GraphView(Display(graph(loss, namespace={}).record), Inside([loss])), monkeypatch)
    seen = weakref.ref(loss)
    del loss
    gc.collect()
    assert seen() is None
    assert "gone from the kernel" in ask(type="look", node=0)[0]["why"]
    assert "gone from the kernel" in ask(type="check", node=0)[0]["text"]


@pytest.fixture
def walked(network, monkeypatch, pages):
    _net, loss, names = network
    record = step(loss, namespace=names).record
    walker = Walker(Stepper(loss, names=leaves(names)))
    stepper._open.add(walker)
    view = StepsView(Display(record), walker)
    return received(view, monkeypatch), view, walker, record


def test_gradients_follow_the_page_both_ways(walked, network):
    ask, _, _walker, record = walked
    net = network[0]
    plain = [g.numpy() for g in vistorch.autograd.grad(network[1], list(net.parameters()), retain_graph=True)]
    for to in (0, 3, record.count, 1, record.count, 0, 2, record.count):
        content, _ = ask(type="go", to=to)
        assert content == {"type": "went", "id": 3, "at": to, "why": ""}
        ran = {n for f in record.frames[:to] for n in (g["node"] for g in f["grads"])}
        labels = {record.nodes[n]["label"] for n in ran}
        assert {n for n, p in net.named_parameters() if p.grad is not None} == labels
    for p, expected in zip(net.parameters(), plain, strict=True):
        np.testing.assert_array_equal(p.grad.numpy(), expected)


def test_to_leave_finishes_or_undoes_and_the_page_is_reported(walked, network):
    ask, view, walker, _record = walked
    ask(type="go", to=2)
    sent = ask(type="leave", how="undo")
    assert sent[0] == {"type": "left", "id": 3, "how": "undo", "why": ""}
    assert all(p.grad is None for p in network[0].parameters()) and walker.stepper.closed
    assert "the pass was left" in ask(type="go", to=1)[0]["why"]
    view.finish()  # too late: nothing happens
    assert all(p.grad is None for p in network[0].parameters())


def test_finish_from_the_program(walked, network):
    _, view, walker, _ = walked
    view.finish()
    assert all(p.grad is not None for p in network[0].parameters()) and walker.stepper.closed


def test_a_new_stepper_of_the_same_tensor_undoes_the_old_one(walked, network):
    ask, _, walker, record = walked
    ask(type="go", to=record.count)
    made = step(network[1], namespace={})
    assert walker.stepper.closed
    assert "undone first" in " ".join(made.record.says)
    assert all(p.grad is None for p in network[0].parameters())


@pytest.mark.parametrize("wrong", [{"to": -1}, {"to": 10**6}, {"to": "2"}, {"to": None}, {"to": 1.5}])
def test_steps_that_are_none_are_refused(walked, wrong):
    assert walked[0](type="go", **wrong)[0]["type"] == "refused"
    assert walked[2].walk.at == 0
    assert walked[0](type="leave", how="burn")[0]["type"] == "refused"


def test_a_hook_that_raises_leaves_the_pass_where_it_stood(monkeypatch, pages):
    x = vistorch.ones(2, requires_grad=True)
    y = x * 2
    record = step(y.sum(), namespace={}).record
    y.register_hook(lambda g: 1 / 0)
    walker = Walker(Stepper(y.sum()))
    ask = received(StepsView(Display(record), walker), monkeypatch)
    content, _ = ask(type="go", to=2)
    assert content["at"] == 1 and content["why"] == "ZeroDivisionError: division by zero"
    assert "ZeroDivisionError" in ask(type="leave", how="finish")[0]["why"]
    assert ask(type="leave", how="undo")[0]["why"] == ""
    assert x.grad is None


def test_a_node_of_a_pass_shows_what_came_to_it(walked):
    ask, _, _, record = walked
    node = record.frames[2]["node"]
    assert ask(type="look", node=node)[1]
    ask(type="go", to=3)
    assert ask(type="look", node=node)[1]
    assert ask(type="check", node=node)[0]["ok"] is True
