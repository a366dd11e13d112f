"""Products added to a tensor: `beta * input + alpha * product`, each one row.

Invariant: with beta 0, whatever `input` holds (NaN too) does not reach the result.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.casting import casting
from ...base.events import listeners
from ...base.modes import inferring, mode
from ...base.numpy_warnings import aside, silently
from ...core import out_argument
from ...core.base_ops import cast
from ...core.graph import UNTRACKED
from ...core.legacy_arguments import factors_between
from ...core.op_factory import op
from ...core.record import record
from ...core.registry import public
from ...core.tensor import Tensor, new
from ...core.type_promotion import result_type
from ...kernels.fast.matrices import dot, dot_of
from ...memory.placement import CPU
from . import checks
from .out_types import Style, into
from .rows import col, second


def total(product, input, beta, alpha):
    """`product` is ours to overwrite."""
    if alpha != 1:
        product *= alpha
    if beta == 1:
        product += input
    elif beta != 0:
        product += input * beta
    return product


def scaled(g: Any, factor: Any) -> Any:
    """`factor * g`, or `g` itself."""
    return g if factor == 1 else g * factor


F4, F8, np_add = np.dtype("f4"), np.dtype("f8"), np.add


addmm_row = op(
    "addmm",
    lambda xp, input, mat1, mat2, beta, alpha: total(dot_of(xp)(mat1, mat2), input, beta, alpha),
    inputs="input mat1 mat2",
    formula={
        "input": r"\bar x = \beta\bar z",
        "mat1": r"\bar a = \alpha\,\bar z\, b^T",
        "mat2": r"\bar b = \alpha\, a^T \bar z",
    },
    input=lambda F, g, beta: scaled(g, beta),
    mat1=lambda F, g, mat2, alpha: scaled(F.mm(g, mat2.T), alpha),
    mat2=lambda F, g, mat1, mat2_strides, alpha: scaled(second(F, mat1, g, mat2_strides), alpha),
)
addmv_row = op(
    "addmv",
    lambda xp, input, mat, vec, beta, alpha: total(xp.dot(mat, vec), input, beta, alpha),
    inputs="input mat vec",
    formula={
        "input": r"\bar x = \beta\bar z",
        "mat": r"\bar a = \alpha\,\bar z\, v^T",
        "vec": r"\bar v = \alpha\, a^T \bar z",
    },
    input=lambda F, g, beta: scaled(g, beta),
    mat=lambda F, g, vec, alpha: scaled(col(F, g) * vec, alpha),
    vec=lambda F, g, mat, alpha: scaled(F.mv(mat.T, g), alpha),
)


def _addr(xp, input, vec1, vec2, beta, alpha):
    product = xp.multiply(vec1[:, None], vec2)
    if product.dtype.kind != "b":
        return total(product, input, beta, alpha)
    product &= bool(alpha)
    return product | input if beta else product


addr_row = op(
    "addr",
    _addr,
    inputs="input vec1 vec2",
    formula={
        "input": r"\bar x = \beta\bar z",
        "vec1": r"\bar u = \alpha\,\bar z\, v",
        "vec2": r"\bar v = \alpha\,\bar z^T u",
    },
    input=lambda F, g, beta: scaled(g, beta),
    vec1=lambda F, g, vec2, alpha: scaled(F.mv(g, vec2), alpha),
    vec2=lambda F, g, vec1, alpha: scaled(F.mv(g.T, vec1), alpha),
)


@public()
def addmm(input, mat1, mat2, *late, beta=1, alpha=1, out=None):
    """`beta * input + alpha * (mat1 @ mat2)`.

    Args:
        input: what is added; broadcast to (n, p).
        mat1: (n, m).
        mat2: (m, p).
        *late: what is left in the old order, `(beta, input, alpha, mat1, mat2)`, with its warning.
        beta: factor of `input`; with 0, `input` is ignored.
        alpha: factor of the product.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.addmm(vistorch.tensor([1, 1]), vistorch.tensor([[1, 2]]), vistorch.tensor([[3, 0], [4, 1]]))
        tensor([[12,  3]])
    """
    if casting.on and (recast := casting.ask(addmm, locals())):
        return recast[0]
    if late:
        tensors, factors = factors_between("addmm", "input mat1 mat2", (input, mat1, mat2, *late))
        return addmm(*tensors, **factors, out=out)
    try:
        x, a, b = input._data, mat1._data, mat2._data
    except AttributeError:
        x = None
    if x is None:
        return _addmm(input, mat1, mat2, beta, alpha, out)
    dt = a.dtype
    if (
        (dt is not F4 and dt is not F8)
        or dt is not b.dtype
        or dt is not x.dtype
        or a.ndim != 2
        or b.ndim != 2
        or a.shape[1] != b.shape[0]
        or (x.shape != b.shape[1:] and x.shape != (a.shape[0], b.shape[1]))
        or beta.__class__ is not int
        or alpha.__class__ is not int
        or beta != 1
        or alpha != 1
        or input._place is not CPU
        or mat1._place is not CPU
        or mat2._place is not CPU
        or out is not None
    ):
        return _addmm(input, mat1, mat2, beta, alpha, out)
    try:
        d = silently(dot, a, b)
        silently(np_add, d, x, d)
    except RuntimeError as exc:
        d = aside(exc, dot, a, b)
        aside(exc, np_add, d, x, d)
    o = new(Tensor)
    o._data = d
    o._place = CPU
    o._grad = o._ver = o._view = o._more = None
    if input._view is not None:
        input._view.sync(input)
    if mat1._view is not None:
        mat1._view.sync(mat1)
    if mat2._view is not None:
        mat2._view.sync(mat2)
    if (input._rg or mat1._rg or mat2._rg) and mode.on:
        if mode.on is True:
            _RULE.make(o, input, mat1, mat2, (1, 1))
        else:
            record(_RULE, (input, mat1, mat2), (1, 1), (o,))
    else:
        o._node, o._rg = None, False
        if inferring.threads and mode.on is None:
            o._ver = UNTRACKED
    if (emit := listeners.op) is not None:
        emit(_RULE, (input, mat1, mat2), (1, 1), (o,))
    return o


_RULE = addmm_row.rule


def _addmm(input: Any, mat1: Any, mat2: Any, beta: Any, alpha: Any, out: Any) -> Tensor:
    """`addmm` with every check."""
    checks.tensors("addmm", input=input, mat1=mat1, mat2=mat2)
    if out is not None:
        return into(out, Style("addmm"), (input, mat1, mat2), _addmm, input, mat1, mat2, beta, alpha, None)
    checks.same_place("addmm", input, mat1, mat2)
    a, b = mat1._data, mat2._data
    for name, d in (("mat1", a), ("mat2", b)):
        if d.ndim != 2:
            raise RuntimeError(f"{name} must be a matrix, got {d.ndim}-D tensor")
    if a.shape[1] != b.shape[0]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({a.shape[0]}x{a.shape[1]} and {b.shape[0]}x{b.shape[1]})"
        )
    same_types(input, mat1, mat2)
    checks.expands(input, (a.shape[0], b.shape[1]))
    checks.no_bool("addmm_impl_cpu_", input)
    return addmm_row(input, mat1, mat2, checks.factor(beta, input), checks.factor(alpha, input))


def same_types(x: Tensor, a: Tensor, b: Tensor) -> None:
    """Refuse mixed element types in `addmm`'s words."""
    for name, other in (("self", x), ("mat1", a)):
        if other._data.dtype != b._data.dtype:
            raise RuntimeError(
                f"{name} and mat2 must have the same dtype, but got {checks.scalar(other)} and {checks.scalar(b)}"
            )


