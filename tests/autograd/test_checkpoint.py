"""Checkpointing: gradients, what runs again and when, random numbers, refusals, memory."""

import gc
import importlib
import weakref

import pytest

import vistorch
from tests.autograd.both import torch
from tests.autograd.programs import Programs, leaf

programs = Programs()
good, bad = programs.good, programs.bad


def of(lib):
    return importlib.import_module(lib.__name__ + ".utils.checkpoint")


def inputs(lib):
    return leaf(lib, 0.5, 1.5), leaf(lib, 2.0, -1.0)


def part(x, w):
    return (x * w).sin() * x.exp()


@good
def gradients(lib):
    out = []
    for reentrant in (False, True):
        x, w = inputs(lib)
        y = of(lib).checkpoint(part, x * 1, w, use_reentrant=reentrant)
        (y * y).sum().backward()
        out.append((y, x.grad, w.grad, y.requires_grad))
    return out


@good
def runs_again_only_in_backward(lib):
    log, out = [], []
    for reentrant in (False, True):

        def noisy(x):
            log.append(("run", lib.is_grad_enabled(), x.requires_grad))
            return x.exp().sin()

        x, _ = inputs(lib)
        y = of(lib).checkpoint(noisy, x, use_reentrant=reentrant)
        log.append("forward done")
        y.sum().backward(retain_graph=True)
        log.append("again")
        y.sum().backward()
        out.append(x.grad)
    return log, out


@good
def through_grad_and_twice(lib):
    x, w = inputs(lib)
    y = of(lib).checkpoint(part, x, w, use_reentrant=False)
    (g,) = lib.autograd.grad(y.sum(), x, create_graph=True)
    return g, lib.autograd.grad(g.sum(), [x, w])


@good
def names_nest_and_numbers(lib):
    def inner(x, scale=1.0, *, power):
        return (x * scale) ** power

    def outer(x, w, flag, pair):
        assert flag == "yes"
        y = of(lib).checkpoint(inner, x, scale=2.0, power=3, use_reentrant=False)
        return {"a": y * w, "b": (y.sin(), pair)}

    x, w = inputs(lib)
    out = of(lib).checkpoint(outer, x, w, "yes", pair=(1, 2), use_reentrant=False)
    (out["a"] + out["b"][0]).sum().backward()
    return x.grad, w.grad, out["b"][1]


@good
def nested_reentrant(lib):
    def outer(x):
        return of(lib).checkpoint(lambda t: t.exp().sin(), x * 2, use_reentrant=True) * x

    x, _ = inputs(lib)
    of(lib).checkpoint(outer, x, use_reentrant=True).sum().backward()
    return x.grad


@good
def several_outputs(lib):
    out = []
    for reentrant in (False, True):
        x, w = inputs(lib)
        a, n, b = of(lib).checkpoint(lambda x, w: (x * w, 3, w.exp()), x, w, use_reentrant=reentrant)
        (a * b).sum().backward()
        out.append((n, x.grad, w.grad))
    return out


@good
def parameters_from_outside(lib):
    out = []
    for reentrant in (False, True):
        x, w = inputs(lib)
        of(lib).checkpoint(lambda t, w=w: (t * w).sin(), x, use_reentrant=reentrant).sum().backward()
        out.append((x.grad, w.grad))
    return out


@good
def no_input_requires_grad(lib):
    x, w = inputs(lib)
    y = of(lib).checkpoint(lambda t: t * w, x.detach(), use_reentrant=False)
    y.sum().backward()
    z = of(lib).checkpoint(lambda t: t * 2, x.detach(), use_reentrant=True)
    return w.grad, z.requires_grad


@good
def in_no_grad(lib):
    x, w = inputs(lib)
    with lib.no_grad():
        return [of(lib).checkpoint(part, x, w, use_reentrant=r).requires_grad for r in (False, True)]


