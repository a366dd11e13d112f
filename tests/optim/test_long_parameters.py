"""Steps of long parameters: by oneDNN in blocks that all threads share, by numpy, and by torch.

Invariant: the three agree to rounding, and the first does not depend on the number of threads.
"""

import numpy as np
import pytest

import vistorch
from tests.optim.records import RECORDS
from tests.story import torch
from vistorch.engine.kernels import threads
from vistorch.engine.kernels.fast.switch import onednn
from vistorch.optim import executors

N = executors.BLOCK + 1234
CASES = [
    pytest.param(name, options, id=f"{name}-{i}")
    for name, all_ in RECORDS.items()
    for i, options in enumerate(all_)
    if not options.get("differentiable")
]


def walk(L, name, options, dtype="float32", special=(), n=N, steps=3):
    rng = np.random.default_rng(0)
    start, grads = rng.normal(size=n), rng.normal(size=(steps, n))
    for at, value in enumerate(special):
        grads[1, at * 7] = value
    p = L.nn.Parameter(L.tensor(start).to(getattr(L, dtype)).reshape(2, -1))
    optimizer = getattr(L.optim, name)([p], lr=0.01, **options)
    for g in grads:
        p.grad = L.tensor(g).to(getattr(L, dtype)).reshape(2, -1)
        optimizer.step()
    p = p.detach()
    return (p if p.is_complex() else p.double()).numpy().ravel()


def on(enabled, *args, **more):
    with vistorch.backends.mkldnn.flags(enabled=enabled):
        return walk(vistorch, *args, **more)


@pytest.fixture
def counted(monkeypatch):
    """How many calls went to oneDNN's arithmetic."""
    if not onednn.ready():
        pytest.skip("needs oneDNN")
    calls, chain = [], onednn.arithmetic.chain
    monkeypatch.setattr(onednn.arithmetic, "chain", lambda *a: calls.append(a[0]) or chain(*a))
    return calls


@pytest.mark.parametrize("name, options", CASES)
def test_a_long_parameter_is_stepped_as_by_numpy_and_by_torch(counted, name, options):
    fast, plain = on(True, name, options), on(False, name, options)
    assert counted
    assert np.abs(fast - plain).max() < 1e-5
    assert np.abs(fast - walk(torch, name, options)).max() < 1e-5


@pytest.mark.parametrize("name", ["SGD", "Adam", "RMSprop", "Rprop"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "complex64"])
def test_other_types(name, dtype):
    fast, plain = (on(enabled, name, {}, dtype) for enabled in (True, False))
    np.testing.assert_allclose(fast, plain, rtol=1e-2 if "16" in dtype else 1e-6, atol=1e-6)


@pytest.mark.parametrize("name", ["SGD", "Adam", "RMSprop", "Adagrad"])
def test_special_gradients_stay_where_they_are(counted, name):
    options = {"momentum": 0.9} if name == "SGD" else {}
    special = (np.nan, np.inf, -np.inf, 0.0, 1e30)
    fast, plain = (on(enabled, name, options, special=special) for enabled in (True, False))
    assert counted
    np.testing.assert_array_equal(np.isnan(fast), np.isnan(plain))
    np.testing.assert_allclose(fast, plain, rtol=1e-5, atol=1e-6)
    assert 0 < np.isnan(fast).sum() <= 3


@pytest.mark.parametrize("name", ["SGD", "Adam"])
@pytest.mark.parametrize("n", [executors.BLOCK + 2, 5 * executors.BLOCK + 64, 3 * executors.BLOCK])
def test_the_number_of_threads_changes_no_bit(monkeypatch, name, n):
    found = []
    for count in (1, 2, 4):
        monkeypatch.setattr(threads.state, "asked", count)
        found.append(on(True, name, {"weight_decay": 0.1}, n=n))
    assert (found[0] == found[1]).all() and (found[0] == found[2]).all()


def test_blocks_cover_every_element_and_fit():
    for size in (executors.BLOCK + 1, 10**6, 7 * 10**6 + 3):
        step = executors.Shared.length(size)
        assert step % 64 == 0
        assert -(-size // step) == max(size // (executors.BLOCK * min(threads.count(), 8)), 1)
