"""What the engine asks of cupy: a list of names, kept up to date here and compared with cupy where there is one."""

import importlib
import inspect

import numpy as np
import pytest

from tests.cuda.strict import NAMES, read_names
from tests.cuda.walk import text, walk
from vistorch.engine.core import rules
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


def lacks(cupy, name: str, keywords: set[str]) -> str:
    """What cupy does not have of a name and its keywords; nothing if all is there."""
    found = cupy.ndarray if name[0] == "." else cupy
    for part in name.strip(".").split("."):
        if not hasattr(found, part):
            return f"{name} is missing"
        found = getattr(found, part)
    takes = {"out", "dtype", "casting"} if isinstance(found, cupy.ufunc) else arguments(found)
    if name == "ndarray" or not keywords:
        return ""
    if takes is None:
        return f"{name} does not say what it takes"
    return f"{name} does not take {keywords - takes}" if keywords - takes else ""


def test_cupy_has_every_name_with_its_keywords() -> None:
    """Of the list; and the comparison can fail."""
    cupy = cupy_here()
    found = [lacks(cupy, name, keywords) for name, keywords in read_names().items()]
    assert not [said for said in found if said]
    assert lacks(cupy, "linalg.nothing", set())
    assert lacks(cupy, ".max", {"initial"})


# cupy's loops for these know no complex numbers; the ops compare with 0 first
CONVERTED = {"logical_and", "logical_or", "logical_xor"}


def loop_for(function, given: np.dtype) -> np.dtype | None:
    """The result type of the first loop of a cupy ufunc that takes `given`; E is bfloat16, which numpy has not."""
    for loop in function.types:
        ins, _, outs = loop.partition("->")
        if "E" not in loop and all(np.can_cast(given, np.dtype(c)) for c in ins):
            return np.dtype(outs[0])
    return None


def test_ufuncs_give_the_same_types() -> None:
    """For each dtype that numpy's ufunc takes, cupy's gives the same result type."""
    cupy = cupy_here()
    wrong, compared = [], 0
    for name in read_names():
        mine, theirs = getattr(np, name, None), getattr(cupy, name.strip("."), None)
        if not isinstance(mine, np.ufunc) or not isinstance(theirs, cupy.ufunc):
            continue
        for given in map(np.dtype, "?bBhilefdFD"):
            if name in CONVERTED and given.kind == "c":
                continue
            try:
                expected = mine.resolve_dtypes((given,) * mine.nin + (None,) * mine.nout)[mine.nin]
            except TypeError:
                continue
            compared += 1
            if loop_for(theirs, given) != expected:
                wrong.append(f"{name} of {given}: {loop_for(theirs, given)}, numpy {expected}")
    assert not wrong
    assert compared > 200
