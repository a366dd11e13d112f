"""MKL: numpy brings its own BLAS."""

from typing import Any

VERBOSE_OFF, VERBOSE_ON = 0, 1


def is_available() -> bool:
    """False: which BLAS there is, is numpy's affair (`numpy.show_config()`).

    Example:
        >>> import vistorch
        >>> vistorch.backends.mkl.is_available()
        False
    """
    return False


class verbose:
    """Accepted as a `with` block; prints nothing.

    Example:
        >>> import vistorch
        >>> with vistorch.backends.mkl.verbose(vistorch.backends.mkl.VERBOSE_ON):
        ...     vistorch.eye(2) @ vistorch.ones(2)
        tensor([1., 1.])
    """

    def __init__(self, enable: int) -> None:
        self.enable = enable

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *exc: object) -> None:
        pass
