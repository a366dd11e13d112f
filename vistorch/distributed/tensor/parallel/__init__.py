"""Linear layers whose weights are cut over several ranks, or over several devices of one process."""

from .layers import ColumnParallelLinear, RowParallelLinear
from .styles import ColwiseParallel, ParallelStyle, RowwiseParallel, parallelize_module

__all__ = [
    "ColumnParallelLinear",
    "ColwiseParallel",
    "ParallelStyle",
    "RowParallelLinear",
    "RowwiseParallel",
    "parallelize_module",
]
