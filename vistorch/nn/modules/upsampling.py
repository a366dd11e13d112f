"""Images made larger.

Invariant: a module keeps `size` and `scale_factor` as floats and tuples, as PyTorch prints them.
"""

from __future__ import annotations

from typing import Any

from ...engine.core.tensor import Tensor
from .. import functional as F
from .module import Module

__all__ = ["Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d"]


class Upsample(Module):
    """Makes images larger: `functional.interpolate` with the same arguments each time.

    Args:
        size: the new size of the spatial dims.
        scale_factor: by how much they grow, instead of `size`.
        mode: "nearest", "linear", "bilinear", "bicubic" or "trilinear".
        align_corners: whether the outermost elements of input and output fall together.
        recompute_scale_factor: whether to compute with the factor that the rounded sizes have.

    Example:
        >>> import vistorch
        >>> vistorch.nn.Upsample(scale_factor=2)(vistorch.ones(1, 1, 2, 2)).shape
        vistorch.Size([1, 1, 4, 4])
    """

    __constants__ = ("align_corners", "mode", "name", "recompute_scale_factor", "scale_factor", "size")

    def __init__(
        self,
        size: Any = None,
        scale_factor: Any = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        self.name = type(self).__name__
        self.size = size
        if isinstance(scale_factor, tuple):
            self.scale_factor: Any = tuple([float(factor) for factor in scale_factor])
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None
        self.mode = mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Tensor) -> Tensor:
        """Resize.

        Args:
            input: (N, C, L), (N, C, H, W) or (N, C, D, H, W).
        """
        return F.interpolate(
            input,
            self.size,
            self.scale_factor,
            self.mode,
            self.align_corners,
            recompute_scale_factor=self.recompute_scale_factor,
        )

    def __setstate__(self, state: dict) -> None:
        """States of old do not know `recompute_scale_factor`: it was True."""
        state.setdefault("recompute_scale_factor", True)
        super().__setstate__(state)

    def extra_repr(self) -> str:
        """The size or the factor, and the mode."""
        if self.scale_factor is not None:
            return f"scale_factor={self.scale_factor!r}, mode={self.mode!r}"
        return f"size={self.size!r}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """`Upsample` of images by the nearest neighbour.

    Args:
        size: the new height and width.
        scale_factor: by how much they grow, instead of `size`.

    Example:
        >>> import vistorch
        >>> vistorch.nn.UpsamplingNearest2d(scale_factor=2)(vistorch.ones(1, 1, 2, 2)).shape
        vistorch.Size([1, 1, 4, 4])
    """

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """`Upsample` of images, bilinear with aligned corners.

    Args:
        size: the new height and width.
        scale_factor: by how much they grow, instead of `size`.

    Example:
        >>> import vistorch
        >>> vistorch.nn.UpsamplingBilinear2d(size=(3, 3))(vistorch.ones(1, 1, 2, 2)).shape
        vistorch.Size([1, 1, 3, 3])
    """

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)
