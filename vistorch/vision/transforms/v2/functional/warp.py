"""Images, videos, masks, boxes and points turned, sheared, seen from aside, and stretched like rubber.

Invariant: numbers are computed in the order of PyTorch's own transforms of the second generation; a picture is read
where each pixel of the result comes from, boxes and points go the other way.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import vistorch
from vistorch import Tensor
from vistorch.nn.functional import grid_sample

from ....tv_tensors import is_rotated_bounding_format
from ... import functional as first
from ...modes import BILINEAR, InterpolationMode
from .boxes import CORNERS, CXCYWHR, XYXY, clamped, converted, enclosing, plainest
from .dispatch import boxes, flat, images, masks, pillow, points, run
from .frame import mode

__all__ = ["affine", "elastic", "elastic_transform", "perspective", "rotate"]

NEAREST = InterpolationMode.NEAREST
NOTHING = [0.0, 0.0]


# ---- the matrix of a turn, a shear, a scale and a shift -----------------------------------------------------------
def _arguments(angle: Any, translate: Any, scale: float, shear: Any, center: Any) -> tuple:
    if not isinstance(angle, (int, float)):
        raise TypeError("Argument angle should be int or float")
    if not isinstance(translate, (list, tuple)):
        raise TypeError("Argument translate should be a sequence")
    if len(translate) != 2:
        raise ValueError("Argument translate should be a sequence of length 2")
    if scale <= 0.0:
        raise ValueError("Argument scale should be positive")
    if not isinstance(shear, (int, float, list, tuple)):
        raise TypeError("Shear should be either a single value or a sequence of two values")
    shear = [shear, 0.0] if isinstance(shear, (int, float)) else list(shear)
    shear = shear * 2 if len(shear) == 1 else shear
    if len(shear) != 2:
        raise ValueError(f"Shear should be a sequence containing two values. Got {shear}")
    if center is not None and not isinstance(center, (list, tuple)):
        raise TypeError("Argument center should be a sequence")
    return float(angle), list(translate), shear, None if center is None else [float(c) for c in center]


def _matrix(
    center: Sequence[float],
    angle: float,
    translate: Sequence[float],
    scale: float,
    shear: Sequence[float],
    back: bool = True,
) -> list[float]:
    turn, shear_x, shear_y = (math.radians(v) for v in (angle, *shear))
    (cx, cy), (tx, ty) = center, translate
    x, y = cx + tx, cy + ty
    a = math.cos(turn - shear_y) / math.cos(shear_y)
    b = -(a * math.tan(shear_x) + math.sin(turn))
    c = math.sin(turn - shear_y) / math.cos(shear_y)
    d = math.cos(turn) - c * math.tan(shear_x)
    if back:
        m = [d / scale, -b / scale, 0.0, -c / scale, a / scale, 0.0]
        m[2] += cx - m[0] * x - m[1] * y
        m[5] += cy - m[3] * x - m[4] * y
    else:
        m = [a * scale, b * scale, 0.0, c * scale, d * scale, 0.0]
        m[2] += x - m[0] * cx - m[1] * cy
        m[5] += y - m[3] * cx - m[4] * cy
    return m


def _grown(matrix: list[float], width: int, height: int) -> tuple[int, int]:
    """Width and height of what holds the whole of a turned picture."""
    half_w, half_h = 0.5 * width, 0.5 * height
    corners = [
        [x, y, 1.0] for x, y in ((-half_w, -half_h), (-half_w, half_h), (half_w, half_h), (half_w, -half_h))
    ]
    theta = vistorch.tensor(matrix, dtype=vistorch.float32).view(2, 3)
    low, high = vistorch.matmul(vistorch.tensor(corners), theta.T).aminmax(dim=0)
    halves = vistorch.tensor((half_w, half_h))
    ends = [part.add(halves).mul_(1.0 / 1e-4).trunc_().mul_(1e-4) for part in (low, high)]
    size = ends[1].ceil_().sub_(ends[0].floor_())
    return int(size[0]), int(size[1])


# ---- pictures read at places ---------------------------------------------------------------------------------------
def _checked(image: Tensor, how: str, fill: Any) -> None:
    if isinstance(fill, (tuple, list)):
        channels = image.shape[-3]
        if len(fill) > 1 and len(fill) != channels:
            raise ValueError(
                "The number of elements in 'fill' cannot broadcast to match the number of channels of the image "
                f"({len(fill)} != {channels})"
            )
    elif fill is not None and not isinstance(fill, (int, float)):
        raise ValueError("Argument fill should be either int, float, tuple or list")
    if how not in ("nearest", "bilinear"):
        raise ValueError(f"Interpolation mode '{how}' is unsupported with Tensor input")


def _kind(image: Tensor) -> Any:
    return image.dtype if image.is_floating_point() else vistorch.float32


def _read(image: Tensor, grid: Tensor, how: str, fill: Any) -> Tensor:
    """The colors at places from -1 to 1; `fill` where nothing is."""
    channels, height, width = image.shape[-3:]
    shape = (*image.shape[:-2], *grid.shape[1:3])
    if image.numel() == 0:
        return image.reshape(shape)
    x = image.reshape(-1, channels, height, width).to(grid.dtype)
    if x.shape[0] > 1:
        grid = grid.expand(x.shape[0], -1, -1, -1)
    if fill is not None:
        x = vistorch.cat((x, vistorch.ones_like(x[:, :1])), dim=1)
    x = grid_sample(x, grid, mode=how, padding_mode="zeros", align_corners=False)
    if fill is not None:
        x, inside = x[:, :-1], x[:, -1:]
        inside = inside.expand_as(x)
        values = fill if isinstance(fill, (tuple, list)) else [float(fill)]
        color = vistorch.tensor(values, dtype=x.dtype, device=x.device).view(1, -1, 1, 1)
        if how == "nearest":
            x = vistorch.where(inside < 0.5, color.expand_as(x), x)
        else:
            x = x.sub(color).mul_(inside).add_(color)
    return (x if image.dtype == grid.dtype else x.round_().to(image.dtype)).reshape(shape)


def _places(x: Tensor, y: Tensor) -> Tensor:
    """Homogeneous places of pixels."""
    grid = vistorch.empty(1, len(y), len(x), 3, dtype=x.dtype, device=x.device)
    grid[..., 0], grid[..., 1], grid[..., 2] = x, y.unsqueeze(-1), 1
    return grid


def _affine_grid(theta: Tensor, old: tuple[int, int], new: tuple[int, int]) -> Tensor:
    """Where the pixels of a picture of the new width and height are found in the old one."""
    w, h = new

    def middle(n: int) -> Tensor:
        return vistorch.linspace((1.0 - n) * 0.5, (n - 1.0) * 0.5, steps=n, device=theta.device).to(
            theta.dtype
        )

    halves = vistorch.tensor([0.5 * old[0], 0.5 * old[1]], dtype=theta.dtype, device=theta.device)
    rescaled = theta.transpose(1, 2).div(halves)
    return _places(middle(w), middle(h)).view(1, h * w, 3).bmm(rescaled).view(1, h, w, 2)


def _affine_read(image: Tensor, matrix: list[float], how: str, fill: Any, new: tuple[int, int]) -> Tensor:
    height, width = image.shape[-2:]
    theta = vistorch.tensor(matrix, dtype=_kind(image), device=image.device).reshape(1, 2, 3)
    return _read(image, _affine_grid(theta, (width, height), new), how, fill)


def affine(
    inpt: Any,
    angle: float,
    translate: Sequence[float],
    scale: float,
    shear: Any,
    interpolation: Any = NEAREST,
    fill: Any = None,
    center: Any = None,
) -> Any:
    """Turned, sheared, scaled and shifted.

    Args:
        inpt: an image, a video, a mask, boxes or points.
        angle: degrees, clockwise.
        translate: pixels to the right and down.
        scale: how many times as large.
        shear: degrees in x, or in x and y.
        interpolation: "nearest" or "bilinear".
        fill: the value outside, or one for each channel.
        center: about which point, (x, y); by default the middle.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms.v2 import functional as F
        >>> F.affine(vistorch.tensor([[[1.0, 2.0, 3.0]]]), 0, [1, 0], 1.0, [0.0, 0.0])
        tensor([[[0., 1., 2.]]])
    """
    given = {"angle": angle, "translate": translate, "scale": scale, "shear": shear, "center": center}
    return run(affine, inpt, **given, interpolation=interpolation, fill=fill)


@images(affine)
def affine_image(
    image: Tensor,
    angle: float,
    translate: Sequence[float],
    scale: float,
    shear: Any,
    interpolation: Any = NEAREST,
    fill: Any = None,
    center: Any = None,
) -> Tensor:
    """`affine` of a tensor."""
    how = mode(interpolation).value
    angle, translate, shear, center = _arguments(angle, translate, scale, shear, center)
    height, width = image.shape[-2:]
    about = NOTHING if center is None else [c - s * 0.5 for c, s in zip(center, [width, height], strict=True)]
    matrix = _matrix(about, angle, [float(t) for t in translate], scale, shear)
    _checked(image, how, fill)
    return _affine_read(image, matrix, how, fill, (width, height))


def _pillow_affine(image: Any, angle: Any, translate: Any, scale: Any, shear: Any, **more: Any) -> Any:
    """By the first generation's function, which wants lists and a mode."""
    more["interpolation"] = mode(more["interpolation"])
    fill = more.pop("fill")
    return first.affine(image, angle, list(translate), scale, shear, fill=_pillow_fill(fill), **more)


