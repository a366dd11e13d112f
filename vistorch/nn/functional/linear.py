"""Affine maps.

Invariant: the graph is PyTorch's: with a bias one AddmmBackward0, whose inputs are the bias, the input and TBackward0.
"""

from __future__ import annotations

import math

from ...engine.base.casting import casting
from ...engine.base.errors import must_be_tensor
from ...engine.core.registry import FUNCTIONS
from ...engine.core.tensor import Tensor
from ...engine.ops.linalg.out_types import Style, into

__all__ = ["bilinear", "linear"]

add, addmm, bilinear, matmul, mm = (FUNCTIONS[name] for name in ("add", "addmm", "bilinear", "matmul", "mm"))


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None, *, out: Tensor | None = None) -> Tensor:
    """`input @ weight.T + bias`.

    Args:
        input: values, the features in the last dimension.
        weight: one row for each output feature; or one dimension, for a single output.
        bias: one number for each output feature.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.nn.functional.linear(vistorch.ones(1, 2), vistorch.ones(3, 2), vistorch.zeros(3))
        tensor([[2., 2., 2.]])
    """
    if casting.on and (recast := casting.ask(linear, locals())):
        return recast[0]
    if out is not None:
        return into(out, Style("linear"), (input, weight, bias), linear, input, weight, bias)
    try:
        a = input._data
        turned = weight.t()
    except AttributeError:
        raise must_be_tensor("linear", *_first_wrong(input, weight)) from None
    if a.ndim == 2:
        return mm(input, turned) if bias is None and turned.ndim == 2 else _flat(input, turned, bias)
    if a.ndim == 0 or turned.ndim == 0:
        raise RuntimeError(
            f"both arguments to linear need to be at least 1D, but they are {a.ndim}D and {turned.ndim}D"
        )
    if bias is not None and a.flags.c_contiguous:
        *batch, features = a.shape
        rows = addmm(bias, input.view(math.prod(batch), features), turned)
        return rows.view((*batch, rows._data.shape[1]))
    product = matmul(input, turned)
    return product if bias is None else add(product, bias)


def _flat(input: Tensor, turned: Tensor, bias: Tensor | None) -> Tensor:
    return matmul(input, turned) if bias is None else addmm(bias, input, turned)


def _first_wrong(input: object, weight: object) -> tuple:
    return ("weight", 2, weight) if isinstance(input, Tensor) else ("input", 1, input)
