"""What our rows call the constants that a node of torch has saved, where the words or the form differ.

Invariant: a constant that the node does not say is never guessed: what is read follows from what it says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..engine.ops.pool.sizes import windows

# Arguments besides tensors that tell one row from another: a node that keeps them needs a row that takes them.
GIVEN = frozenset(("exponent", "dim", "dims", "keepdim", "index", "diagonal", "ord", "p", "alpha"))
WRAPPED = 1 << 63  # a negative number that torch keeps without its sign
UNKNOWN: Any = object()
OUTPUT = "shape of the output"  # beside what a node keeps: the shape of what it gave
# Inputs of a row that may be left out; a row has an empty array there.
OPTIONAL = {
    "native_layer_norm": ("weight", "bias"),
    "native_batch_norm": ("weight", "bias", "running_mean", "running_var"),
    "group_norm": ("weight", "bias"),
}


def signed(value: Any) -> Any:
    """A number that was kept without its sign, with it."""
    if isinstance(value, (tuple, list)):
        return tuple([signed(one) for one in value])
    return value - (1 << 64) if type(value) is int and value >= WRAPPED else value


def _rank(kept: dict[str, Any]) -> int:
    return len(kept["self_sym_sizes"]) if "self_sym_sizes" in kept else kept["self"].dim()


def _dims(kept: dict[str, Any]) -> tuple[int, ...]:
    """The dims of a reduction, none of them negative; all where none is named."""
    rank, given = _rank(kept), signed(kept.get("dim"))
    if given is None or given == ():
        return tuple(range(rank))
    given = (given,) if isinstance(given, int) else given
    return tuple([d % rank for d in given]) if rank else ()


def _dims_named(kept: dict[str, Any]) -> tuple[int, ...]:
    """The dims of a movement, as they were named."""
    return signed(kept["dims"])


def _whole(kept: dict[str, Any]) -> bool:
    """Whether a reduction is over everything."""
    return kept.get("dim") is None


def _correction(kept: dict[str, Any]) -> Any:
    """What is taken from the number of elements of a variance: 1 where nothing was said."""
    return 1 if kept.get("correction") is None else kept["correction"]


def _windows(kind: str) -> Reader:
    """Kernel, stride, padding and dilation of a pooling, for each of its dims."""

    def read(kept: dict[str, Any]) -> Any:
        given = [signed(kept.get(name, ())) for name in ("kernel_size", "stride", "padding", "dilation")]
        count = len(kept[OUTPUT]) - len(kept["self"].shape) + int(kind[-2])
        kernel, stride, padding, dilation = [tuple(one) * (count if len(one) == 1 else 1) for one in given]
        return windows(
            kind,
            tuple(kept["self"].shape),
            kernel,
            stride or kernel,
            padding,
            dilation or (1,) * count,
            kept["ceil_mode"],
        )

    return read


def _scale(kept: dict[str, Any]) -> float:
    """What attention multiplies its products by."""
    if kept.get("attn_mask") is not None or kept.get("dropout_p"):
        raise KeyError("a mask and dropout reach our row in another way")
    return kept["query"].shape[-1] ** -0.5 if kept.get("scale") is None else kept["scale"]


Reader = Callable[[dict[str, Any]], Any]

# By constant: the names that it is read from, and how.
_COMMON: dict[str, tuple[str, Reader]] = {
    "dims": ("dim", _dims),
    "whole": ("dim", _whole),
    "slope": ("negative_slope", lambda kept: kept["negative_slope"]),
    "stop": ("end", lambda kept: kept["end"]),
    "groups": ("group", lambda kept: kept["group"]),
    "causal": ("is_causal", lambda kept: kept["is_causal"]),
    "padding": ("padding_idx", lambda kept: kept["padding_idx"]),
    "by_frequency": ("scale_grad_by_freq", lambda kept: kept["scale_grad_by_freq"]),
    "include": ("count_include_pad", lambda kept: kept["count_include_pad"]),
    "override": ("divisor_override", lambda kept: kept["divisor_override"]),
    "squeeze": ("input_scale", lambda kept: kept["input_scale"]),
}
# By row, then by constant.
_OF: dict[str, dict[str, Reader]] = {
    "cumsum_dim": {"reverse": lambda kept: False},
    "cumprod_dim": {"reverse": lambda kept: False},
    "permute": {"dims": _dims_named},
    "roll": {"dims": _dims_named},
    "flip": {"dims": _dims_named},
    "native_layer_norm": {"count": lambda kept: len(kept["normalized_shape"])},
    "var_dims": {"correction": _correction},
    "std_dims": {"correction": _correction},
    "view": {"shape": lambda kept: kept[OUTPUT]},
    "expand": {"shape": lambda kept: kept[OUTPUT]},
    "adaptive_avg_pool2d": {"outputs": lambda kept: kept[OUTPUT][-2:]},
    "adaptive_avg_pool3d": {"outputs": lambda kept: kept[OUTPUT][-3:]},
    "attention": {"scale": _scale, "keep": lambda kept: True},
    **{
        kind: {"windows": _windows(kind)} for kind in ("max_pool2d", "max_pool3d", "avg_pool2d", "avg_pool3d")
    },
}


def said(row: str, const: str, names: tuple[str, ...]) -> bool:
    """Whether a node that keeps values under these names says a constant of a row.

    Args:
        row: the row's name.
        const: the constant.
        names: what the node keeps.
    """
    return const in _OF.get(row, {}) or const in names or (const in _COMMON and _COMMON[const][0] in names)


def read(row: str, const: str, kept: dict[str, Any]) -> Any:
    """A constant of a row from what a node keeps; `UNKNOWN` where it does not say it.

    Args:
        row: the row's name.
        const: the constant.
        kept: what the node keeps, by PyTorch's names, with `OUTPUT`.
    """
    own = _OF.get(row, {}).get(const)
    try:
        if own is not None:
            return own(kept)
        if const in kept:
            return signed(kept[const])
        return signed(_COMMON[const][1](kept)) if const in _COMMON else UNKNOWN
    except (KeyError, TypeError, ValueError, ZeroDivisionError, RuntimeError):
        return UNKNOWN
