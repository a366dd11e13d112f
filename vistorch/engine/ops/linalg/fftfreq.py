"""The frequencies of a transform, and the order they stand in.

Invariant: an `out` of as many elements keeps its shape; any other is resized with PyTorch's warning.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ...base import dtypes, errors
from ...base.dims import fits
from ...core import out_argument
from ...core.graph import version
from ...core.registry import METHODS
from ...core.tensor import Tensor, wrap
from ...core.type_promotion import number
from ...core.views import aliased
from ...memory.placement import place_of
from . import checks


def _frequencies(
    name: str, n: Any, d: Any, dtype: Any, device: Any, requires_grad: bool, out: Any, values: Any
) -> Tensor:
    if n.__class__ is not int:
        raise TypeError(f"fft_{name}(): argument 'n' (position 1) must be int, not {type(n).__name__}")
    fits(n)
    if number(d) is None:
        raise TypeError(f"fft_{name}(): argument 'd' (position 2) must be float, not {type(d).__name__}")
    if out is not None and not isinstance(out, Tensor):
        out_argument.check_out(f"fft_{name}", out)
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
        out_argument.refuse_grad(f"fft_{name}", (out,))
        return _fill(out, t)
    return t if requires_grad is None else t.requires_grad_(requires_grad)


def _fill(out: Tensor, t: Tensor) -> Tensor:
    """Write into an `out` with as many elements, whatever its shape; resize any other, with PyTorch's warning."""
    d, n = out._data, t._data.size
    if aliased(d):
        raise RuntimeError(errors.WRITE_ALIASED)
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
        out_argument.put(out, t._data)
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
