"""A tensor as the last value of a cell: its text and its picture by itself.

Invariant: whatever goes wrong with the picture, the text is shown and the cell succeeds.
"""

from __future__ import annotations

import logging
from typing import Any

from ..debug.source import is_torch
from ..widgets._frame.user_error import Refusal, first_line
from ..widgets.array.command import plain

log = logging.getLogger("vistorch")


def bundle_of(tensor: Any) -> dict[str, Any] | None:
    """Return the layers of a tensor's display; None leaves it to its text.

    Args:
        tensor: the value of the cell.
    """
    try:
        return plain(tensor)._repr_mimebundle_()
    except Refusal as why:
        if not is_torch(tensor):
            log.warning("a tensor is shown as text alone, its picture failed: %s", first_line(why))
        return None  # one of PyTorch's that has no values: torch's own text says so
    except Exception as error:
        log.warning("a tensor is shown as text alone, its picture failed: %s", first_line(error))
        return None
