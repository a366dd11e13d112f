"""Products of batches of matrices added to a tensor, and the in-place variants of all products that are added.

Invariant: with beta 0, whatever `input` holds (NaN too) does not reach the result.
"""

from __future__ import annotations

from typing import Any

from ...base.casting import casting
from ...base.errors import sizes
from ...core.inplace import general
from ...core.legacy_arguments import factors_between
from ...core.op_factory import op
from ...core.registry import FUNCTIONS, METHODS, public
from ...core.tensor import Tensor
from ...kernels.fast.matrices import matmul_of
from . import checks
from .addmm import addmm, addmv, addr, same_types, scaled, total
from .out_types import Style, into
from .products import batches
from .rows import mT

baddbmm_row = op(
    "baddbmm",
    lambda xp, input, batch1, batch2, beta, alpha: total(matmul_of(xp)(batch1, batch2), input, beta, alpha),
    inputs="input batch1 batch2",
    formula={
        "input": r"\bar x = \beta\bar z",
        "batch1": r"\bar a_b = \alpha\,\bar z_b\, b_b^T",
        "batch2": r"\bar b_b = \alpha\, a_b^T \bar z_b",
    },
    input=lambda F, g, beta: scaled(g, beta),
    batch1=lambda F, g, batch2, alpha: scaled(F.bmm(g, mT(F, batch2)), alpha),
    batch2=lambda F, g, batch1, alpha: scaled(F.bmm(mT(F, batch1), g), alpha),
)
addbmm_row = op(
    "addbmm",
    lambda xp, input, batch1, batch2, beta, alpha: total(
        xp.tensordot(batch1, batch2, ([0, 2], [0, 1])), input, beta, alpha
    ),
    inputs="input batch1 batch2",
    formula={
        "input": r"\bar x = \beta\bar z",
        "batch1": r"\bar a_b = \alpha\,\bar z\, b_b^T",
        "batch2": r"\bar b_b = \alpha\, a_b^T \bar z",
    },
    input=lambda F, g, beta: scaled(g, beta),
    batch1=lambda F, g, batch2, alpha: scaled(F.bmm(g, mT(F, batch2)), alpha),
    batch2=lambda F, g, batch1, alpha: scaled(F.bmm(mT(F, batch1), g), alpha),
)


def _batched(name: str, row: Any, kernel: str, style: Style) -> Any:
    """`addbmm` and `baddbmm`, which differ in whether the batch is summed."""

    def call(input, batch1, batch2, *late, beta=1, alpha=1, out=None):
        if casting.on and (recast := casting.ask(call, locals())):
            return recast[0]
        if late:
            tensors, factors = factors_between(name, "input batch1 batch2", (input, batch1, batch2, *late))
            return call(*tensors, **factors, out=out)
        checks.tensors(name, input=input, batch1=batch1, batch2=batch2)
        if out is not None:
            return into(
                out,
                style,
                (input, batch1, batch2),
                lambda: call(input, batch1, batch2, beta=beta, alpha=alpha),
            )
        checks.same_place(name, input, batch1, batch2)
        a, b = batch1._data, batch2._data
        if a.ndim < 2 or b.ndim < 3:
            first = 1 if name == "addbmm" else 0
            checks.dim_of(batch1, first if a.ndim == 0 else 1)
            checks.dim_of(batch2, 2)
        if name == "addbmm":
            checks.expands(input, (a.shape[1], b.shape[2]))
            _addbmm_shapes(batch1, batch2)
            same_types(input, batch1, batch2)
        else:
            checks.expands(input, (a.shape[0], a.shape[1], b.shape[2]))
            batches(batch1, batch2)
            if not input._data.dtype == a.dtype:
                types = [checks.native(t) for t in (input, batch1, batch2)]
                given = "input {}, batch1: {}, batch2: {}".format(*types)
                raise RuntimeError(f"Input dtypes must be the same, got: {given}")
            checks.no_bool(kernel, input)
            checks.same_scalar(input, batch2)
        checks.no_bool(kernel, input)
        return row(input, batch1, batch2, checks.factor(beta, input), checks.factor(alpha, input))

    call.__name__ = call.__qualname__ = name
    return call


