"""The table of operations: one row per op, one family per folder, one idea per file."""

from . import (
    activation,
    attention,
    bygone,
    chance,
    conv,
    core,
    create,
    elementwise,
    embedding,
    image,
    index,
    linalg,
    loss,
    normalize,
    pool,
    recurrent,
    reduce,
    shape,
)
