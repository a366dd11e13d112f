"""The stepper against a plain backward of an identical graph, forwards and backwards, bit for bit."""

import gc
import random
import threading
import weakref

import numpy as np
import pytest

import vistorch as L
from tests.debug.graphs import bits, build
from vistorch.debug import Stepper

SEEDS = range(120)


def walk(case, **more):
    return Stepper(case.roots, **case.arguments, **more)


def state(stepper, case):
    """All that a step may change: what waits (the objects), every `.grad` (the objects), and their bits."""
    waiting = {n: (g, bits(g)) for n, g in stepper.run.pending.items()}
    grads = [(g, bits(g)) for g in case.grads()]
    return waiting, grads, stepper.run.at, stepper.position, stepper.next_node


def same(a, b):
    waiting_a, grads_a, *rest_a = a
    waiting_b, grads_b, *rest_b = b
    assert rest_a == rest_b
    assert waiting_a.keys() == waiting_b.keys()
    for n, (g, values) in waiting_a.items():
        assert waiting_b[n][1] == values
        if not isinstance(g, list):
            assert waiting_b[n][0] is g
    assert all(g is h and x == y for (g, x), (h, y) in zip(grads_a, grads_b, strict=True))


def grad_bits(case):
    return [bits(g) for g in case.grads()]


@pytest.mark.parametrize("seed", SEEDS)
def test_every_state_comes_back(seed):
    case = build(seed)
    stepper = walk(case)
    states = [state(stepper, case)]
    while stepper.step() is not None:
        states.append(state(stepper, case))
    assert stepper.position == len(states) - 1 <= stepper.count
    for expected in reversed(states[:-1]):
        stepper.back()
        same(state(stepper, case), expected)
    assert stepper.back() is None
    same(state(stepper, case), states[0])


@pytest.mark.parametrize("seed", SEEDS)
def test_random_walks_end_as_backward_does(seed):
    case, copied = build(seed), build(seed)
    existing = case.grads()
    stepper, rng = walk(case), random.Random(seed)
    seen = {}
    for _ in range(3 * stepper.count):
        if rng.random() < 0.6:
            stepper.step()
        else:
            stepper.back()
        # taking a step again computes the same bits, though new objects
        now = {n: bits(g) for n, g in stepper.run.pending.items()}, grad_bits(case)
        assert seen.setdefault(stepper.position, now) == now
    stepper.finish()
    copied.backward()
    assert grad_bits(case) == grad_bits(copied)
    if not case.arguments["create_graph"]:
        # a plain pass adds in place to a `.grad` that is there, unless a hook put another one there
        for before, mine, theirs in zip(existing, case.grads(), copied.grads(), strict=True):
            if before is not None and theirs is not None and mine is not None and mine._version:
                assert mine is before
        assert [g if g is None else g._version for g in case.grads()] == [
            g if g is None else g._version for g in copied.grads()
        ]


@pytest.mark.parametrize("seed", SEEDS)
def test_finish_frees_and_hooks_run_as_in_backward(seed):
    case, copied = build(seed, create_graph=False), build(seed, create_graph=False)
    walk(case).finish()
    copied.backward()
    assert case.log == copied.log
    ends = []
    for one in (case, copied):
        try:
            one.backward()
            ends.append(None)
        except RuntimeError as error:
            ends.append(str(error))
    assert ends[0] == ends[1]
    if ends[0] is None:
        assert grad_bits(case) == grad_bits(copied)


def test_finish_frees_what_ran_and_nothing_else():
    x, y = L.ones(2, requires_grad=True), L.ones(2, requires_grad=True)
    a, b = x.exp(), y.exp()
    Stepper((a * b).sum(), inputs=[x]).finish()
    b.sum().backward()  # the way to y was not run
    assert y.grad.tolist() == b.tolist()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        a.sum().backward()


