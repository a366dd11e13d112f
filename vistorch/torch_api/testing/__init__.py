"""What tests of programs use: comparing numbers, and making them."""

from .close import assert_allclose, assert_close
from .make import make_tensor

__all__ = ["assert_allclose", "assert_close", "make_tensor"]
