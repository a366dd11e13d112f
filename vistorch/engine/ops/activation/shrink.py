"""What shrinks towards 0: hardshrink drops what is small, softshrink takes so much away from everything.

Invariant: nan is neither small nor dropped.
"""

from __future__ import annotations

from typing import Any

from ...base import dtypes, errors
from ...core import out_argument, type_promotion
from ...core.op_factory import op
from ...core.registry import public
from ...core.tensor import Tensor
from ...kernels import masks
from ..elementwise.dtype_checks import missing
from .entry import pieces, real, tensor


def _hard_piece(xp, grad, input, lambd):
    small = input >= -lambd
    small &= input <= lambd
    return masks.chosen(xp, small, 0.0, grad)


def _soft_piece(xp, input, lambd):
    middle = xp.maximum(input, -lambd)
    xp.minimum(middle, lambd, out=middle)
    return xp.subtract(input, middle, out=middle)


_hardshrink = op(
    "hardshrink",
    lambda xp, input, lambd: pieces(xp, _hard_piece, (input, input), (lambd,)),
    formula=r"\bar x = \bar y\,[|x| > \lambda]",
    input=lambda F, g, input, lambd: F.shrink_backward(g, input, lambd),
)
_softshrink = op(
    "softshrink",
    lambda xp, input, lambd: pieces(xp, _soft_piece, (input,), (lambd,)),
    formula=r"\bar x = \bar y\,[|x| > \lambda]",
    input=lambda F, g, input, lambd: F.shrink_backward(g, input, lambd),
)
op(
    "shrink_backward",
    lambda xp, grad, input, lambd: pieces(xp, _hard_piece, (grad, input), (lambd,)),
    inputs="grad input",
    name_in_graph="HardshrinkBackwardBackward0",
    formula={"grad": r"\bar g = \bar x\,[|x| > \lambda]", "input": r"\bar x = 0"},
    grad=lambda F, g, input, lambd: F.shrink_backward(g, input, lambd),
    input=lambda F, g: F.zeros_like(g),
)
_refuse_hard = missing("hardshrink_cpu", "ibc")
_refuse_soft = missing("softshrink_check", "ibc")


def exactly(name: str, input: Any, out: Any, fn: Any, *args: Any) -> Tensor:
    """`fn(input, *args)` written into `out`, which has to be of the same type."""
    if not isinstance(input, Tensor):
        raise errors.must_be_tensor(name, "input", 1, input)
    out_argument.check_out(name, out, (input,))
    out_argument.check_memory(out, (input,))
    result = fn(input, *args)
    type_promotion.check_exact(out, result._data.dtype)
    return out_argument.deliver(out, result)


@public()
def hardshrink(input: Tensor, lambd: float = 0.5, *, out: Any = None) -> Tensor:
    """Replace what lies between -lambd and lambd by 0.

    Args:
        input: a tensor.
        lambd: what counts as small.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.hardshrink(vistorch.tensor([-0.25, 2.0]))
        tensor([0., 2.])
    """
    if out is not None:
        return exactly("hardshrink", input, out, hardshrink, lambd)
    return _hardshrink(tensor(input, _refuse_hard, "hardshrink"), real(lambd, "hardshrink", "lambd", 2))


def softshrink(input: Tensor, lambd: float = 0.5, *, out: Any = None) -> Tensor:
    """Move every element towards 0 by lambd, at most as far as 0.

    Args:
        input: a tensor.
        lambd: how far.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.nn.functional.softshrink(vistorch.tensor([-0.25, 2.0]))
        tensor([0.0000, 1.5000])
    """
    if out is not None:
        return exactly("softshrink", input, out, softshrink, lambd)
    tensor(input, _refuse_soft, "softshrink")
    by = real(lambd, "softshrink", "lambd", 2)
    of = dtypes.of(input._data.dtype)
    largest = float(dtypes.ml_dtypes.finfo(of.np).max)
    if not 0 <= by <= largest:
        raise RuntimeError(
            f"lambda must be in range [0, {largest:g}] for input dtype {of.scalar_name}, but found {by:g}"
        )
    return _softshrink(input, by)
