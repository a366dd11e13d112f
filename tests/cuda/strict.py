"""A cupy made of numpy that is as strict as the real one: an op that would fail on a GPU for its names fails here.

Arrays are no numpy arrays, refuse to mix with them or to become one unasked, take no keyword cupy does not take, and
every result is an array, 0-d ones too. The namespace holds exactly the names in `names.txt`.
Invariant: nothing here computes anything but by numpy, so it proves calls, never kernels, numerics or speed.
"""

import math
import types
from pathlib import Path

import numpy as np

from tests.cuda.strict_array import Array, as_key, cooked, raw
from vistorch.engine.kernels import special as kernels

NAMES = Path(__file__).with_name("names.txt")
MAKERS = frozenset(("array", "asarray", "ascontiguousarray"))  # the ways from numpy to the device
# What cupy.add.at adds; other integers and halves are refused.
ATOMIC = frozenset("float16 float32 float64 complex64 complex128 int32 uint32 uint64".split())
NOT_ARRAYS = (np.dtype, type, int, float, complex, str, bool, type(None))


class Ufunc:
    """`cupy.ufunc`: arrays and numbers only; few of them accumulate, few dtypes can be added at places."""

    def __init__(self, function):
        self.function, self.__name__, self.name = function, function.__name__, f"cupy_{function.__name__}"
        self.nin, self.nout = function.nin, function.nout

    def __call__(self, *args, **kwargs):
        if set(kwargs) - {"out", "dtype", "casting"}:
            raise TypeError(f"cupy.{self.__name__} got {kwargs}")
        kwargs = {k: raw(v, self.__name__) for k, v in kwargs.items()}
        return cooked(self.function(*[raw(a, self.__name__) for a in args], **kwargs))

    def at(self, a, indices, b=None):
        if self.__name__ == "add" and a.dtype.name not in ATOMIC:
            raise TypeError(f"cupy.add.at does not support {a.dtype}")
        if self.__name__ not in (
            "add",
            "subtract",
            "maximum",
            "minimum",
            "bitwise_and",
            "bitwise_or",
            "bitwise_xor",
        ):
            raise NotImplementedError(f"`{self.name}.at` is not supported yet")
        self.function.at(a._a, as_key(indices), raw(b, self.__name__))

    def accumulate(self, array, axis=0, dtype=None, out=None):
        if self.__name__ not in ("add", "multiply"):
            raise NotImplementedError(f"`{self.name}.accumulate` is not supported yet")
        return cooked(self.function.accumulate(raw(array, self.__name__), axis, dtype))

    def reduce(self, array, axis=0, dtype=None, out=None, keepdims=False):
        if self.__name__ not in ("add", "multiply"):
            raise NotImplementedError(f"`{self.name}.reduce` is not supported yet")
        return cooked(self.function.reduce(raw(array, self.__name__), axis, dtype, None, keepdims))


def _function(name, function, keywords):
    short = name.rpartition(".")[2]
    arrays_first = {"searchsorted": 2, "take": 2, "take_along_axis": 2, "where": 1, "lexsort": 1, "sort": 1}

    def call(*args, **kwargs):
        if set(kwargs) - keywords - {"out"}:
            raise TypeError(f"cupy.{name} is not known to take {set(kwargs) - keywords}: see names.txt")
        for a in args[: arrays_first.get(short, 0)]:
            if not isinstance(a, (Array, np.generic)):
                raise TypeError(f"cupy.{name} needs a cupy array, not {type(a)}")
        if short in MAKERS:
            return _made(short, *args, **kwargs)
        lists = short in ("concatenate", "stack", "result_type", "broadcast_arrays", "tensordot", "append")
        out = function(*[raw(a, name, lists) for a in args], **{k: raw(v, name) for k, v in kwargs.items()})
        return cooked(out)

    call.__name__ = short
    return call


def _made(name, obj, dtype=None, copy=True, order="K", subok=False, ndmin=0, *, blocking=False):
    if name == "asarray":
        if isinstance(obj, Array) and (dtype is None or np.dtype(dtype) == obj.dtype):
            return obj
        order = "K"
    if name == "ascontiguousarray":
        if isinstance(obj, Array) and obj._a.flags.c_contiguous:
            return obj
        order = "C"
    order = "K" if order is None else order
    values = obj._a if isinstance(obj, Array) else obj
    if isinstance(values, (list, tuple)):
        values = [v._a if isinstance(v, Array) else v for v in values]
    return Array.around(np.array(values, dtype, order=order, ndmin=ndmin))


