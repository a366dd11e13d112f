"""Gradients kept from growing too large: their common norm, or each value.

Invariant: a gradient is read once for its norm and written once, and no number is fetched from a device unless
`error_if_nonfinite` asks for it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from types import GeneratorType
from typing import Any

import numpy as np

from ...engine.base.events import listeners
from ...engine.base.modes import no_grad
from ...engine.base.numpy_warnings import hushed
from ...engine.core import views
from ...engine.core.graph import version
from ...engine.core.registry import FUNCTIONS
from ...engine.core.tensor import Tensor, wrap
from ...engine.library_name import library
from ...linalg import vector_norm

__all__ = ["clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm"]

clamp, stack, make = FUNCTIONS["clamp"], FUNCTIONS["stack"], FUNCTIONS["tensor"]
PLAIN = frozenset((np.dtype("f4"), np.dtype("f8")))
SMALL = 4096
EMPTY = "`parameters` is an empty generator, no gradient clipping will occur."


def _listed(tensors: Any) -> list[Tensor]:
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


def _grads(parameters: Iterable[Tensor]) -> list[Tensor]:
    """The gradients that are there."""
    return [g for g in [p.grad for p in parameters] if g is not None]


@no_grad()
def get_total_norm(
    tensors: Any, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None
) -> Tensor:
    """The norm of all tensors as if they were one vector.

    Args:
        tensors: a tensor or an iterable of tensors.
        norm_type: which norm; `inf` for the greatest absolute value.
        error_if_nonfinite: refuse a norm that is infinite or not a number.
        foreach: accepted; there is one implementation.

    Example:
        >>> import vistorch
        >>> vistorch.nn.utils.get_total_norm([vistorch.tensor([3.0]), vistorch.tensor([4.0])])
        tensor(5.)
    """
    tensors = _listed(tensors)
    order = float(norm_type)
    if not tensors:
        return make(0.0)
    total = _length(tensors) if order == 2.0 else None
    if total is None:
        norms = [vector_norm(t, order) for t in tensors]
        if any(n._place is not norms[0]._place for n in norms):
            norms = [n.to(norms[0].device) for n in norms]
        total = vector_norm(stack(norms), order)
    if error_if_nonfinite and not bool(total.isfinite()):
        raise RuntimeError(
            f"The total norm of order {order} for gradients from `parameters` is non-finite, so it cannot be clipped. "
            "To disable this error and scale the gradients by the non-finite norm anyway, set "
            "`error_if_nonfinite=False`"
        )
    return total


def _length(tensors: list[Tensor]) -> Tensor | None:
    """The Euclidean norm, where all tensors are of one plain type, in one place and flat in memory; else None."""
    first = tensors[0]
    place, dtype = first._place, first._data.dtype
    if dtype not in PLAIN:
        return None
    arrays = [t._data for t in tensors]
    for t, a in zip(tensors, arrays, strict=True):
        if t._place is not place or a.dtype != dtype or not a.flags.c_contiguous:
            return None
    xp = place.xp
    with place:
        return wrap(hushed(_root_of_squares, xp, [a.reshape(-1) for a in arrays]), place)


def _root_of_squares(xp: Any, flat: list) -> Any:
    return xp.sqrt(xp.asarray([xp.dot(a, a) for a in flat]).sum())


@no_grad()
def clip_grads_with_norm_(
    parameters: Any, max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Scale the gradients down so that a norm which is known already becomes at most `max_norm`.

    Args:
        parameters: a tensor or an iterable of tensors that have gradients.
        max_norm: the greatest norm to leave.
        total_norm: the norm of the gradients, as `get_total_norm` gives it.
        foreach: accepted; there is one implementation.

    Example:
        >>> import vistorch
        >>> w = vistorch.ones(2, requires_grad=True)
        >>> w.grad = vistorch.tensor([3.0, 4.0])
        >>> vistorch.nn.utils.clip_grads_with_norm_(w, 1.0, vistorch.nn.utils.get_total_norm(w.grad))
        >>> w.grad
        tensor([0.6000, 0.8000])
    """
    grads = _grads(_listed(parameters))
    limit = float(max_norm)
    if not grads:
        return
    # Multiplied also where it is 1: to know, one would have to wait for the device.
    divisor: Any = total_norm + 1e-6
    factor = clamp(limit / divisor, max=1.0)
    for g in grads:
        g.mul_(factor if g._place is factor._place else factor.to(g.device))


