"""Making tensors from nothing, from data and by chance."""

from ... import interop, metadata
from . import chance, data, fill, fills, ranges, weighted, writers
from .legacy import legacy_new
