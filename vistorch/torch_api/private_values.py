"""Small functions that libraries take from PyTorch's private modules, and what they need to work here.

Invariant: each does what its namesake does; `private_names.py` says where it is found.
"""

from __future__ import annotations

import datetime
import importlib
import math
import sys
import traceback
from dataclasses import dataclass
from typing import Any

import vistorch
from vistorch.engine.base import dtypes
from vistorch.engine.library_name import library
from vistorch.engine.methods.format import elements_text
from vistorch.engine.ops.shape.convert import asked

DeviceLikeType = Any
ShapeType = Any
TensorLikeType = vistorch.Tensor
TensorMeta = type(vistorch.Tensor)
half_an_hour = datetime.timedelta(minutes=30)
sparse_block_size = 128
guard_or_false = guard_or_true = guard_size_oblivious = (
    bool  # every size is known, so a question about it is answered
)


def _tensor_str(self: Any, indent: int) -> str:
    """The elements as they are printed."""
    return elements_text(self.detach()._data, indent)


def none(*args: Any, **kwargs: Any) -> None:
    """Nothing, whatever is asked."""


def parse_to(*args: Any, **kwargs: Any) -> tuple:
    """What the arguments of `Module.to` ask for: device, dtype, non_blocking and memory format."""
    kind, place, _, form, waits = asked(args, dict(kwargs))
    return None if place is None else place.device, None if kind is None else dtypes.of(kind), waits, form


# ---- how a tensor would be spread: values that plans are written in -----------------------------------------------
class Placement:
    """How a tensor is spread along one dim of a grid of ranks."""

    def is_shard(self, dim: int | None = None) -> bool:
        """Whether it is cut; along this dim, if one is given."""
        return isinstance(self, Shard) and dim in (None, self.dim)

    def is_replicate(self) -> bool:
        """Whether every rank has all of it."""
        return isinstance(self, Replicate)

    def is_partial(self, reduce_op: str | None = None) -> bool:
        """Whether the ranks' tensors are still to be joined; in this way, if one is given."""
        return isinstance(self, Partial) and reduce_op in (None, self.reduce_op)


@dataclass(frozen=True)
class Shard(Placement):
    """Cut along a dim."""

    dim: int

    def __str__(self) -> str:
        return f"S({self.dim})"


@dataclass(frozen=True)
class Replicate(Placement):
    """The same on every rank."""

    def __str__(self) -> str:
        return "R"


@dataclass(frozen=True)
class Partial(Placement):
    """Still to be joined."""

    reduce_op: str = "sum"

    def __repr__(self) -> str:
        return f"Partial({self.reduce_op})"

    def __str__(self) -> str:
        return f"P({self.reduce_op})"


# ---- questions about types ----------------------------------------------------------------------------------------
def is_boolean_dtype(dtype: Any) -> bool:
    """Whether a dtype is bool."""
    return dtype is vistorch.bool


def is_integer_dtype(dtype: Any) -> bool:
    """Whether a dtype holds whole numbers."""
    return not (dtype.is_floating_point or dtype.is_complex or dtype is vistorch.bool)


def is_float_dtype(dtype: Any) -> bool:
    """Whether a dtype is floating."""
    return dtype.is_floating_point


def is_complex_dtype(dtype: Any) -> bool:
    """Whether a dtype is complex."""
    return dtype.is_complex


def make_contiguous_strides_for(shape: Any, row_major: bool = True) -> tuple[int, ...]:
    """The strides of a contiguous tensor of a shape; by columns in its last two dims if `row_major` is False."""
    strides = [1]
    for n in reversed(tuple(shape)[1:]):
        strides.insert(0, strides[0] * max(int(n), 1))
    if not row_major and len(shape) > 1:
        strides[-1], strides[-2] = max(int(shape[-2]), 1), 1
    return tuple(strides) if len(shape) else ()


# ---- torch._utils -------------------------------------------------------------------------------------------------
def _element_size(dtype: Any) -> int:
    return dtype.itemsize


def _flatten_dense_tensors(tensors: Any) -> Any:
    return vistorch.cat([t.contiguous().view(-1) for t in tensors])


def _unflatten_dense_tensors(flat: Any, tensors: Any) -> tuple:
    found, at = [], 0
    for t in tensors:
        found.append(flat.narrow(0, at, t.numel()).view_as(t))
        at += t.numel()
    return tuple(found)


