"""Files go both ways: PyTorch's objects come back from vistorch's hands as they were, and vistorch's are read there."""

import io
import pickle
from collections import Counter, OrderedDict

import pytest

import vistorch

from .both import DTYPES, assert_same, ours_read, theirs_read, torch, written

LEGACY = {"_use_new_zipfile_serialization": False}
FORMATS = pytest.mark.parametrize("options", [{}, LEGACY], ids=["zip", "legacy"])


def parameter(L, **attributes):
    p = L.nn.Parameter(L.arange(3.0), requires_grad=not attributes)
    for name, value in attributes.items():
        setattr(p, name, value)
    return p


def ordered(L):
    state = OrderedDict(a=L.ones(2), b=L.zeros(1))
    state._metadata = OrderedDict({"": {"version": 1}})
    return state


def with_attribute(L):
    x = L.arange(4.0)
    x.note = ["mine", 3]
    return x


def non_leaf(L):
    return L.ones(2, requires_grad=True) * 3


VALUES = {
    "scalar": lambda L: L.tensor(3.5),
    "empty": lambda L: L.empty(0),
    "empty with sizes": lambda L: L.empty(2, 0, 3),
    "transposed": lambda L: L.arange(6.0).reshape(2, 3).t(),
    "strided": lambda L: L.arange(24).reshape(2, 3, 4)[:, ::2, 1:],
    "channels last": lambda L: L.arange(24.0).reshape(1, 2, 3, 4).contiguous(memory_format=L.channels_last),
    "expanded": lambda L: L.arange(3.0).reshape(3, 1).expand(3, 4),
    "part of a storage": lambda L: L.arange(10.0)[3:5],
    "nothing of a storage": lambda L: L.arange(10.0)[3:3],
    "shared": lambda L: (lambda x: [x, x[1:3], x.t(), x])(L.arange(9.0).reshape(3, 3)),
    "requires grad": lambda L: L.ones(2, requires_grad=True),
    "non-leaf": non_leaf,
    "parameter": parameter,
    "parameter with attributes": lambda L: parameter(L, note="w", scale=2.0),
    "tensor with attributes": with_attribute,
    "conjugated": lambda L: L.tensor([1 + 2j, 3 - 1j]).conj(),
    "imaginary part": lambda L: L.tensor([1 + 2j, 3 - 1j]).imag.clone(),
    "seen as another type": lambda L: L.arange(4.0).view(L.int32),
    "state dict": ordered,
    "nest": lambda L: {"a": [L.ones(1), (L.zeros(2), {"b": None})], 3: (), 2.5: True},
    "plain": lambda L: [
        1,
        -1,
        2**40,
        -(2**70),
        1.5,
        "té\nxt",
        "",
        None,
        True,
        False,
        b"by\xfftes",
        1 + 2j,
        {1, 2},
    ],
    "more plain": lambda L: [
        bytearray(b"abc"),
        Counter("abca"),
        OrderedDict(x=1),
        [[]],
        {},
        ((),),
        "x" * 300,
    ],
    "size": lambda L: L.Size([2, 3]),
    "dtypes": lambda L: [getattr(L, name) for name in DTYPES],
    "devices": lambda L: [L.device("cpu"), L.device("cuda", 1), L.device("cuda")],
    "layout": lambda L: L.strided,
    "long list": lambda L: list(range(2000)),
    "many": lambda L: {f"layer{i}.weight": L.full((2,), float(i)) for i in range(300)},
    "random state": lambda L: L.Generator().manual_seed(3).get_state(),
}


@FORMATS
@pytest.mark.parametrize("name", VALUES)
def test_there_and_back(name, options):
    value = VALUES[name](torch)
    here = ours_read(written(torch.save, value, **options))
    assert_same(here, value)
    there = theirs_read(written(vistorch.save, here, **options))
    if isinstance(value, torch.Tensor):
        value = value.resolve_conj()  # a conjugated tensor is written as its numbers
    assert_same(there, value)


@FORMATS
@pytest.mark.parametrize("name", VALUES)
def test_made_here(name, options):
    value = VALUES[name](vistorch)
    data = written(vistorch.save, value, **options)
    assert_same(value, theirs_read(data, weights_only=True))
    assert_same(value, ours_read(data))
    assert_same(value, ours_read(data, weights_only=False))


@FORMATS
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype(dtype, options):
    value = torch.tensor([0, 1, 1, 0, 1]).to(getattr(torch, dtype))
    both = [value, value[2], value[1:3], value[:0]]
    here = ours_read(written(torch.save, both, **options))
    assert_same(here, both)
    assert_same(theirs_read(written(vistorch.save, here, **options)), both)


