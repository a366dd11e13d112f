"""The types of the pages, `js/src/<kind>/types.ts`: made from what `wire()` of a record says that it returns.

`paint(record: FlowRecord, ...)` in `widgets/flow/picture.py` names the record of a kind, and `FlowRecord.wire` returns
a `TypedDict`, which holds others. Each becomes an interface, and a check that the page runs over what arrived.

What a field may be: str, bool, int, `float` (which may be nan or infinite, and then travels as a word), `Finite`, a
`Literal`, an array (`Array`, or with its number of axes `Array1` to `Array3`), a list, a dict by text, a tuple of known
length, another TypedDict, None, `object` for what is passed on unread, and unions of these. What a page counts by as
Python does (codes, thresholds, limits) stands in `CONSTANTS` beside the state, and becomes constants of the same names.
Invariant: a type that is none of these is refused with its path, never written as `any`.
"""

from __future__ import annotations

import functools
import json
import types
import typing
from importlib import import_module
from pathlib import Path
from typing import Any

from vistorch.debug.wire_types import Dims, FiniteMark
from vistorch.widgets import kinds

ROOT = Path(__file__).parents[2]
HEAD = '// The record "{kind}" as it arrives. Made by `make generated` from {of}: edit that.\n'
CHECKS = "../shared/check"


def state_of(kind: str) -> type:
    """The TypedDict that a kind's record becomes on its way.

    Args:
        kind: a folder of `vistorch/widgets`.
    """
    painter = import_module(f"vistorch.widgets.{kind}.picture")
    record = typing.get_type_hints(painter.paint).get("record")
    if not hasattr(record, "wire"):
        raise TypeError(
            f"widgets/{kind}/picture.py does not say what it paints: write `def paint(record: ..., theme=...)` with "
            "the class of the record"
        )
    state = typing.get_type_hints(record.wire).get("return")
    if not typing.is_typeddict(state):
        raise TypeError(
            f"{record.__module__}.{record.__qualname__}.wire() does not say what it returns: declare a TypedDict and "
            "write `def wire(self) -> State`"
        )
    return typing.cast(type, state)


def hints(state: type) -> dict[str, tuple[Any, bool]]:
    """The fields of a TypedDict: each field's type, and whether it is always there."""
    found = typing.get_type_hints(state, include_extras=True)
    must = state.__required_keys__  # type: ignore[attr-defined]
    return {name: (_bare(hint), name in must) for name, hint in found.items()}


def _bare(hint: Any) -> Any:
    """A hint without Required or NotRequired around it."""
    return typing.get_args(hint)[0] if typing.get_origin(hint) in _MARKS else hint


_MARKS = tuple(getattr(typing, name) for name in ("Required", "NotRequired") if hasattr(typing, name))
PLAIN = {str: ("string", "text"), bool: ("boolean", "flag"), int: ("number", "num"), float: ("Real", "real")}


