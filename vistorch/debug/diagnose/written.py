"""Where a value that a call is given was written: the literal behind a name, a key of a table, a default.

Invariant: the program's text is read and never run; what has two origins has none.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from ..line_lookup import Line, cell_of

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
LOOPS = (ast.For, ast.While, ast.AsyncFor)
RANDOM = ("rand", "bernoulli", "normal_", "uniform_", "multinomial", "shuffle", "choice", "sample", "dropout")
LOAD = "load_state_dict"
TREES = 64  # files whose trees are kept
_trees: dict[str, tuple[list[str], ast.Module | None]] = {}


def tree_of(file: str) -> ast.Module | None:
    """The tree of a file that ran, which nobody may change; None where it cannot be read."""
    lines = linecache.getlines(file)
    known = _trees.get(file)
    if known is None or known[0] != lines:
        try:
            tree = ast.parse("".join(lines))
        except SyntaxError:
            tree = None
        if len(_trees) >= TREES:
            _trees.clear()
        known = _trees[file] = lines, tree
    return known[1]


@lru_cache(TREES)
def functions_of(tree: ast.Module) -> tuple[ast.FunctionDef | ast.AsyncFunctionDef, ...]:
    """The functions of a module; those within others come after them."""
    return tuple(n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)))


def scopes(tree: ast.Module | None) -> Iterator[list[ast.AST]]:
    """The nodes of a module that stand in no function, and then those of each function.

    Args:
        tree: of the module; without it, there are none.
    """
    if tree is not None:
        taken = {at for f in functions_of(tree) for at in range(f.lineno, (f.end_lineno or f.lineno) + 1)}
        yield [n for n in ast.walk(tree) if getattr(n, "lineno", 0) not in taken]
        for function in functions_of(tree):
            yield list(ast.walk(function))


def scope_of(tree: ast.Module, line: int) -> ast.AST:
    """The innermost function around a line, or the module."""
    return next((f for f in reversed(functions_of(tree)) if _holds(f, line)), tree)


def called_name(node: ast.expr) -> str:
    """The last name of what is called; "" where it has none."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def draws(node: ast.AST) -> bool:
    """Whether a function of random numbers is called within a node, as far as its name tells."""
    return any(
        isinstance(n, ast.Call) and any(word in ast.unparse(n.func) for word in RANDOM)
        for n in ast.walk(node)
    )


def at_line(line: Line, number: int) -> Line:
    """Another line of the same file."""
    text = linecache.getline(line.file, number).strip()
    return Line(line.file, number, line.function, text, cell_of(line.file))


def literal(line: Line | None, names: tuple[str, ...], position: int | None = None) -> Line | None:
    """The line in which the value of an argument was written, where that is not the line of the call.

    Args:
        line: of the call.
        names: of the argument.
        position: of it, where it was given without a name.
    """
    tree = None if line is None else tree_of(line.file)
    if tree is None or line is None:
        return None
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not node.lineno <= line.line <= (node.end_lineno or node.lineno):
            continue
        found = next((k.value for k in node.keywords if k.arg in names), None)
        if found is None and position is not None and len(node.args) > position:
            found = node.args[position]
        at = None if found is None else _source(tree, found, 4)
        if at is not None and at != line.line:
            return at_line(line, at)
    return None


def _source(tree: ast.Module, node: ast.expr, deep: int) -> int | None:
    """The line that an expression's value was written in."""
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    if isinstance(node, ast.Constant):
        return node.lineno
    if not deep:
        return None
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return _entry(tree, node.value, node.slice.value, deep)
    if isinstance(node, ast.Attribute):
        return _entry(tree, node.value, node.attr, deep)
    if isinstance(node, ast.Name):
        found = list(_values(tree, node))
        if len(found) != 1:
            return None
        known = _source(tree, found[0], deep - 1)
        return found[0].lineno if known is None else known  # what is computed was written there
    return None


