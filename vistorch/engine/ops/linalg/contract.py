"""Products of more than two dims, or of more than two tensors: tensordot, kron, cross, trace, cdist, chains.

Invariant: everything but `trace`, `cross` and `cdist` is made of `mm` and views, as PyTorch makes it.
"""

from __future__ import annotations

from itertools import pairwise
from math import inf
from typing import Any

from ... import dims as _dims
from ...call import op
from ...errors import sizes
from ...face import FUNCTIONS, METHODS, public
from ...tensor import Tensor
from ..core import expand
from ..reduce.norms import vector_norm_dims
from ..shape.rows import permute, reshape, unsafe_view, unsqueeze, view
from . import checks
from .into import ANY, CAST, CHAIN, TENSORDOT, Style, into
from .products import mm

trace_row = op(
    "trace",
    lambda xp, input: xp.trace(input, dtype="i8" if input.dtype.kind in "iu" else None),
    formula=r"\bar x = \bar y\, I",
    input=lambda F, g, input_shape: F.diagonal_backward(
        F.expand(g, (min(input_shape),)), input_shape, 0, 0, 1
    ),
)
cross_row = op(
    "linalg_cross",
    lambda xp, input, other, dim: xp.ascontiguousarray(xp.cross(input, other, axis=dim)),
    inputs="input other",
    formula={"input": r"\bar x = y \times \bar z", "other": r"\bar y = \bar z \times x"},
    input=lambda F, g, other, dim: F.linalg_cross(*_alike(F, other, g), dim),
    other=lambda F, g, input, dim: F.linalg_cross(*_alike(F, g, input), dim),
)


def _alike(F: Any, x: Any, y: Any) -> tuple:
    """Both with the shape they broadcast to."""
    if x.shape == y.shape:
        return x, y
    shape = checks.broadcast(tuple(x.shape), tuple(y.shape))
    return F.expand(x, shape), F.expand(y, shape)


def _apart(F: Any, x1: Any, x2: Any) -> Any:
    return F.unsqueeze(x1, x1.ndim - 1) - F.unsqueeze(x2, x2.ndim - 2)


def _cdist_gradient(F: Any, g: Any, x1: Any, x2: Any, p: Any, out: Any) -> Any:
    """Of all differences, before they are summed over the other side's points."""
    last = g.ndim
    g, out, x = F.unsqueeze(g, last), F.unsqueeze(out, last), _apart(F, x1, x2)
    if p == 0:
        return None
    if p == inf:  # as in PyTorch, each of several largest differences gets it all
        return F.signed_power(x, 0.0) * F.eq(F.abs(x), out) * g
    return F.signed_power(x, p - 1) * (g * F.size_power(out, 1 - p))


def _cdist(xp, x1, x2, p):
    if x1.shape[-1] == 0:
        batch = checks.broadcast(x1.shape[:-2], x2.shape[:-2])
        return xp.zeros((*batch, x1.shape[-2], x2.shape[-2]), x1.dtype)
    x = x1[..., :, None, :] - x2[..., None, :, :]
    return vector_norm_dims.rule.kernel(xp, x, p, (x.ndim - 1,), False)


cdist_row = op(
    "cdist",
    _cdist,
    inputs="x1 x2",
    holomorphic=False,
    formula={
        "x1": r"\bar a_i = \textstyle\sum_j \bar d_{ij}\, \partial d_{ij} / \partial a_i",
        "x2": r"\bar b_j = \textstyle\sum_i \bar d_{ij}\, \partial d_{ij} / \partial b_j",
    },
    x1=lambda F, g, x1, x2, p, out: _summed(F, _cdist_gradient(F, g, x1, x2, p, out), 1),
    x2=lambda F, g, x1, x2, p, out: _summed(F, _cdist_gradient(F, -g, x1, x2, p, out), 2),
)


def _summed(F: Any, d: Any, which: int) -> Any:
    """Sum (*, i, j, k) over j (which 1) or i (which 2)."""
    if d is None:
        return None
    shape = tuple(d.shape)
    kept = (*shape[:-2], 1, shape[-1]) if which == 1 else (*shape[:-3], 1, *shape[-2:])
    return F.squeeze_dim(F.sum_to(d, kept), (d.ndim - 1 - which,))


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
    checks.tensors("trace", input=input)
    checks.no_bool("trace", input)
    if input._data.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {input._data.ndim}")
    return trace_row(input)


