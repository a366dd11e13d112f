"""A state out of a file: it has the form that record.py describes, or is refused before a record is made of it."""

import copy
import io
import json
import zipfile

import numpy as np
import pytest

from vistorch.debug.watch import load
from vistorch.debug.watch.form import check
from vistorch.debug.watch.record import WatchRecord
from vistorch.debug.watch.record_file import save
from vistorch.debug.watch.tables import columns_of, figure
from vistorch.debug.watch.tensorboard import scalars

from .test_record import trained

WRONG = (
    None,
    True,
    -1,
    2**60,
    10**400,
    0.5,
    float("nan"),
    "x",
    [],
    {},
    [[]],
    {"a": 1},
    np.zeros(3),
    np.zeros((2, 2)),
)


def leaves(value, path=()):
    """The path of every part of a state, the first two items of a list only."""
    yield path
    items = (
        value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
    )
    for key, item in items:
        yield from leaves(item, (*path, key))


def put(state, path, value):
    """A copy of a state with something else in one place; `put` of no value takes the place away."""
    made = copy.deepcopy(state)
    at = made
    for key in path[:-1]:
        at = at[key]
    if value is put:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return made


def use(state):
    """What is done with a record."""
    WatchRecord(state, "").wire()
    columns_of(state)
    list(scalars(state))


@pytest.fixture(scope="module")
def state():
    file = io.BytesIO()
    trained(title="x").save(file)
    found = load(file).state
    figure(found)
    return found


def test_every_place_of_a_state_is_looked_at(state):
    refused = passed = 0
    for path in leaves(state):
        if not path:
            continue
        for value in (*WRONG, put):
            changed = put(state, path, value)
            try:
                check(changed)
            except ValueError as error:
                assert str(error).startswith("state") and "\n" not in str(error)
                refused += 1
                continue
            use(changed)
            passed += 1
    assert refused > 10 * passed > 0


@pytest.mark.parametrize("wrong", [None, 5, [], {}, "x", True])
def test_no_state_at_all(wrong):
    with pytest.raises(ValueError, match=r"^state"):
        check(wrong)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("loss", "curve", "mean"), np.zeros((1, 3), np.float32)),
        (("loss", "curve", "width"), 0),
        (("loss", "curve", "from"), 2**53 - 1),
        (("accuracy", "window", "seen"), np.zeros(1, np.uint32)),
        (("accuracy", "window", "pairs"), np.full((5, 2), 9, np.uint16)),
        (("mistakes", "items", 0, "label"), 9),
        (("mistakes", "items", 0, "image"), np.zeros((2, 2, 2), np.uint8)),
        (("flow", "names"), ["one"]),
        (("flow", "now"), np.zeros(1)),
        (("health", "layers", 0, "dead"), np.zeros(1, np.uint8)),
        (("head", "status"), "unknown"),
    ],
)
def test_parts_that_contradict_each_other(state, path, value):
    with pytest.raises(ValueError, match=r"^state\."):
        check(put(state, path, value))


def written(state, arrays=(), method=zipfile.ZIP_DEFLATED):
    """A file with this state as JSON."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as z:
        z.writestr("watch.json", json.dumps({"format": "vistorch watch 1", "text": "", "state": state}))
        for i, a in enumerate(arrays):
            held = io.BytesIO()
            np.save(held, a)
            z.writestr(f"{i}.npy", held.getvalue())
    return file


@pytest.mark.parametrize(
    "state",
    [
        {"a": [{"npy": 0}] * 3000},
        {"a": {"npy": None}},
        {"a": {"npy": "0"}},
        {"a": {"npy": 7}},
        {"a": {"float": []}},
        {"a": {"float": "1" * 10_000}},
    ],
)
def test_mentions_that_lie(state):
    with pytest.raises(ValueError, match="is no saved watch record: "):
        load(written(state, [np.zeros(1 << 19)]))


def test_a_nest_without_end():
    deep = io.BytesIO()
    with zipfile.ZipFile(deep, "w") as z:
        z.writestr("watch.json", '{"format": "vistorch watch 1", "text": "", "state": ' + "[" * 100_000)
    with pytest.raises(ValueError, match="is no saved watch record: "):
        load(deep)
    for depth in (300, 900, 990):
        nest = "[" * depth + "]" * depth
        with zipfile.ZipFile(deep, "w") as z:
            z.writestr("watch.json", '{"format": "vistorch watch 1", "text": "", "state": ' + nest + "}")
        with pytest.raises(ValueError, match="is no saved watch record: "):
            load(deep)


def test_what_packs_very_well_is_read_again(state):
    """A file that would unpack to more than its length justifies is written without packing."""
    long = copy.deepcopy(state)
    long["flow"]["columns"] = dict.fromkeys(("low", "high", "mean"), np.zeros((6, 1 << 19), np.float32))
    long["flow"]["columns"] |= {"bad": np.zeros((6, 1 << 19), np.uint8), "width": 1, "from": 0}
    file = io.BytesIO()
    save(WatchRecord(long, "said"), file)
    again = load(file)
    assert again.text() == "said" and again.state["flow"]["columns"]["mean"].shape == (6, 1 << 19)


def test_arrays_are_as_they_were(state):
    file = io.BytesIO()
    turned = copy.deepcopy(state)
    turned["filters"]["weight"]["codes"] = np.asfortranarray(turned["filters"]["weight"]["codes"])
    save(WatchRecord(turned, ""), file)
    assert (load(file).state["filters"]["weight"]["codes"] == state["filters"]["weight"]["codes"]).all()


def test_a_flipped_bit_in_an_array_is_found(state):
    file = io.BytesIO()
    save(WatchRecord(state, ""), file)
    data = bytearray(file.getvalue())
    with zipfile.ZipFile(file) as z:
        place = z.getinfo("0.npy").header_offset
    data[place + 60] ^= 4
    with pytest.raises(ValueError, match="is no saved watch record: "):
        load(io.BytesIO(data))
