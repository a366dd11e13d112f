"""Views, joining, splitting and the copies that change a shape."""

from . import (
    convert,
    diagonals,
    expand,
    flip,
    grid,
    join,
    repeat,
    reshape,
    rows,
    split,
    strided,
    views,
    writes,
)
