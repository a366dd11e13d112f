"""Predictions beside their targets: how far off they are, by output, and how much better than the best constant.

Outputs are the columns of a matrix, the channels of pictures, the last axis of sequences; more than `OUTPUTS` of them
are taken for one. Of a batch of more than `CAP` numbers as many rows are kept as the window holds, at regular
distances.
Invariant: a value counts only where prediction and target are both finite; nothing is counted twice.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from .loss_inputs import LossInputs
from .transfer import Transfer

WINDOW = 1024  # the newest values, and the newest samples
OUTPUTS = 32
CAP = 16_384  # numbers of a batch that is kept whole
POINTS = 2048  # numbers in the picture, of all outputs
BINS = 31
WORST = 8
FIRST = 4  # values of a sample that are shown


def trim(sight: LossInputs) -> None:
    """Copy of a batch what is kept of it: all, or a part at regular distances.

    Args:
        sight: a batch of predictions and targets.
    """
    p, t = sight.scores, sight.target
    wide = 0 in p.strides or 0 in t.strides
    if p.size <= CAP:
        sight.sequence = p.shape, wide, 0
        sight.scores, sight.target = p.copy(), t.copy()
        return
    n, outputs, pooled, inner = _form(p.shape)
    each = max(1, -(-n // WINDOW))
    every = max(1, -(-(-(-n // each) * inner) // WINDOW))
    sight.sequence = p.shape, wide, each
    sight.scores, sight.target = (_shaped(x[::each], outputs, pooled, inner, every).copy() for x in (p, t))


def _form(shape: tuple) -> tuple[int, int, bool, int]:
    """Samples, outputs, whether these are taken for one, and values of each output and sample."""
    n, outputs = shape[0], _outputs(shape)
    pooled = outputs > OUTPUTS
    columns = 1 if pooled else outputs
    inner = prod(shape[1:]) // max(1, columns)
    return n, columns, pooled, inner


def _outputs(shape: tuple) -> int:
    """The columns of a matrix, the channels of pictures, the last axis of sequences."""
    return 1 if len(shape) == 1 else shape[1] if len(shape) > 3 else shape[len(shape) - 1]


def rows_of(sight: LossInputs) -> int:
    """How many values of each output are kept of a batch; at least one, so that an empty one counts."""
    return max(1, sight.scores.size // _form(sight.sequence[0])[1])


def _shaped(x: Any, outputs: int, pooled: bool, inner: int, every: int = 1) -> Any:
    """(samples, values of each, outputs), of pictures (samples, channels, values): a view of every so many values."""
    if x.ndim > 3 and not pooled:
        return x.reshape(len(x), outputs, inner)[:, :, ::every]
    return x.reshape(len(x), inner, outputs)[:, ::every]


def reads(sights: list[LossInputs], transfer: Transfer) -> list[tuple]:
    """Have some batches brought as (samples, values of each, outputs), with what they were.

    Args:
        sights: the batches.
        transfer: what brings them.
    """
    found = []
    for s in sights:
        shape, _, each = s.sequence
        _, outputs, pooled, inner = _form(shape)
        both = s.scores, s.target
        if not each:  # it was small enough to be copied as it was
            both = [_shaped(x, outputs, pooled, inner) for x in both]
        if len(shape) > 3 and not pooled:
            both = [x.swapaxes(1, 2) for x in both]
        if each > 1 and s.indices is not None:
            s.indices = s.indices[::each]
        s.scores, s.target = both
        found.append((s, transfer.put(both[0], s.place), transfer.put(both[1], s.place)))
    return found


def _plain(sight: LossInputs, scores: Any, target: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Predictions, targets and which of them count."""
    p, t = np.asarray(scores, np.float64), np.asarray(target, np.float64)
    with np.errstate(all="ignore"):
        if sight.form == "exp":
            p = np.exp(p)
        elif sight.form == "sigmoid":
            p = 1 / (1 + np.exp(-p))
        fine = np.isfinite(p) & np.isfinite(t)
        if sight.name.endswith("difference") and fine.any():
            # the target was worked out from both: where the prediction is far larger, nothing is left of it
            kind = sight.scores.dtype  # what crossed from a device is double
            eps = np.finfo(kind).eps if kind.kind == "f" else 0.0
            real = t[fine]
            fine &= np.abs(p) * eps <= 1e-3 * max(float(np.ptp(real)), float(np.abs(real).max()) * 1e-3)
    return p, t, fine


