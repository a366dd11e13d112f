"""Weights of classes, measures, and what is only named, in programs on the real torch."""

import pytest

from tests.diagnose import test_classes_rules, test_measures_rules, test_named_rules
from tests.diagnose.marked import HEAD, guilty

from .test_diagnosing import diagnosed

MODULES = (test_classes_rules, test_measures_rules, test_named_rules)
FAULTY = {name: one for module in MODULES for name, one in module.FAULTY.items()}
HEALTHY = {name: text for module in MODULES for name, text in module.HEALTHY.items()}


@pytest.mark.parametrize("name", FAULTY)
def test_a_fault_is_found_with_its_line(name):
    text, rule = FAULTY[name]
    diagnosis = diagnosed(name, HEAD + text)
    found = {one.rule: {line.line for line in one.named} for one in diagnosis.findings()}
    assert rule in found and guilty(text) & found[rule], found
    assert not diagnosis.failures


@pytest.mark.parametrize("name", HEALTHY)
def test_a_relative_that_is_healthy_is_not_accused(name):
    diagnosis = diagnosed(name, HEAD + HEALTHY[name])
    assert [one.text for one in diagnosis.findings()] == [] and not diagnosis.failures
