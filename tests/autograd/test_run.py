"""`backward` and `grad`: arguments, accumulation, unused inputs, what they refuse."""

import inspect

import pytest

import vistorch
from tests.autograd.both import torch
from tests.autograd.programs import Programs, leaf
from vistorch.autograd import run as run_module

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
    return lib.autograd.grad((y * y).sum(), [y, x], retain_graph=True), lib.autograd.grad(
        (v * 3).sum(), [v, x]
    )


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
def old_names(lib):
    x = leaf(lib, 2.0)
    lib.autograd.backward(x * x, grad_variables=lib.ones(1))
    g = lib.autograd.grad(x * x, x, only_inputs=False)
    return x.grad, g, isinstance(x, lib.autograd.Variable)


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
def saved_and_written(lib):
    x = leaf(lib, 1.0, 2.0)
    h = x * 2
    y = h.sin()
    h.mul_(2)
    y.sum().backward()


test_same = programs.test()


def test_recorded_backward_warns_once():
    run_module.warned.clear()
    x = vistorch.ones(1, requires_grad=True)
    with pytest.warns(
        UserWarning, match="will create a reference cycle between the parameter and its gradient"
    ):
        (x * x).backward(create_graph=True)
    x.grad = None
    (x * x).backward(create_graph=True)  # warnings are errors here: a second one would fail
    x.grad = None


def test_torch_has_the_same_signatures():
    for ours, theirs in (
        (vistorch.autograd.grad, torch.autograd.grad),
        (vistorch.autograd.backward, torch.autograd.backward),
        (vistorch.Tensor.backward, torch.Tensor.backward),
        (vistorch.autograd.graph.register_multi_grad_hook, torch.autograd.graph.register_multi_grad_hook),
        (vistorch.autograd.graph.get_gradient_edge, torch.autograd.graph.get_gradient_edge),
        (vistorch.autograd.graph.save_on_cpu.__init__, torch.autograd.graph.save_on_cpu.__init__),
    ):
        # `retain_variables` is what the first PyTorch called `retain_graph`.
        mine = [p for p in inspect.signature(ours).parameters.values() if p.name != "retain_variables"]
        assert [(p.name, p.default, p.kind) for p in mine] == [
            (p.name, p.default, p.kind) for p in inspect.signature(theirs).parameters.values()
        ]
