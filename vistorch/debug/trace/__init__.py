"""Where the first bad value comes from, forward and backward."""

from .record import TraceRecord
from .recorder import Recorder, Row
from .trace import Trace

__all__ = ["Recorder", "Row", "Trace", "TraceRecord"]
