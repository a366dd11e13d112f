"""Public views that keep the elements and change how they are counted: select, squeeze, transpose and the like.

Invariant: every result is memory of its input; nothing here copies.
"""

from __future__ import annotations

import functools
from typing import Any

from ...base import errors
from ...base.dims import many, one, sequence, sizes, whole
from ...core.registry import METHODS, expose, public
from ...core.tensor import Tensor
from . import rows

select_of, slice_of, squeeze_of, squeeze_dim_of, unsqueeze_of, transpose_of, permute_of = [
    row.of
    for row in (
        rows.select,
        rows.slice_,
        rows.squeeze,
        rows.squeeze_dim,
        rows.unsqueeze,
        rows.transpose,
        rows.permute,
    )
]


def tensor(t: Any, func: str, name: str = "input", position: int = 1) -> Any:
    """The array of an argument that must be a tensor."""
    try:
        return t._data
    except AttributeError:
        raise errors.must_be_tensor(func, name, position, t) from None


@public()
def select(input: Tensor, dim: int, index: int) -> Tensor:
    """The slice at one index of a dim, without that dim.

    Args:
        input: the tensor.
        dim: which dim.
        index: where in it; negative from the end.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([[1, 2], [3, 4]]).select(1, 0)
        tensor([1, 3])
    """
    d = tensor(input, "select")
    at = selected(d.shape, dim, index)
    return select_of(input, d[rows.key(at[0], at[1])], at)


def selected(shape: tuple, dim: Any, index: Any) -> tuple[int, int]:
    """Dim and index of a `select`, checked."""
    if not shape:
        whole(dim, "select", "dim", 1)
        whole(index, "select", "index", 2)
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    at = whole(index, "select", "index", 2)
    dim = one(dim, len(shape), "select")
    n = shape[dim]
    if not -n <= at < n:
        raise IndexError(
            f"select(): index {at} out of range for tensor of size {errors.sizes(shape)} at dimension {dim}"
        )
    return dim, at + n if at < 0 else at


@public()
def narrow(input: Tensor, dim: int, start: int | Tensor, length: int) -> Tensor:
    """A stretch of one dim.

    Args:
        input: the tensor.
        dim: which dim.
        start: where the stretch begins; negative from the end.
        length: how long it is.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([1, 2, 3, 4]).narrow(0, 1, 2)
        tensor([2, 3])
    """
    d = tensor(input, "narrow")
    shape = d.shape
    if not shape:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    dim, length = whole(dim, "narrow", "dim", 1), whole(length, "narrow", "length", 3)
    if isinstance(start, Tensor) and (start._data.ndim or start._data.dtype.kind not in "iu"):
        raise RuntimeError("start must be an 0-dim integral Tensor.")
    if isinstance(start, Tensor) and start._place.kind == errors.BATCHED:
        raise errors.Unbatchable("a start of each sample's own")
    at = whole(start, "narrow", "start", 2)
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    dim = one(dim, len(shape), "narrow")
    n = shape[dim]
    if not -n <= at <= n:
        raise IndexError(f"start out of range (expected to be in range of [{-n}, {n}], but got {at})")
    at = at + n if at < 0 else at
    if at + length > n:
        raise RuntimeError(f"start ({at}) + length ({length}) exceeds dimension size ({n}).")
    return slice_of(input, d[rows.key(dim, slice(at, at + length))], (dim, at, at + length, 1))


@public(method=False)
def squeeze(input: Tensor, dim: Any = ...) -> Tensor:
    """The tensor without its dims of length one, or without those among `dim`.

    Args:
        input: the tensor.
        dim: one dim or several; all where it is not given. A dim of another length stays.

    Example:
        >>> import vistorch
        >>> x = vistorch.zeros(1, 3, 1)
        >>> x.squeeze().shape, x.squeeze(0).shape
        (vistorch.Size([3]), vistorch.Size([3, 1]))
    """
    d = tensor(input, "squeeze")
    shape = d.shape
    if dim is ...:
        ones = tuple([i for i, n in enumerate(shape) if n == 1]) if 1 in shape else ()
        return squeeze_of(input, d.squeeze(ones), (ones,))
    if dim.__class__ is int and -len(shape) <= dim < len(shape):
        if dim < 0:
            dim += len(shape)
        ones = (dim,) if shape[dim] == 1 else ()
        return squeeze_dim_of(input, d.squeeze(ones), (ones,))
    if isinstance(dim, Tensor) and dim._data.ndim:
        raise TypeError(
            "squeeze() received an invalid combination of arguments - got (Tensor, Tensor): a dim is an int"
        )
    found = many(dim, len(shape), "squeeze")
    row = rows.squeeze_dims if isinstance(dim, (tuple, list)) else rows.squeeze_dim
    return row(input, tuple([i for i in found if shape and shape[i] == 1]))


@public()
def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """The tensor with a new dim of length one.

    Args:
        input: the tensor.
        dim: where the new dim will be.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([1, 2]).unsqueeze(-1).shape
        vistorch.Size([2, 1])
    """
    d = tensor(input, "unsqueeze")
    dim = one(dim, d.ndim + 1, "unsqueeze")
    return unsqueeze_of(input, d[rows.key(dim, None)], (dim,))


