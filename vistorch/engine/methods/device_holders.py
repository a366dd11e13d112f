"""Who holds the memory of a CUDA device: what "out of memory" says of it.

Invariant: nothing here allocates on the device, and the sentence names the largest first.
"""

from __future__ import annotations

import os
from typing import Any

from ..core.registry import FUNCTIONS, METHODS
from ..core.rules import TABLE
from ..kernels.cuda import capture
from ..memory import device_memory

_NAMED = 4


def holders(allocator: device_memory.Allocator, device: int) -> list[tuple[int, int, str]]:
    """Bytes and number of arrays that came of each line and op, the largest first.

    Args:
        allocator: the device's.
        device: its index.
    """
    found: dict[str, list[int]] = {}
    for block in allocator.blocks(device):
        sums = found.setdefault(_origin(block.line), [0, 0])
        sums[0] += block.size
        sums[1] += 1
    return sorted(((size, number, where) for where, (size, number) in found.items()), reverse=True)


def _origin(line: tuple | None) -> str:
    """The op and the line of a block, as a phrase."""
    if line is None:
        return "smaller than 1 MiB"
    file, number, functions = line
    public = [name for name in functions if name[0] not in "_<"]
    op = next((name for name in public if name in FUNCTIONS or name in METHODS), "")
    op = op or next((name for name in public if name in TABLE), "") or (public[-1] if public else "")
    if "backward" in functions and op != "backward":
        op = f"{op} in backward" if op else "backward"
    of = f" of {op}" if op else ""
    return (
        f"{of} at {os.path.basename(file)}:{number}".strip() if file else f"{of} outside of any line".strip()
    )


def phrase(where: tuple) -> str:
    """The op and the line of a place, at the beginning of a sentence."""
    return _origin(where).removeprefix("of ")


def explain(allocator: Any, device: int) -> str:
    """The sentence."""
    found = holders(allocator, device)
    if not found:
        return ""
    said = [
        f"{device_memory.readable(size)} in {number} array{'s' * (number > 1)} {where}"
        for size, number, where in found[:_NAMED]
    ]
    return f" The largest holders: {', '.join(said)}. Let go of some of them (del), or take a smaller batch."


device_memory.explanations.append(explain)
capture.naming.append(phrase)
