"""Conditions as text: what they mean, and what is said of those that cannot be read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vistorch.debug.breaks import ConditionError, parse


class Seen:
    """A moment made of what a test says it is."""

    nan = inf = bad = zero = unchanged = False
    name, module, line = "MulBackward0", None, None
    numbers: dict = {}  # noqa: RUF012

    def __init__(self, **more):
        for key, value in more.items():
            setattr(self, key, value)

    def measured(self, name):
        return self.numbers.get(name, [])


@pytest.mark.parametrize(
    ("text", "facts", "holds"),
    [
        ("nan", {"nan": True}, True),
        ("nan", {"inf": True}, False),
        ("bad", {"bad": True}, True),
        ("zero", {"zero": True}, True),
        ("unchanged", {"unchanged": True}, True),
        ("grad.norm > 1e3", {"numbers": {"norm": [2.0, 1000.5]}}, True),
        ("grad.norm > 1e3", {"numbers": {"norm": [2.0, 1000.0]}}, False),
        ("grad.norm >= 1e3", {"numbers": {"norm": [1000.0]}}, True),
        ("grad.norm<1e-8", {"numbers": {"norm": [1e-9]}}, True),
        ("grad.max <= -.5", {"numbers": {"max": [-0.5]}}, True),
        ("grad.min == 0", {"numbers": {"min": [0.0]}}, True),
        ("grad.absmax != 0", {"numbers": {"absmax": [0.0]}}, False),
        ("grad.max == inf", {"numbers": {"max": [float("inf")]}}, True),
        ("grad.norm > 1", {"numbers": {"norm": [float("nan")]}}, False),
        ("MulBackward0", {}, True),
        ("Mul", {}, True),
        ("*Backward0", {}, True),
        ("Mul*", {}, True),
        ("ReluBackward0", {}, False),
        ("mulBackward0", {}, False),
        ("line 12", {"line": 12}, True),
        ("line 12", {"line": 112}, False),
        ("@ layer2.*", {"module": "layer2.0.conv1"}, True),
        ("@ layer2.*", {"module": "layer2"}, True),
        ("@ layer2.*", {"module": "layer20"}, False),
        ("@ layer2", {"module": "layer2.0"}, False),
        ("@ layer2.*", {"module": None}, False),
        ("Mul @ *.conv?", {"module": "a.conv1"}, True),
        ("@ 0.*", {"module": "0.1"}, True),
        ("@ 0", {"module": "0"}, True),
        ("not nan", {}, True),
        ("not nan and zero", {"zero": True}, True),
        ("not (nan or zero)", {"zero": True}, False),
        ("nan or inf and zero", {"nan": True}, True),
        ("nan and inf or zero", {"zero": True}, True),
        ("(nan or inf) and zero", {"nan": True}, False),
        ("nan or inf @ a", {"nan": True, "module": "b"}, True),
        ("(nan or inf) @ a", {"nan": True, "module": "b"}, False),
        ("grad.norm > 1e3 @ layer2.* and not zero", {"numbers": {"norm": [1e4]}, "module": "layer2.1"}, True),
    ],
)
def test_meaning(text, facts, holds):
    tree = parse(text)
    assert tree.holds(Seen(**facts)) is holds
    assert parse(str(tree)).holds(Seen(**facts)) is holds, str(tree)


@pytest.mark.parametrize(
    ("text", "column", "said"),
    [
        ("", 1, "got the end"),
        ("grad.nrom > 1", 6, "did you mean 'norm'"),
        ("grad.norm >", 12, "expected a number after '>'"),
        ("grad.norm 3", 11, "expected one of > >= < <= == != after 'grad.norm'"),
        ("grad.norm > big", 13, "expected a number"),
        ("nan nan", 5, "expected 'and', 'or', '@' or the end, got 'nan'"),
        ("nann", 1, "did you mean 'nan'"),
        ("(nan or inf", 12, "expected ')', got the end"),
        ("nan and", 8, "got the end"),
        ("nan or or inf", 8, "got 'or'"),
        ("nan @", 6, "expected a module's path"),
        ("line twelve", 6, "expected a line number"),
        ("line 1.5", 6, "expected a line number"),
        ("norm > 3", 1, "expected grad.absmax, grad.max"),
        ("nan = 3", 5, "got '='"),
        ("__import__('os').system('x')", 1, "'__import__' is no condition"),
    ],
)
def test_what_cannot_be_read(text, column, said):
    with pytest.raises(ConditionError) as caught:
        parse(text)
    assert caught.value.column == column
    sentence = str(caught.value)
    assert said in sentence and f"column {column}" in sentence and repr(text) in sentence
    assert "\n" not in sentence


def test_depth_and_length_are_bounded():
    with pytest.raises(ConditionError, match="brackets"):
        parse("(" * 1000 + "nan")
    with pytest.raises(ConditionError, match="at most 2000"):
        parse("nan or " * 1000 + "nan")
    with pytest.raises(TypeError, match="not int"):
        parse(3)


@given(st.text(st.sampled_from("nan inf()@grad.norm>=<!1e3 line notdor*Backward0\n"), max_size=40))
def test_any_text_is_read_or_refused(text):
    try:
        tree = parse(text)
    except ConditionError as error:
        assert 1 <= error.column <= len(text) + 1
    else:
        assert isinstance(tree.holds(Seen()), bool)
