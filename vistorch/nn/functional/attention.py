"""Scaled dot-product attention and multi-head attention.

Invariant: inside multi-head attention masks are numbers to add; bools become 0 and -inf at the entry.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

from ...engine.core.registry import FUNCTIONS
from ...engine.core.tensor import Tensor, wrap
from ...engine.library_name import library
from ...engine.ops.attention import refuse_infinity, scaled_dot_product_attention
from .activation import softmax
from .dropout import dropout
from .linear import linear
from .padding import pad

__all__ = ["multi_head_attention_forward", "scaled_dot_product_attention"]

_baddbmm, _bmm, _cat = FUNCTIONS["baddbmm"], FUNCTIONS["bmm"], FUNCTIONS["cat"]


def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """What `MultiheadAttention` computes, from its parameters.

    Args:
        query: (L, N, E), or (L, E) without a batch.
        key: (S, N, E).
        value: (S, N, E).
        embed_dim_to_check: the size E that `query` has to have.
        num_heads: how many heads share it.
        in_proj_weight: the weights of the three projections, one below the other.
        in_proj_bias: their biases.
        bias_k: one more key, learned.
        bias_v: its value.
        add_zero_attn: whether to add a key and a value of zeros.
        dropout_p: the share of weights that is dropped.
        out_proj_weight: the weight of the last projection.
        out_proj_bias: its bias.
        training: whether weights are dropped at all.
        key_padding_mask: (N, S): keys to leave out (True), or numbers to add to their scores.
        need_weights: whether to return the weights too.
        attn_mask: (L, S) or (N * num_heads, L, S): what not to see (True), or numbers to add to scores.
        use_separate_proj_weight: take the next three instead of `in_proj_weight`.
        q_proj_weight: the projection of queries.
        k_proj_weight: the projection of keys.
        v_proj_weight: the projection of values.
        static_k: keys already projected, (N * num_heads, S, E / num_heads).
        static_v: values already projected.
        average_attn_weights: whether the weights returned are the mean of the heads.
        is_causal: a hint that `attn_mask` hides what comes later.

    Example:
        >>> import vistorch
        >>> x, eye = vistorch.ones(3, 1, 2), vistorch.eye(2)
        >>> out, weights = vistorch.nn.functional.multi_head_attention_forward(
        ...     x, x, x, 2, 1, eye.repeat(3, 1), None, None, None, False, 0.0, eye, None)
        >>> out.shape, weights.shape
        (vistorch.Size([3, 1, 2]), vistorch.Size([1, 3, 3]))
    """
    batched = _check_shapes(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not batched:
        query, key, value = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)
    length, batch, size = query.shape
    key_padding_mask = _canonical_mask(
        key_padding_mask, "key_padding_mask", _none_or_dtype(attn_mask), "attn_mask", query.dtype
    )
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
            "`generate_square_subsequent_mask` to create this mask."
        )
    if is_causal and key_padding_mask is None and not need_weights:
        attn_mask = None  # the hint says it all
    else:
        attn_mask = _canonical_mask(attn_mask, "attn_mask", None, "", query.dtype, check_other=False)
        is_causal = is_causal and key_padding_mask is None
    head_size = _check_sizes(query, key, value, embed_dim_to_check, num_heads, use_separate_proj_weight)

    if use_separate_proj_weight:
        weights = q_proj_weight, k_proj_weight, v_proj_weight
        q, k, v = _apart(query, key, value, weights, in_proj_bias)
    else:
        if in_proj_weight is None:
            raise AssertionError("use_separate_proj_weight is False but in_proj_weight is None")
        q, k, v = _packed(query, key, value, in_proj_weight, in_proj_bias)
    attn_mask = _as_batch(attn_mask, (length, key._data.shape[0]), batch * num_heads)

    extra = 0
    if bias_k is not None and bias_v is not None:
        if static_k is not None:
            raise AssertionError("bias cannot be added to static key.")
        if static_v is not None:
            raise AssertionError("bias cannot be added to static value.")
        k, v = _cat([k, bias_k.repeat(1, batch, 1)]), _cat([v, bias_v.repeat(1, batch, 1)])
        extra += 1
    elif bias_k is not None:
        raise AssertionError("bias_k is set but bias_v is None")
    elif bias_v is not None:
        raise AssertionError("bias_v is set but bias_k is None")

    rows = batch * num_heads
    q = q.view(length, rows, head_size).transpose(0, 1)
    k = _in_heads(k, static_k, "static_k", rows, head_size)
    v = _in_heads(v, static_v, "static_v", rows, head_size)
    if add_zero_attn:
        k, v = (_cat([x, x.new_zeros((rows, 1, head_size))], dim=1) for x in (k, v))
        extra += 1
    if extra:
        attn_mask, key_padding_mask = (
            None if m is None else pad(m, (0, extra)) for m in (attn_mask, key_padding_mask)
        )
    source = k._data.shape[1]
    if key_padding_mask is not None:
        for dim, expected in enumerate((batch, source)):
            if (got := key_padding_mask._data.shape[dim]) != expected:
                raise AssertionError(f"Expected key_padded_mask.shape[{dim}] to be {expected}, but got {got}")
        hidden = key_padding_mask.view(batch, 1, 1, source).expand(-1, num_heads, -1, -1)
        hidden = hidden.reshape(rows, 1, source)
        attn_mask = hidden if attn_mask is None else attn_mask + hidden
    if not training:
        dropout_p = 0.0

    shares = None
    if need_weights:
        scaled = q * math.sqrt(1.0 / float(head_size))
        turned = k.transpose(-2, -1)
        shares = _bmm(scaled, turned) if attn_mask is None else _baddbmm(attn_mask, scaled, turned)
        shares = softmax(shares, dim=-1)
        if dropout_p > 0.0:
            shares = dropout(shares, p=dropout_p)
        out = _bmm(shares, v).transpose(0, 1)
    else:
        if attn_mask is not None:
            if attn_mask._data.shape[0] == 1:
                attn_mask = attn_mask.unsqueeze(0)
            else:
                attn_mask = attn_mask.view(batch, num_heads, -1, source)
        q, k, v = (x.view(batch, num_heads, -1, head_size) for x in (q, k, v))
        out = scaled_dot_product_attention(q, k, v, attn_mask, dropout_p, is_causal).permute(2, 0, 1, 3)
    out = linear(out.reshape(length * batch, size), out_proj_weight, out_proj_bias)
    out = out.view(length, batch, out._data.shape[1])
    if shares is not None:
        shares = shares.view(batch, num_heads, length, source)
        if average_attn_weights:
            shares = shares.mean(dim=1)
    if batched:
        return out, shares
    return out.squeeze(1), None if shares is None else shares.squeeze(0)


def _check_shapes(query: Any, key: Any, value: Any, padding: Any, mask: Any, num_heads: int) -> bool:
    """Whether there is a batch; PyTorch's sentences for what does not fit together."""
    ndim = query.dim()
    if ndim not in (2, 3):
        raise AssertionError(
            f"query should be unbatched 2D or batched 3D tensor but received {ndim}-D query tensor"
        )
    start = f"For {'batched' if ndim == 3 else 'unbatched'} ({ndim}-D) `query`, expected"
    if key.dim() != ndim or value.dim() != ndim:
        raise AssertionError(
            f"{start} `key` and `value` to be {ndim}-D but found {key.dim()}-D and {value.dim()}-D tensors "
            "respectively"
        )
    if padding is not None and padding.dim() != ndim - 1:
        raise AssertionError(
            f"{start} `key_padding_mask` to be `None` or {ndim - 1}-D but found {padding.dim()}-D tensor instead"
        )
    if mask is not None:
        if mask.dim() not in (2, 3):
            raise AssertionError(
                f"{start} `attn_mask` to be `None`, 2-D or 3-D but found {mask.dim()}-D tensor instead"
            )
        expected = (num_heads, query.shape[0], key.shape[0])
        if ndim == 2 and mask.dim() == 3 and mask.shape != expected:
            raise AssertionError(f"Expected `attn_mask` shape to be {expected} but got {mask.shape}")
    return ndim == 3