def _get_available_device_type() -> str | None:
    return "cuda" if vistorch.cuda.is_available() else None


def _get_all_device_indices() -> list[int]:
    return list(range(vistorch.cuda.device_count()))


def _get_device_index(device: Any, optional: bool = False, allow_cpu: bool = False) -> int:
    if isinstance(device, int):
        return device
    named = vistorch.device(device) if isinstance(device, str) else device
    if isinstance(named, vistorch.device):
        if named.type == "cpu":
            if allow_cpu:
                return -1
            raise ValueError(f"Expected a non cpu device, but got: {named}")
        if named.index is not None:
            return named.index
    if optional:
        return vistorch.cuda.current_device() if vistorch.cuda.is_available() else -1
    raise ValueError(f"Expected a device with a specified index or an integer, but got: {device}")


def _import_dotted_name(name: str) -> Any:
    root, *parts = name.split(".")
    found: Any = importlib.import_module(root)
    for part in parts:
        found = getattr(found, part)
    return found


def _rebuild_tensor_v2(*args: Any) -> Any:
    return importlib.import_module("vistorch.serialization.rebuild").REBUILDERS["_rebuild_tensor_v2"](*args)


def _rebuild_parameter(*args: Any) -> Any:
    return importlib.import_module("vistorch.serialization.rebuild").REBUILDERS["_rebuild_parameter"](*args)


def _group_tensors_by_device_and_dtype(tensorlistlist: Any, with_indices: bool = False) -> dict:
    """Lists of tensors that belong together, apart by device and dtype of the first list's."""
    groups: dict[tuple, tuple[list[list], list[int]]] = {}
    for at, row in enumerate(zip(*tensorlistlist, strict=True)):
        key = row[0].device, row[0].dtype
        lists, places = groups.setdefault(key, ([[] for _ in row], []))
        for one, tensor in zip(lists, row, strict=True):
            one.append(tensor)
        if with_indices:
            places.append(at)
    return groups


def _require_initialized(function: Any) -> Any:
    """A function of remote calls: nothing is ever initialized for it here."""

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("RPC has not been initialized. Call torch.distributed.rpc.init_rpc first.")

    return refuse


def _get_foreach_kernels_supported_devices() -> list[str]:
    return ["cuda", "xpu", "mtia", "privateuseone"]


def _get_fused_kernels_supported_devices() -> list[str]:
    return ["mps", "cuda", "xpu", "hpu", "cpu", "mtia", "privateuseone"]


def _device_has_foreach_support(device: Any) -> bool:
    return device.type in (*_get_foreach_kernels_supported_devices(), "cpu")


def _has_foreach_support(tensors: list, device: Any) -> bool:
    kinds = (type(None), vistorch.Tensor, vistorch.nn.Parameter)
    return _device_has_foreach_support(device) and all(type(one) in kinds for one in tensors)


class ExceptionWrapper:
    """An error of another thread or process, with its text, to be raised here.

    Args:
        exc_info: as `sys.exc_info()` gives it; the present error if there is none.
        where: what to say of its place.
    """

    def __init__(self, exc_info: Any = None, where: str = "in background") -> None:
        kind, error, trace = exc_info or sys.exc_info()
        self.exc_type: Any = kind
        self.exc_msg = "".join(traceback.format_exception(kind, error, trace))
        self.where = where

    def reraise(self) -> None:
        """Raise it."""
        text = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        try:
            error = self.exc_type(text)
        except Exception:  # it takes other arguments
            raise RuntimeError(text) from None
        raise error


# ---- lists of tensors ---------------------------------------------------------------------------------------------
_EACH = """
abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2 neg reciprocal round rsqrt
sigmoid sign sin sinh sqrt tan tanh trunc
""".split()
_WITH = "add clamp_max clamp_min div lerp maximum minimum mul pow sub addcdiv addcmul".split()


def _rows(first: list, others: tuple) -> list[list]:
    """The further arguments of each call: lists are gone through beside the first, all else is the same for each."""
    columns = []
    for other in others:
        if isinstance(other, (list, tuple)):
            if len(other) != len(first):
                raise RuntimeError(
                    f"Tensor lists must have the same number of tensors, got {len(first)} and {len(other)}"
                )
            columns.append(list(other))
        elif isinstance(other, vistorch.Tensor) and other.ndim == 1 and len(other) == len(first) != 1:
            columns.append(list(other.unbind()))  # one number for each
        else:
            columns.append([other] * len(first))
    return [list(row) for row in zip(*columns, strict=True)] if columns else [[] for _ in first]


