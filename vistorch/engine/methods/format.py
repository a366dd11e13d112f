"""A tensor as text, to the character as PyTorch prints it.

Invariant: every element that is printed is turned into text once, and no element that is not printed is read.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import inf
from typing import Any

import numpy as np

from vistorch.engine.base import dtypes
from vistorch.engine.base.dtypes import default, dtype, of


class _Options:
    """How tensors are printed; written by set_printoptions only."""

    __slots__ = ("edgeitems", "linewidth", "precision", "sci_mode", "threshold")

    def __init__(self) -> None:
        self.precision = 4
        self.threshold: float = 1000
        self.edgeitems = 3
        self.linewidth = 80
        self.sci_mode: Any = None


options = _Options()

_PROFILES: dict[str, dict[str, Any]] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": inf, "edgeitems": 3, "linewidth": 80},
}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: Any = None,
) -> None:
    """Choose how tensors are printed; what is not named stays, except `sci_mode`, which goes back to None.

    Args:
        precision: digits after the decimal point.
        threshold: a tensor with more elements than this is summarized.
        edgeitems: elements shown at both ends of each dimension of a summarized tensor.
        linewidth: characters in a line before it is broken.
        profile: "default", "short" or "full" set the other four first.
        sci_mode: True or False force scientific notation on or off; None lets the values decide.

    Example:
        >>> from vistorch.engine.methods.format import options, set_printoptions
        >>> set_printoptions(precision=2)
        >>> options.precision
        2
        >>> set_printoptions(profile="default")
    """
    chosen = dict(_PROFILES.get(profile, {})) if profile is not None else {}
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    chosen.update((name, value) for name, value in given.items() if value is not None)
    for name, value in chosen.items():
        setattr(options, name, value)
    options.sci_mode = sci_mode


def get_printoptions() -> dict[str, Any]:
    """Return the options as a dict that `set_printoptions` takes.

    Example:
        >>> from vistorch.engine.methods.format import get_printoptions
        >>> get_printoptions()
        {'precision': 4, 'threshold': 1000, 'edgeitems': 3, 'linewidth': 80, 'sci_mode': None}
    """
    names = ("precision", "threshold", "edgeitems", "linewidth", "sci_mode")
    return {name: getattr(options, name) for name in names}


@contextmanager
def printoptions(**kwargs: Any) -> Iterator[None]:
    """Print tensors differently inside a `with` block.

    Args:
        kwargs: as for `set_printoptions`.

    Example:
        >>> from vistorch.engine.methods.format import get_printoptions, printoptions
        >>> with printoptions(precision=2):
        ...     get_printoptions()["precision"]
        2
    """
    before = get_printoptions()
    set_printoptions(**kwargs)
    try:
        yield
    finally:
        set_printoptions(**before)


def _corners(array: Any, axis: int, edge: int) -> Any:
    """Return what a summary shows: `edge` elements from both ends of each long dimension, from `axis` on."""
    while axis < array.ndim and array.shape[axis] <= 2 * edge:
        axis += 1
    if axis == array.ndim:
        return array
    before = (slice(None),) * axis
    ends = (array[(*before, slice(None, edge))], array[(*before, slice(-edge, None))])
    return np.concatenate([_corners(end, axis + 1, edge) for end in ends], axis)


def _integer_texts(values: np.ndarray) -> tuple[list[str], int]:
    """Return the text of integers or booleans and the widest one's length."""
    texts = list(map(str, values.tolist()))
    return texts, max(map(len, texts))


def _float_texts(values: np.ndarray) -> tuple[list[str], int]:
    """Return the text of floating-point numbers and the width that PyTorch gives them.

    The width is that of the widest finite number that is not zero: `inf`, `nan` and zeros may be wider.
    """
    nonzero_at = np.isfinite(values)
    nonzero_at &= values != 0
    nonzero_values = values[nonzero_at]
    whole, scientific, width = True, False, 1
    if nonzero_values.size:
        size = np.abs(nonzero_values)
        low, high = float(size.min()), float(size.max())
        whole = (nonzero_values == np.ceil(nonzero_values)).all()
        scientific = options.sci_mode
        if scientific is None:
            scientific = high / low > 1000.0 or high > 1.0e8 or low < 1.0e-4
    if scientific:
        form = f".{options.precision}e"
    else:
        form = ".0f" if whole else f".{options.precision}f"
    texts = [format(value, form) for value in values.tolist()]
    if whole and not scientific:  # a point says that the type is floating; inf and nan say it themselves
        texts = [text if text[-1] in "fn" else text + "." for text in texts]
    if nonzero_values.size == len(texts):
        width = max(map(len, texts))
    elif nonzero_values.size:
        width = max(len(texts[i]) for i in nonzero_at.nonzero()[0].tolist())
    return texts, width


