"""The table of operations: one row per op, one family per folder, one idea per file."""

from . import (
    core,
    create,
    elementwise,
    index,
    linalg,
    reduce,
    shape,
)
