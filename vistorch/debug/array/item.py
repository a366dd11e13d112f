"""One thing becomes one item: it is measured, cut into blocks, coded, and given its scales and words.

Invariant: an item holds numpy arrays only, whatever it was made from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from ..device_reads import Batch
from .axes import default_dims, default_roles, image_of, picture_of
from .blocks import choose_block, grid_of
from .codes import BYTE_LEVELS, EXACT_BYTES, encode, encode_ends
from .glance import LEVELS, LISTED, glance
from .measure import Measured, measure, measure_complex
from .on_device import ask_measure
from .scales import phase_scale, plain_scale, scales_for
from .source import Source
from .state import Bad, Image, Item, Layer, Stats
from .words import pooled_words

SCALES = ("clip", "max", "log", "fixed")
MAPS = ("tide", "ember")
COMPLEX = 1 << 20  # elements of a complex array among many that are looked at
SINGLE = 30_000  # elements that are coded one by one for the same budget as EXACT_BYTES
COUNTS = 1 << 19  # bytes of the tables that come of an array that is counted on its device
CELLS = 19_500  # blocks of more than one, with room for the other ends of some


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


def make_item(source: Source, wishes: Wishes) -> Item:
    """Make the item.

    Args:
        source: the array.
        wishes: names, scale, budget.
    """
    return ask_item(Batch(), source, wishes)()


def ask_item(batch: Batch, source: Source, wishes: Wishes) -> Callable[[], Item]:
    """Ask for what the item is made of, and give what makes it.

    Args:
        batch: what brings it, with that of other items.
        source: the array.
        wishes: names, scale, budget.
    """
    shape, data = source.shape, source.data
    layers = 2 if data.dtype.kind == "c" else 1
    block, picture = _blocks(shape, data, wishes.budget // layers)
    image: list[Image | None] = [None]

    def averaged(least: Any, most: Any) -> bool:
        # whether it is a picture is known only then; pictures show the mean of a block
        image[0] = image_of(picture, data.dtype, least, most, source.parameter)
        if wishes.image is not None and image[0] is not None:
            image[0].shown = wishes.image
        return image[0] is not None and image[0].shown

    if layers == 2:
        whole = batch.whole(data)
        read = None
    else:
        whole = None
        read = _ask(batch, source, data, block, averaged)

    def make() -> Item:
        if whole is not None:
            found = measure_complex(whole.value, block)
        else:
            assert read is not None
            found = [("value", read())]
        made = [_layer(source, wishes, name, m) for name, m in found]
        return _item(source, wishes, block, made, found[0][1].bad, image[0])

    return make


def ask_small(batch: Batch, source: Source, wishes: Wishes, cells: int, read: bool) -> Callable[[], Item]:
    """The same for the item of one array among many: its numbers, and a small picture without a histogram.

    Args:
        batch: what brings it.
        source: the array.
        wishes: names, colours.
        cells: how many blocks the picture has at most.
        read: whether its values are looked at; if not, only its name and its kind are given.
    """
    shape, data = source.shape, source.data
    if not read or (data.dtype.kind == "c" and data.size > COMPLEX):
        empty = np.empty(0, np.int64), np.empty(0, np.uint8)
        layer = Layer("value", Stats(count=int(data.size), read=False))
        return lambda: _item(source, wishes, shape, [layer], Bad(0, 0, 0, *empty), None)
    block = choose_block(shape, max(1, cells), tuple(range(len(shape)))[-2:])
    if data.dtype.kind == "c":
        whole = batch.whole(data)
        return lambda: _small(source, wishes, cells, block, measure_complex(whole.value, block)[0][1])
    look = _ask(batch, source, data, block, None, brief=True)
    return lambda: _small(source, wishes, cells, block, look())


def _small(source: Source, wishes: Wishes, cells: int, block: tuple[int, ...], found: Measured) -> Item:
    data = source.data
    layer = Layer("magnitude" if data.dtype.kind == "c" else "value", _short(found.stats))
    if cells:
        layer.scales = [plain_scale(found.stats, _map(wishes))]
        layer.data, layer.codes, layer.levels, layer.exact = encode(found.cells, cells, LEVELS)
        layer.ends = encode_ends(found.cells, found.ends, LEVELS)
    bad = found.bad
    few = Bad(bad.nan, bad.posinf, bad.neginf, bad.at[:LISTED], bad.which[:LISTED])
    return _item(source, wishes, block, [layer], few, None)


def _short(stats: Stats) -> Stats:
    """The same with mean and deviation in nine digits: many arrays take few bytes."""
    for name in ("mean", "std"):
        value = getattr(stats, name)
        if isinstance(value, float):
            setattr(stats, name, float(f"{value:.9g}"))
    return stats


def _item(
    source: Source, wishes: Wishes, block: tuple[int, ...], made: list[Layer], bad: Bad, image: Image | None
) -> Item:
    shape, data = source.shape, source.data
    named = default_dims(shape, image, source.parameter) if wishes.dims is None else tuple(wishes.dims)
    if len(named) != len(shape):
        raise ValueError(f"dims names {len(named)} axes of an array that has {len(shape)}")
    drawn = bool(made[0].scales)
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
        pooled=pooled_words(block, image is not None and image.shown, data.dtype.kind == "c")
        if drawn
        else "",
        roles=default_roles(shape, image),
        image=image,
        layers=made,
        bad=bad,
    )


def _blocks(
    shape: tuple[int, ...], data: Any, budget: int
) -> tuple[tuple[int, ...], tuple[int, int, int] | None]:
    """The blocks, and the axes of a picture if by its shape it may be one."""
    picture = picture_of(shape, data.dtype)
    if data.size * data.dtype.itemsize <= budget or data.size <= budget * SINGLE // EXACT_BYTES:
        return (1,) * len(shape), picture
    most = max(1, budget * CELLS // EXACT_BYTES)
    if picture is not None:
        channels, rows, cols = picture
        return choose_block(shape, most, (rows, cols), (channels,)), picture
    return choose_block(shape, most, tuple(range(len(shape)))[-2:]), None


def measure_source(source: Source, data: Any, block: tuple[int, ...] | None, mean: Any) -> Measured:
    """Measure where the array is: only what is small leaves a GPU."""
    return _ask(Batch(), source, data, block, mean)()


def _ask(
    batch: Batch, source: Source, data: Any, block: tuple[int, ...] | None, mean: Any, brief: bool = False
) -> Callable[[], Measured]:
    """Have a real array measured where it is; small ones, which take no more bytes than their counts, come whole."""
    if source.xp is np:
        return lambda: _here(data, block, mean, brief)
    asked = None
    if data.nbytes > COUNTS:
        with source.place:
            asked = ask_measure(batch, source.xp, data, block, mean, brief)
    if asked is None:
        whole = batch.whole(data)
        return lambda: _here(whole.value, block, mean, brief)

    def read() -> Measured:
        found = asked.value
        return _here(fetched(source, data), block, mean, brief) if found is None else found

    return read


def _here(data: np.ndarray, block: tuple[int, ...] | None, mean: Any, brief: bool) -> Measured:
    return glance(data, block) if brief and block is not None else measure(data, block, mean)


def fetched(source: Source, data: Any) -> np.ndarray:
    """The elements on the host."""
    if source.xp is np:
        return data
    with source.place:
        return source.xp.asnumpy(data)


def _map(wishes: Wishes) -> str:
    return wishes.map or ("ember" if wishes.role == "gradient" else "tide")


def _layer(source: Source, wishes: Wishes, name: str, found: Measured) -> Layer:
    layer = Layer(name, found.stats)
    if name == "phase":
        layer.scales = [phase_scale(found.spread)]
    else:
        kind = found.source.array.dtype.kind
        layer.scales, layer.scale = scales_for(
            found.stats, found.spread, whole=kind in "iu", truth=kind == "b", map=_map(wishes)
        )
        ids = [s.id for s in layer.scales]
        if wishes.scale in ids:  # booleans have but one
            layer.scale = ids.index(wishes.scale)
    budget = wishes.budget if name == "value" else wishes.budget // 2
    layer.ends = encode_ends(found.cells, found.ends)
    # Two values a block take the bytes that finer levels of one would.
    most = None if layer.ends is None else BYTE_LEVELS
    layer.data, layer.codes, layer.levels, layer.exact = encode(found.cells, budget, most)
    return layer
