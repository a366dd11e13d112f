"""Copies that outlive the moment: `copy.copy`, `copy.deepcopy`, pickle.

Invariant: tensors that share memory still share it after being pickled, or deep-copied, together.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from ..base import dtypes
from ..core import views
from ..core.registry import METHODS
from ..core.tensor import Tensor, become, wrap
from ..kernels.strides import lay
from ..library_name import named
from ..memory.array_memory import owner, start
from ..memory.placement import CPU, move, place_of

DEEPCOPY_OF_NON_LEAF = (
    "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.  If you "
    "were attempting to deepcopy a module, this may be because of a vistorch.nn.utils.weight_norm usage, see "
    "https://github.com/pytorch/pytorch/pull/103001"
)


def _seen_in(root: Any, a: Any, copied: Any) -> Any:
    """The part of `copied` that `a` is of `root`."""
    if a is root:
        return copied
    offset = start(a) - start(root) if a.size else 0
    return lay(copied, a.shape, a.dtype, offset, a.strides)


def _whole(a: Any) -> Any:
    """The array that owns `a`'s memory, if `a` can be cut out of a contiguous copy of it; else `a` itself."""
    root = owner(a)
    return root if root.flags.c_contiguous and root.size and a.size else a


def rebuild(
    cls: type,
    root: Any,
    offset: int,
    shape: tuple,
    strides: Any,
    dtype: Any,
    name: str,
    rg: bool,
    attributes: dict,
) -> Tensor:
    """The tensor that a pickle describes."""
    if strides is not None:
        root = lay(root, shape, dtype, offset, strides)
    root = dtypes.own(root)
    place = place_of(name)
    o = _as(cls, views.expanded(wrap(root if place is CPU else move(root, CPU, place), place)))
    o._rg = rg
    o.__dict__.update(attributes)
    return o


def _as(cls: type, t: Tensor) -> Tensor:
    """`t` as a tensor of a subclass."""
    return t if cls is Tensor else become(t, cls)


def _reduce(self: Tensor, protocol: Any) -> tuple:
    """What pickle keeps: the memory, and how the tensor lies in it."""
    a = self._data if not self._place.kind else move(self._data, self._place, CPU)
    root = _whole(a)
    strides = None if root is a else a.strides
    if root is a and not a.flags.c_contiguous:
        a = root = np.ascontiguousarray(a)
    offset = 0 if strides is None else start(a) - start(root)
    attributes = dict(self.__dict__)
    name = self._place.name
    rg = self.requires_grad
    return rebuild, (type(self), root, offset, a.shape, strides, a.dtype, name, rg, attributes)


def _deepcopy(self: Tensor, memo: dict) -> Tensor:
    """An independent copy of a leaf, its gradient and its attributes."""
    found = memo.get(id(self))
    if found is not None:
        return found
    if not self.is_leaf:
        raise RuntimeError(named(DEEPCOPY_OF_NON_LEAF))
    a = self._data
    root = a if self._place.kind else _whole(a)
    copied = memo.get(id(root))
    if copied is None:
        copied = memo[id(root)] = root.copy(order="K")
        memo.setdefault(id(memo), []).append(root)  # keeps the id from being given to another array
    o = _as(type(self), views.expanded(wrap(_seen_in(root, a, copied), self._place)))
    o._rg = self._rg
    memo[id(self)] = o
    if self._grad is not None:
        o._grad = copy.deepcopy(self._grad, memo)
    o.__dict__.update(copy.deepcopy(self.__dict__, memo))
    return o


def _copy(self: Tensor) -> Tensor:
    """Another tensor on the same memory; a leaf, as PyTorch's is."""
    o = _as(type(self), views.expanded(wrap(self._data, self._place)))
    o._rg = self.requires_grad
    o.__dict__.update(self.__dict__)
    return o


METHODS.update(__reduce_ex__=_reduce, __deepcopy__=_deepcopy, __copy__=_copy)
