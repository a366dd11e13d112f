"""Views as copies (`view_copy`, `permute_copy`, ...), pieces without views, and functions applied one by one.

Invariant: no result shares memory with its input; the node of a copy is that of its view, with "_copy" behind its name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...base import dims, errors
from ...base.modes import mode
from ...core import out_argument
from ...core.graph import sync_rg
from ...core.op_factory import op
from ...core.record import record
from ...core.registry import FUNCTIONS, METHODS, expose, public
from ...core.rules import variant
from ...core.tensor import Tensor, wrap
from ...kernels.strides import copied, expand
from . import rows
from .split import _split_vjp
from .views import tensor

_variants: dict = {}


def _copied(x: Tensor, view: Tensor, name: str = "") -> Tensor:
    """The view's elements in memory of their own, with the view's node."""
    place = x._place
    o = wrap(place.xp.array(view._data, order="C"), place)
    if mode.on and sync_rg(x) and view._view is not None:
        rule, consts = view._view.steps[-1]
        label = name or f"{rule.grad_name}_copy"
        made = _variants.get((rule.name, label))
        if made is None:
            made = _variants[rule.name, label] = variant(rule, label)
        record(made, (x,), consts, (o,))
    return o


def _into(out: Tensor, o: Tensor) -> Tensor:
    """Into an `out` that has to be of the result's own type."""
    from ..elementwise.dtype_checks import C_NAMES  # pointwise ops stand on shapes

    if out._data.dtype != o._data.dtype:
        want, got = (C_NAMES[str(t.dtype).rpartition(".")[2]] for t in (o, out))
        raise RuntimeError(f"Expected out tensor to have dtype {want}, but got {got} instead")
    return out_argument.deliver(out, o)


def _check_out(name: str, out: Any, input: Tensor) -> None:
    out_argument.refuse_grad(name, (input,))
    out_argument.check_out(f"aten::{name}", out)


def _named(view: Any) -> Callable:
    """The function itself; other files of this family may come later, so names are looked up late."""
    return view if callable(view) else METHODS.get(view) or FUNCTIONS[view]


def _copy_of(name: str, view: Any, arguments: str, call: str, node: str = "", method: bool = False) -> Any:
    """`name`, the copying form of a view."""

    def copy(input, *args, out=None, **named):
        tensor(input, name)
        if out is not None:
            _check_out(name, out, input)
        o = _copied(input, _named(view)(input, *args, **named), node)
        return o if out is None else _into(out, o)

    copy.__name__ = copy.__qualname__ = name
    copy.__doc__ = f"""`{name.removesuffix("_copy")}`, as a copy.

    Args:
        input: the tensor.
        *args: {arguments}
        out: where to put the result.
        **named: the same by name.

    Example:
        >>> import vistorch
        >>> vistorch.{name}({call}).shape
        vistorch.Size([2, 2])
    """
    return expose(copy, method=method)


