"""Parametrizations: texts, names in state dicts, values, gradients and sentences as torch's."""

import copy
import importlib
import pickle

import numpy as np
import pytest

import vistorch
from tests.story import story


def tools(L):
    return importlib.import_module(f"{L.__name__}.nn.utils.parametrize")


def kinds(L):
    """Parametrizations of several kinds."""

    class Symmetric(L.nn.Module):
        def forward(self, X):
            return X.triu() + X.triu(1).transpose(-1, -2)

        def right_inverse(self, A):
            return A.triu()

    class Double(L.nn.Module):
        def forward(self, X):
            return 2 * X

        def right_inverse(self, A):
            return A / 2

    class Blind(L.nn.Module):
        def forward(self, X):
            return X.tanh()

    class Pair(L.nn.Module):
        def forward(self, a, b):
            return a @ b

        def right_inverse(self, A):
            return A[:, :1].clone(), A[:1].clone()

    class Returns(L.nn.Module):
        def __init__(self, forward, inverse=None):
            super().__init__()
            self.forward = forward
            if inverse is not None:
                self.right_inverse = inverse

    return Symmetric, Double, Blind, Pair, Returns


@story
def test_one_parametrization(L, report):
    P, (Symmetric, Double, *_) = tools(L), kinds(L)
    net = L.nn.Sequential(L.nn.Linear(3, 3), L.nn.ReLU())
    layer = net[0]
    weight = layer.weight
    x = L.linspace(-1, 1, 6).view(2, 3)
    report(P.register_parametrization(layer, "weight", Symmetric()) is layer, repr(net), layer.weight)
    report(
        list(layer.state_dict()),
        [n for n, _ in layer.named_parameters()],
        [n for n, _ in net.named_modules()],
    )
    report(
        type(layer).__name__,
        type(layer),
        P.type_before_parametrizations(layer),
        isinstance(layer, L.nn.Linear),
    )
    report(P.is_parametrized(layer), P.is_parametrized(layer, "weight"), P.is_parametrized(layer, "bias"))
    report(layer.parametrizations.weight.original is weight, layer.parametrizations.weight.is_tensor)
    net(x).sum().backward()
    report(weight.grad)
    P.register_parametrization(layer, "weight", Double())
    P.register_parametrization(layer, "bias", Double())
    report(repr(layer), layer.weight, layer.bias, net(x))
    layer.weight = L.eye(3)
    report(layer.weight, layer.parametrizations.weight.original, layer.parametrizations.weight[1].training)
    layer.bias = L.ones(3)
    report(list(layer.state_dict()), layer.state_dict(), "weight" in dir(layer))
    report(repr(P.remove_parametrizations(layer, "weight")), layer.weight, layer.weight is weight)
    report(repr(P.remove_parametrizations(layer, "bias", leave_parametrized=False)), layer.bias, type(layer))
    report(P.is_parametrized(layer), hasattr(layer, "parametrizations"), sorted(layer.state_dict()))


@story
def test_of_several_tensors(L, report):
    P, (_, Double, _, Pair, _) = tools(L), kinds(L)
    layer = L.nn.Linear(2, 3)
    P.register_parametrization(layer, "weight", Pair())
    report(repr(layer), list(layer.state_dict()), layer.weight, layer.parametrizations.weight.ntensors)
    P.register_parametrization(layer, "weight", Double())
    layer.weight = L.ones(3, 2) * 4
    report(layer.state_dict(), layer.weight)
    layer.weight.sum().backward()
    report([p.grad for p in layer.parameters()], [type(p) for p in layer.parameters()])
    report.raises(lambda: P.remove_parametrizations(layer, "weight", leave_parametrized=False))
    P.remove_parametrizations(layer, "weight")
    report(repr(layer), layer.weight, type(layer.weight))


@story
def test_of_buffers(L, report):
    P, (_, Double, _, Pair, _) = tools(L), kinds(L)
    m = L.nn.Module()
    m.register_buffer("a", L.arange(4.0).view(2, 2))
    P.register_parametrization(m, "a", Double())
    report(repr(m), m.a, m.state_dict(), list(m.parameters()), [n for n, _ in m.named_buffers()])
    m.a = L.ones(2, 2)
    report(m.state_dict())
    P.remove_parametrizations(m, "a")
    report(m.state_dict(), type(m.a))
    P.register_parametrization(m, "a", Pair())
    report(m.state_dict())


