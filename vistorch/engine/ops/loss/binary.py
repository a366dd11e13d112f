"""Cross entropy of a probability against a yes or no, the probability given as it is or as a logit.

Invariant: a row with weights is a row of its own, under the name PyTorch's graph has for both.
"""

from __future__ import annotations

from typing import Any

from ...base import dtypes
from ...base.casting import casting
from ...core import type_promotion
from ...core.op_factory import op
from ...core.pointwise_nary import fast_path
from ...core.registry import public
from ...core.tensor import Tensor, wrap
from ...memory.lanes import all_samples
from ..elementwise.dtype_checks import missing, sentence
from .frame import fits, label_of, no_gradient, optional, over, part, tensors, whole

_TINY = 1e-12
_LEAST = -100  # what PyTorch takes for the logarithm of zero


# ---- of a probability --------------------------------------------------------------------------------------------
def _bce_each(xp, input, target, weight=None):
    yes = xp.maximum(xp.log(input), _LEAST)
    no = xp.maximum(xp.log1p(-input), _LEAST)
    yes = no - yes
    yes *= target
    yes -= no
    return yes if weight is None else yes * weight


def _bce_slope(xp, input, target, grad):
    span = xp.asarray(1 - input)
    span *= input
    d = xp.asarray(input - target)
    d *= grad
    d /= xp.maximum(span, _TINY)
    return d


def _span(input: Any) -> Any:
    return (input + _TINY) * (1 - input + _TINY)


def _bce_curve(F, g, input, target, grad):
    span = _span(input)
    return g * grad * (input * input - input * target * 2 + target) / (span * span)


def _bce_target(F, g, input, reduction):
    return (F.log(1 - input) - F.log(input)) * part(g, reduction, input.shape)


_bce_row = op(
    "binary_cross_entropy",
    lambda xp, input, target, reduction: over(xp, _bce_each, reduction, input, target),
    inputs="input target",
    formula={
        "input": r"\bar x = \tfrac{1}{n}\, \bar z\, \frac{x - y}{x (1 - x)}",
        "target": r"\bar y = \tfrac{1}{n}\, \bar z\, (\ln(1 - x) - \ln x)",
    },
    input=lambda F, g, input, target, reduction: F.binary_cross_entropy_backward(
        input, target, part(g, reduction, input.shape)
    ),
    target=_bce_target,
)
_weighted_bce_row = op(
    "binary_cross_entropy_weighted",
    lambda xp, input, target, weight, reduction: over(xp, _bce_each, reduction, input, target, weight),
    inputs="input target weight",
    name_in_graph="BinaryCrossEntropyBackward0",
    formula={
        "input": r"\bar x = \tfrac{1}{n}\, \bar z\, w\, \frac{x - y}{x (1 - x)}",
        "target": r"\bar y = \tfrac{1}{n}\, \bar z\, w\, (\ln(1 - x) - \ln x)",
    },
    input=lambda F, g, input, target, weight, reduction: F.binary_cross_entropy_backward(
        input, target, part(g, reduction, input.shape) * weight
    ),
    target=lambda F, g, input, weight, reduction: _bce_target(F, g, input, reduction) * weight,
)
op(
    "binary_cross_entropy_backward",
    lambda xp, input, target, grad: over(xp, _bce_slope, 0, input, target, grad),
    inputs="input target grad",
    name_in_graph="BinaryCrossEntropyBackwardBackward0",
    formula={
        "input": r"\bar x = \bar z\, g\, \frac{x^2 - 2 x y + y}{x^2 (1 - x)^2}",
        "target": r"\bar y = -\frac{\bar z\, g}{x (1 - x)}",
        "grad": r"\bar g = \bar z\, \frac{x - y}{x (1 - x)}",
    },
    input=_bce_curve,
    target=lambda F, g, input, grad: -(g * grad) / _span(input),
    grad=lambda F, g, input, target: F.binary_cross_entropy_backward(input, target, g),
)
_quick_bce = fast_path(_bce_row.rule)
_no_bce = missing("binary_cross_entropy", "ibc")


def _probabilities(name: str, t: Tensor) -> None:
    a = all_samples(t._data)
    # nan is no probability either
    if a.size and not (a.min() >= 0 and a.max() <= 1):
        raise RuntimeError(f"all elements of {name} should be between 0 and 1")


def binary_cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None, reduction: int) -> Tensor:
    """The loss of probabilities; `weight` broadcasts to the input."""
    tensors("binary_cross_entropy", input=input, target=target)
    own = input._data.dtype
    if target._data.dtype != own:
        raise RuntimeError(f"Found dtype {label_of(target)} but expected {label_of(input)}")
    _no_bce(own)
    _probabilities("input", input)
    _probabilities("target", target)
    if weight is None:
        done = _quick_bce((input, target), (reduction,))
        return _bce_row(input, target, reduction) if done is None else done
    no_gradient("binary_cross_entropy", "weight", weight)
    fits(weight, input)
    dtypes.check_cast(type_promotion.result_type(input, weight), own)
    return type_promotion.several(_weighted_bce_row.rule, (input, target, weight), (reduction,), None, own)


# ---- of a logit --------------------------------------------------------------------------------------------------
def _logits_each(xp, input, target):
    loss = xp.asarray(abs(input))
    xp.negative(loss, loss)
    xp.exp(loss, loss)
    xp.log1p(loss, loss)
    loss -= xp.minimum(input, 0)
    no = xp.asarray(1 - target)
    no *= input
    no += loss
    return no


def _logits_weighted(xp, input, target, weight, pos_weight):
    soft = xp.log1p(xp.exp(-abs(input))) + xp.maximum(-input, 0)
    return (input * (1 - target) + ((pos_weight - 1) * target + 1) * soft) * weight


