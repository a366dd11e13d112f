"""Transforms that turn, shear and tilt an image by chance: RandomRotation, RandomAffine, RandomPerspective.

Invariant: what is random is drawn in `get_params`, in torchvision's order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vistorch.nn import Module

from . import functional as F
from .modes import BILINEAR, NEAREST, mode_of
from .sizes import angles, chance, fill_for, integer, sequence, shares_and_factors, uniform


def _checked_fill(fill: Any) -> Any:
    if fill is None:
        return 0
    if not isinstance(fill, int | float | Sequence):
        raise TypeError("Fill should be either a sequence or a number.")
    return fill


class RandomRotation(Module):
    """An image turned by a chance angle.

    Args:
        degrees: (min, max), or one number for both sides of zero.
        interpolation: an InterpolationMode.
        expand: make room for the corners.
        center: (x, y) from the top left; the middle if None.
        fill: the color of what is beyond the image.

    Example:
        >>> import vistorch
        >>> from vistorch.vision import transforms
        >>> transforms.RandomRotation((90, 90))(vistorch.tensor([[[1, 2], [3, 4]]]))
        tensor([[[2, 4],
                 [1, 3]]])
    """

    def __init__(
        self,
        degrees: Any,
        interpolation: Any = NEAREST,
        expand: bool = False,
        center: Any = None,
        fill: Any = 0,
    ) -> None:
        super().__init__()
        self.interpolation = mode_of(interpolation)
        self.degrees = angles(degrees, "degrees")
        if center is not None:
            sequence(center, "center", (2,))
        self.center = center
        self.expand = expand
        self.fill = _checked_fill(fill)

    @staticmethod
    def get_params(degrees: Sequence[float]) -> float:
        """Draw an angle.

        Args:
            degrees: (min, max).

        Example:
            >>> from vistorch.vision import transforms
            >>> -10 <= transforms.RandomRotation.get_params((-10, 10)) <= 10
            True
        """
        return uniform(degrees[0], degrees[1])

    def forward(self, img: Any) -> Any:
        """Turn.

        Args:
            img: an image.
        """
        fill = fill_for(self.fill, img)
        angle = self.get_params(self.degrees)
        return F.rotate(img, angle, self.interpolation, self.expand, self.center, fill)

    def __repr__(self) -> str:
        center = "" if self.center is None else f", center={self.center}"
        return (
            f"{type(self).__name__}(degrees={self.degrees}, interpolation={self.interpolation.value}, "
            f"expand={self.expand}{center}, fill={self.fill})"
        )


class RandomAffine(Module):
    """An image turned, shifted, resized and sheared by chance, in a frame of the same size.

    Args:
        degrees: (min, max) of the angle, or one number for both sides of zero; 0 for none.
        translate: up to what part of width and height it is shifted.
        scale: (min, max) of its size.
        shear: (min, max) in degrees along x, or four numbers for x and y, or one number for both sides of zero.
        interpolation: an InterpolationMode.
        fill: the color of what is beyond the image.
        center: (x, y) from the top left; the middle if None.

    Example:
        >>> import vistorch
        >>> from vistorch.vision import transforms
        >>> transforms.RandomAffine(degrees=15, translate=(0.1, 0.1))(vistorch.zeros(1, 8, 8)).shape
        vistorch.Size([1, 8, 8])
    """

    def __init__(
        self,
        degrees: Any,
        translate: Any = None,
        scale: Any = None,
        shear: Any = None,
        interpolation: Any = NEAREST,
        fill: Any = 0,
        center: Any = None,
    ) -> None:
        super().__init__()
        self.interpolation = mode_of(interpolation)
        self.degrees = angles(degrees, "degrees")
        shares_and_factors(translate, scale)
        self.translate, self.scale = translate, scale
        self.shear = None if shear is None else angles(shear, "shear", (2, 4))
        self.fill = _checked_fill(fill)
        if center is not None:
            sequence(center, "center", (2,))
        self.center = center

    @staticmethod
    def get_params(degrees: Any, translate: Any, scale_ranges: Any, shears: Any, img_size: Any) -> tuple:
        """Draw an angle, the shifts along x and y, a scale, and the shears, those that have a range.

        Args:
            degrees: (min, max).
            translate: parts of width and height, or None.
            scale_ranges: (min, max) or None.
            shears: (min, max), four numbers, or None.
            img_size: (width, height).

        Example:
            >>> from vistorch.vision import transforms
            >>> transforms.RandomAffine.get_params((90, 90), None, (2.0, 2.0), None, (8, 8))
            (90.0, (0, 0), 2.0, (0.0, 0.0))
            >>> _, (x, y), *_ = transforms.RandomAffine.get_params((0, 0), (0.25, 0.5), None, None, (8, 8))
            >>> -2 <= x <= 2, -4 <= y <= 4
            (True, True)
        """
        angle = uniform(degrees[0], degrees[1])
        shift = (0, 0)
        if translate is not None:
            most = [float(t * s) for t, s in zip(translate, img_size, strict=True)]
            shift = (round(uniform(-most[0], most[0])), round(uniform(-most[1], most[1])))
        scale = 1.0 if scale_ranges is None else uniform(scale_ranges[0], scale_ranges[1])
        shear_x = shear_y = 0.0
        if shears is not None:
            shear_x = uniform(shears[0], shears[1])
            if len(shears) == 4:
                shear_y = uniform(shears[2], shears[3])
        return angle, shift, scale, (shear_x, shear_y)

    def forward(self, img: Any) -> Any:
        """Turn, shift, resize and shear.

        Args:
            img: an image.
        """
        fill = fill_for(self.fill, img)
        size = F.get_image_size(img)
        given = self.get_params(self.degrees, self.translate, self.scale, self.shear, size)
        return F.affine(img, *given, interpolation=self.interpolation, fill=fill, center=self.center)

    def __repr__(self) -> str:
        text = f"{type(self).__name__}(degrees={self.degrees}"
        for name in ("translate", "scale", "shear"):
            if getattr(self, name) is not None:
                text += f", {name}={getattr(self, name)}"
        if self.interpolation != NEAREST:
            text += f", interpolation={self.interpolation.value}"
        if self.fill != 0:
            text += f", fill={self.fill}"
        if self.center is not None:
            text += f", center={self.center}"
        return text + ")"


class RandomPerspective(Module):
    """An image seen from aside, by chance.

    Args:
        distortion_scale: how far the corners may move, from 0 to 1.
        p: in what part of all cases.
        interpolation: an InterpolationMode.
        fill: the color of what is beyond the image.

    Example:
        >>> import vistorch
        >>> from vistorch.vision import transforms
        >>> transforms.RandomPerspective(0.5, p=1.0)(vistorch.zeros(1, 8, 8)).shape
        vistorch.Size([1, 8, 8])
    """

    def __init__(
        self, distortion_scale: float = 0.5, p: float = 0.5, interpolation: Any = BILINEAR, fill: Any = 0
    ) -> None:
        super().__init__()
        self.p = p
        self.interpolation = mode_of(interpolation)
        self.distortion_scale = distortion_scale
        self.fill = _checked_fill(fill)

    @staticmethod
    def get_params(width: int, height: int, distortion_scale: float) -> tuple[list, list]:
        """Draw x and y of each corner: top left, top right, bottom right, bottom left.

        Args:
            width: of the image.
            height: of the image.
            distortion_scale: how far the corners may move.

        Example:
            >>> from vistorch.vision import transforms
            >>> before, after = transforms.RandomPerspective.get_params(8, 6, distortion_scale=0.5)
            >>> before, all(0 <= x < 8 and 0 <= y < 6 for x, y in after)
            ([[0, 0], [7, 0], [7, 5], [0, 5]], True)
        """
        far_x, far_y = int(distortion_scale * (width // 2)), int(distortion_scale * (height // 2))
        left, right = (0, far_x + 1), (width - far_x - 1, width)
        top, bottom = (0, far_y + 1), (height - far_y - 1, height)
        corners = ((left, top), (right, top), (right, bottom), (left, bottom))
        ends = [[integer(*x), integer(*y)] for x, y in corners]
        return [[0, 0], [width - 1, 0], [width - 1, height - 1], [0, height - 1]], ends

    def forward(self, img: Any) -> Any:
        """Tilt, or not.

        Args:
            img: an image.
        """
        fill = fill_for(self.fill, img)
        if not chance(self.p):
            return img
        _, height, width = F.get_dimensions(img)
        starts, ends = self.get_params(width, height, self.distortion_scale)
        return F.perspective(img, starts, ends, self.interpolation, fill)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(p={self.p})"
