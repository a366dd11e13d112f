"""As `roi_align`, where every cell of the grid has channels of its own.

Invariant: the channels of the cells lie behind one another: rows, then columns.
"""

from __future__ import annotations

from typing import Any

from ... import Tensor, nn
from .regions import channels_of_cells, gathered, regions, sampled


def ps_roi_align(
    input: Tensor,
    boxes: Any,
    output_size: Any,
    spatial_scale: float = 1.0,
    sampling_ratio: int = -1,
) -> Tensor:
    """Make of each region a grid of means, of points between the pixels; each cell of channels of its own.

    Args:
        input: pictures, (N, C, height, width).
        boxes: (K, 5), the number of a picture and the corners; or for each picture (L, 4), the corners.
        output_size: rows and columns that each region becomes.
        spatial_scale: pixels of the picture for one of the boxes' units.
        sampling_ratio: points along each side of a cell; about one for each pixel if not positive.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.ops import ps_roi_align
        >>> x = vistorch.arange(16.).reshape(1, 4, 2, 2)
        >>> ps_roi_align(x, [vistorch.tensor([[0., 0., 4., 4.]])], 2, 0.5)
        tensor([[[[ 0.,  5.],
                  [10., 15.]]]])
    """
    found = regions(input, boxes, output_size)
    channels_of_cells(input, found)
    bags = sampled(input, found, spatial_scale, sampling_ratio, 0.5, None)
    return gathered(input, found, bags, "sum", own_channels=True)


class PSRoIAlign(nn.Module):
    """`ps_roi_align` as a module.

    Args:
        output_size: rows and columns that each region becomes.
        spatial_scale: pixels of the picture for one of the boxes' units.
        sampling_ratio: points along each side of a cell; about one for each pixel if not positive.

    Example:
        >>> from vistorch.vision.ops import PSRoIAlign
        >>> PSRoIAlign(2, 1.0, 2)
        PSRoIAlign(output_size=2, spatial_scale=1.0, sampling_ratio=2)
    """

    def __init__(
        self,
        output_size: Any,
        spatial_scale: float,
        sampling_ratio: int,
    ) -> None:
        super().__init__()
        self.output_size = output_size
        self.spatial_scale = spatial_scale
        self.sampling_ratio = sampling_ratio

    def forward(self, input: Tensor, rois: Any) -> Tensor:
        """The regions.

        Args:
            input: pictures, (N, C, height, width).
            rois: (K, 5), or for each picture (L, 4).
        """
        return ps_roi_align(input, rois, self.output_size, self.spatial_scale, self.sampling_ratio)

    def __repr__(self) -> str:
        shown = ("output_size", "spatial_scale", "sampling_ratio")
        return f"{self.__class__.__name__}({', '.join(f'{name}={getattr(self, name)}' for name in shown)})"
