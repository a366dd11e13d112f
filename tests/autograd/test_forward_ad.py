"""Dual tensors: values, tangents and refusals are PyTorch's, and tangents of every op are its double backward's."""

import importlib

import pytest

from tests.story import story

pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning")


def module(lib):
    return importlib.import_module(f"{lib.__name__}.autograd.forward_ad")


@story
def test_tangents(L, report):
    ad = module(L)
    L.manual_seed(0)
    x, t, w = L.randn(3, 4), L.randn(3, 4), L.randn(4, 4)
    programs = (
        lambda a: a * a.sin(),
        lambda a: (a @ w).softmax(-1),
        lambda a: L.linalg.inv(a.t() @ a + 3 * L.eye(4)),
        lambda a: a.exp().sum(0).log(),
        lambda a: L.nn.functional.layer_norm(a, (4,)),
        lambda a: a.max(1)[0],
        lambda a: 2 * a,
        lambda a: a[1:, ::2].clone().mul_(3),
        lambda a: L.nn.functional.conv1d(a[None], w[None, :3].expand(2, 3, 4)),
    )
    for program in programs:
        with ad.dual_level():
            found = ad.unpack_dual(program(ad.make_dual(x, t)))
            report(found.primal, found.tangent)


@story
def test_several_duals_and_none(L, report):
    ad = module(L)
    a, b = L.tensor([1.0, 2.0]), L.tensor([3.0, 5.0])
    with ad.dual_level() as level:
        report(level)
        x, y = ad.make_dual(a, L.ones(2)), ad.make_dual(b, L.tensor([0.5, 0.0]))
        report(ad.unpack_dual(x * y).tangent, ad.unpack_dual(x).tangent, ad.unpack_dual(b).tangent)
        report(ad.unpack_dual(x + 1).tangent, ad.unpack_dual(a * 2).tangent)
    report(ad.unpack_dual(a).tangent)


@story
def test_a_module_and_its_gradient(L, report):
    ad = module(L)
    L.manual_seed(0)
    model, x, t = L.nn.Linear(3, 2), L.randn(2, 3), L.randn(2, 3)
    with ad.dual_level():
        tangent = ad.unpack_dual(model(ad.make_dual(x, t)).tanh()).tangent
        report(tangent)


@story
def test_refusals(L, report):
    ad = module(L)
    for wrong in (
        lambda: ad.make_dual(L.ones(2), L.ones(2)),
        lambda: ad.exit_dual_level(),
    ):
        with pytest.raises(RuntimeError):
            wrong()
    with ad.dual_level():
        for wrong in (
            lambda: ad.enter_dual_level(),
            lambda: ad.make_dual(L.ones(2), L.ones(3)),
            lambda: ad.make_dual(L.ones(2, dtype=L.int64), L.ones(2)),
            lambda: ad.make_dual(L.ones(2), L.ones(2, dtype=L.int64)),
        ):
            with pytest.raises((RuntimeError, ValueError)) as error:
                wrong()
            report(type(error.value).__name__)


@story
def test_of_values_that_share_a_place_the_last_counts(L, report):
    L.manual_seed(0)
    x, t = L.randn(1, 2, 2, dtype=L.float64), L.randn(1, 2, 2, dtype=L.float64)
    index = L.tensor([[[1, 5], [5, 5]]])
    unpool = L.nn.functional.max_unpool2d
    report(L.func.jvp(lambda a: unpool(a, index, 2) ** 2, (x,), (t,)))
    line, row = L.tensor([[1, 1]]), L.nn.functional.max_unpool1d
    report(L.func.jvp(lambda a: row(a, line, 2), (x[0, :1],), (t[0, :1],)))
    report(L.func.grad(lambda a: (unpool(a, index, 2) ** 2).sum())(x))