@public()
def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """The tensor with two dims exchanged.

    Args:
        input: the tensor.
        dim0: one dim.
        dim1: the other.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([[1, 2], [3, 4]]).transpose(0, 1)
        tensor([[1, 3],
                [2, 4]])
    """
    d = tensor(input, "transpose")
    n = d.ndim
    if dim0.__class__ is not int or not 0 <= dim0 < n:
        dim0 = one(dim0, n, "transpose", "dim0")
    if dim1.__class__ is not int or not 0 <= dim1 < n:
        dim1 = one(dim1, n, "transpose", "dim1", 2)
    return transpose_of(input, d.swapaxes(dim0, dim1) if n else d[...], (dim0, dim1))


expose(transpose, "swapdims")


@public()
def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """`transpose`, with numpy's name.

    Args:
        input: the tensor.
        axis0: one dim.
        axis1: the other.

    Example:
        >>> import vistorch
        >>> vistorch.swapaxes(vistorch.zeros(2, 3), 0, 1).shape
        vistorch.Size([3, 2])
    """
    return transpose(input, axis0, axis1)


def permuted(input: Tensor, dims: tuple) -> Tensor:
    """`permute` once the dims are a tuple."""
    d = tensor(input, "permute")
    n = d.ndim
    if len(dims) != n:
        sizes(dims, "permute", "dims")
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {n} is not equal to len(dims) = {len(dims)}"
        )
    order = dims
    for dim in dims:
        if dim.__class__ is not int or not 0 <= dim < n:
            order = tuple([one(dim, n) for dim in dims])
            break
    try:
        made = d.transpose(order)
    except ValueError:
        raise RuntimeError("permute(): duplicate dims are not allowed.") from None
    return permute_of(input, made, (order,))


@public(method=False)
def permute(input: Tensor, dims: tuple[int, ...]) -> Tensor:
    """The tensor with its dims in another order.

    Args:
        input: the tensor.
        dims: for each dim of the result, which dim of the input it is.

    Example:
        >>> import vistorch
        >>> vistorch.zeros(2, 3, 4).permute(2, 0, 1).shape
        vistorch.Size([4, 2, 3])
    """
    return permuted(input, dims if dims.__class__ is tuple else sequence(dims, "permute", "dims"))


def _permute(self: Tensor, *dims: Any, **named: Any) -> Tensor:
    """The tensor with its dims in another order.

    Args:
        self: the tensor.
        *dims: for each dim of the result, which dim of this tensor it is, one by one or as one sequence.
        **named: `dims`, where they are not given by position.

    Example:
        >>> import vistorch
        >>> vistorch.zeros(2, 3, 4).permute(2, 0, 1).shape
        vistorch.Size([4, 2, 3])
    """
    if not named and len(dims) > 1:
        for dim in dims:
            if dim.__class__ is not int:
                break
        else:
            return permuted(self, dims)
    return permuted(self, sizes(given(dims, named, "permute", "dims"), "permute", "dims"))


def given(values: tuple, named: dict, func: str, name: str) -> tuple:
    """What a method was given as `*name` or as `name=`."""
    if named:
        if set(named) != {name} or values:
            key = next((k for k in named if k != name), name)
            said = "got multiple values for argument" if key == name else "got an unexpected keyword argument"
            raise TypeError(f"{func}() {said} '{key}'")
        return (named[name],)
    if not values:
        raise TypeError(f'{func}() missing 1 required positional arguments: "{name}"')
    return values


def one_by_one(fn: Any) -> Any:
    """The method of a function of one sequence of ints: it takes them as several arguments too."""

    @functools.wraps(fn)
    def call(self: Tensor, *args: Any, **named: Any) -> Any:
        return fn(self, *args, **named) if len(args) < 2 else fn(self, args, **named)

    return call


METHODS["permute"] = _permute
METHODS["squeeze"] = one_by_one(squeeze)


@public()
def movedim(input: Tensor, source: Any, destination: Any) -> Tensor:
    """The tensor with some dims at other places; the rest keeps its order.

    Args:
        input: the tensor.
        source: the dims to move.
        destination: where each of them goes.

    Example:
        >>> import vistorch
        >>> vistorch.zeros(2, 3, 4).movedim(0, -1).shape
        vistorch.Size([3, 4, 2])
    """
    d = tensor(input, "movedim")
    n = d.ndim
    if source.__class__ is int and destination.__class__ is int and n:
        order = list(range(n))
        order.insert(one(destination, n, "movedim"), order.pop(one(source, n, "movedim")))
        return permute_of(input, d.transpose(order), (tuple(order),))
    if not isinstance(source, (tuple, list)) or not isinstance(destination, (tuple, list)):
        source = (whole(source, "movedim", "source", 2),)
        destination = (whole(destination, "movedim", "destination", 3),)
    source, destination = tuple(source), tuple(destination)
    if len(source) != len(destination):
        raise RuntimeError(
            "movedim: Invalid source or destination dims: source "
            f"({errors.sizes(source)} dims) should contain the same number of dims as destination "
            f"({errors.sizes(destination)} dims)"
        )
    p, q = [one(d, n, "movedim") for d in source], [one(d, n, "movedim") for d in destination]
    for dims, label, said in ((p, "source", source), (q, "destination", destination)):
        if len(set(dims)) != len(dims):
            raise RuntimeError(f"movedim: repeated dim in `{label}` ({errors.sizes(said)})")
    return rows.permute(input, _moved(p, q, n) if n else ())


def _moved(source: list, destination: list, n: int) -> tuple:
    """Which dim comes to each place when some are moved."""
    order = [d for d in range(n) if d not in source]
    for at, dim in sorted(zip(destination, source, strict=True)):
        order.insert(at, dim)
    return tuple(order)


expose(movedim, "moveaxis")
