"""The arrays of a strict stand-in for cupy (see strict.py): no numpy arrays, and refusing to become one unasked.

Invariant: whatever comes out of one is an array again, a single number too, as in cupy.
"""

import types

import numpy as np

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
        ):  # how a summary is cut out before it crosses to the host (engine/methods/format.py)
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
        key = as_key(key)
        basic = all(k is None or k is ... or isinstance(k, (int, np.integer, slice)) for k in key)
        if basic and ... not in [k for k in key if k is ...]:
            key = (*key, ...)  # a view, for a single element too
        try:
            return cooked(self._a[key])
        except IndexError:
            return cooked(self._a[wrapped(key, self.shape)])

    def __setitem__(self, key, value):
        key, value = as_key(key), raw(value, "ndarray.__setitem__")
        try:
            self._a[key] = value
        except IndexError:
            self._a[wrapped(key, self.shape)] = value


def wrapped(key, shape):
    """Arrays of an index turned round at the end of their dim, as cupy does with what lies outside."""
    return tuple(
        k % n if isinstance(k, np.ndarray) and k.dtype.kind in "iu" else k
        for k, n in zip(key, shape, strict=False)
    )


def as_key(key):
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
        if name == "take":
            given["mode"] = "wrap"
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
