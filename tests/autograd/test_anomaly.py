"""Anomaly mode: what it warns of, what it raises, how it is switched."""

import vistorch
from tests.autograd.programs import Programs, leaf

programs = Programs()
good, bad = programs.good, programs.bad


@bad("RuntimeError")
def not_a_number(lib):
    x = leaf(lib, 0.0)
    with lib.autograd.set_detect_anomaly(True):
        y = (x * 0).sqrt() * 2
        y.backward(lib.zeros(1))


@bad("RuntimeError")
def second_output(lib):
    x, w = leaf(lib, 1.0), leaf(lib, 0.0)
    with lib.autograd.set_detect_anomaly(True):
        (w / x * lib.tensor([float("inf")])).backward(lib.zeros(1))


@good
def nothing_wrong(lib):
    x = leaf(lib, 1.0, 2.0)
    with lib.autograd.detect_anomaly():
        (x.log() * 3).sum().backward()
    return x.grad, lib.is_anomaly_enabled()


@good
def not_asked_for(lib):
    x = leaf(lib, 0.0)
    with lib.autograd.detect_anomaly(check_nan=False):
        (x * 0).sqrt().backward(lib.zeros(1))
    return x.grad


@good
def forward_before_the_mode(lib):
    x = leaf(lib, 0.0)
    y = (x * 0).sqrt()
    try:
        with lib.autograd.set_detect_anomaly(True):
            y.backward(lib.zeros(1))
    except RuntimeError as error:
        return str(error)


@bad("RuntimeError")
def overwritten(lib):
    x = leaf(lib, 1.0)
    with lib.autograd.set_detect_anomaly(True):
        h = x * 2
        y = h.sin()
        h.mul_(2)
        y.backward()


@bad("RuntimeError")
def in_a_second_derivative(lib):
    x = leaf(lib, 0.0)
    with lib.autograd.set_detect_anomaly(True):
        y = x.sqrt() ** 3
        (g,) = lib.autograd.grad(y, x, lib.ones(1) * 2, create_graph=True)
        g.backward()


@bad("ValueError")
def custom(lib):
    class Wrong(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            raise ValueError("mine")

    x = leaf(lib, 0.0)
    y = Wrong.apply(x)
    with lib.autograd.set_detect_anomaly(True):
        y.backward()


@good
def switches(lib):
    seen = []

    def look():
        seen.append((lib.is_anomaly_enabled(), lib.is_anomaly_check_nan_enabled()))

    look()
    lib.autograd.set_detect_anomaly(True, check_nan=False)
    look()
    with lib.autograd.set_detect_anomaly(False):
        look()
        with lib.autograd.detect_anomaly():
            look()
        look()
    look()
    lib.autograd.set_detect_anomaly(False)
    look()
    try:
        with lib.autograd.set_detect_anomaly(True):
            raise ValueError
    except ValueError:
        look()
    return seen


test_same = programs.test()


def test_recorded_as_usual_inside():
    x = vistorch.ones(2, requires_grad=True)
    with vistorch.autograd.set_detect_anomaly(True):
        y = x.exp()
        assert vistorch.is_grad_enabled() and y.grad_fn.name() == "ExpBackward0"
        with vistorch.no_grad():
            assert not x.exp().requires_grad
