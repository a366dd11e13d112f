"""The view of a trace: where the first NaN or infinity appeared, and what it reached.

Invariant: the page, the picture and the text show the same rows.
"""
