"""Every kind of thing that can be shown: what its record says, and that the page can have it."""

import json
import math
import pickle
import sys

import ml_dtypes
import numpy as np
import pytest

import vistorch
from vistorch.debug.array import ArrayRecord, is_array, record
from vistorch.debug.array.state import Layer

SENT = {"f4", "f8", "i1", "u1", "i2", "u2", "i4", "u4", "i8"}


def only(r):
    assert len(r.items) == 1
    return r.items[0]


def chosen(r, layer=0):
    one = only(r).layers[layer]
    return one.scales[one.scale]


def walk(value):
    """What JSON and buffers can hold, nothing else."""
    if isinstance(value, np.ndarray):
        assert value.dtype.str[1:] in SENT and value.dtype.isnative and value.flags.c_contiguous
    elif isinstance(value, dict):
        assert all(type(k) is str for k in value)
        for v in value.values():
            walk(v)
    elif isinstance(value, list):
        for v in value:
            walk(v)
    else:
        assert value is None or type(value) in (str, int, float, bool), type(value)
        json.dumps(value, allow_nan=False)
        assert type(value) is not int or abs(value) <= 2**53


def belongs(x, r):
    """The wire's state of one array fits together."""
    walk(r.wire())
    for item in r.wire()["items"]:
        rank = len(item["shape"])
        assert len(item["dims"]) == len(item["block"]) == len(item["grid"]) == len(item["roles"]) == rank
        for layer in item["layers"]:
            values = layer["values"]
            assert list((values["data"] if "data" in values else values["codes"]).shape) == item["grid"]
            assert 0 <= layer["scale"] < len(layer["scales"])
            assert layer["stats"]["count"] == math.prod(item["shape"])
    return r


DTYPES = [
    "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128".split(),
    [(), (0,), (1,), (7,), (2, 0, 3), (5, 6), (2, 3, 4), (2, 1, 3, 2), (2, 2, 2, 2, 2)],
]


@pytest.mark.parametrize("dtype", DTYPES[0])
@pytest.mark.parametrize("shape", DTYPES[1])
def test_every_dtype_and_shape(dtype, shape):
    kind = getattr(vistorch, dtype)
    x = (vistorch.randn(shape) * 3).to(kind) if dtype != "bool" else vistorch.randn(shape) > 0
    r = belongs(x, record(x, name="x"))
    item = only(r)
    assert r.text() == repr(x)
    assert item.dtype == dtype and item.shape == shape and item.device == "cpu"
    assert item.nbytes == x.nbytes and item.pooled == "" and set(item.block) <= {1}
    want = x.float().numpy() if dtype in ("float16", "bfloat16") else x.numpy()
    if kind.is_complex:
        sizes, angles = (layer.cells() for layer in item.layers)
        assert [layer.name for layer in item.layers] == ["magnitude", "phase"]
        np.testing.assert_allclose(sizes * np.exp(1j * angles), want, rtol=1e-5)
        assert item.layers[1].scales[0].id == "phase"
    else:
        assert np.array_equal(only(r).layers[0].cells(), want)
        assert item.layers[0].name == "value"


@pytest.mark.parametrize(
    "dtype",
    [
        ml_dtypes.float8_e4m3fn,
        ml_dtypes.float8_e5m2,
        np.float16,
        np.uint16,
        np.uint64,
        ">f4",
        ">i2",
        np.longdouble,
    ],
)
def test_numpy_arrays_of_types_no_tensor_has(dtype):
    x = np.array([[1, 2, 4], [8, 16, 32]], dtype)
    r = belongs(x, record(x))
    assert only(r).layers[0].cells().tolist() == [[1, 2, 4], [8, 16, 32]]
    assert r.text() == repr(x)


@pytest.mark.parametrize(
    ("x", "dtype", "shown"),
    [
        (3, "int", 3),
        (2.5, "float", 2.5),
        (True, "bool", 1),
        (2**70, "int", 2.0**70),
        ([1, 2, 3], "int64", [1, 2, 3]),
    ],
)
def test_numbers_and_lists_of_them(x, dtype, shown):
    r = belongs(x, record(x))
    assert only(r).layers[0].cells().tolist() == shown
    assert only(r).dtype == dtype


def test_a_complex_number_and_one_that_is_nan():
    x = vistorch.tensor([3 + 4j, complex(math.nan, 1), complex(math.inf, math.nan), complex(-math.inf, 0)])
    item = only(belongs(x, record(x)))
    sizes, angles = (layer.cells() for layer in item.layers)
    assert sizes[0] == 5 and np.isnan(sizes[1:3]).all() and sizes[3] == math.inf
    assert np.isnan(angles[1:3]).all()
    assert (item.bad.nan, item.bad.posinf, item.bad.at.tolist()) == (2, 1, [1, 2, 3])


