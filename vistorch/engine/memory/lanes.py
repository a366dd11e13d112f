"""`Lanes`: an array whose first dims count samples and do not show.

Its shape, strides and operators are those of one sample, so code written for a sample runs for all of them at once.
A batch dim of one stands for a value that all samples share.
Invariant: `array` is a numpy array with at least `lead` dims.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from types import EllipsisType
from typing import Any

import numpy as np

from ..base.errors import VMAP_IN_PLACE, Unbatchable


class _Flags:
    """What `flags` says of a sample's memory."""

    __slots__ = ("c_contiguous", "f_contiguous", "forc", "owndata", "writeable")

    def __init__(self, sample: np.ndarray) -> None:
        flags = sample.flags
        self.c_contiguous, self.f_contiguous = flags.c_contiguous, flags.f_contiguous
        self.forc = flags.forc
        self.writeable, self.owndata = flags.writeable, False


class Lanes:
    """An array of samples that looks like one sample.

    Args:
        array: a numpy array.
        lead: how many of its first dims count samples.
    """

    __slots__ = ("array", "lead")

    def __init__(self, array: np.ndarray, lead: int) -> None:
        self.array, self.lead = array, lead

    # ---- one sample's metadata ------------------------------------------------------------------------------
    shape = property(lambda self: self.array.shape[self.lead :])
    ndim = property(lambda self: self.array.ndim - self.lead)
    strides = property(lambda self: self.array.strides[self.lead :])
    dtype = property(lambda self: self.array.dtype)
    itemsize = property(lambda self: self.array.itemsize)
    size = property(lambda self: int(np.prod(self.shape, dtype=np.int64)))
    nbytes = property(lambda self: self.size * self.array.itemsize)
    lanes = property(lambda self: self.array.shape[: self.lead], doc="The sizes of the batch dims.")
    real = property(lambda self: Lanes(self.array.real, self.lead))
    imag = property(lambda self: Lanes(self.array.imag, self.lead))
    T = property(lambda self: self.transpose())
    base = property(lambda self: None)

    @property
    def flags(self) -> _Flags:
        """What is known of a sample's memory."""
        if 0 in self.lanes:
            return _Flags(np.empty(self.shape, self.dtype))
        return _Flags(self.array[(0,) * self.lead])

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    # ---- the same values otherwise ----------------------------------------------------------------------------
    def widened(self, ndim: int) -> np.ndarray:
        """The whole array, with dims of one between the batch dims and a sample's, so that this has `ndim`."""
        a = self.array
        missing = ndim - self.ndim
        return a if missing <= 0 else a.reshape(self.lanes + (1,) * missing + self.shape)

    def astype(self, dtype: Any, order: Any = "K", casting: Any = "unsafe", copy: bool = True) -> Lanes:
        """The values in another type."""
        made = self.array.astype(dtype, order=order, casting=casting, copy=copy)
        return self if made is self.array else Lanes(made, self.lead)

    def copy(self, order: Any = "C") -> Lanes:
        """The values in new memory."""
        return Lanes(self.array.copy(order=order), self.lead)

    def reshape(self, *shape: Any) -> Lanes:
        """A sample with other sizes."""
        sizes = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else shape
        if -1 in sizes:
            known = int(np.prod([n for n in sizes if n != -1], dtype=np.int64))
            if not known or self.size % known:
                raise ValueError(f"cannot reshape array of size {self.size} into shape {sizes}")
            sizes = tuple([self.size // known if n == -1 else n for n in sizes])
        return Lanes(self.array.reshape(self.lanes + sizes), self.lead)

    def transpose(self, *axes: Any) -> Lanes:
        """A sample with its dims in another order."""
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        order = tuple(order) if order else tuple(range(self.ndim))[::-1]
        lead = self.lead
        return Lanes(
            self.array.transpose((*range(lead), *[lead + a % max(self.ndim, 1) for a in order])), lead
        )

    def view(self, dtype: Any) -> Lanes:
        """The memory read as another type of the same size."""
        return Lanes(self.array.view(dtype), self.lead)

    def fill(self, value: Any) -> None:
        """Write one number everywhere."""
        self[...] = value

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Lanes:
        """The diagonals of each sample."""
        return Lanes(self.array.diagonal(offset, self.axis(axis1), self.axis(axis2)), self.lead)

    def swapaxes(self, first: int, second: int) -> Lanes:
        """A sample with two dims exchanged."""
        return Lanes(self.array.swapaxes(self.axis(first), self.axis(second)), self.lead)

    def squeeze(self, axis: Any = None) -> Lanes:
        """A sample without dims of one."""
        if axis is None:
            axis = tuple([d for d, n in enumerate(self.shape) if n == 1])
        return Lanes(self.array.squeeze(self.axes(axis)), self.lead)

    def conjugate(self) -> Lanes:
        """The complex conjugates."""
        return Lanes(self.array.conjugate(), self.lead)

    conj = conjugate

    def axis(self, dim: int) -> int:
        """Where a dim of a sample is in the whole array."""
        return dim + self.lead if dim >= 0 else dim

    def axes(self, dims: Any) -> Any:
        """The same for several; None is all of a sample's."""
        if dims is None:
            return tuple(range(self.lead, self.array.ndim))
        return self.axis(dims) if isinstance(dims, int) else tuple([self.axis(d) for d in dims])

    def sum(self, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Lanes:
        """The sum over dims of each sample."""
        return Lanes(self.array.sum(self.axes(axis), dtype=dtype, keepdims=keepdims), self.lead)

    def any(self, axis: Any = None) -> Any:
        """Whether any value is true: of all samples, so that a check of values refuses if one of them fails."""
        return (
            bool(self.array.any())
            if axis is None
            else Lanes(np.asarray(self.array.any(self.axes(axis))), self.lead)
        )

    def all(self, axis: Any = None) -> Any:
        """Whether all values are."""
        return (
            bool(self.array.all())
            if axis is None
            else Lanes(np.asarray(self.array.all(self.axes(axis))), self.lead)
        )

    def max(self, axis: Any = None) -> Lanes:
        """The greatest value of each sample."""
        return Lanes(self.array.max(self.axes(axis)), self.lead)

    def min(self, axis: Any = None) -> Lanes:
        """The least value of each sample."""
        return Lanes(self.array.min(self.axes(axis)), self.lead)

    # ---- parts ---------------------------------------------------------------------------------------------------
    def _key(self, key: Any) -> tuple:
        parts = key if isinstance(key, tuple) else (key,)
        if not all(
            p is None or (isinstance(p, (slice, int, np.integer, EllipsisType)) and not isinstance(p, bool))
            for p in parts
        ):
            raise Unbatchable("an index that is an array")
        return (slice(None),) * self.lead + parts

    def __getitem__(self, key: Any) -> Lanes:
        return Lanes(self.array[self._key(key)], self.lead)

    def __setitem__(self, key: Any, value: Any) -> None:
        part = self.array[self._key(key)]
        if isinstance(value, Lanes):
            if any(n > 1 and m == 1 for n, m in zip(value.lanes, self.lanes, strict=True)):
                raise RuntimeError(VMAP_IN_PLACE)
            value = value.widened(part.ndim - self.lead)
        part[...] = value

    # ---- what one sample cannot say ---------------------------------------------------------------------------
    def item(self, *args: Any) -> Any:
        """There are as many numbers as samples."""
        raise Unbatchable("the number of a sample")

    __int__ = __float__ = __index__ = __complex__ = __bool__ = item  # type: ignore[assignment]

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **named: Any) -> Any:
        if method != "__call__" or named:
            raise Unbatchable(ufunc.__name__)
        return apply(ufunc, *inputs)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise Unbatchable("numpy asks for the values")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise Unbatchable(name)

    def __iter__(self) -> Any:
        return iter([self[i] for i in range(len(self))])


def apply(function: Callable, *args: Any) -> Any:
    """A pointwise function of arrays, on samples that broadcast among each other."""
    ndim = lead = 0
    for a in args:
        if a.__class__ is Lanes:
            lead = a.lead
            ndim = max(ndim, a.array.ndim - lead)
        elif a.__class__ is np.ndarray:
            ndim = max(ndim, a.ndim)
    made = function(*[a.widened(ndim) if a.__class__ is Lanes else a for a in args])
    return wrapped(made, lead)


def all_samples(a: Any) -> Any:
    """The array of all samples: for a check of values, which refuses if one sample fails."""
    return a.array if a.__class__ is Lanes else a


def wrapped(made: Any, lead: int) -> Any:
    """What a function of whole arrays gave, as samples."""
    if made.__class__ is tuple or made.__class__ is list:
        return tuple([wrapped(one, lead) for one in made])
    return Lanes(made, lead) if isinstance(made, np.ndarray) else made


def _operator(function: Callable) -> Callable:
    return lambda self, other: apply(function, self, other)


def _unary(function: Callable) -> Callable:
    return lambda self: apply(function, self)


def _reflected(function: Callable) -> Callable:
    return lambda self, other: apply(function, other, self)


for _name in (
    "add sub mul truediv floordiv mod pow matmul and_ or_ xor lshift rshift lt le gt ge eq ne"
).split():
    _plain, _dunder = getattr(operator, _name), _name.rstrip("_")
    setattr(Lanes, f"__{_dunder}__", _operator(_plain))
    if _dunder not in ("lt", "le", "gt", "ge", "eq", "ne"):
        setattr(Lanes, f"__r{_dunder}__", _reflected(_plain))
for _name in ("neg", "pos", "abs", "invert"):
    setattr(Lanes, f"__{_name}__", _unary(getattr(operator, _name)))
Lanes.__hash__ = object.__hash__  # type: ignore[assignment]