@public()
def addmv(input, mat, vec, *late, beta=1, alpha=1, out=None):
    """`beta * input + alpha * (mat @ vec)`.

    Args:
        input: what is added; broadcast to (n,).
        mat: (n, m).
        vec: (m,).
        *late: what is left in the old order, `(beta, input, alpha, mat, vec)`, with its warning.
        beta: factor of `input`; with 0, `input` is ignored.
        alpha: factor of the product.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.addmv(vistorch.tensor([1]), vistorch.tensor([[1, 2]]), vistorch.tensor([3, 4]))
        tensor([12])
    """
    if casting.on and (recast := casting.ask(addmv, locals())):
        return recast[0]
    if late:
        tensors, factors = factors_between("addmv", "input mat vec", (input, mat, vec, *late))
        return addmv(*tensors, **factors, out=out)
    checks.tensors("addmv", input=input, mat=mat, vec=vec)
    if out is not None:
        return into(out, Style("addmv"), (input, mat, vec), _addmv, input, mat, vec, beta, alpha)
    return _addmv(input, mat, vec, beta, alpha)


def _addmv(input: Tensor, mat: Tensor, vec: Tensor, beta: Any, alpha: Any) -> Tensor:
    checks.same_place("addmv", input, mat, vec)
    x, a, b = input._data, mat._data, vec._data
    if a.ndim != 2 or b.ndim != 1 or x.ndim > 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got {x.ndim}, {a.ndim}, {b.ndim}")
    if x.ndim == 0 and a.shape[1] != b.shape[0]:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    if a.shape[1] != b.shape[0] or (x.ndim and x.shape[0] not in (1, a.shape[0])):
        raise RuntimeError(
            f"size mismatch, got input ({x.shape[0]}), mat ({a.shape[0]}x{a.shape[1]}), vec ({b.shape[0]})"
        )
    if not x.dtype == a.dtype == b.dtype:
        given = f"{checks.scalar(input)}, {checks.scalar(mat)}, and {checks.scalar(vec)}"
        raise RuntimeError(f"addmv input tensors must have the same dtype, but got {given}")
    checks.no_bool("addmv_impl_cpu", input)
    return addmv_row(input, mat, vec, checks.factor(beta, input), checks.factor(alpha, input))