@pytest.mark.parametrize("keep", ["retain_graph", "create_graph"])
def test_finish_keeps_what_it_is_asked_to_keep(keep):
    x = L.ones(2, requires_grad=True)
    y = x.exp().sum()
    Stepper(y, **{keep: True}).finish()
    y.backward()
    assert np.allclose(x.grad.detach().numpy(), 2 * np.e)


def test_create_graph_frees_if_asked_not_to_retain():
    x = L.ones(2, requires_grad=True)
    y = x.exp().sum()
    Stepper(y, create_graph=True, retain_graph=False).finish()
    with pytest.raises(RuntimeError, match="a second time"):
        y.backward()


@pytest.mark.parametrize("seed", SEEDS)
def test_undo_leaves_no_trace(seed):
    case, copied = build(seed), build(seed)
    before = case.grads()
    stepper = walk(case)
    for _ in range(random.Random(seed).randint(0, stepper.count)):
        stepper.step()
    stepper.undo()
    assert all(a is b for a, b in zip(before, case.grads(), strict=True))
    assert grad_bits(case) == grad_bits(copied)
    case.log.clear()
    case.backward()
    copied.backward()
    assert grad_bits(case) == grad_bits(copied)
    assert case.log == copied.log


def test_a_finished_stepper_does_not_move():
    x = L.ones(2, requires_grad=True)
    for end in ("finish", "undo"):
        stepper = Stepper((x * x).sum())
        getattr(stepper, end)()
        for move in ("step", "back", "first", "last", "finish", "undo"):
            with pytest.raises(RuntimeError, match="was finished or undone"):
                getattr(stepper, move)()


class Refuses(L.autograd.Function):
    """Raises in its backward as often as `left` says."""

    left = 0

    @staticmethod
    def forward(ctx, x):
        return x * 1.0

    @staticmethod
    def backward(ctx, g):
        if Refuses.left:
            Refuses.left -= 1
            raise ZeroDivisionError("refused")
        return g * 3.0


def refusing(kind):
    """A graph with one place that raises once: (case-like roots, tensors)."""
    x = L.tensor([1.0, 2.0], requires_grad=True)
    x.grad = L.ones(2)
    Refuses.left = 1

    def once(*given):
        if Refuses.left:
            Refuses.left -= 1
            raise ZeroDivisionError("refused")

    y = x * 2
    y.retain_grad()
    if kind == "function":
        z = Refuses.apply(y)
    else:
        z = y.sin()
        if kind == "tensor hook":
            y.register_hook(once)
        elif kind == "node hook":
            y.grad_fn.register_hook(once)
        elif kind == "prehook":
            y.grad_fn.register_prehook(once)
        elif kind == "leaf hook":
            x.register_hook(once)
        elif kind == "post-accumulate":
            x.register_post_accumulate_grad_hook(once)
    return (z * y).sum(), x, y


@pytest.mark.parametrize(
    "kind", ["function", "tensor hook", "node hook", "prehook", "leaf hook", "post-accumulate"]
)
def test_an_exception_leaves_the_state_before_the_step(kind):
    root, x, y = refusing(kind)
    stepper = Stepper(root)
    case = type("Case", (), {"grads": lambda self: [x._grad, y._grad]})()
    with pytest.raises(ZeroDivisionError, match="refused"):
        while True:
            before = state(stepper, case)
            stepper.step()
    same(state(stepper, case), before)
    stepper.finish()  # the second time nothing is refused
    mine = bits(x.grad), bits(y.grad)
    root, x, y = refusing(kind)
    Refuses.left = 0
    root.backward()
    assert (bits(x.grad), bits(y.grad)) == mine


def test_a_hook_that_refuses_at_an_input_that_is_no_leaf():
    x = L.ones(2, requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: 1 / 0)
    stepper = Stepper((y * y).sum(), inputs=[y])
    stepper.step()
    stepper.step()
    with pytest.raises(ZeroDivisionError):
        stepper.step()  # the node of `y` itself: it runs, and sends nothing on
    assert stepper.position == 2 and y.grad is None


