"""Kernels of the project's own for CUDA devices, over cupy's: what `fast` is to numpy.

Invariant: nothing here imports cupy before it is called with an array of a device.
"""
