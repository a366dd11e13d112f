"""Masked tensors: named, not built.

Invariant: importing it is allowed; using a name of it says so in one sentence.
"""

from typing import Any

from .compat.said import unbuilt

WHY = "use a mask with `where` or `masked_fill`."
FUNCTIONS = """
    amax amin argmax argmin as_masked_tensor cumprod cumsum log_softmax logaddexp logsumexp
    masked_tensor mean median norm normalize prod softmax softmin std sum var
"""
CLASSES = """
    MaskedTensor
"""
globals().update(unbuilt("vistorch.masked", WHY, FUNCTIONS, classes=CLASSES))


def is_masked_tensor(obj: Any, /) -> bool:
    """False: there are none.

    Example:
        >>> import vistorch
        >>> vistorch.masked.is_masked_tensor(vistorch.ones(2))
        False
    """
    return False
