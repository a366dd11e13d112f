"""A run on ranks as a record: waiting, the slow rank, the silent one, the one that failed."""

import time
from types import SimpleNamespace

import numpy as np
import pytest

from tests.widgets.ranks.example import beat, going, outcome, sent, slow
from vistorch.debug.ranks import RanksRun
from vistorch.debug.ranks.run import POINTS
from vistorch.debug.ranks.timeline import middle_of, step_of
from vistorch.ranks.agent import Failure


def test_waiting_is_what_lies_between_coming_and_the_last_to_come():
    state = slow().wire()
    lanes = state["middle"]["lanes"]
    assert [lane["waited"] for lane in lanes] == pytest.approx([13.2, 13.1, 0, 12.9], abs=0.01)
    assert [lane["last"] for lane in lanes] == [2, 2, -1, 2]
    kinds = [[one["kind"] for one in lane["spans"]] for lane in lanes]
    assert kinds[0] == ["load", "forward", "backward", "wait", "exchange", "optimizer"]
    assert kinds[2] == ["load", "forward", "backward", "exchange", "optimizer"]
    # the parts of a lane follow each other without a gap
    for lane in lanes:
        ends = [one["end"] for one in lane["spans"]]
        assert [one["begin"] for one in lane["spans"]][1:] == pytest.approx(ends[:-1], abs=0.01)


def test_the_slow_rank_is_named_with_what_it_is_slow_in():
    record = slow()
    said, _ = record.verdict()
    assert record.slow == 2
    assert said.startswith(
        "Rank 2 holds the others up. It loads data for 14.2 ms a step, the others for 1.0 to 1.3 ms"
    )
    assert record.rows[2]["finding"] == "last in 50 of 50 steps"


def test_nobody_is_named_where_ranks_come_together():
    run = RanksRun(2)
    for number in range(20):
        for rank in range(2):
            run.take(rank, {"steps": [sent(number, rank, 0.001, ranks=2)]})
    assert run.record().slow is None and run.record().verdict()[0] == ""


def test_a_step_of_a_rank_alone_waits_for_the_others_to_be_put_together():
    run = RanksRun(2)
    run.take(0, {"steps": [sent(0, 0, 0.001)]})
    assert run.done == 0 and run.record().state == "Waiting"
    run.take(1, {"steps": [sent(0, 1, 0.001)]})
    assert run.done == 1 and run.record().state == "Running"


def test_curves_have_mean_lowest_and_highest():
    state = slow().wire()
    losses = state["losses"]
    assert losses.shape == (4, 60) and state["at"].tolist() == list(range(60))
    np.testing.assert_allclose(state["mean"], losses.mean(0), rtol=1e-6)
    np.testing.assert_allclose(state["high"] - state["low"], 0.06, atol=1e-5)


def test_a_loss_that_is_missing_or_not_finite_leaves_the_others_be():
    run = RanksRun(2)
    for rank in range(2):
        run.take(rank, {"steps": [{**sent(0, rank, 0.001), "loss": None if rank else 2.0}]})
        run.take(rank, {"steps": [{**sent(1, rank, 0.001), "loss": None}]})
    state = run.record().wire()
    assert state["at"].tolist() == [0] and state["mean"].tolist() == [2.0]
    assert np.isnan(state["losses"][1, 0])


def test_a_long_run_keeps_a_bounded_number_of_points():
    run = RanksRun(1)
    for number in range(3 * POINTS):
        run.take(0, {"steps": [{**sent(number, 0, 0.0), "ops": []}]})
    assert len(run.losses) <= POINTS and run.record().wire()["at"][-1] > 2.9 * POINTS


def test_the_rank_that_others_wait_for_is_the_silent_one():
    run, now = going(), time.monotonic()
    for rank in range(4):
        behind = {
            "operation": 181 - (rank == 3),
            "since": now - 5,
            "part": "forward",
            "where": "layer3.conv2",
        }
        run.take(rank, {"beat": beat(rank, **behind)})
    assert run.silent(now) == [3]
    record = run.record()
    assert record.state == "No answer" and record.alarm["title"] == "Rank 3 has not answered for 5 s"
    assert "step 60, forward, layer3.conv2" in record.alarm["text"]
    assert record.rows[0]["finding"] == "waits for rank 3"
    run.take(3, {"beat": beat(3, operation=180, since=now)})  # it goes on
    assert run.silent(now) == []


def test_ranks_that_all_compute_are_not_silent():
    run, now = going(), time.monotonic()
    for rank in range(4):
        run.take(rank, {"beat": beat(rank, since=now - 60)})
    assert run.silent(now) == []


def test_a_killed_rank_is_the_alarm():
    run = going()
    gone = SimpleNamespace(**vars(outcome(ok=False, gone=Failure(2, 2, -9, 4002))))
    others = {rank: outcome(ok=False, name="DistBackendError", says="waited") for rank in (0, 1, 3)}
    run.end({**others, 2: gone}, "x")
    alarm = run.record().alarm
    assert alarm["bad"] and alarm["title"] == "Rank 2 has ended in step 60" and "SIGKILL" in alarm["text"]


def test_the_median_step_is_the_newest_where_steps_differ():
    steps = [step_of(n, {r: sent(n, r, 0.001 * (r + 1)) for r in range(4)}) for n in range(3)]
    odd = {r: {**sent(3, r, 0.001), "ops": []} for r in range(4)}
    assert middle_of([*steps, step_of(3, odd)])["number"] == 3
    assert middle_of([*steps, step_of(3, odd)])["lanes"][0]["exchanges"] == []