@public()
def addr(input, vec1, vec2, *late, beta=1, alpha=1, out=None):
    """`beta * input + alpha * outer(vec1, vec2)`.

    Args:
        input: what is added; broadcast to (n, m).
        vec1: (n,).
        vec2: (m,).
        *late: what is left in the old order, `(beta, input, alpha, vec1, vec2)`, with its warning.
        beta: factor of `input`; with 0, `input` is ignored.
        alpha: factor of the product.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.addr(vistorch.tensor(1), vistorch.tensor([1, 2]), vistorch.tensor([3, 4]))
        tensor([[4, 5],
                [7, 9]])
    """
    if casting.on and (recast := casting.ask(addr, locals())):
        return recast[0]
    if late:
        tensors, factors = factors_between("addr", "input vec1 vec2", (input, vec1, vec2, *late))
        return addr(*tensors, **factors, out=out)
    checks.tensors("addr", input=input, vec1=vec1, vec2=vec2)
    if out is not None:
        out_argument.check_out("addr", out, (input, vec1, vec2))
    checks.same_place("addr", input, vec1, vec2)
    for name, v in (("vec1", vec1), ("vec2", vec2)):
        if v._data.ndim != 1:
            raise RuntimeError(f"addr: Expected 1-D argument {name}, but got {v._data.ndim}-D")
    common = result_type(input, vec1, vec2)
    checks.expands(input, (vec1._data.shape[0], vec2._data.shape[0]))
    for name, value in (("beta", beta), ("alpha", alpha)):
        if isinstance(value, bool) and common.kind != "b":
            raise RuntimeError(f"Boolean {name} only supported for Boolean results.")
        if common.kind in "iub" and not isinstance(value, int):
            raise RuntimeError(
                f"For integral input tensors, argument {name} must not be a floating point number."
            )
        if isinstance(value, complex) and common.kind != "c":
            raise RuntimeError("value cannot be converted to type double without overflow")
    x, u, v = [p if p._data.dtype == common else cast(p, common) for p in (input, vec1, vec2)]
    result = addr_row(x, u, v, beta, alpha)
    return result if out is None else out_argument.deliver(out, result)
