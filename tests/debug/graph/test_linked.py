"""The graph that goes with a trace or an account of memory: marks and rows are those of the other record."""

import pytest

import vistorch
from vistorch import vt
from vistorch.debug.graph import capture
from vistorch.debug.graph.linked import MOST, linked
from vistorch.debug.timeline import Timeline, memory
from vistorch.debug.trace import Trace
from vistorch.widgets.graph.picture import svg


def entropy(p):
    return vistorch.where(p > 0, -p * p.log(), 0.0).sum()


@pytest.fixture
def p():
    return vistorch.tensor([0.5, 0.0], requires_grad=True)


def marks(graph):
    return {n.op: n.mark for n in graph.nodes if n.kind == "op"}


WRONG = {"Sum": "", "Where": "healed", "Mul": "origin", "Log": "origin", "Neg": "propagated"}


def test_a_trace_marks_the_graph_of_its_pass(p):
    with Trace(namespace={"p": p}) as trace:
        entropy(p).backward()
    record = trace.record()
    assert marks(record.graph) == WRONG
    ops = {r["id"]: r["op"] for r in record.rows}
    assert {n.op: ops[n.row] for n in record.graph.nodes if n.kind == "op"}["Log"] == "log"
    assert [n.label for n in record.graph.nodes if n.kind == "input"] == ["p"]
    assert list(record.wire()["graph"]["nodes"]["mark"]) == [0, 1, 3, 3, 2, 0]


def test_the_graph_of_a_traced_tensor_is_marked_too(p):
    with vt.trace():
        loss = entropy(p)
        loss.backward()
    assert marks(capture(loss)) == WRONG
    assert "Log  ! origin" in capture(loss).text()
    drawn = svg(capture(loss)).decode()
    assert drawn.count("<circle") == 4  # each mark has its ground
    assert svg(capture(entropy(p))).count(b"<circle") == 0


def test_nothing_bad_has_no_graph(p):
    with Trace() as trace:
        (p * 2).sum().backward()
    assert trace.record().graph is None and trace.record().wire()["graph"] is None


def test_the_first_bad_pass_is_shown(p):
    with Trace() as trace:
        (p * 2).sum().backward()
        entropy(p).backward()
        (p * 3).sum().backward()
    assert marks(trace.record().graph) == WRONG


def test_what_never_went_backward_is_shown_as_far_as_it_lives(p):
    with Trace() as trace:
        kept = p.log() * 2
    assert marks(trace.record().graph) == {"Mul": "propagated", "Log": "origin"}
    del kept


def test_an_exception_shows_what_led_to_it(p):
    trace = Trace(names={"p": p})
    with pytest.raises(RuntimeError), trace:
        p.log() @ vistorch.ones(3)
    graph = trace.record().graph
    assert graph.nodes[graph.failed].op == "dot" and marks(graph) == {"Log": "origin"}


def test_memory_knows_its_rows():
    x = vistorch.ones(1000, requires_grad=True)
    record = memory(x.exp().sin().sum(), namespace={"x": x})
    names = {r["id"]: r["name"] for r in record.rows}
    assert {n.op: names.get(n.row) for n in record.graph.nodes} == {
        "Sum": None,
        "Sin": "SinBackward0",
        "Exp": "ExpBackward0",
        "AccumulateGrad": None,
    }


def test_memory_over_time_shows_the_pass_that_keeps_most():
    x = vistorch.ones(1000, requires_grad=True)
    with Timeline() as seen:
        x.exp().sum().backward()
        x.exp().sin().cos().sum().backward()
        x.cos().sum().backward()
    assert [n.op for n in seen.record().graph.nodes] == ["Sum", "Cos", "Sin", "Exp", "AccumulateGrad"]


def test_a_large_graph_is_left_out():
    x = vistorch.ones(1, requires_grad=True)
    y = x
    for _ in range(MOST):
        y = y * 1
    assert memory(y).graph is None
    assert linked([]) is None
