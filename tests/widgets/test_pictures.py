"""Pictures: their bytes, their pixels, and that no bad value is lost in them."""

import hashlib
import io
import re
import subprocess
import sys
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from PIL import Image

from tests.widgets.states import Record, item, scale
from vistorch.debug.array import record
from vistorch.debug.thumbnail import thumbnail
from vistorch.widgets._frame import png
from vistorch.widgets._frame.colours import sampled, table
from vistorch.widgets._frame.kinds import painter
from vistorch.widgets.array import cells, digits, raster
from vistorch.widgets.array import picture as array

RED = (0xC0, 0x30, 0x2A)


def pixels(data):
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGBA"))


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (40, 1)])
def test_png_is_read_by_others(shape):
    rng = np.random.default_rng(0)
    palette = rng.integers(0, 256, (7, 3), np.uint8)
    index = rng.integers(0, 7, shape, np.uint8)
    seen = pixels(png.indexed(index, palette, 2))
    np.testing.assert_array_equal(seen[..., :3][index != 2], palette[index][index != 2])
    np.testing.assert_array_equal(seen[..., 3], np.where(index == 2, 0, 255))
    for channels in (3, 4):
        colours = rng.integers(0, 256, (*shape, channels), np.uint8)
        np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(png.full(colours)))), colours)


