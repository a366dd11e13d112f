"""The panel's kernel side: at most ten deltas a second, each from the one before; what is clicked is checked first."""

import gc
import logging
import threading
import time
import weakref
from itertools import pairwise

import pytest

from tests.debug.watch.loops import small_training
from vistorch.debug.watch import watch
from vistorch.debug.watch.commands import WORDS
from vistorch.widgets._frame.display import Display
from vistorch.widgets._frame.kept import Kept
from vistorch.widgets._frame.live import OPEN, Live
from vistorch.widgets._frame.wire import unpack
from vistorch.widgets.watch import live as module
from vistorch.widgets.watch.live import WatchView


@pytest.fixture
def pages(pages):
    """A page of this kind, too."""
    (pages / "watch.js").write_text((pages / "array.js").read_text())
    return pages


class Shown:
    """A run with its view, and what the view sent."""

    def __init__(self, monkeypatch, **more):
        self.net, self.opt, self.loop = small_training()
        self.run = watch(self.net, self.opt, **more)
        self.run.__enter__()
        self.view = WatchView(Display(self.run.record(), "watch"), self.run)
        self.run.poll, self.run.notify = self.view.poll, self.view.notify
        self.sent, self.at = [], []

        def send(content, buffers=None):
            self.sent.append((content, buffers))
            self.at.append(time.perf_counter())

        monkeypatch.setattr(self.view, "send", send)

    def ask(self, **message):
        """Send a message as the page does; return what was answered besides deltas."""
        self.sent.clear()
        self.view._receive(self.view, {"type": "do", "id": 7, **message}, [])
        answers = [content for content, _ in self.sent if content["type"] != "delta"]
        return answers[-1] if answers else None

    def deltas(self):
        return [unpack(buffers[0])[1] for content, buffers in self.sent if content == {"type": "delta"}]

    def close(self):
        if self.run is not None and self.run.open:
            self.run.__exit__(None, None, None)


@pytest.fixture
def shown(pages, monkeypatch):
    monkeypatch.setattr(module.pump, "why_not", lambda: "")
    made = Shown(monkeypatch)
    yield made
    made.close()


def test_the_first_payload_is_the_record(shown):
    kind, state = unpack(shown.view.payload)
    assert kind == "watch" and state["head"]["status"] == "waiting" and state["head"]["why"]["pause"] == ""


def test_deltas_follow_each_other(shown):
    versions = [unpack(shown.view.payload)[1]["version"]]
    for _ in range(4):
        shown.loop(3)
        time.sleep(0.13)
        shown.run.refresh()
    shown.close()
    deltas = shown.deltas()
    assert len(deltas) >= 3
    for delta in deltas:
        assert delta["since"] == versions[-1]
        versions.append(delta["version"])
    assert deltas[-1]["head"]["status"] == "finished" and deltas[-1]["head"]["step"] == 12


def times_of(shown):
    return [t for (content, _), t in zip(shown.sent, shown.at, strict=True) if content["type"] == "delta"]


def test_at_most_eight_a_second_while_nothing_is_done(shown):
    begin = time.perf_counter()
    while time.perf_counter() - begin < 1.2:
        shown.loop(1)
        shown.view.notify(shown.run)  # there is a lot to say
    times = times_of(shown)
    assert len(times) >= 5
    assert min(b - a for a, b in pairwise(times[1:])) >= 0.12  # the first says that it runs


def test_at_most_ten_in_any_second_whatever_is_done(shown):
    begin = time.perf_counter()
    while time.perf_counter() - begin < 1.5:
        shown.loop(1)
        shown.run.log.write(shown.run.step, "something")
        shown.view.notify(shown.run)
    times = times_of(shown)
    assert len(times) >= 10
    assert all(b - a >= 0.995 for a, b in zip(times, times[10:], strict=False))


def test_what_was_done_is_reported_at_once(shown):
    shown.loop(1)
    shown.view.sent_at = time.perf_counter()
    shown.sent.clear()
    shown.run.log.write(1, "something")
    shown.run.changes.touch("log")
    shown.view.notify(shown.run)
    (delta,) = shown.deltas()
    assert delta["log"]["items"][-1]["what"] == "something"


def test_what_is_late_is_sent_at_a_later_boundary(shown):
    shown.loop(1)
    shown.sent.clear()
    shown.view.sent_at = time.perf_counter()
    shown.run.changes.touch("head")
    shown.view.notify(shown.run)
    assert shown.sent == [] and shown.view.late
    shown.view.poll()
    assert shown.sent == []
    time.sleep(0.13)
    shown.view.poll()
    (delta,) = shown.deltas()
    assert delta["head"]["step"] == 1 and not shown.view.late


