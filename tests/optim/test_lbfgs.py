"""LBFGS: the path, the state, the calls of the closure and the sentences as torch's."""

import copy
import importlib
import inspect
import pickle

import numpy as np
import pytest

import vistorch
from tests.optim.test_optimizers import network, values
from tests.story import story, torch
from vistorch.optim.line_search import strong_wolfe

OPTIONS = [
    {},
    {"lr": 0.1},
    {"max_eval": 3},
    {"history_size": 2},
    {"tolerance_grad": 0.05},
    {"tolerance_change": 1e-3},
    {"line_search_fn": "strong_wolfe"},
    {"line_search_fn": "strong_wolfe", "lr": 5.0},
    {"line_search_fn": "strong_wolfe", "max_eval": 4, "history_size": 3},
    {"line_search_fn": "strong_wolfe", "tolerance_change": 1e-2},
]
CASES = [pytest.param(options, id=str(i)) for i, options in enumerate(OPTIONS)]


def walk(L, options, steps=10, dtype="float64", pull=0.1):
    """Fifty directions: ten steps of five, on a loss with one low."""
    net, loss = network(L, dtype)
    optimizer = L.optim.LBFGS(net.parameters(), **{"max_iter": 5, **options})
    noted = []

    def closure():
        optimizer.zero_grad()
        value = loss() + pull * sum((p * p).sum() for p in net.parameters())
        value.backward()
        noted.append(value.item())
        return value

    for _ in range(steps):
        noted.append(optimizer.step(closure).item())
    return net, optimizer, noted, closure


@pytest.mark.parametrize("options", CASES)
@pytest.mark.parametrize(("dtype", "rtol"), [("float64", 1e-8), ("float32", 2e-3)])
def test_fifty_directions(options, dtype, rtol):
    """In float32 the last digits decide when a step ends, so only the place where it ends is compared."""
    ours, theirs = (walk(L, options, dtype=dtype) for L in (vistorch, torch))
    np.testing.assert_allclose(values(ours[0]), values(theirs[0]), rtol=rtol, atol=rtol)
    if dtype == "float64":
        np.testing.assert_allclose(ours[2], theirs[2], rtol=1e-8)


@pytest.mark.parametrize("options", CASES)
def test_states(options):
    @story(rtol=1e-6, atol=1e-8)
    def compare(L, report):
        _, optimizer, _, _ = walk(L, options, steps=2)
        report(repr(optimizer), optimizer.defaults, optimizer.state_dict())

    compare()


def test_every_option_is_tried():
    theirs = list(inspect.signature(torch.optim.LBFGS).parameters)
    assert list(inspect.signature(vistorch.optim.LBFGS).parameters) == theirs
    assert set(theirs) - {name for options in OPTIONS for name in options} == {"params", "max_iter"}


@pytest.mark.parametrize("options", [{}, {"line_search_fn": "strong_wolfe"}])
def test_a_state_of_torch_goes_on_here_and_back(options):
    def converted(L, value):
        if isinstance(value, dict):
            return {k: converted(L, v) for k, v in value.items()}
        if isinstance(value, list):
            return [converted(L, v) for v in value]
        return L.tensor(value.numpy()) if hasattr(value, "numpy") else value

    whole = values(walk(torch, options, steps=4)[0])
    for first, second in ((torch, vistorch), (vistorch, torch)):
        net, before, *_ = walk(first, options, steps=2)
        other, optimizer, _, closure = walk(second, options, steps=0)
        other.load_state_dict({k: second.tensor(v.numpy()) for k, v in net.state_dict().items()})
        optimizer.load_state_dict(converted(second, before.state_dict()))
        for _ in range(2):
            optimizer.step(closure)
        np.testing.assert_allclose(values(other), whole, rtol=1e-6, atol=1e-8)


def test_copies_go_on_alike():
    for copied in (copy.deepcopy, lambda o: pickle.loads(pickle.dumps(o))):
        _, optimizer, _, _ = walk(vistorch, {}, steps=1)
        other = copied(optimizer)
        assert repr(other) == repr(optimizer)
        p = other.param_groups[0]["params"][0]
        before = p.detach().clone()

        def closure(other=other):
            loss = sum((p * p).sum() for p in other.param_groups[0]["params"])
            other.zero_grad()
            loss.backward()
            return loss

        other.step(closure)
        assert not vistorch.equal(p, before)


