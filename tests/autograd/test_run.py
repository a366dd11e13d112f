"""`backward` and `grad`: arguments, accumulation, unused inputs, edges, depth, memory, threads."""

import gc
import threading
import weakref

import pytest

import vistorch
from tests.autograd.both import torch
from tests.autograd.programs import Programs, leaf
from vistorch.autograd import run as run_room

programs = Programs()
good, bad = programs.good, programs.bad


@good
def accumulates_in_place(lib):
    x = leaf(lib, 1.0, 2.0)
    (x * 2).sum().backward()
    first = x.grad
    (x * 3).sum().backward()
    return x.grad is first, first, first._version


@good
def gradient_given_is_not_kept(lib):
    x, g = leaf(lib, 1.0, 2.0), lib.ones(2)
    x.backward(g)
    (x + 0).backward(g)
    return x.grad, g, x.grad is g


@good
def two_leaves_do_not_share(lib):
    x, y = leaf(lib, 1.0), leaf(lib, 2.0)
    (x + y).backward()
    x.grad.add_(5)
    return x.grad, y.grad


@good
def grad_of_sum_is_writable(lib):
    x = leaf(lib, 1.0, 2.0)
    x.sum().backward()
    x.grad.mul_(3)
    return x.grad, x.grad.is_contiguous()


@good
def accumulates_recorded(lib):
    x = leaf(lib, 2.0)
    x.grad = lib.ones(1)
    first = x.grad
    (x * x).backward(create_graph=True)
    again = x.grad
    out = again is first, again, again.requires_grad
    x.grad = None
    return out


@good
def keeps_a_grad_with_history(lib):
    x = leaf(lib, 1.0)
    x.grad = lib.ones(1, requires_grad=True) * 2
    g = x.grad
    (x * 2).backward()
    return x.grad is g, x.grad


@good
def retain(lib):
    x = leaf(lib, 2.0)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    return x.grad


@good
def several_outputs(lib):
    x = leaf(lib, 2.0)
    a = x * x
    lib.autograd.backward([a, a * 3], [lib.ones(1), lib.ones(1) * 10])
    return x.grad, lib.autograd.grad([x * 2, x * 3], x, [lib.ones(1), None])


@good
def an_output_twice(lib):
    x = leaf(lib, 2.0)
    y = x * x
    return lib.autograd.grad([y, y], x), lib.autograd.grad([x, x * 2], x)


@good
def an_input_twice(lib):
    x = leaf(lib, 2.0)
    return lib.autograd.grad(x * x, [x, x])


@good
def output_is_input(lib):
    x = leaf(lib, 2.0)
    y = x * 2
    return lib.autograd.grad(x, x), lib.autograd.grad(y, y), lib.autograd.grad(y, [x, y])


@good
def inner_nodes(lib):
    x = leaf(lib, 2.0)
    y = x * 3
    z = y * y
    return lib.autograd.grad(z, [z, y, x])


@good
def of_views(lib):
    x = leaf(lib, 1.0, 2.0, 3.0)
    v = x[1:]
    return lib.autograd.grad((v * v).sum(), [v, x])


@good
def of_written_views(lib):
    x = leaf(lib, 1.0, 2.0, 3.0)
    y = x * 2
    v = y[1:]
    v.mul_(lib.tensor([5.0, 7.0]))
    return lib.autograd.grad((y * y).sum(), [y, x], retain_graph=True), lib.autograd.grad((v * 3).sum(), [v, x])


@good
def unused(lib):
    x, w, v = leaf(lib, 1.0), leaf(lib, 2.0, 3.0), leaf(lib, 4.0)
    y = x * 2
    a = lib.autograd.grad(y, [x, w], retain_graph=True, allow_unused=True)
    b = lib.autograd.grad(y, [x, w, v], retain_graph=True, materialize_grads=True)
    c = lib.autograd.grad(y, [x, w], create_graph=True, materialize_grads=True)
    return a, b, c


@good
def as_a_dict(lib):
    x, w = leaf(lib, 1.0), leaf(lib, 2.0)
    y = x * w
    out = lib.autograd.grad(y, {"x": x, "w": w}, retain_graph=True)
    y.backward(inputs={"x": x})
    return out, x.grad, w.grad


