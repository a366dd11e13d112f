"""How many steps and epochs a training cell will make, as far as its text says: `range(3)`, the length of a loader.

Invariant: nothing of the cell is run: names are looked up, literals are read, and what is not known stays unknown.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

THROUGH = {
    "enumerate",
    "tqdm",
    "list",
    "tuple",
    "iter",
    "reversed",
    "sorted",
    "trange",
}  # as many as what is in them
OTHERS = ("sched", "scaler")  # what has a step() and is no optimizer, by its name
LOADER = "loader"  # a loop over data whose length shows when it begins


def lengths(cell: str, names: Mapping[str, Any]) -> tuple[int | None, int | None]:
    r"""The steps and the epochs of the only training loop of a cell, None for what its text does not say.

    Args:
        cell: its text.
        names: the variables there are before it runs.

    Example:
        >>> from vistorch.widgets.watch.loops import lengths
        >>> lengths("for epoch in range(3):\n for x, y in loader:\n  opt.step()", {})
        (None, 3)
        >>> lengths("for i in range(n):\n opt.step()", {"n": 200})
        (200, None)
    """
    try:
        tree = ast.parse(cell)
    except (SyntaxError, ValueError):
        return None, None
    looked = _Names(tree, names)
    nests = _nests(tree.body, [], False)
    found = [nest for nest in nests if nest[0]]
    if len(found) != 1 or any(isinstance(one, ast.While) for one in found[0][0]):
        return None, None
    loops, sometimes = found[0]
    counts = [looked.count(one.iter) for one in loops]
    data = [one for one in counts if one == LOADER or isinstance(one, tuple)]
    if len(data) > 1 or any(one is None for one in counts):
        return None, None
    if data and counts[-1] is not data[0]:
        return None, None
    outer = 1
    for one in counts[: -1 if data else None]:
        outer *= one  # type: ignore[operator]
    if data:
        return None, outer
    return (None, None) if sometimes else (outer, None)


def _nests(body: list, loops: list, sometimes: bool) -> list[tuple[list, bool]]:
    """The loops around each step of an optimizer, the outermost first, and whether it is made in every turn."""
    out: list[tuple[list, bool]] = []
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue  # what is called, and how often, is not followed
        if isinstance(node, (ast.For, ast.While)):
            out += _nests(node.body, [*loops, node], False)
        elif isinstance(node, ast.If):
            out += _nests(node.body + node.orelse, loops, True)
        elif isinstance(node, (ast.With, ast.Try)):
            out += _nests([*node.body, *getattr(node, "finalbody", [])], loops, sometimes)
        elif any(map(_is_step, ast.walk(node))):
            out.append((loops, sometimes))
    unique = {tuple(map(id, loops)): (loops, some) for loops, some in out}
    return list(unique.values())


def _is_step(node: ast.AST) -> bool:
    """Whether a call is a step of an optimizer, as far as its name says."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "step"):
        return False
    owner = node.func.value
    name = owner.id if isinstance(owner, ast.Name) else owner.attr if isinstance(owner, ast.Attribute) else ""
    return not any(word in name.lower() for word in OTHERS) or ("scaler" in name.lower() and bool(node.args))


class _Names:
    """What names stand for: those that the cell sets once, at its top, to a number, and those that were there."""

    def __init__(self, tree: ast.Module, names: Mapping[str, Any]) -> None:
        self.names = names
        self.own: dict[str, Any] = {}
        top = {id(node) for node in tree.body}
        for node in ast.walk(tree):
            for target in _targets(node):
                known = isinstance(node, ast.Assign) and id(node) in top and target not in self.own
                self.own[target] = node.value if known else None  # type: ignore[union-attr]

    def count(self, of: ast.expr) -> Any:
        """How many turns a loop over it makes: a number, `LOADER` with or without a length, or None."""
        if isinstance(of, ast.Call):
            name = of.func.id if isinstance(of.func, ast.Name) else getattr(of.func, "attr", "")
            if name in ("range", "trange"):
                parts = [self.number(one) for one in of.args]
                whole = parts and all(isinstance(one, int) for one in parts) and (len(parts) < 3 or parts[2])
                return len(range(*parts)) if whole and len(parts) <= 3 else None  # type: ignore[arg-type]
            if name in THROUGH and of.args:
                return self.count(of.args[0])
            if name == "zip" and of.args:
                each = [self.count(one) for one in of.args]
                return LOADER if LOADER in each else None if None in each else min(each)
            return LOADER if name == "DataLoader" else None
        if isinstance(of, (ast.List, ast.Tuple)):
            return None if any(isinstance(one, ast.Starred) for one in of.elts) else len(of.elts)
        if isinstance(of, ast.Name):
            if of.id in self.own:
                value = self.own[of.id]
                return self.count(value) if isinstance(value, ast.expr) else LOADER if _loads(of.id) else None
            found = self.names.get(of.id)
            if found is None:
                return LOADER if _loads(of.id) else None
            if isinstance(found, (list, tuple, range)):
                return len(found)
            return LOADER if hasattr(found, "dataset") and hasattr(found, "batch_size") else None
        return LOADER if isinstance(of, ast.Attribute) and _loads(of.attr) else None

    def number(self, of: ast.expr) -> int | None:
        """A whole number: written, named, or a sum, difference, product or quotient of such; or a length."""
        if isinstance(of, ast.Constant):
            return of.value if type(of.value) is int else None
        if isinstance(of, ast.Name):
            if of.id in self.own:
                value = self.own[of.id]
                return self.number(value) if isinstance(value, ast.expr) else None
            found = self.names.get(of.id)
            return found if type(found) is int else None
        if isinstance(of, ast.BinOp):
            a, b = self.number(of.left), self.number(of.right)
            if a is None or b is None:
                return None
            if isinstance(of.op, (ast.FloorDiv, ast.Mod)):
                return None if not b else a // b if isinstance(of.op, ast.FloorDiv) else a % b
            return {ast.Add: a + b, ast.Sub: a - b, ast.Mult: a * b}.get(type(of.op))
        if (
            isinstance(of, ast.Call)
            and isinstance(of.func, ast.Name)
            and of.func.id == "len"
            and len(of.args) == 1
        ):
            given = of.args[0]
            found = (
                self.names.get(given.id) if isinstance(given, ast.Name) and given.id not in self.own else None
            )
            shape = getattr(found, "shape", None)
            if isinstance(found, (list, tuple, dict, range, str)):
                return len(found)
            return int(shape[0]) if shape is not None and len(shape) else None
        return None


def _loads(name: str) -> bool:
    return any(word in name.lower() for word in ("loader", "dataloader", "batches"))


def _targets(node: ast.AST) -> list[str]:
    """The names that a statement sets."""
    if isinstance(node, ast.Assign):
        given = node.targets
    elif isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.NamedExpr, ast.For, ast.comprehension)):
        given = [node.target]
    else:
        return []
    return [one.id for target in given for one in ast.walk(target) if isinstance(one, ast.Name)]
