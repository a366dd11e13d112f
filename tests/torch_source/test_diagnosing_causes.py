"""Programs whose lines are marked, on the real torch: exceptions, gradients, memories, and what is never trained."""

import pytest
import torch

from tests.diagnose import (
    test_collapse_rules,
    test_exception_places,
    test_finite_rules,
    test_leaves_rules,
    test_memories_rules,
    test_refilled_rules,
    test_untrained_rules,
)
from tests.diagnose.marked import HEAD, guilty

from .test_diagnosing import diagnosed

SOURCES = {
    "not finite": test_finite_rules,
    "no leaf": test_leaves_rules,
    "next is now": test_memories_rules,
    "one buffer": test_refilled_rules,
    "never trained": test_untrained_rules,
    "collapses": test_collapse_rules,
}
FAULTY = {(rule, name): text for rule, source in SOURCES.items() for name, text in source.FAULTY.items()}
HEALTHY = {(rule, name): text for rule, source in SOURCES.items() for name, text in source.HEALTHY.items()}


@pytest.fixture(autouse=True)
def recording():
    """Some programs switch gradients off for good."""
    yield
    torch.set_grad_enabled(True)


@pytest.mark.parametrize(("rule", "name"), FAULTY)
def test_its_line_is_named(rule, name):
    text = FAULTY[rule, name]
    diagnosis = diagnosed(name, HEAD + text)
    found = {one.rule: [line.line for line in one.named] for one in diagnosis.findings()}
    lines = found.get(rule) or (found.get("not held", []) if rule == "no leaf" else [])
    assert any(abs(line - mark) <= 2 for line in lines for mark in guilty(text)), found
    assert not diagnosis.failures


@pytest.mark.parametrize(("rule", "name"), HEALTHY)
def test_a_healthy_program_is_not_accused(rule, name):
    assert rule not in {one.rule for one in diagnosed(name, HEAD + HEALTHY[rule, name]).findings()}


@pytest.mark.parametrize("name", test_exception_places.PROGRAMS)
def test_the_line_of_the_cause_of_an_exception_is_named(name):
    text = test_exception_places.PROGRAMS[name]
    diagnosis = diagnosed(name, HEAD + text)
    lines = [line.line for line in diagnosis.findings()[0].named]
    assert any(abs(line - mark) <= 2 for line in lines for mark in guilty(text)), diagnosis.findings()[0]
    assert not diagnosis.failures
