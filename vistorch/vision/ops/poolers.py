"""Regions of features of several sizes: each is taken from the size that fits it.

Invariant: the sizes are learned from the first call: by how much each input is smaller than the picture.
"""

from __future__ import annotations

import math
from typing import Any

import vistorch

from ... import Tensor, nn
from .boxes import box_area
from .roi_align import roi_align


class LevelMapper:
    """Which of several sizes fits a box: one step more for each doubling of its side.

    Args:
        k_min: the first level.
        k_max: the last level.
        canonical_scale: the side of a box that belongs to `canonical_level`.
        canonical_level: its level.
        eps: keeps a side just below a border on it.
    """

    def __init__(
        self, k_min: int, k_max: int, canonical_scale: int = 224, canonical_level: int = 4, eps: float = 1e-6
    ) -> None:
        self.k_min = k_min
        self.k_max = k_max
        self.s0 = canonical_scale
        self.lvl0 = canonical_level
        self.eps = eps

    def __call__(self, boxlists: list[Tensor]) -> Tensor:
        """The level of each box, from 0 on.

        Args:
            boxlists: for each picture (L, 4).
        """
        side = vistorch.cat([box_area(boxes) for boxes in boxlists]).sqrt()
        level = (self.lvl0 + (side / self.s0).log2() + vistorch.tensor(self.eps, dtype=side.dtype)).floor()
        return level.clamp(min=self.k_min, max=self.k_max).to(vistorch.int64) - self.k_min


class MultiScaleRoIAlign(nn.Module):
    """`roi_align` of features of several sizes.

    Args:
        featmap_names: which of the features.
        output_size: rows and columns that each region becomes.
        sampling_ratio: as of `roi_align`.
        canonical_scale: the side of a box that belongs to `canonical_level`.
        canonical_level: its level.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.ops import MultiScaleRoIAlign
        >>> pool = MultiScaleRoIAlign(["large", "small"], 3, 2)
        >>> x = {"large": vistorch.ones(1, 2, 16, 16), "small": vistorch.ones(1, 2, 8, 8)}
        >>> pool(x, [vistorch.tensor([[0., 0., 32., 32.]])], [(64, 64)]).shape
        vistorch.Size([1, 2, 3, 3])
    """

    def __init__(
        self,
        featmap_names: list[str],
        output_size: Any,
        sampling_ratio: int,
        *,
        canonical_scale: int = 224,
        canonical_level: int = 4,
    ) -> None:
        super().__init__()
        self.featmap_names = featmap_names
        self.sampling_ratio = sampling_ratio
        self.output_size = (output_size, output_size) if isinstance(output_size, int) else tuple(output_size)
        self.scales: list[float] | None = None
        self.map_levels: LevelMapper | None = None
        self.canonical_scale = canonical_scale
        self.canonical_level = canonical_level

    def _look(self, features: list[Tensor], image_shapes: list[tuple[int, int]]) -> None:
        """Learn by how much each of the features is smaller than the pictures."""
        if not image_shapes:
            raise ValueError("images list should not be empty")
        height = max(shape[0] for shape in image_shapes)
        self.scales = [2.0 ** round(math.log2(f.size(-2) / height)) for f in features]
        low, high = (int(-math.log2(scale)) for scale in (self.scales[0], self.scales[-1]))
        self.map_levels = LevelMapper(low, high, self.canonical_scale, self.canonical_level)

    def forward(
        self, x: dict[str, Tensor], boxes: list[Tensor], image_shapes: list[tuple[int, int]]
    ) -> Tensor:
        """The regions: (K, C, rows, columns).

        Args:
            x: features by name, from the largest picture on.
            boxes: for each picture (L, 4), as corners.
            image_shapes: height and width of each picture.
        """
        features = [f for name, f in x.items() if name in self.featmap_names]
        if self.scales is None or self.map_levels is None:
            self._look(features, image_shapes)
        assert self.scales is not None and self.map_levels is not None
        rois = vistorch.cat(
            [vistorch.cat([vistorch.full_like(b[:, :1], i), b], 1) for i, b in enumerate(boxes)]
        )
        how = {"output_size": self.output_size, "sampling_ratio": self.sampling_ratio}
        if len(features) == 1:
            return roi_align(features[0], rois, spatial_scale=self.scales[0], **how)
        levels = self.map_levels(boxes)
        result = features[0].new_zeros((len(rois), features[0].size(1), *self.output_size))
        for level, (feature, scale) in enumerate(zip(features, self.scales, strict=True)):
            own = vistorch.where(levels == level)[0]
            result[own] = roi_align(feature, rois[own], spatial_scale=scale, **how).to(result.dtype)
        return result

    def __repr__(self) -> str:
        return (
            f"{self.__class__.__name__}(featmap_names={self.featmap_names}, output_size={self.output_size}, "
            f"sampling_ratio={self.sampling_ratio})"
        )
