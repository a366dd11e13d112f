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
    incomplete,
    jumps,
    logic,
    operators,
    polar,
    polynomials,
    powers,
    rarer,
    rounding,
    slopes,
    special,
    transcendental,
)