@no_grad()
def clip_grad_norm_(
    parameters: Any,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale all gradients by one factor, so that their common norm is at most `max_norm`; returns the norm before.

    Args:
        parameters: a tensor or an iterable of tensors that have gradients.
        max_norm: the greatest norm to leave.
        norm_type: which norm; `inf` for the greatest absolute value.
        error_if_nonfinite: refuse a norm that is infinite or not a number.
        foreach: accepted; there is one implementation.

    Example:
        >>> import vistorch
        >>> p = vistorch.nn.Parameter(vistorch.zeros(2))
        >>> p.grad = vistorch.tensor([3.0, 4.0])
        >>> vistorch.nn.utils.clip_grad_norm_([p], 1.0)
        tensor(5.)
        >>> p.grad
        tensor([0.6000, 0.8000])
    """
    listed = _listed(parameters)
    if not listed and isinstance(parameters, GeneratorType):
        warnings.warn(EMPTY, stacklevel=3)
    if (emit := listeners.phase) is not None:
        emit("clip", listed, max_norm)
    total = get_total_norm(_grads(listed), norm_type, error_if_nonfinite, foreach)
    clip_grads_with_norm_(listed, max_norm, total, foreach)
    return total


def clip_grad_norm(
    parameters: Any,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The old name of `clip_grad_norm_`.

    Args:
        parameters: a tensor or an iterable of tensors that have gradients.
        max_norm: the greatest norm to leave.
        norm_type: which norm.
        error_if_nonfinite: refuse a norm that is infinite or not a number.
        foreach: accepted.

    Example:
        >>> import vistorch, warnings
        >>> w = vistorch.ones(2, requires_grad=True)
        >>> w.grad = vistorch.tensor([3.0, 4.0])
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     vistorch.nn.utils.clip_grad_norm(w, 1.0)
        tensor(5.)
    """
    warnings.warn(
        f"`{library}.nn.utils.clip_grad_norm` is now deprecated in favor of `{library}.nn.utils.clip_grad_norm_`.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


@no_grad()
def clip_grad_value_(parameters: Any, clip_value: float, foreach: bool | None = None) -> None:
    """Bring each value of the gradients between `-clip_value` and `clip_value`.

    Args:
        parameters: a tensor or an iterable of tensors that have gradients.
        clip_value: the greatest absolute value to leave.
        foreach: accepted; there is one implementation.

    Example:
        >>> import vistorch
        >>> p = vistorch.nn.Parameter(vistorch.zeros(2))
        >>> p.grad = vistorch.tensor([-3.0, 0.5])
        >>> vistorch.nn.utils.clip_grad_value_(p, 1.0)
        >>> p.grad
        tensor([-1.0000,  0.5000])
    """
    limit, listed = float(clip_value), _listed(parameters)
    if (emit := listeners.phase) is not None:
        emit("clip", listed, limit)
    for g in _grads(listed):
        if g._data.dtype not in PLAIN:
            g.clamp_(-limit, limit)
            continue
        views.before_write(g, False)
        with g._place:
            _clip(g._place.xp, g._data, limit)
        version(g).n += 1
        if (emit := listeners.write) is not None:
            emit(g, None)


def _clip(xp: Any, d: Any, limit: float) -> None:
    """Bring an array between two numbers, in its memory."""
    if d.size < SMALL:  # numpy's clip takes longer to begin than two passes over so little
        xp.maximum(d, -limit, out=d)
        xp.minimum(d, limit, out=d)
    else:
        xp.clip(d, -limit, limit, out=d)
