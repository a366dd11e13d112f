"""`constant_pad_nd`, and what `nn.functional.pad` asks of its arguments, in PyTorch's words.

Invariant: what passes here fits the rows of pad.py.
"""

from __future__ import annotations

from typing import Any

from ...base import dims, errors
from ...core.registry import public
from ...core.tensor import Tensor
from ..create.numbers import fit
from ..pool.sizes import ints
from .pad import ROWS, constant_pad

MODES = {"reflect": "reflection", "replicate": "replication", "circular": "circular"}
_SUPPORTED = (
    "Padding size {} is not supported for {}D input tensor.\n"
    "Supported combinations for non-constant padding:\n"
    "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
    "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
    "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"
)
_TOO_SMALL = "Padding size should be less than the corresponding input dimension, but got: padding ({}, {})"


@public(method=False)
def constant_pad_nd(input: Tensor, pad: Any, value: Any = 0) -> Tensor:
    """The tensor with borders of one value.

    Args:
        input: the tensor.
        pad: (before, after) of the last dim, then of the one before it, and so on; negative ones take away.
        value: what the borders are filled with.

    Example:
        >>> import vistorch
        >>> vistorch.constant_pad_nd(vistorch.tensor([1, 2]), (1, 2), 9)
        tensor([9, 1, 2, 9, 9])
    """
    if not isinstance(input, Tensor):
        raise errors.must_be_tensor("constant_pad_nd", "input", 1, input)
    pads = ints(pad, "constant_pad_nd", "pad", 2)
    value = _number(value)
    if len(pads) % 2:
        raise RuntimeError(f"Length of pad must be even but instead it equals {len(pads)}")
    ndim = input._data.ndim
    if len(pads) > 2 * ndim:
        raise RuntimeError(
            "Length of pad should be no more than twice the number of dimensions of the input. Pad length is "
            f"{len(pads)}while the input has {ndim}dimensions."
        )
    return constant(input, pads, value)


def _number(value: Any) -> Any:
    if value.__class__ not in (int, float, bool, complex):
        d: Any = value._data if isinstance(value, Tensor) and not value._rg else value
        if getattr(d, "ndim", 1) or d.dtype.kind not in "bifcu":
            kind = "NoneType" if value is None else type(value).__name__
            raise TypeError(f"constant_pad_nd(): argument 'value' must be Number, not {kind}")
        value = d.item()
    if value.__class__ is int and not -(2**63) <= value < 2**64:
        raise OverflowError("int too big to convert")
    return value


def constant(x: Tensor, pads: tuple, value: Any) -> Tensor:
    """`x` with constant borders; the number of pads has been looked at."""
    a = x._data
    shape, grows = list(a.shape), False
    for i, p in enumerate(pads):
        axis = -1 - i // 2
        if p < 0:
            shape[axis] += p
            if shape[axis] < 0:
                raise RuntimeError("narrow(): length must be non-negative.")
        elif p:
            grows = True
    if grows:
        for i in range(0, len(pads), 2):
            axis = -1 - i // 2
            shape[axis] = n = a.shape[axis] + pads[i] + pads[i + 1]
            if n > dims.LARGEST:
                raise RuntimeError(
                    f"The input size {a.shape[axis]}, plus negative padding {pads[i]} and {pads[i + 1]} resulted in a "
                    f"negative output size, which is invalid. Check dimension {a.ndim + axis} of your input."
                )
        dims.check_memory(shape, a.itemsize)
        if value.__class__ is not float or value != 0.0:
            value = fit(value, a.dtype)
    else:
        value = 0
    return constant_pad(x, pads, value)


def bordered(x: Tensor, pads: tuple, mode: str) -> Tensor:
    """`x` with borders of its own elements; `mode` as in `nn.functional.pad`."""
    shape = x._data.shape
    ndim, count = len(shape), len(pads) // 2
    if count not in (1, 2, 3) or ndim not in (count + 1, count + 2):
        raise NotImplementedError(_SUPPORTED.format(len(pads), ndim))
    name = MODES[mode]
    if mode == "circular":
        _check_circular(shape, pads)
    else:
        _check_own(shape, pads, mode)
        if x._data.dtype.kind == "b":
            raise NotImplementedError(f"\"{name}_pad{count}d\" not implemented for 'Bool'")
    dims.check_memory(_padded(shape, pads), x._data.itemsize)
    return ROWS[name, count](x, pads)


def _padded(shape: tuple, pads: tuple) -> list[int]:
    full = list(shape)
    for i, p in enumerate(pads):
        full[-1 - i // 2] += p
    return full


def _check_circular(shape: tuple, pads: tuple) -> None:
    for i in range(len(pads) - 2, -1, -2):  # outermost dim first
        n, before, after = shape[-1 - i // 2], pads[i], pads[i + 1]
        if before > n or after > n:
            raise RuntimeError("Padding value causes wrapping around more than once.")
        if n + before + after < 0 or n + min(before, 0) + min(after, 0) < 0:
            raise RuntimeError("Negative padding value is resulting in an empty dimension")


def _check_own(shape: tuple, pads: tuple, mode: str) -> None:
    """The checks of reflection and replication, in the order PyTorch makes them."""
    count, ndim = len(pads) // 2, len(shape)
    if 0 in shape[ndim - count - 1 :]:
        raise RuntimeError(
            f"Expected {count + 1}D or {count + 2}D (batch mode) tensor with possibly 0 batch size and other non-zero "
            f"dimensions for input, but got: {errors.sizes(shape)}"
        )
    if mode == "reflect":
        for i in range(count):
            before, after = pads[2 * i : 2 * i + 2]
            if max(before, after) >= shape[-1 - i]:
                raise RuntimeError(
                    f"Argument #{4 + 2 * i}: {_TOO_SMALL.format(before, after)} at dimension {ndim - 1 - i} of input "
                    f"{errors.sizes(shape)}"
                )
    full = _padded(shape, pads)
    if max(full[ndim - count :]) < 1:
        letters = "DHW"[3 - count :]
        old, new = (
            [f"{letter}: {n}" for letter, n in zip(letters, sizes[ndim - count :], strict=True)]
            for sizes in (shape, full)
        )
        blank = " " if mode == "replicate" and count == 2 else ""
        raise RuntimeError(f"input ({', '.join(old)}{blank}) is too small. Calculated output {' '.join(new)}")
    worst = next((n for n in full if n < 0), None)
    if worst is not None:
        raise RuntimeError(
            f"Trying to create tensor with negative dimension {worst}: {errors.sizes(tuple(full))}"
        )
