"""A tensor as Python, numpy, pickle and other array libraries see it, against torch."""

import copy
import pickle

import numpy as np
import pytest

import vistorch
from tests.engine.both import check, lines, torch

NUMBERS = lines("""
float(torch.tensor([1,2]))
int(torch.tensor([1,2]))
int(torch.tensor([1.5]))
bool(torch.tensor([1.5, 2]))
bool(torch.tensor([]))
[0,1,2][torch.tensor(1)]
[0,1,2][torch.tensor([1])]
[0,1,2][torch.tensor(1.)]
[0,1,2][torch.tensor(True)]
complex(torch.tensor(1.5))
complex(torch.tensor([1,2]))
float(torch.tensor(1j))
int(torch.tensor(1j))
int(torch.tensor(float('nan')))
int(torch.tensor(float('inf')))
torch.tensor([1,2]).item()
torch.tensor([]).item()
torch.tensor([[3]]).item()
torch.tensor(1.5, dtype=torch.bfloat16).item()
torch.tensor(1).tolist()
torch.tensor([[1.5]],dtype=torch.float16).tolist()
torch.tensor([[1.5]],dtype=torch.bfloat16).tolist()
len(torch.tensor(1))
len(torch.ones(2,3))
iter(torch.tensor(1))
1 in torch.tensor([1,2])
1.0 in torch.tensor([1,2])
'a' in torch.tensor([1,2])
torch.tensor(1) in torch.tensor([1,2])
[1] in torch.tensor([1,2])
format(torch.tensor(1.5), '.3f')
format(torch.tensor([1.5]), '.3f')
format(torch.tensor([1.5]), '')
"{}".format(torch.tensor(1.5))
str(torch.tensor(1.5))
torch.ones(2,requires_grad=True).tolist()
torch.ones(1,requires_grad=True).item()
len(a.untyped_storage())
torch.tensor(3).__index__()
round(torch.tensor(1.5))
math.floor(torch.tensor(1.5))
math.sqrt(torch.tensor(4.))
list(torch.tensor([1,2]))
torch.tensor([1]).__nonzero__()
operator.index(torch.tensor([[3]]))
""")
NUMPY = lines("""
torch.tensor([[1.5]],dtype=torch.bfloat16).numpy()
np.array(torch.ones(2))
np.asarray(torch.ones(2), dtype=np.int32)
np.asarray(torch.ones(2, requires_grad=True))
np.sin(torch.ones(2))
np.add(torch.ones(2), np.ones(2))
np.add(np.ones(2), torch.ones(2))
np.float32(2) * torch.ones(2)
np.float64(2) * torch.ones(2)
torch.ones(2) * np.float64(2)
np.sin(torch.ones(2, dtype=torch.bfloat16))
torch.ones(2).numpy(force=True)
torch.ones(2,requires_grad=True).numpy(force=True)
torch.ones(2,requires_grad=True).numpy()
torch.ones(2).conj().numpy()
torch.from_numpy(3)
torch.from_numpy([1])
torch.from_numpy(np.float64(3))
torch.from_numpy(np.ones(2)[::-1])
torch.from_numpy(np.zeros((0,3))).shape
torch.from_numpy(np.zeros(3,dtype='>f4'))
torch.from_numpy(np.zeros(3,dtype=[('a','f4'),('b','i1')])['a'])
torch.from_numpy(np.zeros(3,dtype='f2'))
torch.from_numpy(np.ones((4,4))[::2,1::2]).stride()
torch.as_tensor([1,2])
torch.as_tensor(np.ones(2))
torch.as_tensor(np.ones(2), dtype=torch.float32)
torch.as_tensor(np.ones(2), dtype=3)
torch.as_tensor(torch.ones(2), dtype=torch.int32)
torch.as_tensor(3)
torch.as_tensor([torch.tensor([1,2])])
torch.as_tensor(None)
torch.as_tensor([[1,2],[3]])
torch.asarray([1,2])
torch.asarray(np.ones(2), dtype=torch.float32)
torch.asarray(np.ones(2), copy=True)
torch.asarray(np.ones(2), dtype=torch.float32, copy=False)
torch.asarray([1,2], copy=False)
torch.asarray(bytearray(b"abcd"), dtype=torch.uint8)
torch.asarray(bytearray(b"abcd"))
torch.asarray(torch.ones(2), requires_grad=True)
torch.asarray(torch.ones(2,requires_grad=True))
torch.asarray(torch.ones(2,requires_grad=True), requires_grad=True)
torch.asarray(torch.ones(2,requires_grad=True)*2, requires_grad=True)
torch.asarray(torch.ones(2), dtype=torch.int32, copy=False)
torch.asarray(3)
torch.asarray(np.float64(3))
torch.asarray("a")
torch.asarray(np.ones(2)[::-1])
torch.asarray([1.,2], requires_grad=True)
torch.asarray([1,2], requires_grad=True)
torch.asarray(np.ones(2), requires_grad=True)
torch.frombuffer(bytearray(b"abcdefgh"), dtype=torch.int32)
torch.frombuffer(bytearray(b"abcdefgh"), dtype=torch.int32, count=3)
torch.frombuffer(bytearray(b"abcdefgh"), dtype=torch.int32, offset=3)
torch.frombuffer(bytearray(b"abcdefgh"), dtype=torch.int32, offset=8)
torch.frombuffer(bytearray(b""), dtype=torch.int32)
torch.frombuffer(bytearray(b"abcdefgh"), dtype=torch.int32, count=0)
torch.frombuffer(bytearray(b"abcdefgh"), dtype=torch.int32, offset=-1)
torch.frombuffer([1], dtype=torch.int32)
torch.frombuffer(bytearray(b"abcdefgh"))
torch.ones(2).__array__(np.int32)
torch.ones(3) == np.ones(3)
np.ones(3) == torch.ones(3)
np.array([torch.tensor(1.), torch.tensor(2.)])
np.stack([torch.ones(2), torch.ones(2)])
np.isfinite(torch.ones(2)).dtype
np.sin(torch.tensor(1.))
torch.asarray(torch.ones(2), copy=True)
torch.asarray(torch.ones(2,requires_grad=True), requires_grad=False)
torch.asarray(torch.ones(2,requires_grad=True)*2, requires_grad=False).grad_fn
torch.asarray(None)
torch.asarray([1,2], dtype=torch.float32, device='cpu', copy=None)
""")
META = lines("""
torch.empty((2,3,4,5), memory_format=torch.channels_last).stride()
torch.empty_strided((2,3),(1,2)).stride()
torch.empty_strided((2,3),(0,1)).stride()
torch.ones(2).new_empty_strided((2,3),(1,2)).stride()
a.dim()
a.size()
a.size(0)
a.size(-1)
a.size(2)
a.size(dim=1)
a.size(1.5)
a.stride()
a.stride(0)
a.stride(-1)
a.stride(5)
torch.tensor(1).size(0)
torch.tensor(1).stride(0)
a.t().is_contiguous()
a.is_contiguous(memory_format=torch.channels_last)
torch.ones(2,3,4,4).is_contiguous(memory_format=torch.channels_last)
torch.ones(2,3,4,4).is_contiguous(memory_format=torch.preserve_format)
a[1].storage_offset()
a.element_size()
a.nelement()
a.numel()
torch.numel(a)
torch.numel(3)
a.is_cpu
a.get_device()
a.layout
a.is_sparse
a.is_quantized
a.is_mkldnn
a.is_meta
a.is_mps
a.is_xpu
a.is_nested
a.is_sparse_csr
a.is_shared()
a.is_pinned()
a.is_floating_point()
torch.is_floating_point(a)
torch.is_floating_point(3)
a.is_complex()
a.is_signed()
torch.is_signed(a)
a.is_conj()
a.is_neg()
torch.is_conj(a)
a.is_distributed()
a.dim_order()
a.names
a.itemsize
a.nbytes
a.untyped_storage().nbytes()
a[1].untyped_storage().nbytes()
a.data_ptr() == a.untyped_storage().data_ptr()
a[1].data_ptr() - a.data_ptr()
a.is_set_to(a)
a.is_same_size(a)
torch.is_same_size(a,a)
torch.is_tensor(a)
torch.is_tensor(3)
torch.is_storage(a)
torch.is_storage(a.untyped_storage())
torch.is_nonzero(torch.tensor(1))
torch.is_nonzero(torch.tensor([1,2]))
torch.is_nonzero(torch.tensor([]))
torch.is_nonzero(3)
torch.empty_permuted((2,3,4),(2,0,1)).stride()
torch.empty_permuted((2,3,4),(0,0,1)).stride()
torch.is_nonzero(torch.tensor(True))
""")
COPIES = lines("""
torch.ones(2,requires_grad=True).__dlpack__()
(torch.ones(2)*1).requires_grad_().__dlpack__()
torch.from_dlpack(3)
torch.from_dlpack(np.ones(2))
torch.from_dlpack(np.frombuffer(b'abcd',np.uint8))
torch.from_dlpack(torch.ones(2)).dtype
torch.ones(2).__dlpack__(stream=3)
torch.ones(2).__dlpack__(stream='a')
copy.deepcopy(torch.ones(2,requires_grad=True)*2)
copy.copy(torch.ones(2,requires_grad=True)*2)
copy.deepcopy(torch.ones(2,requires_grad=True))
pickle.loads(pickle.dumps(torch.ones(2,requires_grad=True)*2))
pickle.loads(pickle.dumps(torch.ones(2,requires_grad=True)))
pickle.loads(pickle.dumps(torch.ones(2,dtype=torch.bfloat16)))
""")


