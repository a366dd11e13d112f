"""Made from the table of commands by `make generated`; not written by hand."""

from vistorch.vt.commands.break_ import break_ as break_
from vistorch.vt.commands.device import device as device
from vistorch.vt.commands.doctor import doctor as doctor
from vistorch.vt.commands.export import export as export
from vistorch.vt.commands.ranks import ranks as ranks
from vistorch.vt.commands.torch import torch as torch
from vistorch.vt.table import COMMANDS as COMMANDS
from vistorch.widgets._frame.command import Asked as Asked
from vistorch.widgets._frame.command import Command as Command
from vistorch.widgets._frame.defaults import defaults as defaults
from vistorch.widgets._frame.user_error import Refusal as Refusal
from vistorch.widgets.array.command import show as show
from vistorch.widgets.compare.command import compare as compare
from vistorch.widgets.compare.command import record as record
from vistorch.widgets.diagnose.command import diagnose as diagnose
from vistorch.widgets.flow.command import flow as flow
from vistorch.widgets.graph.command import graph as graph
from vistorch.widgets.kata.command import kata as kata
from vistorch.widgets.memory.command import memory as memory
from vistorch.widgets.steps.command import step as step
from vistorch.widgets.trace.command import trace as trace
from vistorch.widgets.vars.command import vars as vars
from vistorch.widgets.watch.command import watch as watch
