"""Controls: asked for from any thread, done at step boundaries, written down."""

import threading
import time
from time import perf_counter

import pytest

import vistorch
from tests.debug.watch.loops import F, blobs, small_training
from vistorch import optim
from vistorch.debug.watch import StopTraining, watch
from vistorch.debug.watch.commands import checked


def said(run):
    return [(e.step, e.what) for e in run.log.entries]


def wait_for(what, seconds=10):
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.002)


def test_pause_step_and_resume_from_another_thread():
    net, opt, loop = small_training()
    made = []

    def train():
        with run:
            loop(100_000, lambda i: time.sleep(0.001))

    run = watch(net, opt)
    thread = threading.Thread(target=train)
    thread.start()
    try:
        wait_for(lambda: run.step > 3)
        run.pause()
        wait_for(lambda: run.status == "paused")
        held = run.step
        time.sleep(0.1)
        assert run.step == held and run.state()["head"]["why"]["pause"] == "It is paused."
        run.step_once()
        wait_for(lambda: run.step == held + 1 and run.status == "paused")
        time.sleep(0.05)
        assert run.step == held + 1
        run.resume()
        wait_for(lambda: run.step > held + 5)
        made.append(run.status)
    finally:
        run.stop()
        thread.join(10)
    assert made == ["running"] and run.status == "stopped" and not thread.is_alive()
    words = [e.what for e in run.log.entries]
    assert words == ["paused", "one step", "resumed", "stopped"]
    assert run.log.entries[0].step == held and run.log.entries[0].effect.endswith("ms after the click")


def test_a_pause_takes_effect_within_a_step_and_50_ms():
    net, opt, loop = small_training()
    run = watch(net, opt)
    seen = {}

    def train():
        with run:
            loop(100_000, lambda i: time.sleep(0.005))

    thread = threading.Thread(target=train)
    thread.start()
    try:
        wait_for(lambda: run.step > 3)
        begin = time.monotonic()
        seen["step"] = run.step
        run.pause()
        wait_for(lambda: run.status == "paused")
        seen["late"] = time.monotonic() - begin
        assert run.step <= seen["step"] + 2
    finally:
        run.stop()
        thread.join(10)
    assert seen["late"] < 0.5  # generous: other programs share the machine


def test_stop_ends_the_loop_and_keeps_the_model():
    net, opt, loop = small_training()
    reached = []

    def at(i):
        if i == 5:
            run.stop()

    with watch(net, opt) as run:
        try:
            loop(100, at)
        except Exception:  # a loop that catches everything it may
            reached.append("caught")
        reached.append("after")
    kept = [p.detach().clone() for p in net.parameters()]
    assert reached == [] and run.step == 6 and run.status == "stopped"
    assert run.state()["head"]["say"] == "Stopped after step 6; the model is kept."
    with watch(net, opt):
        pass
    assert all((a == b).all() for a, b in zip(kept, net.parameters(), strict=True))


def test_only_its_own_stop_is_kept_by_a_run():
    net, opt, loop = small_training()
    with watch(net, opt) as outer:
        with watch(net, opt) as inner:
            loop(3, lambda i: outer.stop() if i == 2 else None)
        raise AssertionError("the outer block goes on")
    assert (outer.status, inner.status, outer.step) == ("stopped", "stopped", 3)
    with pytest.raises(StopTraining):
        with watch(net, opt):
            raise StopTraining(outer)


def test_the_learning_rate_changes_at_the_boundary():
    net, opt, loop = small_training()
    rates = []

    def at(i):
        rates.append(opt.param_groups[0]["lr"])
        if i == 2:
            run.set_lr(3e-4)

    with watch(net, opt) as run:
        loop(5, at)
    assert rates == [0.1, 0.1, 3e-4, 3e-4, 3e-4]
    entry = run.log.entries[0].wire()
    assert (entry["step"], entry["what"], entry["from"], entry["to"]) == (
        3,
        "learning rate 0.1 → 3e-4",
        0.1,
        3e-4,
    )
    lr = run.state()["loss"]["lr"]["mean"][0]
    assert lr[3] == pytest.approx(0.1) and lr[4] == pytest.approx(3e-4)


def test_one_group_and_a_rate_that_is_a_tensor():
    net, _, _ = small_training()
    rate = vistorch.tensor(0.5)
    opt = optim.SGD([{"params": net[0].parameters()}, {"params": net[2].parameters(), "lr": rate}], lr=0.1)
    x, y = blobs(10)
    with watch(net, opt, findings=False) as run:
        for i in range(3):
            F.cross_entropy(net(x), y).backward()
            opt.step()
            if i == 0:
                run.set_lr(0.25, group=1)
    assert opt.param_groups[0]["lr"] == 0.1 and opt.param_groups[1]["lr"] is rate and rate.item() == 0.25
    assert said(run) == [(2, "learning rate 0.5 → 0.25 of group 1")]


