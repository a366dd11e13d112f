"""What is said in the words of a person's own line; Python 3.10 does not know which part of a line an op is."""

import numpy as np
import pytest

import vistorch as L
from tests.debug.trace.cells import run, states, traced
from vistorch.debug import Breakpoints, Stopped
from vistorch.debug.trace.build import STEP_INTO
from vistorch.widgets._frame import wire

ENTROPY = """p = logits.softmax(-1)
h = -p * p.log()
h = torch.where(p > 0, h, torch.zeros_like(h))
H = h.sum()
H.backward()"""


def test_masked_nan_is_traced_to_its_origin():
    logits = L.tensor([[1.0, 0.0, -1.0], [-200.0, 0.0, -200.0]], requires_grad=True)
    record = traced(ENTROPY, names={logits: "logits"}, logits=logits)
    assert record.sentence == (
        "The first bad value comes from cell [8], line 2: log of p[1, 0] = 0 gives -inf, in 2 of 6 values of "
        "a 2 × 3 tensor."
    )
    assert record.more == (
        "Line 3 heals the forward pass; but the backward of line 2 (mul) has 0 · (-inf) = nan; it ends in 3 of 6 "
        "values of logits.grad."
    )
    assert record.cure.startswith("take the log of a clamped value, such as `p.clamp_min(1e-12)`")
    assert states(record) == {
        ("softmax", 1): ("clean", "propagated"),
        ("neg", 2): ("clean", "propagated"),
        ("log", 2): ("origin", "origin"),
        ("mul", 2): ("propagated", "origin"),
        ("gt", 3): ("clean", None),
        ("where", 3): ("healed", "clean"),
        ("sum", 4): ("clean", "clean"),
    }
    first = record.first
    assert first["at"].tolist() == [[1, 0], [1, 2]] and first["which"].tolist() == [2, 2]
    assert first["inputs"][0]["name"] == "p" and first["inputs"][0]["values"][1].tolist() == [0, 1, 0]
    assert first["outputs"][0]["bad"].tolist() == [[0, 0, 0], [1, 0, 1]]
    assert np.isnan(logits.grad.numpy()).sum() == 3
    marks = {line["number"]: [w for w, _ in line["marks"]] for line in record.source["lines"]}
    assert record.source["where"] == "In [8]" and len(marks) == 5
    assert marks[2] == ["starts here", "bad again in backward"] and marks[3] == ["healed forward only"]


TEXT = """first bad value: 1 op forward, 0 back
The first bad value comes from cell [8], line 1: div of a[1] = 1 and b[1] = 0 gives inf, in 1 of 2 values.
Cure: keep the divisor away from zero, such as `b.clamp_min(1e-12)` or `b + eps`.

>   1  c = a / b  starts here

line  op   forward            backward
1     div  ORIGIN 1 of 2 inf  -

div, forward, cell [8], line 1
in a (2 float32)
  1 1
in b (2 float32)
  2 0
out div (2 float32)
  0.5 inf"""


def test_the_text_is_stable():
    record = traced("c = a / b", a=L.ones(2), b=L.tensor([2.0, 0.0]))
    assert record.text() == TEXT
    kind, back = wire.unpack(wire.pack(record.kind, record.wire()))
    assert kind == "trace" and back["sentence"] == record.sentence and back["report"] == TEXT


@pytest.mark.parametrize(
    ("source", "how"),
    [
        ("y = x.log()", "log of x[1] = 0 gives -inf"),
        ("y = torch.log(x)", "log of x[1] = 0 gives -inf"),
        ("y = (x - 5).sqrt()", "sqrt of (x - 5)[0] = -4 gives nan"),
        ("y = 1 / x", "gives inf"),
        ("y = (x * 1000).exp()", "exp of (x * 1000)[0] = 1000 gives inf"),
        ("y = x[2:].mean()", "(0, empty) gives nan"),
        ("y = x[2:].reshape(0, 3, 2).mean((0, 2))", "(0 × 3 × 2, empty) gives nan"),
        ("y = (x * 1e38 * 9).sum() * 2", "mul of (x * 1e38)[0] = 1e+38 and 9 gives inf"),
    ],
)
def test_origins_by_op(source, how):
    record = traced(source, x=L.tensor([1.0, 0.0]))
    assert how in record.first["how"], record.first["how"]
    assert record.first["pass"] == "forward"


def test_stepping_into_it_as_advised_stops_there():
    def given():
        return {"x": L.tensor([0.0, 4.0], requires_grad=True), "mask": L.tensor([0.0, 1.0])}

    source = "y = x.sqrt()\nz = (y * mask).sum()\nz.backward()"
    record = traced(source, **given())
    assert record.says == [STEP_INTO] and STEP_INTO in record.text()
    condition = STEP_INTO.partition("%vt break ")[2].partition("`")[0]
    session = Breakpoints()
    session.add(condition)
    names = given()
    try:
        with pytest.raises(Stopped) as stopped:
            run(source, torch=L, **names)
    finally:
        session.clear()
    assert "SqrtBackward0" in str(stopped.value) and names["x"].grad is None


