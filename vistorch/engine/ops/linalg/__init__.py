"""Products, decompositions and Fourier transforms."""

from . import (
    added,
    added_batches,
    bilinear,
    contract,
    determinant,
    eigen,
    einsum,
    exponential,
    factor,
    factored,
    fft,
    frequencies,
    geometry,
    legacy_norm,
    lu,
    norms,
    products,
    rank,
    reflections,
    solve,
    triangular,
    vander,
    vectors,
)
from .norms import matrix_norm
