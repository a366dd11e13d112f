"""What a dense tensor answers to questions about sparse and quantized ones, and what a subclass makes of it."""

import re

import pytest

import vistorch
from tests.reference import CPU_BUILD, NO_ACCELERATOR
from tests.story import story


@story
def test_answers(L, report):
    x = L.ones(2, 3)
    report(x.dense_dim(), x.sparse_dim(), x.to_dense() is x, x.to_dense(L.float64), x.dequantize())
    report(L.dequantize(L.arange(2)), x.const_data_ptr() == x.data_ptr())
    report(x.is_ipu, x.is_maia, x.is_mtia, x.is_vulkan, x.is_xla)
    report(L.get_device(x), L.is_inference(x))
    with L.inference_mode():
        report(L.is_inference(L.ones(1)))
    for (
        name
    ) in "ccol_indices row_indices col_indices crow_indices coalesce is_coalesced indices values".split():
        report.raises(getattr(x, name))
    if CPU_BUILD:
        report.raises(x.pin_memory)


@story
def test_as_subclass(L, report):
    class Mine(L.Tensor):
        pass

    x = L.ones(2, requires_grad=True)
    y = (x * 2).as_subclass(Mine)
    report(type(y).__name__, y.requires_grad)
    y.sum().backward()
    report(x.grad)
    z = L.zeros(2)
    z.as_subclass(Mine)[0] = 5
    report(z)
    report.raises(lambda: x.as_subclass(int))


@story
def test_module_load(L, report):
    x, other = L.zeros(2), L.ones(2)
    report(x.module_load(other), x, x.module_load(other * 3, assign=True), x)


@pytest.mark.parametrize("name", "to_sparse to_sparse_csr q_scale int_repr chalf smm".split())
def test_not_built(name):
    assert hasattr(vistorch.Tensor, name)
    with pytest.raises(NotImplementedError, match=rf"^vistorch\.Tensor\.{name} is not built: .+\.$"):
        getattr(vistorch.ones(2), name)()


def test_nothing_is_pinned_without_an_accelerator():
    with pytest.raises(RuntimeError, match=f"^{re.escape(NO_ACCELERATOR)}$"):
        vistorch.ones(2).pin_memory()


def test_pinned_on_simulated_devices():
    vistorch.cuda.simulate(1)
    try:
        assert vistorch.ones(2).pin_memory().tolist() == [1, 1]
        with pytest.raises(
            RuntimeError, match=r"cannot pin 'vistorch.cuda.FloatTensor' only dense CPU tensors"
        ):
            vistorch.ones(2, device="cuda").pin_memory()
    finally:
        vistorch.cuda.simulate(None)


def test_storage_type():
    names = {kind: getattr(vistorch, kind) for kind in ("float32", "int64", "bool", "bfloat16", "complex64")}
    found = [vistorch.ones(1, dtype=dtype).storage_type().__name__ for dtype in names.values()]
    assert found == ["FloatStorage", "LongStorage", "BoolStorage", "BFloat16Storage", "ComplexFloatStorage"]