@pytest.mark.parametrize("source", ["y = (x - 5).log()", "(x + 1).log().sum().backward()"])
def test_where_no_pass_has_gone_wrong_none_is_to_be_stepped_into(source):
    assert traced(source, x=L.ones(2, requires_grad=True)).says == []


def test_a_origin_in_backward_alone():
    x = L.tensor([0.0, 4.0], requires_grad=True)
    record = traced(
        "y = x.sqrt()\nz = (y * mask).sum()\nz.backward()", x=x, mask=L.tensor([0.0, 1.0]), names={x: "x"}
    )
    assert record.first["pass"] == "backward" and record.first["op"] == "sqrt"
    assert record.sentence == (
        "The first bad value comes from the backward of cell [8], line 1: sqrt at [0]: 0 / (2 · 0) = nan, in "
        "1 of 2 values."
    )
    assert record.more == "It ends in 1 of 2 values of x.grad."
    assert "x + 1e-12" in record.cure
    assert [t["name"] for t in record.first["inputs"]] == ["incoming gradient", "its output"]


def test_what_was_given_is_no_origin():
    bad = L.tensor([1.0, float("nan")])
    record = traced("y = x * 2\nz = y + 1", x=bad)
    assert record.first is None and states(record) == {
        ("mul", 1): ("propagated", None),
        ("add", 2): ("propagated", None),
    }
    assert record.sentence.startswith(
        "No op produced a bad value; one was given to mul in cell [8], line 1: mul of x[1] = nan"
    )
    record = traced("y = x.nan_to_num()", x=bad)
    assert states(record) == {("nan_to_num", 1): ("healed", None)}


def test_large_norms_of_good_values_are_not_bad():
    x = L.full((4,), 3e38, requires_grad=True)
    record = traced("y = x * 1\nz = y.sum() * 0", x=x)
    assert states(record)["mul", 1][0] == "clean"
    assert record.first["op"] == "sum" and "largest 3e+38" in record.first["how"]


def test_a_cure_can_be_typed():
    record = traced("y = (x - 5).sqrt()", x=L.tensor([1.0, 0.0]))
    assert "keep `(x - 5)` above zero" in record.cure or "(x - 5)" in record.cure
    record = traced("y = (x - 5).log()", x=L.tensor([1.0, 0.0]))
    assert "`(x - 5).clamp_min(1e-12)`" in record.cure


def test_what_a_module_is_given_is_not_what_its_ops_are():
    L.manual_seed(0)  # weights of two signs: inf - inf
    net = L.nn.Linear(2, 1)
    record = traced("y = net(given) * 1", net=net, given=L.tensor([[3e38, 3e38]]) * 10)
    assert "given" not in record.sentence
    with L.no_grad():
        net.weight.fill_(3e38)
    record = traced("y = net(given)", net=net, given=L.tensor([[3e38, 3e38]]))
    assert record.first["op"] == "addmm"
    assert [t["name"] for t in record.first["inputs"]] == ["input", "mat1", "mat2"]


DIVERGING = """for _ in range(40):
    optimizer.zero_grad()
    loss = (w**4).sum()
    loss.backward()
    optimizer.step()"""


def test_a_training_that_diverges():
    w = L.ones(2, requires_grad=True)
    record = traced(DIVERGING, w=w, optimizer=L.optim.SGD([w], lr=10.0))
    assert record.cure.startswith("values grow beyond the type's range: lower the learning rate")
    starts = [row["id"] for row in record.rows if row["forward"]["state"] == "origin"]
    back = [row["id"] for row in record.rows if row["backward"]["state"] == "origin"]
    assert len(starts) == 1 and back == starts  # what the spoilt weights give later is inherited
    assert all(
        r["backward"]["state"] == "propagated"
        for r in record.rows
        if r["op"] == "pow" and r["id"] > starts[0]
    )


def test_a_nan_that_backward_makes_of_an_infinity_starts_there():
    x = L.tensor([0.0, 2.0], requires_grad=True)
    record = traced(
        "y = x.log()\nz = y * y\nw = torch.where(mask, z, 0.0)\nw.sum().backward()", x=x, mask=x > 0
    )
    states = {row["op"]: (row["forward"]["state"], row["backward"]["state"]) for row in record.rows}
    assert states["mul"] == ("propagated", "origin") and states["log"] == ("origin", "propagated")


def test_a_long_table_is_cut_around_the_first_bad_value():
    x = L.tensor([0.0, 2.0], requires_grad=True)
    lines = ["y = x + 1", *["y = y * 1.5"] * 50, "z = (y - y).log()", *["y = y * 0.5"] * 50]
    text = traced("\n".join(lines), x=x).text()
    table = text.partition("\nline ")[2].partition("\n\n")[0].splitlines()[1:]
    assert table[0] == "… 32 ops before" and table[-1] == "… 11 more" and len(table) == 62
    assert sum("ORIGIN" in line for line in table) == 1
