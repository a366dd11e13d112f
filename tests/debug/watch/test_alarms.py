"""The alarm: what is not finite is said in a sentence, with the last good snapshot, and never taken for a result."""

import io
import math

import numpy as np
import pytest

import vistorch
from tests.debug.watch.loops import F, blobs, small_net
from tests.debug.watch.test_measures import always
from vistorch import nn, optim
from vistorch.debug.watch import Line, load, watch
from vistorch.widgets.watch.picture import paint

NAN, INF = float("nan"), float("inf")


def train(run, net, opt, steps=30, spoil=lambda i, loss: loss, x=None, after=lambda i: None):
    """A loop that spoils its loss at some step."""
    given, y = blobs(30)
    with run:
        for i in range(1, steps + 1):
            opt.zero_grad()
            loss = spoil(i, F.cross_entropy(net(given if x is None else x(i, given)), y))
            loss.backward()
            after(i)
            opt.step()
    return run


def made(lr=0.1, **options):
    net = small_net()
    opt = optim.SGD(net.parameters(), lr=lr)
    run = always(watch(net, opt, snapshot_every=5, **options))
    run.budget.jobs["snapshots"].every = 5
    return run, net, opt


# ---- what is seen, and what is said --------------------------------------------------------------------------------
def test_a_loss_that_becomes_nan_is_said_with_the_last_good_snapshot():
    run, net, opt = made()
    train(run, net, opt, spoil=lambda i, loss: loss * NAN if i == 17 else loss)
    alarm = run.alarm
    assert (alarm.what, alarm.kind, alarm.step, alarm.snapshot) == ("loss", "NaN", 17, 16)
    assert alarm.say() == "Loss is NaN since step 17." and "Last good snapshot: step 16" in alarm.way()
    assert run.status == "ended" and run.say == "Ended after step 30, loss NaN."
    text = run.text()
    assert text.splitlines()[0] == "Ended after step 30" and "Finished" not in text
    assert "✹ Loss is NaN since step 17." in text and "loss NaN" in text and math.isnan(run.loss)
    assert [e.what for e in run.log.entries] == ["alarm: loss NaN"] and run.log.entries[0].step == 17
    assert max(run.snapshots.steps) == 16  # none is taken of what is spoilt
    head = run.state()["head"]
    assert head["status"] == "ended" and head["alarm"]["say"] == alarm.say()
    drawn = paint(run.record()).decode()
    assert "Loss is NaN since step 17." in drawn and "Finished" not in drawn


@pytest.mark.parametrize("value", [INF, -INF])
def test_infinity_is_an_alarm_too(value):
    run, net, opt = made()
    train(run, net, opt, steps=6, spoil=lambda i, loss: loss + value if i >= 4 else loss)
    assert run.alarm.kind == str(value) and run.alarm.say() == f"Loss is {value} since step 4."


def test_a_loss_that_is_finite_again_is_reported_as_past():
    run, net, opt = made()
    train(
        run, net, opt, steps=12, spoil=lambda i, loss: loss + (NAN if i in (4, 5) else 0),
        after=lambda i: opt.zero_grad() if i in (4, 5) else None,
    )  # fmt: skip
    assert run.alarm.say() == "Loss was NaN in 2 steps from step 4; it is finite again since step 6."
    assert (
        run.status == "finished"
        and not run.alarm.now
        and run.alarm.rest().startswith("All weights are finite.")
    )
    assert "✹ Loss was NaN in 2 steps" in run.text() and run.loss < 3
    assert run.snapshots.steps[-1] == 11  # snapshots go on


def test_a_gradient_that_is_not_finite_is_named_where_the_loss_is_finite():
    run, net, opt = made()

    def spoil(i):
        if i == 7:
            net[2].bias.grad[0] = NAN

    train(run, net, opt, steps=8, after=spoil)
    alarm = run.alarm
    assert (alarm.what, alarm.name, alarm.step) == ("gradient", "2.bias", 7)
    assert alarm.say() == "Gradient of 2.bias holds NaN, first seen at step 7."
    assert "2.bias" in alarm.weights and run.status == "ended"


def test_a_weight_that_no_loss_shows_is_seen_at_the_end():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.used, self.spare = small_net(), nn.Linear(2, 2)

        def forward(self, x):
            return self.used(x)

    net = Net()
    opt = optim.SGD(net.parameters(), lr=0.1)
    with vistorch.no_grad():
        net.spare.weight[0, 0] = INF
    run = train(watch(net, opt), net, opt, steps=3)
    assert run.alarm.say() == "Weight spare.weight holds inf, first seen at step 3." and run.status == "ended"


