"""Bootstrap: the least that tests need, until this family is written."""

from __future__ import annotations

import numpy as np

from ... import dtypes, graph
from ...face import METHODS, public
from ...places import place_of
from ...tensor import Tensor, wrap


@public(method=False)
def tensor(data, *, dtype=None, device=None, requires_grad=False):
    """A tensor from numbers."""
    if dtype is None and not isinstance(data, np.ndarray):
        a = np.array(data)
        if a.dtype == np.float64:
            a = a.astype(np.float32)
    else:
        a = np.array(data, dtype=None if dtype is None else dtypes.as_np(dtype))
    o = wrap(a, place_of(device))
    o.requires_grad = requires_grad
    return o


@public(method=False)
def from_numpy(a):
    """A tensor on a numpy array's memory."""
    return wrap(a)


@public(function=False)
def numpy(self):
    """The memory as a numpy array."""
    if self.requires_grad:
        raise RuntimeError(
            "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
        )
    return self._data


@public(function=False)
def item(self):
    """The only element."""
    return self._data.item()


@public(function=False)
def tolist(self):
    """Nested lists."""
    return self._data.tolist()


@public()
def detach(self):
    """The same memory without history; versions stay common."""
    o = wrap(self._data, self._place)
    o._ver = graph.version(self)
    return o


METHODS["__repr__"] = lambda self: f"tensor({self._data!r})"


def legacy_new(cls, *data, **kwargs):
    """`Tensor(...)`."""
    return tensor(*data, **kwargs)


__all__ = ["Tensor"]
