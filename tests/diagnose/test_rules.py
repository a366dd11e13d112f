"""A share of the faulty programs, each cause once, and of the healthy ones; the whole is `python -m tests.diagnose`."""

import pytest

from vistorch.engine.base.events import KINDS, listeners

from .bases import BASES
from .faults import FAULTS
from .harness import either, judge, run
from .healthy import HEALTHY
from .parts import PARTS
from .published import published

ONE_EACH = {fault.cause: fault for fault in reversed(FAULTS)}


@pytest.mark.parametrize("cause", list(ONE_EACH))
def test_a_planted_fault_is_found_with_its_line(cause):
    fault = ONE_EACH[cause]
    said = run(cause, fault.faulty)
    assert judge(said, fault.rules, fault.line) == (True, True), [
        (f.rule, f.where, f.text) for f in said.findings
    ]
    assert not said.failures


@pytest.mark.parametrize("name", ["classifier", "gan", "language", "qlearning", "tuning"])
def test_a_healthy_program_is_not_accused(name):
    said = run(name, BASES[name])
    assert [f.text for f in said.findings] == [] and not said.error and not said.failures


@pytest.mark.parametrize(
    "name",
    [
        "accumulation",
        "critic in eval",
        "frozen body",
        "contrastive",
        "saliency",
        "hard task",
        "tuned with the statistics it has",
        "frozen, and one layer thawed",
        "a table that is won late",
        "with and without norms",
    ],
)
def test_what_only_looks_suspicious_is_not_accused(name):
    said = run(name, HEALTHY[name])
    assert [f.text for f in said.findings] == [] and not said.error and not said.failures


@pytest.mark.parametrize("name", ["slots", "low rank", "small factor of a sum", "adversarial examples"])
def test_what_looks_like_a_fault_of_structure_is_not_accused(name):
    said = run(name, HEALTHY[name])
    assert [f.text for f in said.findings] == [] and not said.error and not said.failures


@pytest.mark.parametrize("name", ["ring gan", "house line", "missing class", "two tasks"])
def test_a_program_of_someone_who_had_read_no_rule_is_placed(name):
    one = next(one for one in PARTS[1].faulty if one.name == name)
    assert judge(run(name, one.text), one.rules, one.lines) == (True, True)


@pytest.mark.parametrize(
    ("part", "name"),
    [
        (2, "thumbnails"),
        (2, "echo lstm"),
        (2, "tile net"),
        (3, "weather bn"),
        (3, "vocab tags"),
        (3, "slow linear"),
    ],
)
def test_a_later_program_of_that_kind_is_placed_by_one_of_two_lines(part, name):
    one = next(one for one in PARTS[part].faulty if one.name == name)
    said = run(name, one.text)
    assert judge(said, one.rules, one.lines)[0] and either(said, one.rules, one.lines)


@pytest.mark.parametrize(
    ("part", "name"),
    [(2, "thumbnails, mended"), (2, "mc dropout"), (3, "td detach"), (3, "weather bn, mended")],
)
def test_a_later_healthy_program_of_that_kind_is_not_accused(part, name):
    said = run(name, PARTS[part].healthy[name])
    assert [f.text for f in said.findings] == [] and not said.error and not said.failures


def test_published_tools_say_what_they_say():
    one = next(one for one in PARTS[1].faulty if one.name == "angle acos")
    said = published("anomaly mode", one.name, one.text)
    assert judge(said, one.rules, one.lines) == (True, True)
    names = {f.text.partition(":")[0] for f in published("UMLAUT", one.name, one.text).findings}
    assert names and not judge(published("AutoTrainer", one.name, one.text), one.rules, one.lines)[1]


def test_nobody_listens_afterwards():
    run("short", HEALTHY["short run"])
    assert all(getattr(listeners, kind) is None for kind in KINDS)
