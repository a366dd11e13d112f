"""What the element types can hold: `finfo` for floating-point types, `iinfo` for integers.

Invariant: the numbers are Python's, and exactly PyTorch's.
"""

import builtins
from math import log2, log10
from typing import Any

import numpy as np

from vistorch.engine.base import dtypes
from vistorch.engine.base.dtypes import dtype, get_default_dtype

from ..library_name import library

_LAYOUT = {
    dtypes.float16: (10, 15),
    dtypes.bfloat16: (7, 127),
    dtypes.float32: (23, 127),
    dtypes.float64: (52, 1023),
}
"""Of each floating-point type, the stored bits of the significand and the largest exponent."""


class _Missing:
    """Stands for an argument that was not given."""


class _Info:
    """What both kinds of limits share: which type they are of, equality by it, and no hash, as in PyTorch."""

    __slots__ = ("_of", "bits", "max", "min")
    __hash__ = None  # type: ignore[assignment]
    _of: dtype
    bits: int

    def __setattr__(self, name: str, value: Any) -> None:
        """Refuse: limits are facts."""
        kind = f"{library}.{type(self).__name__}"
        if hasattr(type(self), name):
            raise AttributeError(f"attribute '{name}' of '{kind}' objects is not writable")
        raise AttributeError(f"'{kind}' object has no attribute '{name}'")

    def __eq__(self, other: object) -> bool:
        return self._of is other._of if isinstance(other, type(self)) else NotImplemented

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._of,)

    @property
    def dtype(self) -> str:
        """The name of the type."""
        return self._of.name

    def _fill(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)


def _type_of(given: Any, caller: str) -> dtype:
    """Return the type that is asked about."""
    if type(given) is dtype:
        return given
    if given in (builtins.float, builtins.int, builtins.bool, builtins.complex):
        return dtypes.to_dtype(given)
    raise TypeError(
        f"{caller}(): argument 'type' (position 1) must be {library}.dtype, not {type(given).__name__}"
    )


class finfo(_Info):
    """The limits of a floating-point type, or of the parts of a complex one.

    Args:
        type: the type; the default floating-point type if it is left out.

    Example:
        >>> from vistorch.engine.base.dtypes import bfloat16
        >>> from vistorch.engine.base.finfo import finfo
        >>> finfo(bfloat16).eps, finfo(bfloat16).bits
        (0.0078125, 16)
    """

    __slots__ = ("eps", "resolution", "smallest_normal", "tiny")
    eps: float
    max: float
    min: float
    resolution: float
    smallest_normal: float
    tiny: float

    def __init__(self, type: Any = _Missing) -> None:
        """Look the numbers up."""
        d = get_default_dtype() if type is _Missing else _type_of(type, "finfo")
        if not (d.is_floating_point or d.is_complex):
            raise TypeError(
                f"{library}.finfo() requires a floating point input type. "
                f"Use {library}.iinfo to handle '{library}.finfo'"
            )
        real = d.to_real()
        if real in dtypes.NAMES_ALONE.values():
            raise TypeError(f"{library}.finfo() has no limits of {d!r}, which is a name alone here")
        if real in dtypes.EIGHTS:
            known = dtypes.ml_dtypes.finfo(real.np)
            eps, tiny, largest = float(known.eps), float(known.smallest_normal), float(known.max)
            least, digits = float(known.min), -log2(eps)
            if real is dtypes.float8_e5m2fnuz:
                eps = 0.125  # as PyTorch says; the next number after 1 is 0.25 away
        else:
            digits, exponent = _LAYOUT[real]
            eps, tiny = 2.0**-digits, 2.0 ** (1 - exponent)
            largest = (2.0 - eps) * 2.0**exponent
            least = -largest
        resolution = float(f"1e-{int(digits * log10(2.0))}")
        self._fill(_of=real, bits=8 * real.itemsize, eps=eps, max=largest, min=least)
        self._fill(resolution=resolution, smallest_normal=tiny, tiny=tiny)

    def __repr__(self) -> str:
        names = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        numbers = ", ".join(f"{name}={getattr(self, name):.6g}" for name in names)
        return f"finfo({numbers}, dtype={self.dtype})"


class iinfo(_Info):
    """The limits of an integer type.

    Args:
        type: the type.

    Example:
        >>> from vistorch.engine.base.dtypes import int8
        >>> from vistorch.engine.base.finfo import iinfo
        >>> iinfo(int8)
        iinfo(min=-128, max=127, dtype=int8)
    """

    __slots__ = ()
    max: int
    min: int

    def __init__(self, type: Any = _Missing) -> None:
        """Look the numbers up."""
        if type is _Missing:
            raise TypeError('iinfo() missing 1 required positional arguments: "type"')
        d = _type_of(type, "iinfo")
        if d is dtypes.bool:
            raise TypeError(f"{library}.bool is not supported by {library}.iinfo")
        if d.is_floating_point or d.is_complex:
            raise TypeError(
                f"{library}.iinfo() requires an integer input type. "
                f"Use {library}.finfo to handle '{library}.iinfo'"
            )
        found = np.iinfo(d.np)
        self._fill(_of=d, bits=found.bits, max=int(found.max), min=int(found.min))

    def __repr__(self) -> str:
        return f"iinfo(min={float(self.min):.6g}, max={float(self.max):.6g}, dtype={self.dtype})"
