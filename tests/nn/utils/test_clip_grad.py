"""Clipping gradients: the same norms, gradients and sentences as torch's."""

import numpy as np
import pytest

import vistorch
from tests.story import story, torch

ORDERS = [2, 2.0, 1, 3.5, 0, float("inf"), float("-inf"), "2"]


def parameters(L, *dtypes, scale=3.0):
    rng = np.random.default_rng(1)
    made = []
    for i, dtype in enumerate(dtypes or ("float32",) * 3):
        p = L.nn.Parameter(L.zeros(4, 3 + i, dtype=getattr(L, dtype)))
        p.grad = L.tensor(rng.normal(size=(4, 3 + i)) * scale).to(getattr(L, dtype))
        made.append(p)
    return made


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("limit", [1.0, 100, "0.5"])
@story
def test_norms(L, report, order, limit):
    for dtypes in ((), ("float64", "float64"), ("float32", "float64"), ("float16", "float16"), ("bfloat16",)):
        ps = parameters(L, *dtypes, scale=0.5)
        report(L.nn.utils.get_total_norm([p.grad for p in ps], order))
        report(
            L.nn.utils.clip_grad_norm_(ps, limit, order), [p.grad for p in ps], [p.grad._version for p in ps]
        )


@story
def test_what_may_be_clipped(L, report):
    clip = L.nn.utils.clip_grad_norm_
    (p,) = parameters(L, "float32")
    report(clip(p, 1.0), p.grad)
    report(clip((q for q in [p]), 0.5), p.grad)
    report(clip([L.nn.Parameter(L.ones(2))], 1.0), clip([], 1.0))
    report(report.warns(lambda: clip(iter(()), 1.0)), report.warns(lambda: clip((q for q in ()), 1.0)))
    report(report.warns(lambda: L.nn.utils.clip_grad_norm([p], 0.1)), p.grad)
    p.grad = p.grad.t().contiguous().t()  # not flat in memory
    report(clip(p, 0.01), p.grad, p.grad.stride())
    p.grad = L.zeros_like(p)
    report(clip(p, 1.0), p.grad)
    c = L.nn.Parameter(L.zeros(2, dtype=L.complex64))
    c.grad = L.tensor([3 + 4j, 1j])
    report(clip(c, 1.0), c.grad)
    total = L.nn.utils.get_total_norm(parameters(L)[0].grad)
    ps = parameters(L)
    report(L.nn.utils.clip_grads_with_norm_(ps, 2.0, total), [p.grad for p in ps], total)
    report(L.nn.utils.clip_grads_with_norm_([], 2.0, total), L.nn.utils.get_total_norm([]))
    report.raises(lambda: clip(p, "a"))
    report.raises(lambda: clip(3, 1.0))


@story
def test_numbers_that_are_not_finite(L, report):
    for bad in (float("nan"), float("inf"), 3e38):
        (p,) = parameters(L, "float32")
        p.grad[0, 0] = bad
        before = p.grad.clone()
        for order in (2, 1, float("inf")):
            report.raises(
                lambda p=p, order=order: L.nn.utils.clip_grad_norm_(p, 1.0, order, error_if_nonfinite=True)
            )
        report(bool(((p.grad == before) | before.isnan()).all()) if bad < 3e38 else "")
        report(L.nn.utils.clip_grad_norm_(p, 1.0), p.grad)


@pytest.mark.parametrize("foreach", [None, False, True])
@story
def test_values(L, report, foreach):
    for dtypes in ((), ("float64", "float32"), ("float16",), ("bfloat16",)):
        ps = parameters(L, *dtypes)
        ps[0].grad[0, 0] = float("nan")
        report(L.nn.utils.clip_grad_value_(ps, 0.5, foreach=foreach), [p.grad for p in ps])
    big = L.nn.Parameter(L.zeros(100, 70))
    big.grad = L.linspace(-3, 3, 7000).view(100, 70)
    L.nn.utils.clip_grad_value_((p for p in [big]), "1.5")
    report(big.grad)
    report.raises(lambda: L.nn.utils.clip_grad_value_(big, "a"))


def test_no_gradient_is_nothing_to_do():
    """Where torch stumbles over an empty list."""
    p = vistorch.nn.Parameter(vistorch.ones(1))
    vistorch.nn.utils.clip_grad_value_([p], 1)
    vistorch.nn.utils.clip_grad_value_([], 1)
    assert p.grad is None


def test_a_clipped_gradient_counts_its_writes_and_emits_them():
    seen = []

    class Listens(vistorch.engine.base.events.Listener):
        def write(self, tensor, rule):
            seen.append(tensor)

    (p,) = parameters(vistorch, "float32")
    with Listens():
        vistorch.nn.utils.clip_grad_value_(p, 0.1)
    assert seen == [p.grad]
    assert p.grad._version == 1


@pytest.mark.filterwarnings("ignore:Using backward")
def test_gradients_that_have_history():
    """Clipped in place, outside any graph, as torch does."""
    results = []
    for L in (vistorch, torch):
        p = L.nn.Parameter(L.tensor([3.0, 4.0]))
        (p**3).sum().backward(create_graph=True)
        assert p.grad.requires_grad
        L.nn.utils.clip_grad_norm_(p, 1.0)
        results.append((p.grad.detach().numpy().copy(), p.grad.requires_grad))
        p.grad = None
    np.testing.assert_allclose(results[0][0], results[1][0], rtol=1e-6)
    assert results[0][1] == results[1][1]