@FORMATS
@pytest.mark.parametrize(
    "save, load", [(torch.save, ours_read), (vistorch.save, theirs_read), (vistorch.save, ours_read)]
)
def test_shared_memory_stays_shared(save, load, options):
    L = torch if save is torch.save else vistorch
    x = L.arange(6.0)
    loaded = load(written(save, {"x": x, "part": x[2:4], "other": L.ones(6)}, **options))
    loaded["part"].add_(10)
    assert loaded["x"].tolist() == [0, 1, 12, 13, 4, 5] and loaded["other"].tolist() == [1] * 6


def test_parts_of_a_storage_keep_all_of_it():
    data = written(vistorch.save, vistorch.arange(1000.0)[3:5])
    assert ours_read(data).untyped_storage().nbytes() == 4000
    assert theirs_read(data).untyped_storage().nbytes() == 4000


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize(
    "name", ["shared", "parameter", "size", "dtypes", "devices", "plain", "state dict", "nest"]
)
def test_every_protocol(name, protocol):
    value = VALUES[name](vistorch)
    data = written(vistorch.save, value, pickle_protocol=protocol)
    assert_same(value, ours_read(data))
    assert_same(value, theirs_read(data, weights_only=False))


@pytest.mark.parametrize("protocol", [2, 4])
def test_texts_that_look_like_instructions_stay_texts(protocol):
    texts = ["cvistorch.engine.size\nSize\n", "vistorch.engine.base.size", "Size", "ctorch\nSize\n"]
    value = [
        *texts,
        vistorch.Size([1]),
        vistorch.float32,
        "cvistorch.engine.dtypes\nfloat32\n",
        vistorch.Size([2]),
    ]
    data = written(vistorch.save, value, pickle_protocol=protocol)
    assert_same(value, theirs_read(data, weights_only=False))
    assert_same(value, ours_read(data))


@pytest.mark.parametrize("protocol", [2, 4])
def test_another_pickle_module(protocol):
    cloudpickle = pytest.importorskip("cloudpickle")
    value = {"f": lambda x: x + 1, "w": vistorch.arange(3)}
    data = written(vistorch.save, value, pickle_module=cloudpickle, pickle_protocol=protocol)
    back = ours_read(data, pickle_module=pickle, weights_only=False)
    assert back["f"](2) == 3 and back["w"].tolist() == [0, 1, 2]


def module(L):
    L.manual_seed(0)
    return L.nn.Sequential(L.nn.Linear(3, 4), L.nn.Linear(4, 2))


def trained(L):
    """A network and its optimizer after a step."""
    m = module(L)
    o = L.optim.Adam(m.parameters(), lr=0.1)
    m(L.ones(2, 3)).sum().backward()
    o.step()
    return m, o


def test_state_dicts_of_modules():
    mine, theirs = module(vistorch), module(torch)
    theirs.load_state_dict(theirs_read(written(vistorch.save, mine.state_dict())))
    assert_same(mine.state_dict(), theirs.state_dict())
    other = module(torch)
    with torch.no_grad():
        other[0].weight.mul_(3)
    mine.load_state_dict(ours_read(written(torch.save, other.state_dict())))
    assert_same(mine.state_dict(), other.state_dict())


def test_state_dicts_of_optimizers():
    (_, mine), (_, theirs) = trained(vistorch), trained(torch)
    there = theirs_read(written(vistorch.save, mine.state_dict()))
    theirs.load_state_dict(there)
    here = ours_read(written(torch.save, theirs.state_dict()))
    mine.load_state_dict(here)
    assert_same(here["state"], there["state"])
    assert here["param_groups"][0]["lr"] == 0.1 and list(here["state"][0]) == [
        "step",
        "exp_avg",
        "exp_avg_sq",
    ]


def test_whole_modules():
    mine = module(vistorch)
    data = written(vistorch.save, mine)
    back = ours_read(data, weights_only=False)
    assert type(back) is vistorch.nn.Sequential and back is not mine
    assert_same(back.state_dict(), module(torch).state_dict())
    assert (back(vistorch.ones(1, 3)) == mine(vistorch.ones(1, 3))).all()
    with pytest.raises(
        pickle.UnpicklingError, match=r"GLOBAL torch\.nn\.modules\S+Sequential was not an allowed"
    ):
        ours_read(data)
    assert b"torch._utils" in data and b"ctorch.nn.modules.container\nSequential" in data


@FORMATS
def test_whole_modules_of_torch_become_ours(options):
    theirs = module(torch)
    back = ours_read(written(torch.save, theirs, **options), weights_only=False)
    assert type(back) is vistorch.nn.Sequential and type(back[0]) is vistorch.nn.Linear
    assert_same(back.state_dict(), theirs.state_dict())
    assert torch.allclose(
        torch.tensor(back(vistorch.ones(2, 3)).tolist()), theirs(torch.ones(2, 3)), rtol=1e-6, atol=1e-6
    )
    back.add_module("more", vistorch.nn.Linear(2, 2))
    assert back(vistorch.ones(1, 3)).shape == (1, 2)


