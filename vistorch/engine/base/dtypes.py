"""Element types: their names, the default one, and how they promote.

Invariant: there is one object per type, so types are compared with `is`; the way from numpy to here is `of`.

The short names at the end (`float`, `int`, `bool`, ...) hide Python's own in this module: inside it, Python's
are written `builtins.float` and so on.
"""

import builtins
from collections.abc import Iterable
from typing import Any

import ml_dtypes
import numpy as np

from ..library_name import library


class dtype:
    """The type of a tensor's elements, such as `vistorch.float32`.

    Args:
        name: what is printed after "vistorch.".
        np: the numpy dtype that stores it.

    Example:
        >>> import vistorch
        >>> vistorch.float32, vistorch.float32.itemsize, vistorch.int64.is_floating_point
        (vistorch.float32, 4, False)
        >>> vistorch.complex128.to_real(), vistorch.float32.to_complex()
        (vistorch.float64, vistorch.complex64)
    """

    __slots__ = (
        "abbr",
        "is_complex",
        "is_floating_point",
        "is_signed",
        "itemsize",
        "name",
        "np",
        "scalar_name",
    )
    abbr: str
    is_complex: builtins.bool
    is_floating_point: builtins.bool
    is_signed: builtins.bool
    itemsize: builtins.int
    name: str
    np: np.dtype
    scalar_name: str

    def __new__(cls, *args: Any, **kwargs: Any) -> "dtype":
        """Refuse: the types are those of this module."""
        raise TypeError(f"cannot create '{library}.dtype' instances")

    def __setattr__(self, name: str, value: Any) -> None:
        """Refuse: a type is shared by every tensor that has it."""
        raise AttributeError(f"attribute '{name}' of '{library}.dtype' objects is not writable")

    def __getattr__(self, attribute: str) -> Any:
        # Only `np` of a type that is a name alone is not filled: the first thing that a kernel would ask.
        if attribute == "np":
            raise NotImplementedError(f"{self!r} is not built: {_instead[self.name]}")
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{attribute}'")

    def __repr__(self) -> str:
        return f"{library}.{self.name}"

    def __reduce__(self) -> str:
        """Travel and be copied as the name of a global, so that the same object comes back."""
        return self.name

    def to_real(self) -> "dtype":
        """Return the type of the real part of this type."""
        if not self.is_complex:
            return self
        return {complex32: float16, complex64: float32, complex128: float64}[self]

    def to_complex(self) -> "dtype":
        """Return the complex type whose parts hold this type: complex64 for half precision too."""
        if self.is_complex:
            return self
        if not self.is_floating_point:
            raise RuntimeError(f"Unknown Complex ScalarType for {self.scalar_name}")
        return complex128 if self is float64 else complex64


class _ByNumpy(dict[np.dtype, dtype]):
    """From a numpy dtype to ours; what is not in it is an error with a sentence."""

    def __missing__(self, key: Any) -> dtype:
        given = np.dtype(key)
        if given in self and key is not None:  # a numpy scalar type, or a string that names one
            return self[given]
        if not given.isnative and given.newbyteorder("=") in self:
            raise ValueError(
                "given numpy array has byte order different from the native byte order. "
                "Conversion between byte orders is currently not supported."
            )
        raise TypeError(
            f"can't convert np.ndarray of type {given.type.__module__}.{given.type.__name__}. The only "
            "supported types are: float64, float32, float16, complex64, complex128, int64, int32, int16, "
            "int8, uint8, and bool."
        )


_by_np = _ByNumpy()


def _make(name: str, scalar_name: str, abbr: str, stored: Any) -> dtype:
    """Build one type and enter it in the table."""
    made = object.__new__(dtype)
    kept = np.dtype(stored)
    complexed = kept.kind == "c"
    floating = kept.kind == "f" or name.startswith(("bfloat", "float8"))  # whose kind is "V" to numpy
    values = {
        "name": name,
        "np": kept,
        "abbr": abbr,
        "scalar_name": scalar_name,
        "itemsize": kept.itemsize,
        "is_complex": complexed,
        "is_floating_point": floating,
        "is_signed": floating or complexed or kept.kind == "i",
    }
    for slot, value in values.items():
        object.__setattr__(made, slot, value)
    _by_np[kept] = made
    return made


float16 = _make("float16", "Half", "f16", np.float16)
bfloat16 = _make("bfloat16", "BFloat16", "bf16", ml_dtypes.bfloat16)
float32 = _make("float32", "Float", "f32", np.float32)
float64 = _make("float64", "Double", "f64", np.float64)
int8 = _make("int8", "Char", "i8", np.int8)
int16 = _make("int16", "Short", "i16", np.int16)
int32 = _make("int32", "Int", "i32", np.int32)
int64 = _make("int64", "Long", "i64", np.int64)
uint8 = _make("uint8", "Byte", "u8", np.uint8)
complex64 = _make("complex64", "ComplexFloat", "c64", np.complex64)
complex128 = _make("complex128", "ComplexDouble", "c128", np.complex128)
bool = _make("bool", "Bool", "b8", np.bool_)