@good
def leaves_other_grads_alone(lib):
    x, w = leaf(lib, 1.0), leaf(lib, 2.0)
    (x * w).backward(inputs=x)
    return x.grad, w.grad


@good
def inputs_that_are_no_leaves(lib):
    x = leaf(lib, 1.0)
    y = x * 2
    (y * 3).backward(inputs=[y])
    return y.grad, x.grad, y.retains_grad


@good
def batched(lib):
    x = leaf(lib, 1.0, 2.0)
    y = x * x
    (g,) = lib.autograd.grad(y, x, lib.tensor([[1.0, 0.0], [0.0, 1.0], [2.0, 3.0]]), is_grads_batched=True)
    return g


@good
def gradient_of_another_float_type(lib):
    x = leaf(lib, 1.0, 2.0)
    (x * 2).backward(lib.ones(2, dtype=lib.float64))
    (g,) = lib.autograd.grad(x * 2, x, lib.ones(2, dtype=lib.float64), create_graph=True)
    return x.grad, g


@good
def seed_with_history(lib):
    x, s = leaf(lib, 2.0), leaf(lib, 5.0)
    (g,) = lib.autograd.grad(x * x, x, s * 2, create_graph=True)
    (plain,) = lib.autograd.grad(x * x, x, s * 2)
    return lib.autograd.grad(g, [s, x]), plain


@good
def third_derivative(lib):
    x = leaf(lib, 0.7)
    y = x.sin() * x.exp()
    out = []
    for _ in range(4):
        (y,) = lib.autograd.grad(y, x, create_graph=True)
        out.append(y.detach())
    return out


@good
def shared_graph(lib):
    x = leaf(lib, 1.0)
    h = x + 2  # saves nothing
    a, b = h + h, h * 4
    a.backward()
    b.backward()
    return x.grad


@good
def in_no_grad(lib):
    x = leaf(lib, 2.0)
    y = x * x
    with lib.no_grad():
        y.backward(retain_graph=True)
        (g,) = lib.autograd.grad(y, x, create_graph=True)
    return x.grad, g, lib.is_grad_enabled()


@good
def one_element_counts_as_scalar(lib):
    x = leaf(lib, 2.0)
    (x * x).view(1, 1).backward()
    return x.grad


@good
def double_scalar(lib):
    x = lib.tensor(2.0, dtype=lib.float64, requires_grad=True)
    (x * x).backward()
    return x.grad


@good
def half_leaf(lib):
    x = lib.tensor([2.0, 3.0], dtype=lib.float16, requires_grad=True)
    (x.to(lib.float32) * 3).sum().backward()
    return x.grad


@good
def edges(lib):
    x = leaf(lib, 2.0, 3.0)
    y = x * x
    z = y.exp()
    at = lib.autograd.graph.get_gradient_edge
    from_edge = lib.autograd.grad(z.sum(), [at(y), at(x)], retain_graph=True)
    by_hand = lib.autograd.grad(
        z.sum(), lib.autograd.graph.GradientEdge(y.grad_fn, 0), retain_graph=True
    )
    as_output = lib.autograd.grad(at(y), x, lib.ones(2), retain_graph=True)
    lib.autograd.backward(at(y), lib.ones(2))
    return from_edge, by_hand, as_output, x.grad, at(x).node.name(), at(y).output_nr, at(x)[1:]


@good
def edges_of_several_outputs(lib):
    x = leaf(lib, 2.0, 3.0)
    a, b = x.unbind()
    edge = lib.autograd.graph.get_gradient_edge(b)
    by_hand = lib.autograd.graph.GradientEdge(b.grad_fn, 1)
    out = (a * 2 * b).sum()
    return (
        edge.output_nr,
        lib.autograd.grad(out, [edge, by_hand, b], retain_graph=True),
        lib.autograd.grad(edge, x, lib.tensor(5.0)),
    )


@good
def edge_of_an_output_nobody_holds(lib):
    x = leaf(lib, 2.0, 3.0)
    a, b = x.unbind()
    node, out = b.grad_fn, (a * b) * b
    del a, b
    return lib.autograd.grad(out, lib.autograd.graph.GradientEdge(node, 1))


@good
def walking(lib):
    x = leaf(lib, 2.0)
    y = (x * 2).exp() * x
    names, todo = [], [y.grad_fn]
    while todo:
        n = todo.pop()
        if n is not None:
            names.append(n.name())
            todo += [m for m, _ in n.next_functions]
    return names, y.grad_fn.next_functions[1][0].variable is x, isinstance(y.grad_fn, lib.autograd.graph.Node)