def searched(L, search, seed):
    """Which places a search along a curve with several lows looks at, and what it finds."""
    rng = np.random.default_rng(seed)
    roots, scale, start = rng.normal(size=4) * 3, 10.0 ** rng.integers(-2, 3), 10.0 ** rng.integers(-3, 3)
    seen = []

    def at(x):
        seen.append(x)
        x = L.tensor(x, dtype=L.float64, requires_grad=True)
        loss = scale * (((x - roots[0]) * (x - roots[1])) ** 2 + roots[2] * (3 * x).sin()) + roots[3] * x
        if seed % 2:  # a kink, at which a cubic is no guide
            loss = loss + 10 * scale * (x - roots[3] / 3).abs() + 1e3 * scale * (x - roots[2]).abs()
        (g,) = L.autograd.grad(loss, x)
        return loss.item(), g.view(1)

    loss, grad = at(0.0)
    d = -grad.sign()
    along = (lambda *given: at(float(given[-1 if L is vistorch else 1] * d)),)
    if L is torch:
        along = *along, None  # where the line begins
    found = search(*along, float(start), d, loss, grad, grad.dot(d), max_ls=seed % 17 + 2)
    return [*map(float, found), *seen]


@pytest.mark.parametrize("seed", range(80))
def test_line_searches(seed):
    theirs = searched(torch, importlib.import_module("torch.optim.lbfgs")._strong_wolfe, seed)
    ours = searched(vistorch, strong_wolfe, seed)
    assert len(ours) == len(theirs)
    np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-8)


@story(rtol=1e-6, atol=1e-8)
def test_hard_valleys(L, report):
    for search in (None, "strong_wolfe"):
        p = L.nn.Parameter(L.tensor([-1.2, 1.0], dtype=L.float64))
        opt = L.optim.LBFGS([p], lr=1 if search else 1e-3, max_iter=8, line_search_fn=search)

        def closure(p=p, opt=opt):
            opt.zero_grad()
            loss = (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2
            loss.backward()
            return loss

        for _ in range(5):
            report(opt.step(closure).detach(), p)


@story
def test_many_kinds_of_parameters(L, report):
    a = L.nn.Parameter(L.ones(2, 3, dtype=L.float64).t())
    b = L.nn.Parameter(L.tensor([1 + 2j, -1j]))
    unused = L.nn.Parameter(L.ones(2, dtype=L.float64))
    opt = L.optim.LBFGS([a, b, unused], lr=L.tensor(0.5), max_iter=3)

    def closure():
        opt.zero_grad()
        loss = ((a - 1.5) ** 2).sum() + (b * b.conj()).real.sum()
        a.grad = ((a.detach() - 1.5) * 2).contiguous()
        b.grad = 2 * b.detach()
        return loss

    report(opt.step(closure).detach(), a, b, unused, opt.step(lambda: closure().item()))


@story
def test_where_a_step_ends_at_once(L, report):
    p = L.nn.Parameter(L.zeros(2))
    opt = L.optim.LBFGS([p])

    def closure():
        opt.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    with L.no_grad():
        report(opt.step(closure).detach(), p, opt.state_dict()["state"])


@story
def test_what_does_not_fit(L, report):
    p, q = (L.nn.Parameter(L.ones(1)) for _ in range(2))
    for wrong in (
        lambda: L.optim.LBFGS([{"params": [p]}, {"params": [q]}]),
        lambda: L.optim.LBFGS([p], lr=-1),
        lambda: L.optim.LBFGS([p], lr=L.ones(2)),
        lambda: L.optim.LBFGS([]),
        lambda: L.optim.LBFGS([p]).step(),
    ):
        report.raises(wrong)
    opt = L.optim.LBFGS([p], line_search_fn="no")

    def closure():
        opt.zero_grad()
        (p * p).sum().backward()
        return (p * p).sum()

    report.raises(lambda: opt.step(closure))
