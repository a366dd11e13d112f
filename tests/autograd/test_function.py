"""Custom functions: the same class text run on both libraries."""

import gc
import weakref

import pytest

import vistorch
from tests.autograd.both import torch
from tests.autograd.programs import Programs, leaf

programs = Programs()
good, bad = programs.good, programs.bad


def square(lib):
    class Square(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * x * 2

    return Square


def made(lib, forward, backward, **more):
    """A Function from two plain functions."""
    space = {"forward": staticmethod(forward), "backward": staticmethod(backward), **more}
    return type(lib.autograd.Function)("Made", (lib.autograd.Function,), space)


@good
def names(lib):
    x = leaf(lib, 1.0, 2.0)
    y = square(lib).apply(x)
    n = y.grad_fn
    return (n.name(), type(n).__name__, repr(n), y.requires_grad, y.is_leaf, n.next_functions[0][0].name(),
            n.saved_tensors[0] is x, n.needs_input_grad, y.output_nr)  # fmt: skip


@good
def first_and_second_derivative(lib):
    x = leaf(lib, 1.0, 2.0, 3.0)
    y = square(lib).apply(x * 2).exp()
    (g,) = lib.autograd.grad(y.sum(), x, create_graph=True)
    (h,) = lib.autograd.grad(g.sum(), x)
    return y, g, h


@good
def mode_inside(lib):
    seen = []

    def forward(ctx, x):
        seen.append(lib.is_grad_enabled())
        return x * 2

    def backward(ctx, g):
        seen.append((lib.is_grad_enabled(), g.requires_grad))
        return g * 2

    x = leaf(lib, 1.0)
    F = made(lib, forward, backward)
    y = F.apply(x).sum()
    lib.autograd.grad(y, x, retain_graph=True)
    lib.autograd.grad(y, x, create_graph=True)
    return seen


@good
def other_arguments(lib):
    seen = []

    def forward(ctx, a, k, b, name, c=None):
        ctx.k = k
        seen.append(ctx.needs_input_grad)
        return a * k + b

    def backward(ctx, g):
        return g * ctx.k, None, g, None, None

    a, b = leaf(lib, 1.0, 2.0), leaf(lib, 3.0)
    y = made(lib, forward, backward).apply(a, 3, b, "x", lib.tensor([1.0]))
    y.sum().backward()
    return a.grad, b.grad, seen, y.grad_fn.needs_input_grad, len(y.grad_fn.next_functions)


@good
def too_many_nones(lib):
    x = leaf(lib, 1.0)
    made(lib, lambda ctx, x: x * 2, lambda ctx, g: (g, None, None)).apply(x).backward()
    return x.grad


@good
def gradient_broadcasts(lib):
    x = leaf(lib, 1.0)
    made(lib, lambda ctx, x: x * lib.ones(3), lambda ctx, g: g).apply(x).sum().backward()
    return x.grad


@good
def gradient_is_cast(lib):
    x = leaf(lib, 1.0)
    made(lib, lambda ctx, x: x * 2, lambda ctx, g: g.double()).apply(x).sum().backward()
    return x.grad


@good
def no_gradient(lib):
    x, w = leaf(lib, 1.0), leaf(lib, 2.0)
    (made(lib, lambda ctx, x, w: x * w, lambda ctx, g: (None, g)).apply(x, w)).backward()
    return x.grad, w.grad


@good
def several_outputs(lib):
    seen = []

    def forward(ctx, x, y):
        return x * y, 5, x + y, "text", None

    def backward(ctx, *gs):
        seen.append([None if g is None else g.tolist() for g in gs])
        return gs[0] * 2 + gs[2], gs[0] * 3

    x, y = leaf(lib, 2.0), leaf(lib, 3.0)
    a, n, b, s, nothing = made(lib, forward, backward).apply(x, y)
    a.sum().backward(retain_graph=True)
    (a + b * 2).sum().backward()
    return n, s, nothing, a.output_nr, b.output_nr, seen, x.grad, y.grad, type(a.grad_fn).__name__


@good
def one_tuple_and_list(lib):
    x = leaf(lib, 2.0)
    a = made(lib, lambda ctx, x: (x * 2,), lambda ctx, g: (g,)).apply(x)
    b = made(lib, lambda ctx, x: [x * 2], lambda ctx, g: (g,)).apply(x)
    c = made(lib, lambda ctx, x: 3.5, lambda ctx, g: (g,)).apply(x)
    d = made(lib, lambda ctx, x: None, lambda ctx, g: (g,)).apply(x)
    return type(a).__name__, len(a), type(b).__name__, b[0].requires_grad, c, d


@good
def not_materialized(lib):
    seen = []

    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2, x * 3

    def backward(ctx, a, b):
        seen.append((a is None, b is None))
        return b

    x = leaf(lib, 2.0)
    made(lib, forward, backward).apply(x)[1].backward()
    return seen, x.grad


@good
def non_differentiable(lib):
    seen = []

    def forward(ctx, x):
        i = (x * 3).to(lib.int64)
        m = x * 4
        ctx.mark_non_differentiable(m)
        return x * 2, i, m

    def backward(ctx, g, gi, gm):
        seen.append((gi, gm))
        return g * 2

    x = leaf(lib, 2.0)
    y, i, m = made(lib, forward, backward).apply(x)
    y.sum().backward()
    return i, m, i.grad_fn, m.grad_fn, seen, x.grad


@good
def input_returned(lib):
    x = leaf(lib, 2.0)
    y = made(lib, lambda ctx, x: x, lambda ctx, g: g * 3).apply(x)
    y.backward()
    return y is x, y._is_view(), y._base is x, type(y.grad_fn).__name__, x.grad, y.requires_grad


@good
def input_returned_no_grad(lib):
    x, w = leaf(lib, 2.0), lib.tensor([1.0])
    F = made(lib, lambda ctx, x: x, lambda ctx, g: g * 3)
    with lib.no_grad():
        y = F.apply(x)
    z = F.apply(w)
    return y is x, y.requires_grad, y.grad_fn, z is w, z.requires_grad, z._is_view()


@bad("RuntimeError")
def input_returned_and_written(lib):
    x = leaf(lib, 2.0)
    y = made(lib, lambda ctx, x: x, lambda ctx, g: g * 3).apply(x * 1)
    y.mul_(2)


@bad("RuntimeError")
def view_returned_and_written(lib):
    x = leaf(lib, 2.0, 3.0)
    y = made(lib, lambda ctx, x: x.view(2, 1), lambda ctx, g: g.view(2)).apply(x * 1)
    y.mul_(2)


@good
def view_returned(lib):
    x = leaf(lib, 2.0, 3.0)
    y = made(lib, lambda ctx, x: x.view(2, 1), lambda ctx, g: g.view(2) * 5).apply(x)
    y.sum().backward()
    return y, y._is_view(), y._base is x, x.grad


@bad("RuntimeError")
def views_returned_and_written(lib):
    x = leaf(lib, 2.0, 3.0)
    a, _ = made(lib, lambda ctx, x: (x.view(2, 1), x.view(1, 2)), lambda ctx, g, h: g.view(2)).apply(x * 1)
    a.mul_(2)


def inplace(lib):
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    return made(lib, forward, lambda ctx, g: g * 2)


@good
def dirty(lib):
    x = leaf(lib, 2.0)
    h = x * 3
    y = inplace(lib).apply(h)
    name = type(h.grad_fn).__name__
    y.sum().backward()
    return y is h, name, h._version, y, x.grad


@good
def dirty_view(lib):
    x = leaf(lib, 2.0, 5.0)
    h = x * 3
    v = h[:1]
    y = inplace(lib).apply(v)
    names = type(h.grad_fn).__name__, type(v.grad_fn).__name__, y is v, h._version
    (h * lib.tensor([1.0, 10.0])).sum().backward()
    return names, h, x.grad


@good
def dirty_plain(lib):
    x = lib.tensor([2.0])
    y = inplace(lib).apply(x)
    return y is x, x, x._version, x.grad_fn


@good
def dirty_without_grad_beside_grad(lib):
    def forward(ctx, x, w):
        x.mul_(w)
        ctx.mark_dirty(x)
        return x

    x, w = lib.tensor([2.0]), leaf(lib, 3.0)
    y = made(lib, forward, lambda ctx, g: (g, g * 7)).apply(x, w)
    y.sum().backward()
    return y is x, x.requires_grad, w.grad


@bad("RuntimeError")
def dirty_leaf(lib):
    inplace(lib).apply(leaf(lib, 2.0))


@bad("RuntimeError")
def dirty_leaf_view(lib):
    inplace(lib).apply(leaf(lib, 2.0, 3.0)[:1])


@bad("RuntimeError")
def dirty_not_returned(lib):
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x * 1

    made(lib, forward, lambda ctx, g: g).apply(leaf(lib, 2.0) * 1)


@bad("RuntimeError")
def dirty_view_of_several(lib):
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x, x * 2

    made(lib, forward, lambda ctx, g, h: g).apply((leaf(lib, 2.0, 3.0) * 1)[:1])


@good
def dirty_no_input(lib):
    def forward(ctx, x):
        y = x * 2
        ctx.mark_dirty(y)
        return y

    x = leaf(lib, 2.0)
    y = made(lib, forward, lambda ctx, g: g * 2).apply(x)
    return y, y.grad_fn.name()


def dirty_number(lib):
    def forward(ctx, x):
        ctx.mark_dirty(3)
        return x * 2

    made(lib, forward, lambda ctx, g: g).apply(leaf(lib, 2.0))


def non_differentiable_number(lib):
    def forward(ctx, x):
        ctx.mark_non_differentiable(3)
        return x * 2

    made(lib, forward, lambda ctx, g: g).apply(leaf(lib, 2.0))


@good
def output_saved(lib):
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y, None, x)
        return y

    def backward(ctx, g):
        y, nothing, x = ctx.saved_tensors
        assert nothing is None
        return g * y

    x = leaf(lib, 0.5)
    y = made(lib, forward, backward).apply(x)
    (g,) = lib.autograd.grad(y.sum(), x, create_graph=True)
    (h,) = lib.autograd.grad(g.sum(), x, create_graph=True)
    (k,) = lib.autograd.grad(h.sum(), x)
    return g, h, k


