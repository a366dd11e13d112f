"""The rows of single views: each returns memory of its input, and each has the row that carries a gradient back.

Invariant: constants are normalised (dims and indices not negative, sizes filled in), so a step of a view's history
can be replayed on any array of the same shape and strides.
"""

from __future__ import annotations

import numpy as np

from ...core import views
from ...core.op_factory import op
from ...core.rules import REC
from ...core.tensor import ndarray
from ...kernels import strides as _strides
from ...kernels.fast.spread import copied

WHOLE = (slice(None),)


def key(dim, what):
    """What to index an array with for `what` at one dim, and everything elsewhere; always a view, never a scalar."""
    return (WHOLE * dim + (what, ...)) if dim else (what, ...)


def _select_backward(xp, g, shape, dim, index):
    out = xp.zeros(shape, g.dtype)
    out[key(dim, index)] = g
    return out


def _slice_backward(xp, g, shape, dim, start, stop, step):
    out = xp.zeros(shape, g.dtype)
    if dim:
        out[key(dim, slice(start, stop, step))] = g
    else:
        out[start:stop:step] = g
    return out


select = op(
    "select",
    lambda xp, input, dim, index: input[key(dim, index)],
    view=True,
    formula=r"\bar x_{i} = \bar y,\ 0\text{ elsewhere}",
    input=lambda F, g, input_shape, dim, index: F.select_backward(g, input_shape, dim, index),
)
op(
    "select_backward",
    _select_backward,
    widen=False,
    name_in_graph="SelectBackwardBackward0",
    formula=r"\bar x = \bar y_{i}",
    g=lambda F, g, dim, index: F.select(g, dim, index),
)
slice_ = op(
    "slice",
    lambda xp, input, dim, start, stop, step: input[key(dim, slice(start, stop, step))],
    view=True,
    formula=r"\bar x_{a:b} = \bar y,\ 0\text{ elsewhere}",
    input=lambda F, g, input_shape, dim, start, stop, step: F.slice_backward(
        g, input_shape, dim, start, stop, step
    ),
)
op(
    "slice_backward",
    _slice_backward,
    widen=False,
    name_in_graph="SliceBackwardBackward0",
    formula=r"\bar x = \bar y_{a:b}",
    g=lambda F, g, dim, start, stop, step: F.slice(g, dim, start, stop, step),
)

# ---- dims of length one: PyTorch's three forms of squeeze are three rows ----------------------------------------
squeeze, squeeze_dim, squeeze_dims = (
    op(
        name,
        lambda xp, input, dims: input.squeeze(dims),
        view=True,
        name_in_graph=f"SqueezeBackward{number}",
        formula=r"\bar x = \mathrm{unsqueeze}(\bar y)",
        input=lambda F, g, input_shape: F.reshape(g, input_shape),
    )
    for number, name in enumerate(("squeeze", "squeeze_dim", "squeeze_dims"))
)
unsqueeze = op(
    "unsqueeze",
    lambda xp, input, dim: input[key(dim, None)],
    view=True,
    formula=r"\bar x = \mathrm{squeeze}(\bar y)",
    input=lambda F, g, dim: F.squeeze_dim(g, (dim,)),
)

# ---- dims in another order --------------------------------------------------------------------------------------
transpose = op(
    "transpose",
    lambda xp, input, dim0, dim1: input.swapaxes(dim0, dim1) if input.ndim else input[...],
    view=True,
    formula=r"\bar x = \bar y^{\mathsf T}",
    input=lambda F, g, dim0, dim1: F.transpose(g, dim0, dim1),
)
t = op(
    "t",
    lambda xp, input: input.T,
    view=True,
    name_in_graph="TBackward0",
    formula=r"\bar x = \bar y^{\mathsf T}",
    input=lambda F, g: F.t(g),
)
permute = op(
    "permute",
    lambda xp, input, dims: input.transpose(dims),
    view=True,
    formula=r"\bar x = \mathrm{permute}^{-1}(\bar y)",
    input=lambda F, g, dims: F.permute(g, tuple(sorted(range(len(dims)), key=dims.__getitem__))),
)

# ---- other shapes -----------------------------------------------------------------------------------------------
view, reshape_alias = (
    op(
        name,
        lambda xp, input, shape: input.reshape(shape),
        view=True,
        formula=r"\bar x = \mathrm{reshape}(\bar y)",
        input=lambda F, g, input_shape: F.reshape(g, input_shape),
    )
    for name in ("view", "reshape_alias")
)
unsafe_view = op(
    "reshape",  # its name in F: a reshape that may copy, because a gradient may have any strides
    lambda xp, input, shape: input.reshape(shape),
    widen=False,
    name_in_graph="UnsafeViewBackward0",
    formula=r"\bar x = \mathrm{reshape}(\bar y)",
    input=lambda F, g, input_shape: F.reshape(g, input_shape),
)
contiguous = op(
    "contiguous",
    lambda xp, input: copied(input, input.dtype, "C") if xp is np else xp.array(input, order="C"),
    widen=False,
    name_in_graph="CloneBackward0",
    formula=r"\bar x = \bar y",
    input=lambda F, g: g,
)