def _pillow_fill(fill: Any) -> Any:
    return tuple(int(v) for v in fill) if isinstance(fill, (list, tuple)) else fill


pillow(affine, _pillow_affine)


@masks(affine)
def affine_mask(
    mask: Tensor,
    angle: float,
    translate: Sequence[float],
    scale: float,
    shear: Any,
    fill: Any = None,
    center: Any = None,
) -> Tensor:
    """`affine` of a mask."""
    return flat(lambda x: affine_image(x, angle, translate, scale, shear, NEAREST, fill, center), mask)


def _moved(
    where: Tensor, canvas_size: Any, given: tuple, center: Any, expand: bool
) -> tuple[Tensor, Any, Any]:
    """Places (n, 2) after it, the corner that the picture begins at if it grows, and its size."""
    height, width = canvas_size
    angle, translate, scale, shear = given
    angle, translate, shear, center = _arguments(angle, translate, scale, shear, center)
    center = [width * 0.5, height * 0.5] if center is None else center
    on = _matrix(center, angle, translate, scale, shear, back=False)
    back = vistorch.tensor(on, dtype=where.dtype, device=where.device).reshape(2, 3).T

    def moved(x: Tensor) -> Tensor:
        return vistorch.matmul(vistorch.cat([x, vistorch.ones_like(x[:, :1])], dim=-1), back)

    out = moved(where)
    if not expand:
        return out, None, canvas_size
    w, h = float(width), float(height)
    corners = vistorch.tensor(
        [[0.0, 0.0], [0.0, h], [w, h], [w, 0.0]], dtype=where.dtype, device=where.device
    )
    corner = moved(corners).amin(dim=0, keepdim=True)
    new_w, new_h = _grown(_matrix(center, angle, translate, scale, shear), width, height)
    return out, corner, (new_h, new_w)


