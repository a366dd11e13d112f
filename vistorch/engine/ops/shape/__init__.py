"""Views, joining, splitting and the copies that change a shape."""

from . import convert, diagonals, flip, grid, join, repeat, reshape, rows, split, strided, views, writes
