"""What every reduction needs around its kernel: dims put back, checked arguments, `out=`.

Invariant: constants named `dims` are sorted non-negative axes (empty for a tensor without dims).
"""

from __future__ import annotations

from typing import Any

from ...base import dims as _dims
from ...base import dtypes, errors
from ...base.modes import no_grad
from ...core import out_argument
from ...core.op_factory import op
from ...core.tensor import Tensor

MISSING: Any = type("Missing", (), {"__repr__": lambda self: "<not given>", "__slots__": ()})()


def kept(shape: tuple, dims: Any) -> tuple:
    """The shape after reducing `dims` with keepdim."""
    if dims.__class__ is int:
        dims = (dims,)
    return tuple([1 if i in dims else n for i, n in enumerate(shape)])


as_shape = op(
    "as_shape",
    lambda xp, input, shape: xp.asarray(input).reshape(shape),
    widen=False,
    name_in_graph="ReshapeAliasBackward0",
    formula=r"\bar x = \mathrm{reshape}(\bar y)",
    input=lambda F, g, input_shape: F.as_shape(g, input_shape),
)


def back(F: Any, g: Any, dims: Any, shape: tuple) -> Any:
    """A reduced value (with or without keepdim) in a shape that broadcasts against the input's."""
    target = kept(shape, dims)
    return g if g.shape == target else F.as_shape(g, target)


def size_of(shape: tuple, dims: tuple) -> int:
    """How many elements are reduced into one."""
    n = 1
    for d in dims:
        n *= shape[d]
    return n


def axes_of(input: Tensor, dim: Any, name: str = "") -> tuple:
    """The axes a `dim` argument names: all for None and (), none for a tensor without dims."""
    n = input._data.ndim
    if dim.__class__ is int and 0 < n and -n <= dim < n:
        return (dim if dim >= 0 else dim + n,)
    if dim is MISSING or dim is None or dim == ():
        return tuple(range(n))
    axes = _dims.many(dim, n, name, "dim", 2)
    return tuple(sorted(axes)) if axes and n else tuple(range(n))


def axis_of(input: Tensor, dim: Any, name: str = "") -> int:
    """One axis, counted from the front (0 for a tensor without dims)."""
    return _dims.one(dim, input._data.ndim, name, "dim", 2)


def numpy_names(name: str, given: dict, dim: Any, keepdim: Any = False) -> tuple:
    """`axis=` and `keepdims=`, which PyTorch understands too, as (dim, keepdim)."""
    dim = given.pop("axis", dim)
    keepdim = given.pop("keepdims", keepdim)
    for other in given:
        raise TypeError(f"{name}() got an unexpected keyword argument '{other}'")
    return dim, keepdim


def keeps_dim(keepdim: Any, name: str, dim: Any) -> bool:
    """A `keepdim` that was given, as a bool; without a dim there is none to keep."""
    keepdim = _dims.flag(keepdim, name, "keepdim")
    if dim is MISSING:
        raise TypeError(
            f"{name}() received an invalid combination of arguments - got (Tensor, keepdim=bool): keepdim goes "
            "with a dim"
        )
    return keepdim


def tensor(name: str, input: Any) -> Any:
    """The array of a Tensor argument; PyTorch's TypeError for anything else."""
    if not isinstance(input, Tensor):
        raise errors.must_be_tensor(name, "input", 1, input)
    return input._data


def label(dtype: Any) -> str:
    """PyTorch's name of an element type in messages: Long, Bool, ..."""
    return dtypes.of(dtype).scalar_name


def missing(kernel: str, dtype: Any) -> NotImplementedError:
    """The error for a kernel that PyTorch does not have for a type."""
    return NotImplementedError(f"\"{kernel}\" not implemented for '{label(dtype)}'")


def same_type(out: Tensor, dtype: Any) -> None:
    """Refuse an `out` of another type than the result, as PyTorch's structured kernels do."""
    if out._data.dtype != dtype:
        raise RuntimeError(
            f"Expected out tensor to have dtype {spelled(dtype)}, but got {spelled(out._data.dtype)} instead"
        )


def copied_into(out: Any, o: Tensor) -> Tensor:
    """Into an `out` of a function that PyTorch ends with `copy_`: differentiable, unlike its other `out=`."""
    if out._data.shape != o._data.shape:
        with no_grad():
            out_argument.deliver(out, o)
    return out.copy_(o)


_C_NAMES = {
    "Half": "c10::Half",
    "BFloat16": "c10::BFloat16",
    "Long": "long int",
    "Short": "short int",
    "Char": "signed char",
    "Byte": "unsigned char",
    "ComplexFloat": "c10::complex<float>",
    "ComplexDouble": "c10::complex<double>",
}


def spelled(dtype: Any) -> str:
    """An element type as C++ spells it in some of PyTorch's messages."""
    name = label(dtype)
    return _C_NAMES.get(name, name.lower())
