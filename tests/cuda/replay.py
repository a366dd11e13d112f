"""Stream capture for the strict stand-in: calls are put on a tape instead of being run, and a graph runs its tape.

What writes into memory is not run while it is captured, as on a device; what makes a new array is, for its shape, and
its values are spoilt. Invariant: a replay runs the calls of the tape in their order, on the memory they had.
"""

import ctypes
import functools

import ml_dtypes
import numpy as np

from tests.cuda import emulator, strict, strict_array
from tests.cuda.strict_array import Array

WRITES = ("__setitem__", "fill", "sort", "partition", "set")


class Tape:
    """What is captured now, and what reached the host meanwhile."""

    def __init__(self):
        self.calls, self.depth = None, 0

    def wrap(self, owner, name, writes):
        """Put calls of a method or function on the tape."""
        plain = getattr(owner, name)

        @functools.wraps(plain)
        def run(*args, **kwargs):
            if self.calls is None or self.depth:
                return plain(*args, **kwargs)
            into = args[0] if writes else kwargs.get("out")
            if into is not None:
                self.calls.append((plain, args, kwargs, None))
                return into
            self.depth += 1
            try:
                made = plain(*args, **kwargs)
            finally:
                self.depth -= 1
            self.calls.append((plain, args, kwargs, made))
            spoil(made, args)
            return made

        return run

    def begin(self):
        """Capture from now on."""
        assert self.calls is None
        self.calls = []

    def end(self):
        """The graph of what was captured."""
        calls, self.calls = self.calls, None
        return Graph(self, calls)


def own(made, args):
    """Whether a result is memory of its own."""
    return isinstance(made, Array) and not any(
        np.may_share_memory(made._a, a._a) for a in args if isinstance(a, Array)
    )


def spoil(made, args):
    """A captured kernel has not run: nothing may depend on what it will compute."""
    for one in made if isinstance(made, (tuple, list)) else (made,):
        if own(one, args) and one._a.dtype.kind == "f" and one._a.flags.writeable:
            one._a[...] = np.nan


class Graph:
    """`cupy.cuda.Graph`."""

    graph, graphExec = 17, 18

    def __init__(self, tape, calls):
        self.tape, self.calls, self.launches = tape, calls, []

    def launch(self, stream=None):
        self.launches.append(stream)
        for plain, args, kwargs, made in self.calls:
            again = plain(*args, **kwargs)
            pairs = zip(made, again, strict=True) if isinstance(made, (tuple, list)) else ((made, again),)
            for before, now in pairs:
                if isinstance(before, Array) and before is not now:
                    before._a[...] = now._a

    def debug_dot_str(self):
        return "digraph {}"


TYPES = {0: "f4", 1: "f8", 2: "f2", 4: "c8", 5: "c16", 14: ml_dtypes.bfloat16}


class Cublas:
    """cuBLAS's library: products of matrices in column-major order at addresses of memory."""

    def __init__(self):
        self.log, self.computes = [], []

    def cublasCreate_v2(self, handle):
        self.log.append("create")
        return 0

    def cublasSetStream_v2(self, handle, stream):
        self.log.append(("stream", stream.value or 0))
        return 0

    def cublasSetWorkspace_v2(self, handle, address, size):
        assert address.value and size.value
        self.log.append("workspace")
        return 0

    def cublasSetPointerMode_v2(self, handle, mode):
        return 0

    def cublasGemmStridedBatchedEx(self, handle, *args):
        self.run(*args)
        return 0

    def run(
        self,
        ta,
        tb,
        m,
        n,
        k,
        alpha,
        A,
        at,
        lda,
        sa,
        B,
        bt,
        ldb,
        sb,
        beta,
        C,
        ct,
        ldc,
        sc,
        count,
        compute,
        algo,
    ):
        self.computes.append(compute)
        assert ldc >= m and lda >= (k if ta else m) and ldb >= (n if tb else k)
        for i in range(count):
            a = matrix(A, TYPES[at], i * sa.value, lda, k if ta else m, m if ta else k)
            b = matrix(B, TYPES[bt], i * sb.value, ldb, n if tb else k, k if tb else n)
            c = matrix(C, TYPES[ct], i * sc.value, ldc, m, n)
            if np.dtype(TYPES[at]).itemsize == 2:  # added up in float32
                a, b = a.astype("f4"), b.astype("f4")
            c[...] = (a.T if ta else a) @ (b.T if tb else b)
        return 0


