"""Plain records of what the engine did. Imports no IPython and no browser."""

from .breakpoint_session import Breakpoints, Stopped
from .breaks import Breakpoint, ConditionError, Modules
from .check import Check, check_node
from .compare import CompareRecord, Record, Recording
from .formula import Formula, formulas_of
from .line_lookup import Line, line_of
from .lines import Cut, Lines, Overwritten, note_of, overwritten
from .meaning import meaning_of
from .memory import GraphBytes, graph_bytes
from .op_record import Operand, Operation, describe
from .step_record import Flow, Frame
from .stepper import Stepper
from .steps import StepsRecord, Walk
from .timeline import MemoryRecord, Timeline
from .trace import Trace, TraceRecord

__all__ = [
    "Breakpoint",
    "Breakpoints",
    "Check",
    "CompareRecord",
    "ConditionError",
    "Cut",
    "Flow",
    "Formula",
    "Frame",
    "GraphBytes",
    "Line",
    "Lines",
    "MemoryRecord",
    "Modules",
    "Operand",
    "Operation",
    "Overwritten",
    "Record",
    "Recording",
    "Stepper",
    "StepsRecord",
    "Stopped",
    "Timeline",
    "Trace",
    "TraceRecord",
    "Walk",
    "check_node",
    "describe",
    "formulas_of",
    "graph_bytes",
    "line_of",
    "meaning_of",
    "note_of",
    "overwritten",
]
