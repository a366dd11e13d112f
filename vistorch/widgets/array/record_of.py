"""From a thing to its record: which kind of record fits it, and what was wished for about it.

Invariant: what cannot be shown, and what was wished for but is not there, is refused in one line; nothing is shown
instead of it in silence.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...debug import array as arrays
from ...debug.array.axes import default_roles
from ...debug.array.codes import EXACT_BYTES
from ...debug.source import is_torch, source_of
from ...debug.updates import MOST, last_update, remember, why_none
from .._frame.finding import is_parameter
from .._frame.user_error import Refusal, either, first_line, perhaps

KEPT = 16 << 20  # bytes of parameters that a step may copy for the sake of being shown
SCALES = ("clip", "max", "log", "fixed")
ROLES = ("rows", "cols", "across", "down", "slider", "channels")


@dataclass
class Made:
    """A record, and the things its items were made of, in their order; None where there is none to ask again."""

    record: arrays.ArrayRecord
    sources: list[Any]


@dataclass
class Wish:
    """What was asked for; None leaves it to the data.

    Args:
        name: what the thing is called.
        index: what an index is written behind; the name if not given.
        grad: the gradient instead of the value.
        linked: show a parameter with its gradient and its last update.
        dims: a name for each axis.
        roles: what each axis is, of ROLES.
        scale: one of SCALES.
        map: "tide" or "ember".
        image: whether a picture is shown as one.
        size: pixels.
        budget: bytes of exact values.
    """

    name: str
    index: str | None = None
    grad: bool = False
    linked: bool = True
    dims: Sequence[str] | None = None
    roles: Sequence[str] | None = None
    scale: str | None = None
    map: str | None = None
    image: bool | None = None
    size: int = 640
    budget: int = EXACT_BYTES


def make(x: Any, wish: Wish) -> Made:
    """Make the record of anything that can be shown.

    Args:
        x: a tensor, a parameter, an array, a number, a module, or a dict or list of such.
        wish: what was asked for.
    """
    if isinstance(x, type):
        raise Refusal(
            f"cannot show the class {x.__name__}: show takes what is made of it, as {x.__name__}(...)"
        )
    index = indexed(wish.name if wish.index is None else wish.index)
    several = hasattr(x, "named_parameters") or isinstance(x, (Mapping, list, tuple))
    sizes: dict[str, Any] = {"name": wish.name, "index": index, "budget": wish.budget, "size": wish.size}
    try:
        if several:
            made = _several(x, wish, sizes)
        elif wish.grad:
            gradient = grad_of(x, wish.name)
            sizes["index"] = f"{index}.grad"
            named = {"name": f"{wish.name}.grad", "title": f"{wish.name}.grad"}
            made = Made(
                arrays.record(
                    gradient, role="gradient", dims=wish.dims, image=wish.image, **{**sizes, **named}
                ),
                [gradient],
            )
        elif wish.linked and is_parameter(x):
            remember(x)
            made = Made(arrays.parameter(x, dims=wish.dims, **sizes), [x, *_others(x)])
        else:
            made = Made(arrays.record(x, dims=wish.dims, image=wish.image, **sizes), [x])
    except (TypeError, ValueError) as error:
        raise Refusal(_plainly(error)) from None
    _apply(made.record, wish, several)
    return made


def grad_of(x: Any, name: str) -> Any:
    """Return a tensor's gradient, or refuse with what to do to get one."""
    source = source_of(x)
    gradient = _grad_or_none(x)
    if gradient is not None:
        return gradient
    if source is None or not source.is_tensor(x):
        raise Refusal(f"{name} is a {type(x).__name__} and has no gradient: leave out --grad")
    if not x.requires_grad:
        raise Refusal(f"{name} does not require a gradient: type {name}.requires_grad_() before it is used")
    if not x.is_leaf:
        raise Refusal(
            f"{name} was computed and keeps no gradient: type {name}.retain_grad() before backward()"
        )
    raise Refusal(f"{name} has no gradient yet: it is there after backward()")


def indexed(code: str) -> str:
    """Return an expression so that an index can be written behind it; what is no expression becomes `x`.

    Example:
        >>> indexed("net[0].weight"), indexed("a + b"), indexed("my layer")
        ('net[0].weight', '(a + b)', 'x')
    """
    try:
        node = ast.parse(code.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return "x"
    closed = isinstance(
        node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.List, ast.Dict, ast.Tuple)
    )
    return code.strip() if closed else f"({code.strip()})"


def _others(parameter: Any) -> list[Any]:
    """Return the gradient, and the array of the last update, that a parameter's record has shown."""
    update = last_update(parameter)
    others = [parameter.grad, None if update is None else update._data]
    return [other for other in others if other is not None]


def _several(x: Any, wish: Wish, sizes: dict[str, Any]) -> Made:
    """Make the record of a module, a dict or a list."""
    if wish.dims is not None:
        raise Refusal("--dims names the axes of one array: show one of them by its path")
    parts = dict(_parts(x, ""))
    if not parts:
        raise Refusal(f"{wish.name} holds no tensor and no array to show")
    if wish.grad:
        parts = {f"{path}.grad": g for path, part in parts.items() if (g := _grad_or_none(part)) is not None}
        if not parts:
            raise Refusal(f"nothing in {wish.name} has a gradient yet: it is there after backward()")
        x = parts
    late = _remember(x) if hasattr(x, "named_parameters") else ""
    record = arrays.strip(x, **sizes)
    if wish.grad:
        for item in record.items:
            item.role = "gradient"
        return Made(record, [parts.get(item.name) for item in record.items])
    roles = {item.role for item in record.items}
    if "gradient" in roles and "update" not in roles:
        record.says.append(late)
        record.shown += f"\n{late}"
    return Made(record, [_part(parts.get(item.name), item.role) for item in record.items])


