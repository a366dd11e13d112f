"""Causal masks for queries and keys of different lengths, as tensors of bool.

Invariant: a mask holds its values, so every function of attention can take it.
"""

from __future__ import annotations

import warnings
from enum import IntEnum
from typing import Any

from ...engine.base import dtypes
from ...engine.core.registry import FUNCTIONS
from ...engine.core.tensor import Tensor

__all__ = ["CausalBias", "CausalVariant", "causal_lower_right", "causal_upper_left"]


class CausalVariant(IntEnum):
    """Which corner of a mask that is not square its diagonal ends in.

    Example:
        >>> from vistorch.nn.attention.bias import CausalVariant
        >>> CausalVariant.LOWER_RIGHT
        <CausalVariant.LOWER_RIGHT: 2>
    """

    UPPER_LEFT = 1
    LOWER_RIGHT = 2


class CausalBias(Tensor):
    """A causal mask: True where a query sees a key.

    Args:
        variant: which corner its diagonal begins or ends in.
        seq_len_q: how many queries.
        seq_len_kv: how many keys.

    Example:
        >>> import vistorch
        >>> from vistorch.nn.attention.bias import causal_lower_right
        >>> causal_lower_right(2, 3)
        tensor([[ True,  True, False],
                [ True,  True,  True]])
        >>> x = vistorch.ones(1, 1, 2, 4)
        >>> y = vistorch.ones(1, 1, 3, 4)
        >>> vistorch.nn.functional.scaled_dot_product_attention(x, y, y, causal_lower_right(2, 3)).shape
        vistorch.Size([1, 1, 2, 4])
    """

    variant: CausalVariant
    seq_len_q: int
    seq_len_kv: int

    def __new__(cls, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> Any:
        """Make its values."""
        if not isinstance(variant, CausalVariant):
            raise AssertionError(f"variant must be a CausalVariant, got {type(variant).__name__}")
        if seq_len_q > seq_len_kv and variant is CausalVariant.LOWER_RIGHT:
            warnings.warn(
                "Lower right causal bias will produce NaNs in the output when seq_len_q > seq_len_kv!",
                stacklevel=3,
            )
        ones = FUNCTIONS["ones"](seq_len_q, seq_len_kv, dtype=dtypes.bool)
        from_end = seq_len_kv - seq_len_q if variant is CausalVariant.LOWER_RIGHT else 0
        made = FUNCTIONS["tril"](ones, from_end).as_subclass(cls)
        made.variant, made.seq_len_q, made.seq_len_kv = variant, seq_len_q, seq_len_kv
        return made

    def __init__(self, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> None:
        """Nothing is left to do."""

    def __repr__(self, **options: Any) -> str:
        return repr(self.as_subclass(Tensor))


def causal_upper_left(*size: int) -> CausalBias:
    """A causal mask whose diagonal begins in the upper left corner.

    Args:
        *size: how many queries, how many keys.

    Example:
        >>> from vistorch.nn.attention.bias import causal_upper_left
        >>> causal_upper_left(2, 3)
        tensor([[ True, False, False],
                [ True,  True, False]])
    """
    return CausalBias(CausalVariant.UPPER_LEFT, *_two(size, "causal_upper_left"))


def causal_lower_right(*size: int) -> CausalBias:
    """A causal mask whose diagonal ends in the lower right corner.

    Args:
        *size: how many queries, how many keys.

    Example:
        >>> from vistorch.nn.attention.bias import causal_lower_right
        >>> causal_lower_right(2, 3)[0].tolist()
        [True, True, False]
    """
    return CausalBias(CausalVariant.LOWER_RIGHT, *_two(size, "causal_lower_right"))


def _two(size: tuple[int, ...], caller: str) -> tuple[int, int]:
    if len(size) != 2:
        raise AssertionError(f"{caller} only supports 2D tensors")
    return size[0], size[1]
