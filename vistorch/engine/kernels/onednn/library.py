"""Finding and opening oneDNN 3, and its C functions with their signatures.

The functions and numbers used here are the same in all versions from 3.0 on; 2 is another interface and is refused.
Invariant: a library that is not what it should be is refused with one sentence, before it is asked to compute.
"""

from __future__ import annotations

import ctypes as C
import os
import site
import sys
from typing import Any

import numpy as np

VARIABLE = "VISTORCH_ONEDNN"
OFF = ("0", "off", "no", "false")
HOW = "pip install vistorch[fast] brings it"

P, I64, INT, F32 = C.c_void_p, C.c_int64, C.c_int, C.c_float
_TYPES = {"i": INT, "o": P, "f": F32, "d": P}
# What `dnnl_<name>_primitive_desc_create` takes after (result, engine): i int, o object, f float, d dims.
_MAKERS = {
    "batch_normalization_backward": "iooofioo",
    "batch_normalization_forward": "ioofio",
    "binary": "ioooo",
    "convolution_backward_data": "ioooddddoo",
    "convolution_backward_weights": "iooooddddoo",
    "convolution_forward": "iiooooddddo",
    "eltwise_backward": "ioooffoo",
    "eltwise_forward": "iiooffo",
    "layer_normalization_backward": "ioooofioo",
    "layer_normalization_forward": "iooofio",
    "lstm_backward": "ii" + "o" * 22 + "ioo",
    "lstm_forward": "ii" + "o" * 11 + "io",
    "matmul": "ooooo",
    "pooling_backward": "ioodddddoo",
    "pooling_forward": "iioodddddo",
    "softmax_backward": "ioooioo",
    "softmax_forward": "iiooio",
}
_OTHERS = {
    "engine_create": (P, INT, C.c_size_t),
    "memory_create": (P, P, P, P),
    "memory_desc_clone": (P, P),
    "memory_desc_create_with_strides": (P, INT, P, INT, P),
    "memory_desc_create_with_tag": (P, INT, P, INT, INT),
    "memory_desc_destroy": (P,),
    "memory_destroy": (P,),
    "post_ops_append_binary": (P, INT, P),
    "post_ops_append_eltwise": (P, INT, F32, F32),
    "post_ops_append_sum": (P, F32, C.c_int32, INT),
    "post_ops_create": (P,),
    "post_ops_destroy": (P,),
    "primitive_attr_create": (P,),
    "primitive_attr_destroy": (P,),
    "primitive_attr_set_post_ops": (P, P),
    "primitive_create": (P, P),
    "primitive_desc_destroy": (P,),
    "primitive_desc_query": (P, INT, INT, P),
    "primitive_destroy": (P,),
    "reorder_primitive_desc_create": (P, P, P, P, P, P),
    "sgemm": (C.c_char, C.c_char, I64, I64, I64, F32, P, I64, P, I64, F32, P, I64),
    "stream_create": (P, P, C.c_uint),
}
_AVX2 = 0x7
_F32, _SRC, _DST, _INFERENCE, _RELU = 3, 1, 17, 96, 0x20  # what the first question is made of
_RUNTIMES = {1: "no threads", 2: "OpenMP"}


class Unavailable(Exception):
    """Why oneDNN is not used, as one sentence."""


class Refused(Exception):
    """oneDNN has no kernel for this shape: numpy's is taken."""


class Argument(C.Structure):
    """One argument of a primitive: what it is, and the memory object."""

    _fields_ = (("argument", INT), ("memory", P))


class _Version(C.Structure):
    _fields_ = (
        ("major", INT),
        ("minor", INT),
        ("patch", INT),
        ("hash", C.c_char_p),
        ("runtime", C.c_uint),
        ("gpu", C.c_uint),
    )