def _affine_points(
    keypoints: Tensor, canvas_size: Any, given: tuple, center: Any, expand: bool
) -> tuple[Tensor, Any]:
    if keypoints.numel() == 0:
        return keypoints, canvas_size
    x = keypoints if keypoints.is_floating_point() else keypoints.float()
    out, corner, size = _moved(x.reshape(-1, 2), canvas_size, given, center, expand)
    out = out if corner is None else out.sub_(corner)
    return out.reshape(keypoints.shape).to(keypoints.dtype), size


@points(affine)
def affine_keypoints(
    keypoints: Tensor,
    canvas_size: Any,
    angle: float,
    translate: Sequence[float],
    scale: float,
    shear: Any,
    center: Any = None,
) -> tuple[Tensor, Any]:
    """`affine` of points."""
    return _affine_points(keypoints, canvas_size, (angle, translate, scale, shear), center, False)


def _around(moved: Tensor, turned: bool) -> Tensor:
    """The boxes around what became of corners."""
    if turned:
        return enclosing(moved.reshape(-1, 8))
    low, high = vistorch.aminmax(moved.reshape(-1, 4, 2), dim=1)
    return vistorch.cat([low, high], dim=1)


def _corners(boxes: Tensor, turned: bool) -> Tensor:
    return (boxes if turned else boxes[:, CORNERS]).reshape(-1, 2)


