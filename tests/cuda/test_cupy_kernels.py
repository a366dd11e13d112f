"""The logic around the cupy kernels, on a stand-in made of numpy: which device is current, indices, dtypes.

What the kernels compute is tested on a GPU only.
"""

import contextlib
import importlib
import sys

import ml_dtypes
import numpy as np
import pytest

import vistorch
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
    assert kernels.polygamma_at(x, 2).dtype == kind
    assert kernels.polygamma_at(x, 0)[0] == kind.type(7)  # the stand-in's digamma
    assert np.array_equal(x, before)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_polygamma(kernels, n):
    x = np.array([0.5, 1.5, 3.0])
    expected = torch.polygamma(n, torch.tensor(x)).numpy()
    assert np.allclose(kernels.polygamma_at(x, n), expected, rtol=1e-3 if n == 1 else 1e-6)


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


DTYPES = ["float16", "float32", "float64", "int8", "uint8", "int16", "int32", "int64", "bool", "bfloat16"]


def added(lib, name, dtype, dim, device):
    """`index_add` or `scatter_add` of fixed numbers, with places that come twice, as float64."""
    rng = np.random.default_rng(0)
    kind = getattr(lib, dtype)
    x = lib.tensor(rng.integers(0, 20, (4, 3, 5)) - 9).to(kind).to(device)
    shape = [2, 3, 4]
    index = rng.integers(0, 3, shape)
    if name == "index_add":
        index = np.array([2, 0, 2])
        shape = list(x.shape)
        shape[dim] = 3
    source = lib.tensor(rng.integers(0, 9, shape) - 3).to(kind).to(device)
    before = x.clone()
    out = getattr(x, name)(dim, lib.tensor(index).to(device), source)
    assert out.dtype == kind
    assert (x == before).all()
    return out.cpu().double().tolist()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("name", ["index_add", "scatter_add"])
def test_adding_at_places(strict_gpu, name, dtype, dim):
    """In every dtype, also in those that cupy cannot add to in place."""
    if dtype == "bool" and name == "scatter_add":
        dtype = "int8"
    assert added(vistorch, name, dtype, dim, "cuda:0") == added(torch, name, dtype, dim, "cpu")


def test_negative_sums_of_int64_survive_the_unsigned_detour(strict_gpu):
    x = vistorch.tensor([-(2**62), 3]).to("cuda:0")
    index, source = vistorch.tensor([0, 1, 1]).to("cuda:0"), vistorch.tensor([-5, -10, 2]).to("cuda:0")
    assert x.index_add(0, index, source).tolist() == [-(2**62) - 5, -5]


def test_complex_numbers_leave_the_fused_kernels(strict_gpu):
    z = [0.5 - 1j, 2 + 0.25j]
    mine = vistorch.tensor(z, device="cuda:0").sigmoid().tolist()
    assert np.allclose(mine, torch.tensor(z).sigmoid().tolist(), rtol=1e-6)


def test_a_solver_that_fails_says_so(strict_gpu, monkeypatch):
    """The failure is asked for (cupy ignores it otherwise), and reported in words about the matrix on the host."""
    asked = []
    monkeypatch.setattr(
        sys.modules["cupyx"], "errstate", lambda **how: asked.append(how) or contextlib.nullcontext()
    )
    singular = vistorch.zeros(2, 2, device="cuda:0")
    with pytest.raises(vistorch.linalg.LinAlgError, match="The diagonal element 1 is zero") as caught:
        vistorch.linalg.inv(singular)
    with pytest.raises(torch.linalg.LinAlgError) as theirs:
        torch.linalg.inv(torch.zeros(2, 2))
    assert str(caught.value) == str(theirs.value)
    assert asked == [{"linalg": "raise"}]
