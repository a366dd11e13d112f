"""Packed and padded sequences against torch, alone and through networks.

Invariant: every comparison is with torch on the same numbers.
"""

import copy
import pickle
import warnings
from typing import Any

import numpy as np
import pytest

from tests.ops.library import L, renamed, torch

LENGTHS = ([4, 2, 1], [2, 4, 1], [1, 1, 1], [4, 4, 4])


def sides(*shape: int, grad: bool = False, seed: int = 0) -> list:
    """The same numbers in both libraries."""
    values = np.random.default_rng(seed).uniform(-1, 1, shape)
    return [lib.tensor(values).requires_grad_(grad) for lib in (L, torch)]


def rnn_of(lib: Any) -> Any:
    """The module under test."""
    return lib.nn.utils.rnn


def same(mine: Any, theirs: Any) -> None:
    """Tensors of nested results are equal."""
    if isinstance(theirs, tuple | list):
        assert len(mine) == len(theirs)
        for a, b in zip(mine, theirs, strict=True):
            same(a, b)
    elif theirs is None:
        assert mine is None
    else:
        assert str(mine.dtype).rpartition(".")[2] == str(theirs.dtype).rpartition(".")[2]
        assert tuple(mine.shape) == tuple(theirs.shape)
        np.testing.assert_allclose(mine.detach().numpy(), theirs.detach().numpy(), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("lengths", LENGTHS, ids=str)
def test_pack_and_pad(lengths: list[int], batch_first: bool) -> None:
    """There and back, values and gradients."""
    results = []
    shape = (3, 4, 2) if batch_first else (4, 3, 2)
    for lib, x in zip((L, torch), sides(*shape, grad=True), strict=True):
        rnn = rnn_of(lib)
        p = rnn.pack_padded_sequence(x, lengths, batch_first, enforce_sorted=False)
        padded, found = rnn.pad_packed_sequence(p, batch_first, -1.5, total_length=5)
        weights = lib.arange(padded.numel()).reshape(padded.shape).double().cos()
        (padded * weights).sum().backward()
        results.append([*p, padded, found, x.grad])
        assert type(p.data.grad_fn).__name__ == "PackPaddedSequenceBackward0"
    same(*results)


def test_second_derivatives() -> None:
    """Packing is linear: its gradient can be differentiated again."""
    results = []
    for lib, x in zip((L, torch), sides(4, 3, 2, grad=True), strict=True):
        rnn = rnn_of(lib)
        p = rnn.pack_padded_sequence(x, [4, 2, 1])
        y, _ = rnn.pad_packed_sequence(p)
        (g,) = lib.autograd.grad((y**3).sum(), x, create_graph=True)
        results.append(lib.autograd.grad((g**2).sum(), x))
    same(*results)


def test_sequences() -> None:
    """pad, pack and their inverses, on either side, with types that differ."""
    results = []
    for at, lib in enumerate((L, torch)):
        rnn = rnn_of(lib)
        ts = [sides(n, 2, grad=True, seed=n)[at] for n in (3, 1, 2)]
        p = rnn.pack_sequence(ts, enforce_sorted=False)
        left = rnn.pad_sequence(ts, True, 9.0, "left")
        right = rnn.pad_sequence(ts)
        (left * left).sum().backward()
        lengths = lib.tensor([3, 1, 2])
        results.append(
            [
                *p,
                left,
                right,
                rnn.pad_sequence([ts[0].float(), ts[1]]),
                rnn.pad_sequence(t for t in ts),
                rnn.pad_sequence(ts[0]),
                rnn.unpack_sequence(p),
                rnn.unpad_sequence(right.clone(), lengths),
                rnn.unpad_sequence(right.transpose(0, 1), lengths, batch_first=True),
                rnn.invert_permutation(lib.tensor([2, 0, 1])),
                [t.grad for t in ts],
            ]
        )
    same(*results)
    assert rnn_of(L).invert_permutation(None) is None


def test_unpadding_leaves_its_operand_alone() -> None:
    """Here torch transposes what it was given, and leaves it so."""
    x = L.ones(3, 2, 2)
    rnn_of(L).unpad_sequence(x, L.tensor([3, 1]))
    assert tuple(x.shape) == (3, 2, 2)


CALLS = {
    "unsorted": lambda lib, r: r.pack_padded_sequence(lib.ones(4, 3, 2), [2, 4, 1]),
    "too few": lambda lib, r: r.pack_padded_sequence(lib.ones(4, 3, 2), [4, 2]),
    "zero": lambda lib, r: r.pack_padded_sequence(lib.ones(4, 3, 2), [4, 2, 0]),
    "negative": lambda lib, r: r.pack_padded_sequence(lib.ones(4, 3, 2), [4, 2, -1], enforce_sorted=False),
    "a number": lambda lib, r: r.pack_padded_sequence(lib.ones(4, 3, 2), 5),
    "a matrix": lambda lib, r: r.pack_padded_sequence(lib.ones(4, 3, 2), lib.tensor([[4, 2, 1]])),
    "empty": lambda lib, r: r.pack_padded_sequence(lib.zeros(0, 3, 2), [4, 2, 1]),
    "a vector": lambda lib, r: r.pack_padded_sequence(lib.zeros(3), [3]),
    "too short": lambda lib, r: r.pad_packed_sequence(r.pack_sequence([lib.ones(3)]), total_length=2),
    "nothing": lambda lib, r: r.pad_sequence([]),
    "no sequence": lambda lib, r: r.pad_sequence(5),
    "no tensors": lambda lib, r: r.pad_sequence([1, 2]),
    "features": lambda lib, r: r.pad_sequence([lib.ones(3, 2), lib.ones(2, 3)]),
    "side": lambda lib, r: r.pad_sequence([lib.ones(3, 2)], padding_side="up"),
    "0-d": lambda lib, r: r.pad_sequence([lib.tensor(1.0)]),
    "packed nothing": lambda lib, r: r.pack_sequence([lib.zeros(0, 2)]),
    "no pair": lambda lib, r: r.PackedSequence(lib.ones(3, 2)),
    "list": lambda lib, r: r.PackedSequence([1, 2, 3]),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_errors(call: Any) -> None:
    """Torch's exceptions and sentences."""
    errors = []
    for lib in (L, torch):
        with pytest.raises(Exception) as caught, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call(lib, rnn_of(lib))
        errors.append(caught.value)
    assert type(errors[0]).__name__ == type(errors[1]).__name__
    assert str(errors[0]) == renamed(str(errors[1]))


def test_a_length_beyond_the_input_is_refused() -> None:
    """Torch gives a sequence whose sizes do not fit its data."""
    with pytest.raises(RuntimeError, match="greater than the 4 steps"):
        rnn_of(L).pack_padded_sequence(L.ones(4, 2, 1), [5, 2])


def test_a_packed_sequence() -> None:
    """Its fields, types, text, copies."""
    shown = []
    for lib in (L, torch):
        r = rnn_of(lib)
        p = r.pack_sequence([lib.tensor([1.0, 2.0]), lib.tensor([3.0, 4.0, 5.0])], enforce_sorted=False)
        assert p.to("cpu") is p
        assert p.cpu() is p
        assert p.float() is p
        kinds = [
            str(getattr(p, k)().data.dtype).rpartition(".")[2] for k in ("double", "half", "long", "int")
        ]
        kinds += [str(getattr(p, k)().data.dtype).rpartition(".")[2] for k in ("short", "char", "byte")]
        assert p.double().batch_sizes.dtype == lib.int64
        assert len(p) == 4
        assert p[0] is p.data
        assert not p.is_cuda
        again = pickle.loads(pickle.dumps(p))
        assert type(again) is type(p)
        assert repr(again) == repr(p) == repr(copy.deepcopy(p))
        by_hand = r.PackedSequence(lib.tensor([1.0, 2.0, 3.0]), lib.tensor([2, 1]), lib.tensor([1, 0]))
        shown.append(
            [repr(p), kinds, p._fields, repr(by_hand), repr(r.PackedSequence((p.data, p.batch_sizes)))]
        )
    assert shown[0] == shown[1]


@pytest.fixture
def one_device():
    L.cuda.simulate(1)
    yield
    L.cuda.simulate(None)


def test_batch_sizes_stay_on_the_cpu(one_device) -> None:
    """On a device the data and the indices move."""
    r = rnn_of(L)
    p = r.pack_sequence([L.tensor([1.0, 2.0]), L.tensor([3.0, 4.0, 5.0])], enforce_sorted=False)
    moved = p.to("cuda")
    assert moved.is_cuda
    assert moved.sorted_indices.is_cuda
    assert moved.batch_sizes.device.type == "cpu"
    assert r.pad_packed_sequence(moved)[0].is_cuda
    out, _ = L.nn.GRU(1, 2).to("cuda")(r.PackedSequence(moved.data.unsqueeze(1), *moved[1:]))
    assert out.data.is_cuda
    assert moved.cpu().data.tolist() == p.data.tolist()
    with pytest.raises(ValueError, match="batch_sizes should always be on CPU"):
        r.PackedSequence(p.data, p.batch_sizes.cuda())


NETWORKS = {
    "RNN": {},
    "RNN relu": {"nonlinearity": "relu"},
    "GRU": {"num_layers": 2, "bidirectional": True},
    "GRU bias": {"bias": False, "bidirectional": True},
    "LSTM": {"num_layers": 2, "bidirectional": True},
    "LSTM proj": {"proj_size": 2, "bidirectional": True},
    "LSTM drop": {"num_layers": 2, "dropout": 0.4},
}


@pytest.mark.parametrize("with_state", [False, True])
@pytest.mark.parametrize("lengths", LENGTHS, ids=str)
@pytest.mark.parametrize("kind", NETWORKS)
def test_networks_of_packed_sequences(kind: str, lengths: list[int], with_state: bool) -> None:
    """Outputs, last states, and gradients of input, states and parameters, of first and second order."""
    name, named = kind.partition(" ")[0], NETWORKS[kind]
    results = []
    xs = sides(4, 3, 3, grad=True)
    for at, lib in enumerate((L, torch)):
        lib.manual_seed(5)
        net = getattr(lib.nn, name)(3, 4, **named, dtype=lib.float64)
        ways = named.get("num_layers", 1) * (2 if named.get("bidirectional") else 1)
        hx: Any = None
        leaves = [xs[at], *net.parameters()]
        if with_state:
            hx = [sides(ways, 3, named.get("proj_size", 4), grad=True)[at], sides(ways, 3, 4, grad=True)[at]]
            hx = tuple(hx) if name == "LSTM" else hx[0]
            leaves += list(hx) if name == "LSTM" else [hx]
        packed = rnn_of(lib).pack_padded_sequence(xs[at], lengths, enforce_sorted=False)
        out, last = net(packed, hx)
        last = list(last) if name == "LSTM" else [last]
        total = sum(
            (t * lib.arange(t.numel()).reshape(t.shape).double().sin()).sum() for t in (out.data, *last)
        )
        first = lib.autograd.grad(total, leaves, create_graph=True)
        plain = lib.autograd.grad(total, leaves, retain_graph=True)
        square = sum((g * g).sum() for g in first)
        second = lib.autograd.grad(square, leaves, allow_unused=True)
        results.append(
            [
                *out,
                *last,
                first,
                plain,
                [0 * x if g is None else g for x, g in zip(leaves, second, strict=True)],
            ]
        )
    same(*results)
