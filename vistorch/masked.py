"""Reductions and normalizations that leave masked elements out, under PyTorch's names.

A mask is True where an element counts. Each function puts the value that changes nothing (0 in a sum, 1 in a product)
in the place of the others, and then is the ordinary operation: so its gradient is the ordinary one.

Invariant: an element that is masked out has no part in a result, and its gradient is zero.
"""

from __future__ import annotations

from math import inf, nan
from typing import Any

from . import amax as _amax
from . import amin as _amin
from . import argmax as _argmax
from . import argmin as _argmin
from . import (
    bool as boolean,
)
from . import (
    broadcast_to,
    divide,
    float32,
    iinfo,
    int8,
    int16,
    int32,
    int64,
    isnan,
    linalg,
    maximum,
    nanmedian,
    nn,
    ones,
    sqrt,
    subtract,
    uint8,
    where,
)
from . import cumprod as _cumprod
from . import cumsum as _cumsum
from . import logaddexp as _logaddexp
from . import logsumexp as _logsumexp
from . import sum as _sum
from . import tensor as _tensor
from ._lazy import unbuilt

__all__ = [
    "amax",
    "amin",
    "argmax",
    "argmin",
    "cumprod",
    "cumsum",
    "is_masked_tensor",
    "log_softmax",
    "logaddexp",
    "logsumexp",
    "mean",
    "median",
    "norm",
    "normalize",
    "prod",
    "softmax",
    "softmin",
    "std",
    "sum",
    "var",
]

_SHORT = (uint8, boolean, int8, int16, int32)


def __getattr__(name: str) -> Any:
    found = unbuilt("masked").get(name)
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found


def _least(x: Any) -> Any:
    return -inf if x.is_floating_point() else _limit(x, "min")


def _greatest(x: Any) -> Any:
    return inf if x.is_floating_point() else _limit(x, "max")


def _limit(x: Any, end: str) -> Any:
    if x.is_complex() or x.dtype == boolean:
        raise NotImplementedError(f"identity of {'amax' if end == 'min' else 'amin'} on {x.dtype} input")
    return getattr(iinfo(x.dtype), end)


def _log_zero(x: Any) -> Any:
    return complex(-inf, 0) if x.is_complex() else _least(x)


def _dims(dim: Any, ndim: int) -> tuple[int, ...]:
    """The dims to reduce, from the first on; all of them for None and ()."""
    if dim is None or dim == ():
        return tuple(range(ndim))
    ndim = max(ndim, 1)
    found: list[int] = []
    for d in (dim,) if isinstance(dim, int) else dim:
        if d in found:
            raise RuntimeError(f"dim={d} appears multiple times in the list of dims")
        if d >= ndim or d < -ndim:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {d})"
            )
        found.append(d % ndim)
    return tuple(sorted(found))


def _full_mask(x: Any, mask: Any) -> Any:
    """A mask of the input's shape."""
    if mask.shape != x.shape:
        if mask.ndim > x.ndim:
            raise IndexError(
                "_input_mask expected broadcastable mask (got mask dimensionality higher than of the input)"
            )
        mask = broadcast_to(mask, x.shape)
    return mask.to(dtype=boolean)


def _input_mask(input: Any, *args: Any, **kwargs: Any) -> Any:
    """The mask of a call, in the input's shape; PyTorch's private name, which its users take."""
    mask = kwargs.get("mask")
    if mask is None:
        raise ValueError("_input_mask requires explicit mask")
    return _full_mask(input, mask)


_REDUCTIONS = set("sum prod amax amin argmax argmin mean median norm var std logsumexp".split())
_NORMALIZATIONS = set("softmax log_softmax softmin normalize cumsum cumprod".split())


def _output_mask(op: Any, input: Any, *args: Any, **kwargs: Any) -> Any:
    """Which elements of a call's result come from any element that counts; PyTorch's private name."""
    name = getattr(op, "__name__", type(op).__name__)
    if name in _NORMALIZATIONS:
        return _input_mask(input, *args, **kwargs)
    if name not in _REDUCTIONS:
        raise ValueError(f"_output_mask expected masked operation (got {name})")
    args = args[1:] if name == "norm" else args
    mask = _input_mask(input, *args, **kwargs)
    for d in reversed(_dims(args[0] if args else kwargs.get("dim"), input.ndim)):
        mask = mask.any(dim=d, keepdim=bool(kwargs.get("keepdim", False)))
    return mask


