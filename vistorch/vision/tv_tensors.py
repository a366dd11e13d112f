"""Tensors that know what they are of a picture: the picture, a video, a mask, boxes, points.

Invariant: an operation on one gives a plain tensor, but for a copy of it (`clone`, `to`, `detach`, `requires_grad_`,
`pin_memory`), which is what the original was; transforms of the second generation give back what they were given.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Any

import numpy as np

import vistorch
from vistorch import Tensor
from vistorch.overrides import TorchFunctionMode

__all__ = [
    "BoundingBoxFormat",
    "BoundingBoxes",
    "Image",
    "KeyPoints",
    "Mask",
    "TVTensor",
    "Video",
    "is_rotated_bounding_format",
    "set_return_type",
    "wrap",
]


_PLAIN: Any = Tensor  # its methods come from the op table, where a type checker does not see them


def _tensor(data: Any, dtype: Any, device: Any, requires_grad: bool | None) -> Tensor:
    """Data as a plain tensor that shares its memory where it can; Pillow's pictures are read."""
    if not isinstance(data, Tensor) and hasattr(data, "getbands"):
        array = np.array(data)
        data = vistorch.from_numpy(array if array.ndim == 3 else array[:, :, None]).permute(2, 0, 1)
    if requires_grad is None:
        requires_grad = isinstance(data, Tensor) and data.requires_grad
    made = vistorch.as_tensor(data, dtype=dtype, device=device)
    if isinstance(made, TVTensor):
        made = made.as_subclass(Tensor)
    return made.requires_grad_(requires_grad)


