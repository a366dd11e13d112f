"""The view of a backward pass, node by node.

Invariant: the pass goes on only by the reader's own step.
"""
