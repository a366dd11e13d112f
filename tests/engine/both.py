"""One expression in two libraries: what it gives, what it raises, what it warns of.

Invariant: names, sentences and texts are compared to the character, with `torch` for `vistorch`.
"""

import copy
import functools
import math
import operator
import pickle
import re
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import vistorch

torch = pytest.importorskip("torch", reason="torch is the reference")

# What torch adds to a sentence about its own insides, or about warning only once.
INSIDES = re.compile(
    r" ?\(Triggered internally.*?\)$|\nException raised.*| This type of warning will be suppressed.*program\.",
    re.S,
)


def plain(value):
    """A value as text that does not tell the libraries, or two objects, apart."""
    text = re.sub(r" object at 0x[0-9a-f]+", "", str(value))
    text = text.replace("vistorch", "torch").replace("torch._C.", "torch.").replace("PyTorch", "torch")
    return INSIDES.sub("", text)


class Sequence:
    """A sequence that is no list."""

    def __len__(self):
        return 3

    def __getitem__(self, i):
        if i > 2:
            raise IndexError
        return i * 1.5


def nested(depth):
    """A number in so many lists."""
    return functools.reduce(lambda inner, _: [inner], range(depth), 1)


def outcome(library, source):
    """What an expression about `torch` does in a library: (result or error, set of warnings)."""
    names = {
        "torch": library,
        "np": np,
        "copy": copy,
        "math": math,
        "operator": operator,
        "pickle": pickle,
        "Decimal": Decimal,
        "Fraction": Fraction,
        "Sequence": Sequence,
        "nested": nested,
        "a": library.ones(2, 3),
        "g": library.Generator().manual_seed(1),
        "grown": lambda *size: library.ones(*size, requires_grad=True) * 1,
    }
    library.manual_seed(0)
    torch.set_warn_always(True)  # not only the first time, which may be in another test
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            value = eval(source, names)
            found = (
                "gives",
                plain(value),
                plain(getattr(value, "dtype", None)) if hasattr(value, "ndim") else "",
            )
        except Exception as error:
            found = ("raises", type(error).__name__, plain(error))
        finally:
            torch.set_warn_always(False)
    if "invalid combination of arguments" in found[2]:  # what follows is the list of torch's own overloads
        found = found[:2]
    return found, {plain(w.message) for w in seen if w.category is not DeprecationWarning}


def check(source):
    """Assert that both libraries do the same."""
    assert outcome(vistorch, source) == outcome(torch, source)


def lines(text):
    """The expressions of a block, one a line."""
    return [line for line in text.strip().split("\n") if line]
