"""Whether a run learns: its losses, beside what the best constant prediction would cost.

Invariant: nothing is said of a run that is too short, or whose losses compete.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..lineage import SHAPED, beyond
from .finding import number
from .heads import CLASSES, LOGITS, VALUES

SHORT = 12  # losses
LITTLE = 0.03  # of what the constant costs: less is nothing


class Targets:
    """What was asked for in the turns that were looked at.

    Slots:
        classes: by batch, the class numbers. binary: likewise, 0 and 1. values: (mean, variance, count) of distances.
        scores: by batch, (mean loss of the op where it is a mean).
    """

    def __init__(self) -> None:
        self.classes: list[np.ndarray] = []
        self.read: list[np.ndarray] = []
        self.binary: list[np.ndarray] = []
        self.values: list[tuple[float, float, int]] = []
        self.count = 0  # scores
        self.means: list[bool] = []
        self.whole: list[bool] = []  # whether the comparison is all of the loss
        self.name = ""
        self.module: Any = None  # that computes the comparison
        self.place: Any = None  # where that is done
        self.joined = (
            False  # whether scores are put together of right answers and others, as in a sampled softmax
        )

    def add(self, heads: list, p: Any) -> None:
        """Take in the comparison of a loss, if it is the only one."""
        if len(heads) != 1 or len(self.means) > 4000:
            return
        h = heads[0]
        d = None if h.target is None else h.target.data
        if h.target is None or not isinstance(d, np.ndarray) or h.target.needs or not d.size:
            return
        whole = (
            p.loss is not None
            and h.value.data is not None
            and h.value.data.size == 1
            and abs(float(h.value.data.reshape(-1)[0]) - p.loss) <= 1e-4 * abs(p.loss) + 1e-12
        )
        if h.name == "difference":
            q = h.value.data
            whole = (
                p.loss is not None
                and q is not None
                and abs(float(q.mean()) - p.loss) <= 1e-3 * abs(p.loss) + 1e-12
            )
        consts = h.value.consts
        mean = h.name == "difference" or (bool(consts) and consts[-1] == 1)
        if h.kind == CLASSES and d.dtype.kind in "iu":
            ignored = consts[0] if consts and isinstance(consts[0], int) else -100
            flat = d.reshape(-1)
            flat = flat[(flat != ignored) & (flat >= 0)]
            self.classes.append(flat[:4096].astype(np.int64))
            scored = beyond(h.prediction, SHAPED | {"div", "mul"})
            self.joined = self.joined or scored.op in ("cat", "stack")
            axis = h.axis if h.axis >= 0 else h.axis + len(h.prediction.shape)
            self.count = h.prediction.shape[axis]
            scores = h.prediction.data
            if isinstance(scores, np.ndarray) and scores.ndim == 2:
                self.read.append(scores.argmax(1)[:4096])
        elif h.kind == LOGITS or h.name == "binary_cross_entropy":
            self.binary.append(d.reshape(-1)[:4096].astype(np.float64))
            scores = h.prediction.data
            if isinstance(scores, np.ndarray) and scores.size == d.size and len(scores) == scores.size:
                self.read.append(
                    (scores.reshape(-1)[:4096] > (0 if h.kind == LOGITS else 0.5)).astype(np.int64)
                )
        elif h.kind == VALUES:
            self.values.append((float(d.mean()), float(d.var()), d.size))
        else:
            return
        self.name = h.name
        self.module, self.place = h.value.module, h.value.place
        self.means.append(mean)
        self.whole.append(whole)

    @property
    def constant(self) -> float | None:
        """What the best constant prediction would cost; None where that is not known."""
        if not self.means or np.mean(self.whole) < 0.9:
            return None
        if np.mean(self.means) < 0.9:
            if any(self.means) or self.name == "difference" or len(self.classes) != len(self.means):
                return None
            every = np.concatenate(self.classes)
            return entropy(every) * len(every) / len(self.classes)  # a sum over each batch
        if self.classes and len(self.classes) == len(self.means):
            return entropy(np.concatenate(self.classes))
        if self.binary and len(self.binary) == len(self.means):
            share = float(np.concatenate(self.binary).mean())
            if not 0 < share < 1:
                return None
            return float(-share * np.log(share) - (1 - share) * np.log(1 - share))
        if self.values and len(self.values) == len(self.means) and self.name in ("mse_loss", "difference"):
            n = sum(k for _, _, k in self.values)
            mean = sum(m * k for m, _, k in self.values) / n
            return sum((v + (m - mean) ** 2) * k for m, v, k in self.values) / n
        return None


def entropy(labels: np.ndarray) -> float:
    """The entropy of class numbers."""
    share = np.bincount(labels) / max(1, len(labels))
    share = share[share > 0]
    return float(-(share * np.log(share)).sum())


def streams(ev: Any) -> list[list[float]]:
    """The losses of each line that starts passes, the longest first."""
    by: dict[Any, list[float]] = {}
    for _, loss, place in ev.losses:
        by.setdefault(place, []).append(loss)
    return sorted(by.values(), key=len, reverse=True)


class Course:
    """Where the loss went.

    Args:
        ev: the evidence.
    """

    def __init__(self, ev: Any) -> None:
        found = streams(ev)
        self.losses = np.array(found[0]) if found else np.zeros(0)
        active = [one for one in ev.ledgers.values() if one.steps]
        self.alone = bool(active) and bool(found) and len(found[0]) > 0.7 * sum(map(len, found))
        finite = self.losses[np.isfinite(self.losses)]
        self.count = len(finite)
        k = max(1, min(10, self.count // 4))
        self.first = float(np.median(finite[: min(3, k)])) if self.count else float("nan")
        self.late = float(np.median(finite[-k:])) if self.count else float("nan")
        self.best = float(finite.min()) if self.count else float("nan")
        self.most = float(finite.max()) if self.count else float("nan")
        self.bad = (
            int(np.flatnonzero(~np.isfinite(self.losses))[0]) if self.count < len(self.losses) else None
        )
        self.constant = ev.targets.constant
        self.noise = float(np.median(np.abs(np.diff(finite)))) if self.count > 4 else 0.0

    def ends(self) -> tuple[str, str]:
        """Where it began and where it is now, as a row of a proof."""
        return "loss, first and last", f"{number(self.first)}, {number(self.late)}"

    @property
    def known(self) -> bool:
        """Whether anything can be said."""
        return self.alone and self.count >= SHORT

    @property
    def stays(self) -> bool:
        """Whether nothing was learned: no better than at first, and no better than a constant."""
        if not self.known:
            return False
        if self.constant is not None and self.constant > 0:
            return self.late > (1 - LITTLE) * self.constant
        size = max(abs(self.first), 1e-12)
        return self.first - self.late < max(LITTLE * size, 2 * self.noise * (self.first <= self.late))

    @property
    def falls(self) -> bool:
        """Whether something was learned for sure."""
        return self.known and not self.stays and self.late < self.first

    @property
    def rises(self) -> bool:
        """Whether it is far above what it was at first."""
        size = max(abs(self.first), 1e-12)
        return self.count >= 4 and self.late > self.first + max(size, 4 * self.noise)
