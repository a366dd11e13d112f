"""vistorch.autograd.functional: values, nesting of results, create_graph, strict, refusals."""

import inspect

import pytest

import vistorch
from tests.autograd.both import torch
from tests.autograd.programs import Programs

programs = Programs()
good, bad = programs.good, programs.bad


def inputs(lib, requires_grad=False):
    a = lib.tensor([1.0, 2.0, 3.0], requires_grad=requires_grad)
    b = lib.tensor([[0.5], [0.25]], requires_grad=requires_grad)
    return a, b


@good
def jacobians(lib):
    a, b = inputs(lib)
    f = lib.autograd.functional.jacobian
    return (
        f(lambda x: x * x, a),
        f(lambda x: x.sum(), a),
        f(lambda x, y: x * y, (a, b)),
        f(lambda x, y: (x * x, y.sum()), (a, b)),
        f(lambda x: (x * x, x.exp()), a),
        f(lambda x: (x * x,), (a,)),
        f(lambda x: x * 3, lib.tensor(2.0)),
        f(lambda x, y: x * y, (a, b), vectorize=True),
        f(lambda x: x * x, a, vectorize=True, strategy="forward-mode"),
    )


@good
def jacobian_recorded(lib):
    a, b = inputs(lib, True)
    j = lib.autograd.functional.jacobian(lambda x, y: x * x * y, (a, b), create_graph=True)
    plain = lib.autograd.functional.jacobian(lambda x: x * x, a)
    return j, lib.autograd.grad(j[0].sum() + (j[1] * j[1]).sum(), (a, b)), plain.requires_grad


@good
def constants_stay_constants(lib):
    a, _ = inputs(lib, True)
    return lib.autograd.functional.jacobian(lambda x: x * a, a)


@good
def in_no_grad(lib):
    a, _ = inputs(lib)
    with lib.no_grad():
        j = lib.autograd.functional.jacobian(lambda x: x * x, a)
        v = lib.autograd.functional.vjp(lambda x: x * x, a, a)
        h = lib.autograd.functional.hvp(lambda x: (x**3).sum(), a, a)
    return j, v, h, lib.is_grad_enabled()


@good
def hessians(lib):
    a, b = inputs(lib)
    f = lib.autograd.functional.hessian
    return (
        f(lambda x: (x**3).sum(), a),
        f(lambda x, y: (x * x * y).sum(), (a, b)),
        f(lambda x: (x * 2).sum(), a),
        f(lambda x: (x**3).sum(), (a,)),
        f(lambda x: (x**3).sum().view(1, 1), a),
        f(lambda x: (x**3).sum(), a, vectorize=True),
    )


@good
def hessian_recorded(lib):
    a, _ = inputs(lib, True)
    h = lib.autograd.functional.hessian(lambda x: (x**3).sum(), a, create_graph=True)
    return h, lib.autograd.grad(h.sum(), a)


@good
def products(lib):
    a, b = inputs(lib)
    f = lib.autograd.functional
    u, v = lib.tensor([1.0, -1.0, 2.0]), lib.tensor([[3.0], [1.0]])
    return (
        f.vjp(lambda x: x * x, a, u),
        f.vjp(lambda x: x.sum(), a),
        f.vjp(lambda x, y: (x * y, y * y), (a, b), (lib.ones(2, 3), v)),
        f.jvp(lambda x: x * x, a, u),
        f.jvp(lambda x: x.exp(), lib.tensor([2.0])),
        f.jvp(lambda x, y: (x * y, y * y), (a, b), (u, v)),
        f.hvp(lambda x: (x**3).sum(), a, u),
        f.hvp(lambda x, y: (x * x * y).sum(), (a, b), (u, v)),
        f.vhp(lambda x: (x**3).sum(), a, u),
        f.vhp(lambda x, y: (x * x * y).sum(), (a, b), (u, v)),
        f.vhp(lambda x: x**3, lib.tensor([2.0])),
        f.vjp(lambda x, y: x * 2, (a, b), u),
        f.jvp(lambda x: lib.ones(3), a, u),
        f.vhp(lambda x: x.sum(), a, u),
        f.hvp(lambda x: x.sum(), a, u),
    )


@good
def products_recorded(lib):
    a, _ = inputs(lib, True)
    u = lib.tensor([1.0, -1.0, 2.0], requires_grad=True)
    f, out = lib.autograd.functional, []
    for product, func in (
        (f.vjp, lambda x: x**3),
        (f.jvp, lambda x: x**3),
        (f.hvp, lambda x: (x**4).sum()),
        (f.vhp, lambda x: (x**4).sum()),
    ):
        value, p = product(func, a, u, create_graph=True)
        out.append((value, p, lib.autograd.grad(p.sum(), (a, u))))
    return out


