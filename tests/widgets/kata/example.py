"""Records of kata: open, a wrong place with a hint, mended, mended with another seed, an exception, the table."""

from vistorch.debug.kata import KATA
from vistorch.debug.kata.attempt import attempt, ran
from vistorch.debug.kata.progress import Progress, Standing
from vistorch.debug.kata.record import KataRecord


def mended(number, code=None, **standing):
    """The card after a run of a cell."""
    kata = KATA[number - 1]
    progress = Progress({number: Standing(**{"place": str(kata.lines[0]), **standing})})
    return KataRecord(
        progress, kata, run=attempt(kata, lambda: ran(kata, kata.answer if code is None else code))
    )


def solution():
    record = mended(2, hints=2)
    record.solution = True
    return record


def table():
    """Some solved, one with hints."""
    made = {
        1: Standing(solved=True),
        2: Standing(solved=True),
        3: Standing(solved=True, hints=1, helped=True),
    }
    return KataRecord(Progress(made))


EXAMPLES = {
    "open": lambda: KataRecord(Progress(), KATA[3]),
    "wrong place": lambda: KataRecord(Progress({3: Standing(hints=1)}), KATA[2], said="<b>9</b>"),
    "solved": lambda: mended(3),
    "solution": solution,
    "classes": lambda: mended(11),
    "another seed": lambda: mended(3, KATA[2].answer.replace("seed(0)", "seed(1)")),
    "an exception": lambda: mended(1, "1 / 0"),
    "table": table,
}
