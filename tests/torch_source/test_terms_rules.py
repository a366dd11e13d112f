"""The rules on terms, takes and places, over the real torch: what they find over our own engine they find there."""

import contextlib
import warnings

import pytest

from tests.diagnose.marked import HEAD, guilty
from tests.diagnose.test_terms_rules import FAULTY, HEALTHY, MINE

from .test_diagnosing import diagnosed


def found(name, text):
    """The rules that say something over torch, each with the lines that it names."""
    with warnings.catch_warnings(), contextlib.suppress(SystemExit):
        warnings.simplefilter("ignore")
        diagnosis = diagnosed(f"terms {name}", HEAD + text)
    assert not diagnosis.failures
    return {one.rule: {line.line for line in one.named} for one in diagnosis.findings()}


@pytest.mark.parametrize("name", FAULTY)
def test_it_is_found_with_its_line(name):
    text, rule = FAULTY[name]
    said = found(name, text)
    assert rule in said and said[rule] & guilty(text), said


@pytest.mark.parametrize("name", HEALTHY)
def test_what_is_right_is_not_accused(name):
    assert not MINE & set(found(name, HEALTHY[name]))