def test_cells_have_the_colours_of_their_places():
    values = np.array([[-1.0, -0.5, 0.0, 0.5, 1.0]])
    seen = pixels(array.paint(Record(item(values))))
    row = seen[5, raster.EDGE // 2 :: raster.EDGE][:5, :3].astype(int)
    assert abs(row - table("tide")[[0, 64, 128, 192, 256]].astype(int)).max() <= 6  # 64 shades stand for 257


def test_themes_differ():
    record = Record(item(np.linspace(-1, 1, 12).reshape(3, 4)))
    light, dark = pixels(array.paint(record)), pixels(array.paint(record, "dark"))
    assert light.shape == dark.shape and (light[:40] != dark[:40]).any()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("shape", [(3, 4), (150, 200), (7,), (3, 2, 40, 40), (3000,)])
def test_a_bad_value_is_red(value, shape):
    values = np.full(shape, 0.3)
    assert not (pixels(array.paint(Record(item(values))))[..., :3] == RED).all(-1).any()
    values.flat[values.size // 2] = value
    assert (pixels(array.paint(Record(item(values))))[..., :3] == RED).all(-1).sum() >= 16


def test_marks_differ_by_shape():
    marks = []
    for value in (np.nan, np.inf, -np.inf):
        marks.append(pixels(array.paint(Record(item(np.array([[value, 0.0]]))))).tobytes())
    assert len(set(marks)) == 3


def ruled(values, others):
    """A slow reading of the rule: what of a block is shown, and the other end of its range."""
    if not np.isfinite(values).all():
        bad = next(
            b for b in (np.nan, np.inf, -np.inf) if (np.isnan(values) if b != b else values == b).any()
        )
        return bad, bad
    mean, low, high = (
        (values / 2 + others / 2).mean(),
        min(values.min(), others.min()),
        max(values.max(), others.max()),
    )
    one, two = (high, low) if high - mean >= mean - low else (low, high)
    return one, two if 2 * abs(two - mean) >= abs(one - mean) else one


@given(
    hnp.arrays(np.int64, hnp.array_shapes(min_dims=4, max_dims=4, max_side=9), elements=st.integers(-4, 4)),
    st.tuples(st.integers(1, 6), st.integers(1, 6)),
    st.data(),
)
def test_shrinking_follows_the_rule_of_blocks(given, limits, data):
    shown = given.astype(np.float64)
    for bad in data.draw(st.lists(st.sampled_from([np.nan, np.inf, -np.inf]), max_size=2)):
        shown.flat[data.draw(st.integers(0, shown.size - 1))] = bad
    others = np.where(np.isfinite(shown), data.draw(st.sampled_from([shown, -shown])), shown)
    one, two = cells.shrink(shown, others, *limits)
    down, rows, across, cols = shown.shape
    height, width = (-(-n // limit) for n, limit in zip((rows, cols), limits, strict=True))
    assert one.shape == two.shape == (down, -(-rows // height), across, -(-cols // width))
    for d, r, a, c in np.ndindex(one.shape):
        part = np.s_[d, r * height : (r + 1) * height, a, c * width : (c + 1) * width]
        expected = ruled(shown[part], others[part])
        np.testing.assert_allclose((one[d, r, a, c], two[d, r, a, c]), expected)


def test_signs_that_alternate_are_drawn_alike():
    """Half of the values negative: half of the pixels too, in blocks and in pixels of any width."""
    for columns, budget in ((1000, 48_000), (1000, 4_000), (637, 9_000), (4000, 48_000)):
        x = np.random.default_rng(0).random((100, columns), np.float32) + 0.3
        x[:, ::2] *= -1
        (made,) = record(x, budget=budget, scale="max").wire()["items"]
        palette = raster.Palette("light")
        shades = raster.heat(made, made["layers"][0], palette, 640).astype(int) - palette.base("tide", True)
        low, high = (shades < 28).sum(), (shades > 35).sum()
        assert abs(low - high) / (low + high) < 0.02, (columns, budget)


def hue(colours):
    """Which of green and red is stronger, pixel by pixel: tide is green above zero and purple below."""
    wide = np.asarray(colours, int).reshape(-1, 3)
    return np.sign(wide[:, 1] - wide[:, 0])[np.abs(wide[:, 1] - wide[:, 0]) > 12]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("scaled", ["max", "clip", "log"])
def test_no_sign_wears_the_colours_of_the_other(sign, theme, scaled):
    x = sign * (np.random.default_rng(0).random((12, 20)) + 0.05)
    shown = record(x, scale=scaled)
    (made,) = shown.wire()["items"]
    palette = raster.Palette(theme)
    entries = raster.heat(made, made["layers"][0], palette, 300)
    found = palette.array()[entries]
    assert (hue(found) == sign).all() and hue(found).size > 1000
    codes = thumbnail(x)
    ramp = sampled(codes.map, theme, codes.centre, 253)
    assert (hue(ramp[codes.codes]) == sign).all()


@pytest.mark.parametrize(
    "more, at, place",
    [
        ({}, [-2.0, -1.0, 0.0, 0.5, 3.0], [-1, -1, 0, 0.5, 1]),
        ({"centre": False, "lo": 2.0, "hi": 4.0}, [1.0, 2.0, 3.0, 4.0, 9.0], [0, 0, 0.5, 1, 1]),
        ({"curve": "log", "linear": 0.1, "hi": 9.9, "lo": -9.9}, [-9.9, -0.9, 0.0, 0.9], [-1, -0.5, 0, 0.5]),
        ({"curve": "log", "centre": False, "lo": 0.01, "hi": 1.0}, [0.0, 0.01, 0.1, 1.0], [0, 0, 0.5, 1]),
        ({"lo": 0.0, "hi": 0.0}, [0.0, 5.0], [0, 0]),
    ],
)
def test_places_on_a_scale(more, at, place):
    np.testing.assert_allclose(cells.position(scale(**more), np.array(at)), place, atol=1e-12)


def test_codes_become_values():
    layer = {"values": {"codes": np.array([0, 2, 253, 254, 255], np.uint8), "levels": np.float32([-1, 0, 7])}}
    np.testing.assert_array_equal(cells.values(layer), [-1, 7, -np.inf, np.inf, np.nan])


def test_tiles_lie_by_their_roles():
    grid = np.arange(2 * 3 * 4 * 5).reshape(2, 3, 4, 5)
    laid = cells.tiles(grid, ["across", "down", "rows", "cols"])
    assert laid.shape == (3, 4, 2, 5)
    np.testing.assert_array_equal(laid[2, :, 1, :], grid[1, 2])
    np.testing.assert_array_equal(
        cells.tiles(grid, ["slider", "cols", "rows", "down"])[3, :, 0, :], grid[0, :, :, 3].T
    )
    np.testing.assert_array_equal(cells.tiles(grid, ["down", "down", "rows", "cols"])[4, :, 0], grid[1, 1])


@pytest.mark.parametrize(
    "axes", [{"channels": 0, "rows": 1, "cols": 2}, {"channels": 2, "rows": 0, "cols": 1}]
)
def test_an_image_has_its_own_colours(axes):
    rng = np.random.default_rng(1)
    colours = rng.integers(0, 256, (8, 6, 3)).astype(np.uint8)
    values = colours.transpose(2, 0, 1) if axes["channels"] == 0 else colours
    roles = ["channels", "rows", "cols"] if axes["channels"] == 0 else ["rows", "cols", "channels"]
    image = {**axes, "lo": 0.0, "hi": 255.0, "shown": True}
    seen = pixels(array.paint(Record(item(values, roles=roles, image=image))))
    size = seen.shape[0] // 8
    np.testing.assert_array_equal(seen[size // 2 :: size, size // 2 :: size, :3], colours)


def test_beside_and_below():
    one = item(np.zeros((4, 4)))
    alone = pixels(array.paint(Record(one))).shape
    strip = pixels(array.paint(Record(one, one, layout="strip"))).shape
    linked = pixels(array.paint(Record(one, one, one, layout="linked"))).shape
    assert strip[0] == 2 * alone[0] + 12 and strip[1] == alone[1]
    assert linked[0] <= alone[0] and linked[1] > 2 * alone[1]


@pytest.mark.parametrize("values", [np.zeros((0, 3)), np.float32(0.5), np.zeros(())])
def test_nothing_and_a_number(values):
    assert pixels(array.paint(Record(item(values)))).size
    assert ElementTree.fromstring(array.svg(Record(item(values)))).tag.endswith("svg")


# What was painted, looked at and found right; another digest means that saved notebooks change.
GOLDEN = {
    "plain": (item(np.linspace(-1, 1, 24).reshape(4, 6)), "e028abab0ff43f94"),
    "bad": (item(np.array([[np.nan, 1], [np.inf, -np.inf]])), "b4e639fced1974ad"),
    "tiles": (item(np.sin(np.arange(2 * 3 * 4 * 5.0)).reshape(2, 3, 4, 5)), "2ecde0ad470c5c81"),
    "one row": (item(np.cos(np.arange(10.0))), "80ca1748f9f21abd"),
    "number": (item(np.float64(-0.3522)), "1be0437296f827da"),
}


def digest(name):
    return hashlib.sha256(array.paint(Record(GOLDEN[name][0]))).hexdigest()[:16]


@pytest.mark.parametrize("name", GOLDEN)
def test_golden(name):
    assert digest(name) == GOLDEN[name][1]


def test_bytes_are_the_same_in_another_process():
    code = "import sys; sys.path.insert(0, '.'); from tests.widgets.test_pictures import *; print(*map(digest, GOLDEN))"
    noted = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert noted == [digest(name) for name in GOLDEN]


def test_signs_are_read():
    assert digits.dots("8", 1).astype(int).tolist() == [[1, 1, 1], [1, 0, 1], [1, 1, 1], [1, 0, 1], [1, 1, 1]]
    assert digits.dots("10", 2).shape == (10, 14)
    assert len({digits.dots(sign, 1).tobytes() for sign in digits.SIGNS}) == len(digits.SIGNS)


@pytest.mark.parametrize(
    "value, text",
    [
        (0, "0"),
        (-0.65647, "-0.656"),
        (1234.6, "1235"),
        (0.00012, "1.2e-4"),
        (3e9, "3e9"),
        (99999, "99999"),
        (np.nan, "nan"),
    ],
)
def test_numbers_are_short(value, text):
    assert digits.short(value) == text


def test_a_drawing_escapes_what_it_is_given():
    name = "<script>alert('x')</script>&"
    drawn = array.svg(
        Record(item(np.zeros((2, 2)), name=name, scales=[scale(say="a < b & c")]), title=name)
    ).decode()
    tree = ElementTree.fromstring(drawn)
    texts = "".join(tree.itertext())
    assert name in texts and "a < b & c" in texts and "<script" not in drawn
    assert not re.search(r'(href|src)="(?!data:)', drawn)


def test_a_kind_finds_its_painter():
    assert painter("array") is array and array.MIME == "image/png"
