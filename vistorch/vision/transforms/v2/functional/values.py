"""Values of images changed: normalized, blurred, made noisy, erased, stored; and what is no longer in the picture.

Invariant: numbers are computed in the order of PyTorch's own transforms of the second generation.
"""

from __future__ import annotations

import io
import math
from typing import Any

import vistorch
from vistorch import Tensor
from vistorch.nn import functional as nnf

from .... import tv_tensors
from ....tv_tensors import BoundingBoxes, KeyPoints, is_rotated_bounding_format
from ... import functional as first
from .boxes import converted, format_of, plainest
from .dispatch import asked, images, is_pure_tensor, pillow, run

__all__ = [
    "erase",
    "gaussian_blur",
    "gaussian_noise",
    "jpeg",
    "normalize",
    "sanitize_bounding_boxes",
    "sanitize_keypoints",
    "uniform_temporal_subsample",
]


def _as_tensor(work: Any) -> Any:
    """What a function of tensors makes of a picture of Pillow's."""

    def call(image: Any, *args: Any, **kwargs: Any) -> Any:
        return first.to_pil_image(work(first.pil_to_tensor(image), *args, **kwargs), mode=image.mode)

    return call


def normalize(inpt: Any, mean: Any, std: Any, inplace: bool = False) -> Any:
    """Each channel less its mean, divided by its standard deviation.

    Args:
        inpt: an image or a video of floats.
        mean: of each channel.
        std: of each channel.
        inplace: change it itself.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms.v2 import functional as F
        >>> F.normalize(vistorch.tensor([[[0.0, 1.0]]]), [0.5], [0.5])
        tensor([[[-1.,  1.]]])
    """
    return run(normalize, inpt, mean=mean, std=std, inplace=inplace)


@images(normalize)
def normalize_image(image: Tensor, mean: Any, std: Any, inplace: bool = False) -> Tensor:
    """`normalize` of a tensor."""
    if not image.is_floating_point():
        raise TypeError(f"Input tensor should be a float tensor. Got {image.dtype}.")
    if image.ndim < 3:
        raise ValueError(f"Expected tensor to be a tensor image of size (..., C, H, W). Got {image.shape}.")
    if (isinstance(std, (tuple, list)) and not all(std)) or (isinstance(std, (int, float)) and std == 0):
        raise ValueError("std evaluated to zero, leading to division by zero.")
    center, spread = (vistorch.as_tensor(v, dtype=image.dtype, device=image.device) for v in (mean, std))
    center = center.view(-1, 1, 1) if center.ndim == 1 else center
    spread = spread.view(-1, 1, 1) if spread.ndim == 1 else spread
    return (image.sub_(center) if inplace else image.sub(center)).div_(spread)


def gaussian_blur(inpt: Any, kernel_size: Any, sigma: Any = None) -> Any:
    """Blurred.

    Args:
        inpt: an image or a video.
        kernel_size: the width and height of what flows together; odd numbers.
        sigma: how wide the bell is, in x and y; by default it follows from the size.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms.v2 import functional as F
        >>> F.gaussian_blur(vistorch.eye(3).reshape(1, 3, 3), 3)[0, 1, 1] < 1
        tensor(True)
    """
    return run(gaussian_blur, inpt, kernel_size=kernel_size, sigma=sigma)


def _two(value: Any, name: str) -> list:
    if isinstance(value, (int, float)):
        return [value, value]
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"{name} should be either float or sequence of floats. Got {type(value)}")
    return [value[0], value[0]] if len(value) == 1 and name == "sigma" else list(value)


def _bell(size: int, sigma: float, dtype: Any, device: Any) -> Tensor:
    reach = (size - 1) / (2.0 * math.sqrt(2.0))
    x = vistorch.linspace(-reach, reach, steps=size, dtype=dtype, device=device)
    return vistorch.softmax(x.div(sigma).pow(2).neg(), dim=0)


