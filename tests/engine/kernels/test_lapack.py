"""The library's own LAPACK routines beside numpy's, torch's and the definition."""

import numpy as np
import pytest
import torch

import vistorch as L
from vistorch.engine.kernels import lapack

pytestmark = pytest.mark.skipif(
    lapack.routines(np.dtype("f4")) is None, reason="needs oneDNN: no OpenBLAS here"
)
N = lapack.LEAST + 5


def matrices(*batch, dtype="f4", seed=0):
    rng = np.random.default_rng(seed)
    a = rng.standard_normal((*batch, N, N)) + 20 * np.eye(N)
    return (a + 1j * rng.standard_normal(a.shape) if dtype[0] == "c" else a).astype(dtype)


def near(found, want, dtype):
    assert found.dtype == want.dtype
    np.testing.assert_allclose(
        found, want, rtol=0, atol=(2e-5 if dtype in ("f4", "c8") else 1e-12) * np.abs(want).max()
    )


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("batch", [(), (3,), (2, 2)], ids=str)
def test_inverse_solution_and_factor(dtype, batch):
    a, b = matrices(*batch, dtype=dtype), matrices(*batch, dtype=dtype, seed=1)[..., :7]
    for x in (a, a.swapaxes(-1, -2), np.repeat(a, 2, -1)[..., ::2]):
        kept = x.copy()
        near(lapack.inv(x), np.linalg.inv(x), dtype)
        near(lapack.solve(x, b), np.linalg.solve(x, b), dtype)
        s = x @ x.swapaxes(-1, -2).conj()
        near(lapack.cholesky(s), np.linalg.cholesky(s), dtype)
        np.testing.assert_array_equal(x, kept)


def test_what_is_left_to_numpy():
    a = matrices()
    assert lapack.inv(a[:50, :50]) is None
    assert lapack.inv(a.astype("i8")) is None
    assert lapack.inv(matrices(2)[:0]) is None
    assert lapack.solve(a, a.astype("f8")) is None
    assert lapack.solve(a, matrices(3)) is None
    assert lapack.solve(a, a[:, :0]) is None


@pytest.mark.parametrize("name", ["inv", "solve", "cholesky"])
def test_a_matrix_that_has_none_is_refused_in_torchs_words(name):
    a = matrices()
    a[:, 3] = a[3] = 0
    if name == "cholesky":
        a = np.eye(N, dtype="f4")
        a[3, 3] = -1
    b = np.ones((N, 2), "f4")
    said = []
    for lib in (L, torch):
        given = [lib.tensor(x) for x in ((a, b) if name == "solve" else (a,))]
        with pytest.raises(lib.linalg.LinAlgError) as error:
            getattr(lib.linalg, name)(*given)
        said.append(str(error.value).removeprefix("vistorch.").removeprefix("torch."))
    assert said[0] == said[1]


def test_nan_is_a_result_and_no_hang():
    a = matrices()
    a[5, 5] = np.nan
    for lib in (L, torch):
        assert np.isnan(lib.linalg.inv(lib.tensor(a)).numpy()).any()
