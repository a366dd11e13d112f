"""Stubs for type checkers of the modules that only a finder knows: their files are elsewhere, or they have none.

A type checker does not run `vistorch/_lazy.py`, so `import vistorch.jit` would be an error to it. `vistorch-stubs` is a
partial stub package (PEP 561): what is not in it is looked up in `vistorch` itself.

A partial stub package hides stubs beside the files of its package from pyright, so that of `vistorch.vt` is here too
(`generated.py` makes it).

Invariant: a stub says nothing of its own. It names the file that Python would load, or the rows of the table.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import ModuleType

from vistorch._lazy import ELSEWHERE
from vistorch.torch_api import unbuilt

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "vistorch-stubs"
_MADE = "# Made by `make generated` from the tables of vistorch/_lazy.py and vistorch/torch_api/unbuilt.py."


def _elsewhere() -> Iterator[tuple[str, str, bool]]:
    """Each module whose file is in another folder: its public name, that of its path, and whether it is a package."""
    for name, folder in ELSEWHERE.items():
        place = ROOT / "vistorch" / folder.replace(".", "/")
        file = place / f"{name}.py"
        for path in [file] if file.is_file() else sorted((place / name).rglob("*.py")):
            parts = path.relative_to(place).with_suffix("").parts
            package = parts[-1] == "__init__"
            public = ".".join(parts[:-1] if package else parts)
            if not package and (path.parent != place and not (path.parent / "__init__.py").is_file()):
                continue  # a script, not a module
            yield public, f"vistorch.{folder}.{public}", package


def _of_file(public: str, path: str) -> str:
    """What the file defines, and what is only there when it has run: rows of the table, and names entered by a loop."""
    module = importlib.import_module(f"vistorch.{public}")
    source = Path(module.__file__ or "").read_text(encoding="utf-8")
    bound = set(_bound(ast.parse(source).body))
    refusing = _refusing(public)
    late = [one for one in offered(module) if one not in bound and one not in refusing]
    rows = [line for one, lines in refusing.items() if one not in bound for line in lines]
    lines = [_MADE, "from typing import Any, NoReturn", "", f"from {path} import *", *rows]
    lines += [f"{one}: Any" for one in late]
    return "\n".join(lines if rows or late else [_MADE, lines[3]]) + "\n"


def offered(module: ModuleType) -> list[str]:
    """The public names of a module: those it lists, or else those whose things say that they are its own."""
    own = [
        name for name, thing in vars(module).items() if getattr(thing, "__module__", None) == module.__name__
    ]
    return sorted(name for name in getattr(module, "__all__", own) if not name.startswith("_"))


def _bound(body: list[ast.stmt]) -> Iterator[str]:
    """The names that statements bind, as a type checker sees them."""
    for one in body:
        if isinstance(one, (ast.FunctionDef, ast.ClassDef)):
            yield one.name
        elif isinstance(one, (ast.Import, ast.ImportFrom)):
            yield from (alias.asname or alias.name for alias in one.names)
        elif isinstance(one, (ast.If, ast.Try)):
            yield from _bound([*one.body, *one.orelse])
        else:
            yield from (
                part.id
                for part in ast.walk(one)
                if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
            )


def _refusing(module: str) -> dict[str, list[str]]:
    """What the rows of a module are to a type checker: functions that never return, classes that cannot be made."""
    found: dict[str, list[str]] = {}
    for row in unbuilt.ROWS:
        if row.module == module:
            for one in row.functions.split():
                found[one] = [f"def {one}(*args: Any, **kwargs: Any) -> NoReturn: ..."]
            for one in row.classes.split():
                found[one] = [
                    f"class {one}:",
                    "    def __init__(self, *args: Any, **kwargs: Any) -> None: ...",
                ]
    return dict(sorted(found.items()))


def _of_table(name: str) -> str:
    """A module that is nothing but rows and answers."""
    source = unbuilt.SAME.get(name, name)
    answers = unbuilt.ANSWERS.get(source, {})
    lines = [_MADE, f'"""{unbuilt.MODULES[name]}"""', "", "from typing import Any, NoReturn", ""]
    for answer, value in sorted(answers.items()):
        given = "*args: Any, **kwargs: Any" if callable(value) else ""
        lines.append(f"def {answer}({given}) -> {'Any' if callable(value) else type(value).__name__}: ...")
    lines += [line for one, said in _refusing(source).items() if one not in answers for line in said]
    inside = [other[len(name) + 1 :] for other in unbuilt.MODULES if other.startswith(f"{name}.")]
    lines += [f"from . import {child} as {child}" for child in inside]
    return "\n".join(lines) + "\n"


def files() -> dict[Path, Callable[[], str]]:
    """Which stubs there are, and what makes the text of each."""
    made: dict[Path, Callable[[], str]] = {FOLDER / "py.typed": lambda: "partial\n"}
    for public, path, package in _elsewhere():
        made[_path(public, package)] = partial(_of_file, public, path)
    for name in unbuilt.MODULES:
        package = any(other.startswith(f"{name}.") for other in unbuilt.MODULES)
        made[_path(name, package)] = partial(_of_table, name)
    return made


def _path(name: str, package: bool) -> Path:
    path = FOLDER / name.replace(".", "/")
    return path / "__init__.pyi" if package else path.with_suffix(".pyi")


def surplus() -> list[Path]:
    """Stubs of modules that are no longer there."""
    return sorted(set(FOLDER.rglob("*.pyi")) - {*files(), FOLDER / "vt" / "__init__.pyi"})