@images(gaussian_blur)
def gaussian_blur_image(image: Tensor, kernel_size: Any, sigma: Any = None) -> Tensor:
    """`gaussian_blur` of a tensor."""
    sizes = _two(kernel_size, "kernel_size")
    if len(sizes) != 2:
        raise ValueError(f"If kernel_size is a sequence its length should be 2. Got {len(sizes)}")
    if any(size % 2 == 0 or size < 0 for size in sizes):
        raise ValueError(f"kernel_size should have odd and positive integers. Got {sizes}")
    widths = [size * 0.15 + 0.35 for size in sizes] if sigma is None else _two(sigma, "sigma")
    if len(widths) != 2:
        raise ValueError(f"If sigma is a sequence, its length should be 2. Got {len(widths)}")
    if any(width <= 0.0 for width in widths):
        raise ValueError(f"sigma should have positive values. Got {widths}")
    if image.numel() == 0:
        return image
    floats, channels = image.is_floating_point(), image.shape[-3]
    kind = image.dtype if floats else vistorch.float32
    across, down = (_bell(n, s, kind, image.device) for n, s in zip(sizes, widths, strict=True))
    kernel = (down.unsqueeze(-1) * across).expand(channels, 1, sizes[1], sizes[0])
    x = image.reshape(-1, *image.shape[-3:]).to(kind)
    x = nnf.pad(x, [sizes[0] // 2] * 2 + [sizes[1] // 2] * 2, mode="reflect")
    out = nnf.conv2d(x, kernel, groups=channels).reshape(image.shape)
    return out if floats else out.round_().to(image.dtype)


pillow(gaussian_blur, _as_tensor(gaussian_blur_image))


def gaussian_noise(inpt: Any, mean: float = 0.0, sigma: float = 0.1, clip: bool = True) -> Any:
    """With noise added.

    Args:
        inpt: an image or a video, of floats or of bytes.
        mean: of the noise.
        sigma: its standard deviation.
        clip: whether the result stays in its range.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms.v2 import functional as F
        >>> F.gaussian_noise(vistorch.zeros(1, 1, 2), mean=0.5, sigma=0.0)
        tensor([[[0.5000, 0.5000]]])
    """
    return run(gaussian_noise, inpt, mean=mean, sigma=sigma, clip=clip)


@images(gaussian_noise)
def gaussian_noise_image(image: Tensor, mean: float = 0.0, sigma: float = 0.1, clip: bool = True) -> Tensor:
    """`gaussian_noise` of a tensor."""
    if sigma < 0:
        raise ValueError(f"sigma shouldn't be negative. Got {sigma}")
    if image.is_floating_point():
        out = image + (mean + vistorch.randn_like(image) * sigma)
        return out.clamp(0, 1) if clip else out
    if image.dtype is not vistorch.uint8:
        raise ValueError(f"Input tensor is expected to be in uint8 or float dtype, got dtype={image.dtype}")
    noise = mean * 255 + vistorch.randn_like(image, dtype=vistorch.float32) * (sigma * 255)
    out = image + noise.to(vistorch.int16)
    return (out.clamp(0, 255) if clip else out).to(vistorch.uint8)


def _no_noise(image: Any, **given: Any) -> Any:
    raise ValueError("Gaussian Noise is not implemented for PIL images.")


pillow(gaussian_noise, _no_noise)


def erase(inpt: Any, i: int, j: int, h: int, w: int, v: Any, inplace: bool = False) -> Any:
    """With a rectangle filled.

    Args:
        inpt: an image or a video.
        i: the first row.
        j: the first column.
        h: how many rows.
        w: how many columns.
        v: what to put there.
        inplace: change it itself.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms.v2 import functional as F
        >>> F.erase(vistorch.ones(1, 1, 3), 0, 1, 1, 1, 0.0)
        tensor([[[1., 0., 1.]]])
    """
    return run(erase, inpt, i=i, j=j, h=h, w=w, v=v, inplace=inplace)


@images(erase)
def erase_image(image: Tensor, i: int, j: int, h: int, w: int, v: Any, inplace: bool = False) -> Tensor:
    """`erase` of a tensor."""
    out = image if inplace else image.clone()
    out[..., i : i + h, j : j + w] = v
    return out


pillow(erase, _as_tensor(erase_image))


def jpeg(image: Any, quality: int) -> Any:
    """What is left after it was stored as JPEG.

    Args:
        image: an image or a video of bytes.
        quality: from 1 to 100.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms.v2 import functional as F
        >>> F.jpeg(vistorch.full((3, 8, 8), 7, dtype=vistorch.uint8), 50).unique()
        tensor([6], dtype=vistorch.uint8)
    """
    return run(jpeg, image, quality=quality)


@images(jpeg)
def jpeg_image(image: Tensor, quality: int) -> Tensor:
    """`jpeg` of a tensor."""
    from vistorch.vision.io import decode_image, encode_jpeg

    flat = image.reshape(-1, *image.shape[-3:])
    if flat.shape[0] == 0:
        return image.clone()
    stored = [decode_image(encode_jpeg(one, quality=quality)) for one in flat]
    return vistorch.stack(stored).reshape(image.shape)


def _pillow_jpeg(image: Any, quality: int) -> Any:
    from PIL import Image

    file = io.BytesIO()
    image.save(file, format="JPEG", quality=quality)
    return Image.open(file).copy()


pillow(jpeg, _pillow_jpeg)


def uniform_temporal_subsample(inpt: Any, num_samples: int) -> Any:
    """So many frames of a video, equally far apart.

    Args:
        inpt: a video.
        num_samples: how many.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms.v2 import functional as F
        >>> F.uniform_temporal_subsample(vistorch.arange(8.0).reshape(8, 1, 1, 1), 3).flatten()
        tensor([0., 3., 7.])
    """
    return run(uniform_temporal_subsample, inpt, num_samples=num_samples)


def uniform_temporal_subsample_video(video: Tensor, num_samples: int) -> Tensor:
    """`uniform_temporal_subsample` of a tensor."""
    at = vistorch.linspace(0, video.shape[-4] - 1, num_samples, device=video.device).long()
    return vistorch.index_select(video, -4, at)


def _subsampled(video: Any, num_samples: int) -> Any:
    return tv_tensors.wrap(
        uniform_temporal_subsample_video(video.as_subclass(Tensor), num_samples), like=video
    )


asked(uniform_temporal_subsample, video=_subsampled)
asked(uniform_temporal_subsample, plain=uniform_temporal_subsample_video)


# ---- what is no longer in the picture ------------------------------------------------------------------------------
def boxes_that_are_valid(
    boxes: Tensor, format: Any, canvas_size: Any, min_size: float = 1.0, min_area: float = 1.0
) -> Tensor:
    """Which boxes are in the picture and large enough."""
    height, width = canvas_size
    turned = is_rotated_bounding_format(format)
    x = converted(boxes.as_subclass(Tensor), format, plainest(format))
    if turned:
        wide = vistorch.sqrt((x[..., 0] - x[..., 2]).pow(2) + (x[..., 1] - x[..., 3]).pow(2))
        high = vistorch.sqrt((x[..., 3] - x[..., 5]).pow(2) + (x[..., 4] - x[..., 6]).pow(2))
    else:
        wide, high = x[:, 2] - x[:, 0], x[:, 3] - x[:, 1]
    valid = (wide >= min_size) & (high >= min_size) & (x >= 0).all(dim=-1) & (wide * high >= min_area)
    return valid & (x[:, 0::2] <= width).all(dim=-1) & (x[:, 1::2] <= height).all(dim=-1)


def sanitize_bounding_boxes(
    bounding_boxes: Any,
    format: Any = None,
    canvas_size: Any = None,
    min_size: float = 1.0,
    min_area: float = 1.0,
) -> tuple[Any, Tensor]:
    """The boxes that are in the picture and large enough, and which those are.

    Args:
        bounding_boxes: the boxes; plain tensors need `format` and `canvas_size`.
        format: their format.
        canvas_size: height and width of the picture.
        min_size: the smallest width and height.
        min_area: the smallest area.

    Example:
        >>> from vistorch.vision import tv_tensors
        >>> from vistorch.vision.transforms.v2 import functional as F
        >>> boxes = tv_tensors.BoundingBoxes([[1, 1, 5, 5], [2, 2, 2, 9]], format="XYXY", canvas_size=(8, 8))
        >>> F.sanitize_bounding_boxes(boxes)[1]
        tensor([ True, False])
    """
    if is_pure_tensor(bounding_boxes):
        if format is None or canvas_size is None:
            raise ValueError(
                f"format and canvas_size cannot be None if bounding_boxes is a pure tensor. Got format={format} and "
                f"canvas_size={canvas_size}.Set those to appropriate values or pass bounding_boxes as a "
                "tv_tensors.BoundingBoxes object."
            )
        valid = boxes_that_are_valid(bounding_boxes, format_of(format), canvas_size, min_size, min_area)
        return bounding_boxes[valid], valid
    if not isinstance(bounding_boxes, BoundingBoxes):
        raise ValueError("bounding_boxes must be a tv_tensors.BoundingBoxes instance or a pure tensor.")
    if format is not None or canvas_size is not None:
        raise ValueError(
            "format and canvas_size must be None when bounding_boxes is a tv_tensors.BoundingBoxes instance. Got "
            f"format={format} and canvas_size={canvas_size}. Leave those to None or pass bounding_boxes as a pure "
            "tensor."
        )
    own = bounding_boxes
    valid = boxes_that_are_valid(own, own.format, own.canvas_size, min_size, min_area)
    return tv_tensors.wrap(own.as_subclass(Tensor)[valid], like=own), valid


def points_that_are_valid(points: Tensor, canvas_size: Any) -> Tensor:
    """Which points, or groups of them, are in the picture."""
    height, width = canvas_size
    x, y = points[..., 0], points[..., 1]
    valid = (x >= 0) & (x < width) & (y >= 0) & (y < height)
    return valid.flatten(start_dim=1).all(dim=1) if valid.ndim > 1 else valid


def sanitize_keypoints(key_points: Any, canvas_size: Any = None) -> tuple[Any, Tensor]:
    """The points that are in the picture, and which those are.

    Args:
        key_points: the points; plain tensors need `canvas_size`.
        canvas_size: height and width of the picture.

    Example:
        >>> from vistorch.vision import tv_tensors
        >>> from vistorch.vision.transforms.v2 import functional as F
        >>> F.sanitize_keypoints(tv_tensors.KeyPoints([[1, 1], [9, 1]], canvas_size=(8, 8)))[1]
        tensor([ True, False])
    """
    if is_pure_tensor(key_points):
        if canvas_size is None:
            raise ValueError(
                "canvas_size cannot be None if key_points is a pure tensor. Set it to an appropriate value or pass "
                "key_points as a tv_tensors.KeyPoints object."
            )
        valid = points_that_are_valid(key_points, canvas_size)
        return key_points[valid], valid
    if not isinstance(key_points, KeyPoints):
        raise ValueError("key_points must be a tv_tensors.KeyPoints instance or a pure tensor.")
    if canvas_size is not None:
        raise ValueError(
            "canvas_size must be None when key_points is a tv_tensors.KeyPoints instance. Got "
            f"canvas_size={canvas_size}. Leave it to None or pass key_points as a pure tensor."
        )
    valid = points_that_are_valid(key_points.as_subclass(Tensor), key_points.canvas_size)
    return tv_tensors.wrap(key_points.as_subclass(Tensor)[valid], like=key_points), valid


normalize_video, gaussian_blur_video = normalize_image, gaussian_blur_image
gaussian_noise_video, erase_video, jpeg_video = gaussian_noise_image, erase_image, jpeg_image
