"""Images resized, sampled along a grid, and shuffled.

Invariant: what PyTorch refuses in Python is refused here, what its kernels refuse is refused beside ours.
"""

from __future__ import annotations

import warnings
from operator import index
from typing import Any

from ...engine.base import dims as _dims
from ...engine.base.casting import casting
from ...engine.core.registry import FUNCTIONS
from ...engine.core.tensor import Tensor
from ...engine.ops.image.upsample import grown
from ...engine.ops.image.upsample import upsample as _resize
from . import pooling

__all__ = [
    "affine_grid",
    "channel_shuffle",
    "grid_sample",
    "interpolate",
    "native_channel_shuffle",
    "pixel_shuffle",
    "pixel_unshuffle",
    "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]

GRID_SAMPLE_INTERPOLATION_MODES = {"bilinear": 0, "nearest": 1, "bicubic": 2}
GRID_SAMPLE_PADDING_MODES = {"zeros": 0, "border": 1, "reflection": 2}
_PLAIN = ("nearest", "area", "nearest-exact")
_DIMS = {"linear": 3, "bilinear": 4, "trilinear": 5}
_ALIGN = (
    "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please specify "
    "align_corners=True if the old behavior is desired. See the documentation of grid_sample for details."
)

channel_shuffle = FUNCTIONS["channel_shuffle"]
native_channel_shuffle = FUNCTIONS["native_channel_shuffle"]
pixel_shuffle = FUNCTIONS["pixel_shuffle"]
pixel_unshuffle = FUNCTIONS["pixel_unshuffle"]


def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Make an image smaller or larger.

    Args:
        input: (N, C, L), (N, C, H, W) or (N, C, D, H, W).
        size: the new size of the spatial dims.
        scale_factor: by how much they grow, instead of `size`.
        mode: "nearest", "nearest-exact", "linear", "bilinear", "bicubic", "trilinear", "area" or "lanczos".
        align_corners: whether the outermost elements of input and output fall together.
        recompute_scale_factor: whether to compute with the factor that the rounded sizes have.
        antialias: whether no element is passed over when making smaller ("bilinear", "bicubic", "lanczos").

    Shape:
        (N, C, *spatial) to (N, C, *size).

    Example:
        >>> import vistorch
        >>> x = vistorch.tensor([[[0., 4.]]])
        >>> vistorch.nn.functional.interpolate(x, scale_factor=2, mode="linear")
        tensor([[[0., 1., 3., 4.]]])
    """
    if casting.on and (recast := casting.ask(interpolate, locals())):
        return recast[0]
    if mode in _PLAIN:
        if align_corners is not None:
            raise ValueError(
                "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | "
                "trilinear"
            )
    elif align_corners is None:
        align_corners = False
    ndim = input.dim()
    size, factors = _sizes(input, size, scale_factor)
    if recompute_scale_factor and factors is None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    if factors is not None and (recompute_scale_factor or mode == "area"):
        size, factors = grown(input._data.shape[2:], factors), None
    if antialias and not (mode in ("bilinear", "bicubic", "lanczos") and ndim == 4):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor as input"
        )
    if mode == "area" and ndim in (3, 4, 5):
        return getattr(pooling, f"adaptive_avg_pool{ndim - 2}d")(input, size)
    how = _how(mode, ndim, antialias)
    if how == "lanczos smooth" and align_corners:
        raise ValueError("Lanczos mode does not support align_corners=True")
    corners = align_corners is not None and _dims.flag(align_corners, "interpolate", "align_corners")
    return _resize(input, how, size, factors, corners)


def _sizes(input: Tensor, size: Any, factor: Any) -> tuple:
    """The sizes and the factors, one of them None, one number for each spatial dim."""
    if size is not None and factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is None and factor is None:
        raise ValueError("either size or scale_factor should be defined")
    spatial = input._data.shape[2:]
    given: Any = size if factor is None else factor
    if isinstance(given, (tuple, list)) and len(given) != max(input.dim() - 2, 0):
        first, second, name = (
            ("output", "output size of", "output size in (o1, o2, ...,oK)")
            if factor is None
            else ("scale_factor", "scale_factor of shape", "scale_factor in (s1, s2, ...,sK)")
        )
        raise ValueError(
            f"Input and {first} must have the same number of spatial dimensions, but got input with spatial "
            f"dimensions of {list(spatial)} and {second} {given}. Please provide input tensor in "
            f"(N, C, d1, d2, ...,dK) format and {name} format."
        )
    if isinstance(given, (tuple, list)):
        if factor is None and not all(_is_whole(n) for n in given):
            raise TypeError(
                "expected size to be one of int or Tuple[int] or Tuple[int, int] or Tuple[int, int, int], but got "
                f"size with types {[type(n) for n in given]}"
            )
        given = tuple(given)
    else:
        given = (given,) * len(spatial)
    if factor is None:
        if not all(_is_whole(n) for n in given):
            raise TypeError("interpolate(): argument 'size' must be an int or a tuple of ints")
        return tuple([index(n) for n in given]), None
    if not all(isinstance(f, (int, float)) or hasattr(f, "__float__") for f in given):
        raise TypeError("interpolate(): argument 'scale_factor' must be a float or a tuple of floats")
    return None, tuple([float(f) for f in given])


def _is_whole(n: Any) -> bool:
    try:
        index(n)
    except TypeError:
        return False
    return not isinstance(n, bool)


def _how(mode: str, ndim: int, antialias: bool) -> str:
    """The kernel's name for a mode."""
    if ndim in (3, 4, 5) and isinstance(mode, str):
        if mode in ("nearest", "nearest-exact"):
            return mode
        wanted = _DIMS.get(mode)
        if wanted == ndim:
            return "linear smooth" if antialias else "linear"
        if wanted is not None:
            raise NotImplementedError(f"Got {ndim}D input, but {mode} mode needs {wanted}D input")
        if mode == "bicubic" and ndim == 4:
            return "cubic smooth" if antialias else "cubic"
        if mode == "lanczos" and ndim == 4:
            if not antialias:
                raise ValueError("Lanczos mode requires antialias=True")
            return "lanczos smooth"
    raise NotImplementedError(
        f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {ndim}D) for the modes: nearest | linear | "
        f"bilinear | bicubic | trilinear | lanczos | area | nearest-exact (got {mode})"
    )


