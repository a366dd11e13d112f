"""Whether layers of attention may take a shorter way: remembered, since there is one way here.

Invariant: what is set is read back.
"""

from __future__ import annotations

_fastpath = [True]


def get_fastpath_enabled() -> bool:
    """What was set.

    Example:
        >>> import vistorch
        >>> vistorch.backends.mha.get_fastpath_enabled()
        True
    """
    return _fastpath[0]


def set_fastpath_enabled(value: bool) -> None:
    """Remembered: a layer computes the same either way.

    Args:
        value: whether.

    Example:
        >>> import vistorch
        >>> vistorch.backends.mha.set_fastpath_enabled(False)
        >>> vistorch.backends.mha.get_fastpath_enabled()
        False
        >>> vistorch.backends.mha.set_fastpath_enabled(True)
    """
    _fastpath[0] = value
