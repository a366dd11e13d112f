"""What creation functions are given: sizes, dtypes, places, and the sentences for what they cannot take.

Invariant: after these checks nothing numpy would complain about is left but a lack of memory.
"""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

from ...base import dtypes
from ...base.dims import fits, flag
from ...base.errors import not_built
from ...base.layout import (
    RANKS,
    axes_last,
    check_rank,
    contiguous_format,
    layout,
    memory_format,
    preserve_format,
    strided,
)
from ...base.size import Size
from ...core.tensor import Tensor
from ...library_name import library
from ...memory.placement import CPU, place_of

REQUIRES_FLOATING = "Only Tensors of floating point and complex dtype can require gradients"
LARGEST = 2**63 - 1


def type_name(value: Any) -> str:
    """The name of a value's type as error sentences give it."""
    return "NoneType" if value is None else type(value).__name__


def sizes(given: tuple, name: str, named: dict | None = None) -> tuple:
    """The shape from `*size` or `size=`, as a tuple of ints that are not negative."""
    if len(given) == 1 and given[0].__class__ in (tuple, list, Size):
        shape = given[0]
        single = True
    elif named:
        return _named_sizes(given, name, named)
    else:
        shape, single = given, False
    for n in shape:
        if n.__class__ is not int or not 0 <= n <= LARGEST:
            return _checked(shape, name, single)
    if not given:
        raise TypeError(f'{name}() missing 1 required positional arguments: "size"')
    return tuple(shape)


def _named_sizes(given: tuple, name: str, named: dict) -> tuple:
    """The shape from `size=`; any other name is refused."""
    for key in named:
        if key != "size":
            raise TypeError(f"{name}() got an unexpected keyword argument '{key}'")
    if given:
        raise TypeError(f"{name}() got multiple values for argument 'size'")
    size = named["size"]
    if not isinstance(size, (tuple, list)):
        raise TypeError(f"{name}(): argument 'size' must be tuple of ints, not {type_name(size)}")
    return sizes((size,), name)


def _checked(shape: Any, name: str, single: bool) -> tuple:
    """A shape with unusual lengths: whatever counts as an int, or PyTorch's sentence."""
    if not single and len(shape) == 1 and isinstance(shape[0], (tuple, list)):
        shape, single = shape[0], True
    found = []
    for position, n in enumerate(shape):
        try:
            if isinstance(n, (bool, np.bool_)):
                raise TypeError
            value = index(n)
        except TypeError:
            given = type_name(n)
            if position:
                raise TypeError(
                    f"{name}(): argument 'size' failed to unpack the object at pos {position + 1} with error "
                    f'"type must be tuple of ints,but got {given}"'
                ) from None
            at = f"{name}(): argument 'size' (position 1) must be tuple of ints, "
            raise TypeError(
                at + (f"but found element of type {given} at pos 0" if single else f"not {given}")
            ) from None
        if not -LARGEST <= value <= LARGEST:
            raise TypeError(
                f"{name}(): argument 'size' failed to unpack the object at pos {position + 1} with error "
                '"Overflow when unpacking long long"'
            )
        found.append(value)
    for value in found:
        if value < 0:
            if name == "zeros":
                raise RuntimeError("zeros: Dimension size must be non-negative.")
            raise RuntimeError(
                f"Trying to create tensor with negative dimension {value}: [{', '.join(map(str, found))}]"
            )
    return tuple(found)


def size_tuple(given: Any, name: str, position: int = 1) -> tuple:
    """The shape from one argument that must be a tuple or list (`full`, `randint`, ...)."""
    if not isinstance(given, (tuple, list)):
        raise TypeError(
            f"{name}(): argument 'size' (position {position}) must be tuple of ints, not {type_name(given)}"
        )
    return sizes((given,), name)


def no_more(name: str, named: dict, allowed: tuple = ()) -> None:
    """Refuse named arguments that do not exist."""
    for key in named:
        if key not in allowed:
            raise TypeError(f"{name}() got an unexpected keyword argument '{key}'")


def place(device: Any, name: str) -> Any:
    """The place a `device=` names."""
    return place_of(device, name)


