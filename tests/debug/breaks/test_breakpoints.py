"""Breakpoints: a pass stops before a node's result is used, in a stepper and in the session."""

import math

import numpy as np
import pytest

import vistorch as L
from tests.debug.graphs import bits, build
from vistorch.debug import Breakpoint, Breakpoints, Lines, Modules, Stepper, Stopped, note_of
from vistorch.engine.base.events import listeners


def net():
    L.manual_seed(0)
    return L.nn.Sequential(L.nn.Linear(3, 4), L.nn.ReLU(), L.nn.Sequential(L.nn.Linear(4, 2), L.nn.Tanh()))


@pytest.fixture
def session():
    made = Breakpoints()
    yield made
    made.clear()
    assert listeners.backward is None and listeners.op is None and listeners.phase is None


def root():
    x = L.tensor([0.0, 4.0], requires_grad=True)
    return x, (x.sqrt() * 2).sum()


def test_nothing_has_used_the_offending_result():
    x, y = root()
    s = Stepper(y, names={x: "x"})
    stop = s.run_to_break("bad")
    assert stop.frame.name == "SqrtBackward0" and math.isinf(stop.frame.outgoing[0].gradient[0].item())
    assert s.next_node is stop.frame.node and x.grad is None
    assert all(np.isfinite(g._data).all() for g in s.pending().values())


def test_going_on_passes_the_node_and_going_back_meets_it_again():
    x, y = root()
    s = Stepper(y, names={x: "x"})
    first = s.run_to_break("bad")
    second = s.run_to_break("bad")
    assert second.frame.label == "x" and x.grad is None
    assert s.run_to_break("bad") is None and math.isinf(x.grad[0].item())
    s.first()
    assert x.grad is None
    assert s.run_to_break("bad").frame.node is first.frame.node
    s.back()
    assert s.run_to_break("bad").frame.node is first.frame.node


def test_measures_are_those_of_what_is_sent():
    x = L.tensor([3.0, 4.0], requires_grad=True)
    y = (x * L.tensor([6.0, 8.0])).sum()
    for text, name in [
        ("grad.norm > 9", "MulBackward0"),
        ("grad.max >= 8", "MulBackward0"),
        ("grad.min == 6", "MulBackward0"),
        ("grad.mean == 7", "MulBackward0"),
        ("grad.norm < 2", "SumBackward0"),
        ("grad.norm > 9 and AccumulateGrad", "AccumulateGrad"),
    ]:
        with Stepper(y, retain_graph=True) as s:
            assert type(s.run_to_break(text).frame.node).__name__ == name, text
            s.undo()
    with Stepper(y) as s:
        assert s.run_to_break("grad.norm > 10.1") is None


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64"])
def test_norms_of_all_types(dtype):
    big = 60000.0 if dtype == "float16" else 3e38 if dtype != "float64" else 1e300
    x = L.ones(4, dtype=getattr(L, dtype), requires_grad=True)
    g = L.full((4,), 1.0, dtype=getattr(L, dtype)) * big
    with Stepper(x.clone(), g) as s:
        stop = s.run_to_break(f"grad.norm > {1.9 * big:g} and grad.norm < {2.1 * big:g}")
        assert stop is not None
        s.undo()
    with Stepper(x.clone(), g) as s:
        assert s.run_to_break("bad") is None


def test_zero_and_unchanged():
    x = L.tensor([-1.0, -2.0], requires_grad=True)
    w = L.tensor(1.0, requires_grad=True)
    y = (x.relu() * w + w).sum()
    s = Stepper(y, names={x: "x", w: "w"})
    assert s.run_to_break("zero").frame.name == "ReluBackward0"
    stop = s.run_to_break("unchanged")
    assert stop.frame.label == "x"
    s.finish()
    assert w.grad.item() == 2.0


