"""What the panel finds by itself: where a bad value was made, what the cheap rules see, and what they take back."""

import pytest

import vistorch
from tests.debug.watch.loops import F, blobs, small_net
from vistorch import nn, optim
from vistorch.debug.diagnose.evidence import Evidence
from vistorch.debug.watch import load, watch
from vistorch.debug.watch.budget import SHARE
from vistorch.debug.watch.window import PRICES
from vistorch.engine.base.events import _listeners


def trained(run, net, opt, loss_of, steps=20, clear=lambda i: True, at=lambda i: None):
    x, y = blobs(30)
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


def guilty(text="# the guilty line"):
    with open(__file__) as file:
        return next(i for i, line in enumerate(file, 1) if text in line)


def started(lr=0.1, **more):
    net = small_net()
    opt = optim.SGD(net.parameters(), lr=lr)
    run = watch(net, opt, snapshot_every=5, **more)
    run.budget.jobs["snapshots"].every = 5
    return run, net, opt


# ---- where it was made ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("followed", [True, False])
def test_the_alarm_names_the_op_the_line_and_the_number(followed):
    run, net, opt = started(findings=followed)
    trained(run, net, opt, entropy)
    origin = run.alarm.origin
    assert origin.op == "log" and origin.fact[0] == "inputs that are 0"
    said = run.state()["head"]["alarm"]["cause"]
    if followed:  # a window has seen a pass of the same ops
        assert origin.line.line == guilty() and origin.line.file == __file__
        assert f"Made at log in line {guilty()} of " in said and said.endswith("values were 0.")
    else:
        assert origin.line is None and said.startswith("Made at log: ")
    one = run.state()["findings"]["items"][0]
    assert one["rule"] == "alarm" and one["severity"] == "bad" and "log_softmax" in one["advice"]
    assert one["line"] == (guilty() if followed else None)
    assert said in run.text()


def test_the_line_is_exact_where_two_ops_of_a_kind_are_in_a_pass():
    run, net, opt = started()

    def loss_of(i, scores, y):
        p = scores.softmax(-1)
        fine = (p * (p + 1e-3).log()).sum()
        q = (scores * (1e4 if i == 12 else 1.0)).softmax(-1)
        bad = (q * q.log()).sum()  # the second log
        return fine + bad

    trained(run, net, opt, loss_of)
    assert run.alarm.origin.line.line == guilty("# the second log")


def test_a_pass_of_other_ops_has_its_line_once_another_like_it_was_followed():
    run, net, opt = started()
    seen = []

    def at(i):
        if run.alarm is not None:
            seen.append(run.alarm.origin.line)

    trained(
        run,
        net,
        opt,
        lambda i, s, y: F.cross_entropy(s, y) if i < 15 else entropy(i, s, y) * 2,
        steps=40,
        at=at,
    )
    assert run.alarm.origin.op == "log" and seen[0] is None  # no window has seen such a pass before
    assert run.alarm.origin.line.line == guilty() and f"in line {guilty()} of " in run.alarm.cause


def test_an_alarm_that_is_over_is_not_raised_again_as_its_losses_are_read():
    run, net, opt = started(lr=0.0)
    trained(
        run,
        net,
        opt,
        # gradients, and with them the weights, stay finite
        lambda i, s, y: F.cross_entropy(s, y) + (s.abs().mean() + 90) * (1e37 if i == 12 else 0.0),
        steps=40,
        at=lambda i: run.refresh() if i % 5 == 0 else None,
    )
    assert (run.alarm.step, run.alarm.over) == (12, 13) and "in that forward pass" in run.alarm.cause
    assert [e.what for e in run.log.entries if e.what.startswith("alarm")] == ["alarm: loss inf"]


def test_what_is_not_known_is_not_named():
    run, net, opt = started()
    trained(run, net, opt, lambda i, s, y: F.cross_entropy(s, y) * (float("nan") if i == 5 else 1.0))
    assert run.alarm.kind == "NaN" and run.alarm.origin is None  # the factor is a constant: no op made it


