"""Differences of neighbours and the trapezoid rule.

Invariant: everything here is made of other public ops, as PyTorch makes it, so gradients need no rows.
"""

from __future__ import annotations

from typing import Any

from ...base.dims import whole
from ...base.modes import mode
from ...core import out_argument, views
from ...core.base_ops import cast
from ...core.op_factory import op
from ...core.registry import FUNCTIONS, public
from ...core.tensor import Tensor
from ...core.type_promotion import default_float, floating, number
from .frame import axis_of, label, tensor
from .scans import cumsum_dim
from .sums import sum_dims

times = op(
    "times_number",
    lambda xp, input, number: input * number,
    name_in_graph="MulBackward1",
    formula=r"\bar x = c\,\bar y",
    input=lambda F, g, number: F.times_number(g, number),
)
over = op(
    "over_number",
    lambda xp, input, number: input / number,
    name_in_graph="DivBackward1",
    formula=r"\bar x = \bar y / c",
    input=lambda F, g, number: F.over_number(g, number),
)


_copied = op(
    "diff_of_order_zero",
    lambda xp, input: xp.array(input, order="C"),
    widen=False,
    name_in_graph="CopyBackwards",
    input=lambda F, g: g,
)


def _ends(x: Tensor, dim: int) -> tuple:
    """All but the first along a dim, and all but the last."""
    n = x._data.shape[dim]
    if not n:
        return x, x
    return x.narrow(dim, 1, n - 1), x.narrow(dim, 0, n - 1)  # type: ignore[attr-defined]


@public()
def diff(input, n=1, dim=-1, prepend=None, append=None, *, out=None):
    """The difference of each element and the one before, `n` times.

    Args:
        input: a tensor.
        n: how often.
        dim: the dim.
        prepend: put before the input first.
        append: put behind the input first.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([1, 4, 9]).diff()
        tensor([3, 5])
    """
    a = tensor("diff", input)
    n = whole(n, "diff", "n", 2)
    if out is not None:
        if n:
            out_argument.check_out("sub", out, (input,))
            out_argument.refuse_overlap(out, (input,))
        elif mode.on:
            views.before_write(out, out.requires_grad)
        if n == 0 and out._data.dtype != a.dtype:
            raise RuntimeError(f"expected scalar_type {label(a.dtype)} but found {label(out._data.dtype)}")
    if not a.ndim:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    axis = axis_of(input, dim, "diff")
    for other, name in ((prepend, "prepend"), (append, "append")):
        if other is not None:
            _fits(a.shape, other._data.shape, axis, name)
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    parts = [p for p in (prepend, input, append) if p is not None] if n else [input]
    x = FUNCTIONS["cat"](parts, axis) if len(parts) > 1 else input
    if n == 0:
        x = _copied(x)
    for _ in range(min(n, x._data.shape[axis])):
        if not x._data.shape[axis]:
            break
        late, early = _ends(x, axis)
        x = FUNCTIONS["logical_xor"](late, early) if x._data.dtype.kind == "b" else late - early
    return x if out is None else out_argument.deliver(out, x)


def _fits(shape: tuple, other: tuple, axis: int, name: str) -> None:
    if len(other) != len(shape):
        raise RuntimeError("diff expects prepend or append to be the same dimension as input")
    for i, (p, q) in enumerate(zip(shape, other, strict=True)):
        if p != q and i != axis:
            raise RuntimeError(
                "diff expects the shape of tensor to prepend or append to match that of input except along the "
                f"differencing dimension; input.size({i}) = {p}, but got tensor.size({i}) = {q}"
            )


def _half(x: Tensor) -> Tensor:
    return over(x if floating(x._data.dtype) else cast(x, default_float()), 2.0)