def _called(name: str, x: Any, row: list, options: dict[str, Any]) -> Any:
    plain = row and not isinstance(row[0], vistorch.Tensor)
    if name in ("maximum", "minimum") and plain:
        return getattr(x, "clamp_min" if name == "maximum" else "clamp_max")(row[0])
    if name in ("addcdiv", "addcmul"):
        value = row[2] if len(row) > 2 else options.get("value", 1)
        return getattr(x, name)(row[0], row[1], value=value.item() if hasattr(value, "item") else value)
    return getattr(x, name)(*row, **options)


def _foreach(name: str, in_place: bool) -> Any:
    def each(self: Any, *others: Any, **options: Any) -> Any:
        if name == "pow" and not isinstance(self, (list, tuple)):  # a number to the powers of a list
            return tuple([vistorch.pow(self, x) for x in others[0]])
        tensors = list(self)
        for key in ("scalar", "scalars", "tensors", "weight", "weights", "exponent", "other"):
            if key in options:
                others = (*others, options.pop(key))
        found = []
        for x, row in zip(tensors, _rows(tensors, others), strict=True):
            out = _called(name, x, row, options)
            if in_place:
                x.copy_(out)
            found.append(out)
        return None if in_place else tuple(found)

    each.__name__ = each.__qualname__ = f"_foreach_{name}{'_' if in_place else ''}"
    each.__doc__ = f"`{name}` of every tensor of a list."
    return each


def _foreach_norm(self: Any, ord: Any = 2, dtype: Any = None) -> tuple:
    return tuple([vistorch.linalg.vector_norm(x, ord, dtype=dtype) for x in self])


def _foreach_copy_(self: Any, src: Any, non_blocking: bool = False) -> None:
    for x, y in zip(self, src, strict=True):
        x.copy_(y, non_blocking)


def _foreach_zero_(self: Any) -> None:
    for x in self:
        x.zero_()


def _foreach_max(self: Any) -> tuple:
    return tuple([x.max() for x in self])


def _foreach_clone(self: Any, memory_format: Any = None) -> tuple:
    return tuple([x.clone() for x in self])


# ---- sizes that a compiler might not know: here they are numbers -------------------------------------------------
def sym_float(a: Any) -> float:
    """A size as a float.

    Args:
        a: the size.

    Example:
        >>> import vistorch
        >>> vistorch.sym_float(3)
        3.0
    """
    return a.__float__()


def sym_int(a: Any) -> int:
    """A number without what stands behind its point.

    Args:
        a: the number.

    Example:
        >>> import vistorch
        >>> vistorch.sym_int(2.7)
        2
    """
    return math.trunc(a)


def sym_ite(b: bool, t: Any, f: Any) -> Any:
    """One of two values.

    Args:
        b: whether it is the first.
        t: the first.
        f: the second.

    Example:
        >>> import vistorch
        >>> vistorch.sym_ite(True, 1, 2)
        1
    """
    return t if b else f


def sym_max(a: Any, b: Any) -> Any:
    """The larger of two sizes.

    Args:
        a: one.
        b: the other.

    Example:
        >>> import vistorch
        >>> vistorch.sym_max(2, 3)
        3
    """
    return float(max(a, b)) if isinstance(a, float) or isinstance(b, float) else max(a, b)


def sym_min(a: Any, b: Any) -> Any:
    """The smaller of two sizes.

    Args:
        a: one.
        b: the other.

    Example:
        >>> import vistorch
        >>> vistorch.sym_min(2, 3)
        2
    """
    return float(min(a, b)) if isinstance(a, float) or isinstance(b, float) else min(a, b)


def sym_not(a: bool) -> bool:
    """The opposite.

    Args:
        a: true or false.

    Example:
        >>> import vistorch
        >>> vistorch.sym_not(True)
        False
    """
    return not a


def sym_sum(args: Any) -> Any:
    """The sum of sizes.

    Args:
        args: the sizes.

    Example:
        >>> import vistorch
        >>> vistorch.sym_sum([1, 2])
        3
    """
    return sum(args)


