"""Sizes against PyTorch's: what they print, what stays a Size, and the error sentences."""

import copy
import pickle

import numpy as np
import pytest

from vistorch.engine.base.size import Size, size_of

torch = pytest.importorskip("torch")

SAME = """\
s[1:] | s[0] | s[-1] | s[::-1] | s[:0] | s + (1,) | (1,) + s | s + s | s * 2 | 2 * s | s * 0 | s * True
s * -1 | s + () | S() | S([]) | S([2, -1]) | S([True, 2]) | S(range(3)) | S(x for x in (1, 2))
S({1: 2}) | s | S((np.int64(2), 3)) | s.numel() | S().numel() | S([0, 3]).numel() | str(s) | f"{s}"
s == (2, 3) | s != (2, 3) | hash(s) == hash((2, 3)) | s.index(3) | s.count(2) | tuple(s) | sorted(s)
list(s) | len(s) | 3 in s | s < (9,) | S([[1]]) | S(3) | S(None) | S("ab") | S([2, "a"]) | S([2, 2.5])
S((None,)) | s + 1 | s + [1] | s + "a" | (1, "a") + s | s + (1, "a") | s + (1.5,) | s["a"]
s[5] | [1] + s | 1 + s | "a" + s | s * 1.5 | s * s | s.foo | s.__radd__((1,)) | {s: 1}[(2, 3)]"""


def outcome(expression, kind):
    """Return the type and text of what an expression gives or raises."""
    try:
        value = eval(expression, {"S": kind, "s": kind([2, 3]), "np": np})
    except Exception as error:
        return type(error).__name__, str(error)
    return type(value).__name__, repr(value)


@pytest.mark.parametrize("expression", [e.strip() for e in SAME.strip().replace("\n", "|").split("|")])
def test_as_in_torch(expression):
    kind, text = outcome(expression, torch.Size)
    mine_kind, mine_text = outcome(expression, Size)
    assert mine_kind == kind
    # sentences that Python makes itself name the bare class
    assert mine_text in (text.replace("torch.", "vistorch."), text.replace("torch.Size", "Size"))


def test_survives_pickle_and_copy():
    size = Size([2, 3])
    for copied in (pickle.loads(pickle.dumps(size)), copy.copy(size), copy.deepcopy(size)):
        assert type(copied) is Size and copied == size


def test_no_attributes():
    with pytest.raises(AttributeError):
        Size([1]).name = 1


def test_size_of_is_the_same_without_checks():
    assert type(size_of((2, 3))) is Size and size_of((2, 3)) == Size([2, 3]) and size_of(()) == Size()


def test_a_length_that_fits_no_tensor():
    with pytest.raises(ValueError, match=r"^Overflow when unpacking long long$"):
        Size([2**63])
    assert Size([2**63 - 1]).numel() == 2**63 - 1
