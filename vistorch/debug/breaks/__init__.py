"""Where a backward pass stops: conditions as text, and breakpoints."""

from .errors import ConditionError
from .grammar import parse
from .modules import Modules
from .moment import Moment
from .points import Breakpoint, Stop

__all__ = [
    "Breakpoint",
    "ConditionError",
    "Modules",
    "Moment",
    "Stop",
    "parse",
]