@good
def old_names(lib):
    x = leaf(lib, 2.0)
    lib.autograd.backward(x * x, grad_variables=lib.ones(1))
    g = lib.autograd.grad(x * x, x, only_inputs=False)
    return x.grad, g, isinstance(x, lib.autograd.Variable)


@good
def multi_grad_hook(lib):
    a, b, c = leaf(lib, 2.0), leaf(lib, 3.0), leaf(lib, 4.0)
    log, first = [], []
    h = lib.autograd.graph.register_multi_grad_hook((a, b, c), lambda gs: log.append(list(gs)))
    k = lib.autograd.graph.register_multi_grad_hook((a, b), lambda g: first.append(g), mode="any")
    (a * b).backward()
    (a * b * c).backward()
    h.remove()
    k.remove()
    (a * b * c).backward()
    return log, len(first)


@good
def version_counted(lib):
    x = lib.ones(2)
    lib.autograd.graph.increment_version(x)
    lib.autograd.graph.increment_version([x, x])
    return x._version


@good
def packing(lib):
    log = []

    def pack(t):
        log.append(("pack", t.detach().clone()))
        return t.tolist()

    def unpack(v):
        log.append(("unpack", lib.is_grad_enabled()))
        return lib.tensor(v)

    x = leaf(lib, 1.0, 2.0)
    with lib.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = (x * x).exp()
    (g,) = lib.autograd.grad(y.sum(), x, create_graph=True)
    (h,) = lib.autograd.grad(g.sum(), x)
    return g, h, log


@good
def packing_nested(lib):
    log = []

    def pair(name):
        return lambda t: (log.append(name), t)[1], lambda t: t

    x = leaf(lib, 1.0)
    with lib.autograd.graph.saved_tensors_hooks(*pair("outer")):
        x.exp()
        with lib.autograd.graph.saved_tensors_hooks(*pair("inner")):
            x.exp()
        x.exp()
    x.exp()
    return log


@good
def kept_on_cpu(lib):
    x = leaf(lib, 1.0, 2.0)
    with lib.autograd.graph.save_on_cpu():
        y = x.exp() * x
    y.sum().backward()
    return x.grad


@good
def packing_ends_after_an_error(lib):
    x, log = leaf(lib, 1.0), []
    try:
        with lib.autograd.graph.saved_tensors_hooks(log.append, log.append):
            raise ValueError
    except ValueError:
        x.exp().backward()
    return log, x.grad


@bad("RuntimeError")
def packing_refused(lib):
    with lib.autograd.graph.disable_saved_tensors_hooks("not here"):
        with lib.autograd.graph.saved_tensors_hooks(abs, abs):
            pass


@bad("RuntimeError")
def packing_refused_inside(lib):
    with lib.autograd.graph.saved_tensors_hooks(abs, abs):
        with lib.autograd.graph.disable_saved_tensors_hooks("not here"):
            pass


@bad("RuntimeError")
def pack_writes(lib):
    with lib.autograd.graph.saved_tensors_hooks(lambda t: t.add_(1), lambda t: t):
        (leaf(lib, 1.0) * 2).exp()


@bad("TypeError")
def unpack_gives_a_number(lib):
    with lib.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: 3):
        y = leaf(lib, 1.0).exp()
    y.backward()


@bad("RuntimeError")
def twice(lib):
    y = leaf(lib, 1.0).exp()
    y.backward()
    y.backward()


@bad("RuntimeError")
def not_scalar(lib):
    leaf(lib, 1.0, 2.0).exp().backward()


@bad("RuntimeError")
def complex_scalar(lib):
    lib.tensor([1.0 + 1.0j], requires_grad=True).exp().backward()


@bad("RuntimeError")
def no_history(lib):
    lib.ones(1).backward()


@bad("RuntimeError")
def no_history_second(lib):
    lib.autograd.backward([leaf(lib, 1.0), lib.ones(1)])


@bad("RuntimeError")
def no_history_integer(lib):
    lib.autograd.grad(lib.tensor([1]), leaf(lib, 1.0), lib.ones(1))


@bad("RuntimeError")
def wrong_shape(lib):
    (leaf(lib, 1.0, 2.0) * 2).backward(lib.ones(3))


