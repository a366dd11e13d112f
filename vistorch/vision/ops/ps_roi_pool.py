"""As `roi_pool`, with means, where every cell of the grid has channels of its own.

Invariant: the channels of the cells lie behind one another: rows, then columns.
"""

from __future__ import annotations

from typing import Any

from ... import Tensor, nn
from .regions import channels_of_cells, gathered, regions, whole


def ps_roi_pool(
    input: Tensor,
    boxes: Any,
    output_size: Any,
    spatial_scale: float = 1.0,
) -> Tensor:
    """Make of each region a grid of means of pixels; each cell of channels of its own.

    Args:
        input: pictures, (N, C, height, width).
        boxes: (K, 5), the number of a picture and the corners; or for each picture (L, 4), the corners.
        output_size: rows and columns that each region becomes.
        spatial_scale: pixels of the picture for one of the boxes' units.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.ops import ps_roi_pool
        >>> x = vistorch.arange(36.).reshape(1, 4, 3, 3)
        >>> ps_roi_pool(x, [vistorch.tensor([[0., 0., 2., 2.]])], 2)
        tensor([[[[ 0., 10.],
                  [21., 31.]]]])
    """
    found = regions(input, boxes, output_size)
    channels_of_cells(input, found)
    bags = whole(input, found, spatial_scale, closed=False)
    return gathered(input, found, bags, "mean", own_channels=True)


class PSRoIPool(nn.Module):
    """`ps_roi_pool` as a module.

    Args:
        output_size: rows and columns that each region becomes.
        spatial_scale: pixels of the picture for one of the boxes' units.

    Example:
        >>> from vistorch.vision.ops import PSRoIPool
        >>> PSRoIPool(2, 1.0)
        PSRoIPool(output_size=2, spatial_scale=1.0)
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
        return ps_roi_pool(input, rois, self.output_size, self.spatial_scale)

    def __repr__(self) -> str:
        shown = ("output_size", "spatial_scale")
        return f"{self.__class__.__name__}({', '.join(f'{name}={getattr(self, name)}' for name in shown)})"
