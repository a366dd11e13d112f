"""finfo and iinfo against PyTorch's, number by number."""

import pickle

import numpy as np
import pytest

from vistorch.engine.base import dtypes, finfo

torch = pytest.importorskip("torch")

FLOATS = [d for d in dtypes.ALL if d.is_floating_point or d.is_complex]
INTEGERS = [d for d in dtypes.ALL if d not in FLOATS and d is not dtypes.bool]
FNAMES = ["bits", "dtype", "eps", "max", "min", "resolution", "smallest_normal", "tiny"]


def theirs(d):
    return getattr(torch, d.name) if isinstance(d, dtypes.dtype) else d


def outcome(call):
    """Return the text of what a call gives or raises, PyTorch's under our name."""
    try:
        return repr(call()).replace("torch.", "vistorch.").replace("visvis", "vis")
    except Exception as error:
        return f"{type(error).__name__}: {error}".replace("torch.", "vistorch.").replace("visvis", "vis")


@pytest.mark.parametrize(("d", "name"), [(d, name) for d in FLOATS for name in FNAMES])
def test_finfo(d, name):
    mine, reference = getattr(finfo.finfo(d), name), getattr(torch.finfo(theirs(d)), name)
    assert mine == reference and type(mine) is type(reference)


@pytest.mark.parametrize(
    ("d", "name"), [(d, name) for d in INTEGERS for name in ("bits", "dtype", "max", "min")]
)
def test_iinfo(d, name):
    mine, reference = getattr(finfo.iinfo(d), name), getattr(torch.iinfo(theirs(d)), name)
    assert mine == reference and type(mine) is type(reference)


@pytest.mark.parametrize("kind", ["finfo", "iinfo"])
@pytest.mark.parametrize(
    "given", [*dtypes.ALL, float, int, bool, complex, np.float32, "float32", None, 3], ids=repr
)
def test_text_and_errors(kind, given):
    expected = outcome(lambda: getattr(torch, kind)(theirs(given)))
    assert outcome(lambda: getattr(finfo, kind)(given)) == expected
    if "argument" not in expected:  # that sentence speaks of the position
        assert outcome(lambda: getattr(finfo, kind)(type=given)) == expected


def test_without_a_type():
    assert outcome(finfo.finfo) == outcome(torch.finfo)
    assert outcome(finfo.iinfo) == outcome(torch.iinfo)
    try:
        dtypes.set_default_dtype(dtypes.float64)
        assert finfo.finfo() == finfo.finfo(dtypes.float64)
    finally:
        dtypes.set_default_dtype(dtypes.float32)


def test_equality_hash_writing_and_pickle():
    mine = finfo.finfo(dtypes.float32)
    assert mine == finfo.finfo(dtypes.complex64) and mine != finfo.finfo(dtypes.float64)
    assert (torch.finfo(torch.float32) == torch.finfo(torch.complex64)) is True
    assert finfo.iinfo(dtypes.int8) != finfo.iinfo(dtypes.uint8) and mine != finfo.iinfo(dtypes.int8)
    with pytest.raises(TypeError, match="unhashable"):
        hash(mine)
    for name in ("eps", "colour"):
        with pytest.raises(AttributeError):
            setattr(mine, name, 1)
    assert pickle.loads(pickle.dumps(mine)) == mine
