"""Views and writes through them against torch: one program, run in both libraries, must give the same.

Invariant: a program touches nothing but public names, and returns numbers, names, shapes and sentences.
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


# ---- what a view is ---------------------------------------------------------------------------------------------
@program
def a_view_knows_its_base(L):
    y = leaf(L, 2, 3) * 1
    v = y.select(0, 1)
    w = v.unsqueeze(0)
    return v._base is y, w._base is y, y._base is None, v._is_view(), y._is_view(), v._version, node(w)


@program
def versions_are_shared(L):
    y = L.zeros(2, 3)
    v, d, data = y.t(), y.detach(), y.data
    y.add_(1)
    v.mul_(2)
    d.add_(1)
    seen = y._version, v._version, d._version, data._version
    data.add_(1)
    return seen, y._version, data._version, values(y), d._is_view()


@program
def a_view_of_a_tensor_without_grad_is_a_leaf(L):
    y = L.zeros(2, 3)
    v = y.select(0, 0)
    v.requires_grad_()
    return v.is_leaf, y.requires_grad, sentence(lambda: v.mul_(2)), sentence(lambda: y.mul_(2))


# ---- writes ---------------------------------------------------------------------------------------------------------
@program
def a_view_is_written(L):
    x = leaf(L, 2, 3)
    y = x * 1
    v = y.narrow(1, 1, 2)
    v.mul_(3)
    names = node(y), node(v), y._version, v._version, v._base is y, y.is_leaf
    weighted(L, y)
    return names, values(y), values(v), values(x.grad)


@program
def a_view_is_written_and_used(L):
    x = leaf(L, 2, 3)
    y = x * 1
    v = y.select(0, 1)
    v.mul_(v.clone())
    weighted(L, v * y.select(0, 0))
    return values(y), values(x.grad)


@program
def the_base_is_written(L):
    x = leaf(L, 2, 3)
    y = x * 1
    v = y.t()
    y.exp_()
    names = node(v), v._version
    weighted(L, v)
    return names, values(v), values(x.grad)


@program
def another_view_is_written(L):
    x = leaf(L, 4)
    y = x * 1
    v, w = y.narrow(0, 0, 3), y.narrow(0, 2, 2)
    v.mul_(2)
    w.mul_(3)
    names = node(v), node(w), node(y)
    weighted(L, v * v)
    return names, values(y), values(x.grad)


@program
def a_chain_of_views_is_written(L):
    x = leaf(L, 2, 3, 4)
    y = x * 1
    v = y.permute(2, 0, 1).narrow(0, 1, 2).select(1, 1).transpose(0, 1).unsqueeze(-1)
    v.mul_(3)
    v.squeeze(-1).select(1, 0).add_(1)
    weighted(L, y)
    return values(y), node(v), values(x.grad), v._version


@program
def the_base_is_not_contiguous(L):
    x = leaf(L, 2, 3)
    y = (x * 1).t().clone()  # keeps the strides of the transposed
    v = y.t().view(6).narrow(0, 1, 3)
    v.mul_(v.clone())
    stride = y.stride()
    weighted(L, y)
    return stride, values(y), values(x.grad)


@program
def the_base_is_not_contiguous_and_written(L):
    x = leaf(L, 2, 3)
    y = (x * 1).t().clone()
    v, w = y.t().view(6), y.as_strided((2,), (2,), 1)
    y.mul_(2)
    weighted(L, L.cat([v * v, w]))
    return node(v), node(w), values(x.grad)


@program
def the_gradient_is_not_contiguous(L):
    x = leaf(L, 2, 3)
    y = x * 1
    y.view(6).narrow(0, 2, 2).mul_(5)
    w = L.tensor([[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]], dtype=L.float64)
    (y.t() * w).backward(L.ones(3, 2, dtype=L.float64))
    return values(x.grad)


@program
def a_strided_view_is_written(L):
    x = leaf(L, 3, 3)
    y = x * 1
    v = y.as_strided((2, 2), (4, 1), 1)
    v.mul_(3)
    y.diagonal().mul_(2)
    y.unfold(1, 2, 2).select(1, 0).add_(1)
    names = node(v), node(y)
    weighted(L, y)
    return names, values(y), values(v), values(x.grad)


@program
def a_write_that_needs_no_grad_through_a_view(L):
    y = L.zeros(2, 3, dtype=L.float64)
    v = y.select(0, 0)
    w = leaf(L, 3)
    v.add_(w)  # the base starts to require grad here
    other = y.select(0, 1)
    seen = y.requires_grad, node(y), node(v), other.requires_grad
    weighted(L, y)
    return seen, values(w.grad)


@program
def a_copy_into_a_view(L):
    x, s = leaf(L, 2, 3), leaf(L, 3)
    y = x * 1
    y.select(0, 1).copy_(s)
    weighted(L, y)
    return node(y), values(y), values(x.grad), values(s.grad)


@program
def copies(L):
    x, s = leaf(L, 2, 3), leaf(L, 3)
    y = x * 1
    y.copy_(s)
    seen = node(y), len(y.grad_fn.next_functions)
    weighted(L, y)
    z = L.zeros(2, dtype=L.int64)
    z.copy_(leaf(L, 2))
    return seen, values(s.grad), values(z), z.requires_grad, z._version


# ---- refusals -------------------------------------------------------------------------------------------------------
@program
def leaves_are_not_written(L):
    x = leaf(L, 2, 3)
    v = x.select(0, 0)
    said = [sentence(lambda t=t: t.mul_(2)) for t in (x, v, v.unsqueeze(0))]
    said += [sentence(lambda: x.t_()), sentence(lambda: v.unsqueeze_(0))]
    with L.no_grad():
        x.sub_(1)
        x.select(0, 0).add_(1)
    return said, values(x), x.is_leaf, x._version, node(x)


@program
def saved_values_are_guarded(L):
    x = leaf(L, 3)
    y = x * 1
    z = y.exp()
    z.select(0, 0).add_(1)
    first = sentence(lambda: z.backward(L.ones(3, dtype=L.float64)))
    y = x * 1
    p = y * y
    y.detach().add_(1)
    second = sentence(lambda: p.backward(L.ones(3, dtype=L.float64)))
    y = x * 1
    p = y * y
    y.data.add_(1)
    p.backward(L.ones(3, dtype=L.float64))  # silently the wrong numbers, as there
    return first, second, values(x.grad)


@program
def a_view_that_multiplies_itself(L):
    x = leaf(L, 2, 3)
    y = x * 1
    v = y.select(0, 0)
    v.mul_(v)
    first = sentence(lambda: weighted(L, y))
    y = x * 1
    y.mul_(y)
    return first, sentence(lambda: weighted(L, y))


@program
def outputs_of_many_are_not_written(L):
    x = leaf(L, 4, 2)
    said = []
    for make in (
        lambda y: y.chunk(2),
        lambda y: y.split(2),
        lambda y: y.split([1, 3]),
        lambda y: y.split_with_sizes([1, 3]),
        lambda y: y.unbind(),
    ):
        y = x * 1
        parts = make(y)
        said.append((node(parts[0]), parts[1].output_nr))
        said.append([sentence(lambda p=p: p.mul_(2)) for p in parts[:2]])
        said.append(sentence(lambda p=parts: p[0].select(0, 0).mul_(2)))
        y.mul_(2)
        said.append(sentence(lambda p=parts: p[1] * 2))
    return said


@program
def outputs_of_many_are_written_without_grad(L):
    y = L.zeros(4, 2, dtype=L.float64)
    a, b = y.chunk(2)
    a.add_(1)
    b.mul_(a)
    w = leaf(L, 2)
    said = sentence(lambda: a.mul_(w))
    p = leaf(L, 4, 2)
    with L.no_grad():
        c, d = p.chunk(2)
        c.mul_(0)
        d.mul_(2)
        e = (d * 2).sub_(1)
    return values(y), said, values(p), values(e), p.is_leaf, sentence(lambda: c * w)


@program
def a_stale_output_may_be_read_without_grad(L):
    p = leaf(L, 4, 2)
    a, _ = p.chunk(2)
    with L.no_grad():
        p.add_(1)
        read = values(a * 1)
        a.mul_(2)
    return read, values(p), sentence(lambda: a * 1)


@program
def pieces_of_tensor_split_are_written(L):
    x = leaf(L, 4)
    y = x * 1
    a, b = y.tensor_split(2)
    names = node(a), node(b)
    a.mul_(2)
    b.exp_()
    weighted(L, y)
    return names, values(y), values(x.grad)


@program
def views_made_without_grad(L):
    x, w = leaf(L, 2, 3), leaf(L, 3)
    y = x * 1
    with L.no_grad():
        v = y.select(0, 0)
    said = [v.requires_grad, node(v), sentence(lambda: v.mul_(2)), sentence(lambda: v.unsqueeze(0).mul_(2))]
    with L.no_grad():
        v.mul_(2)
    y.mul_(2)
    said.append(sentence(lambda: v * w))
    q = L.zeros(2, 3, dtype=L.float64)
    with L.no_grad():
        u = q.select(0, 0)
        many = q.unbind()
    said += [sentence(lambda: u.mul_(w)), sentence(lambda: many[0].mul_(w)), values(u.mul_(2))]
    return said, values(y)


@program
def views_made_in_inference_mode(L):
    w = leaf(L, 3)
    q = L.zeros(2, 3, dtype=L.float64)
    with L.inference_mode():
        v = q.select(0, 0)
        made = L.zeros(2, 3)
    said = [v.is_inference(), sentence(lambda: v.mul_(w)), made.is_inference(), made.t().is_inference()]
    return [*said, sentence(lambda: made.add_(1)), sentence(lambda: made.select(0, 0).add_(1))]


@program
def overlapping_writes_are_refused(L):
    x = L.ones(3)
    said = [
        sentence(lambda: x.expand(2, 3).mul_(2)),
        sentence(lambda: x.expand(2, 3).copy_(x)),
        sentence(lambda: x.narrow(0, 1, 2).copy_(x.narrow(0, 0, 2))),
        sentence(lambda: x.narrow(0, 1, 2).add_(x.narrow(0, 0, 2))),
        sentence(lambda: x.unsqueeze(0).expand(1, 3).mul_(2)),  # no element twice: allowed
        sentence(lambda: x.copy_(x)),
    ]
    y = L.ones(2, 3)
    column = y.narrow(1, 2, 1)  # with gaps: torch says nothing
    said.append(sentence(lambda: y.add_(column)))
    said.append(sentence(lambda: y.t().narrow(0, 0, 2).add_(y.t().narrow(0, 1, 2))))
    said.append(sentence(lambda: y.t().add_(y.t().select(1, 0).unsqueeze(1))))
    return said, values(x)


@pytest.mark.parametrize("run", PROGRAMS, ids=lambda f: f.__name__)
def test_as_in_torch(run):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert run(vistorch) == run(torch)


def test_the_harness_sees_a_difference():
    assert sentence(lambda: leaf(vistorch, 2).mul_(2)) != sentence(
        lambda: leaf(torch, 2).select(0, 0).mul_(2)
    )
