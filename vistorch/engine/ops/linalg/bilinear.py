"""Bilinear maps: every pair of features of two inputs, weighted.

Invariant: the gradients of the inputs are the same row with the roles of its three operands exchanged.
"""

from __future__ import annotations

import math

from ...base.casting import casting
from ...core.op_factory import op
from ...core.registry import FUNCTIONS, public
from ...core.tensor import Tensor
from .checks import native, tensors

_by_pairs = op(
    "trilinear",
    lambda xp, x, weight, y: xp.matmul(
        xp.dot(y, weight.reshape(-1, weight.shape[2]).T).reshape(len(y), *weight.shape[:2]), x[:, :, None]
    )[..., 0],
    inputs="x weight y",
    formula={
        "x": r"\bar x_i = \sum_{oj} \bar z_o W_{oij} y_j",
        "weight": r"\bar W_{oij} = \bar z_o x_i y_j",
        "y": r"\bar y_j = \sum_{oi} \bar z_o W_{oij} x_i",
    },
    x=lambda F, g, weight, y: F.trilinear(g, F.permute(weight, (1, 0, 2)), y),
    weight=lambda F, g, x, y, weight_shape: F.reshape(
        F.mm(F.t(g), F.reshape(F.unsqueeze(x, 2) * F.unsqueeze(y, 1), (x.shape[0], x.shape[1] * y.shape[1]))),
        weight_shape,
    ),
    y=lambda F, g, weight, x: F.trilinear(g, F.permute(weight, (2, 0, 1)), x),
)


@public(method=False)
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`x1 @ W[o] @ x2 + b[o]` for every output feature `o`.

    Args:
        input1: values, their features in the last dimension.
        input2: other values for the same samples.
        weight: output features, features of `input1`, features of `input2`.
        bias: one number for each output feature.

    Example:
        >>> import vistorch
        >>> vistorch.bilinear(vistorch.ones(1, 2), vistorch.ones(1, 3), vistorch.ones(1, 2, 3))
        tensor([[6.]])
    """
    if casting.on and (recast := casting.ask(bilinear, locals())):
        return recast[0]
    tensors(
        "bilinear", input1=input1, input2=input2, weight=weight, **({} if bias is None else {"bias": bias})
    )
    _check_types(input1, input2, weight, bias)
    if input1.ndim != input2.ndim:
        raise RuntimeError(f"bilinear(): input dimensions do not match: got {input1.ndim} and {input2.ndim}")
    if weight.ndim < 2 or not input1.ndim:
        raise IndexError("Dimension specified as 1 but tensor has no dimensions")
    *batch, first = input1.shape
    for i, (a, b) in enumerate(zip(batch, input2.shape[:-1], strict=True)):
        if a != b:
            raise RuntimeError(f"bilinear(): input batch dimensions do not match at dim {i}: got {a} and {b}")
    for k, given, wanted in ((1, first, weight.shape[1]), (2, input2.shape[-1], weight.shape[2])):
        if given != wanted:
            raise RuntimeError(
                f"bilinear(): input{k} size does not match weight size: got {given} but expected {wanted}"
            )
    if bias is not None and bias.shape[0] != weight.shape[0]:
        raise RuntimeError(
            f"bilinear(): bias size does not match weight size: got {bias.shape[0]} but expected {weight.shape[0]}"
        )
    rows = math.prod(batch)
    x = FUNCTIONS["reshape"](input1, (rows, first))
    y = FUNCTIONS["reshape"](input2, (rows, input2.shape[-1]))
    out = _by_pairs(x, weight, y).view((*batch, weight.shape[0]))
    return out if bias is None else out + bias


def _check_types(*operands: Tensor | None) -> None:
    given = [t for t in operands if t is not None]
    if len({t._data.dtype for t in given}) > 1:
        names = ("input1", "input2", "weight", "bias")
        listed = ", ".join(f"{n}: {native(t)}" for n, t in zip(names, given, strict=False))
        raise RuntimeError(f"All tensors must have the same dtype, got {listed}")
    if given[0]._data.dtype.kind == "b":
        raise NotImplementedError("\"bmm\" not implemented for 'Bool'")
