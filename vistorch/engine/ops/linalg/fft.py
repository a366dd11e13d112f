"""Fourier transforms: three rows (complex to complex, real to complex, complex to real) and their public names.

A transform pads or cuts its input first, so a row only ever sees the size it transforms. Invariant: rows take the
dims, the direction and the factor; whatever the norm is called, it is that factor.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np

from ... import dims as _dims
from ... import dtypes, errors, outs
from ...call import HALVES, op
from ...face import METHODS
from ...graph import version
from ...promote import default_float
from ...tensor import Tensor, wrap
from ..core import cast
from . import checks
from .into import COMPLEX_OUT, REAL_OUT, Style, into

COMPLEX = {np.dtype("f4"): np.dtype("c8"), np.dtype("f8"): np.dtype("c16")}


def _c2c(xp, input, dims, scale, forward):
    """Without dims there is nothing to transform."""
    if not dims:
        return xp.array(input)
    run = xp.fft.fftn if forward else xp.fft.ifftn
    out = run(input, axes=dims, norm="backward" if forward else "forward")
    return out if scale == 1 else out * input.dtype.type(scale)


def _r2c(xp, input, dims, scale, onesided):
    run = xp.fft.rfftn if onesided else xp.fft.fftn
    out = run(input, axes=dims)
    return out if scale == 1 else out * out.dtype.type(scale)


def _c2r(xp, input, dims, scale, last):
    s = [input.shape[d] for d in dims[:-1]] + [last]
    out = xp.fft.irfftn(input, s=s, axes=dims, norm="forward")
    return out if scale == 1 else out * out.dtype.type(scale)


def _half_weights(xp, input, dim, last):
    """Twice what a half spectrum stands for twice: all but the first frequency and, for even sizes, the last."""
    out = xp.array(input)
    at = (slice(None),) * dim
    out[(*at, slice(1, (last + 1) // 2))] *= 2
    return out


def _pad_end(xp, input, dim, n):
    """Zeros behind, or a cut, up to size `n`."""
    have = input.shape[dim]
    at = (slice(None),) * dim
    if n <= have:
        return xp.array(input[(*at, slice(0, n))])
    out = xp.zeros((*input.shape[:dim], n, *input.shape[dim + 1 :]), input.dtype)
    out[(*at, slice(0, have))] = input
    return out


def _r2c_gradient(F: Any, g: Any, dims: tuple, scale: float, onesided: bool, shape: tuple) -> Any:
    if onesided:
        g = F.pad_end(g, dims[-1], shape[dims[-1]])
    return F.real_part_of(F.fft_c2c(g, dims, scale, False))


def _c2r_gradient(F: Any, g: Any, dims: tuple, scale: float, last: int) -> Any:
    return F.half_weights(F.fft_r2c(g, dims, scale, True), dims[-1], last)


c2c = op(
    "fft_c2c",
    _c2c,
    holomorphic=False,
    name_in_graph="FftC2CBackward0",
    formula=r"\bar x = \mathcal F^H \bar y",
    input=lambda F, g, dims, scale, forward: F.fft_c2c(g, dims, scale, not forward),
)
r2c = op(
    "fft_r2c",
    _r2c,
    holomorphic=False,
    name_in_graph="FftR2CBackward0",
    formula=r"\bar x = \mathrm{Re}\,\mathcal F^H \bar y",
    input=lambda F, g, dims, scale, onesided, input_shape: _r2c_gradient(
        F, g, dims, scale, onesided, input_shape
    ),
)
c2r = op(
    "fft_c2r",
    _c2r,
    holomorphic=False,
    name_in_graph="FftC2RBackward0",
    formula=r"\bar x_k = w_k (\mathcal F \bar y)_k,\ w_k = 2 \text{ inside the half spectrum}",
    input=lambda F, g, dims, scale, last: _c2r_gradient(F, g, dims, scale, last),
)
op(
    "half_weights",
    _half_weights,
    name_in_graph="MulBackward0",
    formula=r"\bar x = w \bar y",
    input=lambda F, g, dim, last: F.half_weights(g, dim, last),
)
pad_end = op(
    "pad_end",
    _pad_end,
    widen=False,
    name_in_graph="ConstantPadNdBackward0",
    formula=r"\bar x = \mathrm{cut}(\bar y)",
    input=lambda F, g, dim, input_shape: F.pad_end(g, dim, input_shape[dim]),
)
op(
    "real_part_of",
    lambda xp, input: xp.array(input.real),
    holomorphic=False,
    name_in_graph="RealBackward0",
    formula=r"\bar x = \bar y",
    input=lambda F, g: F.to_complex(g),
)
to_complex = op(
    "to_complex",
    lambda xp, input: input.astype(COMPLEX[input.dtype]),
    holomorphic=False,
    name_in_graph="ToCopyBackward0",
    formula=r"\bar x = \mathrm{Re}\,\bar y",
    input=lambda F, g: F.real_part_of(g),
)


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
    if n is None:
        n = t._data.shape[at]
        n = 2 * (n - 1) if half else n
    if n < 1:
        raise RuntimeError(f"Invalid number of data points ({n}) specified")
    return at, n


def _several(name: str, t: Tensor, s: Any, dim: Any, half: bool) -> tuple[tuple, list]:
    """Dims and sizes of a transform of several dims."""
    ndim = t._data.ndim
    s = None if s is None else [s] if s.__class__ is int else list(s)
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


def _frequencies(
    name: str, n: Any, d: Any, dtype: Any, device: Any, requires_grad: bool, out: Any, values: Any
) -> Tensor:
    from ...places import place_of

    if n.__class__ is not int:
        raise TypeError(f"fft_{name}(): argument 'n' (position 1) must be int, not {type(n).__name__}")
    kind = dtypes.get_default_dtype() if dtype is None else dtypes.to_dtype(dtype, f"fft_{name}")
    if out is not None:
        if dtype is not None and out.dtype is not kind:
            raise RuntimeError(
                f"dtype {kind.scalar_name} does not match dtype of out parameter ({out.dtype.scalar_name})"
            )
        kind = out.dtype
    if not (kind.is_floating_point or kind.is_complex):
        raise RuntimeError(f"{name} requires a floating point or complex dtype")
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    if kind.is_complex:
        raise NotImplementedError(f"\"arange_cpu\" not implemented for '{kind.scalar_name}'")
    place = place_of(device)
    steps = values(n)
    with np.errstate(all="ignore"):
        scaled = steps.astype(kind.np) * kind.np.type(np.float64(1) / (np.float64(n) * d))
    t = wrap(place.xp.asarray(scaled.astype(kind.np)), place)
    if out is not None:
        outs.refuse_grad(f"fft_{name}", (out,))
        return _fill(out, t)
    return t.requires_grad_(requires_grad)


def _fill(out: Tensor, t: Tensor) -> Tensor:
    """Write into an `out` with as many elements, whatever its shape; resize any other, with PyTorch's warning."""
    d, n = out._data, t._data.size
    if d.size == n:
        d[...] = t._data.reshape(d.shape)
    else:
        if d.size:
            warnings.warn(
                f"The number of elements in the out tensor of shape {errors.sizes(d.shape)} is {d.size} which does not "
                f"match the computed number of elements {n}. Note that this may occur as a result of rounding error. "
                f"The out tensor will be resized to a tensor of shape ({n},).",
                UserWarning,
                stacklevel=4,
            )
        out._data = t._data
    version(out).n += 1
    return out


