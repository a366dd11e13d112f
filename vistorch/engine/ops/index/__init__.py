"""Reading and writing by index."""

from . import getitem, setitem  # noqa: F401
