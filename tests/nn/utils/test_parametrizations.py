"""Weight norm, spectral norm and orthogonal matrices: as parametrizations and, the first two, as hooks of old."""

import copy
import importlib
import pickle
import warnings

import numpy as np
import pytest

import vistorch
from tests.story import story, torch

MAPS = ["matrix_exp", "cayley", "householder"]


def tools(L):
    return L.nn.utils.parametrizations


LAYERS = {
    "Linear": (lambda L: L.nn.Linear(3, 4), (2, 3)),
    "Conv2d": (lambda L: L.nn.Conv2d(2, 3, 2), (1, 2, 4, 4)),
    "ConvTranspose1d": (lambda L: L.nn.ConvTranspose1d(2, 3, 2), (1, 2, 4)),
}


def trained(L, layer, shape, steps=3):
    """A few steps of an optimizer; the outputs on the way."""
    x = L.linspace(-1, 1, int(np.prod(shape))).view(shape)
    opt = L.optim.SGD(layer.parameters(), lr=0.05)
    seen = []
    for _ in range(steps):
        opt.zero_grad()
        out = layer(x)
        (out**2).sum().backward()
        seen.append((out.detach(), [None if p.grad is None else p.grad.clone() for p in layer.parameters()]))
        opt.step()
    return seen


@pytest.mark.parametrize("kind", LAYERS)
@pytest.mark.parametrize("dim", [0, 1, None, -1])
@story(rtol=1e-4, atol=1e-5)
def test_weight_norm(L, report, kind, dim):
    make, shape = LAYERS[kind]
    layer = make(L)
    before = layer.weight.detach().clone()
    tools(L).weight_norm(layer, dim=dim)
    report(
        repr(layer),
        list(layer.state_dict()),
        layer.state_dict(),
        bool((layer.weight - before).abs().max() < 1e-6),
    )
    report(trained(L, layer, shape), layer.weight)
    layer.weight = before
    report(layer.state_dict())
    L.nn.utils.parametrize.remove_parametrizations(layer, "weight")
    report(layer.weight)


@pytest.mark.parametrize("kind", LAYERS)
@pytest.mark.parametrize("dim", [0, 1, None])
@story(rtol=1e-4, atol=1e-5)
def test_weight_norm_of_old(L, report, kind, dim):
    make, shape = LAYERS[kind]
    layer = make(L)
    old = L.nn.utils.weight_norm
    report(
        report.warns(lambda: old(layer, dim=dim)) is layer,
        repr(layer),
        list(layer.state_dict()),
        layer.state_dict(),
    )
    report(layer.weight, [n for n, _ in layer.named_parameters()], trained(L, layer, shape), layer.weight)
    with L.no_grad():
        layer.weight_g.mul_(2)
    report(layer(L.ones(shape)), layer.weight)
    if dim == 0:
        new = tools(L).weight_norm(make(L))
        report(new.load_state_dict(layer.state_dict()), new.weight)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report.raises(lambda: old(layer))
    report(
        L.nn.utils.remove_weight_norm(layer) is layer,
        list(layer.state_dict()),
        layer.weight,
        layer(L.ones(shape)),
    )
    report.raises(lambda: L.nn.utils.remove_weight_norm(layer))
    report.raises(lambda: old(L.nn.LazyLinear(3)))


@pytest.mark.parametrize("kind", LAYERS)
@pytest.mark.parametrize("options", [{}, {"n_power_iterations": 3}, {"dim": 1}, {"eps": 1e-2}])
@story(rtol=1e-4, atol=1e-5)
def test_spectral_norm(L, report, kind, options):
    make, shape = LAYERS[kind]
    layer = make(L)
    tools(L).spectral_norm(layer, **options)
    report(repr(layer), list(layer.state_dict()), layer.state_dict())
    report(trained(L, layer, shape), layer.eval()(L.ones(shape)), layer.state_dict())
    layer.weight = L.ones_like(layer.weight)
    report(layer.weight, layer.parametrizations.weight.original)
    again = copy.deepcopy(layer)
    report(again.weight, repr(again))
    L.nn.utils.parametrize.remove_parametrizations(layer, "weight")
    report(layer.weight)