def _values(tree: ast.Module, node: ast.Name) -> Iterator[ast.expr]:
    """All that a name is given: the arguments of the function it belongs to, or assignments."""
    function = owner = None
    for one in ast.walk(tree):
        if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)) and _holds(one, node.lineno):
            if any(a.arg == node.id for a in [*one.args.posonlyargs, *one.args.args, *one.args.kwonlyargs]):
                function = one
    if function is None:
        yield from _assigned(tree, node.id)
        return
    for one in ast.walk(tree):
        if isinstance(one, ast.ClassDef) and function in one.body:
            owner = one
    every = [*function.args.posonlyargs, *function.args.args]
    at = next((i for i, a in enumerate(every) if a.arg == node.id), -1)
    default = None
    if at >= 0:
        k = at - (len(every) - len(function.args.defaults))
        default = function.args.defaults[k] if k >= 0 else None
    else:
        pairs = zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
        default = next((value for a, value in pairs if a.arg == node.id), None)
    if owner is not None:
        if function.name != "__init__":
            return
        at -= 1  # self
    called, given = owner.name if owner is not None else function.name, False
    for one in ast.walk(tree):
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id == called:
            values = [k.value for k in one.keywords if k.arg == node.id]
            if not values and 0 <= at < len(one.args):
                values = [one.args[at]]
            given = given or bool(values)
            yield from values
    if not given and default is not None:
        yield default


def _assigned(tree: ast.Module, name: str) -> Iterator[ast.expr]:
    """All that a variable is assigned."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            for target, value in given_by(node):
                if isinstance(target, ast.Name) and target.id == name:
                    yield value


def given_by(node: ast.Assign | ast.AnnAssign) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What an assignment gives to what, one of a tuple by itself.

    Args:
        node: the assignment.
    """
    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            yield from zip(target.elts, node.value.elts, strict=False)
        elif node.value is not None:
            yield target, node.value


def _holds(node: ast.AST, line: int) -> bool:
    return getattr(node, "lineno", 0) <= line <= (getattr(node, "end_lineno", 0) or 0)


def _entry(tree: ast.Module, table: ast.expr, key: object, deep: int) -> int | None:
    """The line of an entry of a table, or of a field of a class, that is written once."""
    if not isinstance(table, ast.Name):
        return None
    values = list(_values(tree, table))
    if len(values) != 1:
        return None
    value, found = values[0], []
    if isinstance(value, ast.Dict):
        found = [
            v
            for k, v in zip(value.keys, value.values, strict=True)
            if isinstance(k, ast.Constant) and k.value == key
        ]
    elif isinstance(value, ast.Call):
        found = [k.value for k in value.keywords if k.arg == key]
        if not found and isinstance(value.func, ast.Name):
            for node in tree.body:
                if isinstance(node, ast.ClassDef) and node.name == value.func.id:
                    for one in node.body:
                        targets = one.targets if isinstance(one, ast.Assign) else ()
                        if isinstance(one, ast.AnnAssign):
                            targets = (one.target,)
                        if one_value := getattr(one, "value", None):
                            found += [one_value for t in targets if isinstance(t, ast.Name) and t.id == key]
    entry = ast.dump(ast.parse(f"{table.id}[{key!r}]", mode="eval").body)
    for node in ast.walk(tree):  # what is put into it, or changed there, later
        if isinstance(node, ast.Assign):
            written = [ast.dump(t).replace("Store()", "Load()") for t in node.targets]
            found += [node.value] * (entry in written)
    return _source(tree, found[0], deep - 1) if len(found) == 1 else None


def batches(line: Line | None) -> Line | None:
    """The innermost loop around a line, within its function."""
    return _around(line, lambda node: isinstance(node, LOOPS))


def thaws(line: Line | None) -> Line | None:
    """The only line of a file that switches gradients of parameters on."""
    tree = None if line is None else tree_of(line.file)
    if tree is None or line is None:
        return None
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and node.value.value is True:
            if any(isinstance(t, ast.Attribute) and t.attr == "requires_grad" for t in node.targets):
                found.add(node.lineno)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr == "requires_grad_" and all(
                isinstance(a, ast.Constant) and a.value is True for a in node.args
            ):
                found.add(node.lineno)
    return at_line(line, found.pop()) if len(found) == 1 else None


def loops_around(line: Line | None) -> int:
    """How many loops stand around a line, those around calls of its function included; 0 where it cannot be read.

    Args:
        line: which.
    """
    tree = None if line is None else tree_of(line.file)
    if tree is None or line is None:
        return 0

    def within(at: int) -> int:
        function = next(
            (f for f in ast.walk(tree) if isinstance(f, SCOPES[:2]) and _holds(f, at) and f.lineno < at), None
        )
        inside = [n for n in ast.walk(function or tree) if isinstance(n, LOOPS) and _holds(n, at)]
        return sum(n.lineno < at for n in inside)

    calls = [
        within(n.lineno)
        for n in ast.walk(tree)
        if isinstance(n, ast.Call) and getattr(n.func, "id", getattr(n.func, "attr", "")) == line.function
    ]
    return within(line.line) + max(calls, default=0)