def _check_sizes(q: Any, k: Any, v: Any, expected: int, num_heads: int, apart: bool) -> int:
    """The size of a head."""
    size = q._data.shape[2]
    if size != expected:
        raise AssertionError(f"was expecting embedding dimension of {expected}, but got {size}")
    if size % num_heads:
        raise AssertionError(f"embed_dim {size} not divisible by num_heads {num_heads}")
    if apart and k.shape[:2] != v.shape[:2]:
        raise AssertionError(
            f"key's sequence and batch dims {k.shape[:2]} do not match value's {v.shape[:2]}"
        )
    if not apart and k.shape != v.shape:
        raise AssertionError(f"key shape {k.shape} does not match value shape {v.shape}")
    return size // num_heads


def _canonical_mask(
    mask: Any, mask_name: str, other_type: Any, other_name: str, target_type: Any, check_other: bool = True
) -> Any:
    """A mask as numbers to add."""
    if mask is None:
        return None
    floating = mask.is_floating_point()
    if not floating and mask._data.dtype.kind != "b":
        raise AssertionError(f"only bool and floating types of {mask_name} are supported")
    if check_other and other_type is not None and mask.dtype != other_type:
        warnings.warn(
            f"Support for mismatched {mask_name} and {other_name} is deprecated. Use same type for both instead.",
            stacklevel=2,
        )
    if floating:
        return mask
    kind = target_type.np.type
    refuse_infinity(target_type.np)
    return wrap(mask._place.xp.where(mask._data, kind(-math.inf), kind(0)), mask._place)


