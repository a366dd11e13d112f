"""Comparing what the two libraries hold, and turning a sentence of one into the other's."""

import io
from collections import OrderedDict

import pytest

import vistorch

torch = pytest.importorskip("torch", reason="torch is the reference")

DTYPES = "float32 float64 float16 bfloat16 int8 int16 int32 int64 uint8 bool complex64 complex128".split()


def written(save, obj, **options):
    """The bytes of a file."""
    file = io.BytesIO()
    save(obj, file, **options)
    return file.getvalue()


def ours_read(data, **options):
    return vistorch.load(io.BytesIO(data), **options)


def theirs_read(data, **options):
    return torch.load(io.BytesIO(data), **options)


def content(t):
    """A tensor's elements, in the order of its dimensions, as bytes."""
    if isinstance(t, vistorch.Tensor):
        return t._data.tobytes()
    return bytes(t.detach().resolve_conj().resolve_neg().contiguous().clone().untyped_storage().tolist())


def text(value):
    """A value's text without the library's name."""
    return str(value).replace("vistorch", "torch")


def assert_same(a, b):
    """One object of each library: the same structure, the same tensors, lying alike."""
    if isinstance(a, (vistorch.Tensor, torch.Tensor)):
        assert type(a).__name__ == type(b).__name__
        assert text(a.dtype) == text(b.dtype) and tuple(a.shape) == tuple(b.shape)
        assert tuple(a.stride()) == tuple(b.stride())
        assert text(a.device) == text(b.device) and a.requires_grad == b.requires_grad
        assert content(a) == content(b)
        assert vars_of(a) == vars_of(b)
    elif isinstance(a, (list, tuple)):
        assert type(a).__name__ == type(b).__name__ and len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            assert_same(x, y)
    elif isinstance(a, dict):
        assert type(a).__name__ == type(b).__name__ and list(a) == list(b)
        for key in a:
            assert_same(a[key], b[key])
        if isinstance(a, OrderedDict):
            assert vars(a) == vars(b)
    else:
        assert text(type(a)) == text(type(b)) or text(a) == text(b)
        assert a == b or text(a) == text(b)


def vars_of(t):
    """The attributes a person gave a tensor."""
    return {name: value for name, value in vars(t).items() if name[0] != "_"}


def sentence(call):
    """The type and the first line of what a call raises, in PyTorch's words."""
    try:
        call()
    except Exception as error:
        return type(error).__name__, str(error).replace("vistorch", "torch")
    raise AssertionError("nothing was raised")
