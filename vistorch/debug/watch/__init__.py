"""A watched training run: loss, accuracy by class, confusion, gradients and units, with controls."""

from .commands import StopTraining
from .flow import FlowRecord, flow
from .record import WatchRecord, load
from .run import Run, watch
from .terminal import Line

__all__ = ["FlowRecord", "Line", "Run", "StopTraining", "WatchRecord", "flow", "load", "watch"]
