"""Views, joining, splitting and the copies that change a shape."""

from . import (
    convert,
    copies,
    diagonals,
    expand,
    flip,
    grid,
    join,
    repeat,
    reshape,
    rows,
    sections,
    set_storage,
    split,
    strided,
    transposes,
    views,
    writes,
)
