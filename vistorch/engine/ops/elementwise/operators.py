"""Python's operators: which op each of them is, reflected and in place too.

Invariant: an operator returns NotImplemented for what it does not know, so that the other operand gets its turn.
"""

from __future__ import annotations

from ...base.casting import casting
from ...core import type_promotion
from ...core.graph import NUMBERS
from ...core.registry import METHODS
from ...core.tensor import Tensor
from . import arithmetic, compare, division, logic, powers, rounding


def _known(value):
    """Whether an operator can take this operand."""
    return value.__class__ in NUMBERS or isinstance(value, Tensor) or type_promotion.number(value) is not None


def reflected(op):
    """`number op tensor` of an op that takes the number first."""
    direct = op.operator

    def operator(self, other):
        return op(other, self) if _known(other) else direct(other, self)

    operator.__name__ = f"r{op.rule.name}"
    return operator


def _rtruediv(self, other):
    """`2 / x` is `x.reciprocal() * 2`, in PyTorch's graph too."""
    if casting.on and (recast := casting.ask(_rtruediv, locals())):
        return recast[0]
    return arithmetic.mul.operator(self.reciprocal(), other)


def _invert(self):
    if self._data.dtype.kind not in "iub":
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return logic.bitwise_not(self)


def _enter(name, forward, back, in_place):
    METHODS[f"__{name}__"] = forward
    METHODS[f"__r{name}__"] = back
    METHODS[f"__i{name}__"] = in_place


mul, add, sub = arithmetic.mul.operator, arithmetic.add_.operator, arithmetic.sub_.operator
_enter("add", add, add, METHODS["__iadd__"])
_enter("sub", sub, arithmetic.rsub_.operator, METHODS["__isub__"])
_enter("mul", mul, mul, METHODS["mul_"])
_enter("truediv", division.div_.operator, _rtruediv, METHODS["true_divide_"])
_enter("div", division.div_.operator, _rtruediv, METHODS["true_divide_"])  # Python 2's, which PyTorch keeps
_enter(
    "floordiv",
    division.floor_divide.operator,
    reflected(division.floor_divide),
    METHODS["floor_divide_"],
)
_enter("mod", division.remainder.operator, reflected(division.remainder), METHODS["remainder_"])
_enter("pow", powers.power_operator, powers.power_reflected, METHODS["pow_"])
for _name in ("and", "or", "xor"):
    _op = getattr(logic, f"bitwise_{_name}")
    _enter(_name, _op.operator, _op.operator, METHODS[f"bitwise_{_name}_"])
for _name, _op in (("lshift", logic.bitwise_left_shift), ("rshift", logic.bitwise_right_shift)):
    _enter(_name, _op.operator, reflected(_op), METHODS[f"{_op.rule.name}_"])
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    METHODS[f"__{_name}__"] = getattr(compare, _name).operator
METHODS["__neg__"] = arithmetic.neg
METHODS["__pos__"] = arithmetic.positive
METHODS["__abs__"] = rounding.abs_
METHODS["__invert__"] = _invert
