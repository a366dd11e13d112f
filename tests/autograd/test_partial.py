"""A backward pass to some tensors only: which nodes run, whose hooks are called, what is freed and refused.

Invariant: an input of `backward` that is no leaf has its node run, as in PyTorch; an input of `grad` has not.
"""

import pytest

from tests.story import story

BOTH = pytest.mark.parametrize("way", ["backward", "grad"])


def leaf(L, *values):
    return L.tensor(values or (1.0, 2.0), requires_grad=True)


def run(L, way, output, inputs, **options):
    """The gradients of `inputs` in one of the two ways."""
    if way == "grad":
        return L.autograd.grad(output, inputs, **options)
    output.backward(inputs=inputs, **options)
    return [t.grad for t in inputs]


def watch(report, name, t):
    """Report when each kind of hook of a tensor and of its node is called, and with what."""
    t.register_hook(lambda g: report(name, "tensor", g))
    t.grad_fn.register_prehook(lambda o: report(name, "before", o))
    t.grad_fn.register_hook(lambda i, o: report(name, "after", i, o))


@BOTH
@story
def test_the_node_of_an_input_that_is_no_leaf(L, report, way):
    x = leaf(L)
    y = x.exp()
    watch(report, "y", y)
    report(run(L, way, (y * 3).sum(), [y]), x.grad)


@BOTH
@story
def test_leaves_and_others_together(L, report, way):
    x, w = leaf(L), leaf(L, 2.0, 5.0)
    y = x.exp()
    z = y.sin() * w
    watch(report, "y", y)
    watch(report, "z", z)
    for name, t in (("x", x), ("w", w)):
        t.register_hook(lambda g, name=name: report(name, g))
        t.register_post_accumulate_grad_hook(lambda t, name=name: report(name, "accumulated"))
    report(run(L, way, (z * y).sum(), [w, y, z], retain_graph=True), x.grad)
    report(run(L, way, (z * y).sum(), [y, x]), w.grad)


@BOTH
@story
def test_what_a_pass_frees(L, report, way):
    x = leaf(L)
    y = x.exp()
    run(L, way, (y * 3).sum(), [y])
    report.raises(lambda: y.sum().backward())
    report(x.grad)


@BOTH
@story
def test_a_saved_value_that_was_overwritten(L, report, way):
    y = leaf(L).exp()
    z = (y * 3).sum()
    y.detach().add_(1)
    report.raises(lambda: run(L, way, z, [y]))


@BOTH
@story
def test_a_wrong_gradient_of_the_node(L, report, way):
    class Wrong(L.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            report("ran", ctx.needs_input_grad)
            return L.ones(5, 7)

    x = leaf(L)
    y = Wrong.apply(x)
    report.raises(lambda: run(L, way, (y * 3).sum(), [y]))
    report(x.grad)


@BOTH
@story
def test_saved_values_are_unpacked(L, report, way):
    x = leaf(L)
    with L.autograd.graph.saved_tensors_hooks(lambda t: report("pack") or t, lambda t: report("unpack") or t):
        y = x.exp()
    report(run(L, way, (y * 2).sum(), [y]))


@BOTH
@story
def test_changed_on_the_way(L, report, way):
    x = leaf(L)
    y = x * x
    y.retain_grad()
    y.register_hook(lambda g: g * 2)
    y.grad_fn.register_prehook(lambda o: (o[0] * 10,))
    report(run(L, way, (y * 3).sum(), [y], retain_graph=True), y.grad)
    report(run(L, way, (y * 3).sum(), [y, x]), y.grad)


@BOTH
@story
def test_one_of_several_outputs(L, report, way):
    x = leaf(L)
    w = x * 2
    a, b = w.unbind()
    p, q = a * 3, b * 5
    for name, t in (("w", w), ("b", b), ("a", a), ("q", q)):
        t.register_hook(lambda g, name=name: report(name, g))
    q.grad_fn.register_hook(lambda i, o: report("q", i))
    a.grad_fn.register_hook(lambda i, o: report("unbound", i, o))
    report(run(L, way, p + q, [a], retain_graph=True), x.grad)
    report(run(L, way, p + q, [a, b]), x.grad)


@story
def test_hooks_of_several_outputs_by_registration(L, report):
    a, b, c = (leaf(L, 1.0, 2.0, 3.0) * 2).unbind()
    for name, t in (("c", c), ("a", a), ("b", b)):
        t.register_hook(lambda g, name=name: report(name, g))
    (a + b * 2 + c).backward()


@BOTH
@story
def test_edges_that_nobody_asked_for(L, report, way):
    """A hook sees None there; what it sees elsewhere is fitted to the edge already."""
    x, w = L.ones(2, 2, requires_grad=True), leaf(L)
    y = x * w
    y.grad_fn.register_hook(lambda i, o: report(i))
    report(run(L, way, y.sum(), [w], retain_graph=True), x.grad)
    y.sum().backward()
    z = L.where(w > 1, w, w * 2)
    z.grad_fn.register_hook(lambda i, o: report(i))
    report(run(L, way, z.sum(), [w]))


@BOTH
@story
def test_none_cannot_be_replaced(L, report, way):
    x, w = leaf(L), leaf(L)
    y = x * w
    y.grad_fn.register_hook(lambda i, o: (L.ones(2), L.ones(2)))
    report.raises(lambda: run(L, way, y.sum(), [w]))


@BOTH
@story
def test_the_root_itself(L, report, way):
    y = leaf(L).exp().sum()
    watch(report, "y", y)
    report(run(L, way, y, [y]))


@story
def test_an_input_given_twice(L, report):
    x = leaf(L)
    y = x * 3
    a, b, c = L.autograd.grad((y * 1).sum(), [y, x, y], retain_graph=True)
    report(a, b, c, a is c)
    y.sum().backward(inputs=[y, x, y])
    report(y.grad, x.grad)


@pytest.mark.filterwarnings("ignore:Using backward:UserWarning")
@BOTH
@story
def test_recorded(L, report, way):
    x = leaf(L)
    y = x.exp()
    y.grad_fn.register_hook(lambda i, o: report(i))
    (g,) = run(L, way, (y * y).sum(), [y], create_graph=True)
    report(g, type(g.grad_fn).__name__, L.autograd.grad(g.sum(), x))


@BOTH
@story
def test_rewritten_in_place(L, report, way):
    x = leaf(L)
    y = x * 1
    first = y.grad_fn
    y.mul_(3)
    first.register_hook(lambda i, o: report("first", i))
    watch(report, "y", y)
    report(run(L, way, (y * 2).sum(), [y]), x.grad)


@story
def test_the_leaves_of_a_node_by_its_edges(L, report):
    a, b, c = leaf(L), leaf(L), leaf(L)
    for name, t in (("a", a), ("b", b), ("c", c)):
        t.register_hook(lambda g, name=name: report(name))
    L.cat([c, b + a, a]).sum().backward()
