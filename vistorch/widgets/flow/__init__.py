"""The view of gradient flow: how large the gradient of each parameter is, on one scale.

Invariant: the page, the picture and the text show the same rows.
"""
