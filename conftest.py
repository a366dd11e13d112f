"""What the examples in docstrings may rely on: Python's own names.

`vistorch` has functions and types of its own under some of them (`float`, `sum`), and doctest runs the examples of
public functions with the names of that module.
"""

import builtins

import pytest


@pytest.fixture(autouse=True)
def python_names(doctest_namespace):
    """Give examples `float` as a reader knows it."""
    doctest_namespace.update(
        {name: value for name, value in vars(builtins).items() if not name.startswith("_")}
    )
