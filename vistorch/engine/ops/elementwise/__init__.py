"""Pointwise ops."""

from . import arithmetic  # noqa: F401
