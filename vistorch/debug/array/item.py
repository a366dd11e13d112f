"""One thing becomes one item: it is measured, cut into blocks, coded, and given its scales and words.

Invariant: an item holds numpy arrays only, whatever it was made from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from .axes import default_dims, default_roles, image_of, picture_of
from .blocks import choose_block, grid_of
from .codes import EXACT_BYTES, encode
from .complexes import measure_complex
from .measure import Measured, measure
from .on_device import measure_there
from .scales import phase_scale, scales_for
from .source import Source
from .state import Bad, Image, Item, Layer
from .words import pooled_words

SCALES = ("clip", "max", "log", "fixed")
MAPS = ("tide", "ember")
CELLS = 30_000  # coded cells for the same budget as EXACT_BYTES


@dataclass
class Wishes:
    """What the caller asked for; what is None or empty is chosen from the data."""

    name: str = ""
    index: str = "x"
    role: str = ""
    dims: Sequence[str] | None = None
    scale: str | None = None
    map: str | None = None
    budget: int = EXACT_BYTES
    image: bool | None = None

    def __post_init__(self) -> None:
        for what, given, known in (("scale", self.scale, SCALES), ("map", self.map, MAPS)):
            if given is not None and given not in known:
                raise ValueError(f"there is no {what} {given!r}: choose one of {', '.join(known)}")


def make_item(source: Source, wishes: Wishes, *, cells: bool = True) -> Item:
    """Make the item.

    Args:
        source: the array.
        wishes: names, scale, budget.
        cells: also what is drawn, not only the numbers.
    """
    shape, data = source.shape, source.data
    layers = 2 if data.dtype.kind == "c" else 1
    block, picture = _blocks(shape, data, wishes.budget // layers, cells)
    if layers == 2:
        found = measure_complex(fetched(source, data), block)
        image = None
    else:
        found, image = _measured(source, data, block if cells else None, picture, wishes.image)
    made = [_layer(source, wishes, name, m, cells) for name, m in found]
    named = default_dims(shape, image, source.parameter) if wishes.dims is None else tuple(wishes.dims)
    if len(named) != len(shape):
        raise ValueError(f"dims names {len(named)} axes of an array that has {len(shape)}")
    first = found[0][1]
    bad = first.bad
    return Item(
        name=wishes.name,
        index=wishes.index,
        role=wishes.role,
        shape=shape,
        dims=tuple([str(d) for d in named]),
        dtype=source.dtype,
        device=source.device,
        nbytes=int(data.dtype.itemsize * prod(shape)),
        notes=list(source.notes),
        block=block,
        grid=grid_of(shape, block),
        pooled=pooled_words(block, image is not None and image.shown, layers == 2),
        roles=default_roles(shape, image),
        image=image,
        layers=made,
        bad=Bad(bad.nan, bad.posinf, bad.neginf, bad.at, bad.which),
    )


def _blocks(
    shape: tuple[int, ...], data: Any, budget: int, cells: bool
) -> tuple[tuple[int, ...], tuple[int, int, int] | None]:
    """The blocks, and the axes of a picture if by its shape it may be one."""
    picture = picture_of(shape, data.dtype)
    if data.size * data.dtype.itemsize <= budget:
        return (1,) * len(shape), picture
    most = max(1, budget * CELLS // EXACT_BYTES) if cells else 1
    if picture is not None:
        channels, rows, cols = picture
        return choose_block(shape, most, (rows, cols), (channels,)), picture
    return choose_block(shape, most, tuple(range(len(shape)))[-2:]), None


def _measured(
    source: Source, data: Any, block: tuple[int, ...] | None, picture: Any, wished: bool | None
) -> tuple[list[tuple[str, Measured]], Image | None]:
    """Measure a real array. Whether it is a picture is known only then; pictures show the mean of a block."""
    image: list[Image | None] = [None]

    def averaged(least: Any, most: Any) -> bool:
        image[0] = image_of(picture, data.dtype, least, most, source.parameter)
        if wished is not None and image[0] is not None:
            image[0].shown = wished
        return image[0] is not None and image[0].shown

    found = measure_source(source, data, block, averaged)
    return [("value", found)], image[0]


def measure_source(source: Source, data: Any, block: tuple[int, ...] | None, mean: Any) -> Measured:
    """Measure where the array is: only what is small leaves a GPU."""
    if source.xp is not np:
        with source.place:
            found = measure_there(source.xp, data, block, mean)
        if found is not None:
            return found
    return measure(fetched(source, data), block, mean)


def fetched(source: Source, data: Any) -> np.ndarray:
    """The elements on the host."""
    if source.xp is np:
        return data
    with source.place:
        return source.xp.asnumpy(data)


def _layer(source: Source, wishes: Wishes, name: str, found: Measured, cells: bool) -> Layer:
    layer = Layer(name, found.stats)
    if not cells:
        return layer
    if name == "phase":
        layer.scales = [phase_scale(found.spread)]
    else:
        map = wishes.map or ("ember" if wishes.role == "gradient" else "tide")
        kind = found.source.array.dtype.kind
        layer.scales, layer.scale = scales_for(
            found.stats, found.spread, whole=kind in "iu", truth=kind == "b", map=map
        )
        ids = [s.id for s in layer.scales]
        if wishes.scale in ids:  # booleans have but one
            layer.scale = ids.index(wishes.scale)
    budget = wishes.budget if name == "value" else wishes.budget // 2
    layer.data, layer.codes, layer.levels, layer.exact = encode(found.cells, budget)
    return layer
