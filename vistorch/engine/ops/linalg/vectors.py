"""Products with vectors: matrix and vector, the dot products, the outer one, and `inner`.

Invariant: an inner dim of two tensors that do not agree is refused before anything is computed.
"""

from __future__ import annotations

from ...base.casting import casting
from ...base.errors import sizes
from ...core.op_factory import op
from ...core.registry import FUNCTIONS, public
from ...core.tensor import Tensor
from ..shape.rows import unsqueeze
from . import checks
from .out_types import DOT, MV, TENSORDOT, Style, into
from .rows import col, conj

mv_row = op(
    "mv",
    "dot",
    inputs="input vec",
    formula={"input": r"\bar x = \bar z\, v^T", "vec": r"\bar v = x^T \bar z"},
    input=lambda F, g, vec: col(F, g) * vec,
    vec=lambda F, g, input: F.mv(input.T, g),
)
dot_row = op(
    "dot",
    "dot",
    inputs="input tensor",
    formula={"input": r"\bar x = \bar z\, y", "tensor": r"\bar y = \bar z\, x"},
    input=lambda F, g, tensor: g * tensor,
    tensor=lambda F, g, input: g * input,
)
vdot_row = op(
    "vdot",
    "vdot",
    inputs="input other",
    holomorphic=False,
    formula={"input": r"\bar x = \overline{\bar z}\, y", "other": r"\bar y = \bar z\, x"},
    input=lambda F, g, other: conj(F, g) * other,
    other=lambda F, g, input: g * input,
)


@public()
def mv(input, vec, *, out=None):
    """The product of a matrix and a vector.

    Args:
        input: the matrix.
        vec: the vector.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.mv(vistorch.tensor([[1, 2], [3, 4]]), vistorch.tensor([1, 1]))
        tensor([3, 7])
    """
    if casting.on and (recast := casting.ask(mv, locals())):
        return recast[0]
    checks.tensors("mv", input=input, vec=vec)
    if out is not None:
        return into(out, Style("mv", MV), (input, vec), mv, input, vec)
    checks.same_place("mv", input, vec)
    a, b = input._data, vec._data
    if a.ndim == 0:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    if a.ndim != 2 or b.ndim != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got 1, {a.ndim}, {b.ndim}")
    if a.shape[1] != b.shape[0]:
        raise RuntimeError(
            f"size mismatch, got input ({a.shape[0]}), mat ({a.shape[0]}x{a.shape[1]}), vec ({b.shape[0]})"
        )
    if a.dtype != b.dtype:
        x, y = checks.scalar(input), checks.scalar(vec)
        raise RuntimeError(f"addmv input tensors must have the same dtype, but got {y}, {x}, and {y}")
    checks.no_bool("addmv_impl_cpu", input)
    return mv_row(input, vec)


def _vectors(x: Tensor, y: Tensor) -> None:
    """Refuse what is no pair of vectors of one length and type."""
    a, b = x._data, y._data
    if a.ndim != 1 or b.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {a.ndim}D and {b.ndim}D tensors")
    if a.dtype != b.dtype:
        raise RuntimeError(
            f"dot : expected both vectors to have same dtype, but found {checks.scalar(x)} and {checks.scalar(y)}"
        )
    if a.shape != b.shape:
        n, m = a.shape[0], b.shape[0]
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{n}] and src [{m}] to have the same number of elements, but "
            f"got {n} and {m} elements respectively"
        )
    checks.no_bool("dot", x)


@public()
def dot(input, tensor, *, out=None):
    """The sum of the products of two vectors' elements.

    Args:
        input: a vector.
        tensor: a vector as long.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.dot(vistorch.tensor([2, 3]), vistorch.tensor([2, 1]))
        tensor(7)
    """
    if casting.on and (recast := casting.ask(dot, locals())):
        return recast[0]
    checks.tensors("dot", input=input, tensor=tensor)
    if out is not None:
        return into(out, Style("dot", DOT), (input, tensor), dot, input, tensor)
    checks.same_place("dot", input, tensor)
    _vectors(input, tensor)
    return dot_row(input, tensor)


@public()
def vdot(input, other, *, out=None):
    """`dot`, with the first vector conjugated.

    Args:
        input: the vector that is conjugated.
        other: a vector as long.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.vdot(vistorch.tensor([2, 3]), vistorch.tensor([2, 1]))
        tensor(7)
    """
    if casting.on and (recast := casting.ask(vdot, locals())):
        return recast[0]
    checks.tensors("vdot", input=input, other=other)
    if out is not None:
        return into(out, Style("vdot", DOT), (input, other), vdot, input, other)
    checks.same_place("vdot", input, other)
    _vectors(input, other)
    return vdot_row(input, other)


@public(aliases="ger")
def outer(input, vec2, *, out=None):
    """The matrix of all products of two vectors' elements.

    Args:
        input: n elements.
        vec2: m elements.
        out: where to put the result (n, m).

    Example:
        >>> import vistorch
        >>> vistorch.outer(vistorch.tensor([1, 2]), vistorch.tensor([3, 4]))
        tensor([[3, 4],
                [6, 8]])
    """
    checks.tensors("outer", input=input, vec2=vec2)
    for v, argument in ((input, "self"), (vec2, "vec2")):
        if v._data.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {argument}, but got {v._data.ndim}-D")
    return FUNCTIONS["mul"](unsqueeze(input, 1), vec2, out=out)


@public()
def inner(input, other, *, out=None):
    """The sums of products over the last dim of both; a plain product where one is 0-d.

    Args:
        input: (*, n).
        other: (*, n).
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.inner(vistorch.tensor([1, 2]), vistorch.tensor([[3, 4], [5, 6]]))
        tensor([11, 17])
    """
    checks.tensors("inner", input=input, other=other)
    a, b = input._data, other._data
    if a.ndim == 0 or b.ndim == 0:
        return FUNCTIONS["mul"](input, other, out=out)
    if a.shape[-1] != b.shape[-1]:
        raise RuntimeError(
            f"inner() the last dimension must match on both input tensors but got shapes {sizes(a.shape)} and "
            f"{sizes(b.shape)}"
        )
    if out is not None:
        return into(out, Style(None, TENSORDOT), (input, other), inner, input, other)
    return FUNCTIONS["tensordot"](input, other, dims=([-1], [-1]))
