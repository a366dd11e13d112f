"""`conv_tbc`: a convolution of sequences that come as (time, batch, channels).

Invariant: it is `conv1d` with its dims in another order.
"""

from __future__ import annotations

from ...base import dims, errors
from ...base.casting import casting
from ...core.base_ops import to_dtype
from ...core.op_factory import op
from ...core.registry import public
from ...core.tensor import Tensor
from ...kernels import conv as kernels
from ..linalg import checks

_IN, _OUT, _FILTERS = (1, 2, 0), (2, 0, 1), (2, 1, 0)


def _conv_tbc(xp, input, weight, bias, pad):
    x, w = input.transpose(_IN), weight.transpose(_FILTERS)
    y = kernels.forward(xp, xp.ascontiguousarray(x), xp.ascontiguousarray(w), bias, (1,), (pad,), (1,), 1)
    return xp.ascontiguousarray(y.transpose(_OUT))


def _to_input(F, g, weight, input_shape, pad):
    turned = F.permute(weight, _FILTERS)
    return F.permute(
        F.conv_input_grad(F.permute(g, _IN), turned, input_shape[:1], (1,), (pad,), (1,), 1), _OUT
    )


def _to_weight(F, g, input, weight_shape, pad):
    found = F.conv_weight_grad(
        F.permute(g, _IN), F.permute(input, _IN), weight_shape[:1], (1,), (pad,), (1,), 1
    )
    return F.permute(found, _FILTERS)


_row = op(
    "conv_tbc",
    _conv_tbc,
    inputs="input weight bias",
    formula={
        "input": r"\bar x = \bar z \star^T w",
        "weight": r"\bar w = \bar z \star x",
        "bias": r"\bar b_o = \sum_{t,b} \bar z_{t,b,o}",
    },
    input=_to_input,
    weight=_to_weight,
    bias=lambda F, g: F.sum_dims(g, (0, 1), False),
)


@public(method=False)
def conv_tbc(input, weight, bias, pad=0):
    """A convolution of sequences (time, batch, channels).

    Args:
        input: (time, batch, in).
        weight: (kernel, in, out).
        bias: (out,).
        pad: zeros on both sides of the time.

    Example:
        >>> import vistorch
        >>> vistorch.conv_tbc(vistorch.ones(3, 1, 2), vistorch.ones(2, 2, 1), vistorch.zeros(1)).flatten()
        tensor([4., 4.])
    """
    if casting.on and (recast := casting.ask(conv_tbc, locals())):
        return recast[0]
    checks.tensors("conv_tbc", input=input, weight=weight, bias=bias)
    pad = dims.whole(pad, "conv_tbc", "pad", 4)
    x, w, b = input._data, weight._data, bias._data
    if x.ndim != 3:
        raise RuntimeError("Input must have 3 dims: time, batch, in_channel")
    if w.ndim != 3:
        raise RuntimeError("Weight tensor must have 3 dims: kernel_width, in_channels, out_channels.")
    if b.ndim != 1:
        raise RuntimeError("Bias must be 1-D")
    if x.shape[2] != w.shape[1]:
        raise RuntimeError("Input dim 2 (input channels) is not == dim 1 in the weight tensor")
    if w.shape[2] != b.shape[0]:
        raise RuntimeError("Bias size must equal dim 2 in the weight tensor (output channels).")
    length = x.shape[0] + 2 * pad - w.shape[0] + 1
    if length < 0:
        raise RuntimeError(
            f"Trying to create tensor with negative dimension {length}: "
            f"{errors.sizes((length, x.shape[1], w.shape[2]))}"
        )
    checks.same_place("conv_tbc", input, weight, bias)
    if x.dtype != w.dtype:
        raise RuntimeError(
            f"self and mat2 must have the same dtype, but got {checks.scalar(input)} and {checks.scalar(weight)}"
        )
    if x.size and w.size and length:
        checks.no_bool("addmm_impl_cpu_", input)
    return _row(input, weight, _as(bias, x.dtype), pad)


def _as(bias: Tensor, dtype) -> Tensor:
    return bias if bias._data.dtype == dtype else to_dtype(bias, dtype)
