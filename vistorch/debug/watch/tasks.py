"""What a loop is about: classes, values, tokens, or a loss that says nothing of targets.

It is decided by which loss was trained on and by the shapes and values of what it was given, of the newest passes, so
it changes where the loop does. Invariant: what is not certain is "loss": a curve is never wrong.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import Any

import numpy as np

from .language import TOKENS as AT_ONCE
from .language import WINDOW as TOKENS
from .language import Form, Tokens, ask
from .loss_inputs import CLASSES, LOGITS, VALUES, LossInputs
from .regression import WINDOW, Values, reads, rows_of, trim
from .transfer import Transfer

CLASSIFICATION, REGRESSION, LANGUAGE, LOSS = "classification", "regression", "language", "loss"
NEWEST = 24  # passes that decide
BLIND = 4  # passes without a known target before that is said
KEPT = 64  # batches of yes or no that wait for the other answer
HELD = 16 << 20  # bytes of scores of tokens that wait
VALIDATED = 1 << 13  # values and tokens of a validation


class Tasks:
    """Sorts what was seen of the loop, and keeps the values and tokens of it.

    Args:
        names: of classes, outputs or tokens, if they were given.
    """

    def __init__(self, names: list[str] | None = None) -> None:
        self.names = names
        self.kind = ""
        self.recent: deque[str] = deque(maxlen=NEWEST)
        self.blind = 0  # passes since the last decision that named no target
        self.undecided = False  # something was sorted since
        self.constant = ""  # the loss whose targets were all the same
        self.values, self.tokens = Values(names), Tokens()
        self.checked: Any = None  # the newest validation
        self.coming: list[tuple[str, Any]] = []
        self.forms: dict[tuple, Form | None] = {}
        self.answers: set[float] = set()  # of batches of yes or no that hold one answer each
        self.decided = False  # yes or no: both answers were seen in one batch
        self.waiting: list[LossInputs] = []
        self.batches: tuple[list, list] = [], []  # values and tokens that were just sorted out
        self.kept: tuple[list, list] = [], []  # those that wait to be looked at

    # ---- sorting -----------------------------------------------------------------------------------------------
    def sort(self, sights: list[LossInputs], model: Any, training: bool = True) -> list[LossInputs]:
        """Take out what is no classification, and give the rest.

        Args:
            sights: batches, the newest last.
            model: the root module.
            training: whether they were trained on.
        """
        classes, values, tokens = [], [], []
        for s in sights:
            if s.kind == CLASSES:
                form = self._form(s, model)
                if form is None:
                    classes.append(s)
                    kind = CLASSIFICATION
                else:
                    tokens.append((s, form))
                    kind = LANGUAGE
            elif s.kind == VALUES or self._graded(s):
                values.append(s)
                kind = REGRESSION
            else:
                kind = self._answered(s, classes, training)
            if training:
                self.recent.append(kind)
                self.undecided = True
        self.batches = values, tokens
        return classes

    def _graded(self, s: LossInputs) -> bool:
        """Whether a binary cross entropy has targets between yes and no, or the model's own input: then it measures."""
        if s.echo:
            graded = True
        elif self.decided:
            return False
        else:
            t = s.target.reshape(-1)
            with s.place:
                middle = t[(t != t.min()) & (t != t.max())] if t.size else t
            graded = bool(middle.size)
        if graded:
            s.form = "sigmoid" if s.kind == LOGITS else ""
            s.kind = VALUES
            trim(s)
        return graded

    def _answered(self, s: LossInputs, classes: list[LossInputs], training: bool) -> str:
        """Yes or no: batches that each hold one answer only may be of a loop that judges its own inventions."""
        if not self.decided:
            t = s.target.reshape(-1)
            with s.place:
                low, high = (float(t.min()), float(t.max())) if t.size else (0.0, 0.0)
            if low == high and not training:
                return LOSS
            if low == high:
                self.waiting = [*self.waiting[1 - KEPT :], s]
                self.constant = s.name
                if t.size == 1:
                    self.answers.add(low)
                if len(self.answers) < 2:
                    return LOSS
            self.decided = True
            classes += [one for one in self.waiting if one is not s]
            self.waiting = []
        classes.append(s)
        return CLASSIFICATION

    def _form(self, s: LossInputs, model: Any) -> Form | None:
        """How the rows of these logits are sequences of tokens; None where they are classes of something else."""
        key = (s.scores.shape, None if s.tokens is None else s.tokens.shape, s.sequence)
        if key not in self.forms:
            if len(self.forms) > 256:
                self.forms.clear()
            self.forms[key] = form_of(s, model)
        return self.forms[key]

    # ---- reading -----------------------------------------------------------------------------------------------
    def keep(self) -> None:
        """Hold what was sorted out until there is time to look at it: the newest that fill a window."""
        values, tokens = self.batches
        self.batches = [], []
        held = 0
        for i in range(len(kept := [*self.kept[0], *values]) - 1, -1, -1):
            held += rows_of(kept[i])
            if held >= WINDOW:
                kept = kept[i:]
                break
        asked, held, budget = [], 0, HELD
        for s, form in reversed([*self.kept[1], *tokens]):
            if held >= TOKENS or (asked and s.scores.nbytes > budget):
                break
            held, budget = held + min(form.rows * form.length, AT_ONCE), budget - s.scores.nbytes
            asked.append((s, form))
        self.kept = kept, asked[::-1]

    def queue(self, transfer: Transfer) -> None:
        """Have brought what is kept.

        Args:
            transfer: what brings it.
        """
        (values, tokens), self.kept = self.kept, ([], [])
        if values:
            self.coming.append((REGRESSION, reads(values, transfer)))
        if tokens:
            self.coming.append((LANGUAGE, [ask(s, form, transfer) for s, form in tokens]))

    def drop_tokens(self) -> None:
        """Let go of scores that are too large to wait."""
        self.kept = self.kept[0], []

    def arrive(self) -> bool:
        """Take in what is here; whether something was."""
        coming, self.coming = self.coming, []
        for kind, found in coming:
            if kind == REGRESSION:
                self.values.add(found)
            else:
                self.tokens.add(found)
        return bool(coming)

    def check(self, check: Any, transfer: Transfer, hand_mean: bool = False) -> None:
        """Read the batches of a validation that are no classification.

        Args:
            check: the validation.
            transfer: what brings them.
            hand_mean: whether a difference by hand is a loss by its mean.
        """
        (values, tokens), self.batches = self.batches, ([], [])
        if not values and not tokens:
            return
        found = reads(values, transfer)
        asked = [ask(s, form, transfer, whole=True) for s, form in tokens]
        transfer.send()
        if found:
            for s, p, t in found:
                if s.value is None and hand_mean and s.name.endswith("difference"):
                    off = np.asarray(p.value, np.float64) - np.asarray(t.value, np.float64)
                    s.value = np.mean(off**2 if s.name.startswith("squared") else abs(off))
            check.values = check.values or Values(self.names, VALIDATED)
            check.values.add(found)
        if asked:
            check.tokens = check.tokens or Tokens(VALIDATED)
            check.tokens.add(asked)

    # ---- deciding ----------------------------------------------------------------------------------------------
    @property
    def news(self) -> bool:
        """Whether a decision may come out otherwise than the last."""
        return self.blind > 0 or self.undecided

    def decide(self) -> None:
        """Say what the newest passes are about."""
        self.undecided = False
        self.recent.extend([LOSS] * min(self.blind, NEWEST))
        self.blind = 0
        counts = Counter(self.recent)
        if counts[REGRESSION] and self.values.rows is not None and not self.values.varied:
            counts[LOSS] += counts.pop(REGRESSION)
            self.constant = self.values.name
        kind = self.kind
        known = {k: n for k, n in counts.items() if k != LOSS}
        if known and (kind not in known or 4 * known[kind] < sum(counts.values())):
            kind = max(known, key=lambda k: known[k])
        elif not known and counts[LOSS] >= (BLIND if not kind or kind == LOSS else NEWEST):
            kind = LOSS
        self.kind = kind

    def forget_after(self, step: int) -> None:
        """Drop what came after a step."""
        self.values.forget_after(step)
        self.tokens.forget_after(step)
        self.kept, self.coming = ([], []), []

    @property
    def number(self) -> tuple[str, float | None]:
        """The name and value of the one number that says most; ("", None) where classes do."""
        if self.kind == REGRESSION:
            return "R²", self.values.r2
        return ("perplexity", self.tokens.perplexity) if self.kind == LANGUAGE else ("", None)

    def wire(self) -> dict[str, Any]:
        """As it travels; see record.py."""
        kind, names = self.kind, self.names
        checked_values = getattr(self.checked, "values", None)
        checked_tokens = getattr(self.checked, "tokens", None)
        return {
            "kind": kind,
            "loss": self.values.name if kind == REGRESSION else "",
            "constant": self.constant if kind == LOSS else "",
            "values": {
                "window": self.values.wire(),
                "validation": None if checked_values is None else checked_values.wire(),
            }
            if kind == REGRESSION
            else None,
            "tokens": {
                "window": self.tokens.wire(names),
                "validation": None if checked_tokens is None else checked_tokens.wire(names),
            }
            if kind == LANGUAGE
            else None,
        }


