"""A tensor keeps its hooks when `detach_()` takes its history: each program against PyTorch."""

from tests.autograd.programs import Programs, leaf

programs = Programs()
good = programs.good


def note(seen, mark, times=1):
    """A hook that writes its mark and scales the gradient."""
    return lambda g: (seen.append(mark), g * times)[1]


@good
def a_result_becomes_a_leaf(lib):
    seen, v = [], leaf(lib, 1.0, 2.0)
    x = v * 1
    x.register_hook(note(seen, 1, 5))
    x.detach_()
    x.requires_grad_()
    (x * 2).sum().backward()
    return seen, x.grad, v.grad


@good
def both_graphs_run_it(lib):
    seen, v = [], leaf(lib, 1.0, 2.0)
    x = v * 1
    x.register_hook(note(seen, 1, 3))
    y = x * 2
    x.detach_()
    x.requires_grad_()
    x.register_hook(note(seen, 2))
    y.sum().backward()
    (x * 3).sum().backward()
    return seen, x.grad, v.grad


@good
def removed_from_both(lib):
    seen, v = [], leaf(lib, 1.0, 2.0)
    x = v * 1
    handle = x.register_hook(note(seen, 1))
    y = x * 2
    x.detach_()
    x.requires_grad_()
    handle.remove()
    y.sum().backward()
    (x * 3).sum().backward()
    return seen


@good
def written_after_it(lib):
    seen, v = [], leaf(lib, 1.0, 2.0)
    x = v * 1
    x.register_hook(note(seen, 1))
    x.detach_()
    x.mul_(v)
    (x * 2).sum().backward()
    return seen


@good
def written_before_it(lib):
    seen, v = [], leaf(lib, 1.0, 2.0)
    x = v * 1
    x.register_hook(note(seen, 1))
    x.mul_(2)
    x.register_hook(note(seen, 2))
    x.detach_()
    x.requires_grad_()
    (x * 3).sum().backward()
    return seen


@good
def a_leaf_again_and_again(lib):
    seen, v, x = [], leaf(lib, 1.0, 2.0), leaf(lib, 1.0, 2.0)
    x.register_hook(note(seen, 1))
    x.detach_()
    x.mul_(v)
    x.register_hook(note(seen, 2))
    (x * 2).sum().backward()
    x.detach_()
    x.requires_grad_()
    x.register_post_accumulate_grad_hook(lambda t: seen.append(3))
    (x * 3).sum().backward()
    return seen, x.grad


@good
def one_of_several_outputs(lib):
    seen, v = [], lib.arange(6.0).reshape(2, 3).requires_grad_()
    m = v.max(0).values
    m.register_hook(note(seen, 1))
    m.retain_grad()
    m.detach_()
    m.requires_grad_()
    (m * 2).sum().backward()
    return seen, m.grad, m.retains_grad


@good
def the_next_tensor_has_none(lib):
    seen, v = [], leaf(lib, 1.0, 2.0)
    x = v * 1
    x.register_hook(note(seen, 1))
    x.detach_()
    y = x.detach().requires_grad_()
    (y * 2).sum().backward()
    return seen


test_hooks_of_what_is_detached = programs.test()
