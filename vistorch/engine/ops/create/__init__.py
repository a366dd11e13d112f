"""Making tensors from nothing, from data and by chance."""

from ... import interop
from . import chance, data, fills, ranges
from .legacy import legacy_new
