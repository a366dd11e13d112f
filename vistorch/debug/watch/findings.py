"""What is wrong with a watched training, found in windows: for a few steps now and then the cheap rules look on.

Invariant: between two windows no event reaches this. A finding stands as long as the newest window that could show it
does, and its withdrawal is a line of the log.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..diagnose.finding import BAD, EXACT, Finding
from ..diagnose.op_lines import ops_of, signature
from ..diagnose.record import wire_of
from ..diagnose.session import things
from ..diagnose.tree import tree_of
from ..line_lookup import line_of
from ..source import active, has
from .alarms import Alarms
from .budget import Budget
from .changes import Changes
from .log import Log
from .origin import Origin, origin_of
from .progress import Progress
from .window import Window

TURNS = 8  # steps of a window
PASSES = 32  # backward passes after which a window ends without
MOST = 3  # findings that are shown
AT_ALARM = "not finite"  # the rule that says of the alarm what the alarm itself says


@dataclass(eq=False)
class Findings:
    """Opens windows, and knows what they found."""

    progress: Progress  # where the loop is
    budget: Budget  # says when there is time for a window
    alarms: Alarms  # what is not finite is a finding too
    log: Log  # what was found and withdrawn is a line of it
    changes: Changes  # learns what changed
    names: Callable[[], dict[str, Any]] | None = None  # gives the names that things have
    window: Window | None = None
    began: int = 0  # the step at which the window was opened
    items: list[Finding] = field(default_factory=list)  # those of the rules
    # rules: title, whether they had anything
    looked: dict[str, tuple[str, bool]] = field(default_factory=dict)
    silenced: set[tuple] = field(default_factory=set)  # what a person has said is meant
    withdrawn: int = 0
    shapes: dict[tuple, list] = field(default_factory=dict)  # see `Window`
    failures: list[str] = field(default_factory=list)
    followed: Any = None  # the alarm that a window was opened for
    on: bool = True  # whether rules look on at all
    # whether the loop runs compiled, whose ops nobody sees; None before a pass has shown it
    compiled: Callable[[], bool | None] = lambda: None

    # ---- windows -----------------------------------------------------------------------------------------------
    def open(self) -> None:
        """Begin to look on."""
        if self.window is not None or not self.on:
            return
        compiled, probe = self.compiled(), self.alarms.probe
        self.on = not compiled
        # one, once a model has shown it; what follows PyTorch's ops would be compiled with them
        sources = [probe.source] if probe.model is not None else active()
        plain = [s for s in sources if s.name == "vistorch" or compiled is False]
        if compiled or not plain:
            return
        begun = self.budget.begin()
        names = things(dict(self.names() if self.names is not None else {}))
        self.window = Window([s for s in plain if has(s, "diagnose")], names)
        self.began = self.progress.step
        self.window.__enter__()
        if self.began:  # before the first step it is no time of the loop's
            self.budget.end("findings", begun)

    def stepped(self, step: int) -> None:
        """A step is whole: end a window that has seen enough, or open one where there is time."""
        window = self.window
        self.began = min(self.began, step)
        if window is None:
            alarm = self.alarms.newest
            fresh = alarm is not None and alarm.now and alarm is not self.followed
            self.followed = alarm
            if fresh or self.budget.may("findings", step):
                self.open()
        elif (
            self.alarms.probe.source not in window.sources
        ):  # it runs on PyTorch, as the first step has shown
            self.drop()
            self.open()
        elif window.broken is not None or self.compiled():
            self.on = False
            if window.broken is not None:
                self.failures.append(f"{type(window.broken).__name__}: {window.broken}")
            self.drop()
        elif window.turn >= TURNS or window.passes >= PASSES or step - self.began >= 4 * TURNS:
            self.close()

    def interrupt(self) -> None:
        """A validation goes on, in which no rule that is cheap has anything to see: end the window."""
        if self.window is None:
            return
        if self.window.turn >= TURNS // 2:
            self.close()
        else:
            self.drop()
            self.budget.due("findings")

    def drop(self) -> None:
        """End the window, and take nothing of it."""
        window, self.window = self.window, None
        if window is not None:
            window.__exit__()
            window.let_go()

    def close(self, last: bool = False) -> None:
        """End the window, and take what it found for what is known.

        Args:
            last: whether the run is over.
        """
        window, self.window = self.window, None
        if window is None:
            return
        begun = self.budget.begin()
        window.__exit__()
        self.shapes.update(window.lines.shapes)
        alarm = self.alarms.newest
        if alarm is not None and alarm.origin is not None and alarm.origin.line is None:
            self._place(alarm.origin, [])  # a pass like it may have come only now
            alarm.cause = alarm.origin.say()
            self.changes.touch("head")
        if not last or window.turn >= TURNS // 2 or not self.items:
            self._take(window)
        self.budget.charge("findings", window.price)
        window.let_go()
        self.budget.end("findings", begun)

    def _take(self, window: Window) -> None:
        found = [
            one
            for one in window.findings(self.failures)
            if one.rule != AT_ALARM and key_of(one) not in self.silenced
        ]
        seen = window.main
        had = {rule.name for rule in seen.rules if rule.had_something}
        for rule in seen.rules:
            self.looked[rule.name] = (
                rule.title,
                rule.name in had or self.looked.get(rule.name, ("", False))[1],
            )
        now, before = {key_of(one) for one in found}, {key_of(one) for one in self.items}
        for one in self.items:
            if key_of(one) in now:
                continue
            if one.rule not in had:  # nothing it could have been seen in
                found.append(one)
            else:
                self.withdrawn += 1
                self.log.write(self.progress.step, "finding withdrawn", one.text)
        for one in found:
            if key_of(one) not in before:
                self.log.write(self.progress.step, "finding", f"{one.text} {one.where}".strip())
        for one in found:
            one.tree = one.tree or tree_of(one, seen.named)
        self.items = found
        self.changes.touch("findings", "log")

    def wire(self) -> dict[str, Any]:
        """As it travels."""
        return {
            "items": [wire_of(one) for one in self.shown()],
            "count": len(self.items) + (self.alarms.newest is not None),
            "withdrawn": self.withdrawn,
            "rules": [
                {"name": name, "title": title, "looked": had} for name, (title, had) in self.looked.items()
            ],
        }

    def meant(self, number: int) -> str:
        """A person says that a finding is meant: it is not shown again for that line; gives its sentence.

        Args:
            number: which of those that are shown, from 0 on.
        """
        one = self.shown()[number]
        self.silenced.add(key_of(one))
        self.items = [other for other in self.items if key_of(other) != key_of(one)]
        self.changes.touch("findings")
        return one.text

    # ---- the alarm ---------------------------------------------------------------------------------------------
    def origin(self, order: list, outputs: tuple) -> Origin | None:
        """Where a loss that is not finite was made, with the line if a pass of the same ops has been followed.

        Args:
            order: the nodes of its pass, the newest first.
            outputs: what it starts from.
        """
        source = self.alarms.probe.source
        found = origin_of(order, outputs, source)
        if found is None:
            return None
        places = []
        if self.window is not None:
            found.names, places = self.window.lines.lines(order)
        else:
            found.names = signature(ops_of(order, source.nodes), source.nodes)
        self._place(found, places)
        return found

    def _place(self, origin: Origin, places: list) -> None:
        """Give an origin its line, as the window at hand knows it, or one that has seen a pass of the same ops."""
        place, module = places[origin.index] if places else (None, None)
        if place is None and origin.names in self.shapes:
            place, module = self.shapes[origin.names][origin.index]
        origin.line = line_of(place)
        if module is not None:
            origin.module = self._called(module)

    def _called(self, module: Any) -> str:
        model = self.alarms.probe.model
        paths = [] if model is None else [path for path, one in model.named_modules() if one is module]
        return paths[0] if paths and paths[0] else type(module).__name__

    def of_alarm(self) -> Finding | None:
        """The alarm as a finding."""
        alarm = self.alarms.newest
        if alarm is None:
            return None
        origin = alarm.origin
        proof: list[tuple[str, Any]] = []
        if alarm.before:
            proof.append(("losses before", ", ".join(f"{x:.3g}" for x in alarm.before)))
        if alarm.rest():
            proof.append(("weights", alarm.rest()))
        if origin is None:
            return Finding(
                "alarm",
                BAD,
                EXACT,
                alarm.say(),
                proof=proof,
                unless="",
                advice=alarm.advice,
                layer=alarm.name,
            )
        if origin.fact is not None:
            proof.insert(0, origin.fact)
        bad = [
            (f"{origin.op} at {at}", f"{given} → {made}")
            for at, given, made in origin.given
            if made[-1] in "fn"
        ]
        proof += bad[:2]
        return Finding(
            "alarm",
            BAD,
            EXACT,
            alarm.say(),
            origin.line,
            "made here",
            layer=origin.module,
            proof=proof,
            confirm=("torch.isfinite of what goes into that line, and of what comes out", "True, then False"),
            advice=origin.advice,
        )

    # ---- what is shown -----------------------------------------------------------------------------------------
    def shown(self) -> list[Finding]:
        """The alarm first, then what the rules found; at most three."""
        alarm = self.of_alarm()
        return self.items[:MOST] if alarm is None else [alarm, *self.items[: MOST - 1]]


def key_of(finding: Finding) -> tuple:
    """What makes two findings the same: rule and place.

    Args:
        finding: which.
    """
    place = finding.place
    return finding.rule, finding.layer if place is None else (place.file, place.line)
