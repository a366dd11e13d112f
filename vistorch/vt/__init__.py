"""The commands of `%vt` as plain functions: `from vistorch import vt`, then `vt.show(x)`.

What `%vt show x --size 300` shows, `vt.show(x, size=300)` returns: the last value of a cell shows itself.
A new command is one file with a `COMMAND` row, one line here, and nothing else.

Invariant: importing this package imports no IPython; the magics import it.
"""

from ..widgets._frame.command import Asked, Command
from ..widgets._frame.defaults import defaults
from ..widgets._frame.user_error import Refusal
from . import (
    alias,
    breaks,
    check,
    compare_runs,
    graphs,
    keep,
    look,
    memory_time,
    names,
    place,
    stepper,
    trace_cell,
    watching,
)
from .alias import torch
from .breaks import break_
from .check import doctor
from .compare_runs import compare, record
from .graphs import graph
from .keep import export
from .look import show
from .memory_time import memory
from .names import vars
from .place import device
from .stepper import step
from .trace_cell import trace
from .watching import flow, watch

# In the order of the overview.
COMMANDS: dict[str, Command] = {
    row.name: row
    for row in (
        look.COMMAND,
        names.COMMAND,
        graphs.COMMAND,
        stepper.COMMAND,
        breaks.COMMAND,
        trace_cell.COMMAND,
        watching.COMMAND,
        watching.FLOW,
        compare_runs.RECORD,
        compare_runs.COMPARE,
        memory_time.COMMAND,
        place.COMMAND,
        alias.COMMAND,
        keep.COMMAND,
        check.COMMAND,
    )
}

__all__ = [
    "COMMANDS",
    "Asked",
    "Command",
    "Refusal",
    "break_",
    "compare",
    "defaults",
    "device",
    "doctor",
    "export",
    "flow",
    "graph",
    "memory",
    "record",
    "show",
    "step",
    "torch",
    "trace",
    "vars",
    "watch",
]
