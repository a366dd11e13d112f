"""Regions of pictures, all of one size: means of points between the pixels.

Invariant: nothing is rounded, so that small moves of a region show.
"""

from __future__ import annotations

from typing import Any

from ... import Tensor, nn
from .regions import gathered, regions, sampled


def roi_align(
    input: Tensor,
    boxes: Any,
    output_size: Any,
    spatial_scale: float = 1.0,
    sampling_ratio: int = -1,
    aligned: bool = False,
) -> Tensor:
    """Make of each region a grid of means, of points between the pixels.

    Args:
        input: pictures, (N, C, height, width).
        boxes: (K, 5), the number of a picture and the corners; or for each picture (L, 4), the corners.
        output_size: rows and columns that each region becomes.
        spatial_scale: pixels of the picture for one of the boxes' units.
        sampling_ratio: points along each side of a cell; about one for each pixel if not positive.
        aligned: move the regions by half a pixel, so that they lie where the boxes are.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.ops import roi_align
        >>> x = vistorch.arange(16.).reshape(1, 1, 4, 4)
        >>> roi_align(x, [vistorch.tensor([[0., 0., 4., 4.]])], 1)
        tensor([[[[9.3750]]]])
    """
    found = regions(input, boxes, output_size)
    shift, least = (0.5, None) if aligned else (0.0, 1.0)
    return gathered(input, found, sampled(input, found, spatial_scale, sampling_ratio, shift, least), "sum")


class RoIAlign(nn.Module):
    """`roi_align` as a module.

    Args:
        output_size: rows and columns that each region becomes.
        spatial_scale: pixels of the picture for one of the boxes' units.
        sampling_ratio: points along each side of a cell; about one for each pixel if not positive.
        aligned: move the regions by half a pixel, so that they lie where the boxes are.

    Example:
        >>> from vistorch.vision.ops import RoIAlign
        >>> RoIAlign(2, 1.0, 2)
        RoIAlign(output_size=2, spatial_scale=1.0, sampling_ratio=2, aligned=False)
    """

    def __init__(
        self,
        output_size: Any,
        spatial_scale: float,
        sampling_ratio: int,
        aligned: bool = False,
    ) -> None:
        super().__init__()
        self.output_size = output_size
        self.spatial_scale = spatial_scale
        self.sampling_ratio = sampling_ratio
        self.aligned = aligned

    def forward(self, input: Tensor, rois: Any) -> Tensor:
        """The regions.

        Args:
            input: pictures, (N, C, height, width).
            rois: (K, 5), or for each picture (L, 4).
        """
        return roi_align(input, rois, self.output_size, self.spatial_scale, self.sampling_ratio, self.aligned)

    def __repr__(self) -> str:
        shown = ("output_size", "spatial_scale", "sampling_ratio", "aligned")
        return f"{self.__class__.__name__}({', '.join(f'{name}={getattr(self, name)}' for name in shown)})"
