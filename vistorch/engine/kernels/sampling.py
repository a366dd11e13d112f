"""Samplers: a generator's words as arrays of numbers, bit for bit those of PyTorch's CPU.

Here are the distributions that take one uniform number each; normal, whole and categorical numbers have
modules of their own and are handed on from here. Doubles above `LIBM_UP_TO` numbers go through numpy's vector
functions and may differ from PyTorch's in the last bit (float32 and narrower do not show it). Builds of
PyTorch that sample `bernoulli_` and `exponential_` by Intel's vector library have another stream there; we
follow the portable one.

A generator of a CUDA device draws by `device_sampling`, whose arrays are the device's.

Invariant: every function takes the generator's lock, checks its arguments first, and draws for the elements
of a new contiguous array in their order. A caller that fills a strided array does so in the order of its
memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from vistorch.engine.kernels import device_sampling, sampling_integers
from vistorch.engine.kernels import sampling_checks as checks
from vistorch.engine.kernels.sampling_counts import multinomial, poisson
from vistorch.engine.kernels.sampling_normal import doubles, floats, fused, libm, normal_values

__all__ = [
    "bernoulli",
    "cauchy",
    "exponential",
    "geometric",
    "log_normal",
    "multinomial",
    "normal",
    "permutation",
    "poisson",
    "randint",
    "random_full",
    "uniform",
]

# Words per pass: small enough for the cache, a multiple of the generator's block.
CHUNK = 624 * 25
FEW = 256  # so few numbers are read from what was made of a block of words
Shape = Sequence[int]
FLOAT32 = np.dtype(np.float32)
LOW_53 = np.uint64((1 << 53) - 1)


def _parts(np_dtype: np.dtype) -> np.dtype | None:
    """The dtype of a complex dtype's parts."""
    return np.dtype(f"f{np_dtype.itemsize // 2}") if np_dtype.kind == "c" else None


def _complex(flat: np.ndarray, shape: Shape, np_dtype: np.dtype) -> np.ndarray:
    """Pairs of reals as complex numbers."""
    return flat.view(np_dtype).reshape(shape)


