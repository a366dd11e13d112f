"""Transforms that put something else in a picture: a rectangle, another picture, traces of JPEG.

Invariant: what is random is drawn in torchvision's order and by its calls.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import vistorch
from vistorch import Tensor
from vistorch.nn.functional import one_hot
from vistorch.utils._pytree import tree_flatten, tree_unflatten

from ... import tv_tensors
from ...tv_tensors import BoundingBoxes, Image, KeyPoints, Mask, TVTensor, Video
from .. import values as first
from ..images import is_pil
from ..sizes import sequence
from . import functional as F
from .arguments import below, rectangle
from .functional import is_pure_tensor
from .queries import has_any, labels_getter, query_chw, query_size
from .transform import RandomApplied, Transform


class RandomErasing(RandomApplied):
    """Some pictures with a rectangle erased.

    Args:
        p: how many of them, as a part of 1.
        scale: from which to which part of the area.
        ratio: from which to which height / width.
        value: what to put there: a number, one for each channel, or "random".
        inplace: change the picture itself.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import v2
        >>> bool((v2.RandomErasing(p=1.0)(vistorch.ones(3, 8, 8)) == 0).any())
        True
    """

    _v1_transform_cls = first.RandomErasing

    def __init__(
        self,
        p: float = 0.5,
        scale: Sequence[float] = (0.02, 0.33),
        ratio: Sequence[float] = (0.3, 3.3),
        value: Any = 0.0,
        inplace: bool = False,
    ) -> None:
        super().__init__(p=p)
        if not isinstance(value, (int, float, str, tuple, list)):
            raise TypeError("Argument value should be either a number or str or a sequence")
        if isinstance(value, str) and value != "random":
            raise ValueError("If value is str, it should be 'random'")
        if not isinstance(scale, Sequence):
            raise TypeError("Scale should be a sequence")
        if not isinstance(ratio, Sequence):
            raise TypeError("Ratio should be a sequence")
        if scale[0] > scale[1] or ratio[0] > ratio[1]:
            warnings.warn("Scale and ratio should be of kind (min, max)", stacklevel=2)
        if scale[0] < 0 or scale[1] > 1:
            raise ValueError("Scale should be between 0 and 1")
        self.scale = scale
        self.ratio = ratio
        many = value if isinstance(value, (list, tuple)) else [value]
        self.value = None if isinstance(value, str) else [float(v) for v in many]
        self.inplace = inplace
        self._log_ratio = vistorch.log(vistorch.tensor(self.ratio))

    def _call_kernel(self, functional: Any, inpt: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(inpt, (BoundingBoxes, KeyPoints, Mask)):
            warnings.warn(
                f"{type(self).__name__}() is currently passing through inputs of type "
                f"tv_tensors.{type(inpt).__name__}. This will likely change in the future.",
                stacklevel=2,
            )
        return super()._call_kernel(functional, inpt, *args, **kwargs)

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        """See `Transform`."""
        channels, height, width = query_chw(flat_inputs)
        if self.value is not None and len(self.value) not in (1, channels):
            raise ValueError(
                f"If value is a sequence, it should have either a single value or {channels} (number of inpt channels)"
            )
        for _ in range(10):
            h, w = rectangle(self.scale, self._log_ratio, height * width, upright=True)
            if not (h < height and w < width):
                continue
            if self.value is None:
                v = vistorch.empty([channels, h, w], dtype=vistorch.float32).normal_()
            else:
                v = vistorch.tensor(self.value)[:, None, None]
            return {"i": below(0, height - h + 1), "j": below(0, width - w + 1), "h": h, "w": w, "v": v}
        return {"i": 0, "j": 0, "h": height, "w": width, "v": None}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        if params["v"] is None:
            return inpt
        return self._call_kernel(F.erase, inpt, **params, inplace=self.inplace)


class _Mixed(Transform):
    """What is the same of all that mix the pictures of a batch with one another, and their labels."""

    def __init__(
        self, *, alpha: float = 1.0, num_classes: int | None = None, labels_getter: Any = "default"
    ) -> None:
        super().__init__()
        self.alpha = float(alpha)
        both = vistorch.tensor([alpha])
        self._dist = vistorch.distributions.Beta(both, both)
        self.num_classes = num_classes
        self._labels_getter = _getter(labels_getter)

    def forward(self, *inputs: Any) -> Any:
        """Mix a batch.

        Args:
            *inputs: pictures and labels, or a sample of both.
        """
        sample = inputs[0] if len(inputs) == 1 else inputs
        parts, form = tree_flatten(sample)
        wanted = self._needs_transform_list(parts)
        name = type(self).__name__
        if has_any(parts, is_pil, BoundingBoxes, Mask, KeyPoints):
            raise ValueError(f"{name}() does not support PIL images, bounding boxes, keypoints and masks.")
        labels = self._labels_getter(sample)
        self._check_labels(labels)
        chosen = [part for part, want in zip(parts, wanted, strict=True) if want]
        params = {"labels": labels, "batch_size": labels.shape[0], **self.make_params(chosen)}
        wanted[next(at for at, part in enumerate(parts) if part is labels)] = True
        new = [
            self.transform(part, params) if want else part for part, want in zip(parts, wanted, strict=True)
        ]
        return tree_unflatten(new, form)

    def _check_labels(self, labels: Any) -> None:
        if not isinstance(labels, Tensor):
            raise ValueError(f"The labels must be a tensor, but got {type(labels)} instead.")
        if labels.ndim not in (1, 2):
            raise ValueError(
                "labels should be index based with shape (batch_size,) or probability based with shape (batch_size, "
                f"num_classes), but got a tensor of shape {labels.shape} instead."
            )
        if labels.ndim == 2 and self.num_classes is not None and labels.shape[-1] != self.num_classes:
            raise ValueError(
                "When passing 2D labels, the number of elements in last dimension must match num_classes: "
                f"{labels.shape[-1]} != {self.num_classes}. You can Leave num_classes to None."
            )
        if labels.ndim == 1 and self.num_classes is None:
            raise ValueError("num_classes must be passed if the labels are index-based (1D)")

    def _check_batch(self, inpt: Tensor, batch_size: int) -> None:
        expected = 5 if isinstance(inpt, Video) else 4
        if inpt.ndim != expected:
            raise ValueError(
                f"Expected a batched input with {expected} dims, but got {inpt.ndim} dimensions instead."
            )
        if inpt.shape[0] != batch_size:
            raise ValueError(
                "The batch size of the image or video does not match the batch size of the labels: "
                f"{inpt.shape[0]} != {batch_size}."
            )

    def _mixed_labels(self, labels: Tensor, lam: float) -> Tensor:
        if labels.ndim == 1:
            labels = one_hot(labels, num_classes=self.num_classes)  # type: ignore[arg-type]
        if not labels.dtype.is_floating_point:
            labels = labels.float()
        return labels.roll(1, 0).mul_(1.0 - lam).add_(labels.mul(lam))

    def _mixed(self, inpt: Any, params: dict[str, Any]) -> Tensor:
        raise NotImplementedError

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        if inpt is params["labels"]:
            return self._mixed_labels(inpt, params["lam"])
        if not (isinstance(inpt, (Image, Video)) or is_pure_tensor(inpt)):
            return inpt
        self._check_batch(inpt, params["batch_size"])
        out = self._mixed(inpt.as_subclass(Tensor), params)
        return tv_tensors.wrap(out, like=inpt) if isinstance(inpt, TVTensor) else out


class MixUp(_Mixed):
    """Each picture of a batch mixed with the one before it, and their labels.

    Args:
        alpha: of the Beta distribution that says how far.
        num_classes: how many classes there are, where labels are numbers.
        labels_getter: a function that finds the labels in the sample, or "default".

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import v2
        >>> pictures, labels = v2.MixUp(num_classes=3)(vistorch.rand(4, 3, 8, 8), vistorch.tensor([0, 1, 2, 0]))
        >>> labels.shape, labels.sum().round()
        (vistorch.Size([4, 3]), tensor(4.))
    """

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        """See `Transform`."""
        return {"lam": float(self._dist.sample(()))}

    def _mixed(self, inpt: Any, params: dict[str, Any]) -> Tensor:
        lam = params["lam"]
        return inpt.roll(1, 0).mul_(1.0 - lam).add_(inpt.mul(lam))


class CutMix(_Mixed):
    """Each picture of a batch with a rectangle of the one before it, and their labels mixed as the areas are.

    Args:
        alpha: of the Beta distribution that says how large.
        num_classes: how many classes there are, where labels are numbers.
        labels_getter: a function that finds the labels in the sample, or "default".

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import v2
        >>> pictures, labels = v2.CutMix(num_classes=3)(vistorch.rand(4, 3, 8, 8), vistorch.tensor([0, 1, 2, 0]))
        >>> pictures.shape, labels.shape
        (vistorch.Size([4, 3, 8, 8]), vistorch.Size([4, 3]))
    """

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        """See `Transform`."""
        lam = float(self._dist.sample(()))
        height, width = query_size(flat_inputs)
        x, y = int(vistorch.randint(width, size=(1,))), int(vistorch.randint(height, size=(1,)))
        half = 0.5 * math.sqrt(1.0 - lam)
        wide, high = int(half * width), int(half * height)
        left, right = max(x - wide, 0), min(x + wide, width)
        top, bottom = max(y - high, 0), min(y + high, height)
        kept = float(1.0 - (right - left) * (bottom - top) / (width * height))
        return {"box": (left, top, right, bottom), "lam": kept}

    def _mixed(self, inpt: Any, params: dict[str, Any]) -> Tensor:
        left, top, right, bottom = params["box"]
        out = inpt.clone()
        out[..., top:bottom, left:right] = inpt.roll(1, 0)[..., top:bottom, left:right]
        return out


class JPEG(Transform):
    """What is left of a picture after it was stored as JPEG.

    Args:
        quality: from 1 to 100, or from where to where.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import v2
        >>> v2.JPEG(50)(vistorch.zeros(3, 8, 8, dtype=vistorch.uint8)).sum()
        tensor(0)
    """

    def __init__(self, quality: Any) -> None:
        super().__init__()
        if isinstance(quality, bool):
            raise TypeError("quality can't be bool")
        if isinstance(quality, int):
            quality = [quality, quality]
        else:
            sequence(quality, "quality", (2,))
        low, high = quality
        if not (isinstance(low, int) and isinstance(high, int) and 1 <= low <= high <= 100):
            raise ValueError(f"quality must be an integer from 1 to 100, got {quality =}")
        self.quality = quality

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        """See `Transform`."""
        return {"quality": vistorch.randint(self.quality[0], self.quality[1] + 1, ()).item()}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        return self._call_kernel(F.jpeg, inpt, quality=params["quality"])


_getter = labels_getter
