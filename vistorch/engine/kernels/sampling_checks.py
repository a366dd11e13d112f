"""What a sampler may be asked for: PyTorch's argument checks, in its words and its order.

Invariant: nothing here draws a number, so a refused call leaves the generator where it was.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import ml_dtypes
import numpy as np

__all__ = [
    "BFLOAT16",
    "KINDS",
    "check_bernoulli",
    "check_cauchy",
    "check_exponential",
    "check_geometric",
    "check_normal",
    "check_permutation",
    "check_uniform",
    "check_weights",
    "integer_bounds",
    "is_floating",
    "require",
    "unsupported",
]

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
LOWEST_INT64 = -(2**63)
# dtype: PyTorch's name, the C++ name its sentences use, the bits of a significand.
KINDS = {
    np.dtype(np.bool_): ("Bool", "bool", 0),
    np.dtype(np.uint8): ("Byte", "unsigned char", 0),
    np.dtype(np.int8): ("Char", "signed char", 0),
    np.dtype(np.int16): ("Short", "short int", 0),
    np.dtype(np.int32): ("Int", "int", 0),
    np.dtype(np.int64): ("Long", "long int", 0),
    np.dtype(np.uint16): ("UInt16", "short unsigned int", 0),
    np.dtype(np.uint32): ("UInt32", "unsigned int", 0),
    np.dtype(np.uint64): ("UInt64", "long unsigned int", 0),
    np.dtype(np.float16): ("Half", "c10::Half", 11),
    BFLOAT16: ("BFloat16", "c10::BFloat16", 8),
    np.dtype(np.float32): ("Float", "float", 24),
    np.dtype(np.float64): ("Double", "double", 53),
    np.dtype(np.complex64): ("ComplexFloat", "c10::complex<float>", 0),
    np.dtype(np.complex128): ("ComplexDouble", "c10::complex<double>", 0),
}
LARGEST = {kind: float(ml_dtypes.finfo(kind).max) for kind, row in KINDS.items() if row[2]}
BARE_UNSIGNED = ("UInt16", "UInt32", "UInt64")


def require(condition: bool, sentence: str) -> None:
    """Raise PyTorch's RuntimeError unless the condition holds."""
    if not condition:
        raise RuntimeError(sentence)


def is_floating(np_dtype: np.dtype) -> bool:
    """Whether a dtype is one of the four real floating ones."""
    return KINDS[np_dtype][2] > 0


def unsupported(kernel: str, np_dtype: np.dtype, integers: bool = False, boolean: bool = False) -> None:
    """Raise for a dtype a kernel has no code for."""
    name = KINDS[np_dtype][0]
    if is_floating(np_dtype) or (boolean and name == "Bool"):
        return
    if integers and np_dtype.kind in "iu" and name not in BARE_UNSIGNED:
        return
    raise NotImplementedError(f"\"{kernel}\" not implemented for '{name}'")


def check_uniform(np_dtype: np.dtype, low: float, high: float) -> None:
    """Bounds that fit the dtype, in order, not too far apart."""
    unsupported("check_uniform_bounds", np_dtype)
    name, cpp, _ = KINDS[np_dtype]
    limit = LARGEST[np_dtype]
    if -limit <= low <= high <= limit and high - low <= limit:
        return  # the sentences below cost more than ten numbers
    require(-limit <= low <= limit, f"from is out of bounds for {cpp}")
    require(-limit <= high <= limit, f"to is out of bounds for {cpp}")
    require(
        low <= high, f"uniform_ expects to return a [from, to) range, but found from={low:g} > to={high:g}"
    )
    require(
        high - low <= limit,
        f"uniform_ expects to-from <= std::numeric_limits<{name}>::max(), but found to={high:g}"
        f" and from={low:g} which result in to-from to exceed the limit",
    )


def check_normal(std: float) -> None:
    """A standard deviation that is not negative."""
    if std >= 0:
        return
    require(False, f"normal expects std >= 0.0, but found std {std:g}")


