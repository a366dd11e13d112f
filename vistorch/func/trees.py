"""Nested tuples, lists and dicts of values, taken apart and put together again.

Invariant: `built(form, leaves)` undoes `flat(tree)`; two trees have equal forms exactly when they are built alike.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

LEAF = "*"


def flat(tree: Any) -> tuple[list, Any]:
    """The values of a tree in order, and its form."""
    leaves: list = []
    return leaves, _form(tree, leaves)


def _form(tree: Any, leaves: list) -> Any:
    kind = type(tree)
    if kind in (dict, OrderedDict):
        return kind, tuple(tree), tuple([_form(value, leaves) for value in tree.values()])
    if kind in (list, tuple) or (
        isinstance(tree, tuple) and (hasattr(kind, "_fields") or hasattr(kind, "n_fields"))
    ):
        return kind, None, tuple([_form(value, leaves) for value in tree])
    leaves.append(tree)
    return LEAF


def built(form: Any, leaves: Any) -> Any:
    """A tree of this form with these values."""
    return _built(form, iter(leaves))


def _built(form: Any, leaves: Iterator) -> Any:
    if form is LEAF:
        return next(leaves)
    kind, keys, parts = form
    values = [_built(part, leaves) for part in parts]
    if keys is not None:
        return kind(zip(keys, values, strict=True))
    return kind(*values) if hasattr(kind, "_fields") else kind(values)


def mapped(function: Callable, tree: Any) -> Any:
    """A tree of the same form with `function(value)` in place of each value."""
    leaves, form = flat(tree)
    return built(form, [function(leaf) for leaf in leaves])
