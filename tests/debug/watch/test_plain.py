"""Optimizers over tensors that are in no module, steps that none is seen of, and the stepper while the loop waits."""

import time

import numpy as np

import vistorch
from tests.debug.watch.loops import F, blobs, small_net, small_training
from tests.debug.watch.test_measures import always
from vistorch import nn, optim
from vistorch.debug.watch import watch


def test_an_optimizer_over_plain_tensors_is_watched():
    x, y = blobs(60)
    w = vistorch.zeros(4, 3, requires_grad=True)
    b = vistorch.zeros(3, requires_grad=True)
    opt = optim.SGD([w, b], lr=0.1)
    run = watch(snapshot_every=4)
    run.names = lambda: {w: "w", vistorch.ones(1): "other"}
    with run:
        for _ in range(9):
            opt.zero_grad()
            F.cross_entropy(x @ w + b, y).backward()
            opt.step()
    state = run.state()
    assert run.step == 9 and run.says == [] and state["head"]["parameters"] == 15
    assert state["flow"]["names"] == ["w", "tensor 1"] and state["accuracy"]["window"]["seen"].sum() == 540
    kept = w.detach().numpy().copy()
    run.rewind(5)
    assert run.step == 5 and not np.array_equal(w.detach().numpy(), kept)


def test_two_optimizers_over_plain_tensors():
    a, b = (vistorch.ones(3, requires_grad=True) for _ in range(2))
    first, second = optim.SGD([a], lr=0.1), optim.Adam([b], lr=0.1)
    with watch() as run:
        for _ in range(4):
            first.zero_grad(), second.zero_grad()
            ((a - 2) ** 2 + (b + 1) ** 2).sum().backward()
            first.step(), second.step()
    assert run.step == 4 and run.state()["flow"]["names"] == ["tensor 0", "tensor 1"]
    assert [ours for _, ours in run.optimizers.known.values()] == [True, True] and run.says == []


def test_a_module_that_is_never_called():
    net = nn.Linear(4, 3)
    opt = optim.SGD(net.parameters(), lr=0.1)
    x, y = blobs(30)
    run = watch()
    run.names = lambda: {p: f"net.{name}" for name, p in net.named_parameters()}
    with run:
        for _ in range(3):
            opt.zero_grad()
            F.cross_entropy(F.linear(x, net.weight, net.bias), y).backward()
            opt.step()
    assert run.step == 3 and run.state()["flow"]["names"] == ["net.weight", "net.bias"]


def test_a_run_that_counts_no_step_says_why():
    net, other = small_net(), small_net(1)
    x, y = blobs(30)
    opt = optim.SGD(other.parameters(), lr=0.1)
    with watch(net) as run:
        F.cross_entropy(other(x), y).backward()
        opt.step()
    assert (
        run.says == ["1 step of another optimizer: it holds nothing of the model."]
        and run.says[0] in run.text()
    )
    with watch(net) as run:
        F.cross_entropy(net(x), y).backward()
        with vistorch.no_grad():
            for p in net.parameters():
                p -= 0.1 * p.grad
    assert run.says == ["No optimizer made a step: steps are counted where optimizer.step() is called."]
    with watch(net) as run:
        pass
    assert run.says == []


def test_the_stepper_answers_while_the_loop_waits():
    net, opt, loop = small_training()
    said = []
    with watch(net, opt) as run:
        run.stepper = lambda *_: None

        def poll():
            if run.status == "paused" and not run.commands.waiting:
                said.append(run.say)
                run.command({"do": "stepper" if len(said) == 1 else "resume"})

        run.poll = poll
        run.pause()
        loop(3)
    assert said[0].startswith("Paused after step 1")
    assert said[1] == "Paused after step 1. The stepper opens at the next backward pass: Resume, or one step."


def test_head_and_curve_are_shown_however_dear_a_refresh_is(monkeypatch):
    """Whatever a whole refresh costs, where the run is comes at least four times a second."""
    import importlib

    refresher = importlib.import_module("vistorch.debug.watch.refresher")
    monkeypatch.setattr(refresher, "GLANCE", 0.02)
    net, opt, _ = small_training()
    x, y = blobs(30)
    seen = []

    def notify(run):
        seen.append((run.step, run.delta(0)["loss"]["curve"]["mean"].shape[1]))

    with watch(net, opt, notify=notify) as run:
        for _ in range(12):
            opt.zero_grad()
            F.cross_entropy(net(x), y).backward()
            opt.step()
            run.refresher.next_refresh = float("inf")  # as if it were too dear to come at all
            time.sleep(0.03)
    assert len(seen) >= 10 and all(columns == step + 1 for step, columns in seen[1:-1])


def test_a_glance_loses_nothing_that_a_delta_would_have_brought():
    net, opt, _ = small_training()
    x, y = blobs(30)
    page, version = None, 0
    with always(watch(net, opt, snapshot_every=0)) as run:
        for i in range(40):
            opt.zero_grad()
            F.cross_entropy(net(x), y).backward()
            opt.step()
            run.refresh() if i % 7 == 6 else run.glance()
            delta = run.delta(version)
            version = delta["version"]
            if (flow := delta.get("flow")) and (new := flow["columns"]) is not None:
                mean = (
                    new["mean"] if page is None else np.concatenate((page[:, : new["from"]], new["mean"]), 1)
                )
                page = mean
        run.refresh()
        whole = run.state()["flow"]["columns"]["mean"]
    assert page is not None and np.array_equal(page, whole[:, : page.shape[1]], equal_nan=True)
    assert np.isfinite(page[:, 1:]).all()
