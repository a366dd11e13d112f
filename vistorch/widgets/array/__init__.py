"""The view of arrays: values, gradients and updates of a tensor or of a whole network.

Invariant: the picture and the page show the same record; neither holds a tensor.
"""
