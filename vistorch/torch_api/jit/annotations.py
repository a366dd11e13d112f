"""What annotations of scripts were imported from: Python's own, under PyTorch's names.

Invariant: nothing here is checked; an annotation changes nothing.
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple, Union  # noqa: UP035  programs import these names from here

from vistorch.futures import Future

__all__ = [
    "Any",
    "BroadcastingList1",
    "BroadcastingList2",
    "BroadcastingList3",
    "Dict",
    "Future",
    "List",
    "Optional",
]
__all__ += ["Tuple", "Union"]

BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = list
