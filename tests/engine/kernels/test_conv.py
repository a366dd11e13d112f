"""Every way to convolve against torch in double precision: the result and both gradients.

The records of the public functions are too small for most of the ways; here each has shapes that choose it.
"""

import itertools
import random

import numpy as np
import pytest

from vistorch.engine.kernels import conv

torch = pytest.importorskip("torch", reason="torch is the reference of these tests")


def compare(x: tuple, w: tuple, stride, padding, dilation, groups: int, dtype: str) -> None:
    """Forward with a bias, and both gradients, within rounding of the largest value."""
    rng = np.random.default_rng(sum(x) + 7 * sum(w))
    a, b, c = (rng.standard_normal(shape).astype(dtype) for shape in (x, w, (w[0],)))
    X, W = (torch.from_numpy(v).double().requires_grad_() for v in (a, b))
    function = (torch.conv1d, torch.conv2d, torch.conv3d)[len(x) - 3]
    y = function(X, W, torch.from_numpy(c).double(), stride, padding, dilation, groups)
    g = rng.standard_normal(tuple(y.shape)).astype(dtype)
    y.backward(torch.from_numpy(g).double())
    rest = (stride, padding, dilation, groups)
    found = (
        conv.forward(np, a, b, c, *rest),
        conv.input_grad(np, g, b, x[2:], *rest),
        conv.weight_grad(np, g, a, w[2:], *rest),
    )
    near = 1e-11 if dtype == "f8" else 1e-5
    for ours, theirs in zip(found, (y.detach(), X.grad, W.grad), strict=True):
        wanted = theirs.numpy()
        assert ours.shape == wanted.shape and ours.dtype == np.dtype(dtype)
        np.testing.assert_allclose(ours, wanted, rtol=0, atol=near * max(1, abs(wanted).max()))


WAYS = {
    "winograd": [
        ((5, 32, 13, 9), (40, 32, 3, 3), (1, 1), (1, 1), (1, 1), 1),
        ((7, 33, 8, 8), (32, 33, 3, 3), (1, 1), (0, 2), (1, 1), 1),
        ((130, 32, 4, 4), (48, 32, 3, 3), (1, 1), (1, 1), (1, 1), 1),
        ((40, 34, 3, 5), (36, 34, 3, 3), (1, 1), (2, 0), (1, 1), 1),
    ],
    "last": [
        ((5, 32, 4, 4), (40, 32, 3, 2), (1, 1), (1, 1), (1, 1), 1),
        ((3, 33, 9, 8), (34, 33, 3, 3), (2, 1), (1, 0), (2, 1), 1),
        ((70, 32, 9), (32, 32, 4), (2,), (1,), (1,), 1),
        ((2, 32, 4, 3, 5), (33, 32, 2, 3, 3), (1, 2, 1), (1, 1, 1), (1, 1, 2), 1),
        ((9, 70, 7, 5), (32, 70, 3, 3), (2, 2), (1, 1), (1, 1), 1),
    ],
    "point": [
        ((3, 20, 9, 9), (21, 20, 1, 1), (1, 1), (0, 0), (1, 1), 1),
        ((33, 40, 2, 2), (20, 40, 1, 1), (1, 1), (0, 0), (1, 1), 1),
        ((3, 5, 9, 8), (6, 5, 1, 1), (2, 3), (0, 0), (1, 1), 1),
        ((4, 32, 1, 1), (33, 32, 3, 3), (1, 1), (1, 1), (1, 1), 1),
    ],
    "depthwise": [
        ((3, 70, 9, 8), (70, 1, 3, 3), (1, 1), (1, 1), (1, 1), 70),
        ((40, 300, 4, 4), (300, 1, 3, 3), (1, 1), (1, 1), (1, 1), 300),
        ((3, 5, 60, 40), (5, 1, 5, 2), (1, 1), (2, 0), (2, 1), 5),
    ],
    "columns": [
        ((70, 3, 30, 30), (8, 3, 5, 5), (1, 1), (2, 2), (1, 1), 1),
        ((9, 3, 31, 30), (8, 3, 7, 7), (2, 3), (3, 3), (1, 2), 1),
        ((5, 8, 9, 12), (12, 2, 3, 3), (1, 1), (1, 1), (1, 1), 4),
        ((5, 8, 9, 12), (8, 1, 3, 3), (2, 2), (1, 1), (1, 1), 8),
        ((5, 8, 9, 12), (16, 1, 3, 3), (1, 1), (1, 1), (1, 1), 8),
        ((3, 4, 200), (6, 4, 9), (1,), (4,), (1,), 1),
        ((3, 4, 40), (6, 4, 9), (3,), (4,), (2,), 1),
        ((2, 3, 7, 6, 5), (4, 3, 3, 2, 3), (2, 1, 1), (1, 0, 1), (1, 2, 1), 1),
    ],
}
CASES = [
    pytest.param(way, case, id=f"{way}-{i}") for way, cases in WAYS.items() for i, case in enumerate(cases)
]


