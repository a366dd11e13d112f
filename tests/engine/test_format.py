"""The text of tensors, character by character against PyTorch's."""

import itertools
from contextlib import contextmanager

import numpy as np
import pytest

from vistorch.engine.base import dtypes
from vistorch.engine.methods import format
from vistorch.engine.methods.format import tensor_text

torch = pytest.importorskip("torch")


def tensor_of(array):
    """Return PyTorch's tensor of an array, bfloat16 too."""
    if array.dtype == dtypes.bfloat16.np:
        return torch.from_numpy(array.astype(np.float32)).to(torch.bfloat16)
    return torch.from_numpy(np.ascontiguousarray(array)).reshape(array.shape)


def ours(text):
    return text.replace("torch.", "vistorch.")


@contextmanager
def printing(**given):
    """Set the same options in both libraries, and put them back in both."""
    torch.set_printoptions(**given)
    try:
        with format.printoptions(**given):
            yield
    finally:
        torch.set_printoptions(profile="default")


def random_values(rng, count):
    """Return float64 values of one of many kinds: whole, tiny, huge, mixed, often with zeros, nan and inf."""
    kind = rng.integers(9)
    values = rng.standard_normal(count)
    if kind == 1:
        values = np.round(values * 10.0 ** rng.integers(0, 10))
    elif kind == 2:
        values = values * 10.0 ** rng.integers(-12, 12)
    elif kind == 3:
        values = values * 10.0 ** rng.integers(-9, 9, size=count)
    elif kind == 4:
        edges = [0.0, -0.0, 1.0, -1.0, 1000.0, 999.5, 1001.0, 1e-4, 9e-5, 1e8, 1.1e8, 1e-45]
        values = rng.choice(edges, size=count)
    elif kind == 5:
        values = np.abs(values) + 1
    elif kind == 6:
        values = np.zeros(count)
    elif kind == 7:
        values = np.full(count, rng.choice([0.5, 2.5, 0.00005, 65504.0, 3.4e38, 99999999.5]))
    if count and rng.random() < 0.4:
        for special in (np.nan, np.inf, -np.inf, 0.0, -0.0):
            if rng.random() < 0.5:
                values[rng.integers(count, size=rng.integers(1, 1 + count // 2 + 1))] = special
    return values


def random_array(rng, d, shape):
    """Return an array of a type and shape."""
    count = int(np.prod(shape))
    with np.errstate(all="ignore"):
        if d.is_complex:
            parts = d.to_real().np
            array = np.empty(count, d.np)
            array.real = random_values(rng, count).astype(parts)
            array.imag = random_values(rng, count).astype(parts)
        elif d.is_floating_point:
            array = random_values(rng, count).astype(d.np)
        elif d is dtypes.bool:
            array = rng.random(count) < 0.5
        else:
            limits = np.iinfo(d.np)
            bits = int(rng.integers(1, limits.bits))
            array = rng.integers(
                max(limits.min, -(1 << bits)), min(limits.max, 1 << bits), size=count, dtype=d.np
            )
    return array.reshape(shape)


def random_shape(rng, largest=6):
    return tuple(
        int(n) for n in rng.integers(0 if rng.random() < 0.1 else 1, largest, size=rng.integers(0, 5))
    )


def random_options(rng):
    """Return print options; often the default ones."""
    pick = {
        "precision": [0, 1, 2, 6, 10],
        "threshold": [0, 5, 50, float("inf")],
        "edgeitems": [0, 1, 2, 5],
        "linewidth": [0, 20, 40, 79, 120, 1000],
        "profile": ["default", "short", "full"],
        "sci_mode": [True, False],
    }
    return {name: values[rng.integers(len(values))] for name, values in pick.items() if rng.random() < 0.4}


@pytest.mark.parametrize("d", dtypes.ALL, ids=repr)
def test_random_arrays(d):
    rng = np.random.default_rng(dtypes.ALL.index(d))
    for _ in range(400):
        array = random_array(rng, d, random_shape(rng))
        assert tensor_text(array) == ours(repr(tensor_of(array)))


@pytest.mark.parametrize("d", dtypes.ALL, ids=repr)
def test_random_arrays_and_options(d):
    rng = np.random.default_rng(100 + dtypes.ALL.index(d))
    for _ in range(600):
        array, given = (
            random_array(rng, d, random_shape(rng, 9 if rng.random() < 0.2 else 6)),
            random_options(rng),
        )
        with printing(**given):
            assert tensor_text(array) == ours(repr(tensor_of(array))), given


@pytest.mark.parametrize(
    "shape", [(), (2,), (30,), (3, 4), (12, 12), (0,), (2, 0), (1200,), (40, 40)], ids=str
)
@pytest.mark.parametrize("default", ["float32", "float64", "float16", "bfloat16"])
def test_suffixes_under_each_default_dtype(default, shape):
    rng = np.random.default_rng(7)
    try:
        dtypes.set_default_dtype(getattr(dtypes, default))
        torch.set_default_dtype(getattr(torch, default))
        for d in dtypes.ALL:
            array = random_array(rng, d, shape)
            tensor = tensor_of(array)
            assert tensor_text(array) == ours(repr(tensor))
            if not (d.is_floating_point or d.is_complex):
                continue
            leaf = tensor.requires_grad_()
            assert tensor_text(array, requires_grad=True) == ours(repr(leaf))
            grown = leaf.clone()
            assert tensor_text(array, grad_fn="CloneBackward0", requires_grad=True) == ours(repr(grown))
    finally:
        dtypes.set_default_dtype(dtypes.float32)
        torch.set_default_dtype(torch.float32)


def test_suffixes_break_lines_where_torch_does():
    """Sweep the row's length across the end of the line, with one suffix and with three."""
    breaks = 0
    for count, width in itertools.product(range(1, 16), range(30, 100, 3)):
        array = np.arange(count, dtype=np.float64) / 4
        leaf = tensor_of(array).requires_grad_()
        with printing(linewidth=width):
            text = tensor_text(array, requires_grad=True)
            assert text == ours(repr(leaf))
            breaks += "\n       dtype" in text or "\n       requires" in text
    assert breaks > 50


def test_device_suffix():
    array = np.arange(3)
    assert tensor_text(array, device="cuda:0") == "tensor([0, 1, 2], device='cuda:0')"
    wide = tensor_text(np.ones(10, np.float16), device="cuda:1", grad_fn="MulBackward0")
    assert wide == (
        "tensor([1., 1., 1., 1., 1., 1., 1., 1., 1., 1.], device='cuda:1',\n"
        "       dtype=vistorch.float16, grad_fn=<MulBackward0>)"
    )
    meta = repr(torch.empty(3, dtype=torch.int32, device="meta"))
    mine = tensor_text(np.ones(3, np.int32), device="meta", contents="...")
    assert mine == ours(meta)


def test_subclasses_parameters_and_contents():
    class Measured(torch.Tensor):
        pass

    array = np.ones((2, 2), np.float32)
    tensor = torch.from_numpy(array)
    assert tensor_text(array, name="Measured") == repr(tensor.as_subclass(Measured))
    parameter = "Parameter containing:\n" + tensor_text(array, requires_grad=True)
    assert parameter == repr(torch.nn.Parameter(tensor))
    assert tensor_text(array, contents="(four)") == tensor.__repr__(tensor_contents="(four)")


@pytest.mark.parametrize(
    "shape", [(10**6, 10**6), (7, 7, 10**9), (2, 10**12), (10**12,), (10**3, 2, 10**3, 10**3)]
)
def test_only_the_edges_of_a_huge_tensor_are_read(shape):
    """One number stands for all elements, so a copy of them would not fit in any memory."""
    array = np.broadcast_to(np.float32(1.5), shape)
    small = tuple(min(n, 7) for n in shape)
    with format.printoptions(threshold=0):
        expected = tensor_text(np.full(small, 1.5, np.float32))
    assert tensor_text(array) == expected and "..." in expected


def test_values_between_the_edges_do_not_count():
    array = np.arange(1000, 3000, dtype=np.float32)
    array[1000] = 1e30
    assert tensor_text(array) == repr(tensor_of(array)) and "e+" not in tensor_text(array)


def test_strided_arrays():
    array = np.arange(2400, dtype=np.float32).reshape(40, 60)
    for view in (array.T, array[::-1, ::2], array[::7, ::9], np.broadcast_to(array[0], (3, 60))):
        assert tensor_text(view) == repr(torch.from_numpy(view.copy()))


class OnDevice:
    """An array that is not numpy's and answers `get()`, as cupy's do."""

    def __init__(self, array):
        self.array, self.shape, self.ndim, self.size, self.dtype = (
            array,
            array.shape,
            array.ndim,
            array.size,
            array.dtype,
        )

    def __getitem__(self, key):
        return OnDevice(self.array[key])

    def __array_function__(self, function, types, args, kwargs):
        arrays, axis = args
        return OnDevice(function([a.array for a in arrays], axis))

    def get(self):
        assert self.size <= 100, "the whole tensor crossed"
        return self.array


@pytest.mark.parametrize("shape", [(), (3,), (2000,), (50, 50), (2, 3, 400)])
def test_arrays_of_a_device_cross_only_as_summaries(shape):
    array = np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)
    assert tensor_text(OnDevice(array)) == tensor_text(array) == repr(tensor_of(array))


def test_options_are_kept_as_in_torch():
    theirs = torch._tensor_str
    steps = [
        {"precision": 2},
        {"sci_mode": True},
        {"threshold": 5},
        {"profile": "short"},
        {"profile": "full", "precision": 7},
        {"profile": "unknown"},
        {"edgeitems": 0, "linewidth": 20, "sci_mode": False},
        {},
        {"profile": "default"},
    ]
    assert format.get_printoptions() == theirs.get_printoptions()
    seen = []
    for given in steps:
        format.set_printoptions(**given)
        torch.set_printoptions(**given)
        assert format.get_printoptions() == theirs.get_printoptions(), given
        seen.append(format.get_printoptions())
    assert seen[4]["precision"] == 7 and seen[4]["threshold"] == float("inf")
    with pytest.raises(TypeError, match=r"set_printoptions\(\) got an unexpected keyword argument 'digits'"):
        format.set_printoptions(digits=2)


def test_printoptions_puts_everything_back():
    before = format.get_printoptions()
    with pytest.raises(KeyError), format.printoptions(precision=1, profile="short", sci_mode=True):
        assert format.get_printoptions()["precision"] == 1
        raise KeyError
    assert format.get_printoptions() == before


@pytest.mark.parametrize("precision", ["a", -1, 2.0])
def test_a_precision_that_is_none(precision):
    said = []
    with printing(precision=precision):
        for write in (lambda: repr(torch.tensor([1.5])), lambda: tensor_text(np.array([1.5]))):
            try:
                write()
            except (
                ValueError
            ) as error:  # let go at once: its frames hold a guard that switches torch.func off
                said.append(str(error))
    assert len(said) == 2 and said[0] == said[1]
