"""Running sums, products and extremes along a dim.

Invariant: no backward pass here divides; products go back through a linear recurrence, whose backward pass is the
same recurrence the other way round, so zeros are harmless at every order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import dtypes, return_types
from ...base.casting import casting
from ...base.dims import whole
from ...base.modes import mode
from ...core import inplace, out_argument, views
from ...core.base_ops import cast
from ...core.op_factory import op
from ...core.registry import expose, public
from ...core.tensor import Tensor
from ...core.type_promotion import floating
from ...kernels import scans
from .extremes import named
from .frame import axis_of, label, missing, numpy_names, spelled, tensor
from .sums import typed

F4, F8 = np.dtype("f4"), np.dtype("f8")


def _at(axis: int, *bounds: Any) -> tuple:
    return (*(slice(None),) * axis, slice(*bounds))


def _shift(xp, input, axis, by):
    """Moved by one place along an axis (by: 1 or -1), zero where nothing comes from."""
    out = xp.zeros_like(input)
    if input.ndim and by > 0:
        out[_at(axis, 1, None)] = input[_at(axis, None, -1)]
    elif input.ndim:
        out[_at(axis, None, -1)] = input[_at(axis, 1, None)]
    return out


shift = op(
    "shift",
    _shift,
    widen=False,
    formula=r"\bar x_i = \bar y_{i+1}",
    input=lambda F, g, axis, by: F.shift(g, axis, -by),
)


def _linear_scan(xp, a, b, axis, reverse):
    """y_i = b_i + a_i y_{i-1}, by doubling: after each round a place knows twice as many predecessors."""
    if b.ndim == 0 or b.shape[axis] < 2:
        return b.copy()
    if reverse:
        a, b = xp.flip(a, axis), xp.flip(b, axis)
    kind = xp.result_type(a.dtype, b.dtype)
    a, b = xp.array(xp.broadcast_to(a, b.shape), kind), xp.array(b, kind)
    reach, n = 1, b.shape[axis]
    while reach < n:
        late, early = _at(axis, reach, None), _at(axis, None, -reach)
        b[late] = b[late] + a[late] * b[early]
        reach *= 2
        if reach < n:
            a[late] = a[late] * a[early]
    return xp.flip(b, axis) if reverse else b


def _factor_vjp(F: Any, g: Any, a: Any, out: Any, axis: int, reverse: bool) -> Any:
    step = -1 if reverse else 1
    return F.linear_scan(F.shift(a, axis, -step), g, axis, not reverse) * F.shift(out, axis, step)


linear_scan = op(
    "linear_scan",
    _linear_scan,
    formula={"a": r"\bar a_i = \bar b_i y_{i-1}", "b": r"\bar b_i = \bar y_i + a_{i+1} \bar b_{i+1}"},
    a=_factor_vjp,
    b=lambda F, g, a, axis, reverse: F.linear_scan(
        F.shift(a, axis, 1 if reverse else -1), g, axis, not reverse
    ),
)


def _in_wide(ufunc: np.ufunc, x: np.ndarray, dim: int, wide: Any) -> np.ndarray:
    """Running values in a wider type: slice by slice where the slices are long, else along the memory."""
    n = x.shape[dim]
    if n > 1 and x.size > 256 * n and dim < x.ndim - 1:
        out = np.empty_like(x, order="C")
        at: list = [slice(None)] * dim
        running = x[(*at, 0)].astype(wide)
        out[(*at, 0)] = running
        for i in range(1, n):
            ufunc(running, x[(*at, i)], out=running)
            out[(*at, i)] = running
        return out
    if x.size > _PASS and dim == x.ndim - 1:
        return scans.along_rows(ufunc, x, wide)
    out = x.astype(wide, order="C")
    return ufunc.accumulate(out, dim, out=out)


_PASS = 1 << 15  # elements that are widened, run over and narrowed before the next


def _accumulated(name: str) -> Any:
    def run(xp, input, dim, reverse):
        """Float32 runs in float64, as PyTorch does, integers in int64."""
        kind = input.dtype
        if kind is F4 and xp is np and not reverse and 0 < input.ndim and input.size <= 1024:
            out = input.astype(F8)
            return (np.add if name == "cumsum" else np.multiply).accumulate(out, dim, None, out).astype(F4)
        wide = {"f4": "f8", "c8": "c16"}.get(kind.str[1:], "i8" if kind.kind in "biu" else kind)
        if input.ndim == 0:
            return input.astype(xp.int64) if kind.kind in "biu" else input.copy()
        x = xp.flip(input, dim) if reverse else input
        if xp is np and kind.kind in "fc":
            out = _in_wide(np.add if name == "cumsum" else np.multiply, x, dim, wide)
        else:
            out = getattr(xp, name)(x, axis=dim, dtype=wide)
        if kind.kind in "fc":
            out = out.astype(kind, copy=False)
        return xp.ascontiguousarray(xp.flip(out, dim)) if reverse else out

    return run


cumsum_dim = op(
    "cumsum_dim",
    _accumulated("cumsum"),
    name_in_graph="CumsumBackward0",
    formula=r"\bar x_i = \sum_{j \ge i} \bar y_j",
    input=lambda F, g, dim, reverse: F.cumsum_dim(g, dim, not reverse),
)


def _cumprod_vjp(F: Any, g: Any, input: Any, dim: int) -> Any:
    if not input.ndim:
        return g
    return F.prefix_product(input, dim, False) * F.linear_scan(F.shift(input, dim, -1), g, dim, True)


cumprod_dim = op(
    "cumprod_dim",
    _accumulated("cumprod"),
    name_in_graph="CumprodBackward0",
    formula=r"\bar x_i = \sum_{j \ge i} \bar y_j \prod_{k \le j,\, k \ne i} x_k",
    input=_cumprod_vjp,
)


def _extreme_vjp(F: Any, g: Any, out1: Any, dim: int, input_shape: tuple) -> Any:
    return F.put_at(g, out1, dim, input_shape) if input_shape else g


cummax_dim = op(
    "cummax_dim",
    lambda xp, input, dim: scans.cummax(xp, input, dim),
    name_in_graph="CummaxBackward0",
    formula=r"\bar x_i = \sum_{j : \mathrm{index}_j = i} \bar y_j",
    input=_extreme_vjp,
)
cummin_dim = op(
    "cummin_dim",
    lambda xp, input, dim: scans.cummin(xp, input, dim),
    name_in_graph="CumminBackward0",
    formula=r"\bar x_i = \sum_{j : \mathrm{index}_j = i} \bar y_j",
    input=_extreme_vjp,
)


def _fall(xp, input, dim):
    """x_i - x_{i+1}, zero at the end; equal infinities are no step."""
    out = xp.zeros_like(input)
    if input.ndim:
        x, y = input[_at(dim, None, -1)], input[_at(dim, 1, None)]
        out[_at(dim, None, -1)] = xp.where(x == y, input.dtype.type(0), x - y)
    return out


def _rise(xp, input, dim):
    """The transpose of `fall`."""
    out = xp.zeros_like(input)
    if input.ndim:
        head = input[_at(dim, None, -1)]
        out[_at(dim, None, -1)] = head
        out[_at(dim, 1, None)] -= head
    return out


op("fall", _fall, formula=r"\bar x_i = \bar y_i - \bar y_{i-1}", input=lambda F, g, dim: F.rise(g, dim))
op("rise", _rise, formula=r"\bar x_i = \bar y_i - \bar y_{i+1}", input=lambda F, g, dim: F.fall(g, dim))


def _logcumsumexp(xp, input, dim):
    if input.dtype.kind != "c":
        return scans.logcumsumexp(xp, input, dim)
    if input.ndim == 0 or input.size == 0:
        return input.copy()

    lines = xp.moveaxis(input, dim, 0)
    out = xp.empty_like(lines, order="C")
    out[0] = lines[0]
    for i in range(1, len(lines)):
        out[i] = _added_exponents(xp, lines[i], out[i - 1])
    return xp.ascontiguousarray(xp.moveaxis(out, 0, dim))


def _added_exponents(xp, a, b):
    """log(exp(a) + exp(b)); its imaginary part is the larger one's, moved by an angle, and may leave (-pi, pi]."""
    first = a.real >= b.real
    large, small = xp.where(first, a, b), xp.where(first, b, a)
    endless = ~xp.isfinite(large.real)
    away = xp.where(endless, 0, small - large)
    top = xp.where(endless, 0, large.real)
    return xp.where(
        endless, top + xp.log(xp.exp(a - top) + xp.exp(b - top)), large + xp.log(1 + xp.exp(away))
    )