def test_a_missing_gradient_is_no_alarm_and_no_bad_column():
    run, net, opt = made()
    net[0].bias.requires_grad_(True)

    def drop(i):
        net[0].bias.grad = None

    train(run, net, opt, steps=5, after=drop)
    assert run.alarm is None and run.status == "finished"
    columns = run.state()["flow"]["columns"]
    assert not columns["bad"].any() and np.isnan(columns["high"][1]).all() and "not finite" not in run.text()


def test_where_it_comes_from_is_said_as_far_as_it_is_known():
    run, net, opt = made()
    train(run, net, opt, steps=6, x=lambda i, x: x * NAN if i == 4 else x)
    assert "given a batch that holds NaN" in run.alarm.cause
    run, net, opt = made()
    train(run, net, opt, steps=6, spoil=lambda i, loss: loss * NAN if i == 4 else loss)
    assert "came about in that forward pass" in run.alarm.cause
    assert run.alarm.rest() == "None of 4 parameters is finite."

    def break_weights(i, loss):
        if i == 3:
            with vistorch.no_grad():
                net[0].weight[0, 0] = NAN
        return loss

    run, net, opt = made()
    run.budget.share = 1e-12  # nothing else is looked at
    for job in run.budget.jobs.values():
        job.share = 1e-12
    train(run, net, opt, steps=6, spoil=break_weights)
    assert run.alarm.step == 4 and run.alarm.cause == "The weights were not finite before that step."


def test_a_validation_whose_loss_is_not_finite():
    run, net, opt = made()
    x, y = blobs(30)
    with run:
        for i in range(4):
            opt.zero_grad()
            F.cross_entropy(net(x), y).backward()
            opt.step()
            net.eval()
            with vistorch.no_grad():
                F.cross_entropy(net(x * NAN if i == 1 else x), y)
            net.train()
    assert run.alarm.say() == "Validation loss was NaN at step 2; it is finite again since step 3."
    assert math.isnan(run.state()["validation"][1]["loss"]) and run.state()["validation"][1]["without"] == 30
    assert run.status == "finished"


# ---- predictions ---------------------------------------------------------------------------------------------------
def test_outputs_that_are_not_finite_are_no_predictions():
    run, net, opt = made()
    train(run, net, opt, spoil=lambda i, loss: loss * NAN if i == 10 else loss)
    counted = run.accuracy()
    assert counted["seen"].sum() == 300  # ten steps of 30
    assert run.confusion().sum() == 300
    state = run.state()["accuracy"]
    assert (state["without"], state["without_from"]) == (600, 11)
    assert (state["window"]["first"], state["window"]["last"]) == (1, 10)
    assert "600 outputs not finite, no predictions: since step 11" in run.text()


def test_rows_are_looked_at_one_by_one_and_a_class_that_is_ruled_out_is_none():
    run = watch()
    scores = np.eye(3, dtype=np.float32)[[0, 1, 2, 0, 1]]
    scores[1, 1], scores[2, 0] = NAN, -INF  # not a prediction; a class that is ruled out
    scores[3], scores[4, 2] = -INF, INF
    with run:
        run.observe(scores, [0, 1, 2, 0, 1])
    assert run.accuracy()["seen"].tolist() == [1, 0, 1] and run.accuracy()["accuracy"] == 1.0
    assert run.state()["accuracy"]["without"] == 3


def test_binary_outputs_that_are_nan_are_no_predictions():
    net = nn.Linear(4, 1)
    opt = optim.SGD(net.parameters(), lr=0.1)
    x, y = blobs(12, 2)
    with watch(net, opt) as run:
        for i in range(3):
            logits = net(x).reshape(-1)
            if i == 1:
                logits = logits * vistorch.tensor([NAN] * 6 + [1.0] * 6)
            F.binary_cross_entropy_with_logits(logits, y.float()).backward()
            opt.zero_grad()
            opt.step()
    assert run.accuracy()["seen"].sum() == 30 and run.state()["accuracy"]["without"] == 6


# ---- what is done about it -----------------------------------------------------------------------------------------
def holding(run, act):
    """Let a program be the page that lets a held loop go on."""
    held = []

    def poll():
        if run.status == "paused" and not run.commands.waiting:
            held.append(run.step)
            act()

    run.poll, run.alarms.pauses = poll, True
    return held


def test_it_pauses_by_itself_once_and_goes_on_anyway():
    run, net, opt = made()
    said = []

    def go():
        said.append((run.alarm.way(), run.state()["head"]["say"]))
        run.resume()

    held = holding(run, go)
    train(run, net, opt, spoil=lambda i, loss: loss * NAN if i == 17 else loss)
    assert held == [17] and run.step == 30
    assert said[0][0] == (
        "Paused by itself after step 17. Last good snapshot: step 16; a rewind undoes 1 step."
    )
    assert [e.what for e in run.log.entries][:3] == ["alarm: loss NaN", "paused", "went on anyway"]
    assert run.alarm.way().startswith("Went on anyway after step 17. Last good snapshot: step 16.")