@public(method=False)
def tensordot(a, b, dims=2, out=None):
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
    meant = dims
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, (tuple, list)) and len(dims) == 2:
        left, right = dims
    elif dims.__class__ is int:
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a._data.ndim, b._data.ndim):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        left, right = list(range(-dims, 0)), list(range(dims))
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


def _contract(a: Tensor, b: Tensor, left: Any, right: Any) -> Tensor:
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
            a, b = (a.sum(i, keepdim=True), b) if x[i] != 1 else (a, b.sum(j, keepdim=True))
            x, y = a._data.shape, b._data.shape
    free_p = [i for i in range(len(x)) if i not in p]
    free_q = [j for j in range(len(y)) if j not in q]
    if not free_p and not free_q:
        checks.no_bool("dot", a)
    met = _size(x, p)
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


def linalg_cross(input, other, *, dim=-1, out=None):
    """The vector product of three-dimensional vectors.

    Args:
        input: vectors along `dim`.
        other: vectors along `dim`.
        dim: the dim of size 3.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.linalg.cross(vistorch.tensor([1, 0, 0]), vistorch.tensor([0, 1, 0]))
        tensor([0, 0, 1])
    """
    checks.tensors("linalg_cross", input=input, other=other)
    if out is not None:
        return into(out, Style("linalg_cross"), (input, other), lambda: linalg_cross(input, other, dim=dim))
    x, y = input._data, other._data
    if x.ndim != y.ndim:
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    if x.ndim == 0:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    at = _dims.one(dim, x.ndim)
    if x.shape[at] != 3 or y.shape[at] != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {x.shape[at]} and {y.shape[at]}"
        )
    shape = checks.broadcast(x.shape, y.shape)
    checks.no_bool("cross", input)
    checks.same_scalar(input, other)
    checks.same_place("cross", input, other)
    pair = [t if t._data.shape == shape else expand(t, shape) for t in (input, other)]
    return cross_row(*pair, at)


@public()
def cross(input, other, dim=None, *, out=None):
    """The vector product of three-dimensional vectors; without `dim`, along the first dim of size 3.

    Args:
        input: vectors along `dim`.
        other: vectors along `dim`.
        dim: the dim of size 3.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.cross(vistorch.tensor([1, 0, 0]), vistorch.tensor([0, 1, 0]), dim=0)
        tensor([0, 0, 1])
    """
    checks.tensors("cross", input=input, other=other)
    if dim is None:
        shape = input._data.shape
        if 3 not in shape:
            raise RuntimeError("no dimension of size 3 in input")
        dim = shape.index(3)
    return linalg_cross(input, other, dim=dim, out=out)


@public(method=False)
def cdist(x1, x2, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary"):
    """The distances between all pairs of two sets of points.

    Args:
        x1: (*, n, k).
        x2: (*, m, k).
        p: which norm measures them.
        compute_mode: accepted; distances are computed from differences in every mode.

    Example:
        >>> import vistorch
        >>> vistorch.cdist(vistorch.tensor([[0., 0.]]), vistorch.tensor([[3., 4.]]))
        tensor([[5.]])
    """
    checks.tensors("cdist", x1=x1, x2=x2)
    modes = (
        "use_mm_for_euclid_dist_if_necessary",
        "use_mm_for_euclid_dist",
        "donot_use_mm_for_euclid_dist",
    )
    if compute_mode not in modes:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    for label, t in (("X1", x1), ("X2", x2)):
        if t._data.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {label} got: {t._data.ndim}D")
    a, b = x1._data, x2._data
    if a.shape[-1] != b.shape[-1]:
        raise RuntimeError(
            f"X1 and X2 must have the same number of columns. X1: {a.shape[-1]} X2: {b.shape[-1]}"
        )
    if p < 0:
        raise RuntimeError("cdist only supports non-negative p values")
    for label, t in (("X1", x1), ("X2", x2)):
        if not t.dtype.is_floating_point:
            raise RuntimeError(f"cdist only supports floating-point dtypes, {label} got: {checks.scalar(t)}")
    checks.broadcast(a.shape[:-2], b.shape[:-2])
    if a.dtype in checks.HALVES:
        raise checks.not_implemented("cdist", x1)
    checks.same_scalar(x1, x2)
    return cdist_row(x1, x2, float(p))


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
    if len(matrices) == 1 and isinstance(matrices[0], (tuple, list)):
        matrices = tuple(matrices[0])
    if not matrices:
        raise RuntimeError("chain_matmul(): Expected one or more matrices")
    for t in matrices:
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
