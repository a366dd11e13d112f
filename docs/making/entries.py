"""An entry of the reference: how a thing is called, known to Sphinx's index by its full name, and what it says.

Invariant: a method stands once: with the class that has it, or, where that class is not public, with the first public
class that inherits it.
"""

from __future__ import annotations

import inspect
import re
from functools import cache
from pathlib import Path
from typing import Any

from .docstrings import escape, markdown, signature
from .formulas import gradient

ROOT = Path(__file__).resolve().parents[2]
# Methods that every module or class has, and whose meaning is the class's own text.
HUSHED = ("forward", "extra_repr", "reset_parameters")


def entry(name: str, thing: Any, depth: int = 2, called: bool = True, target: str = "") -> str:
    """Return one function: a heading to link to, how it is called, what its docstring says.

    Args:
        name: with its module, or with its class.
        thing: the function, property or class.
        depth: of the heading.
        called: whether it takes arguments; a property does not.
        target: of links; the name itself, if not given.
    """
    head = f"({target or name})=\n{'#' * depth} {escape(name.rpartition('.')[2])}"
    kind = "class" if inspect.isclass(thing) else "function"
    if name.startswith("Tensor."):
        name, kind = f"vistorch.{name}", "method" if called else "property"
    calls = [signature(thing, name) if called else name]
    formulas = "" if inspect.isclass(thing) or not called else gradient(name, thing)
    parts = [head, described(kind, calls, thing), markdown(inspect.getdoc(thing) or ""), formulas]
    return "\n\n".join(part for part in parts if part)


def class_entry(name: str, thing: Any, public: frozenset[type], depth: int = 2, target: str = "") -> str:
    """Return a class with its methods, and with those of bases that have no entry.

    Args:
        name: with its module.
        thing: the class.
        public: the classes that have an entry.
        depth: of the heading.
        target: of links; the name itself, if not given.
    """
    parts = [entry(name, thing, depth, target=target)]
    for own, method in sorted(members(thing, public).items()):
        plain = _plain(method)
        property_ = isinstance(method, property)
        how = f"{name}.{own}" if property_ else signature(plain, f"{name}.{own}")
        kind = "property" if property_ else "method"
        parts.append(described(kind, [how], plain) + "\n\n" + markdown(inspect.getdoc(plain) or ""))
    return "\n\n".join(parts)


def members(thing: type, public: frozenset[type]) -> dict[str, Any]:
    """Return the documented methods and properties of a class that no other public class of its own describes.

    Args:
        thing: the class.
        public: the classes that have an entry.
    """
    bases = {base for base in thing.__mro__[1:] if base in public}
    elsewhere = {one for base in bases for one in base.__mro__}
    found: dict[str, Any] = {}
    for base in thing.__mro__:
        if base in elsewhere or not base.__module__.startswith("vistorch"):
            continue
        for own, method in vars(base).items():
            plain = _plain(method)
            if not own.startswith("_") and own not in HUSHED and inspect.isfunction(plain) and plain.__doc__:
                found.setdefault(own, method)
    return found


def described(kind: str, calls: list[str], thing: Any) -> str:
    """Return how a thing is called, as an object of Sphinx's Python domain, and a link to its source.

    Args:
        kind: function, class, method or property.
        calls: one or more signatures, with full names.
        thing: what is called.
    """
    lead = f".. py:{kind}:: "
    rows = [lead + calls[0], *(" " * len(lead) + call for call in calls[1:])]
    text = "\n".join(["```{eval-rst}", *(row.replace("\\", "\\\\") for row in rows), "```"])
    file, line = place(thing, calls[0].partition("(")[0].rpartition(".")[2])
    if not file:
        return text
    page = file.removesuffix(".py")
    return (
        f"{text}\n\n<a class='vt-source' href='../_modules/{page}.html#line-{line}'>{file}, line {line}</a>"
    )


def place(thing: Any, name: str) -> tuple[str, int]:
    """Return the file of the package that a thing is written in, and the line; ("", 0) where that is not known.

    Args:
        thing: a function or a class.
        name: what it is called; a function made from a row of a table stands where that name is given to it.
    """
    thing = inspect.unwrap(thing)
    code = getattr(thing, "__code__", None)
    try:
        path = Path(code.co_filename if code else inspect.getsourcefile(thing) or "").resolve()
        file = path.relative_to(ROOT).as_posix()
        rows = _rows(path)
    except (OSError, TypeError, ValueError):
        return "", 0
    for one in dict.fromkeys((name, getattr(thing, "__name__", name))):
        wanted = re.compile(rf"\s*(?:(?:async )?def|class) {one}\b|{one}(?:, \w+)* = |\s*@?\w*\(?\"{one}\"")
        lines = [number for number, row in enumerate(rows, 1) if wanted.match(row)]
        if (
            lines
        ):  # of several with one name, that at or after the beginning of the code, where a decorator may be
            start = code.co_firstlineno if code else 1
            return file, next((line for line in lines if line >= start), lines[0])
        if one in _made():
            return _made()[one]
    return "", 0


@cache
def _made() -> dict[str, tuple[str, int]]:
    """Return where in the tables of the engine a name is given to a function that another file makes."""
    found: dict[str, tuple[str, int]] = {}
    for path in sorted((ROOT / "vistorch" / "engine" / "ops").rglob("*.py")):
        for number, row in enumerate(_rows(path), 1):
            if given := re.match(r"([a-z]\w*) = ", row):
                found.setdefault(given[1], (path.relative_to(ROOT).as_posix(), number))
    return found


@cache
def _rows(path: Path) -> tuple[str, ...]:
    return tuple(path.read_text(encoding="utf-8").splitlines())


def _plain(method: Any) -> Any:
    """Return the function behind a method, a static one, or a property."""
    return getattr(method, "__func__", None) or getattr(method, "fget", None) or method