ALL: tuple[dtype, ...] = tuple(_by_np.values())
"""Every type that kernels are written for, once."""
uint16 = _make("uint16", "UInt16", "u16", np.uint16)
uint32 = _make("uint32", "UInt32", "u32", np.uint32)
uint64 = _make("uint64", "UInt64", "u64", np.uint64)
UNSIGNED = (uint16, uint32, uint64)
"""Types to store and convert; as in PyTorch, they promote with floating types only."""
float8_e4m3fn = _make("float8_e4m3fn", "Float8_e4m3fn", "f8e4m3fn", ml_dtypes.float8_e4m3fn)
float8_e4m3fnuz = _make("float8_e4m3fnuz", "Float8_e4m3fnuz", "f8e4m3fnuz", ml_dtypes.float8_e4m3fnuz)
float8_e5m2 = _make("float8_e5m2", "Float8_e5m2", "f8e5m2", ml_dtypes.float8_e5m2)
float8_e5m2fnuz = _make("float8_e5m2fnuz", "Float8_e5m2fnuz", "f8e5m2fnuz", ml_dtypes.float8_e5m2fnuz)
float8_e8m0fnu = _make("float8_e8m0fnu", "Float8_e8m0fnu", "f8e8m0fnu", ml_dtypes.float8_e8m0fnu)
EIGHTS = (float8_e4m3fn, float8_e4m3fnuz, float8_e5m2, float8_e5m2fnuz, float8_e8m0fnu)
"""Types of 8 bits to store and convert."""


_instead: dict[str, str] = {}


def _name_alone(
    name: str,
    scalar_name: str,
    abbr: str,
    size: builtins.int,
    instead: str,
    *,
    kind: str = "",
    signed: builtins.bool = False,
) -> dtype:
    """A type that programs compare with and no tensor has; `instead` is the sentence for who makes one."""
    made = object.__new__(dtype)
    values = {
        "name": name,
        "abbr": abbr,
        "scalar_name": scalar_name,
        "itemsize": size,
        "is_complex": kind == "c",
        "is_floating_point": kind == "f",
        "is_signed": signed,
    }
    for slot, value in values.items():
        object.__setattr__(made, slot, value)
    _instead[name] = instead
    return made


complex32 = _name_alone(
    "complex32", "ComplexHalf", "c32", 4, "compute in complex64 or complex128.", kind="c", signed=True
)
_SMALL = "keep such numbers in int8 or uint8."
_QUANTIZED = "vistorch has no quantized tensors; use int8, uint8 or int32 and keep the scale beside it."
NAMES_ALONE: dict[str, dtype] = {
    "float4_e2m1fn_x2": _name_alone(
        "float4_e2m1fn_x2",
        "Float4_e2m1fn_x2",
        "f4e2m1fn_x2",
        1,
        "keep them in uint8, or in float8_e4m3fn.",
        kind="f",
        signed=True,
    ),
    **{f"int{n}": _name_alone(f"int{n}", f"Int{n}", f"i{n}", 1, _SMALL, signed=True) for n in range(1, 8)},
    **{f"uint{n}": _name_alone(f"uint{n}", f"UInt{n}", f"u{n}", 1, _SMALL) for n in range(1, 8)},
    **{
        name: _name_alone(name, name.capitalize(), name, size, "keep bits in uint8.")
        for name, size in {"bits8": 1, "bits16": 2, "bits1x8": 1, "bits2x4": 1, "bits4x2": 1}.items()
    },
    **{
        name: _name_alone(name, scalar, name, size, _QUANTIZED, signed=name[0] == "q" and name[1] == "i")
        for name, scalar, size in (
            ("qint8", "QInt8", 1),
            ("qint32", "QInt32", 4),
            ("quint8", "QUInt8", 1),
            ("quint4x2", "QUInt4x2", 1),
            ("quint2x4", "QUInt2x4", 1),
        )
    },
}
"""Further types that are names alone, which programs put into tables of types."""
globals().update(NAMES_ALONE)

of = _by_np.__getitem__
"""`of(numpy_dtype) -> dtype`: one dict lookup; TypeError with a sentence for what no tensor can hold."""


def own(a: Any) -> Any:
    """The same array under numpy's one dtype object; an unpickled one has an equal other, which is slower here."""
    dt = of(a.dtype).np
    return a if a.dtype is dt else a.view(dt)


_of_python = {builtins.bool: bool, builtins.int: int64, builtins.float: float64, builtins.complex: complex128}


