"""Arrays that are hard for kernels which order and count, and the torch tensors beside them."""

import numpy as np
import torch

FLOATS = ("float32", "float64")
INTEGERS = ("uint8", "int8", "int16", "int32", "int64")
SHAPES = [(), (1,), (7,), (0,), (3, 0), (4, 5), (40,), (3, 200), (2, 3, 5)]


class Doubling:
    """numpy as an array library without accumulate: the way of the scans that cupy takes."""

    def __getattr__(self, name):
        found = getattr(np, name)
        if name not in ("maximum", "minimum", "logaddexp"):
            return found
        return lambda *args: found(*args)


def array(rng, shape, dtype, ties=True, special=True):
    """Return random values; floats get nans, infinities and both zeros, all get many ties."""
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype in INTEGERS:
        bounds = np.iinfo(dtype)
        low, high = (max(bounds.min, -3), 5) if ties else (bounds.min, bounds.max)
        return np.asarray(rng.integers(low, high, shape, dtype=dtype, endpoint=True))
    x = rng.integers(-3, 4, shape) * 0.5 if ties else rng.standard_normal(shape)
    x = np.asarray(x, dtype=dtype)
    if special and x.size:
        flat = x.reshape(-1)
        where = rng.integers(0, x.size, (5, max(1, x.size // 12)))
        for places, value in zip(where, (np.nan, np.inf, -np.inf, 0.0, -0.0), strict=True):
            flat[places] = value
    return x


def strided(x):
    """Return an array equal to x that is not contiguous."""
    if x.ndim == 0:
        return x
    wide = np.repeat(x, 2, axis=-1)[..., ::2]
    assert np.array_equal(wide, x, equal_nan=x.dtype.kind == "f")
    return wide


def tensor(x):
    """Return a tensor with a copy of x."""
    return torch.from_numpy(np.array(x))


def same(got, want):
    """Assert the same dtype, shape and values; nan equals nan and 0. differs from -0."""
    want = want.numpy() if isinstance(want, torch.Tensor) else want
    assert isinstance(got, np.ndarray)
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    np.testing.assert_array_equal(got, want)
    if got.dtype.kind == "f":
        numbers = ~np.isnan(want)
        np.testing.assert_array_equal(np.signbit(got)[numbers], np.signbit(want)[numbers])


def same_but_for_zeros(got, want):
    """Assert what `same` does, but let 0. equal -0.: which of two tied zeros comes first is open."""
    assert isinstance(got, np.ndarray)
    same(np.where(got == 0, np.zeros_like(got), got), torch.where(want == 0, torch.zeros_like(want), want))


def same_error(ours, theirs):
    """Assert that both raise the same exception with the same first line."""
    try:
        theirs()
    except Exception as error:
        want = error
    else:
        raise AssertionError("torch raises nothing")
    try:
        ours()
    except type(want) as got:
        sentence = str(want).split("\n")[0].replace("torch.", "vistorch.")
        assert str(got) == sentence
    else:
        raise AssertionError(f"expected {type(want).__name__}: {want}")
