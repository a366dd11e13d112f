"""embedding_bag: the sum, the mean or the maximum of the rows of each bag of indices.

Invariant: a bag is a run of neighbouring indices, so `bags`, which bag each index is in, is sorted.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import dims, errors
from ...core import type_promotion
from ...core.base_ops import to_dtype
from ...core.registry import public
from ...core.tensor import Tensor, wrap
from ..index.checks import reach
from ..norm import checks
from ..norm.standard import absent
from .rows import bag_max_row, bag_row
from .table import WHOLE, spelled, typed

_SUM, _MEAN, _MAX = range(3)
_FUNC = "embedding_bag"


@public(method=False)
def embedding_bag(
    weight,
    indices,
    offsets,
    scale_grad_by_freq=False,
    mode=0,
    sparse=False,
    per_sample_weights=None,
    include_last_offset=False,
    padding_idx=None,
):
    """The sum, mean or maximum of the rows of a table that each bag of indices names.

    Returns the result, which bag each index is in, the size of each bag, and the rows where maxima were found.

    Args:
        weight: the table, (rows, width).
        indices: all bags, one after the other.
        offsets: where each bag begins.
        scale_grad_by_freq: divide each row's gradient by how often it was named.
        mode: 0 for sum, 1 for mean, 2 for max.
        sparse: accepted; the gradient is dense.
        per_sample_weights: a factor for each index; for sums.
        include_last_offset: whether `offsets` ends with the number of indices.
        padding_idx: an index that counts for nothing.

    Example:
        >>> import vistorch
        >>> table = vistorch.tensor([[1.0], [10.0], [100.0]])
        >>> vistorch.embedding_bag(table, vistorch.tensor([0, 1, 2, 2]), vistorch.tensor([0, 2]))[0]
        tensor([[ 11.],
                [200.]])
    """
    checks.tensor(_FUNC, "weight", 1, weight)
    checks.tensor(_FUNC, "indices", 2, indices)
    checks.tensor(_FUNC, "offsets", 3, offsets)
    checks.tensor(_FUNC, "per_sample_weights", 7, per_sample_weights, True)
    mode = dims.whole(mode, _FUNC, "mode", 5)
    scale_grad_by_freq = dims.flag(scale_grad_by_freq, _FUNC, "scale_grad_by_freq", 4)
    dims.flag(sparse, _FUNC, "sparse", 6)
    w, last = weight._data, dims.flag(include_last_offset, _FUNC, "include_last_offset", 8)
    if not w.ndim and padding_idx is not None:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    padding = _padding(padding_idx, w.shape[0] if w.ndim else 0)
    _check(weight, indices, offsets, mode, per_sample_weights, last)
    xp = weight._place.xp
    if indices._data.dtype == bool:
        indices = to_dtype(indices, offsets._data.dtype)
    index = indices._data
    begin = offsets._data.astype(np.int64)
    count = max(begin.size - last, 0)
    sizes = xp.diff(xp.append(begin[:count], index.size))
    bags = wrap(xp.repeat(xp.arange(count), sizes.astype(np.intp, copy=False)), weight._place)
    if mode == _MAX:
        o, best = bag_max_row(weight, indices, bags, count, padding)
    else:
        psw = absent(weight) if per_sample_weights is None else per_sample_weights
        o, best = (
            bag_row(weight, psw, indices, bags, count, mode == _MEAN, padding, scale_grad_by_freq),
            None,
        )
    short = padding < 0 and w.dtype != np.float64
    more = _extras(xp, index, bags._data, begin, count, mode, padding, best, short)
    kind = np.result_type(index.dtype, offsets._data.dtype)
    return (o, *[wrap(a.astype(kind), weight._place) for a in more])


def _extras(
    xp: Any, index: Any, bags: Any, begin: Any, count: int, mode: int, padding: int, best: Any, short: bool
) -> tuple:
    """What PyTorch returns beside the result; sums leave most of it out."""
    if mode == _SUM:
        none = xp.zeros(begin.size, np.int64)
        return (bags[:0] if short else bags), none, none.copy()
    kept = bags if padding < 0 else bags[index != padding]
    size = xp.bincount(kept, minlength=count).astype(np.int64, copy=False)
    return bags, size, size.copy() if mode == _MEAN else xp.maximum(best._data, 0)


def _padding(padding_idx: Any, rows: int) -> int:
    if padding_idx is None:
        return -1
    padding_idx = dims.whole(padding_idx, _FUNC, "padding_idx", 9)
    if not -rows <= padding_idx < rows:
        raise RuntimeError(
            f"padding_idx must be within the number of embeddings, {-rows} through {rows - 1}, but got {padding_idx}"
        )
    return padding_idx % rows if rows else -1


def _check(weight: Tensor, indices: Tensor, offsets: Tensor, mode: int, psw: Any, last: bool) -> None:
    w, i, o = weight._data, indices._data, offsets._data
    found = type_promotion.result_type(indices, offsets)
    for t in (indices, offsets) if found not in WHOLE else ():
        typed(_FUNC, "indices", 1, t, WHOLE, "Long, Int")
    typed(_FUNC, "weight", 1, weight, checks.FLOATS, "Half, BFloat16, Float, Double")
    if i.ndim != 1 or o.ndim != 1:
        raise RuntimeError("input has to be a 1D Tensor, and offsets too")
    if w.ndim != 2:
        raise RuntimeError(f"weight has to be a 2D Tensor, but got Tensor of dimension {w.ndim}")
    if mode not in (_SUM, _MEAN, _MAX):
        raise RuntimeError("`mode` must be sum, mean, or max.")
    checks.same_place(weight, indices, offsets, psw)
    if last and not o.size:
        raise RuntimeError("include_last_offset: number of offset should be at least 1")
    if o.size:
        _in_order(o, i.size)
    if psw is not None:
        _weighted(weight, i, mode, psw)
    bad = reach(i, w.shape[0], weight._place, 0, "embedding_bag")
    if bad is not None:
        at = int((i == bad).argmax())
        raise RuntimeError(
            f"Index {at} of input takes value {bad} which is not in the valid range [0, {w.shape[0]})"
        )


def _in_order(o: Any, count: int) -> None:
    if o[0] != 0:
        raise RuntimeError(
            "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. However, "
            f"got {o[0]}"
        )
    if o[-1] > count:
        raise RuntimeError(
            f"offsets[-1] can not be greater than input's length {count} but got offsets[-1] of {o[-1]}"
        )
    if (o[1:] < o[:-1]).any():
        raise RuntimeError("offsets have to grow: no bag ends before it begins")


def _weighted(weight: Tensor, i: Any, mode: int, psw: Tensor) -> None:
    if mode != _SUM:
        raise RuntimeError("embedding_bag: per_sample_weights only supported with mode='sum'")
    if psw._data.dtype != weight._data.dtype:
        ours, theirs = spelled(weight), spelled(psw)
        raise RuntimeError(
            "Expected tensor for argument #1 'weight' to have the same type as tensor for argument #1 "
            f"'per_sample_weights'; but type {ours} does not equal {theirs} (while checking arguments for {_FUNC})"
        )
    if psw._data.ndim != 1 or psw._data.size != i.size:
        raise RuntimeError(
            f"Expected per_sample_weights to have one element for each of {i.size} indices, but got a tensor of size "
            f"{errors.sizes(psw._data.shape)}"
        )
