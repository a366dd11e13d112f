"""Images turned, sheared and seen from aside: rotate, affine, perspective.

Invariant: a matrix leads from a pixel of the result to where its color is found in the image, in pixels; for tensors
from the middle of the image, for Pillow from its corner.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

import vistorch
from vistorch import Tensor
from vistorch.nn import functional as F

from ..images import as_batch, get_dimensions, is_pil, must_be_image
from ..modes import BILINEAR, NEAREST, PILLOW, mode_of, tensor_mode
from .frame import pillow_fill

MODES = ("nearest", "bilinear")


def inverse_matrix(
    center: Sequence[float],
    angle: float,
    translate: Sequence[float],
    scale: float,
    shear: Sequence[float],
) -> list[float]:
    """The two rows of the matrix back from a turn, shear and scale about a center and a shift after it."""
    turn, shear_x, shear_y = (math.radians(v) for v in (angle, *shear))
    (cx, cy), (tx, ty) = center, translate
    a = math.cos(turn - shear_y) / math.cos(shear_y)
    b = -math.cos(turn - shear_y) * math.tan(shear_x) / math.cos(shear_y) - math.sin(turn)
    c = math.sin(turn - shear_y) / math.cos(shear_y)
    d = -math.sin(turn - shear_y) * math.tan(shear_x) / math.cos(shear_y) + math.cos(turn)
    m = [v / scale for v in (d, -b, 0.0, -c, a, 0.0)]
    m[2] += m[0] * (-cx - tx) + m[1] * (-cy - ty) + cx
    m[5] += m[3] * (-cx - tx) + m[4] * (-cy - ty) + cy
    return m


def _sampled(img: Tensor, grid: Any, mode: str, fill: Any) -> Tensor:
    """The colors found at places (H, W, 2) from -1 to 1; `fill` where nothing is."""
    must_be_image(img)
    filled = isinstance(fill, int | float) and fill != 0
    filled = filled or (isinstance(fill, list | tuple) and any(v != 0 for v in fill))

    def found(x: Tensor) -> Tensor:
        at = vistorch.from_numpy(np.ascontiguousarray(grid, dtype=np.float32)).to(x)
        at = at.expand(x.shape[0], *at.shape)
        if not filled:
            return F.grid_sample(x, at, mode=mode, padding_mode="zeros", align_corners=False)
        inside = vistorch.ones_like(x[:, :1])
        out = F.grid_sample(
            vistorch.cat((x, inside), dim=1), at, mode=mode, padding_mode="zeros", align_corners=False
        )
        out, mask = out[:, :-1], out[:, -1:]
        color = vistorch.as_tensor(fill, dtype=x.dtype, device=x.device).view(1, -1, 1, 1)
        if mode == "nearest":
            return vistorch.where(mask < 0.5, color.expand_as(out), out)
        return out * mask + (1.0 - mask) * color

    return as_batch(img, found)


def _places(width: int, height: int) -> np.ndarray:
    """Each pixel's middle, from the middle of the image, with a 1 for the shift."""
    x = np.linspace(-width * 0.5 + 0.5, width * 0.5 - 0.5, width)
    y = np.linspace(-height * 0.5 + 0.5, height * 0.5 - 0.5, height)
    out = np.ones((height, width, 3))
    out[..., 0], out[..., 1] = x, y[:, None]
    return out


def _affine_grid(matrix: list[float], width: int, height: int, size: tuple[int, int]) -> np.ndarray:
    theta = np.asarray(matrix).reshape(2, 3)
    return _places(*size) @ theta.T / np.array([0.5 * width, 0.5 * height])


def _grown(matrix: list[float], width: int, height: int) -> tuple[int, int]:
    """The size that holds a whole turned image."""
    theta = np.asarray(matrix, dtype=np.float32).reshape(2, 3)
    corners = np.array(
        [[x * 0.5 * width, y * 0.5 * height, 1.0] for x, y in ((-1, -1), (-1, 1), (1, 1), (1, -1))],
        dtype=np.float32,
    )
    found = corners @ theta.T + np.array([width * 0.5, height * 0.5], dtype=np.float32)
    # a corner that rounding puts just beyond a pixel must not add one
    most, least = (np.trunc(v / 1e-4) * 1e-4 for v in (found.max(axis=0), found.min(axis=0)))
    size = np.ceil(most) - np.floor(least)
    return int(size[0]), int(size[1])


