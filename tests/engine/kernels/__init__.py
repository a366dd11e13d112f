"""Tests of the raw array kernels."""