def test_the_last_state_comes_at_once(shown):
    shown.loop(2)
    shown.view.sent_at = time.perf_counter()
    shown.sent.clear()
    shown.close()
    assert shown.deltas()[-1]["head"]["status"] == "finished"


def test_a_page_that_was_away_gets_everything(shown):
    shown.loop(5)
    time.sleep(0.13)
    assert shown.ask(type="all") is None
    (delta,) = shown.deltas()
    assert delta["since"] == 0 and delta["head"]["step"] == 5
    assert {"loss", "accuracy", "mistakes", "flow", "health", "log", "snapshots"} <= set(delta)
    shown.close()
    shown.ask(type="all")
    assert shown.deltas()[-1]["since"] == 0


def test_a_page_that_is_opened_after_the_end_begins_there(shown):
    shown.loop(5)
    shown.close()
    state = unpack(shown.view.get_state()["payload"])[1]
    assert state["head"]["status"] == "finished" and state["head"]["step"] == 5
    assert not any(
        content.get("method") == "update" for content, _ in shown.sent
    )  # pages that are open did not know


def test_what_is_asked_is_answered_and_done_at_the_next_step(shown):
    shown.loop(2)
    answer = shown.ask(do="lr", value=0.01)
    assert answer == {"type": "asked", "id": 7, "say": "Asked; acts at the next step."}
    assert shown.opt.param_groups[0]["lr"] == 0.1
    shown.loop(1)
    assert shown.opt.param_groups[0]["lr"] == 0.01
    assert shown.run.log.entries[-1].what.startswith("learning rate 0.1 → 0.01")


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"do": "lr", "value": -1}, "the learning rate must be a positive number, got -1"),
        ({"do": "lr", "value": "x" * 999}, "the learning rate must be a positive number, got 'xxx"),
        ({"do": "lr"}, "the learning rate must be a positive number, got None"),
        ({"do": "lr", "value": 0.1, "group": 5}, "there are 1 parameter groups"),
        ({"do": "lr", "value": 0.1, "group": [1]}, "a parameter group is a number from 0 on"),
        ({"do": "resume"}, "It is running."),
        ({"do": "step"}, "Only when paused."),
        ({"do": "rewind", "step": 3}, "There is no snapshot yet."),
        ({"do": "rewind", "step": "3"}, "a step is a number from 0 on, got '3'"),
        ({"do": "filters", "name": "fc"}, "The model has no convolution."),
        ({"do": "stepper"}, "Nothing here shows a stepper."),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_cannot_be_done_is_refused_with_a_sentence_and_no_log(shown, wrong, why, caplog):
    shown.loop(1)
    shown.run.snapshots.kept.clear()
    with caplog.at_level(logging.WARNING, "vistorch"):
        answer = shown.ask(**wrong)
    assert answer["type"] == "refused" and answer["id"] == 7 and answer["why"].startswith(why)
    assert len(answer["why"]) <= 300 and "\n" not in answer["why"]
    assert not caplog.records and not shown.run.commands.waiting


@pytest.mark.parametrize(
    "wrong",
    [
        {"do": "explode"}, {"do": None}, {"do": ["pause"]}, {"do": 3}, {"do": "pause", "id": None},
        {"do": "pause", "id": 2**60}, {"do": "pause", "id": True}, {"type": "undo"}, {"type": None},
        {"type": "all", "id": "7"},
    ],
    ids=str,
)  # fmt: skip
def test_what_is_no_message_is_refused_with_one_logged_line(shown, wrong, caplog):
    shown.loop(1)
    with caplog.at_level(logging.WARNING, "vistorch"):
        answer = shown.ask(**wrong)
    assert len(caplog.records) == 1 and "WatchView refused a message from its page" in caplog.text
    assert answer is None or answer["type"] == "refused"
    assert not shown.run.commands.waiting


def test_no_click_is_taken_where_it_would_come_too_late(pages, monkeypatch):
    monkeypatch.setattr(module.pump, "why_not", lambda: "Clicks wait for the end of the cell: so it is.")
    made = Shown(monkeypatch, snapshot_every=0)
    made.loop(2)
    assert made.ask(do="pause") == {
        "type": "refused",
        "id": 7,
        "why": "Clicks wait for the end of the cell: so it is.",
    }
    time.sleep(0.13)
    made.view.notify(made.run)
    head = made.deltas()[-1]["head"]
    assert head["says"] == ["Clicks wait for the end of the cell: so it is."]
    assert {word for word, why in head["why"].items() if "wait for the end" in why} >= {"pause", "stop", "lr"}
    assert all(head["why"][word] for word in WORDS if word not in ("rewind", "filters"))
    made.close()
    assert made.deltas()[-1]["head"]["says"] == []
    assert made.run.says == []


