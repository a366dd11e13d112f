"""Averaged models and their statistics against torch's."""

import numpy as np
import pytest

import vistorch
from tests.story import story

exact = story(rtol=1e-6, atol=1e-7)


def network(L):
    net = L.nn.Sequential(L.nn.Linear(3, 4), L.nn.BatchNorm1d(4), L.nn.Linear(4, 2).double())
    rng = np.random.default_rng(0)
    with L.no_grad():
        for p in net.parameters():
            p.copy_(L.tensor(rng.normal(size=tuple(p.shape))))
    return net


def moved(L, net, i):
    """The net after some training."""
    rng = np.random.default_rng(i)
    with L.no_grad():
        for p in net.parameters():
            p.add_(L.tensor(rng.normal(size=tuple(p.shape))).to(p.dtype))
        net[1].running_mean.add_(i)
        net[1].num_batches_tracked.add_(3)
    return net


WAYS = {
    "mean": lambda api: {},
    "ema": lambda api: {"avg_fn": api.get_ema_avg_fn(0.7)},
    "swa": lambda api: {"avg_fn": api.get_swa_avg_fn()},
    "multi ema": lambda api: {"multi_avg_fn": api.get_ema_multi_avg_fn(0.7)},
    "multi swa": lambda api: {"multi_avg_fn": api.get_swa_multi_avg_fn()},
    "own": lambda api: {"avg_fn": lambda average, p, count: average + p * count},
    "device": lambda api: {"device": "cpu"},
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("buffers", [False, True])
@exact
def test_averages(L, report, way, buffers):
    net = network(L)
    mean = L.optim.swa_utils.AveragedModel(net, use_buffers=buffers, **WAYS[way](L.optim.swa_utils))
    report(mean.n_averaged, list(mean.state_dict()))
    for i in range(5):
        report.raises(lambda i=i: mean.update_parameters(moved(L, net, i)))
        if way == "multi swa" and buffers and i:
            return  # integers are not divided in place: refused half way, each library in its own order
        report(
            mean.n_averaged, {k: v for k, v in mean.state_dict().items() if "tracked" not in k or not buffers}
        )
    report(repr(mean), [p.requires_grad for p in mean.parameters()])


@exact
def test_lists_of_numbers_of_any_type(L, report):
    api = L.optim.swa_utils
    for dtype in (L.int64, L.float64, L.complex128):
        for count in (3, L.tensor(3)):
            for function in (api.get_ema_multi_avg_fn(0.25), api.get_swa_multi_avg_fn()):
                averages = [L.tensor([4, 8]).to(dtype), L.tensor([[16]]).to(dtype)]
                given = [L.tensor([8, 4]).to(dtype), L.tensor([[32]]).to(dtype)]
                report.raises(lambda f=function, a=averages, b=given, c=count: f(a, b, c))
                report(averages)


@exact
def test_statistics(L, report):
    net = L.nn.Sequential(L.nn.Linear(3, 4), L.nn.BatchNorm1d(4, momentum=0.3), L.nn.Dropout())
    with L.no_grad():
        net[0].weight.copy_(L.arange(12.0).reshape(4, 3) / 5)
        net[0].bias.zero_()
    rng = np.random.default_rng(0)
    data = [L.tensor(rng.normal(size=(6, 3)).astype("float32")) for _ in range(4)]
    net.eval()
    for loader in (data, [(x, 1) for x in data], [[x] for x in data[:2]]):
        L.optim.swa_utils.update_bn(loader, net, device="cpu")
        report(net[1].running_mean, net[1].running_var, net[1].num_batches_tracked, net[1].momentum)
        report(net.training, net[1].training)
    report.raises(lambda: L.optim.swa_utils.update_bn(None, net[0]))


@story
def test_errors(L, report):
    api = L.optim.swa_utils
    one = api.get_swa_avg_fn()
    report.raises(lambda: api.AveragedModel(L.nn.Linear(1, 1), avg_fn=one, multi_avg_fn=one))
    for decay in (-0.1, 1.5):
        report.raises(lambda decay=decay: api.get_ema_avg_fn(decay))
        report.raises(lambda decay=decay: api.get_ema_multi_avg_fn(decay))


def test_the_average_is_a_copy_and_does_not_follow():
    net = vistorch.nn.Linear(2, 2)
    mean = vistorch.optim.swa_utils.AveragedModel(net)
    mean.update_parameters(net)
    kept = mean.module.weight.detach().clone()
    with vistorch.no_grad():
        net.weight.add_(1)
    assert bool((mean.module.weight == kept).all())
    assert mean(vistorch.ones(2)).grad_fn is not None
