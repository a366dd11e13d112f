"""Tensors of random values for tests.

Invariant: the values are within what was asked for; the seed is the process's.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

from vistorch.engine.base.dtypes import bool as bool_
from vistorch.engine.base.dtypes import dtype, uint8
from vistorch.engine.base.finfo import finfo, iinfo
from vistorch.engine.core.registry import FUNCTIONS
from vistorch.engine.core.tensor import Tensor
from vistorch.engine.library_name import library

_complex, _empty, _rand, _randint = (FUNCTIONS[n] for n in ("complex", "empty", "rand", "randint"))


def make_tensor(
    *shape: Any,
    dtype: dtype,
    device: Any,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """A tensor of random values.

    Args:
        *shape: its sizes.
        dtype: its type.
        device: where it is.
        low: the least value; -9 if not given (0 for bool and uint8).
        high: the bound above; 9 if not given (10 for whole numbers, 2 for bool).
        requires_grad: whether it requires grad.
        noncontiguous: whether every second element of memory is left out.
        exclude_zero: whether zeros are replaced by the smallest value above.
        memory_format: as for `clone`.

    Example:
        >>> import vistorch
        >>> x = vistorch.testing.make_tensor(2, 3, dtype=vistorch.float32, device="cpu", low=0, high=1)
        >>> x.shape, bool((x >= 0).all())
        (vistorch.Size([2, 3]), True)
    """
    sizes = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], list | tuple) else tuple(shape)
    if noncontiguous and memory_format is not None:
        raise ValueError(
            "The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got "
            f"noncontiguous={noncontiguous!r} and memory_format={memory_format!r}"
        )
    if requires_grad and not (dtype.is_floating_point or dtype.is_complex):
        raise ValueError(
            f"`requires_grad=True` is not supported for boolean and integral dtypes, but got dtype={dtype!r}"
        )
    least, most = _range(low, high, dtype)
    wide = (*sizes[:-1], 2 * sizes[-1]) if noncontiguous and sizes and math.prod(sizes) > 1 else sizes
    made = _values(wide, least, most, dtype, device)
    if wide is not sizes:
        made = made[..., ::2]
    elif memory_format is not None:
        made = made.clone(memory_format=memory_format)
    if exclude_zero:
        made[made == 0] = finfo(dtype).tiny if dtype.is_floating_point or dtype.is_complex else 1
    return made.requires_grad_(requires_grad)


def _range(low: float | None, high: float | None, dtype: dtype) -> tuple[float, float]:
    if dtype is bool_:
        least, most, first, last = 0, 2, 0, 2
    elif dtype.is_floating_point or dtype.is_complex:
        first, last = finfo(dtype).min, finfo(dtype).max
        least, most = -9, 9
    else:
        first, last = iinfo(dtype).min, iinfo(dtype).max + 1
        least, most = (0 if dtype is uint8 else -9), 10
    least, most = (least if low is None else low), (most if high is None else high)
    if math.isnan(least) or math.isnan(most):
        raise ValueError(f"`low` and `high` cannot be NaN, but got low={low!r} and high={high!r}")
    if least == most and (dtype.is_floating_point or dtype.is_complex):
        warnings.warn(
            f"Passing `low==high` to `{library}.testing.make_tensor` for floating or complex types is deprecated since "
            f"2.1 and will be removed in 2.3. Use `{library}.full(...)` instead.",
            FutureWarning,
            stacklevel=3,
        )
    elif least >= most:
        raise ValueError(f"`low` must be less than `high`, but got {least} >= {most}")
    least, most = min(max(least, first), last), min(max(most, first), last)
    if not (dtype.is_floating_point or dtype.is_complex):
        least, most = math.ceil(least), math.ceil(most)
    return least, most


def _values(shape: tuple, low: float, high: float, dtype: dtype, device: Any) -> Tensor:
    if dtype.is_complex:
        part = dtype.to_real()
        return _complex(_values(shape, low, high, part, device), _values(shape, low, high, part, device))
    if dtype.is_floating_point:
        return (
            _empty(shape, dtype=dtype, device=device).uniform_(low, high)
            if low < high
            else _empty(shape, dtype=dtype, device=device).fill_(low)
        )
    return _randint(int(low), int(high), shape, dtype=dtype, device=device)
