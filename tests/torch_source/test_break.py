"""Breakpoints of the session over passes of torch: where they stop, and what is left where they do not."""

import pytest
import torch
from torch import nn

from tests.torch_source import programs
from vistorch import vt
from vistorch.debug import Breakpoints, Stopped
from vistorch.debug.breakpoint_session import session


@pytest.fixture(autouse=True)
def none_left():
    """No breakpoint stays, and torch is as it was."""
    real = torch.autograd.backward
    yield
    session.clear()
    assert torch.autograd.backward is real


def bad():
    x = torch.tensor([0.0, 1.0], requires_grad=True)
    return x, x.sqrt().sum()


def test_a_pass_stops_before_anything_uses_what_is_bad():
    points = Breakpoints()
    points.add("bad")
    x, loss = bad()
    with pytest.raises(Stopped, match="stopped before SqrtBackward0: bad") as stopped:
        loss.backward()
    assert x.grad is None
    stopped.value.stepper.finish()
    assert torch.equal(x.grad, torch.tensor([torch.inf, 0.5]))
    points.clear()
    x, loss = bad()
    loss.backward()
    assert x.grad is not None


@pytest.mark.parametrize("seed", range(12))
def test_a_pass_that_does_not_stop_is_as_it_would_have_been(seed):
    leaves, kept, loss = programs.program(seed)
    try:
        loss.backward()
    except RuntimeError:
        return
    want = programs.grads([*leaves, *kept])
    points = Breakpoints()
    points.add("grad.norm > 1e30")
    leaves, kept, loss = programs.program(seed)
    loss.backward()
    points.clear()
    assert programs.same(want, programs.grads([*leaves, *kept]))


def test_lines_and_modules_are_noted_while_a_breakpoint_needs_them():
    net = nn.Sequential(nn.Linear(2, 3), nn.Sequential(nn.Tanh(), nn.Linear(3, 1)))
    points = Breakpoints()
    points.add("Tanh* @ 1.*")
    loss = net(torch.ones(1, 2)).sum()
    with pytest.raises(Stopped, match=r"stopped before TanhBackward0.*Tanh\* @ 1\.\*"):
        loss.backward()
    points.clear()
    assert torch._C._len_torch_function_stack() == 0
    x = torch.ones(2, requires_grad=True)
    points.add(lambda frame: frame.line is not None and "exp" in frame.line.text)
    loss = x.exp().sum()
    with pytest.raises(Stopped):
        loss.backward()
    points.clear()


def test_an_optimizer_that_changes_nothing_is_stopped_at():
    net = nn.Linear(2, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.0)
    points = Breakpoints()
    points.add("unchanged")
    net(torch.ones(1, 2)).sum().backward()
    with pytest.raises(Stopped, match=r"SGD\.step\(\) left as it was"):
        opt.step()
    points.clear()
    opt.step()


def test_a_pass_that_cannot_be_stepped_runs_and_says_why():
    points = Breakpoints()
    points.add("nan")
    x = torch.ones(2, requires_grad=True)
    loss = torch.utils.checkpoint.checkpoint(torch.exp, x, use_reentrant=True).sum()
    with pytest.warns(UserWarning, match="no breakpoint is looked at in this pass"):
        loss.backward()
    assert x.grad is not None
    points.clear()


def test_the_errors_of_a_pass_are_torchs():
    points = Breakpoints()
    points.add("nan")
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        (torch.ones(2, requires_grad=True) * 2).backward()
    with pytest.raises(RuntimeError, match="does not require grad"):
        torch.ones(()).backward()
    x = torch.ones(2, requires_grad=True)
    y = x.exp().sum()
    y.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.backward()
    points.clear()


def test_the_command_stops_passes_of_both_libraries():
    import vistorch

    vt.break_("bad")
    x, loss = bad()
    with pytest.raises(Stopped):
        loss.backward()
    y = vistorch.tensor([0.0, 1.0], requires_grad=True)
    with pytest.raises(Stopped):
        y.sqrt().sum().backward()
    vt.break_(clear=True)
    loss.backward()
    assert x.grad is not None


@pytest.mark.parametrize("first", ["breakpoint", "listener"])
def test_what_watches_sees_a_pass_that_a_breakpoint_walks(first):
    """A breakpoint that is set before a run is watched must not hide its passes."""
    from vistorch.debug.watch import Run

    net = nn.Linear(2, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    points = Breakpoints()
    if first == "breakpoint":
        points.add("grad.norm > 1e30")
    with Run(net, opt) as run:
        if first == "listener":
            points.add("grad.norm > 1e30")
        for _ in range(3):
            opt.zero_grad()
            (net(torch.ones(1, 2)) ** 2).mean().backward()
            opt.step()
    points.clear()
    assert run.step == 3 and run.loss is not None


def test_a_breakpoint_that_waits_is_listed_so():
    assert str(vt.break_("Tanh*", wait=True)) == "1: Tanh*  (waits)"
    with pytest.raises(vt.Refusal, match="name a condition"):
        vt.break_(wait=True)


def test_an_answer_that_ends_the_cell_is_raised_after_the_pass_was_undone():
    def leave(stop):
        stop.stepper.undo()
        return "end"

    points = Breakpoints(leave)
    points.add("bad")
    x, loss = bad()
    with pytest.raises(Stopped, match="the pass was undone"):
        loss.backward()
    assert x.grad is None
    points.clear()


def test_a_pass_of_several_roots_and_options():
    def run():
        torch.manual_seed(0)
        a, b = torch.randn(3, requires_grad=True), torch.randn(3, requires_grad=True)
        torch.autograd.backward(
            [a.exp(), a * b], [torch.ones(3), torch.arange(3.0)], retain_graph=True, inputs=[a]
        )
        return programs.grads([a, b])

    want = run()
    points = Breakpoints()
    points.add("nan")
    got = run()
    points.clear()
    assert programs.same(want, got) and want[1] is None
