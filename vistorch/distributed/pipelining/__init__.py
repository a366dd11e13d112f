"""A network whose layers are on several ranks, or on several devices of one process, one part after the other."""

from .schedules import Schedule1F1B, ScheduleGPipe
from .split import Pipe, SplitPoint, pipeline
from .stage import PipelineStage

__all__ = ["Pipe", "PipelineStage", "Schedule1F1B", "ScheduleGPipe", "SplitPoint", "pipeline"]
