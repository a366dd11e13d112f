"""A cupy made of numpy that is as strict as the real one: an op that would fail on a GPU for its names fails here.

Arrays are no numpy arrays, refuse to mix with them or to become one unasked, take no keyword cupy does not take, and
every result is an array, 0-d ones too. The namespace holds exactly the names in `names.txt`.
Invariant: nothing here computes anything but by numpy, so it proves calls, never kernels, numerics or speed.
"""

import math
import types
from pathlib import Path

import numpy as np

from vistorch.engine.kernels import special as kernels

NAMES = Path(__file__).with_name("names.txt")
METHODS = {  # cupy.ndarray's methods with cupy's arguments, in order
    "all": "axis out keepdims",
    "any": "axis out keepdims",
    "argmax": "axis out dtype keepdims",
    "argmin": "axis out dtype keepdims",
    "argsort": "axis kind",
    "astype": "dtype order casting subok copy",
    "clip": "min max out",
    "compress": "condition axis out",
    "conj": "",
    "conjugate": "",
    "copy": "order",
    "cumprod": "axis dtype out",
    "cumsum": "axis dtype out",
    "diagonal": "offset axis1 axis2",
    "dot": "b out",
    "fill": "value",
    "flatten": "order",
    "max": "axis out keepdims",
    "mean": "axis dtype out keepdims",
    "min": "axis out keepdims",
    "nonzero": "",
    "partition": "kth axis",
    "prod": "axis dtype out keepdims",
    "ravel": "order",
    "repeat": "repeats axis",
    "sort": "axis kind",
    "squeeze": "axis",
    "std": "axis dtype out ddof keepdims",
    "sum": "axis dtype out keepdims",
    "swapaxes": "axis1 axis2",
    "take": "indices axis out",
    "trace": "offset axis1 axis2 dtype out",
    "var": "axis dtype out ddof keepdims",
    "view": "dtype",
}
MAKERS = frozenset(("array", "asarray", "ascontiguousarray"))  # the ways from numpy to the device
# What cupy.add.at adds; other integers and halves are refused.
ATOMIC = frozenset("float16 float32 float64 complex64 complex128 int32 uint32 uint64".split())
NOT_ARRAYS = (np.dtype, type, int, float, complex, str, bool, type(None))


def raw(value, where, lists=False):
    """The numpy array in a stand-in, scalars as they are; whatever cupy refuses is refused."""
    if isinstance(value, Array):
        return value._a
    if isinstance(value, np.ndarray):
        raise TypeError(f"cupy.{where}: Unsupported type <class 'numpy.ndarray'>")
    if isinstance(value, (list, tuple)) and any(isinstance(v, (Array, np.ndarray)) for v in value):
        if not lists:
            raise TypeError(f"cupy.{where}: Unsupported type {type(value)}")
        return type(value)(raw(v, where, True) for v in value)
    return value


def cooked(value):
    """A numpy result as cupy returns it: arrays, also for single numbers, in tuples too."""
    if isinstance(value, (np.ndarray, np.generic)):
        return Array.around(np.asarray(value))
    if isinstance(value, (list, tuple)) and any(isinstance(v, (np.ndarray, np.generic)) for v in value):
        parts = [cooked(v) for v in value]
        return parts if isinstance(value, list) else tuple(parts)
    return value


class Flags:
    """What cupy knows of an array's memory; nothing is ever locked."""

    def __init__(self, flags):
        self.c_contiguous, self.f_contiguous, self.owndata = (
            flags.c_contiguous,
            flags.f_contiguous,
            flags.owndata,
        )
        self.forc = flags.forc


class Pointer:
    """Device memory: a stretch of bytes and an offset."""

    device_id = 0

    def __init__(self, array):
        owner = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        if not (owner.flags.c_contiguous or owner.flags.f_contiguous):
            raise NotImplementedError("the stand-in knows only memory that one array owns whole")
        self.owner = owner if owner.flags.c_contiguous else owner.T
        self.offset = array.__array_interface__["data"][0] - owner.__array_interface__["data"][0]

    @property
    def ptr(self):
        return self.owner.__array_interface__["data"][0] + self.offset

    def __add__(self, n):
        other = object.__new__(Pointer)
        other.owner, other.offset = self.owner, self.offset + n
        return other


