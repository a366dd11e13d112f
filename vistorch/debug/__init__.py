"""Plain records of what the engine did. Imports no IPython and no browser."""

from .check import Check, check_node
from .describe import Operand, Operation, describe
from .formula import Formula, formulas_of
from .frames import Flow, Frame
from .lines import Cut, Lines, Overwritten, note_of, overwritten
from .memory import GraphBytes, graph_bytes
from .source import Line, line_of
from .stepper import Stepper

__all__ = [
    "Check",
    "Cut",
    "Flow",
    "Formula",
    "Frame",
    "GraphBytes",
    "Line",
    "Lines",
    "Operand",
    "Operation",
    "Overwritten",
    "Stepper",
    "check_node",
    "describe",
    "formulas_of",
    "graph_bytes",
    "line_of",
    "note_of",
    "overwritten",
]
