"""Resizing, once it is decided how: the checks of PyTorch's kernels, and the row.

Invariant: sizes and factors come here as tuples, one number for each spatial dim; one of the two is None.
"""

from __future__ import annotations

from typing import Any

from ...base import errors
from ...core.image_order import laid_as
from ...core.tensor import Tensor
from ..linalg import checks
from .resample import ROWS
from .resize_weights import taps

_KERNELS = {
    ("nearest", 1): "compute_indices_weights_nearest",
    ("nearest", 2): "upsample_nearest2d_channels_last",
    ("nearest", 3): "upsample_nearest3d_channels_last",
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
    out = size if size is not None else grown(shape[2:], factors)
    _check(input, how, out)
    double = input._data.dtype.itemsize in (1, 8)  # bytes: whole numbers made of weights in double precision
    given = factors or (None,) * n
    if how.endswith("smooth") and out == shape[2:]:
        same = tuple([taps("nearest", double, s, s, False, None) for s in out])
        return laid_as(input, ROWS[how, n](input, same))
    axes = [taps(how, double, s, o, align, f) for s, o, f in zip(shape[2:], out, given, strict=True)]
    return laid_as(input, ROWS[how, n](input, tuple(axes)))


def grown(shape: tuple, factors: tuple) -> tuple[int, ...]:
    """The sizes after growing by factors."""
    out = [s * f for s, f in zip(shape, factors, strict=True)]
    if not all(abs(n) < 2**63 for n in out):
        raise RuntimeError("value cannot be converted to type int64_t without overflow")
    return tuple([int(n) for n in out])


def _check(input: Tensor, how: str, out: tuple) -> None:
    shape = input._data.shape
    n = len(out)
    if any(s <= 0 for s in (*shape[2:], *out)):
        letters = _LETTERS[n]
        old, new = (
            ", ".join(f"{k}: {v}" for k, v in zip(letters, sizes, strict=True)) for sizes in (shape[2:], out)
        )
        old, new = (f"(W: {shape[2]})", f"(W: {out[0]})") if n == 1 else (f"({old})", f"({new})")
        both = f"{old} and output {new}" if n == 1 else f"{old} output {new}"
        raise RuntimeError(f"Input and output sizes should be greater than 0, but got input {both}")
    if not shape[1]:
        raise RuntimeError(
            f"Non-empty {n + 2}D data tensor expected but got a tensor with sizes {errors.sizes(shape)}"
        )
    kind = input._data.dtype.kind
    smooth = how.endswith("smooth")
    if smooth and out == shape[2:]:
        return  # a copy
    bytes_ = kind == "u" and input._data.dtype.itemsize == 1
    if kind in "bic" or (bytes_ and not (how.startswith("nearest") or n == 2)):
        family = "nearest" if how.startswith("nearest") else how
        kernel = _KERNELS.get((family, n), "compute_index_ranges_weights")
        raise checks.not_implemented(kernel, input)
    if smooth and input._data.dtype.itemsize == 2:
        raise checks.not_implemented("compute_index_ranges_weights", input)
