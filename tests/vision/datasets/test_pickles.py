"""Pickles from the network hold data, and do nothing."""

import pickle
import struct

import numpy as np
import pytest

from tests.vision.datasets import old_pickle
from vistorch.vision.datasets.pickles import load_pickle

ARRAYS = [
    np.arange(24, dtype=np.uint8).reshape(2, 3, 4),
    np.arange(6, dtype=">i4").reshape(2, 3),
    np.asfortranarray(np.arange(6, dtype="<f8").reshape(2, 3)),
    np.array([True, False]),
    np.zeros((0, 3), np.float32),
    np.array(3, np.int64),
]


@pytest.fixture
def load(tmp_path):
    def loaded(content):
        path = tmp_path / "p"
        path.write_bytes(content)
        return load_pickle(path)

    return loaded


@pytest.mark.parametrize("array", ARRAYS, ids=lambda a: f"{a.dtype.str}{a.shape}")
def test_arrays(load, array):
    for written in (old_pickle.dumps(array), *(pickle.dumps(array, protocol) for protocol in (2, 3, 4))):
        found = load(written)
        assert type(found) is np.ndarray and found.dtype == array.dtype.newbyteorder("=")
        np.testing.assert_array_equal(found, array)
        assert found.flags.writeable


def test_the_form_of_cifar(load):
    entry = {
        b"batch_label": b"testing batch 1 of 1",
        b"labels": [3, 8, 0],
        b"data": np.arange(3 * 3072).astype(np.uint8).reshape(3, 3072),
        b"filenames": [b"domestic_cat_s_000907.png", b"hydrofoil_s_000078.png", b"\xe9.png"],
    }
    found = load(old_pickle.dumps(entry))
    assert pickle.loads(old_pickle.dumps(entry), encoding="latin1")["labels"] == [3, 8, 0], (
        "as Python reads it"
    )
    assert list(found) == ["batch_label", "labels", "data", "filenames"]
    assert found["labels"] == [3, 8, 0] and found["filenames"][2] == "é.png"
    np.testing.assert_array_equal(found["data"], entry[b"data"])


def test_what_is_shared_stays_shared(load):
    names = ["a"]
    first, second = load(pickle.dumps([names, names], 2))
    assert first is second and first == ["a"]


class Trap:
    def __init__(self, *call):
        self.call = call

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize(
    "value",
    [
        Trap(print, ("ran",)),
        Trap(__import__, ("os",)),
        Trap(eval, ("1",)),
        Trap(np.load, ("x",)),
        Trap(bytearray, (3,)),
        Trap(getattr, ("", "join")),
        {1, 2},
        frozenset(),
        bytearray(b"x"),
        1j,
        np.float64(2),
        np.array(["text"]),
        np.array([None]),
        np.array([1j]),
        np.zeros(2, [("a", "i4")]),
        np.array(["2020-01-01"], "M8[D]"),
        range(3),
        print,
        np.ndarray,
        [[np.dtype("i4")]],
        ValueError(),
    ],
    ids=lambda v: f"{type(v).__name__}-{v!s:.20}",
)
def test_more_than_data_is_refused(load, value, capsys):
    for protocol in (2, 4):
        with pytest.raises(pickle.UnpicklingError) as caught:
            load(pickle.dumps(value, protocol))
        assert "\n" not in str(caught.value) and len(str(caught.value)) < 300
    assert capsys.readouterr().out == ""


