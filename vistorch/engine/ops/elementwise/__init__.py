"""Pointwise ops."""

from . import (
    addition,
    arithmetic,
    choose,
    clamp,
    compare,
    complex,
    division,
    float_parts,
    fused_gradients,
    incomplete,
    logic,
    operators,
    polar,
    polynomials,
    powers,
    rarer,
    rounding,
    sign_step,
    special,
    transcendental,
)
