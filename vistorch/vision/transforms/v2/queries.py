"""What is asked of the parts of a sample: of which kind they are, and how large their picture is.

Invariant: nothing is changed; a sample has come here as the flat list of its parts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...tv_tensors import BoundingBoxes, Image, KeyPoints, Mask, Video
from ..images import is_pil
from .functional import get_dimensions, get_size, is_pure_tensor

PICTURES = (is_pure_tensor, is_pil, Image, Video)


def check_type(obj: Any, types_or_checks: Any) -> bool:
    """Whether it is of one of these classes, or one of these functions says so.

    Args:
        obj: anything.
        types_or_checks: classes and functions.

    Example:
        >>> from vistorch.vision.transforms.v2 import check_type
        >>> check_type(1, (str, lambda x: x == 1))
        True
    """
    return any(isinstance(obj, one) if isinstance(one, type) else one(obj) for one in types_or_checks)


def has_any(flat_inputs: list[Any], *types_or_checks: Any) -> bool:
    """Whether one of the parts is of one of these kinds.

    Args:
        flat_inputs: the parts.
        *types_or_checks: classes and functions.

    Example:
        >>> from vistorch.vision.transforms.v2 import has_any
        >>> has_any([1, "a"], str, list)
        True
    """
    return any(check_type(part, types_or_checks) for part in flat_inputs)


def has_all(flat_inputs: list[Any], *types_or_checks: Any) -> bool:
    """Whether there is a part of each of these kinds.

    Args:
        flat_inputs: the parts.
        *types_or_checks: classes and functions.

    Example:
        >>> from vistorch.vision.transforms.v2 import has_all
        >>> has_all([1, "a"], str, list)
        False
    """
    return all(has_any(flat_inputs, one) for one in types_or_checks)


def get_bounding_boxes(flat_inputs: list[Any]) -> Any:
    """The boxes of a sample, the first where there are more.

    Args:
        flat_inputs: the parts.

    Example:
        >>> from vistorch.vision import tv_tensors
        >>> from vistorch.vision.transforms.v2 import get_bounding_boxes
        >>> boxes = tv_tensors.BoundingBoxes([[0, 0, 1, 1]], format="XYXY", canvas_size=(2, 2))
        >>> get_bounding_boxes([1, boxes]) is boxes
        True
    """
    for part in flat_inputs:
        if isinstance(part, BoundingBoxes):
            return part
    raise ValueError("No bounding boxes were found in the sample")


def get_keypoints(flat_inputs: list[Any]) -> Any:
    """The points of a sample, the first where there are more.

    Args:
        flat_inputs: the parts.

    Example:
        >>> from vistorch.vision import tv_tensors
        >>> from vistorch.vision.transforms.v2 import get_keypoints
        >>> points = tv_tensors.KeyPoints([[0, 0]], canvas_size=(2, 2))
        >>> get_keypoints([1, points]) is points
        True
    """
    for part in flat_inputs:
        if isinstance(part, KeyPoints):
            return part
    raise ValueError("No keypoints were found in the sample")


def query_chw(flat_inputs: list[Any]) -> tuple[int, int, int]:
    """Channels, height and width of the pictures, which must agree.

    Args:
        flat_inputs: the parts.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms.v2 import query_chw
        >>> query_chw([vistorch.zeros(3, 4, 6), "label"])
        (3, 4, 6)
    """
    found = {tuple(get_dimensions(part)) for part in flat_inputs if check_type(part, PICTURES)}
    if not found:
        raise TypeError("No image or video was found in the sample")
    if len(found) > 1:
        raise ValueError(f"Found multiple CxHxW dimensions in the sample: {_listed(found)}")
    channels, height, width = found.pop()
    return channels, height, width


def query_size(flat_inputs: list[Any]) -> tuple[int, int]:
    """Height and width of the pictures and of what lies in them, which must agree.

    Args:
        flat_inputs: the parts.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms.v2 import query_size
        >>> query_size([vistorch.zeros(3, 4, 6), "label"])
        (4, 6)
    """
    kinds = (*PICTURES, Mask, BoundingBoxes, KeyPoints)
    found = {tuple(get_size(part)) for part in flat_inputs if check_type(part, kinds)}
    if not found:
        raise TypeError("No image, video, mask, bounding box of keypoint was found in the sample")
    if len(found) > 1:
        raise ValueError(f"Found multiple HxW dimensions in the sample: {_listed(found)}")
    height, width = found.pop()
    return height, width


def _listed(found: set) -> str:
    *most, last = (str(one) for one in sorted(found))
    return f"{', '.join(most)} and {last}"


# ---- labels --------------------------------------------------------------------------------------------------------
def labels_getter(given: Any) -> Callable[[Any], Any]:
    """The function that finds the labels in a sample.

    Args:
        given: "default", a function, or None.
    """
    if given is None:
        return lambda sample: None
    if callable(given):
        return given
    if given != "default":
        raise ValueError(f"labels_getter should either be 'default', a callable, or None, but got {given}.")
    return _labels


def _labels(sample: Any) -> Any:
    """The second part, or what is called labels in it, or in the sample."""
    if isinstance(sample, (tuple, list)):
        sample = sample[1]
    if is_pure_tensor(sample):
        return sample
    if not isinstance(sample, Mapping):
        raise ValueError(
            "When using the default labels_getter, the input passed to forward must be a dictionary or a two-tuple "
            f"whose second item is a dictionary or a tensor, but got {sample} instead."
        )
    keys = [key for key in sample if key.lower() == "labels"]
    keys += [key for key in sample if "label" in key.lower()]
    if not keys:
        raise ValueError(
            "Could not infer where the labels are in the sample. Try passing a callable as the labels_getter "
            "parameter?If there are no labels in the sample by design, pass labels_getter=None."
        )
    return sample[keys[0]]
