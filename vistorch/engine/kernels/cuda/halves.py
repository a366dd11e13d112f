"""Which rows take half types as they are: their own kernels compute in float and round once.

Invariant: where such a kernel hands over to the plain one, that gets float32, as everywhere else.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .launch import TYPES

F4 = np.dtype("f4")
_POOLS = [f"{kind}_pool{d}d" for kind in ("max", "adaptive_max", "avg", "adaptive_avg") for d in (2, 3)]
_LOSSES = [f"nll_loss{d}{weighted}" for d in ("", "2d") for weighted in ("", "_weighted")]
# Their kernels. Those that are not here either take half types as they are everywhere, or none.
KERNELS = frozenset(
    (
        "addmm",
        "attention",
        "attention_noise",
        "baddbmm",
        "bmm",
        "conv_bias_grad",
        "dropped_attention",
        "gelu_backward",
        "gelu_tanh_backward",
        "log_softmax",
        "log_softmax_backward_data",
        "masked_attention",
        "max_pool1d",
        "mm",
        "softmax",
        "softmax_backward_data",
        "sum_to",
        *_POOLS,
        *[f"{name}_backward" for name in (*_LOSSES, *_POOLS)],
        *[f"{name}{form}" for name in _POOLS[:4] for form in ("_with_indices", "_picked")],
    )
)
# Gradients that only move, or that are what came.
_MOVES = """add alias cast clone contiguous expand permute reshape select slice squeeze squeeze_dim squeeze_dims sub t
transpose unsqueeze view"""
# Their gradients: the formulas call nothing but such kernels, or choose elements without arithmetic.
FORMULAS = frozenset(
    (
        "addmm",
        "attention",
        "baddbmm",
        "bmm",
        "convolution",
        "convolution_transposed",
        "convolution_transposed_with_bias",
        "convolution_with_bias",
        "dropped_attention",
        "gelu",
        "gelu_tanh",
        "group_norm",
        "log_softmax",
        "masked_attention",
        "mm",
        "native_batch_norm",
        "native_dropout",
        "native_layer_norm",
        "relu",
        "rms_norm",
        "softmax",
        *_LOSSES,
        *_MOVES.split(),
        *_POOLS,
        *[f"{name}_with_indices" for name in _POOLS[:4]],
    )
)


def is_half(a: Any) -> bool:
    """Whether a value is an array of a half type."""
    return getattr(a, "ndim", None) is not None and a.dtype.itemsize == 2 and a.dtype.name in TYPES


def _wide(values: Any) -> list:
    return [a.astype(F4) if is_half(a) else a for a in values]


def widening(plain: Any) -> Any:
    """A plain kernel that computes half types in float32 and rounds once."""

    def kernel(*args: Any) -> Any:
        half = next((a.dtype for a in args if is_half(a)), None)
        if half is None:
            return plain(*args)
        out = plain(*_wide(args))
        if isinstance(out, tuple):
            return tuple([o.astype(half) if o.dtype == F4 else o for o in out])
        return out.astype(half) if out.dtype == F4 else out

    return kernel


def summed(plain: Any, xp: Any) -> Any:
    """A sum of halves has no kernel of its own: it gets float32."""
    return lambda *args: plain(*args)


def widening_together(plain: Any) -> Any:
    """The same of what gives all gradients of a row; who asked for them rounds."""

    def together(xp: Any, g: Any, wants: Any, *values: Any) -> Any:
        if is_half(g) or any(map(is_half, values)):
            return plain(xp, *_wide([g]), wants, *_wide(values))
        return plain(xp, g, wants, *values)

    return together