def get_accelerator(check: Any = None) -> Any:
    """The device that is not the CPU, where there is one."""
    return vistorch.device("cuda" if vistorch.cuda.is_available() else "cpu")


def is_contiguous_or_false(a: Any, memory_format: Any = vistorch.contiguous_format) -> bool:
    """Whether a tensor is contiguous."""
    return a.is_contiguous(memory_format=memory_format)


def no_symbols(value: Any) -> set:
    """The open sizes in a value: there are none."""
    return set()


# ---- backward formulas of their own names -------------------------------------------------------------------------
def _softmax_backward_data(grad_output: Any, output: Any, dim: int, input_dtype: Any) -> Any:
    part = grad_output * output
    return (part - output * part.sum(dim, keepdim=True)).to(input_dtype)


def _log_softmax_backward_data(grad_output: Any, output: Any, dim: int, input_dtype: Any) -> Any:
    return (grad_output - output.exp() * grad_output.sum(dim, keepdim=True)).to(input_dtype)


# ---- checks -------------------------------------------------------------------------------------------------------
def _check_with(error_type: Any, cond: Any, message: Any = None) -> None:
    if not isinstance(cond, bool):
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    if cond:
        return
    if message is None:
        said = (
            "Expected cond to be True, but got False. (Could this error message be improved? If so, please report an "
            "enhancement request to PyTorch.)"
        )
    elif not callable(message):
        raise TypeError("message must be a callable")
    else:
        said = str(message())
    raise error_type(said)


def _checks(error_type: Any) -> Any:
    def check(cond: Any, message: Any = None) -> None:
        _check_with(error_type, cond, message)

    return check


def _check_is_size(i: Any, message: Any = None, *, max: Any = None) -> None:
    _check_with(RuntimeError, bool(i >= 0), message)
    if max is not None:
        _check_with(RuntimeError, bool(i <= max), message)


def _check_tensor_all_with(error_type: Any, cond: Any, message: Any = None) -> None:
    if not isinstance(cond, vistorch.Tensor):
        raise TypeError(f"cond must be a tensor, but got {type(cond)}")
    if cond.dtype is not vistorch.bool:
        raise TypeError(f"cond tensor must have dtype torch.bool, but got {cond.dtype}")
    _check_with(error_type, bool(cond.all()), message)


def _check_tensor_all(cond: Any, message: Any = None) -> None:
    _check_tensor_all_with(RuntimeError, cond, message)


def _assert(condition: Any, message: str) -> None:
    assert condition, message


def _assert_async(
    input: Any, assert_msg: str = "Expected Tensor with single nonzero value, but got zero"
) -> None:
    if not bool(input):
        raise RuntimeError(assert_msg)


def _shape_as_tensor(self: Any) -> Any:
    return vistorch.tensor(list(self.shape), dtype=vistorch.int64)


def hparams(*args: Any, **kwargs: Any) -> Any:
    """Refused: the writer's `add_hparams` writes them."""
    raise NotImplementedError(
        f"{library}.utils.tensorboard.summary.hparams is not built: use SummaryWriter.add_hparams"
    )


# Names of `vistorch` itself that begin with an underscore.
NAMES: dict[str, Any] = {
    **{f"_foreach_{name}": _foreach(name, False) for name in (*_EACH, *_WITH)},
    **{f"_foreach_{name}_": _foreach(name, True) for name in (*_EACH, *_WITH)},
    "_assert": _assert,
    "_assert_async": _assert_async,
    "_check": _checks(RuntimeError),
    "_check_index": _checks(IndexError),
    "_check_is_size": _check_is_size,
    "_check_not_implemented": _checks(NotImplementedError),
    "_check_tensor_all": _check_tensor_all,
    "_check_tensor_all_with": _check_tensor_all_with,
    "_check_type": _checks(TypeError),
    "_check_value": _checks(ValueError),
    "_check_with": _check_with,
    "_foreach_clone": _foreach_clone,
    "_foreach_copy_": _foreach_copy_,
    "_foreach_max": _foreach_max,
    "_foreach_norm": _foreach_norm,
    "_foreach_zero_": _foreach_zero_,
    "_log_softmax_backward_data": _log_softmax_backward_data,
    "_softmax_backward_data": _softmax_backward_data,
    "_shape_as_tensor": _shape_as_tensor,
}
