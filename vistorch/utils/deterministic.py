"""A switch for deterministic runs: whether fresh memory is filled. Memory here is Python's, and is not filled.

Invariant: what is set is read back.
"""

fill_uninitialized_memory = True
