"""The samples behind the cells of the confusion matrix: the newest few of each, as small pictures with their scores.

What a batch was is known on the host only after a refresh, so on a device the pictures of the chosen samples are
gathered there and cross with the next one.
While the loop runs a few are taken now and then; while it waits, after a validation and at its end all cells are filled
from the batches of the newest samples, which are held for that.
Invariant: at most `MOST` samples are kept, at most `EACH` of a cell; no more than `HELD` bytes of batches are held.
"""

from __future__ import annotations

import math
from collections import deque
from time import perf_counter
from typing import Any

import numpy as np

from ...engine.memory.placement import CPU
from .loss_inputs import CLASSES
from .predictions import Read
from .schema import EACH, MOST
from .transfer import Ticket, Transfer

AT_ONCE = 4  # new samples of one refresh
LOOKED = 64  # misread samples that these are chosen from
SIDE = 32
HELD = 16 << 20  # bytes of batches that are held to fill the cells from
SAMPLES = 1024  # of these batches: as many as the window counts
TOP = 3


class Mistake:
    """One sample: its label, what it was read as, where and when, its best classes with scores, its picture."""

    __slots__ = ("image", "index", "label", "number", "read", "row", "step", "top", "where")

    def __init__(self, label: int, read: int, step: int, index: int | None, where: str, row: int = 0) -> None:
        self.label, self.read, self.step, self.index, self.where = label, read, step, index, where
        self.row = row  # of its batch
        self.top: list[tuple[int, float]] = []
        self.image: np.ndarray | None = None
        self.number = 0

    def wire(self) -> dict[str, Any]:
        """As it travels; the picture apart."""
        return {
            "label": self.label,
            "read": self.read,
            "step": self.step,
            "index": self.index,
            "where": self.where,
            "top": [[c, round(p, 4)] for c, p in self.top],
            "image": self.image,
        }


def picture_of(shape: tuple) -> bool:
    """Whether an input of this shape is a batch of pictures."""
    return (len(shape) == 4 and shape[1] in (1, 3, 4)) or (len(shape) == 3 and min(shape[1:]) >= 8)