def _affine_boxes(
    bounding_boxes: Tensor,
    format: Any,
    canvas_size: Any,
    given: tuple,
    center: Any,
    expand: bool,
    clamping_mode: str | None,
) -> tuple[Tensor, Any]:
    if bounding_boxes.numel() == 0:
        return bounding_boxes, canvas_size
    x = bounding_boxes if bounding_boxes.is_floating_point() else bounding_boxes.float()
    turned, corners = is_rotated_bounding_format(format), plainest(format)
    x = converted(x, format, corners).reshape(-1, 8 if turned else 4)
    out, corner, size = _moved(_corners(x, turned), canvas_size, given, center, expand)
    out = _around(out, turned)
    out = out if corner is None else out.sub_(corner.repeat((1, 4 if turned else 2)))
    out = clamped(out, corners, size, clamping_mode)
    out = converted(out, corners, format, inplace=True).reshape(bounding_boxes.shape)
    return out.to(bounding_boxes.dtype), size


@boxes(affine)
def affine_bounding_boxes(
    bounding_boxes: Tensor,
    format: Any,
    canvas_size: Any,
    angle: float,
    translate: Sequence[float],
    scale: float,
    shear: Any,
    center: Any = None,
    clamping_mode: str | None = "soft",
) -> Tensor:
    """`affine` of boxes."""
    given = (angle, translate, scale, shear)
    return _affine_boxes(bounding_boxes, format, canvas_size, given, center, False, clamping_mode)[0]


def rotate(
    inpt: Any,
    angle: float,
    interpolation: Any = NEAREST,
    expand: bool = False,
    center: Any = None,
    fill: Any = None,
) -> Any:
    """Turned.

    Args:
        inpt: an image, a video, a mask, boxes or points.
        angle: degrees, anticlockwise.
        interpolation: "nearest" or "bilinear".
        expand: make it so large that nothing is lost.
        center: about which point, (x, y); by default the middle.
        fill: the value outside, or one for each channel.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms.v2 import functional as F
        >>> F.rotate(vistorch.tensor([[[1, 2], [3, 4]]]), 90)
        tensor([[[2, 4],
                 [1, 3]]])
    """
    return run(
        rotate, inpt, angle=angle, interpolation=interpolation, expand=expand, center=center, fill=fill
    )


