"""Special functions against 40 digit values, and torch where a value is a convention."""

import mpmath
import numpy as np
import pytest
import torch

from vistorch.engine.kernels import special

from .arrays import same, strided, tensor

TORCH = {name: getattr(torch.special, name) for name in special.__all__ if hasattr(torch.special, name)}
TORCH |= {"lgamma": torch.lgamma, "log1pexp": torch.nn.functional.softplus}
del TORCH["polygamma"]

EXACT = {
    "erf": mpmath.erf,
    "erfc": mpmath.erfc,
    "erfcx": lambda x: mpmath.exp(x * x) * mpmath.erfc(x),
    "erfinv": mpmath.erfinv,
    "i0": lambda x: mpmath.besseli(0, x),
    "i0e": lambda x: mpmath.exp(-abs(x)) * mpmath.besseli(0, x),
    "i1": lambda x: mpmath.besseli(1, x),
    "i1e": lambda x: mpmath.exp(-abs(x)) * mpmath.besseli(1, x),
    "ndtr": mpmath.ncdf,
    "ndtri": lambda p: mpmath.sqrt(2) * mpmath.erfinv(2 * p - 1),
    "log_ndtr": lambda x: mpmath.log(mpmath.erfc(-x / mpmath.sqrt(2)) / 2),
    "digamma": mpmath.digamma,
    "lgamma": lambda x: mpmath.log(abs(mpmath.gamma(x))),
    "log1pexp": lambda x: mpmath.log(1 + mpmath.exp(x)),
}

# Ranges, and how many units in the last place of float64 each may be off.
RANGES = [
    ("erf", -1, 1, 2),
    ("erf", 1, 6, 2),
    ("erfc", -3, 3, 5),
    ("erfc", 0.4, 26, 6),
    ("erfcx", 0, 100, 6),
    ("erfcx", -5, 0, 6),
    ("erfinv", -0.99, 0.99, 5),
    ("erfinv", 0.999999, 1, 5),
    ("i0", -8, 8, 5),
    ("i0", 8, 80, 5),
    ("i0e", -20, 20, 5),
    ("i1", -8, 8, 5),
    ("i1", 8, 80, 5),
    ("i1e", -20, 20, 5),
    ("ndtr", -1, 5, 5),
    ("ndtri", 1e-9, 1, 6),
    ("log_ndtr", -100, 0, 5),
    ("digamma", 1e-3, 1.4, 6),
    ("digamma", 1.5, 10, 6),
    ("digamma", 10, 1e4, 3),
    ("lgamma", -0.5, 0.5, 3),
    ("lgamma", 0.5, 1.5, 6),
    ("lgamma", 1.5, 2.5, 6),
    ("lgamma", 2.5, 1e4, 4),
    ("log1pexp", -30, 30, 3),
]


def ulps(got, exact):
    """Return the distance of each value from its exact one in units of the last place."""
    unit = [float(np.spacing(abs(got.dtype.type(float(value))))) for value in exact]
    return max(float(abs(mpmath.mpf(float(g)) - v) / u) for g, v, u in zip(got, exact, unit, strict=True))


@pytest.mark.parametrize(("name", "low", "high", "allowed"), RANGES)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_accuracy(name, low, high, allowed, dtype):
    rng = np.random.default_rng(1)
    x = rng.uniform(low, high, 150).astype(dtype)
    x = x[x < high]
    with mpmath.workdps(50), np.errstate(all="ignore"):
        exact = [EXACT[name](mpmath.mpf(float(value))) for value in x]
        got = getattr(special, name)(np, x)
        assert got.dtype == dtype
        assert ulps(got, exact) < (allowed if dtype == "float64" else 1.5)


@pytest.mark.parametrize(
    ("name", "low", "high"), [("lgamma", -30, -0.5), ("digamma", -30, 0), ("digamma", 1.4, 1.5)]
)
def test_close_to_roots_the_error_is_absolute(name, low, high):
    x = np.random.default_rng(2).uniform(low, high, 150)
    with mpmath.workdps(40), np.errstate(all="ignore"):
        exact = np.array([float(EXACT[name](mpmath.mpf(float(value)))) for value in x])
        np.testing.assert_allclose(getattr(special, name)(np, x), exact, rtol=3e-14, atol=3e-14)


