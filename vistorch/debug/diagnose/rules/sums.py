"""Sums over batches: one that is never begun anew, and one that is set where it should be added to.

Invariant: the text alone accuses nobody: the loop in which a sum is taken has to have run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from ...line_lookup import Line
from ..finding import EXACT, WRONG, Finding
from ..written import SCOPES, at_line, given_by
from .named import Texts, dotted, within

GROWS = ("append", "extend", "add", "insert", "update", "pop", "clear", "push")


class NeverReset(Texts):
    """A sum over the batches of an epoch begins before the first epoch: later epochs are added to earlier ones.

    Meaning: what is divided by the number of batches, or of samples, of one epoch has to begin at 0 in each.
    Fires: when a variable is given the number 0 before a `for` loop, and nothing else in its function but `+=` in a
    `for` loop directly within that loop, in which a model was called or a pass started; and after this inner loop,
    within the outer one, it is divided by the `len(...)` of something that the inner loop reads and the outer one
    neither makes nor lets grow, or by a variable that the outer loop sets to 0 and the inner one adds to; that
    quotient is no part of a sum, a product or a quotient with anything but a number, the variable stands in no
    difference, and the outer loop is not written to go round once.
    Wrong if: the sum of all epochs is wanted.
    Healthy programs tried: sums that begin in each epoch, or anew every hundred batches, quotients by counts that
    grow as well, by the number of the epoch, differences to the epoch before, sums over folds or seeds, counters.
    """

    name, title, certainty, severity = "never reset", "sums over batches", EXACT, WRONG

    def findings(self) -> Iterator[Finding]:
        """Read the loops within loops of the files that ran."""
        for tree, lines in self.ran().values():
            for scope in _scopes(tree):
                nodes = list(_own(scope))
                for outer in nodes:
                    if not isinstance(outer, ast.For) or _goes_once(tree, outer):
                        continue
                    for at, inner in enumerate(outer.body):
                        if isinstance(inner, ast.For) and any(within(inner, x.line) for x in lines):
                            yield from self._inner(nodes, outer, at, inner, lines[0])

    def _inner(
        self, nodes: list[Any], outer: ast.For, at: int, inner: ast.For, line: Line
    ) -> Iterator[Finding]:
        fresh = _zeros(outer.body[:at])
        for name, added in _added(inner).items():
            given = [
                n
                for n in nodes
                if isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load)
            ]
            sums = [n for n in nodes if isinstance(n, ast.AugAssign) and _is(n.target, name)]
            zero = [n for n in nodes if n.__class__ is ast.Assign and name in _zeros([n])]
            if len(given) != len(sums) + 1 or len(zero) != 1 or zero[0].lineno >= outer.lineno:
                continue
            if not all(isinstance(n.op, ast.Add) and within(inner, n.lineno) for n in sums):
                continue
            if any(
                within(loop, zero[0].lineno) != within(loop, outer.lineno)
                for loop in _loops(nodes)
                if loop is not outer
            ):
                continue
            by = _quotient(outer.body[at + 1 :], name, fresh & set(_added(inner)), _steady(outer, inner))
            if by is None or _subtracted(outer, name):
                continue
            yield self.found(
                f"{name} begins before the first round and is never set back to 0: each epoch is added to all before.",
                at_line(line, zero[0].lineno),
                "begins here, once",
                also=(at_line(line, added), "is added to"),
                proof=[("statements that set it", 1), ("is divided by", by)],
                confirm=(f"{name} at the beginning of the second round", "not 0"),
                unless="the sum of all epochs is wanted.",
                advice=f"Set {name} to 0 at the beginning of each epoch.",
                weight=6.0,
            )


class SetNotAdded(Texts):
    """A sum over batches is set in each round: it holds what the last batch gave, and is divided by all.

    Meaning: `=` forgets what came before, `+=` adds to it.
    Fires: when a variable is given the number 0 before a `for` loop of the same block, and in that loop, without a
    condition, by `=` something that is computed without it, it is not read in that loop, a model was called or a pass
    started there, and after the loop it is divided by a variable that begins at 0 there as well and is added to by
    `+=` in the loop, or by the `len(...)` of what the loop goes over.
    Wrong if: never that was seen.
    Healthy programs tried: sums, running averages, the last loss, the largest value, lists that are averaged.
    """

    name, title, certainty, severity = "set, not added", "sums over batches", EXACT, WRONG

    def findings(self) -> Iterator[Finding]:
        """Read the loops of the files that ran."""
        for tree, lines in self.ran().values():
            for node in ast.walk(tree):
                for block in (getattr(node, "body", None), getattr(node, "orelse", None)):
                    row = list(_plain(block)) if isinstance(block, list) else []
                    for at, loop in enumerate(row):
                        if isinstance(loop, ast.For) and any(within(loop, x.line) for x in lines):
                            yield from self._loop(row[:at], loop, row[at + 1 :], lines[0])

    def _loop(self, before: list[Any], loop: ast.For, after: list[Any], line: Line) -> Iterator[Finding]:
        zeros = _zeros(before)
        added = {name for name in _added(loop) if name in zeros}
        inside = [n for one in loop.body for n in ast.walk(one)]
        for one in _plain(loop.body):
            if (
                one.__class__ is not ast.Assign
                or len(one.targets) != 1
                or not isinstance(one.targets[0], ast.Name)
            ):
                continue
            name = one.targets[0].id
            uses = [n for n in inside if isinstance(n, ast.Name) and n.id == name]
            if name not in zeros or len(uses) != 1 or isinstance(one.value, ast.Constant):
                continue
            over = ast.unparse(loop.iter)
            by = _quotient(after, name, added, {over, f"{over}.dataset"})
            if by is None:
                continue
            yield self.found(
                f"{name} is set in each round, not added to: it holds the last batch alone, and is divided by {by}.",
                at_line(line, one.lineno),
                "forgets the batches before",
                proof=[("begins at", 0), ("is divided by", by)],
                confirm=(name, "what the last batch gave"),
                unless="",
                advice=f"Add to it: {name} += ...",
                weight=6.0,
            )


def _scopes(tree: ast.Module) -> list[Any]:
    return [tree, *(n for n in ast.walk(tree) if isinstance(n, SCOPES) and not isinstance(n, ast.ClassDef))]


def _own(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a scope, without those of functions and classes within it."""
    waiting = list(ast.iter_child_nodes(scope))
    while waiting:
        node = waiting.pop(0)
        yield node
        if not isinstance(node, SCOPES):
            waiting += ast.iter_child_nodes(node)


