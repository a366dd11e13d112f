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
    incomplete_gamma,
    logic,
    operators,
    polar,
    polynomials,
    powers,
    rounding,
    sign_step,
    special,
    special_only,
    transcendental,
)
