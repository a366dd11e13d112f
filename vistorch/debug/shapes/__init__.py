"""Shape errors, drawn: what was given, which sides differ, and what it is called in the user's own line.

Invariant: an error that is not understood gives None, and nothing here raises.
"""

from .found import explain
from .record import Operand, ShapeRecord

__all__ = ["Operand", "ShapeRecord", "explain"]
