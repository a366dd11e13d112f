"""A cure tried on a copy of the running program, and what came of it.

Invariant: nothing outside of the copy changes: no file, no process, no memory that others share.
"""

from .standby import Standby
from .tried import Tried

__all__ = ["Standby", "Tried"]
