"""Rows of a table read by index: the rows of the op table that embeddings stand on.

Each reads or adds up rows; a gradient of reading is adding up, and the other way round.
Invariant: indices are inside the table, and `padding` is a row that gets no gradient, or -1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.op_factory import op
from ...kernels.row_sums import added_rows
from ..index.add_at import add_at
from ..norm.standard import there


def _added(xp: Any, places: Any, values: Any, rows: int, taken: Any = None) -> Any:
    """A table whose rows are the sums of the values at each place."""
    if xp is np:
        return added_rows(places, values, rows, taken)
    out = xp.zeros((rows, values.shape[1]), values.dtype)
    add_at(xp, out, places, values if taken is None else values[taken])
    return out


def _flat(index: Any) -> Any:
    return index.reshape(-1).astype(np.int64, copy=False)


def _read(xp, weight, indices, padding, by_frequency):
    return weight.take(indices.reshape(-1), 0).reshape(*indices.shape, weight.shape[1])


def _gradient(xp, grad, indices, rows, padding):
    index = _flat(indices)
    grad = xp.ascontiguousarray(grad).reshape(index.shape[0], grad.shape[-1])
    out = _added(xp, index, grad, rows)
    if 0 <= padding < rows:
        out[padding] = 0
    return out


def _read_unpadded(xp, input, indices, padding):
    out = _read(xp, input, indices, padding, False)
    if padding >= 0:
        out[indices == padding] = 0
    return out


def _shares(xp, input, indices):
    """Rows divided by how often the indices name them."""
    count = xp.bincount(_flat(indices), minlength=input.shape[0])
    return input / xp.maximum(count, 1).astype(input.dtype)[:, None]


def _shared(F: Any, table: Any, indices: Any, by_frequency: bool) -> Any:
    return F.embedding_shares(table, indices) if by_frequency else table


embedding_row = op(
    "embedding",
    _read,
    inputs="weight indices",
    widen=False,
    formula=r"\bar W_i = \textstyle\sum_{x_j = i} \bar y_j",
    weight=lambda F, g, weight_shape, indices, padding, by_frequency: _shared(
        F, F.embedding_gradient(g, indices, weight_shape[0], padding), indices, by_frequency
    ),
)
op(
    "embedding_gradient",
    _gradient,
    inputs="grad indices",
    name_in_graph="EmbeddingDenseBackwardBackward0",
    formula={"grad": r"\bar g_j = \bar W_{x_j}"},
    grad=lambda F, g, indices, padding: F.embedding_unpadded(g, indices, padding),
)
op(
    "embedding_unpadded",
    _read_unpadded,
    inputs="input indices",
    widen=False,
    name_in_graph="EmbeddingBackward0",
    formula=r"\bar W_i = \textstyle\sum_{x_j = i} \bar y_j",
    input=lambda F, g, input_shape, indices, padding: F.embedding_gradient(
        g, indices, input_shape[0], padding
    ),
)
op(
    "embedding_shares",
    _shares,
    inputs="input indices",
    name_in_graph="DivBackward0",
    formula=r"\bar x_i = \bar y_i / n_i",
    input=lambda F, g, indices: F.embedding_shares(g, indices),
)


# ---- bags: sums, means and maxima of the rows that neighbouring indices name ---------------------------------------
def _kept(indices: Any, bags: Any, weights: Any, padding: int) -> tuple:
    """(indices, bags, weights or None) without what is padding."""
    index, weights = _flat(indices), there(weights)
    if padding >= 0:
        keep = index != padding
        index, bags = index[keep], bags[keep]
        weights = None if weights is None else weights[keep]
    return index, bags, weights


def _sizes(xp: Any, bags: Any, count: int, dtype: Any) -> Any:
    return xp.maximum(xp.bincount(bags, minlength=count), 1).astype(dtype)[:, None]


def _bag(xp, weight, per_sample_weights, indices, bags, count, mean, padding, by_frequency):
    index, bags, w = _kept(indices, bags, per_sample_weights, padding)
    if w is not None:
        out = _added(xp, bags, weight[index] * w[:, None], count)
    else:
        out = _added(xp, bags, xp.ascontiguousarray(weight), count, index)
    return out / _sizes(xp, bags, count, out.dtype) if mean else out


def _bag_gradient(xp, grad, per_sample_weights, indices, bags, rows, mean, padding):
    index, bags, w = _kept(indices, bags, per_sample_weights, padding)
    if mean:
        grad = grad / _sizes(xp, bags, grad.shape[0], grad.dtype)
    if w is not None:
        return _added(xp, index, grad[bags] * w[:, None], rows)
    return _added(xp, index, xp.ascontiguousarray(grad), rows, bags)


def _bag_dots(xp, grad, weight, indices, bags, padding):
    index = _flat(indices)
    out = (grad[bags] * weight[index]).sum(1)
    if padding >= 0:
        out[index == padding] = 0
    return out


bag_row = op(
    "embedding_bag",
    _bag,
    inputs="weight per_sample_weights indices bags",
    formula={
        "weight": r"\bar W_i = \textstyle\sum_{x_j = i} s_j \bar y_{b_j}",
        "per_sample_weights": r"\bar s_j = \bar y_{b_j} \cdot W_{x_j}",
    },
    weight=lambda F, g, weight_shape, per_sample_weights, indices, bags, mean, padding, by_frequency: _shared(
        F,
        F.bag_gradient(g, per_sample_weights, indices, bags, weight_shape[0], mean, padding),
        indices,
        by_frequency,
    ),
    per_sample_weights=lambda F, g, weight, indices, bags, padding: F.bag_dots(
        g, weight, indices, bags, padding
    ),
)
op(
    "bag_gradient",
    _bag_gradient,
    inputs="grad per_sample_weights indices bags",
    name_in_graph="EmbeddingBagBackwardBackward0",
    grad=lambda F, g, grad_shape, per_sample_weights, indices, bags, mean, padding: F.embedding_bag(
        g, per_sample_weights, indices, bags, grad_shape[0], mean, padding, False
    ),
    per_sample_weights=lambda F, g, grad, indices, bags, padding: F.bag_dots(grad, g, indices, bags, padding),
)
op(
    "bag_dots",
    _bag_dots,
    inputs="grad weight indices bags",
    name_in_graph="EmbeddingBagPerSampleWeightsBackwardBackward0",
    grad=lambda F, g, grad_shape, weight, indices, bags, padding: F.embedding_bag(
        weight, g, indices, bags, grad_shape[0], False, padding, False
    ),
    weight=lambda F, g, weight_shape, grad, indices, bags, padding: F.bag_gradient(
        grad, g, indices, bags, weight_shape[0], False, padding
    ),
)


def _bag_max(xp, weight, indices, bags, count, padding):
    """The largest of each column in a bag, and the row it stands in (-1 for a bag without rows)."""
    index, bags, _ = _kept(indices, bags, xp.empty(0), padding)
    out = xp.zeros((count, weight.shape[1]), weight.dtype)
    best = xp.full(out.shape, -1, np.int64)
    size = xp.bincount(bags, minlength=count)
    start = xp.cumsum(size) - size
    place = xp.nonzero(size)[0]
    at = 0
    while place.size:
        rows = index[start[place] + at]
        values = weight[rows]
        here = out[place]
        more = (values > here) if at else xp.ones(values.shape, bool)
        out[place] = xp.where(more, values, here)
        best[place] = xp.where(more, rows[:, None], best[place])
        at += 1
        place = place[size[place] > at]
    return out, best


def _max_gradient(xp, grad, best, rows):
    width = grad.shape[1]
    flat = xp.zeros(rows * width, grad.dtype)
    there = best >= 0
    places = best * width + xp.arange(width)
    add_at(xp, flat, places[there], grad[there])
    return flat.reshape(rows, width)


def _max_read(xp, input, best):
    out = input[xp.maximum(best, 0), xp.arange(input.shape[1])]
    return xp.where(best >= 0, out, input.dtype.type(0))


bag_max_row = op(
    "bag_max",
    _bag_max,
    inputs="weight indices bags",
    name_in_graph="EmbeddingBagBackward0",
    formula=r"\bar W_{ik} = \textstyle\sum_{b:\,i = \mathrm{argmax}_k} \bar y_{bk}",
    weight=lambda F, g, out1, weight_shape: F.bag_max_gradient(g, out1, weight_shape[0]),
)
op(
    "bag_max_gradient",
    _max_gradient,
    inputs="grad best",
    name_in_graph="EmbeddingBagBackwardBackward0",
    grad=lambda F, g, best: F.bag_max_read(g, best),
)
op(
    "bag_max_read",
    _max_read,
    inputs="input best",
    widen=False,
    name_in_graph="EmbeddingBagBackward0",
    input=lambda F, g, best, input_shape: F.bag_max_gradient(g, best, input_shape[0]),
)
