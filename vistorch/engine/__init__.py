"""Tensors and autograd. Imports nothing above it."""
