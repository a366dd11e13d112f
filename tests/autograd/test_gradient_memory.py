"""How gradients lie in memory: `.grad` as its leaf, and what `autograd.grad` gives may be written where torch's may.

Invariant: strides of dims of one element say nothing and are not compared.
"""

import pytest
import torch

import vistorch

LIBRARIES = (vistorch, torch)


def strides(t):
    """The strides that say something."""
    return [s for s, n in zip(t.stride(), t.shape, strict=True) if n > 1]


def layouts(L):
    """Leaves whose memory is in another order, or has gaps, or repeats."""
    return {
        "plain": L.ones(2, 3, 4),
        "transposed": L.ones(4, 3, 2).transpose(0, 2),
        "permuted": L.ones(3, 4, 2).permute(2, 0, 1),
        "with gaps": L.ones(2, 3, 8)[..., ::2],
        "expanded": L.ones(2, 3, 1).expand(2, 3, 4),
        "channels last": L.ones(2, 3, 4, 5).contiguous(memory_format=L.channels_last),
    }


USES = {
    "product": lambda L, x: (x * x).sum(),
    "with another order": lambda L, x: (x * L.ones(x.shape[::-1]).permute(*range(x.dim())[::-1])).sum(),
    "twice": lambda L, x: x.sum() + x.exp().sum(),
    "one dim": lambda L, x: x.mean(0).sum(),
    "view": lambda L, x: x.transpose(0, 1).exp().sum(),
}


@pytest.mark.parametrize("use", USES)
def test_grad_lies_as_its_leaf(use):
    found = []
    for L in LIBRARIES:
        row = {}
        for name, x in layouts(L).items():
            x = x.detach().requires_grad_()
            for _ in range(2):
                USES[use](L, x).backward()
                row[name, len(row)] = strides(x.grad)
        found.append(row)
    assert found[0] == found[1]


def test_the_gradient_of_a_convolution_in_channels_last_lies_so():
    found = []
    for L in LIBRARIES:
        layer = L.nn.Conv2d(2, 3, 3).to(memory_format=L.channels_last)
        layer(L.ones(1, 2, 5, 5)).sum().backward()
        found.append(strides(layer.weight.grad))
    assert found[0] == found[1] == [18, 1, 6, 2]


MEANS = {
    "mean of a dim": lambda L, x: x.mean(0).sum(),
    "mean of dims": lambda L, x: x.mean((0, 1)).sum(),
    "mean": lambda L, x: x.mean(),
    "of a view": lambda L, x: x.t().mean(0).sum(),
    "pool": lambda L, x: L.nn.functional.adaptive_avg_pool2d(x[None, None], 1).sum(),
}


@pytest.mark.parametrize("size", [3, 100])
@pytest.mark.parametrize("name", MEANS)
def test_the_gradient_of_a_mean_can_be_written(name, size):
    found = []
    for L in LIBRARIES:
        x = L.ones(size, size, requires_grad=True)
        (g,) = L.autograd.grad(MEANS[name](L, x), x)
        g[0, 0] = 7.0
        g.add_(1)
        found.append((g[0, 0].item(), round(g.sum().item(), 2)))
    assert found[0] == found[1]


@pytest.mark.parametrize("size", [3, 100])
def test_the_gradient_of_a_sum_is_an_expanded_view(size):
    found = []
    for L in LIBRARIES:
        x = L.ones(size, size, requires_grad=True)
        (g,) = L.autograd.grad(x.sum(0).sum(), x)
        with pytest.raises(RuntimeError, match="more than one element"):
            g.add_(1)
        found.append(g._is_view())
    assert found == [True, True]


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("turned", [True, False])
def test_the_gradient_of_a_weight_becomes_grad_without_a_copy(monkeypatch, bias, turned):
    from vistorch.engine.backward import backward_pass

    copied, own = [], backward_pass.own
    monkeypatch.setattr(backward_pass, "own", lambda g, *more: copied.append(g.shape) or own(g, *more))
    for L in LIBRARIES:
        L.manual_seed(0)
        w = L.ones(4, 3).mul_(0.5).requires_grad_() if turned else L.ones(3, 4).requires_grad_()
        x, b = L.arange(6.0).reshape(2, 3), L.ones(4)
        matrix = w.t() if turned else w
        y = L.addmm(b, x, matrix) if bias else L.mm(x, matrix)
        y.backward(L.arange(8.0).reshape(2, 4), retain_graph=True)
        assert strides(w.grad) == [w.shape[1], 1]
        first = w.grad
        y.backward(L.arange(8.0).reshape(2, 4))
        want = L.arange(8.0).reshape(2, 4).t() @ x
        assert L.equal(first, 2 * (want if turned else want.t())) and first is w.grad
    assert copied == []


def test_what_others_hold_of_a_gradient_is_not_shared_with_grad():
    seen = []
    w = vistorch.ones(4, 3).requires_grad_()
    turned = w.t()
    turned.register_hook(seen.append)
    vistorch.mm(vistorch.ones(2, 3), turned).sum().backward()
    w.grad.zero_()  # in PyTorch this writes to what the hook keeps
    assert seen[0].sum().item() == 24