def test_float32_erf_is_close_to_torch():
    x = np.linspace(-4.5, 4.5, 200_001, dtype="float32")
    got, want = special.erf(np, x), torch.erf(tensor(x)).numpy()
    assert (np.abs(got - want) / np.spacing(np.abs(want))).max() <= 2


@pytest.mark.parametrize("n", [0, 1, 2, 3, 6, 15])
def test_polygamma(n):
    rng = np.random.default_rng(3)
    with np.errstate(all="ignore"):
        for x in (rng.uniform(1e-2, 40, 60), rng.uniform(-9, 0, 60)):
            exact = np.array([float(mpmath.polygamma(n, value)) for value in x])
            np.testing.assert_allclose(special.polygamma(np, n, x), exact, rtol=2e-13, atol=1e-13)
            narrow = x.astype("float32")
            exact = np.array([float(mpmath.polygamma(n, value)) for value in narrow])
            np.testing.assert_allclose(
                special.polygamma(np, n, narrow), exact.astype("float32"), rtol=2e-7, atol=1e-7
            )
        x = np.array([0, -0.0, np.nan, np.inf, -np.inf, 2.5])
        np.testing.assert_allclose(
            special.polygamma(np, n, x), torch.polygamma(n, tensor(x)).numpy(), rtol=1e-9
        )
        at = np.array([-1.0, -2.0])
        poles = special.polygamma(np, n, at)
        if n == 1:  # torch divides by a sine that is not quite zero
            np.testing.assert_allclose(poles, torch.polygamma(1, tensor(at)).numpy(), rtol=1e-6)
        else:
            np.testing.assert_array_equal(poles, np.full(2, np.nan if n == 0 else np.inf * (-1) ** (n + 1)))


def test_polygamma_refuses_a_negative_order():
    with pytest.raises(RuntimeError, match=r"^polygamma\(n, x\) does not support negative n\.$"):
        special.polygamma(np, -1, np.ones(2))


@pytest.mark.parametrize("name", sorted(TORCH))
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_special_values_are_those_of_torch(name, dtype):
    x = np.array(
        [
            np.nan,
            np.inf,
            -np.inf,
            0.0,
            -0.0,
            1,
            -1,
            2,
            -2,
            -3,
            0.5,
            -1e10,
            1e10,
            1e30,
            -1e30,
            1e-30,
            -1e-30,
            9,
            100,
            -100,
        ],
        dtype=dtype,
    )
    with np.errstate(all="ignore"):
        got, want = getattr(special, name)(np, x), TORCH[name](tensor(x)).numpy()
    if name == "ndtr":
        want[np.abs(x) > 5] = np.clip(np.sign(x[np.abs(x) > 5]), 0, 1)  # torch cancels on the far left
    np.testing.assert_allclose(got, want, rtol=1e-5 if dtype == "float32" else 1e-11, atol=1e-38)
    number = ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(got)[number], np.signbit(want)[number])


@pytest.mark.parametrize("name", [*sorted(TORCH), "polygamma"])
def test_shapes_and_inputs(name):
    def run(x):
        return special.polygamma(np, 1, x) if name == "polygamma" else getattr(special, name)(np, x)

    rng = np.random.default_rng(4)
    with np.errstate(all="ignore"):
        for dtype in ("float32", "float64"):
            for shape in [(), (0,), (3, 0), (2, 3, 4), (30_000,)]:
                x = np.asarray(rng.random(shape), dtype=dtype)
                before = x.copy()
                got = run(x)
                assert isinstance(got, np.ndarray)
                assert got.shape == shape and got.dtype == dtype
                same(run(strided(x)), got)
                same(x, before)
                if x.size == 30_000:
                    same(got[29_000:29_003], run(x[29_000:29_003].copy()))
            x = np.asarray(rng.random((4, 5)), dtype=dtype)
            same(run(x.T), run(x).T)