@pytest.mark.parametrize("kind", LAYERS)
@pytest.mark.parametrize("options", [{}, {"n_power_iterations": 3}, {"dim": 1}, {"eps": 1e-2}])
@story(rtol=1e-4, atol=1e-5)
def test_spectral_norm_of_old(L, report, kind, options):
    make, shape = LAYERS[kind]
    layer, other = make(L), make(L)
    for each in (layer, other):
        L.nn.utils.spectral_norm(each, **options)
    report(repr(layer), list(layer.state_dict()), layer.state_dict(), layer.state_dict()._metadata)
    report(trained(L, layer, shape), layer.eval()(L.ones(shape)), layer.state_dict())
    report(other.load_state_dict(layer.state_dict()), other.eval()(L.ones(shape)))
    old = layer.state_dict()  # as the first version wrote it: the weight, and no right vector
    del old["weight_v"]
    old["weight"] = layer.weight.detach().clone()
    old._metadata[""]["spectral_norm"] = {}
    del old._metadata[""]["spectral_norm"]
    report(other.load_state_dict(old), other.eval()(L.ones(shape)))
    if kind == "Linear" and "dim" not in options:  # elsewhere the vector is not the only one
        report(other.weight_v)
    del old["weight_u"]
    old.pop("weight", None)
    report.raises(lambda: other.load_state_dict(old))
    report.raises(lambda: L.nn.utils.spectral_norm(layer))
    report(
        L.nn.utils.remove_spectral_norm(layer) is layer,
        list(layer.state_dict()),
        layer.weight,
        layer(L.ones(shape)),
    )
    report(len(layer._state_dict_hooks))
    if L is vistorch:  # torch forgets this one
        assert not layer._load_state_dict_pre_hooks
    report.raises(lambda: L.nn.utils.remove_spectral_norm(layer))


