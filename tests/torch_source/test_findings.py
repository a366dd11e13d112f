"""The alarm and the findings of a watched run on torch: the op, the line and the number, as on the engine."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from vistorch.debug.source import named
from vistorch.debug.watch import watch
from vistorch.debug.watch.origin import origin_of
from vistorch.torch_source import private

F = nn.functional


@pytest.fixture(autouse=True)
def looks_at_every_step(monkeypatch):
    """Steps of tests are shorter than the time between two looks."""
    import importlib

    monkeypatch.setattr(importlib.import_module("vistorch.debug.watch.budget"), "LOOK", 0.0)


def guilty(text="# the guilty line"):
    with open(__file__) as file:
        return next(i for i, line in enumerate(file, 1) if text in line and "def guilty" not in line)


def started(lr=0.1, **more):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    opt = torch.optim.SGD(net.parameters(), lr=lr)
    run = watch(net, opt, snapshot_every=5, **more)
    run.budget.jobs["snapshots"].every = 5
    return run, net, opt


def trained(run, net, opt, loss_of, steps=20, clear=lambda i: True, at=lambda i: None):
    x = torch.randn(30, 4, generator=torch.Generator().manual_seed(1))
    y = x[:, :3].argmax(1)
    with run:
        for i in range(1, steps + 1):
            if clear(i):
                opt.zero_grad()
            loss_of(i, net(x), y).backward()
            opt.step()
            at(i)
    return run


def entropy(i, scores, y):
    """Right until step 15, where scores grow so far apart that a probability is 0."""
    p = (scores * (1e4 if i == 15 else 1.0)).softmax(-1)
    h = (p * p.log()).sum(-1).mean()  # the guilty line
    return F.cross_entropy(scores, y) + 0.1 * h


# ---- where it was made ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("followed", [True, False])
def test_the_alarm_names_the_op_the_line_and_the_number(followed):
    run, net, opt = started(findings=followed)
    trained(run, net, opt, entropy)
    origin = run.alarm.origin
    assert origin.op == "log" and origin.fact[0] == "inputs that are 0"
    said = run.state()["head"]["alarm"]["cause"]
    if followed:
        assert origin.line.line == guilty() and origin.line.file == __file__
        assert f"Made at log in line {guilty()} of " in said and said.endswith("values were 0.")
    else:
        assert origin.line is None and said.startswith("Made at log: ")
    one = run.state()["findings"]["items"][0]
    assert one["rule"] == "alarm" and one["line"] == (guilty() if followed else None)
    assert said in run.text()


def root_of(i, s, y):
    return (s.abs().sum(1) * (-1.0 if i == 12 else 1.0)).sqrt().mean()  # the root


def power_of(i, s, y):
    return ((s.abs() * 3) ** (400.0 if i == 12 else 1.0)).mean()  # the power


def quotient_of(i, s, y):
    return ((s - s) / ((s * (i != 12)).abs().sum(1, keepdim=True))).sum() + s.mean()  # the quotient


def exponential_of(i, s, y):
    return (s * (1e3 if i == 12 else 1)).exp().mean()  # the exponential


def half_of(i, s, y):
    return ((s.cos() + s.cos() * 9).half() * (6e4 if i == 12 else 1)).float().mean()  # the half


def logits_of(i, s, y):
    return F.nll_loss((s * (1e4 if i == 12 else 1)).softmax(1).log(), y)  # the logits


@pytest.mark.parametrize(
    ("loss_of", "op", "mark", "fact"),
    [
        (root_of, "sqrt", "# the root", "inputs below 0"),
        (power_of, "pow", "# the power", "largest input"),
        (quotient_of, "div", "# the quotient", "inputs that are 0"),
        (exponential_of, "exp", "# the exponential", "largest input"),
        (half_of, "mul", "# the half", "largest input"),
        (logits_of, "log", "# the logits", "inputs that are 0"),
    ],
)
def test_each_op_that_leaves_its_range_is_named_with_its_line(loss_of, op, mark, fact):
    run, net, opt = started(lr=1e-4)
    trained(run, net, opt, loss_of)
    origin = run.alarm.origin
    assert run.alarm.step == 12 and origin is not None, run.alarm.say()
    assert (origin.op, origin.line.line) == (op, guilty(mark)) and origin.fact[0] == fact


def test_an_op_within_a_call_has_the_line_of_the_call():
    run, net, opt = started(lr=1e-4)

    def loss_of(i, s, y):
        s = s * (1e30 if i == 12 else 1)
        return (
            F.mse_loss(s, F.one_hot(y, 3).float(), reduction="none").mean()
            + F.cosine_similarity(s, s.detach() * 0 + 1).mean()
        )

    trained(run, net, opt, loss_of)
    place = run.alarm.origin.line
    assert run.alarm.origin.op in ("mse_loss", "pow", "sub") and place.file == __file__ and place.text


def test_what_is_not_known_is_not_named():
    run, net, opt = started()
    trained(run, net, opt, lambda i, s, y: F.cross_entropy(s, y) * (math.nan if i == 5 else 1.0))
    assert run.alarm.kind == "NaN" and run.alarm.origin is None  # the factor is a constant: no op made it


def test_the_op_is_the_first_that_gives_what_is_not_finite():
    """Over random chains, beside torch: what the graph says is the first op whose result is not finite."""
    rng = np.random.default_rng(0)
    ops = [
        ("exp", lambda x: x.exp()),
        ("log", lambda x: x.log()),
        ("sqrt", lambda x: x.sqrt()),
        ("mul", lambda x: x * 7.0),
        ("div", lambda x: x / (x - x[0])),
        ("reciprocal", lambda x: x.reciprocal()),
        ("sigmoid", lambda x: x.sigmoid()),
        ("pow", lambda x: x**3),
        ("sub", lambda x: x - 1.0),
        ("tanh", lambda x: x.tanh()),
    ]
    source, named_, bad = named("torch"), 0, 0
    for _ in range(300):
        x = torch.tensor(rng.normal(0, 3, 5), dtype=torch.float32, requires_grad=True)
        value, first = x, None
        for k in rng.integers(0, len(ops), 5):
            value = ops[k][1](value)
            if first is None and not bool(torch.isfinite(value).all()):
                first = ops[k][0]
        loss = value.sum()
        if first is None or math.isfinite(loss.item()):
            continue
        bad += 1
        found = origin_of(source.order((loss,)), (loss,), source)
        if found is not None:
            named_ += 1
            assert found.op == first
    # after `x - 1.0` the graph of torch does not know what was taken away
    assert bad > 100 and named_ > 0.6 * bad, (named_, bad)


# ---- what the rules find -------------------------------------------------------------------------------------------
def always(run):
    run.budget.jobs["findings"].every, run.budget.jobs["findings"].share = 1, float("inf")
    return run


def test_a_finding_stands_in_the_state_and_is_withdrawn_when_its_evidence_goes():
    run, net, opt = started()
    always(run)
    seen = []

    def at(i):
        seen.append([one["rule"] for one in run.state()["findings"]["items"]])

    trained(run, net, opt, lambda i, s, y: F.cross_entropy(s, y), 60, clear=lambda i: i > 20, at=at)
    assert seen[3] == [] and seen[15] == ["used twice"] and seen[-1] == []
    whats = [(e.what, e.effect) for e in run.log.entries]
    assert [w for w, _ in whats] == ["finding", "finding withdrawn"]
    assert whats[0][1].startswith("Gradients are never cleared")


def test_a_frozen_layer_that_an_optimizer_holds_is_found():
    run, net, opt = started()
    net[0].weight.requires_grad_(False)
    trained(always(run), net, opt, lambda i, s, y: F.cross_entropy(s, y), 40)
    one = run.state()["findings"]["items"][0]
    assert one["rule"] == "frozen random" and one["tree"]


def test_what_is_meant_is_not_found_again():
    run, net, opt = started()

    def at(i):
        if i == 12:
            run.command({"do": "meant", "number": 0})

    trained(always(run), net, opt, lambda i, s, y: F.cross_entropy(s, y), 60, clear=lambda i: False, at=at)
    assert run.state()["findings"]["items"] == []


def test_a_healthy_run_has_no_finding_and_says_which_rules_looked():
    run, net, opt = started()
    trained(run, net, opt, lambda i, s, y: F.cross_entropy(s, y))
    found = run.state()["findings"]
    assert found["items"] == [] and run.findings.failures == []
    assert {"name": "used twice", "title": "gradients used twice", "looked": True} in found["rules"]


# ---- nothing of the loop is changed --------------------------------------------------------------------------------
def test_a_run_that_is_watched_learns_the_same_bits():
    made = []
    for on in (True, False):
        run, net, opt = started(findings=on)
        trained(always(run), net, opt, lambda i, s, y: F.cross_entropy(s, y), 60)
        made.append([p.detach().clone() for p in net.parameters()])
    assert all(torch.equal(a, b) for a, b in zip(*made, strict=True))


def test_windows_leave_nothing_of_theirs_in_torch():
    before = [torch.autograd.backward, nn.Module.train, torch.optim.Optimizer.zero_grad, torch.manual_seed]
    run, net, opt = started()
    open_at = []
    trained(
        run,
        net,
        opt,
        lambda i, s, y: F.cross_entropy(s, y),
        40,
        at=lambda i: open_at.append(run.findings.window),
    )
    assert open_at[2] is not None and open_at[12] is None and run.findings.window is None
    after = [torch.autograd.backward, nn.Module.train, torch.optim.Optimizer.zero_grad, torch.manual_seed]
    assert before == after and not hasattr(torch.Tensor, "_data")
    assert torch._C._len_torch_function_stack() == 0


def test_a_mode_of_the_programs_is_left_as_it_was_entered():
    class Mine(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    run, net, opt = started()
    always(run)
    with Mine():
        trained(run, net, opt, lambda i, s, y: F.cross_entropy(s, y), 30)
        assert torch._C._len_torch_function_stack() == 1
    assert torch._C._len_torch_function_stack() == 0 and run.findings.failures == []


def test_hooks_may_be_added_and_removed_within_a_step():
    calls, handles = [], []

    def first(*given):
        handles.extend(
            private.on_optimizer_step(lambda *g: calls.append("late before"), lambda *g: calls.append("late"))
        )

    own = private.on_optimizer_step(lambda *g: None, first)
    p = nn.Parameter(torch.ones(2))
    opt = torch.optim.SGD([p], lr=0.1)
    p.grad = torch.ones(2)
    opt.step()
    assert calls == []  # of this step it sees nothing
    own[1].remove()
    opt.step()
    assert calls == ["late before", "late"]
    for handle in (*own, *handles):
        handle.remove()
    opt.step()
    assert len(calls) == 2


def test_a_compiled_model_is_not_followed():
    torch.manual_seed(0)
    net = torch.compile(nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 3)), backend="eager")
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    run = watch(net, opt)
    trained(run, net, opt, lambda i, s, y: F.cross_entropy(s, y), 12)
    assert run.status == "finished" and run.findings.window is None and not run.findings.on
