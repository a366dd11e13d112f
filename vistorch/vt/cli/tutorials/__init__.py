"""What the tutorials need besides vistorch: cells that check an answer, and broken cells to mend.

Invariant: a wrong answer, or one that cannot even be looked at, is a sentence and never a traceback.
"""

from .broken_cells import kata
from .exercises import exercise

__all__ = ["exercise", "kata"]