def test_what_cannot_be_shown_says_what_can():
    for x in (
        "text",
        object(),
        np.array(["a"]),
        np.array([object()]),
        {"a": 1},
        vistorch.nn.Linear(2, 2),
        None,
    ):
        assert not is_array(x)
        with pytest.raises(TypeError, match="cannot show"):
            record(x)
    for x in (1, 1.0, True, np.ones(2), np.float32(1), vistorch.ones(2)):
        assert is_array(x)


def test_integers_that_json_would_round_are_strings():
    r = record(vistorch.tensor([2**53 + 1, 0]))
    assert r.wire()["items"][0]["layers"][0]["stats"]["max"] == str(2**53 + 1)
    assert r.wire()["items"][0]["layers"][0]["values"]["data"].tolist() == [2**53 + 1, 0]


def test_memory_that_is_not_plain():
    x = vistorch.arange(12.0).reshape(3, 4)
    for view in (x.t(), x[::2], x[:, 1::2], x.flip(0), vistorch.ones(3, 1).expand(3, 5)):
        assert np.array_equal(only(record(view)).layers[0].cells(), view.numpy())
    assert only(record(vistorch.ones(3, 1).expand(3, 5))).notes == ["expanded: 3 stored"]
    backwards = np.arange(6.0)[::-2]
    assert only(record(backwards)).layers[0].cells().tolist() == [5, 3, 1]


def test_gradients_and_parameters():
    p = vistorch.nn.Parameter(vistorch.rand(3, 16, 16))
    item = only(belongs(p, record(p)))
    assert item.notes == ["requires grad"]
    assert item.image is not None and not item.image.shown  # it might be one, but is not taken for one
    assert record(p).text() == repr(p)
    y = (p * 2).sum()
    assert record(y).text() == repr(y) and "SumBackward0" in record(y).text()


# ---- pictures --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("shape", "axes", "dims", "roles"),
    [
        ((3, 32, 20), (0, 1, 2), ("channel", "row", "column"), ("channels", "rows", "cols")),
        ((1, 28, 28), (0, 1, 2), ("channel", "row", "column"), ("channels", "rows", "cols")),
        ((4, 9, 9), (0, 1, 2), ("channel", "row", "column"), ("channels", "rows", "cols")),
        ((32, 20, 3), (2, 0, 1), ("row", "column", "channel"), ("rows", "cols", "channels")),
        (
            (5, 3, 16, 16),
            (1, 2, 3),
            ("image", "channel", "row", "column"),
            ("across", "channels", "rows", "cols"),
        ),
        (
            (5, 16, 16, 3),
            (3, 1, 2),
            ("image", "row", "column", "channel"),
            ("across", "rows", "cols", "channels"),
        ),
    ],
)
def test_pictures(shape, axes, dims, roles):
    for x, hi in ((vistorch.rand(shape), 1.0), ((vistorch.rand(shape) * 255).to(vistorch.uint8), 255.0)):
        item = only(belongs(x, record(x)))
        image = item.image
        assert (image.channels, image.rows, image.cols) == axes
        assert (image.lo, image.hi, image.shown) == (0.0, hi, True)
        assert item.dims == dims and item.roles == roles


@pytest.mark.parametrize(
    "make",
    [
        lambda: vistorch.randn(3, 32, 32),
        lambda: vistorch.rand(3, 32, 32) * 2,
        lambda: vistorch.rand(5, 32, 32),
        lambda: vistorch.rand(32, 32),
        lambda: vistorch.rand(3, 5, 5),
        lambda: vistorch.zeros(3, 32, 32),
        lambda: (vistorch.rand(3, 32, 32) > 0.5).to(vistorch.uint8),
        lambda: vistorch.randint(0, 255, (3, 32, 32)),
        lambda: vistorch.rand(2, 2, 3, 16, 16),
    ],
)
def test_no_pictures(make):
    assert only(record(make())).image is None


