"""The controls of a run: what may be asked for, and what the loop does about it at its next step boundary.

Invariant: each thing that was done is a line of the log, with the step it was done at.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from ..source import has, lacking
from .alarms import Alarms
from .budget import Budget
from .changes import Changes
from .commands import CommandQueue, checked, positive
from .findings import Findings
from .history import History
from .hunt import Hunt
from .log import Log
from .model_probe import ModelProbe
from .optimizers import Optimizers
from .progress import Progress
from .reader import Reader
from .refresher import Refresher
from .words import rate_text


@dataclass(eq=False)
class Controls:
    """Takes commands from any thread, and acts on them in the loop's."""

    progress: Progress  # where the loop is
    commands: CommandQueue  # those that wait
    log: Log  # what was done
    history: History  # snapshots and the way back
    probe: ModelProbe  # the model
    optimizers: Optimizers  # what changes it
    alarms: Alarms  # may hold the loop
    reader: Reader  # fills the cells of misread samples while the loop is held
    refresher: Refresher  # reads and shows
    budget: Budget  # does not count the time the loop is held
    changes: Changes  # learns what changed
    findings: Findings  # what is wrong
    stop: Callable[[], Any]  # ends the loop by raising
    stepper: Callable[[Any, tuple], Any] | None = None  # opens a stepper on a backward pass
    at_backward: Callable[[Any, tuple], Any] | None = None  # called once, with the next backward pass
    shows: Callable[[Any], Any] | None = None  # shows the record of a trace
    hunt: Hunt | None = None  # a rewind that looks for what the alarm was about

    # ---- asking ------------------------------------------------------------------------------------------------
    def why_not(self, word: str) -> str:
        """Why a command cannot act now; "" where it can.

        Args:
            word: one of `commands.WORDS`.
        """
        filters, snapshots = self.probe.filters, self.history.snapshots
        if word == "filters":
            return "" if filters is not None and filters.choices else "The model has no convolution."
        if word == "rewind":
            if snapshots.kept:
                return ""
            return f"No: {snapshots.refused}." if snapshots.refused else "There is no snapshot yet."
        if word == "meant":
            return "" if self.findings.items else "Nothing is found."
        if not self.progress.open:
            return "The run has not begun." if self.progress.status == "waiting" else "The run is over."
        if self.optimizers.main is None and word in ("lr", "snapshot"):
            return "No optimizer has made a step yet."
        if word == "step" and not self.commands.paused:
            return "Only when paused."
        if word == "resume" and not self.commands.paused:
            return "It is running."
        if word == "pause" and self.commands.paused:
            return "It is paused."
        if word == "stepper" and self.stepper is None:
            return "Nothing here shows a stepper."
        if word == "stepper" and not has(self.probe.source, "step in"):
            return f"In a running loop, {lacking(self.probe.source, 'step in')}; type %vt step loss in its own cell."
        if word in ("trace", "into"):
            return self._why_no_hunt(word)
        if word == "autopause" and self.alarms.ask is None:
            return "Nothing here answers while the loop is held."
        return ""

    def _why_no_hunt(self, word: str) -> str:
        """Why the step of the alarm cannot be looked at again."""
        alarm = self.alarms.newest
        if alarm is None or not alarm.now:
            return "There is no alarm."
        if alarm.snapshot is None:
            return alarm.none or "There is no snapshot from before it to go back to."
        if word == "trace":
            return "" if self.shows is not None else "Nothing here shows a trace."
        return self.why_not("stepper")

    def command(self, message: Any) -> dict[str, Any]:
        """Queue a command for the next step boundary, or act at once where the run is over; ValueError says why not.

        Args:
            message: {"do": word, ...}.

        Returns:
            The command as it was understood.
        """
        command = checked(message)
        word = command["do"]
        if why := self.why_not(word):
            raise ValueError(f"{word}: {why}")
        if word == "rewind":
            command["step"] = self.history.snapshots.of(command["step"]).step
        if word == "filters" and self.probe.filters is not None:
            self.probe.filters.require(command["name"])
        if word == "lr" and command["group"] is not None:
            groups = len(self.optimizers.main.param_groups)
            if command["group"] >= groups:
                raise ValueError(f"there are {groups} parameter groups, the last is number {groups - 1}")
        if self.progress.open:
            self.commands.ask(command)
        else:
            self._act(command, perf_counter())
        return command

    def close(self) -> None:
        """The run is over: look for nothing any more."""
        hunt, self.hunt, self.at_backward = self.hunt, None, None
        if hunt is not None:
            hunt.end(record=False)

    # ---- the step boundary -------------------------------------------------------------------------------------
    def at_boundary(self) -> None:
        """Do what was asked for, and hold the loop while it is paused."""
        commands = self.commands
        hunted = self.hunt
        if hunted is not None:
            self._goes_on_hunting(hunted)
        if self.alarms.raised and self.alarms.act():
            self._hold_at_alarm(asked=hunted is not None)
        if commands.once:
            commands.once = False
            self._hold()
        if not commands.waiting and not commands.paused:
            return
        with self.budget.holding():
            while True:
                asked = commands.take()
                if asked is not None:
                    self._act(*asked)
                elif not commands.paused:
                    break
                else:
                    self.refresher.look_for_clicks(perf_counter())
                    commands.wait()

    def _hold_at_alarm(self, asked: bool) -> None:
        """Hold the loop, where a page answers; one that has asked for it may be busy with what it was shown."""
        self.commands.once = False
        self._hold()
        with self.budget.holding():
            answered = asked or self.alarms.is_answered(self.refresher.look_for_clicks, self.commands)
        if answered:
            self.log.write(self.progress.step, "paused", "by itself, at the alarm")
        else:
            self.commands.paused = False
            self.progress.set("running")
            self.alarms.unanswered()
            self.log.write(self.progress.step, "not paused at the alarm", "no page answered")
        self.changes.touch("log", "head")
        self.refresher.show_now()

    def _hold(self, late: str = "") -> None:
        self.commands.paused = True
        say = f"Paused after step {self.progress.step:,}{late}. The loop waits at the step boundary."
        self.progress.set("paused", say)
        self.changes.touch("log")
        self.refresher.refresh(show=False)
        self.reader.fill_from_training()  # the loop waits: there is time
        self.refresher.refresh()

    # ---- acting ------------------------------------------------------------------------------------------------
    def _act(self, command: dict[str, Any], asked: float) -> None:
        """Do one thing; refuse in the log what became impossible meanwhile."""
        word = command["do"]
        self.refresher.refresh(show=False)
        try:
            getattr(self, f"_do_{word}")(command, asked)
        except (ValueError, RuntimeError) as error:
            self.log.write(self.progress.step, f"{word} refused", str(error))
        self.changes.touch("log", "head", "snapshots")
        self.refresher.show_now()

    def _do_pause(self, command: dict, asked: float) -> None:
        if not self.commands.paused:
            late = f"{(perf_counter() - asked) * 1000:.0f} ms after the click"
            self.log.write(self.progress.step, "paused", late)
            self._hold(f", {late}")

    def _do_resume(self, command: dict, asked: float) -> None:
        if self.commands.paused:
            self.commands.paused = False
            at_alarm = self.alarms.goes_on(self.progress.step)
            self.log.write(self.progress.step, "went on anyway" if at_alarm else "resumed")
            self.progress.set("running")

    def _do_step(self, command: dict, asked: float) -> None:
        self.commands.paused, self.commands.once = False, True
        self.log.write(self.progress.step, "one step")
        self.progress.set("running")

    def _do_stop(self, command: dict, asked: float) -> None:
        self.log.write(self.progress.step, "stopped", "the model is kept")
        self.commands.paused = False
        self.stop()

    def _do_lr(self, command: dict, asked: float) -> None:
        value, only = positive(command["value"]), command["group"]
        groups = self.optimizers.main.param_groups
        before = float(groups[only or 0]["lr"])
        for i, group in enumerate(groups):
            if only is None or only == i:
                old = group["lr"]
                if hasattr(old, "fill_"):  # a tensor
                    old.fill_(value)
                else:
                    group["lr"] = value
        what = f"learning rate {rate_text(before)} → {rate_text(value)}"
        if only is not None:
            what += f" of group {only}"
        effect = "from the next step on"
        if self.optimizers.schedulers:
            effect += "; the scheduler goes on from there or sets its own"
        self.log.write(self.progress.step, what, effect, before, value)

    def _do_autopause(self, command: dict, asked: float) -> None:
        self.alarms.pauses = command["on"]
        self.log.write(self.progress.step, "pause at an alarm", "on" if command["on"] else "off")

    def _do_filters(self, command: dict, asked: float) -> None:
        filters, transfer = self.probe.filters, self.reader.pending.transfer
        if filters is None:
            return
        filters.choose(command["name"])
        self.budget.due("filters")
        if not self.progress.open:
            filters.look(self.progress.step, transfer)
            transfer.send()
            filters.arrive()
        self.changes.touch("filters")

    def _do_stepper(self, command: dict, asked: float) -> None:
        self.at_backward = self.stepper
        self.log.write(self.progress.step, "stepper", "opens on the next backward pass")
        if self.commands.paused:
            opens = "The stepper opens at the next backward pass: Resume, or one step."
            self.progress.say = f"Paused after step {self.progress.step:,}. {opens}"

    def _do_trace(self, command: dict, asked: float) -> None:
        self._begin_hunt("trace")

    def _do_into(self, command: dict, asked: float) -> None:
        self._begin_hunt("into")

    def _begin_hunt(self, how: str) -> None:
        """Rewind to before the alarm, and let the loop run until it comes again."""
        alarm = self.alarms.newest
        if alarm is None or alarm.snapshot is None:
            raise ValueError(self._why_no_hunt(how))
        step = self.history.rewind(alarm.snapshot)
        self.hunt = Hunt(how, alarm.step, self.probe)
        if how == "into":
            self.at_backward = self._step_into
        else:
            self.hunt.begin()
        self.log.write(step, "runs again", f"up to step {alarm.step:,}, to see where it comes from")
        self.commands.paused = False
        self.progress.set("running")

    def _step_into(self, run: Any, outputs: tuple) -> bool:
        """Open the stepper on the pass of the alarm; wait for it on the passes before."""
        hunt = self.hunt
        if hunt is None or self.stepper is None:
            return False
        if self.progress.step + 1 < hunt.until and hunt.is_finite(outputs):
            self.at_backward = self._step_into
            return False
        self.hunt = None
        return bool(self.stepper(run, outputs))

    def _goes_on_hunting(self, hunt: Hunt) -> None:
        """A step is whole: show its trace if it came again, else trace the next."""
        came, step = self.alarms.raised, self.progress.step
        if not came and step < hunt.until:
            if hunt.how == "trace":
                hunt.begin()
            return
        self.hunt = None
        if hunt.how == "into":
            self.at_backward = None if self.at_backward == self._step_into else self.at_backward
        record = hunt.end()
        if record is not None and self.shows is not None and came:
            self.log.write(step, "traced", record.sentence)
            with self.budget.holding():
                self.shows(record)
        if not came:
            self.log.write(step, "did not come again", f"up to step {step:,}: the loop gave other batches")
            self.commands.once = False
            self._hold(": it did not come again, the loop gave other batches")

    def _do_meant(self, command: dict, asked: float) -> None:
        number = command["number"]
        if number >= len(self.findings.shown()):
            raise ValueError("that finding was withdrawn")
        self.log.write(self.progress.step, "finding is meant", self.findings.meant(number))

    def _do_snapshot(self, command: dict, asked: float) -> None:
        if self.history.take(asked=True):
            what = "snapshot", f"{self.history.snapshots.kept[-1].nbytes / 2**20:.2f} MiB"
        else:
            what = "snapshot refused", self.history.snapshots.refused
        self.log.write(self.progress.step, *what)

    def _do_rewind(self, command: dict, asked: float) -> None:
        step = self.history.rewind(command["step"])
        if not self.progress.open:
            self.progress.say = f"The model holds the weights of step {step:,}."
        elif self.commands.paused:
            wait = "The loop waits at the step boundary."
            self.progress.say = f"Paused at step {step:,}, where the rewind went. {wait}"
            self.reader.fill_from_training()
