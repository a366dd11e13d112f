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


def watch(tell, name, t):
    """Tell when each kind of hook of a tensor and of its node is called, and with what."""
    t.register_hook(lambda g: tell(name, "tensor", g))
    t.grad_fn.register_prehook(lambda o: tell(name, "before", o))
    t.grad_fn.register_hook(lambda i, o: tell(name, "after", i, o))


@BOTH
@story
def test_the_node_of_an_input_that_is_no_leaf(L, tell, way):
    x = leaf(L)
    y = x.exp()
    watch(tell, "y", y)
    tell(run(L, way, (y * 3).sum(), [y]), x.grad)


@BOTH
@story
def test_leaves_and_others_together(L, tell, way):
    x, w = leaf(L), leaf(L, 2.0, 5.0)
    y = x.exp()
    z = y.sin() * w
    watch(tell, "y", y)
    watch(tell, "z", z)
    for name, t in (("x", x), ("w", w)):
        t.register_hook(lambda g, name=name: tell(name, g))
        t.register_post_accumulate_grad_hook(lambda t, name=name: tell(name, "accumulated"))
    tell(run(L, way, (z * y).sum(), [w, y, z], retain_graph=True), x.grad)
    tell(run(L, way, (z * y).sum(), [y, x]), w.grad)


@BOTH
@story
def test_what_a_pass_frees(L, tell, way):
    x = leaf(L)
    y = x.exp()
    run(L, way, (y * 3).sum(), [y])
    tell.raises(lambda: y.sum().backward())
    tell(x.grad)


@BOTH
@story
def test_a_saved_value_that_was_overwritten(L, tell, way):
    y = leaf(L).exp()
    z = (y * 3).sum()
    y.detach().add_(1)
    tell.raises(lambda: run(L, way, z, [y]))


@BOTH
@story
def test_a_wrong_gradient_of_the_node(L, tell, way):
    class Wrong(L.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            tell("ran", ctx.needs_input_grad)
            return L.ones(5, 7)

    x = leaf(L)
    y = Wrong.apply(x)
    tell.raises(lambda: run(L, way, (y * 3).sum(), [y]))
    tell(x.grad)


@BOTH
@story
def test_saved_values_are_unpacked(L, tell, way):
    x = leaf(L)
    with L.autograd.graph.saved_tensors_hooks(lambda t: tell("pack") or t, lambda t: tell("unpack") or t):
        y = x.exp()
    tell(run(L, way, (y * 2).sum(), [y]))


@BOTH
@story
def test_changed_on_the_way(L, tell, way):
    x = leaf(L)
    y = x * x
    y.retain_grad()
    y.register_hook(lambda g: g * 2)
    y.grad_fn.register_prehook(lambda o: (o[0] * 10,))
    tell(run(L, way, (y * 3).sum(), [y], retain_graph=True), y.grad)
    tell(run(L, way, (y * 3).sum(), [y, x]), y.grad)


@BOTH
@story
def test_one_of_several_outputs(L, tell, way):
    x = leaf(L)
    w = x * 2
    a, b = w.unbind()
    p, q = a * 3, b * 5
    for name, t in (("w", w), ("b", b), ("a", a), ("q", q)):
        t.register_hook(lambda g, name=name: tell(name, g))
    q.grad_fn.register_hook(lambda i, o: tell("q", i))
    a.grad_fn.register_hook(lambda i, o: tell("unbound", i, o))
    tell(run(L, way, p + q, [a], retain_graph=True), x.grad)
    tell(run(L, way, p + q, [a, b]), x.grad)


@story
def test_hooks_of_several_outputs_by_registration(L, tell):
    a, b, c = (leaf(L, 1.0, 2.0, 3.0) * 2).unbind()
    for name, t in (("c", c), ("a", a), ("b", b)):
        t.register_hook(lambda g, name=name: tell(name, g))
    (a + b * 2 + c).backward()


@BOTH
@story
def test_edges_that_nobody_asked_for(L, tell, way):
    """A hook sees None there; what it sees elsewhere is fitted to the edge already."""
    x, w = L.ones(2, 2, requires_grad=True), leaf(L)
    y = x * w
    y.grad_fn.register_hook(lambda i, o: tell(i))
    tell(run(L, way, y.sum(), [w], retain_graph=True), x.grad)
    y.sum().backward()
    z = L.where(w > 1, w, w * 2)
    z.grad_fn.register_hook(lambda i, o: tell(i))
    tell(run(L, way, z.sum(), [w]))


@BOTH
@story
def test_none_cannot_be_replaced(L, tell, way):
    x, w = leaf(L), leaf(L)
    y = x * w
    y.grad_fn.register_hook(lambda i, o: (L.ones(2), L.ones(2)))
    tell.raises(lambda: run(L, way, y.sum(), [w]))


@BOTH
@story
def test_the_root_itself(L, tell, way):
    y = leaf(L).exp().sum()
    watch(tell, "y", y)
    tell(run(L, way, y, [y]))


@story
def test_an_input_given_twice(L, tell):
    x = leaf(L)
    y = x * 3
    a, b, c = L.autograd.grad((y * 1).sum(), [y, x, y], retain_graph=True)
    tell(a, b, c, a is c)
    y.sum().backward(inputs=[y, x, y])
    tell(y.grad, x.grad)


@pytest.mark.filterwarnings("ignore:Using backward:UserWarning")
@BOTH
@story
def test_recorded(L, tell, way):
    x = leaf(L)
    y = x.exp()
    y.grad_fn.register_hook(lambda i, o: tell(i))
    (g,) = run(L, way, (y * y).sum(), [y], create_graph=True)
    tell(g, type(g.grad_fn).__name__, L.autograd.grad(g.sum(), x))


@BOTH
@story
def test_rewritten_in_place(L, tell, way):
    x = leaf(L)
    y = x * 1
    first = y.grad_fn
    y.mul_(3)
    first.register_hook(lambda i, o: tell("first", i))
    watch(tell, "y", y)
    tell(run(L, way, (y * 2).sum(), [y]), x.grad)


@story
def test_the_leaves_of_a_node_by_its_edges(L, tell):
    a, b, c = leaf(L), leaf(L), leaf(L)
    for name, t in (("a", a), ("b", b), ("c", c)):
        t.register_hook(lambda g, name=name: tell(name))
    L.cat([c, b + a, a]).sum().backward()
