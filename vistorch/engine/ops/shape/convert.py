"""Copies and conversions: clone, contiguous, to and its many short forms.

Invariant: a conversion that changes nothing returns the very same tensor.
"""

from __future__ import annotations

import warnings
from typing import Any

from ...base import dtypes, type_names
from ...base.dims import flag
from ...base.layout import RANKS, axes_last, check_rank, contiguous_format, memory_format, preserve_format
from ...core.base_ops import cast, clone_, to_place
from ...core.op_factory import op
from ...core.registry import METHODS, public
from ...core.tensor import Tensor, wrap
from ...library_name import library
from ...memory.placement import BATCHED, CPU, place_of
from ...methods.metadata import is_contiguous
from . import rows
from .views import tensor

_said: list = []


def _channels_last(xp, input):
    there, back = axes_last(input.ndim)
    return xp.array(input.transpose(there), order="C").transpose(back)


channels_last_row = op(
    "to_channels_last",
    _channels_last,
    widen=False,
    name_in_graph="CloneBackward0",
    formula=r"\bar x = \bar y",
    input=lambda F, g: g,
)
copied = op(
    "to_copy",
    lambda xp, input: xp.array(input),
    widen=False,
    name_in_graph="ToCopyBackward0",
    formula=r"\bar x = \bar y",
    input=lambda F, g: g,
)


def check_format(form: Any, func: str) -> None:
    """Refuse what is no memory format."""
    if form.__class__ is not memory_format:
        raise TypeError(
            f"{func}(): argument 'memory_format' must be {library}.memory_format, not {type(form).__name__}"
        )


def arranged(x: Tensor, form: Any, func: str) -> Tensor:
    """A copy in a memory format."""
    check_format(form, func)
    if form in RANKS:
        check_rank(form, x._data.ndim)
        return channels_last_row(x)
    return clone_(x) if form is preserve_format else rows.contiguous(x)


@public()
def clone(input: Tensor, *, memory_format: Any = preserve_format) -> Tensor:
    """A copy; gradients flow through it.

    Args:
        input: the tensor.
        memory_format: in which order the elements are to lie.

    Example:
        >>> import vistorch
        >>> vistorch.clone(vistorch.tensor([1, 2]))
        tensor([1, 2])
    """
    tensor(input, "clone")
    return (
        clone_(input)
        if memory_format is preserve_format or memory_format is None
        else arranged(input, memory_format, "clone")
    )


@public(function=False)
def contiguous(self: Tensor, memory_format: Any = contiguous_format) -> Tensor:
    """The tensor itself if its elements lie in row-major order, a copy where they do otherwise.

    Args:
        self: the tensor.
        memory_format: another order.

    Example:
        >>> import vistorch
        >>> vistorch.zeros(2, 3).t().contiguous().stride()
        (2, 1)
    """
    if memory_format is contiguous_format:
        return self if self._data.flags.c_contiguous else rows.contiguous(self)
    check_format(memory_format, "contiguous")
    if memory_format is preserve_format or is_contiguous(self, memory_format=memory_format):
        return self
    return arranged(self, memory_format, "contiguous")


# ---- to ---------------------------------------------------------------------------------------------------------
def converted(
    x: Tensor,
    dtype: Any,
    place: Any = None,
    copy: bool = False,
    form: Any = None,
    non_blocking: bool = False,
) -> Tensor:
    """`x` with a numpy dtype at a place (None leaves each as it is); `x` itself where nothing changes."""
    d = x._data
    if form is not None:
        check_format(form, "to")
        if form in RANKS:
            check_rank(form, d.ndim)
    moves = place is not None and place is not x._place and not (place is CPU and x._place.kind == BATCHED)
    if dtype is None:
        dtype = d.dtype
    casts = dtype != d.dtype
    if not moves and not casts and not copy:
        if form in RANKS and not is_contiguous(x, memory_format=form):
            return channels_last_row(x)
        return x
    o = x
    if casts:
        if d.dtype.kind == "c" and dtype.kind != "c" and dtype.kind != "b":
            warn_imaginary()
        # integers have no gradient: what becomes one leaves the graph
        o = cast(o if dtype in DIFFERENTIABLE else wrap(d, o._place), dtype)
    if moves:
        o = to_place(o, place, non_blocking)
    if o is x:
        o = copied(x)
    if form is contiguous_format and not o._data.flags.c_contiguous:
        return rows.contiguous(o)
    return channels_last_row(o) if form in RANKS else o


