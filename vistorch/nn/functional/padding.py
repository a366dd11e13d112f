"""Borders put around a tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.base import errors
from ...engine.base.casting import casting
from ...engine.core.tensor import Tensor
from ...engine.ops.image.pad_arguments import MODES, bordered, constant
from ...engine.ops.pool.sizes import ints

__all__ = ["pad"]


def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: Any = None) -> Tensor:
    """The tensor with borders, of one value or of its own elements.

    Args:
        input: the tensor; of N padded dims, all modes but "constant" take tensors of N + 1 and N + 2 dims.
        pad: (before, after) of the last dim, then of the one before it, and so on; negative ones take away.
        mode: "constant", "reflect" (mirrored at the edge), "replicate" (the edge again), "circular" (from the other
            end).
        value: what constant borders are filled with (default 0).

    Shape:
        Each padded dim grows by the sum of its two pads.

    Example:
        >>> import vistorch
        >>> import vistorch.nn.functional as F
        >>> x = vistorch.tensor([[1, 2, 3]])
        >>> F.pad(x, (1, 2))
        tensor([[0, 1, 2, 3, 0, 0]])
        >>> F.pad(x, (1, 2), mode="reflect")
        tensor([[2, 1, 2, 3, 2, 1]])
    """
    if casting.on and (recast := casting.ask(_pad, locals())):
        return recast[0]
    if not isinstance(input, Tensor):
        raise errors.must_be_tensor("pad", "input", 1, input)
    pads = ints(pad, "pad", "pad", 2)
    if mode.__class__ is not str:
        raise errors.must_be_str("pad", "mode", 3, mode)
    if value is not None and value.__class__ is not float:
        value = _real(value)
    if mode != "constant" and mode not in MODES:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if len(pads) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    ndim = input._data.ndim
    if len(pads) > 2 * ndim:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got padding length "
            f"{len(pads)} and input of dimension {ndim}"
        )
    if mode == "constant":
        return constant(input, pads, 0.0 if value is None else value)
    if value:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    return bordered(input, pads, mode)


def _real(value: Any) -> float:
    if isinstance(value, Tensor):
        if not value._data.ndim and value._data.dtype.kind != "c":
            return float(value.item())
    elif not isinstance(value, (complex, str)) and hasattr(value, "__float__"):
        return float(value)
    raise TypeError(f"pad(): argument 'value' (position 4) must be float, not {type(value).__name__}")


_pad = pad  # which an argument of the function has the name of, too
