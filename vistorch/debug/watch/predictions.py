"""From scores and targets to labels and predictions, many batches at once.

Work on the arrays happens where they are; only labels, predictions and losses cross (see transfer.py).
Invariant: labels are class numbers from 0 to classes - 1; samples whose target does not count are left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .loss_inputs import CHANCES, CLASSES, LossInputs
from .transfer import Transfer

WITHOUT = -2  # read as: nothing, because the scores are not finite
MOST_ROWS = 65_536  # of one batch: a picture has a label for each pixel


class Read:
    """Neighbouring batches, read: labels and predictions of all their samples, one after the other.

    `sizes` say how many rows each batch has; `rows` are the places of the samples among all rows (None: every row is
    one), `loss` the losses of all labels if they were asked for.
    `without` are the places of the labels whose scores are not finite: no predictions, and among no samples.
    """

    __slots__ = ("labels", "loss", "read", "rows", "sights", "sizes", "without")

    def __init__(
        self, sights: list, sizes: Any, labels: Any, read: Any, loss: Any, rows: Any, without: Any = None
    ) -> None:
        self.sights, self.sizes, self.labels, self.read = sights, sizes, labels, read
        self.loss, self.rows, self.without = loss, rows, without

    def owners(self) -> np.ndarray:
        """The number of the batch each sample is in."""
        own = np.repeat(np.arange(len(self.sights)), self.sizes)
        return own if self.rows is None else own[self.rows]

    def newest(self, samples: int) -> Read:
        """Its newest batches, as few as have so many rows.

        Args:
            samples: how many.
        """
        first, rows = len(self.sizes), 0
        while first and rows < samples:
            first -= 1
            rows += self.sizes[first]
        if not first:
            return self
        gone, mine = sum(self.sizes[:first]), self.owners() >= first
        places = None if self.rows is None else self.rows[mine] - gone
        return Read(self.sights[first:], self.sizes[first:], self.labels[mine], self.read[mine], None, places)

    def until(self, step: int) -> Read | None:
        """Its batches up to a step; None where there is none.

        Args:
            step: the newest that counts.
        """
        last = sum(s.step <= step for s in self.sights)
        if last in (0, len(self.sights)):
            return self if last else None
        mine = self.owners() < last
        places = None if self.rows is None else self.rows[mine]
        return Read(self.sights[:last], self.sizes[:last], self.labels[mine], self.read[mine], None, places)

    def unread(self) -> list[tuple[int, int]]:
        """By batch that has some: its step, and how many of its labels are without a prediction."""
        if self.without is None:
            return []
        own = np.repeat(np.arange(len(self.sights)), self.sizes)[self.without]
        counts = np.bincount(own, minlength=len(self.sights))
        return [(s.step, int(n)) for s, n in zip(self.sights, counts, strict=True) if n]


def classes_of(sight: LossInputs) -> int:
    """How many classes the scores have."""
    if sight.kind == CLASSES:
        return int(sight.scores.shape[1])
    return _decisions(sight.scores.shape) if is_several(sight) else 2


def is_several(sight: LossInputs) -> bool:
    """Whether each sample has several yes-or-no decisions."""
    return sight.kind != CLASSES and _decisions(sight.scores.shape) > 1


def _decisions(shape: tuple) -> int:
    """Yes-or-no decisions of a sample: the columns of a matrix, the channels of pictures; else each value is one."""
    return shape[1] if len(shape) == 2 or len(shape) > 3 else 1


def _queued(sight: LossInputs, with_loss: bool) -> tuple:
    """Labels, predictions and losses as arrays where the scores are."""
    xp = sight.place.xp
    scores, target = sight.scores, sight.target
    if sight.kind == CLASSES:
        if scores.ndim > 2:
            scores = xp.moveaxis(scores, 1, -1).reshape(-1, scores.shape[1])
            target = target.reshape(-1)
            stride = -(-len(target) // MOST_ROWS)
            scores, target = scores[::stride], target[::stride]
        best = scores.max(
            1
        )  # a class may be ruled out by -inf; NaN, +inf or nothing but -inf is no prediction
        read = xp.where(xp.isfinite(best), scores.argmax(1), WITHOUT)
        return target, read, _losses(xp, scores, target, sight.logs) if with_loss else None
    if scores.ndim > 3:
        channels = scores.shape[1]
        scores = xp.moveaxis(scores, 1, -1).reshape(-1, channels)
        target = xp.moveaxis(target, 1, -1).reshape(-1, channels)
    if scores.ndim == 3 or sight.scores.ndim > 3:
        if scores.ndim == 3:
            scores, target = scores.reshape(-1), target.reshape(-1)
        stride = -(-scores.size // MOST_ROWS)
        scores, target = scores[::stride], target[::stride]
    yes = scores > (0.5 if sight.kind == CHANCES else 0)
    real = target > 0.5
    loss = _binary(xp, scores, target, sight.kind) if with_loss else None
    if is_several(sight):
        columns = scores.shape[-1]
        labels = xp.broadcast_to(xp.arange(columns), scores.shape).reshape(-1)
        # a wrong decision is taken for no other one
        read = xp.where((yes == real).reshape(-1), labels, -1)
        return labels, xp.where(xp.isnan(scores).reshape(-1), WITHOUT, read), loss
    read = xp.where(xp.isnan(scores), WITHOUT, yes)
    return real.reshape(-1).astype(np.int64), read.reshape(-1).astype(np.int64), loss


def _losses(xp: Any, scores: Any, target: Any, logs: bool) -> Any:
    """The negative log-probability of each sample's label."""
    scores = scores.astype(np.float64)
    if not logs:
        top = scores.max(1, keepdims=True)
        scores = scores - top - xp.log(xp.exp(scores - top).sum(1, keepdims=True))
    at = xp.clip(target, 0, scores.shape[1] - 1)
    return -xp.take_along_axis(scores, at.reshape(-1, 1), 1).reshape(-1)