def test_a_pause_holds_the_loop_until_it_is_asked_to_go_on(shown):
    shown.loop(1)
    steps = []

    def hands():
        shown.view._receive(shown.view, {"type": "do", "id": 1, "do": "pause"}, [])
        time.sleep(0.2)
        steps.append((shown.run.step, shown.run.status))
        shown.view._receive(shown.view, {"type": "do", "id": 2, "do": "step"}, [])
        time.sleep(0.2)
        steps.append((shown.run.step, shown.run.status))
        shown.view._receive(shown.view, {"type": "do", "id": 3, "do": "resume"}, [])

    other = threading.Thread(target=hands)
    other.start()
    for _ in range(400):
        shown.loop(1)
        time.sleep(0.001)
    other.join()
    assert [status for _, status in steps] == ["paused", "paused"] and steps[1][0] == steps[0][0] + 1
    says = [content["say"] for content, _ in shown.sent if content["type"] == "asked"]
    assert says == [
        "Asked; acts at the next step.",
        "Asked; the waiting loop acts now.",
        "Asked; the waiting loop acts now.",
    ]
    assert shown.run.status == "running" and shown.run.step == 401


def test_a_run_that_is_over_rewinds_from_its_page(shown):
    shown.loop(3)
    shown.run.snapshot()
    shown.loop(3)
    shown.close()
    shown.run.snapshots.kept = [one for one in shown.run.snapshots.kept if one.asked]
    answer = shown.ask(do="rewind", step=4)
    assert answer == {"type": "asked", "id": 7, "say": "Done."}
    assert shown.deltas()[-1]["head"]["say"] == "The model holds the weights of step 4."
    assert "The run is over." in shown.ask(do="pause")["why"]


def test_the_bundle_is_the_widget_alone(shown):
    data, _ = shown.view._repr_mimebundle_()
    assert (
        set(data) == {"text/plain", "application/vnd.jupyter.widget-view+json"} and data["text/plain"] == ""
    )


def test_views_of_others_do_not_close_it_while_it_runs(shown, pages):
    others = [Live(Display(shown.run.record())) for _ in range(OPEN + 3)]
    assert shown.view.comm is not None and len(Live._open) == OPEN
    shown.close()
    others += [Live(Display(shown.run.record())) for _ in range(OPEN)]
    assert shown.view.comm is None


def test_a_run_left_open_ends_when_its_cell_runs_again(shown):
    shown.run.left_open = True
    shown.loop(2)
    shown.view.replaced()
    assert not shown.run.open and shown.run.status == "interrupted"
    assert shown.run.say == "Left open; its cell ran again." and shown.view.comm is None


def test_a_closed_view_lets_go_of_its_run_and_gets_nothing(shown):
    shown.view._receive(shown.view, {"type": "close"}, [])
    assert shown.view.run is None and shown.run.open
    assert shown.ask(do="pause") is None and shown.ask(type="all") is None
    shown.loop(3)
    shown.close()
    assert shown.deltas() == [] and shown.run.says == []
    seen = weakref.ref(shown.run)
    shown.run = None
    gc.collect()
    assert seen() is None


def test_a_loop_in_a_thread_leaves_clicks_to_the_main_thread(pages, monkeypatch):
    monkeypatch.setattr(module.pump, "why_not", lambda: "not here")
    found = []

    def other():
        made = Shown(monkeypatch)
        made.loop(2)
        found.append((made.view.why, made.run.says))
        made.close()

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert found == [("", [])]


def test_what_stays_is_a_page_that_gives_way_to_the_live_one(shown):
    shown.loop(3)
    shown.close()
    kept = shown.view.display
    assert isinstance(kept, Kept) and kept.name == "watch"
    bundle = kept._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "image/svg+xml", "text/html"}
    assert bundle["text/plain"].startswith("Finished after step 3\n")
    assert (
        bundle["text/html"].startswith('<div class="vistorch-kept">')
        and "data-vistorch=" in bundle["text/html"]
    )
    assert "vistorch-kept" not in kept.document()


def test_a_showing_that_fails_does_not_end_the_loop(shown):
    shown.view.send = None
    time.sleep(0.13)
    shown.loop(3)
    time.sleep(0.13)
    shown.loop(1)
    assert shown.run.step == 4 and "Showing failed" in shown.run.says[0]
