"""Pointwise ops."""

from . import (  # noqa: F401
    arithmetic,
    bounds,
    choose,
    compare,
    complex,
    division,
    logic,
    operators,
    powers,
    rounding,
    special,
    transcendental,
)
