"""gelu: `input` times the area under the normal density left of it, exactly or by tanh.

Invariant: float32 takes the area as (1 + tanh(x q(x^2))) / 2, with a q that is right to 3e-8; wider types take erf.
"""

from __future__ import annotations

import math
from typing import Any

from ...base import errors
from ...core.op_factory import op
from ...core.tensor import Tensor
from ...kernels.erf import erf
from ..elementwise.dtype_checks import missing
from .entry import F4, pieces, tensor
from .shrink import exactly

ROOT = math.sqrt(2 / math.pi)
CUBIC = 0.044715
# atanh(erf(x / sqrt 2)) / x in x^2, |x| <= 5.2, weighted by the slope of tanh; beyond, tanh is 1
_AREA = (
    0.797884941484723,
    0.03633308444712548,
    -3.259481296902076e-05,
    -5.530627194949084e-05,
    3.9647606437173075e-06,
    -1.3226478578616308e-07,
    1.7562154592354111e-09,
)
_DENSITY = 1 / math.sqrt(2 * math.pi)


def _double_area(xp, input, square):
    """Twice the area left of each element."""
    if input.dtype != F4:
        out = erf(xp, input * math.sqrt(0.5))
        out += 1
        return out
    out = square * _AREA[-1]
    for c in _AREA[-2:0:-1]:
        out += c
        out *= square
    out += _AREA[0]
    out *= input
    xp.tanh(out, out=out)
    out += 1
    return out


def _gelu_piece(xp, input):
    out = _double_area(xp, input, input * input)
    out *= 0.5  # first: twice a large input is infinite
    out *= input
    return out


def _gelu_slope(xp, grad, input):
    square = input * input
    out = _double_area(xp, input, square)
    out *= 0.5
    square *= -0.5
    xp.exp(square, out=square)
    square *= input
    square *= _DENSITY
    out += square
    out *= grad
    return out


def _gelu_bend(F, input):
    """The second derivative of gelu."""
    square = input * input
    return F.exp(square * -0.5) * (2 - square) * _DENSITY


def _tanh_of(xp, input, square):
    out = square * (ROOT * CUBIC)
    out += ROOT
    out *= input
    return xp.tanh(out, out=out)


def _gelu_tanh_piece(xp, input):
    out = _tanh_of(xp, input, input * input)
    out += 1
    out *= 0.5
    out *= input
    return out


def _gelu_tanh_slope(xp, grad, input):
    square = input * input
    t = _tanh_of(xp, input, square)
    square *= 3 * ROOT * CUBIC
    square += ROOT
    square *= input
    # (1 + t) / 2 + x (1 - t^2) u' / 2
    out = t + 1
    square *= 1 - t
    square += 1
    out *= square
    out *= 0.5
    out *= grad
    return out


def _gelu_tanh_bend(F, input):
    """The second derivative of gelu's form with tanh."""
    square = input * input
    t = F.tanh(input * (square * (ROOT * CUBIC) + ROOT))
    rise = square * (3 * ROOT * CUBIC) + ROOT
    fall = (1 - t * t) * 0.5
    return fall * (2 * rise + input * (input * (6 * ROOT * CUBIC) - 2 * t * rise * rise))


def _rows(name: str, piece: Any, slope: Any, bend: Any, letters: str) -> Any:
    """The row of one form, and that of its gradient."""
    backward = f"{name}_backward"
    row = op(
        name,
        lambda xp, input: pieces(xp, piece, (input,)),
        name_in_graph="GeluBackward0",
        formula=rf"\bar x = \bar y\, {letters}'(x)",
        input=lambda F, g, input: getattr(F, backward)(g, input),
    )
    op(
        backward,
        lambda xp, grad, input: pieces(xp, slope, (grad, input)),
        inputs="grad input",
        name_in_graph="GeluBackwardBackward0",
        formula={
            "grad": rf"\bar g = \bar x\, {letters}'(x)",
            "input": rf"\bar x = \bar y\, g\, {letters}''(x)",
        },
        grad=lambda F, g, input: getattr(F, backward)(g, input),
        input=lambda F, g, grad, input: g * grad * bend(F, input),
    )
    return row


_gelu = _rows("gelu", _gelu_piece, _gelu_slope, _gelu_bend, r"\mathrm{gelu}")
_gelu_tanh = _rows("gelu_tanh", _gelu_tanh_piece, _gelu_tanh_slope, _gelu_tanh_bend, r"\mathrm{gelu}")
_refuse = missing("GeluKernelImpl", "ibc")


def gelu(input: Tensor, *, approximate: str = "none", out: Any = None) -> Tensor:
    """`input` times the area under the normal density left of it.

    Args:
        input: a tensor.
        approximate: "none", or "tanh" for the form that takes the area from a tanh.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.nn.functional.gelu(vistorch.tensor([-1.0, 2.0]))
        tensor([-0.1587,  1.9545])
    """
    if out is not None:
        return exactly("gelu", input, out, _formed, approximate)
    if approximate == "none":
        return _gelu(tensor(input, _refuse, "gelu"))
    return _formed(input, approximate)


def _formed(input: Tensor, approximate: Any) -> Tensor:
    if not isinstance(input, Tensor):
        raise errors.must_be_tensor("gelu", "input", 1, input)
    if not isinstance(approximate, str):
        raise errors.must_be_str("gelu", "approximate", 0, approximate)
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    row = _gelu if approximate == "none" else _gelu_tanh
    return row(tensor(input, _refuse, "gelu"))
