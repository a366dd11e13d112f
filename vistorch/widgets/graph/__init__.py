"""The view of a graph, folded by module, and what its nodes hold.

Invariant: a graph that the program lets go of is not kept alive by being shown.
"""
