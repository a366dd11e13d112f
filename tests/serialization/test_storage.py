"""Storages against PyTorch's: what they hold, print and refuse."""

import copy
import pickle
import warnings

import pytest

import vistorch

from .both import torch

PROGRAMS = """
L.ones(2).untyped_storage()
L.ones(2).untyped_storage().nbytes()
len(L.ones(2).untyped_storage())
L.ones(2).untyped_storage()[2:4]
L.ones(2).untyped_storage()[-1]
L.ones(2).untyped_storage()[99]
L.ones(2).untyped_storage()[-9]
L.ones(2).untyped_storage().tolist()
list(L.ones(1).untyped_storage())
L.ones(2).untyped_storage().element_size()
L.ones(2).untyped_storage().device
L.ones(2).untyped_storage().is_cuda
L.ones(2).untyped_storage().is_pinned()
L.ones(2).untyped_storage().clone().fill_(3)
L.ones(2).untyped_storage().copy_(L.zeros(2).untyped_storage())
L.ones(2).untyped_storage().untyped()
L.ones(3, 2)[1].untyped_storage().size()
L.ones(3, 2).t().untyped_storage() == L.ones(3, 2).untyped_storage()
L.UntypedStorage(3).fill_(1)
L.UntypedStorage()
L.UntypedStorage([1, 2, 300])
L.UntypedStorage(['x'])
L.UntypedStorage('x')
L.is_storage(L.UntypedStorage(1))
L.is_storage(L.FloatStorage(1))
L.FloatStorage([1, 2, 3])
L.FloatStorage(2).fill_(1.5)
L.LongStorage([1, 2]).tolist()
L.BFloat16Storage([1.5])
L.ComplexFloatStorage([1 + 2j])
L.BoolStorage([True, False])
L.TypedStorage([1, 2], dtype=L.int64)
L.TypedStorage([1, 2])
L.TypedStorage(3)[1:]
L.TypedStorage([1, 2])[5]
L.TypedStorage([1, 2])['x']
L.TypedStorage(wrap_storage=3)
L.TypedStorage(wrap_storage=L.UntypedStorage(8).fill_(1), dtype=L.int32)
L.TypedStorage(wrap_storage=L.UntypedStorage(8), dtype=3)
L.TypedStorage(wrap_storage=L.UntypedStorage(8), dtype=L.int32, device='cpu')
L.TypedStorage(3, wrap_storage=L.UntypedStorage(8))
L.TypedStorage(3, dtype=L.int32).fill_(3)
L.TypedStorage(None)
L.UntypedStorage([])
L.TypedStorage(1, 2)
L.arange(3.).storage()
L.arange(3).storage()[1]
L.arange(3).storage().size()
L.arange(3).storage().nbytes()
L.arange(3).storage().element_size()
L.arange(3).storage().dtype
L.arange(3).storage().pickle_storage_type()
L.arange(3).storage().untyped().nbytes()
isinstance(L.arange(3).storage(), L.LongStorage)
isinstance(L.arange(3).storage(), L.FloatStorage)
isinstance(L.arange(3).storage(), L.TypedStorage)
L.arange(3).storage().copy_(L.tensor([5, 6, 7]).storage())
L.arange(3.).storage().copy_(L.tensor([5, 6, 7]).storage())
L.arange(3).storage().clone().fill_(2)
L.arange(6)[2:].storage()
"""


def outcome(L, line):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return str(eval(line, {"L": L})).replace("vistorch", "torch")
        except Exception as error:
            return f"{type(error).__name__}: {error}".replace("vistorch", "torch").replace("PyTorch", "torch")


@pytest.mark.parametrize("line", PROGRAMS.strip().split("\n"))
def test_as_in_torch(line):
    assert outcome(vistorch, line) == outcome(torch, line)


def test_writes_reach_the_tensor():
    for L in (vistorch, torch):
        x = L.zeros(2, dtype=L.uint8)
        s = x.untyped_storage()
        s[1] = 7
        s[:1][0] = 5
        assert x.tolist() == [5, 7]
        s.fill_(2)
        assert x.tolist() == [2, 2]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            x.storage()[0] = 9
        assert x.tolist() == [9, 2]


def test_equal_is_the_same_memory():
    for L in (vistorch, torch):
        x, y = L.ones(3), L.ones(3)
        assert x.untyped_storage() == x[1:].untyped_storage() != y.untyped_storage()
        assert hash(x.untyped_storage()) == hash(x[1:].untyped_storage())
        assert len({x.untyped_storage(), x.t().untyped_storage(), y.untyped_storage()}) == 2
        assert x.untyped_storage()._cdata == x[1:].untyped_storage()._cdata != y.untyped_storage()._cdata