@good
def random_numbers(lib):
    out = []
    for reentrant in (False, True):
        for preserve in (True, False):
            lib.manual_seed(3)
            x, _ = inputs(lib)
            seen = []

            def noisy(t, seen=seen):
                noise = lib.rand(2)
                seen.append(noise)
                return (t * noise).exp()

            y = of(lib).checkpoint(noisy, x, use_reentrant=reentrant, preserve_rng_state=preserve)
            between = lib.rand(1)
            y.sum().backward()
            out.append((x.grad, between, lib.rand(1), seen))
    return out


@good
def sequences(lib):
    def shift(x):
        return x + 1

    steps = [lib.exp, lib.sin, shift, lib.cos, lib.exp]
    out = []
    for reentrant in (False, True):
        for segments in (1, 2, 3):
            x, _ = inputs(lib)
            y = of(lib).checkpoint_sequential(steps, segments, x, use_reentrant=reentrant)
            y.sum().backward()
            out.append((y, x.grad))
    return out


@good
def not_said(lib):
    x, w = inputs(lib)
    of(lib).checkpoint(part, x, w).sum().backward()
    of(lib).checkpoint_sequential([lib.exp, lib.sin], 2, x)
    return x.grad


@good
def contexts(lib):
    from contextlib import contextmanager

    log = []

    @contextmanager
    def note(name):
        log.append(name + " in")
        yield
        log.append(name + " out")

    x, w = inputs(lib)
    y = of(lib).checkpoint(
        part, x, w, use_reentrant=False, context_fn=lambda: (note("first"), note("second"))
    )
    y.sum().backward()
    return log, x.grad


@good
def stopping_early(lib):
    out = []
    for early in (True, False):
        log = []

        def noisy(x, log=log):
            y = x.exp()
            log.append("saved")
            return y + 1, log.append("end")

        x, _ = inputs(lib)
        with of(lib).set_checkpoint_early_stop(early):
            y, _ = of(lib).checkpoint(noisy, x, use_reentrant=False)
        y.sum().backward()
        out.append((log, x.grad))
    return out


@good
def written_inside(lib):
    def inplace(x):
        y = x * 2
        y.mul_(x)
        return y.exp()

    x, _ = inputs(lib)
    of(lib).checkpoint(inplace, x, use_reentrant=False).sum().backward()
    return x.grad


@good
def helpers(lib):
    x, w = inputs(lib)
    found = of(lib).detach_variable((x, w.detach(), 3))
    return [t.requires_grad for t in found[:2]], found[2], found[0].grad_fn


@bad("RuntimeError")
def helper_refuses(lib):
    of(lib).detach_variable([lib.ones(1)])


@bad("RuntimeError")
def reentrant_with_grad(lib):
    x, w = inputs(lib)
    lib.autograd.grad(of(lib).checkpoint(part, x, w, use_reentrant=True).sum(), x)


@bad("RuntimeError")
def reentrant_with_inputs(lib):
    x, w = inputs(lib)
    of(lib).checkpoint(part, x, w, use_reentrant=True).sum().backward(inputs=[x])


@bad("RuntimeError")
def nothing_to_differentiate(lib):
    x, _ = inputs(lib)
    of(lib).checkpoint(lambda t: t.detach() * 2, x, use_reentrant=True).sum().backward()


@bad("ValueError")
def names_with_reentrance(lib):
    x, w = inputs(lib)
    of(lib).checkpoint(part, x, w=w, use_reentrant=True)


@bad("ValueError")
def contexts_with_reentrance(lib):
    x, w = inputs(lib)
    of(lib).checkpoint(part, x, w, use_reentrant=True, debug=True)


@bad("ValueError")
def unknown_check(lib):
    x, w = inputs(lib)
    of(lib).checkpoint(part, x, w, use_reentrant=False, determinism_check="some")


@bad("ValueError")
def sequence_names(lib):
    of(lib).checkpoint_sequential([lib.exp], 1, lib.ones(1), use_reentrant=False, other=1)


@bad("RuntimeError")
def twice(lib):
    x, w = inputs(lib)
    y = of(lib).checkpoint(part, x, w, use_reentrant=False).sum()
    y.backward()
    y.backward()