def _masked(x: Any, mask: Any, identity: Any) -> Any:
    """The input with the value that changes nothing where it is masked out."""
    if mask is None:
        return x
    value = identity(x) if callable(identity) else identity
    return where(_full_mask(x, mask), x, _tensor(value, dtype=x.dtype, device=x.device))


def _summed_type(x: Any, dtype: Any) -> Any:
    """The type of a sum: short integers are added up in int64."""
    if dtype is not None:
        return dtype
    return int64 if x.dtype in _SHORT else x.dtype


def is_masked_tensor(obj: Any, /) -> bool:
    """False: there are none.

    Args:
        obj: anything.

    Example:
        >>> import vistorch
        >>> vistorch.masked.is_masked_tensor(vistorch.ones(2))
        False
    """
    return False


def sum(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The sum of the elements that a mask keeps; 0 where it keeps none.

    Args:
        input: the tensor.
        dim: the dim or dims to reduce; all by default.
        keepdim: keep reduced dims, with size 1.
        dtype: of the result; that of the input, int64 for shorter integers.
        mask: True where an element counts; broadcast to the input.

    Example:
        >>> import vistorch
        >>> x, mask = vistorch.tensor([[1, 2], [3, 4]]), vistorch.tensor([[True, False], [True, True]])
        >>> vistorch.masked.sum(x, 1, mask=mask)
        tensor([1, 7])
    """
    dtype = _summed_type(input, dtype)
    dims = _dims(dim, input.ndim)
    return _sum(_masked(input, mask, 0), dims, bool(keepdim), dtype=dtype)


def prod(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The product of the elements that a mask keeps; 1 where it keeps none.

    Args:
        input: the tensor.
        dim: the dim or dims to reduce; all by default.
        keepdim: keep reduced dims, with size 1.
        dtype: of the result; that of the input, int64 for shorter integers.
        mask: True where an element counts; broadcast to the input.

    Example:
        >>> import vistorch
        >>> vistorch.masked.prod(vistorch.tensor([2, 3, 4]), 0, mask=vistorch.tensor([True, False, True]))
        tensor(8)
    """
    dtype = _summed_type(input, dtype)
    result = _masked(input, mask, 1).to(dtype=dtype)
    for d in reversed(_dims(dim, input.ndim)):
        result = result.prod(dim=d, keepdim=bool(keepdim))
    return result


def cumsum(input, dim, *, dtype=None, mask=None):
    """Running sums, in which elements that are masked out count as 0.

    Args:
        input: the tensor.
        dim: along which dim.
        dtype: of the result; that of the input by default.
        mask: True where an element counts; broadcast to the input.

    Example:
        >>> import vistorch
        >>> vistorch.masked.cumsum(vistorch.tensor([1, 2, 3]), 0, mask=vistorch.tensor([True, False, True]))
        tensor([1, 1, 4])
    """
    dtype = input.dtype if dtype is None else dtype
    return _cumsum(_masked(input, mask, 0), _dims(dim, input.ndim)[0], dtype=dtype)


def cumprod(input, dim, *, dtype=None, mask=None):
    """Running products, in which elements that are masked out count as 1.

    Args:
        input: the tensor.
        dim: along which dim.
        dtype: of the result; that of the input by default.
        mask: True where an element counts; broadcast to the input.

    Example:
        >>> import vistorch
        >>> vistorch.masked.cumprod(vistorch.tensor([2, 3, 4]), 0, mask=vistorch.tensor([True, False, True]))
        tensor([2, 2, 8])
    """
    dtype = input.dtype if dtype is None else dtype
    return _cumprod(_masked(input, mask, 1), _dims(dim, input.ndim)[0], dtype=dtype)


def amax(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The largest of the elements that a mask keeps.

    Args:
        input: the tensor.
        dim: the dim or dims to reduce; all by default.
        keepdim: keep reduced dims, with size 1.
        dtype: of the result; that of the input by default.
        mask: True where an element counts; broadcast to the input.

    Example:
        >>> import vistorch
        >>> vistorch.masked.amax(vistorch.tensor([1, 5, 3]), mask=vistorch.tensor([True, False, True]))
        tensor(3)
    """
    x = _masked(input, mask, _least)
    return _amax(x, _dims(dim, x.ndim), bool(keepdim)).to(dtype=dtype or input.dtype)


def amin(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The smallest of the elements that a mask keeps.

    Args:
        input: the tensor.
        dim: the dim or dims to reduce; all by default.
        keepdim: keep reduced dims, with size 1.
        dtype: of the result; that of the input by default.
        mask: True where an element counts; broadcast to the input.

    Example:
        >>> import vistorch
        >>> vistorch.masked.amin(vistorch.tensor([1, 5, 3]), mask=vistorch.tensor([False, True, True]))
        tensor(3)
    """
    x = _masked(input, mask, _greatest)
    return _amin(x, _dims(dim, x.ndim), bool(keepdim)).to(dtype=dtype or input.dtype)


def argmax(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Where the largest of the elements is that a mask keeps.

    Args:
        input: the tensor.
        dim: the dim to reduce; the flattened input by default.
        keepdim: keep the reduced dim, with size 1.
        dtype: of the result; that of the input by default.
        mask: True where an element counts; broadcast to the input.

    Example:
        >>> import vistorch
        >>> vistorch.masked.argmax(vistorch.tensor([1, 5, 3]), mask=vistorch.tensor([True, False, True]))
        tensor(2)
    """
    return _argmax(_masked(input, mask, _least), dim, bool(keepdim)).to(dtype=dtype or input.dtype)


def argmin(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Where the smallest of the elements is that a mask keeps.

    Args:
        input: the tensor.
        dim: the dim to reduce; the flattened input by default.
        keepdim: keep the reduced dim, with size 1.
        dtype: of the result; that of the input by default.
        mask: True where an element counts; broadcast to the input.

    Example:
        >>> import vistorch
        >>> vistorch.masked.argmin(vistorch.tensor([1, 5, 3]), mask=vistorch.tensor([False, True, True]))
        tensor(2)
    """
    return _argmin(_masked(input, mask, _greatest), dim, bool(keepdim)).to(dtype=dtype or input.dtype)


def _count(x: Any, dim: Any, keepdim: bool, mask: Any) -> Any:
    """How many elements a reduction has, and the mask in the input's shape."""
    if mask is None:
        return sum(ones(x.shape, dtype=int64, device=x.device), dim, keepdim=keepdim), None
    full = _full_mask(x, mask)
    return full.sum(dim=dim, keepdim=keepdim), full


def mean(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The mean of the elements that a mask keeps; nan where it keeps none.

    Args:
        input: the tensor.
        dim: the dim or dims to reduce; all by default.
        keepdim: keep reduced dims, with size 1.
        dtype: floating or complex; that of the input by default.
        mask: True where an element counts; broadcast to the input.

    Example:
        >>> import vistorch
        >>> vistorch.masked.mean(vistorch.tensor([1., 5., 3.]), mask=vistorch.tensor([True, False, True]))
        tensor(2.)
    """
    source = "Input" if dtype is None else "Optional"
    dtype = input.dtype if dtype is None else dtype
    if not (dtype.is_floating_point or dtype.is_complex):
        raise ValueError(
            f"mean(): Could not infer output dtype. {source} dtype must be either a floating point or complex dtype. "
            f"Got: {dtype}"
        )
    count, full = _count(input, dim, bool(keepdim), mask)
    return sum(input, dim, keepdim=keepdim, dtype=dtype, mask=full) / count


def median(input, dim=-1, *, keepdim=False, dtype=None, mask=None):
    """The median of the elements that a mask keeps; of an even number, the lower of the two in the middle.

    Args:
        input: the tensor.
        dim: the dim to reduce.
        keepdim: keep the reduced dim, with size 1.
        dtype: of the result of an input of integers; that of the input by default.
        mask: True where an element counts; broadcast to the input.

    Example:
        >>> import vistorch
        >>> vistorch.masked.median(vistorch.tensor([1., 9., 3., 5.]), mask=vistorch.tensor([True, False, True, True]))
        tensor(3.)
    """
    kind = input.dtype if dtype is None else dtype
    at = _dims(dim, input.ndim)[0]
    is_float = input.is_floating_point()
    output = nanmedian(_masked(input if is_float else input.to(dtype=float32), mask, nan), at, keepdim).values
    if is_float:
        return output
    if isnan(output).any():
        raise ValueError("masked median expects no fully masked out rows if dtype is not floating point")
    return output.to(dtype=kind)


def logsumexp(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The logarithm of the sum of the exponentials of the elements that a mask keeps.

    Args:
        input: the tensor.
        dim: the dim or dims to reduce; all by default.
        keepdim: keep reduced dims, with size 1.
        dtype: of the result; that of the input by default.
        mask: True where an element counts; broadcast to the input.

    Example:
        >>> import vistorch
        >>> vistorch.masked.logsumexp(vistorch.tensor([0., 9.]), 0, mask=vistorch.tensor([True, False]))
        tensor(0.)
    """
    dims = _dims(dim, input.ndim)
    x = _masked(input, mask, _log_zero)
    return _logsumexp(x, dims, keepdim=keepdim).to(dtype=dtype or input.dtype)


def logaddexp(input, other, *, dtype=None, input_mask=None, other_mask=None):
    """`log(exp(input) + exp(other))`, each without what its mask leaves out.

    Args:
        input: the first tensor.
        other: the second one.
        dtype: of the result; that of the first by default.
        input_mask: True where an element of the first counts.
        other_mask: True where an element of the second counts.

    Example:
        >>> import vistorch
        >>> x = vistorch.tensor([1., 2.])
        >>> vistorch.masked.logaddexp(x, x + 3, other_mask=vistorch.tensor([False, False]))
        tensor([1., 2.])
    """
    x, y = _masked(input, input_mask, _least), _masked(other, other_mask, _least)
    return _logaddexp(x, y).to(dtype=dtype or input.dtype)


def norm(input, ord=2.0, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The norm of the elements that a mask keeps.

    Args:
        input: the tensor.
        ord: which norm: a number, inf or -inf.
        dim: the dim or dims to reduce; all by default.
        keepdim: keep reduced dims, with size 1.
        dtype: of the result; that of the input by default.
        mask: True where an element counts; broadcast to the input.

    Example:
        >>> import vistorch
        >>> vistorch.masked.norm(vistorch.tensor([3., 9., 4.]), 2.0, mask=vistorch.tensor([True, False, True]))
        tensor(5.)
    """
    x = _masked(input, mask, inf if ord == -inf else 0)
    return linalg.vector_norm(x, ord, _dims(dim, input.ndim), bool(keepdim), dtype=dtype or input.dtype)


def _squares(
    input: Any, dim: Any, unbiased: Any, correction: Any, keepdim: Any, dtype: Any, mask: Any
) -> Any:
    """The mean square of the distances from the mean."""
    if unbiased is not None and correction is not None:
        raise AssertionError("Only one of unbiased and correction may be given")
    less = 1.0 if unbiased is None or unbiased else 0.0
    less = less if correction is None else float(correction)
    if dtype is None:
        dtype = input.dtype if input.is_floating_point() or input.is_complex() else float32
    kind = dtype if dtype.is_floating_point or dtype.is_complex else float32
    count, full = _count(input, dim, True, mask)
    x = subtract(input, divide(sum(input, dim, keepdim=True, dtype=dtype, mask=full), count))
    total = sum(x * x.conj(), dim, keepdim=keepdim, dtype=kind, mask=full)
    if not keepdim:
        count = count.reshape(total.shape)
    if less != 0:
        count = subtract(count.to(kind.to_real() if kind.is_complex else kind), less)
        count = maximum(count, count.new_zeros([]))
    return divide(total, count).to(dtype=dtype)


def var(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    """The variance of the elements that a mask keeps.

    Args:
        input: the tensor.
        dim: the dim or dims to reduce; all by default.
        unbiased: divide by one less than the number of elements, the default.
        correction: what to take off that number, in place of `unbiased`.
        keepdim: keep reduced dims, with size 1.
        dtype: of the result; that of the input by default.
        mask: True where an element counts; broadcast to the input.

    Example:
        >>> import vistorch
        >>> vistorch.masked.var(vistorch.tensor([1., 9., 3.]), mask=vistorch.tensor([True, False, True]))
        tensor(2.)
    """
    return _squares(input, dim, unbiased, correction, keepdim, dtype, mask)


def std(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    """The standard deviation of the elements that a mask keeps.

    Args:
        input: the tensor.
        dim: the dim or dims to reduce; all by default.
        unbiased: divide by one less than the number of elements, the default.
        correction: what to take off that number, in place of `unbiased`.
        keepdim: keep reduced dims, with size 1.
        dtype: of the result; that of the input by default.
        mask: True where an element counts; broadcast to the input.

    Example:
        >>> import vistorch
        >>> vistorch.masked.std(vistorch.tensor([1., 9., 5.]), correction=0, mask=vistorch.tensor([True, False, True]))
        tensor(2.)
    """
    return sqrt(_squares(input, dim, unbiased, correction, keepdim, dtype, mask))


def softmax(input, dim, *, dtype=None, mask=None):
    """`softmax` among the elements that a mask keeps; 0 for the others.

    Args:
        input: the tensor.
        dim: along which dim.
        dtype: of the result; that of the input by default.
        mask: True where an element counts; broadcast to the input.

    Example:
        >>> import vistorch
        >>> vistorch.masked.softmax(vistorch.zeros(3), 0, mask=vistorch.tensor([True, False, True]))
        tensor([0.5000, 0.0000, 0.5000])
    """
    dtype = input.dtype if dtype is None else dtype
    return nn.functional.softmax(_masked(input, mask, _least), _dims(dim, input.ndim)[0], dtype=dtype)


def log_softmax(input, dim, *, dtype=None, mask=None):
    """The logarithm of `softmax` among the elements that a mask keeps; -inf for the others.

    Args:
        input: the tensor.
        dim: along which dim.
        dtype: of the result; that of the input by default.
        mask: True where an element counts; broadcast to the input.

    Example:
        >>> import vistorch
        >>> vistorch.masked.log_softmax(vistorch.zeros(2), 0, mask=vistorch.tensor([True, False]))
        tensor([0., -inf])
    """
    dtype = input.dtype if dtype is None else dtype
    return nn.functional.log_softmax(_masked(input, mask, _least), _dims(dim, input.ndim)[0], dtype=dtype)


def softmin(input, dim, *, dtype=None, mask=None):
    """`softmax` of the negative among the elements that a mask keeps; 0 for the others.

    Args:
        input: the tensor.
        dim: along which dim.
        dtype: of the result; that of the input by default.
        mask: True where an element counts; broadcast to the input.

    Example:
        >>> import vistorch
        >>> vistorch.masked.softmin(vistorch.zeros(3), 0, mask=vistorch.tensor([True, False, True]))
        tensor([0.5000, 0.0000, 0.5000])
    """
    dtype = input.dtype if dtype is None else dtype
    return nn.functional.softmin(_masked(input, mask, _greatest), _dims(dim, input.ndim)[0], dtype=dtype)


def normalize(input, ord, dim, *, eps=1e-12, dtype=None, mask=None):
    """The elements that a mask keeps, divided by their norm; 0 for the others.

    Args:
        input: the tensor.
        ord: which norm: a number, inf or -inf.
        dim: the dim of each vector.
        eps: the least divisor.
        dtype: of the norm; that of the input by default.
        mask: True where an element counts; broadcast to the input.

    Example:
        >>> import vistorch
        >>> vistorch.masked.normalize(vistorch.tensor([3., 9., 4.]), 2.0, 0, mask=vistorch.tensor([True, False, True]))
        tensor([0.6000, 0.0000, 0.8000])
    """
    length = norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    return divide(_masked(input, mask, 0), maximum(length, length.new_full([], eps)))
