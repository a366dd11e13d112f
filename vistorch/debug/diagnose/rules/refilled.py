"""Samples that are one and the same memory, which was filled again for each.

Invariant: that rows are equal is measured; the text only says where that comes from.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..finding import LINEAGE, WRONG, Finding
from ..written import at_line, tree_of
from .base import Rule

ROWS = 8  # of a batch, for that all are equal to mean something
LOOKS = 3
PART = 1 << 16  # elements of a batch that are compared
KEEPS = ("append", "appendleft", "add", "put", "extend")
LOOPS = (ast.For, ast.While)


class OneBuffer(Rule):
    """All samples are equal: a list holds one array many times, which was filled again for each of them.

    Meaning: `append` keeps the array itself; what is written into it later is what all its entries show.
    Fires: when in three looks, and in all of them, each batch of eight samples or more that a model was given, or
    where no module is called an op with a parameter, had equal samples of two numbers or more, and one of these
    stands in a file that ran: a loop in which a name is kept, by `append` and its like or by `yield`, and written in
    place, and given no new value; or a `__getitem__` that returns what it writes in place.
    Wrong if: the samples are meant to be equal.
    Healthy programs tried: one context for all samples, constant inputs of a generator, buffers that are copied as
    they are kept, arrays made anew for each sample, histories of numbers that count up.
    """

    name, title, certainty, severity = "one buffer", "samples kept in one memory", LINEAGE, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.looks = self.rows = 0
        self.differ = False
        self.place: Any = None

    def at_look(self, p: Any) -> None:
        """Compare the samples of a batch."""
        if self.differ or p.root is None or not p.accumulates:
            return
        given = [call.inputs._data for call in p.calls if call.inputs is not None]
        if not p.calls:
            given = [v.data for v in self.ev.fed(p) if len(v.shape) > 1]
        given = [
            d for d in given if isinstance(d, np.ndarray) and d.ndim > 1 and len(d) >= ROWS and d[0].size > 1
        ]
        for d in given:
            rows = d.reshape(len(d), -1)
            if (
                not (rows[1:3] == rows[0]).all()
                or not (rows[: max(ROWS, PART // rows.shape[1])] == rows[0]).all()
            ):
                self.differ = True
                return
        if given:
            self.looks += 1
            self.rows, self.place = len(given[0]), p.calls[0].place if p.calls else p.place

    def findings(self) -> Iterator[Finding]:
        """Say where they are kept."""
        line = self.ev.line(self.place)
        if self.differ or self.looks < LOOKS or line is None:
            return
        files = {line.file, *(code.co_filename for code in self.ev.seen_code)}
        for file in sorted(files, key=lambda one: (one != line.file, one)):
            found = refilled(tree_of(file))
            if found is None:
                continue
            kept, written, name = found
            beside = line if file == line.file else type(line)(file, kept, "<module>", "", line.cell)
            yield self.found(
                f"All samples are equal: {name} is one array, kept again and again and filled anew each time.",
                at_line(beside, kept),
                "keeps no copy",
                also=(at_line(beside, written), "fills it again"),
                related=self.lines((line, "is given it")),
                proof=[("looks", self.looks), ("samples of a batch", self.rows), ("different ones", 1)],
                confirm=("(x == x[0]).all()", "True"),
                unless="the samples are meant to be equal.",
                advice="Keep a copy: .clone() of a tensor, .copy() of an array.",
                weight=8.0,
                explains=(
                    "alike",
                    "one stays",
                    "big start",
                    "learns nothing",
                    "too small",
                    "unrelated",
                    "one class",
                    "mean",
                ),
            )
            return


def refilled(tree: ast.Module | None) -> tuple[int, int, str] | None:
    """The lines of a file that keep a name, and that write it in place in the same loop, and the name.

    Args:
        tree: of the file.
    """
    for node in () if tree is None else ast.walk(tree):
        if isinstance(node, LOOPS):
            parts = [n for one in node.body for n in ast.walk(one)]
            bound = _bound(parts, node)
            kept = _kept(parts)
        elif isinstance(node, ast.FunctionDef) and node.name == "__getitem__":
            parts = list(ast.walk(node))
            bound = _bound(parts, None)
            kept = [
                (x, n.lineno) for n in parts if isinstance(n, ast.Return) and n.value for x in _names(n.value)
            ]
        else:
            continue
        written = _written(parts)
        for name, line in kept:
            if name in written and name not in bound:
                return line, written[name], name
    return None


def _names(node: ast.expr) -> list[str]:
    """Variables and fields that an expression is, or is a tuple, a list or a dict of."""
    if isinstance(node, (ast.Name, ast.Attribute)):
        return [ast.unparse(node)]
    parts = (
        node.elts
        if isinstance(node, (ast.Tuple, ast.List))
        else node.values
        if isinstance(node, ast.Dict)
        else []
    )
    return [name for part in parts for name in _names(part)]


def _kept(parts: list[ast.AST]) -> list[tuple[str, int]]:
    found = []
    for n in parts:
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr in KEEPS:
            found += [(name, n.lineno) for a in n.args for name in _names(a)]
        elif isinstance(n, ast.Yield) and n.value is not None:
            found += [(name, n.lineno) for name in _names(n.value)]
    return found


def _bound(parts: list[ast.AST], loop: ast.AST | None) -> set[str]:
    """What gets a new value among some nodes."""
    targets: list[ast.expr] = [loop.target] if isinstance(loop, ast.For) else []
    for n in parts:
        if isinstance(n, ast.Assign):
            targets += n.targets
        elif isinstance(n, (ast.AnnAssign, ast.NamedExpr, ast.For)):
            targets.append(n.target)
        elif isinstance(n, ast.withitem) and n.optional_vars is not None:
            targets.append(n.optional_vars)
    return {name for t in targets for name in _names(t)}


def _written(parts: list[ast.AST]) -> dict[str, int]:
    """What is written in place among some nodes, with a line that does."""
    found: dict[str, int] = {}
    for n in parts:
        if isinstance(n, ast.Assign | ast.AugAssign):
            targets = (
                [t for t in n.targets if isinstance(t, ast.Subscript)]
                if isinstance(n, ast.Assign)
                else [n.target]
            )
            for t in targets:
                for name in _names(t.value if isinstance(t, ast.Subscript) else t):
                    found.setdefault(name, n.lineno)
        if not isinstance(n, ast.Call):
            continue
        if isinstance(n.func, ast.Attribute):
            if n.func.attr == "copyto" and n.args:
                found.update(dict.fromkeys(_names(n.args[0]), n.lineno))
            elif n.func.attr == "fill" or (n.func.attr.endswith("_") and not n.func.attr.endswith("__")):
                owner = n.func.value
                while isinstance(owner, ast.Subscript):
                    owner = owner.value
                found.update(dict.fromkeys(_names(owner), n.lineno))
        for k in n.keywords:
            if k.arg == "out":
                found.update(dict.fromkeys(_names(k.value), n.lineno))
    return found


RULES = (OneBuffer,)
