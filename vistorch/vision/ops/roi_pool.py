"""Regions of pictures, all of one size: the largest pixel of each cell.

Invariant: a region begins and ends at whole pixels.
"""

from __future__ import annotations

from typing import Any

from ... import Tensor, nn
from .regions import gathered, regions, whole


def roi_pool(
    input: Tensor,
    boxes: Any,
    output_size: Any,
    spatial_scale: float = 1.0,
) -> Tensor:
    """Make of each region a grid of the largest pixels.

    Args:
        input: pictures, (N, C, height, width).
        boxes: (K, 5), the number of a picture and the corners; or for each picture (L, 4), the corners.
        output_size: rows and columns that each region becomes.
        spatial_scale: pixels of the picture for one of the boxes' units.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.ops import roi_pool
        >>> x = vistorch.arange(16.).reshape(1, 1, 4, 4)
        >>> roi_pool(x, [vistorch.tensor([[0., 0., 4., 4.]])], 1)
        tensor([[[[15.]]]])
    """
    found = regions(input, boxes, output_size)
    return gathered(input, found, whole(input, found, spatial_scale, closed=True), "max")


class RoIPool(nn.Module):
    """`roi_pool` as a module.

    Args:
        output_size: rows and columns that each region becomes.
        spatial_scale: pixels of the picture for one of the boxes' units.

    Example:
        >>> from vistorch.vision.ops import RoIPool
        >>> RoIPool(2, 1.0)
        RoIPool(output_size=2, spatial_scale=1.0)
    """

    def __init__(
        self,
        output_size: Any,
        spatial_scale: float,
    ) -> None:
        super().__init__()
        self.output_size = output_size
        self.spatial_scale = spatial_scale

    def forward(self, input: Tensor, rois: Any) -> Tensor:
        """The regions.

        Args:
            input: pictures, (N, C, height, width).
            rois: (K, 5), or for each picture (L, 4).
        """
        return roi_pool(input, rois, self.output_size, self.spatial_scale)

    def __repr__(self) -> str:
        shown = ("output_size", "spatial_scale")
        return f"{self.__class__.__name__}({', '.join(f'{name}={getattr(self, name)}' for name in shown)})"
