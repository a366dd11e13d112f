"""Derivatives of a derivative that is constant, or a constant in pieces: zeros as far as PyTorch gives them.

Invariant: whether a gradient requires grad, and its values, are torch's at every order, up to the same refusal.
"""

import numpy as np
import pytest

import vistorch

torch = pytest.importorskip("torch", reason="torch is the reference of these tests")
FUNCTIONS = {
    "x ** 2": lambda L, x: x**2,
    "x ** 3": lambda L, x: x**3,
    "square": lambda L, x: x.square(),
    "pow(2.0)": lambda L, x: x.pow(2.0),
    "float_power": lambda L, x: L.float_power(x, 2),
    "product": lambda L, x: x * x,
    "relu": lambda L, x: x.relu(),
    "relu_": lambda L, x: (x * 1).relu_(),
    "relu times x": lambda L, x: x.relu() * x,
    "relu6": lambda L, x: L.nn.functional.relu6(x),
    "leaky_relu": lambda L, x: L.nn.functional.leaky_relu(x, 0.1),
    "rrelu": lambda L, x: L.nn.functional.rrelu(x),
    "hardtanh": lambda L, x: L.nn.functional.hardtanh(x),
    "hardswish": lambda L, x: L.nn.functional.hardswish(x * 2),
    "hardshrink": lambda L, x: L.nn.functional.hardshrink(x),
    "softshrink": lambda L, x: L.nn.functional.softshrink(x),
    "threshold": lambda L, x: L.nn.functional.threshold(x, 0.1, 0.0),
    "a network": lambda L, x: L.relu(x @ L.tensor([[1.0, -2.0], [0.5, 1.5]], dtype=L.float64)).sum(),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_as_far_as_in_torch(name):
    def orders(L):
        x = L.tensor([[0.3, -0.7], [1.2, -1.5]], dtype=L.float64, requires_grad=True)
        g, found = FUNCTIONS[name](L, x), []
        for _ in range(5):
            try:
                (g,) = L.autograd.grad(g, x, L.ones_like(g), create_graph=True)
            except RuntimeError as refusal:
                found.append(str(refusal).split(".")[0])
                break
            found.append((g.requires_grad, [[round(v, 12) for v in row] for row in g.tolist()]))
        return found

    assert orders(vistorch) == orders(torch)


def test_a_gradient_penalty_of_a_network_with_relu():
    def penalty(L):
        L.manual_seed(0)
        net = L.nn.Sequential(L.nn.Linear(3, 4), L.nn.ReLU(), L.nn.Linear(4, 1)).double()
        x = L.linspace(-1.0, 1.0, 6, dtype=L.float64).view(2, 3).requires_grad_()
        (g,) = L.autograd.grad(net(x).sum(), x, create_graph=True)
        (g.norm() - 1).square().backward()
        return [x.grad, *[p.grad for p in net.parameters()]]

    for mine, theirs in zip(penalty(vistorch), penalty(torch), strict=True):
        assert (mine is None) == (theirs is None)
        if mine is not None:
            np.testing.assert_allclose(mine.numpy(), theirs.numpy(), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("seed", range(20))
def test_second_derivatives_are_added_up_in_pytorchs_order(seed):
    """A recorded pass numbers its nodes as PyTorch does, so three terms of float32 round to the same sum."""
    x, y, g, v = (np.random.default_rng((seed, i)).uniform(0.3, 2, 16).astype(np.float32) for i in range(4))
    found = []
    for lib in (torch, vistorch):
        a, b = (lib.tensor(z, requires_grad=True) for z in (x, y))
        first = lib.autograd.grad((a / b * lib.tensor(g)).sum(), (a, b), create_graph=True)
        (second,) = lib.autograd.grad(sum((z * lib.tensor(v)).sum() for z in first), b)
        found.append(second.numpy())
    np.testing.assert_array_equal(*found)
