"""Pickles of older versions name modules of the engine where they were then."""

import importlib
import importlib.util
import pickle

import pytest

import vistorch
from vistorch._lazy import FORMER

# What pickles held, by the names of that time.
HELD = {
    "copying": ["rebuild"],
    "device": ["device"],
    "dtypes": ["float32", "bfloat16"],
    "generators": ["_restored"],
    "graph": ["Ordered"],
    "hooks": ["RemovableHandle"],
    "limits": ["finfo", "iinfo"],
    "modes": ["no_grad"],
    "return_types": ["max", "linalg_svd"],
    "size": ["Size"],
    "storage": ["UntypedStorage", "_restored"],
    "typed_storage": ["TypedStorage", "_restored"],
}


def present(former):
    """Where a module is now; a row may be there before its file moves."""
    moved = f"vistorch.{FORMER[former]}"
    try:
        found = importlib.util.find_spec(moved)
    except ModuleNotFoundError:
        found = None
    return moved if found else f"vistorch.{former}"


@pytest.mark.parametrize("former", HELD)
def test_what_pickles_held_is_found(former):
    for name in HELD[former]:
        found = pickle.loads(f"cvistorch.engine.{former}\n{name}\n.".encode())
        assert getattr(importlib.import_module(present(f"engine.{former}")), name) is found


def test_a_former_name_is_the_module_itself():
    for former in FORMER:
        found = importlib.import_module(f"vistorch.{former}")
        assert found is importlib.import_module(present(former)), former
        assert found.__name__ == present(former)


@pytest.mark.parametrize(
    "value",
    [
        vistorch.arange(3.0, requires_grad=True),
        vistorch.nn.Linear(2, 1).weight,
        vistorch.ones(2, dtype=vistorch.bfloat16),
        vistorch.Size([1, 2]),
        vistorch.device("cpu"),
        vistorch.ones(2, 2).max(0),
        vistorch.ones(2).untyped_storage(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_pickle_of_former_names_loads(value):
    data = pickle.dumps(value, protocol=2)
    for former, moved in FORMER.items():
        data = data.replace(f"cvistorch.{moved}\n".encode(), f"cvistorch.{former}\n".encode())
    assert not any(f"cvistorch.{moved}\n".encode() in data for moved in FORMER.values())
    assert repr(pickle.loads(data)) == repr(value)