# ---- the course ----------------------------------------------------------------------------------------------------
def test_a_loss_that_leaves_its_course_is_an_alarm_and_its_snapshot_is_from_before():
    run, net, opt = started(lr=0.0)

    def loss_of(i, scores, y):
        return F.cross_entropy(scores, y) * (1.0 if i < 40 else 1.2 ** (i - 40))

    trained(run, net, opt, loss_of, steps=80, at=lambda i: run.refresh())
    alarm = run.alarm
    assert (alarm.what, alarm.kind) == ("loss", "diverged") and 40 < alarm.step <= 80
    assert alarm.say().startswith("Loss left its course: it grew ") and "-fold in " in alarm.say()
    assert alarm.snapshot <= 40 and run.status == "ended"


@pytest.mark.parametrize(
    "scale",
    [lambda i: 1.0, lambda i: 1 + 5 * (i % 7 == 0), lambda i: -1.0, lambda i: 0.9**i, lambda i: 1 + i / 10],
)
def test_a_loss_that_jumps_falls_or_grows_a_little_is_none(scale):
    run, net, opt = started(lr=0.0)
    trained(
        run, net, opt, lambda i, s, y: F.cross_entropy(s, y) * scale(i), steps=80, at=lambda i: run.refresh()
    )
    assert run.alarm is None and run.status == "finished"


def test_a_nan_after_a_loss_left_its_course_is_an_alarm_of_its_own():
    run, net, opt = started(lr=0.0)

    def loss_of(i, scores, y):
        return F.cross_entropy(scores, y) * (1.0 if i < 20 else float("nan") if i == 60 else 100.0)

    trained(run, net, opt, loss_of, steps=60, at=lambda i: run.refresh())
    assert run.alarm.kind == "NaN" and run.alarm.step == 60


# ---- looking at that step again ------------------------------------------------------------------------------------
class Page:
    """Clicks once the loop is held at an alarm."""

    def __init__(self, run, *words):
        self.run, self.words, self.records, self.passes = run, list(words), [], []
        run.alarms.pauses, run.poll = True, self
        run.controls.shows = self.records.append
        run.stepper = lambda run, going, outputs: self.passes.append((run.step + 1, outputs[0].item()))

    def __call__(self):
        if self.run.status == "paused" and not self.run.commands.waiting:
            self.run.command({"do": self.words.pop(0)})


def test_that_step_is_traced_from_the_last_good_snapshot():
    run, net, opt = started()
    page = Page(run, "trace", "resume")
    made = []

    def loss_of(i, scores, y):
        made.append(run.step + 1)
        return entropy(15 if run.step + 1 == 15 else 1, scores, y)

    trained(run, net, opt, loss_of, steps=30)
    assert made.count(15) == 2 and not page.words  # the loop ran it again
    assert [record.first["op"] for record in page.records] == ["log"]
    assert page.records[0].forward < 30  # of that step alone
    whats = [e.what for e in run.log.entries]
    assert "runs again" in whats and "traced" in whats


def test_a_stepper_opens_on_the_pass_that_is_not_finite():
    run, net, opt = started()
    page = Page(run, "into", "resume")
    trained(run, net, opt, lambda i, s, y: entropy(15 if run.step + 1 == 15 else 1, s, y), steps=30)
    assert [step for step, _ in page.passes] == [15] and page.passes[0][1] != page.passes[0][1]


def test_what_does_not_come_again_is_said_and_the_loop_is_held():
    run, net, opt = started()
    page = Page(run, "trace", "resume")
    trained(run, net, opt, entropy, steps=30)  # by the turns of the loop, which go on
    assert page.records == [] and "did not come again" in [e.what for e in run.log.entries]
    assert run.status == "finished" and run.alarm is None
    assert not any(type(one).__name__ == "Trace" for one in _listeners)


def test_without_a_snapshot_or_an_alarm_that_is_refused():
    run, net, opt = started()
    with run:
        assert run.why_not("trace") == run.why_not("into") == "There is no alarm."
    net = small_net()
    opt = optim.SGD(net.parameters(), lr=0.1)
    run = watch(net, opt, snapshot_every=0)
    trained(run, net, opt, entropy)
    assert run.why_not("trace") == "The run is over."
    run = watch(net, opt, snapshot_every=0)
    said = []
    trained(run, net, opt, entropy, 16, at=lambda i: said.append(run.why_not("trace")))
    assert said[-1] == "There is no snapshot from before it to go back to."