def check_layout(given: Any, name: str, dense: bool = True) -> None:
    """Refuse what is no layout, and where `dense`, all but None and `strided`."""
    if given is None or given is strided:
        return
    if given.__class__ is not layout:
        raise TypeError(f"{name}(): argument 'layout' must be {library}.layout, not {type_name(given)}")
    if dense:
        raise not_built(f"{name}(layout={given})", "vistorch's tensors are dense.")


def check_bool(given: Any, name: str, argument: str = "requires_grad") -> None:
    """Refuse what is no bool."""
    flag(given, name, argument)


def check_pinned(given: Any, name: str) -> None:
    """Refuse a `pin_memory` that is neither a bool nor None."""
    if given is not None:
        check_bool(given, name, "pin_memory")


def leaf(o: Tensor, requires_grad: Any, name: str) -> Tensor:
    """Let a fresh tensor require grad if that is asked for."""
    if requires_grad is False or requires_grad is None:
        return o
    check_bool(requires_grad, name)
    if requires_grad:
        require_floating(o._data.dtype)
        o.requires_grad = True
    return o


def require_floating(dt: np.dtype) -> None:
    """Refuse a type that cannot have gradients."""
    d = dtypes.of(dt)
    if not (d.is_floating_point or d.is_complex):
        raise RuntimeError(REQUIRES_FLOATING)


def allocate(make: Any, shape: tuple, dt: np.dtype, where: Any) -> Any:
    """`make(shape, dtype)` at a place, a lack of memory reported as PyTorch reports it."""
    try:
        if where is CPU or not where.kind:
            return make(shape, dt)
        with where:
            return make(shape, dt)
    except (MemoryError, ValueError, OverflowError):
        raise too_large(shape, dt.itemsize) from None


def too_large(shape: tuple, itemsize: int) -> RuntimeError:
    """The error for a tensor no memory holds."""
    total = itemsize
    for n in shape:
        total *= n
    if len(shape) > 64:
        return RuntimeError(f"a tensor has at most 64 dimensions, got {len(shape)}")
    if total > LARGEST:
        return RuntimeError(f"Storage size calculation overflowed with sizes=[{', '.join(map(str, shape))}]")
    return RuntimeError(
        "DefaultCPUAllocator: can't allocate memory: you tried to allocate "
        f"{total} bytes. Error code 12 (Cannot allocate memory)"
    )


def formatted(make: Any, shape: tuple, dt: np.dtype, where: Any, form: Any, name: str) -> Any:
    """`allocate` in a memory format."""
    if form is None or form is contiguous_format:
        return allocate(make, shape, dt, where)
    check_format(form, name)
    if form is preserve_format:
        raise RuntimeError("unsupported memory format Preserve")
    check_rank(form, len(shape))
    there, back = axes_last(RANKS[form])
    return allocate(make, tuple(shape[i] for i in there), dt, where).transpose(back)


def check_format(form: Any, name: str) -> None:
    """Refuse what is no memory format."""
    if form.__class__ is not memory_format:
        raise TypeError(
            f"{name}(): argument 'memory_format' must be {library}.memory_format, not {type_name(form)}"
        )


def whole(value: Any, name: str, argument: str, position: int) -> int:
    """A Python int from an argument that must be one."""
    if value.__class__ is int:
        return value if -LARGEST - 1 <= value <= LARGEST else fits(value)
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        return fits(index(value))
    except TypeError:
        raise TypeError(
            f"{name}(): argument '{argument}' (position {position}) must be int, not {type_name(value)}"
        ) from None


def invalid(name: str, given: tuple, named: dict, forms: str) -> TypeError:
    """The error for arguments that fit no form of a function."""
    got = [type_name(x) for x in given] + [f"{k}={type_name(v)}" for k, v in named.items()]
    return TypeError(
        f"{name}() received an invalid combination of arguments - got ({', '.join(got)}), but expected one of:\n{forms}"
    )


def made(make: Any, args: tuple, n: int, dt: np.dtype) -> Any:
    """`make(*args)`, a lack of memory reported as PyTorch reports it."""
    if n * dt.itemsize >= 2**63:
        raise too_large((n,), dt.itemsize)
    try:
        return make(*args)
    except (MemoryError, ValueError):
        raise too_large((n,), dt.itemsize) from None
