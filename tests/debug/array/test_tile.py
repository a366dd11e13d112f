"""Parts of an array for the page, and requests that make no sense."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import vistorch
from tests.debug.array.arrays import strided
from tests.debug.array.test_pool import check
from vistorch.debug.array import tile
from vistorch.debug.array.measure import measure
from vistorch.debug.array.state import _sendable


@st.composite
def asked(draw):
    array = draw(strided(longest=8).filter(lambda a: a.size))
    start = [draw(st.integers(0, n - 1)) for n in array.shape]
    stop = [draw(st.integers(a + 1, n)) for a, n in zip(start, array.shape, strict=True)]
    block = [draw(st.integers(1, n)) for n in array.shape]
    return array, start, stop, block


@given(asked())
def test_a_tile_is_the_overview_of_its_part(given):
    array, start, stop, block = given
    part = array[tuple([slice(a, b) for a, b in zip(start, stop, strict=True)])]
    cells = tile(array, start, stop, block)
    whole = measure(part, tuple(block))
    check(part, tuple(block), whole)
    assert np.array_equal(cells, _sendable(whole.cells), equal_nan=cells.dtype.kind == "f")


def test_tiles_of_tensors_pictures_and_complex_numbers():
    x = vistorch.arange(24.0).reshape(4, 6)
    assert tile(x, [1, 2], [3, 6], [1, 1]).tolist() == [[8, 9, 10, 11], [14, 15, 16, 17]]
    assert tile(x, [0, 0], [2, 2], [2, 2], mean=True).tolist() == [[3.5]]
    z = vistorch.tensor([3 + 4j, 1j])
    assert tile(z, [0], [2], [1], 0).tolist() == [5, 1]
    assert tile(z, [1], [2], [1], 1).item() == pytest.approx(np.pi / 2)
    assert tile(z, [0], [2], [2], 1).shape == (1,)
    assert tile(vistorch.tensor(3.0), [], [], []).item() == 3


def test_integers_stay_exact():
    assert tile(vistorch.tensor([2**53 + 1, 1]), [0], [1], [1]).tolist() == [2**53 + 1]


BAD = [
    ([0], [2, 2], [1, 1], 0, "start must be a list of 2 integers"),
    ("ab", [2, 2], [1, 1], 0, "start must be a list of 2 integers"),
    ([0, 0.0], [2, 2], [1, 1], 0, "start must hold integers only"),
    ([0, True], [2, 2], [1, 1], 0, "start must hold integers only"),
    ([0, None], [2, 2], [1, 1], 0, "start must hold integers only"),
    ([0, -1], [2, 2], [1, 1], 0, "axis 1 has 500 elements: there is no part from -1 to 2"),
    ([0, 0], [2, 501], [1, 1], 0, "axis 1 has 500 elements: there is no part from 0 to 501"),
    ([3, 0], [3, 2], [1, 1], 0, "axis 0 has 400 elements: there is no part from 3 to 3"),
    ([0, 0], [2, 10**400], [1, 1], 0, "axis 1 has 500 elements"),
    ([0, 0], [2, 2], [1, 0], 0, "axis 1 has 500 elements: a block cannot have 0"),
    ([0, 0], [2, 2], [1, 501], 0, "axis 1 has 500 elements: a block cannot have 501"),
    ([0, 0], [400, 500], [1, 1], 0, "200000 cells are more than the 65536"),
    ([0, 0], [2, 2], [1, 1], 1, "there is no layer 1"),
    ([0, 0], [2, 2], [1, 1], True, "there is no layer True"),
    ([0, 0], [2, 2], [1, 1], "0", "there is no layer '0'"),
]


@pytest.mark.parametrize(("start", "stop", "block", "layer", "why"), BAD)
def test_requests_that_make_no_sense(start, stop, block, layer, why):
    with pytest.raises(ValueError, match=why):
        tile(vistorch.zeros(400, 500), start, stop, block, layer)
