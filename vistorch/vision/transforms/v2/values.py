"""Transforms of values: types, normalization, blur, noise, functions; and of what is no longer in the picture.

Invariant: what is random is drawn in torchvision's order and by its calls.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import vistorch
from vistorch import Tensor
from vistorch.utils._pytree import tree_flatten, tree_unflatten

from ... import tv_tensors
from ...tv_tensors import BoundingBoxes, Image, KeyPoints, Mask, TVTensor, Video
from .. import colors
from .. import functional as first_functional
from .. import values as first
from ..images import is_pil
from ..sizes import pair
from . import functional as F
from .arguments import between, two_numbers
from .functional import is_pure_tensor
from .functional.values import boxes_that_are_valid, points_that_are_valid
from .queries import get_bounding_boxes, get_keypoints, has_any, labels_getter
from .transform import Transform


class _NoPillow(Transform):
    """What Pillow's pictures are refused by."""

    def check_inputs(self, flat_inputs: list[Any]) -> None:
        """See `Transform`."""
        if has_any(flat_inputs, is_pil):
            raise TypeError(f"{type(self).__name__}() does not support PIL images.")


class Identity(Transform):
    """What is given, as it is.

    Example:
        >>> from vistorch.vision.transforms import v2
        >>> v2.Identity()("anything")
        'anything'
    """

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        return inpt


class Lambda(Transform):
    """A function of one's own.

    Args:
        lambd: the function of one part.
        *types: of which classes the parts are that it gets; all by default.

    Example:
        >>> from vistorch.vision.transforms import v2
        >>> v2.Lambda(lambda number: number + 1, int)({"a": 1, "b": "c"})
        {'a': 2, 'b': 'c'}
    """

    _transformed_types = (object,)

    def __init__(self, lambd: Callable[[Any], Any], *types: type) -> None:
        super().__init__()
        self.lambd = lambd
        self.types = types or self._transformed_types

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        return self.lambd(inpt) if isinstance(inpt, self.types) else inpt

    def extra_repr(self) -> str:
        """The function and the classes."""
        name = getattr(self.lambd, "__name__", None)
        return ", ".join(filter(None, [name, f"types={[one.__name__ for one in self.types]}"]))


class LinearTransformation(_NoPillow):
    """A picture as one row of numbers, less a mean, times a matrix.

    Args:
        transformation_matrix: (D, D).
        mean_vector: D numbers.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import v2
        >>> v2.LinearTransformation(2 * vistorch.eye(2), vistorch.ones(2))(vistorch.zeros(1, 1, 2))
        tensor([[[-2., -2.]]])
    """

    _v1_transform_cls = first.LinearTransformation
    _transformed_types = (is_pure_tensor, Image, Video)

    def __init__(self, transformation_matrix: Tensor, mean_vector: Tensor) -> None:
        super().__init__()
        rows, columns = transformation_matrix.shape
        if rows != columns:
            raise ValueError(
                f"transformation_matrix should be square. Got {(rows, columns)} rectangular matrix."
            )
        if mean_vector.size(0) != rows:
            raise ValueError(
                f"mean_vector should have the same length {mean_vector.size(0)} as any one of the dimensions of the "
                f"transformation_matrix [{(rows, columns)}]"
            )
        if transformation_matrix.device != mean_vector.device:
            raise ValueError(
                f"Input tensors should be on the same device. Got {transformation_matrix.device} and "
                f"{mean_vector.device}"
            )
        if transformation_matrix.dtype != mean_vector.dtype:
            raise ValueError(
                f"Input tensors should have the same dtype. Got {transformation_matrix.dtype} and {mean_vector.dtype}"
            )
        self.transformation_matrix = transformation_matrix
        self.mean_vector = mean_vector

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        channels, height, width = inpt.shape[-3:]
        numbers = channels * height * width
        if numbers != self.transformation_matrix.shape[0]:
            raise ValueError(
                f"Input tensor and transformation matrix have incompatible shape.[{channels} x {height} x {width}] != "
                f"{self.transformation_matrix.shape[0]}"
            )
        if inpt.device.type != self.mean_vector.device.type:
            raise ValueError(
                "Input tensor should be on the same device as transformation matrix and mean vector. Got "
                f"{inpt.device} vs {self.mean_vector.device}"
            )
        row = inpt.reshape(-1, numbers) - self.mean_vector
        out = vistorch.mm(row, self.transformation_matrix.to(row.dtype)).reshape(inpt.shape)
        return tv_tensors.wrap(out, like=inpt) if isinstance(inpt, TVTensor) else out


