"""Large arrays that come back from the heap instead of as fresh pages.

glibc hands every block of more than 128 KiB back to the system when it is freed, and the next array of that size pays
for each of its pages anew: in a loop of large tensors that is much of the time. It learns from use: after a block of
32 MiB was freed, smaller ones stay in the heap.

Invariant: no memory is touched here; the one block is taken and given back at once.
"""

import sys

import numpy as np

BYTES = 33_000_000  # glibc stops learning at 32 MiB


def keep_large_blocks() -> None:
    """Have glibc keep freed blocks of up to 32 MiB for the next array; nothing where another allocator may be."""
    if sys.platform == "linux":  # not in the browser, whose memory only grows
        np.empty(BYTES, np.uint8)
