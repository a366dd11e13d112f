"""Pointwise ops."""

from . import (
    addition,
    arithmetic,
    bounds,
    choose,
    compare,
    complex,
    division,
    exponents,
    jumps,
    logic,
    operators,
    polar,
    powers,
    rarer,
    rounding,
    slopes,
    special,
    transcendental,
)
