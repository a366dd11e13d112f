"""What linear algebra refuses, in PyTorch's words.

Invariant: every check runs before anything is computed, and numpy's LinAlgError never leaves this family.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...base import dims, dtypes, errors, type_names
from ...core.op_factory import HALVES
from ...core.tensor import Tensor
from ...core.type_promotion import number
from ...kernels import lapack as own_lapack


class _LinAlgError(RuntimeError):
    """A matrix for which the asked factorization, inverse or solution does not exist.

    Example:
        >>> import vistorch
        >>> try:  # doctest: +ELLIPSIS
        ...     vistorch.linalg.inv(vistorch.zeros(2, 2))
        ... except vistorch.linalg.LinAlgError as error:
        ...     print(error)
        linalg.inv: The diagonal element 1 is zero, the inversion could not be completed because ...
    """


LinAlgError = _LinAlgError
"""The public name; PyTorch's class carries the underscore too."""
LinAlgError.__module__ = "vistorch.linalg"

NATIVE = {
    "Float": "float",
    "Double": "double",
    "Half": "c10::Half",
    "BFloat16": "c10::BFloat16",
    "ComplexFloat": "c10::complex<float>",
    "ComplexDouble": "c10::complex<double>",
    "Char": "signed char",
    "Byte": "unsigned char",
    "Short": "short int",
    "Int": "int",
    "Long": "long int",
    "Bool": "bool",
}


def scalar(t: Tensor) -> str:
    """A tensor's element type as "Float"."""
    return dtypes.of(t._data.dtype).scalar_name


def native(t: Tensor) -> str:
    """A tensor's element type as C++ spells it."""
    return NATIVE[scalar(t)]


def tensors(name: str, **given: Any) -> None:
    """Refuse arguments that are no Tensors."""
    for position, (argument, value) in enumerate(given.items(), 1):
        if not isinstance(value, Tensor):
            raise errors.must_be_tensor(name, argument, position, value)


def same_place(name: str, *given: Tensor) -> None:
    """Refuse tensors of two devices."""
    for t in given[1:]:
        if t._place is not given[0]._place:
            errors.check_devices(given[0]._place, t._place, name)


def not_implemented(kernel: str, t: Tensor) -> NotImplementedError:
    """PyTorch's sentence for a type a kernel was not compiled for."""
    return NotImplementedError(f"\"{kernel}\" not implemented for '{scalar(t)}'")


def no_bool(kernel: str, t: Tensor) -> None:
    """Refuse bool."""
    if t._data.dtype.kind == "b":
        raise not_implemented(kernel, t)


def same_scalar(x: Tensor, y: Tensor) -> None:
    """Refuse two element types, as kernels do that read the second operand as the first's type."""
    if x._data.dtype != y._data.dtype:
        raise RuntimeError(f"expected scalar type {scalar(x)} but found {scalar(y)}")


def expands(t: Tensor, target: tuple) -> None:
    """Refuse a tensor that does not broadcast to `target`."""
    shape = t._data.shape
    if len(shape) > len(target):
        raise RuntimeError(
            f"expand({type_names.type_name(dtypes.of(t._data.dtype))}{{{errors.sizes(shape)}}}, "
            f"size={errors.sizes(target)}): the number of sizes provided ({len(target)}) must be greater or equal to "
            f"the number of dimensions in the tensor ({len(shape)})"
        )
    lead = len(target) - len(shape)
    for i in range(len(shape) - 1, -1, -1):
        if shape[i] != target[lead + i] and shape[i] != 1:
            raise RuntimeError(
                f"The expanded size of the tensor ({target[lead + i]}) must match the existing size ({shape[i]}) at "
                f"non-singleton dimension {lead + i}.  Target sizes: {errors.sizes(target)}.  "
                f"Tensor sizes: {errors.sizes(shape)}"
            )


def factor(value: Any, t: Tensor) -> Any:
    """`alpha` or `beta` as a number of the tensor's kind."""
    value = dims.scalar(value)
    if value.__class__ is not int and value.__class__ is not float and number(value) is None:
        raise TypeError(f"arguments 'alpha' and 'beta' must be Number, not {type(value).__name__}")
    kind = t._data.dtype.kind
    if value.__class__ is complex and kind != "c":
        target = NATIVE["Double"] if kind != "i" else "int64_t"
        raise RuntimeError(f"value cannot be converted to type {target} without overflow")
    return int(value) if kind in "iu" else value


def matrix(name: str, t: Tensor, argument: str = "A") -> None:
    """Refuse less than two dims."""
    if t._data.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor {argument} must have at least 2 dimensions.")


