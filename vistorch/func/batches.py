"""A function of single samples over a batch of them: `vmap`.

The function runs once for each sample and the results are stacked: right for every op, view, write and random number
that the function uses, and no faster than a loop.

Invariant: what a call gives is what the loop over the samples gives, under autograd too.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..engine.core.registry import FUNCTIONS
from ..engine.core.tensor import Tensor
from ..engine.random.generators import get_rng_state, set_rng_state
from .trees import LEAF, built, flat

__all__ = ["vmap"]

stack = FUNCTIONS["stack"]
NAME = "vmap"
DREW = (
    "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' "
    "randomness flags on vmap or perform the randomness operation out of vmap"
)


def vmap(
    func: Callable,
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable:
    """The function of batches that calls `func` with each sample and stacks what it gives.

    The samples go one after the other, so it is as fast as that loop, and no faster.

    Args:
        func: a function of single samples; gives tensors, or nested tuples, lists and dicts of them.
        in_dims: which dim of each argument counts the samples; None for what all samples share.
            Arguments given by name are shared.
        out_dims: which dim of each result is to count them.
        randomness: "different" for every sample, "same" for all, "error" to refuse random numbers.
        chunk_size: accepted; the samples go one by one.

    Example:
        >>> import vistorch
        >>> x = vistorch.arange(4.0).reshape(2, 2)
        >>> vistorch.func.vmap(vistorch.dot)(x, x)
        tensor([ 1., 13.])
        >>> vistorch.func.vmap(vistorch.func.grad(lambda v, w: (v * w).sum()), in_dims=(0, None))(x, x[0])
        tensor([[0., 1.],
                [0., 1.]])
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(
            f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}"
        )
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        leaves, form = flat(args)
        dims = _spread(in_dims, form, args)
        size = _size(func, in_dims, leaves, dims)
        state: Any = None if randomness == "different" else get_rng_state()
        results = []
        for i in range(size):
            if randomness == "same":
                set_rng_state(state)
            one = [_sample(x, d, i) for x, d in zip(leaves, dims, strict=True)]
            results.append(func(*built(form, one), **kwargs))
            if randomness == "error" and not get_rng_state().equal(state):
                set_rng_state(state)
                raise RuntimeError(DREW)
        return _stacked(func, results, out_dims)

    return wrapped


def _sample(x: Any, dim: int | None, i: int) -> Any:
    return x if dim is None else x.select(dim, i)


def _spread(dims: Any, form: Any, args: Any) -> list[int | None]:
    """One dim for each value of the arguments, where `in_dims` may stop earlier."""
    if not isinstance(dims, (int, tuple, list, dict)) and dims is not None:
        raise ValueError(
            f"vmap({NAME}, in_dims={dims}, ...)(<inputs>): expected `in_dims` to be int or a (potentially nested) "
            f"tuple matching the structure of inputs, got: {type(dims)}."
        )
    found: list[int | None] = []
    if not args:
        raise ValueError(
            "vmap(func)(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a "
            "function with no inputs. The latter is unsupported."
        )
    _walk(dims, form, found)
    return found


def _walk(dims: Any, form: Any, found: list) -> None:
    if dims is None or isinstance(dims, int):
        found += [dims] * _count(form)
        return
    if form is LEAF:
        raise ValueError(
            f"in_dims is not compatible with the structure of inputs: {dims!r} stands for one value"
        )
    _, keys, parts = form
    if keys is not None:
        inner = [dims[key] for key in keys] if isinstance(dims, dict) else None
    else:
        inner = list(dims) if isinstance(dims, (tuple, list)) else None
    if inner is None or len(inner) != len(parts):
        raise ValueError(
            "in_dims is not compatible with the structure of inputs: "
            f"{dims!r} for {len(parts)} {'argument' if len(parts) == 1 else 'arguments'}"
        )
    for one, part in zip(inner, parts, strict=True):
        _walk(one, part, found)


def _count(form: Any) -> int:
    return 1 if form is LEAF else sum(_count(part) for part in form[2])


def _size(func: Callable, in_dims: Any, leaves: list, dims: list) -> int:
    """How many samples there are; refuses dims that are not there, and sizes that differ."""
    label = getattr(func, "__name__", "func")
    here = f"vmap({label}, in_dims={in_dims}, ...)(<inputs>)"
    sizes = []
    for x, d in zip(leaves, dims, strict=True):
        if d is None:
            continue
        if not isinstance(x, Tensor):
            raise ValueError(
                f"{here}: Got in_dim={d} for an input but the input is of type {type(x)}. We cannot vmap over "
                "non-Tensor arguments, please use None as the respective in_dim"
            )
        if not -x.ndim <= d < x.ndim:
            raise ValueError(
                f"{here}: Got in_dim={d} for some input, but that input is a Tensor of dimensionality {x.ndim} so "
                f"expected in_dim to satisfy -{x.ndim} <= in_dim < {x.ndim}."
            )
        sizes.append(x.shape[d])
    if not sizes:
        raise ValueError(f"{here}: at least one input must have a dim to map over")
    if len(set(sizes)) > 1:
        raise ValueError(
            f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} for the "
            "mapped dimension"
        )
    if sizes[0] == 0:
        raise ValueError(
            "vmap: the mapped dimension has no samples, and a result of no samples has no known shape"
        )
    return sizes[0]


def _stacked(func: Callable, results: list, out_dims: Any) -> Any:
    """The results of all samples as one tree."""
    first, form = flat(results[0])
    columns: list[list] = [[] for _ in first]
    for result in results:
        values, other = flat(result)
        if other != form:
            raise ValueError("vmap: the function gave results of different structures for different samples")
        for column, value in zip(columns, values, strict=True):
            column.append(value)
    if isinstance(out_dims, int) or out_dims is None:
        dims: list = [out_dims] * len(first)
    elif form is LEAF and len(out_dims) == 1:
        dims = list(out_dims)
    else:
        dims = []
        _walk(tuple(out_dims) if isinstance(out_dims, list) else out_dims, form, dims)
    whole = []
    for column, dim in zip(columns, dims, strict=True):
        if not isinstance(column[0], Tensor):
            label = getattr(func, "__name__", "func")
            raise ValueError(
                f"vmap({label}, ...): `{label}` must only return Tensors, got type {type(column[0])}. Did you mean to "
                "set out_dims= to None for output?"
            )
        whole.append(column[0] if dim is None else stack(column, dim))
    return built(form, whole)
