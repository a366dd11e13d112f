"""What an op refuses: the sentences PyTorch fixes for dtypes its kernels do not have.

Invariant: each maker returns a function of one numpy dtype that raises or does nothing.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...base import dtypes
from ...core.type_promotion import HALVES
from ...library_name import named


def kind_of(dt: np.dtype) -> str:
    """One letter: "f" (bfloat16 too), "i" (uint8 too), "b" or "c"."""
    return "f" if dt in HALVES else "i" if dt.kind == "u" else dt.kind


def missing(kernel: str, kinds: str) -> Callable:
    """Refuse these kinds ("f", "i", "b", "c") in the name of a kernel PyTorch has not written."""

    def check(dt: np.dtype) -> None:
        if kind_of(dt) in kinds:
            raise NotImplementedError(f"\"{kernel}\" not implemented for '{dtypes.of(dt).scalar_name}'")

    return check


def sentence(kinds: str, said: str, error: type = RuntimeError) -> Callable:
    """Refuse these kinds with a sentence of the op's own."""

    def check(dt: np.dtype) -> None:
        if kind_of(dt) in kinds:
            raise error(named(said))

    return check


def both(*checks: Callable) -> Callable:
    """Several refusals, in order."""

    def check(dt: np.dtype) -> None:
        for one in checks:
            one(dt)

    return check


# how PyTorch's C++ spells dtypes in some of its messages
C_NAMES = {
    "float32": "float",
    "float64": "double",
    "float16": "c10::Half",
    "bfloat16": "c10::BFloat16",
    "int64": "long int",
    "int32": "int",
    "int16": "short int",
    "int8": "signed char",
    "uint8": "unsigned char",
    "bool": "bool",
    "complex64": "c10::complex<float>",
    "complex128": "c10::complex<double>",
}
