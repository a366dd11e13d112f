"""Factors and solutions by the library's own LAPACK routines, in each type and layout, beside torch's."""

import numpy as np
import pytest
import torch

import vistorch as L
from vistorch.engine.kernels import lapack, ldl, lu

pytestmark = pytest.mark.skipif(
    lapack.routines(np.dtype("f4")) is None, reason="needs oneDNN: no OpenBLAS here"
)
TYPES = ["f4", "f8", "c8", "c16"]
BATCHES = [(), (3,), (2, 2), (40,)]


def drawn(*shape, dtype="f4", seed=0):
    rng = np.random.default_rng(seed)
    real = rng.standard_normal(shape)
    return (real + 1j * rng.standard_normal(shape) if dtype[0] == "c" else real).astype(dtype)


def layouts(a):
    """The same numbers, as they may lie: by rows, by columns, apart, backwards, and not aligned."""
    yield a
    yield np.ascontiguousarray(a.swapaxes(-1, -2)).swapaxes(-1, -2)
    yield np.repeat(a, 2, -1)[..., ::2]
    yield a[..., ::-1, ::-1].copy()[..., ::-1, ::-1]
    raw = np.empty(a.nbytes + 1, "u1")
    odd = raw[1:].view(a.dtype).reshape(a.shape)
    odd[...] = a
    yield odd


def near(found, want, digits=1):
    assert found.dtype == want.dtype and found.shape == want.shape
    single = want.dtype.char in "fF"
    atol = (3e-5 if single else 1e-12) * digits * max(np.abs(want).max(), 1)
    np.testing.assert_allclose(found, want, rtol=0, atol=atol)


def torchs(name, *arrays, **options):
    got = getattr(torch.linalg, name)(*[torch.from_numpy(np.ascontiguousarray(a)) for a in arrays], **options)
    return [t.resolve_conj().numpy() for t in got] if isinstance(got, tuple) else got.resolve_conj().numpy()


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("batch", BATCHES, ids=str)
@pytest.mark.parametrize("shape", [(5, 5), (20, 20), (33, 17), (17, 33), (1, 1)], ids=str)
def test_lu_factors_are_torchs(dtype, batch, shape):
    a = drawn(*batch, *shape, dtype=dtype)
    both, pivots, _ = torchs("lu_factor_ex", a)
    for x in layouts(a):
        kept = x.copy()
        found, order = lu.factor(np, x)
        near(found, both)
        assert order.dtype == np.dtype("i4")
        np.testing.assert_array_equal(order, pivots)
        np.testing.assert_array_equal(x, kept)
    P, low, up = torchs("lu", a)
    got = [t.numpy() for t in L.linalg.lu(L.from_numpy(a))]
    for mine, theirs in zip(got, (P, low, up), strict=True):
        near(mine, theirs)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("unit", [False, True])
def test_triangular_systems_in_each_layout(dtype, upper, left, unit):
    for batch in BATCHES:
        a = drawn(*batch, 18, 18, dtype=dtype) / 8 + 2 * np.eye(18, dtype=dtype)
        b = drawn(*batch, *((18, 3) if left else (3, 18)), dtype=dtype, seed=1)
        want = torchs("solve_triangular", a, b, upper=upper, left=left, unitriangular=unit)
        for x, y in zip(layouts(a), reversed(list(layouts(b))), strict=True):
            found = lapack.triangular(x, y, upper, left, unit)
            near(found, want)
            assert not found.size or found.strides[-2] == found.itemsize  # by columns


def test_what_lies_on_the_other_side_of_the_diagonal_is_not_read():
    a = np.tril(drawn(20, 20)) + 5 * np.eye(20, dtype="f4")
    b = drawn(20, 2, seed=1)
    want = lapack.triangular(a, b, False, True, False)
    a[np.triu_indices(20, 1)] = np.nan
    np.testing.assert_array_equal(lapack.triangular(a, b, False, True, False), want)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("batch", BATCHES, ids=str)
def test_solutions_from_factors(dtype, batch):
    a = drawn(*batch, 19, 19, dtype=dtype) + 9 * np.eye(19, dtype=dtype)
    b = drawn(*batch, 19, 4, dtype=dtype, seed=1)
    both, pivots = lu.factor(np, a)
    for adjoint in (False, True):
        turned = a.swapaxes(-1, -2).conj() if adjoint else a
        near(lapack.lu_solve(both, pivots, b, adjoint), np.linalg.solve(turned, b))
    s = a @ a.swapaxes(-1, -2).conj()
    factor = np.linalg.cholesky(s).astype(dtype)
    for upper in (False, True):
        given = factor.swapaxes(-1, -2).conj() if upper else factor
        for x in layouts(given):
            near(lapack.cholesky_solve(b, x, upper), np.linalg.solve(s, b))
            near(lapack.cholesky_inverse(x, upper), np.linalg.inv(s))
            inverse = lapack.cholesky_inverse(x, upper)
            np.testing.assert_array_equal(inverse, inverse.swapaxes(-1, -2).conj())


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("batch", BATCHES, ids=str)
@pytest.mark.parametrize("shape", [(20, 20), (33, 17), (17, 33), (3, 2)], ids=str)
def test_orthogonal_factors_are_torchs(dtype, batch, shape):
    a = drawn(*batch, *shape, dtype=dtype)
    for mode in ("reduced", "complete", "r"):
        Q, R = torchs("qr", a, mode=mode)
        for x in layouts(a):
            found = lapack.qr(x, mode)
            if found is None:
                assert batch == (40,) and shape == (3, 2)  # many small ones are numpy's
                continue
            near(found if mode == "r" else found[1], R)
            if mode != "r":
                near(found[0], Q)
    packed, tau = (t.numpy() for t in torch.geqrf(torch.from_numpy(a)))
    if (found := lapack.qr(a, "raw")) is not None:
        near(found[0], packed)
        near(found[1], tau)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("hermitian", [False, True])
