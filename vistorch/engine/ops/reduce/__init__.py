"""Reductions, scans, sorting and counting."""

from . import (  # noqa: F401
    counting,
    differences,
    extremes,
    frame,
    norms,
    order,
    quantiles,
    scans,
    spread,
    sums,
    truth,
)
