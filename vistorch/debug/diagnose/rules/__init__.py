"""The rules, by what they look at; `RULES` are all of them.

Invariant: a rule reads evidence and changes nothing of the program; what has neither a line nor a layer is not said.
"""

from . import again, bookkeeping, data, finite, learning, leftover, meaning, modes, reach, start, structure

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
    *start.RULES,
    *learning.RULES,
)
