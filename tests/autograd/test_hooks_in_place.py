"""Hooks that write the gradient they are given, against PyTorch's; a scalar's first gradient is shared and locked."""

import pytest
import torch

import vistorch

IN_PLACE = {
    "scalar": "y = v * 3; y.register_hook(double); y.backward()",
    "leaf": "v.register_hook(double); (v * 3).backward()",
    "root leaf": "v.register_hook(double); v.backward()",
    "view of the root": "y = v * 3; y.register_hook(double); y.view(()).backward()",
    "clone of the root": "y = v * 3; y.register_hook(double); y.clone().backward()",
    "prehook": "y = v * 3; y.grad_fn.register_prehook(lambda g: (g[0].mul_(2),)); y.backward()",
    "post hook": "y = v * 3; y.grad_fn.register_hook(lambda i, o: (i[0].mul_(2), i[1])); y.backward()",
    "node": "class Twice(L.autograd.Function):\n"
    "    forward = staticmethod(lambda ctx, x: x * 2)\n"
    "    backward = staticmethod(lambda ctx, g: g.mul_(2))\n"
    "Twice.apply(v).backward()",
    "twice": "y = v * 3; y.register_hook(double); y.backward(retain_graph=True); y.backward()",
}


@pytest.mark.parametrize("program", IN_PLACE.values(), ids=IN_PLACE)
def test_a_hook_may_write_the_gradient_of_a_scalar(program: str) -> None:
    found = []
    for L in (vistorch, torch):
        v = L.tensor(2.0, requires_grad=True)
        scope = {"L": L, "v": v, "double": lambda g: (g.mul_(2), None)[1]}
        exec(program, scope)
        other = L.tensor(2.0, requires_grad=True)
        (other * 5).backward()  # what later passes start with is what it was
        found.append((v.grad.item(), other.grad.item()))
    assert found[0] == found[1]