def test_what_has_no_counterpart_says_so():
    data = written(torch.save, torch.ao.quantization.MinMaxObserver())
    with pytest.raises(
        pickle.UnpicklingError,
        match=r"torch\.ao\.quantization\.observer\.MinMaxObserver, which has no counterpart",
    ):
        ours_read(data, weights_only=False)


def test_a_distribution_is_read():
    back = ours_read(written(torch.save, torch.distributions.Normal(1.0, 2.0)), weights_only=False)
    assert type(back) is vistorch.distributions.Normal
    assert (back.loc.item(), back.scale.item()) == (1.0, 2.0)


@pytest.mark.parametrize("kind", ["uint16", "uint32", "uint64", "float8_e5m2", "float8_e4m3fn"])
def test_types_that_are_stored_and_converted(kind):
    values = [0.0, 1.0, 3.0, 40.0]
    theirs = torch.tensor(values).to(getattr(torch, kind))
    back = ours_read(written(torch.save, theirs))
    assert back.dtype is getattr(vistorch, kind) and back.to(vistorch.float32).tolist() == values
    again = torch.load(io.BytesIO(written(vistorch.save, back)))
    assert again.dtype == theirs.dtype and again.float().tolist() == values


def test_sparse_tensors_are_refused():
    data = written(torch.save, torch.eye(2).to_sparse())
    with pytest.raises((RuntimeError, pickle.UnpicklingError), match="sparse"):
        ours_read(data)


class Mine(vistorch.Tensor):
    """A subclass that a person wrote."""


def test_subclasses_of_tensor():
    x = vistorch.arange(3.0)
    x.__class__ = Mine
    x.note = "mine"
    data = written(vistorch.save, x)
    with pytest.raises(pickle.UnpicklingError, match=r"Mine was not an allowed global by default"):
        ours_read(data)
    for back in (
        ours_read(data, weights_only=False),
        _trusting(lambda: ours_read(data)),
    ):
        assert type(back) is Mine and back.note == "mine" and back.tolist() == [0, 1, 2]


def _trusting(call):
    with vistorch.serialization.safe_globals([Mine]):
        return call()


def test_lazy_parameters():
    p = vistorch.nn.UninitializedParameter()
    data = written(vistorch.save, p)
    assert type(theirs_read(data, weights_only=False)) is torch.nn.UninitializedParameter
    assert type(ours_read(data, weights_only=False)) is vistorch.nn.UninitializedParameter


def test_untyped_storages():
    x = vistorch.tensor([1, 2, 3], dtype=vistorch.uint8)
    data = written(vistorch.save, [x, x.untyped_storage()])
    there, here = theirs_read(data), ours_read(data)
    for t, s in (there, here):
        t.fill_(7)
        assert type(s).__name__ == "TypedStorage" and s._untyped_storage.tolist() == [7, 7, 7]


def test_one_memory_of_two_types_is_refused():
    x = vistorch.arange(4.0)
    with pytest.raises(RuntimeError) as ours:
        written(vistorch.save, [x, x.view(vistorch.int32)])
    y = torch.arange(4.0)
    with pytest.raises(RuntimeError) as theirs:
        written(torch.save, [y, y.view(torch.int32)])
    assert str(ours.value) == str(theirs.value)


def test_hooks_are_not_saved_and_it_is_said():
    x = vistorch.ones(2, requires_grad=True)
    x.register_hook(print)
    with pytest.warns(
        UserWarning, match="backward hook <built-in function print> on tensor will not be serialized"
    ):
        data = written(vistorch.save, x)
    assert ours_read(data).requires_grad


def test_numpy_memory_that_no_strides_describe():
    import numpy as np

    record = np.zeros(3, dtype=[("a", "i1"), ("x", "f4")])
    record["x"] = [1, 2, 3]
    x = vistorch.engine.core.tensor.wrap(record["x"])  # strides of 5 bytes
    assert ours_read(written(vistorch.save, x)).tolist() == [1, 2, 3]
    y = vistorch.engine.core.tensor.wrap(np.arange(3.0)[::-1])
    assert theirs_read(written(vistorch.save, y)).tolist() == [2, 1, 0]


def test_two_objects_one_after_another_in_a_legacy_file():
    file = io.BytesIO()
    for value in (vistorch.ones(2), vistorch.zeros(3)):
        vistorch.save(value, file, **LEGACY)
    for load in (torch.load, vistorch.load):
        file.seek(0)
        assert load(file).tolist() == [1, 1] and load(file).tolist() == [0, 0, 0]


def test_an_archive_in_the_middle_of_a_file():
    file = io.BytesIO()
    file.write(b"something before")
    vistorch.save(vistorch.arange(3), file)
    for load in (torch.load, vistorch.load):
        file.seek(16)
        assert load(file).tolist() == [0, 1, 2]
