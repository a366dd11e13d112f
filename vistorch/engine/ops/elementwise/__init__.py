"""Pointwise ops."""

from . import (
    addition,
    arithmetic,
    bounds,
    choose,
    compare,
    complex,
    division,
    incomplete,
    jumps,
    logic,
    operators,
    polar,
    powers,
    rounding,
    slopes,
    special,
    transcendental,
)