def _from_doubles(generator, size: int, np_dtype: np.dtype, rule: Callable) -> np.ndarray:
    """A rule applied to `size` doubles in [0, 1), as a flat array; integers wrap as in C++."""
    if np_dtype == np.float64 and 2 * size <= CHUNK:
        with generator.lock:
            return rule(doubles(generator.words64(size))).astype(np_dtype, copy=False)
    out = np.empty(size, np_dtype)
    with generator.lock, np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, size, CHUNK // 2):
            part = out[start : start + CHUNK // 2]
            values = rule(doubles(generator.words64(part.size)))
            part[...] = values.astype(np.int64) if np_dtype.kind in "iu" else values
    return out


def _from_floats(generator, size: int, rule: Callable) -> np.ndarray:
    """A rule applied to `size` float32 in [0, 1), as flat float32."""
    if size <= FEW:
        with generator.lock:
            return rule(generator.made(size, floats)).astype(np.float32)
    if size <= CHUNK:
        with generator.lock:
            return rule(floats(generator.words(size))).astype(np.float32, copy=False)
    out = np.empty(size, np.float32)
    with generator.lock:
        for start in range(0, size, CHUNK):
            part = out[start : start + CHUNK]
            part[...] = rule(floats(generator.words(part.size)))
    return out


def _same(values: np.ndarray) -> np.ndarray:
    """The values themselves."""
    return values


def uniform(generator, shape: Shape, np_dtype, low: float = 0.0, high: float = 1.0) -> np.ndarray:
    """Numbers of a floating or complex dtype, uniform in [low, high)."""
    if generator.on_device:
        return device_sampling.uniform(generator, shape, np_dtype, low, high)
    np_dtype = np.dtype(np_dtype)
    size = math.prod(shape)
    if np_dtype is FLOAT32 and low == 0 and high == 1:
        return _from_floats(generator, size, _same).reshape(shape)
    parts = _parts(np_dtype)
    if parts is not None:
        return _complex(uniform(generator, (2 * size,), parts, low, high), shape, np_dtype)
    checks.check_uniform(np_dtype, low, high)
    plain = low == 0 and high == 1
    if np_dtype == np.float64:
        rule = _same if plain else lambda values: fused(values, high - low, low)
        return _from_doubles(generator, size, np_dtype, rule).reshape(shape)
    first, last = np.float32(low), np.float32(high)
    width = np.float64(last - first)

    def stretch(values: np.ndarray) -> np.ndarray:
        # The product is exact in double, so that the sum is rounded once, as a fused multiply-add does.
        wide = values * width
        wide += first
        return wide

    out = (
        _from_floats(generator, size, _same if plain else stretch).astype(np_dtype, copy=False).reshape(shape)
    )
    if not plain or np_dtype != np.float32:
        # Rounding may reach the excluded bound; PyTorch then returns the other one.
        reached = out == np_dtype.type(high)
        if reached.any():
            out[reached] = low
    return out


def normal(
    generator, shape: Shape, np_dtype, mean: float = 0.0, std: float = 1.0, serial: bool = False
) -> np.ndarray:
    """Normal numbers of a floating or complex dtype.

    Args:
        generator: where the words come from.
        shape: the shape of the result.
        np_dtype: its dtype; the parts of a complex number each have the mean and half of the variance.
        mean: the mean.
        std: the standard deviation.
        serial: draw as PyTorch does for a strided tensor, whatever the size.
    """
    if generator.on_device:
        return device_sampling.normal(generator, shape, np_dtype, mean, std)
    np_dtype = np.dtype(np_dtype)
    checks.check_normal(std)
    size = math.prod(shape)
    parts = _parts(np_dtype)
    if parts is not None:
        with generator.lock:
            flat = normal_values(generator, 2 * size, parts, mean, std / math.sqrt(2), serial)
        return _complex(flat, shape, np_dtype)
    checks.unsupported("normal_kernel_cpu", np_dtype)
    with generator.lock:
        return normal_values(generator, size, np_dtype, mean, std, serial).reshape(shape)


def log_normal(generator, shape: Shape, np_dtype, mean: float = 1.0, std: float = 2.0) -> np.ndarray:
    """Numbers whose logarithm is normal."""
    if generator.on_device:
        return device_sampling.log_normal(generator, shape, np_dtype, mean, std)
    np_dtype = np.dtype(np_dtype)
    checks.require(std > 0, f"log_normal_ expects std > 0.0, but found std={std:g}")
    checks.unsupported("log_normal_cpu", np_dtype)
    with generator.lock:
        power = normal_values(generator, math.prod(shape), np.dtype(np.float64), mean, std, serial=True)
    with np.errstate(over="ignore"):
        return libm(math.exp, power, np.exp).astype(np_dtype, copy=False).reshape(shape)


def bernoulli(generator, p, shape: Shape, np_dtype) -> np.ndarray:
    """Ones with probability p, else zeros.

    Args:
        generator: where the words come from.
        p: a number, or an array of probabilities that broadcasts to `shape`.
        shape: the shape of the result.
        np_dtype: its dtype.
    """
    if generator.on_device:
        return device_sampling.bernoulli(generator, p, shape, np_dtype)
    np_dtype = np.dtype(np_dtype)
    size = math.prod(shape)
    if not isinstance(p, np.ndarray):
        checks.check_bernoulli(p)
        checks.unsupported("bernoulli_scalar_cpu_", np_dtype, integers=True, boolean=True)
        bound = float(p)
        if 2 * size <= CHUNK:
            # a double is the low 53 bits of a word over 2**53, so the bits themselves can be compared
            with generator.lock:
                words = generator.words64(size)
            return ((words & LOW_53) < np.uint64(math.ceil(bound * 2.0**53))).astype(np_dtype).reshape(shape)
        return _from_doubles(generator, size, np_dtype, lambda values: values < bound).reshape(shape)
    checks.unsupported("bernoulli_tensor_cpu_self_", np_dtype, integers=True, boolean=True)
    checks.unsupported("bernoulli_tensor_cpu_p_", p.dtype)
    checks.require(
        bool(((p >= 0) & (p <= 1)).all()),
        "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  "
        "(Could this error message be improved?  If so, please report an enhancement request to PyTorch.)",
    )
    if p.dtype == np.float64:
        values = _from_doubles(generator, size, p.dtype, _same).reshape(shape)
    else:
        values = _from_floats(generator, size, _same).reshape(shape)
    return (values < p.astype(values.dtype, copy=False)).astype(np_dtype)


def exponential(generator, shape: Shape, np_dtype, lambd: float = 1.0) -> np.ndarray:
    """Exponential numbers of rate `lambd`."""
    if generator.on_device:
        return device_sampling.exponential(generator, shape, np_dtype, lambd)
    np_dtype = np.dtype(np_dtype)
    checks.check_exponential(np_dtype, lambd)
    scale = -1.0 / lambd

    def rule(values: np.ndarray) -> np.ndarray:
        return scale * libm(math.log1p, -values, np.log1p)

    return _from_doubles(generator, math.prod(shape), np_dtype, rule).reshape(shape)


def cauchy(generator, shape: Shape, np_dtype, median: float = 0.0, sigma: float = 1.0) -> np.ndarray:
    """Cauchy numbers."""
    if generator.on_device:
        return device_sampling.cauchy(generator, shape, np_dtype, median, sigma)
    np_dtype = np.dtype(np_dtype)
    checks.check_cauchy(np_dtype, sigma)

    def rule(values: np.ndarray) -> np.ndarray:
        return median + sigma * libm(math.tan, math.pi * (values - 0.5), np.tan)

    return _from_doubles(generator, math.prod(shape), np_dtype, rule).reshape(shape)


def geometric(generator, shape: Shape, np_dtype, p: float) -> np.ndarray:
    """The number of trials until the first success of probability p."""
    if generator.on_device:
        return device_sampling.geometric(generator, shape, np_dtype, p)
    np_dtype = np.dtype(np_dtype)
    checks.check_geometric(p)
    checks.unsupported("geometric_cpu", np_dtype, integers=True)
    scale = math.log1p(-p)

    def rule(values: np.ndarray) -> np.ndarray:
        return np.ceil(libm(math.log, values, np.log) / scale)

    return _from_doubles(generator, math.prod(shape), np_dtype, rule).reshape(shape)


def randint(generator, shape: Shape, low: int, high: int | None, np_dtype) -> np.ndarray:
    """Whole numbers in [low, high); `high` None means up to the largest the dtype counts to."""
    where = device_sampling if generator.on_device else sampling_integers
    return where.randint(generator, shape, low, high, np_dtype)


def random_full(generator, shape: Shape, np_dtype) -> np.ndarray:
    """Whole numbers from 0 to the largest the dtype counts to without gaps."""
    where = device_sampling if generator.on_device else sampling_integers
    return where.random_full(generator, shape, np_dtype)


def permutation(generator, n: int, np_dtype=np.int64) -> np.ndarray:
    """The numbers 0 to n - 1 in a random order."""
    where = device_sampling if generator.on_device else sampling_integers
    return where.permutation(generator, n, np_dtype)