class TVTensor(Tensor):
    """What all of them are; a class of one's own is made of it.

    Example:
        >>> import vistorch
        >>> from vistorch.vision import tv_tensors
        >>> picture = tv_tensors.Image(vistorch.zeros(3, 2, 2))
        >>> isinstance(picture, tv_tensors.TVTensor), type(picture + 1).__name__, type(picture.clone()).__name__
        (True, 'Tensor', 'Image')
    """

    @classmethod
    def wrap(cls, tensor: Tensor, like: Any, **kwargs: Any) -> Any:
        """A plain tensor as one of this class, with what `like` knows.

        Args:
            tensor: the plain tensor.
            like: one of this class.
            **kwargs: what is to be known instead.

        Example:
            >>> import vistorch
            >>> from vistorch.vision.tv_tensors import Mask
            >>> type(Mask.wrap(vistorch.ones(2, 2), like=Mask(vistorch.zeros(2, 2)))).__name__
            'Mask'
        """
        return tensor.as_subclass(cls)

    def _about(self) -> dict[str, Any]:
        """What it knows beside its numbers."""
        return {}

    def _kept(self, tensor: Tensor) -> Any:
        """A copy of its numbers with what it knows."""
        if tensor is self:
            return self
        made = tensor.as_subclass(type(self))
        vars(made).update(self._about())
        return made

    def clone(self, *args: Any, **kwargs: Any) -> Any:
        """A copy."""
        return self._kept(_PLAIN.clone(self, *args, **kwargs))

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """With another type, or on another device."""
        return self._kept(_PLAIN.to(self, *args, **kwargs))

    def detach(self) -> Any:
        """Without its history."""
        return self._kept(_PLAIN.detach(self))

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Let its gradient be computed, or not."""
        return self._kept(_PLAIN.requires_grad_(self, requires_grad))

    def pin_memory(self, *args: Any, **kwargs: Any) -> Any:
        """In memory from which a device copies fast."""
        return self._kept(_PLAIN.pin_memory(self, *args, **kwargs))

    def __deepcopy__(self, memo: dict) -> Any:
        return self.detach().clone().requires_grad_(self.requires_grad)

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return super().__repr__()

    def _with(self, **known: Any) -> str:
        text = ", ".join(f"{name}={value}" for name, value in known.items())
        return f"{Tensor.__repr__(self)[:-1]}, {text})"


class Image(TVTensor):
    """A picture, or a batch of them: (..., C, H, W).

    Args:
        data: a tensor, a picture of Pillow's, or what makes a tensor.
        dtype: of the tensor.
        device: of the tensor.
        requires_grad: of the tensor; as `data` has it by default.

    Example:
        >>> import vistorch
        >>> from vistorch.vision import tv_tensors
        >>> tv_tensors.Image(vistorch.zeros(4, 6)).shape
        vistorch.Size([1, 4, 6])
    """

    def __new__(
        cls, data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool | None = None
    ) -> Any:
        """See the class."""
        tensor = _tensor(data, dtype, device, requires_grad)
        if tensor.ndim < 2:
            raise ValueError(f"Tensor must be 2D or higher, got {tensor.ndim}D tensor.")
        return (tensor.unsqueeze(0) if tensor.ndim == 2 else tensor).as_subclass(cls)

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return self._with()


class Video(TVTensor):
    """Pictures one after another: (..., T, C, H, W).

    Args:
        data: a tensor, or what makes one.
        dtype: of the tensor.
        device: of the tensor.
        requires_grad: of the tensor; as `data` has it by default.

    Example:
        >>> import vistorch
        >>> from vistorch.vision import tv_tensors
        >>> tv_tensors.Video(vistorch.zeros(8, 3, 4, 6)).shape
        vistorch.Size([8, 3, 4, 6])
    """

    def __new__(
        cls, data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool | None = None
    ) -> Any:
        """See the class."""
        tensor = _tensor(data, dtype, device, requires_grad)
        if tensor.ndim < 4:
            raise ValueError(f"a video has at least 4 dimensions, (T, C, H, W), got {tensor.ndim}")
        return tensor.as_subclass(cls)

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return self._with()


class Mask(TVTensor):
    """Which pixels belong to what: (..., H, W).

    Args:
        data: a tensor, a picture of Pillow's, or what makes a tensor.
        dtype: of the tensor.
        device: of the tensor.
        requires_grad: of the tensor; as `data` has it by default.

    Example:
        >>> import vistorch
        >>> from vistorch.vision import tv_tensors
        >>> tv_tensors.Mask([[0, 1], [1, 1]])
        Mask([[0, 1],
              [1, 1]])
    """

    def __new__(
        cls, data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool | None = None
    ) -> Any:
        """See the class."""
        return _tensor(data, dtype, device, requires_grad).as_subclass(cls)


class BoundingBoxFormat(Enum):
    """What the numbers of a box are: corners (X, Y), width and height (W, H), center (CX, CY), degrees (R).

    Example:
        >>> from vistorch.vision.tv_tensors import BoundingBoxFormat
        >>> BoundingBoxFormat.XYWH, BoundingBoxFormat["CXCYWH"].value
        (<BoundingBoxFormat.XYWH: 'XYWH'>, 'CXCYWH')
    """

    XYXY = "XYXY"
    XYWH = "XYWH"
    CXCYWH = "CXCYWH"
    XYWHR = "XYWHR"
    CXCYWHR = "CXCYWHR"
    XYXYXYXY = "XYXYXYXY"


ROTATED = (BoundingBoxFormat.XYWHR, BoundingBoxFormat.CXCYWHR, BoundingBoxFormat.XYXYXYXY)


def is_rotated_bounding_format(format: Any) -> bool:
    """Whether boxes of a format may be turned.

    Args:
        format: a BoundingBoxFormat, or its name.

    Example:
        >>> from vistorch.vision.tv_tensors import is_rotated_bounding_format
        >>> is_rotated_bounding_format("XYWHR"), is_rotated_bounding_format("XYWH")
        (True, False)
    """
    if isinstance(format, BoundingBoxFormat):
        return format in ROTATED
    if isinstance(format, str):
        return format in {one.value for one in ROTATED}
    raise ValueError(f"format should be str or BoundingBoxFormat, got {type(format)}")


class BoundingBoxes(TVTensor):
    """Boxes in one picture: (N, K), where K is 4, or 5 or 8 for those that may be turned.

    Args:
        data: a tensor, or what makes one.
        format: a BoundingBoxFormat, or its name.
        canvas_size: height and width of the picture.
        clamping_mode: how transforms cut off what leaves the picture: "soft", "hard", or None, not at all.
        dtype: of the tensor.
        device: of the tensor.
        requires_grad: of the tensor; as `data` has it by default.

    Example:
        >>> import vistorch
        >>> from vistorch.vision import tv_tensors
        >>> boxes = tv_tensors.BoundingBoxes([1, 2, 3, 4], format="XYXY", canvas_size=(8, 8))
        >>> boxes.shape, boxes.format.value, boxes.canvas_size, boxes.clamping_mode
        (vistorch.Size([1, 4]), 'XYXY', (8, 8), 'soft')
    """

    format: BoundingBoxFormat
    canvas_size: tuple[int, int]
    clamping_mode: str | None

    def __new__(
        cls,
        data: Any,
        *,
        format: Any,
        canvas_size: tuple[int, int],
        clamping_mode: str | None = "soft",
        dtype: Any = None,
        device: Any = None,
        requires_grad: bool | None = None,
    ) -> Any:
        """See the class."""
        tensor = _tensor(data, dtype, device, requires_grad)
        if not tensor.is_floating_point() and is_rotated_bounding_format(format):
            raise ValueError(f"Rotated bounding boxes should be floating point tensors, got {tensor.dtype}.")
        return cls._made(tensor, format, canvas_size, clamping_mode)

    @classmethod
    def _made(cls, tensor: Tensor, format: Any, canvas_size: Any, clamping_mode: str | None) -> Any:
        if tensor.ndim == 1:
            tensor = tensor.unsqueeze(0)
        elif tensor.ndim != 2:
            raise ValueError(f"Expected a 1D or 2D tensor, got {tensor.ndim}D")
        if clamping_mode not in (None, "hard", "soft"):
            raise ValueError(f"clamping_mode must be None, hard or soft, got {clamping_mode}.")
        boxes = tensor.as_subclass(cls)
        boxes.format = BoundingBoxFormat[format.upper()] if isinstance(format, str) else format
        boxes.canvas_size, boxes.clamping_mode = canvas_size, clamping_mode
        return boxes

    @classmethod
    def wrap(cls, tensor: Tensor, like: Any, **kwargs: Any) -> Any:
        """A plain tensor as boxes of the same picture.

        Args:
            tensor: the plain tensor.
            like: boxes.
            **kwargs: `format`, `canvas_size` or `clamping_mode`, where it is another.

        Example:
            >>> import vistorch
            >>> from vistorch.vision.tv_tensors import BoundingBoxes
            >>> boxes = BoundingBoxes([1, 2, 3, 4], format="XYXY", canvas_size=(8, 8))
            >>> BoundingBoxes.wrap(vistorch.zeros(2, 4), like=boxes, canvas_size=(4, 4)).canvas_size
            (4, 4)
        """
        known = {**like._about(), **{name: kwargs[name] for name in like._about() if name in kwargs}}
        return cls._made(tensor, **known)

    def _about(self) -> dict[str, Any]:
        return {
            "format": self.format,
            "canvas_size": self.canvas_size,
            "clamping_mode": self.clamping_mode,
        }

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return self._with(**self._about())


class KeyPoints(TVTensor):
    """Points in one picture: (..., 2), x and y.

    Args:
        data: a tensor, or what makes one.
        canvas_size: height and width of the picture.
        dtype: of the tensor.
        device: of the tensor.
        requires_grad: of the tensor; as `data` has it by default.

    Example:
        >>> from vistorch.vision import tv_tensors
        >>> tv_tensors.KeyPoints([[1.0, 2.0]], canvas_size=(8, 8))
        KeyPoints([[1., 2.]], canvas_size=(8, 8))
    """

    canvas_size: tuple[int, int]

    def __new__(
        cls,
        data: Any,
        *,
        canvas_size: tuple[int, int],
        dtype: Any = None,
        device: Any = None,
        requires_grad: bool | None = None,
    ) -> Any:
        """See the class."""
        return cls._made(_tensor(data, dtype, device, requires_grad), canvas_size)

    @classmethod
    def _made(cls, tensor: Tensor, canvas_size: Any) -> Any:
        if tensor.ndim == 1:
            tensor = tensor.unsqueeze(0)
        elif tensor.shape[-1] != 2:
            raise ValueError(f"Expected a tensor of shape (..., 2), not {tensor.shape}")
        points = tensor.as_subclass(cls)
        points.canvas_size = canvas_size
        return points

    @classmethod
    def wrap(cls, tensor: Tensor, like: Any, **kwargs: Any) -> Any:
        """A plain tensor as points of the same picture.

        Args:
            tensor: the plain tensor.
            like: points.
            **kwargs: `canvas_size`, where it is another.

        Example:
            >>> import vistorch
            >>> from vistorch.vision.tv_tensors import KeyPoints
            >>> points = KeyPoints([[1, 2]], canvas_size=(8, 8))
            >>> KeyPoints.wrap(vistorch.zeros(3, 2), like=points).canvas_size
            (8, 8)
        """
        return cls._made(tensor, kwargs.get("canvas_size", like.canvas_size))

    def _about(self) -> dict[str, Any]:
        return {"canvas_size": self.canvas_size}

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return self._with(**self._about())


def wrap(wrappee: Tensor, *, like: Any, **kwargs: Any) -> Any:
    """A plain tensor as what another one is.

    Args:
        wrappee: the plain tensor.
        like: what it is to be: an Image, boxes, ...
        **kwargs: what it is to know instead, such as `canvas_size`.

    Example:
        >>> import vistorch
        >>> from vistorch.vision import tv_tensors
        >>> boxes = tv_tensors.BoundingBoxes([[1, 2, 3, 4]], format="XYXY", canvas_size=(8, 8))
        >>> tv_tensors.wrap(boxes * 2, like=boxes, canvas_size=(16, 16)).canvas_size
        (16, 16)
    """
    made = getattr(type(like), "wrap", None)
    return wrappee.as_subclass(type(like)) if made is None else made(wrappee, like, **kwargs)


class _Kept(TorchFunctionMode):
    """While it is entered, operations on such a tensor give one."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        like = next(_among((*args, *(kwargs or {}).values())), None)
        return out if like is None else _as(out, like)


