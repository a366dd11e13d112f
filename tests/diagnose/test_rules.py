"""A share of the faulty programs, each cause once, and of the healthy ones; the whole is `python -m tests.diagnose`."""

import pytest

from vistorch.engine.base.events import KINDS, listeners

from .bases import BASES
from .faults import FAULTS
from .harness import judge, run
from .healthy import HEALTHY

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
    "name", ["accumulation", "critic in eval", "frozen body", "contrastive", "saliency", "hard task"]
)
def test_what_only_looks_suspicious_is_not_accused(name):
    said = run(name, HEALTHY[name])
    assert [f.text for f in said.findings] == [] and not said.error and not said.failures


def test_nobody_listens_afterwards():
    run("short", HEALTHY["short run"])
    assert all(getattr(listeners, kind) is None for kind in KINDS)