class Normalize(_NoPillow):
    """Each channel less its mean, divided by its standard deviation.

    Args:
        mean: of each channel.
        std: of each channel.
        inplace: change the picture itself.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import v2
        >>> v2.Normalize([0.5], [0.5])(vistorch.tensor([[[0.0, 1.0]]]))
        tensor([[[-1.,  1.]]])
    """

    _v1_transform_cls = first.Normalize

    def __init__(self, mean: Sequence[float], std: Sequence[float], inplace: bool = False) -> None:
        super().__init__()
        self.mean = list(mean)
        self.std = list(std)
        self.inplace = inplace

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        return self._call_kernel(F.normalize, inpt, mean=self.mean, std=self.std, inplace=self.inplace)


class GaussianBlur(Transform):
    """A picture blurred.

    Args:
        kernel_size: the width and height of what flows together; odd numbers.
        sigma: from how wide to how wide the bell is.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import v2
        >>> v2.GaussianBlur(3)(vistorch.zeros(1, 4, 4)).sum()
        tensor(0.)
    """

    _v1_transform_cls = colors.GaussianBlur

    def __init__(self, kernel_size: Any, sigma: Any = (0.1, 2.0)) -> None:
        super().__init__()
        self.kernel_size = pair(kernel_size, "Kernel size should be a tuple/list of two integers")
        if any(size <= 0 or size % 2 == 0 for size in self.kernel_size):
            raise ValueError("Kernel size value should be an odd and positive number.")
        self.sigma = two_numbers(sigma, "sigma")
        if not 0.0 < self.sigma[0] <= self.sigma[1]:
            raise ValueError(f"sigma values should be positive and of the form (min, max). Got {self.sigma}")

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        """See `Transform`."""
        return {"sigma": [between(self.sigma[0], self.sigma[1])] * 2}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        return self._call_kernel(F.gaussian_blur, inpt, self.kernel_size, **params)


class GaussianNoise(Transform):
    """A picture with noise added.

    Args:
        mean: of the noise.
        sigma: its standard deviation.
        clip: whether the result stays in its range.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import v2
        >>> v2.GaussianNoise(mean=0.5, sigma=0.0)(vistorch.zeros(1, 1, 2))
        tensor([[[0.5000, 0.5000]]])
    """

    def __init__(self, mean: float = 0.0, sigma: float = 0.1, clip: bool = True) -> None:
        super().__init__()
        self.mean = mean
        self.sigma = sigma
        self.clip = clip

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        return self._call_kernel(F.gaussian_noise, inpt, mean=self.mean, sigma=self.sigma, clip=self.clip)


