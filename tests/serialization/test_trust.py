"""What a file may name when only weights are loaded: the list, what a person adds to it, and PyTorch's sentences."""

import io
import pickle
import warnings
from fractions import Fraction

import pytest

import vistorch
from vistorch import serialization as s

from . import hostile as h
from .both import ours_read, sentence, theirs_read, torch, written


def test_the_sentence_for_what_is_not_trusted():
    data = written(vistorch.save, {"lr": Fraction(1, 3)})
    assert sentence(lambda: ours_read(data)) == sentence(lambda: theirs_read(data))
    data = h.archive(h.call(h.name("os", "getcwd")))
    assert sentence(lambda: ours_read(data)) == sentence(lambda: theirs_read(data))
    data = h.archive(h.name("builtins", "print"))
    assert sentence(lambda: ours_read(data)) == sentence(lambda: theirs_read(data))
    data = h.archive(h.p.EXT1 + b"\1")
    assert sentence(lambda: ours_read(data)) == sentence(lambda: theirs_read(data))
    data = h.archive(h.p.EMPTY_TUPLE + h.p.NONE + h.p.APPEND)
    assert sentence(lambda: ours_read(data)) == sentence(lambda: theirs_read(data))
    data = h.archive(h.p.EMPTY_LIST + h.p.NONE * 2 + h.p.SETITEM)
    assert sentence(lambda: ours_read(data)) == sentence(lambda: theirs_read(data))


def test_what_a_person_trusts():
    data = written(vistorch.save, [Fraction(1, 3), vistorch.ones(1)])
    assert s.get_unsafe_globals_in_checkpoint(io.BytesIO(data)) == ["fractions.Fraction"]
    with s.safe_globals([Fraction]):
        assert s.get_safe_globals() == [Fraction]
        assert ours_read(data)[0] == Fraction(1, 3)
        assert s.get_unsafe_globals_in_checkpoint(io.BytesIO(data)) == []
    assert s.get_safe_globals() == []
    s.add_safe_globals([(Fraction, "fractions.Fraction")])
    assert ours_read(data)[0] == Fraction(1, 3)
    s.clear_safe_globals()
    with pytest.raises(pickle.UnpicklingError):
        ours_read(data)


class State:
    """A class with a dict."""


class Slots:
    """A class with slots."""

    __slots__ = ("a", "b")


class Own:
    """A class that restores itself."""

    def __setstate__(self, state):
        self.restored = state

    def __getstate__(self):
        return {"x": 1}


def test_instances_of_trusted_classes():
    plain, slots, own = State(), Slots(), Own()
    plain.x, plain.t = 1, vistorch.ones(2)
    slots.a = 2
    data = written(vistorch.save, [plain, slots, own])
    with s.safe_globals([State, Slots, Own]):
        a, b, c = ours_read(data)
    assert a.x == 1 and a.t.tolist() == [1, 1] and b.a == 2 and c.restored == {"x": 1}
    names = s.get_unsafe_globals_in_checkpoint(io.BytesIO(data))
    assert sorted(name.rpartition(".")[2] for name in names) == ["Own", "Slots", "State"]
    theirs = torch.serialization.get_unsafe_globals_in_checkpoint(io.BytesIO(data))
    assert sorted(theirs) == names


@pytest.mark.parametrize("wrong, error", [([("a",)], ValueError), ([(State, 3)], TypeError)])
def test_what_cannot_be_trusted(wrong, error):
    data = written(vistorch.save, State())
    for L, read in ((vistorch, ours_read), (torch, theirs_read)):
        L.serialization.add_safe_globals(wrong)
        try:
            with pytest.raises(error) as caught:
                read(data)
        finally:
            L.serialization.clear_safe_globals()
        assert str(caught.value).startswith("Expected ")


def test_asking_what_is_no_checkpoint(tmp_path):
    for data in (b"ab", written(vistorch.save, 1, _use_new_zipfile_serialization=False)):
        assert sentence(lambda d=data: s.get_unsafe_globals_in_checkpoint(io.BytesIO(d))) == sentence(
            lambda d=data: torch.serialization.get_unsafe_globals_in_checkpoint(io.BytesIO(d))
        )


def test_arguments_that_contradict_each_other():
    data = written(vistorch.save, vistorch.ones(2))
    call = {"pickle_module": pickle, "weights_only": True}
    assert sentence(lambda: ours_read(data, **call)) == sentence(lambda: theirs_read(data, **call))
    with pytest.warns(UserWarning, match=r"pickle_load_args only works if `weights_only=False`\."):
        ours_read(data, encoding="latin1")


def test_the_environment_decides(monkeypatch):
    data = written(vistorch.save, Fraction(1, 3))
    monkeypatch.setenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "1")
    for read in (ours_read, theirs_read):
        with pytest.raises(pickle.UnpicklingError):
            read(data, weights_only=False)
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "yes")
    assert sentence(lambda: ours_read(data)) == sentence(lambda: theirs_read(data))
    monkeypatch.delenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD")
    found = []
    for read in (ours_read, theirs_read):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert read(data) == Fraction(1, 3)
        found.append(str(caught[0].message).replace("vistorch", "torch"))
    assert found[0] == found[1]


def test_texts_of_python_2():
    """Python 2 wrote texts as bytes; `encoding` says what they are."""
    data = h.archive(h.p.SHORT_BINSTRING + b"\3a\xc3\xa9")
    assert ours_read(data) == theirs_read(data) == "aé"
    assert ours_read(data, weights_only=False, encoding="latin1") == "aÃ©"
    assert ours_read(data, weights_only=False, encoding="bytes") == b"a\xc3\xa9"
    named = h.tensor(h.storage().replace(h.text("storage"), h.p.SHORT_BINSTRING + b"\7storage"))
    assert ours_read(h.archive(named), weights_only=False, encoding="bytes").tolist() == [1, 2, 3, 4]
