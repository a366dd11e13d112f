"""Hooks on tensors and nodes, retained gradients: order, replacement, removal."""

import gc
import weakref

import vistorch
from tests.autograd.programs import Programs, leaf

programs = Programs()
good = programs.good


@good
def replacing(lib):
    x = leaf(lib, 1.0, 2.0)
    y = x * 3
    y.register_hook(lambda g: g * 2)
    y.register_hook(lambda g: g + 1)
    x.register_hook(lambda g: None)
    x.register_hook(lambda g: g * 10)
    y.sum().backward()
    return x.grad


@good
def removing(lib):
    x = leaf(lib, 1.0)
    a = x.register_hook(lambda g: g * 2)
    b = x.register_hook(lambda g: g * 3)
    a.remove()
    a.remove()
    (x * 1).backward()
    with b:
        (x * 1).backward()
    (x * 1).backward()
    return x.grad


@good
def same_hook_twice(lib):
    x = leaf(lib, 1.0)

    def hook(g):
        return g * 2

    x.register_hook(hook)
    x.register_hook(hook)
    x.backward()
    return x.grad


@good
def registered_while_running(lib):
    x, log = leaf(lib, 1.0), []

    def hook(g):
        log.append("first")
        x.register_hook(lambda g: log.append("second"))

    x.register_hook(hook)
    (x * 1).backward()
    return log


@good
def removed_while_running(lib):
    x, log, handles = leaf(lib, 1.0), [], []

    def hook(g):
        log.append("first")
        handles[1].remove()

    handles.append(x.register_hook(hook))
    handles.append(x.register_hook(lambda g: log.append("second")))
    (x * 1).backward()
    (x * 1).backward()
    return log


@good
def leaf_hook_sees_the_sum(lib):
    x, log = leaf(lib, 1.0), []
    x.register_hook(lambda g: log.append(g.tolist()))
    (x * 1 + x * 2).backward()
    return log


@good
def before_the_graph(lib):
    x, log = leaf(lib, 1.0), []
    x.register_hook(lambda g: log.append(g.tolist()))
    for _ in range(2):
        y = x * 3
        y.backward()
        del y
    return log, x.grad


@good
def all_of_a_leaf(lib):
    x, log = leaf(lib, 1.0), []
    end = (x * 1).grad_fn.next_functions[0][0]
    keep = x * 1  # holds the leaf's node
    end.register_prehook(lambda g: (log.append(("pre", g)), (g[0] * 3,))[1])
    end.register_hook(lambda i, o: log.append(("post", i, o)))
    x.register_post_accumulate_grad_hook(lambda t: log.append(("accumulated", t.grad.clone(), t is x)))
    x.register_hook(lambda g: log.append(("tensor", g)))
    keep.backward()
    return x.grad, log


@good
def all_of_a_node(lib):
    x, log = leaf(lib, 1.0, 2.0), []
    y = x.exp()
    y.grad_fn.register_prehook(lambda g: (log.append(("pre", g)), (g[0] * 2,))[1])
    y.grad_fn.register_prehook(lambda g: log.append(("pre again", g)))
    y.grad_fn.register_hook(lambda i, o: (log.append(("post", i, o)), (i[0] * 3,))[1])
    y.grad_fn.register_hook(lambda i, o: log.append(("post again", i, o)))
    y.register_hook(lambda g: log.append(("tensor", g)))
    y.retain_grad()
    y.register_hook(lambda g: (log.append(("tensor again", g)), g * 7)[1])
    y.sum().backward()
    return x.grad, y.grad, log


@good
def inputs_without_gradient(lib):
    x, w, log = leaf(lib, 1.0), lib.tensor([2.0]), []
    y = w * x
    y.grad_fn.register_hook(lambda i, o: log.append((i, o)))
    y.backward()
    return log


@good
def outputs_of_one_node(lib):
    x, log = leaf(lib, 1.0, 2.0), []
    a, b = x.unbind()
    a.register_hook(lambda g: (log.append("a"), g * 10)[1])
    b.register_hook(lambda g: (log.append("b"), g * 100)[1])
    (a + b).backward()
    return x.grad, sorted(log)


@good
def retained(lib):
    x = leaf(lib, 1.0, 2.0)
    y = x * 3
    y.retain_grad()
    y.retain_grad()
    (y * y).sum().backward(retain_graph=True)
    first = y.grad.clone()
    (y * 2).sum().backward()
    x.retain_grad()
    return first, y.grad, x.grad, y.retains_grad, x.retains_grad, (x * 2).retains_grad


@good
def retained_through_writes(lib):
    x, log = leaf(lib, 1.0, 2.0), []
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: log.append(("old", g)))
    y.mul_(5)
    y.register_hook(lambda g: log.append(("new", g)))
    y.sum().backward()
    return y.grad, y.retains_grad, log, x.grad


@good
def retained_base_written_through_a_view(lib):
    x = leaf(lib, 1.0, 2.0)
    y = x * 2
    v = y[:1]
    v.retain_grad()
    y.retain_grad()
    v.mul_(5)
    y.sum().backward()
    return y.grad, v.grad, x.grad


@good
def retained_view_after_base_was_written(lib):
    x = leaf(lib, 1.0, 2.0)
    y = x * 2
    v = y[:1]
    y.mul_(3)
    v.retain_grad()
    (v * 4).sum().backward()
    return v.grad, x.grad