# ---- types and kinds -----------------------------------------------------------------------------------------------
class ToDtype(Transform):
    """As another type.

    Args:
        dtype: the type of pictures and videos, or a dict of types by class, with "others".
        scale: whether the values of pictures and videos are scaled to its range.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import v2
        >>> v2.ToDtype(vistorch.float32, scale=True)(vistorch.tensor([[[0, 255]]], dtype=vistorch.uint8))
        tensor([[[0., 1.]]])
    """

    _transformed_types = (Tensor,)

    def __init__(self, dtype: Any, scale: bool = False) -> None:
        super().__init__()
        if not isinstance(dtype, (dict, vistorch.dtype)):
            raise ValueError(f"dtype must be a dict or a torch.dtype, got {type(dtype)} instead")
        if isinstance(dtype, dict) and Tensor in dtype and (Image in dtype or Video in dtype):
            warnings.warn(
                "Got `dtype` values for `torch.Tensor` and either `tv_tensors.Image` or `tv_tensors.Video`. Note that "
                "a plain `torch.Tensor` will *not* be transformed by this (or any other transformation) in case a "
                "`tv_tensors.Image` or `tv_tensors.Video` is present in the input.",
                stacklevel=2,
            )
        self.dtype = dtype
        self.scale = scale

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        picture = is_pure_tensor(inpt) or isinstance(inpt, (Image, Video))
        if not isinstance(self.dtype, dict):
            return (
                self._call_kernel(F.to_dtype, inpt, dtype=self.dtype, scale=self.scale) if picture else inpt
            )
        if type(inpt) not in self.dtype and "others" not in self.dtype:
            raise ValueError(
                f"No dtype was specified for type {type(inpt)}. If you only need to convert the dtype of images or "
                "videos, you can just pass e.g. dtype=torch.float32. If you're passing a dict as dtype, you can use "
                '"others" as a catch-all key e.g. dtype={tv_tensors.Mask: torch.int64, "others": None} to pass-through '
                "the rest of the inputs."
            )
        dtype = self.dtype.get(type(inpt), self.dtype.get("others"))
        if dtype is not None:
            return self._call_kernel(F.to_dtype, inpt, dtype=dtype, scale=self.scale)
        if self.scale and picture:
            warnings.warn(
                "scale was set to True but no dtype was specified for images or videos: no scaling will be done.",
                stacklevel=2,
            )
        return inpt


class ConvertImageDtype(Transform):
    """A picture as another type, its values scaled to that range.

    Args:
        dtype: the type.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import v2
        >>> v2.ConvertImageDtype(vistorch.uint8)(vistorch.ones(1, 1, 1))
        tensor([[[255]]], dtype=vistorch.uint8)
    """

    _v1_transform_cls = first.ConvertImageDtype

    def __init__(self, dtype: Any = vistorch.float32) -> None:
        super().__init__()
        self.dtype = dtype

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        return self._call_kernel(F.to_dtype, inpt, dtype=self.dtype, scale=True)


def is_array(part: Any) -> bool:
    """Whether it is numpy's array."""
    return isinstance(part, np.ndarray)


class PILToTensor(Transform):
    """A picture of Pillow's as a tensor of bytes.

    Example:
        >>> from PIL import Image
        >>> from vistorch.vision.transforms import v2
        >>> v2.PILToTensor()(Image.new("RGB", (6, 4))).shape
        vistorch.Size([3, 4, 6])
    """

    _transformed_types = (is_pil,)

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        return F.pil_to_tensor(inpt)


class ToImage(Transform):
    """Tensors, arrays and pictures of Pillow's as an Image.

    Example:
        >>> import numpy
        >>> from vistorch.vision.transforms import v2
        >>> type(v2.ToImage()(numpy.zeros((4, 6, 3)))).__name__
        'Image'
    """

    _transformed_types = (is_pure_tensor, is_pil, is_array)

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        return F.to_image(inpt)


class ToPILImage(Transform):
    """Tensors and arrays as a picture of Pillow's.

    Args:
        mode: Pillow's mode of it; by default it follows from the channels.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import v2
        >>> v2.ToPILImage()(vistorch.zeros(3, 4, 6)).size
        (6, 4)
    """

    _transformed_types = (is_pure_tensor, Image, is_array)

    def __init__(self, mode: str | None = None) -> None:
        super().__init__()
        self.mode = mode

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        return F.to_pil_image(inpt.as_subclass(Tensor) if isinstance(inpt, Tensor) else inpt, mode=self.mode)


class ToPureTensor(Transform):
    """What knows what it is, as plain tensors.

    Example:
        >>> import vistorch
        >>> from vistorch.vision import tv_tensors
        >>> from vistorch.vision.transforms import v2
        >>> type(v2.ToPureTensor()(tv_tensors.Mask([[1]]))).__name__
        'Tensor'
    """

    _transformed_types = (TVTensor,)

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        return inpt.as_subclass(Tensor)


