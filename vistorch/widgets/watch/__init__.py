"""The view of a training run, and the command that watches one.

Invariant: what shows a run never ends it.
"""
