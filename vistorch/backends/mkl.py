"""MKL: numpy brings its own BLAS."""

from typing import Any

VERBOSE_OFF, VERBOSE_ON = 0, 1


def is_available() -> bool:
    """False: which BLAS there is, is numpy's affair (`numpy.show_config()`)."""
    return False


class verbose:
    """Accepted as a `with` block; prints nothing."""

    def __init__(self, enable: int) -> None:
        self.enable = enable

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *exc: object) -> None:
        pass