class ToTensor(Transform):
    """A tensor of floats from 0 to 1, with a warning: `ToImage` and `ToDtype` take its place.

    Example:
        >>> import numpy, warnings
        >>> from vistorch.vision.transforms import v2
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     v2.ToTensor()(numpy.full((1, 2, 1), 255, "u1"))
        tensor([[[1., 1.]]])
    """

    _transformed_types = (is_pil, is_array)

    def __init__(self) -> None:
        warnings.warn(
            "The transform `ToTensor()` is deprecated and will be removed in a future release. Instead, please use "
            "`v2.Compose([v2.ToImage(), v2.ToDtype(torch.float32, scale=True)])`.Output is equivalent up to float "
            "precision.",
            stacklevel=2,
        )
        super().__init__()

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        return first_functional.to_tensor(inpt)


class UniformTemporalSubsample(Transform):
    """So many frames of a video, equally far apart.

    Args:
        num_samples: how many.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import v2
        >>> v2.UniformTemporalSubsample(3)(vistorch.arange(8.0).reshape(8, 1, 1, 1)).flatten()
        tensor([0., 3., 7.])
    """

    _transformed_types = (Tensor,)

    def __init__(self, num_samples: int) -> None:
        super().__init__()
        self.num_samples = num_samples

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        return self._call_kernel(F.uniform_temporal_subsample, inpt, self.num_samples)


# ---- boxes and points ----------------------------------------------------------------------------------------------
class ConvertBoundingBoxFormat(Transform):
    """Boxes in another format.

    Args:
        format: the format, or its name.

    Example:
        >>> from vistorch.vision import tv_tensors
        >>> from vistorch.vision.transforms import v2
        >>> boxes = tv_tensors.BoundingBoxes([[1, 2, 4, 6]], format="XYXY", canvas_size=(8, 8))
        >>> v2.ConvertBoundingBoxFormat("XYWH")(boxes).tolist()
        [[1, 2, 3, 4]]
    """

    _transformed_types = (BoundingBoxes,)

    def __init__(self, format: Any) -> None:
        super().__init__()
        self.format = format

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        return F.convert_bounding_box_format(inpt, new_format=self.format)


class ClampBoundingBoxes(Transform):
    """Boxes without what lies outside of their picture.

    Args:
        clamping_mode: "soft", "hard", None, or "auto": what the boxes say.

    Example:
        >>> from vistorch.vision import tv_tensors
        >>> from vistorch.vision.transforms import v2
        >>> boxes = tv_tensors.BoundingBoxes([[-1, 2, 30, 6]], format="XYXY", canvas_size=(8, 9))
        >>> v2.ClampBoundingBoxes()(boxes).tolist()
        [[0, 2, 9, 6]]
    """

    _transformed_types = (BoundingBoxes,)

    def __init__(self, clamping_mode: str | None = "auto") -> None:
        super().__init__()
        self.clamping_mode = clamping_mode

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        return F.clamp_bounding_boxes(inpt, clamping_mode=self.clamping_mode)


class ClampKeyPoints(Transform):
    """Points moved into their picture.

    Example:
        >>> from vistorch.vision import tv_tensors
        >>> from vistorch.vision.transforms import v2
        >>> v2.ClampKeyPoints()(tv_tensors.KeyPoints([[-1, 20]], canvas_size=(8, 9))).tolist()
        [[0, 7]]
    """

    _transformed_types = (KeyPoints,)

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        return F.clamp_keypoints(inpt)


class SetClampingMode(Transform):
    """Boxes that are cut off in another way from here on.

    Args:
        clamping_mode: "soft", "hard" or None.

    Example:
        >>> from vistorch.vision import tv_tensors
        >>> from vistorch.vision.transforms import v2
        >>> boxes = tv_tensors.BoundingBoxes([[1, 2, 4, 6]], format="XYXY", canvas_size=(8, 8))
        >>> v2.SetClampingMode("hard")(boxes).clamping_mode
        'hard'
    """

    _transformed_types = (BoundingBoxes,)

    def __init__(self, clamping_mode: str | None) -> None:
        super().__init__()
        self.clamping_mode = clamping_mode
        if clamping_mode not in (None, "soft", "hard"):
            raise ValueError(f"clamping_mode must be soft, hard or None, got {clamping_mode}")

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        out = inpt.clone()
        out.clamping_mode = self.clamping_mode
        return out