@bad("RuntimeError")
def argument_written(lib):
    x, _ = inputs(lib)
    h = x * 2
    y = of(lib).checkpoint(lambda t: t.exp().sin(), h, use_reentrant=False)
    h.add_(1)
    y.sum().backward()


@bad("ZeroDivisionError")
def error_when_run_again(lib):
    calls = []

    def fails(t):
        calls.append(1)
        return (t / (1 if len(calls) < 2 else 1 / 0)).exp()

    x, _ = inputs(lib)
    of(lib).checkpoint(fails, x, use_reentrant=False).sum().backward()


test_same = programs.test()


def unsteady(first, second):
    calls = []

    def run(t):
        calls.append(1)
        return (first if len(calls) < 2 else second)(t)

    return run


@pytest.mark.parametrize(
    ("first", "second", "lines"),
    [
        (lambda t: t.exp().sin().exp(), lambda t: t.exp() * 1, 1),
        (lambda t: t.exp(), lambda t: t.exp()[:1].exp(), 1),
    ],
    ids=["fewer", "other shape"],
)
def test_something_else_the_second_time(first, second, lines):
    said = []
    for lib in (torch, vistorch):
        x, _ = inputs(lib)
        y = of(lib).checkpoint(unsteady(first, second), x, use_reentrant=False, early_stop=False)
        with pytest.raises(of(lib).CheckpointError) as error:
            y.sum().backward()
        said.append(str(error.value).replace("vistorch", "torch").split("\n")[:lines])
    assert said[0] == said[1] or "trying to save more" in said[1][0]


def test_metadata_is_compared_unless_switched_off():
    def run(check):
        x, _ = inputs(vistorch)
        f = unsteady(lambda t: t.exp(), lambda t: t.double().exp())
        y = vistorch.utils.checkpoint.checkpoint(f, x, use_reentrant=False, determinism_check=check)
        y.sum().backward()

    with pytest.raises(
        vistorch.utils.checkpoint.CheckpointError, match="different metadata than during"
    ) as error:
        run("default")
    assert "float32" in str(error.value) and "float64" in str(error.value)
    run("none")


def test_nothing_inside_is_kept():
    inside = []

    def noted(t):
        for _ in range(3):
            t = t.exp().sin()
            inside.append(weakref.ref(t))
        return t * 2

    x = vistorch.ones(3, requires_grad=True)
    for reentrant in (False, True):
        inside.clear()
        gc.disable()
        try:
            y = vistorch.utils.checkpoint.checkpoint(noted, x, use_reentrant=reentrant)
            assert not any(r() is not None for r in inside)
            y.sum().backward(retain_graph=True)
            assert not any(r() is not None for r in inside)
            node = weakref.ref(y.grad_fn)
            del y
            assert node() is None
        finally:
            gc.enable()


def test_nested_parts_keep_only_the_outer_input():
    kept = []

    def inner(t):
        return t.exp().sin()

    def outer(t):
        h = t * 2
        kept.append(weakref.ref(h))
        h = vistorch.utils.checkpoint.checkpoint(inner, h, use_reentrant=False)
        return h * 1

    x = vistorch.ones(3, requires_grad=True)
    gc.disable()
    try:
        y = vistorch.utils.checkpoint.checkpoint(outer, x, use_reentrant=False)
        assert kept[0]() is None
        y.sum().backward()
    finally:
        gc.enable()
    want = vistorch.ones(3, requires_grad=True)
    inner(want * 2).sum().backward()
    assert x.grad.tolist() == want.grad.tolist()


def test_handle_has_its_public_name():
    x = vistorch.ones(1, requires_grad=True)
    assert isinstance(x.register_hook(print), vistorch.utils.hooks.RemovableHandle)
    hooks = {}
    h = vistorch.utils.hooks.RemovableHandle(hooks)
    hooks[h.id] = print
    h.remove()
    assert hooks == {}