def _addbmm_shapes(x: Tensor, y: Tensor) -> None:
    a, b = x._data, y._data
    for name, d in (("batch1", a), ("batch2", b)):
        if d.ndim != 3:
            raise RuntimeError(f"{name} must be a 3D tensor")
    if a.shape[0] != b.shape[0]:
        raise RuntimeError(
            f"batch1 and batch2 must have same number of batches, got {a.shape[0]} and {b.shape[0]}"
        )
    if a.shape[2] != b.shape[1]:
        raise RuntimeError(
            f"Incompatible matrix sizes for bmm ({a.shape[1]}x{a.shape[2]} and {b.shape[1]}x{b.shape[2]})"
        )


addbmm = _batched(
    "addbmm",
    addbmm_row,
    "addmm_impl_cpu_",
    Style("addbmm", "self and mat2 must have the same dtype, but got {got} and {want}"),
)
addbmm.__doc__ = """`beta * input + alpha *` the sum of all products of two batches of matrices.

    Args:
        input: what is added; broadcast to (n, p).
        batch1: (b, n, m).
        batch2: (b, m, p).
        *late: what is left in the old order, `(beta, input, alpha, batch1, batch2)`, with its warning.
        beta: factor of `input`; with 0, `input` is ignored.
        alpha: factor of the products.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.addbmm(vistorch.tensor(1), vistorch.tensor([[[2]], [[3]]]), vistorch.tensor([[[4]], [[5]]]))
        tensor([[24]])
    """
baddbmm = _batched("baddbmm", baddbmm_row, "baddbmm", Style("baddbmm"))
baddbmm.__doc__ = """`beta * input + alpha *` the products of two batches of matrices.

    Args:
        input: what is added; broadcast to (b, n, p).
        batch1: (b, n, m).
        batch2: (b, m, p).
        *late: what is left in the old order, `(beta, input, alpha, batch1, batch2)`, with its warning.
        beta: factor of `input`; with 0, `input` is ignored.
        alpha: factor of the products.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.baddbmm(vistorch.tensor(1), vistorch.tensor([[[2]]]), vistorch.tensor([[[4]]]))
        tensor([[[9]]])
    """
public()(addbmm)
public()(baddbmm)


def _in_place(fn: Any) -> Any:
    """`fn_`, which refuses a `self` of another shape than the result's in its own words."""

    def fitted(input, *args, **kwargs):
        try:
            result = fn(input, *args, **kwargs)
        except RuntimeError as refused:
            if fn is addmm and str(refused).startswith("The expanded size"):
                a, b = [t._data for t in args if isinstance(t, Tensor)]
                raise _misfit(input, (a.shape[0], b.shape[1])) from None
            raise
        if result._data.shape != input._data.shape:
            raise _misfit(input, result._data.shape)
        return result

    return general(fitted, fn.__name__ + "_")


def _misfit(t: Tensor, shape: tuple) -> RuntimeError:
    given = f"input tensor size {sizes(t._data.shape)} and output tensor size {sizes(shape)}"
    return RuntimeError(f"Bad in-place call: {given} should match")


def _addr_in_place(input, *args, **kwargs):
    """`addr` on an `input` that has the shape of the outer product already."""
    if len(args) == 2 and all(isinstance(v, Tensor) and v._data.ndim == 1 for v in args):
        n, m = (v._data.shape[0] for v in args)
        if input._data.ndim != 2:
            raise RuntimeError(f"2D tensor expected, got {input._data.ndim}D tensor for input")
        if input._data.shape != (n, m):
            raise RuntimeError(f"size mismatch, input: {sizes(input._data.shape)}, v1: [{n}], v2: [{m}]")
    return addr(input, *args, **kwargs)


for _fn in (addmm, addmv, addbmm, baddbmm):
    METHODS[_fn.__name__ + "_"] = _in_place(_fn)
METHODS["addr_"] = general(_addr_in_place, "addr_")
FUNCTIONS["addmv_"] = METHODS["addmv_"]
