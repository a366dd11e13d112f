"""Matrices that LAPACK refuses, where numpy cannot see it: without floating-point flags they are filled with nan."""

import numpy as np
import pytest

import vistorch
from vistorch.engine.ops.linalg import checks


@pytest.fixture
def without_flags(monkeypatch):
    """numpy as it is where a processor has no floating-point flags: what fails is nan, and nothing is raised."""

    def silent(function):
        def call(a, *more, **named):
            try:
                return function(a, *more, **named)
            except np.linalg.LinAlgError:
                found = function(
                    np.broadcast_to(np.eye(*a.shape[-2:], dtype=a.dtype), a.shape), *more, **named
                )
                if isinstance(found, tuple):
                    return type(found)(*(np.full_like(part, np.nan) for part in found))
                return np.full_like(found, np.nan)

        return call

    for name in ("inv", "solve", "svd", "eigh", "eigvalsh", "cholesky"):
        monkeypatch.setattr(np.linalg, name, silent(getattr(np.linalg, name)))
    monkeypatch.setattr(checks, "SILENT", True)


def test_a_singular_matrix_is_found_where_numpy_cannot_see_it(without_flags):
    L = vistorch.linalg
    singular = vistorch.tensor([[1.0, 2.0], [2.0, 4.0]])
    with pytest.raises(L.LinAlgError, match="The diagonal element 2 is zero"):
        L.inv(singular)
    with pytest.raises(L.LinAlgError, match="the input matrix is singular"):
        L.solve(singular, vistorch.ones(2))
    with pytest.raises(L.LinAlgError, match=r"Batch element 1\): The diagonal element 2"):
        L.inv(vistorch.stack([vistorch.eye(2), singular]))
    with pytest.raises(L.LinAlgError, match="leading minor of order 2 is not positive-definite"):
        L.cholesky(vistorch.tensor([[1.0, 2.0], [2.0, 1.0]]))
    with pytest.raises(L.LinAlgError, match="non-finite"):
        L.svdvals(vistorch.full((2, 2), vistorch.nan))
    assert L.inv_ex(singular).info.item() == 2
    assert vistorch.isnan(L.inv(vistorch.full((2, 2), vistorch.nan))).all()
    assert vistorch.allclose(L.inv(vistorch.eye(3) * 2), vistorch.eye(3) / 2)