@pytest.mark.parametrize("source", [*NUMBERS, *NUMPY, *META, *COPIES])
def test_same_as_torch(source):
    check(source)


# ---- sharing -----------------------------------------------------------------------------------------------------
def test_numpy_shares_memory_both_ways():
    x = vistorch.zeros(2, 3)
    a = x.t().numpy()
    a[1, 0] = 4
    assert x.tolist() == [[0, 4, 0], [0, 0, 0]]
    b = np.asarray(x)
    x.fill_(2)
    assert b.tolist() == [[2] * 3] * 2 and np.shares_memory(a, b)
    assert not np.shares_memory(np.array(x), b)


def test_a_number_of_a_tensor_with_grad_warns():
    with pytest.warns(UserWarning, match="Converting a tensor with requires_grad=True to a scalar"):
        assert float(vistorch.ones(1, requires_grad=True)) == 1.0


@pytest.mark.parametrize(
    "dtype", ["float16", "float32", "float64", "int8", "int64", "uint8", "bool", "complex64"]
)
def test_dlpack_shares_memory_with_torch_and_numpy(dtype):
    ours = vistorch.ones(2, 3, dtype=getattr(vistorch, dtype))
    theirs, array = torch.from_dlpack(ours), np.from_dlpack(ours)
    ours[0, 1] = 0
    assert theirs.tolist() == array.tolist() == ours.tolist()
    theirs = torch.ones(3, 2, dtype=getattr(torch, dtype))
    back = vistorch.from_dlpack(theirs.t())
    assert back.stride() == (1, 2) and back.dtype is getattr(vistorch, dtype)
    theirs[2, 1] = 0
    back[0, 0] = 0
    assert back.tolist() == theirs.t().tolist()