def warn_imaginary() -> None:
    """PyTorch warns once in a process when imaginary parts are lost."""
    if not _said:
        _said.append(True)
        warnings.warn("Casting complex values to real discards the imaginary part", UserWarning, stacklevel=4)


_NUMBERS = {float: dtypes.float64, int: dtypes.int64, bool: dtypes.bool, complex: dtypes.complex128}


DIFFERENTIABLE = frozenset([k.np for k in dtypes.ALL if k.is_floating_point or k.is_complex])


@public(function=False)
def to(self: Tensor, *args: Any, **named: Any) -> Tensor:
    """The tensor as another dtype, on another device, or both; itself where that changes nothing.

    Args:
        self: the tensor.
        *args: `dtype`, or `device` (and `dtype`), or another tensor to take both from; then `non_blocking`, `copy`.
        **named: the same by name, and `memory_format`.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([1, 2]).to(vistorch.float32)
        tensor([1., 2.])
    """
    if len(args) == 1 and not named and args[0].__class__ is dtypes.dtype:
        return converted(self, args[0].np)
    return converted(self, *asked(args, named))


def asked(args: tuple, named: dict) -> tuple:
    """What the arguments of `to` ask for, as `converted` takes it: None for as it is."""
    form = named.pop("memory_format", None)
    first = args[0] if args else None
    if isinstance(first, Tensor):
        dtype, place, rest, names = first._data.dtype, first._place, args[1:], ("non_blocking", "copy")
    elif first.__class__ is dtypes.dtype or (isinstance(first, type) and first in _NUMBERS):
        kind: Any = first if first.__class__ is dtypes.dtype else _NUMBERS[first]
        if "dtype" in named:
            raise TypeError("to() received an invalid combination of arguments")
        dtype, place, rest, names = kind.np, None, args[1:], ("non_blocking", "copy")
    else:
        dtype = place = None
        rest, names = args, ("device", "dtype", "non_blocking", "copy")
    values = dict(zip(names, rest, strict=False))
    if len(rest) > len(names) or set(values) & set(named) or set(named) - set(names) - {"device"}:
        raise TypeError(
            "to() received an invalid combination of arguments - got "
            f"({', '.join([*(type(a).__name__ for a in args), *(f'{k}=' for k in named)])})"
        )
    values.update(named)
    for name in ("non_blocking", "copy"):
        if name in values:
            flag(values[name], "to", name)
    if values.get("device") is not None:
        place = _place(values["device"])
    if values.get("dtype") is not None:
        dtype = _dtype(values["dtype"])
    return dtype, place, bool(values.get("copy")), form, bool(values.get("non_blocking"))


def _place(device: Any) -> Any:
    if isinstance(device, type):
        raise TypeError(f"to() received an invalid combination of arguments - got ({type(device).__name__})")
    return place_of(device, "to")


def _dtype(given: Any) -> Any:
    return (_NUMBERS[given] if given in _NUMBERS else dtypes.to_dtype(given, "to")).np


def _short(name: str, kind: Any, given: str, gives: str) -> None:
    target = kind.np

    def call(self: Tensor, *, memory_format: Any = None) -> Tensor:
        if self._data.dtype is target and memory_format is None:
            return self
        return converted(self, target, None, False, memory_format)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"""`self.to(vistorch.{kind.name})`.

    Args:
        self: the tensor.
        memory_format: in which order the elements are to lie.

    Example:
        >>> import vistorch
        >>> vistorch.tensor({given}).{name}()
        {gives}
    """
    METHODS[name] = call