def _logcumsumexp_vjp(F: Any, g: Any, input: Any, out: Any, dim: int) -> Any:
    # all exponents are at most 0, because the output never falls
    chain = F.linear_scan(F.exp(F.fall(out, dim)), g, dim, True)
    return F.exp(input - out) * chain


logcumsumexp_dim = op(
    "logcumsumexp_dim",
    _logcumsumexp,
    name_in_graph="LogcumsumexpBackward0",
    formula=r"\bar x_i = \sum_{j \ge i} \bar y_j e^{x_i - y_j}",
    input=_logcumsumexp_vjp,
)


# ---- the public functions ----------------------------------------------------------------------------------------
def _scan(name: str, prim: Any, input: Any, dim: Any, dtype: Any, out: Any, names: dict) -> Any:
    if names:
        dim, _ = numpy_names(name, names, dim)
    if dim is None:
        raise TypeError(f'{name}() missing 1 required positional arguments: "dim"')
    tensor(name, input)
    if out is not None:
        out_argument.check_out(name, out, (input,))
        out_argument.refuse_overlap(out, (input,))
    x = typed(name, input, dtype, out)
    if out is not None and out._data.dtype.kind == "b" and input._data.ndim:
        raise missing(f"{name}_out_cpu", out._data.dtype)
    o = prim(x, axis_of(input, dim, name), False)
    target = dtypes.as_np(dtype) if dtype is not None else None if out is None else out._data.dtype
    if target is not None and o._data.dtype != target:
        o = cast(o, target)
    return o if out is None else out_argument.deliver(out, o)


