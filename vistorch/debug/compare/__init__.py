"""Two runs op by op: recordings, files of them, and the first difference."""

from .compare import compare
from .record import CompareRecord
from .recording import Op, Record, Recording

__all__ = ["CompareRecord", "Op", "Record", "Recording", "compare"]
