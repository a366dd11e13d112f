"""Tensors some of whose elements share memory, detached: leaves of their own, views of which follow a write."""

import pytest

import vistorch
from tests.story import story

torch = pytest.importorskip("torch", reason="torch is the reference of these tests")


@pytest.mark.parametrize("view", ["view_as", "row", "diagonal"])
def test_a_view_of_a_detached_expanded_leaf_gives_it_its_gradient(view):
    @story
    def test(L, report):
        base = L.ones(3, 3)
        leaf = base.expand(2, 3, 3).detach().requires_grad_()
        seen = {
            "view_as": lambda: leaf.view_as(leaf),
            "row": lambda: leaf[0],
            "diagonal": lambda: leaf.diagonal(0, 1, 2),
        }[view]()
        report(seen._base is leaf, leaf._base is None, leaf.is_leaf, leaf.requires_grad)
        base.tanh_()
        (seen.sum() * 9).backward()
        report(leaf.grad, seen)

    test()


@story
def test_a_write_to_it_is_refused(L, report):
    for make in (lambda x: x.detach(), lambda x: x.data):
        x = make(L.ones(3).expand(2, 3))
        try:
            x.add_(1)
        except RuntimeError as error:
            report(str(error))
        report(x)


@story
def test_what_is_copied_to_itself_counts_as_written(L, report):
    base = L.ones(3)
    x = base.expand(2, 3)
    report(x.copy_(x) is x, base._version, x)


@pytest.mark.parametrize("shape", [(), (1,), (2,)], ids=str)
def test_a_hook_that_writes_a_gradient_writes_what_is_asked_for(shape):
    @story
    def test(L, report):
        x = L.ones(shape, requires_grad=True)
        y = x * 2
        y.register_hook(lambda g: (g.add_(1), None)[1])
        loss = (y * y).sum()
        for graph in (False, True):
            report(*L.autograd.grad(loss, [x, y], retain_graph=True, create_graph=graph))

    test()


def _with_data(L, e):
    x = L.ones(2, 3)
    x.data = e
    return x


MADE_OF_EXPANDED = {
    "Parameter": lambda L, e: L.nn.Parameter(e),
    "Parameter of detach": lambda L, e: L.nn.Parameter(e.detach()),
    "Parameter reshaped": lambda L, e: L.nn.Parameter(e.detach(), requires_grad=False).t_(),
    "data of a Parameter": lambda L, e: L.nn.Parameter(e).data,
    "Buffer": lambda L, e: L.nn.Buffer(e),
    "detach": lambda L, e: e.detach(),
    "data": lambda L, e: e.data,
    "other data": _with_data,
    "set_": lambda L, e: L.ones(2, 3).set_(e),
    "from_dlpack": lambda L, e: L.from_dlpack(e),
    "from_numpy": lambda L, e: L.from_numpy(e.numpy()),
}


@pytest.mark.parametrize("name", MADE_OF_EXPANDED)
def test_whatever_is_made_of_expanded_memory_refuses_a_write(name):
    for L in (vistorch, torch):
        for write in (lambda p: p.add_(1.0), lambda p: p.mul_(p.detach() * 2), lambda p: p.sin_()):
            e = L.ones(3).expand(2, 3)
            made = MADE_OF_EXPANDED[name](L, e)
            with (
                L.no_grad(),
                pytest.raises(RuntimeError, match="more than one element of the written-to tensor"),
            ):
                write(made)
            assert e.tolist() == [[1.0] * 3] * 2


def test_a_leaf_on_expanded_memory_is_a_leaf():
    for L in (vistorch, torch):
        p = L.nn.Parameter(L.ones(3).expand(2, 3))
        q = L.ones(2, 3, requires_grad=True)
        q.data = L.ones(3).expand(2, 3)
        for x in (p, q):
            assert x.requires_grad and x.is_leaf and not x._is_view()
            (x * 2).sum().backward()
            assert x.grad.tolist() == [[2.0] * 3] * 2
            x.requires_grad_(False)
            assert not x.requires_grad
