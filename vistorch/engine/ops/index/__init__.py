"""Reading and writing by index."""

from . import gather, getitem, mask, put, reduce, setitem  # noqa: F401
