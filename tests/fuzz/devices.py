"""vistorch with another default device, so that the same programs run there.

Invariant: a program names no device; what it makes without one is on the device.
"""

import contextlib
from typing import Any

import vistorch


class On:
    """The library while programs run on a device.

    Args:
        device: the device, or its name.
    """

    __name__ = "vistorch"

    def __init__(self, device: str) -> None:
        self._device = device

    def __getattr__(self, name: str) -> Any:
        return getattr(vistorch, name)

    def planted(self) -> contextlib.AbstractContextManager:
        """What a program runs in."""
        return vistorch.device(self._device)
