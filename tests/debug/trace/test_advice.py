"""Advice against bad values: whatever the inputs are called, what it gives as code is Python."""

import re

import pytest

import vistorch as L
from vistorch.debug.trace import advice
from vistorch.debug.trace.advice import cure_of

OPS = sorted({*advice._FORWARD, *advice._BACKWARD, "mul", "add"})
INPUTS = [
    ["x", "y"],
    ["x", "0"],
    ["x", "-1.5"],
    ["0", "x"],
    ["2", "1e-3j"],
    ["a - b", "c if d else e"],
    ["p[1, 0]", "net.head[5](x)"],
    ["input 0", "input 1"],
    ["*args", "dim=0"],
    ["lambda: 0", "x.sum(-1).y"],
    ["{0}", "}"],
    [],
    ["x"],
]


@pytest.mark.parametrize("inputs", INPUTS, ids=map(str, INPUTS))
def test_every_cure_is_valid_python(inputs):
    for op in OPS:
        for backward in (False, True):
            said = cure_of(op, backward, inputs)
            for code in re.findall(r"`([^`]*)`", said):
                compile(code, op, "eval")
            assert not re.search(r"\b\d+\.clamp", said)


@pytest.mark.parametrize("zero", ["0", "0.0", "-0.0"])
def test_a_literal_divisor_is_not_to_be_clamped(zero):
    said = cure_of("div", False, ["x", zero])
    assert said == f"the divisor is the number {zero} itself: divide by one that is not zero"
    assert "clamp_min" in cure_of("div", False, ["x", "y"])


def test_the_code_of_a_cure_runs_where_it_is_about_an_op():
    x, y = L.tensor([0.0, 1.0]), L.tensor([0.0, 2.0])
    for op in ("log", "sqrt", "rsqrt", "acos", "div"):
        for code in re.findall(r"`([^`]*)`", cure_of(op, False, ["x", "y"])):
            found = eval(code, {"x": x, "y": y, "eps": 1e-6})
            assert found.isfinite().all()
