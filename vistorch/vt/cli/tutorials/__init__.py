"""What the tutorials need besides vistorch: cells that check an answer.

Invariant: a wrong answer, or one that cannot even be looked at, is a sentence and never a traceback.
"""

from .exercises import exercise

__all__ = ["exercise"]