# ---- what the rules find -------------------------------------------------------------------------------------------
def test_a_finding_stands_in_the_state_and_is_withdrawn_when_its_evidence_goes():
    run, net, opt = started()
    run.budget.jobs["findings"].every, run.budget.jobs["findings"].share = 1, float("inf")
    seen = []

    def at(i):
        seen.append([one["rule"] for one in run.state()["findings"]["items"]])

    trained(run, net, opt, lambda i, s, y: F.cross_entropy(s, y), 60, clear=lambda i: i > 20, at=at)
    assert seen[3] == [] and seen[15] == ["used twice"] and seen[-1] == []
    whats = [(e.what, e.effect) for e in run.log.entries]
    assert [w for w, _ in whats] == ["finding", "finding withdrawn"] and run.state()["findings"][
        "withdrawn"
    ] == 1
    assert whats[0][1].startswith("Gradients are never cleared")


def test_what_is_meant_is_not_found_again():
    run, net, opt = started()
    run.budget.jobs["findings"].every, run.budget.jobs["findings"].share = 1, float("inf")

    def at(i):
        if i == 12:
            run.command({"do": "meant", "number": 0})

    trained(run, net, opt, lambda i, s, y: F.cross_entropy(s, y), 60, clear=lambda i: False, at=at)
    assert run.state()["findings"]["items"] == []
    assert [e.what for e in run.log.entries] == ["finding", "finding is meant"]


def test_a_finding_can_be_meant_when_the_run_is_over():
    run, net, opt = started()
    run.budget.jobs["findings"].every, run.budget.jobs["findings"].share = 1, float("inf")
    with pytest.raises(ValueError, match="Nothing is found"):
        run.command({"do": "meant", "number": 0})
    trained(run, net, opt, lambda i, s, y: F.cross_entropy(s, y), 60, clear=lambda i: False)
    run.close()
    assert not run.progress.open and len(run.state()["findings"]["items"]) == 1
    run.command({"do": "meant", "number": 0})
    assert run.state()["findings"]["items"] == []
    assert run.log.entries[-1].what == "finding is meant"


def test_a_window_is_charged_with_the_price_of_what_it_followed():
    run, net, opt = started()
    run.budget.clock = lambda: 0.0
    followed, close = [], run.findings.close

    def closing(last=False):
        if run.findings.window is not None:
            followed.append(run.findings.window.lines.events)
        close(last)

    run.findings.close = closing
    trained(run, net, opt, lambda i, s, y: F.cross_entropy(s, y))
    job = run.budget.jobs["findings"]
    assert followed and job.spent == pytest.approx(sum(followed) * PRICES["vistorch"])
    assert (
        job.share <= 0.15 * SHARE
    )  # more is more than 2 % where other programs take two thirds of the processor


def test_a_healthy_run_has_no_finding_and_says_which_rules_looked():
    run, net, opt = started()
    trained(run, net, opt, lambda i, s, y: F.cross_entropy(s, y))
    found = run.state()["findings"]
    assert found["items"] == [] and found["withdrawn"] == 0
    assert {"name": "used twice", "title": "gradients used twice", "looked": True} in found["rules"]


def test_a_window_ends_and_costs_nothing_afterwards(tmp_path):
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
    assert open_at[2] is not None and open_at[12] is None and open_at[-1] is None
    assert run.findings.window is None and not any(isinstance(one, Evidence) for one in _listeners)
    run.save(tmp_path / "run.vtw")
    assert load(tmp_path / "run.vtw").state["findings"] == run.state()["findings"]


def test_a_rule_that_fails_leaves_the_loop_alone(monkeypatch):
    monkeypatch.setattr(Evidence, "phase", lambda self, *a: 1 / 0)
    run, net, opt = started()
    trained(run, net, opt, lambda i, s, y: F.cross_entropy(s, y))
    assert run.status == "finished" and run.step == 20 and "ZeroDivisionError" in run.findings.failures[0]


def test_a_run_that_is_watched_learns_the_same_numbers():
    made = []
    for on in (True, False):
        net = small_net()
        net.insert(1, nn.Dropout(0.5))
        opt = optim.Adam(net.parameters(), lr=0.01)
        vistorch.manual_seed(3)
        trained(watch(net, opt, findings=on), net, opt, lambda i, s, y: F.cross_entropy(s, y), 30)
        made.append([p.detach().clone() for p in net.parameters()])
    assert all(vistorch.equal(a, b) for a, b in zip(*made, strict=True))
