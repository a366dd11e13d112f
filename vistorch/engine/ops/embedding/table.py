"""embedding and embedding_renorm_: one row of a table for each index.

Invariant: a table is renormalised in its own memory, counted by its version and kept out of every graph.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import dims, errors
from ...base.events import listeners
from ...base.modes import mode
from ...core import views
from ...core.graph import sync_rg, version
from ...core.registry import public
from ...core.tensor import Tensor
from ...core.type_promotion import floating
from ...library_name import library
from ..index.checks import reach
from ..norm import checks
from .rows import embedding_row

LONG, INT = np.dtype("i8"), np.dtype("i4")
WHOLE = frozenset((LONG, INT))


def typed(func: str, argument: str, position: int, t: Tensor, allowed: Any, names: str) -> None:
    """Refuse a tensor of another element type than the function takes."""
    if t._data.dtype not in allowed:
        raise RuntimeError(
            f"Expected tensor for argument #{position} '{argument}' to have one of the following scalar types: "
            f"{names}; but got {spelled(t)} instead (while checking arguments for {func})"
        )


def spelled(t: Tensor) -> str:
    """A tensor's type in these sentences: types younger than the sentence have another form."""
    name = checks.name_of(t)
    young = name in ("Bool", "BFloat16") or name.startswith("Complex")
    return f"CPU{name}Type" if young else f"{library}.{name}Tensor"


@public(method=False)
def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    """The rows of a table that the indices name.

    Args:
        weight: the table, (rows, width).
        indices: int32 or int64, of any shape.
        padding_idx: a row that gets no gradient.
        scale_grad_by_freq: divide each row's gradient by how often it was named.
        sparse: accepted; the gradient is dense.

    Example:
        >>> import vistorch
        >>> table = vistorch.tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> vistorch.embedding(table, vistorch.tensor([1, 0]))
        tensor([[3., 4.],
                [1., 2.]])
    """
    if weight.__class__ is not Tensor or indices.__class__ is not Tensor or padding_idx.__class__ is not int:
        checks.tensor("embedding", "weight", 1, weight)
        checks.tensor("embedding", "indices", 2, indices)
        padding_idx = dims.whole(padding_idx, "embedding", "padding_idx", 3)
    if scale_grad_by_freq is not False or sparse is not False:
        scale_grad_by_freq = dims.flag(scale_grad_by_freq, "embedding", "scale_grad_by_freq", 4)
        dims.flag(sparse, "embedding", "sparse", 5)
    w, i = weight._data, indices._data
    if w.ndim != 2:
        raise RuntimeError("'weight' must be 2-D")
    if i.dtype is not LONG:
        typed("embedding", "indices", 1, indices, WHOLE, "Long, Int")
    if indices._place is not weight._place:
        checks.same_place(weight, indices)
    if reach(i, w.shape[0], weight._place, 0, "embedding") is not None:
        raise IndexError("index out of range in self")
    return embedding_row(weight, indices, padding_idx, scale_grad_by_freq)


@public(method=False)
def embedding_renorm_(input, indices, max_norm, norm_type):
    """Shrink the rows of a table that the indices name to a norm of at most `max_norm`, in place.

    Args:
        input: the table, (rows, width).
        indices: int32 or int64, of any shape.
        max_norm: the largest norm that is left alone.
        norm_type: which norm.

    Example:
        >>> import vistorch
        >>> table = vistorch.tensor([[3.0, 4.0], [6.0, 8.0]])
        >>> vistorch.embedding_renorm_(table, vistorch.tensor([1]), 5.0, 2.0)
        tensor([[3., 4.],
                [3., 4.]])
    """
    func = "embedding_renorm_"
    checks.tensor(func, "input", 1, input)
    checks.tensor(func, "indices", 2, indices)
    max_norm = checks.real(func, "max_norm", 3, max_norm)
    norm_type = checks.real(func, "norm_type", 4, norm_type)
    d, i = input._data, indices._data
    views.before_write(input, bool(mode.on) and sync_rg(input))
    if d.ndim != 2:
        raise RuntimeError(
            f"Expected 2-dimensional tensor, but got {d.ndim}-dimensional tensor for argument #1 'self' (while "
            f"checking arguments for {func})"
        )
    typed(func, "indices", 2, indices, WHOLE, "Long, Int")
    checks.same_place(input, indices)
    bad = reach(i, d.shape[0], input._place, -d.shape[0], func)
    if bad is not None:
        raise IndexError(
            f"select(): index {bad} out of range for tensor of size {errors.sizes(d.shape)} at dimension 0"
        )
    if not i.size:
        return input
    if not floating(d.dtype):
        raise RuntimeError(
            f"norm(): input dtype should be either floating point or complex. Got {checks.name_of(input)} instead."
        )
    _renormalise(input._place.xp, d, i, max_norm, norm_type)
    version(input).n += 1
    if (emit := listeners.write) is not None:
        emit(input, None)
    return input


def _renormalise(xp: Any, d: Any, index: Any, max_norm: float, norm_type: float) -> None:
    rows = xp.unique(index)
    table = d[rows]
    if table.dtype.itemsize == 2:
        table = table.astype(np.float32)
    size = xp.abs(table)
    if norm_type == 2:
        norm = xp.sqrt((size * size).sum(1))
    elif norm_type in (float("inf"), float("-inf")):
        norm = size.max(1) if norm_type > 0 else size.min(1)
    elif norm_type == 0:
        norm = (size != 0).sum(1).astype(size.dtype)
    else:
        norm = (size**norm_type).sum(1) ** size.dtype.type(1 / norm_type)
    large = norm > max_norm
    if large.any():
        scale = (max_norm / (norm[large] + 1e-7)).astype(size.dtype)
        d[rows[large]] = table[large] * scale[:, None]