def loaded(line: Line | None) -> tuple[str, str, Line | None] | None:
    """The model that a line loads, the one whose state dict it is given, and the only line that makes them one.

    Args:
        line: which.
    """
    tree = None if line is None else tree_of(line.file)
    if tree is None or line is None:
        return None
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call) or not _holds(call, line.line) or called_name(call.func) != LOAD:
            continue
        given = call.args[0] if call.args else None
        if isinstance(given, ast.Call) and called_name(given.func) == "state_dict":
            if isinstance(call.func, ast.Attribute) and isinstance(given.func, ast.Attribute):
                into, taken = ast.unparse(call.func.value), ast.unparse(given.func.value)
                made = [
                    n.lineno
                    for n in ast.walk(tree)
                    if isinstance(n, ast.Assign)
                    and {ast.unparse(n.targets[0]), ast.unparse(n.value)} == {into, taken}
                ]
                return into, taken, at_line(line, made[0]) if len(made) == 1 else None
    return None


def epochs_around(line: Line | None) -> int:
    """How often the outermost of two loops or more around a line goes round; 0 where that is not written as a number.

    Args:
        line: which.
    """
    tree = None if line is None else tree_of(line.file)
    if tree is None or line is None:
        return 0
    inside = [n for n in ast.walk(scope_of(tree, line.line)) if isinstance(n, LOOPS) and _holds(n, line.line)]
    inside = [n for n in inside if n.lineno < line.line]
    if len(inside) < 2:
        return 0
    it = getattr(min(inside, key=lambda n: n.lineno), "iter", None)
    if not isinstance(it, ast.Call) or called_name(it.func) not in ("range", "trange") or it.keywords:
        return 0
    bounds = [_whole(tree, one) for one in it.args]
    if len(bounds) == 1:
        return bounds[0] or 0
    if len(bounds) != 2 or bounds[0] is None or bounds[1] is None:
        return 0
    return max(bounds[1] - bounds[0], 0)


def constant(tree: ast.Module, node: ast.expr, deep: int = 4) -> float | None:
    """The number that an expression is: written there, or given once to a variable, a field or an argument.

    Args:
        tree: of the file.
        node: the expression.
        deep: names that are gone through.
    """
    if isinstance(node, ast.Constant):
        value = node.value
        return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
    if not deep or not isinstance(node, (ast.Name, ast.Attribute)):
        return None
    given = list(_values(tree, node)) if isinstance(node, ast.Name) else fields(tree, node.attr)
    return constant(tree, given[0], deep - 1) if len(given) == 1 else None


def assigned_to(tree: ast.Module, name: str) -> list[ast.expr]:
    """All that a variable is assigned in a file, in whichever scope; it is changed in place by no operator."""
    if any(isinstance(n, ast.AugAssign) and ast.unparse(n.target) == name for n in ast.walk(tree)):
        return []
    return list(_assigned(tree, name))


def fields(tree: ast.Module, name: str) -> list[ast.expr]:
    """All that a field of that name is assigned, one of a tuple by itself."""
    found: list[ast.expr] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.AugAssign) and getattr(node.target, "attr", "") == name:
            found += [node.value, node.value]  # it is no constant
        if isinstance(node, ast.Assign):
            found += [v for t, v in given_by(node) if isinstance(t, ast.Attribute) and t.attr == name]
    return found


