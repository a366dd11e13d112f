"""Adafactor and Muon, which look at whole matrices, against torch; SparseAdam says why it is not here."""

import copy
import inspect
import pickle

import numpy as np
import pytest

import vistorch
from tests.optim.test_optimizers import network, values
from tests.story import story, torch

RECORDS = {
    "Adafactor": [
        {},
        {"lr": 0.1},
        {"beta2_decay": -0.5},
        {"eps": (1e-3, 1e-2)},
        {"d": 2.0},
        {"weight_decay": 0.1},
        {"maximize": True},
        {"foreach": True},
        {"foreach": False},
    ],
    "Muon": [
        {},
        {"lr": 0.02},
        {"weight_decay": 0.0},
        {"momentum": 0.5},
        {"nesterov": False},
        {"ns_coefficients": (2.0, -1.5, 0.5)},
        {"eps": 1e-2},
        {"ns_steps": 3},
        {"adjust_lr_fn": "original"},
        {"adjust_lr_fn": "match_rms_adamw"},
    ],
}
CASES = [
    pytest.param(name, options, id=f"{name}-{i}")
    for name, all_ in RECORDS.items()
    for i, options in enumerate(all_)
]


def walk(L, name, options, steps, dtype="float64"):
    net, loss = network(L, dtype)
    params = [p for p in net.parameters() if p.ndim == 2 or name != "Muon"]
    optimizer = getattr(L.optim, name)(params, **options)
    for _ in range(steps):
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()
    return net, optimizer, loss


@pytest.mark.parametrize("name, options", CASES)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_fifty_steps(name, options, dtype):
    ours, theirs = (values(walk(L, name, options, 50, dtype)[0]) for L in (vistorch, torch))
    if name == "Muon":
        # it computes in bfloat16, of 8 binary digits: a last digit that comes out otherwise is 1/128 of a step
        step = options.get("lr", 1e-3) * 8 if "adjust_lr_fn" in options else options.get("lr", 1e-3)
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=step)
        ours, theirs = (values(walk(L, name, options, 5, dtype)[0]) for L in (vistorch, torch))
    rtol = 1e-10 if dtype == "float64" else 2e-4 if options.get("lr") == 0.1 else 2e-6
    np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("name", RECORDS)
def test_every_option_is_tried(name):
    theirs = list(inspect.signature(getattr(torch.optim, name)).parameters)
    assert list(inspect.signature(getattr(vistorch.optim, name)).parameters) == theirs
    assert set(theirs) - {option for options in RECORDS[name] for option in options} == {"params"}


@pytest.mark.parametrize("name, options", CASES)
def test_texts_and_states(name, options):
    @story(rtol=1e-9, atol=1e-11)
    def compare(L, report):
        _, optimizer, _ = walk(L, name, options, 3)
        report(repr(optimizer), optimizer.defaults, optimizer.state_dict())

    compare()


@pytest.mark.parametrize("name", RECORDS)
def test_states_go_on(name):
    whole = values(walk(vistorch, name, {}, 6)[0])
    for copied in (copy.deepcopy, lambda state: pickle.loads(pickle.dumps(state))):
        net, before, _ = walk(vistorch, name, {}, 3)
        other, optimizer, loss = walk(vistorch, name, {}, 0)
        other.load_state_dict(net.state_dict())
        optimizer.load_state_dict(copied(before.state_dict()))
        for _ in range(3):
            optimizer.zero_grad()
            loss().backward()
            optimizer.step()
        np.testing.assert_allclose(values(other), whole, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", RECORDS)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_shapes_and_types(name, dtype):
    @story(rtol=0.01, atol=0.01)
    def compare(L, report):
        shapes = [(2, 5), (5, 2), (4, 4), (1, 3)] + ([(), (3,), (2, 3, 4)] if name == "Adafactor" else [])
        rng = np.random.default_rng(0)
        ps = [L.nn.Parameter(L.tensor(rng.normal(size=s)).to(getattr(L, dtype))) for s in shapes]
        ps.append(L.nn.Parameter(L.tensor(rng.normal(size=(3, 2))).to(getattr(L, dtype)).t()))
        unused = L.nn.Parameter(L.ones(2, 2))
        opt = getattr(L.optim, name)([*ps, unused], lr=L.tensor(0.02))
        for _ in range(2):
            for p in ps:
                p.grad = (p.detach() * 2 + 0.1).clone()
            report(opt.step(lambda: 3.0))
        report(ps, unused, [p.stride() for p in ps], sorted(opt.state_dict()["state"]))

    compare()


@story
def test_what_does_not_fit(L, report):
    p = L.nn.Parameter(L.ones(2, 2))
    for wrong in (
        *({"lr": lr} for lr in (-1, L.ones(2))),
        {"beta2_decay": 1},
        {"eps": (-1, 1)},
        {"eps": (1, -1)},
        {"d": 0.5},
        {"weight_decay": -1},
    ):
        report.raises(lambda wrong=wrong: L.optim.Adafactor([p], **wrong))
    for wrong in (
        {"lr": -1},
        {"lr": L.ones(2)},
        {"momentum": -1},
        {"weight_decay": -1},
        {"adjust_lr_fn": "no"},
    ):
        report.raises(lambda wrong=wrong: L.optim.Muon([p], **wrong))
    report.raises(lambda: L.optim.Muon([L.nn.Parameter(L.ones(2))]))
    for wrong in ({"ns_steps": 100}, {"ns_coefficients": (1, 2)}):
        p.grad = L.ones(2, 2)
        report.raises(lambda wrong=wrong: L.optim.Muon([p], **wrong).step())
    z = L.nn.Parameter(L.ones(2, 2, dtype=L.complex64))
    z.grad = L.ones_like(z)
    report.raises(lambda: L.optim.Muon([z]).step())
    report.raises(lambda: L.optim.Adafactor([z]).step())
    report(p, z)


def test_the_gradient_stays_as_it_is():
    """Muon in torch scales a bfloat16 buffer, or the gradient, in place."""
    for nesterov in (True, False):
        p = vistorch.nn.Parameter(vistorch.ones(2, 2, dtype=vistorch.bfloat16))
        p.grad = vistorch.full((2, 2), 3.0, dtype=vistorch.bfloat16)
        opt = vistorch.optim.Muon([p], nesterov=nesterov, momentum=0.5)
        opt.step()
        assert p.grad.tolist() == [[3.0, 3.0]] * 2
        assert opt.state[p]["momentum_buffer"].tolist() == [[1.5, 1.5]] * 2


def test_sparse_adam_says_why():
    with pytest.raises(NotImplementedError, match="no sparse gradients: use vistorch"):
        vistorch.optim.SparseAdam([vistorch.nn.Parameter(vistorch.ones(1))])
    theirs = list(inspect.signature(torch.optim.SparseAdam).parameters)
    assert list(inspect.signature(vistorch.optim.SparseAdam).parameters) == theirs