def read_names(path=NAMES):
    """The names in the list with the keywords they are called with."""
    lines = [line.split() for line in path.read_text().splitlines() if line and line[0] != "#"]
    return {name: set(keywords) for name, *keywords in lines}


def fill(cupy):
    """Put the names of the list into a module that stands in for cupy."""
    cupy.ndarray = Array
    Array.runtime = cupy.cuda.runtime
    for name, keywords in read_names().items():
        if name[0] == "." or name.startswith("cuda.") or name in ("ndarray", "asnumpy"):
            continue
        rest = name.split(".")
        here, real = cupy, np
        for part in rest[:-1]:
            real = getattr(real, part)
            if isinstance(real, np.ufunc):
                break
            if not hasattr(here, part):
                setattr(here, part, types.SimpleNamespace())
            here = getattr(here, part)
        if isinstance(real, np.ufunc) and real is not np:
            continue  # add.at: part of the ufunc
        value = getattr(real, rest[-1])
        if isinstance(value, np.ufunc):
            value = Ufunc(value)
        elif callable(value) and not isinstance(value, type) and not isinstance(value, NOT_ARRAYS):
            value = _function(name, value, keywords)
        elif name == "broadcast":
            value = _broadcast
        elif name == "ogrid":
            value = _Grid()
        setattr(here, rest[-1], value)
    cupy.ElementwiseKernel = Elementwise
    cupy.asnumpy = lambda a, stream=None, order="C", out=None, blocking=True: a.get(order=order)
    cupy.array = lambda *args, **kwargs: _made("array", *args, **kwargs)
    cupy.asarray = lambda *args, **kwargs: _made("asarray", *args, **kwargs)
    return cupy


FUSED = {
    "sigmoid": lambda v: 1 / (1 + np.exp(-v)),
    "log_sigmoid": lambda v: -np.logaddexp(0, -v),
    "softplus": lambda v, beta, threshold: np.where(
        v * beta > threshold, v, np.log1p(np.exp(v * beta)) / beta
    ),
    "silu": lambda v: v / (1 + np.exp(-v)),
    "mish": lambda v: v * np.tanh(np.logaddexp(0, v)),
    "gelu": lambda v: 0.5 * v * (1 + np.vectorize(math.erf, "d")(v * math.sqrt(0.5))),
    "gelu_tanh": lambda v: 0.5 * v * (1 + np.tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v**3))),
}


class Elementwise:
    """`cupy.ElementwiseKernel`: what it computes is compiled elsewhere, so here its meaning stands for it."""

    def __init__(self, inputs, outputs, operation, name, preamble=""):
        self.name = name.removeprefix("vistorch_")
        self.count = inputs.count(",")
        self.meaning = FUSED[self.name]

    def __call__(self, x, *scalars):
        assert x.dtype.kind == "f", "the real one does not compile for other types"
        assert len(scalars) == self.count
        with np.errstate(all="ignore"):
            return cooked(np.asarray(self.meaning(raw(x, self.name).astype("f8"), *scalars), x.dtype))


def special(module):
    """Put the special functions the kernels use into a module that stands in for cupyx.scipy.special."""

    def own(function):
        return lambda x: cooked(function(np, raw(x, function.__name__)))

    def zeta(s, x):
        n = int(s) - 1
        scale = (-1.0) ** (n + 1) * math.factorial(n)
        return cooked((kernels.polygamma(np, n, raw(x, "zeta")) / scale).astype(x.dtype))

    for name in ("erf", "erfc", "erfinv", "digamma"):
        setattr(module, name, own(getattr(kernels, name)))
    module.gammaln, module.zeta = own(kernels.lgamma), zeta


def _broadcast(*arrays):
    return np.broadcast(*[raw(a, "broadcast") for a in arrays])


class _Grid:
    def __getitem__(self, key):
        return cooked(np.ogrid[key])
