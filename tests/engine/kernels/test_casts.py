"""Fast casts between float16 and float32 are numpy's, all numbers of float16 tried; so is arithmetic by blocks."""

import numpy as np
import pytest

import vistorch as L
from vistorch.engine.kernels import halves
from vistorch.engine.kernels.fast import copies


def same(found, want):
    assert found.dtype == want.dtype and found.shape == want.shape
    bits = f"i{want.itemsize}"
    both = np.isnan(found) & np.isnan(want)
    np.testing.assert_array_equal(np.where(both, 0, found.view(bits)), np.where(both, 0, want.view(bits)))


def test_each_number_of_float16_in_float32():
    a = np.arange(65536, dtype="u2").view("f2").reshape(256, 256)
    same(copies.cast(a, np.dtype("f4")), a.astype("f4"))
    same(copies.cast(a.T, np.dtype("f4")), a.T.astype("f4"))  # numpy's


def hard_to_round():
    """What is a number of float16, what is just between two of them, and what is next to that."""
    exact = np.arange(0, 0x7C00, dtype="u2").view("f2").astype("f4")
    middle = ((exact[1:].astype("f8") + exact[:-1]) / 2).astype("f4")
    near = [np.nextafter(middle, np.float32(side)) for side in (0, np.inf)]
    a = np.concatenate([exact, middle, *near, [65519.9, 1e-8, 1e-30, 1e-45]]).astype("f4")
    return np.concatenate([a, -a])


SPECIAL = np.array([65520, -65520, 1e9, -1e38, np.inf, -np.inf, np.nan], "f4")


def test_rounding_to_float16_is_to_the_nearest_even():
    a = np.concatenate([hard_to_round(), SPECIAL])
    with np.errstate(over="ignore"):
        same(copies.cast(a, np.dtype("f2")), a.astype("f2"))


def test_casts_by_bits_round_and_widen_as_numpy_does(monkeypatch):
    blocks = []
    for name in ("_up", "_down"):
        step = getattr(halves, name)
        monkeypatch.setattr(halves, name, lambda x, y, step=step: blocks.append(step(x, y)) or blocks[-1])
    a = hard_to_round()
    b = np.empty(a.size, "f2")
    halves.cast(a, b)
    same(b, a.astype("f2"))
    back = np.empty(a.size, "f4")
    halves.cast(b, back)
    same(back, b.astype("f4"))
    assert all(blocks) and len(blocks) == 2 * -(-a.size // halves.BLOCK)
    for special in SPECIAL:  # one of them hands its block to numpy
        a[7] = special
        with np.errstate(over="ignore"):
            halves.cast(a, b)
            same(b, a.astype("f2"))
        halves.cast(b, back)
        same(back, b.astype("f4"))
    assert not all(blocks)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_arithmetic_on_many_numbers_of_a_half_type_is_that_on_few(dtype):
    kind, n = getattr(L, dtype), 3 * halves.BLOCK + 1001
    L.manual_seed(0)
    x, y = L.randn(n).to(kind), L.randn(n).to(kind)
    x[70_000], x[80_000], x[90_000] = float("nan"), float("-inf"), -0.0
    for run in (L.add, L.mul, L.div, L.maximum, L.lt, lambda a, b: a * 3 - 1, lambda a, b: b.relu()):
        whole = run(x, y)
        few = L.cat([run(a, b) for a, b in zip(x.split(5000), y.split(5000), strict=True)])
        assert whole.dtype == few.dtype
        same(whole.float().numpy(), few.float().numpy())
    rows, row = x[: 700 * 256].view(700, 256), y[:256]
    same((rows + row).float().numpy(), L.stack([a + row for a in rows]).float().numpy())
    with pytest.raises(RuntimeError, match="must match the size"):
        x + y[:-1]


def test_casts_of_tensors_are_silent_copies(recwarn):
    x = L.full((40, 40), 1e9)
    y = x.half()
    assert y.isinf().all() and not recwarn.list
    assert (y + y).dtype == L.float16 and y.float().dtype == L.float32
    z = L.ones(40, 40)
    assert z.half().float().add_(1).sum() == 3200 and z.sum() == 1600


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "i4", "i8"])
def test_products_of_whole_numbers_are_exact_or_numpys(dtype):
    rng = np.random.default_rng(0)
    info = np.iinfo(dtype)
    for low, high in ((0, 10), (max(info.min, -1000), min(info.max, 1000)), (info.min, info.max)):
        a, b = (rng.integers(low, high, shape, dtype=dtype, endpoint=True) for shape in ((90, 80), (80, 70)))
        np.testing.assert_array_equal((L.from_numpy(a) @ L.from_numpy(b)).numpy(), a @ b)
        a, b = (
            rng.integers(low, high, shape, dtype=dtype, endpoint=True) for shape in ((3, 50, 40), (3, 40, 30))
        )
        np.testing.assert_array_equal((L.from_numpy(a) @ L.from_numpy(b)).numpy(), a @ b)


@pytest.mark.parametrize("source, target", [("f4", "f2"), ("f2", "f4"), ("f4", "f8"), ("f8", "i4")])
def test_a_broadcast_or_turned_array_is_cast_as_it_lies(source, target):
    rng = np.random.default_rng(0)
    base = (rng.standard_normal((60, 1)) * 50).astype(source)
    for a in (
        np.broadcast_to(base, (60, 50)),
        np.broadcast_to(base[0], (40, 30)),
        base[:, 0].repeat(9).reshape(60, 9).T,
    ):
        x = L.from_numpy(a.copy()) if a.flags.c_contiguous else L.from_numpy(a.T.copy()).t()
        if 0 in a.strides:
            x = L.from_numpy(base[:1].copy() if a.shape[0] == 40 else base.copy()).expand(*a.shape)
        made = x.to(getattr(L, {"f2": "float16", "f4": "float32", "f8": "float64", "i4": "int32"}[target]))
        same(made.numpy(), a.astype(target)) if target[0] == "f" else np.testing.assert_array_equal(
            made.numpy(), a.astype(target)
        )
        assert 0 not in made.stride()
