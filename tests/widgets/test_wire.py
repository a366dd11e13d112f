"""What is packed is what is read, and nothing else travels."""

import json
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vistorch.widgets._frame.wire import ALIGN, NAMES, pack, unpack

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


@given(PLAIN, TEXT)
def test_what_is_plain_comes_back(value, kind):
    if isinstance(value, dict) and value.keys() == {"buffer", "type", "shape"}:
        return
    assert unpack(pack(kind, {"value": value})) == (kind, {"value": value})


@pytest.mark.parametrize("code", NAMES)
@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (5, 7)])
def test_arrays_come_back(code, order, shape):
    numbers = np.array(np.arange(np.prod(shape, dtype=int)).reshape(shape) * 37 % 101, order + code)
    _, state = unpack(pack("array", {"deep": [{"first": np.float32([1.5])}, numbers]}))
    assert state["deep"][1].dtype == np.dtype("<" + code)
    np.testing.assert_array_equal(state["deep"][1], numbers)
    assert state["deep"][0]["first"] == 1.5


def test_every_buffer_begins_where_any_typed_array_may_lie():
    payload = pack(
        "array", {"a": np.zeros(3, np.uint8), "b": np.ones(5, np.float64), "c": np.zeros(1, np.int16)}
    )
    size = struct.unpack_from("<I", payload, 4)[0]
    head = json.loads(payload[8 : 8 + size])
    base = len(payload) - sum(-(-length // ALIGN) * ALIGN for _, length in head["buffers"])
    assert base % ALIGN == 0 and base - 8 - size < ALIGN
    assert [offset % ALIGN for offset, _ in head["buffers"]] == [0, 0, 0]
    assert [length for _, length in head["buffers"]] == [3, 40, 2]


def test_strided_arrays_are_packed_in_order():
    grid = np.arange(12, dtype=np.float32).reshape(3, 4)
    for view in (grid.T, grid[::-1, ::2], np.broadcast_to(grid[0], (2, 4))):
        np.testing.assert_array_equal(unpack(pack("array", {"x": view}))[1]["x"], view)


def test_what_json_cannot_say_is_text():
    _, state = unpack(
        pack("array", {"x": [float("nan"), float("inf"), np.float32("-inf"), np.float32(0.5), np.int8(3)]})
    )
    assert state["x"] == ["nan", "inf", "-inf", 0.5, 3]


def test_half_and_bool_travel_as_their_nearest_type():
    _, state = unpack(pack("array", {"h": np.float16([0.1, np.inf]), "b": np.array([True, False])}))
    assert state["h"].dtype == np.float32 and state["h"][0] == np.float16(0.1) and np.isinf(state["h"][1])
    assert state["b"].tolist() == [1, 0]


@pytest.mark.parametrize("value", [object(), 1j, b"raw", {1, 2}, np.complex64([1j]), np.array(["text"])])
def test_nothing_else_travels(value):
    with pytest.raises(TypeError, match="does not travel to a page"):
        pack("array", {"x": value})


@pytest.mark.parametrize("data", [b"", b"VT1\0", b"VT2\0\0\0\0\0", b"VT1\0\xff\xff\xff\xff{}"])
def test_other_bytes_are_refused(data):
    with pytest.raises(ValueError, match="not a packed record"):
        unpack(data)


def test_the_same_state_gives_the_same_bytes():
    state = {"b": 1, "a": [np.arange(3), "é"]}
    assert pack("array", state) == pack("array", dict(state))