@good
def during_grad(lib):
    x, log = leaf(lib, 1.0), []
    x.register_hook(lambda g: (log.append("x"), g * 2)[1])
    x.register_post_accumulate_grad_hook(lambda t: log.append("accumulated"))
    y = x * 2
    y.register_hook(lambda g: (log.append("y"), g * 7)[1])
    return lib.autograd.grad(y, x), log, x.grad


@good
def caught_where_hooks_are(lib):
    x, log = leaf(lib, 1.0, 2.0), []
    y = x * 2
    z = y * 3
    y.register_hook(lambda g: (log.append("tensor"), g * 10)[1])
    y.grad_fn.register_prehook(lambda g: (log.append("pre"), (g[0] * 100,))[1])
    y.retain_grad()
    first = lib.autograd.grad(z.sum(), [y], retain_graph=True)
    log.append(y.grad.tolist())
    second = lib.autograd.grad(z.sum(), [y, x])
    return first, second, log, y.grad


@good
def of_what_grad_does_not_need(lib):
    x, w, log = leaf(lib, 1.0), leaf(lib, 1.0), []
    b = w * 2
    b.register_hook(lambda g: log.append("b"))
    w.register_hook(lambda g: log.append("w"))
    return lib.autograd.grad(x * b, x), log


@good
def backward_with_inputs(lib):
    x, w, log = leaf(lib, 1.0), leaf(lib, 1.0), []
    y = x * 2
    for name, t in (("x", x), ("w", w), ("y", y)):
        t.register_hook(lambda g, name=name: log.append(name))
    x.register_post_accumulate_grad_hook(lambda t: log.append("accumulated"))
    (y * w).backward(inputs=[x, y])
    return x.grad, w.grad, y.grad, log


@good
def recorded(lib):
    x = leaf(lib, 3.0)
    y = x * x
    y.register_hook(lambda g: g * 2)
    y.grad_fn.register_hook(lambda i, o: (i[0] * x, i[1]))
    x.register_hook(lambda g: g * g)
    (g,) = lib.autograd.grad(y, x, create_graph=True)
    return g, lib.autograd.grad(g, x)


@good
def grad_mode_inside(lib):
    x, log = leaf(lib, 3.0), []
    y = x * x
    y.register_hook(lambda g: log.append((lib.is_grad_enabled(), g.requires_grad)))
    y.grad_fn.register_hook(lambda i, o: log.append((lib.is_grad_enabled(), i[0].requires_grad)))
    lib.autograd.grad(y, x, retain_graph=True)
    lib.autograd.grad(y, x, create_graph=True)
    return log


@good
def clearing_after_accumulation(lib):
    x, seen = leaf(lib, 1.0, 2.0), []

    def take(t):
        seen.append(t.grad.clone())
        t.grad = None

    h = x.register_post_accumulate_grad_hook(take)
    (x * 2).sum().backward()
    (x * 3).sum().backward()
    h.remove()
    (x * 4).sum().backward()
    return seen, x.grad


@good
def prehook_gives_none(lib):
    x = leaf(lib, 1.0)
    y = x * 2
    y.grad_fn.register_prehook(lambda g: (None,))
    y.backward()
    return x.grad


@good
def posthook_gives_none(lib):
    x = leaf(lib, 1.0)
    y = x.exp()
    y.grad_fn.register_hook(lambda i, o: (None,))
    y.backward()
    return x.grad


@good
def backward_inside_a_hook(lib):
    x, w = leaf(lib, 1.0), leaf(lib, 5.0)

    def hook(g):
        with lib.enable_grad():
            (w * g).sum().backward()

    y = x * 3
    y.register_hook(hook)
    y.backward()
    return x.grad, w.grad


test_same = programs.test()


def test_hook_on_a_view_after_its_base_was_written():
    # torch crashes here: a direct test
    x, log = leaf(vistorch, 1.0, 2.0), []
    y = x * 2
    v = y[:1]
    y.mul_(3)
    v.register_hook(lambda g: log.append(g.tolist()))
    (v * 4).sum().backward()
    assert log == [[4.0]] and x.grad.tolist() == [24.0, 0.0]


def test_hooks_make_no_circle():
    x = vistorch.ones(3, requires_grad=True)
    gc.disable()
    try:
        y = x * 2
        y.retain_grad()
        y.register_hook(lambda g: g * 2)
        y.grad_fn.register_hook(lambda i, o: None)
        h = vistorch.autograd.graph.register_multi_grad_hook((x, y), lambda gs: None)
        z = y.exp()
        z.sum().backward()
        node, tensor = weakref.ref(y.grad_fn), weakref.ref(y)
        del y, z
        assert node() is None and tensor() is None
        h.remove()
        h.remove()
    finally:
        gc.enable()


def test_leaf_with_hooks_is_freed():
    gc.disable()
    try:
        x = vistorch.ones(3, requires_grad=True)
        h = x.register_hook(lambda g: g)
        x.register_post_accumulate_grad_hook(lambda t: None)
        m = vistorch.autograd.graph.register_multi_grad_hook((x,), lambda gs: None)
        (x * 2).sum().backward()
        gone = weakref.ref(x)
        del x
        assert gone() is None
        h.remove()
        m.remove()
    finally:
        gc.enable()
