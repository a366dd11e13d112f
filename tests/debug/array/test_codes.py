"""Codes and levels: near enough, and exact where it matters."""

import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.debug.array.arrays import strided
from vistorch.debug.array.codes import encode
from vistorch.debug.array.state import Layer, Stats


def decoded(cells, budget=48_000):
    data, codes, levels, exact = encode(cells, budget)
    return Layer("value", Stats(), [], 0, data, codes, levels, exact)


@given(strided(dtypes=[np.dtype(t) for t in "f4 f8 i4 i8 u2 u1".split()], longest=12), st.integers(0, 3000))
def test_what_comes_back(cells, budget):
    layer = decoded(cells, budget)
    back = layer.cells()
    assert back.shape == cells.shape
    if layer.exact:
        assert np.array_equal(back, cells, equal_nan=cells.dtype.kind == "f")
        return
    a, b = cells.astype(np.float64), back.astype(np.float64)
    finite = np.isfinite(a)
    assert np.array_equal(a[~finite], b[~finite], equal_nan=True)
    assert (a[finite].min(), a[finite].max()) == (b[finite].min(), b[finite].max())
    assert ((a == 0) == (b == 0)).all() or not (a == 0).any()
    assert np.isin(layer.levels, a).all() and (np.diff(layer.levels) > 0).all()
    # never further than one equal step of the range
    assert np.abs(a[finite] / 2 - b[finite] / 2).max() <= (a[finite].max() / 2 - a[finite].min() / 2) / 100


@pytest.mark.parametrize("cells", [np.arange(250.0).repeat(200), np.array([0.0, np.nan] * 20_000)])
def test_few_values_are_exact(cells):
    layer = decoded(cells)
    assert layer.exact and layer.codes.dtype == np.uint8
    assert np.array_equal(layer.cells(), cells, equal_nan=True)


def test_a_full_overview_packs_into_its_share():
    rng = np.random.default_rng(0)
    for cells in (rng.standard_normal((200, 200)), rng.standard_t(1, (200, 200)), rng.random((200, 200))):
        layer = decoded(cells.astype(np.float32))
        assert layer.codes.dtype == np.uint8
        assert len(zlib.compress(layer.codes.tobytes())) < 40_000
        error = np.abs(layer.cells() - cells)
        assert np.median(error) <= np.abs(cells).max() / 100 and np.median(error / np.abs(cells)) < 0.02


def test_two_bytes_where_there_is_room():
    cells = np.random.default_rng(0).standard_normal((120, 120)).astype(np.float32)
    layer = decoded(cells, 40_000)
    assert layer.codes.dtype == np.uint16 and len(layer.levels) > 1000
    assert np.abs(layer.cells() - cells).max() < 0.01