@good
def one_of_two_outputs_saved(lib):
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return x * 2, y

    def backward(ctx, a, b):
        (y,) = ctx.saved_tensors
        return a * 2 + b * y

    x = leaf(lib, 0.5)
    a, y = made(lib, forward, backward).apply(x)
    g, gy = lib.autograd.grad((a * y).sum(), (x, y), create_graph=True)
    (h,) = lib.autograd.grad(g.sum(), x, retain_graph=True)
    (hy,) = lib.autograd.grad(g.sum(), y)
    return g, gy, h, hy


@good
def intermediate_saved(lib):
    def forward(ctx, x):
        m = x.exp()
        ctx.save_for_backward(m)
        return m * 2

    x = leaf(lib, 0.5)
    y = made(lib, forward, lambda ctx, g: g * ctx.saved_tensors[0] * 2).apply(x)
    y.backward()
    return x.grad


@bad("RuntimeError")
def saved_input_written(lib):
    x = leaf(lib, 1.0)
    h = x * 2
    y = square(lib).apply(h)
    h.add_(1)
    y.backward()


@bad("RuntimeError")
def saved_output_written(lib):
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    x = leaf(lib, 1.0)
    y = made(lib, forward, lambda ctx, g: g * ctx.saved_tensors[0]).apply(x)
    y.add_(1)
    y.backward()