def _checked(name: str, y: Any, x: Any, dx: Any, dim: Any) -> int:
    """The axis, after PyTorch's checks."""
    if not isinstance(y, Tensor):
        raise TypeError(f"{name}(): argument 'y' (position 1) must be Tensor, not {type(y).__name__}")
    if not y._data.ndim:
        if x is not None:
            dim = axis_of(y, dim, name)
        if name == "cumulative_trapezoid":
            raise IndexError("slice() cannot be applied to a 0-dim tensor.")
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    axis = axis_of(y, dim, name)
    if x is not None and not isinstance(x, Tensor):
        raise TypeError(
            f"{name}() received an invalid combination of arguments - got (Tensor, {type(x).__name__})"
        )
    if x is None:
        if y._data.dtype.kind == "b":
            raise RuntimeError(f"{name}: received a bool input for `y`, but bool is not supported")
        if dx is not None and not isinstance(dx, Tensor) and number(dx) is None:
            raise TypeError(
                f"{name}() received an invalid combination of arguments - got (Tensor, dx={type(dx).__name__})"
            )
        if isinstance(dx, complex):
            raise RuntimeError(f"{name}: Currently, we only support dx as a real number.")
    elif dx is not None:
        raise TypeError(f"{name}() received an invalid combination of arguments - got both x and dx")
    return axis


def _widths(name: str, y: Tensor, x: Any, axis: int) -> Tensor:
    """The distances of the sample points, in a shape that broadcasts against the samples."""
    if y._data.dtype.kind == "b" or x._data.dtype.kind == "b":
        raise RuntimeError(f"{name}: received a bool input for `x` or `y`, but bool is not supported")
    if not x._data.ndim:
        return x.expand(()) * 0  # one point: no width
    n, ndim = y._data.shape[axis], y._data.ndim
    if x._data.ndim == 1:
        if x._data.shape[0] != n:
            raise RuntimeError(f"{name}: There must be one `x` value for each sample point")
        shape = [1] * ndim
        shape[axis] = n
        x = x.reshape(shape)
    elif x._data.ndim < ndim:
        x = x.reshape([1] * (ndim - x._data.ndim) + list(x._data.shape))
    late, early = _ends(x, axis_of(x, axis))
    return late - early


@public(method=False, aliases="trapz")
def trapezoid(y, x=None, *, dx=None, dim=-1):
    """The integral along a dim by the trapezoid rule.

    Args:
        y: the values.
        x: the sample points; without them, `dx` apart.
        dx: the distance of the sample points, 1 where neither is given.
        dim: the dim.

    Example:
        >>> import vistorch
        >>> vistorch.trapezoid(vistorch.tensor([1.0, 5.0, 10.0]))
        tensor(10.5000)
    """
    axis = _checked("trapezoid", y, x, dx, dim)
    n = y._data.shape[axis]
    if n == 0:
        # PyTorch's zeros without history, in the type of y
        return cast(sum_dims(y.detach(), (axis,), False), y._data.dtype)
    if x is None:
        ends = y.select(axis, 0) + y.select(axis, n - 1)
        return times(sum_dims(y, (axis,), False) - ends * 0.5, 1.0 if dx is None else dx)
    widths = _widths("trapezoid", y, x, axis)
    late, early = _ends(y, axis)
    return _half(sum_dims(widths * (late + early), (axis,), False))


@public(method=False)
def cumulative_trapezoid(y, x=None, *, dx=None, dim=-1):
    """The running integral along a dim by the trapezoid rule, one element shorter.

    Args:
        y: the values.
        x: the sample points; without them, `dx` apart.
        dx: the distance of the sample points, 1 where neither is given.
        dim: the dim.

    Example:
        >>> import vistorch
        >>> vistorch.cumulative_trapezoid(vistorch.tensor([1.0, 5.0, 10.0]))
        tensor([ 3.0000, 10.5000])
    """
    axis = _checked("cumulative_trapezoid", y, x, dx, dim)
    late, early = _ends(y, axis)
    if x is None:
        return cumsum_dim((late + early) * ((1.0 if dx is None else dx) / 2), axis, False)
    widths = _widths("cumulative_trapezoid", y, x, axis)
    return _half(cumsum_dim(widths * (late + early), axis, False))