def _deprecated(name: str) -> None:
    warnings.warn(
        f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=3
    )


def upsample(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """The old name of `interpolate`.

    Args:
        input: the image.
        size: the new size.
        scale_factor: by how much it grows, instead of `size`.
        mode: see `interpolate`.
        align_corners: see `interpolate`.

    Example:
        >>> import vistorch, warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     vistorch.nn.functional.upsample(vistorch.tensor([[[1.0, 2.0]]]), scale_factor=2)
        tensor([[[1., 1., 2., 2.]]])
    """
    if casting.on and (recast := casting.ask(upsample, locals())):
        return recast[0]
    _deprecated("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """The old name of `interpolate` with mode "nearest".

    Args:
        input: the image.
        size: the new size.
        scale_factor: by how much it grows, instead of `size`.

    Example:
        >>> import vistorch, warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     vistorch.nn.functional.upsample_nearest(vistorch.tensor([[[1.0, 2.0]]]), scale_factor=2)
        tensor([[[1., 1., 2., 2.]]])
    """
    _deprecated("upsample_nearest")
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """The old name of `interpolate` with mode "bilinear" and aligned corners.

    Args:
        input: the image.
        size: the new size.
        scale_factor: by how much it grows, instead of `size`.

    Example:
        >>> import vistorch, warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     vistorch.nn.functional.upsample_bilinear(vistorch.tensor([[[[1.0, 3.0]]]]), size=(1, 3))
        tensor([[[[1., 2., 3.]]]])
    """
    _deprecated("upsample_bilinear")
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """Sample an input where a grid points to.

    Args:
        input: (N, C, H, W) or (N, C, D, H, W).
        grid: (N, H', W', 2) or (N, D', H', W', 3): where to look, from -1 to 1, the fastest dim first.
        mode: "bilinear", "nearest" or "bicubic".
        padding_mode: what lies outside: "zeros", the "border"'s values, or the "reflection".
        align_corners: whether -1 and 1 are the centres of the outermost elements, not their outer edges.

    Shape:
        (N, C, H', W') or (N, C, D', H', W').

    Example:
        >>> import vistorch
        >>> x = vistorch.arange(4.).view(1, 1, 2, 2)
        >>> vistorch.nn.functional.grid_sample(x, vistorch.zeros(1, 1, 1, 2), align_corners=False)
        tensor([[[[1.5000]]]])
    """
    if casting.on and (recast := casting.ask(grid_sample, locals())):
        return recast[0]
    if mode not in tuple(GRID_SAMPLE_INTERPOLATION_MODES):
        raise ValueError(
            "nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: "
            f"'{mode}'"
        )
    if padding_mode not in tuple(GRID_SAMPLE_PADDING_MODES):
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: "
            f"'{padding_mode}'"
        )
    if align_corners is None:
        warnings.warn(_ALIGN, stacklevel=2)
        align_corners = False
    kinds = GRID_SAMPLE_INTERPOLATION_MODES[mode], GRID_SAMPLE_PADDING_MODES[padding_mode]
    return FUNCTIONS["grid_sampler"](input, grid, *kinds, align_corners)


def affine_grid(theta: Tensor, size: Any, align_corners: bool | None = None) -> Tensor:
    """Where affine maps take the positions of an output: a grid for `grid_sample`.

    Args:
        theta: (N, 2, 3) or (N, 3, 4), one map for each sample.
        size: the output's sizes, (N, C, H, W) or (N, C, D, H, W).
        align_corners: whether -1 and 1 are the centres of the outermost elements, not their outer edges.

    Example:
        >>> import vistorch
        >>> same = vistorch.tensor([[[1., 0., 0.], [0., 1., 0.]]])
        >>> vistorch.nn.functional.affine_grid(same, (1, 1, 1, 2), align_corners=False)
        tensor([[[[-0.5000,  0.0000],
                  [ 0.5000,  0.0000]]]])
    """
    if casting.on and (recast := casting.ask(affine_grid, locals())):
        return recast[0]
    if align_corners is None:
        warnings.warn(_ALIGN, stacklevel=2)
        align_corners = False
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    n = len(size) - 2
    if n not in (2, 3):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size "
            f"{size}."
        )
    if theta.dim() != 3 or tuple(theta.shape[-2:]) != (n, n + 1):
        raise ValueError(
            f"Expected a batch of {n}D affine matrices of shape Nx{n}x{n + 1} for size {size}. Got {theta.shape}."
        )
    if align_corners and min(size[2:]) == 1:
        warnings.warn(
            "Since version 1.3.0, affine_grid behavior has changed for unit-size grids when align_corners=True. This "
            "is not an intended use case of affine_grid. See the documentation of affine_grid for details.",
            stacklevel=2,
        )
    elif min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    _dims.flag(align_corners, "affine_grid_generator", "align_corners", 3)
    return FUNCTIONS["affine_grid_generator"](theta, size, align_corners)
