"""Tensors, autograd and a visual debugger that speak PyTorch's language."""

from math import e, inf, nan, pi

from . import autograd, cuda, fft, linalg, random
from ._lazy import __dir__, __getattr__  # what is not needed by everybody is imported when it is asked for
from ._version import __version__
from .engine import ops as _ops
from .engine.backward.anomaly import is_anomaly_check_nan_enabled, is_anomaly_enabled
from .engine.base.device import device, get_default_device, set_default_device
from .engine.base.dtypes import (
    bfloat16,
    bool,
    can_cast,
    cdouble,
    cfloat,
    chalf,
    complex32,
    complex64,
    complex128,
    double,
    dtype,
    float,
    float8_e4m3fn,
    float8_e4m3fnuz,
    float8_e5m2,
    float8_e5m2fnuz,
    float8_e8m0fnu,
    float16,
    float32,
    float64,
    get_default_dtype,
    half,
    int,
    int8,
    int16,
    int32,
    int64,
    long,
    promote_types,
    result_type,
    set_default_dtype,
    short,
    uint8,
    uint16,
    uint32,
    uint64,
)
from .engine.base.finfo import finfo, iinfo
from .engine.base.layout import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    jagged,
    layout,
    legacy_contiguous_format,
    memory_format,
    preserve_format,
    sparse_bsc,
    sparse_bsr,
    sparse_coo,
    sparse_csc,
    sparse_csr,
    strided,
)
from .engine.base.modes import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from .engine.base.size import Size
from .engine.core.registry import FUNCTIONS as _functions
from .engine.core.registry import METHODS as _methods
from .engine.core.registry import bind as _bind
from .engine.core.tensor import Tensor
from .engine.core.tensor import instance_listeners as _instance_listeners
from .engine.methods.format import get_printoptions, printoptions, set_printoptions
from .engine.random.generators import (
    Generator,
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)

_bind()
globals().update(_functions)
# In-place forms that PyTorch has as functions too.
as_strided_, logit_ = _methods["as_strided_"], _methods["logit_"]
newaxis = None
has_lapack, has_mkl, has_openmp, has_spectral = True, False, False, True

from . import utils  # noqa: E402  it is built on everything above
from ._uncaught import begin as _begin  # noqa: E402

_begin()


def _notice(cls: type) -> None:
    """A tensor of a program's own class: it may want to be asked before functions."""
    if cls.__module__.partition(".")[0] != __name__:
        from .overrides import notice

        notice(cls)


_instance_listeners.append(_notice)
