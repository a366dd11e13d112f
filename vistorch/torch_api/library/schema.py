"""Schemas of custom operators, `name(Tensor x, float scale=1.0) -> Tensor`: read, inferred, and held against a call.

Invariant: what `bind` returns has one value for each argument of the schema, each of the type that it says.
"""

from __future__ import annotations

import ast
import inspect
import numbers
import typing
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import vistorch

NO_DEFAULT = inspect.Parameter.empty
_PLAIN: dict[Any, str] = {
    vistorch.Tensor: "Tensor",
    int: "SymInt",
    float: "float",
    bool: "bool",
    str: "str",
    numbers.Number: "Scalar",
    vistorch.dtype: "ScalarType",
    vistorch.device: "Device",
}
_SCALAR = frozenset({int, float, bool})


class Argument(NamedTuple):
    """One argument: its type as the schema writes it, and whether the operator writes into it."""

    name: str
    type: str
    default: Any = NO_DEFAULT
    keyword_only: bool = False
    mutated: bool = False


@dataclass(frozen=True)
class Schema:
    """What an operator takes and gives; its text is `name(arguments) -> results`."""

    name: str
    overload: str
    arguments: tuple[Argument, ...]
    results: str

    @property
    def is_mutable(self) -> bool:
        """Whether the operator writes into an argument."""
        return any(a.mutated for a in self.arguments)

    def __str__(self) -> str:
        words, starred, alias = [], False, 0
        for a in self.arguments:
            if a.keyword_only and not starred:
                words.append("*")
                starred = True
            kind = a.type
            if a.mutated:
                kind = kind.replace("Tensor", f"Tensor(a{alias}!)", 1)
                alias += 1
            default = "" if a.default is NO_DEFAULT else f"={_text(a.default, a.type)}"
            words.append(f"{kind} {a.name}{default}")
        dotted = f".{self.overload}" if self.overload else ""
        return f"{self.name}{dotted}({', '.join(words)}) -> {self.results}"


def parse(text: str) -> Schema:
    """Read a schema.

    Args:
        text: such as "scaled(Tensor x, *, float by=1.0) -> Tensor".

    Example:
        >>> str(parse("scaled(Tensor x, *, float by=1.0) -> Tensor"))
        'scaled(Tensor x, *, float by=1.0) -> Tensor'
    """
    head, arrow, results = text.rpartition("->")
    name, opened, inside = head.strip().partition("(")
    if not arrow or not opened or not inside.endswith(")"):
        raise RuntimeError(f"expected a schema such as 'name(Tensor x) -> Tensor', but got {text!r}")
    base, _, overload = name.strip().partition(".")
    arguments, keyword_only = [], False
    for part in _parts(inside[:-1]):
        if part == "*":
            keyword_only = True
            continue
        declared, given, default = part.partition("=")
        kind, _, own = declared.strip().rpartition(" ")
        if not kind:
            raise RuntimeError(f"expected a type and a name, but got {part!r} in the schema {text!r}")
        mutated = "!" in kind
        if "(" in kind:  # Tensor(a!)
            kind = kind[: kind.index("(")] + kind[kind.rindex(")") + 1 :]
        value = _value(default.strip(), text) if given else NO_DEFAULT
        arguments.append(Argument(own, kind.strip(), value, keyword_only, mutated))
    return Schema(base, overload, tuple(arguments), results.strip())


def _parts(inside: str) -> list[str]:
    """The arguments, between the commas that are in no bracket and no quotes."""
    parts, depth, quoted, begun = [], 0, "", 0
    for at, c in enumerate(inside):
        if quoted:
            quoted = "" if c == quoted else quoted
        elif c in "\"'":
            quoted = c
        elif c in "([":
            depth += 1
        elif c in ")]":
            depth -= 1
        elif c == "," and not depth:
            parts.append(inside[begun:at].strip())
            begun = at + 1
    return [p for p in (*parts, inside[begun:].strip()) if p]


