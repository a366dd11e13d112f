"""Products, decompositions and Fourier transforms."""

from . import added, products  # noqa: F401
