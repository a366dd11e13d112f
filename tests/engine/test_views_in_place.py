"""Tensors that become their own views, and second derivatives through writes, against torch.

Invariant: as in test_views.py, a program returns what both libraries must agree on.
"""

import warnings

import numpy as np
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


@program
def a_reshaped_tensor_that_is_written_as_a_whole(L):
    said = []
    for value in (L.tensor(1.5, dtype=L.float64, requires_grad=True), leaf(L, 3), leaf(L, 1, 3) * 2):
        x = leaf(L, 3)
        y = x * 2
        y.unsqueeze_(0)
        y[0:1] = value
        after = y.grad_fn.next_functions
        said.append((node(y), len(after), y._version))
        weighted(L, y * y)
        said.append((values(x.grad), values(value.grad) if value.is_leaf else None))
    return said


@program
def a_hook_of_a_view_does_not_see_a_write_by_index(L):
    said = []
    for write in (
        lambda v: v.__setitem__(v > 3, 0.5),
        lambda v: v.__setitem__(L.tensor([0]), 0.5),
        lambda v: v.__setitem__(0, 0.5),
        lambda v: v.index_put_((L.tensor([0]),), L.tensor(0.5, dtype=L.float64)),
        lambda v: v.index_fill_(0, L.tensor([0]), 0.5),
        lambda v: v.mul_(3),
    ):
        x = leaf(L, 2, 3)
        y = x * 2
        v = y[1]
        v.register_hook(lambda g: g + 10)
        write(v)
        y.sum().backward()
        said.append(values(x.grad))
    return said


@program
def what_no_gradient_needs_of_a_view_made_in_no_grad_may_be_written(L):
    said = []
    for use in (
        lambda v: L.addcmul(v, v, v, value=0.5),
        lambda v: v * v,
    ):
        x = leaf(L, 2, 2)
        with L.no_grad():
            v = x.view(2, 2)
        y = use(v)
        x.detach().mul_(2)
        said.append((y.requires_grad, sentence(lambda y=y: y.sum().backward()), values(x.grad)))
    return said


OLDER_VIEWS = {
    "setitem": lambda L, a, v: a.__setitem__(0, v),
    "setitem by index": lambda L, a, v: a.__setitem__(L.tensor([0]), v),
    "setitem by mask": lambda L, a, v: a.__setitem__(a > 0, v.sum()),
    "copy_": lambda L, a, v: a.copy_(v),
    "mul_": lambda L, a, v: a.mul_(v),
    "mul": lambda L, a, v: a * v,
    "clamp": lambda L, a, v: a.clamp(v),
    "clamp above": lambda L, a, v: a.clamp(max=v),
    "clamp twice": lambda L, a, v: a.clamp(a.detach() - 1, v),
    "where": lambda L, a, v: L.where(a > 0, a, v),
    "lerp": lambda L, a, v: L.lerp(a, a * 2, v),
    "addcmul": lambda L, a, v: L.addcmul(a, a, v),
    "complex": lambda L, a, v: L.complex(a[0], v).abs(),
    "polar": lambda L, a, v: L.polar(a[0].abs(), v).real,
    "linear": lambda L, a, v: L.nn.functional.linear(a, a, v),
    "layer_norm": lambda L, a, v: L.nn.functional.layer_norm(a, (2,), v, v),
    "cat": lambda L, a, v: L.cat([a, v[None]]),
    "index_add": lambda L, a, v: a.index_add(0, L.tensor([0]), v[None]),
}


@pytest.mark.parametrize("name", OLDER_VIEWS)
def test_an_operand_knows_that_its_base_requires_grad_since(name):
    def gradients(L):
        w, x = leaf(L, 2), leaf(L, 2, 2)
        base = L.ones(2, 2, dtype=L.float64)
        view = base[0]
        base.mul_(w)  # nobody has asked the view since
        a = x - 2.0
        out = OLDER_VIEWS[name](L, a, view)
        (a if out is None else out).sum().backward()
        return [L.as_tensor(g.grad).detach().numpy() for g in (w, x)]

    for mine, theirs in zip(gradients(vistorch), gradients(torch), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-14)


@program
def an_operand_that_is_an_older_view_made_in_no_grad(L):
    x = leaf(L, 2, 2)
    base = x * 2
    with L.no_grad():
        row = base[:1]
    base.mul_(3)
    a, b = x.sin(), x.sin()
    return sentence(lambda: a.__setitem__(0, row)), sentence(lambda: b.clamp(row))


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


def test_an_expanded_tensor_that_is_copied_to_itself_keeps_its_history():
    for L in (vistorch, torch):
        x = leaf(L, 3)
        y = (x * 2).expand(2, 3)
        y.copy_(y)
        assert (node(y), y._version, y.tolist()) == ("AsStridedBackward0", 1, [[2.0, 4.0, 6.0]] * 2)
        if L is torch:  # whose backward pass writes to expanded memory
            with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
                y.sum().backward()
        else:
            weighted(L, y)
            assert values(x.grad) == [3.5, 4.5, 5.5]
    x = leaf(vistorch, 1)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        (view := x.expand(3)).copy_(view)


@pytest.mark.parametrize("run", PROGRAMS, ids=lambda f: f.__name__)
def test_as_in_torch(run):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert run(vistorch) == run(torch)
