"""Windows of signal processing under PyTorch's newer names: symmetric ones, or with `sym=False` periodic ones.

Invariant: a window of one point is 1 (but that of `cosine`, `exponential` and `gaussian` by their own formulas), and
one of none is empty.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Iterable
from typing import Any

from vistorch import abs as _abs
from vistorch import (
    arange,
    cos,
    empty,
    exp,
    float32,
    float64,
    get_default_dtype,
    i0,
    linspace,
    ones,
    pow,
    sin,
    sqrt,
    strided,
    tensor,
)

__all__ = [
    "bartlett",
    "blackman",
    "cosine",
    "exponential",
    "gaussian",
    "general_cosine",
    "general_hamming",
    "hamming",
    "hann",
    "kaiser",
    "nuttall",
]

_DOC = """{meaning}

Args:
    M: how many points.{more}
    sym: a symmetric window, for filters; else a periodic one, for spectra.
    dtype: float32 or float64; the default type if not given.
    layout: `vistorch.strided`.
    device: where the tensor will be.
    requires_grad: whether what is computed from the window is recorded.

Example:
    >>> import vistorch
    >>> vistorch.signal.windows.{name}({arguments})
    {gives}
"""


def _described(arguments: str, gives: str, **more: str) -> Callable:
    """A decorator: the rest of the docstring, and a refusal of options that are none."""

    def give(fn: Callable) -> Callable:
        takes = {*inspect.signature(fn).parameters, "dtype", "layout", "device", "requires_grad"} - {
            "options"
        }

        @functools.wraps(fn)
        def window(M: int, **given: Any) -> Any:
            for key in given:
                if key not in takes:
                    raise TypeError(f"{fn.__name__}() got an unexpected keyword argument '{key}'")
            return fn(M, **given)

        said = "".join(f"\n    {name}: {what}" for name, what in more.items())
        window.__doc__ = _DOC.format(
            meaning=fn.__doc__, more=said, name=fn.__name__, arguments=arguments, gives=gives
        )
        return window

    return give


def _options(name: str, M: int, options: dict[str, Any]) -> dict[str, Any]:
    """What makes a tensor, as PyTorch checks it."""
    made = {"dtype": None, "layout": strided, "device": None, "requires_grad": False, **options}
    if made["dtype"] is None:
        made["dtype"] = get_default_dtype()
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if made["layout"] is not strided:
        raise ValueError(f"{name} is implemented for strided tensors only, got: {made['layout']}")
    if made["dtype"] not in (float32, float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {made['dtype']}")
    return made


def _line(M: int, start: float, step: float, made: dict[str, Any]) -> Any:
    """M points from `start` on."""
    return linspace(start, start + (M - 1) * step, M, **made)


@_described(
    "5, a=[0.5, 0.5]",
    "tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])",
    a="the weights of 0, 1, 2, ... periods.",
)
def general_cosine(M: int, *, a: Iterable, sym: bool = True, **options: Any) -> Any:
    """Cosines of whole numbers of periods, with signs that alternate."""
    made = _options("general_cosine", M, options)
    if M < 2:
        return empty(0, **made) if M == 0 else ones(1, **made)
    if not isinstance(a, Iterable):
        raise TypeError("Coefficients must be a list/tuple")
    if not a:
        raise ValueError("Coefficients cannot be empty")
    turn = _line(M, 0, 2 * math.pi / (M - 1 if sym else M), made)
    signed = tensor(
        [-weight if i % 2 else weight for i, weight in enumerate(a)],
        dtype=made["dtype"],
        device=made["device"],
        requires_grad=made["requires_grad"],
    )
    periods = arange(len(signed), dtype=made["dtype"], device=made["device"])
    return (signed.unsqueeze(-1) * cos(periods.unsqueeze(-1) * turn)).sum(0)


@_described("5, alpha=0.5", "tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])", alpha="the constant part.")
def general_hamming(M: int, *, alpha: float = 0.54, sym: bool = True, **options: Any) -> Any:
    """A raised cosine: `alpha` less `1 - alpha` times a cosine."""
    return general_cosine(M, a=[alpha, 1.0 - alpha], sym=sym, **options)


@_described("5", "tensor([0.0800, 0.5400, 1.0000, 0.5400, 0.0800])")
def hamming(M: int, *, sym: bool = True, **options: Any) -> Any:
    """Hamming's window: a raised cosine that does not reach zero."""
    return general_hamming(M, sym=sym, **options)