def _among(values: Any) -> Iterator[TVTensor]:
    for value in values:
        if isinstance(value, TVTensor):
            yield value
        elif isinstance(value, (tuple, list)):
            yield from _among(value)


def _as(out: Any, like: TVTensor) -> Any:
    if isinstance(out, Tensor):
        return out if isinstance(out, TVTensor) else like._kept(out)
    if type(out) in (tuple, list):
        return type(out)(_as(part, like) for part in out)
    return out


_kept: list[_Kept] = []  # the mode, while it is wanted


def _want(kept: bool) -> None:
    if kept and not _kept:
        _kept.append(_Kept().__enter__())
    elif not kept and _kept:
        _kept.pop().__exit__(None, None, None)


class set_return_type:
    """Whether operations give plain tensors ("Tensor", as always) or what they were given ("TVTensor").

    Holds until it is set again, or to the end of a `with` block.

    Args:
        return_type: "Tensor" or "TVTensor".

    Example:
        >>> import vistorch
        >>> from vistorch.vision import tv_tensors
        >>> picture = tv_tensors.Image(vistorch.zeros(1, 2, 2))
        >>> with tv_tensors.set_return_type("TVTensor"):
        ...     type(picture + 1).__name__
        'Image'
        >>> type(picture + 1).__name__
        'Tensor'
    """

    def __init__(self, return_type: str) -> None:
        self._before = bool(_kept)
        if return_type.lower() not in ("tensor", "tvtensor"):
            raise ValueError(f"return_type must be 'TVTensor' or 'Tensor', got {return_type}")
        _want(return_type.lower() == "tvtensor")

    def __enter__(self) -> set_return_type:
        return self

    def __exit__(self, *exc: object) -> None:
        _want(self._before)
