"""Controls of a run on ranks: all act after the same step, whatever their speed, or none does."""

import queue
import random
import threading
import time

import pytest

from vistorch.debug.ranks.controls import ANSWERS, Controls
from vistorch.debug.ranks.gate import Gate, StopRanks

SOON = 20.0


class Ranks:
    """Loops in threads that meet in each step, as ranks do in an all-reduce."""

    def __init__(self, count, steps, seed=0):
        self.messages = queue.Queue()
        self.gates = [
            Gate(lambda rank=rank, **said: self.messages.put((rank, said))) for rank in range(count)
        ]
        self.controls = Controls(count, self.ask)
        self.barrier, self.done = threading.Barrier(count), [-1] * count
        self.rates = [[] for _ in range(count)]
        self.optimizers = [type("SGD", (), {"param_groups": [{"lr": 0.1}]})() for _ in range(count)]
        self.threads = [
            threading.Thread(target=self.loop, args=(rank, steps, random.Random(seed + rank)), daemon=True)
            for rank in range(count)
        ]
        for one in self.threads:
            one.start()

    def ask(self, request):
        for gate in self.gates:
            gate.ask(request)

    def loop(self, rank, steps, draw):
        try:
            for step in range(steps):
                time.sleep(draw.random() * 0.004)
                self.barrier.wait(SOON)
                time.sleep(draw.random() * 0.002)
                self.done[rank] = step
                self.rates[rank].append(self.optimizers[rank].param_groups[0]["lr"])
                self.gates[rank].pass_step(step, [self.optimizers[rank]])
        except StopRanks:
            pass
        self.messages.put((rank, None))

    def until(self, is_so):
        end = time.monotonic() + SOON
        while not is_so():
            assert time.monotonic() < end, self.controls.say
            try:
                rank, said = self.messages.get(timeout=0.02)
            except queue.Empty:
                continue
            if said is None:
                self.controls.ended(rank)
            else:
                self.controls.answered(rank, said["control"])

    def join(self):
        for one in self.threads:
            one.join(SOON)
        assert not any(one.is_alive() for one in self.threads)


@pytest.mark.parametrize("seed", range(4))
def test_all_ranks_pause_step_and_stop_after_the_same_step(seed):
    ranks = Ranks(3, 100_000, seed)
    controls = ranks.controls
    ranks.until(lambda: min(ranks.done) > 2)
    controls.command("pause")
    ranks.until(lambda: controls.paused)
    at = controls.step
    assert ranks.done == [at] * 3 and controls.say.startswith(f"Paused after step {at}, all ranks, ")
    for _ in range(3):
        controls.command("step")
        ranks.until(lambda: controls.paused)
    assert ranks.done == [at + 3] * 3
    controls.command("rate", 0.5)
    ranks.until(lambda: controls.rate == 0.5)
    assert controls.paused and ranks.done == [at + 3] * 3
    controls.command("resume")
    ranks.until(lambda: min(ranks.done) > at + 8)
    controls.command("rate", 0.25)
    ranks.until(lambda: controls.rate == 0.25)
    ranks.until(lambda: min(ranks.done) > controls.step + 3)
    controls.command("stop")
    ranks.until(lambda: not controls.active)
    ranks.join()
    assert controls.stopped and ranks.done == [controls.step] * 3
    assert ranks.rates[0] == ranks.rates[1] == ranks.rates[2] and ranks.rates[0][-1] == 0.25
    assert ranks.rates[0].index(0.5) == at + 4  # the step after the pause is the first with it


def test_a_loop_that_ends_first_lets_the_others_go():
    ranks = Ranks(2, 3)
    ranks.until(lambda: min(ranks.done) == 2 or ranks.controls.over)
    if not ranks.controls.over:
        try:
            ranks.controls.command("pause")
        except ValueError:
            pass
    for _ in range(100):
        if ranks.controls.paused:
            ranks.controls.command("resume")
        if not ranks.controls.active:
            break
        ranks.until(lambda: not ranks.controls.active or ranks.controls.paused)
    ranks.join()


def test_a_rank_that_says_nothing_is_named_and_the_others_go_on():
    sent = []
    controls = Controls(2, sent.append)
    controls.command("pause")
    controls.answered(0, {"id": 1, "next": 4})
    controls.tick(controls.begin + ANSWERS + 1)
    assert controls.say == "Rank 1 does not answer: nothing was done, and all go on."
    assert [one["do"] for one in sent] == ["hold", "go"]
    controls.answered(1, {"id": 1, "next": 4})  # too late
    assert [one["do"] for one in sent] == ["hold", "go"]


def test_a_rank_that_does_not_come_to_the_step_is_named():
    controls = Controls(3, lambda request: None)
    controls.command("pause")
    for rank in range(3):
        controls.answered(rank, {"id": 1, "next": 4})
    for rank in (0, 2):
        controls.answered(rank, {"id": 1, "at": 4})
    controls.tick(controls.begin + ANSWERS + 1)
    assert controls.say == "Rank 1 has not come to the end of step 4 yet; the others wait there."
    controls.answered(1, {"id": 1, "at": 4})
    assert controls.paused


@pytest.mark.parametrize(
    ("word", "value", "says"),
    [
        ("resume", None, "The run is not paused"),
        ("step", None, "The run is not paused"),
        ("rate", "fast", "a learning rate is a number, not 'fast'"),
        ("rate", float("nan"), "a learning rate is a number, not 'nan'"),
        ("rate", -1, "a learning rate is 0 or more, not -1"),
    ],
)
def test_what_cannot_be_done_is_said(word, value, says):
    sent = []
    with pytest.raises(ValueError, match=says):
        Controls(2, sent.append).command(word, value)
    assert not sent


def test_after_the_end_of_one_rank_nothing_is_asked():
    controls = Controls(2, lambda request: None)
    controls.ended(1)
    with pytest.raises(ValueError, match="Rank 1 has come to the end of the cell"):
        controls.command("pause")
