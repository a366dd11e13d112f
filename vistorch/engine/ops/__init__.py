"""The table of operations: one row per op, one family per folder, one idea per file."""

from . import (
    activation,
    attention,
    conv,
    create,
    elementwise,
    embedding,
    image,
    index,
    legacy,
    linalg,
    loss,
    norm,
    pool,
    recurrent,
    reduce,
    shape,
    signal,
)
