"""What the examples in docstrings may rely on: Python's own names.

`vistorch` has functions and types of its own under some of them (`float`, `sum`), and doctest runs the examples of
public functions with the names of that module.
"""

import builtins
import sys

import pytest

from tests import leftovers


@pytest.fixture(autouse=True)
def python_names(doctest_namespace):
    """Give examples `float` as a reader knows it."""
    doctest_namespace.update(
        {name: value for name, value in vars(builtins).items() if not name.startswith("_")}
    )


@pytest.fixture(autouse=True)
def nothing_listens(leaves_nothing):
    """End what the first `vt.graph` or `vt.step` of a test began: other tests say what is noted for themselves."""
    yield
    listening = sys.modules.get("vistorch.vt.listening")
    if listening is not None:
        listening.stop()


@pytest.fixture(autouse=True)
def leaves_nothing():
    """Fail a test, or an example, that leaves a mode other than it found it: the next would pay for it."""
    before = leftovers.modes()
    yield
    told = leftovers.left(before)
    assert not told, "left behind: " + "; ".join(told)
