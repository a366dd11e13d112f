"""What watching may cost: each kind of looking has a share of the loop's time, and waits when it has used it up.

Time is measured around each piece of work. What cannot be measured without costing as much again is priced: the hooks
of one step in some stand for those of the others, a call that needs nothing done is counted. Time in which the loop was
held (a pause) is not the loop's. All of it is wall time: where other programs take the processor, hooks are too short
to be interrupted as often as the loop is, and the number comes out low.
Invariant: no kind but the first look runs while it has spent more than its share; when all together have, each is held
to as little as a tenth of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from time import perf_counter

CALL = 0.35e-6  # seconds of an event that needs nothing done
# What the loop loses to a hook, as a multiple of what the hook takes by its own clock: to be called costs too, and so
# do the caches that it leaves to the loop. Measured: loops in pairs, with and without (benchmarks/watching.py).
UNSEEN = 2.0
SHARE = 0.02  # what cannot be measured (caches that work elsewhere has filled) costs about as much again
BRAKE = 1.25  # all together: so much of `share` before everything optional waits
LOOK = 0.01  # seconds between two steps that are looked at more closely, at least
NEVER = -(1 << 60)  # the step of the newest look, before there was one
LEAST = 10  # but never longer than at a tenth of its own share: something is seen of the fastest loop

JOBS = (  # kinds of looking: name, part of the share, steps apart at least
    ("listen", 1.0, 1),
    ("refresh", 1.0, 1),
    ("glance", 1.0, 1),
    ("mistakes", 0.15, 1),
    ("tasks", 0.2, 1),
    ("norms", 0.2, 1),
    ("ratios", 0.12, 5),
    ("units", 0.15, 10),
    ("findings", 0.15, 64),
    ("filters", 0.05, 20),
    ("snapshots", 0.15, 100),
)


class Job:
    """One kind of looking: its share, how often at most, and what it has cost."""

    __slots__ = ("cost", "every", "last", "share", "spent", "until")

    def __init__(self, share: float, every: int) -> None:
        self.share, self.every = share, every
        self.cost, self.spent, self.last = 0.0, 0.0, NEVER
        self.until = 0.0  # seconds of the loop before which there is nothing left of its share


class Budget:
    """Who may work now.

    Args:
        share: of the loop's time, for everything.
        clock: seconds; another one in tests.

    Example:
        >>> from vistorch.debug.watch.budget import Budget
        >>> now = [0.0]
        >>> budget = Budget(0.1, clock=lambda: now[0])
        >>> budget.job("norms", 0.5)
        >>> budget.may("norms", step=1)
        True
        >>> budget.charge("norms", 1.0)
        >>> now[0] = 10.0
        >>> budget.may("norms", step=2)  # 1 s of 10 s is more than half of a tenth
        False
        >>> now[0] = 100.0
        >>> budget.may("norms", step=3)
        True
    """

    def __init__(self, share: float = SHARE, clock=perf_counter) -> None:
        self.share, self.clock = share, clock
        self.began, self.calls = clock(), 0
        self.waited = 0.0  # while the loop was held
        self.since: float | None = None  # when it came to be held; None while it runs
        self.charged = 0.0
        self.granted = 0.0  # of that, what was asked for whatever it costs: nothing else waits for it
        self.hook_seconds = self.each = 0.0  # what the hooks of all steps took, and those of one of late
        self.apart = 0.0  # those of one batch of a validation
        self.jobs: dict[str, Job] = {}
        self.looks = True  # whether the step at hand may be looked at more closely
        self.next_look = 0.0
        self.final: tuple[float, float] | None = None  # seconds and share when the run ended

    def job(self, name: str, part: float, every: int = 1) -> None:
        """Name a kind of looking.

        Args:
            name: its name.
            part: of the whole share.
            every: so many steps apart at least.
        """
        self.jobs[name] = Job(part * self.share, every)

    def stepped(self, seconds: float) -> None:
        """What the hooks of one step took, which stands for those that follow.

        Args:
            seconds: measured; one that was interrupted meanwhile does not stand for the others.
        """
        self.each = _of_late(self.each, seconds)

    def checked(self, seconds: float) -> None:
        """The same of one batch of a validation.

        Args:
            seconds: measured.
        """
        self.apart = _of_late(self.apart, seconds)

    @property
    def held(self) -> float:
        """Seconds the loop was held, up to now."""
        return self.waited + (0.0 if self.since is None else self.clock() - self.since)

    @contextmanager
    def holding(self) -> Iterator[None]:
        """The loop is held in here; a hold within another one is part of it."""
        if self.since is not None:
            yield
            return
        self.since = self.clock()
        try:
            yield
        finally:
            self.waited, self.since = self.held, None

    def elapsed(self) -> float:
        """Seconds the loop has run."""
        return max(self.clock() - self.began - self.held, 1e-9)

    def spent(self) -> float:
        """Seconds spent on watching."""
        return self.charged + UNSEEN * self.hook_seconds + self.calls * CALL

    def overhead(self) -> float:
        """The share of the loop's time that went into watching."""
        return self.spent() / self.elapsed()

    def may(self, name: str, step: int) -> bool:
        """Whether this kind may look at this step; if so, it is taken to do so."""
        j = self.jobs[name]
        if 0 < step - j.last < j.every:
            return False
        if j.spent:
            elapsed = self.elapsed()
            if elapsed < j.until:
                return False
            own = (j.spent + j.cost) / j.share
            j.until = max(own, min((self.spent() - self.granted) / (BRAKE * self.share), LEAST * own))
            if elapsed < j.until:
                return False
        j.last = step
        return True

    def due(self, name: str) -> None:
        """Have a kind look at the next step, as if it had never looked."""
        self.jobs[name].last = NEVER

    def rewound(self, step: int) -> None:
        """The run goes back to a step: what was looked at later may be looked at again."""
        for job in self.jobs.values():
            job.last = min(job.last, step)

    def look(self, now: float) -> None:
        """A step begins: decide whether it may be looked at more closely."""
        self.looks = now >= self.next_look
        if self.looks:
            self.next_look = now + LOOK

    def close(self) -> None:
        """The run is over: keep what it took, which goes on being measured."""
        self.final = self.elapsed(), self.overhead()

    def charge(self, name: str, seconds: float) -> None:
        """Write down what it cost."""
        j = self.jobs[name]
        j.spent += seconds
        self.charged += seconds
        self.granted += seconds if j.share == inf else 0.0
        j.cost = seconds if not j.cost else 0.8 * j.cost + 0.2 * seconds

    def begin(self) -> tuple[float, float]:
        """A piece of work begins; give what this returns to `end`."""
        return self.clock(), self.charged

    def end(self, name: str, begun: tuple[float, float]) -> None:
        """It is over: charge what it took, less what was charged inside it."""
        start, charged = begun
        self.charge(name, max(0.0, self.clock() - start - (self.charged - charged)))

    def wire(self) -> dict[str, float]:
        """Milliseconds spent, by kind."""
        listeners = UNSEEN * self.hook_seconds + self.calls * CALL
        return {
            name: round((j.spent + (listeners if name == "listen" else 0.0)) * 1000, 3)
            for name, j in self.jobs.items()
        }


def _of_late(each: float, seconds: float) -> float:
    if not each or each > 4 * seconds:
        return seconds
    return each + 0.2 * (min(seconds, 4 * each) - each)