@bad("RuntimeError")
def wrong_shape_batched(lib):
    x = leaf(lib, 1.0, 2.0)
    lib.autograd.grad(x * 2, x, lib.ones(2, 3), is_grads_batched=True)


@bad("RuntimeError")
def complex_seed(lib):
    (leaf(lib, 1.0) * 2).backward(lib.tensor([1.0 + 0.0j]))


@bad("TypeError")
def seed_is_a_number(lib):
    x = leaf(lib, 1.0)
    lib.autograd.grad([x * 2], x, [3.0])


@bad("RuntimeError")
def unused_refused(lib):
    x = leaf(lib, 1.0)
    lib.autograd.grad(x * 2, [x, leaf(lib, 2.0)])


@bad("RuntimeError")
def input_without_grad(lib):
    lib.autograd.grad(leaf(lib, 1.0) * 2, lib.ones(1))


@bad("RuntimeError")
def backward_input_without_grad(lib):
    (leaf(lib, 1.0) * 2).backward(inputs=lib.ones(1))


@bad("RuntimeError")
def no_inputs(lib):
    lib.autograd.grad(leaf(lib, 1.0) * 2, [])


@bad("RuntimeError")
def backward_no_inputs(lib):
    (leaf(lib, 1.0) * 2).backward(inputs=[])


@bad("ValueError")
def materialize_but_refuse(lib):
    x = leaf(lib, 1.0)
    lib.autograd.grad(x * 2, x, allow_unused=False, materialize_grads=True)


@bad("RuntimeError")
def both_names(lib):
    lib.autograd.backward(leaf(lib, 1.0), lib.ones(1), grad_variables=lib.ones(1))


@bad("RuntimeError")
def edge_without_grad(lib):
    lib.autograd.graph.get_gradient_edge(lib.ones(1))


@bad("RuntimeError")
def materialize_an_edge(lib):
    x, w = leaf(lib, 1.0), leaf(lib, 2.0)
    lib.autograd.grad(x * 2, lib.autograd.graph.get_gradient_edge(w), materialize_grads=True)


@bad("ValueError")
def multi_grad_hook_of_no_kind(lib):
    lib.autograd.graph.register_multi_grad_hook((leaf(lib, 1.0),), print, mode="some")


@bad("AssertionError")
def multi_grad_hook_without_grad(lib):
    lib.autograd.graph.register_multi_grad_hook((lib.ones(1),), print)


@bad("RuntimeError")
def saved_and_written(lib):
    x = leaf(lib, 1.0, 2.0)
    h = x * 2
    y = h.sin()
    h.mul_(2)
    y.sum().backward()


test_same = programs.test()


def test_recorded_backward_warns_once():
    run_room.warned.clear()
    x = vistorch.ones(1, requires_grad=True)
    with pytest.warns(UserWarning, match="will create a reference cycle between the parameter and its gradient"):
        (x * x).backward(create_graph=True)
    x.grad = None
    (x * x).backward(create_graph=True)  # warnings are errors here: a second one would fail
    x.grad = None


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
    x = vistorch.ones(50, requires_grad=True)
    start = threading.Barrier(8)
    failed = []

    def work():
        try:
            start.wait()
            for _ in range(60):
                (x * 1.0 + x * 2.0).sum().backward()
        except Exception as error:  # a thread's error must fail the test
            failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failed
    assert x.grad.tolist() == [8 * 60 * 3.0] * 50


def test_torch_has_the_same_signatures():
    import inspect

    for ours, theirs in (
        (vistorch.autograd.grad, torch.autograd.grad),
        (vistorch.autograd.backward, torch.autograd.backward),
        (vistorch.Tensor.backward, torch.Tensor.backward),
        (vistorch.autograd.graph.register_multi_grad_hook, torch.autograd.graph.register_multi_grad_hook),
        (vistorch.autograd.graph.get_gradient_edge, torch.autograd.graph.get_gradient_edge),
        (vistorch.autograd.graph.save_on_cpu.__init__, torch.autograd.graph.save_on_cpu.__init__),
    ):
        assert [(p.name, p.default, p.kind) for p in inspect.signature(ours).parameters.values()] == [
            (p.name, p.default, p.kind) for p in inspect.signature(theirs).parameters.values()
        ]
