"""Products by a cuBLAS handle of our own: of half types, and all that are captured, which cupy's handle refuses.

Invariant: a handle has a workspace of its own for each stream before a capture on it begins, so that cuBLAS allocates
nothing and no two streams share one; a product of types that cuBLAS does not know is cupy's, which needs no cuBLAS for
them.
"""

from __future__ import annotations

import ctypes
import threading
from math import prod
from typing import Any

import numpy as np

from .settings import settings

WORKSPACE = 32 << 20  # what NVIDIA recommends for its newest cards
_HOST, _DEFAULT = 0, -1  # where alpha and beta are; which algorithm
# numpy's name: cudaDataType, cublasComputeType, the type of alpha and beta
TYPES = {
    "float16": (2, 68, np.float32),
    "bfloat16": (14, 68, np.float32),
    "float32": (0, 68, np.float32),
    "float64": (1, 70, np.float64),
    "complex64": (4, 68, np.complex64),
    "complex128": (5, 70, np.complex128),
}
FAST_TF32 = 77
_INT = 2**31 - 1  # what an argument of cuBLAS's older names holds
_STATUS = {
    1: "not initialised",
    3: "no memory",
    7: "an argument is wrong",
    8: "not for this GPU",
    13: "it failed on the GPU",
}


def _same(n: int) -> int:
    return n


def find() -> Any:
    """The library, which cupy has loaded already."""
    import cupy  # pyright: ignore[reportMissingImports]

    major = cupy.cuda.runtime.runtimeGetVersion() // 1000
    names = [f"libcublas.so.{major}", "libcublas.so", f"cublas64_{major}.dll"]
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise RuntimeError(
        f"cuBLAS was not found for captured products: none of {', '.join(names)} can be loaded"
    )


class Products:
    """A handle of one device, with its workspace.

    Args:
        library: cuBLAS.
        workspace: an array of the device, which the handle works in.
    """

    def __init__(self, library: Any, workspace: Any) -> None:
        self.library, self.workspace = library, workspace
        self.spaces: dict[int, Any] = {}  # by stream
        self.lock = threading.Lock()  # from the choice of a stream to the product on it
        self.handle = ctypes.c_void_p()
        check(library.cublasCreate_v2(ctypes.byref(self.handle)), "cublasCreate")

    def on(self, stream: int) -> None:
        """Work on a stream from now on; choosing it takes the workspace away, so that is given again."""
        space = self.spaces.get(stream)
        if space is None:  # the first stream's is there already
            first = self.workspace
            space = self.spaces[stream] = first.copy() if self.spaces else first
        check(self.library.cublasSetStream_v2(self.handle, ctypes.c_void_p(stream)), "cublasSetStream")
        given = ctypes.c_void_p(int(space.data.ptr)), ctypes.c_size_t(int(space.nbytes))
        check(self.library.cublasSetWorkspace_v2(self.handle, *given), "cublasSetWorkspace")
        check(self.library.cublasSetPointerMode_v2(self.handle, _HOST), "cublasSetPointerMode")

    def matmul(self, xp: Any, a: Any, b: Any, out: Any = None, dtype: Any = None) -> Any:
        """`a @ b` as numpy defines it.

        Args:
            xp: the array library.
            a: an array.
            b: another of its type.
            out: where the product goes; made if None.
            dtype: the type of the product; that of half types may be float32.
        """
        dtype = a.dtype if dtype is None else dtype
        left, right = a.ndim == 1, b.ndim == 1
        a = a[None, :] if left else a
        b = b[:, None] if right else b
        batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        m, k, n = a.shape[-2], a.shape[-1], b.shape[-1]
        if b.shape[-2] != k:
            raise ValueError(f"matmul: shapes {a.shape} and {b.shape} do not fit: {k} is not {b.shape[-2]}")
        shape = (*batch, m, n)
        direct = out is not None and out.flags.c_contiguous and out.dtype == dtype and out.shape == shape
        made: Any = out if direct else xp.empty(shape, dtype)
        if k and made.size:
            given = TYPES[a.dtype.name][0]
            self._gemm(_Side(xp, a, batch), _Side(xp, b, batch), made, m, n, k, prod(batch), given)
        elif made.size:
            made.fill(0)
        if left:
            made = made[..., 0, :]
        if right:
            made = made[..., 0]
        if out is not None and not direct:
            out[...] = made
            return out
        return made

    def _gemm(self, a: _Side, b: _Side, out: Any, m: int, n: int, k: int, count: int, given: int) -> None:
        """Rows of ours are columns of cuBLAS's: what it computes is `out.T = b.T @ a.T`; `given` is their type."""
        kind, compute, scalar = TYPES[out.dtype.name]
        if out.dtype.name == "float32" and given == kind and settings.precision != "highest":
            compute = FAST_TF32
        one, nothing = np.ones(1, scalar), np.zeros(1, scalar)
        wide = ctypes.c_longlong
        name, size = "cublasGemmStridedBatchedEx", _same
        if max(m, n, k, a.step, b.step, count) > _INT:
            name, size = f"{name}_64", wide
            if not hasattr(self.library, name):
                raise RuntimeError(
                    f"this cuBLAS, older than 12, cannot compute a product of more than {_INT} rows, columns or steps"
                )
        check(
            getattr(self.library, name)(
                *(self.handle, b.turned, a.turned, size(n), size(m), size(k)),
                *(
                    ctypes.c_void_p(one.ctypes.data),
                    ctypes.c_void_p(b.address),
                    given,
                    size(b.step),
                    wide(b.apart),
                ),
                *(ctypes.c_void_p(a.address), given, size(a.step), wide(a.apart)),
                ctypes.c_void_p(nothing.ctypes.data),
                *(ctypes.c_void_p(int(out.data.ptr)), kind, size(n), wide(m * n)),
                *(size(count), compute, _DEFAULT),
            ),
            name,
        )