class _Sanitized(Transform):
    """What leaves things out of a sample, and their labels with them."""

    _labels_getter: Callable[[Any], Any]
    _named: str

    def _valid(self, flat_inputs: list[Any]) -> tuple[Any, Tensor]:
        """What is looked at, and what of it stays."""
        raise NotImplementedError

    def forward(self, *inputs: Any) -> Any:
        """Leave out what is not valid.

        Args:
            *inputs: the sample, or its parts.
        """
        sample = inputs[0] if len(inputs) == 1 else inputs
        labels = self._labels_getter(sample)
        if labels is not None:
            labels = labels if isinstance(labels, (tuple, list)) else (labels,)
            for label in labels:
                if not isinstance(label, Tensor):
                    raise ValueError(
                        f"The labels in the input to forward() must be a tensor or None, got {type(label)} instead."
                    )
        parts, form = tree_flatten(sample)
        things, valid = self._valid(parts)
        for label in labels or ():
            if things.shape[0] != label.shape[0]:
                raise ValueError(
                    f"Number of {self._named} (shape={things.shape}) must match the number of labels."
                    f"Found labels with shape={label.shape})."
                )
        params = {"valid": valid, "labels": labels}
        return tree_unflatten([self.transform(part, params) for part in parts], form)

    def _chosen(self, inpt: Any, params: dict[str, Any], *kinds: type) -> Any:
        if any(inpt is label for label in params["labels"] or ()):
            return inpt[params["valid"]]
        if isinstance(inpt, kinds):
            return tv_tensors.wrap(inpt.as_subclass(Tensor)[params["valid"]], like=inpt)
        return inpt


class SanitizeBoundingBoxes(_Sanitized):
    """A sample without boxes that left the picture or became too small, and without their labels and masks.

    Args:
        min_size: the smallest width and height.
        min_area: the smallest area.
        labels_getter: a function that finds the labels in the sample, "default", or None.

    Example:
        >>> import vistorch
        >>> from vistorch.vision import tv_tensors
        >>> from vistorch.vision.transforms import v2
        >>> boxes = tv_tensors.BoundingBoxes([[1, 1, 5, 5], [2, 2, 2, 9]], format="XYXY", canvas_size=(8, 8))
        >>> v2.SanitizeBoundingBoxes()({"boxes": boxes, "labels": vistorch.tensor([3, 4])})["labels"]
        tensor([3])
    """

    _named = "boxes"

    def __init__(self, min_size: float = 1.0, min_area: float = 1.0, labels_getter: Any = "default") -> None:
        super().__init__()
        if min_size < 1:
            raise ValueError(f"min_size must be >= 1, got {min_size}.")
        if min_area < 1:
            raise ValueError(f"min_area must be >= 1, got {min_area}.")
        self.min_size = min_size
        self.min_area = min_area
        self.labels_getter = labels_getter
        self._labels_getter = _getter(labels_getter)

    def _valid(self, flat_inputs: list[Any]) -> tuple[Any, Tensor]:
        boxes = get_bounding_boxes(flat_inputs)
        limits = (self.min_size, self.min_area)
        return boxes, boxes_that_are_valid(boxes, boxes.format, boxes.canvas_size, *limits)

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        try:
            return self._chosen(inpt, params, BoundingBoxes, Mask)
        except IndexError:  # a mask that is not one for each box
            return inpt


class SanitizeKeyPoints(_Sanitized):
    """A sample without points that left the picture, and without their labels.

    Args:
        labels_getter: a function that finds the labels in the sample, "default", or None.

    Example:
        >>> from vistorch.vision import tv_tensors
        >>> from vistorch.vision.transforms import v2
        >>> v2.SanitizeKeyPoints()(tv_tensors.KeyPoints([[1, 1], [9, 1]], canvas_size=(8, 8))).tolist()
        [[1, 1]]
    """

    _named = "keypoints"

    def __init__(self, labels_getter: Any = None) -> None:
        super().__init__()
        self.labels_getter = labels_getter
        self._labels_getter = _getter(labels_getter)

    def _valid(self, flat_inputs: list[Any]) -> tuple[Any, Tensor]:
        points = get_keypoints(flat_inputs)
        return points, points_that_are_valid(points.as_subclass(Tensor), points.canvas_size)

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        return self._chosen(inpt, params, KeyPoints)


_getter = labels_getter
