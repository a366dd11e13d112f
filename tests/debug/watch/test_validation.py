"""Validation is kept apart from training, however its labels are met."""

import numpy as np
import pytest

import vistorch
from tests.debug.watch.loops import F, blobs, conv_net, pictures, small_net, small_training
from vistorch import nn, optim
from vistorch.debug.watch import watch
from vistorch.debug.watch.ops import PATIENCE
from vistorch.engine.base.events import Listener, listeners
from vistorch.utils.data import DataLoader, TensorDataset


def fine(run):
    assert run.says == [], run.says
    return run


def one_step(net, opt, x, y):
    F.cross_entropy(net(x), y).backward()
    opt.step()


def validate_by_loss(net, x, y):
    return F.cross_entropy(net(x), y)


def validate_by_argmax(net, x, y):
    pred = net(x).argmax(dim=1, keepdim=True)
    return pred.eq(y.view_as(pred)).sum().item()


def validate_by_max(net, x, y):
    _, pred = vistorch.max(net(x).data, 1)
    return (pred == y).sum().item()


def validate_by_both(net, x, y):
    out = net(x)
    F.nll_loss(F.log_softmax(out, 1), y, reduction="sum").item()
    return (out.argmax(1) == y).sum().item()


@pytest.mark.parametrize("look", [validate_by_loss, validate_by_argmax, validate_by_max, validate_by_both])
def test_validation_is_kept_apart(look):
    net, opt, loop = small_training()
    x, y = blobs(50, seed=1)
    with watch(net, opt, findings=False) as run:
        for _ in range(2):
            net.train()
            loop(6)
            net.eval()
            with vistorch.no_grad():
                for i in range(0, 50, 20):
                    look(net, x[i : i + 20], y[i : i + 20])
    with vistorch.no_grad():
        out = net(x)
    checks = fine(run).state()["validation"]
    assert [(c["step"], c["samples"]) for c in checks] == [(6, 50), (12, 50)]
    assert checks[1]["accuracy"] == pytest.approx((out.argmax(1) == y).float().mean().item())
    assert checks[1]["loss"] == pytest.approx(F.cross_entropy(out, y).item(), rel=1e-6)
    assert len(run.metrics.window.rows) == 120  # of training
    expected = np.zeros((3, 3), int)
    np.add.at(expected, (y.numpy(), out.argmax(1).numpy()), 1)
    assert (run.confusion("validation") == expected).all()


def test_a_model_that_trains_in_eval_mode_trains():
    net, opt, loop = small_training()
    net.eval()
    with watch(net, opt, findings=False) as run:
        loop(6)
    assert fine(run).state()["validation"] == [] and len(run.metrics.window.rows) == 60
    assert listeners.op is None


@pytest.mark.parametrize("logits", [True, False])
def test_validation_of_yes_or_no(logits):
    vistorch.manual_seed(0)
    net = nn.Linear(4, 1)
    opt = optim.SGD(net.parameters(), lr=0.1)
    x, y = blobs(30)
    y = (y > 0).float().reshape(-1, 1)
    loss_of = nn.BCEWithLogitsLoss() if logits else lambda out, y: F.binary_cross_entropy(out.sigmoid(), y)
    with watch(net, opt, findings=False) as run:
        for _ in range(3):
            opt.zero_grad()
            loss_of(net(x[:20]), y[:20]).backward()
            opt.step()
        net.eval()
        with vistorch.no_grad():
            total = sum(loss_of(net(x[i : i + 5]), y[i : i + 5]).item() * 5 for i in range(20, 30, 5))
    out = net(x[20:])
    check = fine(run).state()["validation"][0]
    assert check["samples"] == 10 and check["loss"] == pytest.approx(total / 10, rel=1e-5)
    assert check["accuracy"] == pytest.approx(((out > 0) == (y[20:] > 0.5)).float().mean().item())
    assert len(run.metrics.window.rows) == 60 and run.tally("validation").samples == 10


def test_what_is_observed_while_validating_is_validation():
    net, opt, loop = small_training()
    x, y = blobs(20, seed=1)
    with watch(net, opt, findings=False) as run:
        loop(6)
        net.eval()
        with vistorch.no_grad():
            out = net(x)
            run.observe(out, y)
    found = fine(run).state()["validation"]
    assert [c["samples"] for c in found] == [20] and len(run.metrics.window.rows) == 60
    assert found[0]["accuracy"] == pytest.approx((out.argmax(1) == y).float().mean().item())


class Knows(nn.Module):
    """A model that is given the labels too, or decides for itself."""

    def __init__(self, how):
        super().__init__()
        self.net, self.how = small_net(), how

    def forward(self, x, y=None):
        out = self.net(x)
        if self.training or self.how == "outside":
            return out
        return F.cross_entropy(out, y) if self.how == "loss" else out.argmax(1)


