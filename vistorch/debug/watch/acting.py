"""The controls of a run: what may be asked for, and what the loop does about it at its next step boundary.

Invariant: each thing that was done is a line of the log, with the step it was done at.
"""

from __future__ import annotations

import math
from time import perf_counter
from typing import Any

from ...engine.tensor import Tensor
from .controls import CommandQueue, Log, StopTraining, checked, positive
from .snapshots import Snapshot, Snapshots
from .transfer import Transfer


def rate(value: float) -> str:
    """A learning rate as people write it: 0.001, 3e-4.

    Example:
        >>> from vistorch.debug.watch.acting import rate
        >>> rate(3e-4), rate(0.1), rate(1e-3)
        ('3e-4', '0.1', '1e-3')
    """
    if not math.isfinite(value):
        return str(value)
    if value == 0 or 0.01 <= abs(value) < 10000:
        return f"{value:.4g}"
    mantissa, _, exponent = f"{value:.3e}".partition("e")
    return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"


class Acting:
    """The part of a run that acts."""

    commands: CommandQueue
    log: Log
    snapshots: Snapshots
    alarms: Any
    cuts: Any
    pace: Any
    snapshot_every: int | None
    transfer: Transfer
    metrics: Any
    budget: Any
    listener: Any
    filters: Any
    model: Any
    optimizer: Any
    status: str
    tasks: Any
    say: str
    step: int
    epoch: int
    looks: bool
    look_every: float
    next_look: float
    next_refresh: float
    next_glance: float
    glance: Any
    newest_rate: Any
    poll: Any
    at_backward: Any
    stepper: Any = None

    batches: Any
    _fill: Any
    _poll: Any
    _touch: Any
    _call: Any
    refresh: Any
    open: Any
    tell: Any

    # ---- asking ------------------------------------------------------------------------------------------------
    def pause(self) -> None:
        """Hold the loop after the step it is in."""
        self.command({"do": "pause"})

    def resume(self) -> None:
        """Let a held loop go on."""
        self.command({"do": "resume"})

    def step_once(self) -> None:
        """Let a held loop make one step, and hold it again."""
        self.command({"do": "step"})

    def stop(self) -> None:
        """End the loop after the step it is in; the model is kept."""
        self.command({"do": "stop"})

    def set_lr(self, value: float, group: int | None = None) -> None:
        """Set the learning rate from the next step on.

        Args:
            value: a positive number.
            group: of this parameter group only.
        """
        self.command({"do": "lr", "value": value, "group": group})

    def snapshot(self) -> None:
        """Keep the state after the step the loop is in."""
        self.command({"do": "snapshot"})

    def rewind(self, step: int | None = None) -> None:
        """Go back to a snapshot.

        Args:
            step: its step; by default the newest.
        """
        self.command({"do": "rewind", "step": step})

    def why_not(self, word: str) -> str:
        """Why a command cannot act now; "" where it can.

        Args:
            word: "pause", "step", "resume", "stop", "lr", "snapshot", "rewind", "filters", "stepper", "autopause".
        """
        if word == "filters":
            return (
                "" if self.filters is not None and self.filters.choices else "The model has no convolution."
            )
        if word == "rewind":
            if not self.snapshots.kept:
                return (
                    f"No: {self.snapshots.refused}."
                    if self.snapshots.refused
                    else "There is no snapshot yet."
                )
            return ""
        if not self.open:
            return "The run has not begun." if self.status == "waiting" else "The run is over."
        if self.listener.main is None and word in ("lr", "snapshot"):
            return "No optimizer has made a step yet."
        if word == "step" and not self.commands.paused:
            return "Only when paused."
        if word == "resume" and not self.commands.paused:
            return "It is running."
        if word == "pause" and self.commands.paused:
            return "It is paused."
        if word == "stepper" and self.stepper is None:
            return "Nothing here shows a stepper."
        if word == "autopause" and self.alarms.ask is None:
            return "Nothing here answers while the loop is held."
        return ""

    def command(self, message: Any) -> dict[str, Any]:
        """Ask for what a page or a program wants; the loop does it at its next step boundary.

        From any thread. A run that is over acts at once, where it still can (rewind, filters).

        Args:
            message: {"do": word, ...}.

        Returns:
            The command as it was understood.

        Example:
            >>> import vistorch
            >>> from vistorch.debug.watch import watch
            >>> watch(vistorch.nn.Linear(1, 1)).command({"do": "pause"})
            Traceback (most recent call last):
            ValueError: pause: The run has not begun.
        """
        command = checked(message)
        word = command["do"]
        if why := self.why_not(word):
            raise ValueError(f"{word}: {why}")
        if word == "rewind":
            command["step"] = self.snapshots.of(command["step"]).step
        if word == "filters":
            known = [n for n, _ in self.filters.choices]
            if command["name"] not in known:
                raise ValueError(
                    f"no filters are called {command['name'][:80]!r}; there are: {', '.join(known)}"
                )
        if word == "lr" and command["group"] is not None:
            groups = len(self.listener.main.param_groups)
            if command["group"] >= groups:
                raise ValueError(f"there are {groups} parameter groups, the last is number {groups - 1}")
        if self.open:
            self.commands.ask(command)
        else:
            self._act(command, perf_counter())
        return command

    # ---- acting ------------------------------------------------------------------------------------------------
    def _boundary(self) -> None:
        """The end of a step: refresh, look for clicks, do what was asked for, and hold the loop while it is paused."""
        now = perf_counter()
        if self.cuts is not None and self.cuts.left >= 0:
            self.cuts.stepped()
        if now >= self.next_refresh:
            self.refresh()
            if self.snapshot_every is None and self.budget.may("snapshots", self.step):
                self._take_snapshot(asked=False)
        elif now >= self.next_glance and self.tell is not None:
            self.glance()
        self.looks = now >= self.next_look
        if self.looks:
            self.next_look = now + self.look_every
        if self.poll is not None:
            self._poll(now)
        commands = self.commands
        if self.alarms.raised and self.alarms.act():
            self._hold_at_alarm()
        if commands.once:
            commands.once = False
            self._hold()
        if not commands.waiting and not commands.paused:
            return
        with self.budget.holding():
            while True:
                asked = self.commands.take()
                if asked is not None:
                    self._act(*asked)
                elif not self.commands.paused:
                    break
                else:
                    self._poll(perf_counter())
                    self.commands.wait()

    def _hold_at_alarm(self) -> None:
        """Hold the loop, where a page answers."""
        self.commands.once = False
        self._hold()
        with self.budget.holding():
            answered = self.alarms.is_answered(self._poll, self.commands)
        if answered:
            self.log.write(self.step, "paused", "by itself, at the alarm")
        else:
            self.commands.paused = False
            self.status, self.say = "running", ""
            self.alarms.newest.how = "unanswered"
            self.log.write(self.step, "not paused at the alarm", "no page answered")
        self._touch("log", "head")
        self._call(self.tell)

    def _hold(self, late: str = "") -> None:
        self.commands.paused = True
        self.status = "paused"
        self.say = f"Paused after step {self.step}{late}. The loop waits at the step boundary."
        self._touch("log")
        self.refresh(tell=False)
        self._fill(self.batches, "training", 0.25)  # the loop waits: there is time
        self.refresh()

    def _act(self, command: dict[str, Any], asked: float) -> None:
        """Do one thing; refuse in the log what became impossible meanwhile."""
        word = command["do"]
        self.refresh(tell=False)
        try:
            getattr(self, f"_do_{word}")(command, asked)
        except (ValueError, RuntimeError) as error:
            self.log.write(self.step, f"{word} refused", str(error))
        self._touch("log", "head", "snapshots")
        self._call(self.tell)

    def _do_pause(self, command: dict, asked: float) -> None:
        if not self.commands.paused:
            late = f"{(perf_counter() - asked) * 1000:.0f} ms after the click"
            self.log.write(self.step, "paused", late)
            self._hold(f", {late}")

    def _do_resume(self, command: dict, asked: float) -> None:
        if self.commands.paused:
            self.commands.paused = False
            at_alarm = self.alarms.goes_on(self.step)
            self.log.write(self.step, "went on anyway" if at_alarm else "resumed")
            self.status, self.say = "running", ""

    def _do_step(self, command: dict, asked: float) -> None:
        self.commands.paused, self.commands.once = False, True
        self.log.write(self.step, "one step")
        self.status, self.say = "running", ""

    def _do_stop(self, command: dict, asked: float) -> None:
        self.log.write(self.step, "stopped", "the model is kept")
        self.commands.paused = False
        raise StopTraining(self)

    def _do_lr(self, command: dict, asked: float) -> None:
        value, only = positive(command["value"]), command["group"]
        groups = self.listener.main.param_groups
        before = float(groups[only or 0]["lr"])
        for i, group in enumerate(groups):
            if only is None or only == i:
                old = group["lr"]
                if isinstance(old, Tensor):
                    old.fill_(value)
                else:
                    group["lr"] = value
        what = f"learning rate {rate(before)} → {rate(value)}"
        if only is not None:
            what += f" of group {only}"
        effect = "from the next step on"
        if self.listener.schedulers:
            effect += "; the scheduler goes on from there or sets its own"
        self.log.write(self.step, what, effect, before, value)

    def _do_autopause(self, command: dict, asked: float) -> None:
        self.alarms.pauses = command["on"]
        self.log.write(self.step, "pause at an alarm", "on" if command["on"] else "off")

    def _do_filters(self, command: dict, asked: float) -> None:
        self.filters.choose(command["name"])
        self.budget.jobs["filters"].last = -(1 << 60)
        if not self.open:
            self.filters.look(self.step, self.transfer)
            self.transfer.send()
            self.filters.arrive()
        self._touch("filters")

    def _do_stepper(self, command: dict, asked: float) -> None:
        self.at_backward = self.stepper
        self.log.write(self.step, "stepper", "opens on the next backward pass")
        if self.commands.paused:
            opens = "The stepper opens at the next backward pass: Resume, or one step."
            self.say = f"Paused after step {self.step}. {opens}"

    def _do_snapshot(self, command: dict, asked: float) -> None:
        if self._take_snapshot(asked=True):
            self.log.write(self.step, "snapshot", f"{self.snapshots.kept[-1].nbytes / 2**20:.2f} MiB")
        else:
            self.log.write(self.step, "snapshot refused", self.snapshots.refused)

    def _take_snapshot(self, asked: bool) -> bool:
        """Keep the state as it is now; all that was heard has been read."""
        begun = self.budget.begin()
        alarm = self.alarms.newest
        if not asked and (self.snapshots.refused or (alarm is not None and alarm.now)):
            return False
        optimizers = [o for o, ours in self.listener.ours.values() if ours]
        more = []
        for loader in list(self.listener.loaders.known):
            more += [loader.generator, getattr(loader.sampler, "generator", None)]
        kept = Snapshot(
            self.step,
            self.model,
            optimizers,
            list(self.listener.schedulers),
            [g for g in more if g is not None],
            self.metrics.copy(),
            asked,
        )
        kept_it = self.snapshots.add(kept)
        self._touch("snapshots")
        self.budget.end("snapshots", begun)
        return kept_it

    def _do_rewind(self, command: dict, asked: float) -> None:
        kept = self.snapshots.of(command["step"])
        before, now = self.step, self._rate()
        kept.restore()
        self.batches.forget_after(kept.step)
        self.metrics.rewind(kept.step, kept.metrics, self.epoch)
        self.pace.rewound(before, kept.step, self.open)
        self.alarms.rewound(kept.step)
        self.tasks.forget_after(kept.step)
        self.snapshots.forget_after(kept.step)
        for entry in self.log.entries:
            if (
                entry.step > kept.step
                and not entry.undone
                and not entry.what.startswith(("rewound", "paused"))
            ):
                entry.undone = True
                entry.effect += "; undone by the rewind" if entry.effect else "undone by the rewind"
        self.step, self.newest_rate = kept.step, None
        effect = "weights, optimizer and generators restored"
        if now is not None and self._rate() != now:
            effect += f"; learning rate back to {rate(self._rate() or 0)}"
        what = f"rewound from step {before} to snapshot {kept.step}"
        self.log.write(before, what, effect, before, kept.step)
        for job in self.budget.jobs.values():
            job.last = min(job.last, kept.step)
        self._touch(
            "loss", "validation", "accuracy", "flow", "mistakes", "log", "snapshots", "rewound", "task"
        )
        if not self.open:
            self.say = f"The model holds the weights of step {kept.step}."
        elif self.commands.paused:
            self.say = (
                f"Paused at step {kept.step}, where the rewind went. The loop waits at the step boundary."
            )
            self._fill(self.batches, "training", 0.25)

    def _rate(self) -> float | None:
        """The learning rate of the first group."""
        main = self.listener.main
        return (
            float(main.param_groups[0]["lr"]) if main is not None and "lr" in main.param_groups[0] else None
        )
