"""Products over several dims, or of several tensors: tensordot, kron, chains, vecdot; and the trace.

Invariant: everything but `trace` is made of products of matrices and views, as PyTorch makes it.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from ...base import dims as _dims
from ...base import errors
from ...base.casting import casting
from ...base.errors import sizes
from ...core.op_factory import op
from ...core.registry import FUNCTIONS, METHODS, public
from ...core.tensor import Tensor
from ..create.arguments import type_name
from ..shape.rows import permute, reshape, unsafe_view, unsqueeze, view
from . import checks
from .out_types import ANY, CAST, CHAIN, TENSORDOT, Style, into
from .products import mm

trace_row = op(
    "trace",
    lambda xp, input: xp.trace(input, dtype="i8" if input.dtype.kind in "iu" else None),
    formula=r"\bar x = \bar y\, I",
    input=lambda F, g, input_shape: F.diagonal_backward(
        F.expand(g, (min(input_shape),)), input_shape, 0, 0, 1
    ),
)


@public()
def trace(input):
    """The sum of a matrix's diagonal.

    Args:
        input: the matrix.

    Example:
        >>> import vistorch
        >>> vistorch.trace(vistorch.tensor([[1, 2], [3, 4]]))
        tensor(5)
    """
    if casting.on and (recast := casting.ask(trace, locals())):
        return recast[0]
    checks.tensors("trace", input=input)
    checks.no_bool("trace", input)
    if input._data.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {input._data.ndim}")
    return trace_row(input)


@public(method=False)
def tensordot(a, b, dims: Any = 2, out=None):
    """The sums of products over several dims of two tensors.

    Args:
        a: the left tensor.
        b: the right tensor.
        dims: how many of the last dims of `a` meet the first of `b`; or two lists, the dims of each that meet.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.tensordot(vistorch.tensor([[1, 2], [3, 4]]), vistorch.tensor([1, 1]), dims=1)
        tensor([3, 7])
    """
    if casting.on and (recast := casting.ask(tensordot, locals())):
        return recast[0]
    for t, argument, position in ((a, "a", 1), (b, "b", 2)):
        if not isinstance(t, Tensor):
            raise errors.must_be_tensor("tensordot", argument, position, t)
    meant: Any = dims
    if isinstance(dims, Tensor):
        dims = METHODS["tolist"](dims)
    if isinstance(dims, (tuple, list)) and len(dims) == 2:
        left, right = dims
    elif isinstance(dims, int):
        count: int = dims
        if count < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={count}")
        if count > min(a._data.ndim, b._data.ndim):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={count}")
        left, right = list(range(-count, 0)), list(range(count))
    else:
        raise RuntimeError(
            "tensordot expects dims to be int or tuple[list[int], list[int]] or list[list[int]] containing two lists, "
            f"but got dims={meant}"
        )
    checks.tensors("tensordot", a=a, b=b)
    for name, given, position in (("dims_self", left, 3), ("dims_other", right, 4)):
        if not isinstance(given, (tuple, list)):
            kind = type(given).__name__
            raise TypeError(
                f"tensordot(): argument '{name}' (position {position}) must be tuple of ints, not {kind}"
            )
    if out is not None:
        return into(out, Style(None, TENSORDOT), (a, b), _contract, a, b, left, right)
    return _contract(a, b, left, right)


def _added(x: Any, dim: int) -> Tensor:
    return x.sum(dim, keepdim=True, dtype=x.dtype)


def _contract(a: Any, b: Any, left: Any, right: Any) -> Tensor:
    if len(left) != len(right):
        raise RuntimeError("both dimension lists should have same length")
    if a._data.dtype != b._data.dtype:
        raise RuntimeError("both inputs should have same dtype")
    p, q = _met(a, left), _met(b, right)
    x, y = a._data.shape, b._data.shape
    for i, j, given_i, given_j in zip(p, q, left, right, strict=True):
        if x[i] != y[j] and x[i] != 1 and y[j] != 1:
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {x[i]} in dim {given_i} and second has size "
                f"{y[j]} in dim {given_j}"
            )
        if x[i] != y[j]:  # one of them is 1: it meets the sum of the other
            a, b = (_added(a, i), b) if x[i] != 1 else (a, _added(b, j))
            x, y = a._data.shape, b._data.shape
    free_p = [i for i in range(len(x)) if i not in p]
    free_q = [j for j in range(len(y)) if j not in q]
    met = _size(x, p)
    if (
        not free_p and not free_q
    ):  # a number: under autocast a dot product keeps its type, a matrix product does not
        checks.no_bool("dot", a)
        number = FUNCTIONS["dot"](reshape(permute(a, p), (met,)), reshape(permute(b, q), (met,)))
        return view(number, ())
    u = reshape(permute(a, (*free_p, *p)), (_size(x, free_p), met))
    v = reshape(permute(b, (*q, *free_q)), (met, _size(y, free_q)))
    return view(mm(u, v), (*[x[i] for i in free_p], *[y[j] for j in free_q]))


def _met(t: Tensor, given: Any) -> tuple:
    """Dims that are summed, not negative and all different."""
    for dim in given:
        checks.dim_of(t, dim)
    return _dims.many(list(given), t._data.ndim)


def _size(shape: tuple, dims: Any) -> int:
    n = 1
    for i in dims:
        n *= shape[i]
    return n


@public()
def kron(input, other, *, out=None):
    """Every element of one tensor times the whole other one, side by side.

    Args:
        input: a tensor.
        other: a tensor.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.kron(vistorch.tensor([1, 10]), vistorch.tensor([1, 2]))
        tensor([ 1,  2, 10, 20])
    """
    checks.tensors("kron", input=input, other=other)
    if out is not None:
        return into(out, Style("mul", CAST, True), (input, other), kron, input, other)
    n = max(input._data.ndim, other._data.ndim)
    x, y = ((1,) * (n - t._data.ndim) + t._data.shape for t in (input, other))
    left = reshape(input, tuple(k for i in x for k in (i, 1)))
    right = reshape(other, tuple(k for j in y for k in (1, j)))
    return unsafe_view(left * right, tuple(i * j for i, j in zip(x, y, strict=True)))


def multi_dot(tensors, *, out=None):
    """The product of several matrices, in the order of fewest multiplications.

    Args:
        tensors: two or more; the first and the last may be vectors.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.linalg.multi_dot([vistorch.tensor([[1, 2]]), vistorch.tensor([[3], [4]])])
        tensor([[11]])
    """
    if casting.on and (recast := casting.ask(multi_dot, locals())):
        return recast[0]
    if not isinstance(tensors, (tuple, list)):
        raise TypeError(
            "linalg_multi_dot(): argument 'tensors' (position 1) must be tuple of Tensors, not "
            f"{errors.type_name(tensors)}"
        )
    n = len(tensors)
    if n < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {n}")
    if out is not None:
        return into(out, Style("mm", CHAIN), tuple(tensors), multi_dot, tensors)
    parts = list(tensors)
    for i, t in enumerate(parts):
        if not isinstance(t, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {type(t).__name__}")
    first, last = parts[0]._data, parts[-1]._data
    shape: tuple = ()
    for words, d in (("first", first), ("last", last)):
        if d.ndim not in (1, 2):
            raise RuntimeError(f"multi_dot(): the {words} tensor must be 1D or 2D but got {d.ndim}D")
    if first.ndim == 2:
        shape = (first.shape[0],)
    else:
        parts[0] = unsqueeze(parts[0], 0)
    if last.ndim == 2:
        shape = (*shape, last.shape[1])
    else:
        parts[-1] = unsqueeze(parts[-1], 1)
    for i, t in enumerate(parts):
        if t._data.ndim != 2:
            raise RuntimeError(f"multi_dot(): tensor {i} must be 2D but got {t._data.ndim}D")
        if t._data.dtype != first.dtype:
            raise RuntimeError(
                "multi_dot(): all tensors must have be the same dtype but tensor 0 is "
                f"{checks.native(parts[0])} and tensor {i} {checks.native(t)}"
            )
    for i, (x, y) in enumerate(pairwise(parts)):
        if x._data.shape[1] != y._data.shape[0]:
            raise RuntimeError(
                f"multi_dot(): tensors {i} and {i + 1} with shapes {sizes(tensors[i]._data.shape)} and "
                f"{sizes(tensors[i + 1]._data.shape)} cannot be multiplied"
            )
    return view(_chained(parts), shape)


def _chained(parts: list) -> Tensor:
    """The product in the cheapest order (dynamic programming over the cuts of every stretch)."""
    n = len(parts)
    size = [parts[0]._data.shape[0], *[t._data.shape[1] for t in parts]]
    cost: dict = {(i, i): (0, i) for i in range(n)}
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            cost[i, j] = min(
                (cost[i, k][0] + cost[k + 1, j][0] + size[i] * size[k + 1] * size[j + 1], k)
                for k in range(i, j)
            )

    def product(i: int, j: int) -> Tensor:
        if i == j:
            return parts[i]
        k = cost[i, j][1]
        return mm(product(i, k), product(k + 1, j))

    return product(0, n - 1)


@public(method=False)
def chain_matmul(*matrices, out=None):
    """The product of several matrices, in the order of fewest multiplications.

    Args:
        *matrices: one or more.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.chain_matmul(vistorch.tensor([[1, 2]]), vistorch.tensor([[3], [4]]))
        tensor([[11]])
    """
    if casting.on and (recast := casting.ask(chain_matmul, locals())):
        return recast[0]
    if len(matrices) == 1 and isinstance(matrices[0], (tuple, list)):
        matrices = tuple(matrices[0])
    if not matrices:
        raise RuntimeError("chain_matmul(): Expected one or more matrices")
    for at, t in enumerate(matrices):
        if not isinstance(t, Tensor):
            raise TypeError(f"expected Tensor as element {at} in argument 0, but got {type_name(t)}")
        if t._data.ndim != 2:
            raise RuntimeError(f"Tensor dimension is {t._data.ndim}, expected 2 instead.")
    if len(matrices) == 1:
        if out is not None:
            return into(out, ANY, matrices, METHODS["clone"], matrices[0])
        return METHODS["clone"](matrices[0])
    return multi_dot(matrices, out=out)


_VECDOT = Style("sum", "linalg.vecdot: Expected out of dtype{want} but found {got}")


def vecdot(x, y, *, dim=-1, out=None):
    """The sums of products along one dim, the first operand conjugated.

    Args:
        x: vectors along `dim`.
        y: vectors along `dim`.
        dim: the dim that is summed.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.linalg.vecdot(vistorch.tensor([1., 2.]), vistorch.tensor([3., 4.]))
        tensor(11.)
    """
    if casting.on and (recast := casting.ask(vecdot, locals())):
        return recast[0]
    checks.tensors("linalg_vecdot", x=x, y=y)
    if out is not None:
        return into(out, _VECDOT, (x, y), lambda: vecdot(x, y, dim=dim))
    if x._data.dtype.kind in "biu":
        raise RuntimeError(
            f"linalg.vecdot: Expected a floating point or complex tensor as input. Got {checks.scalar(x)}"
        )
    if x._data.dtype != y._data.dtype:
        raise RuntimeError(
            "linalg.vecdot: Expected x and y to have the same dtype, but found x of type "
            f"{checks.scalar(x)} and y of type {checks.scalar(y)} instead"
        )
    if x._data.ndim == 1 and y._data.ndim == 1:
        return FUNCTIONS["vdot"](x, y)
    return (METHODS["conj"](x) * y).sum(dim)