def _whole(tree: ast.Module, node: ast.expr) -> int | None:
    """The whole number that an expression is: a number, a variable that is given one once, or one more than these."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        one, other = _whole(tree, node.left), _whole(tree, node.right)
        return None if one is None or other is None else one + other
    if isinstance(node, ast.Name):
        given = list(_assigned(tree, node.id))
        if len(given) != 1 or not isinstance(given[0], ast.Constant):
            return None
        node = given[0]
    value = getattr(node, "value", None)
    return value if type(value) is int else None


def without_gradients(line: Line | None) -> Line | None:
    """The `with`, or the decorator, around a line that switches gradients off."""

    def off(node: ast.AST) -> bool:
        items = [i.context_expr for i in node.items] if isinstance(node, ast.With) else []
        items += (
            list(node.decorator_list) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else []
        )
        return any("no_grad" in ast.unparse(i) or "inference_mode" in ast.unparse(i) for i in items)

    found = _around(line, off, beyond=True)
    tree = None if found is not None or line is None else tree_of(line.file)
    if tree is None or line is None:
        return found
    for node in ast.walk(tree):  # around a call of the function that the line stands in
        if isinstance(node, ast.With) and off(node):
            for one in ast.walk(node):
                if isinstance(one, ast.Call) and isinstance(one.func, ast.Name):
                    if one.func.id == line.function:
                        return at_line(line, node.lineno)
    return None


def returned(function: Any) -> Line | None:
    """The last line of a function that gives a result back."""
    code = getattr(function, "__code__", None)
    if code is None:
        return None
    line = Line(code.co_filename, code.co_firstlineno, code.co_name, "", cell_of(code.co_filename))
    tree = tree_of(line.file)
    for node in () if tree is None else ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == line.function and node.lineno == line.line:
            found = [one.lineno for one in ast.walk(node) if isinstance(one, ast.Return)]
            return at_line(line, max(found)) if found else None
    return None


def _around(line: Line | None, test: Callable[[ast.AST], bool], beyond: bool = False) -> Line | None:
    tree = None if line is None else tree_of(line.file)
    if tree is None or line is None:
        return None
    found = None
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        for child in ast.iter_child_nodes(node):
            first = getattr(child, "lineno", 0)
            if first <= line.line <= (getattr(child, "end_lineno", 0) or 0):
                if isinstance(child, SCOPES) and not beyond:
                    found = None
                if test(child):
                    decorated = getattr(child, "decorator_list", None)
                    found = decorated[0].lineno if decorated else first
                waiting.append(child)
    return None if found is None else at_line(line, found)


def argument(line: Line | None, position: int) -> str:
    """The variable that a call in a line is given; "" where it is none, or its position is another's.

    Args:
        line: of the call.
        position: of the argument.
    """
    tree = None if line is None else tree_of(line.file)
    if tree is None or line is None:
        return ""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.lineno == line.line and len(node.args) > position:
            found = node.args[position]
            while isinstance(found, ast.Subscript):
                found = found.value
            if isinstance(found, ast.Name):
                return found.id
    return ""


def half_written(line: Line | None) -> Line | None:
    """The only line of a file that asks for half precision."""
    tree = None if line is None else tree_of(line.file)
    if tree is None or line is None:
        return None
    found = {
        n.lineno for n in ast.walk(tree) if isinstance(n, ast.Attribute) and n.attr in ("float16", "half")
    }
    return at_line(line, found.pop()) if len(found) == 1 else None


def rate_written(line: Line | None) -> Line | None:
    """The line of a file that writes a learning rate into a group of an optimizer, the nearest to one that steps.

    Args:
        line: of the step.
    """
    tree = None if line is None else tree_of(line.file)
    if tree is None or line is None:
        return None
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign | ast.AugAssign):
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if any(
            isinstance(t, ast.Subscript) and isinstance(t.slice, ast.Constant) and t.slice.value == "lr"
            for t in targets
        ):
            found.append(node.lineno)
    return at_line(line, min(found, key=lambda n: abs(n - line.line))) if found else None


def mentions(line: Line, names: tuple[str, ...]) -> bool:
    """Whether a file that ran uses one of some names.

    Args:
        line: of the file.
        names: of functions or attributes.
    """
    tree = tree_of(line.file)
    return tree is not None and any(
        (isinstance(node, ast.Attribute) and node.attr in names)
        or (isinstance(node, ast.Name) and node.id in names)
        for node in ast.walk(tree)
    )


def calls_before(line: Line | None, names: tuple[str, ...]) -> Line | None:
    """The line of the same function that calls one of some methods, the nearest at or before a line.

    Args:
        line: where to begin.
        names: of the methods.
    """
    tree = None if line is None else tree_of(line.file)
    if tree is None or line is None:
        return None
    around: ast.AST = tree
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and _holds(node, line.line):
            around = node
    found = [
        node.lineno
        for node in ast.walk(around)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in names
        and node.lineno <= line.line
    ]
    return at_line(line, max(found)) if found else None


def given(line: Line | None, method: str) -> str:
    """The text of what a method is given first in a line; "" where it is not called there.

    Args:
        line: of the call.
        method: its name.
    """
    tree = None if line is None else tree_of(line.file)
    if tree is None or line is None:
        return ""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.lineno == line.line:
            if node.func.attr == method and node.args:
                return ast.unparse(node.args[0])
    return ""
