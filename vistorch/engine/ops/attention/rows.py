"""Rows of attention: the whole of it in one step, and the softmax of its plain composition.

Invariant: the formulas compute the weights anew from what was saved, so that they have derivatives of any order; a
plain pass runs `kernels.gradients`, which has the weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.op_factory import op
from ..linalg.rows import mT
from . import kernels


def _softmax(xp, input):
    return kernels.softmax_(xp, xp.array(input, order="C"))


def _slope(xp, g, out):
    return out * (g - (g * out).sum(-1, keepdims=True))


def _row_sum(F: Any, x: Any) -> Any:
    return F.sum_to(x, (*x.shape[:-1], 1))


safe_softmax = op(
    "safe_softmax",
    _softmax,
    formula=r"\bar x = y \odot (\bar y - \langle \bar y, y \rangle)",
    input=lambda F, g, out: F.safe_softmax_slope(g, out),
)
op(
    "safe_softmax_slope",
    _slope,
    inputs="g out",
    name_in_graph="SoftmaxBackwardDataBackward0",
    formula={
        "g": r"\bar x = y \odot (\bar z - \langle \bar z, y \rangle)",
        "out": r"\bar y = \bar z \odot (x - \langle x, y \rangle) - x \langle \bar z, y \rangle",
    },
    g=lambda F, g_, out: F.safe_softmax_slope(g_, out),
    out=lambda F, g_, g, out: g_ * (g - _row_sum(F, g * out)) - g * _row_sum(F, g_ * out),
)
op(
    "hide_future",
    lambda xp, input: xp.where(kernels.future(xp, *input.shape[-2:]), -xp.inf, input).astype(input.dtype),
    name_in_graph="MaskedFillBackward0",
    formula=r"\bar x = \mathrm{tril}(\bar y)",
    input=lambda F, g: F.tril(g, 0),
)


def _weights(F: Any, query: Any, key: Any, mask: Any, causal: bool, scale: float) -> Any:
    scores = F.bmm(query * scale, mT(F, key))
    if mask is not None:
        scores = scores + mask
    return F.safe_softmax(F.hide_future(scores) if causal else scores)


def _of_scores(F: Any, g: Any, w: Any, value: Any, scale: float) -> Any:
    return F.safe_softmax_slope(F.bmm(g, mT(F, value)), w) * scale


def _query(F: Any, g: Any, query: Any, key: Any, value: Any, mask: Any, causal: bool, scale: float) -> Any:
    w = _weights(F, query, key, mask, causal, scale)
    return F.bmm(_of_scores(F, g, w, value, scale), key)


def _key(F: Any, g: Any, query: Any, key: Any, value: Any, mask: Any, causal: bool, scale: float) -> Any:
    w = _weights(F, query, key, mask, causal, scale)
    return F.bmm(mT(F, _of_scores(F, g, w, value, scale)), query)


def _value(F: Any, g: Any, query: Any, key: Any, mask: Any, causal: bool, scale: float) -> Any:
    return F.bmm(mT(F, _weights(F, query, key, mask, causal, scale)), g)


def _together(xp, g, wants, query, key, value, out, out1, causal, scale):
    return kernels.gradients(xp, g, query, key, value, out, out1, causal, scale)


_FORMULA = {
    "query": r"\bar Q = s\, \bar S K,\ \bar S = W \odot (\bar Y V^T - \langle \bar Y, Y \rangle)",
    "key": r"\bar K = s\, \bar S^T Q",
    "value": r"\bar V = W^T \bar Y",
}
_NAME = "ScaledDotProductFlashAttentionForCpuBackward0"

plain = op(
    "attention",
    lambda xp, query, key, value, causal, scale, keep: kernels.attend(
        xp, query, key, value, None, causal, scale, keep
    ),
    inputs="query key value",
    name_in_graph=_NAME,
    formula=_FORMULA,
    together=_together,
    query=lambda F, g, query, key, value, causal, scale: _query(F, g, query, key, value, None, causal, scale),
    key=lambda F, g, query, key, value, causal, scale: _key(F, g, query, key, value, None, causal, scale),
    value=lambda F, g, query, key, causal, scale: _value(F, g, query, key, None, causal, scale),
)
masked = op(
    "masked_attention",
    lambda xp, query, key, value, mask, causal, scale, keep: kernels.attend(
        xp, query, key, value, mask, causal, scale, keep
    ),
    inputs="query key value mask",
    name_in_graph=_NAME,
    formula=_FORMULA,
    together=lambda xp, g, wants, query, key, value, mask, out, out1, causal, scale: (
        *_together(xp, g, wants, query, key, value, out, out1, causal, scale),
        None,
    ),
    query=_query,
    key=_key,
    value=_value,
)


# ---- weights that are dropped at random ----------------------------------------------------------------------------
# The random numbers are known by their place alone, so a backward pass draws them again and nothing of them is kept.
def _noise(xp, query, key, stream, stays):
    return kernels.noise(xp, (*query.shape[:3], key.shape[2]), query.dtype, stream, stays)


def _drop(xp, query, key, value, mask, causal, scale, keep, stream, stays):
    left = noise.kernels[xp is not np](query, key, stream, stays)
    return kernels.dropped(xp, query, key, value, mask, causal, scale, keep, left)


def _drop_together(xp, g, wants, query, key, value, mask, out, out1, causal, scale, stream, stays):
    left = noise.kernels[xp is not np](query, key, stream, stays)
    return (*kernels.dropped_gradients(xp, g, query, key, value, out1, scale, left), None)


noise = op("attention_noise", _noise, inputs="query key").rule


def _dropped_scores(F, g, query, key, value, mask, causal, scale, stream, stays):
    w = _weights(F, query, key, None if mask.shape == (0,) else mask, causal, scale)
    left = F.attention_noise(query, key, stream, stays)
    return F.safe_softmax_slope(F.bmm(g, mT(F, value)) * left, w) * scale


def _dropped_value(F, g, query, key, mask, causal, scale, stream, stays):
    w = _weights(F, query, key, None if mask.shape == (0,) else mask, causal, scale)
    return F.bmm(mT(F, w * F.attention_noise(query, key, stream, stays)), g)


dropped = op(
    "dropped_attention",
    _drop,
    inputs="query key value mask",
    name_in_graph="ScaledDotProductEfficientAttentionBackward0",
    formula={
        "query": r"\bar Q = s\, \bar S K,\ \bar S = W \odot (N \odot \bar Y V^T - \langle \bar Y, Y \rangle)",
        "key": r"\bar K = s\, \bar S^T Q",
        "value": r"\bar V = (N \odot W)^T \bar Y",
    },
    together=_drop_together,
    query=lambda F, g, query, key, value, mask, causal, scale, stream, stays: F.bmm(
        _dropped_scores(F, g, query, key, value, mask, causal, scale, stream, stays), key
    ),
    key=lambda F, g, query, key, value, mask, causal, scale, stream, stays: F.bmm(
        mT(F, _dropped_scores(F, g, query, key, value, mask, causal, scale, stream, stays)), query
    ),
    value=_dropped_value,
)