def form_of(s: LossInputs, model: Any) -> Form | None:
    """How the rows of logits are sequences of tokens; None where they are classes of something else.

    Tokens are predicted where the model was given whole numbers and the classes are its vocabulary: the target is what
    it was given, one position later, or it looks its input up in a table of as many rows as there are classes.

    Args:
        s: a batch.
        model: the root module, or None.
    """
    scores, words = s.scores, s.tokens
    if scores.ndim > 3 or words is None:
        return None
    vocabulary, n = scores.shape[1], int(np.prod(s.target.shape))
    sequence = (scores.shape[0], scores.shape[2]) if scores.ndim == 3 else s.sequence
    given = _host(words)
    if given.ndim > 2 or not given.size or int(given.min()) < 0:
        return None
    if sequence is None and given.ndim == 2 and n > len(given) and n % len(given) == 0:
        sequence = (len(given), n // len(given))
    table = any(
        type(m).__name__ in ("Embedding", "EmbeddingBag") and getattr(m, "num_embeddings", 0) == vocabulary
        for m in (model.modules() if model is not None else ())
    )
    if sequence is None or 1 in sequence:
        return Form(n, 1) if table and given.shape[0] == n else None
    if given.ndim != 2:
        return None
    target = _host(s.target).reshape(sequence)
    ahead, down = _follows(given, target, 1), _follows(given, target, 0)
    if not (ahead or down or table):
        return None
    first = down and not ahead
    if not ahead and not down and model is not None:
        first = any(getattr(m, "batch_first", True) is False for m in model.modules())
    if first:
        return Form(sequence[1], sequence[0], True, down)
    return Form(sequence[0], sequence[1], False, ahead)


def _follows(given: np.ndarray, target: np.ndarray, axis: int) -> bool:
    """Whether each target is what was given one position later along an axis."""
    if axis == 0:
        given, target = given.T, target.T
    few = min(given.shape[1] - 1, target.shape[1])
    if few < 1 or len(given) != len(target):
        return False
    shown, asked = given[:, 1 : 1 + few], target[:, :few]
    counts = asked >= 0
    return bool(counts.any()) and bool((shown == asked)[counts].all()) and int(np.ptp(asked[counts])) > 0


def _host(array: Any) -> np.ndarray:
    return array.get() if hasattr(array, "get") else np.asarray(array)
