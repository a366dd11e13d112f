"""Creation: copies and shares, precision, memory, devices, `out=`."""

import numpy as np
import pytest

import vistorch
from tests.engine.both import torch


def test_the_two_ways_through_a_nest_agree():
    values = [[1, 2.5, True], [0.1, -3, 2**40]]
    clean, walked = vistorch.tensor(values), vistorch.tensor([Rows(row) for row in values])
    for dtype in ("float16", "bfloat16", "float32", "float64", "complex64", "bool"):
        d, t = getattr(vistorch, dtype), getattr(torch, dtype)
        expected = torch.tensor(values, dtype=t).tolist()
        assert vistorch.tensor(values, dtype=d).tolist() == expected
        assert vistorch.tensor([Rows(row) for row in values], dtype=d).tolist() == expected
    assert clean.tolist() == walked.tolist()


class Rows(list):
    """A list that is not exactly a list."""


def test_half_types_round_through_float32():
    # double rounding: 1 + 2**-11 + 2**-40 is above the tie in double, on it in float32
    value = 1 + 2**-11 + 2**-40
    assert (
        vistorch.tensor(value, dtype=vistorch.float16).item()
        == torch.tensor(value, dtype=torch.float16).item()
    )
    assert vistorch.tensor([value], dtype=vistorch.float16).tolist() == [1.0]


def test_a_tensor_copies_and_as_tensor_shares():
    a = np.zeros(3)
    copied, shared, array = vistorch.tensor(a), vistorch.as_tensor(a), vistorch.asarray(a)
    a[0] = 7
    assert copied.tolist() == [0, 0, 0]
    assert shared.tolist() == array.tolist() == [7, 0, 0]
    assert vistorch.as_tensor(shared) is shared
    assert vistorch.as_tensor(a, dtype=vistorch.float32).tolist() == [7, 0, 0]
    a[1] = 5
    assert vistorch.asarray(a, copy=True).tolist() == [7, 5, 0]


def test_as_tensor_keeps_history():
    x = vistorch.ones(2, requires_grad=True)
    y = vistorch.as_tensor(x, dtype=vistorch.float64)
    y.backward(vistorch.tensor([2.0, 3.0], dtype=vistorch.float64))
    assert x.grad.tolist() == [2, 3] and x.grad.dtype is vistorch.float32


@pytest.mark.parametrize("view", ["a[::2, 1::2]", "a.T", "a[1]", "a[:0]", "a[1:, 2:3]", "a.reshape(2, 2, 4)"])
def test_from_numpy_shares_any_strides(view):
    a = np.arange(16.0).reshape(4, 4)
    part = eval(view)
    ours, theirs = vistorch.from_numpy(part), torch.from_numpy(part)
    assert ours.stride() == theirs.stride() and ours.tolist() == theirs.tolist()
    assert ours.storage_offset() == theirs.storage_offset()
    assert ours.untyped_storage().nbytes() == theirs.untyped_storage().nbytes()
    a += 1
    assert ours.tolist() == theirs.tolist()
    assert np.shares_memory(ours.numpy(), a) == bool(part.size)


def test_from_numpy_warns_of_read_only_memory():
    a = np.zeros(2)
    a.flags.writeable = False
    with pytest.warns(
        UserWarning, match="The given NumPy array is not writable, and vistorch does not support"
    ):
        t = vistorch.from_numpy(a)
    assert t.tolist() == [0, 0]
    with pytest.warns(UserWarning, match="The given buffer is not writable, and vistorch does not support"):
        vistorch.frombuffer(b"ab", dtype=vistorch.uint8)


def test_a_list_of_tensors_that_require_grad_warns():
    x = vistorch.tensor([1.0, 2.0], requires_grad=True)
    with pytest.warns(UserWarning, match="Converting a tensor with requires_grad=True to a scalar"):
        assert vistorch.tensor([x[0], 3]).tolist() == [1, 3]


@pytest.mark.parametrize("make", ["empty", "zeros", "ones", "rand", "randn"])
def test_too_much_memory_is_a_runtime_error(make):
    with pytest.raises(
        RuntimeError, match="can't allocate memory: you tried to allocate 4611686018427387904 bytes"
    ):
        getattr(vistorch, make)(2**60)
    with pytest.raises(RuntimeError, match="Storage size calculation overflowed with sizes="):
        getattr(vistorch, make)(2**40, 2**40)


def test_default_dtype_and_device_count():
    before = vistorch.get_default_dtype()
    try:
        vistorch.set_default_dtype(vistorch.float64)
        for t in (vistorch.tensor(1.5), vistorch.ones(1), vistorch.Tensor([1]), vistorch.full((1,), 2.0)):
            assert t.dtype is vistorch.float64
        assert vistorch.tensor(1j).dtype is vistorch.complex128
        with pytest.warns(UserWarning, match="deprecated"):
            vistorch.set_default_tensor_type(vistorch.FloatTensor)
        assert vistorch.tensor(1.5).dtype is vistorch.float32
    finally:
        vistorch.set_default_dtype(before)


def test_creation_on_a_device():
    vistorch.cuda.simulate(2)
    try:
        made = [
            vistorch.zeros(2, device="cuda:1"),
            vistorch.tensor([1, 2], device="cuda:1"),
            vistorch.arange(3, device="cuda:1"),
            vistorch.full((2,), 1, device="cuda:1"),
            vistorch.eye(2, device="cuda:1"),
            vistorch.rand(2, device="cuda:1"),
            vistorch.zeros(2, device="cuda:1").new_ones(3),
            vistorch.ones_like(vistorch.zeros(2, device="cuda:1")),
            vistorch.zeros(2, device="cuda:1").new_tensor([1.5]),
            vistorch.as_tensor(np.zeros(2), device="cuda:1"),
        ]
        assert {str(t.device) for t in made} == {"cuda:1"}
        assert isinstance(vistorch.zeros(1, device="cuda"), vistorch.cuda.FloatTensor)
        assert not isinstance(vistorch.zeros(1, device="cuda"), vistorch.FloatTensor)
        assert repr(made[0]) == "tensor([0., 0.], device='cuda:1')"
        with pytest.raises(TypeError, match="can't convert cuda:1 device type tensor to numpy"):
            made[0].numpy()
        with vistorch.device("cuda:0"):
            assert str(vistorch.ones(1).device) == "cuda:0"
    finally:
        vistorch.cuda.simulate(None)


def test_out_is_filled_and_counted():
    out = vistorch.ones(3)
    assert vistorch.zeros(3, out=out) is out and out.tolist() == [0, 0, 0] and out._version == 1
    assert vistorch.arange(3, out=out).tolist() == [0, 1, 2]
    with pytest.raises(RuntimeError, match="support automatic differentiation"):
        vistorch.zeros(3, out=vistorch.ones(3, requires_grad=True))


def test_detach_shares_memory_and_version():
    x = vistorch.ones(2, requires_grad=True)
    y = x.detach()
    y.fill_(3)
    assert x.tolist() == [3, 3] and x._version == y._version == 1 and not y.requires_grad
