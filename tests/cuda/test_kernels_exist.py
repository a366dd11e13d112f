"""What the engine asks of cupy: a list of names, kept up to date here and compared with cupy where there is one."""

import importlib
import inspect

import numpy as np
import pytest

from tests.cuda.strict import NAMES, read_names
from tests.cuda.walk import text, walk
from vistorch.engine import rules
from vistorch.engine.kernels.cuda_source import ELEMENTWISE

# cupy's methods are compiled: their first line of documentation is the signature.
SIGNED_BY_HAND = {".view": "dtype", ".repeat": "repeats axis"}


def test_the_list_is_up_to_date() -> None:
    """A new name is looked up in cupy before it goes in: python -m tests.cuda.walk, then run this where cupy is."""
    assert NAMES.read_text() == text()


def test_the_walk_finds_names_methods_aliases_and_keywords() -> None:
    """Of each kind one that is known to be there."""
    found = walk()
    assert "compute_uv" in found["linalg.svd"]
    assert {"axes", "norm"} <= found["fft.fftn"]
    assert "keepdims" in found[".sum"]
    assert {"add.at", "exp", "lib.stride_tricks.as_strided"} <= set(found)


def test_overrides_are_called_as_their_rows_are(two_gpus) -> None:
    """Each is a row, and takes its tensors, then its constants, by these names."""
    overrides = importlib.import_module("vistorch.engine.kernels.cupy_").overrides
    for name, own in overrides.items():
        if name in ELEMENTWISE:
            rule = rules.TABLE.get(name)  # most wait for their rows
            assert rule is None or (len(rule.inputs), len(rule.consts)) == (1, len(ELEMENTWISE[name].scalars))
            continue
        rule = rules.TABLE[name]
        names = list(inspect.signature(own).parameters)
        assert len(names) == len(rule.inputs) + len(rule.consts), name
        assert tuple(names[len(rule.inputs) :]) == rule.consts, name


def cupy_here():
    """The real cupy; no driver is needed to look at its names."""
    if importlib.util.find_spec("cupy") is None:
        pytest.skip("needs a GPU: cupy is not installed")
    return importlib.import_module("cupy")


def arguments(function) -> set[str] | None:
    """The names a function of cupy takes; None where it does not say."""
    try:
        return set(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        line = (function.__doc__ or "").partition("\n")[0]
        if "(" not in line:
            return None
        inside = line.partition("(")[2].rpartition(")")[0]
        return {part.partition("=")[0].split()[-1].lstrip("*") for part in inside.split(",") if part.strip()}


@pytest.mark.parametrize("name", read_names())
def test_cupy_has_it(name: str) -> None:
    """The name is in cupy, and takes the keywords."""
    cupy = cupy_here()
    found = cupy.ndarray if name[0] == "." else cupy
    for part in name.strip(".").split("."):
        found = getattr(found, part)
    keywords, takes = read_names()[name], arguments(found)
    if isinstance(found, cupy.ufunc):
        takes = {"out", "dtype", "casting"}
    if keywords and name not in ("ndarray",):
        assert takes is not None, f"{name} does not say what it takes"
        assert keywords <= takes


COMPLEX = np.dtype("D")
# dtypes a ufunc of cupy has no loop for although numpy has: the ops convert first
CONVERTED = {"logical_and", "logical_or", "logical_xor"}


@pytest.mark.parametrize("name", [n for n in read_names() if isinstance(getattr(np, n, None), np.ufunc)])
def test_ufuncs_give_the_same_types(name: str) -> None:
    """For each dtype that numpy's ufunc takes, cupy's gives the same result type."""
    cupy = cupy_here()
    mine, theirs = getattr(np, name), getattr(cupy, name)
    if not isinstance(theirs, cupy.ufunc):
        assert name == "matmul"
        return
    for char in "?bBhilefdFD":
        given = np.dtype(char)
        if name in CONVERTED and given.kind == "c":
            continue
        try:
            expected = mine.resolve_dtypes((given,) * mine.nin + (None,) * mine.nout)[mine.nin]
        except TypeError:
            continue
        for loop in theirs.types:
            ins, _, outs = loop.partition("->")
            if "E" not in loop and all(np.can_cast(given, np.dtype(c)) for c in ins):
                assert np.dtype(outs[0]) == expected, (given, loop)
                break
        else:
            pytest.fail(f"cupy.{name} does not take {given}")
