"""The view of a training while it runs, and the command that watches one.

Invariant: what shows a run never ends it.
"""