def _binary(xp: Any, scores: Any, target: Any, kind: str) -> Any:
    scores, target = scores.reshape(-1).astype(np.float64), target.reshape(-1).astype(np.float64)
    if kind == CHANCES:
        near = xp.clip(scores, 1e-12, 1 - 1e-12)
        return -(target * xp.log(near) + (1 - target) * xp.log(1 - near))
    return xp.maximum(scores, 0) - scores * target + xp.log1p(xp.exp(-abs(scores)))


def queue(sights: list[LossInputs], transfer: Transfer, with_loss: bool = False) -> list[tuple]:
    """Have labels and predictions of some batches computed where they are, and brought.

    Args:
        sights: the batches.
        transfer: what brings them.
        with_loss: the loss of each sample too.
    """
    out = []
    for group in _groups(sights):
        if len(group) > 1:
            xp, first = group[0].place.xp, group[0]
            with first.place:
                joined = LossInputs(
                    first.kind,
                    xp.concatenate([s.scores for s in group]),
                    xp.concatenate([s.target for s in group]),
                    first.place,
                    first.ignore,
                    first.logs,
                )
        else:
            joined = group[0]
        with joined.place:
            arrays = _queued(joined, with_loss)
        tickets = [None if a is None else transfer.put(a, joined.place) for a in arrays]
        out.append((group, tickets))
    return out


def _groups(sights: list[LossInputs]) -> list[list[LossInputs]]:
    """Batches that can be read together: neighbours of one form."""
    groups: list[list[LossInputs]] = []
    before = None
    for s in sights:
        if before is not None and _alike(s, before):
            groups[-1].append(s)
        else:
            groups.append([s])
        before = s if s.scores.ndim == 2 and s.kind == CLASSES else None
    return groups


def _alike(a: LossInputs, b: LossInputs) -> bool:
    x, y = a.scores, b.scores
    return (
        a.place is b.place
        and a.kind == CLASSES
        and x.ndim == 2
        and x.shape[1] == y.shape[1]
        and x.dtype == y.dtype
        and a.target.dtype == b.target.dtype
        and a.ignore == b.ignore
        and a.logs == b.logs
    )


def arrived(queued: list[tuple], classes: int) -> list[Read]:
    """What `queue` asked for, once it is here.

    Args:
        queued: what `queue` returned.
        classes: how many classes there are.
    """
    out = []
    for group, (labels, read, loss) in queued:
        labels, read = labels.value.astype(np.int64), read.value.astype(np.int64)
        loss = None if loss is None else loss.value
        sizes = [len(s.target) for s in group] if len(group) > 1 else [len(labels)]
        counts = (labels >= 0) & (labels < classes) & (labels != group[0].ignore) & (read < classes)
        rows, without = None, None
        if not counts.all() or (read == WITHOUT).any():
            if loss is not None and len(loss) == len(labels):
                loss = loss[counts]
            without = np.flatnonzero(counts & (read == WITHOUT))
            rows = np.flatnonzero(counts & (read != WITHOUT))
            labels, read = labels[rows], read[rows]
        out.append(Read(group, sizes, labels, read, loss, rows, without))
    return out