ARRAY = b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(K\x00tU\x01btR"
U1 = b"cnumpy\ndtype\n(U\x02u1K\x00K\x01tR"
ORDER = b"(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"


@pytest.mark.parametrize(
    "content",
    [
        ARRAY,  # without numbers
        ARRAY + b"(K\x01(K\x05t" + U1 + ORDER + b"\x89U\x02abtb",  # fewer bytes than elements
        ARRAY + b"(K\x01(J\xff\xff\xff\xfft" + U1 + ORDER + b"\x89U\x00tb",  # a negative size
        ARRAY + b"(K\x01(" + b"J\xff\xff\xff\x7f" * 4 + b"t" + U1 + ORDER + b"\x89U\x00tb",  # enormous
        ARRAY + b"(K\x01(" + b"K\x01" * 60 + b"t" + U1 + ORDER + b"\x89U\x01atb",  # too many dimensions
        ARRAY + b"(K\x01(K\x01tU\x02u1\x89U\x01atb",  # a text for a dtype
        ARRAY + b"}b",
        ARRAY + b"]" + U1 + b"b",
        U1 + b"Nb",
        b"cnumpy\ndtype\n(U\x02O8K\x00K\x01tR",
        b"cnumpy\ndtype\n(U\x02V9K\x00K\x01tR",
        b"cnumpy\ndtype\n(]tR",
        b"cnumpy\ndtype\n)R",
        b"cnumpy\nndarray\n(K\x05tR",
        b"cnumpy\nndarray\n)\x81",
        b"cnumpy.core.multiarray\n_reconstruct\n(NK\x00K\x00tR",
        b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\ndtype\n(K\x00tU\x01btR",
        b"cnumpy\nndarray\n}X\x01\x00\x00\x00aK\x01sb",
        b"}}b",
        b"](I01\nq\x00h\x00e",
        b"]q\x00h\x00a",  # a list within itself
        b"}q\x00U\x01ah\x00s",
        b"".join(b"]q" + bytes([k]) + b"0" for k in range(30))
        + b"".join(b"h" + bytes([k]) + b"(" + (b"h" + bytes([k + 1])) * 10 + b"e0" for k in range(29))
        + b"(tR",
        b"cos\nsystem\n(U\x02lstR",
        b"c__builtin__\neval\n(U\x011tR",
        b"(S'ls'\nios\nsystem\n",
        b"r\xff\xff\xff\x7f",
        b"N" * 3,
        b"",
    ],
)
def test_broken_and_malicious(load, content):
    with pytest.raises(pickle.UnpicklingError) as caught:
        load(b"\x80\x02" + content + b".")
    assert "\n" not in str(caught.value)
    with pytest.raises(pickle.UnpicklingError):
        load(b"\x80\x02" + content)


def test_an_array_with_other_bytes_than_it_needs(load):
    with pytest.raises(
        pickle.UnpicklingError, match=r"An array of shape \(5,\) has not as many bytes as it needs"
    ):
        load(b"\x80\x02" + ARRAY + b"(K\x01(K\x05t" + U1 + ORDER + b"\x89U\x02abtb.")


def test_lists_of_lists_of_lists(load):
    """Thirty levels of ten references each are thirty lists, not ten to the thirtieth."""
    levels = b"]q\x1d0" + b"".join(
        b"](" + (b"h" + bytes([k + 1])) * 10 + b"eq" + bytes([k]) + b"0" for k in reversed(range(29))
    )
    found = load(b"\x80\x02" + levels + b"h\x00.")
    for _ in range(29):
        assert len(found) == 10 and all(item is found[0] for item in found)
        found = found[0]
    assert found == []


def test_cut_anywhere(load):
    whole = old_pickle.dumps({b"data": np.arange(12, dtype=np.uint8), b"labels": [1, 2]})
    for end in range(len(whole)):
        with pytest.raises(pickle.UnpicklingError):
            load(whole[:end])


def test_any_byte_changed(load):
    whole = old_pickle.dumps({b"data": np.arange(3, dtype=np.uint8), b"labels": [1]})
    for at in range(2, len(whole)):
        for value in (0, 1, 40, 82, 98, 99, 255):
            try:
                found = load(whole[:at] + struct.pack("B", value) + whole[at + 1 :])
            except pickle.UnpicklingError:
                continue
            assert type(found) in (dict, list, tuple, str, bytes, int, float, bool, type(None), np.ndarray)