def _slice(input: Tensor, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Tensor:
    """Every step-th element of a dim, from start on."""
    at = dims.one(dim, input._data.ndim, "slice_copy")
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    first, last, _ = slice(start, end, step).indices(input._data.shape[at])
    return rows.slice_(input, at, first, max(first, last), step)


def _narrow(input: Tensor, dim: int, start: Any, length: int) -> Tensor:
    """`narrow`, whose copying form looks at its arguments in words of its own."""
    shape = input._data.shape
    if dim.__class__ is int and dim >= len(shape) > 0:
        raise RuntimeError(
            "Expected dim < static_cast<int64_t>(self_sizes.size()) to be true, but got false.  (Could this error "
            "message be improved?  If so, please report an enhancement request to PyTorch.)"
        )
    if dim.__class__ is start.__class__ is length.__class__ is int and length < 0:
        n = shape[dims.one(dim, len(shape))]
        if 0 <= start <= n:
            raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({n}).")
    return METHODS["narrow"](input, dim, start, length)


def _view(input: Tensor, size: Any) -> Tensor:
    return METHODS["view"](input, size)


_SQUARE = "vistorch.zeros(2, 2)"
for _name, _fn, _arguments, _call in (
    ("view_copy", _view, "the sizes.", "vistorch.zeros(4), (2, 2)"),
    ("as_strided_copy", "as_strided", "sizes, strides and offset.", "vistorch.zeros(4), (2, 2), (2, 1)"),
    ("permute_copy", "permute", "the dims in their new order.", f"{_SQUARE}, (1, 0)"),
    ("transpose_copy", "transpose", "the two dims.", f"{_SQUARE}, 0, 1"),
    ("t_copy", "t", "none.", _SQUARE),
    ("select_copy", "select", "the dim and the place.", "vistorch.zeros(3, 2, 2), 0, 1"),
    ("slice_copy", _slice, "dim, start, end and step.", "vistorch.zeros(2, 3), 1, 0, 2"),
    ("squeeze_copy", "squeeze", "the dims, all if none.", "vistorch.zeros(2, 1, 2)"),
    ("unsqueeze_copy", "unsqueeze", "the dim.", "vistorch.zeros(2), 1).expand(2, 2"),
    ("expand_copy", "expand", "the sizes.", "vistorch.zeros(2), (2, 2)"),
    ("diagonal_copy", "diagonal", "offset and dims.", "vistorch.zeros(2, 2, 2)"),
    ("unfold_copy", "unfold", "dim, size and step.", "vistorch.zeros(3), 0, 2, 1"),
    ("view_as_real_copy", "view_as_real", "none.", "vistorch.zeros(2, dtype=vistorch.complex64)"),
    ("view_as_complex_copy", "view_as_complex", "none.", "vistorch.zeros(2, 2, 2)"),
):
    _copy_of(_name, _fn, _arguments, _call)
_copy_of(
    "narrow_copy",
    _narrow,
    "dim, start and length.",
    "vistorch.zeros(2, 3), 1, 0, 2",
    "NarrowCopyBackward0",
    True,
)


@public(method=False)
def alias_copy(input, *, out=None):
    """A copy.

    Args:
        input: the tensor.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.alias_copy(vistorch.ones(2))
        tensor([1., 1.])
    """
    tensor(input, "alias_copy")
    if out is not None:
        _check_out("alias_copy", out, input)
    o = METHODS["clone"](input)
    return o if out is None else _into(out, o)


@public(method=False)
def detach_copy(input, *, out=None):
    """A copy without history.

    Args:
        input: the tensor.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.detach_copy(vistorch.ones(2))
        tensor([1., 1.])
    """
    a = tensor(input, "detach_copy")
    if out is not None:
        out_argument.check_out("aten::detach_copy", out)
    o = wrap(input._place.xp.array(a, order="C"), input._place)
    return o if out is None else _into(out, o)


PIECES_OUT = {
    "unbind_copy": "unbind_copy_int_out",
    "split_copy": "split_copy_Tensor_out()",
    "split_with_sizes_copy": "split_with_sizes_copy_out",
}


def _pieces(name: str, split: str, argument: str) -> Any:
    """The copying form of a function that gives several views."""

    def copies(input, *args, out=None, **named):
        tensor(input, name)
        if out is None:
            return tuple([METHODS["clone"](part) for part in _named(split)(input, *args, **named)])
        parts = _named(split)(input.detach(), *args, **named)
        if (
            isinstance(out, (tuple, list))
            and len(out) != len(parts)
            and all(isinstance(o, Tensor) for o in out)
        ):
            label, wanted = PIECES_OUT[name], len(parts)
            raise RuntimeError(f"{label} expected an out= argument of size {wanted}, got size {len(out)}")
        out_argument.check_outs(name, out, (input,), len(parts))
        for one, part in zip(out, parts, strict=True):
            if name == "split_copy":  # the one that does not resize
                METHODS["copy_"](one, part)
            else:
                _into(one, part)
        return None

    given = {"unbind_copy": "", "split_copy": ", 1"}.get(name, ", (1, 1)")
    copies.__name__ = copies.__qualname__ = name
    copies.__doc__ = f"""`{name.removesuffix("_copy")}`, each piece a copy.

    Args:
        input: the tensor.
        *args: {argument}
        out: a tuple of tensors to write the pieces into; then nothing is returned.
        **named: the same by name.

    Example:
        >>> import vistorch
        >>> len(vistorch.{name}(vistorch.zeros(2){given}))
        2
    """
    return expose(copies, method=False)


_pieces("unbind_copy", "unbind", "the dim.")
_pieces("split_copy", "split", "the size of a piece, and the dim.")
_pieces("split_with_sizes_copy", "split_with_sizes", "the sizes of the pieces, and the dim.")


def _parts(xp, input, dim, lengths):
    whole = copied(xp, input)  # whose strides the pieces have
    found, at = [], 0
    for n in lengths:
        found.append(whole[rows.key(dim, slice(at, at + n))])
        at += n
    return tuple(found)


unsafe_row, unsafe_sizes_row = (
    op(
        name,
        _parts,
        inputs="input",
        outs=None,
        widen=False,
        formula=r"\bar x = \mathrm{cat}(\bar y_1, \bar y_2, \ldots)",
        input=lambda F, g, dim, lengths, input_shape: _split_vjp(F, g, dim, lengths, input_shape),
    )
    for name in ("unsafe_split", "unsafe_split_with_sizes")
)


@public()
def unsafe_split(input, split_size, dim=0):
    """`split`, its pieces being no views, so that they may be written in place.

    Args:
        input: the tensor.
        split_size: the size of a piece.
        dim: the dim.

    Example:
        >>> import vistorch
        >>> vistorch.unsafe_split(vistorch.arange(3), 2)
        (tensor([0, 1]), tensor([2]))
    """
    parts = METHODS["split"](input, split_size, dim)  # checks the arguments
    at = dims.one(dim, input._data.ndim)
    return unsafe_row(input, at, tuple([p._data.shape[at] for p in parts]))


@public()
def unsafe_chunk(input, chunks, dim=0):
    """`chunk`, its pieces being no views.

    Args:
        input: the tensor.
        chunks: how many pieces.
        dim: the dim.

    Example:
        >>> import vistorch
        >>> vistorch.unsafe_chunk(vistorch.arange(3), 2)
        (tensor([0, 1]), tensor([2]))
    """
    parts = METHODS["chunk"](input, chunks, dim)
    at = dims.one(dim, input._data.ndim)
    return unsafe_row(input, at, tuple([p._data.shape[at] for p in parts]))


@public()
def unsafe_split_with_sizes(input, split_sizes, dim=0):
    """`split_with_sizes`, its pieces being no views.

    Args:
        input: the tensor.
        split_sizes: the sizes of the pieces.
        dim: the dim.

    Example:
        >>> import vistorch
        >>> vistorch.unsafe_split_with_sizes(vistorch.arange(3), (1, 2))
        (tensor([0]), tensor([1, 2]))
    """
    METHODS["split_with_sizes"](input, split_sizes, dim)
    return unsafe_sizes_row(input, dims.one(dim, input._data.ndim), tuple(split_sizes))


def _each(name: str, x: Tensor, others: tuple, fn: Any) -> Tensor:
    """Write fn(element, ...) over every element of `x`."""
    for t in (x, *others):
        if t._place.kind:
            raise TypeError(f"{name} is only implemented on CPU tensors")
    if mode.on and sync_rg(x):
        raise RuntimeError(
            f"Can't call {name} on Variable that requires grad. Use var.detach().{name} instead."
        )
    arrays = []
    for t in others:
        if t._data.dtype != x._data.dtype:
            raise TypeError(f"{name}: expected tensors of one type")
        arrays.append(expand(x._place.xp, t._data, x._data.shape))
    values = [fn(*items) for items in zip(*[a.reshape(-1).tolist() for a in (x._data, *arrays)], strict=True)]
    made = x._place.xp.asarray(values).astype(x._data.dtype).reshape(x._data.shape)
    return METHODS["copy_"](x, wrap(made, x._place))


@public(function=False)
def apply_(self, callable):
    """Replace each element by what a function makes of it.

    Args:
        self: the tensor, on the CPU.
        callable: the function.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([1.0, 2.0]).apply_(lambda x: x + 1)
        tensor([2., 3.])
    """
    return _each("apply_", self, (), callable)


@public(function=False)
def map_(self, tensor, callable):
    """Replace each element by what a function makes of it and of another tensor's.

    Args:
        self: the tensor, on the CPU.
        tensor: the other tensor.
        callable: the function.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([1.0, 2.0]).map_(vistorch.tensor([3.0, 4.0]), lambda x, y: x * y)
        tensor([3., 8.])
    """
    return _each("map_", self, (tensor,), callable)


@public(function=False)
def map2_(self, x, y, callable):
    """Replace each element by what a function makes of it and of two other tensors'.

    Args:
        self: the tensor, on the CPU.
        x: another tensor.
        y: a third one.
        callable: the function.

    Example:
        >>> import vistorch
        >>> a = vistorch.tensor([1.0, 2.0])
        >>> a.map2_(vistorch.tensor([3.0, 4.0]), vistorch.tensor([5.0, 6.0]), lambda x, y, z: x + y + z)
        tensor([ 9., 12.])
    """
    return _each("map2_", self, (x, y), callable)


@public()
def as_strided_scatter(input, src, size, stride, storage_offset=None):
    """A copy of the tensor, with `src` written where `as_strided` looks.

    Args:
        input: the tensor.
        src: what is written.
        size: the sizes.
        stride: how many elements lie between neighbours, for each dim.
        storage_offset: where in the storage to begin.

    Example:
        >>> import vistorch
        >>> vistorch.as_strided_scatter(vistorch.zeros(4), vistorch.ones(2), (2,), (2,))
        tensor([1., 0., 1., 0.])
    """
    tensor(input, "as_strided_scatter")
    tensor(src, "as_strided_scatter", "src", 2)
    if src._place is not input._place:
        errors.check_devices(input._place, src._place, "as_strided_scatter")
    out = METHODS["clone"](input)
    part = METHODS["as_strided"](out, size, stride, storage_offset)
    if part._data.shape != src._data.shape:
        raise RuntimeError(
            f"expected src to have a size equal to the slice of self. src size = {errors.sizes(src._data.shape)}, "
            f"slice size = {errors.sizes(part._data.shape)}"
        )
    METHODS["copy_"](part, src)
    return out
