"""Which elements are among others, and places given by one number: isin, unravel_index, nonzero_static.

Invariant: nothing here is differentiable.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import dims, errors
from ...base.dims import flag
from ...base.dtypes import int64 as LONG
from ...base.errors import type_name
from ...core import out_argument, type_promotion
from ...core.op_factory import HALVES, op
from ...core.registry import FUNCTIONS, METHODS, public
from ...core.tensor import Tensor, wrap
from ...core.type_promotion import number
from ...memory.placement import CPU
from . import checks
from .nonzero import nonzero


def _isin(xp, elements, test_elements, invert):
    return xp.isin(elements, test_elements, invert=invert)


isin_row = op("isin", _isin, inputs="elements test_elements", widen=False)


def _tested(value: Any, place: Any) -> Any:
    if isinstance(value, Tensor):
        return value
    return wrap(place.xp.asarray(value, dtype=type_promotion.type_of(value)), place)


@public(method=False)
def isin(
    elements=None,
    test_elements=None,
    *,
    assume_unique=False,
    invert=False,
    out=None,
    element=None,
    test_element=None,
):
    """Tell which elements are among the test elements.

    Args:
        elements: a tensor, or a number (then `test_elements` is a tensor).
        test_elements: a tensor, or a number.
        assume_unique: both have no element twice, which PyTorch is quicker with.
        invert: tell which are not.
        out: where to put the result.
        element: PyTorch's name for `elements` where that is a number.
        test_element: PyTorch's name for `test_elements` where that is a number.

    Example:
        >>> import vistorch
        >>> vistorch.isin(vistorch.tensor([1, 2, 3]), vistorch.tensor([2, 3]))
        tensor([False,  True,  True])
    """
    elements = element if elements is None else elements
    test_elements = test_element if test_elements is None else test_elements
    if not isinstance(assume_unique, (bool, np.bool_)):
        given = ", ".join(
            [*map(type_name, (elements, test_elements)), f"assume_unique={type_name(assume_unique)}"]
        )
        raise TypeError(
            f"isin() received an invalid combination of arguments - got ({given}), but expected one of:\n"
        )
    plain = [number(v) is not None and not isinstance(v, Tensor) for v in (elements, test_elements)]
    if all(plain) or any(
        not isinstance(v, Tensor) and not p for v, p in zip((elements, test_elements), plain, strict=True)
    ):
        given = ", ".join(type(v).__name__ for v in (elements, test_elements))
        raise TypeError(
            f"isin() received an invalid combination of arguments - got ({given}), but expected one of:\n"
            " * (Number element, Tensor test_elements, *, bool assume_unique, bool invert, Tensor out)\n"
            " * (Tensor elements, Number test_element, *, bool assume_unique, bool invert, Tensor out)\n"
            " * (Tensor elements, Tensor test_elements, *, bool assume_unique, bool invert, Tensor out)\n"
        )
    holder: Any = elements if isinstance(elements, Tensor) else test_elements
    place = holder._place
    x, y = _tested(elements, place), _tested(test_elements, place)
    if x._place is not y._place:
        errors.check_devices(x._place, y._place, "isin")
    if out is not None:
        out_argument.check_out("isin", out)
    for t in (x, y):
        if t._data.dtype.kind in "bc":
            raise RuntimeError(f"Unsupported input type encountered for isin(): {checks.scalar_name(t)}")
    if out is not None and out._data.dtype.kind != "b":
        raise RuntimeError(
            f"Expected out tensor to have dtype bool, but got {checks.CPP[str(out.dtype).rpartition('.')[2]]} instead"
        )
    common = type_promotion.result_type(x, y)
    common = np.dtype("f4") if common in HALVES else common
    o = isin_row(
        *[wrap(t._data.astype(common, copy=False), place) for t in (x, y)], flag(invert, "isin", "invert")
    )
    return o if out is None else out_argument.deliver(out, o)


@public(method=False)
def unravel_index(indices, shape):
    """The places in a shape of elements counted one by one.

    Args:
        indices: a tensor of whole numbers.
        shape: the shape, or one size.

    Example:
        >>> import vistorch
        >>> vistorch.unravel_index(vistorch.tensor([7]), (2, 5))
        (tensor([1]), tensor([2]))
    """
    if not isinstance(indices, Tensor):
        raise TypeError(f"expected 'indices' to be integer dtype, but got {type(indices).__name__}")
    if indices._data.dtype.kind not in "iu" or indices._data.dtype in HALVES:
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    if not isinstance(shape, (int, tuple, list)):
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {type(shape)}")
    if isinstance(shape, int):
        shape = (shape,)
    for size in shape:
        if not isinstance(size, int):
            raise TypeError(f"expected 'shape' sequence to only contain ints, but got {type(size)}")
    if any(size < 0 for size in shape):
        raise ValueError(f"'shape' cannot have negative values, but got {tuple(shape)}")
    steps, step = [], 1
    for size in reversed(shape):
        steps.insert(0, step)
        step *= size
    tensor = FUNCTIONS["tensor"]
    where = {"device": indices.device}
    parts = METHODS["div"](
        METHODS["unsqueeze"](indices, -1), tensor(steps, dtype=LONG, **where), rounding_mode="floor"
    ) % tensor(list(shape), dtype=LONG, **where)
    return METHODS["unbind"](parts, -1)


@public()
def nonzero_static(input, *, size=None, fill_value=-1, out=None):
    """The first `size` places of what is not zero, filled up where there are fewer.

    Args:
        input: the tensor to read.
        size: how many rows the result has.
        fill_value: what fills the rows that are left.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.nonzero_static(vistorch.tensor([0, 5]), size=2)
        tensor([[ 1],
                [-1]])
    """
    checks.tensors("nonzero_static", ("input", 1, input))
    if size is None:
        raise TypeError('nonzero_static() missing 1 required positional arguments: "size"')
    for value, name in ((size, "size"), (fill_value, "fill_value")):
        if not isinstance(value, int) or isinstance(value, bool):
            raise TypeError(f"nonzero_static(): argument '{name}' must be int, not {type(value).__name__}")
        dims.fits(value)
    if size < 0:
        raise RuntimeError("nonzero_static: 'size' must be an non-negative integer")
    if out is not None:
        checks.tensors("nonzero_static", ("out", 2, out))
        if out._data.dtype != checks.LONG:
            raise RuntimeError(
                "nonzero_static: Expected out tensor to have scalar type Long but got scalar "
                f"type{checks.scalar_name(out)}"
            )
    places: Any = nonzero(input)
    found = places._data[:size]
    dims.check_memory((size, input._data.ndim), 8)
    place = input._place
    xp = CPU.xp if not place.kind else place.xp
    full = xp.full((size, input._data.ndim), fill_value, checks.LONG)
    full[: found.shape[0]] = found
    result = wrap(full, place)
    return result if out is None else out_argument.deliver(out, result)
