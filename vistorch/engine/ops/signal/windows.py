"""Windows of signal processing: hann_window, hamming_window, blackman_window, bartlett_window, kaiser_window.

Invariant: a periodic window is the symmetric one of one point more, without its last point.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base import dtypes
from ...base.dims import fits
from ...base.layout import strided
from ...base.numpy_warnings import without_warnings
from ...core.op_factory import HALVES
from ...core.registry import expose
from ...kernels.special import i0
from ...memory.placement import place_of
from ..create.arguments import check_layout, check_pinned, invalid, leaf
from ..create.constants import bare
from ..create.data import put
from ..elementwise.dtype_checks import C_NAMES


def _cosines(x: Any, n: int, *weights: float) -> Any:
    """The sum of weight k times cos(k 2 pi x / (n - 1)), signs alternating."""
    turn = x * (2 * math.pi / (n - 1))
    out = weights[0] - weights[1] * np.cos(turn)
    return out + weights[2] * np.cos(2 * turn) if len(weights) > 2 else out


def _triangle(x: Any, n: int) -> Any:
    y = x * (2 / (n - 1))
    return np.where(x <= (n - 1) // 2, y, 2 - y)


def _bell(x: Any, n: int, beta: float) -> Any:
    inside = 1 - (2 * x / (n - 1) - 1) ** 2
    return i0(np, beta * np.sqrt(np.maximum(inside, 0))) / i0(np, np.asarray(float(beta)))


def _options(dt: Any, place: Any, layout: Any) -> str:
    """The options as C++ prints them."""
    kind = C_NAMES[str(dtypes.of(dt)).rpartition(".")[2]]
    shown = "Strided (default)" if layout is None else "Strided"
    return (
        f"TensorOptions(dtype={kind}, device={place.device}, layout={shown}, requires_grad=false (default), "
        "pinned_memory=false, memory_format=(nullopt))"
    )


def _window(name: str, values: Any, takes: dict[str, float], meaning: str, example: str) -> Any:
    """One window; `takes`: what shapes it, with defaults."""

    def call(
        window_length,
        periodic=True,
        *more,
        dtype=None,
        layout=None,
        device=None,
        pin_memory=False,
        requires_grad=False,
        **named,
    ):
        if pin_memory is not False:
            check_pinned(pin_memory, name)
        given = dict(zip(takes, more, strict=False))
        if len(more) > len(takes) or not set(named) <= set(takes) - set(given):
            raise invalid(
                name, (window_length, periodic, *more), named, " * (int window_length, bool periodic)\n"
            )
        if not isinstance(periodic, (bool, np.bool_)):
            raise invalid(name, (window_length, periodic), {}, " * (int window_length, bool periodic)\n")
        if not isinstance(window_length, int) or isinstance(window_length, bool):
            raise TypeError(
                f"{name}(): argument 'window_length' (position 1) must be int, not {type(window_length).__name__}"
            )
        shaped = {**takes, **given, **named}
        for key, value in shaped.items():
            if not isinstance(value, (int, float)):
                raise TypeError(f"{name}(): argument '{key}' must be float, not {type(value).__name__}")
        n = fits(window_length)
        check_layout(layout, name, dense=False)
        place = place_of(device, name)
        dt = dtypes.default.np if dtype is None else dtypes.as_np(dtype, name)
        if layout is not None and layout is not strided:
            raise RuntimeError(
                f"{name} is not implemented for sparse types, got: {_options(dt, place, layout)}"
            )
        if dt.kind not in "fc" and dt not in HALVES:
            raise RuntimeError(f"{name} expects floating point dtypes, got: {_options(dt, place, layout)}")
        if n < 0:
            raise RuntimeError(f"{name} requires non-negative window_length, got window_length={n}")
        if n < 2:
            data = np.ones(n, dt)
        else:
            if dt.kind == "c":
                raise NotImplementedError(f"\"arange_cpu\" not implemented for '{dtypes.of(dt).scalar_name}'")
            with without_warnings():
                length = n + 1 if periodic else n
                x = np.arange(length, dtype="f8")
                data = values(x, length, *shaped.values())[:n].astype(dt)
        return leaf(bare(put(data, place), place), requires_grad, name)

    said = "\n        ".join(f"{key}: {SHAPES[key]}" for key in takes)
    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"""{meaning}

    Args:
        window_length: how many points.
        periodic: the window of a periodic signal, else a symmetric one.
        *more: what shapes the window, by position.
        dtype: a floating type; without it the default one.
        layout: `vistorch.strided` or None.
        device: where the tensor will be.
        pin_memory: accepted.
        requires_grad: whether backward passes compute its gradient.
        **named: {said or "nothing more."}

    Example:
        >>> import vistorch
        >>> vistorch.{name}(4)[1:]
        {example}
    """
    return expose(call, method=False)


SHAPES = {
    "alpha": "`alpha`, the constant part.",
    "beta": "`beta`, how large the cosine is, or how narrow Kaiser's bell.",
}
hann_window = _window(
    "hann_window",
    lambda x, n: _cosines(x, n, 0.5, 0.5),
    {},
    "Hann's window: one period of a raised cosine.",
    "tensor([0.5000, 1.0000, 0.5000])",
)
hamming_window = _window(
    "hamming_window",
    lambda x, n, alpha, beta: _cosines(x, n, alpha, beta),
    {"alpha": 0.54, "beta": 0.46},
    "Hamming's window: a raised cosine that does not reach zero.",
    "tensor([0.5400, 1.0000, 0.5400])",
)
blackman_window = _window(
    "blackman_window",
    lambda x, n: _cosines(x, n, 0.42, 0.5, 0.08),
    {},
    "Blackman's window: two cosines.",
    "tensor([0.3400, 1.0000, 0.3400])",
)
bartlett_window = _window(
    "bartlett_window",
    _triangle,
    {},
    "Bartlett's window: a triangle.",
    "tensor([0.5000, 1.0000, 0.5000])",
)
kaiser_window = _window(
    "kaiser_window",
    _bell,
    {"beta": 12.0},
    "Kaiser's window: a bell made of a Bessel function.",
    "tensor([0.2157, 1.0000, 0.2157])",
)
