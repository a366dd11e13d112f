"""One program, two libraries: what it returns, raises and warns must be the same.

Invariant: a program is a function of the library, of nothing else, and torch's run is the expectation.
"""

import re
import warnings

import numpy as np
import pytest

import vistorch
from vistorch.autograd import run

torch = pytest.importorskip("torch", reason="torch is the reference of these tests")
ADDRESS = re.compile(r"0x[0-9a-f]+")


def plain(value):
    """A value as nested tuples of plain things, tensors as ("tensor", dtype, shape, requires_grad, array)."""
    if isinstance(value, (torch.Tensor, vistorch.Tensor)):
        array = np.array(value.detach().tolist()).reshape(tuple(value.shape))
        return ("tensor", str(value.dtype).rpartition(".")[2], tuple(value.shape), value.requires_grad, array)
    if isinstance(value, (tuple, list)):
        return (type(value).__name__ if type(value) in (tuple, list) else "named", *[plain(v) for v in value])
    if isinstance(value, dict):
        return ("dict", *[(k, plain(v)) for k, v in value.items()])
    if isinstance(value, (str, float, int, bool, complex, type(None))):
        return said(value) if isinstance(value, str) else value
    return said(repr(value))


def said(text):
    """A sentence without what names the library or an address."""
    text = text.partition(" (Triggered internally at")[0]  # where torch's C++ source says it
    text = ADDRESS.sub("0x", text).replace("vistorch", "torch")
    return text


def outcome(program, lib):
    """What a program does: (what it returned or raised, the warnings it gave)."""
    torch.set_warn_always(True)  # what torch says once per process, it says once per program here
    run.warned.clear()
    with warnings.catch_warnings(record=True) as received:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", "`torch.jit")  # what torch says of itself when it is first used
        try:
            result = ("returned", plain(program(lib)))
        except Exception as error:
            result = ("raised", type(error).__name__, said(str(error)))
        finally:
            torch.set_warn_always(False)
    return result, [(w.category.__name__, said(str(w.message))) for w in received]


def same(a, b, where="result"):
    """Compare two plain values; floats within a few roundings."""
    if isinstance(a, np.ndarray):
        np.testing.assert_allclose(b, a, rtol=2e-5, atol=1e-6, err_msg=where)
    elif isinstance(a, tuple):
        assert isinstance(b, tuple) and len(a) == len(b), (where, a, b)
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            same(x, y, f"{where}[{i}]")
    elif isinstance(a, float):
        assert b == pytest.approx(a, rel=2e-5, abs=1e-6, nan_ok=True), (where, a, b)
    else:
        assert type(a) is type(b) and a == b, (where, a, b)


def both(program, raises=None):
    """Run a program on both libraries and compare; with `raises`, torch too must have raised that type's name."""
    (expected, seen), (got, received) = [
        outcome(program, lib) for lib in (torch, vistorch)
    ]  # from one line: it is in tracebacks
    assert expected[0] == ("raised" if raises else "returned"), expected
    if raises:
        assert expected[1] == raises, expected
    assert got[0] == expected[0], (expected, got)
    same(expected[1:], got[1:])
    assert received == seen, (seen, received)
