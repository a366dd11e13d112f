"""Products and quotients added to a tensor: what optimizers are made of.

Invariant: the in-place forms write at once where nothing is recorded and nothing has to be promoted.
"""

from __future__ import annotations

import numpy as np

from ...base import errors
from ...base.casting import casting
from ...core import type_promotion
from ...core.graph import NUMBERS
from ...core.inplace import direct, replace
from ...core.legacy_arguments import number_first
from ...core.op_factory import op
from ...core.pointwise_nary import fast_path
from ...core.registry import METHODS, public
from ...core.tensor import Tensor
from ...library_name import library
from .arithmetic import REAL
from .dtype_checks import missing


def _plus_product(xp, input, tensor1, tensor2, value):
    return input + (tensor1 * tensor2 if value == 1 else tensor1 * value * tensor2)


def _plus_quotient(xp, input, tensor1, tensor2, value):
    return input + (tensor1 / tensor2 if value == 1 else tensor1 / tensor2 * value)


_addcmul = op(
    "addcmul",
    _plus_product,
    inputs="input tensor1 tensor2",
    formula={
        "input": r"\bar x = \bar z",
        "tensor1": r"\bar a = \bar z\, v\, b",
        "tensor2": r"\bar b = \bar z\, v\, a",
    },
    input=lambda F, g: g,
    tensor1=lambda F, g, tensor2, value: g * (tensor2 * value),
    tensor2=lambda F, g, tensor1, value: g * (tensor1 * value),
).rule
_addcdiv = op(
    "addcdiv",
    _plus_quotient,
    inputs="input tensor1 tensor2",
    formula={
        "input": r"\bar x = \bar z",
        "tensor1": r"\bar a = \bar z\, v / b",
        "tensor2": r"\bar b = -\bar z\, v\, a / b^2",
    },
    input=lambda F, g: g,
    tensor1=lambda F, g, tensor2, value: g * (value / tensor2),
    tensor2=lambda F, g, tensor1, tensor2, value: -g * (value * tensor1 / (tensor2 * tensor2)),
).rule
_plain_addcmul, _plain_addcdiv = fast_path(_addcmul), fast_path(_addcdiv)
_no_bool_products = missing("addcmul_cpu_out", "b")


def _factor(name, value, common):
    """`value=` as a number that fits the result's type."""
    factor = value._data.item() if isinstance(value, Tensor) else value
    if factor.__class__ not in NUMBERS:
        factor = type_promotion.number(factor)
        if factor is None:
            raise TypeError(f"{name}(): argument 'value' must be Number, not {type(value).__name__}")
    if isinstance(factor, complex) and common.kind != "c":
        raise RuntimeError("value cannot be converted to type double without overflow")
    return factor if type_promotion.floating(common) else np.asarray(factor, np.int64).astype(common)[()]


def _three(name, input, tensor1, tensor2):
    for t, argument, position in ((input, "input", 1), (tensor1, "tensor1", 2), (tensor2, "tensor2", 3)):
        if not isinstance(t, Tensor):
            raise errors.must_be_tensor(name, argument, position, t)
    return type_promotion.result_type(input, tensor1, tensor2)


@public()
def addcmul(input, tensor1, tensor2, late=None, *, value=1, out=None):
    """Add `value * tensor1 * tensor2`.

    Args:
        input: a tensor.
        tensor1: a factor.
        tensor2: another.
        late: the last one in the old order, `(input, value, tensor1, tensor2)`, with its warning.
        value: a number.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> x = vistorch.tensor([1.0, 2.0])
        >>> vistorch.addcmul(x, x, x, value=10)
        tensor([11., 42.])
    """
    if casting.on and (recast := casting.ask(addcmul, locals())):
        return recast[0]
    if late is not None:
        value, (tensor1, tensor2) = number_first(
            "addcmul", "value", "tensor1 tensor2", (tensor1, tensor2, late)
        )
        return addcmul(input, tensor1, tensor2, value=value, out=out)
    if out is None and value.__class__ in REAL and input.__class__ is Tensor:
        o = _plain_addcmul((input, tensor1, tensor2), (value,))
        if o is not None:
            return o
    common = _three("addcmul", input, tensor1, tensor2)
    _no_bool_products(common)
    factor = _factor("addcmul", value, common)
    return type_promotion.several(_addcmul, (input, tensor1, tensor2), (factor,), out, common)


@public()
def addcdiv(input, tensor1, tensor2, late=None, *, value=1, out=None):
    """Add `value * tensor1 / tensor2`.

    Args:
        input: a tensor.
        tensor1: the numerator.
        tensor2: the denominator.
        late: the last one in the old order, `(input, value, tensor1, tensor2)`, with its warning.
        value: a number.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> x = vistorch.tensor([1.0, 2.0])
        >>> vistorch.addcdiv(x, x, x, value=10)
        tensor([11., 12.])
    """
    if casting.on and (recast := casting.ask(addcdiv, locals())):
        return recast[0]
    if late is not None:
        value, (tensor1, tensor2) = number_first(
            "addcdiv", "value", "tensor1 tensor2", (tensor1, tensor2, late)
        )
        return addcdiv(input, tensor1, tensor2, value=value, out=out)
    if out is None and value.__class__ in REAL and input.__class__ is Tensor:
        o = _plain_addcdiv((input, tensor1, tensor2), (value,))
        if o is not None:
            return o
    common = _three("addcdiv", input, tensor1, tensor2)
    if not type_promotion.floating(type_promotion.result_type(tensor1, tensor2)):
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a "
            "true division of tensor1 and tensor2. The historic addcdiv behavior can be implemented as (input + value "
            f"* {library}.trunc(tensor1 / tensor2)).to(input.dtype) for integer inputs and as (input + value * tensor1 "
            "/ "
            "tensor2) for float inputs. The future addcdiv behavior is just the latter implementation: (input + value "
            "* tensor1 / tensor2), for all dtypes."
        )
    factor = _factor("addcdiv", value, common)
    return type_promotion.several(_addcdiv, (input, tensor1, tensor2), (factor,), out, common)


def _add_product(d, tensor1, tensor2, value):
    step = np.multiply(tensor1, value)
    # of operands without dims numpy makes a scalar, which it cannot write to
    np.add(d, np.multiply(step, tensor2, step if step.ndim and step.shape == d.shape else None), d)


def _add_quotient(d, tensor1, tensor2, value):
    step = np.true_divide(tensor1, tensor2)
    np.add(d, np.multiply(step, value, step if step.ndim else None), d)


def _three_in_place(fn, rule, write_plain):
    """`x.addcmul_(a, b, value=...)`."""
    name = rule.name + "_"

    def write(input, tensor1, tensor2, late=None, *, value=1):
        if late is not None:
            value, (tensor1, tensor2) = number_first(
                name, "value", "tensor1 tensor2", (tensor1, tensor2, late)
            )
        if value.__class__ in REAL and direct(rule, input, (tensor1, tensor2), (value,), write_plain):
            return input
        return replace(input, fn, (tensor1, tensor2), {"value": value})

    write.__name__ = write.__qualname__ = name
    return write


METHODS["addcmul_"] = _three_in_place(addcmul, _addcmul, _add_product)
METHODS["addcdiv_"] = _three_in_place(addcdiv, _addcdiv, _add_quotient)