for _name, _kind, _given, _gives in (
    ("double", dtypes.float64, "[1, 2]", "tensor([1., 2.], dtype=vistorch.float64)"),
    ("float", dtypes.float32, "[1, 2]", "tensor([1., 2.])"),
    ("half", dtypes.float16, "[1, 2]", "tensor([1., 2.], dtype=vistorch.float16)"),
    ("bfloat16", dtypes.bfloat16, "[1, 2]", "tensor([1., 2.], dtype=vistorch.bfloat16)"),
    ("cdouble", dtypes.complex128, "[1, 2]", "tensor([1.+0.j, 2.+0.j], dtype=vistorch.complex128)"),
    ("cfloat", dtypes.complex64, "[1, 2]", "tensor([1.+0.j, 2.+0.j])"),
    ("long", dtypes.int64, "[1.5, -1.5]", "tensor([ 1, -1])"),
    ("int", dtypes.int32, "[1.5, -1.5]", "tensor([ 1, -1], dtype=vistorch.int32)"),
    ("short", dtypes.int16, "[1.5, -1.5]", "tensor([ 1, -1], dtype=vistorch.int16)"),
    ("char", dtypes.int8, "[1.5, -1.5]", "tensor([ 1, -1], dtype=vistorch.int8)"),
    ("byte", dtypes.uint8, "[1.5, 255.0]", "tensor([  1, 255], dtype=vistorch.uint8)"),
    ("bool", dtypes.bool, "[1.5, 0.0]", "tensor([ True, False])"),
):
    _short(_name, _kind, _given, _gives)


@public(function=False)
def cpu(self: Tensor, *, memory_format: Any = None) -> Tensor:
    """The tensor in the CPU's memory; itself if it is there.

    Args:
        self: the tensor.
        memory_format: in which order the elements are to lie.

    Example:
        >>> import vistorch
        >>> vistorch.ones(2).cpu()
        tensor([1., 1.])
    """
    return converted(self, None, place_of("cpu"), False, memory_format)


@public(function=False)
def cuda(self: Tensor, device: Any = None, non_blocking: bool = False, memory_format: Any = None) -> Tensor:
    """The tensor in a CUDA device's memory; itself if it is there.

    Args:
        self: the tensor.
        device: which device; the current one if None.
        non_blocking: whether the host may go on meanwhile.
        memory_format: in which order the elements are to lie.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> vistorch.ones(2).cuda().device
        device(type='cuda', index=0)
        >>> vistorch.cuda.simulate(None)
    """
    flag(non_blocking, "cuda", "non_blocking")
    place = place_of("cuda" if device is None else device, "cuda")
    return converted(self, None, place, False, memory_format, bool(non_blocking))


@public("type", function=False)
def type_(self: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    """The name of the tensor's type, or the tensor as another type.

    Args:
        self: the tensor.
        dtype: a dtype, a name such as "vistorch.FloatTensor", or such a class.
        non_blocking: whether the host may go on meanwhile.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([1]).type()
        'vistorch.LongTensor'
    """
    flag(non_blocking, "type", "non_blocking")
    if dtype is None:
        return type_names.type_name(dtypes.of(self._data.dtype), self._place.device.type)
    if dtype.__class__ is dtypes.dtype:
        return converted(self, dtype.np)
    if isinstance(dtype, type):
        name = getattr(dtype, "__name__", "")
        where = ".cuda" if "cuda" in getattr(dtype, "__module__", "") else ""
        dtype = f"{library}{where}.{name}" if name.endswith("Tensor") and name != "Tensor" else name
    if not isinstance(dtype, str):
        raise TypeError("dtype must be a type, str, or dtype object")
    kind, device = type_names.of_type_name(dtype)
    place = None if device == self._place.device.type else place_of(device)
    return converted(self, kind.np, place, non_blocking=bool(non_blocking))


@public(function=False)
def type_as(self: Tensor, other: Tensor) -> Tensor:
    """The tensor as the type of another, on its device.

    Args:
        self: the tensor.
        other: the other.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([1, 2]).type_as(vistorch.ones(1))
        tensor([1., 2.])
    """
    tensor(other, "type_as", "other")
    return converted(self, other._data.dtype, other._place)
