"""The view of a shape error: what was given, and which sizes do not fit.

Invariant: it is shown beside the exception and never in its place.
"""
