"""Evenly spaced numbers: arange, range, linspace, logspace, eye.

Invariant: float results are computed as PyTorch computes them, `start + i * step` in the accumulation type from the
nearer end, so that the last bit agrees.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import dtypes
from ...face import public
from ...places import place_of
from ...tensor import Tensor, wrap
from .arguments import leaf

INT64 = np.dtype("i8")


@public(method=False)
def arange(
    *bounds: Any,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    **named: Any,
) -> Tensor:
    """The numbers from start up to, and without, end.

    Args:
        *bounds: `end`; or `start, end`; or `start, end, step`.
        out: where to write the result.
        dtype: the element type; without it int64 for whole numbers, else the default one.
        layout: `vistorch.strided` or None.
        device: where the tensor will be.
        pin_memory: accepted; memory of the CPU is not page-locked here.
        requires_grad: whether backward passes compute its gradient.
        **named: `start`, `end`, `step`, where they are not given by position.

    Example:
        >>> import vistorch
        >>> vistorch.arange(3), vistorch.arange(1, 2, 0.5)
        (tensor([0, 1, 2]), tensor([1.0000, 1.5000]))
    """
    n = len(bounds)
    start, end, step = (0, *bounds, 1) if n == 1 else (*bounds, 1) if n == 2 else bounds
    place = place_of(device, "arange")
    dt = INT64 if dtype is None else dtypes.as_np(dtype, "arange")
    if dtype is None and not (isinstance(start, int) and isinstance(end, int) and isinstance(step, int)):
        dt = dtypes.default.np
    return leaf(wrap(place.xp.arange(start, end, step).astype(dt), place), requires_grad, "arange")
