"""Where ranks part that should stay alike: what each rank computed, as checksums, and the first that differ.

Invariant: a checksum stands for all bytes of an array; the arrays themselves stay on their rank.
"""

from .judge import judge
from .trail import Trail

__all__ = ["Trail", "judge"]
