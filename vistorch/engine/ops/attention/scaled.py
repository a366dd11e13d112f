"""Scaled dot-product attention.

Invariant: the fused row serves the calls that PyTorch's own fused kernel takes on a processor, so that `grad_fn` has
the same name; everything else is the composition that PyTorch falls back to.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base import dtypes, errors
from ...base.casting import casting
from ...base.dims import flag
from ...base.events import listeners
from ...base.modes import mode
from ...core.base_ops import to_dtype
from ...core.registry import FUNCTIONS, METHODS
from ...core.tensor import Tensor, wrap
from ...random.generators import pick
from ..linalg import checks
from . import kernels, rows

_FLOATS = frozenset(d.np for d in (dtypes.float32, dtypes.float64, dtypes.float16, dtypes.bfloat16))
FLOAT = dtypes.float32.np
_matmul, _repeat = FUNCTIONS["matmul"], METHODS["repeat_interleave"]


class Ways:
    """Which ways may be taken: `nn.attention.sdpa_kernel` sets it, for all threads as in PyTorch."""

    fused = True
    math = True


ways = Ways()


def scaled_dot_product_attention(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, *, scale=None, enable_gqa=False
):
    """`softmax(query @ key^T * scale + mask) @ value`, head by head.

    Args:
        query: (batch, ..., heads, target length, size).
        key: (batch, ..., heads, source length, size).
        value: (batch, ..., heads, source length, size of the result).
        attn_mask: broadcast to the scores: bools (True may be seen), or numbers that are added to them.
        dropout_p: the share of weights that is dropped.
        is_causal: let position i see no position after i.
        scale: what scores are multiplied by; 1 / sqrt(size) where not given.
        enable_gqa: let several heads of `query` share a head of `key` and `value`.

    Example:
        >>> import vistorch
        >>> q = vistorch.tensor([[1., 0.], [0., 1.]])
        >>> vistorch.nn.functional.scaled_dot_product_attention(q, q, q, is_causal=True)[0]
        tensor([1., 0.])
    """
    if casting.on and (recast := casting.ask(scaled_dot_product_attention, locals())):
        return recast[0]
    _check(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)
    if dropout_p and (emit := listeners.drew) is not None:
        emit("attention_dropout", query, True, float(dropout_p))
    mask = attn_mask
    if mask is not None and mask._data.dtype.kind == "b":
        mask = _added(mask, query)
    size = query._data.shape[-1]
    factor = (1 / math.sqrt(size) if size else math.inf) if scale is None else float(scale)
    source = _source(query, dropout_p) if dropout_p else None
    drawn = dropout_p == 0 or source is not None
    if ways.fused and drawn and _fuses(query, key, value, mask, enable_gqa):
        if key._data.shape[1] != query._data.shape[1]:
            key, value = _shared(query, key, value)
        # what a backward pass needs is kept only if there may be one
        keep = bool(mode.on) and (query.requires_grad or key.requires_grad or value.requires_grad)
        if source is not None:
            return _dropped(query, key, value, mask, is_causal, factor, keep, source, 1 - dropout_p)
        if mask is None:
            return rows.plain(query, key, value, is_causal, factor, keep)[0]
        return rows.masked(query, key, value, mask, is_causal, factor, keep)[0]
    if not ways.math:
        if ways.fused:
            raise RuntimeError("No available kernel.  Aborting execution.")
        raise RuntimeError(
            "No viable backend for scaled_dot_product_attention was found. This is likely due to turning off both the "
            "math kernel and the fused kernels."
        )
    if is_causal:
        if mask is not None:
            raise RuntimeError(
                "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True"
            )
        mask = _causal(query, key)
    return _composed(query, key, value, mask, dropout_p, factor, enable_gqa)


def _source(query: Tensor, dropout_p: float) -> Any:
    """A device's generator, whose numbers are known by their place; None where dropping is a step of its own."""
    if dropout_p == 1 or query._place.kind == errors.BATCHED:
        return None
    source = pick(None, query._place, "dropout")
    return source if source.on_device else None


def _dropped(q, k, v, mask, causal, scale, keep, source, stays):
    """The row that drops weights; four columns of a row share a block of its stream."""
    with source.lock:
        stream = source.counter.take(k._data.shape[2])
    if mask is None:
        mask = wrap(q._place.xp.empty((0,), q._data.dtype), q._place)
    return rows.dropped(q, k, v, mask, causal, scale, keep, stream, stays)[0]