@images(rotate)
def rotate_image(
    image: Tensor,
    angle: float,
    interpolation: Any = NEAREST,
    expand: bool = False,
    center: Any = None,
    fill: Any = None,
) -> Tensor:
    """`rotate` of a tensor."""
    angle = angle % 360
    height, width = image.shape[-2:]
    if center is None and (angle in (0, 180) or (angle in (90, 270) and (expand or height == width))):
        return vistorch.rot90(image, k=int(angle) // 90, dims=(-2, -1)) if angle else image.clone()
    how = mode(interpolation).value
    about = NOTHING if center is None else [c - s * 0.5 for c, s in zip(center, [width, height], strict=True)]
    matrix = _matrix(about, -angle, NOTHING, 1.0, NOTHING)
    _checked(image, how, fill)
    new = _grown(matrix, width, height) if expand else (width, height)
    return _affine_read(image, matrix, how, fill, new)


def _pillow_rotate(image: Any, angle: Any, interpolation: Any, expand: Any, center: Any, fill: Any) -> Any:
    return first.rotate(image, angle, mode(interpolation), expand, center, _pillow_fill(fill))


pillow(rotate, _pillow_rotate)


@masks(rotate)
def rotate_mask(
    mask: Tensor, angle: float, expand: bool = False, center: Any = None, fill: Any = None
) -> Tensor:
    """`rotate` of a mask."""
    return flat(lambda x: rotate_image(x, angle, NEAREST, expand, center, fill), mask)


@points(rotate)
def rotate_keypoints(
    keypoints: Tensor, canvas_size: Any, angle: float, expand: bool = False, center: Any = None
) -> tuple[Tensor, Any]:
    """`rotate` of points."""
    return _affine_points(keypoints, canvas_size, (-angle, NOTHING, 1.0, NOTHING), center, expand)


@boxes(rotate)
def rotate_bounding_boxes(
    bounding_boxes: Tensor,
    format: Any,
    canvas_size: Any,
    angle: float,
    expand: bool = False,
    center: Any = None,
    clamping_mode: str | None = "soft",
) -> tuple[Tensor, Any]:
    """`rotate` of boxes."""
    given = (-angle, NOTHING, 1.0, NOTHING)
    return _affine_boxes(bounding_boxes, format, canvas_size, given, center, expand, clamping_mode)


# ---- seen from aside -----------------------------------------------------------------------------------------------
def perspective(
    inpt: Any,
    startpoints: Any,
    endpoints: Any,
    interpolation: Any = BILINEAR,
    fill: Any = None,
    coefficients: Any = None,
) -> Any:
    """Seen from aside.

    Args:
        inpt: an image, a video, a mask, boxes or points.
        startpoints: four corners in the picture, or None with `coefficients`.
        endpoints: where they are in the result, likewise.
        interpolation: "nearest" or "bilinear".
        fill: the value outside, or one for each channel.
        coefficients: the eight numbers of the way back, in place of the points.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms.v2 import functional as F
        >>> corners = [[0, 0], [3, 0], [3, 3], [0, 3]]
        >>> F.perspective(vistorch.ones(1, 4, 4), corners, corners).round().unique()
        tensor([1.])
    """
    given = {"startpoints": startpoints, "endpoints": endpoints, "coefficients": coefficients}
    return run(perspective, inpt, **given, interpolation=interpolation, fill=fill)


def perspective_coefficients(startpoints: Any, endpoints: Any) -> list[float]:
    """The eight numbers that lead from the result back to the picture.

    Args:
        startpoints: four corners in the picture.
        endpoints: where they are in the result.
    """
    if len(startpoints) != 4 or len(endpoints) != 4:
        raise ValueError(
            f"Please provide exactly four corners, got {len(startpoints)} startpoints and {len(endpoints)} endpoints."
        )
    rows: list[list[float]] = []
    for (ex, ey), (sx, sy) in zip(endpoints, startpoints, strict=True):
        rows.append([ex, ey, 1, 0, 0, 0, -sx * ex, -sx * ey])
        rows.append([0, 0, 0, ex, ey, 1, -sy * ex, -sy * ey])
    right = vistorch.tensor(startpoints, dtype=vistorch.float64).view(8)
    found = vistorch.linalg.lstsq(vistorch.tensor(rows, dtype=vistorch.float64), right, driver="gels")
    return found.solution.to(vistorch.float32).tolist()


def _coefficients(startpoints: Any, endpoints: Any, coefficients: Any) -> Sequence[float]:
    if coefficients is not None:
        if startpoints is not None and endpoints is not None:
            raise ValueError(
                "The startpoints/endpoints and the coefficients shouldn't be defined concurrently."
            )
        if len(coefficients) != 8:
            raise ValueError("Argument coefficients should have 8 float values")
        return coefficients
    if startpoints is None or endpoints is None:
        raise ValueError("Either the startpoints/endpoints or the coefficients must have non `None` values.")
    return perspective_coefficients(startpoints, endpoints)


@images(perspective)
def perspective_image(
    image: Tensor,
    startpoints: Any,
    endpoints: Any,
    interpolation: Any = BILINEAR,
    fill: Any = None,
    coefficients: Any = None,
) -> Tensor:
    """`perspective` of a tensor."""
    c = _coefficients(startpoints, endpoints, coefficients)
    how = mode(interpolation).value
    _checked(image, how, fill)
    height, width = image.shape[-2:]
    like = {"dtype": _kind(image), "device": image.device}
    above = vistorch.tensor([[[*c[:3]], [*c[3:6]]]], **like).transpose(1, 2)
    below = vistorch.tensor([[[c[6], c[7], 1.0], [c[6], c[7], 1.0]]], **like).transpose(1, 2)
    x, y = (vistorch.linspace(0.5, n - 0.5, steps=n, **like) for n in (width, height))
    places = _places(x, y).view(1, height * width, 3)
    above = above.div(vistorch.tensor([0.5 * width, 0.5 * height], **like))
    grid = places.bmm(above).div_(places.bmm(below)).sub_(1.0).view(1, height, width, 2)
    return _read(image, grid, how, fill)


def _pillow_perspective(
    image: Any, startpoints: Any, endpoints: Any, coefficients: Any, interpolation: Any, fill: Any
) -> Any:
    from PIL import Image

    from ...functional.frame import pillow_fill
    from ...modes import PILLOW

    c = _coefficients(startpoints, endpoints, coefficients)
    color = pillow_fill(0 if fill is None else _pillow_fill(fill), image)
    how: Any = PILLOW[mode(interpolation)]
    return image.transform(image.size, Image.Transform.PERSPECTIVE, c, how, fillcolor=color)


pillow(perspective, _pillow_perspective)


@masks(perspective)
def perspective_mask(
    mask: Tensor, startpoints: Any, endpoints: Any, fill: Any = None, coefficients: Any = None
) -> Tensor:
    """`perspective` of a mask."""
    return flat(lambda x: perspective_image(x, startpoints, endpoints, NEAREST, fill, coefficients), mask)


def _seen(where: Tensor, c: Sequence[float], what: str) -> Tensor:
    """Places (n, 2) as they are seen: the way on, by the inverse of the way back."""
    denom = c[0] * c[4] - c[1] * c[3]
    if denom == 0:
        raise RuntimeError(
            f"Provided perspective_coeffs {list(c)} can not be inverted to transform {what}. Denominator is zero, "
            f"denom={denom}"
        )
    kind = where.dtype if where.is_floating_point() else vistorch.float32
    rows = [
        [c[4] - c[5] * c[7], -c[1] + c[2] * c[7], c[1] * c[5] - c[2] * c[4]],
        [-c[3] + c[5] * c[6], c[0] - c[2] * c[6], -c[0] * c[5] + c[2] * c[3]],
    ]
    last = [(-c[4] * c[6] + c[3] * c[7]) / denom, (-c[0] * c[7] + c[1] * c[6]) / denom, 1.0]
    above = vistorch.tensor([[v / denom for v in row] for row in rows], dtype=kind, device=where.device)
    below = vistorch.tensor([last, last], dtype=kind, device=where.device)
    ones = vistorch.ones(where.shape[0], 1, device=where.device)
    x = vistorch.cat([where, ones], dim=-1).to(kind)
    return vistorch.matmul(x, above.T).div_(vistorch.matmul(x, below.T))


@points(perspective)
def perspective_keypoints(
    keypoints: Tensor, canvas_size: Any, startpoints: Any, endpoints: Any, coefficients: Any = None
) -> Tensor:
    """`perspective` of points."""
    if keypoints.numel() == 0:
        return keypoints
    c = _coefficients(startpoints, endpoints, coefficients)
    return _seen(keypoints.reshape(-1, 2), c, "keypoints").to(keypoints.dtype).reshape(keypoints.shape)


@boxes(perspective)
def perspective_bounding_boxes(
    bounding_boxes: Tensor,
    format: Any,
    canvas_size: Any,
    startpoints: Any,
    endpoints: Any,
    coefficients: Any = None,
    clamping_mode: str | None = "soft",
) -> Tensor:
    """`perspective` of boxes."""
    if bounding_boxes.numel() == 0:
        return bounding_boxes
    c = _coefficients(startpoints, endpoints, coefficients)
    turned, corners = is_rotated_bounding_format(format), plainest(format)
    x = converted(bounding_boxes, format, corners).reshape(-1, 8 if turned else 4)
    out = _around(_seen(_corners(x, turned), c, "bounding boxes"), turned)
    out = clamped(out, corners, canvas_size, clamping_mode)
    out = converted(out, corners, format, inplace=True).reshape(bounding_boxes.shape)
    return out.to(bounding_boxes.dtype)


# ---- like rubber ---------------------------------------------------------------------------------------------------
def elastic(inpt: Any, displacement: Tensor, interpolation: Any = BILINEAR, fill: Any = None) -> Any:
    """Stretched like rubber.

    Args:
        inpt: an image, a video, a mask, boxes or points.
        displacement: (1, H, W, 2), how far each pixel comes from, in halves of the picture.
        interpolation: "nearest" or "bilinear".
        fill: the value outside, or one for each channel.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms.v2 import functional as F
        >>> F.elastic(vistorch.tensor([[[1.0, 2.0]]]), vistorch.zeros(1, 1, 2, 2))
        tensor([[[1., 2.]]])
    """
    return run(elastic, inpt, displacement=displacement, interpolation=interpolation, fill=fill)


elastic_transform = elastic


def _fits(displacement: Any, height: int, width: int) -> None:
    if not isinstance(displacement, Tensor):
        raise TypeError("Argument displacement should be a Tensor")
    expected = (1, height, width, 2)
    if tuple(displacement.shape) != expected:
        raise ValueError(f"Argument displacement shape should be {expected}, but given {displacement.shape}")


def _own_places(height: int, width: int, kind: Any, device: Any) -> Tensor:
    x, y = (
        vistorch.linspace((-n + 1) / n, (n - 1) / n, n, device=device, dtype=kind) for n in (width, height)
    )
    return _places(x, y)[..., :2]


@images(elastic)
def elastic_image(
    image: Tensor, displacement: Tensor, interpolation: Any = BILINEAR, fill: Any = None
) -> Tensor:
    """`elastic` of a tensor."""
    how = mode(interpolation).value
    _fits(displacement, *image.shape[-2:])
    kind = image.dtype if image.is_floating_point() else vistorch.float32
    kind = vistorch.float32 if kind is vistorch.float16 and image.device.type == "cpu" else kind
    height, width = image.shape[-2:]
    grid = _own_places(height, width, kind, image.device)
    x = image.to(kind) if image.is_floating_point() else image
    out = _read(x, grid + displacement.to(dtype=kind, device=image.device), how, fill)
    return out.to(image.dtype)


pillow(
    elastic,
    lambda image, **given: first.to_pil_image(
        elastic_image(first.pil_to_tensor(image), **given), mode=image.mode
    ),
)


@masks(elastic)
def elastic_mask(mask: Tensor, displacement: Tensor, fill: Any = None) -> Tensor:
    """`elastic` of a mask."""
    return flat(lambda x: elastic_image(x, displacement, NEAREST, fill), mask)


def _pulled(where: Tensor, canvas_size: Any, displacement: Tensor, kind: Any) -> Tensor:
    """Places (n, 2) after it: the way back at each place, taken with the other sign."""
    height, width = canvas_size
    own = _own_places(height, width, kind, where.device)
    back = own - displacement.to(dtype=kind, device=where.device)
    at = where.to(vistorch.int64)
    x, y = at[:, 0].clamp(0, width - 1), at[:, 1].clamp(0, height - 1)
    size = vistorch.tensor([width, height], device=where.device, dtype=kind)
    return back[0, y, x, :].add_(1).mul_(0.5 * size).sub_(0.5)


@points(elastic)
def elastic_keypoints(keypoints: Tensor, canvas_size: Any, displacement: Tensor) -> Tensor:
    """`elastic` of points."""
    _fits(displacement, *canvas_size)
    if keypoints.numel() == 0:
        return keypoints
    out = _pulled(keypoints.reshape(-1, 2), canvas_size, displacement, _kind(keypoints))
    return out.to(keypoints.dtype).reshape(keypoints.shape)


@boxes(elastic)
def elastic_bounding_boxes(
    bounding_boxes: Tensor,
    format: Any,
    canvas_size: Any,
    displacement: Tensor,
    clamping_mode: str | None = "soft",
) -> Tensor:
    """`elastic` of boxes."""
    _fits(displacement, *canvas_size)
    if bounding_boxes.numel() == 0:
        return bounding_boxes
    turned = is_rotated_bounding_format(format)
    between = CXCYWHR if turned else XYXY
    x = converted(bounding_boxes, format, between).reshape(-1, 5 if turned else 4)
    where = x[:, :2] if turned else _corners(x, False)
    where = where.ceil() if where.is_floating_point() else where
    moved = _pulled(where, canvas_size, displacement, _kind(x))
    out = (vistorch.cat([moved, x[:, 2:]], dim=1) if turned else _around(moved, False)).to(x.dtype)
    out = clamped(out, between, canvas_size, clamping_mode)
    return converted(out, between, format).reshape(bounding_boxes.shape)


affine_video, rotate_video = affine_image, rotate_image
perspective_video, elastic_video = perspective_image, elastic_image
