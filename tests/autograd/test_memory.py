"""Deep graphs, graphs freed by reference counts, and several threads at once."""

import gc
import sys
import threading
import weakref

import pytest

import vistorch


def chain(lib, n):
    x = lib.ones(2, requires_grad=True)
    y = x
    for _ in range(n):
        y = y * 1.0
    return x, y


def test_depth():
    x, y = chain(vistorch, 100_000)
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]
    node = weakref.ref(y.grad_fn.next_functions[0][0])
    gc.disable()
    try:
        del y
        assert node() is None
    finally:
        gc.enable()


def test_depth_through_grad_and_views():
    x = vistorch.ones(2, requires_grad=True)
    y = x * 1.0
    for _ in range(20_000):
        y = y.view(2) + 0.0
    (g,) = vistorch.autograd.grad(y.sum(), x)
    assert g.tolist() == [1.0, 1.0]


def graphs(x):
    def plain():
        return (x * 2).exp() + x.sin()

    def broadcast():
        return (x * vistorch.ones(4, 1)).exp()

    def view():
        y = x * 2
        return y[1:] * y[:2]

    def written():
        y = x * 2
        y[1:].mul_(3)
        y.add_(x)
        return y.exp()

    def packed():
        with vistorch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            return x.exp() * x

    def kept():
        y = x * 2
        y.retain_grad()
        return y.exp()

    return [plain, broadcast, view, written, packed, kept]


@pytest.mark.parametrize("index", range(6))
@pytest.mark.parametrize("run", ["not", "plain", "grad", "recorded"])
def test_freed_by_reference_counts(index, run):
    x = vistorch.ones(3, requires_grad=True)
    build = graphs(x)[index]
    gc.collect()
    gc.disable()
    try:
        y = build()
        gone = [weakref.ref(y), weakref.ref(y.grad_fn), weakref.ref(y.grad_fn.next_functions[0][0])]
        if gone[2]() is x.view(3).grad_fn.next_functions[0][0]:
            gone.pop()  # the leaf's end may live on with x
        if run == "plain":
            y.sum().backward()
        elif run == "grad":
            vistorch.autograd.grad(y.sum(), x)
        elif run == "recorded":
            (g,) = vistorch.autograd.grad(y.sum(), x, create_graph=True)
            vistorch.autograd.grad(g.sum(), x, allow_unused=True)
            del g
        x.grad = None
        del y
        assert [r() for r in gone] == [None] * len(gone)
    finally:
        gc.enable()


def test_threads_add_up_exactly():
    x = vistorch.ones(400_000, requires_grad=True)
    start = threading.Barrier(8)
    failed = []

    def work():
        try:
            start.wait()
            for _ in range(30):
                (x * 1.0 + x * 2.0).sum().backward()
        except Exception as error:  # a thread's error must fail the test
            failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    often = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    finally:
        sys.setswitchinterval(often)
    assert not failed
    assert bool((x.grad == 8 * 30 * 3.0).all())
