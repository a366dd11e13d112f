"""Group norm by the layer norm of oneDNN, beside double precision."""

import numpy as np
import pytest
import torch

import vistorch as L

SHAPES = [((4, 8, 32, 32), 4), ((2, 6, 40), 3), ((64, 60), 2), ((1, 4, 2, 8, 4), 4), ((2, 32, 16, 16), 32)]


@pytest.mark.parametrize("shape, groups", SHAPES, ids=str)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shift", [0, 50])
def test_outputs_statistics_and_gradients(shape, groups, weighted, shift):
    rng = np.random.default_rng(0)
    x = (rng.standard_normal(shape) + shift).astype("f4")
    both = [rng.standard_normal(shape[1]).astype("f4") for _ in range(2)] if weighted else []
    results = []
    for lib, wide in ((L, False), (torch, True)):
        leaves = [lib.from_numpy(a.copy()) for a in (x, *both)]
        leaves = [(t.double() if wide else t).requires_grad_() for t in leaves]
        out = lib.nn.functional.group_norm(leaves[0], groups, *leaves[1:])
        (out * out.sin()).sum().backward()
        results.append([t.detach().numpy() for t in (out, *[t.grad for t in leaves])])
    for mine, theirs in zip(*results, strict=True):
        atol = (3e-6 if not shift else 3e-4) * max(np.abs(theirs).max(), 1)
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=atol)


def test_native_group_norm_gives_the_statistics_of_each_group():
    x = np.random.default_rng(1).standard_normal((3, 6, 50)).astype("f4")
    _, mean, inverse = L.native_group_norm(L.from_numpy(x), None, None, 3, 6, 50, 2, 1e-5)
    rows = x.reshape(3, 2, -1).astype("f8")
    np.testing.assert_allclose(mean.numpy(), rows.mean(-1), atol=1e-6)
    np.testing.assert_allclose(inverse.numpy(), 1 / np.sqrt(rows.var(-1) + 1e-5), rtol=1e-5)
