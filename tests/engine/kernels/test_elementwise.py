"""Large elementwise operations and sums that oneDNN shares out: beside numpy's, for any number of threads."""

import numpy as np
import pytest
import torch

import vistorch as L
from vistorch.engine.base.numpy_warnings import hushed
from vistorch.engine.core.rules import TABLE
from vistorch.engine.kernels import threads, totals
from vistorch.engine.kernels.fast import elementwise
from vistorch.engine.kernels.fast.switch import onednn

pytestmark = pytest.mark.skipif(not onednn.available(), reason=f"needs oneDNN: {onednn.why}")
N = 3 * (1 << 15) + 77
TINY = np.finfo("f4").tiny
SPECIAL = [
    np.nan,
    np.inf,
    -np.inf,
    0.0,
    -0.0,
    TINY,
    -TINY,
    TINY / 8,
    -TINY / 8,
    3e38,
    -3e38,
    -87.4,
    -95.0,
    -103.5,
    88.7,
]
TWO = [np.add, np.subtract, np.multiply, np.divide]
EXACT = [np.negative, np.absolute, np.sqrt, np.square]


@pytest.fixture(params=[1, 3])
def number(request):
    """The number of threads, put back afterwards."""
    before, asked = L.get_num_threads(), threads.state.asked
    L.set_num_threads(request.param)
    yield request.param
    L.set_num_threads(before)
    threads.state.asked = asked


def values(*shape, seed=0):
    """Numbers of many magnitudes, and all special ones, among them at the end where vectors are cut short."""
    rng = np.random.default_rng(seed)
    x = (rng.standard_normal(shape) * 10.0 ** rng.integers(-6, 3, shape)).astype("f4")
    flat = x.reshape(-1)
    count = min(len(SPECIAL), x.size // 3)
    flat[rng.permutation(x.size)[:count]] = SPECIAL[:count]
    flat[x.size - count :] = SPECIAL[::-1][:count]
    return x


def same(found, want):
    """The same bits, signs of zeros too; of a nan only that it is one."""
    np.testing.assert_array_equal(found, want)
    some = ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(found[some]), np.signbit(want[some]))


@pytest.mark.parametrize("run", TWO, ids=lambda f: f.__name__)
def test_two_operands_give_numpys_bits(number, run):
    x, y = values(N), values(N, seed=1)
    square = values(300, 7, 50)
    pairs = [(x, y), (x, x), (x, 3), (x, -0.1)]
    pairs += [
        (square, values(*s, seed=1)) for s in ((50,), (7, 50), (7, 1), (300, 1, 1), (1, 7, 1), (300, 1, 50))
    ]
    for a, b in pairs:
        want = hushed(run, a, b)
        found = elementwise.compute(run, (a, b))
        assert (found is None) == (number == 1 and getattr(b, "shape", a.shape) == a.shape)
        if found is not None:
            same(found, want)
            at = a.copy()
            assert elementwise.compute(run, (at, at if b is a else b), at) is at
            same(at, want)


