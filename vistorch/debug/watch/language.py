"""Tokens and what a model makes of them: loss by position, perplexity, the tokens and places that are hardest.

Of a batch, whole sequences at regular distances are looked at, so many that `TOKENS` are; which token was the likeliest
is asked of as many of them as `SCORED` scores allow.
Invariant: a token whose target does not count, or whose loss is not finite, is counted nowhere but as left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .loss_inputs import LossInputs
from .transfer import Transfer

WINDOW = 8192  # the newest tokens
TOKENS = 4096  # of a batch
SCORED = 1 << 21  # scores of a batch that are searched for the likeliest token
CONTEXT = 12  # tokens before one
PLACES = 12  # places, tokens, pairs that are listed
KEPT = 128  # of the newest batches
RARE = 3  # times a token must have been seen to be called hard
STEP, TARGET, READ, LOSS, AT = range(5)  # the columns of a row
UNREAD = -2


class Form:
    """How the rows of the logits are sequences.

    Args:
        rows: how many sequences.
        length: how many positions each has.
        first: whether positions come first in memory: (positions, sequences).
        shifted: whether the target is what the model was given, one position later.
    """

    def __init__(self, rows: int, length: int, first: bool = False, shifted: bool = False) -> None:
        self.rows, self.length, self.first, self.shifted = rows, length, first, shifted

    def at(self, sequences: np.ndarray) -> np.ndarray:
        """The rows of some sequences, one after the other: (sequences, positions)."""
        if self.first:
            return np.arange(self.length)[None] * self.rows + sequences[:, None]
        return sequences[:, None] * self.length + np.arange(self.length)[None]


def ask(sight: LossInputs, form: Form, transfer: Transfer, whole: bool = False) -> tuple:
    """Have of one batch brought: targets, losses, the likeliest tokens, what the model was given.

    Args:
        sight: the batch.
        form: how its rows are sequences.
        transfer: what brings them.
        whole: the sum of the losses of all rows too.
    """
    xp, scores, target = sight.place.xp, sight.scores, sight.target
    vocabulary = scores.shape[1]
    kept = min(form.rows, max(1, TOKENS // form.length))
    if not sight.logs:
        kept = min(kept, max(1, SCORED // (form.length * vocabulary)))
    chosen = np.arange(0, form.rows, -(-form.rows // kept))
    at = form.at(chosen).reshape(-1)
    few = at[:: max(1, -(-len(at) * vocabulary // SCORED))]
    with sight.place:
        if scores.ndim == 3:
            scores = xp.moveaxis(scores, 1, 2)
        target = target.reshape(-1)
        t = target[at]
        losses = _losses(xp, scores, at, t, sight.logs)
        read = _take(scores, few).argmax(1)
        total = None
        if whole and sight.logs:
            everywhere = _losses(xp, scores, xp.arange(len(target)), target, True)
            counts = (target != sight.ignore) & (target >= 0) & xp.isfinite(everywhere)
            total = xp.stack([xp.where(counts, everywhere, 0).sum(), counts.sum()]).astype(np.float64)
        given = None if sight.tokens is None else transfer.put(sight.tokens, sight.place)
    put = transfer.put
    return (
        sight,
        form,
        chosen,
        put(t, sight.place),
        put(losses, sight.place),
        put(read, sight.place),
        given,
        len(at),
        len(few),
        None if total is None else put(total, sight.place),
    )


def _take(scores: Any, at: np.ndarray) -> Any:
    if scores.ndim == 2:
        return scores[at]
    return scores[at // scores.shape[1], at % scores.shape[1]]


def _losses(xp: Any, scores: Any, at: Any, target: Any, logs: bool) -> Any:
    """The negative log-probability of each target."""
    safe = xp.clip(target, 0, scores.shape[-1] - 1)
    if logs:
        if scores.ndim == 2:
            return -scores[at, safe].astype(np.float64)
        return -scores[at // scores.shape[1], at % scores.shape[1], safe].astype(np.float64)
    mine = _take(scores, at).astype(np.float64)
    mine = mine - mine.max(1, keepdims=True)
    mine = mine - xp.log(xp.exp(mine).sum(1, keepdims=True))
    return -xp.take_along_axis(mine, safe.reshape(-1, 1), 1).reshape(-1)


class Tokens:
    """The newest tokens, counted until they are cleared."""

    def __init__(self, size: int = WINDOW) -> None:
        self.size = size
        self.rows = np.zeros((0, 5))
        self.places: list[dict[str, Any]] = []
        self.vocabulary = self.length = self.seen = 0
        self.shifted = False
        self.loss_sum, self.loss_count = 0.0, 0
        self.wired: dict[str, Any] | None = None  # what travels, until something is added

    def add(self, found: list[tuple]) -> None:
        """Take in batches that have arrived.

        Args:
            found: what `ask` returned of each.
        """
        self.wired = None
        for sight, form, chosen, target, losses, read, given, n, few, total in found:
            vocabulary = sight.scores.shape[1]
            if self.vocabulary and (vocabulary != self.vocabulary):
                self.__init__(self.size)
            self.vocabulary, self.shifted = vocabulary, form.shifted
            self.length = form.length if form.length == self.length else max(self.length, form.length)
            made = np.empty((n, 5))
            made[:, STEP], made[:, TARGET], made[:, READ] = sight.step, target.value, UNREAD
            made[:, LOSS], made[:, AT] = losses.value, np.tile(np.arange(form.length), len(chosen))
            made[:: max(1, -(-n // max(1, few))), READ] = read.value
            meant = (
                (made[:, TARGET] != sight.ignore) & (made[:, TARGET] >= 0) & (made[:, TARGET] < vocabulary)
            )
            fine = meant & np.isfinite(made[:, LOSS])
            self.seen += int(meant.sum())
            self._hard(sight, form, chosen, made, fine, given)
            self.rows = np.concatenate((self.rows, made[meant]))[-self.size :]
            sums = (made[fine, LOSS].sum(), fine.sum()) if total is None else total.value
            self.loss_sum += float(sums[0])
            self.loss_count += int(sums[1])

    def _hard(self, sight: LossInputs, form: Form, chosen: Any, made: Any, fine: Any, given: Any) -> None:
        """Note the hardest places of a batch with what stands before them."""
        losses = np.where(fine, made[:, LOSS], -np.inf)
        targets = made[:, TARGET].astype(np.int64).reshape(len(chosen), form.length)
        words = None if given is None else np.asarray(given.value)
        for i in np.argsort(-losses, kind="stable")[: min(PLACES, int(fine.sum()))]:
            row, at = divmod(int(i), form.length)
            before = _before(words, form, int(chosen[row]), at)
            if before is None:
                before = [int(w) for w in targets[row, max(0, at - CONTEXT) : at] if w != sight.ignore]
            self.places.append(
                {
                    "step": sight.step,
                    "token": int(targets[row, at]),
                    "read": int(made[i, READ]),
                    "loss": float(losses[i]),
                    "position": at,
                    "before": before,
                }
            )
        self.places = self.places[-KEPT:]

    def forget_after(self, step: int) -> None:
        """Drop what came after a step."""
        self.wired = None
        self.rows = self.rows[self.rows[:, STEP] <= step]
        self.places = [one for one in self.places if one["step"] <= step]

    @property
    def fine(self) -> np.ndarray:
        """The rows that count."""
        return self.rows[np.isfinite(self.rows[:, LOSS])]

    @property
    def mean(self) -> float | None:
        """The mean loss of a token; None where none was seen."""
        rows = self.fine
        return float(rows[:, LOSS].mean()) if len(rows) else None

    @property
    def perplexity(self) -> float | None:
        """The exponential of the mean loss; None where none was seen or it is beyond all numbers."""
        return perplexity_of(self.mean)

    @property
    def accuracy(self) -> float | None:
        """The share whose likeliest token was right, of those that were looked at."""
        looked = self.fine
        looked = looked[looked[:, READ] != UNREAD]
        return float((looked[:, READ] == looked[:, TARGET]).mean()) if len(looked) else None

    def point(self) -> dict[str, Any]:
        """What a validation came to."""
        loss = self.loss_sum / self.loss_count if self.loss_count else None
        found = {"loss": loss, "accuracy": self.accuracy, "samples": self.loss_count}
        return {**found, "perplexity": perplexity_of(loss)}

    def wire(self, names: list[str] | None = None) -> dict[str, Any] | None:
        """As it travels; see record.py.

        Args:
            names: of the tokens, by number.
        """
        if self.wired is None and len(self.rows):
            self.wired = self._wire(names)
        return self.wired

    def _wire(self, names: list[str] | None) -> dict[str, Any]:
        rows = self.fine
        at = rows[:, AT].astype(np.int64)
        counts = np.bincount(at, minlength=self.length)
        with np.errstate(all="ignore"):
            position = np.bincount(at, rows[:, LOSS], self.length) / counts
        target = rows[:, TARGET].astype(np.int64)
        seen = np.bincount(target, minlength=self.vocabulary)
        sums = np.bincount(target, rows[:, LOSS], self.vocabulary)
        known = np.flatnonzero(seen >= RARE)
        hard = known[np.argsort(-sums[known] / seen[known], kind="stable")[:PLACES]]
        looked = rows[(rows[:, READ] != UNREAD) & (rows[:, READ] != rows[:, TARGET])]
        # one number for a pair is far quicker to count than two
        joined = looked[:, TARGET].astype(np.int64) * self.vocabulary + looked[:, READ].astype(np.int64)
        keys, times = np.unique(joined, return_counts=True)
        order = np.argsort(-times, kind="stable")[:PLACES]
        pairs = np.stack(np.divmod(keys, self.vocabulary), 1)
        places = sorted(self.places, key=lambda one: -one["loss"])[:PLACES]
        used = {int(c) for c in hard} | {int(c) for c in pairs[order].reshape(-1)}
        for one in places:
            used |= {one["token"], one["read"], *one["before"]}
        return {
            "vocabulary": self.vocabulary,
            "length": self.length,
            "shifted": self.shifted,
            "n": len(rows),
            "size": self.size,
            "bad": len(self.rows) - len(rows),
            "loss": self.mean,
            "perplexity": self.perplexity,
            "accuracy": self.accuracy,
            "looked": int((rows[:, READ] != UNREAD).sum()),
            "position": position.astype(np.float32) if self.length > 1 else None,
            "positions": counts.astype(np.uint32) if self.length > 1 else None,
            "hard": [[int(c), float(sums[c] / seen[c]), int(seen[c])] for c in hard],
            "pairs": [[int(a), int(b), int(k)] for (a, b), k in zip(pairs[order], times[order], strict=True)],
            "places": places,
            "names": {str(c): name_of(names, c) for c in sorted(used) if c >= 0},
        }


def _before(words: np.ndarray | None, form: Form, sequence: int, at: int) -> list[int] | None:
    """What the model was given up to a place; None where that does not say it."""
    if words is None:
        return None
    if form.length == 1 and words.ndim == 2 and len(words) == form.rows:
        return [int(w) for w in words[sequence, -CONTEXT:]]
    if form.length == 1 and words.ndim == 1 and len(words) == form.rows:
        return [int(words[sequence])]
    if not form.shifted or words.ndim != 2:
        return None
    mine = words[:, sequence] if form.first else words[sequence]
    return [int(w) for w in mine[max(0, at + 1 - CONTEXT) : at + 1]]


def perplexity_of(loss: float | None) -> float | None:
    """The exponential of a mean loss; None where there is none or it is beyond all numbers.

    Args:
        loss: the mean of negative log-probabilities.
    """
    return float(np.exp(loss)) if loss is not None and loss < 700 else None


def name_of(names: list[str] | None, token: int) -> str:
    """What a token is called: its name with every blank and line end visible, else its number.

    Args:
        names: of all tokens, or None.
        token: its number.
    """
    if names is None or not 0 <= token < len(names):
        return str(token)
    name = names[token]
    return {" ": "␣", "\n": "⏎", "\t": "⇥", "": "∅"}.get(name, name.replace("\n", "⏎").replace("\t", "⇥"))
