"""Reductions, scans, sorting and counting."""

from . import (
    any_all,
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
    std_var,
    sums,
)
