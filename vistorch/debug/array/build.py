"""The entry points: `record` for one thing, `strip` for several, `parameter` for one with its gradient.

Invariant: what they return holds no tensor and no array of the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...engine.core.tensor import Tensor
from ...engine.methods.conversion import text_with
from ...engine.methods.format import printed
from ...nn.parameter import Parameter
from ..device_reads import Batch, place_of
from .axes import dims_of
from .codes import EXACT_BYTES
from .glance import CELLS
from .item import Wishes, ask_item, ask_small
from .source import Source, is_array, source_of
from .state import ArrayRecord
from .words import table

SHOWN = 24  # so many items of a strip have a histogram and a share of its bytes
BESIDE = 30  # and so many where gradients and updates stand beside the values, with less for each
LARGE = 1 << 23  # elements: a larger item of a strip, or what follows so many, is looked through only once
LOOKED = 1 << 29  # elements that a strip looks through; what follows is named
SMALL_CELLS = 8_000  # blocks of all small pictures together
STRIP_BYTES = 28_000  # for all of a strip: its scales and counts take as much again
LEAST_CELLS = 8  # a smaller picture shows nothing
LEAST = 1_200  # bytes that even the smallest share of a budget is
UNSET: Any = object()


def record(
    x: Any,
    *,
    name: str = "",
    index: str = "x",
    role: str = "",
    dims: Sequence[str] | None = None,
    scale: str | None = None,
    map: str | None = None,
    budget: int = EXACT_BYTES,
    image: bool | None = None,
    size: int = 640,
    title: str | None = None,
) -> ArrayRecord:
    """The record of one array.

    Args:
        x: a tensor, a numpy or CUDA array, a number, or a list of numbers.
        name: what it is called.
        index: what an index is written behind, such as `w` in `w[3, 7]`.
        role: "", "value", "gradient" or "update"; gradients have colours of their own.
        dims: a name for each axis.
        scale: "clip", "max", "log" or "fixed" where not the one chosen from the data is wanted.
        map: "tide" or "ember" likewise.
        budget: how many bytes the exact values may take; larger arrays are coded, and then pooled.
        image: whether what could be a picture is first shown as one; chosen from the data if not given.
        size: how wide it is shown, in pixels.
        title: the headline; the name if not given.

    Example:
        >>> import vistorch
        >>> from vistorch.debug.array import record
        >>> r = record(vistorch.tensor([[1.0, -2.0], [0.5, float("nan")]]), name="w")
        >>> print(r.text())
        tensor([[ 1.0000, -2.0000],
                [ 0.5000,     nan]])
        >>> stats = r.items[0].layers[0].stats
        >>> stats.min, stats.max, stats.nan
        (-2.0, 1.0, 1)
    """
    x = np.asarray(x) if isinstance(x, (list, tuple)) else x
    batch = Batch()
    source, text = _with_text(batch, x)
    item = ask_item(batch, source, Wishes(name, index, role, dims, scale, map, budget, image))()
    return ArrayRecord("one", name if title is None else title, text(), [item], size)


def _with_text(batch: Batch, x: Any) -> tuple[Source, Callable[[], str]]:
    """A thing as an array, and what gives its text; what the text shows comes with the rest of a batch."""
    if type(x) in (Tensor, Parameter) and place_of(x._data) is not None:
        source = source_of(x, text=False)
        shown = batch.whole(printed(x._data))
        return source, lambda: text_with(x, shown.value)
    source = source_of(x)
    return source, lambda: source.text


def parameter(
    p: Any,
    grad: Any = UNSET,
    update: Any = UNSET,
    *,
    name: str = "",
    index: str = "x",
    dims: Sequence[str] | None = None,
    budget: int = EXACT_BYTES,
    size: int = 640,
) -> ArrayRecord:
    """The record of one parameter: its value, its gradient and what the last step changed, side by side.

    Args:
        p: the parameter.
        grad: its gradient; `p.grad` if not given; None if there is none.
        update: what the last step added to it; what `debug.updates` remembers if not given.
        name: what it is called.
        index: what an index is written behind.
        dims: a name for each axis.
        budget: as for a single array; two arrays and more get half of it each.
        size: how wide they are shown, in pixels.

    Example:
        >>> import vistorch
        >>> from vistorch.debug.array import parameter
        >>> w = vistorch.nn.Parameter(vistorch.ones(2, 3))
        >>> (w * w).sum().backward()
        >>> [(item.role, item.layers[0].stats.max) for item in parameter(w).items]
        [('value', 1.0), ('gradient', 2.0)]
    """
    from ..updates import last_update, why_none

    grad = p.grad if grad is UNSET else grad
    update = last_update(p) if update is UNSET else update
    says = []
    if grad is None:
        says.append("no gradient yet: it is there after backward()")
    if update is None:
        says.append(why_none(p))
    parts = [("value", p, index), ("gradient", grad, f"{index}.grad"), ("update", update, "update")]
    parts = [part for part in parts if part[1] is not None]
    batch, asked, text = Batch(), [], None
    for role, x, written in parts:
        if text is None:
            source, text = _with_text(batch, x)
        else:
            source = source_of(x, text=False)
        if source.shape != tuple(p.shape):
            raise ValueError(f"the {role} has shape {source.shape}, the parameter {tuple(p.shape)}")
        source.parameter = True
        wishes = Wishes(name, written, role, dims, None, None, budget // min(2, len(parts)))
        asked.append(ask_item(batch, source, wishes))
    items = [make() for make in asked]
    return ArrayRecord("linked", name, "" if text is None else text(), items, size, says)


def strip(
    things: Any, *, name: str = "", index: str = "x", budget: int = STRIP_BYTES, size: int = 640
) -> ArrayRecord:
    """The record of several arrays: of a dict or list, also nested, or the parameters of a module.

    After a backward pass a module's parameters have their gradients and last updates beside them, as items of the same
    name with the roles "gradient" and "update" that follow the value.

    Args:
        things: the dict, list or module.
        name: what it is called.
        index: how it is written in code.
        budget: bytes for all; each gets what it needs or an equal share. From the 25th on pictures are small and
            nothing is counted along a scale; beyond half a billion elements only names are given.
        size: how wide it is shown, in pixels.

    Example:
        >>> import vistorch
        >>> from vistorch.debug.array import strip
        >>> r = strip(vistorch.nn.Linear(3, 2), index="layer")
        >>> [(item.name, item.index, item.shape, item.dims) for item in r.items]
        [('weight', 'layer.weight', (2, 3), ('out', 'in')), ('bias', 'layer.bias', (2,), ('out',))]
    """
    says: list[str] = []
    drawn = SHOWN
    if hasattr(things, "named_parameters"):
        parts = [one for part in _of_module(things, index) for one in _with_others(*part)]
        if any(role for *_, role, _ in parts):
            drawn = BESIDE
            parts = [(path, written, dims, role or "value", x) for path, written, dims, role, x in parts]
    else:
        skipped: list[str] = []
        found = _of_container(things, "", index, skipped)
        parts = [(path, written, dims, "", x) for path, written, dims, x in found]
        if skipped:
            more = f" and {len(skipped) - 5} more" if len(skipped) > 5 else ""
            says.append(f"not shown, because they are no arrays: {', '.join(skipped[:5])}{more}")
    sources: list[Source] = []
    kept = []
    for path, written, dims, role, x in parts:
        try:
            sources.append(source_of(x, text=False))
            sources[-1].parameter = sources[-1].parameter or role != ""
            kept.append((path, written, dims, role))
        except (TypeError, ValueError, RuntimeError) as why:
            says.append(f"{path}: {why}")
    while 0 < drawn < len(kept) and kept[drawn][3] in ("gradient", "update"):
        drawn -= 1  # not a value without what belongs to it
    sizes = (budget // 3, LEAST // 4) if any(role for *_, role in kept) else (budget, LEAST)
    shares = _shares([s.data.size * s.data.dtype.itemsize for s in sources[:drawn]], *sizes)
    batch, asked = Batch(), []
    whole, looked, small = 0, 0, 0
    each = SMALL_CELLS // max(1, len(kept))
    each = 0 if each < LEAST_CELLS else min(CELLS, each)
    for i, (source, (path, written, dims, role)) in enumerate(zip(sources, kept, strict=True)):
        count = source.data.size
        if i < drawn and count <= LARGE - whole:
            whole += count
            asked.append(ask_item(batch, source, Wishes(path, written, role, dims, budget=shares[i])))
            continue
        looked += count
        small += looked <= LOOKED
        cells = max(each, min(CELLS, shares[i] // 4)) if i < drawn else each
        asked.append(ask_small(batch, source, Wishes(path, written, role, dims), cells, looked <= LOOKED))
    items = [make() for make in asked]
    unread = sum(not item.layers[0].stats.read for item in items)
    if small:
        full = len(items) - small - unread
        says.append(
            f"{full:,} of {len(items):,} are drawn in full, {small:,} small: show one by itself for all of it"
        )
    if unread:
        says.append(f"{unread} of {len(items)} are named only, for all are too large to look through")
    return ArrayRecord("strip", name, table(items, says), items, size, says)


def _of_module(module: Any, index: str) -> Iterator[tuple[str, str, Any, Any]]:
    """Path, how it is written, names of axes, parameter."""
    holders = dict(module.named_modules())
    for path, p in module.named_parameters():
        holder, _, own = path.rpartition(".")
        try:
            dims = dims_of(holders[holder], own, tuple(p.shape)) if holder in holders else None
        except RuntimeError:  # a lazy parameter has no shape yet
            dims = None
        written = "".join([f"[{part}]" if part.isdigit() else f".{part}" for part in path.split(".")])
        yield path, index + written, dims, p


def _with_others(path: str, written: str, dims: Any, p: Any) -> Iterator[tuple[str, str, Any, str, Any]]:
    """A parameter, its gradient and its last update, as far as there are any."""
    from ..updates import last_update

    yield path, written, dims, "", p
    grad, update = p.grad, last_update(p)
    if grad is not None:
        yield path, f"{written}.grad", dims, "gradient", grad
    if update is not None and tuple(update.shape) == tuple(p.shape):
        yield path, "update", dims, "update", update


def _of_container(
    things: Any, path: str, index: str, skipped: list[str], within: tuple[int, ...] = ()
) -> Iterator[tuple[str, str, Any, Any]]:
    """The same for dicts and lists, depth first."""
    if id(things) in within:
        skipped.append(f"{path} (itself)")
        return
    if isinstance(things, Mapping):
        pairs = [(str(k), f"{index}[{k!r}]", v) for k, v in things.items()]
    elif isinstance(things, (list, tuple)):
        pairs = [(str(i), f"{index}[{i}]", v) for i, v in enumerate(things)]
    else:
        raise TypeError(f"cannot show a {type(things).__name__} as a strip: give a dict, a list or a module")
    for key, written, value in pairs:
        here = f"{path}.{key}" if path else key
        if isinstance(value, (Mapping, list, tuple)):
            yield from _of_container(value, here, written, skipped, (*within, id(things)))
        elif is_array(value):
            yield here, written, None, value
        else:
            skipped.append(here)


def _shares(needs: list[int], budget: int, least: int = LEAST) -> list[int]:
    """What each gets of a budget: what it needs, or an equal share of what the small ones leave."""
    shares = [0] * len(needs)
    left = budget
    order = sorted(range(len(needs)), key=needs.__getitem__)
    for i, which in enumerate(order):
        share = left // (len(order) - i)
        shares[which] = max(least, min(needs[which], share))
        left -= min(needs[which], share)
    return shares
