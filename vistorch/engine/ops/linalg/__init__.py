"""Products, decompositions and Fourier transforms."""

from . import (
    added,
    added_batches,
    bilinear,
    contract,
    determinant,
    eigen,
    einsum,
    factor,
    fft,
    frequencies,
    geometry,
    norms,
    products,
    rank,
    solve,
    triangular,
    vander,
    vectors,
)
from .norms import matrix_norm