class _Side:
    """An operand as cuBLAS takes it: its address, whether it lies turned, its leading dimension, matrices apart."""

    __slots__ = ("address", "apart", "array", "step", "turned")

    def __init__(self, xp: Any, x: Any, batch: tuple) -> None:
        found = self._laid(x, batch)
        if found is None:
            x = xp.ascontiguousarray(xp.broadcast_to(x, (*batch, *x.shape[-2:])))
            found = self._laid(x, batch)
        assert found is not None, "a contiguous array is laid out as cuBLAS takes it"
        self.array = x  # alive until the call
        self.address = int(x.data.ptr)
        self.turned, self.step, self.apart = found

    @staticmethod
    def _laid(x: Any, batch: tuple) -> tuple[int, int, int] | None:
        size = x.itemsize
        rows, columns = x.shape[-2:]
        down, across = x.strides[-2:]
        if (across == size or columns == 1) and (down >= columns * size or rows == 1) and down % size == 0:
            turned, step = 0, max(down // size, columns) if rows > 1 else columns
        elif (down == size or rows == 1) and across >= rows * size and across % size == 0:
            turned, step = 1, across // size
        else:
            return None
        shape = (1,) * (len(batch) - x.ndim + 2) + tuple(x.shape[:-2])
        strides = (0,) * (len(batch) - x.ndim + 2) + tuple(x.strides[:-2])
        apart: int | None = None  # the batch must be walked through in equal steps
        expected = None
        for n, whole, stride in zip(reversed(shape), reversed(batch), reversed(strides), strict=True):
            if whole == 1:
                continue
            stride = 0 if n == 1 else stride
            if expected is None:
                apart = stride
            elif stride != expected:
                return None
            expected = stride * whole
        apart = apart or 0
        return None if apart % size else (turned, step, apart // size)


_handles: dict[int, Products] = {}
_missing: set[int] = set()  # devices for which there is no cuBLAS


def prepare(xp: Any, device: int) -> Products:
    """The handle of the current device, made with its workspace if it is not there yet."""
    found = _handles.get(device)
    if found is None:
        found = _handles[device] = Products(find(), xp.empty(WORKSPACE, np.uint8))
    return found


def found(xp: Any, device: int) -> Products | None:
    """The handle of the current device; None where cuBLAS is not found."""
    if device in _missing:
        return None
    try:
        return prepare(xp, device)
    except RuntimeError:
        _missing.add(device)
        return None


def handle_of(device: int) -> Products | None:
    """The handle of a device, if it is prepared."""
    return _handles.get(device)


def check(status: int, what: str) -> None:
    """Raise what cuBLAS answered, unless all is well."""
    if status:
        raise RuntimeError(f"{what} answered {status}: {_STATUS.get(status, 'see cublasStatus_t')}")
