"""A watched training in a notebook: one panel, what stays below it, and the stepper that its loop waits in."""

import threading
import time

import pytest

from tests.debug.watch.loops import small_training
from vistorch import vt
from vistorch.widgets._frame import bundles, live
from vistorch.widgets._frame.kept import Kept
from vistorch.widgets._frame.wire import unpack
from vistorch.widgets.steps import command as stepping
from vistorch.widgets.steps import waiting
from vistorch.widgets.watch import command as watching
from vistorch.widgets.watch.live import WatchView


@pytest.fixture
def front(monkeypatch, tmp_path, bare):
    """A front end whose displays are kept in a list, with pages of a line."""
    for kind in ("watch", "steps", "graph", "flow"):
        (tmp_path / f"{kind}.js").write_text("export default {}")
    monkeypatch.setattr(bundles, "STATIC", tmp_path)
    shown = []
    monkeypatch.setattr("IPython.display.display", shown.append)
    for place in (watching, stepping):
        monkeypatch.setattr(place, "has_front_end", lambda shell: True)
    monkeypatch.setattr("vistorch.widgets._frame.pump.why_not", lambda: "")
    yield shown
    for _, view in list(live.Live._open.values()):
        view.close()


def kinds(shown):
    return [type(one).__name__ for one in shown]


def test_a_notebook_shows_the_panel_and_keeps_the_last_state(front, capsys):
    net, opt, loop = small_training()
    with vt.watch(net, opt) as run:
        assert len(front) == 1 and isinstance(front[0], WatchView)
        loop(5)
        assert len(front) == 1
    assert len(front) == 2 and isinstance(front[1], Kept)
    assert front[1].text().startswith("Finished after step 5")
    assert front[0].comm is not None  # rewind still works
    assert capsys.readouterr() == ("", "") and run.says == []
    run.close()
    assert len(front) == 2


def test_a_page_knows_before_the_first_step_what_it_can_ask_for(front):
    net, opt, _ = small_training()
    with vt.watch(net, opt) as run:
        head = unpack(front[0].payload)[1]["head"]
        assert head == {**run.state()["head"], "seconds": head["seconds"], "memory": head["memory"]}
        assert head["autopause"] is True and head["why"]["autopause"] == head["why"]["stepper"] == ""


def test_a_page_knows_before_the_first_step_that_clicks_would_come_too_late(front, monkeypatch):
    monkeypatch.setattr("vistorch.widgets._frame.pump.why_not", lambda: "Clicks wait.")
    net, opt, _ = small_training()
    with vt.watch(net, opt):
        head = unpack(front[0].payload)[1]["head"]
        assert head["autopause"] is None and head["says"] == ["Clicks wait."]
        assert head["why"]["pause"] == head["why"]["stop"] == "Clicks wait."


def test_the_last_state_is_shown_once_after_an_error_too(front):
    net, opt, loop = small_training()
    with pytest.raises(ZeroDivisionError), vt.watch(net, opt):
        loop(2)
        raise ZeroDivisionError("here")
    assert kinds(front) == ["WatchView", "Kept"]
    assert front[1].text().startswith("Error after step 2")


@pytest.mark.parametrize("off", ["option", "default", "no page"])
def test_without_a_live_panel_only_the_end_is_shown(front, off, tmp_path):
    net, opt, loop = small_training()
    if off == "default":
        vt.defaults.live = "off"
    elif off == "no page":
        (tmp_path / "watch.js").unlink()
    with vt.watch(net, opt, live="off" if off == "option" else None) as run:
        loop(5)
        assert front == []
    assert kinds(front) == ["Kept"] and run.says == []
    vt.defaults.reset()


def test_what_is_kept_can_be_exported(front, tmp_path):
    net, opt, loop = small_training()
    with vt.watch(net, opt, name="mine"):
        loop(3)
    assert ": mine" in str(vt.export(tmp_path / "run.html", "mine"))
    assert "vistorch-kept" not in (tmp_path / "run.html").read_text()
    vt.export(tmp_path / "run.svg")
    assert "step 3" in (tmp_path / "run.svg").read_text()


