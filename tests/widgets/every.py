"""The examples of every kind of view: `tests/widgets/<kind>/example.py` has them.

Invariant: no kind is named here; one without examples is named by a test.
"""

from functools import cache
from importlib import import_module
from importlib.util import find_spec

import pytest

from vistorch.widgets import kinds


def examples(kind):
    """The examples of a kind: what makes each record, by name."""
    return import_module(f"tests.widgets.{kind}.example").EXAMPLES


@cache
def made(kind, name):
    """An example's record, made once."""
    return examples(kind)[name]()


def has_examples(kind):
    """Say whether there are any; `kinds()` may know a folder that a test made."""
    return (
        find_spec(f"tests.widgets.{kind}") is not None
        and find_spec(f"tests.widgets.{kind}.example") is not None
    )


PAIRS = [(kind, name) for kind in kinds() if has_examples(kind) for name in examples(kind)]
each = pytest.mark.parametrize(("kind", "name"), PAIRS, ids=["-".join(pair) for pair in PAIRS])
