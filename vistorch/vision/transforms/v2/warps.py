"""Transforms that turn, shear and stretch.

Invariant: what is random is drawn in torchvision's order and by its calls, once for a picture and what lies in it.
"""

from __future__ import annotations

from typing import Any

import vistorch

from .. import warps as first
from ..sizes import angles, sequence, shares_and_factors
from . import functional as F
from .arguments import below, between, fill_of, fills, two_numbers
from .functional.warp import perspective_coefficients
from .queries import query_size
from .transform import RandomApplied, Transform


class RandomRotation(Transform):
    """A picture turned.

    Args:
        degrees: from where to where; one number is on both sides of zero.
        interpolation: "nearest" or "bilinear".
        expand: make it so large that nothing is lost.
        center: about which point, (x, y); by default the middle.
        fill: the value outside, one for each channel, or a dict of them by the class of the input.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import v2
        >>> v2.RandomRotation((90, 90))(vistorch.tensor([[[1, 2], [3, 4]]]))
        tensor([[[2, 4],
                 [1, 3]]])
    """

    _v1_transform_cls = first.RandomRotation

    def __init__(
        self,
        degrees: Any,
        interpolation: Any = "nearest",
        expand: bool = False,
        center: Any = None,
        fill: Any = 0,
    ) -> None:
        super().__init__()
        self.degrees = angles(degrees, "degrees")
        self.interpolation = interpolation
        self.expand = expand
        self.fill = fill
        self._fill = fills(fill)
        if center is not None:
            sequence(center, "center", (2,))
        self.center = center

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        """See `Transform`."""
        return {"angle": between(self.degrees[0], self.degrees[1])}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        how = {"interpolation": self.interpolation, "expand": self.expand, "center": self.center}
        return self._call_kernel(F.rotate, inpt, **params, **how, fill=fill_of(self._fill, inpt))


class RandomAffine(Transform):
    """A picture turned, shifted, scaled and sheared.

    Args:
        degrees: from where to where it is turned; one number is on both sides of zero.
        translate: how far at most, as parts of width and height.
        scale: from where to where.
        shear: degrees in x: a number, from where to where, or the same in x and in y.
        interpolation: "nearest" or "bilinear".
        fill: the value outside, one for each channel, or a dict of them by the class of the input.
        center: about which point, (x, y); by default the middle.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import v2
        >>> v2.RandomAffine(0)(vistorch.tensor([[[1.0, 2.0]]]))
        tensor([[[1., 2.]]])
    """

    _v1_transform_cls = first.RandomAffine

    def __init__(
        self,
        degrees: Any,
        translate: Any = None,
        scale: Any = None,
        shear: Any = None,
        interpolation: Any = "nearest",
        fill: Any = 0,
        center: Any = None,
    ) -> None:
        super().__init__()
        self.degrees = angles(degrees, "degrees")
        shares_and_factors(translate, scale)
        self.translate, self.scale = translate, scale
        self.shear = None if shear is None else angles(shear, "shear", (2, 4))
        self.interpolation = interpolation
        self.fill = fill
        self._fill = fills(fill)
        if center is not None:
            sequence(center, "center", (2,))
        self.center = center

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        """See `Transform`."""
        height, width = query_size(flat_inputs)
        angle, translate, scale, shear = between(self.degrees[0], self.degrees[1]), (0, 0), 1.0, [0.0, 0.0]
        if self.translate is not None:
            reach = float(self.translate[0] * width), float(self.translate[1] * height)
            translate = tuple(round(between(-far, far)) for far in reach)
        if self.scale is not None:
            scale = between(self.scale[0], self.scale[1])
        if self.shear is not None:
            shear[0] = between(self.shear[0], self.shear[1])
            if len(self.shear) == 4:
                shear[1] = between(self.shear[2], self.shear[3])
        return {"angle": angle, "translate": translate, "scale": scale, "shear": tuple(shear)}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        how = {"interpolation": self.interpolation, "center": self.center}
        return self._call_kernel(F.affine, inpt, **params, **how, fill=fill_of(self._fill, inpt))


class RandomPerspective(RandomApplied):
    """Some pictures seen from aside.

    Args:
        distortion_scale: how far corners move, from 0 to 1.
        p: how many of the pictures, as a part of 1.
        interpolation: "nearest" or "bilinear".
        fill: the value outside, one for each channel, or a dict of them by the class of the input.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import v2
        >>> v2.RandomPerspective(p=1.0)(vistorch.zeros(3, 8, 8)).shape
        vistorch.Size([3, 8, 8])
    """

    _v1_transform_cls = first.RandomPerspective

    def __init__(
        self,
        distortion_scale: float = 0.5,
        p: float = 0.5,
        interpolation: Any = "bilinear",
        fill: Any = 0,
    ) -> None:
        super().__init__(p=p)
        if not 0 <= distortion_scale <= 1:
            raise ValueError("Argument distortion_scale value should be between 0 and 1")
        self.distortion_scale = distortion_scale
        self.interpolation = interpolation
        self.fill = fill
        self._fill = fills(fill)

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        """See `Transform`."""
        height, width = query_size(flat_inputs)
        high = int(self.distortion_scale * (height // 2)) + 1
        wide = int(self.distortion_scale * (width // 2)) + 1
        start = [[0, 0], [width - 1, 0], [width - 1, height - 1], [0, height - 1]]
        ends = []
        for x, y in start:  # x before y, and the corners in this order
            at_x = below(width - wide, width) if x else below(0, wide)
            at_y = below(height - high, height) if y else below(0, high)
            ends.append([at_x, at_y])
        return {"coefficients": perspective_coefficients(start, ends)}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        how = {"interpolation": self.interpolation, "fill": fill_of(self._fill, inpt)}
        return self._call_kernel(F.perspective, inpt, startpoints=None, endpoints=None, **how, **params)


class ElasticTransform(Transform):
    """A picture stretched like rubber.

    Args:
        alpha: how far, in pixels.
        sigma: how smoothly.
        interpolation: "nearest" or "bilinear".
        fill: the value outside, one for each channel, or a dict of them by the class of the input.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import v2
        >>> v2.ElasticTransform(alpha=0.0, sigma=0.0)(vistorch.tensor([[[1.0, 2.0]]]))
        tensor([[[1., 2.]]])
    """

    def __init__(
        self, alpha: Any = 50.0, sigma: Any = 5.0, interpolation: Any = "bilinear", fill: Any = 0
    ) -> None:
        super().__init__()
        self.alpha = two_numbers(alpha, "alpha")
        self.sigma = two_numbers(sigma, "sigma")
        self.interpolation = interpolation
        self.fill = fill
        self._fill = fills(fill)

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        """See `Transform`."""
        height, width = query_size(flat_inputs)
        parts = []
        for alpha, sigma, side in zip(self.alpha, self.sigma, (width, height), strict=True):
            noise = vistorch.rand(1, 1, height, width) * 2 - 1
            if sigma > 0.0:
                size = int(8 * sigma + 1) | 1
                noise = F.gaussian_blur(noise, [size, size], list(self.sigma))
            parts.append(noise * alpha / side)
        return {"displacement": vistorch.cat(parts, 1).permute([0, 2, 3, 1])}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """See `Transform`."""
        how = {"fill": fill_of(self._fill, inpt), "interpolation": self.interpolation}
        return self._call_kernel(F.elastic, inpt, **params, **how)