@pytest.mark.parametrize(
    ("message", "why"),
    [
        (None, "a command is"),
        ({"do": 3}, "a command is"),
        ({"do": "format"}, "unknown command 'format'"),
        ({"do": "lr", "value": 0}, "must be a positive number, got 0"),
        ({"do": "lr", "value": float("nan")}, "must be a positive number"),
        ({"do": "lr", "value": "1e-3"}, "must be a positive number"),
        ({"do": "lr", "value": True}, "must be a positive number"),
        ({"do": "lr", "value": 10**400}, "must be a positive number, got a number of 1,329 bits"),
        ({"do": "lr", "value": -(10**5000)}, "must be a positive number, got a number of"),
        ({"do": "lr", "value": None}, "must be a positive number, got None"),
        ({"do": "lr", "value": [0.1]}, "must be a positive number"),
        (
            {"do": "lr", "value": 1, "group": 10**5000},
            "a parameter group is a number from 0 on, got a number of",
        ),
        ({"do": "lr", "value": 1, "group": 1.0}, "a parameter group is a number from 0 on"),
        ({"do": "rewind", "step": 10**5000}, "a step is a number from 0 on, got a number of"),
        ({"do": "rewind", "step": float("inf")}, "a step is a number from 0 on"),
        ({"do": "lr", "value": 1, "group": -1}, "a parameter group is a number from 0 on"),
        ({"do": "rewind", "step": 1.5}, "a step is a number"),
        ({"do": "rewind", "step": 10**30}, "a step is a number"),
        ({"do": "filters", "name": ["x"]}, "filters are chosen by the name"),
    ],
)
def test_what_is_no_command_is_refused(message, why):
    with pytest.raises(ValueError, match=why):
        checked(message)


def test_what_cannot_act_now_says_why():
    net, opt, loop = small_training()
    run = watch(net, opt, snapshot_every=0)
    assert run.why_not("pause") == "The run has not begun."
    with run:
        assert run.why_not("lr") == "No optimizer has made a step yet."
        loop(3)
        assert run.why_not("step") == "Only when paused." and run.why_not("resume") == "It is running."
        assert run.why_not("rewind") == "There is no snapshot yet." and run.why_not("lr") == ""
        with pytest.raises(ValueError, match="there are 1 parameter groups"):
            run.set_lr(0.1, group=7)
    assert run.why_not("pause") == "The run is over."
    assert run.why_not("filters") == "The model has no convolution."
    with pytest.raises(ValueError, match=r"stop: The run is over\."):
        run.stop()


def test_clicks_are_looked_for_at_most_30_times_a_second():
    net, opt, loop = small_training()
    calls = []
    begin = time.perf_counter()
    with watch(net, opt, poll=lambda: calls.append(run.step)) as run:
        loop(100_000, lambda i: run.stop() if time.perf_counter() - begin > 0.4 else None)
    spent = time.perf_counter() - begin
    assert 2 <= len(calls) <= spent * 30 + 2 and calls[0] == 1


def test_a_click_read_by_poll_acts_at_the_same_boundary():
    net, opt, loop = small_training()

    def poll():
        if run.step >= 1 and not run.log.entries:
            run.command({"do": "pause"})
        elif run.commands.paused:
            run.command({"do": "resume"})

    with watch(net, opt, poll=poll) as run:
        loop(5)
    assert said(run)[:2] == [(1, "paused"), (1, "resumed")] and run.step == 5


def test_what_is_injected_may_fail():
    net, opt, loop = small_training()

    def broken(*_):
        raise KeyError("page")

    with watch(net, opt, poll=broken, notify=broken) as run:
        loop(10)
    assert run.step == 10 and run.status == "finished"
    assert len(run.says) == 2 and "KeyError" in run.says[0]


def test_the_next_backward_pass_may_be_looked_into():
    net, opt, loop = small_training()
    seen = []
    with watch(net, opt) as run:
        run.controls.at_backward = lambda run_, outputs: seen.append((run.step, outputs[0].item()))
        losses = loop(3)
    assert seen == [(0, losses[0])]


def test_notifying_is_at_most_10_times_a_second():
    net, opt, loop = small_training()
    times = []
    begin = time.perf_counter()
    with watch(net, opt, notify=lambda run: times.append(time.perf_counter())) as run:
        loop(100_000, lambda i: run.stop() if time.perf_counter() - begin > 0.6 else None)
    assert 2 <= len(times) <= (times[-1] - begin) * 10 + 4


def test_a_hold_slows_nothing_down_that_is_shown_meanwhile():
    net, opt, loop = small_training()
    heads = []

    def polled():
        if run.status == "paused" and perf_counter() - began[0] > 0.6:
            heads.append(run.state()["head"])
            run.resume()
        elif run.status == "paused":
            run.refresh()  # as an answer to a page does

    run = watch(net, opt, snapshot_every=0, poll=polled)
    began = [0.0]

    def pause(i):
        time.sleep(0.002)
        if i == 40:
            run.refresh()
            heads.append(run.state()["head"])
            began[0] = perf_counter()
            run.pause()

    with run:
        loop(60, pause)
    before, held = heads
    assert held["status"] == "paused" and held["seconds"] - before["seconds"] < 0.3
    assert held["speed"] > 0.5 * before["speed"] and held["overhead"] > 0.5 * before["overhead"]
