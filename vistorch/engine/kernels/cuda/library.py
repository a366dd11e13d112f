"""cupy as the kernels see it: itself, but for what must be done otherwise while a CUDA graph is captured.

Invariant: without a capture each function here is cupy's own, called with the arguments that were given.
"""

from __future__ import annotations

import types
from math import prod
from typing import Any

import numpy as np

from . import capture, products


class Library(types.ModuleType):
    """cupy with functions of our own over some of its names.

    Args:
        cupy: the module.
    """

    def __init__(self, cupy: Any) -> None:
        super().__init__("cupy")
        self.__dict__.update({name: value for name, value in vars(cupy).items() if name[:2] != "__"})
        self._cupy = cupy
        for name in ("matmul", "dot"):
            setattr(self, name, _product(cupy, name))
        self.vdot, self.tensordot = _vdot(cupy, self.matmul), _tensordot(cupy, self.matmul)
        for name in ("asarray", "array", "ascontiguousarray"):
            setattr(self, name, _maker(cupy, name))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cupy, name)


_kept: list[Library] = []


def array_library(cupy: Any) -> Any:
    """The library over cupy, always the same."""
    if not _kept or _kept[0]._cupy is not cupy:
        _kept[:] = [Library(cupy)]
    return _kept[0]


def _product(cupy: Any, name: str) -> Any:
    plain = getattr(cupy, name)

    def product(a: Any, b: Any, out: Any = None) -> Any:
        if _own(a, b) and (now := capture.current()) is not None:
            flat = name == "matmul" or (a.ndim <= 2 and b.ndim <= 2)
            if flat and a.ndim and b.ndim:
                own = products.handle_of(now.device)
                if own is not None:
                    with own.lock:
                        own.on(int(cupy.cuda.get_current_stream().ptr))
                        return own.matmul(cupy, a, b, out)
        return plain(a, b) if out is None else plain(a, b, out=out)

    product.__name__ = name
    return product


def _own(a: Any, b: Any) -> bool:
    """Whether a product of two arrays goes by our own handle now."""
    if not capture._active or a.dtype != b.dtype or a.dtype.name not in products.TYPES:
        return False
    return capture.current() is not None


def _vdot(cupy: Any, matmul: Any) -> Any:
    def vdot(a: Any, b: Any) -> Any:
        if not _own(a, b):
            return cupy.vdot(a, b)
        return matmul(a.reshape(-1).conj(), b.reshape(-1))

    return vdot


def _tensordot(cupy: Any, matmul: Any) -> Any:
    def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
        if not _own(a, b) or isinstance(axes, int):
            return cupy.tensordot(a, b, axes)
        left, right = [[d % x.ndim for d in given] for x, given in zip((a, b), axes, strict=True)]
        rest = [d for d in range(a.ndim) if d not in left], [d for d in range(b.ndim) if d not in right]
        shape = (*[a.shape[d] for d in rest[0]], *[b.shape[d] for d in rest[1]])
        n = prod([a.shape[d] for d in left])
        rows = a.transpose(*rest[0], *left).reshape(prod(shape[: len(rest[0])]), n)
        columns = b.transpose(*right, *rest[1]).reshape(n, prod(shape[len(rest[0]) :]))
        return matmul(rows, columns).reshape(shape)

    return tensordot


def _maker(cupy: Any, name: str) -> Any:
    """What makes an array of the host's numbers: in a capture it is a constant, copied now, and kept with the graph."""
    plain = getattr(cupy, name)

    def made(a: Any, *args: Any, **kwargs: Any) -> Any:
        if capture._active and isinstance(a, (np.ndarray, np.generic, int, float, complex, list, tuple)):
            now = capture.current()
            if now is not None:
                if now.side is None:
                    now.side = cupy.cuda.Stream(non_blocking=True)
                with now.side:
                    constant = plain(a, *args, **kwargs)
                now.side.synchronize()
                now.constants.append(constant)
                return constant
        return plain(a, *args, **kwargs)

    made.__name__ = name
    return made