class Values:
    """The newest predictions and targets, counted until they are cleared."""

    def __init__(self, names: list[str] | None = None, size: int = WINDOW) -> None:
        self.names, self.size = names, size
        self.rows: np.ndarray | None = None  # (n, 1 + 2 * outputs): step, predictions, targets
        self.samples: np.ndarray | None = (
            None  # (n, 3 + 2 * FIRST): step, index or -1, error, first values of both
        )
        self.seen = self.given = 0  # rows, samples
        self.varied = False  # a batch held two targets that differ; else there is nothing to predict
        self.shape: tuple = ()  # of a batch
        self.broadcast = False
        self.name = ""
        self.echo = False
        self.loss_sum, self.loss_count = 0.0, 0
        self.wired: dict[str, Any] | None = None  # what travels, until something is added
        self.scored: list[dict[str, Any]] | None = None

    def add(self, found: list[tuple]) -> None:
        """Take in batches that have arrived.

        Args:
            found: what `reads` returned.
        """
        self.wired = self.scored = None
        for sight, scores, target in found:
            if not scores.value.size:
                continue
            p, t, fine = _plain(sight, scores.value, target.value)
            outputs = p.shape[2]
            if self.rows is not None and self.rows.shape[1] != 1 + 2 * outputs:
                self.__init__(self.names, self.size)  # another form: nothing of before belongs to it
            self.shape, self.broadcast, _ = sight.sequence
            self.name, self.echo = sight.name, sight.echo
            both = np.concatenate((p.reshape(-1, outputs), t.reshape(-1, outputs)), 1)
            whole = fine.reshape(-1, outputs).all(1)
            both[~whole] = np.nan
            self.seen += len(both)
            self.given += self.shape[0]
            targets = both[whole][:, outputs:]
            if len(p) == 1 and self.rows is not None and len(self.rows):  # a sample at a time
                targets = np.concatenate((targets, self.rows[-1:, 1 + outputs :]))
            self.varied = self.varied or bool((targets != targets[:1]).any())
            self.rows = _newest(self.rows, _with(sight.step, both), self.size)
            self._samples(sight, p, t, fine)
            if sight.value is not None:
                value = float(np.mean(np.asarray(_host(sight.value), np.float64)))
                self.loss_sum += value * len(p)
                self.loss_count += len(p)

    def _samples(self, sight: LossInputs, p: np.ndarray, t: np.ndarray, fine: np.ndarray) -> None:
        n = len(p)
        flat = fine.reshape(n, -1)
        known = flat.any(1)
        off = np.where(fine, np.abs(np.where(fine, p - t, 0.0)), 0.0).reshape(n, -1)
        made = np.full((n, 3 + 2 * FIRST), np.nan)
        made[:, 0] = sight.step
        made[:, 1] = -1 if sight.indices is None else sight.indices[:n]
        made[:, 2] = np.where(known, off.sum(1) / np.maximum(flat.sum(1), 1), np.nan)
        few = min(FIRST, p[0].size)
        made[:, 3 : 3 + few] = p.reshape(n, -1)[:, :few]
        made[:, 3 + FIRST : 3 + FIRST + few] = t.reshape(n, -1)[:, :few]
        samples = _newest(self.samples, made, self.size)
        if self.rows is not None and len(
            self.rows
        ):  # a sample of many values fills the window of values sooner
            samples = samples[samples[:, 0] >= self.rows[0, 0]]
        self.samples = samples

    def forget_after(self, step: int) -> None:
        """Drop what came after a step."""
        self.wired = self.scored = None
        if self.rows is not None and self.samples is not None:
            self.rows = self.rows[self.rows[:, 0] <= step]
            self.samples = self.samples[self.samples[:, 0] <= step]

    @property
    def fine(self) -> np.ndarray:
        """The rows that count."""
        if self.rows is None:
            return np.zeros((0, 1))
        return self.rows[np.isfinite(self.rows).all(1)]

    @property
    def outputs(self) -> int:
        """How many columns there are."""
        return 0 if self.rows is None else (self.rows.shape[1] - 1) // 2

    def scores(self) -> list[dict[str, Any]]:
        """By output: errors, and those of the best constant predictor.

        Returns:
            For each: "n", "r2" (None where all targets are the same), "mae", "rmse", "bias" (mean of prediction less
            target), "constant_mae" (of the median) and "constant_rmse" (of the mean).
        """
        if self.scored is not None:
            return self.scored
        n, rows = self.outputs, self.fine
        if not len(rows):
            return []
        p, t = rows[:, 1 : 1 + n], rows[:, 1 + n :]
        out = []
        with np.errstate(all="ignore"):
            for k in range(n):
                off, spread = p[:, k] - t[:, k], t[:, k] - t[:, k].mean()
                total, varies = float((spread**2).sum()), float(np.ptp(t[:, k])) > 0
                out.append(
                    {
                        "n": len(off),
                        "r2": _known(1 - float((off**2).sum()) / total) if varies and total > 0 else None,
                        "mae": _known(float(np.abs(off).mean())),
                        "rmse": _known(float(np.sqrt((off**2).mean()))),
                        "bias": _known(float(off.mean())),
                        "constant_mae": _known(float(np.abs(t[:, k] - np.median(t[:, k])).mean())),
                        "constant_rmse": _known(float(np.sqrt(total / len(off)))),
                    }
                )
        self.scored = out
        return out

    @property
    def r2(self) -> float | None:
        """The mean of the outputs' R²; None where one has none."""
        found = [one["r2"] for one in self.scores()]
        known = [x for x in found if x is not None]
        return float(np.mean(known)) if known and len(known) == len(found) else None

    def point(self) -> dict[str, Any]:
        """What a validation came to."""
        loss = self.loss_sum / self.loss_count if self.loss_count else None
        return {"loss": loss, "accuracy": None, "samples": self.given, "r2": self.r2}

    def worst(self, most: int = WORST) -> list[dict[str, Any]]:
        """The samples that are off furthest, the worst first."""
        if self.samples is None or not len(self.samples):
            return []
        known = self.samples[np.isfinite(self.samples[:, 2])]
        order = np.argsort(-known[:, 2], kind="stable")[:most]
        out = []
        for row in known[order]:
            values = [[_known(float(x)) for x in row[a : a + FIRST]] for a in (3, 3 + FIRST)]
            few, spatial = min(FIRST, self.outputs), bool(self.pooled) or len(self.shape) > 2
            out.append(
                {
                    "step": int(row[0]),
                    "index": int(row[1]) if row[1] >= 0 else None,
                    "error": _known(float(row[2])),
                    "predicted": [] if spatial else values[0][:few],
                    "target": [] if spatial else values[1][:few],
                }
            )
        return out

    def wire(self) -> dict[str, Any] | None:
        """As it travels; see record.py."""
        if self.wired is None and self.rows is not None:
            self.wired = self._wire()
        return self.wired

    def _wire(self) -> dict[str, Any]:
        assert self.rows is not None
        n, rows = self.outputs, self.fine
        p, t = rows[:, 1 : 1 + n], rows[:, 1 + n :]
        shown = max(1, min(len(rows), POINTS // n))
        off = p - t
        edges, counts, beyond = np.empty((n, 2)), np.empty((n, BINS), np.uint32), []
        for k in range(n):
            span = _span(off[:, k])
            with np.errstate(all="ignore"):  # differences as small as numbers can be
                at = np.nan_to_num((off[:, k] / span + 1) * (BINS / 2))
            counts[k] = np.bincount(np.clip(at, 0, BINS - 1).astype(np.int64), minlength=BINS)
            edges[k] = -span, span
            beyond.append(int((np.abs(off[:, k]) > span).sum()))
        return {
            "outputs": self.labels(),
            "pooled": self.pooled,
            "shape": [int(side) for side in self.shape],
            "broadcast": self.broadcast,
            "echo": self.echo,
            "size": self.size,
            "n": len(rows),
            "bad": len(self.rows) - len(rows),
            "scores": self.scores(),
            "r2": self.r2,
            "predicted": np.ascontiguousarray(p[-shown:].T, np.float32),
            "target": np.ascontiguousarray(t[-shown:].T, np.float32),
            "bins": counts,
            "span": edges,
            "beyond": beyond,
            "worst": self.worst(),
        }

    @property
    def pooled(self) -> int:
        """How many outputs are taken for one; 0 where each is its own."""
        if not self.shape or not _form(self.shape)[2]:
            return 0
        return int(_outputs(self.shape))

    def labels(self) -> list[str]:
        """A name for each output."""
        n = self.outputs
        if self.names is not None and len(self.names) == n:
            return list(self.names)
        if self.pooled:
            return [f"all {self.pooled:,}"]
        return ["output"] if n == 1 else [f"output {k}" for k in range(n)]


def _span(off: np.ndarray) -> float:
    """How far the histogram reaches to both sides: all, but what is far beyond the rest."""
    if not len(off):
        return 1.0
    size = np.abs(off)
    far, most = 3 * float(np.quantile(size, 0.9)), float(size.max())
    span = most if most <= far or not far else far
    return span if span > 0 else 1.0


def _known(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _with(step: int, both: np.ndarray) -> np.ndarray:
    return np.concatenate((np.full((len(both), 1), float(step)), both), 1)


def _newest(old: np.ndarray | None, given: np.ndarray, size: int) -> np.ndarray:
    return given[-size:].copy() if old is None else np.concatenate((old, given))[-size:]


def _host(value: Any) -> Any:
    return value.get() if hasattr(value, "get") else value