def _check(q: Any, k: Any, v: Any, mask: Any, dropout_p: Any, causal: Any, scale: Any, gqa: Any) -> None:
    """Refuse what PyTorch refuses before it chooses a kernel."""
    name = "scaled_dot_product_attention"
    for position, (argument, given) in enumerate((("query", q), ("key", k), ("value", v)), 1):
        if not isinstance(given, Tensor):
            raise errors.must_be_tensor(name, argument, position, given)
    if mask is not None and not isinstance(mask, Tensor):
        raise errors.must_be_tensor(name, "attn_mask", 4, mask)
    for argument, given, kinds, expected in (
        ("dropout_p' (position 5)", dropout_p, (int, float), "float"),
        ("scale'", 0.0 if scale is None else scale, (int, float), "float"),
    ):
        if not isinstance(given, kinds):
            raise TypeError(f"{name}(): argument '{argument} must be {expected}, not {type(given).__name__}")
    flag(causal, name, "is_causal")
    flag(gqa, name, "enable_gqa")
    a, b, c = q._data, k._data, v._data
    if not a.dtype == b.dtype == c.dtype:
        raise RuntimeError(
            "Expected query, key, and value to have the same dtype, but got query.dtype: "
            f"{checks.native(q)} key.dtype: {checks.native(k)} and value.dtype: {checks.native(v)} instead."
        )
    if a.ndim < 2 or b.ndim < 2 or c.ndim < 2:
        raise RuntimeError(
            "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: "
            f"{a.ndim} key.dim: {b.ndim} and value.dim: {c.ndim} instead."
        )
    if mask is not None:
        kind = mask._data.dtype
        if kind.kind != "b" and kind != a.dtype and kind != np.float32:
            raise RuntimeError(
                "Expected attn_mask dtype to be bool or float or to match query dtype, but got "
                f"attn_mask.dtype: {checks.native(mask)} and  query.dtype: {checks.native(q)} instead."
            )
    if mask is not None and mask._data.dtype.kind == "b":
        refuse_infinity(a.dtype)
    if a.dtype.kind in "iub":
        raise RuntimeError(f"expected scalar type Float but found {checks.scalar(q)}")
    if not 0 <= dropout_p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {dropout_p:g}")
    checks.same_place(name, *((q, k, v) if mask is None else (q, k, v, mask)))


def refuse_infinity(dtype: Any) -> None:
    """Refuse integers where a mask of bools would become numbers to add."""
    if dtype.kind in "iu":
        name = "int" if dtype == np.int32 else f"{dtype.name}_t"
        raise RuntimeError(f"value cannot be converted to type {name} without overflow")


def _fuses(q: Tensor, k: Tensor, v: Tensor, mask: Any, gqa: bool) -> bool:
    """Whether PyTorch takes its fused kernel."""
    x, y, z = q._data, k._data, v._data
    if x.ndim != 4 or y.ndim != 4 or z.ndim != 4 or x.dtype not in _FLOATS:
        return False
    a, b, c = x.shape, y.shape, z.shape
    if b != c or a[0] != b[0] or a[3] != b[3] or 0 in a or 0 in b:
        return False
    if a[1] != b[1] and (not gqa or a[1] % b[1]):
        return False
    if mask is not None:
        if mask.requires_grad:
            return False
        m = mask._data.shape
        full = (a[0], a[1], a[2], b[2])[-len(m) :]
        if len(m) not in (2, 4) or any(n not in (1, f) for n, f in zip(m, full, strict=True)):
            return False
    return all(d.strides[3] == d.itemsize or d.shape[3] == 1 for d in (x, y, z))


def _added(mask: Tensor, query: Tensor) -> Tensor:
    """A mask of bools as numbers to add: 0 where True, -inf where False."""
    xp, dt = mask._place.xp, query._data.dtype
    return wrap(xp.where(mask._data, dt.type(0), dt.type(-math.inf)), mask._place)


def _causal(query: Tensor, key: Tensor) -> Tensor:
    xp = query._place.xp
    later = kernels.future(xp, query._data.shape[-2], key._data.shape[-2])
    return _added(wrap(~later, query._place), query)


def _shared(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """Keys and values repeated for the heads of `query` that share them."""
    dim = query._data.ndim - 3
    count = query._data.shape[dim] if dim >= 0 else 0
    both = []
    for t in (key, value):
        if t._data.ndim < 3 or dim < 0:
            n = min(t._data.ndim, query._data.ndim)
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got -3)"
            )
        have = t._data.shape[-3]
        if not have or count % have:
            raise RuntimeError("Number of heads in key and value must divide the number of heads in ")
        both.append(t if have == count else _repeat(t, count // have, -3))
    return both[0], both[1]


def _composed(q: Any, k: Any, v: Any, mask: Any, dropout_p: float, scale: float, gqa: bool) -> Tensor:
    """Product, mask, softmax, dropout, product, each recorded for itself; half types in float32, rounded once."""
    if q._data.dtype in checks.HALVES:
        mask = None if mask is None else to_dtype(mask, FLOAT)
        wide, keys, values = to_dtype(q, FLOAT), to_dtype(k, FLOAT), to_dtype(v, FLOAT)
        return to_dtype(_composed(wide, keys, values, mask, dropout_p, scale, gqa), q._data.dtype)
    if gqa:
        k, v = _shared(q, k, v)
    root = math.sqrt(abs(scale))
    scores = _matmul(q * (-root if scale < 0 else root), (k * root).transpose(-2, -1))
    if scores._data.dtype.kind == "c":
        raise NotImplementedError(
            f"\"softmax_lastdim_kernel_impl\" not implemented for '{checks.scalar(scores)}'"
        )
    if mask is not None:
        if mask._data.dtype != scores._data.dtype:
            mask = to_dtype(mask, scores._data.dtype)
        scores = scores.add_(mask)
    weights = rows.safe_softmax(scores)
    if dropout_p > 0:
        weights = weights * _noise(weights, dropout_p)
    return _matmul(weights, v)


def _noise(weights: Tensor, p: float) -> Tensor:
    """What dropout multiplies by, drawn as PyTorch draws it."""
    blank = wrap(weights._place.xp.zeros_like(weights._data), weights._place)
    return blank if p == 1 else blank.bernoulli_(1 - p).div_(1 - p)
