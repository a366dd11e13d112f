"""Pointwise functions, softmax and layer normalisation by oneDNN.

Each function takes a row's plain kernel and returns the one to use. Invariant: arguments are those of the plain kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from .switch import onednn, sizes

F4 = np.dtype("f4")
Kernel = Callable[..., Any]


def one(name: str, least: str = "point") -> Callable[[Kernel], Kernel]:
    """A function of each element: `(input)`; `least`: which of `sizes` it begins at."""

    def make(plain: Kernel) -> Kernel:
        def run(x):
            if (
                x.size >= getattr(sizes, least)
                and x.dtype == F4
                and x.flags.forc
                and (onednn.on or onednn.ready())
            ):
                p = onednn.pointwise
                y = p.eltwise(getattr(p, name), x)
                if y is not None:
                    return y
            return plain(x)

        return run

    return make


def one_back(name: str, least: str = "point") -> Callable[[Kernel], Kernel]:
    """Its gradient: `(gradient, argument or result)`."""

    def make(plain: Kernel) -> Kernel:
        def run(g, x):
            if (
                x.size >= getattr(sizes, least)
                and x.dtype == F4
                and g.dtype == F4
                and x.flags.c_contiguous
                and g.flags.c_contiguous
                and g.shape == x.shape
                and (onednn.on or onednn.ready())
            ):
                p = onednn.pointwise
                d = p.eltwise_back(getattr(p, name), g, x)
                if d is not None:
                    return d
            return plain(g, x)

        return run

    return make


def _rows(x: Any, dim: int) -> bool:
    """Whether softmax goes along the last dim of a dense array large enough."""
    return (
        x.size >= sizes.point
        and x.dtype == F4
        and dim == x.ndim - 1
        and x.flags.c_contiguous
        and (onednn.on or onednn.ready())
    )


def softmax(name: str) -> Callable[[Kernel], Kernel]:
    """`(input, dim)`."""

    def make(plain: Kernel) -> Kernel:
        def run(x, dim):
            if _rows(x, dim):
                p = onednn.pointwise
                y = p.softmax(getattr(p, name), x)
                if y is not None:
                    return y
            return plain(x, dim)

        return run

    return make


def softmax_back(name: str) -> Callable[[Kernel], Kernel]:
    """`(gradient, result, dim)`."""

    def make(plain: Kernel) -> Kernel:
        def run(g, y, dim):
            if g.__class__ is np.ndarray and _rows(y, dim) and g.dtype == F4 and g.flags.c_contiguous:
                p = onednn.pointwise
                d = p.softmax_back(getattr(p, name), g, y)
                if d is not None:
                    return d
            return plain(g, y, dim)

        return run

    return make


def _vector(w: Any) -> Any:
    """A weight as a dense vector, or None where there is none."""
    return None if w.shape == (0,) else np.ascontiguousarray(w).reshape(-1)


def _of_rows(x: Any, count: int) -> Any:
    return np.ascontiguousarray(x).reshape(-1, prod(x.shape[x.ndim - count :]))


def layer_norm(plain: Kernel) -> Kernel:
    """`(input, weight, bias, how many dims, eps)`."""

    def run(x, weight, bias, count, eps):
        if (
            x.size >= sizes.layer
            and x.dtype == F4
            and weight.dtype == F4
            and bias.dtype == F4
            and onednn.ready()
        ):
            made = onednn.normalization.forward(_of_rows(x, count), _vector(weight), _vector(bias), eps)
            if made is not None:
                return made[0].reshape(x.shape), *made[1:]
        return plain(x, weight, bias, count, eps)

    return run


def group_norm(plain: Kernel) -> Kernel:
    """`(input, weight, bias, how many groups, eps)`: a group is a row to a layer norm, weights follow by channel."""

    def run(x, weight, bias, groups, eps):
        if x.size >= sizes.layer and x.dtype == weight.dtype == bias.dtype == F4 and onednn.ready():
            made = onednn.normalization.forward(
                np.ascontiguousarray(x).reshape(x.shape[0] * groups, -1), None, None, eps
            )
            if made is not None:
                out = made[0].reshape(*x.shape[:2], -1)
                for w, change in ((_vector(weight), np.multiply), (_vector(bias), np.add)):
                    if w is not None:
                        change(out, w[:, None], out=out)
                return out.reshape(x.shape), *[m.reshape(-1, groups) for m in made[1:]]
        return plain(x, weight, bias, groups, eps)

    return run


def layer_norm_gradients(plain: Kernel) -> Kernel:
    """All gradients of `layer_norm`."""

    def run(xp, g, wants, input, weight, out1, out2, weight_shape, bias_shape, count):
        if (
            xp is np
            and input.size >= sizes.layer
            and input.dtype == F4
            and g.dtype == F4
            and weight.dtype == F4
            and onednn.ready()
        ):
            made = onednn.normalization.backward(
                _of_rows(g, count), _of_rows(input, count), _vector(weight), bias_shape != (0,), out1, out2
            )
            if made is not None:
                shapes = input.shape, weight_shape, bias_shape
                return [
                    m.reshape(shape) if m is not None and wanted else None
                    for m, shape, wanted in zip(made, shapes, wants, strict=True)
                ]
        return plain(xp, g, wants, input, weight, out1, out2, weight_shape, bias_shape, count)

    return run