def square(name: str, t: Tensor) -> None:
    """Refuse matrices that are not square."""
    matrix(name, t)
    m, n = t._data.shape[-2:]
    if m != n:
        raise RuntimeError(f"{name}: A must be batches of square matrices, but they are {m} by {n} matrices")


def floating(name: str, t: Tensor, kernel: str | None = None) -> Tensor:
    """Refuse what is not floating point; `kernel` words the refusal of half types, None that of low precision."""
    dt = t._data.dtype
    if dt.kind in "fc" and dt not in HALVES:
        return t
    if dt in HALVES:
        if kernel is not None:
            raise not_implemented(kernel, t)
        raise RuntimeError(f"{name}: Low precision dtypes not supported. Got {scalar(t)}")
    raise RuntimeError(f"{name}: Expected a floating point or complex tensor as input. Got {scalar(t)}")


def dim_of(t: Tensor, dim: int) -> int:
    """A dim, not negative; a 0-d tensor has none."""
    if t._data.ndim == 0:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return dims.one(dim, t._data.ndim)


def broadcast(x: tuple, y: tuple) -> tuple:
    """The common batch of two, or PyTorch's sentence."""
    said = errors.broadcast(x, y)
    if said is not None:
        raise RuntimeError(said)
    return np.broadcast_shapes(x, y)


def host(a: Any) -> Any:
    """An array on the host; anything else as it is."""
    return a.get() if hasattr(a, "__cuda_array_interface__") else a


def guarded(kernel: Callable, explain: Callable) -> Callable:
    """A kernel whose numpy LinAlgError becomes ours; `explain(*arrays)` finds the sentence, and why it failed."""

    def run(xp, *args):
        try:
            return kernel(xp, *args)
        except np.linalg.LinAlgError:
            raise LinAlgError(explain(*map(host, args))) from None

    import inspect

    run.raises = True  # type: ignore[attr-defined]  cupy is silent about it unless asked
    run.__signature__ = inspect.signature(kernel)  # type: ignore[attr-defined]
    return run


def _is_silent() -> bool:
    try:
        np.linalg.inv(np.zeros((1, 1)))
    except np.linalg.LinAlgError:
        return False
    return True


# numpy sees that LAPACK has failed by the processor's floating-point flags. WebAssembly has none: there, what has
# failed is filled with nan, and no error is raised.
SILENT = _is_silent()


def lapack(xp: Any, name: str, a: Any, *more: Any, **named: Any) -> Any:
    """A function of `xp.linalg`, which raises numpy's LinAlgError also where numpy cannot see a failure.

    Args:
        xp: the array namespace.
        name: the function: inv, solve, svd, eigh, ...
        a: the matrix that it takes apart.
        *more: what it takes after that.
        **named: what it takes by name.
    """
    if (
        xp is np
        and not named
        and (own := own_lapack.KNOWN.get(name))
        and (found := own(a, *more)) is not None
    ):
        return found
    found = getattr(xp.linalg, name)(a, *more, **named)
    if SILENT and any((part != part).any() for part in (found if isinstance(found, tuple) else (found,))):
        inverted = name in ("inv", "solve")
        failed = any(zero_pivot(one) for _, one in _each(a)) if inverted else not np.isfinite(a).all()
        if failed or name == "cholesky":
            raise np.linalg.LinAlgError(f"numpy.linalg.{name} has failed")
    return found


def _each(a: Any) -> Any:
    """The matrices of a batch, with the words that name one."""
    flat = np.asarray(a).reshape((-1, *a.shape[-2:]))
    for i, one in enumerate(flat):
        yield (f"(Batch element {i}): " if a.ndim > 2 else ""), one


def zero_pivot(a: Any) -> int:
    """Which pivot (from 1) of Gaussian elimination is zero; 0 if none is."""
    u = np.array(a, np.complex128 if a.dtype.kind == "c" else np.float64)
    for k in range(len(u)):
        p = k + int(np.abs(u[k:, k]).argmax())
        if u[p, k] == 0:
            return k + 1
        u[[k, p]] = u[[p, k]]
        u[k + 1 :] -= np.outer(u[k + 1 :, k] / u[k, k], u[k])
    return 0


def singular(a: Any) -> tuple[str, int]:
    """The first singular matrix of a batch (in words) and its zero pivot."""
    for where, one in _each(a):
        k = zero_pivot(one)
        if k:
            return where, k
    return "", a.shape[-1]


def bad_minor(a: Any) -> tuple[str, int]:
    """The first matrix that is not positive-definite (in words) and the order of its first bad minor."""
    for where, one in _each(a):
        for k in range(1, len(one) + 1):
            try:
                lapack(np, "cholesky", one[:k, :k])
            except np.linalg.LinAlgError:
                return where, k
    return "", a.shape[-1]
