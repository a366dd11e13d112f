"""Creation against torch: every way to make a tensor, and every sentence for what cannot be made."""

import numpy as np
import pytest

import vistorch
from tests.engine.both import check, lines, torch

DATA = lines("""
torch.tensor(2**63)
torch.tensor([2**63])
torch.tensor([2**63, 1.5])
torch.tensor(-2**63-1)
torch.tensor(2**63, dtype=torch.float32)
torch.tensor(np.float64(1))
torch.tensor([np.float64(1)])
torch.tensor([np.float32(1), 2.5])
torch.tensor([np.int32(1)])
torch.tensor([np.bool_(1)])
torch.tensor([np.bool_(1), 2])
torch.tensor(np.int8(3))
torch.tensor([1, [2, 3]])
torch.tensor([1.0, [2, 3]])
torch.tensor([[2, 3], 1])
torch.tensor([[2, 3], [1]])
torch.tensor([[2, 3], [1, 2, 3]])
torch.tensor([[2, 3], []])
torch.tensor([[], [1]])
torch.tensor([[], []])
torch.tensor([])
torch.tensor(())
torch.tensor([[[]]])
torch.tensor(range(3))
torch.tensor([range(3), range(3)])
torch.tensor('abc')
torch.tensor(['a'])
torch.tensor([1, 'a'])
torch.tensor(b'abc')
torch.tensor(bytearray(b'abc'))
torch.tensor([b'abc'])
torch.tensor(memoryview(b'ab'))
torch.tensor(None)
torch.tensor([None])
torch.tensor({1: 2})
torch.tensor({1, 2})
torch.tensor(object())
torch.tensor(iter([1]))
torch.tensor(Sequence())
torch.tensor(Fraction(1, 2))
torch.tensor(Decimal('1.5'))
torch.tensor(Decimal('1.5'), dtype=torch.float32)
torch.tensor([Decimal('1.5')], dtype=torch.float32)
torch.tensor(nested(130))
torch.tensor(nested(60)).shape
torch.tensor([True, 1, 2.5])
torch.tensor([True, 1, 2.5, 1j])
torch.tensor([1j, 'a'])
torch.tensor([True, False])
torch.tensor([1, 2.5], dtype=torch.int32)
torch.tensor([float('nan')], dtype=torch.int32)
torch.tensor(float('nan'), dtype=torch.int32)
torch.tensor([float('inf')], dtype=torch.int64)
torch.tensor([300], dtype=torch.uint8)
torch.tensor([-1], dtype=torch.uint8)
torch.tensor([128], dtype=torch.int8)
torch.tensor([2**40], dtype=torch.int32)
torch.tensor(2**40, dtype=torch.int32)
torch.tensor([2.0**40], dtype=torch.int32)
torch.tensor([1e40], dtype=torch.float32)
torch.tensor([1e5], dtype=torch.float16)
torch.tensor([1j], dtype=torch.float32)
torch.tensor([1 + 0j], dtype=torch.float32)
torch.tensor([1j], dtype=torch.int32)
torch.tensor([1j], dtype=torch.bool)
torch.tensor([float('nan')], dtype=torch.bool)
torch.tensor([2], dtype=torch.bool)
torch.tensor([torch.tensor(1), torch.tensor(2.5)])
torch.tensor([torch.tensor(1.), 2])
torch.tensor([torch.tensor(1, dtype=torch.int8), 2])
torch.tensor([torch.tensor([1]), 2])
torch.tensor([torch.tensor([1, 2])])
torch.tensor([torch.tensor([1., 2])])
torch.tensor([torch.tensor([])])
torch.tensor([np.array([1, 2]), np.array([3, 4])])
torch.tensor([np.array(1), np.array(2.5)])
torch.tensor(torch.ones(2))
torch.tensor(torch.ones(2), dtype=torch.int32)
torch.tensor(torch.ones(2, requires_grad=True))
torch.tensor(np.ones(2), dtype=torch.int32)
torch.tensor(np.array([1], dtype='>i4'))
torch.tensor(np.arange(4)[::-1])
torch.tensor(1, dtype=3)
torch.tensor(1, dtype=float)
torch.tensor(1, dtype=int)
torch.tensor(1, device=3.5)
torch.tensor(1, requires_grad=True)
torch.tensor(1.0, requires_grad=True)
torch.tensor(1.0, requires_grad=1)
torch.tensor(1.0, requires_grad=None)
torch.tensor(data=[1])
torch.tensor([1], dtype=torch.float64, foo=3)
torch.tensor(1, pin_memory=False)
torch.tensor([[1, 2], [3.0, 4]], dtype=torch.complex64)
""")
FILLS = lines("""
torch.zeros(1.5)
torch.zeros((1.5,))
torch.zeros(2, 1.5)
torch.zeros([2, 'a'])
torch.zeros('a')
torch.zeros(None)
torch.zeros(-1)
torch.zeros(2,-3)
torch.zeros(2**62, 2**62)
torch.empty(2**61)
torch.zeros()
torch.zeros(())
torch.zeros(size=(2,))
torch.zeros(size=2)
torch.zeros(True)
torch.zeros(torch.tensor(2))
torch.zeros(torch.tensor([2,3]))
torch.zeros((torch.tensor(2),3))
torch.zeros(2, dtype=3)
torch.zeros(2, dtype=float)
torch.zeros(2, foo=1)
torch.zeros(2, requires_grad=True, dtype=torch.int32)
torch.zeros(2, out=torch.ones(2))
torch.zeros(2, out=torch.ones(3))
torch.zeros(2, out=torch.ones(2), dtype=torch.int32)
torch.zeros(2, out=3)
torch.zeros(2, names=None)
torch.ones(2, device='foo')
torch.full((2,), 3)
torch.full((2,), 3.)
torch.full((2,), True)
torch.full((2,), 1j)
torch.full((2,), torch.tensor(3))
torch.full((2,), torch.tensor([3]))
torch.full((2,), 'a')
torch.full(2, 3)
torch.full((2,), 300, dtype=torch.uint8)
torch.full((2,), -1, dtype=torch.uint8)
torch.full((2,), 1.5, dtype=torch.int32)
torch.full((2,), float('nan'), dtype=torch.int32)
torch.full((2,), 1j, dtype=torch.float32)
torch.full((2,), 1e40, dtype=torch.float32)
torch.full((2,), 1e5, dtype=torch.float16)
torch.full((2,), 2**63)
torch.full(size=(2,), fill_value=1)
torch.full_like(torch.ones(2), 2.5)
torch.full_like(torch.ones(2, dtype=torch.int32), 2.5)
torch.full_like(torch.ones(2, dtype=torch.int8), 300)
torch.full_like(torch.ones(2, dtype=torch.int8), torch.tensor(3))
torch.full_like([1], 1)
torch.zeros_like([1])
torch.zeros_like(torch.ones(2,3), dtype=torch.int8)
torch.zeros_like(torch.ones(2,3), memory_format=torch.channels_last)
torch.zeros_like(torch.ones(2,3,4,5), memory_format=torch.channels_last).stride()
torch.empty((2,3), memory_format=torch.preserve_format)
torch.zeros_like(torch.ones(2,3).t()).stride()
torch.zeros_like(torch.ones(3,1).expand(3,4)).stride()
torch.zeros_like(torch.ones(6,8)[::2,::2].t()).stride()
torch.zeros_like(torch.ones(6,8)[::2,::2].t(), memory_format=torch.contiguous_format).stride()
torch.zeros_like(torch.ones(2,3,4).permute(1,2,0)).stride()
torch.ones_like(torch.ones(2), requires_grad=True)
torch.empty_strided((2,3),(1,))
torch.empty_strided((2,3),(1,-1))
torch.ones(2).new_zeros(3)
torch.ones(2, dtype=torch.int8).new_zeros((3,))
torch.ones(2, dtype=torch.int8).new_tensor([1.5,2])
torch.ones(2, dtype=torch.int8).new_tensor([300])
torch.ones(2).new_tensor(torch.ones(2))
torch.ones(2).new_full((2,), 3)
torch.ones(2, dtype=torch.int8).new_full((2,), 3.5)
torch.ones(2).new_empty(2,3).shape
torch.ones(2).new_ones(2,3, dtype=torch.int32)
torch.complex(torch.ones(2), torch.ones(2))
torch.complex(torch.ones(2), torch.ones(2, dtype=torch.float64))
torch.complex(torch.ones(2, dtype=torch.int32), torch.ones(2, dtype=torch.int32))
torch.complex(torch.ones(2), torch.ones(3))
torch.complex(torch.ones(2), 1)
torch.scalar_tensor(3)
torch.scalar_tensor(3, dtype=torch.int32)
torch.scalar_tensor(3, dtype=torch.int32, requires_grad=True)
torch.scalar_tensor('a')
torch.scalar_tensor(True)
torch.scalar_tensor(1j)
torch.ones(-1)
torch.empty(-1)
torch.full((-1,),1)
torch.ones(2).new_zeros(-1)
torch.ones(2).new_ones(-1)
torch.ones(2).new_empty(-1)
torch.empty_strided((-1,),(1,))
torch.ones(2).new_zeros(1.5)
torch.contiguous_format
torch.strided
type(torch.strided)
type(torch.contiguous_format)
torch.zeros(2, memory_format=torch.contiguous_format)
torch.tensor([torch.tensor([1.,2])])
torch.tensor([torch.tensor([])])
torch.ones(2).__array_priority__
torch.empty(0).data_ptr()
torch.tensor(1.)
torch.inf, torch.nan, torch.pi, torch.e, torch.newaxis
torch.default_generator
torch.empty_strided((2,3),(4,1)).storage_offset()
torch.empty_strided(2,3)
torch.ones(2) in [torch.ones(2)]
torch.complex(torch.tensor(1.), torch.ones(2))
torch.complex(real=torch.ones(2), imag=torch.ones(2)).dtype
torch.scalar_tensor(s=3)
torch.scalar_tensor(torch.tensor(3.))
torch.scalar_tensor(300, dtype=torch.uint8)
""")
RANGES = lines("""
torch.eye(3)
torch.eye(2,3)
torch.eye(-1)
torch.eye(2,-1)
torch.eye(2.5)
torch.eye(0)
torch.eye(2, dtype=torch.bool)
torch.eye(2, out=torch.empty(0))
torch.arange(5)
torch.arange(5.)
torch.arange(1, 5)
torch.arange(1, 2, 0.25)
torch.arange(5, 1, -2)
torch.arange(5, 1)
torch.arange(1, 5, 0)
torch.arange(1, 5, -1)
torch.arange(0, float('inf'))
torch.arange(0, float('nan'))
torch.arange(5, dtype=torch.float16)
torch.arange(1, 2, 0.3, dtype=torch.int32)
torch.arange(0.5, 5, dtype=torch.int64)
torch.arange(torch.tensor(3))
torch.arange(torch.tensor(3.))
torch.arange(torch.tensor([3]))
torch.arange(torch.tensor([3,4]))
torch.arange(True)
torch.arange(1j)
torch.arange('a')
torch.arange()
torch.arange(end=3)
torch.arange(start=1, end=3)
torch.arange(3, dtype=torch.bool)
torch.arange(2, dtype=torch.bool)
torch.arange(3, dtype=torch.complex64)
torch.arange(300, dtype=torch.uint8)[-1]
torch.arange(2**63)
torch.arange(3, out=torch.empty(3))
torch.arange(3, requires_grad=True)
torch.arange(3., requires_grad=True)
torch.arange(1,2,0.1, dtype=torch.bfloat16)
torch.arange(1,2,3,4)
torch.arange(2**24, 2**24+3, dtype=torch.float32)
torch.range(1,3)
torch.range(0, 1, 0.5)
torch.linspace(0,1,5)
torch.linspace(0,1,1)
torch.linspace(0,1,0)
torch.linspace(0,1,-1)
torch.linspace(0,1)
torch.linspace(0,10,5, dtype=torch.int64)
torch.linspace(0,10,4, dtype=torch.int64)
torch.linspace(0,1j,5)
torch.linspace(0,1j,5,dtype=torch.float32)
torch.linspace(torch.tensor(0.),1,3)
torch.linspace(torch.tensor([0.]),1,3)
torch.linspace(torch.tensor(0., requires_grad=True),1,3)
torch.linspace(0,1,3.5)
torch.linspace(0,1,True)
torch.linspace(0,1,3,dtype=torch.bool)
torch.linspace('a',1,3)
torch.linspace(0,1,3,out=torch.empty(0))
torch.logspace(0,2,3)
torch.logspace(0,2,3,2)
torch.logspace(0,2,3,base=2.0)
torch.logspace(0,2,3,base=2,dtype=torch.int64)
torch.logspace(0,2,1)
torch.logspace(0,2,-1)
torch.logspace(0,2,3,base=-2)
torch.logspace(0,2,4,base=-2)
torch.logspace(0,2,3,base=0)
torch.logspace(0,2,3,base=2j)
torch.logspace(0,2)
torch.arange(1, 2, 0.3, dtype=torch.int64)
torch.arange(0.5, 5.7, 1.9, dtype=torch.int64)
torch.arange(0.5, 5.7, 1.9, dtype=torch.int32)
torch.arange(0.5, 5.7, 0.9, dtype=torch.uint8)
torch.arange(0.5, 5.7, 0.9)
torch.arange(-3)
torch.arange(0)
torch.arange(1,5,0.)
torch.arange(0, 2**62)
torch.arange(0., 1e30)
torch.arange(3, foo=1)
torch.arange(3, end=5)
torch.arange(start=3)
torch.arange(0,5,step=2)
torch.arange(np.int64(3))
torch.arange(np.float32(3))
torch.arange(2, np.float64(3.5))
torch.arange(3, dtype=torch.float32, out=torch.empty(3, dtype=torch.int64))
torch.arange(3, out=torch.empty(2,2))
torch.linspace(1,3,3,dtype=torch.uint8)
torch.linspace(True,3,3)
torch.linspace(0,1,3,requires_grad=True)
torch.linspace(0,1,3,dtype=torch.int64,requires_grad=True)
torch.linspace(float('nan'),1,3)
torch.linspace(0,300,3,dtype=torch.uint8)
torch.logspace(0,1j,3)
torch.logspace(0,2,3,dtype=torch.bool)
torch.range(3)
torch.range(0,3,-1)
torch.range(0,3,0)
torch.range(0,3,dtype=torch.int64)
torch.eye('a')
torch.eye(True)
torch.eye(n=2)
torch.eye(torch.tensor(2))
""")
LEGACY = lines("""
torch.zeros(np.int64(2))
torch.ones(2).new(2).shape
torch.ones(2, dtype=torch.int32).new([1,2])
torch.Tensor(-1)
torch.Tensor()
torch.Tensor(2,3).shape
torch.Tensor([2,3])
torch.Tensor((2,3))
torch.Tensor(torch.Size([2,3])).shape
torch.Tensor([[1,2],[3,4]])
torch.Tensor(3).shape
torch.Tensor(3.5)
torch.Tensor('a')
torch.Tensor(None)
torch.Tensor(True)
torch.Tensor(np.ones(2))
torch.Tensor(np.ones(2,dtype=np.float32))
torch.Tensor(torch.ones(2))
torch.Tensor(torch.ones(2,dtype=torch.int32))
torch.Tensor([1,2], device='cpu')
torch.Tensor(2,3,device='cpu').shape
torch.Tensor([1], dtype=torch.int32)
torch.Tensor(range(3))
torch.Tensor(torch.ones(2,requires_grad=True))
torch.FloatTensor(2).shape
torch.FloatTensor([1,2])
torch.LongTensor([1,2])
torch.LongTensor([1.5,2])
torch.LongTensor(2).shape
torch.IntTensor([1])
torch.ByteTensor([1])
torch.ByteTensor([300])
torch.BoolTensor([1,0])
torch.HalfTensor([1])
torch.BFloat16Tensor([1])
torch.DoubleTensor([1])
torch.CharTensor([1])
torch.ShortTensor([1])
torch.ComplexFloatTensor
torch.FloatTensor.__name__
torch.FloatTensor.__module__
torch.FloatTensor.dtype
torch.FloatTensor.layout
isinstance(torch.ones(2), torch.FloatTensor)
isinstance(torch.ones(2), torch.LongTensor)
isinstance(3, torch.FloatTensor)
issubclass(torch.FloatTensor, torch.Tensor)
torch.LongTensor(np.array([1]))
torch.LongTensor(np.array([1.5]))
torch.LongTensor(torch.tensor([1]))
torch.typename(a)
torch.typename(3)
torch.typename(torch.FloatTensor)
torch.ones(2).new([1,2])
torch.ones(2).new(2,3).shape
torch.ones(2).new().shape
torch.ones(2, dtype=torch.int64).new([1.5])
torch.ones(2, dtype=torch.int64).new(3.5)
torch.ones(2).new(torch.ones(3))
""")


@pytest.mark.parametrize("source", [*DATA, *FILLS, *RANGES, *LEGACY])
def test_same_as_torch(source):
    check(source)


# ---- what one expression cannot say ----------------------------------------------------------------------------
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