def test_a_hook_that_refuses_the_last_plumbing_takes_its_step_back():
    x, w = L.ones(2, requires_grad=True), L.ones(2, requires_grad=True)
    y = (x * 2).sum()
    y.register_hook(lambda g: 1 / 0)
    stepper = Stepper((y, w.sum()), inputs=[w])
    stepper.step()
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            stepper.step()
        assert stepper.position == 1 and w.grad is None


def test_context_manager_finishes_or_undoes():
    x = L.ones(3, requires_grad=True)
    with Stepper((x * 2).sum()) as stepper:
        stepper.step()
    assert x.grad.tolist() == [2.0] * 3
    with pytest.raises(KeyError), Stepper((x * 2).sum()) as stepper:
        stepper.last()
        assert x.grad.tolist() == [4.0] * 3
        raise KeyError
    assert x.grad.tolist() == [2.0] * 3


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("outside", ["grad", "no_grad", "inference_mode"])
def test_modes_and_error_states_never_leak(create_graph, outside):
    x = L.ones(3, requires_grad=True)
    modes = []
    x.register_hook(lambda g: modes.append(L.is_grad_enabled()))
    y = (x / 0.0 * 2).exp().sum()
    switch = {"grad": L.enable_grad, "no_grad": L.no_grad, "inference_mode": L.inference_mode}[outside]
    before = np.geterr()
    with switch():
        now = L.is_grad_enabled(), L.is_inference_mode_enabled()
        stepper = Stepper(y, create_graph=create_graph)
        while True:
            frame = stepper.step()
            assert (L.is_grad_enabled(), L.is_inference_mode_enabled()) == now
            assert np.geterr() == before
            if frame is None:
                break
            with pytest.warns(RuntimeWarning, match="overflow"):
                np.float32(3e38) * np.float32(10)
        stepper.back()
    assert L.is_grad_enabled()
    assert modes == [create_graph]
    del stepper  # in the middle
    assert L.is_grad_enabled() and np.geterr() == before


def test_create_graph_can_be_differentiated_again():
    x = L.tensor(2.0, dtype=L.float64, requires_grad=True)
    stepper = Stepper(x * x * x, create_graph=True)
    stepper.last()
    stepper.first()
    stepper.finish()
    assert x.grad.item() == 12.0
    assert L.autograd.grad(x.grad, x)[0].item() == 12.0


@pytest.mark.parametrize("end", ["finish", "undo", "nothing"])
def test_a_stepper_and_its_graph_are_freed_by_reference_counts(end):
    x = L.ones(3, requires_grad=True)
    y = (x * 2).exp().sum()
    node = weakref.ref(y.grad_fn)
    stepper = Stepper(y)
    frame = stepper.step()
    stepper.step()
    if end != "nothing":
        getattr(stepper, end)()
    gc.disable()
    try:
        del y, stepper, frame
        assert node() is None
    finally:
        gc.enable()


def run_all(jobs):
    """Run functions on a thread each, at once; raise what one of them raised."""
    failures, barrier = [], threading.Barrier(len(jobs))

    def guarded(job):
        try:
            barrier.wait()
            job()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def test_two_steppers_and_a_backward_on_three_threads():
    cases = [build(seed, create_graph=False) for seed in range(20)]
    copies = [build(seed, create_graph=False) for seed in range(20)]
    plain = [build(seed, create_graph=False) for seed in range(20)]
    plain_copies = [build(seed, create_graph=False) for seed in range(20)]

    def steps(seeds):
        for seed in seeds:
            stepper = walk(cases[seed])
            for _ in range(3):
                stepper.last()
                stepper.first()
            stepper.finish()
            assert L.is_grad_enabled()

    def backwards():
        for case in plain:
            case.backward()

    run_all([lambda: steps(range(0, 20, 2)), lambda: steps(range(1, 20, 2)), backwards])
    for case, copied in zip(cases + plain, copies + plain_copies, strict=True):
        copied.backward()
        assert grad_bits(case) == grad_bits(copied)
