"""The larger or the smaller of an array and a number: the bits of numpy's own function."""

import numpy as np
import pytest
import torch

import vistorch as L
from vistorch.engine.kernels import bounds

N = 3 * (1 << 13) + 77
SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-45, -1e-45, 3e38, -3e38, 1.0, -1.0]


def values(*shape, kind="f4"):
    """Random numbers with the special ones at the beginning, at the end and between."""
    x = np.random.default_rng(0).standard_normal(shape).astype(kind)
    flat = x.reshape(-1)
    for at in (0, flat.size // 2, flat.size - len(SPECIAL)):
        flat[at : at + len(SPECIAL)] = SPECIAL
    return x


def bits(x):
    return x.view("i4" if x.dtype == "f4" else "i8")


@pytest.mark.parametrize("of", [np.maximum, np.minimum])
@pytest.mark.parametrize("kind", ["f4", "f8"])
@pytest.mark.parametrize("bound", SPECIAL)
def test_bits_are_those_of_numpy(of, kind, bound):
    x = values(N, kind=kind)
    want = of(x, x.dtype.type(bound))
    assert (bits(bounds.bounded(of, x, bound)) == bits(want)).all()
    out = np.empty_like(x)
    assert bounds.bounded(of, x, bound, out) is out
    assert (bits(out) == bits(want)).all()
    assert bounds.bounded(of, x, bound, x) is x
    assert (bits(x) == bits(want)).all()


@pytest.mark.parametrize("size", [1, 4095, 4096, 8191, 8192, 8193, 3 * 8192])
def test_every_length(size):
    x = np.random.default_rng(1).standard_normal(size).astype("f4")
    assert (bounds.bounded(np.maximum, x, 0.25) == np.maximum(x, np.float32(0.25))).all()


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (0, 3, 1, 2), (3, 2, 1, 0)])
def test_an_array_keeps_its_order_in_memory(order):
    x = values(2, 16, 16, 32).transpose(order)
    y = bounds.bounded(np.maximum, x, 0)
    assert y.strides == np.maximum(x, np.float32(0)).strides
    assert (bits(np.ascontiguousarray(y)) == bits(np.maximum(x, np.float32(0), order="C"))).all()
    assert bounds.bounded(np.maximum, x, 0, x) is x
    assert (bits(np.ascontiguousarray(x)) == bits(np.ascontiguousarray(y))).all()


def test_what_does_not_lie_together_is_left_to_numpy():
    x = values(64, 256)[:, ::2]
    assert (bits(bounds.bounded(np.minimum, x, 0.5)) == bits(np.minimum(x, np.float32(0.5)))).all()


@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_functions_are_those_of_torch(kind):
    x = values(5, 4099, kind=kind)
    for name, args in (("relu", ()), ("clamp", (0.5,)), ("clamp", (None, 2)), ("clamp_min", (-1,))):
        made = getattr(L, name)(L.tensor(x), *args).numpy()
        want = getattr(torch, name)(torch.tensor(x), *args).numpy()
        assert np.array_equal(made, want, equal_nan=True)
    made = L.relu_(L.tensor(x)).numpy()
    assert np.array_equal(made, torch.relu(torch.tensor(x)).numpy(), equal_nan=True)
