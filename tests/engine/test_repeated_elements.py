"""Tensors some of whose elements share memory, detached: leaves of their own, views of which follow a write."""

import pytest

from tests.story import story


@pytest.mark.parametrize("view", ["view_as", "row", "diagonal"])
def test_a_view_of_a_detached_expanded_leaf_gives_it_its_gradient(view):
    @story
    def test(L, tell):
        base = L.ones(3, 3)
        leaf = base.expand(2, 3, 3).detach().requires_grad_()
        seen = {
            "view_as": lambda: leaf.view_as(leaf),
            "row": lambda: leaf[0],
            "diagonal": lambda: leaf.diagonal(0, 1, 2),
        }[view]()
        tell(seen._base is leaf, leaf._base is None, leaf.is_leaf, leaf.requires_grad)
        base.tanh_()
        (seen.sum() * 9).backward()
        tell(leaf.grad, seen)

    test()


@story
def test_a_write_to_it_is_refused(L, tell):
    for make in (lambda x: x.detach(), lambda x: x.data):
        x = make(L.ones(3).expand(2, 3))
        try:
            x.add_(1)
        except RuntimeError as error:
            tell(str(error))
        tell(x)


@story
def test_what_is_copied_to_itself_counts_as_written(L, tell):
    base = L.ones(3)
    x = base.expand(2, 3)
    tell(x.copy_(x) is x, base._version, x)


@pytest.mark.parametrize("shape", [(), (1,), (2,)], ids=str)
def test_a_hook_that_writes_a_gradient_writes_what_is_asked_for(shape):
    @story
    def test(L, tell):
        x = L.ones(shape, requires_grad=True)
        y = x * 2
        y.register_hook(lambda g: (g.add_(1), None)[1])
        loss = (y * y).sum()
        for graph in (False, True):
            tell(*L.autograd.grad(loss, [x, y], retain_graph=True, create_graph=graph))

    test()
