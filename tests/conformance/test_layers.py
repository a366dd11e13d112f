"""Every sample of PyTorch's database of layers, in double precision: state, result, gradients, and what is refused."""

import contextlib

import numpy as np
import pytest
import torch

import vistorch as L
from tests.conformance.carried import CannotCarry, Carrier, NotFound, refusal
from tests.conformance.database import layers
from tests.ops.library import flat, numpy_of

pytestmark = pytest.mark.filterwarnings("ignore")
AWAY = {"nn.TransformerEncoder"}  # its samples hold layers, each made with its own random numbers
PARTS = 8  # tests that divide the layers among them


def _same(mine, other):
    """Whether tensors are the same, in shape, type and values."""
    if not isinstance(other, torch.Tensor):
        return mine == other
    if "Uninitialized" in type(other).__name__:
        return type(mine).__name__ == type(other).__name__
    return (
        tuple(mine.shape) == tuple(other.shape)
        and str(mine.dtype).removeprefix("vis") == str(other.dtype)
        and mine.requires_grad == other.requires_grad
        and np.allclose(numpy_of(mine), numpy_of(other), 1e-9, 1e-10, equal_nan=True)
    )


def _made(lib, kind, given, value, training):
    """A layer with the random numbers of a seed, or the exception."""
    lib.manual_seed(1)
    try:
        layer = kind(*value(tuple(given.args)), **value(dict(given.kwargs)))
        return layer.to(lib.float64).train(training)
    except (NotFound, CannotCarry):
        raise
    except Exception as refused:
        return refused


def _called(lib, layer, args, kwargs):
    """The tensors of a result, or the exception."""
    lib.manual_seed(2)
    try:
        return flat(layer(*args, **kwargs))
    except Exception as refused:
        return refused


def _difference(kind, sample, training):
    """Where a sample parts from PyTorch's; None if nowhere."""
    theirs = _made(torch, kind, sample.constructor_input, lambda x: x, training)
    ours = _made(L, getattr(L.nn, kind.__name__), sample.constructor_input, Carrier().value, training)
    if isinstance(theirs, Exception) or isinstance(ours, Exception):
        return None if str(theirs) == str(ours) else f"made: {ours!r}, PyTorch's {theirs!r}"
    if repr(ours) != repr(theirs):
        return "repr"
    mine, other = ours.state_dict(), theirs.state_dict()
    if list(mine) != list(other) or not all(_same(mine[key], other[key]) for key in other):
        return "state"
    given, carrier = sample.forward_input, Carrier()
    args, kwargs = carrier.value(tuple(given.args)), carrier.value(dict(given.kwargs))
    expected, found = _called(torch, theirs, given.args, given.kwargs), _called(L, ours, args, kwargs)
    if isinstance(expected, Exception) or isinstance(found, Exception):
        return None if type(expected) is type(found) else f"called: {found!r}, PyTorch's {expected!r}"
    if len(found) != len(expected) or not all(map(_same, found, expected)):
        return "result"
    pairs = [(a, b) for a, b in zip(found, expected, strict=True) if getattr(b, "requires_grad", False)]
    if not pairs:
        return None
    slopes = [torch.ones_like(b) / (1 + torch.arange(b.numel()).view(b.shape)) for _, b in pairs]
    torch.autograd.backward([b for _, b in pairs], slopes)
    L.autograd.backward([a for a, _ in pairs], [Carrier().value(g) for g in slopes])
    for a, b in zip(ours.parameters(), theirs.parameters(), strict=True):
        if not _same_gradient(a, b):
            return "gradient of a parameter"
    if not all(_same_gradient(a, b) for b, a in carrier.leaves if b.is_leaf):
        return "gradient of an input"
    return None


def _same_gradient(a, b):
    return (a.grad is None) == (b.grad is None) and (b.grad is None or _same(a.grad, b.grad))


def _samples(info, training):
    torch.manual_seed(0)
    return info.module_inputs_func(
        info, device="cpu", dtype=torch.float64, requires_grad=True, training=training
    )


@pytest.mark.parametrize("part", range(PARTS))
def test_samples(part):
    names = [name for name in sorted(layers()) if name not in AWAY][part::PARTS]
    wrong, tried = {}, 0
    for name in names:
        for training in (True, False) if layers()[name].train_and_eval_differ else (True,):
            for i, sample in enumerate(_samples(layers()[name], training)):
                if sample.forward_input is None:
                    continue
                with contextlib.suppress(NotFound, CannotCarry):
                    tried += 1
                    if what := _difference(layers()[name].module_cls, sample, training):
                        wrong[f"{name} {i} {sample.desc}"] = what
    assert tried > len(names) and wrong == {}


def test_refusals():
    wrong, tried = {}, 0
    for name, info in layers().items():
        if info.module_error_inputs_func is None:
            continue
        for case in info.module_error_inputs_func(
            info, device="cpu", dtype=torch.float64, requires_grad=False, training=True
        ):
            tried += 1
            expected = _refused(info.module_cls, case.module_error_input, lambda x: x)
            found = _refused(
                getattr(L.nn, info.module_cls.__name__), case.module_error_input, Carrier().value
            )
            if found != expected:
                wrong[f"{name} {tried}"] = found, expected
    assert tried > 50 and wrong == {}


def _refused(kind, given, value):
    """The exception of a case, from its making or from its call."""
    made, called = given.constructor_input, given.forward_input

    def run():
        layer = kind(*value(tuple(made.args)), **value(dict(made.kwargs)))
        if called is not None:
            layer(*value(tuple(called.args)), **value(dict(called.kwargs)))

    return refusal(run)