def test_modules_of_parameters_and_of_noted_ops():
    m = net()
    names = {p: n for n, p in m.named_parameters()}
    with Modules():
        loss = m(L.ones(2, 3)).sum()
    paths = [note_of(n).get("module") for n in Stepper(loss, names=names).nodes if "Accum" not in n.name()]
    assert paths[0] is None and "2.1" in paths and "1" in paths and "0" in paths
    with Stepper(loss, names=names) as s:
        assert s.run_to_break("@ 2.*").frame.name == "TanhBackward0"
        assert s.run_to_break("Relu @ 1").frame.name == "ReluBackward0"
        assert s.run_to_break("AccumulateGrad @ 0").frame.label in ("0.weight", "0.bias")
    loss = m(L.ones(2, 3)).sum()  # not recorded: known by its parameters
    with Stepper(loss, names=names) as s:
        assert s.run_to_break("Addmm* @ 2.0").frame.name == "AddmmBackward0"
        assert s.run_to_break("Tanh @ 2.*") is None


def test_modules_end_when_one_raises():
    m = net()
    with Modules() as received:
        with pytest.raises(RuntimeError):
            m(L.ones(2, 7))
        assert received.path is None


def test_lines():
    with Lines():
        x = L.ones(2, requires_grad=True)
        y = x.exp()
        z = (y * 2).sum()
    number = note_line(y)
    with Stepper(z) as s:
        assert s.run_to_break(f"line {number}").frame.name == "ExpBackward0"


def note_line(t):
    from vistorch.debug import line_of

    return line_of(note_of(t.grad_fn)["line"]).line


def test_predicates_see_a_frame_and_their_errors_are_theirs():
    x, y = root()
    s = Stepper(y)
    stop = s.run_to_break(lambda frame: frame.name.startswith("Mul"))
    assert stop.frame.name == "MulBackward0" and s.position == 1

    def wrong(frame):
        raise KeyError("no")

    with pytest.raises(KeyError):
        s.run_to_break(wrong)
    assert s.position == 1 or s.next_node is not None
    s.finish()
    assert math.isinf(x.grad[0].item())
    with pytest.raises(TypeError, match="not int"):
        Stepper(root()[1]).run_to_break(3)


def test_a_stop_says_where_and_why():
    _, y = root()
    assert str(Stepper(y).run_to_break("nan or inf")) == "stopped before SqrtBackward0: nan or inf"


# ---- the session --------------------------------------------------------------------------------------------------
def test_a_later_backward_stops(session):
    session.add("bad")
    x, y = root()
    after = []
    with pytest.raises(Stopped, match="SqrtBackward0") as caught:
        y.backward()
        after.append(1)
    assert not after and x.grad is None
    caught.value.stepper.finish()
    assert math.isinf(x.grad[0].item()) and x.grad[1].item() == 0.5
    assert [p.hits for p in session] == [1]


def test_undone_it_can_run_again(session):
    point = session.add("bad")
    x, y = root()
    with pytest.raises(Stopped) as caught:
        y.backward()
    caught.value.stepper.undo()
    session.enable(point.number, False)
    assert listeners.backward is None
    y.backward()
    assert math.isinf(x.grad[0].item())


@pytest.mark.parametrize("seed", range(60))
def test_where_nothing_holds_a_pass_is_a_plain_one(session, seed):
    plain, watched = build(seed), build(seed)
    holders = [g for g in watched.grads() if g is not None]
    plain.backward()
    session.add("grad.norm > 1e300")
    watched.backward()
    assert [bits(g) for g in plain.grads()] == [bits(g) for g in watched.grads()]
    assert plain.log == watched.log
    for was in holders:  # a `.grad` that existed is added to in place
        assert any(was is g for g in watched.grads()) or watched.arguments["create_graph"] or plain.log


def test_the_graph_is_freed_as_by_a_plain_pass(session):
    session.add("grad.norm < -1")
    _, y = root()
    y.backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()
    _, y = root()
    y.backward(retain_graph=True)
    y.backward()


