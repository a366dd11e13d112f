"""Cures as code for planted faults: with one of the changes the finding does not come back, and the program ends."""

import linecache

import pytest

from vistorch.debug.diagnose.cures import cures_of

from . import (
    test_axes_rules,
    test_kept_rules,
    test_named_rules,
    test_order_rules,
    test_overwritten_rules,
    test_policy_rules,
    test_ratio_rules,
    test_score_rules,
    test_spoiled_rules,
    test_sums_rules,
)
from .fifth import PROGRAMS
from .marked import HEAD
from .planted import said

PLANTED = {
    f"{module.__name__.rpartition('.')[2]}: {name}": (one.rule, one.faulty)
    for module in (
        test_axes_rules,
        test_kept_rules,
        test_order_rules,
        test_overwritten_rules,
        test_policy_rules,
        test_ratio_rules,
        test_score_rules,
        test_spoiled_rules,
    )
    for name, one in module.PLANTED.items()
}
WRITTEN = {one.name: (one.rules[0], one.faulty) for one in PROGRAMS.faulty if one.rules}
NAMED = {
    "a method named": ("not called", HEAD + test_named_rules.EVAL),
    "a step named": ("not called", HEAD + test_named_rules.STEP),
    "a clearing named": ("not called", HEAD + test_named_rules.CLEAR),
    "a frozen body": ("idle name", HEAD + test_named_rules.FROZEN),
    "a mode by name": ("idle name", HEAD + test_named_rules.SWITCHED),
    "a return in the loop": ("once round", HEAD + test_named_rules.SLIP),
    "a break in the loop": ("once round", HEAD + test_named_rules.BROKEN),
    "one model for folds": ("one model for folds", HEAD + test_named_rules.FOLDS),
    "codes of a function": ("coded anew", HEAD + test_named_rules.CODES),
    **{
        name: (rule, HEAD + test_named_rules.FAULTY[name][0])
        for name, rule in (("the smaller", "falls at once"), ("the smaller of fields", "falls at once"))
    },
    "a sum of all epochs": ("never reset", HEAD + test_sums_rules.NET + test_sums_rules.PLAIN),
    "a sum beside a list": ("never reset", HEAD + test_sums_rules.NET + test_sums_rules.SHARE),
    "a sum of a function": ("set, not added", HEAD + test_sums_rules.NET + test_sums_rules.LAST),
    "a sum in a loop": ("set, not added", HEAD + test_sums_rules.NET + test_sums_rules.MEAN),
}
ALL = {**PLANTED, **WRITTEN, **NAMED}
CURED = [
    *[
        f"test_ratio_rules: {name}"
        for name in (
            "the larger of two",
            "the larger, by its function",
            "no minus",
            "old less new",
            "old by new",
        )
    ],
    *[
        f"test_kept_rules: {name}"
        for name in (
            "a state dict",
            "a shallow copy",
            "parameters by name",
            "a backup",
            "a shadow",
            "averaged parameters",
            "other names",
            "drawn anew",
            "a rate",
            "a rate in a lambda",
            "a zip",
            "a generator",
            "a model in the loop",
            "a rate before the state",
            "the largest loss",
            "the smallest score",
            "never a best",
        )
    ],
    *[
        f"test_score_rules: {name}"
        for name in (
            "no temperature",
            "a temperature on the wrong side",
            "quantiles turned",
            "labels first",
            "a penalty taken off",
            "an update in a name",
            "a layer made in forward",
            "an overlap as a loss",
            "a likelihood by labels",
            "along the steps",
            "a momentum by name",
            "dropout in a function",
        )
    ],
    *[f"test_overwritten_rules: {name}" for name in test_overwritten_rules.PLANTED],
    *[f"test_spoiled_rules: {name}" for name in test_spoiled_rules.PLANTED if name != "all of them"],
    *[
        f"test_order_rules: {name}"
        for name, one in test_order_rules.PLANTED.items()
        if one.rule == "other order"
    ],
    "test_policy_rules: an advantage",
    "test_policy_rules: rewards",
    "test_axes_rules: a norm",
    "key padding mask inverted",
    *NAMED,
]


@pytest.mark.parametrize("name", CURED)
def test_one_of_the_changes_mends_it(name):
    rule, text = ALL[name]
    found, _, _ = said("vistorch", f"{name}, faulty", text)
    one = next(f for f in found if f.rule == rule)
    changes = cures_of(one, {})
    assert changes, (rule, one.where)
    left = []
    for change in changes:
        again, _, error = said("vistorch", f"{name}, changed", change.text)
        left.append((change.lines, [f.rule for f in again], error))
        if not error and rule not in left[-1][1]:
            return
    raise AssertionError(left)


def test_a_cure_shows_lines_of_the_program_itself():
    rule, text = ALL["test_kept_rules: a state dict"]
    found, _, _ = said("vistorch", "lines", text)
    (change,) = cures_of(next(f for f in found if f.rule == rule), {})
    taken = [(number, line) for number, sign, line in change.lines if sign == "-"]
    assert all(linecache.getline(found[0].place.file, number).rstrip("\n") == line for number, line in taken)
    assert [line.strip() for _, sign, line in change.lines if sign == "+"] == [
        "kept = {name: t.clone() for name, t in model.state_dict().items()}"
    ]
