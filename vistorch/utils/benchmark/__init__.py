"""Timing small pieces of code."""

from .timer import Measurement, Timer, select_unit

__all__ = ["Measurement", "Timer", "select_unit"]
