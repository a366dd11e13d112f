"""A run on ranks as a record: losses by rank and their spread, one step as a time line, and who holds the others up.

Invariant: the record is numbers and text; the run goes on without it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from statistics import mean, median
from typing import Any, ClassVar, TypedDict

import numpy as np

from ..steps.words import number
from ..wire_types import Array1, Array2, Finite
from .controls import Bar
from .parting.judge import Parting, text_of
from .timeline import Lane, Step, middle_of

SHOWN = 600  # points of a curve
OFTEN = 0.6  # share of the steps in which one rank comes last, from which on it is named
MUCH = 0.05  # share of a step that the others wait


class Alarm(TypedDict):
    """What went wrong: a sentence, and what else is known."""

    title: str
    text: str
    bad: bool  # a rank has failed; else it is a warning


class Row(TypedDict):
    """One rank now; what is not known is None."""

    rank: int
    host: str
    pid: int
    loss: float | None
    alone: Finite | None  # steps a second without waiting
    waited: Finite | None  # milliseconds in a step
    share: Finite | None
    memory: int
    seen: Finite | None  # seconds since its last progress
    finding: str
    warn: bool


class State(TypedDict):
    """What travels."""

    title: str
    report: str
    state: str
    done: int
    speed: Finite | None  # steps a second
    ranks: int
    hosts: int
    backend: str
    waiting: Finite | None  # share of the steps' time
    alarm: Alarm | None
    at: Array1  # steps of the losses
    losses: Array2  # by rank, NaN where there is none
    mean: Array1
    low: Array1
    high: Array1
    newest: Step | None
    middle: Step | None
    of: int  # steps that the middle one is the median of
    verdict: str
    more: str
    rows: list[Row]
    bar: Bar | None  # what can be asked of the ranks, while they run
    parting: Parting | None  # where ranks part, if the run was compared


@dataclass
class RanksRecord:
    """What is known of a run on ranks.

    Example:
        >>> from vistorch.debug.ranks import RanksRun
        >>> print(RanksRun(2, "main").record().text())
        main on 2 ranks: Waiting, 0 steps
        rank  loss  steps/s alone  waited  share  finding
        0     –     –              –       –
        1     –     –              –       –
    """

    kind: ClassVar[str] = "ranks"
    replaces_text: ClassVar[bool] = True  # the page's table says all that the text does

    title: str
    state: str
    done: int
    steps: list[Step] = field(default_factory=list)
    losses: dict[int, list[float | None]] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    alarm: Alarm | None = None
    backend: str = ""
    bar: Bar | None = None
    parting: Parting | None = None

    @classmethod
    def of(cls, run: Any) -> RanksRecord:
        """What is known of a run now.

        Args:
            run: a `RanksRun`.
        """
        now = time.monotonic()
        made = cls(
            run.title,
            "",
            run.done,
            list(run.steps),
            dict(sorted(run.losses.items())),
            backend=next((b["backend"] for b in run.beats.values() if b["backend"]), ""),
            parting=run.parting,
        )
        silent = run.silent(now)
        made.alarm = _alarm(run, silent, now)
        if run.outcomes is not None:
            failed = run.error or any(not one.ok for one in run.outcomes.values())
            stopped = run.outcomes and all(one.ok or one.interrupted for one in run.outcomes.values())
            ended = "Stopped" if run.controls is not None and run.controls.stopped else "Finished"
            made.state = "Interrupted" if failed and stopped else "Ended" if failed else ended
        else:
            made.state = "No answer" if silent else "Running" if run.done else "Waiting"
            if run.controls is not None:
                made.bar = bar = run.controls.bar()
                if bar["paused"]:
                    made.state = "Paused"
                if bar["rate"] is None:
                    bar["rate"] = next((b.get("rate") for b in run.beats.values()), None)
        made.rows = [made._row(run, rank, silent, now) for rank in range(run.count)]
        return made

    def _row(self, run: Any, rank: int, silent: list[int], now: float) -> Row:
        beat = run.beats.get(rank)
        lanes = [lane for step in self.steps for lane in step["lanes"] if lane["rank"] == rank]
        own = list(run.own[rank])
        waited = mean(lane["waited"] for lane in lanes) if lanes else None
        usual = median(own) if own else None
        alone = (
            1 / (usual - waited / 1000) if usual and waited is not None and usual > waited / 1000 else None
        )
        finding, warn = "", False
        outcome = (run.outcomes or {}).get(rank)
        if rank in silent:
            finding, warn = "silent; its process is alive", True
        elif silent:
            finding = f"waits for rank {silent[0]}"
        elif outcome is not None and not outcome.ok:
            finding = "was interrupted" if outcome.interrupted else outcome.name or "its process has ended"
            warn = not outcome.interrupted
        elif rank == self.slow:
            often = sum(step["last"] == rank for step in self.steps)
            finding, warn = f"last in {often} of {len(self.steps)} steps", True
        losses = [values[rank] for values in self.losses.values() if values[rank] is not None]
        return {
            "rank": rank,
            "host": _host(run, beat["host"]) if beat else "",
            "pid": beat["pid"] if beat else 0,
            "loss": losses[-1] if losses else None,
            "alone": alone,
            "waited": waited,
            "share": min(1.0, waited / 1000 / usual) if usual and waited is not None else None,
            "memory": beat["memory"] if beat else 0,
            "seen": max(0.0, now - beat["since"]) if beat and run.outcomes is None else None,
            "finding": finding,
            "warn": warn,
        }

    @property
    def slow(self) -> int | None:
        """The rank that holds the others up, if one does."""
        if len(self.steps) < 5:
            return None
        lasts = [step["last"] for step in self.steps]
        rank = max(dict.fromkeys(lasts), key=lasts.count)
        waiting = [lane["waited"] for step in self.steps for lane in step["lanes"] if lane["rank"] != rank]
        total = mean(step["total"] for step in self.steps)
        if rank < 0 or lasts.count(rank) < OFTEN * len(lasts) or not waiting or mean(waiting) < MUCH * total:
            return None
        return rank

    def verdict(self) -> tuple[str, str]:
        """Who holds the others up and by what, and what the exchange costs: two sentences, empty where nothing is."""
        if not self.steps:
            return "", ""
        middle = middle_of(self.steps)
        slow, said = self.slow, ""
        if slow is not None:
            own, others = _parts(middle, slow)
            kind = max(own, key=lambda one: own[one] - median(o.get(one, 0.0) for o in others))
            theirs = sorted(o.get(kind, 0.0) for o in others)
            verb = {
                "load": "loads data",
                "forward": "goes forward",
                "backward": "goes back",
                "optimizer": "updates",
            }
            spread = f"{theirs[0]:.1f}" if len(theirs) == 1 else f"{theirs[0]:.1f} to {theirs[-1]:.1f}"
            waits = [f"{lane['waited']:.1f}" for lane in middle["lanes"] if lane["rank"] != slow]
            listed = waits[0] if len(waits) == 1 else f"{', '.join(waits[:-1])} and {waits[-1]}"
            it, they = ("the other", "it waits") if len(waits) == 1 else ("the others", "they wait")
            least = min(lane["waited"] for lane in middle["lanes"] if lane["rank"] != slow)
            said = (
                f"Rank {slow} holds the others up. It {verb[kind]} for {own[kind]:.1f} ms a step, {it} for {spread} "
                f"ms; {they} {listed} ms for it. Without that a step would take about "
                f"{max(0.0, middle['total'] - least):.0f} ms."
            )
        lane = middle["lanes"][0]
        buckets = [one for one in lane["exchanges"] if one["bucket"] >= 0]
        more = ""
        if buckets:
            spent = sum(one["end"] - one["begin"] for one in buckets)
            open_ = sum(one["end"] - one["begin"] for one in lane["spans"] if one["kind"] == "exchange")
            many = f"{len(buckets)} bucket{'s' * (len(buckets) > 1)}"
            hidden = max(0.0, spent - open_)
            more = f"All-reduce: {many}, {spent:.1f} ms a step, of which {hidden:.1f} ms lie beside the backward pass."
        return said, more

    def speed(self) -> float | None:
        """Steps a second."""
        totals = [step["total"] for step in self.steps]
        return 1000 / mean(totals) if totals and mean(totals) > 0 else None

    def waiting(self) -> float | None:
        """The share of the steps' time that ranks wait for others."""
        shares = [row["share"] for row in self.rows if row["share"] is not None]
        return mean(shares) if shares else None

    def text(self) -> str:
        """A line, the verdict, and a table of the ranks."""
        head = f"{self.title or 'training'} on {len(self.rows)} ranks: {self.state}, {self.done} steps"
        speed, waiting = self.speed(), self.waiting()
        if self.parting is not None:
            failed = [f"{self.alarm['title']}. {self.alarm['text']}".strip()] if self.alarm else []
            name, state = self.title or "training", self.state
            return "\n".join([f"{name} on {len(self.rows)} ranks: {state}", *failed, text_of(self.parting)])
        if speed is not None:
            head += f", {speed:.1f} steps/s"
        if waiting is not None:
            head += f", waiting {100 * waiting:.0f} %"
        table = [("rank", "loss", "steps/s alone", "waited", "share", "finding")]
        for row in self.rows:
            table.append(
                (
                    str(row["rank"]),
                    "–" if row["loss"] is None else number(row["loss"]),
                    "–" if row["alone"] is None else f"{row['alone']:.1f}",
                    "–" if row["waited"] is None else f"{row['waited']:.1f} ms",
                    "–" if row["share"] is None else f"{100 * row['share']:.0f} %",
                    row["finding"],
                )
            )
        wide = [max(len(row[i]) for row in table) for i in range(6)]
        lines = ["  ".join(f"{c:<{w}}" for c, w in zip(row, wide, strict=True)).rstrip() for row in table]
        alarm = [f"{self.alarm['title']}. {self.alarm['text']}".strip()] if self.alarm else []
        return "\n".join([head, *alarm, *[one for one in self.verdict() if one], *lines])

    def wire(self) -> State:
        """As it travels."""
        at, losses = self._curves()
        with np.errstate(all="ignore"):
            known = np.isfinite(losses).any(0)
            filled = losses[:, known]
            at = at[known]
        verdict, more = self.verdict()
        return {
            "title": self.title or "training",
            "report": self.text(),
            "state": self.state,
            "done": self.done,
            "speed": self.speed(),
            "ranks": len(self.rows),
            "hosts": len({row["host"] for row in self.rows if row["host"]}),
            "backend": self.backend,
            "waiting": self.waiting(),
            "alarm": self.alarm,
            "at": at,
            "losses": filled,
            "mean": np.nanmean(filled, 0).astype(np.float32) if filled.size else np.zeros(0, np.float32),
            "low": np.nanmin(filled, 0) if filled.size else np.zeros(0, np.float32),
            "high": np.nanmax(filled, 0) if filled.size else np.zeros(0, np.float32),
            "newest": self.steps[-1] if self.steps else None,
            "middle": middle_of(self.steps) if self.steps else None,
            "of": len(self.steps),
            "verdict": verdict,
            "more": more,
            "rows": self.rows,
            "bar": self.bar,
            "parting": self.parting,
        }

    def _curves(self) -> tuple[np.ndarray, np.ndarray]:
        """The steps and the losses by rank, each the mean of its neighbours, and of a long run every so-and-so many."""
        at = np.array(list(self.losses), np.int32)
        count = len(self.rows)
        values = np.full((count, len(at)), np.nan, np.float32)
        for i, by_rank in enumerate(self.losses.values()):
            values[:, i] = [np.nan if one is None else one for one in by_rank]
        width = min(10, max(1, len(at) // 20))
        if width > 1:
            smooth = np.full_like(values, np.nan)
            for i in range(len(at)):
                part = values[:, max(0, i - width + 1) : i + 1]
                counts = np.isfinite(part).sum(1)
                sums = np.nansum(part, 1)
                smooth[:, i] = np.where(
                    np.isfinite(values[:, i]) & (counts > 0), sums / np.maximum(counts, 1), np.nan
                )
            values = smooth
        every = max(1, -(-len(at) // SHOWN))
        return at[::every], values[:, ::every]


def _parts(step: Step, slow: int) -> tuple[dict[str, float], list[dict[str, float]]]:
    """What the slow rank and each of the others spend on each part of a step."""

    def spent(lane: Lane) -> dict[str, float]:
        found: dict[str, float] = {"load": 0.0}
        for one in lane["spans"]:
            if one["kind"] not in ("wait", "exchange"):
                found[one["kind"]] = found.get(one["kind"], 0.0) + one["end"] - one["begin"]
        return found

    own = next(spent(lane) for lane in step["lanes"] if lane["rank"] == slow)
    return own, [spent(lane) for lane in step["lanes"] if lane["rank"] != slow]


def _host(run: Any, name: str) -> str:
    """A machine's name, where there are several: a page that is passed on says nothing of the only one."""
    return name if len({beat["host"] for beat in run.beats.values()}) > 1 else "this machine"


def _alarm(run: Any, silent: list[int], now: float) -> Alarm | None:
    if run.outcomes is not None:
        for rank, one in run.outcomes.items():
            if one.gone is not None:
                sentence = one.gone.sentence()
                return {
                    "title": f"Rank {rank} has ended in step {run.beats.get(rank, {}).get('step', run.done):,}",
                    "text": f"{sentence[:1].upper()}{sentence[1:]}. The other ranks were ended; no process is left.",
                    "bad": True,
                }
        for rank, one in run.outcomes.items():
            if not one.ok and not one.interrupted:
                return {
                    "title": f"Rank {rank} raised {one.name} in step {run.beats.get(rank, {}).get('step', run.done):,}",
                    "text": one.says.partition("\n")[0],
                    "bad": True,
                }
        return None
    if not silent:
        return None
    rank = silent[0]
    beat = run.beats[rank]
    place = f"step {beat['step']:,}, {beat['part']}" + (f", {beat['where']}" if beat["where"] else "")
    others = [str(one) for one in range(run.count) if one not in silent]
    who = (
        f"Rank {others[0]} waits"
        if len(others) == 1
        else f"Ranks {', '.join(others[:-1])} and {others[-1]} wait"
    )
    return {
        "title": f"Rank {rank} has not answered for {now - beat['since']:.0f} s",
        "text": f"Last sign: {place}, on {_host(run, beat['host'])}; its process is alive. {who} for it. "
        "Interrupt the cell to end the wait.",
        "bad": False,
    }
