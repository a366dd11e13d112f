"""The commands of `%vt` as plain functions: `from vistorch import vt`, then `vt.show(x)`.

What `%vt show x --size 300` shows, `vt.show(x, size=300)` returns: the last value of a cell shows itself.
A new command is one file with a `COMMAND` row, one line here, and nothing else.

Invariant: importing this package imports no IPython; the magics import it.
"""

from ..widgets._frame.command import Asked, Command
from ..widgets._frame.defaults import defaults
from ..widgets._frame.user_error import Refusal
from ..widgets.array import command as look
from ..widgets.array.command import show
from ..widgets.compare import command as compare_runs
from ..widgets.compare.command import compare, record
from ..widgets.graph import command as graphs
from ..widgets.graph.command import graph
from ..widgets.memory import command as memory_time
from ..widgets.memory.command import memory
from ..widgets.steps import command as stepper
from ..widgets.steps.command import step
from ..widgets.trace import command as trace_cell
from ..widgets.trace.command import trace
from ..widgets.vars import command as names
from ..widgets.vars.command import vars
from ..widgets.watch import command as watching
from ..widgets.watch.command import flow, watch
from .commands import break_ as breaks
from .commands import device as place
from .commands import doctor as check
from .commands import export as keep
from .commands import torch as alias
from .commands.break_ import break_
from .commands.device import device
from .commands.doctor import doctor
from .commands.export import export
from .commands.torch import torch

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