def reshape(x, shape):
    """The tensor as `shape`, whose sizes are all known: a view where the strides allow it."""
    d = x._data
    made = d.reshape(shape)
    if d.flags.c_contiguous:
        return view.of(x, made, (shape,))
    if _strides.same_memory(x._place.xp, made, d):
        return reshape_alias.of(x, made, (shape,))
    return unsafe_view(contiguous(x), shape)


REC.reshape = reshape  # type: ignore[attr-defined]


# ---- any strides ------------------------------------------------------------------------------------------------
# `source` is how the input itself lies: its strides in bytes, and the bytes of an element
def _as_strided_backward(xp, g, shape, size, stride, shift, source):
    return _strides.restride(xp, g, (size, stride), (shape, _counted(source)), shift, "target")


def _as_strided_again(xp, g, shape, size, stride, shift, source):
    return _strides.restride(xp, g, (shape, _counted(source)), (size, stride), -shift, "source")


def _counted(source):
    return tuple([s // source[1] for s in source[0]])


as_strided = op(
    "as_strided",
    lambda xp, input, size, stride, shift, source: _strides.strided(xp, input, size, stride, shift),
    view=True,
    formula=r"\bar x = \textstyle\sum_{\text{same place}} \bar y",
    input=lambda F, g, input_shape, size, stride, shift, source: F.as_strided_backward(
        g, input_shape, size, stride, shift, source
    ),
)
views.AS_STRIDED = as_strided.rule
op(
    "as_strided_backward",
    _as_strided_backward,
    name_in_graph="AsStridedBackwardBackward0",
    formula=r"\bar x = \mathrm{as\_strided}(\bar y)",
    g=lambda F, g, shape, size, stride, shift, source: F.as_strided_again(
        g, shape, size, stride, shift, source
    ),
)
op(
    "as_strided_again",
    _as_strided_again,
    name_in_graph="AsStridedBackward0",
    formula=r"\bar x = \textstyle\sum_{\text{same place}} \bar y",
    g=lambda F, g, shape, size, stride, shift, source: F.as_strided_backward(
        g, shape, size, stride, shift, source
    ),
)


def writable_diagonal(xp, input, offset, dim1, dim2):
    """The diagonal as memory of its input."""
    out = input.diagonal(offset, dim1, dim2)
    if out.__class__ is ndarray and input.flags.writeable:
        out.flags.writeable = True  # numpy hands out its diagonal locked
    return out


def _diagonal_backward(xp, g, shape, offset, dim1, dim2):
    out = xp.zeros(shape, g.dtype)
    writable_diagonal(xp, out, offset, dim1, dim2)[...] = g
    return out


diagonal = op(
    "diagonal",
    writable_diagonal,
    view=True,
    formula=r"\bar x_{ii} = \bar y_i,\ 0\text{ elsewhere}",
    input=lambda F, g, input_shape, offset, dim1, dim2: F.diagonal_backward(
        g, input_shape, offset, dim1, dim2
    ),
)
op(
    "diagonal_backward",
    _diagonal_backward,
    widen=False,
    name_in_graph="DiagonalBackwardBackward0",
    formula=r"\bar x_i = \bar y_{ii}",
    g=lambda F, g, offset, dim1, dim2: F.diagonal(g, offset, dim1, dim2),
)


def _unfold(xp, input, dim, size, step):
    if not input.ndim:
        return _strides.strided(xp, input.reshape(1), (size,), (1,))
    a = input
    lengths = a.shape
    shape = (*lengths[:dim], (lengths[dim] - size) // step + 1, *lengths[dim + 1 :], size)
    if a.__class__ is ndarray and a.flags.c_contiguous and a.size:
        s = a.strides
        return ndarray(shape, a.dtype, a, 0, (*s[:dim], s[dim] * step, *s[dim + 1 :], s[dim]))
    s = _strides.strides_of(a)
    return _strides.strided(xp, a, shape, (*s[:dim], s[dim] * step, *s[dim + 1 :], s[dim]))


def _unfold_backward(xp, g, shape, dim, size, step):
    if not shape:
        return xp.asarray(g.sum(dtype=g.dtype)).reshape(())
    out = xp.zeros(shape, g.dtype)
    n = g.shape[dim]
    for i in range(size):
        out[key(dim, slice(i, i + (n - 1) * step + 1, step))] += g[..., i]
    return out


unfold = op(
    "unfold",
    _unfold,
    view=True,
    formula=r"\bar x_j = \textstyle\sum_{i,k:\ i\cdot s+k=j} \bar y_{ik}",
    input=lambda F, g, input_shape, dim, size, step: F.unfold_backward(g, input_shape, dim, size, step),
)
op(
    "unfold_backward",
    _unfold_backward,
    name_in_graph="UnfoldBackwardBackward0",
    formula=r"\bar x = \mathrm{unfold}(\bar y)",
    g=lambda F, g, dim, size, step: F.unfold(g, dim, size, step),
)
