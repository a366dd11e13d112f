"""Who was taken for whom: counts by class over a window, an epoch, a validation.

A prediction of -1 is wrong without saying for what (a decision of several at once has no confusion).
Invariant: what is counted is what numpy's definition counts: `seen[c]` labels c, `right[c]` of them predicted c,
`confusion[c, d]` labels c predicted d.
"""

from __future__ import annotations

from typing import Any

import numpy as np

MOST = 1000  # classes; with more, nobody keeps a matrix of all pairs
WINDOW = 1024


def confusion_of(labels: np.ndarray, read: np.ndarray, classes: int) -> np.ndarray:
    """The confusion matrix, rows the labels.

    Example:
        >>> import numpy as np
        >>> from vistorch.debug.watch.confusion import confusion_of
        >>> confusion_of(np.array([0, 0, 1]), np.array([0, 1, 1]), 2).tolist()
        [[1, 1], [0, 1]]
    """
    known = read >= 0
    flat = labels[known] * classes + read[known]
    return np.bincount(flat, minlength=classes * classes).reshape(classes, classes)


class ClassCounts:
    """Counts that go on until they are cleared."""

    def __init__(self, classes: int) -> None:
        self.classes = classes
        self.seen = np.zeros(classes, np.int64)
        self.right = np.zeros(classes, np.int64)
        self.confusion = np.zeros((classes, classes), np.int64) if classes <= MOST else None

    def add(self, labels: np.ndarray, read: np.ndarray) -> None:
        """Count samples; labels from 0 to classes - 1."""
        self.seen += np.bincount(labels, minlength=self.classes)
        self.right += np.bincount(labels[labels == read], minlength=self.classes)
        if self.confusion is not None:
            self.confusion += confusion_of(labels, read, self.classes)

    def copy(self) -> ClassCounts:
        """The same counts."""
        other = ClassCounts.__new__(ClassCounts)
        other.classes, other.seen, other.right = self.classes, self.seen.copy(), self.right.copy()
        other.confusion = None if self.confusion is None else self.confusion.copy()
        return other

    @property
    def nbytes(self) -> int:
        """What the counts occupy."""
        return 2 * self.seen.nbytes + (0 if self.confusion is None else self.confusion.nbytes)

    @property
    def samples(self) -> int:
        """How many were counted."""
        return int(self.seen.sum())

    @property
    def accuracy(self) -> float | None:
        """The share that was right; None where nothing was counted."""
        return float(self.right.sum() / self.seen.sum()) if self.samples else None

    def wire(self) -> dict[str, Any]:
        """As it travels: counts by class, and the cells of the matrix that are not zero."""
        state: dict[str, Any] = {"right": self.right.astype(np.uint32), "seen": self.seen.astype(np.uint32)}
        if self.confusion is not None:
            at = np.argwhere(self.confusion)
            state["pairs"] = at.astype(np.uint16)
            state["counts"] = self.confusion[tuple(at.T)].astype(np.uint32)
        return state


class Window:
    """The newest samples, each with its step, label and prediction.

    Args:
        size: how many are kept.
    """

    def __init__(self, size: int = WINDOW) -> None:
        self.size = size
        self.rows = np.zeros((0, 3), np.int64)

    def add(self, steps: Any, labels: np.ndarray, read: np.ndarray) -> None:
        """Take in new samples, the newest last."""
        rows = np.empty((len(labels), 3), np.int64)
        rows[:, 0], rows[:, 1], rows[:, 2] = steps, labels, read
        self.rows = np.concatenate((self.rows, rows))[-self.size :]

    def forget_after(self, step: int) -> None:
        """Drop what came after a step."""
        self.rows = self.rows[self.rows[:, 0] <= step]

    def tally(self, classes: int) -> ClassCounts:
        """The counts of what is in the window."""
        found = ClassCounts(classes)
        found.add(self.rows[:, 1], self.rows[:, 2])
        return found
