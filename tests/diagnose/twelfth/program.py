"""Where the programs of this part are entered.

Invariant: each part has a list of its own.
"""

from ..independent.program import Programs

PROGRAMS = Programs()
fault, healthy = PROGRAMS.fault, PROGRAMS.healthy
