"""Reading and writing by index."""

from . import gather, getitem, mask, member, nonzero, put, reduce, scatter, setitem, slices
