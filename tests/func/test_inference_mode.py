"""The transforms of `func` within inference mode: they record what they need, and their results are plain tensors."""

import warnings
from typing import Any

import pytest
import torch

import vistorch

PROGRAMS = (
    "F.grad(lambda a: (a * 3).sum())(x)",
    "F.grad(lambda a: (a * a * y).sum())(x)",
    "F.grad(lambda a: (a * a * p).sum())(x)",
    "F.grad(lambda a: (a * a).sum())(p)",
    "F.grad(lambda a: ((a * 1).mul_(2) * y).sum())(x)",
    "F.grad(lambda a: F.grad(lambda b: (b * b * b * y).sum())(a).sum())(x)",
    "F.grad(lambda a: (a * L.is_grad_enabled()).sum())(x)",
    "F.grad(lambda q: F.functional_call(m, q, (x,)).sum())(dict(m.named_parameters()))",
    "F.grad_and_value(lambda a: (a * a * y).sum())(x)",
    "F.vjp(lambda a: a * a * y, x)[0]",
    "F.vjp(lambda a: a * a * y, x)[1](y)",
    "F.jvp(lambda a: a * a * y, (x,), (y,))",
    "F.jacrev(lambda a: a * a * y)(x)",
    "F.jacfwd(lambda a: a * a * y)(x)",
    "F.hessian(lambda a: (a * a * a * y).sum())(x)",
    "A.vjp(lambda a: a * a * y, x, y)",
    "A.jvp(lambda a: a * a * y, x, y)",
    "A.vhp(lambda a: (a * a * y).sum(), x, y)",
    "A.hvp(lambda a: (a * a * y).sum(), x, y)",
    "A.jacobian(lambda a: a * a * y, x)",
    "A.hessian(lambda a: (a * a * y).sum(), x)",
    "L.is_inference_mode_enabled()",
)


def seen(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return [seen(v) for v in value]
    if isinstance(value, dict):
        return {k: seen(v) for k, v in value.items()}
    return (value.tolist(), value.requires_grad, value.is_inference()) if hasattr(value, "detach") else value


def outcome(L: Any, program: str, made_inside: bool) -> Any:
    m = L.nn.Linear(2, 1)
    with L.no_grad():
        m.weight.fill_(2.0), m.bias.fill_(1.0)
    p = L.tensor([2.0, 3.0], requires_grad=True)
    scope = {"L": L, "F": L.func, "A": L.autograd.functional, "m": m, "p": p}
    make = "x, y = L.tensor([1., 2.]), L.tensor([5., 7.])"
    exec(make, scope)
    with L.inference_mode():
        if made_inside:
            exec(make, scope)
        try:
            return seen(eval(program, scope))
        except RuntimeError as refusal:
            return type(refusal).__name__


@pytest.mark.parametrize("made_inside", [False, True])
@pytest.mark.parametrize("program", PROGRAMS)
def test_same(program: str, made_inside: bool) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's jvp opens a compiler that warns
        assert outcome(vistorch, program, made_inside) == outcome(torch, program, made_inside)


def test_an_inference_tensor_is_still_refused_outside() -> None:
    with vistorch.inference_mode():
        y = vistorch.ones(2)
        vistorch.func.grad(lambda a: (a * y).sum())(y)
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        _ = vistorch.ones(2, requires_grad=True) * y
