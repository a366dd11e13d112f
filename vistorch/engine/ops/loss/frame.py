"""What every loss needs around its row: the reduction, its share in the gradient, checked arguments.

Invariant: a row's constant `reduction` is PyTorch's number for it: NONE, MEAN or SUM.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from ...base import dims, dtypes, errors
from ...base.modes import mode
from ...core import type_promotion
from ...core.graph import sync_rg
from ...core.pointwise_nary import fast_path
from ...core.tensor import Tensor
from ...kernels import totals

NONE, MEAN, SUM = range(3)
_BLOCK = 1 << 14
_add: Any = np.add.reduce


def reduced(xp: Any, loss: Any, reduction: int) -> Any:
    """The losses of all elements as they are, their mean or their sum."""
    if reduction == NONE:
        return loss
    total = totals.everything(xp, loss)
    return total / loss.dtype.type(loss.size) if reduction == MEAN else total


def over(xp: Any, each: Callable, reduction: int, *arrays: Any) -> Any:
    """`reduced` of `each(xp, *arrays)`, an elementwise function that may write into its own temporaries only.

    Large arrays are walked through in blocks that fit the cache.
    """
    first = arrays[0]
    n = first.size
    if n <= _BLOCK or xp is not np:
        return reduced(xp, each(xp, *arrays), reduction)
    for a in arrays:
        if a.ndim and (a.shape != first.shape or not a.flags.c_contiguous):
            return reduced(xp, each(xp, *arrays), reduction)
    flat = [a.reshape(-1) if a.ndim else a for a in arrays]
    out, sums = None, []
    for start in range(0, n, _BLOCK):
        block = each(xp, *[a[start : start + _BLOCK] if a.ndim else a for a in flat])
        if reduction != NONE:
            sums.append(_add(block))
            continue
        if out is None:
            out = np.empty(n, block.dtype)
        out[start : start + _BLOCK] = block
    if out is not None:
        return out.reshape(first.shape)
    total = _add(np.asarray(sums))
    return total / total.dtype.type(n) if reduction == MEAN else total


def part(g: Any, reduction: int, shape: tuple) -> Any:
    """The gradient of one element's loss, if `g` is that of the reduced one."""
    return g * (1 / (prod(shape) or 1)) if reduction == MEAN else g


def finished(loss: Tensor, reduction: int) -> Tensor:
    """`reduced` of a tensor, in PyTorch's graph: what losses made of other ops end with."""
    if reduction == MEAN:
        return loss.mean()
    return loss.sum() if reduction == SUM else loss


def tensors(name: str, **given: Any) -> None:
    """PyTorch's TypeError for an argument that is no Tensor; in the order of its signature."""
    for at, (label, t) in enumerate(given.items()):
        if not isinstance(t, Tensor):
            raise errors.must_be_tensor(name, label, at + 1, t)


def optional(name: str, label: str, position: int, t: Any) -> None:
    """The same for an argument that may be None."""
    if t is not None and not isinstance(t, Tensor):
        raise errors.must_be_tensor(name, label, position, t)


def whole(name: str, label: str, position: int, value: Any) -> int:
    """An int argument."""
    return value if value.__class__ is int else dims.whole(value, name, label, position)


def real(name: str, label: str, position: int, value: Any, kind: str = "float") -> float:
    """A float argument; PyTorch calls some of them Number."""
    found = type_promotion.number(value)
    if found is None and isinstance(value, Tensor) and value._data.ndim == 0 and not value.requires_grad:
        found = value.item()
    if found is None or isinstance(found, complex):
        given = errors.type_name(value) if value is not None else "NoneType"
        raise TypeError(f"{name}(): argument '{label}' (position {position}) must be {kind}, not {given}")
    return found if kind == "Number" else float(found)


def no_gradient(name: str, label: str, t: Tensor) -> None:
    """Refuse an operand that PyTorch has no derivative for."""
    if mode.on and sync_rg(t):
        raise RuntimeError(
            f"The function '{name}' is not differentiable with respect to argument '{label}'. This input cannot have "
            "requires_grad True."
        )


def fits(other: Tensor, t: Tensor, first: bool = False) -> None:
    """Refuse an operand that would make the result larger than `t`; `first`: it stands before `t`."""
    a, b = t._data.shape, other._data.shape
    if a == b:
        return
    said = errors.broadcast(b, a) if first else errors.broadcast(a, b)
    if said is not None:
        raise RuntimeError(said)
    shape = np.broadcast_shapes(a, b)
    if shape != a:
        raise RuntimeError(
            f"output with shape {errors.sizes(a)} doesn't match the broadcast shape {errors.sizes(shape)}"
        )


def label_of(t: Tensor) -> str:
    """The name of a tensor's type in PyTorch's messages: Float, Long, ..."""
    return dtypes.of(t._data.dtype).scalar_name


def same_type(input: Tensor, other: Tensor) -> None:
    """Refuse an operand of another type, as kernels do that read raw memory."""
    if input._data.dtype != other._data.dtype:
        raise RuntimeError(f"expected scalar type {label_of(input)} but found {label_of(other)}")


def pairwise(row: Any, check: Callable, of_input: bool = False) -> Callable:
    """A row of an input and a target of one shape, as a function (input, target, *constants).

    Args:
        row: what `op` gave.
        check: called with the promoted numpy dtype; raises PyTorch's sentence for what the row refuses.
        of_input: the result has the type of `input`, whatever the target's.
    """
    rule = row.rule
    quick = fast_path(rule)

    def call(input: Tensor, target: Tensor, *consts: Any) -> Tensor:
        done = quick((input, target), consts)
        if done is not None:
            return done
        common = type_promotion.result_type(input, target)
        if of_input:
            dtypes.check_cast(common, input._data.dtype)
        check(common)
        if of_input:
            common = input._data.dtype
        return type_promotion.several(rule, (input, target), consts, None, common)

    return call
