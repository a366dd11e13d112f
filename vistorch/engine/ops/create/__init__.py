"""Making tensors from nothing, from data and by chance."""

from ... import copying, dlpack, interop, metadata, sorts
from . import (
    chance,
    data,
    fill,
    fills,
    like,
    normal,
    ranges,
    shared,
    spaced,
    weighted,
    whole,
    writers,
)
from .legacy import legacy_new
