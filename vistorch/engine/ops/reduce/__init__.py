"""Reductions, scans, sorting and counting."""

from . import (
    chosen,
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