@bad("RuntimeError")
def twice(lib):
    x = leaf(lib, 1.0)
    y = square(lib).apply(x)
    y.backward()
    y.backward()


@bad("RuntimeError")
def saved_read_after_free(lib):
    y = square(lib).apply(leaf(lib, 1.0))
    y.backward()
    return y.grad_fn.saved_tensors


@good
def twice_with_nothing_saved(lib):
    x = leaf(lib, 1.0)
    y = made(lib, lambda ctx, x: x * 2, lambda ctx, g: g * 2).apply(x)
    y.backward()
    y.backward()
    return x.grad


@good
def twice_without_reading(lib):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    x = leaf(lib, 1.0)
    y = made(lib, forward, lambda ctx, g: g * 2).apply(x)
    y.backward()
    y.backward()
    return x.grad


@bad("TypeError")
def saving_a_number(lib):
    def forward(ctx, x):
        ctx.save_for_backward(x, 3)
        return x * 2

    made(lib, forward, lambda ctx, g: g).apply(leaf(lib, 1.0))


@bad("TypeError")
def saving_an_array(lib):
    import numpy as np

    def forward(ctx, x):
        ctx.save_for_backward(np.ones(2))
        return x * 2

    made(lib, forward, lambda ctx, g: g).apply(leaf(lib, 1.0))


@bad("RuntimeError")
def too_few_gradients(lib):
    made(lib, lambda ctx, x, y: x * y, lambda ctx, g: g).apply(leaf(lib, 1.0), leaf(lib, 1.0)).backward()