def test_a_large_picture_shows_means_and_what_is_bad():
    x = vistorch.zeros(3, 400, 400)
    x[0, ::2] = 1
    x[1, 5, 5] = math.nan
    item = only(belongs(x, record(x)))
    k = item.block[1]
    assert item.block[0] == 1 and k > 1 and "mean" in item.pooled
    cells = item.layers[0].cells()
    assert 0 < cells[0, 3, 3] < 1 and math.isnan(cells[1, 5 // k, 5 // k])


# ---- axes ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("shape", "roles"),
    [
        ((), ()),
        ((5,), ("cols",)),
        ((5, 6), ("rows", "cols")),
        ((4, 5, 6), ("across", "rows", "cols")),
        ((3, 4, 5, 6), ("across", "down", "rows", "cols")),
        ((2, 3, 4, 5, 6), ("slider", "across", "down", "rows", "cols")),
        ((100, 5, 6), ("slider", "rows", "cols")),
    ],
)
def test_roles(shape, roles):
    item = only(record(vistorch.randn(shape)))
    assert item.roles == roles
    assert item.dims == tuple(f"axis {i}" for i in range(len(shape)))


def test_names_of_axes():
    assert only(record(vistorch.ones(2, 3), dims=["head", "token"])).dims == ("head", "token")
    with pytest.raises(ValueError, match="dims names 1 axes of an array that has 2"):
        record(vistorch.ones(2, 3), dims=["head"])
    assert only(record(vistorch.nn.Conv2d(1, 2, 3).weight)).dims == ("out", "in", "kh", "kw")


# ---- large -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", "bool uint8 int16 int64 float16 bfloat16 float32 float64 complex64".split())
@pytest.mark.parametrize("shape", [(1000, 500), (300, 300), (20, 30, 40, 30), (500_000,)])
def test_large_ones_fit_the_budget_and_keep_their_extremes(dtype, shape):
    kind = getattr(vistorch, dtype)
    x = (vistorch.randn(shape) * 50).to(kind) if dtype != "bool" else vistorch.randn(shape) > 3
    r = belongs(x, record(x))
    item = only(r)
    sent = 0
    for layer in item.layers:
        cells = layer.cells()
        assert cells.shape == item.grid
        ends = cells.reshape(-1)[:1] if layer.ends is None else layer.ends[1]
        seen = min(cells.min(), ends.min()), max(cells.max(), ends.max())
        assert seen == (layer.stats.min, layer.stats.max) or layer.name == "phase"
        assert layer.data is not None or (layer.codes.size <= 40_000 and len(layer.levels) <= 2045)
        sent += layer.data.nbytes if layer.data is not None else layer.codes.nbytes
    assert sent <= 50_000
    assert item.pooled.startswith("each block is")


def test_pooled_complex_cells_are_one_entry_of_their_block():
    x = vistorch.randn(160, 160, dtype=vistorch.complex128)
    item = only(record(x, budget=16_000))
    k, m = item.block
    values = item.layers[0].cells() * np.exp(1j * item.layers[1].cells())
    a = x.numpy()
    assert item.layers[0].exact is False or item.block == (1, 1)
    sizes = np.abs(a)
    for i in range(item.grid[0]):
        for j in range(item.grid[1]):
            part = a[i * k : (i + 1) * k, j * m : (j + 1) * m]
            near = part.reshape(-1)[np.abs(part - values[i, j]).argmin()]
            assert abs(near - values[i, j]) < 0.12 * sizes.max()


def test_records_survive_without_their_tensor():
    r = record(vistorch.randn(4, 4), name="x")
    again = pickle.loads(pickle.dumps(r))
    assert isinstance(again, ArrayRecord) and again.text() == r.text()
    assert "vistorch.engine" not in str(pickle.dumps(r)) and r.kind == "array"


def test_a_record_does_not_change_with_its_tensor():
    x = vistorch.zeros(3, 3)
    flags = np.zeros((3, 3), bool)
    r, f = record(x), record(flags)
    x.fill_(7)
    flags[:] = True
    assert only(r).layers[0].cells().max() == 0 and not only(f).layers[0].cells().any()


def test_nothing_is_imported_that_is_heavy():
    import subprocess

    code = (
        "import sys, vistorch; from vistorch.debug.array import record; record(vistorch.randn(9, 9)).wire();"
        "print([m for m in ('torch', 'cupy', 'matplotlib', 'IPython', 'anywidget') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_a_layer_without_cells_has_none():
    assert Layer("value", only(record(1.0)).layers[0].stats).cells() is None


@pytest.mark.parametrize("image", [True, False])
def test_blocks_of_what_could_be_a_picture(image):
    x = vistorch.zeros(3, 300, 300)
    x[:, 10, 10] = 1.0
    item = only(record(x, image=image))
    assert item.image.shown == image and item.block[1] > 1
    cells = item.layers[0].cells()
    assert (
        cells.max() == 1
    ) != image  # a picture's block is the mean of its elements, another's the furthest from it