class _Default:
    """The default floating-point type and what follows from it; written by set_default_dtype only."""

    __slots__ = ("complex_np", "dtype", "np")
    complex_np: np.dtype
    dtype: dtype
    np: np.dtype


default = _Default()


def get_default_dtype() -> dtype:
    """Return the floating-point type that new tensors get when none is named.

    Example:
        >>> from vistorch.engine.base import dtypes
        >>> dtypes.get_default_dtype()
        vistorch.float32
    """
    return default.dtype


def set_default_dtype(d: dtype) -> None:
    """Choose the floating-point type that new tensors get when none is named.

    Args:
        d: a floating-point type.

    Example:
        >>> from vistorch.engine.base import dtypes
        >>> dtypes.set_default_dtype(dtypes.float64)
        >>> dtypes.get_default_dtype()
        vistorch.float64
        >>> dtypes.set_default_dtype(dtypes.float32)
    """
    if type(d) is not dtype:
        raise TypeError("invalid dtype object: only floating-point types are supported as the default type")
    if not d.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    default.dtype = d
    default.np = d.np
    default.complex_np = d.to_complex().np
    _results.clear()


def to_dtype(given: Any, caller: str = "tensor") -> dtype:
    """Return the type a `dtype=` argument names: ours, None, Python's number types, a numpy dtype object."""
    if type(given) is dtype:
        return given
    if given is None:
        return default.dtype
    if isinstance(given, type) and given in _of_python:
        return _of_python[given]
    if isinstance(given, np.dtype):
        return of(given)
    raise TypeError(f"{caller}(): argument 'dtype' must be {library}.dtype, not {type(given).__name__}")


def as_np(given: Any, caller: str = "tensor") -> np.dtype:
    """Return the numpy dtype a `dtype=` argument names; see `to_dtype`."""
    return given.np if type(given) is dtype else to_dtype(given, caller).np


def _promote(a: dtype, b: dtype) -> dtype:
    """Return the smallest type both fit in, by category first and width second."""
    if a is b or b is bool:
        return a
    if a is bool:
        return b
    if a.is_complex or b.is_complex:
        return complex128 if float64 in (a.to_real(), b.to_real()) else complex64
    if a.is_floating_point != b.is_floating_point:
        return a if a.is_floating_point else b
    if a.itemsize == b.itemsize:  # float16 and bfloat16, or int8 and uint8: neither holds the other
        return float32 if a.is_floating_point else int16
    return a if a.itemsize > b.itemsize else b


class _Promoted(dict):
    """By two types, the one that both fit in; the wide unsigned ones fit into none that is whole."""

    def __missing__(self, key: tuple[dtype, dtype]) -> dtype:
        a, b = key
        if a is b:
            return a
        if a in EIGHTS or b in EIGHTS:
            raise RuntimeError(
                f"Promotion for Float8 Types is not supported, attempted to promote {a.scalar_name} and "
                f"{b.scalar_name}"
            )
        if a.is_floating_point or b.is_floating_point:
            return a if a.is_floating_point else b
        raise RuntimeError(
            f"Promotion for uint16, uint32, uint64 types is not supported, attempted to promote {a.scalar_name} and "
            f"{b.scalar_name}"
        )


_promoted = _Promoted({(a, b): _promote(a, b) for a in ALL for b in ALL})


def _argument(value: Any, function: str, name: str, position: builtins.int) -> dtype:
    """Return the type a positional argument names: ours, or a Python number type."""
    if type(value) is dtype:
        return value
    if isinstance(value, type) and value in _of_python:
        return _of_python[value]
    where = f"argument '{name}' (position {position})"
    raise TypeError(f"{function}(): {where} must be {library}.dtype, not {type(value).__name__}")


def promote_types(type1: dtype, type2: dtype) -> dtype:
    """Return the type in which values of both types are computed with.

    Args:
        type1: one type.
        type2: the other.

    Example:
        >>> from vistorch.engine.base import dtypes
        >>> dtypes.promote_types(dtypes.int64, dtypes.float16)
        vistorch.float16
    """
    a = _argument(type1, "promote_types", "type1", 1)
    b = _argument(type2, "promote_types", "type2", 2)
    if a is complex32 or b is complex32:
        other = b if a is complex32 else a
        return complex32 if other in (complex32, float16) or not _holds_reals(other) else other.to_complex()
    return _promoted[a, b]


def _holds_reals(d: dtype) -> builtins.bool:
    return d.is_floating_point or d.is_complex


