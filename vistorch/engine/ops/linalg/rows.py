"""Linear steps that the formulas of this family are made of: transposes, triangles, diagonals, blocks of columns.

Invariant: every row here is linear, and its vjp is another row here, so derivatives of any order exist. Matrices are
the last two dims; whatever comes before is a batch.
"""

from __future__ import annotations

from typing import Any

from ...call import op


def is_complex(x: Any) -> bool:
    """Whether an array or a Tensor holds complex numbers."""
    kind = getattr(x.dtype, "kind", None)
    return x.dtype.is_complex if kind is None else kind == "c"


def H(F: Any, x: Any) -> Any:
    """The conjugate transpose; a view where `x` is real."""
    return F.mT(F.conj(x)) if is_complex(x) else F.mT(x)


def conj(F: Any, x: Any) -> Any:
    """The conjugate; `x` itself where it is real."""
    return F.conj(x) if is_complex(x) else x


def half_upper(F: Any, x: Any) -> Any:
    """The upper triangle with its diagonal halved."""
    return F.mT(F.lower(F.mT(x), 0.5))


def _lower(xp, input, weight):
    out = xp.tril(input)
    if weight != 1:
        i = xp.arange(min(out.shape[-2:]))
        out[..., i, i] *= weight
    return out


def _set_diag(xp, input, value):
    out = xp.array(input)
    i = xp.arange(min(out.shape[-2:]))
    out[..., i, i] = value
    return out


def _diag_full(xp, input, shape):
    out = xp.zeros(input.shape[:-1] + tuple(shape), input.dtype)
    i = xp.arange(input.shape[-1])
    out[..., i, i] = input
    return out


def _pad_cols(xp, input, start, total):
    out = xp.zeros((*input.shape[:-1], total), input.dtype)
    out[..., start : start + input.shape[-1]] = input
    return out


def _trace_back(xp, input, shape):
    out = xp.zeros(shape, input.dtype)
    i = xp.arange(min(shape))
    out[i, i] = input
    return out


mT = op(
    "mT",
    lambda xp, input: input.swapaxes(-1, -2),
    view=True,
    name_in_graph="TransposeBackward0",
    formula=r"\bar x = \bar y^T",
    input=lambda F, g: F.mT(g),
)
put_axis = op(
    "put_axis",
    lambda xp, input, axis: xp.expand_dims(input, axis),
    view=True,
    name_in_graph="UnsqueezeBackward0",
    formula=r"\bar x = \mathrm{squeeze}(\bar y)",
    input=lambda F, g, axis: F.drop_axis(g, axis),
)
drop_axis = op(
    "drop_axis",
    lambda xp, input, axis: xp.squeeze(input, axis),
    view=True,
    name_in_graph="SqueezeBackward1",
    formula=r"\bar x = \mathrm{unsqueeze}(\bar y)",
    input=lambda F, g, axis: F.put_axis(g, axis),
)
unsafe_view = op(
    "unsafe_view",
    lambda xp, input, shape: input.reshape(shape),
    widen=False,
    formula=r"\bar x = \mathrm{reshape}(\bar y)",
    input=lambda F, g, input_shape: F.unsafe_view(g, input_shape),
)
lower = op(
    "lower",
    _lower,
    name_in_graph="TrilBackward0",
    formula=r"\bar x = \mathrm{tril}(\bar y)",
    input=lambda F, g, weight: F.lower(g, weight),
)
set_diag = op(
    "set_diag",
    _set_diag,
    name_in_graph="FillBackward0",
    formula=r"\bar x = \bar y - \mathrm{diag}(\bar y)",
    input=lambda F, g: F.set_diag(g, 0),
)
diag_part = op(
    "diag_part",
    lambda xp, input: xp.array(xp.diagonal(input, 0, -2, -1)),
    name_in_graph="DiagonalBackward0",
    formula=r"\bar x = \mathrm{diag}(\bar y)",
    input=lambda F, g, input_shape: F.diag_full(g, input_shape[-2:]),
)
diag_full = op(
    "diag_full",
    _diag_full,
    name_in_graph="DiagonalBackward0Backward0",
    formula=r"\bar x = \mathrm{diagonal}(\bar y)",
    input=lambda F, g: F.diag_part(g),
)
cols = op(
    "cols",
    lambda xp, input, start, stop: xp.array(input[..., start:stop]),
    name_in_graph="SliceBackward0",
    formula=r"\bar x = \mathrm{pad}(\bar y)",
    input=lambda F, g, start, input_shape: F.pad_cols(g, start, input_shape[-1]),
)
pad_cols = op(
    "pad_cols",
    _pad_cols,
    name_in_graph="ConstantPadNdBackward0",
    formula=r"\bar x = \mathrm{slice}(\bar y)",
    input=lambda F, g, start, input_shape: F.cols(g, start, start + input_shape[-1]),
)
trace_row = op(
    "trace",
    lambda xp, input: xp.trace(input),
    formula=r"\bar x = \bar y\, I",
    input=lambda F, g, input_shape: F.trace_back(g, input_shape),
)
op(
    "trace_back",
    _trace_back,
    name_in_graph="TraceBackward0Backward0",
    formula=r"\bar x = \mathrm{tr}(\bar y)",
    input=lambda F, g: F.trace(g),
)
