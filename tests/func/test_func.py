"""Functions of functions: values, forms, history and sentences as torch.func's."""

import functools

import numpy as np
import pytest

from tests.story import story

pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")  # torch's own forward mode


def numbers(L, *shape, seed=0):
    return L.tensor(np.random.default_rng(seed).normal(size=shape))


@story
def test_grad(L, report):
    F = L.func
    x, y = numbers(L, 3), numbers(L, 3, seed=1)
    f = lambda x, y, *, k=1: (x * y).sin().sum() * k  # noqa: E731
    report(F.grad(f)(x, y), F.grad(f, 1)(x, y, k=2), F.grad(f, (0, 1))(x, y), F.grad(f, (-1,))(x, y))
    report(
        F.grad_and_value(f)(x, y),
        F.grad_and_value(lambda x: ((x**2).sum(), {"twice": 2 * x}), has_aux=True)(x),
    )
    report(F.grad(lambda x: ((x**2).sum(), x + 1), has_aux=True)(x), x.requires_grad, x.grad)
    tree = {"a": x, "b": [y, (x,)]}
    report(F.grad(lambda t: (t["a"] * t["b"][0]).sum() + t["b"][1][0].sum())(tree))
    report(F.grad(lambda x, y: x.sum(), 1)(x, y), F.grad(lambda x: y.sum())(x), F.grad(lambda x: x)(x[0]))
    report(F.grad(functools.wraps(f)(f)).__name__ == f.__name__, F.grad(lambda x: x.detach().sum())(x))


@story
def test_grad_of_grad(L, report):
    F = L.func
    x, w = numbers(L, 3), numbers(L, 3, seed=1)
    report(F.grad(lambda x: F.grad(lambda x: (x**3).sum())(x).sum())(x))
    report(F.grad(F.grad(F.grad(lambda x: x**4)))(x[0]))
    report(F.grad(lambda w: F.grad(lambda x: (x * x * w).sum())(x).sum())(w))
    report(F.grad(lambda w: F.grad_and_value(lambda x: (x * w).sum())(x)[1])(w))
    report(F.grad(lambda x: (F.vjp(lambda y: y * x, x)[1](x)[0]).sum())(x))
    v = w.clone().requires_grad_()
    out = F.grad(lambda x: (x * x * v).sum())(x)
    report(out.requires_grad)
    out.sum().backward()
    report(v.grad)
    z = x.clone().requires_grad_()
    out = F.grad(lambda x: (x**3).sum())(z)
    report(out, out.requires_grad)
    out.sum().backward()
    report(z.grad)
    with L.no_grad():
        report(F.grad(lambda x: (x**2).sum())(z), F.grad(lambda x: (x**2).sum())(x))
        report(F.grad(lambda x: F.grad(lambda y: (y**3).sum())(x).sum())(x))
        report(
            F.grad(lambda x: (x * x * z).sum())(x),
            F.vjp(lambda x: x * z, x)[1](x),
            F.jvp(lambda x: x * z, (x,), (x,)),
        )


@story
def test_vjp(L, report):
    F = L.func
    x, y = numbers(L, 2, 3), numbers(L, 3)
    value, pull = F.vjp(lambda x, y: {"p": x * y, "q": [x.sum()]}, x, y)
    report(value, pull({"p": x, "q": [L.tensor(2.0, dtype=L.float64)]}), pull({"p": x * 2, "q": [x.sum()]}))
    value, pull, aux = F.vjp(lambda x: (x * x, x + 1), x, has_aux=True)
    report(value, pull(x), aux)
    report.raises(lambda: pull({"p": x}))
    report.raises(lambda: pull((x,)))
    report(F.vjp(lambda x: y, x)[1](y))
    complex_value, pull = F.vjp(lambda z: z * z, x.to(L.complex128))
    report(complex_value, pull(x.to(L.complex128) * 1j))


