"""Whole quotients of float32 by way of double precision, bit by bit as PyTorch's."""

import numpy as np
import pytest
import torch

import vistorch as L
from vistorch.engine.kernels import quotients

NAMES = {
    "fmod": lambda lib, x, y: lib.fmod(x, y),
    "remainder": lambda lib, x, y: lib.remainder(x, y),
    "floor": lambda lib, x, y: lib.div(x, y, rounding_mode="floor"),
}


def drawn(seed):
    rng = np.random.default_rng(seed)
    x = (rng.standard_normal(5000) * 10 ** rng.uniform(-3, 6)).astype("f4")
    y = (rng.standard_normal(5000) * 10 ** rng.uniform(-2, 3)).astype("f4")
    if seed % 3 == 0:
        x, y = np.round(x), np.round(y)
    if seed % 3 == 1:  # whole quotients that single precision has just missed
        y = np.where(rng.random(5000) < 0.5, x / np.float32(rng.integers(1, 50)), y)
    if seed % 4 == 0:
        x[::7], y[::5], y[3::11], y[4::13], x[1::17] = np.inf, 0, np.nan, -np.inf, -0.0
    return x, y


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(12))
def test_bits_are_torchs(name, seed):
    x, y = drawn(seed)
    want = NAMES[name](torch, torch.from_numpy(x), torch.from_numpy(y)).numpy()
    found = NAMES[name](L, L.from_numpy(x), L.from_numpy(y)).numpy()
    same = (found.view("i4") == want.view("i4")) | (np.isnan(found) & np.isnan(want))
    assert same.all(), [(x[i], y[i], found[i], want[i]) for i in np.flatnonzero(~same)[:3]]


def test_a_remainder_of_zero_has_torchs_sign():
    for x, y in ((-4.0, 2.0), (4.0, -2.0), (-0.0, 3.0)):
        for size in (1, 1000):
            for dtype in ("f4", "f8"):
                a, b = np.full(size, x, dtype), np.full(size, y, dtype)
                found = L.remainder(L.from_numpy(a), L.from_numpy(b)).numpy()
                want = torch.remainder(torch.from_numpy(a), torch.from_numpy(b)).numpy()
                np.testing.assert_array_equal(np.signbit(found), np.signbit(want))


def test_long_arrays_go_piece_by_piece_and_others_the_slow_way():
    x, y = (np.concatenate([d] * 8).reshape(40, 1000) for d in drawn(1))
    assert quotients.known(x, y)
    np.testing.assert_array_equal(quotients.pieces(quotients.rest, x, y), np.fmod(x, y))
    assert not quotients.known(x[:, ::2], y[:, ::2])
    assert not quotients.known(x, y[0])
    assert not quotients.known(x.astype("f8"), y.astype("f8"))
    assert not quotients.known(x, 3.0)