def rotate(
    img: Any,
    angle: float,
    interpolation: Any = NEAREST,
    expand: bool = False,
    center: Sequence[float] | None = None,
    fill: Any = None,
) -> Any:
    """An image turned against the clock.

    Args:
        img: an image.
        angle: in degrees.
        interpolation: an InterpolationMode.
        expand: make room for the corners.
        center: (x, y) from the top left; the middle if None.
        fill: the color of what is beyond the image.

    Example:
        >>> import vistorch
        >>> image = vistorch.tensor([[[1.0, 2.0], [3.0, 4.0]]])
        >>> vistorch.vision.transforms.functional.rotate(image, 90)
        tensor([[[2., 4.],
                 [1., 3.]]])
    """
    mode = mode_of(interpolation)
    if not isinstance(angle, int | float):
        raise TypeError("Argument angle should be int or float")
    if center is not None and not isinstance(center, list | tuple):
        raise TypeError("Argument center should be a sequence")
    if is_pil(img):
        return img.rotate(angle, PILLOW[mode], expand, center, fillcolor=pillow_fill(fill, img))
    _, height, width = get_dimensions(img)
    about = (
        [0.0, 0.0] if center is None else [c - s * 0.5 for c, s in zip(center, (width, height), strict=True)]
    )
    matrix = inverse_matrix(about, -angle, [0.0, 0.0], 1.0, [0.0, 0.0])
    size = _grown(matrix, width, height) if expand else (width, height)
    return _sampled(img, _affine_grid(matrix, width, height, size), tensor_mode(mode, MODES), fill)


def affine(
    img: Any,
    angle: float,
    translate: Sequence[int],
    scale: float,
    shear: Any,
    interpolation: Any = NEAREST,
    fill: Any = None,
    center: Sequence[float] | None = None,
) -> Any:
    """An image turned with the clock, sheared, resized and shifted, in a frame of the same size.

    Args:
        img: an image.
        angle: in degrees.
        translate: (x, y) in pixels.
        scale: by how much it gets larger.
        shear: in degrees, along x, or (x, y).
        interpolation: an InterpolationMode.
        fill: the color of what is beyond the image.
        center: (x, y) from the top left; the middle if None.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import functional
        >>> functional.affine(vistorch.tensor([[[1.0, 2.0, 3.0]]]), angle=0, translate=(1, 0), scale=1.0, shear=0)
        tensor([[[0., 1., 2.]]])
    """
    mode = mode_of(interpolation)
    if not isinstance(angle, int | float):
        raise TypeError("Argument angle should be int or float")
    if not isinstance(translate, list | tuple):
        raise TypeError("Argument translate should be a sequence")
    if len(translate) != 2:
        raise ValueError("Argument translate should be a sequence of length 2")
    if scale <= 0.0:
        raise ValueError("Argument scale should be positive")
    if not isinstance(shear, int | float | list | tuple):
        raise TypeError("Shear should be either a single value or a sequence of two values")
    shears = [shear, 0.0] if isinstance(shear, int | float) else list(shear)
    shears = [shears[0], shears[0]] if len(shears) == 1 else shears
    if len(shears) != 2:
        raise ValueError(f"Shear should be a sequence containing two values. Got {shear}")
    if center is not None and not isinstance(center, list | tuple):
        raise TypeError("Argument center should be a sequence")
    _, height, width = get_dimensions(img)
    if is_pil(img):
        about = [width * 0.5, height * 0.5] if center is None else list(center)
        matrix = inverse_matrix(about, angle, translate, scale, shears)
        return img.transform((width, height), 0, matrix, PILLOW[mode], fillcolor=pillow_fill(fill, img))
    about = (
        [0.0, 0.0] if center is None else [c - s * 0.5 for c, s in zip(center, (width, height), strict=True)]
    )
    matrix = inverse_matrix(about, angle, translate, scale, shears)
    grid = _affine_grid(matrix, width, height, (width, height))
    return _sampled(img, grid, tensor_mode(mode, MODES), fill)


def perspective(
    img: Any,
    startpoints: Sequence[Sequence[int]],
    endpoints: Sequence[Sequence[int]],
    interpolation: Any = BILINEAR,
    fill: Any = None,
) -> Any:
    """An image as seen from aside: four points are moved to four others.

    Args:
        img: an image.
        startpoints: top left, top right, bottom right and bottom left, each (x, y).
        endpoints: where they go.
        interpolation: an InterpolationMode.
        fill: the color of what is beyond the image.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import functional
        >>> corners, moved = [(0, 0), (7, 0), (7, 7), (0, 7)], [(1, 1), (7, 0), (7, 7), (0, 7)]
        >>> functional.perspective(vistorch.ones(1, 8, 8), corners, moved)[0, 0, 0]
        tensor(0.)
    """
    mode = mode_of(interpolation)
    rows, values = [], []
    for (x, y), (u, v) in zip(endpoints, startpoints, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
        values += [u, v]
    c = np.linalg.lstsq(np.array(rows, dtype=np.float64), np.array(values, dtype=np.float64), rcond=None)[0]
    _, height, width = get_dimensions(img)
    if is_pil(img):
        fill = pillow_fill(fill, img)
        return img.transform((width, height), 2, c.tolist(), PILLOW[mode], fillcolor=fill)
    at = _places(width, height)
    at[..., 0] += width * 0.5
    at[..., 1] += height * 0.5
    upper, lower = at @ np.array([c[:3], c[3:6]]).T, at @ np.array([*c[6:], 1.0])
    grid = upper / lower[..., None] / np.array([width * 0.5, height * 0.5]) - 1.0
    return _sampled(img, grid, tensor_mode(mode, MODES), fill)
