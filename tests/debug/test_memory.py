"""Bytes that a graph keeps alive."""

import vistorch as L
from vistorch.debug import graph_bytes


def by_name(t):
    return {n.name(): size for n, size in graph_bytes(t).per_node.items()}


def test_each_node_and_all():
    x = L.ones(10, requires_grad=True)
    y = x.exp()  # keeps its output
    z = y.sin()  # keeps its input: the same memory
    found = graph_bytes(z.sum())
    assert by_name(z.sum()) == {"SumBackward0": 0, "SinBackward0": 40, "ExpBackward0": 40}
    assert (found.total, found.leaves, found.opaque) == (40, 0, 0)


def test_what_leaves_own_is_apart():
    w = L.ones(4, 5, requires_grad=True)
    h = L.ones(3, 4)
    y = (h @ w) * w[0]
    found = graph_bytes(y)
    assert by_name(y)["MulBackward0"] == 60  # and w
    assert found.leaves == 80
    assert found.total == 3 * 4 * 4 + 3 * 5 * 4  # h, and the product that mul keeps


def test_a_view_counts_as_the_memory_it_keeps():
    x = L.ones(100, requires_grad=True)
    y = x * 1.0
    assert graph_bytes(y[:1].sin()).total == 400
    assert graph_bytes(y[:1].clone().sin()).total == 4


def test_saved_twice_counts_once():
    x = L.ones(10, requires_grad=True)
    y = x + 1
    assert graph_bytes(y * y).total == 40
    assert graph_bytes((y * y) + y.sin() + y.view(2, 5).cos().view(10)).total == 40


def test_freed_leaves_and_no_graph():
    x = L.ones(10, requires_grad=True)
    y = x.exp().sum()
    y.backward()
    assert graph_bytes(y).total == 0
    assert graph_bytes(x).per_node == {}
    assert graph_bytes(L.ones(3)).total == 0


def test_custom_functions_and_packed_values():
    class Keeps(L.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(x, y)
            return y

        @staticmethod
        def backward(ctx, g):
            return g

    x = L.ones(10, requires_grad=True) * 1.0
    assert by_name(Keeps.apply(x))["KeepsBackward"] == 80
    with L.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        y = (L.ones(10, requires_grad=True) * 1.0).sin()
    found = graph_bytes(y)
    assert (found.total, found.opaque) == (0, 1)


def test_bfloat16():
    x = L.ones(10, dtype=L.bfloat16, requires_grad=True)
    assert graph_bytes(x.exp().sum()).total == 20