def fftfreq(n, d=1.0, *, out=None, dtype=None, layout=None, device=None, requires_grad=False):
    """The frequencies of a transform of size `n`, in the order `fft` has them.

    Args:
        n: the size.
        d: the time between two samples.
        out: where to put the result.
        dtype: the element type.
        layout: accepted.
        device: where the tensor will be.
        requires_grad: whether backward passes compute its gradient.

    Example:
        >>> import vistorch
        >>> vistorch.fft.fftfreq(4)
        tensor([ 0.0000,  0.2500, -0.5000, -0.2500])
    """

    def values(n):
        return np.concatenate([np.arange((n + 1) // 2), np.arange(-(n // 2), 0)])

    return _frequencies("fftfreq", n, d, dtype, device, requires_grad, out, values)


def rfftfreq(n, d=1.0, *, out=None, dtype=None, layout=None, device=None, requires_grad=False):
    """The frequencies of a half spectrum, in the order `rfft` has them.

    Args:
        n: the size of the signal.
        d: the time between two samples.
        out: where to put the result.
        dtype: the element type.
        layout: accepted.
        device: where the tensor will be.
        requires_grad: whether backward passes compute its gradient.

    Example:
        >>> import vistorch
        >>> vistorch.fft.rfftfreq(4)
        tensor([0.0000, 0.2500, 0.5000])
    """
    return _frequencies("rfftfreq", n, d, dtype, device, requires_grad, out, lambda n: np.arange(n // 2 + 1))


def _shift(name: str, input: Any, dim: Any, back: bool) -> Tensor:
    if not isinstance(input, Tensor):
        raise errors.must_be_tensor(f"fft_{name}", "input", 1, input)
    n = input._data.ndim
    given = range(n) if dim is None else dim if isinstance(dim, (tuple, list)) else (dim,)
    at = [checks.dim_of(input, d) for d in given]
    sizes = [input._data.shape[d] for d in at]
    return METHODS["roll"](input, tuple((k + 1) // 2 if back else k // 2 for k in sizes), tuple(at))


def fftshift(input, dim=None):
    """The zero frequency in the middle.

    Args:
        input: a spectrum.
        dim: along which dims; None for all.

    Example:
        >>> import vistorch
        >>> vistorch.fft.fftshift(vistorch.tensor([0, 1, -2, -1]))
        tensor([-2, -1,  0,  1])
    """
    return _shift("fftshift", input, dim, False)


def ifftshift(input, dim=None):
    """The zero frequency in front again: the inverse of `fftshift`.

    Args:
        input: a spectrum.
        dim: along which dims; None for all.

    Example:
        >>> import vistorch
        >>> vistorch.fft.ifftshift(vistorch.tensor([-2, -1, 0, 1]))
        tensor([ 0,  1, -2, -1])
    """
    return _shift("ifftshift", input, dim, True)
