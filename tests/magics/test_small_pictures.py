"""Small pictures hide nothing bad; the table's drawing is the same bytes each time, and text in it stays text."""

import math
import xml.etree.ElementTree as ElementTree

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import vistorch
from vistorch import nn, vt
from vistorch.debug.thumbnail import COLS, NAN, NEGINF, POSINF, ROWS, halves, thumbnail
from vistorch.debug.variables import Row, Vars, survey
from vistorch.widgets.vars import picture as picture

SVG = "{http://www.w3.org/2000/svg}"


@given(st.lists(st.integers(1, 40), max_size=4), st.integers(0, 2**32 - 1), st.data())
def test_what_is_bad_and_what_is_largest_shows(shape, seed, data):
    values = np.random.default_rng(seed).normal(size=shape)
    flat = values.reshape(-1)
    bad = {np.nan: NAN, np.inf: POSINF, -np.inf: NEGINF}
    value = data.draw(st.sampled_from(list(bad)))
    flat[data.draw(st.integers(0, flat.size - 1))] = value
    codes = thumbnail(values, 60).codes
    assert codes.dtype == np.uint8
    assert codes.ndim == 2
    assert set(codes[codes > 252].tolist()) == {bad[value]}
    woven = 2 if (codes == bad[value]).sum() > 1 else 1  # cells with two colours: each is then two by two
    assert (codes == bad[value]).sum() == woven**2
    assert codes.shape[0] <= woven * ROWS and codes.shape[1] <= woven * COLS


@pytest.mark.parametrize(
    ("x", "number"),
    [
        (0.25, "0.25"),
        (-3, "-3"),
        (True, "True"),
        (float("nan"), "nan"),
        (1 + 2j, "1+2j"),
        (123456.789, "1.235e+05"),
    ],
)
def test_a_scalar_is_its_number(x, number):
    (row,) = survey({"x": vistorch.tensor(x)}).rows
    assert (row.number, row.thumb) == (number, None)
    drawn = ElementTree.fromstring(picture.paint(Vars("names", (row,))))
    assert number.replace("-", "\N{MINUS SIGN}") in [text.text for text in drawn.iter(f"{SVG}text")]


def test_both_ends_of_a_block_are_in_its_cell():
    values = np.ones((1, 96))
    values[:, ::2] = -1
    codes = thumbnail(values).codes
    assert codes.shape == (2, 96) and (codes == 0).sum() == (codes == 252).sum() == 96


def test_places_on_the_scale():
    ramp = thumbnail(np.linspace(-1, 1, 41).reshape(1, 41))
    assert ramp.centre
    assert ramp.codes[0, 0] == 0 and ramp.codes[0, 20] == 126 and ramp.codes[0, 40] == 252
    positive = thumbnail(np.array([[0.0, 5.0, 10.0]]))
    assert not positive.centre
    assert positive.codes.tolist() == [[0, 126, 252]]
    decades = thumbnail(np.logspace(-4, 4, 9)[None])
    assert np.diff(decades.codes[0].astype(int)).tolist() == pytest.approx([31.5] * 8, abs=1)


@pytest.mark.parametrize(
    "dtype", [bool, np.uint8, np.int64, np.float16, ml_dtypes.bfloat16, np.float64, np.complex64]
)
def test_types(dtype):
    codes = thumbnail(np.array([[0, 1], [1, 0]]).astype(dtype)).codes
    assert codes.tolist() == [[0, 252], [252, 0]]


@pytest.mark.parametrize("array", [np.zeros((0, 3)), np.array(["a"]), np.array([{}]), np.zeros(3, "i4,f4")])
def test_what_has_no_picture(array):
    assert thumbnail(array) is None


def test_time_decides():
    assert thumbnail(np.zeros(10**6), 0.001) is None
    assert thumbnail(np.zeros(10**6), 10) is not None


def test_odd_memory():
    wide = np.broadcast_to(np.arange(3.0)[:, None], (3, 1000))
    assert thumbnail(wide).codes.shape == (3, 48)
    assert thumbnail(np.arange(12.0).reshape(3, 4)[::-1, ::2].T).codes.shape == (2, 3)
    assert thumbnail(np.float64(3).reshape(())).codes.shape == (1, 1)


def test_halves():
    assert halves((2, 3, 4, 5)) == (6, 20)
    assert math.prod(halves((7, 1, 9))) == 63


def table():
    net = nn.Sequential(nn.Linear(3, 2))
    nn.init.ones_(net[0].weight)
    return survey({"x": vistorch.eye(3), "net": net, "bad": np.array([np.nan, 1.0]), "e": vistorch.ones(0)})


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_drawing(theme):
    drawn = picture.paint(table(), theme)
    assert drawn == picture.paint(table(), theme)
    root = ElementTree.fromstring(drawn)
    words = [node.text for node in root.iter(f"{SVG}text")]
    assert {"x", "net", "bad", "e", "3 × 3", "tensor", "module", "array"} <= set(words)
    assert len(list(root.iter(f"{SVG}image"))) == 3
    assert b"http" not in drawn.replace(b"http://www.w3.org/2000/svg", b"")


def test_text_stays_text():
    row = Row("<b>&", "tensor", (1,), "float32", "cpu", 4, says='"</text><script>x</script>\x00\x1b\ud800')
    drawn = picture.paint(Vars("<title>", (row,)))
    root = ElementTree.fromstring(drawn)
    assert "<b>&" in [node.text for node in root.iter(f"{SVG}text")]
    assert not list(root.iter(f"{SVG}script"))


def test_many_rows_are_counted():
    rows = tuple(Row(f"x{i}", "array", (1,), "int8", "cpu", 1) for i in range(picture.ROWS + 7))
    words = [node.text for node in ElementTree.fromstring(picture.paint(Vars("t", rows))).iter(f"{SVG}text")]
    assert "and 7 more" in words
    assert f"x{picture.ROWS}" not in words


def test_nothing_to_draw():
    assert b"no tensors, modules or arrays here" in picture.paint(survey({}))


def test_it_is_exported(tmp_path):
    display = vt.vars({"x": vistorch.eye(3)})
    assert set(display._repr_mimebundle_()) >= {"text/plain", "image/svg+xml"}
    vt.export(tmp_path / "names.svg", display)
    assert (tmp_path / "names.svg").read_bytes().startswith(b"<svg")
    with pytest.raises(vt.Refusal, match="a display of kind 'vars' is drawn as SVG"):
        vt.export(tmp_path / "names.png", display)