def strictly(name, func, v=None, **options):
    def program(lib):
        a, b = inputs(lib, options.get("create_graph", False))
        args = () if v is None else (v(lib),)
        return getattr(lib.autograd.functional, name)(
            lambda *t: func(lib, *t), (a, b), *args, strict=True, **options
        )

    return program


def vectors(lib):
    return lib.ones(3), lib.ones(2, 1)


for name, func, options in [
    ("jacobian", lambda lib, x, y: x * 2, {}),
    ("jacobian", lambda lib, x, y: lib.ones(2), {}),
    ("jacobian", lambda lib, x, y: x * y, {"vectorize": True}),
    ("jacobian", lambda lib, x, y: x * 2 + y, {"create_graph": True}),
    ("hessian", lambda lib, x, y: (x * 2 + y).sum(), {}),
    ("hessian", lambda lib, x, y: (x * x).sum() + (y * y).sum(), {}),
    ("vjp", lambda lib, x, y: x * 2, {"v": lambda lib: lib.ones(3)}),
    ("vjp", lambda lib, x, y: x.detach(), {"v": lambda lib: lib.ones(3)}),
    ("vjp", lambda lib, x, y: x * 2 + y.sum(), {"v": lambda lib: lib.ones(3), "create_graph": True}),
    ("jvp", lambda lib, x, y: x * 2, {"v": vectors}),
    ("jvp", lambda lib, x, y: x.detach(), {"v": vectors}),
    ("hvp", lambda lib, x, y: (x * 2 + y).sum(), {"v": vectors}),
    ("vhp", lambda lib, x, y: (x * 2 + y).sum(), {"v": vectors}),
    ("vhp", lambda lib, x, y: (x * x).sum(), {"v": vectors}),
]:
    program = strictly(name, func, **options)
    program.__name__ = f"strict_{name}_{len(programs.found)}"
    bad("RuntimeError")(program)


def refused(kind, name, *args, **options):
    def program(lib):
        given = [a(lib) if callable(a) and getattr(a, "__name__", "") == "make" else a for a in args]
        return getattr(lib.autograd.functional, name)(*given, **options)

    program.__name__ = f"refused_{name}_{len(programs.found)}"
    bad(kind)(program)


def tensor(*shape):
    def make(lib):
        return lib.ones(*shape)

    return make


def pair(lib):
    return lib.ones(3), lib.ones(2, 1)


pair.__name__ = "make"


def square(x):
    return x * x


refused("TypeError", "jacobian", square, 3)
refused("TypeError", "jacobian", lambda x: 3, tensor(2))
refused("TypeError", "jacobian", lambda x: (x, 3), tensor(2))
refused("TypeError", "vjp", square, (3,))
refused("TypeError", "vjp", square, tensor(2), 3)
refused("RuntimeError", "vjp", square, tensor(2))
refused("RuntimeError", "vjp", square, tensor(2), tensor(3))
refused("RuntimeError", "vjp", square, tensor(2), pair)
refused("RuntimeError", "vjp", lambda x: (x, x), tensor(2), tensor(2))
refused("RuntimeError", "jvp", square, tensor(2))
refused("RuntimeError", "jvp", lambda x, y: x * y, pair, tensor(3))
refused("RuntimeError", "hvp", square, tensor(2), tensor(2))
refused("RuntimeError", "hvp", lambda x: (x.sum(),), tensor(2), tensor(2))
refused("RuntimeError", "hvp", lambda x: x.sum(), tensor(2))
refused("RuntimeError", "vhp", square, tensor(2), tensor(2))
refused("RuntimeError", "vhp", lambda x: (x.sum(),), tensor(2), tensor(2))
refused("RuntimeError", "vhp", lambda x: x.sum(), tensor(2))
refused("RuntimeError", "hessian", square, tensor(2))
refused("RuntimeError", "hessian", lambda x: (x.sum(),), tensor(2))
refused("AssertionError", "hessian", square, tensor(2), outer_jacobian_strategy="x")
refused("AssertionError", "jacobian", square, tensor(2), strategy="x")
refused("NotImplementedError", "jacobian", square, tensor(2), strategy="forward-mode")
refused("NotImplementedError", "jacobian", square, tensor(2), strategy="forward-mode", create_graph=True)
refused("RuntimeError", "jacobian", square, tensor(2), strategy="forward-mode", strict=True)

test_same = programs.test()


@pytest.mark.parametrize("name", ["jacobian", "hessian", "vjp", "jvp", "hvp", "vhp"])
def test_signatures(name):
    ours, theirs = (
        inspect.signature(getattr(lib.autograd.functional, name)).parameters for lib in (vistorch, torch)
    )
    assert [(p.name, p.default, p.kind) for p in ours.values()] == [
        (p.name, p.default, p.kind) for p in theirs.values()
    ]
