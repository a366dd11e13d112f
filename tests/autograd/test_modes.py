"""Grad modes and inference mode: nesting, decorators, generators, errors, threads, inference tensors."""

import threading

import vistorch
from tests.autograd.programs import Programs, leaf

programs = Programs()
good, bad = programs.good, programs.bad


@good
def nested(lib):
    seen = []

    def look():
        seen.append((lib.is_grad_enabled(), lib.is_inference_mode_enabled()))

    look()
    with lib.no_grad():
        look()
        with lib.enable_grad():
            look()
            with lib.set_grad_enabled(False):
                look()
            look()
        with lib.inference_mode():
            look()
            with lib.enable_grad():
                look()
            with lib.inference_mode(False):
                look()
            with lib.set_grad_enabled(True):
                look()
            look()
        look()
    look()
    return seen


@good
def as_functions(lib):
    seen = []
    lib.set_grad_enabled(False)
    seen.append(lib.is_grad_enabled())
    lib.set_grad_enabled(True)
    seen.append(lib.is_grad_enabled())
    with lib.set_grad_enabled(False):
        lib.set_grad_enabled(True)
        seen.append(lib.is_grad_enabled())
    seen.append(lib.is_grad_enabled())
    return seen


@good
def clones(lib):
    switches = [lib.no_grad(), lib.set_grad_enabled(False), lib.inference_mode(), lib.inference_mode(False)]
    lib.set_grad_enabled(True)
    seen = []
    for switch in switches:
        with switch.clone():
            seen.append((lib.is_grad_enabled(), lib.is_inference_mode_enabled()))
    return seen, lib.is_grad_enabled()


@good
def decorators(lib):
    def look():
        """Doc."""
        return lib.is_grad_enabled(), lib.is_inference_mode_enabled()

    made = [
        lib.no_grad()(look),
        lib.no_grad(look),
        lib.enable_grad()(look),
        lib.enable_grad(look),
        lib.set_grad_enabled(False)(look),
        lib.inference_mode()(look),
        lib.inference_mode(look),
        lib.inference_mode(False)(look),
    ]
    outside = lib.is_grad_enabled()
    with lib.no_grad():
        inside = [f() for f in made]
    return [f() for f in made], inside, outside, made[0].__name__, made[0].__doc__


@good
def decorated_recursion(lib):
    @lib.no_grad()
    def down(n):
        return [lib.is_grad_enabled()] + (down(n - 1) if n else [])

    return down(3), lib.is_grad_enabled()


@good
def generators(lib):
    seen = []

    @lib.no_grad()
    def count():
        got = None
        for i in range(3):
            seen.append(("in", lib.is_grad_enabled(), got))
            got = yield i
        return "end"

    g = count()
    seen.append(next(g))
    seen.append(("out", lib.is_grad_enabled()))
    with lib.no_grad():
        seen.append(g.send("sent"))
    seen.append(g.send(None))
    try:
        next(g)
    except StopIteration as stop:
        seen.append(stop.value)
    return seen, lib.is_grad_enabled()


@good
def generators_end_early(lib):
    seen = []

    @lib.no_grad()
    def count():
        try:
            yield 1
        except ValueError:
            seen.append(("caught", lib.is_grad_enabled()))
            yield 2
        finally:
            seen.append(("closed", lib.is_grad_enabled()))

    a, b = count(), count()
    next(a)
    a.close()
    next(b)
    seen.append(b.throw(ValueError()))
    seen.append(lib.is_grad_enabled())
    b.close()
    return seen


@good
def after_errors(lib):
    seen = []
    for switch in (lib.no_grad, lib.enable_grad, lib.inference_mode, lambda: lib.set_grad_enabled(False)):
        try:
            with switch():
                raise ValueError
        except ValueError:
            seen.append((lib.is_grad_enabled(), lib.is_inference_mode_enabled()))
    return seen


@good
def one_object_twice(lib):
    m = lib.no_grad()
    with m:
        pass
    with m:
        a = lib.is_grad_enabled()
    return a, lib.is_grad_enabled()


@good
def leaves_made_inside(lib):
    with lib.no_grad():
        x = lib.ones(2, requires_grad=True)
        y = x * 2
    z = x * 3
    return x.requires_grad, x.is_leaf, y.requires_grad, y.is_leaf, z.requires_grad


@good
def written_in_no_grad(lib):
    x = leaf(lib, 1.0, 2.0)
    with lib.no_grad():
        x -= 0.5
        x[0] = 7.0
    return x, x.grad_fn, x._version, x.is_leaf


@good
def inference_tensors(lib):
    x = leaf(lib, 1.0, 2.0)
    with lib.inference_mode():
        a = x * 2
        b = lib.ones(2)
        v = x[:1]
        w = a[:1]
        d = x.detach()
        r = lib.ones(2, requires_grad=True)
        s = r * 2
    c = a * 3
    e = a[:1]
    return [t.is_inference() for t in (a, b, v, w, d, r, s, c, e)], [
        t.requires_grad for t in (a, b, v, w, r, s, c, e)
    ]


@good
def views_of_inference_tensors(lib):
    with lib.inference_mode():
        a = lib.ones(2, 3)
        inside = [a[0], a.detach(), a.data, a.view(-1)]
    outside = [a[0], a.detach(), a.data, a.view(-1), *a.unbind(), a.expand(2, 2, 3), a.detach()[0]]
    return [(t.is_inference(), t._is_view(), t._base is None, t.requires_grad) for t in inside + outside]


