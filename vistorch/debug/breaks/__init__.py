"""Where a backward pass stops: conditions as text, breakpoints, the breakpoints of the session."""

from .errors import ConditionError
from .grammar import parse
from .modules import Modules
from .moment import Moment
from .points import Breakpoint, Stop
from .session import Breakpoints, Stopped, session

__all__ = [
    "Breakpoint",
    "Breakpoints",
    "ConditionError",
    "Modules",
    "Moment",
    "Stop",
    "Stopped",
    "parse",
    "session",
]
