"""Versions that compare with texts and tuples, and which of the two libraries `import torch` gives.

`__version__` is vistorch's. `of_pytorch()` is that of the real PyTorch, where the program has imported it too.

Invariant: asking imports neither library.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable
from typing import Any

from vistorch._version import __version__ as _own
from vistorch.engine.base.namespace import real_torch

__all__ = ["TorchVersion", "of_pytorch"]


_PARTS = re.compile(
    r"v?(?P<release>\d+(\.\d+)*)[-_.]?((?P<kind>a|alpha|b|beta|c|rc)[-_.]?(?P<nr>\d*))?"
    r"([-_.]?post[-_.]?(?P<post>\d+))?([-_.]?dev[-_.]?(?P<dev>\d*))?(\+(?P<local>[a-z0-9.]+))?",
    re.IGNORECASE,
)
_LAST = float("inf")


def _key(value: Any) -> tuple | None:
    """What versions are ordered by; None for what is no version."""
    if not isinstance(value, str) and isinstance(value, Iterable):
        value = ".".join(str(part) for part in value)
    found = _PARTS.fullmatch(str(value).strip())
    if found is None:
        return None
    release = [int(part) for part in found["release"].split(".")]
    while release and release[-1] == 0:
        release.pop()
    kind, post, dev = found["kind"], found["post"], found["dev"]
    if kind is not None:
        before: tuple = (kind[0].lower().replace("c", "r"), int(found["nr"] or 0))
    else:  # a version in the making comes before its first test version
        before = ("",) if dev is not None and post is None else ("z",)
    local = (found["local"] or "").split(".") if found["local"] else []
    return (
        release,
        before,
        -1 if post is None else int(post),
        _LAST if dev is None else int(dev or 0),
        [(int(part), "") if part.isdigit() else (-1, part) for part in local],
    )


def _compared(how: str) -> Any:
    def compare(self: TorchVersion, other: Any) -> Any:
        mine, theirs = _key(str.__str__(self)), _key(other)
        if mine is None or theirs is None:  # a text that is no version is compared as a text
            return getattr(str, how)(self, other)
        return getattr(operator, how)(mine, theirs)

    compare.__name__ = how
    return compare


class TorchVersion(str):
    """A version number that can be compared with texts and tuples.

    Example:
        >>> from vistorch.torch_version import TorchVersion
        >>> TorchVersion("2.13.0+vistorch") >= (2, 9), TorchVersion("2.13.0") > "2.9"
        (True, True)
    """

    __slots__ = ()
    __hash__ = str.__hash__
    __gt__, __lt__, __eq__ = _compared("__gt__"), _compared("__lt__"), _compared("__eq__")
    __ge__, __le__, __ne__ = _compared("__ge__"), _compared("__le__"), _compared("__ne__")


def of_pytorch() -> TorchVersion | None:
    """The version of the real PyTorch that the program has imported, whose graphs can be seen here; None without one.

    Example:
        >>> from vistorch.torch_version import of_pytorch
        >>> of_pytorch() is None or of_pytorch() > (1, 0)
        True
    """
    found = real_torch()
    return None if found is None else TorchVersion(str(found.__version__))


__version__ = TorchVersion(_own)