@pytest.mark.parametrize("how", ["loss", "argmax", "outside"])
def test_labels_are_seen_inside_the_model_too_and_inside_is_quiet_where_they_are_not(how):
    net = Knows(how)
    opt = optim.SGD(net.parameters(), lr=0.1)
    x, y = blobs(60, seed=2)
    received = []
    net.net[1].register_forward_hook(lambda *_: received.append(listeners.op is not None))
    with watch(net, opt, findings=False) as run:
        one_step(net, opt, x, y)
        received.clear()
        net.eval()
        with vistorch.no_grad():
            for i in range(0, 60, 10):
                out, part = net(x[i : i + 10], y[i : i + 10]), y[i : i + 10]
                if how == "argmax":
                    (out == part).sum().item()
                elif how == "outside":
                    F.cross_entropy(out, part)
        net.train()
        one_step(net, opt, x, y)
    check = fine(run).state()["validation"][0]
    assert check["samples"] == 60 and run.step == 2 and len(run.metrics.window.rows) == 120
    inside = received[:6]
    assert inside == ([True] + [False] * 5 if how == "outside" else [True] * 6) and listeners.op is None


def evaluated(net, opt, each, n=60, of=10):
    """A run with a validation between two steps; `each` looks at one batch."""
    x, y = blobs(n, seed=2)
    with watch(net, opt, findings=False) as run:
        one_step(net, opt, x, y)
        net.eval()
        with vistorch.no_grad():
            for i in range(0, n, of):
                each(i // of, net, x[i : i + of], y[i : i + of])
        net.train()
        one_step(net, opt, x, y)
        assert listeners.op is None
    return fine(run)


def test_what_comes_after_the_labels_is_not_recorded():
    net, opt, _ = small_training()
    before, after = [], []

    def each(i, net, x, y):
        before.append(listeners.op is not None)
        out = net(x)
        F.cross_entropy(out, y)
        after.append(listeners.op is not None)
        (out.argmax(1) == y).sum().item()

    run = evaluated(net, opt, each)
    assert before == [False, True, *[False] * 4] and after == [True, *[False] * 5]
    assert run.state()["validation"][0]["samples"] == 60


@pytest.mark.parametrize("lost", [0, 2, 5])
def test_the_loss_of_a_batch_counts_where_a_comparison_comes_first(lost):
    net, opt, _ = small_training()

    def each(i, net, x, y):
        out = net(x)
        (out.argmax(1) == y).sum().item()
        if i != lost:
            F.cross_entropy(out, y)

    run = evaluated(net, opt, each)
    assert run.state()["validation"][0]["samples"] == 60


def test_who_listens_besides_goes_on_listening():
    net, opt, _ = small_training()
    received = []

    class Names(Listener):
        def op(self, rule, ins, consts, outs):
            received.append(rule.name)

    def each(i, net, x, y):
        out = net(x)
        F.cross_entropy(out, y)
        if i == 3:  # while no listener is active
            with Names():
                out.argmax(1)
        if i == 4:
            names = Names()
            names.__enter__()
            F.cross_entropy(net(x), y)
            names.__exit__()

    run = evaluated(net, opt, each)
    assert received == ["argmax_at", "t", "addmm", "relu", "t", "addmm", "log_softmax", "nll_loss"], received
    assert run.state()["validation"][0]["samples"] == 70


def test_a_long_pass_over_data_without_labels_is_let_alone_and_the_next_is_recorded():
    net, opt, _ = small_training()
    inside, x, y = [], *blobs(20)
    net[1].register_forward_hook(
        lambda *_: inside.append(listeners.op is not None or listeners.phase is not None)
    )
    with watch(net, opt, findings=False) as run:
        one_step(net, opt, x, y)
        inside.clear()
        net.eval()
        with vistorch.no_grad():
            for _ in range(PATIENCE + 3):
                net(x)
        assert inside == [True] * PATIENCE + [False] * 3 and listeners.op is None
        net.train()
        one_step(net, opt, x, y)
        net.eval()
        with vistorch.no_grad():
            F.cross_entropy(net(x), y)
    assert [c["samples"] for c in fine(run).state()["validation"]] == [20]


def test_labels_of_another_loader_are_recorded_after_many_batches_without():
    net, opt, _ = small_training()
    x, y = blobs(60)
    unlabelled = DataLoader(vistorch.cat([x, x]), batch_size=2)
    labelled = DataLoader(TensorDataset(x, y), batch_size=10)
    with watch(net, opt, findings=False) as run:
        one_step(net, opt, x, y)
        net.eval()
        with vistorch.no_grad():
            for part in unlabelled:
                net(part)
            assert listeners.op is None
            for part, target in labelled:
                F.cross_entropy(net(part), target)
    assert listeners.op is None
    assert [c["samples"] for c in fine(run).state()["validation"]] == [60]


def test_inputs_of_a_validation_that_were_overwritten_are_not_shown():
    net, (x, y) = conv_net(), pictures(12)
    opt = optim.SGD(net.parameters(), lr=0.0)
    with watch(net, opt, findings=False) as run:
        one_step(net, opt, x, y)
        run.refresh()
        known = run.metrics.mistakes.number
        net.eval()
        with vistorch.no_grad():
            F.cross_entropy(net(x), y)
            x.zero_()
    newer = [m for m in fine(run).metrics.mistakes.wire(known) if m["where"] == "validation"]
    assert newer and all(m["image"] is None for m in newer)