def _logits_slope(xp, input, target, grad):
    s = xp.asarray(xp.negative(input))
    xp.exp(s, s)
    s += 1
    xp.reciprocal(s, s)
    if target.dtype.kind == "c":
        return (s - target) * grad
    s -= target
    s *= grad
    return s


def _weighted_slope(F, g, input, target, weight, pos_weight, reduction, target_shape):
    raised = (pos_weight - 1) * target + 1
    return (raised * F.sigmoid(input) - pos_weight * target) * weight * part(g, reduction, target_shape)


def _weighted_target(F, g, input, weight, pos_weight, reduction, target_shape):
    # softplus(x) and softplus(-x), whose difference is x
    soft = F.softplus_of(-input)
    return ((pos_weight - 1) * soft - input) * weight * part(g, reduction, target_shape)


op(
    "softplus_of",
    lambda xp, input: xp.log1p(xp.exp(-abs(input))) + xp.maximum(input, 0),
    name_in_graph="SoftplusBackward0",
    formula=r"\bar x = \bar y\, \sigma(x)",
    input=lambda F, g, input: g * F.sigmoid(input),
)
_logits_row = op(
    "binary_cross_entropy_with_logits",
    lambda xp, input, target, reduction: over(xp, _logits_each, reduction, input, target),
    inputs="input target",
    formula={
        "input": r"\bar x = \tfrac{1}{n}\, \bar z\, (\sigma(x) - y)",
        "target": r"\bar y = -\tfrac{1}{n}\, \bar z\, x",
    },
    input=lambda F, g, input, target, reduction, target_shape: F.binary_cross_entropy_with_logits_backward(
        input, target, part(g, reduction, target_shape)
    ),
    target=lambda F, g, input, reduction, target_shape: -input * part(g, reduction, target_shape),
)
_weighted_logits_row = op(
    "binary_cross_entropy_with_logits_weighted",
    lambda xp, input, target, weight, pos_weight, reduction: over(
        xp, _logits_weighted, reduction, input, target, weight, pos_weight
    ),
    inputs="input target weight pos_weight",
    name_in_graph="BinaryCrossEntropyWithLogitsBackward0",
    formula={
        "input": r"\bar x = \tfrac{1}{n}\, \bar z\, w\, ((1 + (p - 1) y)\, \sigma(x) - p y)",
        "target": r"\bar y = \tfrac{1}{n}\, \bar z\, w\, ((p - 1) \ln(1 + e^{-x}) - x)",
    },
    input=_weighted_slope,
    target=_weighted_target,
)
op(
    "binary_cross_entropy_with_logits_backward",
    lambda xp, input, target, grad: over(xp, _logits_slope, 0, input, target, grad),
    inputs="input target grad",
    name_in_graph="DivBackward1",
    formula={
        "input": r"\bar x = \bar z\, g\, \sigma(x) (1 - \sigma(x))",
        "target": r"\bar y = -\bar z\, g",
        "grad": r"\bar g = \bar z\, (\sigma(x) - y)",
    },
    input=lambda F, g, input, grad: F.sigmoid_backward(g * grad, F.sigmoid(input)),
    target=lambda F, g, grad: -(g * grad),
    grad=lambda F, g, input, target: F.binary_cross_entropy_with_logits_backward(input, target, g),
)
_quick_logits = fast_path(_logits_row.rule)
_no_log_sigmoid = missing("log_sigmoid_cpu", "ibc")
_no_minus = sentence(
    "b",
    "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator "
    "instead.",
)


@public(method=False)
def binary_cross_entropy_with_logits(input, target, weight=None, pos_weight=None, reduction=0):
    """The cross entropy of yes-or-no targets, the probabilities given as logits.

    Args:
        input: logits of any shape.
        target: a tensor of the same shape, values from 0 to 1.
        weight: what each element counts; broadcast to the input.
        pos_weight: what each yes counts; broadcast to the input.
        reduction: 0 for every element's loss, 1 for their mean, 2 for their sum.

    Example:
        >>> import vistorch
        >>> logits, labels = vistorch.tensor([0.0, 4.0]), vistorch.tensor([1.0, 1.0])
        >>> vistorch.binary_cross_entropy_with_logits(logits, labels, reduction=1)
        tensor(0.3556)
    """
    if casting.on and (recast := casting.ask(binary_cross_entropy_with_logits, locals())):
        return recast[0]
    name = "binary_cross_entropy_with_logits"
    if weight is None and pos_weight is None and input.__class__ is target.__class__ is Tensor:
        if input._data.shape == target._data.shape and reduction.__class__ is int:
            done = _quick_logits((input, target), (reduction,))
            if done is not None:
                return done
    tensors(name, input=input, target=target)
    optional(name, "weight", 3, weight)
    optional(name, "pos_weight", 4, pos_weight)
    reduction = whole(name, "reduction", 5, reduction)
    own = input._data.dtype
    kind = target._data.dtype
    _no_log_sigmoid(own)
    _no_minus(kind)
    dtypes.check_cast(type_promotion.result_type(input, target), kind)
    fits(input, target)
    consts = (reduction,)
    if weight is None and pos_weight is None:
        ins: tuple = (input, target)
        rule = _logits_row.rule
    else:
        one = wrap(input._place.xp.ones((), kind), input._place)
        for label, t in (("weight", weight), ("pos_weight", pos_weight)):
            if t is not None:
                no_gradient(name, label, t)
                fits(t, target, label == "pos_weight")
                dtypes.check_cast(t._data.dtype, kind)
        ins = (input, target, one if weight is None else weight, one if pos_weight is None else pos_weight)
        rule = _weighted_logits_row.rule
    if kind.kind == "c":
        return type_promotion.several(rule, ins, consts, None, None, False)
    return type_promotion.several(rule, ins, consts, None, kind)
