"""What the outputs of a custom function become: several, none, inputs, views, written inputs, saved ones."""

import pytest

import vistorch
from tests.autograd.both import torch
from tests.autograd.functions import inplace, made
from tests.autograd.programs import Programs, leaf

programs = Programs()
good, bad = programs.good, programs.bad


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
        y, nothing, _ = ctx.saved_tensors
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
def saved_output_written(lib):
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    x = leaf(lib, 1.0)
    y = made(lib, forward, lambda ctx, g: g * ctx.saved_tensors[0]).apply(x)
    y.add_(1)
    y.backward()


test_same = programs.test()


@pytest.mark.parametrize("program", [dirty_number, non_differentiable_number], ids=["dirty", "other"])
def test_marking_a_number(program):
    # torch's sentence breaks off before what was given
    with pytest.raises(RuntimeError) as theirs:
        program(torch)
    with pytest.raises(RuntimeError, match=r" (is of type|got) int$") as ours:
        program(vistorch)
    assert str(ours.value).startswith(str(theirs.value))
