"""Kernels of oneDNN, the library under PyTorch's own speed on the processor, through its C interface.

Invariant: nothing in this folder is imported before the first call that is large enough for it.
"""
