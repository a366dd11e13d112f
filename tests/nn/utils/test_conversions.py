"""Vectors of parameters, fused batch norms, modules without initial values, memory formats."""

import inspect

import numpy as np
import pytest

import vistorch
from tests.story import story, torch


def test_everything_is_there():
    theirs = set(torch.nn.utils.__all__)
    assert not {name for name in theirs if not hasattr(vistorch.nn.utils, name)}
    for name in theirs:
        mine, other = getattr(vistorch.nn.utils, name), getattr(torch.nn.utils, name)
        if callable(other):
            assert list(inspect.signature(mine).parameters) == list(inspect.signature(other).parameters), name


@story
def test_vectors(L, report):
    utils = L.nn.utils
    net = L.nn.Sequential(L.nn.Linear(2, 3), L.nn.Linear(3, 1))
    vec = utils.parameters_to_vector(net.parameters())
    report(vec)
    vec.sum().backward()
    report(net[0].weight.grad)
    new = L.arange(float(vec.numel()))
    report(utils.vector_to_parameters(new, net.parameters()), list(net.parameters()))
    new[0] = -7
    report(net[0].weight, net[0].weight.is_leaf, net[0].weight.grad)
    for wrong in (
        lambda: utils.vector_to_parameters(3, net.parameters()),
        lambda: utils.vector_to_parameters([1.0], net.parameters()),
        lambda: utils.parameters_to_vector([L.ones(2, 3).t()]),
        lambda: utils.vector_to_parameters(L.ones(2), net.parameters()),
    ):
        report.raises(wrong)


def with_values(L, module, seed=0):
    """All parameters and buffers filled with numbers that do not depend on the library."""
    rng = np.random.default_rng(seed)
    for t in (*module.parameters(), *module.buffers()):
        if t.is_floating_point():
            t.data = L.tensor(rng.uniform(0.5, 2, size=tuple(t.shape))).to(t.dtype)
    return module


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("affine", [True, False])
@story
def test_fused(L, report, bias, affine):
    utils = L.nn.utils
    for conv, bn, x, transpose in (
        (L.nn.Conv1d(2, 3, 2, bias=bias), L.nn.BatchNorm1d(3, affine=affine), L.ones(2, 2, 5), False),
        (
            L.nn.Conv2d(2, 4, 3, groups=2, bias=bias),
            L.nn.BatchNorm2d(4, affine=affine),
            L.ones(2, 2, 5, 5),
            False,
        ),
        (
            L.nn.ConvTranspose2d(2, 4, 3, bias=bias),
            L.nn.BatchNorm2d(4, affine=affine),
            L.ones(2, 2, 5, 5),
            True,
        ),
    ):
        conv, bn = with_values(L, conv).eval(), with_values(L, bn, 1).eval()
        conv.weight.requires_grad_(False)
        fused = utils.fuse_conv_bn_eval(conv, bn, transpose)
        out = fused(x)
        assert np.allclose(out.detach(), bn(conv(x)).detach(), atol=1e-4)
        report(repr(fused), fused.weight, fused.bias, out.detach(), fused.weight is conv.weight)
    linear, bn = (
        with_values(L, L.nn.Linear(2, 3, bias=bias)).eval(),
        with_values(L, L.nn.BatchNorm1d(3), 1).eval(),
    )
    fused = utils.fuse_linear_bn_eval(linear, bn)
    report(repr(fused), fused.weight, fused.bias, fused(L.ones(2, 2)))
    one = with_values(L, L.nn.BatchNorm1d(1)).eval()
    report(utils.fuse_linear_bn_eval(linear, one).weight)
    for wrong in (
        lambda: utils.fuse_conv_bn_eval(conv.train(), bn),
        lambda: utils.fuse_linear_bn_eval(linear, L.nn.BatchNorm1d(3)),
        lambda: utils.fuse_linear_bn_eval(linear, L.nn.BatchNorm1d(5).eval()),
        lambda: utils.fuse_linear_bn_eval(linear, L.nn.BatchNorm1d(3, track_running_stats=False).eval()),
        lambda: utils.fuse_conv_bn_eval(conv.eval(), L.nn.BatchNorm2d(4, track_running_stats=False).eval()),
    ):
        report.raises(wrong)


@story
def test_half_precision_stays(L, report):
    conv, bn = (
        with_values(L, L.nn.Conv2d(1, 2, 1)).eval().to(L.bfloat16),
        with_values(L, L.nn.BatchNorm2d(2)).eval(),
    )
    fused = L.nn.utils.fuse_conv_bn_eval(conv, bn)
    report(fused.weight, fused.bias)


@story
def test_without_initial_values(L, report):
    before = L.get_rng_state().clone()
    made = L.nn.utils.skip_init(L.nn.Linear, 3, 4, bias=False, dtype=L.float64)
    report(bool((L.get_rng_state() == before).all()), repr(made), made.weight.shape, made.weight.dtype)
    report(type(made.weight), made.weight.requires_grad, L.rand(2))

    class Own(L.nn.Module):
        pass

    report.raises(lambda: L.nn.utils.skip_init(Own))
    report.raises(lambda: L.nn.utils.skip_init(int))
    report.raises(lambda: L.nn.utils.skip_init(L.nn.Linear, 3, device="cpu"))


@story
def test_memory_formats(L, report):
    utils = L.nn.utils
    net = L.nn.Sequential(
        L.nn.Conv2d(2, 3, 2), L.nn.Sequential(L.nn.ConvTranspose2d(3, 2, 2)), L.nn.Conv3d(2, 3, 2)
    )
    before = net[0].weight.detach().clone()
    report(utils.convert_conv2d_weight_memory_format(net, L.channels_last) is net)
    report([p.stride() for p in net.parameters()])
    utils.convert_conv3d_weight_memory_format(net, L.channels_last_3d)
    report([p.stride() for p in net.parameters()], bool((net[0].weight == before).all()))
