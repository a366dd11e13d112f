"""A function of single samples over a batch of them: `vmap`.

The function runs once, with tensors that carry all samples and show the shape of one (`engine/batching`). Where it
looks at the memory of such a tensor, or draws a number for each sample, it runs once for each sample and the results
are stacked.

Invariant: what a call gives is what the loop over the samples gives, under autograd too.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..engine.base.errors import Unbatchable
from ..engine.batching import levels
from ..engine.core.registry import FUNCTIONS
from ..engine.core.tensor import Tensor
from ..engine.random.generators import get_rng_state, set_rng_state
from .trees import LEAF, built, flat

__all__ = ["vmap"]

cat, stack = FUNCTIONS["cat"], FUNCTIONS["stack"]
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

    The samples are computed at once, op by op. An op without a rule for that takes them one after the other; so does
    the whole call where `func` looks at the memory of a tensor, or draws other random numbers for each sample.

    Args:
        func: a function of single samples; gives tensors, or nested tuples, lists and dicts of them.
        in_dims: which dim of each argument counts the samples; None for what all samples share.
            Arguments given by name are shared.
        out_dims: which dim of each result is to count them.
        randomness: "different" for every sample, "same" for all, "error" to refuse random numbers.
        chunk_size: how many samples are computed at once; all if None.

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
        call = _Call(func, leaves, form, _spread(in_dims, form, args), kwargs, out_dims)
        size = _size(func, in_dims, leaves, call.dims)
        state: Any = get_rng_state()
        if call.batchable():
            try:
                return call.in_chunks(size, chunk_size or max(size, 1), state, randomness)
            except Unbatchable:
                set_rng_state(state)
        if not size:
            raise ValueError(
                "vmap: the mapped dimension has no samples, and a result of no samples has no known shape"
            )
        results = []
        for i in range(size):
            if randomness == "same":
                set_rng_state(state)
            one = [_sample(x, d, i) for x, d in zip(leaves, call.dims, strict=True)]
            results.append(func(*built(form, one), **kwargs))
            if randomness == "error" and not get_rng_state().equal(state):
                set_rng_state(state)
                raise RuntimeError(DREW)
        return _stacked(func, results, out_dims)

    return wrapped


class _Call:
    """One call of a function of samples, for all of them at once.

    Args:
        func: the function.
        leaves: the values of its arguments.
        form: how they are arranged.
        dims: for each value the dim that counts the samples, or None.
        kwargs: arguments by name.
        out_dims: as for `vmap`.
    """

    def __init__(
        self, func: Callable, leaves: list, form: Any, dims: list, kwargs: dict, out_dims: Any
    ) -> None:
        self.func, self.leaves, self.form, self.dims = func, leaves, form, dims
        self.kwargs, self.out_dims = kwargs, out_dims

    def batchable(self) -> bool:
        """Whether the tensors are where samples can be computed at once."""
        return all(levels.at_hand(x) for x, d in zip(self.leaves, self.dims, strict=True) if d is not None)

    def in_chunks(self, size: int, most: int, state: Any, randomness: str) -> Any:
        """The function of all samples, of at most so many at a time."""
        columns: list[list] = []
        form: Any = LEAF
        for start in range(0, size, most) if size else (0,):
            set_rng_state(state)
            values, form = self.at_once(start, min(most, size - start), size)
            if randomness != "same" and not get_rng_state().equal(state):
                if randomness == "different":
                    raise Unbatchable("random numbers for each sample")
                set_rng_state(state)
                raise RuntimeError(DREW)
            columns.append(values)
        if len(columns) == 1:
            return built(form, columns[0])
        dims = _out_dims(self.out_dims, form, len(columns[0]))
        return built(
            form,
            [
                parts[0] if d is None else cat(list(parts), d)
                for parts, d in zip(zip(*columns, strict=True), dims, strict=True)
            ],
        )

    def at_once(self, start: int, count: int, size: int) -> tuple[list, Any]:
        """The function of some samples, which it sees as one; the values of its result, and their form."""
        with levels.level(count) as level:
            inputs = []
            for x, d in zip(self.leaves, self.dims, strict=True):
                if d is not None:
                    x = x if count == size else x.narrow(d, start, count)
                    x = levels.entered(x, d % x.ndim, level)
                elif isinstance(x, Tensor) and levels.at_hand(x):
                    x = levels.shared(x, (level,))
                inputs.append(x)
            result = self.func(*built(self.form, inputs), **self.kwargs)
        values, form = flat(result)
        dims = _out_dims(self.out_dims, form, len(values))
        return [self.given_back(x, d, level) for x, d in zip(values, dims, strict=True)], form

    def given_back(self, x: Any, dim: int | None, level: levels.Level) -> Tensor:
        """One value of the result with a dim that counts the samples."""
        label = _check_result(self.func, x)
        if dim is not None:
            rank = x.ndim + 1
            if not -rank <= dim < rank:
                raise IndexError(
                    f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})"
                )
            return levels.left(x, dim % rank, level)
        own = levels.levels_of(x._place)
        if level in own:
            if x._data.lanes[own.index(level)] != 1:
                raise ValueError(
                    f"vmap({label}, ...): `{label}` can not return a BatchedTensor when out_dim is None"
                )
            return levels.left(x, 0, level)[0]
        return x


def _check_result(func: Callable, x: Any) -> str:
    label = getattr(func, "__name__", "func")
    if not isinstance(x, Tensor):
        raise ValueError(
            f"vmap({label}, ...): `{label}` must only return Tensors, got type {type(x)}. Did you mean to "
            "set out_dims= to None for output?"
        )
    return label


def _out_dims(out_dims: Any, form: Any, count: int) -> list:
    """One dim for each value of a result."""
    if isinstance(out_dims, int) or out_dims is None:
        return [out_dims] * count
    if form is LEAF and len(out_dims) == 1:
        return list(out_dims)
    dims: list = []
    _walk(tuple(out_dims) if isinstance(out_dims, list) else out_dims, form, dims)
    return dims


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
    dims = _out_dims(out_dims, form, len(first))
    whole = []
    for column, dim in zip(columns, dims, strict=True):
        _check_result(func, column[0])
        if any(x.shape != column[0].shape for x in column):
            raise RuntimeError(
                "vmap: We do not support batching operators that can output dynamic shape: the samples give results of "
                f"the sizes {sorted({tuple(x.shape) for x in column})}. Use where(), or a mask of fixed size."
            )
        whole.append(column[0] if dim is None else stack(column, dim))
    return built(form, whole)