def test_what_is_called_may_end_the_pass(session):
    session.on_stop = lambda stop: stop.stepper.finish()
    session.add("bad")
    x, y = root()
    y.backward()
    assert math.isinf(x.grad[0].item())
    session.on_stop = lambda stop: stop.stepper.undo()
    x, y = root()
    y.backward()
    assert x.grad is None
    seen = []
    session.on_stop = lambda stop: seen.append(stop.frame.name) or "continue"
    x, y = root()
    y.backward()
    assert seen[0] == "SqrtBackward0" and len(seen) == 2 and math.isinf(x.grad[0].item())


def test_the_list(session):
    assert session.text() == "no breakpoints"
    a, b = session.add("nan"), session.add("grad.norm > 2 @ a.*")
    session.enable(b.number, False)
    assert session.text() == "1: nan\n2: grad.norm > 2 @ a.*  (off)"
    session.remove(a.number)
    with pytest.raises(ValueError, match="no breakpoint 1; there are: 2"):
        session.remove(1)
    assert len(session) == 1 and listeners.backward is None
    session.enable(2)
    assert listeners.phase is not None  # paths of modules are needed


def test_grad_and_steppers_and_passes_within(session):
    session.add("bad")
    x, y = root()
    with pytest.raises(Stopped):
        L.autograd.grad(y, x)
    with Stepper(root()[1]) as s:  # a stepper is not stepped
        s.last()


def test_a_parameter_that_an_optimizer_leaves(session):
    session.add("unchanged and @ nowhere")
    session.add("unchanged")
    w, b = L.nn.Parameter(L.ones(2, 3)), L.nn.Parameter(L.ones(3))
    opt = L.optim.SGD([w, b], lr=0.1)
    w.grad, b.grad = L.ones(2, 3), L.zeros(3)
    with pytest.raises(Stopped, match=r"SGD.step\(\) left as it was: parameter 1 of group 0 \(3\)"):
        opt.step()
    b.grad = L.ones(3)
    opt.step()
    assert np.allclose(w.detach().numpy(), 0.8)


def test_breakpoints_as_objects():
    point = Breakpoint("nan", enabled=False)
    _, y = root()
    with Stepper(y) as s:
        assert s.run_to_break(point) is None
    assert point.hits == 0


@pytest.mark.parametrize("inside", [True, False])
def test_a_trace_and_memory_see_the_pass_that_breakpoints_walk(session, inside):
    from contextlib import ExitStack

    from vistorch.debug.timeline import Timeline
    from vistorch.debug.trace import Trace

    x = L.tensor([0.0, 4.0], requires_grad=True)
    trace, memory = Trace(), Timeline()
    if not inside:
        session.add("bad")
    with ExitStack() as stack:
        stack.enter_context(trace)
        stack.enter_context(memory)
        if inside:
            session.add("bad")
        y = (x.sqrt() * 2).sum()
        with pytest.raises(Stopped) as caught:
            y.backward()
    assert trace.record().first["op"] == "sqrt" and trace.record().backward == 3
    assert memory.record().backward == [[4, 6]]
    caught.value.stepper.undo()
    with trace, memory:
        session.clear()
        (x.sqrt() * 2).sum().backward()
    assert len(memory.record().backward) == 2 and trace.record().backward == 6


def test_a_node_that_sends_nothing_is_not_zero():
    class Nothing(L.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return None

    x = L.ones(2, requires_grad=True)
    with Stepper(Nothing.apply(x).sum()) as s:
        assert s.run_to_break("zero or grad.norm < 1e-8") is None


def test_modules_from_the_log_of_calls():
    from vistorch.debug.graph import Calls
    from vistorch.debug.steps import record

    m = net()
    with Calls(forget=True):
        loss = m(L.ones(2, 3)).sum()
    with Stepper(loss) as s:
        assert s.run_to_break("Relu @ 1").frame.name == "ReluBackward0"
        s.undo()
    made = record(Stepper(loss))
    assert {n["name"]: n["module"] for n in made.nodes}["TanhBackward0"] == "2.1"
