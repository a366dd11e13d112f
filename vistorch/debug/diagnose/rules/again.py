"""What a loop does again and should do once, or not at all: seeds that are set, stored data that is changed.

Invariant: both are counted; what is kept of the data is where it lies.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..evidence import ARITHMETIC
from ..finding import EXACT, WRONG, Finding
from ..written import mentions
from .base import Rule
from .data import SameBatch

HABIT = 4  # turns


class SeedAgain(Rule):
    """The seed is set again in the loop: each step draws the numbers of the step before.

    Meaning: a seed is set once, before all that is random; noise, masks and dropout have to differ from step to step.
    Fires: when one line set the default generator to one seed in four turns or more, and in half of those since it
    began, numbers had been drawn each time since the generator was seeded before, and what the model was given
    differed between looks, or was picked out of more rows than a batch has. Files that use `fork_rng` or
    `set_rng_state` are left out.
    Wrong if: the same numbers are wanted at every step.
    Healthy programs tried: another seed for each epoch or batch, a generator of one's own.
    """

    name, title, certainty, severity = "seed again", "seeds that are set again", EXACT, WRONG

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        batches = next((r for r in self.ev.rules if isinstance(r, SameBatch)), None)
        if batches is not None and len(set(batches.prints)) == 1 and not batches.picked:
            return  # the data itself is made from it
        by: dict[Any, list[int]] = {}
        for number, place, turn, drew in self.ev.seeds:
            if drew:
                by.setdefault((place, number), []).append(turn)
        for (place, number), turns in by.items():
            each = len(set(turns))
            if each < HABIT or each < 0.5 * (self.ev.turn - min(turns)):
                continue
            line = self.ev.line(place)
            if line is None or mentions(line, ("fork_rng", "set_rng_state")):
                continue
            yield self.found(
                f"The seed is set to {number} again in {each:,} steps: each draws the same random numbers.",
                line,
                "begins anew",
                proof=[("steps with that seed", each), ("steps", self.ev.turn)],
                confirm=("torch.rand(1) after that line, twice", "the same number"),
                unless="the same numbers are wanted at every step.",
                advice="Set the seed once, before the model and the data are made.",
                weight=5.0,
            )


class DataWornOut(Rule):
    """A data set changes what it has stored when a sample is read: the next epoch gets the changed one.

    Meaning: a sample is to be changed in a copy; an in-place op on a part of a tensor writes into the tensor.
    Fires: when within `__getitem__` one line changed memory that lasts by arithmetic or random numbers, eight times
    or more where it had done so before, and nothing fills that memory there.
    Wrong if: the data is to wander.
    Healthy programs tried: changes of a copy, a buffer that is filled for each sample, a change that is made once,
    bounds that are applied again.
    """

    name, title, certainty, severity = "worn", "data that is written over", EXACT, WRONG

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        by: dict[Any, list] = {}
        for (_, _, place), (times, op, owner) in self.ev.changed.items():
            if times > 1 and id(owner) not in self.ev.filled and op in ARITHMETIC:
                entry = by.setdefault(place, [0, 0, op])
                entry[0] += times - 1
                entry[1] += 1
        for place, (times, samples, op) in by.items():
            if times < 8:
                continue
            yield self.found(
                f"Reading a sample changes the stored one: {times:,} times it was one that had been changed before.",
                place,
                "writes into it",
                proof=[
                    ("samples changed more than once", samples),
                    ("changes of changed samples", times),
                    ("op", f"{op}, in place"),
                ],
                confirm=("dataset[0][0], twice", "not what is stored"),
                unless="the data is to wander.",
                advice="Change a copy: x = x + ..., or x = self.data[i].clone().",
                weight=6.0,
                explains=("learns nothing", "unrelated"),
            )


RULES = (SeedAgain, DataWornOut)