def test_rewinding_at_an_alarm_makes_the_weights_finite_and_another_alarm_pauses_again():
    run, net, opt = made()
    calls = []

    def back():
        if run.alarm is not None:
            calls.append((run.step, run.alarm.snapshot))
            run.rewind(run.alarm.snapshot)
        else:
            run.resume()

    holding(run, back)
    spoilt = iter([17, 25])
    nth = [next(spoilt)]

    def spoil(i, loss):
        if i == nth[0]:
            nth[0] = next(spoilt, 0)
            return loss * NAN
        return loss

    train(run, net, opt, spoil=spoil)
    assert calls == [(17, 16), (24, 21)] and run.alarm is None and run.status == "finished"
    assert all(np.isfinite(p.numpy(force=True)).all() for p in net.parameters())
    assert run.step == 30 - 1 - 3 and run.pace.tries == 3


def test_it_never_holds_where_nothing_answers(monkeypatch):
    monkeypatch.setattr("vistorch.debug.watch.alarms.PATIENCE", 0.05)
    run, net, opt = made()
    run.alarms.pauses, run.alarms.ask, run.poll = True, lambda: None, lambda: None
    train(run, net, opt, steps=20, spoil=lambda i, loss: loss * NAN if i == 17 else loss)
    assert run.step == 20 and run.alarm.way().startswith("Not paused: no page answered.")
    assert "not paused at the alarm" in [e.what for e in run.log.entries]
    run, net, opt = made()  # nor where nobody asked for it
    train(run, net, opt, steps=20, spoil=lambda i, loss: loss * NAN if i == 17 else loss)
    assert run.step == 20


def test_the_switch():
    run, net, opt = made()
    with pytest.raises(ValueError, match="on or off, got 1"):
        run.command({"do": "autopause", "on": 1})
    run.alarms.ask, run.alarms.pauses = (lambda: None), True
    train(
        run, net, opt, steps=20, spoil=lambda i, loss: loss * NAN if i == 17 else loss,
        after=lambda i: run.command({"do": "autopause", "on": False}) if i == 3 else None,
    )  # fmt: skip
    assert run.step == 20 and run.log.entries[0].what == "pause at an alarm"


# ---- in words and files --------------------------------------------------------------------------------------------
def test_a_terminal_is_reported_at_once():
    out = io.StringIO()
    net = small_net()
    opt = optim.SGD(net.parameters(), lr=0.1)
    run = watch(net, opt, notify=Line(out))
    run.refresher.next_refresh = 0
    train(run, net, opt, spoil=lambda i, loss: loss * NAN if i == 17 else loss, after=lambda i: run.refresh())
    seen = out.getvalue()
    assert seen.count("✹ Loss is NaN since step 17.") == 2  # when it comes, and in the table
    assert seen.index("✹ Loss is NaN since step 17.") < seen.index("Ended after step 30")


def test_a_saved_record_has_it(tmp_path):
    run, net, opt = made()
    train(run, net, opt, spoil=lambda i, loss: loss * NAN if i == 17 else loss)
    run.save(tmp_path / "run.zip")
    again = load(tmp_path / "run.zip")
    assert (
        again.state["head"]["alarm"]["say"] == "Loss is NaN since step 17."
        and "✹ Loss is NaN" in again.text()
    )


def test_columns_that_were_merged_travel_whole():
    """What a page put together from deltas is what the run has, also after its curve was thinned."""
    run, net, opt = made()
    given, y = blobs(30)
    page = {"version": 0}
    with run:
        for _ in range(600):
            opt.zero_grad()
            F.cross_entropy(net(given), y).backward()
            opt.step()
            run.refresh()
            delta = run.delta(page["version"])
            for name in ("loss", "flow"):
                part = delta.get(name)
                if part is None:
                    continue
                new = part["curve" if name == "loss" else "columns"]
                old = page.get(name)
                if old is not None and new["from"] and new["width"] == old["width"]:
                    new = {
                        **new,
                        "mean": np.concatenate((old["mean"][:, : new["from"]], new["mean"]), 1),
                        "from": 0,
                    }
                page[name] = new
            page["version"] = delta["version"]
        whole = run.state()
    assert run.metrics.flow.width > 1
    for name, key in (("loss", "curve"), ("flow", "columns")):
        assert page[name]["from"] == 0 and page[name]["width"] == whole[name][key]["width"]
        assert np.array_equal(page[name]["mean"], whole[name][key]["mean"], equal_nan=True)
