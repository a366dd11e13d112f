"""Every configuration of PyTorch's database of optimizers: six steps, what is kept, and what is refused."""

import numpy as np
import pytest
import torch

import vistorch as L
from tests.conformance.carried import Carrier, refusal
from tests.conformance.database import optimizers
from tests.ops.library import numpy_of

SHAPES = ((5, 3), (3,), (2, 2), (1,))
ELSEWHERE = {
    "Optimizer",
    "SparseAdam",
}  # the latter needs sparse gradients, which vistorch's tensors do not have
KINDS = sorted(n for n, kind in vars(torch.optim).items() if isinstance(kind, type) and n not in ELSEWHERE)
STEPS = 6
CLOSE = {"LBFGS": 1e-6}  # it divides by differences of gradients

pytestmark = pytest.mark.filterwarnings("ignore")


def _trained(lib, kind, options):
    """The optimizer and its parameters, STEPS steps towards 0.3."""
    rng = np.random.default_rng(0)
    shapes = [shape for shape in SHAPES if kind.__name__ != "Muon" or len(shape) == 2]
    ps = [lib.nn.Parameter(lib.tensor(rng.standard_normal(shape))) for shape in shapes]
    optimizer = kind(ps, **options)

    def closure():
        optimizer.zero_grad()
        loss = sum(((p - 0.3) ** 2).sum() * (i + 1) for i, p in enumerate(ps))
        loss.backward()
        return loss

    for _ in range(STEPS):
        if kind.__name__ != "LBFGS":
            closure()
        optimizer.step(closure)
    return optimizer, ps


def _described(x):
    """A state with its types, and its tensors as arrays."""
    if isinstance(x, torch.Tensor | L.Tensor):
        return str(x.dtype).removeprefix("vis"), tuple(x.shape)
    if isinstance(x, dict):
        return {key: _described(value) for key, value in x.items()}
    if isinstance(x, list | tuple):
        return [_described(value) for value in x]
    return type(x).__name__


def _numbers(x):
    """All numbers of a state, one after the other."""
    if isinstance(x, dict):
        return [n for value in x.values() for n in _numbers(value)]
    if isinstance(x, list | tuple):
        return [n for value in x for n in _numbers(value)]
    if isinstance(x, torch.Tensor | L.Tensor):
        return numpy_of(x).reshape(-1).tolist()
    return [x] if isinstance(x, float | int) else []


def _difference(name, options):
    """Where a configuration parts from PyTorch's; None if nowhere."""
    carried = Carrier().value(options)
    copies = {k: v.clone() if isinstance(v, torch.Tensor) else v for k, v in options.items()}
    theirs, expected = _trained(torch, getattr(torch.optim, name), copies)
    ours, found = _trained(L, getattr(L.optim, name), carried)
    mine, other = ours.state_dict(), theirs.state_dict()
    if repr(ours) != repr(theirs):
        return "repr"
    if _described(mine["state"]) != _described(other["state"]):
        return f"state: {_described(mine['state'])}, PyTorch's {_described(other['state'])}"
    if list(mine["param_groups"][0]) != list(other["param_groups"][0]):
        return "param_groups"
    for a, b in ((found, expected), (mine["state"], other["state"])):
        a, b = np.array(_numbers(a)), np.array(_numbers(b))
        if not np.allclose(a, b, CLOSE.get(name, 1e-9), 1e-11):
            return f"values: by {np.abs(a - b).max()}"
    return None


@pytest.mark.parametrize("name", KINDS)
def test_steps_and_state(name):
    info = optimizers()[name]
    given = list(info.optim_inputs_func(device="cpu", dtype=torch.float64))
    found = {f"{one.desc} {one.kwargs}": _difference(name, one.kwargs) for one in given}
    assert given and {label: what for label, what in found.items() if what} == {}


def _alike(lib, p, value):
    """A parameter or a tensor with its gradient, carried over."""
    made = value(p.detach().clone())
    made = lib.nn.Parameter(made) if isinstance(p, torch.nn.Parameter) else made
    made.grad = None if p.grad is None else value(p.grad.detach().clone())
    return made


def _refused(lib, kind, given, value):
    """The exception of a case, from its making or from its first step."""
    params = given.params
    if isinstance(params, list) and all(isinstance(p, torch.Tensor) for p in params):
        params = [_alike(lib, p, value) for p in params]
    return refusal(
        lambda: kind(value(params) if params is given.params else params, **value(dict(given.kwargs))).step()
    )


@pytest.mark.parametrize("name", KINDS)
def test_refusals(name):
    wrong = {}
    for case in optimizers()[name].optim_error_inputs_func(device="cpu", dtype=torch.float32):
        given = case.optimizer_error_input
        expected = _refused(torch, getattr(torch.optim, name), given, lambda x: x)
        found = _refused(L, getattr(L.optim, name), given, Carrier().value)
        if found != expected:
            wrong[given.desc] = found, expected
    assert wrong == {}
