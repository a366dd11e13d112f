"""`%vt graph`, `%vt step`, `%vt break` and their functions: what they give, and what they refuse in one line."""

import numpy as np
import pytest

import vistorch
from vistorch import nn, vt
from vistorch.debug.breakpoint_session import Stopped, session
from vistorch.debug.graph import graph_listeners
from vistorch.vt import Refusal

SETUP = "import vistorch as torch\nw = torch.ones(3, requires_grad=True)\nloss = (w * 2).sum()"


@pytest.fixture(autouse=True)
def without_warnings():
    """Nothing listens and no breakpoint is left after a test."""
    yield
    session.clear()
    session.on_stop = session.names = None
    graph_listeners.stop()


def net_and_loss():
    vistorch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 1))
    return net, net(vistorch.randn(3, 4)).pow(2).mean()


def test_a_graph_in_a_terminal_is_its_text(type_in):
    type_in(SETUP)
    shown = type_in("%vt graph loss")
    assert shown.out.startswith("loss.backward(): 2 ops")
    assert (
        "In [1], line 3"
        in type_in("print([n.line for n in __import__('vistorch').vt.graph(loss).record.nodes])").out
    )


def test_lines_are_known_from_the_moment_the_extension_is_loaded(type_in, bare):
    assert graph_listeners.start() is False
    vistorch.unload_ipython_extension(bare)
    assert graph_listeners.start() is True


def test_the_first_pass_of_every_cell_is_looked_at(type_in):
    type_in(SETUP)
    norms = next(one for one in graph_listeners._active.open if isinstance(one, vistorch.debug.graph.Norms))
    norms.share = 0.0  # nothing is left for passes that need not be looked at
    type_in("loss = (w * 2).sum(); loss.backward()\nsecond = (w * 2).sum(); second.backward()")
    type_in("third = (w * 2).sum(); third.backward()")
    seen = {name: "1.73" in type_in(f"%vt graph {name}").out for name in ("loss", "second", "third")}
    assert seen == {"loss": True, "second": False, "third": True}


LOOP = """
seen = []
for _ in range(30):
    net(torch.ones(2, 4)).sum().backward()
    seen.append(listeners.op is not None)
"""


def test_a_loop_runs_alone_after_its_first_passes(type_in, shell):
    type_in(
        "import vistorch as torch\nfrom vistorch.engine.base.events import listeners\nnet = torch.nn.Linear(4, 1)"
    )
    type_in(LOOP)
    received = shell.user_ns["seen"]
    assert received == [True] * 19 + [False] * 11  # the twentieth pass is the last one that is recorded
    assert shell.user_ns["listeners"].backward is None
    type_in("loss = net(torch.ones(2, 4)).sum()")  # the next cell is recorded again
    assert (
        "line 1: loss = net"
        in type_in("print(__import__('vistorch').vt.graph(loss).record.nodes[0].line)").out
    )


def test_calls_of_modules_without_a_pass_are_not_recorded_forever(type_in, shell):
    type_in(
        "import vistorch as torch\nfrom vistorch.engine.base.events import listeners\nnet = torch.nn.Identity()"
    )
    type_in("for _ in range(2100): net(1)\nsilent = listeners.phase is None")
    assert shell.user_ns["silent"]


def test_the_first_graph_says_that_lines_are_noted_from_now_on():
    x = vistorch.ones(2, requires_grad=True)
    y = x.exp().sum()
    assert "noted from now on" in vt.graph(y, namespace={}).record.says[-1]
    assert not vt.graph(y, namespace={}).record.says
    assert "test_graph.py" in vt.graph(x.exp().sum(), namespace={}).record.nodes[0].line


def test_open_names_a_module():
    with vistorch.debug.graph.Calls():
        _net, loss = net_and_loss()
        inner = nn.Sequential(nn.Sequential(nn.Linear(2, 2), nn.ReLU()), nn.Linear(2, 1))
        loss = inner(vistorch.ones(1, 2)).sum()
    names = {"inner": inner}
    assert len(vt.graph(loss, namespace=names, open="all").record.open) == 1
    assert not vt.graph(loss, namespace=names, open="none").record.open
    assert len(vt.graph(loss, namespace=names, open="0").record.open) == 1
    with pytest.raises(Refusal, match="no such group: 'layer9'; it has '0': name one of them, all or none"):
        vt.graph(loss, namespace=names, open="layer9")


