"""Making tensors from nothing, from data and by chance."""

from ... import copying, dlpack, interop, metadata
from . import chance, data, fill, fills, ranges, shared, weighted, writers
from .legacy import legacy_new