def test_factors_of_symmetric_matrices(dtype, hermitian):
    a = drawn(3, 70, 70, dtype=dtype)
    a = a + (a.conj() if hermitian else a).swapaxes(-1, -2)
    LD, pivots, _ = torchs("ldl_factor_ex", a, hermitian=hermitian)
    for x in layouts(a):
        both, order, said = ldl.factor(x, hermitian)
        near(np.tril(both), np.tril(LD), 10)
        np.testing.assert_array_equal(order, pivots)
        assert not said.any()
    b = drawn(3, 70, 2, dtype=dtype, seed=1)
    near(ldl.solve(both, order, b, hermitian), np.linalg.solve(a, b), 1000)


@pytest.mark.parametrize("dtype", TYPES)
def test_determinants_of_large_matrices(dtype):
    n = lapack.LEAST + 3
    a = drawn(2, n, n, dtype=dtype) / n**0.5
    a[1, :, 4] = 0
    near(lapack.det(a), np.linalg.det(a))
    for mine, theirs in zip(lapack.slogdet(a), np.linalg.slogdet(a), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=2e-4 if dtype in ("f4", "c8") else 1e-11)
    assert lapack.det(a[:, :50, :50]) is None


def test_a_zero_on_the_diagonal_is_left_to_the_slow_way():
    a = np.triu(drawn(20, 20))
    a[3, 3] = 0
    b = drawn(20, 2, seed=1)
    assert lapack.triangular(a, b, True, True, False) is None
    assert lapack.triangular(a, b, True, True, True) is not None
    assert lapack.cholesky_solve(b, a, True) is None
    assert lapack.lu_solve(a, np.arange(1, 21, dtype="i4"), b, False) is None


def test_many_small_matrices_and_other_types_are_left_to_numpy():
    many, few = drawn(5000, 4, 4), drawn(2, 4, 4)
    assert lapack.lu(many) is None and lapack.lu(few) is not None
    assert lapack.triangular(many, many, True, True, False) is None
    assert lapack.lu(few.astype("i8")) is None and lapack.lu(few[:0]) is None
    assert lapack.triangular(few, few.astype("f8"), True, True, False) is None


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("columns", [20, 3])
def test_least_squares_is_torchs_whatever_the_rank(dtype, columns):
    a = drawn(2, 40, columns, dtype=dtype)
    b = drawn(2, 40, 3, dtype=dtype, seed=1)
    for rank in (columns, columns - 1):
        if rank < columns:
            a[..., -1] = a[..., 0]
        for driver in (None, "gelsd"):
            want = torchs("lstsq", a, b, driver="gelsd")
            got = L.linalg.lstsq(L.from_numpy(a), L.from_numpy(b), driver=driver)
            near(got.solution.numpy(), want[0], 20)
            assert got.rank.tolist() == [rank, rank]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("size", [1e-3, 1, 30])
def test_the_exponential_has_all_digits(dtype, size):
    a = drawn(2, 12, 12, dtype=dtype) * size / 12
    wide = a.astype("c16" if dtype[0] == "c" else "f8")
    near(lu.exponential(np, a), torchs("matrix_exp", wide).astype(dtype))


def test_the_gradient_of_a_determinant_near_a_singular_matrix():
    for shift in (1.0, 1e-6, 0.0):
        a = drawn(20, 20, dtype="f8")
        a[:, 3] = a[:, 4] + shift * a[:, 5]
        found, want = L.from_numpy(a).requires_grad_(), torch.from_numpy(a).requires_grad_()
        L.linalg.det(found).backward()
        torch.linalg.det(want).backward()
        near(found.grad.numpy(), want.grad.numpy(), 1e4 if shift == 1e-6 else 1)


@pytest.mark.parametrize("norm", [0.1, 0.5, 0.9, 3.0, 30.0, 300.0])
@pytest.mark.parametrize("kind", ["f4", "c8"])
def test_exponentials_in_single_precision_are_exact_but_for_the_last_rounding(norm, kind):
    rng = np.random.default_rng(5)
    a = rng.standard_normal((3, 12, 12)) + (1j * rng.standard_normal((3, 12, 12)) if kind == "c8" else 0)
    a = 0.02 * a - np.diag(np.arange(12) / 11)  # no overflow, and eigenvalues as large as the norm
    a = (a * (norm / abs(a).sum(-2).max())).astype(kind)
    want = torch.linalg.matrix_exp(torch.from_numpy(a.astype("c16" if kind == "c8" else "f8"))).numpy()
    made = L.linalg.matrix_exp(L.tensor(a)).numpy()
    assert (abs(made - want) <= 6.6e-8 * abs(want).max((-2, -1), keepdims=True)).all()
