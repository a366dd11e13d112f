"""Reading and writing by index."""

from . import gather, getitem, mask, nonzero, put, reduce, scatter, setitem, slices
