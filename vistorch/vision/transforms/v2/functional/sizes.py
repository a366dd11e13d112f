"""How large an input is: its channels, height, width and frames.

Invariant: nothing is read but shapes, and for boxes and points the size of their picture.
"""

from __future__ import annotations

import warnings
from typing import Any

from vistorch import Tensor

from ... import images as first
from .dispatch import asked, run

__all__ = [
    "get_dimensions",
    "get_image_num_channels",
    "get_image_size",
    "get_num_channels",
    "get_num_frames",
    "get_size",
]


def get_dimensions(inpt: Any) -> list[int]:
    """Channels, height and width.

    Args:
        inpt: an image or a video.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms.v2 import functional as F
        >>> F.get_dimensions(vistorch.zeros(3, 20, 30))
        [3, 20, 30]
    """
    return run(get_dimensions, inpt)


def get_dimensions_image(image: Tensor) -> list[int]:
    """`get_dimensions` of a tensor."""
    if image.ndim < 2:
        raise TypeError(f"Input tensor should have at least two dimensions, but got {image.ndim}")
    return [1, *image.shape] if image.ndim == 2 else list(image.shape[-3:])


def get_num_channels(inpt: Any) -> int:
    """How many channels there are.

    Args:
        inpt: an image or a video.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms.v2 import functional as F
        >>> F.get_num_channels(vistorch.zeros(3, 20, 30))
        3
    """
    return run(get_num_channels, inpt)


def get_num_channels_image(image: Tensor) -> int:
    """`get_num_channels` of a tensor."""
    return get_dimensions_image(image)[0]


def get_size(inpt: Any) -> list[int]:
    """Height and width; of boxes and points, those of their picture.

    Args:
        inpt: an image, a video, a mask, boxes or points.

    Example:
        >>> from vistorch.vision import tv_tensors
        >>> from vistorch.vision.transforms.v2 import functional as F
        >>> F.get_size(tv_tensors.KeyPoints([[1, 2]], canvas_size=(8, 9)))
        [8, 9]
    """
    return run(get_size, inpt)


def get_size_image(image: Tensor) -> list[int]:
    """`get_size` of a tensor."""
    if image.ndim < 2:
        raise TypeError(f"Input tensor should have at least two dimensions, but got {image.ndim}")
    return list(image.shape[-2:])


def get_size_bounding_boxes(bounding_box: Any) -> list[int]:
    """`get_size` of boxes."""
    return list(bounding_box.canvas_size)


def get_size_keypoints(keypoints: Any) -> list[int]:
    """`get_size` of points."""
    return list(keypoints.canvas_size)


def get_num_frames(inpt: Any) -> int:
    """How many pictures a video has.

    Args:
        inpt: a video: (..., T, C, H, W).

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms.v2 import functional as F
        >>> F.get_num_frames(vistorch.zeros(8, 3, 20, 30))
        8
    """
    return run(get_num_frames, inpt)


def get_num_frames_video(video: Tensor) -> int:
    """`get_num_frames` of a tensor."""
    return video.shape[-4]


def get_image_size(inpt: Any) -> list[int]:
    """Width and height, with a warning: `get_size` gives them the other way round.

    Args:
        inpt: an image.

    Example:
        >>> import vistorch, warnings
        >>> from vistorch.vision.transforms.v2 import functional as F
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     F.get_image_size(vistorch.zeros(3, 20, 30))
        [30, 20]
    """
    warnings.warn(
        "The function `get_image_size(...)` is deprecated and will be removed in a future release. Instead, please use "
        "`get_size(...)` which returns `[h, w]` instead of `[w, h]`.",
        stacklevel=2,
    )
    return first.get_image_size(inpt)


get_image_num_channels = get_num_channels
get_dimensions_video, get_num_channels_video = get_dimensions_image, get_num_channels_image
get_size_video = get_size_mask = get_size_image

asked(get_dimensions, image=get_dimensions_image, video=get_dimensions_image, pillow=first.get_dimensions)
asked(
    get_num_channels,
    image=get_num_channels_image,
    video=get_num_channels_image,
    pillow=first.get_image_num_channels,
)
asked(
    get_size,
    image=get_size_image,
    video=get_size_image,
    mask=get_size_image,
    boxes=get_size_bounding_boxes,
    points=get_size_keypoints,
    pillow=lambda image: first.get_image_size(image)[::-1],
)
asked(get_num_frames, image=get_num_frames_video, video=get_num_frames_video)
