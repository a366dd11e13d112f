"""Who requires grad, and who may be made to: against PyTorch, in every mode."""

import warnings
from typing import Any

import pytest
import torch

import vistorch

PROGRAMS = r"""
y = x * 2; y.requires_grad = True; r = y.requires_grad
y = x * 2; y.requires_grad_(); r = y.requires_grad
y = x * 2; y.requires_grad_(True); r = y.requires_grad
y = x * 2; y.requires_grad = False
y = x[0]; y.requires_grad = True; r = y.requires_grad
with L.no_grad(): y = x[0]\ny.requires_grad = True; r = y.requires_grad, y.is_leaf
with L.inference_mode(): y = x * 2; r = y.requires_grad, y.is_leaf
with L.inference_mode(): a = L.ones(2).requires_grad_(); y = a * 2; r = a.requires_grad, y.requires_grad, y.is_leaf
with L.inference_mode(): a = L.ones(2, requires_grad=True); y = a[0]; r = a.requires_grad, y.requires_grad, y.is_leaf
with L.inference_mode(): y = x.detach(); r = y.requires_grad
with L.inference_mode(): y = x[0]; r = y.requires_grad, y.is_leaf, y.is_inference()
with L.inference_mode(): y = x.view(-1); r = y.requires_grad
with L.inference_mode(): y = x.clone(); r = y.requires_grad
with L.inference_mode(): y = x + x; r = y.requires_grad
with L.inference_mode(): y = L.stack([x, x]); r = y.requires_grad
with L.inference_mode(): y = x.to(L.float64); r = y.requires_grad
with L.inference_mode(): y = x.contiguous(); r = y.requires_grad, y is x
with L.inference_mode(): y, z = x.unbind(); r = y.requires_grad, z.requires_grad
with L.inference_mode(): x.detach_(); r = x.requires_grad
with L.no_grad(): x.detach_(); r = x.requires_grad
x.detach_(); r = x.requires_grad
y = x * 2; y.detach_(); r = y.requires_grad, y.is_leaf
with L.inference_mode(): y = x.requires_grad_(False); r = x.requires_grad
b = L.zeros(2, dtype=L.bool); b[:] = x; r = b.requires_grad, b.tolist()
b = L.zeros(2, dtype=L.int64); b[:] = x; r = b.requires_grad, b.tolist()
b = L.zeros(2, dtype=L.bool); b[0] = x[0]; r = b.requires_grad, b.tolist()
b = L.zeros(2, dtype=L.int64); b.copy_(x); r = b.requires_grad
b = L.zeros(2, dtype=L.int64); b[L.tensor([0])] = x[:1]; r = b.requires_grad
b = L.zeros(2, dtype=L.bool); b[L.tensor([True, False])] = x[0]; r = b.requires_grad
b = L.zeros(2, dtype=L.int64); b.index_put_((L.tensor([0]),), x[:1]); r = b.requires_grad
b = L.zeros(2, dtype=L.int64); b.masked_fill_(L.tensor([True, False]), x[0]); r = b.requires_grad
b = L.zeros(2, dtype=L.int64); b.fill_(x[0]); r = b.requires_grad
b = L.zeros(2, dtype=L.bool); b.logical_or_(x); r = b.requires_grad
b = L.zeros(2, dtype=L.bool); b.eq_(x); r = b.requires_grad
b = L.zeros(2, dtype=L.int64); b.add_(x)
b = L.zeros(2, dtype=L.bool); b.logical_and_(x); r = b.requires_grad
b = L.zeros(2); b.eq_(x); r = b.requires_grad
y = (x > 0).requires_grad; r = y
x.requires_grad = 1
x.requires_grad = None
L.zeros(2, dtype=L.int64).requires_grad_()
y = L.zeros(2, dtype=L.int64); y.requires_grad = False; r = y.requires_grad
""".strip().splitlines()


def outcome(L: Any, program: str) -> str:
    scope = {"L": L, "x": L.tensor([1.0, 2.0], requires_grad=True), "r": None}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(program.replace("\\n", "\n"), scope)
        except (RuntimeError, TypeError) as refusal:
            return f"{type(refusal).__name__}: {str(refusal).splitlines()[0]}"
    return str(scope["r"])


@pytest.mark.parametrize("program", PROGRAMS)
def test_same(program: str) -> None:
    assert outcome(vistorch, program) == outcome(torch, program).replace("torch", "vistorch")
