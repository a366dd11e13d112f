"""Resizing, once it is decided how: the checks of PyTorch's kernels, and the row.

Invariant: sizes and factors come here as tuples, one number for each spatial dim; one of the two is None.
"""

from __future__ import annotations

from typing import Any

from ... import errors
from ...tensor import Tensor
from ..linalg import checks
from .resample import ROWS
from .taps import taps

_KERNELS = {
    ("nearest", 1): "upsample_nearest1d",
    ("linear", 1): "compute_indices_weights_linear",
    ("linear", 2): "upsample_bilinear2d_channels_last",
    ("linear", 3): "compute_indices_weights_linear",
    ("cubic", 2): "compute_indices_weights_cubic",
}
_LETTERS = {1: "L", 2: "HW", 3: "DHW"}


def upsample(input: Tensor, how: str, size: Any, factors: Any, align: bool) -> Tensor:
    """Resize the spatial dims of a tensor.

    Args:
        input: (N, C, ...).
        how: a name of `taps.KINDS`.
        size: the new sizes, or None.
        factors: by how much, or None.
        align: whether the outermost elements of input and output fall together.
    """
    shape = input._data.shape
    n = len(shape) - 2
    out = size if size is not None else tuple([int(s * f) for s, f in zip(shape[2:], factors, strict=True)])
    _check(input, how, out)
    double = input._data.dtype.itemsize == 8
    given = factors or (None,) * n
    axes = [
        taps(how, double, s, o, align, f) for s, o, f in zip(shape[2:], out, given, strict=True)
    ]
    return ROWS[how, n](input, tuple(axes))


def _check(input: Tensor, how: str, out: tuple) -> None:
    shape = input._data.shape
    n = len(out)
    if any(s <= 0 for s in (*shape[2:], *out)):
        letters = _LETTERS[n]
        old, new = (
            ", ".join(f"{k}: {v}" for k, v in zip(letters, sizes, strict=True)) for sizes in (shape[2:], out)
        )
        old, new = (f"(W: {shape[2]})", f"(W: {out[0]})") if n == 1 else (f"({old})", f"({new})")
        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got input {old} output {new}"
        )
    if not shape[1]:
        raise RuntimeError(
            f"Non-empty {n + 2}D data tensor expected but got a tensor with sizes {errors.sizes(shape)}"
        )
    kind = input._data.dtype.kind
    smooth = how.endswith("smooth")
    bytes_ = kind == "u" and input._data.dtype.itemsize == 1
    if kind in "bic" or (bytes_ and not (how.startswith("nearest") or n == 2)):
        nearest = f"upsample_nearest{n}d" + ("_channels_last" if n > 1 else "")
        kernel = nearest if how.startswith("nearest") else _KERNELS.get((how, n), "compute_index_ranges_weights")
        raise checks.not_implemented(kernel, input)
    if smooth and input._data.dtype.itemsize == 2:
        raise checks.not_implemented("compute_index_ranges_weights", input)