class Library:
    """An opened oneDNN: its functions, one engine, one stream.

    Args:
        path: the file, or the name under which the system knows it.
    """

    def __init__(self, path: str) -> None:
        try:
            self.c, held = C.CDLL(path), C.PyDLL(path)
        except OSError as exc:
            raise Unavailable(f"{path} cannot be loaded as a library: {exc}") from None
        self.path = path
        try:
            self._sign(held)
        except AttributeError as exc:
            raise Unavailable(f"{path} is no oneDNN 3: {exc}") from None
        self.engine = self.made("engine_create", 1, 0)
        self.stream = self.made("stream_create", self.engine, 1)
        self.shared = False  # whether several threads have computed in this process
        self.limit: int | None = None  # in a forked child of a process where they have
        self._try()

    def _sign(self, held: Any) -> None:
        c = self.c
        c.dnnl_version.restype = C.POINTER(_Version)
        found = c.dnnl_version().contents
        self.version = f"{found.major}.{found.minor}.{found.patch}"
        if found.major != 3:
            raise Unavailable(f"{self.path} is oneDNN {self.version}, and version 3 is needed")
        if found.runtime not in _RUNTIMES:
            raise Unavailable(f"{self.path} is a oneDNN whose threads are not OpenMP's")
        self.isa = c.dnnl_get_effective_cpu_isa()
        if self.isa & _AVX2 != _AVX2 or self.isa < 0:
            raise Unavailable(
                f"oneDNN finds no AVX2 in this processor (its number for it is {self.isa:#x}), "
                "and without it numpy is faster"
            )
        for name, types in _MAKERS.items():
            f = getattr(c, f"dnnl_{name}_primitive_desc_create")
            f.argtypes, f.restype = [P, P, *[_TYPES[t] for t in types]], INT
        for name, types in _OTHERS.items():
            f = getattr(c, f"dnnl_{name}")
            f.argtypes, f.restype = types, INT
        c.dnnl_memory_desc_get_size.argtypes, c.dnnl_memory_desc_get_size.restype = [P], C.c_size_t
        c.dnnl_memory_desc_equal.argtypes, c.dnnl_memory_desc_equal.restype = [P, P], INT
        c.dnnl_primitive_desc_query_md.argtypes = [P, INT, INT]
        c.dnnl_primitive_desc_query_md.restype = P
        # These two are called each time: as prototypes they are 60 ns faster, and the first keeps the GIL.
        self.handle: Any = C.PYFUNCTYPE(INT, P, P)(("dnnl_memory_set_data_handle", held))
        self.execute: Any = C.CFUNCTYPE(INT, P, P, INT, P)(("dnnl_primitive_execute", c))
        self.sgemm: Any = c.dnnl_sgemm
        self.omp: Any = getattr(held, "omp_set_num_threads", None) if found.runtime == 2 else None
        self.omp_now: Any = getattr(held, "omp_get_max_threads", None)
        if found.runtime == 2 and (self.omp is None or self.omp_now is None):
            raise Unavailable(f"{self.path} does not show OpenMP's omp_set_num_threads")

    def _try(self) -> None:
        """One relu: a library that answers wrongly is not used.

        A product would be the stricter question, but the first one generates code for milliseconds, and a program
        may never ask for another.
        """
        given = np.arange(-8, 8, dtype="f4")
        out = np.full_like(given, -1)
        md = self.made("memory_desc_create_with_strides", 1, dims((given.size,)), _F32, dims((1,)))
        pd = self.described("eltwise_forward", _INFERENCE, _RELU, md, md, 0.0, 0.0, None)
        primitive = self.made("primitive_create", pd)
        memories = [self.made("memory_create", md, self.engine, a.ctypes.data) for a in (given, out)]
        pairs = (Argument * 2)(Argument(_SRC, memories[0]), Argument(_DST, memories[1]))
        was = self.enter(1)
        status = self.execute(primitive, self.stream, 2, C.addressof(pairs))
        self.leave(was, 1)
        for kind, at in (("memory", memories[0]), ("memory", memories[1]), ("primitive", primitive)):
            getattr(self.c, f"dnnl_{kind}_destroy")(at)
        self.c.dnnl_primitive_desc_destroy(pd)
        self.c.dnnl_memory_desc_destroy(md)
        if status or not (out == np.maximum(given, 0)).all():
            raise Unavailable(f"{self.path} computes a small relu wrongly")

    def made(self, name: str, *args: Any) -> int:
        """The object that a function puts into its first argument."""
        out = P()
        if getattr(self.c, "dnnl_" + name)(C.byref(out), *args):
            raise Refused(name)
        return out.value or 0

    def described(self, name: str, *args: Any) -> int:
        """The description of a primitive; a tuple of ints is passed as dims."""
        ready = [dims(a) if a.__class__ is tuple else a for a in args]
        return self.made(name + "_primitive_desc_create", self.engine, *ready)

    def enter(self, threads: int) -> int:
        """Let this thread's next call run on so many threads of OpenMP; returns what to `leave` with.

        The number belongs to the thread, and to every other user of OpenMP in it: it is put back after each call.
        """
        if self.omp is None:
            return threads
        was = self.omp_now()
        if was != threads:
            self.omp(threads)
        if threads > 1:
            self.shared = True
        return was

    def leave(self, was: int, threads: int) -> None:
        """Put back what OpenMP had before."""
        if was != threads:
            self.omp(was)

    def allowed(self, threads: int) -> int:
        """The number of threads that may be used of those that are wanted."""
        if self.omp is None:
            return 1
        return threads if self.limit is None else min(threads, self.limit)

    def forked(self) -> None:
        """In a child: OpenMP would wait for threads that it has not; without any so far, it can start its own."""
        if self.shared:
            self.limit = 1
        if self.omp is not None:
            self.omp(1)


def dims(values: tuple) -> Any:
    """A tuple of ints as the C interface takes it."""
    return (I64 * len(values))(*values)


def _file_names() -> tuple[str, ...]:
    if sys.platform == "darwin":
        return ("libdnnl.3.dylib",)
    return ("dnnl.dll",) if sys.platform == "win32" else ("libdnnl.so.3",)


def candidates() -> list[str]:
    """Where the library may be, in the order they are tried: the environment, the system."""
    named = os.environ.get(VARIABLE, "").strip()
    if named:
        return [named]
    folders = [os.path.join(prefix, "lib") for prefix in dict.fromkeys((sys.prefix, sys.exec_prefix))]
    if sys.platform == "win32":
        folders.append(os.path.join(sys.prefix, "Library", "bin"))
    if site.ENABLE_USER_SITE:
        folders.append(os.path.join(site.getuserbase(), "lib"))
    paths = [os.path.join(folder, name) for folder in folders for name in _file_names()]
    return [p for p in paths if os.path.exists(p)] + list(_file_names())


def opened() -> Library:
    """A library that is found and fit; raises `Unavailable`."""
    if os.environ.get(VARIABLE, "").strip().lower() in OFF:
        raise Unavailable(f"{VARIABLE} switches it off")
    paths = candidates()
    why: list[Unavailable] = []
    for path in paths:
        try:
            return Library(path)
        except Unavailable as exc:
            why.append(exc)
        except Refused as exc:
            why.append(Unavailable(f"{path} does not begin: {exc}"))
    if len(why) == 1 and not os.environ.get(VARIABLE, "").strip():
        raise (
            Unavailable(f"no oneDNN is installed ({HOW})")
            if "no such file" in str(why[0]).lower()
            else why[0]
        )
    raise why[0]
