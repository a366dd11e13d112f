"""Both ways of measuring for every test that asks: arrays small enough to be sorted, and the walk for large ones."""

import pytest

from vistorch.debug.array import blocks, measure


@pytest.fixture(params=["sorted", "walked"])
def way(request, monkeypatch):
    """With "walked", small arrays are measured like large ones, in pieces of a few elements."""
    force(request.param, monkeypatch)
    return request.param


def force(way, monkeypatch):
    if way == "walked":
        monkeypatch.setattr(measure, "MANY", -1)
        monkeypatch.setattr(blocks.pieces, "__defaults__", (7,))
