"""Transforms that choose among others: AutoAugment, RandAugment, TrivialAugmentWide, AugMix.

Invariant: what is random is drawn in torchvision's order and by its calls; a sample has one picture or video, and
nothing that lies in it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import Enum
from typing import Any

import vistorch
from vistorch import Tensor
from vistorch.utils._pytree import tree_flatten, tree_unflatten

from ... import tv_tensors
from ...tv_tensors import BoundingBoxes, KeyPoints, Mask, TVTensor, Video
from ..images import is_pil, largest
from . import functional as F
from .arguments import fill_of, fills
from .queries import PICTURES, check_type
from .transform import Transform


class AutoAugmentPolicy(Enum):
    """For which data a policy was found.

    Example:
        >>> from vistorch.vision.transforms import v2
        >>> v2.AutoAugmentPolicy.CIFAR10.value
        'cifar10'
    """

    IMAGENET = "imagenet"
    CIFAR10 = "cifar10"
    SVHN = "svhn"


# Each policy is pairs of (what, how often in tenths, how strong), as the paper's tables have them; "-" is no strength.
_POLICIES = {
    AutoAugmentPolicy.IMAGENET: """
        Posterize 4 8 Rotate 6 9 | Solarize 6 5 AutoContrast 6 - | Equalize 8 - Equalize 6 - |
        Posterize 6 7 Posterize 6 6 | Equalize 4 - Solarize 2 4 | Equalize 4 - Rotate 8 8 |
        Solarize 6 3 Equalize 6 - | Posterize 8 5 Equalize 10 - | Rotate 2 3 Solarize 6 8 |
        Equalize 6 - Posterize 4 6 | Rotate 8 8 Color 4 0 | Rotate 4 9 Equalize 6 - | Equalize 0 - Equalize 8 - |
        Invert 6 - Equalize 10 - | Color 6 4 Contrast 10 8 | Rotate 8 8 Color 10 2 | Color 8 8 Solarize 8 7 |
        Sharpness 4 7 Invert 6 - | ShearX 6 5 Equalize 10 - | Color 4 0 Equalize 6 - | Equalize 4 - Solarize 2 4 |
        Solarize 6 5 AutoContrast 6 - | Invert 6 - Equalize 10 - | Color 6 4 Contrast 10 8 | Equalize 8 - Equalize 6 -
    """,
    AutoAugmentPolicy.CIFAR10: """
        Invert 1 - Contrast 2 6 | Rotate 7 2 TranslateX 3 9 | Sharpness 8 1 Sharpness 9 3 |
        ShearY 5 8 TranslateY 7 9 | AutoContrast 5 - Equalize 9 - | ShearY 2 7 Posterize 3 7 |
        Color 4 3 Brightness 6 7 | Sharpness 3 9 Brightness 7 9 | Equalize 6 - Equalize 5 - |
        Contrast 6 7 Sharpness 6 5 | Color 7 7 TranslateX 5 8 | Equalize 3 - AutoContrast 4 - |
        TranslateY 4 3 Sharpness 2 6 | Brightness 9 6 Color 2 8 | Solarize 5 2 Invert 0 - |
        Equalize 2 - AutoContrast 6 - | Equalize 2 - Equalize 6 - | Color 9 9 Equalize 6 - |
        AutoContrast 8 - Solarize 2 8 | Brightness 1 3 Color 7 0 | Solarize 4 5 AutoContrast 9 - |
        TranslateY 9 9 TranslateY 7 9 | AutoContrast 9 - Solarize 8 3 | Equalize 8 - Invert 1 - |
        TranslateY 7 9 AutoContrast 9 -
    """,
    AutoAugmentPolicy.SVHN: """
        ShearX 9 4 Invert 2 - | ShearY 9 8 Invert 7 - | Equalize 6 - Solarize 6 6 | Invert 9 - Equalize 6 - |
        Equalize 6 - Rotate 9 3 | ShearX 9 4 AutoContrast 8 - | ShearY 9 8 Invert 4 - | ShearY 9 5 Solarize 2 6 |
        Invert 9 - AutoContrast 8 - | Equalize 6 - Rotate 9 3 | ShearX 9 4 Solarize 3 3 | ShearY 8 8 Invert 7 - |
        Equalize 9 - TranslateY 6 6 | Invert 9 - Equalize 6 - | Contrast 3 3 Rotate 8 4 | Invert 8 - TranslateY 0 2 |
        ShearY 7 6 Solarize 4 8 | Invert 6 - Rotate 8 4 | ShearY 3 7 TranslateX 9 3 | ShearX 1 6 Invert 6 - |
        Solarize 7 2 TranslateY 6 7 | ShearY 8 4 Invert 8 - | ShearX 7 9 TranslateY 8 3 | ShearY 8 5 AutoContrast 7 - |
        ShearX 7 2 Invert 1 -
    """,
}


def _policy(text: str) -> list[tuple]:
    """Pairs of (what, how often, how strong or None)."""
    pairs = []
    for pair in text.split("|"):
        words = pair.split()
        pairs.append(
            tuple(
                (what, int(often) / 10, None if strong == "-" else int(strong))
                for what, often, strong in zip(words[::3], words[1::3], words[2::3], strict=True)
            )
        )
    return pairs


# How strong each can be: (strengths from bins, height and width; whether they have a sign).
_Strengths = dict[str, tuple[Callable[[int, int, int], Tensor | None], bool]]


def _line(start: float, end: float) -> Callable[[int, int, int], Tensor]:
    return lambda bins, height, width: vistorch.linspace(start, end, bins)


def _wide(part: float) -> Callable[[int, int, int], Tensor]:
    return lambda bins, height, width: vistorch.linspace(0.0, part * width, bins)


def _high(part: float) -> Callable[[int, int, int], Tensor]:
    return lambda bins, height, width: vistorch.linspace(0.0, part * height, bins)


def _bits(most: int, fall: int) -> Callable[[int, int, int], Tensor]:
    return lambda bins, height, width: (most - vistorch.arange(bins) / ((bins - 1) / fall)).round().int()


def _none(bins: int, height: int, width: int) -> None:
    return None


def _space(shear: float, shift_x: Any, shift_y: Any, turn: float, color: float, bits: Any) -> _Strengths:
    space: _Strengths = {
        "Identity": (_none, False),
        "ShearX": (_line(0.0, shear), True),
        "ShearY": (_line(0.0, shear), True),
        "TranslateX": (shift_x, True),
        "TranslateY": (shift_y, True),
        "Rotate": (_line(0.0, turn), True),
    }
    space.update(
        {name: (_line(0.0, color), True) for name in ("Brightness", "Color", "Contrast", "Sharpness")}
    )
    space["Posterize"] = (bits, False)
    space["Solarize"] = (_line(1.0, 0.0), False)
    space["AutoContrast"] = space["Equalize"] = (_none, False)
    return space


_RAND = _space(0.3, _wide(150.0 / 331.0), _high(150.0 / 331.0), 30.0, 0.9, _bits(8, 4))
_AUTO: _Strengths = {**_RAND, "Invert": (_none, False)}
_WIDE = _space(0.99, _line(0.0, 32.0), _line(0.0, 32.0), 135.0, 0.99, _bits(8, 6))
_COLORS = ("Brightness", "Color", "Contrast", "Sharpness")


def _third(axis: int) -> Callable[[int, int, int], Tensor]:
    return lambda bins, *sides: vistorch.linspace(0.0, sides[axis] / 3.0, bins)


_MIX_ALL = _space(0.3, _third(1), _third(0), 30.0, 0.9, _bits(4, 4))
_MIX_PART = {name: row for name, row in _MIX_ALL.items() if name not in (*_COLORS, "Identity")}
_MIX = {**_MIX_PART, **{name: _MIX_ALL[name] for name in _COLORS}}


class _Automatic(Transform):
    """What all of them have in common."""

    def __init__(self, *, interpolation: Any = "nearest", fill: Any = None) -> None:
        super().__init__()
        self.interpolation = interpolation
        self.fill = fill
        self._fill = fills(fill)

    def forward(self, *inputs: Any) -> Any:
        """Change the picture of a sample.

        Args:
            *inputs: the sample, or its parts.
        """
        parts, form = tree_flatten(inputs[0] if len(inputs) == 1 else inputs)
        found = []
        for at, (part, want) in enumerate(zip(parts, self._needs_transform_list(parts), strict=True)):
            if want and check_type(part, PICTURES):
                found.append(at)
            elif isinstance(part, (BoundingBoxes, Mask, KeyPoints)):
                name = type(part).__name__
                raise TypeError(f"Inputs of type {name} are not supported by {type(self).__name__}()")
        if not found:
            raise TypeError("Found no image in the sample.")
        if len(found) > 1:
            raise TypeError(
                "Auto augment transformations are only properly defined for a single image or video, but found "
                f"{len(found)}."
            )
        picture = parts[found[0]]
        parts[found[0]] = self._augmented(picture, *F.get_size(picture))
        return tree_unflatten(parts, form)

    def _augmented(self, picture: Any, height: int, width: int) -> Any:
        raise NotImplementedError

    @staticmethod
    def _one_of(space: _Strengths) -> str:
        return tuple(space)[int(vistorch.randint(len(space), ()))]

    @staticmethod
    def _strength(strengths: Tensor | None, signed: bool, at: Callable[[], int]) -> float:
        if strengths is None:
            return 0.0
        strength = float(strengths[at()])
        return -strength if signed and vistorch.rand(()) <= 0.5 else strength

    def _applied(self, picture: Any, what: str, strength: float) -> Any:
        how = {"interpolation": self.interpolation, "fill": fill_of(self._fill, picture)}
        if what in ("ShearX", "ShearY"):
            shear = [0.0, 0.0]
            shear[what == "ShearY"] = math.degrees(math.atan(strength))
            given = {"angle": 0.0, "translate": [0, 0], "scale": 1.0, "shear": shear, "center": [0, 0]}
            return F.affine(picture, **given, **how)
        if what in ("TranslateX", "TranslateY"):
            shift = [0, 0]
            shift[what == "TranslateY"] = int(strength)
            return F.affine(picture, angle=0.0, translate=shift, scale=1.0, shear=[0.0, 0.0], **how)
        if what == "Rotate":
            return F.rotate(picture, angle=strength, **how)
        if what == "Posterize":
            return F.posterize(picture, bits=int(strength))
        if what == "Solarize":
            bound = largest(picture.dtype) if isinstance(picture, Tensor) else 255.0
            return F.solarize(picture, threshold=bound * strength)
        if what in _FACTORS:
            return _FACTORS[what](picture, 1.0 + strength)
        return _PLAIN[what](picture)


_FACTORS: dict[str, Callable] = {
    "Brightness": F.adjust_brightness,
    "Color": F.adjust_saturation,
    "Contrast": F.adjust_contrast,
    "Sharpness": F.adjust_sharpness,
}
_PLAIN: dict[str, Callable] = {
    "Identity": lambda picture: picture,
    "AutoContrast": F.autocontrast,
    "Equalize": F.equalize,
    "Invert": F.invert,
}


class AutoAugment(_Automatic):
    """Two changes of a policy that was found for a set of data.

    Args:
        policy: an AutoAugmentPolicy.
        interpolation: "nearest" or "bilinear".
        fill: the value outside, one for each channel, or a dict of them by the class of the input.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import v2
        >>> v2.AutoAugment()(vistorch.zeros(3, 8, 8, dtype=vistorch.uint8)).shape
        vistorch.Size([3, 8, 8])
    """

    def __init__(
        self, policy: Any = AutoAugmentPolicy.IMAGENET, interpolation: Any = "nearest", fill: Any = None
    ) -> None:
        super().__init__(interpolation=interpolation, fill=fill)
        self.policy = policy
        if policy not in _POLICIES:
            raise ValueError(f"The provided policy {policy} is not recognized.")
        self._policies = _policy(_POLICIES[policy])

    def _augmented(self, picture: Any, height: int, width: int) -> Any:
        for what, often, at in self._policies[int(vistorch.randint(len(self._policies), ()))]:
            if vistorch.rand(()) <= often:
                strengths, signed = _AUTO[what]
                strength = self._strength(strengths(10, height, width), signed, lambda at=at: at)
                picture = self._applied(picture, what, strength)
        return picture


class RandAugment(_Automatic):
    """Some changes out of all, of one strength.

    Args:
        num_ops: how many.
        magnitude: how strong.
        num_magnitude_bins: out of how many strengths.
        interpolation: "nearest" or "bilinear".
        fill: the value outside, one for each channel, or a dict of them by the class of the input.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import v2
        >>> v2.RandAugment()(vistorch.zeros(3, 8, 8, dtype=vistorch.uint8)).shape
        vistorch.Size([3, 8, 8])
    """

    def __init__(
        self,
        num_ops: int = 2,
        magnitude: int = 9,
        num_magnitude_bins: int = 31,
        interpolation: Any = "nearest",
        fill: Any = None,
    ) -> None:
        super().__init__(interpolation=interpolation, fill=fill)
        if not isinstance(num_ops, int) or num_ops < 0:
            raise ValueError(f"num_ops should be a non-negative integer, but got {num_ops} instead.")
        self.num_ops = num_ops
        self.magnitude = magnitude
        self.num_magnitude_bins = num_magnitude_bins

    def _augmented(self, picture: Any, height: int, width: int) -> Any:
        for _ in range(self.num_ops):
            what = self._one_of(_RAND)
            strengths, signed = _RAND[what]
            made = strengths(self.num_magnitude_bins, height, width)
            picture = self._applied(picture, what, self._strength(made, signed, lambda: self.magnitude))
        return picture


class TrivialAugmentWide(_Automatic):
    """One change out of all, of any strength.

    Args:
        num_magnitude_bins: out of how many strengths.
        interpolation: "nearest" or "bilinear".
        fill: the value outside, one for each channel, or a dict of them by the class of the input.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import v2
        >>> v2.TrivialAugmentWide()(vistorch.zeros(3, 8, 8, dtype=vistorch.uint8)).shape
        vistorch.Size([3, 8, 8])
    """

    def __init__(
        self, num_magnitude_bins: int = 31, interpolation: Any = "nearest", fill: Any = None
    ) -> None:
        super().__init__(interpolation=interpolation, fill=fill)
        self.num_magnitude_bins = num_magnitude_bins

    def _augmented(self, picture: Any, height: int, width: int) -> Any:
        what = self._one_of(_WIDE)
        strengths, signed = _WIDE[what]
        bins = self.num_magnitude_bins
        strength = self._strength(
            strengths(bins, height, width), signed, lambda: int(vistorch.randint(bins, ()))
        )
        return self._applied(picture, what, strength)


class AugMix(_Automatic):
    """Several chains of changes, mixed with one another and with the picture.

    Args:
        severity: how strong, from 1 to 10.
        mixture_width: how many chains.
        chain_depth: how many changes a chain has; from 1 to 3 where it is not positive.
        alpha: of the Dirichlet distributions that mix.
        all_ops: whether brightness, color, contrast and sharpness are among them.
        interpolation: "nearest" or "bilinear".
        fill: the value outside, one for each channel, or a dict of them by the class of the input.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.transforms import v2
        >>> v2.AugMix()(vistorch.zeros(3, 8, 8, dtype=vistorch.uint8)).shape
        vistorch.Size([3, 8, 8])
    """

    def __init__(
        self,
        severity: int = 3,
        mixture_width: int = 3,
        chain_depth: int = -1,
        alpha: float = 1.0,
        all_ops: bool = True,
        interpolation: Any = "bilinear",
        fill: Any = None,
    ) -> None:
        super().__init__(interpolation=interpolation, fill=fill)
        if not 1 <= severity <= 10:
            raise ValueError(f"The severity must be between [1, 10]. Got {severity} instead.")
        self.severity = severity
        self.mixture_width = mixture_width
        self.chain_depth = chain_depth
        self.alpha = alpha
        self.all_ops = all_ops

    def _shares(self, count: int, rows: int, device: Any) -> Tensor:
        concentration = vistorch.tensor([self.alpha] * count, device=device).expand(rows, -1)
        return vistorch._sample_dirichlet(concentration)

    def _augmented(self, picture: Any, height: int, width: int) -> Any:
        given = picture if isinstance(picture, Tensor) else F.pil_to_tensor(picture)
        plain = given.as_subclass(Tensor)
        space = _MIX if self.all_ops else _MIX_PART
        dims = 5 if isinstance(picture, Video) else 4
        batch = plain.reshape([1] * max(dims - plain.ndim, 0) + list(plain.shape))
        rows = batch.size(0)
        ones = [rows] + [1] * (batch.ndim - 1)
        own = self._shares(2, rows, batch.device)
        shares = self._shares(self.mixture_width, rows, batch.device) * own[:, 1].reshape([rows, -1])
        mix = own[:, 0].reshape(ones) * batch
        for chain in range(self.mixture_width):
            changed = batch
            drawn = self.chain_depth <= 0
            for _ in range(int(vistorch.randint(1, 4, size=(1,)).item()) if drawn else self.chain_depth):
                what = self._one_of(space)
                strengths, signed = space[what]
                made = strengths(10, height, width)
                at = self._strength(made, signed, lambda: int(vistorch.randint(self.severity, ())))
                changed = self._applied(changed, what, at)
            mix.add_(shares[:, chain].reshape(ones) * changed)
        mix = mix.reshape(plain.shape).to(dtype=plain.dtype)
        if isinstance(picture, TVTensor):
            return tv_tensors.wrap(mix, like=picture)
        return F.to_pil_image(mix) if is_pil(picture) else mix
