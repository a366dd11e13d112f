"""What the axes of an array mean: their names, how they are laid out at first, and whether it is a picture.

Invariant: an array is taken for a picture only where both its shape and its range say so.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .state import Image

SIDE = 8  # a picture has at least so many rows and columns
TILED = 64  # an axis with more entries is a slider, not a row of tiles
CHANNELS = (3, 4, 1)

KERNELS = {3: ("out", "in", "k"), 4: ("out", "in", "kh", "kw"), 5: ("out", "in", "kd", "kh", "kw")}


def dims_of(module: Any, name: str, shape: tuple[int, ...]) -> tuple[str, ...] | None:
    """The names of the axes of a module's own parameter; None where they are not known.

    Args:
        module: the module that holds it.
        name: its name there, such as "weight".
        shape: its shape.
    """
    kind = next((c.__name__ for c in type(module).__mro__ if c.__name__ in _KNOWN), None)
    if kind is None:
        return None
    dims = _KNOWN[kind](name, len(shape))
    return dims if dims is not None and len(dims) == len(shape) else None


def _linear(name: str, rank: int) -> tuple[str, ...] | None:
    return {"weight": ("out", "in"), "bias": ("out",)}.get(name)


def _conv(name: str, rank: int) -> tuple[str, ...] | None:
    return KERNELS.get(rank) if name == "weight" else ("out",)


def _transposed(name: str, rank: int) -> tuple[str, ...] | None:
    dims = KERNELS.get(rank)
    return ("out",) if name != "weight" else None if dims is None else ("in", "out", *dims[2:])


def _embedding(name: str, rank: int) -> tuple[str, ...] | None:
    return ("entry", "feature") if name == "weight" else None


def _bilinear(name: str, rank: int) -> tuple[str, ...] | None:
    return {"weight": ("out", "in1", "in2"), "bias": ("out",)}.get(name)


def _feature(name: str, rank: int) -> tuple[str, ...] | None:
    return ("feature",)


def _recurrent(name: str, rank: int) -> tuple[str, ...] | None:
    if name.startswith("weight_hr"):
        return ("out", "hidden")
    if name.startswith("weight"):
        return ("gate and hidden", "in" if "_ih" in name else "hidden")
    return ("gate and hidden",)


def _attention(name: str, rank: int) -> tuple[str, ...] | None:
    return ("out", "in") if name.endswith("weight") else ("out",) if rank == 1 else None


_KNOWN: dict[str, Any] = {
    "Linear": _linear,
    "LazyLinear": _linear,
    "_ConvTransposeNd": _transposed,
    "_ConvNd": _conv,
    "Embedding": _embedding,
    "EmbeddingBag": _embedding,
    "Bilinear": _bilinear,
    "_NormBase": _feature,
    "LayerNorm": _feature,
    "RMSNorm": _feature,
    "GroupNorm": _feature,
    "PReLU": _feature,
    "RNNBase": _recurrent,
    "RNNCellBase": _recurrent,
    "MultiheadAttention": _attention,
}


def default_dims(shape: tuple[int, ...], image: Image | None, parameter: bool) -> tuple[str, ...]:
    """Names where nobody gave any: those of a picture, of a convolution's weight, or numbers."""
    rank = len(shape)
    if image is not None:
        names = {image.channels: "channel", image.rows: "row", image.cols: "column"}
        lead = [a for a in range(rank) if a not in names]
        names.update({a: "image" if len(lead) == 1 else f"axis {a}" for a in lead})
        return tuple([names[a] for a in range(rank)])
    if parameter and rank in (4, 5):
        return KERNELS[rank]
    return tuple([f"axis {a}" for a in range(rank)])


def default_roles(shape: tuple[int, ...], image: Image | None) -> tuple[str, ...]:
    """Rows and columns last, tiles before them, sliders for the rest."""
    rank = len(shape)
    roles = ["slider"] * rank
    if image is not None and image.shown:
        roles[image.channels], roles[image.rows], roles[image.cols] = "channels", "rows", "cols"
        lead = [a for a in range(rank) if roles[a] == "slider"]
    else:
        if rank:
            roles[-1] = "cols"
        if rank > 1:
            roles[-2] = "rows"
        lead = list(range(rank - 2))
    free = ["across", "down"] if len(lead) < 2 else ["down", "across"]
    for axis in reversed(lead):
        if free and shape[axis] <= TILED:
            roles[axis] = free.pop(0)
    return tuple(roles)


def picture_of(shape: tuple[int, ...], dtype: np.dtype) -> tuple[int, int, int] | None:
    """(channels, rows, columns) of what by shape and type may be a picture or several; None otherwise."""
    if len(shape) not in (3, 4) or not shape or 0 in shape:
        return None
    if not (dtype == np.uint8 or dtype.kind in "fV"):
        return None
    first = len(shape) - 3
    for channels, rows, cols in ((first, first + 1, first + 2), (first + 2, first, first + 1)):
        if shape[channels] in CHANNELS and shape[rows] >= SIDE and shape[cols] >= SIDE:
            return channels, rows, cols
    return None


def image_of(
    axes: tuple[int, int, int] | None, dtype: np.dtype, least: Any, most: Any, parameter: bool
) -> Image | None:
    """The picture, if the range is one's too: 0 to 1, or 0 to 255 in bytes.

    Args:
        axes: from `picture_of`.
        dtype: of the elements.
        least: the smallest finite element.
        most: the largest.
        parameter: a parameter may be shown as a picture, but is not at first.
    """
    if axes is None or least is None:
        return None
    if dtype == np.uint8:
        # bytes of 0 and 1 only are a mask
        return Image(*axes, lo=0.0, hi=255.0, shown=not parameter) if most > 1 else None
    if least < 0 or most > 1 or most == least:
        return None
    return Image(*axes, shown=not parameter)
