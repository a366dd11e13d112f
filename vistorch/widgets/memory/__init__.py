"""The view of memory over time: what is kept for a backward pass, by node.

Invariant: the page, the picture and the text show the same rows.
"""
