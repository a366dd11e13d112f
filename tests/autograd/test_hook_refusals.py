"""What hooks may not be, and may not return."""

from tests.autograd.programs import Programs, leaf

programs = Programs()
bad = programs.bad


@bad("TypeError")
def not_callable(lib):
    x = leaf(lib, 1.0)
    x.register_hook(3)
    x.backward()


@bad("TypeError")
def gives_a_number(lib):
    x = leaf(lib, 1.0)
    x.register_hook(lambda g: 3)
    x.backward()


@bad("RuntimeError")
def gives_another_shape(lib):
    x = leaf(lib, 1.0)
    x.register_hook(lambda g: lib.ones(4))
    x.backward()


@bad("RuntimeError")
def gives_another_type(lib):
    x = leaf(lib, 1.0)

    def widen(g):
        return g.double()

    x.register_hook(widen)
    x.backward()


@bad("RuntimeError")
def no_grad_needed(lib):
    lib.ones(2).register_hook(print)


@bad("RuntimeError")
def accumulated_on_a_non_leaf(lib):
    (leaf(lib, 1.0) * 2).register_post_accumulate_grad_hook(print)


@bad("RuntimeError")
def accumulated_without_grad(lib):
    lib.ones(2).register_post_accumulate_grad_hook(print)


@bad("TypeError")
def accumulated_gives_a_number(lib):
    x = leaf(lib, 1.0)
    x.register_post_accumulate_grad_hook(lambda t: 5)
    (x * 2).backward()


@bad("RuntimeError")
def retain_without_grad(lib):
    lib.ones(2).retain_grad()


@bad("TypeError")
def prehook_gives_a_number(lib):
    y = leaf(lib, 1.0) * 2
    y.grad_fn.register_prehook(lambda g: 3)
    y.backward()


@bad("TypeError")
def prehook_gives_a_tensor(lib):
    y = leaf(lib, 1.0) * 2
    y.grad_fn.register_prehook(lambda g: g[0])
    y.backward()


@bad("RuntimeError")
def prehook_gives_two(lib):
    y = leaf(lib, 1.0) * 2
    y.grad_fn.register_prehook(lambda g: (g[0], g[0]))
    y.backward()


@bad("TypeError")
def posthook_gives_a_tensor(lib):
    y = leaf(lib, 1.0).exp()
    y.grad_fn.register_hook(lambda i, o: i[0])
    y.backward()


@bad("RuntimeError")
def posthook_gives_two(lib):
    y = leaf(lib, 1.0).exp()
    y.grad_fn.register_hook(lambda i, o: (i[0], i[0]))
    y.backward()


@bad("RuntimeError")
def prehook_gives_another_shape(lib):
    y = leaf(lib, 1.0) * 2
    y.grad_fn.register_prehook(lambda g: (lib.ones(4),))
    y.backward()


@bad("RuntimeError")
def posthook_gives_another_type(lib):
    y = leaf(lib, 1.0).exp()
    y.grad_fn.register_hook(lambda i, o: (i[0].double(),))
    y.backward()


@bad("RuntimeError")
def posthook_fills_in_for_none(lib):
    y = lib.tensor([2.0]) * leaf(lib, 1.0)
    y.grad_fn.register_hook(lambda i, o: (i[1], i[1]))
    y.backward()


@bad("TypeError")
def posthook_gives_a_number_inside(lib):
    y = leaf(lib, 1.0).exp()
    y.grad_fn.register_hook(lambda i, o: (3,))
    y.backward()


@bad("ZeroDivisionError")
def error_inside(lib):
    x = leaf(lib, 1.0)
    x.register_hook(lambda g: 1 / 0)
    (x * 2).backward()


test_same = programs.test()
