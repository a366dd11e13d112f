"""`svd_lowrank` and `pca_lowrank` against torch: the numbers drawn are the same, so are the factors."""

import pytest

from tests.story import story


def matrix(L, m, n):
    return (L.arange(m * n).reshape(m, n).double() ** 1.3).sin()


@pytest.mark.parametrize("size", [(7, 5), (5, 7), (4, 4)])
@story(rtol=1e-6, atol=1e-7)
def test_svd(L, report, size):
    A = matrix(L, *size)
    for more in ({"q": 4}, {"q": 3, "niter": 4}, {"q": 3, "niter": None, "M": A.mean(-2, keepdim=True)}):
        U, S, V = L.svd_lowrank(A, **more)
        report(S, U.shape, V.shape, (U * S) @ V.mT)


@story(rtol=1e-6, atol=1e-7)
def test_pca(L, report):
    A = matrix(L, 8, 5)
    for more in ({}, {"q": 2}, {"q": 2, "center": False, "niter": 3}):
        U, S, V = L.pca_lowrank(A, **more)
        report(S, (U * S) @ V.mT)
    report.raises(lambda: L.pca_lowrank(A, q=6))
    report.raises(lambda: L.pca_lowrank(A, niter=-1))
    report(L.functional.pca_lowrank is L.pca_lowrank)
