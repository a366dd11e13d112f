"""What our rows call the constants that a node of torch has saved, where the words or the form differ.

Invariant: a constant that the node does not say is never guessed: `CONSTANTS` gives what follows from what it says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# Arguments besides tensors that tell one row from another: a node that keeps them needs a row that takes them.
TOLD = frozenset(("exponent", "dim", "dims", "keepdim", "index", "diagonal", "ord", "p", "alpha"))
WRAPPED = 1 << 63  # a negative number that torch keeps without its sign


def signed(value: Any) -> Any:
    """A number that was kept without its sign, with it."""
    if isinstance(value, (tuple, list)):
        return tuple([signed(one) for one in value])
    return value - (1 << 64) if type(value) is int and value >= WRAPPED else value


def _rank(kept: dict[str, Any]) -> int | None:
    if "self_sym_sizes" in kept:
        return len(kept["self_sym_sizes"])
    found = kept.get("self")
    return None if found is None else found.dim()


def _dims(kept: dict[str, Any]) -> Any:
    """The dims of a reduction, none of them negative."""
    rank = _rank(kept)
    given = kept.get("dim")
    if rank is None:
        return None
    if given is None or given == ():
        return tuple(range(rank))
    given = (given,) if isinstance(given, int) else given
    return tuple([d % rank for d in given]) if rank else ()


def _windows(kept: dict[str, Any]) -> Any:
    """Kernel, stride, padding and dilation of a pooling, for each dim."""
    return None


Reader = Callable[[dict[str, Any]], Any]

_COMMON: dict[str, Reader] = {
    "dims": _dims,
    "slope": lambda kept: kept.get("negative_slope"),
    "stop": lambda kept: kept.get("end"),
    "groups": lambda kept: kept.get("groups", kept.get("group")),
    "causal": lambda kept: kept.get("is_causal"),
    "padding": lambda kept: kept.get("padding", kept.get("padding_idx")),
    "by_frequency": lambda kept: kept.get("scale_grad_by_freq"),
}
# By row, then by constant.
_OF: dict[str, dict[str, Reader]] = {
    "cumsum_dim": {"reverse": lambda kept: False},
    "cumprod_dim": {"reverse": lambda kept: False},
    "permute": {"dims": lambda kept: kept.get("dims")},
    "roll": {"dims": lambda kept: kept.get("dims")},
    "flip": {"dims": lambda kept: kept.get("dims")},
    "native_layer_norm": {"count": lambda kept: len(kept["normalized_shape"])},
}


def said(row: str, const: str, names: tuple[str, ...]) -> bool:
    """Whether a node that keeps values under these names says a constant of a row.

    Args:
        row: the row's name.
        const: the constant.
        names: what the node keeps.
    """
    if const in names or const in _OF.get(row, {}):
        return True
    return const in _COMMON and bool(
        {"dims": {"dim"}, "slope": {"negative_slope"}, "stop": {"end"}}.get(
            const, {"group", "is_causal", "padding_idx", "scale_grad_by_freq"}
        )
        & set(names)
    )


def read(row: str, const: str, kept: dict[str, Any]) -> Any:
    """A constant of a row from what a node keeps; None where it does not say it.

    Args:
        row: the row's name.
        const: the constant.
        kept: what the node keeps, by PyTorch's names.
    """
    reader = _OF.get(row, {}).get(const)
    if reader is None and const in kept:
        return signed(kept[const])
    reader = _COMMON.get(const) if reader is None else reader
    try:
        return None if reader is None else signed(reader(kept))
    except (KeyError, TypeError, ZeroDivisionError):
        return None