def _part(part: Any, role: str) -> Any:
    """Return what stands beside a parameter, or the parameter itself."""
    if role == "gradient":
        return _grad_or_none(part)
    update = last_update(part) if role == "update" else None
    return part if role != "update" else None if update is None else update._data


def updated(x: Any) -> list[Any]:
    """Return the parameters that show their last update where a thing is shown: none where to keep it costs much."""
    if is_torch(x):
        return []
    if is_parameter(x):
        return [x]
    if not hasattr(x, "named_parameters"):
        return []
    parameters = list(x.parameters())
    sizes = [getattr(p, "_data", None) for p in parameters]
    if len(parameters) > MOST or sum(getattr(d, "nbytes", 0) for d in sizes) > KEPT:
        return []
    return parameters


def _remember(module: Any) -> str:
    """Keep what the next steps add to a module's parameters, where that costs little; return what to say until then."""
    parameters = updated(module)
    if is_torch(module):
        return why_none(module)
    if not parameters:
        return "updates are kept for a parameter that is shown by itself, not for so many"
    for p in parameters:
        remember(p)
    return why_none(parameters[0])


def _grad_or_none(x: Any) -> Any:
    """Return a tensor's gradient if it has one."""
    source = source_of(x)
    return source.gradient(x) if source is not None and source.is_tensor(x) else getattr(x, "grad", None)


def _parts(x: Any, path: str, within: tuple[int, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Walk over what a strip shows, with the paths it gives them."""
    if hasattr(x, "named_parameters"):
        yield from x.named_parameters()
        return
    if id(x) in within:
        return
    for key, value in x.items() if isinstance(x, Mapping) else enumerate(x):
        here = f"{path}.{key}" if path else str(key)
        if isinstance(value, (Mapping, list, tuple)):
            yield from _parts(value, here, (*within, id(x)))
        elif arrays.is_array(value):
            yield here, value


def _plainly(error: Exception) -> str:
    """Return a sentence about what cannot be shown as it is typed here."""
    text = str(error)
    if "goes to `strip`" in text:
        return f"{text.partition(':')[0]}: show takes a tensor, an array, a module, a dict or a list"
    return text if isinstance(error, ValueError) or text.startswith("cannot show") else first_line(error)


def _apply(record: arrays.ArrayRecord, wish: Wish, several: bool) -> None:
    """Put into a record what was wished for beyond what its makers take."""
    if wish.roles is not None and several:
        raise Refusal("--roles says what each axis of one array is: show one of them by its path")
    for item in record.items:
        if wish.image is not None:
            _as_image(item, wish, several)
        if wish.roles is not None:
            item.roles = _roles(wish.roles, item)
        for layer in item.layers:
            for scale in layer.scales:
                if wish.map and scale.id != "phase":
                    scale.map = wish.map
                elif item.role == "gradient" and scale.id != "phase":
                    scale.map = "ember"
    if wish.scale is not None:
        _as_scaled(record, wish)


def _as_scaled(record: arrays.ArrayRecord, wish: Wish) -> None:
    """Choose the wished scale wherever it makes sense; refuse if it does nowhere."""
    found = False
    there: dict[str, None] = {}
    for item in record.items:
        for layer in item.layers:
            ids = [scale.id for scale in layer.scales]
            there.update(dict.fromkeys(ids))
            if wish.scale in ids:
                layer.scale = ids.index(wish.scale)
                found = True
    if not found and there:
        raise Refusal(f"the values of {wish.name} have no scale '{wish.scale}': type --scale {either(there)}")


def _as_image(item: arrays.Item, wish: Wish, several: bool) -> None:
    """Show a picture as one, or as numbers."""
    if item.image is None:
        if wish.image and not several:
            raise Refusal(
                f"{wish.name} is no picture: that is 1, 3 or 4 channels first or last, and values from 0 to 1 or bytes"
            )
        return
    item.image.shown = bool(wish.image)
    item.roles = default_roles(item.shape, item.image)


def _roles(roles: Sequence[str], item: arrays.Item) -> tuple[str, ...]:
    """Return the roles of the axes, if they can be."""
    for role in roles:
        if role not in ROLES:
            raise Refusal(
                f"an axis cannot be {role!r}{perhaps(role, ROLES)}: type --roles with {either(ROLES)}"
            )
        if role != "slider" and list(roles).count(role) > 1:
            raise Refusal(f"two axes cannot both be {role!r}: make one of them a slider")
    if len(roles) != len(item.shape):
        example = ",".join(item.roles)
        raise Refusal(
            f"--roles says what each of {len(item.shape)} axes is, got {len(roles)}: such as {example}"
        )
    if "channels" in roles and (item.image is None or roles.index("channels") != item.image.channels):
        raise Refusal("an axis is 'channels' only where it holds the colours of a picture: make it across")
    return tuple(roles)