@story
def test_copies_and_state(L, report):
    P, (_, Double, *_) = tools(L), kinds(L)
    layer = P.register_parametrization(L.nn.Linear(2, 2), "weight", Double())
    again = copy.deepcopy(layer)
    report(repr(again), type(again) is type(layer), again.weight, again.weight is layer.weight)
    with L.no_grad():
        layer.parametrizations.weight.original.fill_(1)
    report(layer.weight, again.weight)
    report(layer.load_state_dict(again.state_dict()), layer.weight)
    report.raises(lambda: layer.load_state_dict(L.nn.Linear(2, 2).state_dict()))
    report.raises(lambda: pickle.dumps(layer))
    report(layer.double().weight, layer.eval().parametrizations.weight[0].training)
    net = L.nn.Sequential(layer, L.nn.Linear(2, 2))
    report(copy.deepcopy(net)[0].weight, repr(net))


@story
def test_cached(L, report):
    P, (*_, Returns) = tools(L), kinds(L)
    calls = []
    layer = L.nn.Linear(2, 2)
    P.register_parametrization(layer, "weight", Returns(lambda X: calls.append(1) or X * 2))
    calls.clear()
    with P.cached():
        with P.cached():
            report(layer.weight is layer.weight, len(calls))
        report(layer.weight is layer.weight, len(calls))
        (layer(L.ones(1, 2)) + layer(L.ones(1, 2))).sum().backward()
    report(layer.weight is layer.weight, len(calls), layer.parametrizations.weight.original.grad)


@story
def test_copies_of_modules_with_slots(L, report):
    P, (_, Double, *_) = tools(L), kinds(L)

    class Slotted(L.nn.Linear):
        __slots__ = ("extra", "unset")

    layer = Slotted(2, 2)
    layer.extra = [1]
    again = copy.deepcopy(P.register_parametrization(layer, "weight", Double()))
    report(again.extra, again.extra is layer.extra, hasattr(again, "unset"))


def test_a_copy_has_a_cache_of_its_own():
    """In torch it shares the original's."""
    P, (_, Double, *_) = tools(vistorch), kinds(vistorch)
    layer = P.register_parametrization(vistorch.nn.Linear(2, 2), "weight", Double())
    again = copy.deepcopy(layer)
    again.weight = vistorch.ones(2, 2)
    with P.cached():
        assert not vistorch.equal(layer.weight, again.weight)
        assert vistorch.equal(again.weight, vistorch.ones(2, 2))


@story
def test_transfer(L, report):
    P, (Symmetric, Double, _, Pair, _) = tools(L), kinds(L)
    a, b, c = (L.nn.Linear(2, 2) for _ in range(3))
    P.register_parametrization(a, "weight", Symmetric())
    P.register_parametrization(a, "weight", Double())
    P.register_parametrization(a, "bias", Double())
    report(repr(P.transfer_parametrizations_and_params(a, b)), b.weight, b.state_dict())
    report(b.parametrizations.weight.original is a.parametrizations.weight.original)
    report(repr(P.transfer_parametrizations_and_params(a, c, "bias")), c.bias)
    report(P.transfer_parametrizations_and_params(L.nn.Linear(1, 1), c) is c)
    d, e = L.nn.Linear(2, 2), L.nn.Module()
    P.register_parametrization(d, "weight", Pair())
    P.transfer_parametrizations_and_params(d, e)
    report(repr(e), e.weight, e.parametrizations.weight.original1 is d.parametrizations.weight.original1)


