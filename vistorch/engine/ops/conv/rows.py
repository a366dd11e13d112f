"""The rows of convolution: three bilinear ops whose gradients are each other.

With y = conv(x, w), the gradient of x is `conv_input_grad(g, w)` and that of w is `conv_weight_grad(g, x)`; a
transposed convolution is `conv_input_grad` under another name.
Invariant: constants are tuples of one int per spatial dim.
"""

from __future__ import annotations

from math import prod

import numpy as np

from ...core.op_factory import in_any_order, op
from ...kernels import conv as kernels

LATEX = {
    "input": r"\bar x = \bar z \star^T w",
    "weight": r"\bar w = \bar z \star x",
    "bias": r"\bar b_o = \sum_{n,t} \bar z_{n,o,t}",
}


def _convolution(xp, input, weight, stride, padding, dilation, groups):
    return kernels.forward(xp, input, weight, None, stride, padding, dilation, groups)


def _with_bias(xp, input, weight, bias, stride, padding, dilation, groups):
    return kernels.forward(xp, input, weight, bias, stride, padding, dilation, groups)


def _input_grad(xp, input, weight, size, stride, padding, dilation, groups):
    return kernels.input_grad(xp, input, weight, size, stride, padding, dilation, groups)


def _weight_grad(xp, input, other, kernel, stride, padding, dilation, groups):
    return kernels.weight_grad(xp, input, other, kernel, stride, padding, dilation, groups)


def _transposed(xp, input, weight, size, stride, padding, dilation, groups):
    return kernels.input_grad(xp, input, weight, size, stride, padding, dilation, groups)


def _transposed_with_bias(xp, input, weight, bias, size, stride, padding, dilation, groups):
    y = kernels.input_grad(xp, input, weight, size, stride, padding, dilation, groups)
    y += bias.reshape((-1,) + (1,) * len(size))
    return y


def _bias_grad(xp, input):
    """The sum over images and positions, as a product with ones: numpy sums short rows slowly."""
    n, o = input.shape[:2]
    count = prod(input.shape[2:])
    if xp is np and input.flags.c_contiguous and input.dtype.kind in "fc" and count:
        ones = np.ones(count, input.dtype)
        return np.matmul(input.reshape((n, o, count)), ones).sum(0)
    return input.sum((0, *range(2, input.ndim)), dtype=input.dtype)


def _to_input(F, g, weight, input_shape, stride, padding, dilation, groups):
    return F.conv_input_grad(g, weight, input_shape[2:], stride, padding, dilation, groups)


def _to_weight(F, g, input, weight_shape, stride, padding, dilation, groups):
    return F.conv_weight_grad(g, input, weight_shape[2:], stride, padding, dilation, groups)


convolution = in_any_order(
    op(
        "convolution",
        _convolution,
        inputs="input weight",
        formula=LATEX,
        input=_to_input,
        weight=_to_weight,
    ),
    makes=True,
)
convolution_with_bias = in_any_order(
    op(
        "convolution_with_bias",
        _with_bias,
        inputs="input weight bias",
        name_in_graph="ConvolutionBackward0",
        formula=LATEX,
        input=_to_input,
        weight=_to_weight,
        bias=lambda F, g: F.conv_bias_grad(g),
    ),
    makes=True,
)


def _cut(F, x, shape):
    """Without the windows that only a wide output padding leaves space for."""
    for d in range(2, len(shape)):
        if x.shape[d] > shape[d]:
            x = F.slice(x, d, 0, shape[d], 1)
    return x


input_grad = in_any_order(
    op(
        "conv_input_grad",
        _input_grad,
        inputs="input weight",
        name_in_graph="ConvolutionBackwardBackward0",
        formula={"input": r"\bar g = \bar z \star w", "weight": r"\bar w = g \star \bar z"},
        input=lambda F, g, weight, input_shape, stride, padding, dilation, groups: _cut(
            F, F.convolution(g, weight, stride, padding, dilation, groups), input_shape
        ),
        weight=lambda F, g, input, weight_shape, stride, padding, dilation, groups: F.conv_weight_grad(
            input, g, weight_shape[2:], stride, padding, dilation, groups
        ),
    ),
    makes=True,
)
weight_grad = in_any_order(
    op(
        "conv_weight_grad",
        _weight_grad,
        inputs="input other",
        name_in_graph="ConvolutionBackwardBackward0",
        formula={"input": r"\bar g = x \star \bar w", "other": r"\bar x = g \star^T \bar w"},
        input=lambda F, g, other, input_shape, stride, padding, dilation, groups: _cut(
            F, F.convolution(other, g, stride, padding, dilation, groups), input_shape
        ),
        other=lambda F, g, input, other_shape, stride, padding, dilation, groups: F.conv_input_grad(
            input, g, other_shape[2:], stride, padding, dilation, groups
        ),
    ),
    makes=True,
)
op(
    "conv_bias_grad",
    _bias_grad,
    name_in_graph="ConvolutionBackwardBackward0",
    formula=r"\bar g_{n,o,t} = \bar b_o",
    input=lambda F, g, input_shape: F.expand(
        F.reshape(g, (-1,) + (1,) * (len(input_shape) - 2)), input_shape
    ),
)


def _transposed_to_input(F, g, weight, input_shape, stride, padding, dilation, groups):
    return _cut(F, F.convolution(g, weight, stride, padding, dilation, groups), input_shape)


def _transposed_to_weight(F, g, input, weight_shape, stride, padding, dilation, groups):
    return F.conv_weight_grad(input, g, weight_shape[2:], stride, padding, dilation, groups)


transposed = in_any_order(
    op(
        "convolution_transposed",
        _transposed,
        inputs="input weight",
        name_in_graph="ConvolutionBackward0",
        formula={"input": r"\bar x = \bar z \star w", "weight": r"\bar w = x \star \bar z"},
        input=_transposed_to_input,
        weight=_transposed_to_weight,
    ),
    makes=True,
)
transposed_with_bias = in_any_order(
    op(
        "convolution_transposed_with_bias",
        _transposed_with_bias,
        inputs="input weight bias",
        name_in_graph="ConvolutionBackward0",
        formula={
            "input": r"\bar x = \bar z \star w",
            "weight": r"\bar w = x \star \bar z",
            "bias": LATEX["bias"],
        },
        input=_transposed_to_input,
        weight=_transposed_to_weight,
        bias=lambda F, g: F.conv_bias_grad(g),
    ),
    makes=True,
)