class Array:
    """`cupy.ndarray`."""

    __module__ = "cupy"
    __slots__ = ("__weakref__", "_a", "_base", "_id")
    __array_priority__ = 100
    __hash__ = None
    runtime = None

    def __init__(self, shape, dtype=float, memptr=None, strides=None, order="C"):
        if memptr is None:
            self._a = np.zeros(shape, dtype, order)
        else:
            self._a = np.ndarray(shape, dtype, memptr.owner, memptr.offset, strides)
        self._base, self._id = None, 0

    @classmethod
    def around(cls, a):
        self = object.__new__(cls)
        self._a, self._base = a, None
        self._id = cls.runtime.device if cls.runtime else 0
        return self

    # ---- refusing numpy ---------------------------------------------------------------------------------------
    def __array__(self, *_, **__):
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`.")

    def __array_function__(self, func, types, args, kwargs):
        if (
            func is np.concatenate
        ):  # how a summary is cut out before it crosses to the host (engine/format.py)
            return cooked(func([raw(a, "concatenate") for a in args[0]], *args[1:], **kwargs))
        raise TypeError(f"numpy.{func.__name__} was called with a cupy array")

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        # a numpy number as the left operand comes here, and cupy takes it
        if method == "__call__" and isinstance(inputs[0], np.generic) and not kwargs:
            return cooked(ufunc(*[raw(x, ufunc.__name__) for x in inputs]))
        raise TypeError(f"numpy.{ufunc.__name__} was called with a cupy array")

    # ---- metadata ---------------------------------------------------------------------------------------------
    shape = property(lambda self: self._a.shape, lambda self, value: setattr(self._a, "shape", value))
    dtype = property(lambda self: self._a.dtype)
    ndim = property(lambda self: self._a.ndim)
    size = property(lambda self: self._a.size)
    itemsize = property(lambda self: self._a.itemsize)
    nbytes = property(lambda self: self._a.nbytes)
    strides = property(lambda self: self._a.strides)
    flags = property(lambda self: Flags(self._a.flags))
    T = property(lambda self: cooked(self._a.T))
    real = property(
        lambda self: cooked(self._a.real), lambda self, v: setattr(self._a, "real", raw(v, "real"))
    )
    imag = property(
        lambda self: cooked(self._a.imag), lambda self, v: setattr(self._a, "imag", raw(v, "imag"))
    )
    data = property(lambda self: Pointer(self._a))
    device = property(lambda self: types.SimpleNamespace(id=self._id))

    @property
    def base(self):
        return cooked(self._a.base) if isinstance(self._a.base, np.ndarray) else None

    @property
    def __cuda_array_interface__(self):
        return {**self._a.__array_interface__, "version": 3}

    # ---- Python -----------------------------------------------------------------------------------------------
    def __len__(self):
        return len(self._a)

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __bool__(self):
        return bool(self._a)

    def __int__(self):
        return int(self._a)

    def __float__(self):
        return float(self._a)

    def __complex__(self):
        return complex(self._a)

    def __repr__(self):
        return repr(self._a)

    def item(self):
        return self._a.item()

    def tolist(self):
        return self._a.tolist()

    def get(self, stream=None, order="C", out=None, blocking=True):
        return np.array(self._a, order=order)

    def reshape(self, *shape, order="C", copy=None):
        shape = shape[0] if len(shape) == 1 else shape
        return cooked(self._a.reshape(shape, order=order))

    def transpose(self, *axes):
        return cooked(self._a.transpose(*axes))

    def __getitem__(self, key):
        key = _key(key)
        basic = all(k is None or k is ... or isinstance(k, (int, np.integer, slice)) for k in key)
        if basic and ... not in [k for k in key if k is ...]:
            key = (*key, ...)  # a view, for a single element too
        return cooked(self._a[key])

    def __setitem__(self, key, value):
        self._a[_key(key)] = raw(value, "ndarray.__setitem__")


def _key(key):
    """An index as numpy takes it; cupy's arrays are no integers for a slice, and host arrays would be copied over."""
    parts = key if isinstance(key, tuple) else (key,)
    out = []
    for k in parts:
        if isinstance(k, np.ndarray):
            raise TypeError("a numpy array as an index of a cupy array")
        if isinstance(k, slice) and any(isinstance(x, Array) for x in (k.start, k.stop, k.step)):
            raise TypeError("slice indices must be integers or None or have an __index__ method")
        out.append(k._a if isinstance(k, Array) else k)
    return tuple(out)


def _method(name, arguments):
    names = arguments.split()

    def method(self, *args, **kwargs):
        given = dict(zip(names, args, strict=False))
        if len(args) > len(names) or (set(given) & set(kwargs)) or set(kwargs) - set(names):
            raise TypeError(f"cupy.ndarray.{name}() takes ({', '.join(names)}), not {args} {kwargs}")
        given.update(kwargs)
        if name in ("sort", "partition") and not self._a.flags.c_contiguous:
            raise ValueError("Sorting non-contiguous array is not supported.")
        if name == "astype" and given.get("copy") is False and np.dtype(given["dtype"]) == self.dtype:
            return self
        given = {k: v for k, v in given.items() if not (k in ("casting", "subok") and v is None)}
        if name == "diagonal":  # numpy's is locked
            out = self._a.diagonal(**given)
            out.flags.writeable = self._a.flags.writeable
            return cooked(out)
        if name in ("dot", "fill", "partition", "swapaxes"):  # numpy knows these by position only
            return cooked(getattr(self._a, name)(*[raw(given[n], name) for n in names if n in given]))
        return cooked(getattr(self._a, name)(**{k: raw(v, name) for k, v in given.items()}))

    method.__name__ = name
    return method


for _name, _arguments in METHODS.items():
    setattr(Array, _name, _method(_name, _arguments))


def _operator(name):
    def operate(self, *others):
        for other in others:
            if not isinstance(other, (Array, int, float, complex, bool, np.generic)):
                if isinstance(other, np.ndarray):
                    raise TypeError(f"cupy {name}: Unsupported type <class 'numpy.ndarray'>")
                return NotImplemented
        result = getattr(self._a, name)(*[raw(o, name) for o in others])
        if name[2] == "i" and name not in ("__invert__",):
            return self if result is not NotImplemented else result
        return cooked(result)

    operate.__name__ = name
    return operate


for _name in "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift divmod".split():
    for _form in (f"__{_name}__", f"__r{_name}__", f"__i{_name}__"):
        if hasattr(np.ndarray, _form):
            setattr(Array, _form, _operator(_form))
for _name in "lt le gt ge eq ne neg pos abs invert".split():
    setattr(Array, f"__{_name}__", _operator(f"__{_name}__"))


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
        self.function.at(a._a, _key(indices), raw(b, self.__name__))

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


class Elementwise:
    """`cupy.ElementwiseKernel`: what it computes is compiled elsewhere, so here only sigmoid is known."""

    def __init__(self, inputs, outputs, operation, name, preamble=""):
        assert name == "vistorch_sigmoid", name

    def __call__(self, x):
        assert x.dtype.kind == "f", "the real one does not compile for other types"
        with np.errstate(over="ignore"):
            return cooked((1 / (1 + np.exp(-raw(x, "sigmoid")))).astype(x.dtype))


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
