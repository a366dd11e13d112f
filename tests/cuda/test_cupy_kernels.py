"""The logic around the cupy kernels, on a stand-in made of numpy: which device is current, indices, dtypes.

What the kernels compute is tested on a GPU only.
"""

import importlib
import sys

import ml_dtypes
import numpy as np
import pytest

from vistorch.engine.kernels.cuda_source import ELEMENTWISE

torch = pytest.importorskip("torch")


@pytest.fixture
def kernels(two_gpus):
    """The module, imported over the stand-in."""
    return importlib.import_module("vistorch.engine.kernels.cupy_")


def on(cupy, index, values=(1.0, 2.0)):
    """An array of the stand-in on a device."""
    with cupy.cuda.Device(index):
        return cupy.array(np.array(values))


def test_guard_makes_the_device_of_the_first_array_current(two_gpus, kernels):
    runtime = two_gpus.cuda.runtime

    def kernel(*args, **kwargs):
        return runtime.device

    guarded = kernels.guard(kernel)
    here, there = on(two_gpus, 0), on(two_gpus, 1)
    assert guarded(here) == 0
    assert guarded(there) == 1
    assert guarded(there, here) == 1
    assert guarded(2, there) == 1
    assert guarded([there, there], 0) == 1
    assert guarded((1, [there]), 0) == 1
    assert guarded((3, 4), 1) == 0  # creation: no array, the current device stays
    assert guarded() == 0
    assert runtime.device == 0
    assert guarded.__name__ == "kernel"


def test_guard_does_not_touch_a_device_that_is_current(two_gpus, kernels):
    array = on(two_gpus, 0)
    two_gpus.cuda.runtime.setDevice = None
    assert kernels.guard(lambda x: x is array)(array)


def test_guard_comes_back_after_an_error(two_gpus, kernels):
    with pytest.raises(ZeroDivisionError):
        kernels.guard(lambda x: 1 / 0)(on(two_gpus, 1))
    assert two_gpus.cuda.runtime.device == 0


def test_guard_is_nothing_with_one_gpu(install):
    install(1)
    kernels = importlib.import_module("vistorch.engine.kernels.cupy_")
    assert kernels.guard(len) is len


def test_the_module_is_not_imported_by_a_question(two_gpus):
    from vistorch import cuda

    assert cuda.is_available()
    assert "vistorch.engine.kernels.cupy_" not in sys.modules


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "bfloat16"])
def test_special_functions_keep_the_dtype(two_gpus, kernels, dtype):
    kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
    x = np.array([0.5, 1.5, 3.0]).astype(kind)
    before = x.copy()
    if dtype != "float64":  # the stand-in's functions answer in float32
        out = kernels.overrides["erf"](x)
        assert out.dtype == kind
        expected = torch.erf(torch.tensor(x.astype("f"))).numpy().astype(kind)
        assert np.array_equal(out, expected)
        assert kernels.overrides["lgamma"](x).dtype == kind
    assert kernels.polygamma(2, x).dtype == kind
    assert kernels.polygamma(0, x)[0] == kind.type(7)  # the stand-in's digamma
    assert np.array_equal(x, before)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_polygamma(kernels, n):
    x = np.array([0.5, 1.5, 3.0])
    expected = torch.polygamma(n, torch.tensor(x)).numpy()
    assert np.allclose(kernels.polygamma(n, x), expected, rtol=1e-3 if n == 1 else 1e-6)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_fused_kernels_are_built_once_and_late(two_gpus, kernels, name):
    assert kernels.fused.cache_info().currsize == 0
    row = ELEMENTWISE[name]
    scalars = (2.0, 20.0)[: len(row.scalars)]
    x = on(two_gpus, 0)
    called, args = kernels.overrides[name](x, *scalars)
    assert called == f"vistorch_{name}"
    assert args == (x, *scalars)
    kernels.overrides[name](x, *scalars)
    assert kernels.fused.cache_info().currsize == 1
    assert kernels.fused(name).inputs == ", ".join(["T x", *(f"float64 {s}" for s in row.scalars)])


DTYPES = ["float16", "float32", "float64", "int8", "uint8", "int16", "int32", "int64", "bfloat16"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_index_add(kernels, dtype, dim):
    rng = np.random.default_rng(0)
    kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
    x = rng.integers(0, 20, (4, 3, 5)).astype(kind)
    index = np.array([2, 0, 2])
    shape = list(x.shape)
    shape[dim] = 3
    source = rng.integers(0, 9, shape).astype(kind)
    if dtype == "int64":
        source -= 5
    before = x.copy()
    theirs = torch.tensor(x.astype("f8")).index_add(
        dim, torch.tensor(index), torch.tensor(source.astype("f8")), alpha=2
    )
    out = kernels.overrides["index_add"](x, dim, index, source, 2)
    assert out.dtype == kind
    assert np.array_equal(out.astype("f8"), theirs.numpy())
    assert np.array_equal(x, before)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_scatter_add(kernels, dtype, dim):
    rng = np.random.default_rng(1)
    kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
    x = rng.integers(0, 20, (4, 3, 5)).astype(kind)
    index = rng.integers(0, 3, (2, 3, 4))
    source = rng.integers(0, 9, (3, 3, 5)).astype(kind)
    before = x.copy()
    theirs = torch.tensor(x.astype("f8")).scatter_add(
        dim, torch.tensor(index), torch.tensor(source.astype("f8"))
    )
    out = kernels.overrides["scatter_add"](x, dim, index, source)
    assert out.dtype == kind
    assert np.array_equal(out.astype("f8"), theirs.numpy())
    assert np.array_equal(x, before)


def test_scattering_onto_a_scalar(kernels):
    x = np.array(1.0)
    assert kernels.index_add(x, 0, np.array([0]), np.array([2.5])) == 3.5
    assert kernels.scatter_add(x, 0, np.array(0), np.array(2.5)) == 3.5
    assert x == 1.0


def test_negative_sums_of_int64_survive_the_unsigned_detour(kernels):
    x = np.array([-(2**62), 3])
    out = kernels.index_add(x, 0, np.array([0, 1, 1]), np.array([-5, -10, 2]))
    assert out.tolist() == [-(2**62) - 5, -5]