def can_cast(from_: dtype, to: dtype) -> builtins.bool:
    """Say whether a result of one type may be written into a tensor of another.

    Args:
        from_: the type of the values.
        to: the type of the tensor that receives them.

    Example:
        >>> from vistorch.engine.base import dtypes
        >>> dtypes.can_cast(dtypes.float64, dtypes.float32), dtypes.can_cast(dtypes.float32, dtypes.int64)
        (True, False)
    """
    from_ = _argument(from_, "can_cast", "from_", 1)
    to = _argument(to, "can_cast", "to", 2)
    if from_.is_complex and not to.is_complex:
        return False
    if from_.is_floating_point and not (to.is_floating_point or to.is_complex):
        return False
    return to is not bool or from_ is bool


def check_cast(result: np.dtype, into: np.dtype) -> None:
    """Raise PyTorch's error if a result of one numpy dtype may not be written into an array of another."""
    a, b = of(result), of(into)
    if not can_cast(a, b):
        names = f"{a.scalar_name} can't be cast to the desired output type {b.scalar_name}"
        raise RuntimeError(f"result type {names}")


DIMENSIONED, ZERO_DIM, NUMBER = 0, 1, 2
"""The categories of operand, from strong to weak: a weaker one decides only when it is of a higher kind."""


def _combine(strong: dtype | None, weak: dtype | None) -> dtype | None:
    """Let a weaker category raise the kind of a stronger one, but never its width."""
    if strong is None or weak is None:
        return strong or weak
    if strong.is_complex:
        return strong
    if strong.is_floating_point:
        return strong.to_complex() if weak.is_complex else strong
    if strong is bool or weak.is_floating_point or weak.is_complex:
        return _promoted[strong, weak]
    return strong


def _result(items: Iterable[tuple[np.dtype, builtins.int]]) -> np.dtype:
    """Work out what `result_of` remembers."""
    found: list[dtype | None] = [None, None, None]
    for stored, category in items:
        d = of(stored)
        if category == NUMBER and d.is_complex:
            d = of(default.complex_np)
        elif category == NUMBER and d.is_floating_point:
            d = default.dtype
        before = found[category]
        found[category] = d if before is None else _promoted[before, d]
    result = _combine(found[0], _combine(found[1], found[2]))
    if result is None:
        raise ValueError("result_of needs at least one operand")
    return result.np


class _Results(dict[tuple[tuple[np.dtype, builtins.int], ...], np.dtype]):
    """Remembers results; emptied when the default dtype changes. Bounded: long lists are not kept."""

    def __missing__(self, items: tuple[tuple[np.dtype, builtins.int], ...]) -> np.dtype:
        result = _result(items)
        if len(items) <= 3:
            self[items] = result
        return result


_results = _Results()

result_of = _results.__getitem__
"""`result_of(((np_dtype, category), ...)) -> np_dtype` of any mixture of operands: one lookup once seen."""

number_items = {python: (of_it.np, NUMBER) for python, of_it in _of_python.items()}
"""The item of a Python number, by its exact type."""


def item_of(operand: Any) -> tuple[np.dtype, builtins.int]:
    """Return the item of a tensor, an array or a number, for `result_of`."""
    found = number_items.get(type(operand))
    if found is not None:
        return found
    for python, item in number_items.items():
        if isinstance(operand, python):  # bool is asked before int, which it is too
            return item
    given: Any = getattr(operand, "dtype", None)
    if isinstance(operand, np.generic):
        return of(given).np, NUMBER
    if given is None:
        raise TypeError(type(operand).__name__)
    return to_dtype(given).np, DIMENSIONED if operand.ndim else ZERO_DIM


_RESULT_NAMES = ("scalar1", "scalar2", "scalar", "tensor", "other")


def result_type(*operands: Any, **named: Any) -> dtype:
    """Return the type of the result of arithmetic between two operands.

    Args:
        *operands: two tensors or numbers.
        **named: `tensor` and `other`, `scalar` and `tensor`, or `scalar1` and `scalar2`, where not by position.

    Example:
        >>> from vistorch.engine.base import dtypes
        >>> dtypes.result_type(1, 2.5)
        vistorch.float32
    """
    pair = [*operands, *(named.pop(name) for name in _RESULT_NAMES if name in named)]
    try:
        if len(pair) != 2 or named:
            raise TypeError(pair)
        return of(result_of((item_of(pair[0]), item_of(pair[1]))))
    except TypeError:
        given = ", ".join(
            [type(x).__name__ for x in pair] + [f"{k}={type(v).__name__}" for k, v in named.items()]
        )
        raise TypeError(
            f"result_type() received an invalid combination of arguments - got ({given}), "
            "but expected one of:\n * (Tensor tensor, Tensor other)\n * (Number scalar, Tensor tensor)\n"
            " * (Tensor tensor, Number other)\n * (Number scalar1, Number scalar2)\n"
        ) from None


set_default_dtype(float32)

half = float16
float = float32
double = float64
short = int16
int = int32
long = int64
chalf = complex32
cfloat = complex64
cdouble = complex128
