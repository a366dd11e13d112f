"""`default_collate` and `default_convert` against torch's."""

import collections
import types

import numpy as np
import pytest

from tests.story import story

Point = collections.namedtuple("Point", "x y")


class Words(collections.UserList):
    """A mutable sequence that is no list."""


class Frozen(collections.abc.Mapping):
    """A mapping that cannot be written to, and is made of a dict."""

    def __init__(self, items):
        self.items_ = dict(items)

    def __getitem__(self, key):
        return self.items_[key]

    def __iter__(self):
        return iter(self.items_)

    def __len__(self):
        return len(self.items_)


class Picky(dict):
    """A dict whose copy cannot be filled."""

    def update(self, *args, **kwargs):
        raise TypeError("not me")


def counted(value):
    found = collections.defaultdict(list)
    found["n"] = value
    return found


def batches(L):
    return {
        "tensors": [L.arange(6).view(2, 3), L.ones(2, 3, dtype=L.int64)],
        "numbers": [L.tensor(1.5), L.tensor(2.5)],
        "empty": [L.ones(0, 3), L.ones(0, 3)],
        "turned": [L.arange(6.0).view(2, 3).t(), L.ones(3, 2)],
        "of_types": [L.ones(2), L.ones(2, dtype=L.float64)],
        "half": [L.ones(3, dtype=L.bfloat16), L.zeros(3, dtype=L.bfloat16)],
        "grads": [L.ones(2, requires_grad=True), L.zeros(2)],
        "unequal": [L.ones(2), L.ones(3)],
        "ints": [1, 2, 3],
        "bools": [True, False],
        "floats": [1.5, 2.5],
        "int_first": [1, 2.5],
        "float_first": [1.5, 2],
        "complex": [1j, 2j],
        "texts": ["a", "b"],
        "bytes": [b"a", b"b"],
        "none": [None, None],
        "arrays": [np.arange(3), np.ones(3, dtype=np.int64)],
        "arrays_float": [np.ones((2, 2), np.float32), np.zeros((2, 2), np.float32)],
        "arrays_0d": [np.array(1), np.array(2)],
        "arrays_text": [np.array(["a"]), np.array(["b"])],
        "arrays_object": [np.array([None]), np.array([None])],
        "arrays_unequal": [np.ones(2), np.ones(3)],
        "scalars": [np.float64(1), np.float64(2)],
        "scalars_32": [np.float32(1), np.float32(2)],
        "scalars_int": [np.int16(1), np.int16(2)],
        "scalars_bool": [np.bool_(True), np.bool_(False)],
        "scalars_text": [np.str_("a"), np.str_("b")],
        "mappings": [{"a": 1, "b": L.ones(2)}, {"b": L.zeros(2), "a": 2}],
        "missing_key": [{"a": 1}, {"b": 2}],
        "ordered": [collections.OrderedDict(z=1, a=2.0), collections.OrderedDict(z=3, a=4.0)],
        "counted": [counted(1), counted(2)],
        "frozen": [Frozen({"a": 1}), Frozen({"a": 2})],
        "proxies": [types.MappingProxyType({"a": 1}), types.MappingProxyType({"a": 2})],
        "picky": [Picky(a=1), Picky(a=2)],
        "points": [Point(1, L.ones(2)), Point(2, L.zeros(2))],
        "tuples": [(1, "a"), (2, "b")],
        "lists": [[1, 2.0], [3, 4.0]],
        "nested": [{"p": Point((1, [2]), "x")}, {"p": Point((3, [4]), "y")}],
        "words": [Words([1, 2]), Words([3, 4])],
        "ranges": [range(2), range(2, 4)],
        "unequal_lists": [[1, 2], [3]],
        "one": [[1.0, {"k": "v"}]],
        "nothing": [],
        "object": [object(), object()],
    }


@pytest.mark.parametrize("name", batches(pytest.importorskip("torch")))
@pytest.mark.filterwarnings("ignore::UserWarning")
@story
def test_default_collate(L, report, name):
    batch = batches(L)[name]
    report.raises(lambda: L.utils.data.default_collate(batch))


@pytest.mark.parametrize("name", batches(pytest.importorskip("torch")))
@story
def test_default_convert(L, report, name):
    for sample in [*batches(L)[name], batches(L)[name]]:
        report.raises(lambda: L.utils.data.default_convert(sample))  # noqa: B023


@story
def test_collate_leaves_the_samples_alone(L, report):
    samples = [{"x": L.ones(2), "w": Words([1])}, {"x": L.zeros(2), "w": Words([2])}]
    batch = L.utils.data.default_collate(samples)
    batch["x"].add_(5)
    report(samples, batch)
    sample = {"x": np.ones(2), "w": [np.zeros(1)]}
    made = L.utils.data.default_convert(sample)
    report(made, type(sample["x"]).__name__, type(sample["w"][0]).__name__)


@story
def test_custom_maps(L, report):
    collate = L.utils.data._utils.collate.collate
    known = L.utils.data._utils.collate.default_collate_fn_map
    report(sorted(str(key) for key in known))

    class Picture:
        def __init__(self, n):
            self.n = n

    class Photo(Picture):
        pass

    def pictures(batch, *, collate_fn_map=None):
        return collate([p.n for p in batch], collate_fn_map=collate_fn_map)

    report(collate([{"p": Photo(1)}, {"p": Photo(2)}], collate_fn_map={Picture: pictures, **known}))
    report.raises(lambda: collate([Picture(1)], collate_fn_map=known))
    report.raises(lambda: collate([1, 2]))
    report(
        collate([[1, 2], [3, 4]], collate_fn_map={(int, float): lambda batch, *, collate_fn_map: sum(batch)})
    )