def _goes_once(tree: ast.Module, loop: ast.For) -> bool:
    """Whether a loop is written to go round once."""
    it = loop.iter
    if not isinstance(it, ast.Call) or not _is(it.func, "range") or len(it.args) != 1:
        return False
    many = it.args[0]
    if isinstance(many, ast.Name):
        return any(
            isinstance(n, ast.Assign)
            and isinstance(n.value, ast.Constant)
            and n.value.value == 1
            and any(_is(t, many.id) for t in n.targets)
            for n in ast.walk(tree)
        )
    return isinstance(many, ast.Constant) and many.value == 1


def _steady(outer: ast.For, inner: ast.For) -> set[str]:
    """What an inner loop reads, and the outer one neither makes nor lets grow."""
    every = list(ast.walk(outer))
    changed = {n.id for n in every if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    changed |= {
        dotted(n.func.value).partition(".")[0]
        for n in every
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr in GROWS
    }
    read = {dotted(n) for n in ast.walk(inner) if isinstance(n, (ast.Name, ast.Attribute))}
    read |= {f"{one}.dataset" for one in read}
    return {one for one in read if one and one.partition(".")[0] not in changed}


def _subtracted(node: ast.AST, name: str) -> bool:
    """Whether a variable stands in a difference."""
    return any(
        isinstance(n, ast.BinOp) and isinstance(n.op, ast.Sub) and any(_is(x, name) for x in ast.walk(n))
        for n in ast.walk(node)
    )


def _loops(nodes: list[Any]) -> list[Any]:
    return [n for n in nodes if isinstance(n, (ast.For, ast.While))]


def _is(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _plain(body: list[Any]) -> Iterator[Any]:
    """The statements of a body, and of each `with` in it, that no condition stands around."""
    for one in body:
        if isinstance(one, ast.With):
            yield from _plain(one.body)
        else:
            yield one


def _zeros(body: list[Any]) -> set[str]:
    """The variables that statements give the number 0."""
    found: set[str] = set()
    for one in body:
        if one.__class__ is not ast.Assign:
            continue
        for t, v in given_by(one):
            if isinstance(t, ast.Name):
                zero = isinstance(v, ast.Constant) and type(v.value) in (int, float) and v.value == 0
                found.add(t.id) if zero else found.discard(t.id)
    return found


def _added(loop: ast.For) -> dict[str, int]:
    """The variables that a loop adds to, with the line of the first sum."""
    found: dict[str, int] = {}
    for node in ast.walk(loop):
        if (
            isinstance(node, ast.AugAssign)
            and isinstance(node.op, ast.Add)
            and isinstance(node.target, ast.Name)
        ):
            found.setdefault(node.target.id, node.lineno)
    return found


def _quotient(body: list[Any], name: str, counts: set[str], lengths: set[str]) -> str | None:
    """What a variable is divided by after a loop; None where it is not, or where that is part of more.

    Args:
        body: the statements after it.
        name: of the variable.
        counts: other variables that count.
        lengths: whose length may be what it is divided by.
    """
    found = []
    for one in body:
        inner = {
            id(side)
            for n in ast.walk(one)
            if isinstance(n, ast.BinOp)
            for side, other in ((n.left, n.right), (n.right, n.left))
            if not isinstance(other, ast.Constant)
        }
        for n in ast.walk(one):
            if isinstance(n, (ast.Assign, ast.AugAssign)) and name in {
                getattr(t, "id", "") for t in (n.targets if isinstance(n, ast.Assign) else [n.target])
            }:
                return None  # `total = total / n`, `total /= n`: it goes on as something else
            if not isinstance(n, ast.BinOp) or not isinstance(n.op, ast.Div) or id(n) in inner:
                continue
            top = n.left
            if isinstance(top, ast.BinOp) and isinstance(top.op, ast.Mult):
                top = next((s for s in (top.left, top.right) if not isinstance(s, ast.Constant)), top)
            if not _is(top, name):
                continue
            by = n.right
            if isinstance(by, ast.Name) and by.id in counts:
                found.append(by.id)
            elif isinstance(by, ast.Call) and _is(by.func, "len") and len(by.args) == 1:
                if ast.unparse(by.args[0]) in lengths:
                    found.append(ast.unparse(by))
    return found[0] if found else None


RULES = (NeverReset, SetNotAdded)
