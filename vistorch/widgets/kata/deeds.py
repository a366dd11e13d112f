"""What changes the standing of a kata: a place that is named, a hint, the solution, a run of the mended cell.

Invariant: each returns what is to be shown, and what has changed is written before. The file is read
anew for each, because other cells and other notebooks write it, too.
"""

from __future__ import annotations

from dataclasses import replace

from ...debug.kata.attempt import Attempt
from ...debug.kata.judge import RIGHT, place
from ...debug.kata.kata import Kata
from ...debug.kata.progress import load
from ...debug.kata.record import KataRecord


def _of(record: KataRecord) -> Kata:
    assert record.kata is not None
    return record.kata


def named(record: KataRecord, said: str) -> KataRecord:
    """Name a place.

    Args:
        record: the card.
        said: the place, as typed.
    """
    kata, record = _of(record), replace(record, progress=load())
    standing = record.progress.of(kata.number)
    standing.tries += 1
    if place(kata, said).state == RIGHT:
        standing.place = said
    record.progress.save()
    return _settled(replace(record, said=said))


def hinted(record: KataRecord) -> KataRecord:
    """Open the next hint, if there is one.

    Args:
        record: the card.
    """
    kata, record = _of(record), replace(record, progress=load())
    standing = record.progress.of(kata.number)
    standing.hints = min(standing.hints + 1, len(kata.hints))
    record.progress.save()
    return record


def shown(record: KataRecord) -> KataRecord:
    """Open the solution.

    Args:
        record: the card.
    """
    record = replace(record, progress=load(), solution=True)
    standing = record.progress.of(_of(record).number)
    standing.helped = standing.helped or not standing.solved
    record.progress.save()
    return record


def ran(kata: Kata, run: Attempt) -> KataRecord:
    """Take a run of the reader's cell.

    Args:
        kata: which.
        run: the run.
    """
    return _settled(KataRecord(load(), kata, run=run))


def _settled(record: KataRecord) -> KataRecord:
    standing = record.progress.of(_of(record).number)
    if not standing.solved and record.all_right():
        standing.solved, standing.helped = True, standing.helped or standing.hints > 0
        record.progress.save()
    return record