@story
def test_what_does_not_fit(L, report):
    P, (_, Double, Blind, Pair, Returns) = tools(L), kinds(L)
    layer = L.nn.Linear(2, 3)
    before = layer.weight
    put = P.register_parametrization
    for wrong in (
        Returns(lambda X: 3),
        Returns(lambda X: X[:1]),
        Returns(lambda X: X.double()),
        Returns(lambda X: X, lambda A: 3),
        Returns(lambda X: X, lambda A: A.double()),
        Returns(lambda X, Y: X, lambda A: (A, 3)),
    ):
        report.raises(lambda wrong=wrong: put(layer, "weight", wrong))
        report(repr(layer), layer.weight is before)
    for name in ("no", "in_features"):
        report.raises(lambda name=name: put(layer, name, Double()))
    report.raises(lambda: P.remove_parametrizations(layer, "weight"))
    report.raises(lambda: P.ParametrizationList([], layer.weight))
    put(layer, "weight", Double())
    for wrong in (
        Returns(lambda X: 3),
        Returns(lambda X: X[:1]),
        Returns(lambda X: X.double()),
        Returns(lambda X: X, lambda A: 3),
        Returns(lambda X: X, lambda A: A[:1]),
        Returns(lambda X: X, lambda A: A.double()),
    ):
        report.raises(lambda wrong=wrong: put(layer, "weight", wrong))
    report(repr(layer), layer.weight)
    report.raises(lambda: setattr(layer, "weight", L.ones(3, 2, dtype=L.float64)))
    report.raises(lambda: setattr(layer, "weight", L.nn.Parameter(L.ones(3, 2))))
    report.raises(lambda: P.remove_parametrizations(layer, "bias"))
    report(put(layer, "weight", Returns(lambda X: X[:1]), unsafe=True).weight)
    blind = put(L.nn.Linear(2, 2), "weight", Blind())
    report.raises(lambda: setattr(blind, "weight", L.ones(2, 2)))
    pair = put(L.nn.Linear(2, 2), "weight", Pair())
    inverse = {"now": None}
    pair.parametrizations.weight[0].right_inverse = lambda A: inverse["now"]
    one = L.ones(1, 2)
    for given in (3, one, (one,), (one, 3), (one, one.double())):
        inverse["now"] = given
        report.raises(lambda: setattr(pair, "weight", L.ones(2, 2)))


def test_a_sequence_that_does_not_fit_changes_nothing():
    """In torch the tensors before the one that does not fit are set."""
    P, (*_, Pair, _) = tools(vistorch), kinds(vistorch)
    layer = P.register_parametrization(vistorch.nn.Linear(2, 2), "weight", Pair())
    before = layer.weight.detach()
    layer.parametrizations.weight[0].right_inverse = lambda A: (A[:, :1], 3)
    with pytest.raises(ValueError, match="Got element 1 of type int"):
        layer.weight = vistorch.ones(2, 2)
    assert vistorch.equal(layer.weight, before)


@story
def test_unsafe(L, report):
    P, (*_, Returns) = tools(L), kinds(L)
    m = L.nn.Module()
    m.register_parameter("w", L.nn.Parameter(L.ones(2, 3)))
    P.register_parametrization(
        m, "w", Returns(lambda X: X.t().double(), lambda A: A.t().float()), unsafe=True
    )
    report(m.w, m.parametrizations.w.unsafe, m.parametrizations.w.original)
    m.w = L.zeros(3, 2, dtype=L.float64)
    report(m.w, m.state_dict())
    P.remove_parametrizations(m, "w", leave_parametrized=False)
    report(m.w)


@story
def test_trained(L, report):
    """A symmetric weight stays symmetric while an optimizer changes what it is made of."""
    P, (Symmetric, *_) = tools(L), kinds(L)
    layer = P.register_parametrization(L.nn.Linear(3, 3).double(), "weight", Symmetric())
    opt = L.optim.Adam(layer.parameters(), lr=0.1)
    rng = np.random.default_rng(0)
    x, y = (L.tensor(rng.normal(size=(8, 3))) for _ in range(2))
    for _ in range(10):
        opt.zero_grad()
        ((layer(x) - y) ** 2).mean().backward()
        opt.step()
    report(layer.weight, bool((layer.weight == layer.weight.T).all()))


@pytest.mark.parametrize("names", [("weight",), ("weight", "bias")])
@story
def test_each_module_has_its_own_class(L, report, names):
    P, (_, Double, *_) = tools(L), kinds(L)
    a, b = L.nn.Linear(2, 2), L.nn.Linear(2, 2)
    for name in names:
        P.register_parametrization(a, name, Double())
    report(type(a) is type(b), isinstance(type(b).__dict__.get("weight"), property), repr(b))
    for name in names:
        P.remove_parametrizations(a, name)
    report(type(a) is type(b))
