"""Named results against PyTorch's: which there are, their fields, text and errors."""

import pickle

import pytest

from vistorch.engine.base import return_types

torch = pytest.importorskip("torch")

THEIRS = {
    name: kind
    for name, kind in vars(torch.return_types).items()
    if isinstance(kind, type) and issubclass(kind, tuple)
    if name[0] != "_" and not name.endswith("_out")
}


def outcome(call):
    """Return the text of what a call gives or raises."""
    try:
        return repr(call())
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def test_none_is_missing():
    public = {name: kind for name, kind in vars(return_types).items() if name[0] != "_"}
    mine = {name for name, kind in public.items() if getattr(kind, "__module__", "") == return_types.__name__}
    assert mine == set(THEIRS) and len(mine) == 34


@pytest.mark.parametrize("name", THEIRS)
def test_fields_and_text(name):
    mine, theirs = getattr(return_types, name), THEIRS[name]
    assert mine.__match_args__ == theirs.__match_args__ and mine.__name__ == theirs.__name__
    values = [[i, "a\nb"] for i in range(theirs.n_fields)]
    assert repr(mine(values)) == "vis" + repr(theirs(values))
    assert [getattr(mine(values), field) for field in mine.__match_args__] == values
    for count in ("n_fields", "n_sequence_fields", "n_unnamed_fields"):
        assert getattr(mine, count) == getattr(theirs, count)
    assert pickle.loads(pickle.dumps(mine(values))) == mine(values)
    assert type(pickle.loads(pickle.dumps(mine(values)))) is mine


@pytest.mark.parametrize(
    "use",
    [
        lambda t: t.max([1]),
        lambda t: t.max([1, 2, 3]),
        lambda t: t.max(5),
        lambda t: t.max((1, 2), {}),
        lambda t: t.max(sequence=[1, 2]),
        lambda t: setattr(t.max((1, 2)), "values", 3),
        lambda t: type("x", (t.max,), {}),
        lambda t: t.max((1, 2))[:1],
        lambda t: t.max((1, 2)) * 2,
        lambda t: t.max(i for i in (1, 2)),
        lambda t: hasattr(t.max, "_fields"),
        lambda t: t.max((1, 2)) == (1, 2),
        lambda t: hash(t.max((1, 2))) == hash((1, 2)),
        lambda t: [*t.max((1, 2))],
    ],
)
def test_as_in_torch(use):
    expected = outcome(lambda: use(torch.return_types)).replace("torch.", "vistorch.")
    assert outcome(lambda: use(return_types)) == expected


def test_make_is_the_same_without_checks():
    made = return_types.make(return_types.max, (1, 2))
    assert made == return_types.max((1, 2)) and made.indices == 2 and type(made) is return_types.max
