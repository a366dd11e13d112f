"""What came of a trial: losses with a cure beside those without.

Invariant: the same steps of the same program, from the same state and the same random numbers.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

PARTS = 5


@dataclass
class Tried:
    """What came of trying a cure, or why it was not tried.

    Args:
        label: which steps the numbers are of.
        with_it, without: losses; `without` is empty where an exception ended the program at once.
        after: a sentence on what else was seen.
        refused: why it was not tried; "" where it was.

    Example:
        >>> from vistorch.debug.diagnose.trial import Tried
        >>> print(Tried("steps 1 to 2", [2.3, 1.1], [2.3, 2.3], "The finding is gone.").text())
        steps 1 to 2: with it 2.3 1.1, as it is 2.3 2.3. The finding is gone.
    """

    label: str = ""
    with_it: list[float] = field(default_factory=list)
    without: list[float] = field(default_factory=list)
    after: str = ""
    refused: str = ""

    def text(self) -> str:
        """As it reads in a line."""
        if self.refused:
            return f"not tried: {self.refused}"
        said = []
        if self.with_it:
            said.append(f"with it {' '.join(f'{x:.3g}' for x in self.with_it)}")
        if self.without:
            said.append(f"as it is {' '.join(f'{x:.3g}' for x in self.without)}")
        head = f"{self.label}: {', '.join(said)}. " if said else ""
        return f"{head}{self.after}".strip()


def compared(with_it: list[float], without: list[float]) -> tuple[str, list[float], list[float]]:
    """The same steps of both runs, as few numbers: (which steps, with it, without).

    Args:
        with_it: all losses of one.
        without: of the other.

    Example:
        >>> from vistorch.debug.diagnose.trial.tried import compared
        >>> compared([3.0, 2.0, 1.0], [3.0, 3.0])
        ('losses of the first 2 steps', [3.0, 2.0], [3.0, 3.0])
        >>> compared([float(i) for i in range(20)], [1.0] * 40)[1]
        [1.5, 5.5, 9.5, 13.5, 17.5]
    """
    many = min(len(with_it), len(without)) if without else len(with_it)
    if many <= 2 * PARTS:
        few = min(many, PARTS)
        label = f"losses of the first {few} steps" if few != 1 else "loss of the first step"
        return label, with_it[:few], without[:few]
    ends = [many * i // PARTS for i in range(PARTS + 1)]

    def means(losses: list[float]) -> list[float]:
        pairs = itertools.pairwise(ends)
        return [sum(losses[a:b]) / (b - a) for a, b in pairs] if losses else []

    return f"mean losses of five parts of the first {many} steps", means(with_it), means(without)