def _value(text: str, schema: str) -> Any:
    named = {"true": True, "false": False, "none": None}
    if text.lower() in named:
        return named[text.lower()]
    kind = getattr(vistorch, text, None)
    if isinstance(kind, vistorch.dtype):
        return kind
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        raise RuntimeError(f"the default {text!r} in the schema {schema!r} is no value") from None


def _text(value: Any, kind: str) -> str:
    if kind.startswith("ScalarType") and isinstance(value, vistorch.dtype):
        return str(value).rpartition(".")[2]
    if isinstance(value, (str, vistorch.device)):
        return f'"{value}"'
    return str(list(value) if isinstance(value, tuple) else value)


# ---- from the annotations of a function ---------------------------------------------------------------------------
def infer_schema(
    prototype_function: Callable,
    /,
    *,
    mutates_args: str | Iterable[str],
    op_name: str | None = None,
    tags: Any = (),
) -> str:
    """Give the schema that a function's annotations say.

    Args:
        prototype_function: the function.
        mutates_args: the names of the arguments that it writes into, or "unknown": into all tensors.
        op_name: the name to write before the arguments; none by default.
        tags: accepted, changes nothing.

    Example:
        >>> import vistorch
        >>> def scaled(x: vistorch.Tensor, by: float = 2.0) -> vistorch.Tensor:
        ...     return x * by
        >>> vistorch.library.infer_schema(scaled, mutates_args=())
        '(Tensor x, float by=2.0) -> Tensor'
    """
    signature = inspect.signature(prototype_function)

    def wrong(what: str) -> ValueError:
        return ValueError(f"infer_schema(func): {what} Got func with signature {signature})")

    try:
        hints = typing.get_type_hints(
            prototype_function,
            localns={"Tensor": vistorch.Tensor, **{n: getattr(typing, n) for n in _TYPING}},
        )
    except NameError as e:
        raise wrong(f"Unsupported type annotation. It is not a type. ({e}).") from None
    written = mutates_args if isinstance(mutates_args, str) else tuple(mutates_args)
    if isinstance(written, str) and written != "unknown":
        raise ValueError(
            "mutates_args must be a sequence of the names of arguments, or the string 'unknown'."
        )
    arguments = []
    for name, p in signature.parameters.items():
        if p.kind not in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY):
            raise wrong("We do not support positional-only args, varargs, or varkwargs.")
        if p.annotation is p.empty:
            raise wrong(f"Parameter {name} must have a type annotation.")
        kind = type_name(hints[name])
        if kind is None:
            raise wrong(f"Parameter {name} has unsupported type {p.annotation}.")
        holds = kind.startswith("Tensor")
        if name in written and not isinstance(written, str) and not holds:
            raise wrong(
                f"Parameter {name} is in mutates_args, but only tensors and lists of tensors can be written"
            )
        mutated = holds and (written == "unknown" or name in written)
        arguments.append(Argument(name, kind, p.default, p.kind is p.KEYWORD_ONLY, mutated))
    if not isinstance(written, str) and (unknown := set(written) - set(signature.parameters)):
        raise wrong(f"{sorted(unknown)} in mutates_args were not found in the parameters.")
    if signature.return_annotation is inspect.Signature.empty:
        raise wrong("No return type annotation was provided. Please add one.")
    results = _results(hints.get("return"))
    if results is None:
        raise wrong(f"Return has unsupported type {signature.return_annotation}.")
    return str(Schema(op_name or "", "", tuple(arguments), results))


_TYPING = ("Any", "Dict", "List", "Optional", "Sequence", "Tuple", "Union")


