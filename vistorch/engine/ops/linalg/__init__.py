"""Products, decompositions and Fourier transforms."""

from . import added, contract, einsum, factor, fft, norms, products, rank, solve, triangular
from .norms import matrix_norm