@_described("5", "tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])")
def hann(M: int, *, sym: bool = True, **options: Any) -> Any:
    """Hann's window: a raised cosine."""
    return general_hamming(M, alpha=0.5, sym=sym, **options)


@_described("4, sym=False", "tensor([-1.4901e-08,  3.4000e-01,  1.0000e+00,  3.4000e-01])")
def blackman(M: int, *, sym: bool = True, **options: Any) -> Any:
    """Blackman's window: two cosines."""
    _options("blackman", M, options)
    return general_cosine(M, a=[0.42, 0.5, 0.08], sym=sym, **options)


@_described("5", "tensor([3.6280e-04, 2.2698e-01, 1.0000e+00, 2.2698e-01, 3.6280e-04])")
def nuttall(M: int, *, sym: bool = True, **options: Any) -> Any:
    """Nuttall's window: three cosines."""
    return general_cosine(M, a=[0.3635819, 0.4891775, 0.1365995, 0.0106411], sym=sym, **options)


@_described("5", "tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])")
def bartlett(M: int, *, sym: bool = True, **options: Any) -> Any:
    """Bartlett's window: a triangle."""
    made = _options("bartlett", M, options)
    if M < 2:
        return empty(0, **made) if M == 0 else ones(1, **made)
    return 1 - _abs(_line(M, -1, 2 / (M - 1 if sym else M), made))


@_described("5", "tensor([0.3090, 0.8090, 1.0000, 0.8090, 0.3090])")
def cosine(M: int, *, sym: bool = True, **options: Any) -> Any:
    """Half a period of a sine."""
    made = _options("cosine", M, options)
    if M == 0:
        return empty(0, **made)
    step = math.pi / (M if sym or M == 1 else M + 1)
    return sin(_line(M, 0.5 * step, step, made))


@_described(
    "5",
    "tensor([0.1353, 0.3679, 1.0000, 0.3679, 0.1353])",
    center="where the window is 1; only for a periodic one, the middle if not given.",
    tau="the distance at which it has fallen to 1/e.",
)
def exponential(
    M: int, *, center: float | None = None, tau: float = 1.0, sym: bool = True, **options: Any
) -> Any:
    """The exponential of minus the distance from the centre."""
    made = _options("exponential", M, options)
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    if M == 0:
        return empty(0, **made)
    if center is None:
        center = (M if not sym and M > 1 else M - 1) / 2.0
    return exp(-_abs(_line(M, -center / tau, 1 / tau, made)))


@_described("5", "tensor([0.1353, 0.6065, 1.0000, 0.6065, 0.1353])", std="its standard deviation, in points.")
def gaussian(M: int, *, std: float = 1.0, sym: bool = True, **options: Any) -> Any:
    """The bell of the normal distribution."""
    made = _options("gaussian", M, options)
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    if M == 0:
        return empty(0, **made)
    step = 1 / (std * math.sqrt(2))
    return exp(-(_line(M, -(M if not sym and M > 1 else M - 1) / 2.0 * step, step, made) ** 2))


@_described(
    "5, beta=2.0", "tensor([0.4387, 0.8348, 1.0000, 0.8348, 0.4387])", beta="how narrow it is; not negative."
)
def kaiser(M: int, *, beta: float = 12.0, sym: bool = True, **options: Any) -> Any:
    """Kaiser's window: a bell made of a Bessel function."""
    made = _options("kaiser", M, options)
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    if M < 2:
        return empty(0, **made) if M == 0 else ones(1, **made)
    wide = tensor(beta, dtype=made["dtype"], device=made["device"])
    step = 2.0 * wide / (M - 1 if sym else M)
    end = (-wide + (M - 1) * step).minimum(wide)  # rounding must not lead beyond the bell's foot
    return i0(sqrt(wide * wide - pow(linspace(-wide, end, M, **made), 2))) / i0(wide)