@bad("RuntimeError")
def too_many_gradients(lib):
    made(lib, lambda ctx, x: x * 1, lambda ctx, g: (g, g)).apply(leaf(lib, 1.0)).backward()


@bad("RuntimeError")
def gradient_of_a_number(lib):
    made(lib, lambda ctx, k, x: x * k, lambda ctx, g: (g, g)).apply(2, leaf(lib, 1.0)).backward()


@bad("RuntimeError")
def gradient_is_no_tensor(lib):
    made(lib, lambda ctx, x: x * 1, lambda ctx, g: 3).apply(leaf(lib, 1.0)).backward()


@bad("RuntimeError")
def gradient_of_wrong_shape(lib):
    made(lib, lambda ctx, x: x * 1, lambda ctx, g: lib.ones(3)).apply(leaf(lib, 1.0, 2.0)).sum().backward()


@bad("RuntimeError")
def gradient_too_small(lib):
    made(lib, lambda ctx, x: x * 1, lambda ctx, g: lib.ones(1)).apply(leaf(lib, 1.0, 2.0)).sum().backward()


@bad("ZeroDivisionError")
def error_in_backward(lib):
    made(lib, lambda ctx, x: x * 1, lambda ctx, g: 1 / 0).apply(leaf(lib, 1.0)).backward()


@bad("ZeroDivisionError")
def error_in_forward(lib):
    made(lib, lambda ctx, x: 1 / 0, lambda ctx, g: g).apply(leaf(lib, 1.0))


@good
def mode_restored_after_errors(lib):
    x = leaf(lib, 1.0)
    for f, b in ((lambda ctx, x: 1 / 0, None), (lambda ctx, x: x * 1, lambda ctx, g: 1 / 0)):
        try:
            made(lib, f, b).apply(x).backward()
        except ZeroDivisionError:
            pass
    return lib.is_grad_enabled(), (x * 2).requires_grad


@bad("RuntimeError")
def instance_called(lib):
    F = square(lib)
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        f = F()
    f(leaf(lib, 1.0))


@bad("NotImplementedError")
def no_forward(lib):
    class Nothing(lib.autograd.Function):
        pass

    Nothing.apply(leaf(lib, 1.0))


