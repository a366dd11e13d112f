"""What the records of recurrent networks cannot say: torch's sentences for what does not fit, and the node itself.

Invariant: bad calls are in double precision: torch's single-precision LSTM reads beyond its memory.
"""

from typing import Any

import numpy as np
import pytest

from tests.ops.library import L, torch
from vistorch.debug import check_node


def w(lib: Any, *shape: int) -> Any:
    """Numbers of this shape."""
    return lib.tensor(np.random.default_rng(3).uniform(-1, 1, shape))


def gru(lib: Any, x: Any = (5, 2, 3), h: Any = (1, 2, 4), params: Any = None, **changed: Any) -> Any:
    """A call of gru with something changed."""
    weights = params or [(12, 3), (12, 4), (12,), (12,)]
    named = {"bias": True, "layers": 1, "dropout": 0.0, "train": False, "both": False} | changed
    return lib.gru(w(lib, *x), w(lib, *h), [w(lib, *s) for s in weights], *named.values(), False)


def packed(lib: Any, sizes: list, dtype: str = "int64", h: Any = (1, 2, 4)) -> Any:
    """A packed call of gru."""
    weights = [w(lib, *s) for s in ((12, 3), (12, 4), (12,), (12,))]
    sizes = lib.tensor(sizes, dtype=getattr(lib, dtype))
    return lib.gru(w(lib, 5, 3), sizes, w(lib, *h), weights, True, 1, 0.0, False, False)


def lstm(
    lib: Any, hx: Any, params: Any = ((16, 3), (16, 4), (16,), (16,)), bias: bool = True, layers: int = 1
) -> Any:
    """A call of lstm."""
    states = tuple(w(lib, *s) for s in hx)
    return lib.lstm(
        w(lib, 5, 2, 3), states, [w(lib, *s) for s in params], bias, layers, 0.0, False, False, False
    )


BAD = {
    "features": lambda lib: gru(lib, x=(5, 2, 4)),
    "batch": lambda lib: gru(lib, h=(1, 3, 4)),
    "a batch of one": lambda lib: gru(lib, h=(1, 1, 4)),
    "units": lambda lib: gru(lib, h=(1, 2, 5)),
    "layers of the state": lambda lib: gru(lib, h=(2, 2, 4)),
    "no steps": lambda lib: gru(lib, x=(0, 2, 3)),
    "three parameters": lambda lib: gru(lib, params=[(12, 3), (12, 4), (12,)]),
    "one state": lambda lib: lstm(lib, [(1, 2, 4)]),
    "three states": lambda lib: lstm(lib, [(1, 2, 4)] * 3),
    "state features": lambda lib: lstm(lib, [(1, 2, 5), (1, 2, 5)]),
    "state batch": lambda lib: lstm(lib, [(1, 3, 4), (1, 3, 4)]),
    "odd": lambda lib: gru(lib, both=True),
    "sizes of another type": lambda lib: packed(lib, [2, 2, 1], "int32"),
    "float sizes": lambda lib: packed(lib, [2, 2, 1], "float32"),
    "too many rows": lambda lib: packed(lib, [2, 2, 2]),
    "a number": lambda lib: lib.gru(5, 6, 7),
}


@pytest.mark.parametrize("call", BAD.values(), ids=BAD)
def test_what_does_not_fit(call: Any) -> None:
    """Torch's exception, and its sentence where it is not about its own insides."""
    found = []
    for lib in (L, torch):
        with pytest.raises(Exception) as caught:
            call(lib)
        found.append(caught.value)
    mine, theirs = found
    assert type(mine).__name__ == type(theirs).__name__
    if "invalid combination" not in str(theirs):
        assert str(mine) == str(theirs)


def test_sizes_that_no_packed_sequence_has() -> None:
    """Torch computes something; here they are refused."""
    for sizes in ([1, 2, 2], [2, 2], [5]):
        with pytest.raises(RuntimeError, match="batch_sizes"):
            packed(L, sizes)


def small(kind: str) -> tuple:
    """A network of one layer and its operands, leaves in double precision."""
    n = {"lstm": 4, "gru": 3}.get(kind, 1) * 2
    x, params = w(L, 3, 2, 2), [w(L, n, 2), w(L, n, 2), w(L, n), w(L, n)]
    h = w(L, 1, 2, 2)
    leaves = [t.requires_grad_() for t in (x, h, *params)]
    hx = (h, h) if kind == "lstm" else h
    return leaves, getattr(L, kind)(x, hx, params, True, 1, 0.0, False, False, False)


NODES = {
    "lstm": "LstmBackward0",
    "gru": "GruBackward0",
    "rnn_tanh": "RnnBackward0",
    "rnn_relu": "RnnBackward0",
}


@pytest.mark.parametrize("kind", NODES)
def test_one_node_per_layer_that_can_be_checked(kind: str) -> None:
    """Its name, and its gradient by finite differences."""
    _, (out, *_) = small(kind)
    assert out.grad_fn.name() == NODES[kind]
    assert check_node(out.grad_fn).ok


def test_one_tensor_as_two_states() -> None:
    """Their gradients are told apart in a recorded pass, and added as in a plain one."""
    leaves, (out, hn, cn) = small("lstm")
    total = (out * out).sum() + hn.sum() + (cn * cn).sum()
    plain = L.autograd.grad(total, leaves, retain_graph=True)
    recorded = L.autograd.grad(total, leaves, create_graph=True)
    for a, b in zip(plain, recorded, strict=True):
        assert b.requires_grad
        np.testing.assert_allclose(a.numpy(), b.detach().numpy(), rtol=1e-12)


@pytest.mark.parametrize("kind", NODES)
def test_writing_into_the_output_disturbs_no_gradient(kind: str) -> None:
    """What a layer keeps is its own."""
    leaves, (out, *_) = small(kind)
    expected = L.autograd.grad((out * 3).sum(), leaves, retain_graph=True)
    out.mul_(3)
    for a, b in zip(expected, L.autograd.grad(out.sum(), leaves), strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-12)


def test_only_what_is_wanted() -> None:
    """Frozen weights cost nothing, and get nothing."""
    x, h = w(L, 3, 2, 2), w(L, 1, 2, 2)
    params = [w(L, 6, 2), w(L, 6, 2).requires_grad_(), w(L, 6), w(L, 6)]
    out, _ = L.gru(x, h, params, True, 1, 0.0, False, False, False)
    assert [e is not None for e in out.grad_fn.edges] == [False, False, False, True, False, False]
    out.sum().backward()
    assert params[1].grad is not None


def test_nothing_is_kept_where_nothing_is_recorded() -> None:
    """The kernel knows whether a backward pass may follow."""
    seen = []
    from vistorch.engine.base.events import listeners

    before, listeners.op = listeners.op, lambda rule, ins, consts, outs: seen.append((rule.name, len(outs)))
    try:
        with L.no_grad():
            small("lstm")
        small("lstm")
    finally:
        listeners.op = before
    assert [n for name, n in seen if name == "lstm_layer"] == [3, 6]