def check_bernoulli(p: float) -> None:
    """A probability."""
    require(0 <= p <= 1, f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")


def check_exponential(np_dtype: np.dtype, lambd: float) -> None:
    """A positive rate and a floating dtype."""
    require(lambd > 0, f"exponential_ expects lambda > 0.0, but found lambda={lambd:g}")
    require(
        is_floating(np_dtype),
        "Exponential distribution is a continuous probability distribution. "
        f"dtype must be a floating point but you specified {KINDS[np_dtype][0]}",
    )


def check_cauchy(np_dtype: np.dtype, sigma: float) -> None:
    """A positive scale and a floating dtype."""
    require(sigma > 0, f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")
    require(
        is_floating(np_dtype),
        "Cauchy distribution is a continuous probability distribution. "
        f"dtype must be a floating point but you specified {KINDS[np_dtype][1]}",
    )


def check_geometric(p: float) -> None:
    """A probability that is neither 0 nor 1."""
    require(0 < p < 1, f"geometric_ expects p to be in (0, 1), but got p={p:g}")


def check_permutation(n: int, np_dtype: np.dtype) -> None:
    """A length that is not negative and whose numbers the dtype can hold."""
    require(n >= 0, f"Trying to create tensor with negative dimension {n}: [{n}]")
    name, _, _ = KINDS[np_dtype]
    if np_dtype.kind in "iu" and n > 0 and n - 1 > np.iinfo(np_dtype).max:
        raise RuntimeError(f"value cannot be converted to type {np_dtype.name}_t without overflow")
    if name == "Half":
        require(n <= 2**11 + 1, "n cannot be greater than 2049 for Half type.")
    if name in ("Float", "Double"):
        bits = KINDS[np_dtype][2]
        require(n <= 2**bits + 1, f"n cannot be greater than 2^{bits}+1 for {name} type.")
    unsupported("randperm", np_dtype, integers=True)


def _as_int64(number: int, np_dtype: np.dtype) -> int:
    """A number after a trip through a floating dtype, with C++'s overflow."""
    if np_dtype == BFLOAT16 or abs(number) < 2**15:
        value = float(np_dtype.type(float(number)))
    else:
        with np.errstate(over="ignore"):
            value = float(np.float64(number).astype(np_dtype))
    if not math.isfinite(value) or not -(2.0**63) <= value < 2.0**63:
        return LOWEST_INT64
    return int(value)


def _narrowed(low: int, high: int, np_dtype: np.dtype) -> tuple[int, int]:
    """Bounds moved inwards until the dtype's rounding cannot leave them."""
    bits = KINDS[np_dtype][2]
    first = _as_int64(low + 1, np_dtype)
    if first < low:
        low = first + (1 << max(abs(low + 1).bit_length() - bits, 0))
    last = _as_int64(high - 1, np_dtype)
    if last >= high:
        high = last - (1 << max((high - 1).bit_length() - bits, 0))
    return low, high


def _warn_beyond(name: str, value: int, np_dtype: np.dtype) -> None:
    """Warn of a bound the dtype cannot count up to."""
    _, cpp, bits = KINDS[np_dtype]
    if not -(2**bits) <= value <= 2**bits:
        warnings.warn(
            f"{name} is out of bounds [-(2^{bits}), 2^{bits}]. Due to precision limitations {cpp} can"
            " support discrete uniform distribution only within this range. This warning will become an error"
            " in version 1.7 release, please fix the code in advance",
            UserWarning,
            stacklevel=4,
        )


def check_weights(weights: Any, num_samples: int, replacement: bool) -> None:
    """Weights of categories, of a shape and in a number that can be drawn from."""
    name = KINDS[weights.dtype][0]
    require(
        is_floating(weights.dtype),
        f"multinomial only supports floating-point dtypes for input, got: {name}",
    )
    require(weights.ndim in (1, 2), "prob_dist must be 1 or 2 dim")
    require(num_samples > 0, "cannot sample n_sample <= 0 samples")
    require(
        replacement or num_samples <= weights.shape[-1],
        "cannot sample n_sample > prob_dist.size(-1) samples without replacement",
    )
    require(weights.shape[-1] <= 2**24, "number of categories cannot exceed 2^24")


def integer_bounds(np_dtype: np.dtype, low: int, high: int | None) -> tuple[int, int]:
    """The smallest number and the count of numbers to draw from; `high` None means up to the dtype's largest.

    The lowest int64 without a `high` asks for all 64 bits: the count is then 2**64.
    """
    name, cpp, bits = KINDS[np_dtype]
    if high is None and low == LOWEST_INT64:
        require(
            name in ("Long", "Double", "Float", "BFloat16"),
            "random_full_64_bits_range_kernel_cpu handles only int64, double, float and bfloat16",
        )
        return low, 2**64
    if high is not None:
        require(low < high, f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
        if bits:
            low, high = _narrowed(low, high, np_dtype)
            require(
                low < high,
                "random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, "
                f"but got from={low} >= to={high}",
            )
        last, last_name = high - 1, "to - 1"
    else:
        last, last_name = (
            (2**bits if bits else 1 if name == "Bool" else int(np.iinfo(np_dtype).max)),
            "to - 1",
        )
        if bits:
            low = _narrowed(low, low + 1, np_dtype)[0]
            require(
                low < last,
                "random_ expects 'from' casted to dtype to be less than or equal to 'to_inc' casted to"
                f" dtype, but got from={low} > to_inc={last}",
            )
    if bits:
        limit = LARGEST[np_dtype]
        require(-limit <= low <= limit, f"from is out of bounds for {cpp}")
        require(-limit <= last <= limit, f"{last_name} is out of bounds for {cpp}")
        _warn_beyond("from", low, np_dtype)
        _warn_beyond(last_name, last, np_dtype)
    elif np_dtype.kind in "iub":
        lowest, highest = (
            (0, 1) if name == "Bool" else (int(np.iinfo(np_dtype).min), int(np.iinfo(np_dtype).max))
        )
        require(lowest <= low <= highest, f"from is out of bounds for {cpp}")
        require(lowest <= last <= highest, f"{last_name} is out of bounds for {cpp}")
    else:
        raise RuntimeError("check_random_bounds handles only integral, floating-point and boolean types")
    return low, last - low + 1
