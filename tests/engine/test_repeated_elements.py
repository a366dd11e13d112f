"""Tensors some of whose elements share memory, detached: leaves of their own, views of which follow a write."""

import copy
import io
import pickle

import numpy as np
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


def _loaded(L, x):
    file = io.BytesIO()
    L.save(x, file)
    file.seek(0)
    return L.load(file)


def _taken(L, x, take):
    made = L.zeros(x.shape)
    take(made, x)
    return made


# Each gives a tensor that is no view and whose elements repeat.
WITHOUT_VIEW = {
    "detach": lambda L, x: x.detach(),
    "data": lambda L, x: x.data,
    "detach_ of data": lambda L, x: x.data.detach_(),
    "deepcopy": lambda L, x: copy.deepcopy(x),
    "copy": lambda L, x: copy.copy(x),
    "pickle": lambda L, x: pickle.loads(pickle.dumps(x)),
    "load": _loaded,
    "empty_strided": lambda L, x: L.empty_strided((2, 3), (0, 1)).fill_(1.0),
    "new_empty_strided": lambda L, x: x.new_empty_strided((2, 3), (0, 1)).fill_(1.0),
    "as_strided_": lambda L, x: L.ones(3).as_strided_((2, 3), (0, 1)),
    "set_": lambda L, x: _taken(L, x, lambda made, x: made.set_(x)),
    "data set": lambda L, x: _taken(L, x, lambda made, x: setattr(made, "data", x)),
    "dlpack": lambda L, x: L.from_dlpack(x),
    "array": lambda L, x: L.from_numpy(
        np.lib.stride_tricks.as_strided(np.ones(3, np.float32), (2, 3), (0, 4))
    ),
    "Parameter": lambda L, x: L.nn.Parameter(x, requires_grad=False),
    "Tensor": lambda L, x: L.Tensor(x),
}


@pytest.mark.parametrize("make", WITHOUT_VIEW)
def test_a_write_to_it_is_refused(make):
    @story
    def test(L, report):
        for write in (
            lambda x: x.add_(1),
            lambda x: x.mul_(x.clone()),
            lambda x: x.exp_(),
            lambda x: x.addcmul_(x.clone(), x.clone()),
            lambda x: L.nn.functional.relu_(x),
            lambda x: x.clamp_(0, 1),
            lambda x: L.add(x.clone(), 1, out=x),
            lambda x: x.copy_(L.ones(2, 3)),
            lambda x: x.fill_(2.0),
        ):
            x = WITHOUT_VIEW[make](L, L.ones(3).expand(2, 3))
            try:
                write(x)
            except RuntimeError as error:
                report(str(error))
            report(x)

    test()


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
