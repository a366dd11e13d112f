"""Snapshots: weights, buffers, optimizers, schedulers and generators, and the way back to one.

A snapshot is taken at a step boundary and put back at one. What the loop feeds the model afterwards is the loop's: a
loader is not wound back, gradients are not kept.
Invariant: on a CPU, a loop that is given the same batches goes on from a snapshot bit by bit as it did the first time.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..numbers import all_finite
from ..source import Source, own, source_of

BUDGET = 256 * 2**20


def cloned(value: Any) -> Any:
    """A deep copy in which tensors are copied as tensors, without history."""
    if (source := _source_of(value)) is not None:
        return source.copied(value)
    if isinstance(value, dict):
        return type(value)((k, cloned(v)) for k, v in value.items()) if type(value) is dict else _other(value)
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        return type(value)(cloned(v) for v in value)
    return value if isinstance(value, (int, float, str, bool, type(None))) else _other(value)


def _source_of(value: Any) -> Source | None:
    """The source of a tensor; None for all else."""
    if isinstance(value, (dict, list, tuple)):
        return None
    source = source_of(value)
    return source if source is not None and source.is_tensor(value) else None


def _other(value: Any) -> Any:
    try:
        return copy.deepcopy(value)
    except Exception:  # a function with a lock, say: it is shared
        return value


def _size(value: Any) -> int:
    if (source := _source_of(value)) is not None:
        return source.placed(value)[0].nbytes
    if isinstance(value, dict):
        return sum(map(_size, value.values()))
    return sum(map(_size, value)) if isinstance(value, (list, tuple)) else 0


def _arrays(value: Any) -> Iterator[Any]:
    """The arrays of all tensors in a tensor, a dict or a list, depth first."""
    if (source := _source_of(value)) is not None:
        yield source.placed(value)[0]
    elif isinstance(value, (dict, list, tuple)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _arrays(one)


class Chance:
    """The states of all generators a loop may draw from: the library's, those given, Python's and numpy's."""

    def __init__(self, source: Source, more: list) -> None:
        self.states = source.chances(more)
        self.python = random.getstate()
        self.numpy = np.random.get_state(legacy=False)

    def restore(self) -> None:
        """Set them all back."""
        for set_state, state in self.states:
            set_state(state)
        random.setstate(self.python)
        np.random.set_state(self.numpy)


class Snapshot:
    """One step's state; `metrics` is what the run itself knew then."""

    def __init__(
        self, step: int, model: Any, optimizers: list, schedulers: list, more: list, metrics: Any, asked: bool
    ) -> None:
        self.step, self.asked, self.metrics = step, asked, metrics
        self.source = source_of(model) or source_of(list(model.parameters())) or own()
        self.tensors = [(t, cloned(t)) for t in (*model.parameters(), *model.buffers())]
        self.training = [(m, m.training) for m in model.modules()]
        self.optimizers = [(o, cloned(o.state_dict())) for o in optimizers]
        self.schedulers = [(s, cloned(s.state_dict())) for s in schedulers]
        self.chance = Chance(self.source, more)
        self.nbytes = (
            sum(_size(c) for _, c in self.tensors)
            + sum(_size(state["state"]) for _, state in self.optimizers)
            + getattr(metrics, "nbytes", 0)
            + 8192
        )

    def finite(self) -> bool:
        """Whether all of its weights and all that its optimizers hold are finite."""
        held = [c for _, c in self.tensors], [state["state"] for _, state in self.optimizers]
        return all_finite(_arrays(held))

    def why_not(self) -> str:
        """Why it cannot be put back; "" where it can."""
        for t, kept in self.tensors:
            if t.shape != kept.shape or t.dtype != kept.dtype or t.device != kept.device:
                return (
                    f"the model has changed since step {self.step:,}: a tensor of shape {tuple(kept.shape)} is now "
                    f"{tuple(t.shape)}, {t.dtype} on {t.device}"
                )
        return ""

    def restore(self) -> None:
        """Put everything back; refused as a whole where something does not fit any more."""
        if why := self.why_not():
            raise RuntimeError(why)
        for t, kept in self.tensors:
            self.source.put_back(t, kept)
        for m, training in self.training:
            m.training = training
        for optimizer, state in self.optimizers:
            optimizer.load_state_dict(cloned(state))
        for scheduler, state in self.schedulers:
            scheduler.load_state_dict(cloned(state))
        self.chance.restore()


class Snapshots:
    """The snapshots that are kept, within a number of bytes: the newest, and the others spread over the run.

    Args:
        budget: bytes.
    """

    def __init__(self, budget: int = BUDGET) -> None:
        self.budget, self.kept, self.refused = budget, [], ""

    def add(self, snapshot: Snapshot) -> bool:
        """Keep a snapshot; False if it alone is more than the budget."""
        if snapshot.nbytes > self.budget:
            self.refused = (
                f"a snapshot of this model takes {snapshot.nbytes / 2**20:.0f} MiB, more than the budget of "
                f"{self.budget / 2**20:.0f} MiB"
            )
            return False
        self.kept = [s for s in self.kept if s.step < snapshot.step]
        self.kept.append(snapshot)
        while self.nbytes > self.budget:
            self.kept.remove(self._least())
        return True

    def _least(self) -> Snapshot:
        """The one whose neighbours are closest, of those nobody asked for; never the newest."""
        old = self.kept[:-1]
        steps = [0, *[s.step for s in self.kept]]
        gaps = {s.step: steps[i + 2] - steps[i] for i, s in enumerate(old)}
        return min([s for s in old if not s.asked] or old, key=lambda s: (gaps[s.step], s.step))

    @property
    def nbytes(self) -> int:
        """What all of them hold."""
        return sum(s.nbytes for s in self.kept)

    @property
    def steps(self) -> list[int]:
        """Their steps."""
        return [s.step for s in self.kept]

    def of(self, step: int | None) -> Snapshot:
        """The one of a step, or the newest."""
        if not self.kept:
            raise ValueError(self.refused or "there is no snapshot yet")
        if step is None:
            return self.kept[-1]
        for s in self.kept:
            if s.step == step:
                return s
        raise ValueError(f"there is no snapshot of step {step}; there are: {', '.join(map(str, self.steps))}")

    def forget_after(self, step: int) -> None:
        """Drop those of steps that were undone."""
        self.kept = [s for s in self.kept if s.step <= step]