@story
def test_hooks_can_be_pickled(L, report):
    for put in (L.nn.utils.weight_norm, L.nn.utils.spectral_norm):
        layer = L.nn.Linear(2, 3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            put(layer)
        with L.no_grad():
            layer(L.ones(1, 2))
        again = pickle.loads(pickle.dumps(layer))
        report(again.eval()(L.ones(1, 2)), list(again.state_dict()), repr(again))


@story
def test_norms_that_do_not_fit(L, report):
    P = tools(L)
    for wrong in (
        lambda: P.spectral_norm(L.nn.ReLU()),
        lambda: P.spectral_norm(L.nn.Linear(2, 2), "no"),
        lambda: P.spectral_norm(L.nn.Linear(2, 2), dim=2),
        lambda: P.spectral_norm(L.nn.Linear(2, 2), n_power_iterations=0),
        lambda: P.weight_norm(L.nn.Linear(2, 2), "no"),
        lambda: L.nn.utils.spectral_norm(L.nn.Linear(2, 2), n_power_iterations=0),
        lambda: L.nn.utils.spectral_norm(L.nn.Linear(2, 2, bias=False), "bias"),
        lambda: L.nn.utils.spectral_norm(L.nn.LazyLinear(2)),
        lambda: P.orthogonal(L.nn.ReLU()),
        lambda: P.orthogonal(L.nn.Linear(2, 2), "bias"),
        lambda: P.orthogonal(L.nn.Linear(2, 2), orthogonal_map="no"),
        lambda: P.orthogonal(L.nn.Linear(2, 2).to(L.complex64), orthogonal_map="householder"),
    ):
        report.raises(wrong)
    layer = P.spectral_norm(L.nn.Linear(2, 3), "bias")
    report(layer.bias, repr(layer), list(layer.state_dict()))


# ---- orthogonal ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("trivial", [True, False])
@pytest.mark.parametrize("size", [(4, 4), (3, 5), (5, 3), (1, 3)])
@story(rtol=1e-4, atol=1e-5)
def test_orthogonal(L, report, name, trivial, size):
    layer = L.nn.Linear(*size)
    tools(L).orthogonal(layer, orthogonal_map=name, use_trivialization=trivial)
    report(repr(layer).replace("torch", ""), list(layer.state_dict()), layer.weight)
    report(layer.parametrizations.weight.original, trained(L, layer, (2, size[0])), layer.weight)
    Q = layer.weight.detach()
    Q = Q.T if Q.shape[0] < Q.shape[1] else Q
    assert np.allclose((Q.T @ Q).numpy(), np.eye(Q.shape[1]), atol=1e-4)
    if trivial or name == "householder":
        given = L.nn.init.orthogonal_(L.empty(size[1], size[0]))
        layer.weight = given
        report(layer.weight.detach(), bool((layer.weight - given).abs().max() < 1e-5))
        layer.weight = L.tensor(np.random.default_rng(2).normal(size=size[::-1])).float()
        report(layer.weight)
    else:
        report.raises(lambda: setattr(layer, "weight", L.ones(size[1], size[0])))
    report.raises(lambda: setattr(layer, "weight", L.ones(7, 7)))


@pytest.mark.parametrize("name", [None, *MAPS])
@story(rtol=1e-4, atol=1e-5)
def test_orthogonal_batches_and_complex(L, report, name):
    rng = np.random.default_rng(0)
    m = L.nn.Module()
    m.w = L.nn.Parameter(L.tensor(rng.normal(size=(2, 3, 4, 3))))
    tools(L).orthogonal(m, "w", orthogonal_map=name, use_trivialization=False)
    report(m.w)
    (m.w**3).sum().backward()
    report(m.parametrizations.w.original.grad)
    if name != "householder":
        m = L.nn.Module()
        m.w = L.nn.Parameter(L.tensor(rng.normal(size=(3, 3)) + 1j * rng.normal(size=(3, 3))))
        tools(L).orthogonal(m, "w", orthogonal_map=name)
        report(m.w)
        m.w.real.sum().backward()
        report(m.parametrizations.w.original.grad)


@pytest.mark.parametrize("scale", [0.0, 1e-3, 1.0, 30.0])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_matrix_exp(scale, dtype):
    exp = importlib.import_module("vistorch.nn.utils.orthogonal").matrix_exp
    a = np.random.default_rng(0).normal(size=(2, 5, 5)) * scale
    a = ((a - a.swapaxes(-1, -2)) * (1j if dtype == "complex128" else 1)).astype(dtype)
    ours = exp(vistorch.tensor(a)).numpy()
    theirs = torch.matrix_exp(torch.tensor(a)).numpy()
    eps = np.finfo(ours.real.dtype).eps
    np.testing.assert_allclose(ours, theirs, rtol=1e3 * eps, atol=300 * eps * max(1, np.abs(theirs).max()))


def test_second_derivatives_through_the_maps():
    module = importlib.import_module("vistorch.nn.utils.orthogonal")
    a = vistorch.randn(4, 4, dtype=vistorch.float64, requires_grad=True)
    assert vistorch.autograd.gradgradcheck(lambda x: module.matrix_exp(x - x.T), (a,))
    tall = vistorch.randn(4, 2, dtype=vistorch.float64, requires_grad=True)
    tau = vistorch.randn(2, dtype=vistorch.float64, requires_grad=True)
    assert vistorch.autograd.gradcheck(module.householder_product, (tall, tau))
    theirs = torch.linalg.householder_product(
        torch.tensor(tall.tolist()).double(), torch.tensor(tau.tolist()).double()
    )
    np.testing.assert_allclose(
        module.householder_product(tall, tau).detach().numpy(), theirs.numpy(), rtol=1e-5, atol=1e-6
    )
