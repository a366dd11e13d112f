"""`vmap` gives what PyTorch's gives: dims, trees, derivatives inside and outside, random numbers, refusals."""

import pytest

from tests.ops.library import L, torch
from tests.story import story

pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning")


@story
def test_numbers(L, report):
    L.manual_seed(0)
    x, y, w = L.randn(3, 4), L.randn(3, 4), L.randn(4, 5)
    vmap = L.func.vmap
    report(vmap(L.dot)(x, y), vmap(L.dot, in_dims=(0, None))(x, y[0]), vmap(L.dot, in_dims=1)(x, y))
    report(vmap(lambda v: v @ w, out_dims=1)(x), vmap(lambda v: (v.sum(), v * 2), out_dims=(0, 1))(x))
    report(
        vmap(lambda t: {"a": t["p"] + t["q"][0]}, in_dims=({"p": 0, "q": (None,)},))({"p": x, "q": (y[0],)})
    )
    report(vmap(vmap(lambda a: a.exp()))(x), vmap(lambda a, k: a * k, in_dims=(0, None))(x, 3))
    report(vmap(lambda a, *, b: a + b)(x, b=y), vmap(L.sort)(x)[1], vmap(lambda a: a, in_dims=-1)(x))
    report(vmap(lambda a: L.nn.functional.conv1d(a[None, None], w[:1, :3][None]))(x))
    report(vmap(L.sum, chunk_size=2)(x), L.vmap(L.sum)(x))


@story
def test_derivatives(L, report):
    L.manual_seed(0)
    x, w = L.randn(3, 4), L.randn(4, requires_grad=True)
    one = L.func.grad(lambda v: (v**3).sum())
    report(L.func.vmap(one)(x), L.func.vmap(L.func.jacrev(lambda v: v.sin()))(x))
    report(L.func.vmap(L.func.hessian(lambda v: (v**3).sum()))(x))
    out = L.func.vmap(lambda v: (v * w).sum())(x)
    report(out, L.autograd.grad(out.sum(), w)[0])
    report(L.func.grad(lambda m: L.func.vmap(lambda v: (v**2).sum())(m).sum())(x))
    model = L.nn.Linear(4, 2)
    params = {k: v.detach() for k, v in model.named_parameters()}

    def loss(p, row):
        return L.func.functional_call(model, p, (row,)).square().sum()

    report(L.func.vmap(L.func.grad(loss), in_dims=(None, 0))(params, x))


@story
def test_refusals(L, report):
    x = L.ones(3, 4)
    vmap = L.func.vmap
    for wrong in (
        lambda: vmap(L.sum, randomness="no")(x),
        lambda: vmap(L.sum, in_dims=2)(x),
        lambda: vmap(L.dot, in_dims=(0, 1))(x, x),
        lambda: vmap(L.sum, in_dims=(0, 0))(x),
        lambda: vmap(L.sum, in_dims=None)(x),
        lambda: vmap(L.sum)(),
        lambda: vmap(lambda a: 3)(x),
        lambda: vmap(lambda a: a + L.rand(4))(x),
        lambda: vmap(L.sum)(3),
    ):
        with pytest.raises((ValueError, RuntimeError)) as error:
            wrong()
        report(type(error.value).__name__)


def test_random_numbers():
    for lib in (L, torch):

        def noisy(a, lib=lib):
            return a + lib.rand(2)

        x = lib.zeros(3, 2)
        same = lib.func.vmap(noisy, randomness="same")(x)
        other = lib.func.vmap(noisy, randomness="different")(x)
        assert (same == same[0]).all() and not (other == other[0]).all()
