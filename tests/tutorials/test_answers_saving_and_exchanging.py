"""The exercises of the tutorial about files: a right answer is right, and a likely mistake is not."""

import pytest

from tests.tutorials.cells import said

NOTEBOOK = "15_saving_and_exchanging"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The notebook works in a folder of its own, and so do its checks."""
    monkeypatch.chdir(tmp_path)


def verdict(number, *answers, **more):
    return said(NOTEBOOK, number, *answers, **more).partition(": ")[2].partition(".")[0]


def test_names_without_the_prefix():
    named = "lambda state: {{{name}: value for name, value in state.items()}}"
    assert verdict(1, named.format(name="name.removeprefix('module.')")) == "right"
    assert verdict(1, named.format(name="name.replace('module.', '')")) == "not yet"
    assert verdict(1, "lambda state: state") == "not yet"


def test_what_is_read_without_trust():
    assert verdict(2, "True", "False", "True") == "right"
    assert verdict(2, "True", "True", "True") == verdict(2, "True", "False", "False") == "not yet"


FITS = """
def load(net, state):
    own = net.state_dict()
    fits = {{name: value for name, value in state.items() if {condition}}}
    net.load_state_dict(fits, strict=False)
    return [name for name in state if name not in fits]
"""


def test_what_fits_is_loaded():
    both = "name in own and own[name].shape == value.shape"
    assert verdict(3, "load", before=FITS.format(condition=both)) == "right"
    assert verdict(3, "load", before=FITS.format(condition="name in own")) == "not yet"
    assert "size mismatch" in said(NOTEBOOK, 3, "load", before=FITS.format(condition="name in own"))
    assert verdict(3, "lambda net, state: ['extra', 'head.bias', 'head.weight']") == "not yet"
