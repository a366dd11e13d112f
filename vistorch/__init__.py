"""Tensors, autograd and a visual debugger that speak PyTorch's language."""