@pytest.mark.parametrize("command", ["graph", "step"])
def test_what_has_no_graph_is_refused_in_one_line(sentence, type_in, command):
    type_in(SETUP)
    assert "does not require grad" in sentence(f"%vt {command} torch.ones(2)")
    assert f"a tensor, and this is of type int: type %vt {command} loss" in sentence(f"%vt {command} 3")
    assert "name the tensor" in sentence(f"%vt {command} []")
    assert sentence(f"%vt {command} lost").startswith(
        "NameError: name 'lost' is not defined; did you mean loss"
    )


def test_a_freed_graph_is_shown_and_not_stepped():
    x = vistorch.ones(3, requires_grad=True)
    loss = (x * x).sum()
    loss.backward()
    assert "freed" in " ".join(vt.graph(loss, namespace={}).record.says)
    with pytest.raises(
        Refusal, match="the graph was freed by a backward pass: run the forward pass again"
    ) as refused:
        vt.step(loss, namespace={})
    assert "\n" not in str(refused.value)
    np.testing.assert_array_equal(x.grad.numpy(), [2, 2, 2])


def test_the_last_exception_leaves_a_partial_graph(type_in, sentence):
    type_in(SETUP)
    assert type_in("torch.ones(2, 3) @ torch.ones(5, 3, requires_grad=True)").result.error_in_exec is not None
    assert "shapes cannot be multiplied" in type_in("%vt graph --last").out


def test_a_step_leaves_nothing_changed_where_no_page_asks():
    net, loss = net_and_loss()
    shown = vt.step(loss, namespace={"net": net})
    assert shown.record.count == len(shown.record.frames) > 4
    assert all(p.grad is None for p in net.parameters())
    loss.backward()  # the graph is still there


def test_the_stops_of_a_run_are_found_and_counted_from_the_start():
    _net, loss = net_and_loss()
    record = vt.step(
        loss, break_=["ReluBackward0", lambda frame: frame.name == "MeanBackward0"], namespace={}
    ).record
    names = [record.nodes[record.frames[i]["node"]]["name"] for i, _ in record.stops]
    assert names == ["MeanBackward0", "ReluBackward0"]


def test_a_condition_that_cannot_be_read_is_refused_with_its_place(type_in, sentence):
    type_in(SETUP)
    for line in ("%vt step loss --break 'grad.nrm > 3'", "%vt break grad.nrm > 3"):
        assert "'nrm' is no measure of grad" in sentence(line)
    assert not len(session)
    assert sentence("%vt break --remove 7").startswith("there is no breakpoint 7")


def test_a_hook_that_raises_ends_the_record_with_a_sentence():
    x = vistorch.ones(2, requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: 1 / 0)
    record = vt.step(y.sum(), namespace={"x": x}).record
    assert "ZeroDivisionError" in record.failed and "\n" not in record.failed
    assert x.grad is None
    assert "ZeroDivisionError" in vt.step(y.sum(), namespace={"x": x}).svg()


def test_the_record_knows_where_in_the_graph_its_nodes_stand():
    net, loss = net_and_loss()
    record = vt.step(loss, namespace={"net": net, "loss": loss}).record
    for node, place in zip(record.nodes, record.places, strict=True):
        there = record.graph.nodes[place]
        assert (there.name == node["name"]) or node["leaf"]
        if node["leaf"]:
            assert there.label == node["label"]
    state = record.wire()
    assert state["graph"]["title"] == "loss.backward()" and state["count"] == record.count


def test_break_lists_and_stops_a_later_pass(type_in, bare):
    type_in(SETUP)
    assert type_in("%vt break").out == "no breakpoints\n"
    assert type_in("%vt break grad.norm > 1e3 @ layer*").out == "1: grad.norm > 1000 @ layer*\n"
    assert type_in("%vt break MulBackward0").out.splitlines()[1] == "2: MulBackward0"
    stopped = type_in("loss.backward()").result.error_in_exec
    assert isinstance(stopped, Stopped) and bare.user_ns["w"].grad is None
    stopped.stepper.finish()
    np.testing.assert_array_equal(bare.user_ns["w"].grad.numpy(), [2, 2, 2])
    assert "(off)" in type_in("%vt break --off 2").out
    assert type_in("%vt break --remove 1").out.startswith("2: MulBackward0")
    assert type_in("%vt break --clear").out == "no breakpoints\n"


def test_the_picture_of_steps_is_stable_and_escaped():
    x = vistorch.ones(2, 2, requires_grad=True)
    names = {"<x&y>": x}
    made = [vt.step((3 * (x + 2) ** 2).mean(), namespace=names).svg() for _ in range(2)]
    assert made[0] == made[1]
    assert "&lt;x&amp;y&gt;.grad" in made[0] and "0 + 4.5" in made[0]