@story
def test_jvp(L, report):
    F = L.func
    x, y, t = numbers(L, 3), numbers(L, 3, seed=1), numbers(L, 3, seed=2)
    report(F.jvp(L.sin, (x,), (t,)), F.jvp(lambda x, y: (x * y, [x.sum()]), (x, y), (t, t)))
    report(F.jvp(lambda x: (x * x, x + 1), (x,), (t,), has_aux=True))
    report(F.jvp(lambda x: y, (x,), (t,)), F.grad(lambda x: F.jvp(L.sin, (x,), (t,))[1].sum())(x))
    report(F.jvp(F.grad(lambda x: (x**3).sum()), (x,), (t,)))
    for wrong in (
        lambda: F.jvp(L.sin, x, t),
        lambda: F.jvp(L.sin, (), ()),
        lambda: F.jvp(L.sin, (3,), (t,)),
        lambda: F.jvp(L.sin, (x,), (3,)),
        lambda: F.jvp(lambda x: y, (x,), (t,), strict=True),
        lambda: F.jvp(lambda x: 3, (x,), (t,)),
        lambda: F.jvp(lambda x: x, (x,), (t,), has_aux=True),
    ):
        report.raises(wrong)


@pytest.mark.parametrize("name", ["jacrev", "jacfwd"])
@story
def test_jacobians(L, report, name):
    jac = getattr(L.func, name)
    x, y = numbers(L, 2, 3), numbers(L, 3, seed=1)
    f = lambda x, y: x * y  # noqa: E731
    report(jac(f)(x, y), jac(f, 1)(x, y), jac(f, argnums=(0, 1))(x, y), jac(f, argnums=(1,))(x, y))
    report(jac(lambda x: (x.sum(), {"s": x.sin()}))(y), jac(lambda x: (x * x, x + 1), has_aux=True)(y))
    report(jac(lambda x: y)(y), jac(lambda x: x.sum())(y), jac(lambda x: x)(x[:0]))
    report(jac(jac(lambda x: (x**3).sum()))(y))
    if name == "jacrev":
        report(jac(lambda t: t["a"] * t["b"])({"a": y, "b": y + 1}), jac(f, chunk_size=2)(x, y))
        report.raises(lambda: jac(f, chunk_size=0))
    z = y.clone().requires_grad_()
    out = jac(lambda x: x * x * z)(y)
    report(out, out.requires_grad)
    report.raises(lambda: jac(f)(x.to(L.complex128), y))
    report.raises(lambda: jac(lambda x: x * 1j)(y))


@story
def test_hessians(L, report):
    H = L.func.hessian
    x, y = numbers(L, 2), numbers(L, 2, seed=1)
    report(H(lambda x: (x.sin() * y).sum())(x), H(lambda x, y: (x**2 * y**3).sum(), argnums=(0, 1))(x, y))
    report(H(lambda x: x.sum())(x), H(lambda x: x[0] ** 2 * x[1] ** 2)(x))


@story
def test_of_modules(L, report):
    """The gradients of a loss by all parameters, as the tutorials compute them."""
    net = L.nn.Sequential(L.nn.Linear(3, 4), L.nn.Tanh(), L.nn.Linear(4, 2))
    params = {k: v.detach() for k, v in net.named_parameters()}
    x, y = numbers(L, 5, 3).float(), L.tensor([0, 1, 1, 0, 1])

    def loss(params, x, y):
        return L.nn.functional.cross_entropy(L.func.functional_call(net, params, (x,)), y)

    report(L.func.grad(loss)(params, x, y), [p.grad for p in net.parameters()])
    report(L.func.jacrev(lambda p: L.func.functional_call(net, p, (x,)))(params)["0.bias"])


@story
def test_what_does_not_fit(L, report):
    F = L.func
    x = numbers(L, 3)
    for wrong in (
        lambda: F.grad(lambda x: x)(x),
        lambda: F.grad(lambda x: 3)(x),
        lambda: F.grad(lambda x: x.sum())(3),
        lambda: F.grad(lambda x: x.sum(), 1)(x),
        lambda: F.grad(lambda x: x.sum(), -2)(x),
        lambda: F.grad(lambda x: x.sum(), "a")(x),
        lambda: F.grad(lambda x: x.sum(), ("a",))(x),
        lambda: F.grad(lambda x: x.sum(), ())(x),
        lambda: F.grad(lambda x: x.sum(), (0, 0))(x),
        lambda: F.grad(lambda x: x.sum(), has_aux=True)(x),
        lambda: F.vjp(lambda x: 3, x),
        lambda: F.vjp(lambda x: None, x),
        lambda: F.vjp(lambda x: (), x),
        lambda: F.vjp(lambda x: x.long(), x),
        lambda: F.vjp(lambda x: x, x, has_aux=True),
        lambda: F.jacrev(lambda x: 3)(x),
    ):
        report.raises(wrong)