@good
def data_of_a_normal_tensor_in_inference_mode(lib):
    a = lib.ones(2)
    with lib.inference_mode():
        b = a.data
        b.add_(1)
    b.add_(1)
    return b.is_inference(), a._version, a.tolist()


@good
def aliases_of_inference_tensors_are_written(lib):
    with lib.inference_mode():
        a = lib.ones(2, 3)
    for alias in (a.detach(), a.data, a.detach().detach()):
        alias.add_(1)
        alias.mul_(lib.ones(3))
        alias[...] = 5.0
        alias[alias > 6.0] = 1.0
        alias.copy_(alias * 2)
        alias.t_()
    return a.tolist(), alias.is_inference(), tuple(alias.shape)


@bad
def a_view_of_an_alias_of_an_inference_tensor_is_written(lib):
    with lib.inference_mode():
        a = lib.ones(2, 3)
    a.detach()[0].add_(1)


@bad
def an_alias_made_in_inference_mode_is_written_outside(lib):
    with lib.inference_mode():
        a = lib.ones(2, 3).detach()
    a.add_(1)


@bad
def data_of_an_inference_tensor_is_saved(lib):
    with lib.inference_mode():
        a = lib.ones(2)
    lib.ones(2, requires_grad=True) * a.data


@good
def an_inference_tensor_that_no_gradient_needs_is_not_saved(lib):
    x = lib.ones(2, 2, requires_grad=True)
    with lib.no_grad():
        v = x.view(2, 2)
    with lib.inference_mode():
        a = lib.ones(2, 2)
    return [t.requires_grad for t in (a * v, v * a, a @ v, v @ a, v + a)]


@good
def inference_tensors_used(lib):
    x = leaf(lib, 1.0, 2.0)
    with lib.inference_mode():
        a = lib.ones(2) * 3
        a.add_(1)
        a[0] = 9.0
    y = x + a
    z = x * a.clone()
    (y + z).sum().backward()
    with lib.inference_mode():
        a.mul_(2)
    return x.grad, a, y


@good
def normal_tensor_written_in_inference(lib):
    x = lib.ones(2)
    v = x._version
    with lib.inference_mode():
        x.add_(1)
    return x, x._version - v, x.is_inference()


@bad("RuntimeError")
def saved_written_in_inference(lib):
    x = leaf(lib, 1.0)
    h = x * 2
    y = h.exp() * h
    with lib.inference_mode():
        h.add_(1)
    y.backward()


@bad("RuntimeError")
def leaf_written_in_grad_mode(lib):
    leaf(lib, 1.0).add_(1)


@bad("RuntimeError")
def inference_saved(lib):
    x = leaf(lib, 1.0)
    with lib.inference_mode():
        a = lib.ones(1)
    x * a


@bad("RuntimeError")
def inference_written(lib):
    with lib.inference_mode():
        a = lib.ones(1)
    a.add_(1)


@bad("RuntimeError")
def inference_view_written(lib):
    with lib.inference_mode():
        a = lib.ones(3)
    a[:1].add_(1)


@bad("RuntimeError")
def inference_requires_grad(lib):
    with lib.inference_mode():
        a = lib.ones(1)
    a.requires_grad_()


@bad("RuntimeError")
def inference_version(lib):
    with lib.inference_mode():
        a = lib.ones(1)
    return a._version


@bad("RuntimeError")
def view_from_inference_written(lib):
    y = leaf(lib, 1.0, 2.0) * 1
    with lib.inference_mode():
        v = y[:1]
    v.mul_(2)


@bad("RuntimeError")
def view_from_no_grad_written(lib):
    y = leaf(lib, 1.0, 2.0) * 1
    with lib.no_grad():
        v = y[:1]
    v.mul_(2)


@bad("RuntimeError")
def backward_of_inference(lib):
    with lib.inference_mode():
        y = leaf(lib, 1.0) * 2
        y.backward()


@bad("RuntimeError")
def saved_by_a_custom_function(lib):
    class Times(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x, a):
            ctx.save_for_backward(a)
            return x * a

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0], None

    with lib.inference_mode():
        a = lib.ones(1)
    Times.apply(leaf(lib, 1.0), a)


@good
def custom_function_in_inference(lib):
    class Double(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    with lib.inference_mode():
        y = Double.apply(leaf(lib, 1.0))
    return y.is_inference(), y.requires_grad


@good
def backward_in_inference_of_an_outer_graph(lib):
    x = leaf(lib, 2.0)
    y = x * x
    with lib.inference_mode():
        y.backward()
    return x.grad


test_same = programs.test()


def test_each_thread_has_its_own_mode():
    seen = {}
    inside, go_on = threading.Event(), threading.Event()

    def work():
        seen["start"] = vistorch.is_grad_enabled(), vistorch.is_inference_mode_enabled()
        with vistorch.inference_mode():
            inside.set()
            go_on.wait(10)
            seen["inside"] = vistorch.is_inference_mode_enabled()

    with vistorch.no_grad():
        t = threading.Thread(target=work)
        t.start()
        inside.wait(10)
        assert not vistorch.is_inference_mode_enabled() and not vistorch.is_grad_enabled()
        go_on.set()
        t.join()
    assert seen == {"start": (True, False), "inside": True}
    assert vistorch.is_grad_enabled()