def type_name(kind: Any) -> str | None:
    """A type as a schema writes it; None for one that no schema has.

    Args:
        kind: the annotation.

    Example:
        >>> type_name(list[int]), type_name(float | None), type_name(dict)
        ('SymInt[]', 'float?', None)
    """
    if (found := _plain(kind)) is not None:
        return found
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if inner and type(None) in inner and origin is not tuple:
        rest = [a for a in inner if a is not type(None)]
        of = type_name(rest[0] if len(rest) == 1 else typing.Union[tuple(rest)])  # noqa: UP007
        return None if of is None or of.endswith("?") else f"{of}?"
    if inner and frozenset(inner) == _SCALAR:
        return "Scalar"
    if (
        isinstance(origin, type)
        and issubclass(origin, Sequence)
        and not (origin is tuple and Ellipsis not in inner)
    ):
        of = type_name(inner[0])
        return None if of is None or of.endswith("]") else f"{of}[]"
    return None


def _plain(kind: Any) -> str | None:
    try:
        return _PLAIN.get(kind)
    except TypeError:  # an annotation that has no hash
        return None


def _results(kind: Any) -> str | None:
    if kind is None or kind is type(None):
        return "()"
    inner = typing.get_args(kind)
    if typing.get_origin(kind) is tuple and Ellipsis not in inner:
        of = [type_name(a) for a in inner]
        return None if None in of else f"({', '.join(of)})"  # type: ignore[arg-type]
    return type_name(kind)


# ---- the values of a call -----------------------------------------------------------------------------------------
_KINDS: dict[str, tuple[str, Any]] = {
    "Tensor": ("Tensor", vistorch.Tensor),
    "int": ("int", numbers.Integral),
    "SymInt": ("int", numbers.Integral),
    "float": ("float", numbers.Real),
    "bool": ("bool", bool),
    "str": ("str", str),
    "Scalar": ("number", numbers.Number),
    "Device": ("Device", (vistorch.device, str)),
}


def bind(schema: Schema, title: str, args: tuple, kwargs: dict[str, Any]) -> list[Any]:
    """The value of every argument; RuntimeError where one is missing, unknown or of another type.

    Args:
        schema: the operator's.
        title: the operator's name with its namespace.
        args: values by place.
        kwargs: values by name.
    """
    declared = f"{title}{str(schema)[len(schema.name) :]}"
    places = [a for a in schema.arguments if not a.keyword_only]
    if len(args) > len(places):
        raise RuntimeError(
            f"{title}() expected at most {len(places)} argument(s) but received {len(args)} argument(s). Declaration: "
            f"{declared}"
        )
    given = dict(zip([a.name for a in places], args, strict=False))
    names = {a.name for a in schema.arguments}
    for name in kwargs:
        if name not in names or name in given:
            raise RuntimeError(
                f"Unknown keyword argument '{name}' for operator '{title}'. Schema: {declared}"
            )
    given.update(kwargs)
    values = []
    for at, a in enumerate(schema.arguments):
        if a.name not in given:
            if a.default is NO_DEFAULT:
                raise RuntimeError(
                    f"{title}() is missing value for argument '{a.name}'. Declaration: {declared}"
                )
            values.append(a.default)
            continue
        value = given[a.name]
        wanted = _wanted(value, a.type)
        if wanted is not None:
            raise RuntimeError(
                f"{title}() Expected a value of type '{wanted}' for argument '{a.name}' but instead found type "
                f"'{type(value).__name__}'.\nPosition: {at}\nValue: {value!r}\nDeclaration: {declared}"
            )
        values.append(value)
    return values


def _wanted(value: Any, kind: str) -> str | None:
    """What a type asks for; None where the value is that."""
    if kind.endswith("?"):
        inner = _wanted(value, kind[:-1])
        return None if value is None or inner is None else f"Optional[{inner}]"
    if kind.endswith("]"):
        of = kind[: kind.rindex("[")]
        whole = isinstance(value, (list, tuple)) and all(_wanted(v, of) is None for v in value)
        return None if whole else f"List[{_KINDS.get(of.rstrip('?'), (of,))[0]}]"
    name, accepted = _KINDS.get(kind, (kind, object))
    return None if isinstance(value, accepted) else name