@public()
def cumsum(input, dim=None, *, dtype=None, out=None, **names):
    """The sum of each element and all before it along a dim.

    Args:
        input: a tensor; bools and integers are summed as int64.
        dim: the dim.
        dtype: convert to this type first.
        out: where to put the result.
        **names: numpy's `axis`.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([1, 2, 3]).cumsum(0)
        tensor([1, 3, 6])
    """
    if casting.on and (recast := casting.ask(cumsum, locals())):
        return recast[0]
    return _scan("cumsum", cumsum_dim, input, dim, dtype, out, names)


@public()
def cumprod(input, dim=None, *, dtype=None, out=None, **names):
    """The product of each element and all before it along a dim.

    Args:
        input: a tensor; bools and integers are multiplied as int64.
        dim: the dim.
        dtype: convert to this type first.
        out: where to put the result.
        **names: numpy's `axis`.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([1, 2, 3]).cumprod(0)
        tensor([1, 2, 6])
    """
    if casting.on and (recast := casting.ask(cumprod, locals())):
        return recast[0]
    return _scan("cumprod", cumprod_dim, input, dim, dtype, out, names)


def _in_place(fn: Any) -> Any:
    """The in-place variant: the result has the type of the tensor, whatever it holds."""
    name = fn.__name__

    def call(input, dim=None, *, dtype=None, **names):
        kind = tensor(name + "_", input).dtype
        if names:
            dim, _ = numpy_names(name, names, dim)
        if mode.on and input.requires_grad:
            views.before_write(input, True)  # a leaf is refused before anything else
        axis_of(input, dim, name)
        if dtype is not None and dtypes.as_np(dtype, name) != kind:
            raise RuntimeError(
                f"Bad in-place call: input tensor dtype {spelled(kind)} and output tensor dtype "
                f"{spelled(dtypes.as_np(dtype))} should match"
            )
        if kind.kind == "b" and input._data.ndim:
            raise missing(f"{name}_out_cpu", kind)
        return inplace.replace(input, fn, (dim,), {"dtype": dtypes.of(kind)})

    call.__name__ = call.__qualname__ = name + "_"
    call.__doc__ = f"`{name}`, in the tensor's own memory."
    return expose(call, function=False)


cumsum_, cumprod_ = _in_place(cumsum), _in_place(cumprod)


def _running(name: str, prim: Any, kind: Any, input: Any, dim: Any, out: Any) -> Any:
    a = tensor(name, input)
    if not a.ndim and whole(dim, name, "dim", 2) not in (0, -1):
        raise IndexError(f"{name}(): Expected reduction dim -1 or 0 for scalar but got {dim}")
    axis = axis_of(input, dim, name) if a.size else 0
    if a.dtype.kind == "c" and a.ndim:
        raise missing(f"{name}_cpu", a.dtype)
    if out is not None:
        out_argument.check_outs(name, out, (input,))
        for o, wanted in zip(out, (a.dtype, np.dtype("i8")), strict=True):
            if o._data.dtype != wanted:
                raise RuntimeError(f"expected scalar_type {label(wanted)} but found {label(o._data.dtype)}")
    return named(name, kind, input, out, prim, axis)


@public()
def cummax(input, dim, *, out=None):
    """The largest value so far along a dim, and where it last was.

    Args:
        input: a real tensor.
        dim: the dim.
        out: a tuple of two tensors for the results.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([1, 3, 2]).cummax(0).values
        tensor([1, 3, 3])
    """
    return _running("cummax", cummax_dim, return_types.cummax, input, dim, out)


@public()
def cummin(input, dim, *, out=None):
    """The smallest value so far along a dim, and where it last was.

    Args:
        input: a real tensor.
        dim: the dim.
        out: a tuple of two tensors for the results.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([3, 1, 2]).cummin(0).values
        tensor([3, 1, 1])
    """
    return _running("cummin", cummin_dim, return_types.cummin, input, dim, out)


@public()
def logcumsumexp(input, dim, *, out=None):
    """log(cumsum(exp(input))) along a dim, without overflow.

    Args:
        input: a floating point or complex tensor.
        dim: the dim.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([1000.0, 1000.0]).logcumsumexp(0)
        tensor([1000.0000, 1000.6932])
    """
    a = tensor("logcumsumexp", input)
    axis = axis_of(input, dim, "logcumsumexp")
    if not floating(a.dtype):
        raise missing("logcumsumexp_out_cpu", a.dtype)
    if out is not None:
        out_argument.check_out("logcumsumexp", out, (input,))
        if out._data.dtype != a.dtype:
            raise RuntimeError(f"expected scalar_type {label(a.dtype)} but found {label(out._data.dtype)}")
    o: Tensor = logcumsumexp_dim(input, axis)
    return o if out is None else out_argument.deliver(out, o)
