"""Custom functions: the same class text run on both libraries."""

import gc
import weakref

import vistorch
from tests.autograd.functions import inplace, made, square
from tests.autograd.programs import Programs, leaf

programs = Programs()
good, bad = programs.good, programs.bad


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


@bad("RuntimeError")
def saved_input_written(lib):
    x = leaf(lib, 1.0)
    h = x * 2
    y = square(lib).apply(h)
    h.add_(1)
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


@good
def mode_restored_after_errors(lib):
    x = leaf(lib, 1.0)
    for f, b in ((lambda ctx, x: 1 / 0, None), (lambda ctx, x: x * 1, lambda ctx, g: 1 / 0)):
        try:
            made(lib, f, b).apply(x).backward()
        except ZeroDivisionError:
            pass
    return lib.is_grad_enabled(), (x * 2).requires_grad


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
            x, _ = ctx.saved_tensors
            return g * ctx.n * x ** (ctx.n - 1), None

    x = leaf(lib, 1.5)
    y, n = Power.apply(x, n=3)
    z, m = Power.apply(x)
    (g,) = lib.autograd.grad((y * z).sum(), x, create_graph=True)
    (h,) = lib.autograd.grad(g.sum(), x)
    return y, n, z, m, g, h


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
