"""Which names of cupy the engine uses, read from its source: no array library is asked.

A name is written `linalg.svd compute_uv`: after it, the keywords it is called with. A method of arrays begins with a
dot; methods are looked for in functions that have an `xp`. Run as a program, it writes `names.txt` anew.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from vistorch.engine.core.rules import TABLE

HERE = Path(__file__).parent
ENGINE = HERE.parents[1] / "vistorch" / "engine"
LEFT_OUT = {"cupy_.py"}  # speaks to cupy itself, and only there
# `getattr(xp, name)` in the sources; `TABLE` lists the kernels that are given by name.
BY_NAME = "add multiply maximum minimum logical_and logical_or logical_xor cumsum cumprod".split()
NOT_CUPY = {"__name__", "linalg"}  # a namespace is not called
ARRAY_METHODS = frozenset(n for n in dir(np.ndarray) if n[0] != "_" and callable(getattr(np.ndarray, n)))


def dotted(node: ast.AST) -> list[str]:
    """The parts of `a.b.c`, or nothing."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return [node.id, *reversed(parts)] if isinstance(node, ast.Name) else []


def name_of(node: ast.AST) -> str:
    """What of the array namespace an expression names: `svd` for `xp.svd` and for `place.xp.svd`."""
    parts = dotted(node)
    return ".".join(parts[parts.index("xp") + 1 :]) if "xp" in parts else ""


def branches(node: ast.AST) -> list[ast.AST]:
    """Both sides of `a if ... else b`, or the expression itself."""
    return [node.body, node.orelse] if isinstance(node, ast.IfExp) else [node]


def takes_xp(node: ast.AST) -> bool:
    """Whether a function has a parameter `xp`."""
    return isinstance(node, (ast.FunctionDef, ast.Lambda)) and "xp" in [a.arg for a in node.args.args]


def by_alias(function: ast.FunctionDef) -> Iterator[tuple[str, list[str]]]:
    """The keywords of `run(...)` after `run = xp.a if ... else xp.b`."""
    names: dict[str, set[str]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found = {name for part in branches(node.value) if (name := name_of(part))}
            names.setdefault(node.targets[0].id, set()).update(found)
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            for name in names.get(node.func.id, ()):
                yield name, [k.arg for k in node.keywords if k.arg]


def uses(tree: ast.Module) -> Iterator[tuple[str, list[str]]]:
    """The names in one file with the keywords of each call."""
    inner = {n.value for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node not in inner and (name := name_of(node)):
            yield name, []
        if isinstance(node, ast.Call):
            for name in filter(None, map(name_of, branches(node.func))):
                yield name, [k.arg for k in node.keywords if k.arg]
            if dotted(node.func)[-1:] == ["lapack"] and isinstance(node.args[1], ast.Constant):
                # `checks.lapack(xp, "svd", ...)`
                yield f"linalg.{node.args[1].value}", [k.arg for k in node.keywords if k.arg]
        if isinstance(node, ast.FunctionDef):
            yield from by_alias(node)
        if takes_xp(node):
            for call in ast.walk(node):
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
                    if call.func.attr in ARRAY_METHODS and not name_of(call.func):
                        yield "." + call.func.attr, [k.arg for k in call.keywords if k.arg]


def walk() -> dict[str, set[str]]:
    """All names with their keywords."""
    found: dict[str, set[str]] = {name: set() for name in BY_NAME}
    for path in sorted(ENGINE.rglob("*.py")):
        if path.name not in LEFT_OUT:
            for name, keywords in uses(ast.parse(path.read_text())):
                found.setdefault(name, set()).update(keywords)
    for rule in TABLE.values():
        if isinstance(rule.kernel, str):
            found.setdefault(rule.kernel, set())
        elif isinstance(rule.kernel, np.ufunc):
            found.setdefault(rule.kernel.__name__, set())
    return {name: found[name] for name in sorted(found) if name not in NOT_CUPY}


def text() -> str:
    """The list as it is kept."""
    lines = [" ".join([name, *sorted(keywords)]) for name, keywords in walk().items()]
    return "# written by: python -m tests.cuda.walk\n" + "\n".join(lines) + "\n"


if __name__ == "__main__":
    import vistorch  # noqa: F401  fills the table

    (HERE / "names.txt").write_text(text())