def small(image: np.ndarray, lo: float, hi: float) -> np.ndarray:
    """A picture (C, H, W) or (H, W) as uint8 (h, w, C), no side longer than `SIDE`; larger ones are averaged."""
    image = np.asarray(image, np.float32)
    image = image[None] if image.ndim == 2 else image
    step = max(1, -(-max(image.shape[1:]) // SIDE))
    if step > 1:
        c, h, w = image.shape
        h, w = max(1, h // step), max(1, w // step)
        image = image[:, : h * step, : w * step].reshape(c, h, step, w, step).mean((2, 4))
    scaled = (image - lo) * (255.0 / (hi - lo) if hi > lo else 0.0)
    return np.clip(np.nan_to_num(scaled), 0, 255).round().astype(np.uint8).transpose(1, 2, 0)


class Batches:
    """The newest batches that were read, with their inputs, as long as they are few enough."""

    def __init__(self) -> None:
        self.reads: deque[Read] = deque()
        self.bytes = self.samples = 0

    def add(self, reads: list[Read]) -> None:
        """Hold some more, and let the oldest go."""
        for r in reads:
            if r.sights[0].kind == CLASSES and r.sights[0].scores.ndim == 2 and len(r.sights[0].scores):
                r = r.newest(SAMPLES)
                self.reads.append(r)
                self.bytes += _size(r)
                self.samples += sum(r.sizes)
        while self.reads and (self.bytes > HELD or self.samples - self.reads[0].sizes[0] >= SAMPLES):
            old, gone = self.reads.popleft(), 0  # its oldest batches go, as many as have to
            while gone < len(old.sizes) and (self.bytes > HELD or self.samples - old.sizes[gone] >= SAMPLES):
                self.bytes -= old.sights[gone].nbytes
                self.samples -= old.sizes[gone]
                gone += 1
            if gone < len(old.sizes):
                self.reads.appendleft(old.newest(sum(old.sizes[gone:])))

    def forget_after(self, step: int) -> None:
        """Drop the batches of later steps."""
        kept = [r.until(step) for r in self.reads]
        self.clear()
        self.add([r for r in kept if r is not None])

    def clear(self) -> None:
        """Let all go."""
        self.reads.clear()
        self.bytes = self.samples = 0


def _size(r: Read) -> int:
    return sum(s.nbytes for s in r.sights)


class Mistakes:
    """The newest misread samples, by cell."""

    def __init__(self) -> None:
        self.cells: dict[tuple[int, int, str], list[Mistake]] = {}
        self.held = 0
        self.number = 0  # of the newest
        self.marks: deque[tuple[int, int]] = deque(maxlen=64)  # (version, number) of what was sent
        self.coming: list[tuple[list[Mistake], Ticket | None, Ticket | None]] = []

    def choose(self, reads: list[Read], transfer: Transfer, where: str) -> None:
        """Take new misread samples of some batches.

        Args:
            reads: the batches, the newest last.
            transfer: brings pictures and scores.
            where: "training" or "validation".
        """
        allowance = AT_ONCE
        for r in reversed(reads):
            if not allowance:
                break
            first = r.sights[0]
            if first.kind != CLASSES or first.scores.ndim != 2 or not len(first.scores):
                continue
            wrong = self._wanted(r, np.flatnonzero(r.labels != r.read)[-LOOKED:], where, allowance)
            if not len(wrong):
                continue
            allowance -= len(wrong)
            own = r.owners()
            starts = np.cumsum([0, *r.sizes])
            rows = wrong if r.rows is None else r.rows[wrong]
            for batch in dict.fromkeys(own[wrong].tolist()):
                mine = own[wrong] == batch
                self._ask(r, r.sights[batch], wrong[mine], rows[mine] - starts[batch], transfer, where)

    def fill(self, batches: Batches, transfer: Transfer, where: str, until: float = math.inf) -> None:
        """Fill each cell from batches that are held, the newest first.

        Args:
            batches: those.
            transfer: brings pictures and scores.
            where: "training" or "validation".
            until: the time to stop at.
        """
        had = {(m.step, m.row) for key, cell in self.cells.items() if key[2] == where for m in cell}
        taken: dict[tuple[int, int], int] = {}
        left = MOST // 2
        for r in reversed(batches.reads):
            own, starts = r.owners(), np.cumsum([0, *r.sizes])
            chosen: dict[int, list[tuple[int, int]]] = {}
            for i in np.flatnonzero(r.labels != r.read)[::-1]:
                cell = int(r.labels[i]), int(r.read[i])
                if taken.get(cell, 0) >= EACH or not left:
                    continue
                taken[cell] = taken.get(cell, 0) + 1
                batch = int(own[i])
                row = int((i if r.rows is None else r.rows[i]) - starts[batch])
                if (r.sights[batch].step, row) not in had:
                    chosen.setdefault(batch, []).append((int(i), row))
                    left -= 1
            for batch, pairs in chosen.items():
                wrong, rows = (np.array(part) for part in zip(*pairs, strict=True))
                self._ask(r, r.sights[batch], wrong, rows, transfer, where)
                if perf_counter() > until:
                    return
            if not left:
                return

    def _wanted(self, r: Read, wrong: np.ndarray, where: str, allowance: int) -> np.ndarray:
        """So many of these samples: those of the cells that hold fewest, the newest first."""
        if len(wrong) <= allowance:
            return wrong
        held: dict[tuple[int, int], int] = {}
        turn = np.empty(len(wrong), np.int64)
        for k in range(len(wrong) - 1, -1, -1):
            cell = int(r.labels[wrong[k]]), int(r.read[wrong[k]])
            turn[k] = held[cell] = held.get(cell, len(self.cells.get((*cell, where), ())) - 1) + 1
        return np.sort(wrong[np.lexsort((-wrong, turn))[:allowance]])

    def _ask(self, r: Read, s: Any, wrong: Any, rows: np.ndarray, transfer: Transfer, where: str) -> None:
        """Ask for scores and pictures of some rows of a batch."""
        made = [
            Mistake(
                int(r.labels[i]), int(r.read[i]), s.step, s.indices[k] if s.indices else None, where, int(k)
            )
            for i, k in zip(wrong, rows, strict=True)
        ]
        with s.place:
            at = s.place.xp.asarray(rows)
            scores = transfer.put(s.scores[at], s.place)
            given = s.inputs if s.untouched() else None
            if given is not None and (len(given) != len(s.scores) or not picture_of(given.shape)):
                given = None
            pictures = None if given is None else transfer.put(given[at], s.place)
        self.coming.append((made, scores, pictures))
        if s.place is CPU:
            self.arrive()

    def arrive(self) -> None:
        """Take in what has crossed."""
        left = []
        for made, scores, pictures in self.coming:
            if scores is None or scores.value is None:
                left.append((made, scores, pictures))
                continue
            rows = np.asarray(scores.value, np.float64)
            with np.errstate(all="ignore"):
                rows = np.exp(rows - rows.max(1, keepdims=True))
                rows /= rows.sum(1, keepdims=True)
            span, crossed = None, [] if pictures is None else pictures.value
            if len(crossed):
                real = crossed[np.isfinite(crossed)]
                span = (float(real.min()), float(real.max())) if real.size else None
            for i, m in enumerate(made):
                best = np.argsort(-rows[i], kind="stable")[:TOP]
                m.top = [(int(c), float(rows[i, c])) for c in best]
                if span is not None:
                    m.image = small(crossed[i], *span)
                self._keep(m)
        self.coming = left

    def _keep(self, m: Mistake) -> None:
        self.number += 1
        m.number = self.number
        cell = self.cells.setdefault((m.label, m.read, m.where), [])
        cell.append(m)
        cell.sort(key=lambda one: one.step)
        self.held += 1
        if len(cell) > EACH:
            cell.pop(0)
            self.held -= 1
        while self.held > MOST:
            oldest = min(self.cells, key=lambda k: self.cells[k][0].number)
            self.cells[oldest].pop(0)
            self.held -= 1
            if not self.cells[oldest]:
                del self.cells[oldest]

    def forget_after(self, step: int) -> None:
        """Drop what came after a step."""
        for key in list(self.cells):
            kept = [m for m in self.cells[key] if m.step <= step]
            self.held -= len(self.cells[key]) - len(kept)
            if kept:
                self.cells[key] = kept
            else:
                del self.cells[key]

    def wire(self, after: int = 0) -> list[dict[str, Any]]:
        """What is newer than a number, oldest first."""
        found = sorted((m for cell in self.cells.values() for m in cell), key=lambda m: m.number)
        return [m.wire() for m in found if m.number > after]

    def few(self, most: int) -> list[dict[str, Any]]:
        """At most so many: the newest of each cell in turn, the cells with the newest first."""
        cells = sorted(self.cells.values(), key=lambda cell: -cell[-1].number)
        turns = [cell[-1 - turn] for turn in range(EACH) for cell in cells if turn < len(cell)]
        return [m.wire() for m in sorted(turns[:most], key=lambda m: m.number)]
