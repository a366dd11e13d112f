"""Recordings of what a CUDA device does, to be played again: named, not built.

Invariant: importing it is allowed; using a name of it says so in one sentence.
"""

from ..compat.said import unbuilt

globals().update(
    unbuilt(
        "vistorch.cuda",
        "vistorch records no CUDA graphs; run the steps as they are.",
        "graph_pool_handle make_graphed_callables",
        "CUDAGraph graph",
    )
)