def _none_or_dtype(input: Any) -> Any:
    if input is None or isinstance(input, Tensor):
        return None if input is None else input.dtype
    raise RuntimeError(f"input to _none_or_dtype() must be None or {library}.Tensor")


def _as_batch(mask: Any, shape: tuple, rows: int) -> Any:
    """A mask with a dim for batch and heads in front."""
    if mask is None:
        return None
    ndim = mask.dim()
    expected = shape if ndim == 2 else (rows, *shape)
    if mask.shape != expected:
        raise RuntimeError(f"The shape of the {ndim}D attn_mask is {mask.shape}, but should be {expected}.")
    return mask.unsqueeze(0) if ndim == 2 else mask


def _packed(q: Tensor, k: Tensor, v: Tensor, w: Tensor, b: Any) -> tuple:
    """The three projections by one weight; inputs that are the same tensor share a product."""
    size = q._data.shape[-1]
    if k is v and q is k:
        return _dealt(linear(q, w, b), 3, size)
    if k is v:
        (w_q, w_kv) = w.split([size, size * 2])
        b_q, b_kv = (None, None) if b is None else b.split([size, size * 2])
        return (linear(q, w_q, b_q), *_dealt(linear(k, w_kv, b_kv), 2, size))
    w_q, w_k, w_v = w.chunk(3)
    b_q, b_k, b_v = (None, None, None) if b is None else b.chunk(3)
    return linear(q, w_q, b_q), linear(k, w_k, b_k), linear(v, w_v, b_v)


def _dealt(x: Tensor, count: int, size: int) -> tuple:
    """Projections that stand side by side, each in memory of its own."""
    x = x.unflatten(-1, (count, size)).unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()
    return tuple(x[i] for i in range(count))


def _apart(q: Tensor, k: Tensor, v: Tensor, weights: tuple, b: Any) -> tuple:
    """The three projections by weights of their own."""
    names = ("query", "key", "value")
    for name, w in zip(names, weights, strict=True):
        if w is None:
            raise AssertionError(f"use_separate_proj_weight is True but {name[0]}_proj_weight is None")
    biases = (None, None, None) if b is None else b.chunk(3)
    size = q._data.shape[-1]
    for name, x, w in zip(names, (q, k, v), weights, strict=True):
        expected = (size, x._data.shape[-1])
        if w.shape != expected:
            raise AssertionError(f"expecting {name} weights shape of {expected}, but got {w.shape}")
    return tuple(linear(x, w, bias) for x, w, bias in zip((q, k, v), weights, biases, strict=True))


def _in_heads(x: Tensor, static: Any, name: str, rows: int, size: int) -> Tensor:
    """(length, batch, heads * size) as (batch * heads, length, size)."""
    if static is None:
        return x.view(x._data.shape[0], rows, size).transpose(0, 1)
    for dim, expected in ((0, rows), (2, size)):
        if (got := static._data.shape[dim]) != expected:
            raise AssertionError(f"expecting {name}.size({dim}) of {expected}, but got {got}")
    return static
