"""Writes that are not arithmetic: copy_, detach_, resize_.

Invariant: what is refused is refused before anything is written.
"""

from __future__ import annotations

from math import prod
from typing import Any

from ...base import dims, errors
from ...base.events import listeners
from ...base.modes import mode
from ...core import inplace, out_argument, views
from ...core.base_ops import to_place
from ...core.graph import UNTRACKED, Version, keep_tensor_hooks, sync_rg, version
from ...core.op_factory import op
from ...core.registry import public
from ...core.tensor import Tensor, asarray, wrap
from ...core.type_promotion import number, type_of
from ...kernels.strides import expand, strides_of
from ...memory.array_memory import offset_of
from ...memory.pinned import is_pinned
from ...memory.placement import CPU, META, fetch
from . import rows
from .convert import DIFFERENTIABLE, check_format, warn_imaginary
from .inplace import become
from .strided import as_strided, available
from .views import given, tensor

NO_DETACH = (
    "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for training, "
    "and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence detach_() cannot be "
    "called on these gradients. To fix this error, please refer to the Optimizer.zero_grad() function in "
    "vistorch/optim/optimizer.py as the solution."
)


def _copy(xp, input, src):
    if src.dtype.kind == "c" and input.dtype.kind != "c":
        src = src != 0 if input.dtype.kind == "b" else src.real
    return expand(xp, xp.asarray(src).astype(input.dtype, copy=False), input.shape)


copy_row = op(
    "copy",
    _copy,
    inputs="input src",
    widen=False,
    name_in_graph="CopyBackwards",
    formula={"input": r"\bar x = 0", "src": r"\bar s = \bar y"},
    input=lambda F, g: F.zeros_like(g),
    src=lambda F, g: g,
)


@public(function=False)
def copy_(self: Tensor, other: Any, non_blocking: bool = False) -> Tensor:
    """Write the elements of another tensor, broadcast and converted, into this one.

    Args:
        self: the tensor to write.
        other: where the elements come from.
        non_blocking: whether the host may go on meanwhile.

    Example:
        >>> import vistorch
        >>> vistorch.zeros(2).copy_(vistorch.tensor([1, 2]))
        tensor([1., 2.])
    """
    if non_blocking is not False:
        dims.flag(non_blocking, "copy_", "non_blocking", 2)
    if other.__class__ is Tensor and not (mode.on and (sync_rg(self) or sync_rg(other))):
        d, s = self._data, other._data
        if d.shape == s.shape and d.dtype is s.dtype and self._place is other._place:
            ver = version(self)
            if ver is not other._ver and ver is not UNTRACKED and 0 not in d.strides:
                if (emit := listeners.overwrite) is not None:
                    emit(self)
                d[...] = s
                ver.n += 1
                if (emit := listeners.phase) is not None:
                    emit("copied", self, other)
                if (emit := listeners.write) is not None:
                    emit(self, copy_row.rule)
                return self
    if not isinstance(other, Tensor):
        n = number(other)
        if n is None:
            raise errors.must_be_tensor("copy_", "other", 1, other)
        other = wrap(asarray(n, type_of(n)))
    d, s = self._data, other._data
    if self._place is META and d.shape == s.shape and not (mode.on and sync_rg(self)):
        return self  # there are no values to overwrite
    if d.shape != s.shape:
        said = errors.broadcast(d.shape, s.shape)
        if said is None and (s.ndim > d.ndim or _grows(d.shape, s.shape)):
            full = _broadcast(d.shape, s.shape)
            said = f"output with shape {errors.sizes(d.shape)} doesn't match the broadcast shape {errors.sizes(full)}"
        if said is not None:
            raise RuntimeError(said)
        while s.ndim > d.ndim:  # only leading ones are left
            other = rows.select(other, 0, 0)
            s = other._data
    if views.aliased(d):
        if other is not self and (
            not views.same_elements(self, other)
            or d.dtype != s.dtype
            or (mode.on and (sync_rg(self) or sync_rg(other)))
        ):
            raise RuntimeError(errors.WRITE_ALIASED)
        views.before_write(self, bool(mode.on) and sync_rg(self))  # no element changes, nor does the history
        if (ver := version(self)) is not UNTRACKED:
            ver.n += 1
        return self
    if other._place is not self._place:
        if non_blocking and _fetched(self, other):
            return self
        other = to_place(other, self._place, bool(non_blocking))
    if s.dtype.kind == "c" and d.dtype.kind not in "cb":
        warn_imaginary()
    if d.dtype not in DIFFERENTIABLE and other.requires_grad:
        other = wrap(s, self._place)
    return inplace.replace(self, copy_row, (other,), {}, copy_row.rule)


