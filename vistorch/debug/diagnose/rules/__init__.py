"""The rules, by what they look at; `RULES` are all of them.

Invariant: a rule reads evidence and changes nothing of the program; what has neither a line nor a layer is not said.
"""

from ..evidence import ENOUGH
from . import (
    again,
    axes,
    bookkeeping,
    classes,
    data,
    finite,
    kept,
    learning,
    leftover,
    loops,
    meaning,
    measures,
    memory,
    modes,
    named,
    padding,
    pairs,
    policies,
    reach,
    samples,
    schedules,
    scores,
    start,
    still,
    structure,
    tables,
)

RULES = (
    *finite.RULES,
    *bookkeeping.RULES,
    *leftover.RULES,
    *reach.RULES,
    *modes.RULES,
    *meaning.RULES,
    *structure.RULES,
    *data.RULES,
    *again.RULES,
    *kept.RULES,
    *schedules.RULES,
    *scores.RULES,
    *pairs.RULES,
    *policies.RULES,
    *still.RULES,
    *loops.RULES,
    *samples.RULES,
    *memory.RULES,
    *padding.RULES,
    *tables.RULES,
    *axes.RULES,
    *classes.RULES,
    *measures.RULES,
    *named.RULES,
    *start.RULES,
    *learning.RULES,
)

EARLY = (scores, pairs, policies, still, samples, memory, padding, tables, axes, classes, measures)
for _module in EARLY:  # what these ask for is there from the beginning, or not at all
    for _rule in _module.RULES:
        _rule.most_looks = ENOUGH
