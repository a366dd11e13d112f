"""Gradients of norms and spreads at nan, infinities and both zeros, against PyTorch's.

Invariant: the whole vector of gradients is compared, nan for nan.
"""

import math
import warnings

import numpy as np
import pytest

import vistorch

torch = pytest.importorskip("torch", reason="torch is the reference of these tests")

NAN, INF = math.nan, math.inf
VALUES = (
    *[[v] for v in (NAN, INF, -INF, 0.0, -0.0, -2.0)],
    *[[v, 1.0, -2.0] for v in (NAN, INF, -INF, 0.0, -0.0)],
    [NAN, INF, -INF, 0.0, -0.0, 1.0, -2.0],
    [NAN, NAN],
    [INF, INF, 1.0],
    [-INF, INF],
    [0.0, 0.0],
)
ORDERS = (0.5, 1, 1.5, 2, 3, -1, -2, INF, -INF)
FUNCTIONS = {
    **{f"norm({p})": lambda L, x, p=p: L.norm(x, p) for p in ORDERS},
    **{f"vector_norm({p}, dim)": lambda L, x, p=p: L.linalg.vector_norm(x, p, 0) for p in ORDERS},
    **{f"dist({p})": lambda L, x, p=p: L.dist(x, L.ones_like(x), p) for p in ORDERS},
    **{
        f"cdist({p})": lambda L, x, p=p: L.cdist(x[:, None], L.ones_like(x)[:1, None], p)
        for p in (0.5, 1, 1.5, 2, 3)
    },
    **{
        name: lambda L, x, name=name: getattr(L, name)(x, 0)
        for name in ("var", "std", "logsumexp", "amax", "amin", "nansum", "nanmean", "softmax")
    },
    **{
        name: lambda L, x, name=name: getattr(L, name)(x)
        for name in ("abs", "sign", "sqrt", "log", "reciprocal", "relu", "asin", "atanh", "nan_to_num")
    },
}


def gradient(L, function, values):
    """The gradient of the sum of what a function gives."""
    x = L.tensor(values, dtype=L.float64, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        function(L, x).sum().backward()
    return np.array(x.grad.tolist())


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_gradients_at_special_values(function):
    for values in VALUES:
        ours, theirs = gradient(vistorch, function, values), gradient(torch, function, values)
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-12, err_msg=str(values))