def _fetched(self: Tensor, other: Tensor) -> bool:
    """Copy a device's tensor into page-locked memory while the host goes on, where nothing but the copy is to do."""
    d, s = self._data, other._data
    alike = d.dtype == s.dtype and d.shape == s.shape and d.flags.c_contiguous and s.flags.c_contiguous
    if not (alike and other._place.kind and self._place is CPU and is_pinned(d)):
        return False
    if mode.on and (sync_rg(self) or sync_rg(other)):
        return False
    with other._place:
        fetch(s, d)
    if (ver := version(self)) is not UNTRACKED:
        ver.n += 1
    if (emit := listeners.write) is not None:
        emit(self, copy_row.rule)
    return True


def _grows(shape: tuple, given_shape: tuple) -> bool:
    return any(n == 1 and m != 1 for n, m in zip(shape[::-1], given_shape[::-1], strict=False)) or any(
        m != 1 for m in given_shape[: max(len(given_shape) - len(shape), 0)]
    )


def _broadcast(a: tuple, b: tuple) -> tuple:
    n = max(len(a), len(b))
    a, b = (1,) * (n - len(a)) + a, (1,) * (n - len(b)) + b
    return tuple([q if p == 1 else p for p, q in zip(a, b, strict=True)])


@public()
def detach_(self: Tensor) -> Tensor:
    """Make the tensor a leaf that does not require grad.

    Args:
        self: the tensor; no view.

    Example:
        >>> import vistorch
        >>> x = vistorch.ones(2, requires_grad=True) * 2
        >>> x.detach_()
        tensor([2., 2.])
    """
    if tensor(self, "detach_") is not None and self._is_view():
        raise RuntimeError(NO_DETACH)
    if mode.on is None:  # nothing of a graph changes in inference mode
        return self
    if (emit := listeners.cut) is not None:
        emit("detach", self)
    node = self._node
    if node is not None and node.hooks is not None and node.hooks.tensor:
        keep_tensor_hooks(self, node.hooks)
    v = self._view
    if v is not None and v.hidden and v.steps and v.base._node is None:
        v.base._rg = False  # what the views of a reshaped leaf ask
    self._node, self._view, self._rg = None, None, False
    return views.expanded(self)


def _resized(x: Tensor, shape: tuple, form: Any) -> Tensor:
    if x.requires_grad:
        raise RuntimeError("cannot resize variables that require grad")
    if any(n < 0 for n in shape):
        raise RuntimeError("numel: integer multiplication overflow")
    if form is not None:
        check_format(form, "resize_")
    if x._data.shape == shape:
        return x
    return _lay(x, shape, _row_major(shape))


def _row_major(shape: tuple) -> tuple:
    stride, at = [], 1
    for n in reversed(shape):
        stride.insert(0, at)
        at *= max(n, 1)
    return tuple(stride)


def _lay(x: Tensor, shape: tuple, stride: tuple) -> Tensor:
    """Lay the storage of `x` out anew, without gaps; a longer one is new."""
    d, count = x._data, prod(shape)
    first = None if d.size else views.begins(x)
    held = available(d) if first is None else max(available(d) + offset_of(d) - first, 0)
    if count <= held:
        return become(x, as_strided, (shape, stride, first), {})
    new = x._place.xp.zeros(count, d.dtype)
    kept = as_strided(wrap(d, x._place), (held,), (1,), first)._data
    new[: kept.size] = kept
    x._data, x._view = as_strided(wrap(new, x._place), shape, stride)._data, None
    v = Version()
    v.n = version(x).n + 1
    if x._ver is not UNTRACKED:
        x._ver = v
    return x


def _resize_out(out: Tensor, like: Any) -> None:
    """`out` of the sizes of a result, and, like a new tensor, of its order of dims."""
    dense = like.size > 0 and views.dense(like)
    before, mode.on = (
        mode.on,
        mode.on and not out._rg,
    )  # a leaf that may be overwritten keeps its place in the graph
    try:
        _lay(out, like.shape, strides_of(like) if dense else _row_major(like.shape))
    finally:
        mode.on = before


out_argument.resize = _resize_out


@public(function=False)
def resize_(self: Tensor, *sizes: Any, memory_format: Any = None, **named: Any) -> Tensor:
    """Give the tensor other sizes: its storage seen in row-major order, made longer where that does not suffice.

    Unlike in PyTorch, a tensor that needs more memory than there is no longer shares it with its views.

    Args:
        self: the tensor.
        *sizes: the sizes.
        memory_format: accepted.
        **named: `size=`.

    Example:
        >>> import vistorch
        >>> vistorch.arange(6).resize_(2, 2)
        tensor([[0, 1],
                [2, 3]])
    """
    size = dims.sizes(given(sizes, named, "resize_", "size"), "resize_")
    return _resized(self, size, memory_format)


@public()
def resize_as_(self: Tensor, the_template: Tensor, *, memory_format: Any = None) -> Tensor:
    """`self.resize_(the_template.size())`.

    Args:
        self: the tensor.
        the_template: the tensor whose sizes to take.
        memory_format: accepted.

    Example:
        >>> import vistorch
        >>> vistorch.arange(6).resize_as_(vistorch.zeros(2, 2))
        tensor([[0, 1],
                [2, 3]])
    """
    return _resized(self, tensor(the_template, "resize_as_", "the_template").shape, memory_format)