def _texts(array: np.ndarray, d: dtype) -> tuple[list[str], int]:
    """Return each element's text, padded, in order, and the width one is counted with when lines break."""
    values = array.reshape(-1)
    if d.is_complex:
        reals, real_width = _float_texts(np.real(values))
        imaginaries, imaginary_width = _float_texts(np.imag(values))
        signed = [i if i[0] == "-" else "+" + i for i in imaginaries]
        texts = [f"{r.rjust(real_width)}{i}j" for r, i in zip(reals, signed, strict=True)]
        return texts, real_width + imaginary_width + 1
    if d.is_floating_point:
        texts, width = _float_texts(values.astype(np.float32) if d is dtypes.bfloat16 else values)
    else:
        texts, width = _integer_texts(values)
    return [text.rjust(width) for text in texts], width


def _rows(texts: list[str], length: int, dotted: bool, width: int, indent: int) -> list[str]:
    """Join texts into bracketed rows of `length`, each broken into lines that fit."""
    per_line = max(1, int((options.linewidth - indent) // (width + 2)))
    newline = ",\n" + " " * (indent + 1)
    rows = []
    for start in range(0, len(texts), length):
        row = texts[start : start + length]
        if dotted:
            row.insert(length // 2, " ...")
        if len(row) <= per_line:
            rows.append(f"[{', '.join(row)}]")
        else:
            lines = [", ".join(row[i : i + per_line]) for i in range(0, len(row), per_line)]
            rows.append(f"[{newline.join(lines)}]")
    return rows


def printed(array: Any) -> Any:
    """Return the part of an array that its text shows: all of it, or the corners.

    Args:
        array: the array.
    """
    if array.size > options.threshold and array.ndim > 0:
        return _corners(array, 0, options.edgeitems)
    return array


def elements_text(array: Any, indent: int = 0, shown: np.ndarray | None = None) -> str:
    """Return the bracketed elements of an array, summarized if there are many.

    Args:
        array: a numpy array, or one of a device that answers `get()` with a numpy array.
        indent: how far the first line is already to the right.
        shown: what `printed` gives of it, on the host, where that has been fetched already.
    """
    if array.size == 0:
        return "[]"
    shape = array.shape
    edge = options.edgeitems
    if array.size > options.threshold and array.ndim > 0 and not edge:
        return "[...]"
    array = printed(array) if shown is None else shown
    if not isinstance(array, np.ndarray):
        array = array.get()
    texts, width = _texts(array, of(array.dtype))
    if not shape:
        return texts[0]
    last = len(shape) - 1
    parts = _rows(texts, array.shape[last], array.shape[last] < shape[last], width, indent + last)
    for axis in range(last - 1, -1, -1):
        length = array.shape[axis]
        between = "," + "\n" * (last - axis) + " " * (indent + axis + 1)
        joined = []
        for start in range(0, len(parts), length):
            group = parts[start : start + length]
            if length < shape[axis]:
                group.insert(edge, "...")
            joined.append(f"[{between.join(group)}]")
        parts = joined
    return parts[0]


def _shows_dtype(d: dtype, empty: bool) -> bool:
    """Say whether a type must be printed, because the elements alone would be read as another."""
    if d is default.dtype:
        return False
    return empty or not (d is dtypes.int64 or d is dtypes.bool or d.np is default.complex_np)


def tensor_text(
    array: Any,
    *,
    name: str = "tensor",
    device: str | None = None,
    requires_grad: bool = False,
    grad_fn: str | None = None,
    contents: str | None = None,
) -> str:
    """Return what `repr` of a tensor gives.

    Args:
        array: the elements, a numpy array, or one of a device that answers `get()` with a numpy array.
        name: what stands before the bracket: "tensor", or the name of a subclass.
        device: the device's name where it is to be printed, such as "cuda:0"; None on the default device.
        requires_grad: whether a leaf requires gradients; not looked at where there is a `grad_fn`.
        grad_fn: the name of the node that made the tensor, such as "AddBackward0".
        contents: text to print in place of the elements.

    Example:
        >>> import numpy as np
        >>> from vistorch.engine.methods.format import tensor_text
        >>> print(tensor_text(np.array([1.5, 2.0], dtype="float32"), grad_fn="AddBackward0"))
        tensor([1.5000, 2.0000], grad_fn=<AddBackward0>)
    """
    indent = len(name) + 1
    d = of(array.dtype)
    empty = array.size == 0
    suffixes = []
    if device is not None:
        suffixes.append(f"device='{device}'")
    if contents == "..." or (empty and array.ndim != 1) or not (empty or options.edgeitems):
        suffixes.append(f"size={tuple(array.shape)}")
    if _shows_dtype(d, empty or contents == "..."):
        suffixes.append(f"dtype={d!r}")
    if grad_fn is not None:
        suffixes.append(f"grad_fn=<{grad_fn}>")
    elif requires_grad:
        suffixes.append("requires_grad=True")
    text = f"{name}({elements_text(array, indent) if contents is None else contents}"
    return _with_suffixes(text, suffixes, indent)


def _with_suffixes(text: str, suffixes: Sequence[str], indent: int) -> str:
    """Append each suffix to the last line, or begin a new one where the line is full."""
    used = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        length = len(suffix.replace("vistorch.", "torch."))  # our longer name must not move a line break
        if used + length + 2 > options.linewidth:
            text += ",\n" + " " * indent + suffix
            used = indent + length
        else:
            text += ", " + suffix
            used += length + 2
    return text + ")"