def test_dlpack_capsules_are_used_once():
    capsule = torch.utils.dlpack.to_dlpack(torch.ones(2))
    assert vistorch.from_dlpack(capsule).tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="from_dlpack received an invalid capsule"):
        vistorch.from_dlpack(capsule)


def test_dlpack_refuses_what_it_cannot_name():
    with pytest.raises(BufferError, match="bfloat16"):
        vistorch.ones(2, dtype=vistorch.bfloat16).__dlpack__()


@pytest.mark.parametrize(
    "through", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))], ids=["deepcopy", "pickle"]
)
def test_copies_share_what_the_originals_share(through):
    x = vistorch.arange(6.0).reshape(2, 3)
    base, view, other = through([x, x[1], x.t()])
    base[1, 2] = 9
    assert view.tolist() == [3, 4, 9] and other.tolist() == [[0, 3], [1, 4], [2, 9]]
    assert other.stride() == (1, 3) and x.tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "bool", "complex64", "int8"])
@pytest.mark.parametrize(
    "through", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))], ids=["deepcopy", "pickle"]
)
def test_copies_of_any_layout(through, dtype):
    x = vistorch.ones(4, 6, dtype=getattr(vistorch, dtype))
    for part in (x, x[1:, ::2], x.t(), x[0, 0], x[:0], x[:1].expand(3, 6)):
        copied = through(part)
        assert copied.tolist() == part.tolist() and copied.dtype is part.dtype and copied.shape == part.shape
        assert copied.data_ptr() != part.data_ptr() or not part.numel()


def test_deepcopy_takes_gradient_and_attributes_along():
    x = vistorch.ones(2, requires_grad=True)
    (x * 3).sum().backward()
    x.note = ["mine"]
    copied = copy.deepcopy(x)
    assert copied.grad.tolist() == [3, 3] and copied.grad is not x.grad and copied.requires_grad
    assert copied.note == ["mine"] and copied.note is not x.note
    pair = copy.deepcopy([x, x])
    assert pair[0] is pair[1]


def test_pickle_keeps_a_simulated_device():
    vistorch.cuda.simulate(2)
    try:
        x = vistorch.ones(2, device="cuda:1", requires_grad=True)
        copied = pickle.loads(pickle.dumps(x))
        assert str(copied.device) == "cuda:1" and copied.requires_grad and copied.tolist() == [1, 1]
        assert str(copy.deepcopy(x).device) == "cuda:1"
    finally:
        vistorch.cuda.simulate(None)


def test_storage_shows_who_shares():
    x = vistorch.zeros(4, 4)
    part = x[1:, ::2]
    assert part.untyped_storage().data_ptr() == x.untyped_storage().data_ptr() == x.data_ptr()
    assert part.storage_offset() == 4 and part.data_ptr() == x.data_ptr() + 16
    assert x.clone().untyped_storage().data_ptr() != x.data_ptr()


def test_unpickled_arrays_take_the_fast_paths_too():
    """A pickle gives numpy another dtype object, equal to its own; the engine compares by identity."""
    for dtype in (np.float32, np.float64, np.int64, bool):
        mine = np.dtype(dtype)
        a = pickle.loads(pickle.dumps(np.ones(3, dtype)))
        made = [vistorch.from_numpy(a), vistorch.tensor(a), vistorch.as_tensor(a), vistorch.asarray(a)]
        made.append(pickle.loads(pickle.dumps(vistorch.tensor(a))))
        assert [t._data.dtype is mine for t in made] == [True] * 5
        made[0][0] = 0
        assert a[0] == 0
