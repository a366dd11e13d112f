"""Making tensors from nothing, from data and by chance."""

from ...methods import conversion, copy_pickle, device_holders, device_streams, dlpack, metadata, tensor_kind
from . import (
    asarray,
    constants,
    data,
    fill,
    gamma_draws,
    gamma_gradients,
    like,
    multinomial,
    normal,
    rand,
    randint,
    random_inplace,
    ranges,
    spaced,
)
from .legacy import legacy_new
