"""The rules, by what they look at; `RULES` are all of them.

Invariant: a rule reads evidence and changes nothing; what it cannot place it does not say.
"""

from . import bookkeeping, data, finite, learning, meaning, modes, reach, start

RULES = (
    *finite.RULES,
    *bookkeeping.RULES,
    *reach.RULES,
    *modes.RULES,
    *meaning.RULES,
    *data.RULES,
    *start.RULES,
    *learning.RULES,
)
