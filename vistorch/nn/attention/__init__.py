"""Which way scaled dot-product attention may take.

Invariant: there are two ways here, one fused row (FLASH_ATTENTION) and the composition (MATH); the names of PyTorch's
other kernels are accepted and stand for nothing.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from ...engine.ops.attention import ways

__all__ = ["SDPBackend", "sdpa_kernel"]


class SDPBackend(enum.Enum):
    """The kernels of scaled dot-product attention.

    Example:
        >>> from vistorch.nn.attention import SDPBackend
        >>> SDPBackend.MATH
        <SDPBackend.MATH: 0>
    """

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4

    def __int__(self) -> int:
        return self.value


@contextmanager
def sdpa_kernel(backends: Iterable[SDPBackend] | SDPBackend, set_priority: bool = False) -> Iterator[None]:
    """Allow these kernels only, inside the `with` block.

    Args:
        backends: one kernel, or several.
        set_priority: accepted; the fused kernel is always asked first.

    Example:
        >>> import vistorch
        >>> from vistorch.nn.attention import SDPBackend, sdpa_kernel
        >>> x = vistorch.ones(1, 1, 2, 2, requires_grad=True)
        >>> with sdpa_kernel(SDPBackend.MATH):
        ...     vistorch.nn.functional.scaled_dot_product_attention(x, x, x).grad_fn.name()
        'UnsafeViewBackward0'
    """
    if isinstance(backends, SDPBackend):
        backends = [backends]
    elif not isinstance(backends, (list, tuple)):
        raise AssertionError(
            "Backend must be an instance of SDPBackend or a list of SDPBackend instances, got "
            f"{type(backends).__name__}"
        )
    before = ways.fused, ways.math
    ways.fused, ways.math = SDPBackend.FLASH_ATTENTION in backends, SDPBackend.MATH in backends
    try:
        yield
    finally:
        ways.fused, ways.math = before
