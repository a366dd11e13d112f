"""Tensors that become their own views, and second derivatives through writes, against torch.

Invariant: as in test_views.py, a program returns what both libraries must agree on.
"""

import warnings

import pytest

import vistorch
from tests.engine.programs import leaf, node, sentence, values, weighted

torch = pytest.importorskip("torch", reason="torch is the reference of these tests")
PROGRAMS = []


def program(function):
    """Enter a function of a library into the list."""
    PROGRAMS.append(function)
    return function


@program
def in_place_views(L):
    said = []
    for name, arguments in (
        ("squeeze_", ()),
        ("squeeze_", (0,)),
        ("squeeze_", ((0, 2),)),
        ("unsqueeze_", (1,)),
        ("transpose_", (0, 1)),
        ("swapaxes_", (0, 1)),
        ("swapdims_", (1, 2)),
        ("as_strided_", ((2,), (1,))),
    ):
        x = leaf(L, 1, 3, 2)
        y = x * 1
        back = getattr(y, name)(*arguments)
        weighted(L, y * y)
        said.append((name, back is y, tuple(y.shape), node(y), y._version, y._base is None, values(x.grad)))
    return said


@program
def an_in_place_view_of_a_base(L):
    x = leaf(L, 2, 3)
    y = x * 1
    v = y.select(0, 0)
    y.t_()
    v.mul_(3)
    w = y.select(0, 1)
    w.exp_()
    seen = values(y), values(v), tuple(y.shape), y._base is None, y._version
    weighted(L, y)
    return seen, values(x.grad)


@program
def an_in_place_view_of_a_view(L):
    x = leaf(L, 2, 3)
    y = x * 1
    v = y.select(0, 0)
    v.unsqueeze_(0)
    names = node(v), node(y), tuple(v.shape), v._base is y
    v.mul_(3)
    weighted(L, y)
    return names, values(y), values(x.grad)


@program
def an_in_place_view_without_grad(L):
    z = L.zeros(2, 3)
    v = z.select(0, 0)
    z.t_()
    z.add_(1)
    z.requires_grad_()
    return values(v), z.is_leaf, z._base is None, sentence(lambda: z.mul_(2)), sentence(lambda: z.t_())


@program
def detaching_in_place(L):
    x = leaf(L, 2, 3)
    y = x * 1
    v = y.select(0, 0)
    said = sentence(lambda: v.detach_())
    back = y.detach_()
    return said[1][:40], back is y, y.requires_grad, y.is_leaf, v.requires_grad


@program
def resizing(L):
    y = L.tensor([1.0, 2.0, 3.0, 4.0])
    shape = tuple(y.resize_(2, 1).shape), values(y), y._version
    y.resize_((4,))
    again = values(y)
    x = leaf(L, 3)
    y.resize_as_(L.zeros(2, 3))
    grown = tuple(y.shape), values(y.reshape(6).narrow(0, 0, 4))
    return shape, again, grown, sentence(lambda: x.resize_(2)), sentence(lambda: y.resize_(-1))


# ---- second derivatives through writes ------------------------------------------------------------------------------
@program
def second_derivative_through_a_write(L):
    x = leaf(L, 2, 3)
    y = x * 1
    y.select(1, 2).mul_(x.select(1, 0))
    y.t().select(0, 0).copy_(x.select(1, 1) * x.select(1, 2))
    ones = L.ones(2, 3, dtype=L.float64)
    (g,) = L.autograd.grad(y * y, x, ones, create_graph=True)
    (h,) = L.autograd.grad(g * g, x, ones)
    return values(g), values(h)


@pytest.mark.parametrize("run", PROGRAMS, ids=lambda f: f.__name__)
def test_as_in_torch(run):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert run(vistorch) == run(torch)