def matrix(address, dtype, offset, step, rows, columns):
    """A column-major matrix at an address."""
    size = np.dtype(dtype).itemsize
    length = (step * (columns - 1) + rows) * size
    memory = (ctypes.c_char * length).from_address(address.value + offset * size)
    return np.ndarray((rows, columns), dtype, memory, 0, (size, step * size))


def install(monkeypatch, cupy):
    """Let streams of the stand-in capture; the tape."""
    tape = Tape()
    for name in vars(Array):
        value = getattr(Array, name)
        if not callable(value) or name in ("around", "__init__", "__class__", "get", "item", "tolist"):
            continue
        writes = name in WRITES or (
            name.startswith("__i") and name not in ("__int__", "__iter__", "__invert__")
        )
        if (
            name in strict_array.METHODS
            or writes
            or name in ("reshape", "transpose", "__getitem__")
            or (name[:2] == "__" and name[2:-2].lstrip("ri") in ARITHMETIC)
        ):
            monkeypatch.setattr(Array, name, tape.wrap(Array, name, writes))
    for cls, name, writes in (
        (strict.Ufunc, "__call__", False),
        (strict.Ufunc, "at", True),
        (strict.Ufunc, "accumulate", False),
        (strict.Ufunc, "reduce", False),
        (strict.Elementwise, "__call__", False),
        (emulator.Function, "__call__", True),
    ):
        monkeypatch.setattr(cls, name, tape.wrap(cls, name, writes))
    for name, value in list(vars(cupy).items()):
        if name in ("array", "asarray") or getattr(value, "__qualname__", "").startswith("_function."):
            setattr(cupy, name, tape.wrap(cupy, name, False))
    blas = Cublas()
    blas.run = tape.wrap(blas, "run", True)

    def refuse(plain):
        def read(self, *args, **kwargs):
            assert tape.calls is None, "cudaErrorStreamCaptureUnsupported: the stream is capturing"
            return plain(self, *args, **kwargs)

        return read

    for name in ("get", "item", "tolist", "__bool__", "__int__", "__float__"):
        monkeypatch.setattr(Array, name, refuse(getattr(Array, name)))

    def unsupported(plain):
        """Cupy's own products of floats: they ask its handle of cuBLAS."""

        @functools.wraps(plain)
        def product(*args, **kwargs):
            floats = any(isinstance(a, Array) and a.dtype.kind in "fcV" for a in args)
            if floats and tape.calls is not None and not tape.depth:
                raise NotImplementedError("calling cuBLAS API during stream capture is currently unsupported")
            return plain(*args, **kwargs)

        return product

    for name in ("__matmul__", "__rmatmul__", "dot"):
        monkeypatch.setattr(Array, name, unsupported(getattr(Array, name)))
    for name in ("matmul", "dot", "tensordot", "vdot"):
        setattr(cupy, name, unsupported(getattr(cupy, name)))
    stream = cupy.cuda.Stream
    stream.begin_capture = lambda self, mode=None: tape.begin()
    stream.end_capture = lambda self: tape.end()
    stream.__enter__ = lambda self: setattr(tape, "depth", tape.depth + 1)
    stream.__exit__ = lambda self, *exc: setattr(tape, "depth", tape.depth - 1)
    cupy.cuda.runtime.streamCaptureModeRelaxed = 2
    return tape, blas


ARITHMETIC = set("add sub mul truediv floordiv mod pow matmul and or xor lshift rshift divmod".split()) | set(
    "lt le gt ge eq ne neg pos abs invert".split()
)
