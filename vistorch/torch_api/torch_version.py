"""Versions that compare with texts and tuples, and which of the two libraries `import torch` gives.

`__version__` is vistorch's. `of_pytorch()` is that of the real PyTorch, where the program has imported it too.

Invariant: asking imports nothing.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from typing import Any

from vistorch._version import __version__ as _own

__all__ = ["TorchVersion", "of_pytorch"]

_PARTS = re.compile(
    r"v?(\d+(?:\.\d+)*)[-_.]?(a|b|c|rc|alpha|beta|pre|preview)?[-_.]?(\d*)(?:[-_.]?(dev)(\d*))?(?:\+(.*))?$",
    re.I,
)
_STAGES = {"a": 0, "alpha": 0, "b": 1, "beta": 1, "c": 2, "rc": 2, "pre": 2, "preview": 2}


class TorchVersion(str):
    """A version as a text, which is ordered as versions are: against texts, tuples and other versions.

    What is no version is compared as text.

    Example:
        >>> from vistorch.torch_version import TorchVersion
        >>> TorchVersion("2.13.0") > "2.6", TorchVersion("2.13.0") >= (2, 13), TorchVersion("1.10.0a0") < "1.10"
        (True, True, True)
    """

    __slots__ = ()

    def __gt__(self, other: Any) -> bool:
        a, b = self._sides(other)
        return a > b

    def __lt__(self, other: Any) -> bool:
        a, b = self._sides(other)
        return a < b

    def __ge__(self, other: Any) -> bool:
        a, b = self._sides(other)
        return a >= b

    def __le__(self, other: Any) -> bool:
        a, b = self._sides(other)
        return a <= b

    def __eq__(self, other: object) -> bool:
        a, b = self._sides(other)
        return a == b

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__

    def _sides(self, other: Any) -> tuple[Any, Any]:
        """Both as keys of an order; as texts where one of them is no version."""
        text = (
            other
            if isinstance(other, str)
            else ".".join(map(str, other))
            if isinstance(other, Iterable)
            else str(other)
        )
        keys = _key(str(self)), _key(str(text))
        return keys if None not in keys else (str(self), str(text))


def _key(text: str) -> tuple | None:
    """What a version is sorted by; None for what is none."""
    found = _PARTS.match(text.strip())
    if found is None:
        return None
    numbers = [int(part) for part in found[1].split(".")]
    while numbers and not numbers[-1]:
        numbers.pop()
    stage = (_STAGES[found[2].lower()], int(found[3] or 0)) if found[2] else (-1 if found[4] else 3, 0)
    parts = re.split(r"[-_.]", found[6]) if found[6] else []  # of a build: "cu126"
    local = tuple([(1, int(part), "") if part.isdigit() else (0, 0, part.lower()) for part in parts])
    return tuple(numbers), stage, (0, int(found[5] or 0)) if found[4] else (1, 0), local


def of_pytorch() -> TorchVersion | None:
    """The version of the real PyTorch that the program has imported, whose graphs can be seen here; None without one.

    Example:
        >>> from vistorch.torch_version import of_pytorch
        >>> of_pytorch() is None or of_pytorch() > (1, 0)
        True
    """
    found = sys.modules.get("torch")  # vistorch itself, where the alias is on
    there = getattr(found, "__name__", "") == "torch" and hasattr(found, "__version__")
    return TorchVersion(str(getattr(found, "__version__", ""))) if there else None


__version__ = TorchVersion(_own)
