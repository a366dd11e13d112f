"""Making tensors from nothing, from data and by chance."""

from . import basic  # noqa: F401
