"""The table of operations: one row per op, one family per folder, one idea per file."""

from . import (
    activation,
    attention,
    chance,
    conv,
    create,
    elementwise,
    embedding,
    image,
    index,
    legacy,
    linalg,
    loss,
    normalize,
    pool,
    recurrent,
    reduce,
    shape,
    signal,
)
