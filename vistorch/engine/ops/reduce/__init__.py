"""Reductions, scans, sorting and counting."""

from . import (
    any_all,
    counting,
    covariance,
    differences,
    extremes,
    frame,
    gradient,
    hashes,
    histogramdd,
    norms,
    order,
    quantiles,
    renorm,
    scans,
    select_gradient,
    std_var,
    sums,
)