def test_what_does_not_fit_is_left_to_numpy(number):
    x = values(N)
    for other in (
        values(N // 2),
        np.ones((2, N), "f4"),
        np.ones(N),
        np.ones(2 * N, "f4")[::2],
        1e39,
        True,
        1j,
    ):
        assert elementwise.compute(np.add, (x, other)) is None
    for first in (x.astype("f8"), x[::2], x[:100], np.broadcast_to(np.float32(1), (N,)), 2.0):
        assert elementwise.compute(np.add, (first, 1.0)) is None
    assert elementwise.compute(np.sin, (x,)) is None


@pytest.mark.parametrize("run", EXACT, ids=lambda f: f.__name__)
def test_functions_that_are_exact_give_numpys_bits(number, run):
    x = values(N)
    want = hushed(run, x)
    found = elementwise.compute(run, (x,))
    assert (found is None) == (number == 1)
    if found is not None:
        same(found, want)
        elementwise.compute(run, (x,), x)
        same(x, want)


def ulps(found, want):
    """How many float32 numbers lie between, at most."""
    fine = np.isfinite(want)
    np.testing.assert_array_equal(found[~fine], want[~fine])
    a, b = found[fine].view("i4").astype("i8"), want[fine].view("i4").astype("i8")
    return np.abs(a - b).max()


def test_tanh_is_close_for_any_number_of_threads(number):
    x = np.concatenate([values(N), np.linspace(-104, 89, N, dtype="f4"), np.linspace(-1, 1, N, dtype="f4")])
    found = elementwise.compute(np.tanh, (x,))
    assert ulps(found, np.tanh(x.astype("f8")).astype("f4")) <= 4
    L.set_num_threads(2)
    same(elementwise.compute(np.tanh, (x,)), found)
    at = x.copy()
    elementwise.compute(np.tanh, (at,), at)
    same(at, found)


def test_powers_times_a_number_or_one_for_each_row(number):
    x = np.linspace(-104, 80, N // 100 * 100, dtype="f4").reshape(100, -1)
    x[3, 5] = -np.inf
    wide = np.exp(x.astype("f8"))
    for factor in (np.asarray(np.float32(-0.25)), np.linspace(-2, 3, 100, dtype="f4").reshape(100, 1)):
        found = elementwise.powers_times(x, factor)
        normal = wide > 1e-36
        np.testing.assert_allclose(found[normal], (wide * factor)[normal], rtol=2e-6)
        assert (abs(found[~normal]) < 1e-35).all() and found[3, 5] == 0
        for special in (np.nan, np.inf):
            odd = x.copy()
            odd[7, 7] = special
            assert elementwise.powers_times(odd, factor) is None


def test_exp_of_a_large_array_is_that_of_its_parts(number):
    x = np.linspace(-104, 89, 1 << 20, dtype="f4")
    with np.errstate(all="ignore"):
        found, want = hushed(L.tensor(x).exp).numpy(), np.exp(x.astype("f8")).astype("f4")
    assert ulps(found, want) <= 3
    same(found[:1000], L.tensor(x[:1000]).exp().numpy())


@pytest.mark.parametrize(
    "bounds", [(0.5, None), (None, 0.5), (0, None), (None, 0), (-1.0, 2.0), (2.0, -1.0)], ids=str
)
def test_bounds_keep_nan_and_signs(number, bounds):
    x = values(N)
    plain = x.copy()  # of -0 and 0 the array's own stays, which `np.maximum` leaves to the processor
    if bounds[0] is not None:
        plain[plain < bounds[0]] = bounds[0]
    if bounds[1] is not None:
        plain[plain > bounds[1]] = bounds[1]
    same(L.tensor(x).clamp(*bounds).numpy(), plain)
    if bounds == (0, None):
        same(L.relu(L.tensor(x)).numpy(), plain)


@pytest.mark.parametrize("odd", [None, np.nan, np.inf, -3e38])
def test_relu_lets_through_what_belongs_to_positive_results(number, odd):
    run = TABLE["relu_backward"].kernels[0]
    y, g = np.maximum(values(N), np.float32(0)), np.random.default_rng(2).standard_normal(N).astype("f4")
    if odd is not None:
        g[np.flatnonzero(y == 0)[[5, 100]]] = odd
        g[np.flatnonzero(y > 0)[[7, 200]]] = odd
    np.testing.assert_array_equal(hushed(run, g, y), hushed(run.plain, g, y))


@pytest.mark.parametrize("name", ["tanh_backward", "sigmoid_backward"])
def test_slopes_from_results(number, name):
    run = TABLE[name].kernels[0]
    y = np.tanh(np.random.default_rng(1).standard_normal(N)).astype("f4")
    g = values(N)
    g[np.isinf(g)] = 1
    y[:4], y[-4:] = [np.nan, 0, -0.0, 1], [1, -1, 1 - 2**-24, TINY]
    found, want = hushed(run, g, y), hushed(run.plain, g, y)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(want))
    np.testing.assert_allclose(found, want, rtol=1e-5, atol=1e-7 * np.nanmax(np.abs(g)))


@pytest.mark.parametrize("shape", [(300, 1000), (7, 20_000), (40_000, 3), (5, 3, 30_000)], ids=str)
def test_logsumexp(number, shape):
    x = np.random.default_rng(0).standard_normal(shape).astype("f4") * 30
    flat = x.reshape(-1, shape[-1])
    flat[0], flat[1, 0], flat[2, 1], flat[3, 2] = -np.inf, np.inf, np.nan, -np.inf
    for given in (x, x[..., ::-1].copy() if x.ndim < 3 else x[1:]):
        found = hushed(L.tensor(given).logsumexp, -1).numpy()
        want = torch.tensor(given).logsumexp(-1).numpy()
        np.testing.assert_allclose(found, want, rtol=1e-6, atol=1e-6)
        L.set_num_threads(2)
        same(hushed(L.tensor(given).logsumexp, -1).numpy(), found)


@pytest.mark.parametrize(
    "shape", [(N,), (500, 300), (100, 1700), (1 << 15, 3), (5, 40_003), (3, 5, 7000), (7000, 5, 3)], ids=str
)
def test_sums_are_close_and_the_same_bits_for_any_number_of_threads(shape):
    x = np.random.default_rng(0).standard_normal(shape).astype("f4") + 1
    before, asked = L.get_num_threads(), threads.state.asked
    try:
        for axes in (tuple(range(len(shape))), (0,), (len(shape) - 1,)):
            exact = x.sum(axes, dtype="f8")
            scale = np.abs(x).sum(axes, dtype="f8")
            found = []
            for n in (1, 2, 3):
                L.set_num_threads(n)
                found.append(np.asarray(totals.total(np, x, axes)))
            assert (np.abs(found[0] - exact) <= 12 * 2.0**-24 * scale).all()
            for other in found[1:]:
                np.testing.assert_array_equal(other, found[0])
    finally:
        L.set_num_threads(before)
        threads.state.asked = asked


def test_a_sum_with_nan_and_infinity_spoils_its_own_row_alone():
    x = np.ones((600, 200), "f4")
    x[3, 7], x[9, 100], x[11, :2] = np.inf, np.nan, [np.inf, -np.inf]
    y = hushed(L.tensor(x).sum, 1).numpy()
    assert np.isinf(y[3])
    assert np.isnan(y[[9, 11]]).all()
    assert (np.delete(y, [3, 9, 11]) == 200).all()


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize("place", [0, 31 * 1024 + 5, 40_959])
def test_a_nan_spoils_its_row_of_softmax_wherever_it_is(number, name, place):
    x = np.random.default_rng(0).standard_normal((40, 1024)).astype("f4")
    x[:, 7] = -np.inf
    flat = x.reshape(-1)
    flat[place] = np.nan
    found, want = [getattr(lib.nn.functional, name)(lib.tensor(x), -1).numpy() for lib in (L, torch)]
    np.testing.assert_array_equal(np.isnan(found), np.isnan(want))
    np.testing.assert_allclose(found, want, rtol=1e-5)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_a_point_between_many_pairs_begins_at_the_nearer_end(dtype):
    rng = np.random.default_rng(0)
    start, end, weight = (rng.standard_normal((40, 100)).astype(dtype) for _ in range(3))
    weight[0, :4], weight[1, :4] = 0, 1
    start[:, 0], end[:, 1], weight[:, 2] = np.inf, -np.inf, np.nan
    start[0, 3] = -0.0
    for w in (weight, weight[5], weight[:, 7:8]):  # the mask is smaller than the result
        found = L.lerp(*map(L.tensor, (start, end, w))).numpy()
        way = end - start
        with np.errstate(invalid="ignore"):
            want = np.where(abs(w) < 0.5, start + w * way, end - way * (1 - w))
        assert found.dtype == want.dtype
        np.testing.assert_array_equal(found, want)
        assert np.signbit(found[0, 3]) == np.signbit(want[0, 3])


@pytest.mark.parametrize("dim", [1, 2])
def test_large_slices_are_added_along_an_inner_dim_in_turn(dim):
    rng = np.random.default_rng(0)
    a, source = (rng.standard_normal((8, 64, 128)).astype("f4") for _ in range(2))
    index = rng.integers(0, a.shape[dim], a.shape[dim])
    found = L.index_add(L.tensor(a), dim, L.tensor(index), L.tensor(source))
    want = a.copy()
    for i, at in enumerate(index):
        want.swapaxes(0, dim)[at] += source.swapaxes(0, dim)[i]
    np.testing.assert_array_equal(found.numpy(), want)
    assert found.is_contiguous()
