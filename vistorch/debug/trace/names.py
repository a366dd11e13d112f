"""What a person called the tensors that went into an op, read from the part of the line that is the op.

Invariant: only what is written there is used; where it cannot be matched to the inputs, the row's own names serve.
"""

from __future__ import annotations

import ast
import re
from typing import Any

MODULES = frozenset(
    ("F", "L", "T", "nn", "np", "torch", "vistorch")
)  # what a call's dots begin with when it is no tensor
LONGEST = 24


def inputs_of(segment: str | None, names: tuple[str, ...], tensors: int, op: str = "") -> list[str]:
    """The names of an op's inputs.

    Args:
        segment: the op as it stands in the source.
        names: what the row calls them.
        tensors: how many inputs there are.
        op: what the row is called: a call of something else, as `net(x)`, has other inputs than the ops within it.
    """
    found = _written(segment, op) if segment else []
    out = []
    for i in range(tensors):
        text = found[i] if i < len(found) else ""
        out.append(text if text and len(text) <= LONGEST else names[i] if i < len(names) else f"input {i}")
    return out


def entry(name: str, at: str) -> str:
    """An entry of a tensor as a person would write it: `x[0]`, `(x - 5)[0]`."""
    simple = re.fullmatch(r"[\w.]+(\([^()]*\)|\[[^\[\]]*\])?", name)
    return f"{name}{at}" if simple or not at else f"({name}){at}"


def _written(segment: str, op: str) -> list[str]:
    try:
        tree: Any = ast.parse(segment.strip(), mode="eval").body
    except SyntaxError:
        return []

    def text(part: Any) -> str:
        return ast.get_source_segment(segment.strip(), part) or ast.unparse(part)

    if isinstance(tree, ast.Call):
        called = getattr(tree.func, "attr", getattr(tree.func, "id", "")).rstrip("_")
        if op and not (called and op.startswith(called)):
            return []
        parts = list(tree.args)
        if isinstance(tree.func, ast.Attribute) and _first(tree.func) not in MODULES:
            parts.insert(0, tree.func.value)
        return [text(p) for p in parts]
    if isinstance(tree, ast.BinOp) and op == "reciprocal":  # `1 / x`
        return [text(tree.right)]
    if isinstance(tree, ast.BinOp):
        return [text(tree.left), text(tree.right)]
    if isinstance(tree, ast.UnaryOp):
        return [text(tree.operand)]
    if isinstance(tree, ast.Compare):
        return [text(tree.left), *[text(c) for c in tree.comparators]]
    if isinstance(tree, ast.Subscript):
        return [text(tree.value)]
    return []


def _first(tree: Any) -> str:
    while isinstance(tree, ast.Attribute):
        tree = tree.value
    return tree.id if isinstance(tree, ast.Name) else ""
