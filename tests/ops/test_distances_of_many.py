"""Distances between many points: by a product, in parts, with gradients that hold no differences of all pairs."""

import numpy as np
import pytest
import torch

import vistorch as L

MODES = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("p", [0.0, 1.0, 2.0, 3.0, float("inf")])
@pytest.mark.parametrize(
    "shapes", [((7, 3), (5, 3)), ((60, 9), (40, 9)), ((2, 1, 30, 4), (3, 27, 4))], ids=str
)
def test_distances_and_gradients_are_torchs(mode, p, shapes):
    rng = np.random.default_rng(0)
    points = [rng.standard_normal(shape) for shape in shapes]
    results = []
    for lib in (L, torch):
        a, b = (lib.tensor(x, requires_grad=True) for x in points)
        d = lib.cdist(a, b, p, compute_mode=mode)
        weight = lib.arange(d.numel(), dtype=lib.float64).reshape(d.shape).sin()
        (d * weight).sum().backward()
        results.append([t.detach().numpy() for t in (d, a.grad, b.grad)])
    for mine, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-8, atol=1e-9)


def test_second_derivatives():
    rng = np.random.default_rng(1)
    a, b = (L.tensor(rng.standard_normal((30, 3)), requires_grad=True) for _ in range(2))
    assert L.autograd.gradgradcheck(lambda x, y: L.cdist(x, y).sum(1)[:4], (a, b))


def test_memory_is_that_of_the_result_and_not_of_all_differences():
    import tracemalloc

    a, b = L.randn(1500, 64), L.randn(1500, 64)
    for p in (2.0, 1.0):
        tracemalloc.start()
        L.cdist(a, b, p)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 4 * 1500 * 1500 * 4  # all differences would be 576 MB
