"""Reductions, scans, sorting and counting."""

from . import (
    chosen,
    counting,
    covariance,
    differences,
    extremes,
    frame,
    gradient,
    histogramdd,
    norms,
    order,
    quantiles,
    renorm,
    scans,
    spread,
    sums,
    truth,
)