@pytest.mark.parametrize("way, case", CASES)
def test_every_way(way: str, case: tuple) -> None:
    x, w, *rest = case
    assert conv.plan(np, np.dtype("f4"), x, w, None, *rest)[0] == way
    compare(*case, "f4")
    compare(*case, "f8")


def test_random_geometries() -> None:
    """Taps that see nothing, strides that leave a rest, groups and ranks of all kinds."""
    rng = random.Random(0)

    def some(low: int, high: int) -> tuple:
        return tuple(rng.randint(low, high) for _ in range(rank))

    done = 0
    while done < 150:
        rank, groups = rng.choice((1, 2, 2, 3)), rng.choice((1, 1, 2, 3))
        channels, filters = groups * rng.choice((1, 2, 33)), groups * rng.choice((1, 3, 32))
        size, kernel = some(1, 7), some(1, 4)
        stride, padding, dilation = some(1, 3), some(0, 3), some(1, 2)
        out = conv.out_size(size, kernel, stride, padding, dilation)
        if min(out) < 1 or any(
            d * (k - 1) + 1 > n + 2 * p for n, k, p, d in zip(size, kernel, padding, dilation, strict=True)
        ):
            continue
        done += 1
        shapes = (rng.randint(1, 5), channels, *size), (filters, channels // groups, *kernel)
        compare(*shapes, stride, padding, dilation, groups, rng.choice(("f4", "f8")))


def test_strides_of_zero() -> None:
    """A gradient that is one number spread out, and images that are not contiguous, as sums and views make them."""
    for x, w, *rest in (cases[0] for cases in WAYS.values()):
        rng = np.random.default_rng(0)
        a, b = rng.standard_normal(x), rng.standard_normal(w)
        y = conv.forward(np, a, b, None, *rest)
        odd = np.asfortranarray(a)
        np.testing.assert_allclose(conv.forward(np, odd, np.asfortranarray(b), None, *rest), y, atol=1e-10)
        spread, plain = np.broadcast_to(np.float64(2), y.shape), np.full(y.shape, 2.0)
        for f, given, about in ((conv.input_grad, b, x[2:]), (conv.weight_grad, odd, w[2:])):
            np.testing.assert_allclose(
                f(np, spread, given, about, *rest),
                f(np, plain, np.ascontiguousarray(given), about, *rest),
                atol=1e-9,
            )


@pytest.mark.parametrize("shape", [(0, 3, 4, 4), (2, 0, 4, 4)])
def test_nothing(shape: tuple) -> None:
    """No images, or no channels: zeros of the right shape."""
    x, w = np.ones(shape, "f4"), np.ones((5, shape[1], 3, 3), "f4")
    rest = ((1, 1), (0, 0), (1, 1), 1)
    y = conv.forward(np, x, w, np.ones(5, "f4"), *rest)
    assert y.shape == (shape[0], 5, 2, 2) and (y == 1).all()
    assert conv.input_grad(np, y, w, (4, 4), *rest).shape == shape
    assert not conv.weight_grad(np, y, x, (3, 3), *rest).any()


def test_arguments_are_left_alone() -> None:
    for (x, w, *rest), dtype in itertools.product((cases[0] for cases in WAYS.values()), ("f4", "f8")):
        a, b = np.ones(x, dtype), np.ones(w, dtype)
        g = conv.forward(np, a, b, None, *rest)
        given = [v.copy() for v in (a, b, g)]
        conv.input_grad(np, g, b, x[2:], *rest)
        conv.weight_grad(np, g, a, w[2:], *rest)
        for before, after in zip(given, (a, b, g), strict=True):
            np.testing.assert_array_equal(before, after)
