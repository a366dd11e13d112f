"""Tensors and autograd. Imports nothing from the rooms above it."""
