"""finfo and iinfo against PyTorch's, number by number."""

import pickle

import numpy as np
import pytest

from vistorch.engine import dtypes, limits

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
    mine, reference = getattr(limits.finfo(d), name), getattr(torch.finfo(theirs(d)), name)
    assert mine == reference and type(mine) is type(reference)


@pytest.mark.parametrize(
    ("d", "name"), [(d, name) for d in INTEGERS for name in ("bits", "dtype", "max", "min")]
)
def test_iinfo(d, name):
    mine, reference = getattr(limits.iinfo(d), name), getattr(torch.iinfo(theirs(d)), name)
    assert mine == reference and type(mine) is type(reference)


@pytest.mark.parametrize("kind", ["finfo", "iinfo"])
@pytest.mark.parametrize(
    "given", [*dtypes.ALL, float, int, bool, complex, np.float32, "float32", None, 3], ids=repr
)
def test_text_and_errors(kind, given):
    expected = outcome(lambda: getattr(torch, kind)(theirs(given)))
    assert outcome(lambda: getattr(limits, kind)(given)) == expected
    if "argument" not in expected:  # that sentence speaks of the position
        assert outcome(lambda: getattr(limits, kind)(type=given)) == expected


def test_without_a_type():
    assert outcome(limits.finfo) == outcome(torch.finfo)
    assert outcome(limits.iinfo) == outcome(torch.iinfo)
    try:
        dtypes.set_default_dtype(dtypes.float64)
        assert limits.finfo() == limits.finfo(dtypes.float64)
    finally:
        dtypes.set_default_dtype(dtypes.float32)


def test_equality_hash_writing_and_pickle():
    mine = limits.finfo(dtypes.float32)
    assert mine == limits.finfo(dtypes.complex64) and mine != limits.finfo(dtypes.float64)
    assert (torch.finfo(torch.float32) == torch.finfo(torch.complex64)) is True
    assert limits.iinfo(dtypes.int8) != limits.iinfo(dtypes.uint8) and mine != limits.iinfo(dtypes.int8)
    with pytest.raises(TypeError, match="unhashable"):
        hash(mine)
    for name in ("eps", "colour"):
        with pytest.raises(AttributeError):
            setattr(mine, name, 1)
    assert pickle.loads(pickle.dumps(mine)) == mine