@bad("NotImplementedError")
def no_backward(lib):
    class Nothing(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    Nothing.apply(leaf(lib, 1.0)).backward()


@bad("RuntimeError")
def both_names_of_backward(lib):
    F = made(lib, lambda ctx, x: x * 1, lambda ctx, g: g, vjp=staticmethod(lambda ctx, g: g))
    F.apply(leaf(lib, 1.0)).backward()


@good
def named_vjp(lib):
    class F(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def vjp(ctx, g):
            return g * 2

    x = leaf(lib, 1.0)
    F.apply(x).backward()
    return x.grad


@good
def apart(lib):
    class Power(lib.autograd.Function):
        @staticmethod
        def forward(x, n=2):
            return x**n, n

        @staticmethod
        def setup_context(ctx, inputs, output):
            x, ctx.n = inputs
            ctx.save_for_backward(x, output[0])

        @staticmethod
        def backward(ctx, g, _):
            x, out = ctx.saved_tensors
            return g * ctx.n * x ** (ctx.n - 1), None

    x = leaf(lib, 1.5)
    y, n = Power.apply(x, n=3)
    z, m = Power.apply(x)
    (g,) = lib.autograd.grad((y * z).sum(), x, create_graph=True)
    (h,) = lib.autograd.grad(g.sum(), x)
    return y, n, z, m, g, h


@bad("RuntimeError")
def apart_input_saved_as_is(lib):
    class F(lib.autograd.Function):
        @staticmethod
        def forward(x):
            return x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(inputs[0])

        @staticmethod
        def backward(ctx, g):
            return g

    F.apply(leaf(lib, 1.0))


def once(lib):
    backward = lib.autograd.function.once_differentiable(lambda ctx, g: g * ctx.saved_tensors[0] * 2)

    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    return made(lib, forward, backward)


@good
def once_differentiable(lib):
    x = leaf(lib, 3.0)
    (g,) = lib.autograd.grad(once(lib).apply(x), x)
    (h,) = lib.autograd.grad((once(lib).apply(x) * x).sum(), x, create_graph=True)
    return g, h


@bad("RuntimeError")
def once_differentiable_twice(lib):
    x = leaf(lib, 3.0)
    (g,) = lib.autograd.grad((once(lib).apply(x) * x).sum(), x, create_graph=True)
    g.sum().backward()


@good
def in_no_grad(lib):
    seen = []

    def forward(ctx, x):
        ctx.save_for_backward(x)
        seen.append(ctx.needs_input_grad)
        return x * 2

    x = leaf(lib, 1.0)
    with lib.no_grad():
        y = made(lib, forward, lambda ctx, g: g).apply(x)
    z = made(lib, forward, lambda ctx, g: g).apply(lib.tensor([1.0]))
    return y.requires_grad, y.grad_fn, z.requires_grad, seen


@good
def grad_enabled_inside_forward(lib):
    def forward(ctx, x):
        with lib.enable_grad():
            d = x.detach().requires_grad_()
            y = (d * d).sum()
        ctx.inner, ctx.out = d, y
        return y.detach()

    def backward(ctx, g):
        return lib.autograd.grad(ctx.out, ctx.inner, g)

    x = leaf(lib, 1.0, 4.0)
    made(lib, forward, backward).apply(x).backward()
    return x.grad


@good
def packed(lib):
    log = []

    def pack(t):
        log.append(t.tolist())
        return t.tolist()

    def unpack(values):
        log.append("unpack")
        return lib.tensor(values)

    x = leaf(lib, 1.0, 4.0)
    with lib.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = square(lib).apply(x * 1)
    (g,) = lib.autograd.grad(y.sum(), x, create_graph=True)
    (h,) = lib.autograd.grad(g.sum(), x)
    return g, h, log


@good
def attributes_on_ctx(lib):
    def forward(ctx, x):
        ctx.shape, ctx.dtype, ctx.saved, ctx.edges, ctx.hooks, ctx.seq = "s", "d", "v", "e", "h", "q"
        return x * 2

    def backward(ctx, g):
        return g * len(ctx.shape + ctx.dtype + ctx.saved + ctx.edges + ctx.hooks + ctx.seq)

    x = leaf(lib, 1.0)
    made(lib, forward, backward).apply(x).backward()
    return x.grad


@good
def node_seen_from_backward(lib):
    seen = []

    def backward(ctx, g):
        seen.append((ctx.name(), ctx.next_functions[0][0].name(), ctx.metadata, ctx.needs_input_grad))
        return g

    x = leaf(lib, 1.0)
    y = made(lib, lambda ctx, x: x * 2, backward).apply(x)
    y.grad_fn.metadata["mine"] = 5
    y.backward()
    return seen


@good
def complex_values(lib):
    x = lib.tensor([1.0 + 2.0j], requires_grad=True)
    y = made(lib, lambda ctx, x: x * 2j, lambda ctx, g: g * -2j).apply(x)
    y.abs().sum().backward()
    return x.grad


@good
def hooks_around_it(lib):
    log = []
    x = leaf(lib, 1.0)
    y = square(lib).apply(x)
    y.register_hook(lambda g: (log.append("tensor"), g * 2)[1])
    y.grad_fn.register_prehook(lambda gs: (log.append("pre"), (gs[0] * 3,))[1])
    y.grad_fn.register_hook(lambda gi, go: (log.append(("post", gi, go)), (gi[0] * 5,))[1])
    y.backward()
    return x.grad, log


test_same = programs.test()


@pytest.mark.parametrize("program", [dirty_number, non_differentiable_number], ids=["dirty", "other"])
def test_marking_a_number(program):
    # torch's sentence breaks off before what was given
    with pytest.raises(RuntimeError) as theirs:
        program(torch)
    with pytest.raises(RuntimeError, match=r" (is of type|got) int$") as ours:
        program(vistorch)
    assert str(ours.value).startswith(str(theirs.value))


def test_instantiation_warns():
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        square(vistorch)()


def test_jvp_and_vmap_say_that_they_are_not_there():
    F = square(vistorch)
    with pytest.raises(NotImplementedError, match="jvp function for custom"):
        F.jvp(None)
    with pytest.raises(NotImplementedError, match="vmap"):
        F.vmap(None, None)
    with pytest.raises(TypeError, match="takes no keyword arguments"):
        F.apply(x=vistorch.ones(1))


def test_freed_by_reference_counts():
    F = square(vistorch)
    x = vistorch.ones(3, requires_grad=True)
    gc.disable()
    try:
        y = F.apply(x * 2)
        z = inplace(vistorch).apply(y * 1)
        node, data = weakref.ref(y.grad_fn), weakref.ref(z.grad_fn)
        del y, z
        assert node() is None and data() is None
    finally:
        gc.enable()
