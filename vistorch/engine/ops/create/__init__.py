"""Making tensors from nothing, from data and by chance."""

from ...methods import conversion, copy_pickle, dlpack, metadata, tensor_kind
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