def test_watching_that_fails_is_reported_on_the_panel(front):
    net, opt, loop = small_training()
    with vt.watch(net, opt) as run:
        loop(2)
        run.listener.acts["loader"] = None
        run._fail(RuntimeError("no idea"))
        loop(2)
    assert kinds(front) == ["WatchView", "Kept"]
    assert "Watching stopped: RuntimeError: no idea" in front[1].text()


# ---- the stepper within --------------------------------------------------------------------------------------------
class Hands:
    """Clicks in the stepper that a running loop waits in, as they come from a page."""

    def __init__(self, front, run, *moves):
        self.front, self.run, self.moves, self.seen = front, run, list(moves), []

    def poll(self):
        if len(self.front) < 2 or not self.moves:
            return
        view, move = self.front[1], self.moves.pop(0)
        self.seen.append((self.run.status, self.run.step))
        view.send = lambda *given, **more: None
        move(view)


def go(to):
    return lambda view: view._receive(view, {"type": "go", "id": 1, "to": to}, [])


def leave(how):
    return lambda view: view._receive(view, {"type": "leave", "id": 2, "how": how}, [])


@pytest.mark.parametrize(
    "moves",
    [(go(3), leave("finish")), (go(3), leave("undo")), (leave("undo"),), (lambda view: view.close(),)],
)
def test_the_loop_waits_in_the_stepper_and_its_result_is_the_same(front, moves):
    net, opt, loop = small_training()
    with vt.watch(net, opt, snapshot_every=0) as run:
        losses = loop(2)
        hands = Hands(front, run, *moves)
        run.poll = hands.poll
        run.command({"do": "stepper"})
        losses += loop(4)
    assert run.status == "finished" and not hands.moves
    assert hands.seen and all(status == "paused" for status, _ in hands.seen)
    what = [entry.what for entry in run.log.entries]
    assert what == ["stepper", "stepper left"]
    assert run.says == []
    again_net, _, again = small_training()
    again_losses = again(2) + again(4)
    assert losses == again_losses
    assert [p.tolist() for p in net.parameters()] == [p.tolist() for p in again_net.parameters()]


def test_stop_leaves_the_stepper(front):
    net, opt, loop = small_training()
    with vt.watch(net, opt, snapshot_every=0) as run:
        loop(1)
        run.poll = Hands(front, run, lambda view: run.stop()).poll
        run.command({"do": "stepper"})
        loop(5)
    assert run.status == "stopped" and run.step == 3


def test_an_interrupt_in_the_stepper_leaves_gradients_alone(front):
    net, opt, loop = small_training()

    def interrupt(view):
        view._receive(view, {"type": "go", "id": 1, "to": 4}, [])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), vt.watch(net, opt, snapshot_every=0) as run:
        loop(1)
        run.poll = Hands(front, run, interrupt).poll
        run.command({"do": "stepper"})
        loop(5)
    assert run.status == "interrupted" and all(p.grad is None for p in net.parameters())
    with vt.watch(net, opt) as run:
        loop(2)
    assert run.step == 2


def test_a_stepper_that_cannot_be_shown_lets_the_loop_go_on(front, monkeypatch):
    net, opt, loop = small_training()
    monkeypatch.setattr(stepping, "shown", lambda *given: 1 / 0)
    with vt.watch(net, opt, snapshot_every=0) as run:
        loop(1)
        run.command({"do": "stepper"})
        loop(3)
    assert run.step == 4 and all(p.grad is not None for p in net.parameters())
    assert run.log.entries[-1].what == "stepper refused" and "ZeroDivisionError" in run.log.entries[-1].effect


def test_waiting_is_no_overhead(front, monkeypatch):
    monkeypatch.setattr(waiting, "WAIT", 0.01)
    net, opt, loop = small_training()
    with vt.watch(net, opt, snapshot_every=0) as run:
        loop(1)
        begin = time.perf_counter()
        run.poll = Hands(front, run, *[lambda view: None] * 8, leave("finish")).poll
        run.command({"do": "stepper"})
        loop(2)
        waited = time.perf_counter() - begin
    assert run.budget.held > 0.5 * waited > 0.1


def test_a_loop_in_a_thread_is_watched_as_well(front):
    net, opt, loop = small_training()

    def body():
        with vt.watch(net, opt) as run:
            loop(5)
        runs.append(run)

    runs = []
    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    assert runs[0].step == 5 and runs[0].says == []
    assert kinds(front) == ["WatchView", "Kept"]
