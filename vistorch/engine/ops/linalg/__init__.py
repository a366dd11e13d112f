"""Products, decompositions and Fourier transforms."""

from . import (
    addmm,
    baddbmm,
    bilinear,
    contract,
    determinant,
    eigen,
    einsum,
    exponential,
    fft,
    fftfreq,
    geometry,
    householder,
    legacy_norm,
    lu,
    norms,
    pinv_lstsq,
    products,
    qr_svd,
    solve,
    solve_factored,
    triangular,
    vander,
    vectors,
)
from .norms import matrix_norm
