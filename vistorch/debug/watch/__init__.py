"""A training, watched: loss, accuracy by class, confusion, gradients and units, with hands on the controls."""

from .controls import StopTraining
from .flow import FlowRecord, flow
from .making import watch
from .record import WatchRecord, load
from .run import Run
from .terminal import Line

__all__ = ["FlowRecord", "Line", "Run", "StopTraining", "WatchRecord", "flow", "load", "watch"]
