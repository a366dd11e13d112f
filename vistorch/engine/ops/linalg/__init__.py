"""Products, decompositions and Fourier transforms."""