class _Page:
    """One file of types: what was met so far."""

    def __init__(self, kind: str, roots: dict[type, str]) -> None:
        self.kind, self.roots = kind, roots
        self.interfaces: dict[type, list[str]] = {}
        self.checks: dict[type, str] = {}
        self.used: set[str] = set()
        self.types: set[str] = set()
        self.imported: dict[str, tuple[str, str]] = {}
        self.aliases: dict[str, Any] = {}
        self.named: dict[str, str] = {}
        self.open: list[type] = []

    def name(self, state: type) -> str:
        return "State" if self.roots.get(state) == self.kind else state.__name__

    def check_name(self, state: type) -> str:
        return "check" if self.roots.get(state) == self.kind else f"check{state.__name__}"

    def call(self, check: str, *inside: str) -> str:
        self.used.add(check)
        return f"{check}({', '.join(inside)})" if inside else check

    def both(self, hint: Any, path: str) -> tuple[str, str]:
        """The TypeScript type of a hint, by its name where its module gives it one, and the check of it."""
        known = next((name for name, one in self.aliases.items() if one == hint), None)
        name, check = self.plain(hint, path)
        if known is None:
            return name, check
        self.named[known] = name
        return known, check

    def plain(self, hint: Any, path: str) -> tuple[str, str]:
        """The same without the name of an alias."""
        if hint in (None, type(None)):
            return "null", self.call("none")
        if hint is object:
            return "unknown", self.call("any")
        if hint in PLAIN:
            name, check = PLAIN[hint]
            if name == "Real":
                self.types.add(name)
            return name, self.call(check)
        if typing.is_typeddict(hint):
            return self.state(hint, path)
        origin, inside = typing.get_origin(hint), typing.get_args(hint)
        if origin is typing.Annotated:
            mark = hint.__metadata__[0]
            if isinstance(mark, FiniteMark):
                return "number", self.call("num")
            if isinstance(mark, Dims):
                self.types.add("Nd")
                return "Nd", self.call("nd", str(-1 if mark.number is None else mark.number))
        if origin is typing.Literal:
            words = [json.dumps(word) for word in inside]
            return " | ".join(words), self.call("one", *words)
        if origin in (typing.Union, types.UnionType):
            return self.union(inside, path)
        if origin is list:
            name, check = self.both(inside[0], f"{path}[]")
            return (f"({name})[]" if "|" in name else f"{name}[]"), self.call("list", check)
        if origin is tuple and Ellipsis not in inside:
            parts = [self.both(one, f"{path}[{i}]") for i, one in enumerate(inside)]
            return f"[{', '.join(name for name, _ in parts)}]", self.call(
                "row", *(check for _, check in parts)
            )
        if origin is dict and inside[0] is str:
            name, check = self.both(inside[1], f"{path}.*")
            return f"Record<string, {name}>", self.call("dict", check)
        raise TypeError(
            f"{path} is of the type {hint}, which does not travel: docs/making/page_types.py says what does"
        )

    def union(self, inside: tuple[Any, ...], path: str) -> tuple[str, str]:
        parts = [self.both(one, path) for one in inside if one is not type(None)]
        names, checks = [name for name, _ in parts], [check for _, check in parts]
        check = checks[0] if len(checks) == 1 else self.call("either", *checks)
        if type(None) in inside:
            return " | ".join([*names, "null"]), self.call("maybe", check)
        return " | ".join(names), check

    def state(self, state: type, path: str) -> tuple[str, str]:
        home = self.roots.get(state)
        if home not in (None, self.kind):
            name, check = f"{home.capitalize()}State", f"check{home.capitalize()}"
            self.imported[home] = name, check
            return name, check
        name, check = self.name(state), self.check_name(state)
        if state in self.open:  # a type that holds itself
            return name, self.call("later", f"() => {check}")
        if state not in self.interfaces:
            self.aliases |= _aliases(state.__module__)
            self.interfaces[state] = []
            self.open.append(state)
            lines, checks = [], []
            about = (state.__doc__ or "").strip().partition("\n")[0]
            if about and not about.startswith("dict("):
                lines.append(f"/** {about} */")
            lines.append(f"export interface {name} {{")
            for field, (hint, there) in hints(state).items():
                there = there and not (
                    field == "text" and state in self.roots
                )  # HTML carries it beside the record
                kind, one = self.both(hint, f"{path}.{field}")
                lines.append(f"  {_key(field)}{'' if there else '?'}: {kind};")
                checks.append(f"  {_key(field)}: {one if there else self.call('optional', one)},")
            self.interfaces[state] = [*lines, "}"]
            self.used.add("record")
            self.checks[state] = "\n".join(
                [f"export const {check}: Check<{name}> = record<{name}>({{", *checks, "});"]
            )
            self.open.pop()
            # in the order in which one needs the other
            self.interfaces[state] = self.interfaces.pop(state)
        return name, check

    def text(self, root: type) -> str:
        self.state(root, self.kind)
        head = HEAD.format(
            kind=self.kind, of=f"{root.__module__}.{root.__name__}".replace("vistorch.", "", 1)
        )
        from_payload = [name for name in ("Nd", "Real") if name in self.types]
        imports = []
        for home, (name, check) in sorted(self.imported.items()):
            imports.append(f'import {{ check as {check}, type State as {name} }} from "../{home}/types";')
        names = sorted(["type Check", *self.used], key=lambda name: name.split()[-1].lower())
        imports.append(f'import {{ {", ".join(names)} }} from "{CHECKS}";')
        if from_payload:
            imports.append(f'import type {{ {", ".join(from_payload)} }} from "../shared/payload";')
        parts = [head, "\n".join(imports)]
        parts.append("\n".join(_constants(root)))
        parts += [f"export type {name} = {of};" for name, of in self.named.items()]
        parts += ["\n".join(lines) for lines in self.interfaces.values()]
        parts += list(self.checks.values())
        return "\n\n".join(part.rstrip("\n") for part in parts if part) + "\n"


def _constants(root: type) -> list[str]:
    """The numbers and words of `CONSTANTS`, beside a state, that its page uses too."""
    found = getattr(import_module(root.__module__), "CONSTANTS", {})
    return [
        f"export const {name} = {json.dumps(value)}{' as const' if isinstance(value, tuple) else ''};"
        for name, value in found.items()
    ]


def _aliases(module: str) -> dict[str, Any]:
    """The names that a module gives to choices: of words, or of three types and more."""
    found = vars(import_module(module)).items()
    return {
        name: one
        for name, one in found
        if typing.get_origin(one) is typing.Literal
        or (typing.get_origin(one) in (typing.Union, types.UnionType) and len(typing.get_args(one)) > 2)
    }


def _key(name: str) -> str:
    return name if name.isidentifier() else json.dumps(name)


@functools.cache
def roots() -> dict[type, str]:
    """The state of every kind, and the kind."""
    return {state_of(kind): kind for kind in kinds()}


def page_types(kind: str) -> str:
    """The text of `js/src/<kind>/types.ts`.

    Args:
        kind: a folder of `vistorch/widgets`.
    """
    found = roots()
    root = next(state for state, of in found.items() if of == kind)
    return _Page(kind, found).text(root)


def files() -> dict[Path, Any]:
    """The files of types, and what makes the text of each."""
    folder = ROOT / "js" / "src"
    return {folder / kind / "types.ts": functools.partial(page_types, kind) for kind in kinds()}