def test_the_warning_comes_once(monkeypatch):
    from vistorch.engine.methods import typed_storage

    monkeypatch.setattr(typed_storage, "_warned", False)
    torch.storage._reset_warn_typed_storage_removal()
    found = []
    for L in (vistorch, torch):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            L.ones(2).storage()
            L.ones(2).storage()
        found.append([(w.category, str(w.message)) for w in caught])
        assert caught[0].filename == __file__
    assert found[0] == found[1] and len(found[0]) == 1


def test_copies():
    s = vistorch.arange(3, dtype=vistorch.uint8).untyped_storage()
    for other in (copy.copy(s), copy.deepcopy(s), pickle.loads(pickle.dumps(s)), s.clone()):
        assert other.tolist() == [0, 1, 2] and other != s
    t = vistorch.arange(3.0)._typed_storage()
    for other in (copy.copy(t), copy.deepcopy(t), pickle.loads(pickle.dumps(t)), t.clone()):
        assert other.tolist() == [0, 1, 2] and other != t and other.dtype is vistorch.float32


def test_devices():
    vistorch.cuda.simulate(2)
    try:
        s = vistorch.arange(3, dtype=vistorch.uint8).untyped_storage()
        there = s.cuda(1)
        assert there.device == vistorch.device("cuda:1") and there.is_cuda and there.get_device() == 1
        assert there.cpu().tolist() == [0, 1, 2] and there.cuda(1) is there and s.cpu() is s
        assert pickle.loads(pickle.dumps(there)).device == there.device
        t = vistorch.arange(3.0)._typed_storage().cuda()
        assert t.is_cuda and t.tolist() == t.cpu().tolist() == [0, 1, 2]
        assert not isinstance(t, vistorch.FloatStorage)
    finally:
        vistorch.cuda.simulate(None)


def test_files_as_storages(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(bytes(range(8)))
    for L in (vistorch, torch):
        s = L.UntypedStorage.from_file(str(path), False, 8)
        s[0] = 99
        assert s.tolist() == [99, 1, 2, 3, 4, 5, 6, 7] and path.read_bytes() == bytes(range(8))
    s = vistorch.UntypedStorage.from_file(str(path), True, 12)
    s[0] = 99
    del s
    assert path.read_bytes() == bytes([99, *range(1, 8), 0, 0, 0, 0])
    with pytest.raises(RuntimeError, match="unable to mmap 99 bytes"):
        vistorch.UntypedStorage.from_file(str(path), False, 99)


def test_byteswap():
    for L in (vistorch, torch):
        s = L.UntypedStorage(list(range(8)))
        s.byteswap(L.int32)
        assert s.tolist() == [3, 2, 1, 0, 7, 6, 5, 4]
        s.byteswap(L.complex64)
        assert s.tolist() == list(range(8))
        s.byteswap(L.uint8)
        assert s.tolist() == list(range(8))


def test_odd_memory():
    import numpy as np

    from vistorch.engine.memory.array_memory import bytes_of

    a = np.arange(12, dtype=np.int16).reshape(3, 4)
    for part in (a, a.T, a[::-1, ::-2], a[1:, 2:], a[:, 1]):
        low, high = np.lib.array_utils.byte_bounds(part)
        b = bytes_of(part)
        assert (b.__array_interface__["data"][0], b.size) == (low, high - low)
    assert bytes_of(a[:0]).size == 0
    assert bytes_of(vistorch.tensor(1.5, dtype=vistorch.bfloat16)._data).tolist() == [0xC0, 0x3F]


def test_what_a_storage_occupies_is_counted():
    """`sys.getsizeof` of a storage holds its bytes, as in PyTorch: what summaries of models add up."""
    import sys

    for size in (0, 1, 1000):
        ours, theirs = vistorch.zeros(size).untyped_storage(), torch.zeros(size).untyped_storage()
        empty = sys.getsizeof(vistorch.UntypedStorage(0)), sys.getsizeof(torch.UntypedStorage(0))
        assert sys.getsizeof(ours) - empty[0] == 4 * size == ours.nbytes()
        assert abs(sys.getsizeof(theirs) - empty[1] - 4 * size) < 64
        typed = vistorch.TypedStorage(wrap_storage=ours, dtype=vistorch.float32, _internal=True)
        assert typed.__sizeof__() - object.__sizeof__(typed) == 4 * size
