"""Pooling where the records do not look: inputs in blocks, gradients that are no numbers, outputs overwritten."""

import numpy as np
import pytest

import vistorch
import vistorch.nn.functional as F
from vistorch.engine.ops.pool.windows import BLOCK

torch = pytest.importorskip("torch", reason="torch is the reference of these tests")
LARGE = (9, 59, 32, 33)  # more than one block, and the last one not full


def both(call, x, g=None):
    """Value and gradient of a pooling in both libraries."""
    results = []
    for lib in (vistorch, torch):
        t = lib.tensor(x).requires_grad_()
        y = call(lib.nn.functional, t)
        cotangent = np.cos(np.arange(y.numel(), dtype=x.dtype)).reshape(tuple(y.shape)) if g is None else g
        y.backward(lib.tensor(cotangent))
        results.append((y.detach().numpy(), t.grad.numpy()))
    return results


@pytest.mark.parametrize(
    "call",
    [
        lambda F, x: F.max_pool2d(x, 2),
        lambda F, x: F.max_pool2d(x, 3, 2, 1),
        lambda F, x: F.avg_pool2d(x, 2),
        lambda F, x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False),
        lambda F, x: F.adaptive_avg_pool2d(x, (8, 11)),
        lambda F, x: F.adaptive_avg_pool2d(x, 5),
        lambda F, x: F.adaptive_max_pool2d(x, (7, 11)),
    ],
    ids=["max 2", "max 3", "avg 2", "avg 3", "adaptive even", "adaptive uneven", "adaptive max"],
)
def test_large_inputs(call):
    assert np.prod(LARGE) > 4 * BLOCK
    x = np.random.default_rng(0).integers(-9, 9, LARGE).astype("f8")  # ties everywhere
    ours, theirs = both(call, x)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


def test_an_infinite_gradient_stays_where_it_belongs():
    x = np.arange(16.0).reshape(1, 4, 4)
    g = np.array([[[np.inf, 1.0], [np.nan, -np.inf]]])
    (_, ours), (_, theirs) = both(lambda F, t: F.max_pool2d(t, 2), x, g)
    np.testing.assert_array_equal(ours, theirs)


def test_the_output_may_be_overwritten_before_backward():
    x = vistorch.arange(-8.0, 8.0).reshape(1, 4, 4).requires_grad_()
    F.max_pool2d(x, 2).relu_().sum().backward()
    assert x.grad.sum().item() == 2
    y = vistorch.randn(1, 4, 4, requires_grad=True) * 1
    pooled = F.max_pool2d(y, 2)
    y.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        pooled.sum().backward()


def test_windows_of_dilated_kernels_may_lie_beside_the_input():
    """A window without a single element is minus infinity."""
    x = np.ones((1, 1, 1))
    for lib in (vistorch, torch):
        y = lib.nn.functional.max_pool2d(lib.tensor(x), 2, 1, 1, 2)
        assert y.tolist() == [[[-np.inf]]]


def test_a_subtle_tie_goes_to_the_first_in_row_major_order():
    x = np.array([[[0.0, 5.0], [5.0, 5.0]]])
    (_, ours), (_, theirs) = both(lambda F, t: F.max_pool2d(t, 2), x)
    assert ours.tolist() == theirs.tolist() == [[[0.0, 1.0], [0.0, 0.0]]]


def test_random_places_are_torchs_for_the_same_seed():
    x = np.random.default_rng(1).random((2, 3, 9, 9)).astype("f4")
    places = []
    for lib in (vistorch, torch):
        lib.manual_seed(7)
        _, index = lib.nn.functional.fractional_max_pool2d(
            lib.tensor(x), 2, output_ratio=(0.6, 0.5), return_indices=True
        )
        places.append(index.tolist())
    assert places[0] == places[1]
