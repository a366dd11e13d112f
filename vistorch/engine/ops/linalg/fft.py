"""Fourier transforms under their public names: which rows, dims, sizes and factor each stands for.

Invariant: a transform pads or cuts its input first, so a row only ever sees the size it transforms.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np

from ...base import dims as _dims
from ...base import errors
from ...base.casting import casting
from ...core.base_ops import cast
from ...core.op_factory import HALVES
from ...core.registry import METHODS
from ...core.tensor import Tensor
from ...core.type_promotion import default_float
from . import checks
from .fft_rows import c2c, c2r, pad_end, r2c, to_complex
from .out_types import COMPLEX_OUT, REAL_OUT, Style, into


def _input(name: str, t: Any, kind: str) -> Tensor:
    """The tensor in a type that can be transformed; `kind` is "real", "complex" or "any"."""
    if not isinstance(t, Tensor):
        raise errors.must_be_tensor(f"fft_{name}", "input", 1, t)
    dt = t._data.dtype
    if dt.kind == "c":
        if kind == "real":
            shown = checks.scalar(t)
            if name in ("rfft", "ihfft"):
                raise RuntimeError(f"{name} expects a real input tensor, but got {shown}")
            if name in ("rfft2", "rfftn"):
                raise RuntimeError(f"rfftn expects a real-valued input tensor, but got {shown}")
            raise RuntimeError(f"Only supports floating-point dtypes, but found: {shown}")
        return t
    if dt in HALVES:
        raise RuntimeError(f"Unsupported dtype {checks.scalar(t)}")
    return t if dt.kind == "f" else cast(t, default_float())


def _complexed(t: Tensor) -> Tensor:
    return t if t._data.dtype.kind == "c" else to_complex(t)


def _one_dim(name: str, t: Tensor, n: Any, dim: Any, half: bool) -> tuple[int, int]:
    """Dim and size of a transform of one dim; for `half`, the size of the real side."""
    if n is not None and n.__class__ is not int:
        raise TypeError(f"fft_{name}(): argument 'n' (position 2) must be int, not {type(n).__name__}")
    if t._data.ndim == 0:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    at = _dims.one(dim, t._data.ndim)
    n = None if n is None else _dims.fits(n)
    if n is None:
        n = t._data.shape[at]
        n = 2 * (n - 1) if half else n
    if n < 1:
        raise RuntimeError(f"Invalid number of data points ({n}) specified")
    return at, n


def _several(name: str, t: Tensor, s: Any, dim: Any, half: bool) -> tuple[tuple, list]:
    """Dims and sizes of a transform of several dims."""
    ndim = t._data.ndim
    if s is not None:
        s = _dims.sequence((s,) if s.__class__ is int else s, f"fft_{name}", "s", 2)
    dim = None if dim is None else [dim] if dim.__class__ is int else list(dim)
    if dim is not None and ndim == 0 and dim:
        raise IndexError(f"Dimension specified as {dim[0]} but tensor has no dimensions")
    at = None if dim is None else [_dims.one(d, ndim) for d in dim]
    if at is not None and len(set(at)) != len(at):
        raise RuntimeError("FFT dims must be unique")
    if s is not None:
        if at is not None and len(at) != len(s):
            raise RuntimeError("When given, dim and shape arguments must have the same length")
        if len(s) > ndim:
            raise RuntimeError(f"Got shape with {len(s)} values but input tensor only has {ndim} dimensions.")
        if at is None:
            at = list(range(ndim - len(s), ndim))
    elif at is None:
        at = list(range(ndim))
    have = t._data.shape
    sizes = (
        [have[d] for d in at]
        if s is None
        else [have[d] if n == -1 else n for d, n in zip(at, s, strict=True)]
    )
    if half and at and (s is None or s[-1] == -1):
        sizes[-1] = 2 * (have[at[-1]] - 1)
    for n in sizes:
        if n < 1:
            raise RuntimeError(f"Invalid number of data points ({n}) specified")
    return tuple(at), sizes


def _sized(t: Tensor, dims: Any, sizes: Any) -> Tensor:
    for d, n in zip(dims, sizes, strict=True):
        if t._data.shape[d] != n:
            _dims.check_memory((*t._data.shape[:d], n, *t._data.shape[d + 1 :]), t._data.itemsize)
            t = pad_end(t, d, n)
    return t


def _scale(norm: Any, sizes: Any, forward: bool) -> float:
    """The factor a norm stands for."""
    n = 1
    for k in sizes:
        n *= k
    if norm == "ortho":
        return 1 / sqrt(n)
    if norm in (None, "backward"):
        return 1.0 if forward else 1 / n
    if norm == "forward":
        return 1 / n if forward else 1.0
    raise RuntimeError(f'Invalid normalization mode: "{norm}"')


def _conj(t: Tensor) -> Tensor:
    return METHODS["conj"](t)


def _transform(name: str, t: Tensor, dims: tuple, sizes: list, norm: Any) -> Tensor:
    """Any of the transforms, by what its name says."""
    base = name.rstrip("2n") or name
    inverse = base[0] == "i"
    kind = base.lstrip("i")
    if kind == "fft":
        scale = _scale(norm, sizes, not inverse)
        if name in ("fft", "ifft") and t._data.dtype.kind != "c":
            out = r2c(_sized(t, dims, sizes), dims, scale, False)
            return _conj(out) if inverse else out
        return c2c(_sized(_complexed(t), dims, sizes), dims, scale, not inverse)
    # rfft and ihfft start from real numbers, irfft and hfft end at them
    if base in ("rfft", "ihfft"):
        t = _sized(t, dims, sizes)
        scale = _scale(norm, sizes, not inverse)
        if not inverse:
            return r2c(t, dims, scale, True)
        if len(dims) == 1:
            return _conj(r2c(t, dims, scale, True))
        half = _conj(r2c(t, dims[-1:], scale, True))
        return c2c(half, dims[:-1], 1.0, False)
    scale = _scale(norm, sizes, not inverse)
    t = _sized(_complexed(t), dims, [*sizes[:-1], sizes[-1] // 2 + 1])
    if not inverse and len(dims) > 1:
        t = c2c(t, dims[:-1], 1.0, True)
        return c2r(_conj(t), dims[-1:], scale, sizes[-1])
    return c2r(t if inverse else _conj(t), dims, scale, sizes[-1])


def _kind(name: str) -> str:
    base = name.rstrip("2n")
    return "real" if base in ("rfft", "ihfft") else "any"


def _into(name: str, out: Any, input: Any, fn: Callable) -> Tensor:
    """A transform into `out`: any complex type takes a complex result, any floating type a real one."""
    real = name.rstrip("2n") in ("irfft", "hfft")
    many = name[-1] in "2n"
    dt = input._data.dtype if isinstance(input, Tensor) else None
    said = "fftn" if name in ("ifft2", "ifftn") else name[:-1] + "n" if many else name
    if isinstance(out, Tensor) and out._data.dtype.kind != ("f" if real else "c"):
        style = Style(_row_of(name, dt), (REAL_OUT if real else COMPLEX_OUT).format(said))
    elif dt is not None and dt.kind != "c" and name in ("ifft", "ihfft"):
        # a conjugate is copied into `out`, which must then have its very type
        style = Style(None, "Found dtype {got} but expected {want}")
    else:
        style = Style(_row_of(name, dt), "", None)
        if dt is not None and dt.kind in "biu" and isinstance(out, Tensor) and out._data.dtype.itemsize == 16:
            input = cast(input, np.dtype("f8"))
    return into(out, style, (input,), fn, input)


def _row_of(name: str, dt: Any) -> str:
    """The transform that refuses gradients."""
    base = name.rstrip("2n")
    if base in ("irfft", "hfft"):
        return "_fft_c2r"
    half = base in ("rfft", "ihfft") or (base == name and dt is not None and dt.kind != "c")
    return "_fft_r2c" if half else "_fft_c2c"


def _one(name: str) -> Callable:
    """A transform of one dim."""
    half = name in ("irfft", "hfft")

    def call(input, n=None, dim=-1, norm=None, *, out=None):
        if casting.on and (recast := casting.ask(call, locals())):
            return recast[0]
        if out is not None:
            return _into(name, out, input, lambda t: call(t, n, dim, norm))
        t = _input(name, input, _kind(name))
        at, n = _one_dim(name, t, n, dim, half)
        return _transform(name, t, (at,), [n], norm)

    return _described(call, name, "n", "the size along `dim`; the input is padded with zeros or cut to it.")


def _many(name: str) -> Callable:
    """A transform of several dims."""
    half = name.rstrip("2n") in ("irfft", "hfft")
    default = (-2, -1) if name.endswith("2") else None

    def call(input, s=None, dim=default, norm=None, *, out=None):
        if casting.on and (recast := casting.ask(call, locals())):
            return recast[0]
        if out is not None:
            return _into(name, out, input, lambda t: call(t, s, dim, norm))
        if not isinstance(input, Tensor):
            raise errors.must_be_tensor(f"fft_{name}", "input", 1, input)
        if _kind(name) == "real" and input._data.dtype.kind == "c":
            _input(name, input, "real")
        dims, sizes = _several(name, input, s, dim, half)
        t = _input(name, input, _kind(name))
        if not dims and name.rstrip("2n").lstrip("i") != "fft":
            raise RuntimeError(f"{name.rstrip('2n')}n must transform at least one axis")
        return _transform(name, t, dims, sizes, norm)

    return _described(
        call, name, "s", "the sizes along `dim`; the input is padded with zeros or cut to them."
    )


WHAT = {
    "fft": "The discrete Fourier transform",
    "ifft": "The inverse discrete Fourier transform",
    "rfft": "The discrete Fourier transform of real numbers: half of the spectrum, the other half being its conjugate",
    "irfft": "The real numbers whose half spectrum is given: the inverse of `rfft`",
    "hfft": "The real spectrum of a signal of which half is given, the other half being its conjugate",
    "ihfft": "Half of the signal whose spectrum is real: the inverse of `hfft`",
}


def _described(call: Any, name: str, size: str, size_text: str) -> Any:
    base = name.rstrip("2n")
    over = ", over two dims" if name.endswith("2") else ", over several dims" if name.endswith("n") else ""
    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"""{WHAT[base]}{over}.

    Args:
        input: a tensor.
        {size}: {size_text}
        dim: what is transformed.
        norm: "forward" (the factor 1/n goes with the forward transform), "backward" or "ortho" (1/sqrt(n) with both).
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.fft.{name}(vistorch.ones({"2, 2" if over else "4"})).shape
        vistorch.Size({list(_example(name, base, bool(over)))})
    """
    return call


def _example(name: str, base: str, several: bool) -> tuple:
    n = 2 if several else 4
    last = n // 2 + 1 if base in ("rfft", "ihfft") else 2 * (n - 1) if base in ("irfft", "hfft") else n
    return (n, last) if several else (last,)


ONE = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
TRANSFORMS = {
    **{name: _one(name) for name in ONE},
    **{name + end: _many(name + end) for name in ONE for end in "2n"},
}
