"""Views, joining, splitting and the copies that change a shape."""

from . import (
    borrowed,
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
    split,
    strided,
    transposes,
    views,
    writes,
)
