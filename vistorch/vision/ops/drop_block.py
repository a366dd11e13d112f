"""Blocks of neighbouring elements that are set to zero at random while a network is trained.

Invariant: all dims go through one function.
"""

from __future__ import annotations

import math

from ... import Tensor, empty, nn
from ...nn import functional as F


def _dropped(
    dims: int, input: Tensor, p: float, block_size: int, inplace: bool, eps: float, training: bool
) -> Tensor:
    if p < 0.0 or p > 1.0:
        raise ValueError(f"drop probability has to be between 0 and 1, but got {p}.")
    if input.ndim != dims + 2:
        raise ValueError(f"input should be {dims + 2} dimensional. Got {input.ndim} dimensions.")
    if not training or p == 0.0:
        return input
    size = input.shape[2:]
    side = min(block_size, *size)
    if side % 2 == 0:
        raise ValueError(f"block size should be odd. Got {side} which is even.")
    inner = [n - side + 1 for n in size]
    gamma = p * math.prod(size) / (side**dims * math.prod(inner))
    centres = empty((*input.shape[:2], *inner), dtype=input.dtype, device=input.device).bernoulli_(gamma)
    pool = F.max_pool2d if dims == 2 else F.max_pool3d
    grown = pool(F.pad(centres, [side // 2] * (2 * dims)), kernel_size=side, stride=1, padding=side // 2)
    noise = 1 - grown
    scale = noise.numel() / (eps + noise.sum())
    return input.mul_(noise).mul_(scale) if inplace else input * noise * scale


def drop_block2d(
    input: Tensor, p: float, block_size: int, inplace: bool = False, eps: float = 1e-6, training: bool = True
) -> Tensor:
    """Set squares of the input to zero at random; what is left grows.

    Args:
        input: (N, C, height, width).
        p: how likely an element is zero.
        block_size: the side of a block, odd.
        inplace: whether to write into the input.
        eps: keeps a division from being by zero.
        training: whether to do so at all.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.ops import drop_block2d
        >>> drop_block2d(vistorch.ones(1, 1, 2, 2), 0.0, 1).sum()
        tensor(4.)
    """
    return _dropped(2, input, p, block_size, inplace, eps, training)


def drop_block3d(
    input: Tensor, p: float, block_size: int, inplace: bool = False, eps: float = 1e-6, training: bool = True
) -> Tensor:
    """Set cubes of the input to zero at random; what is left grows.

    Args:
        input: (N, C, depth, height, width).
        p: how likely an element is zero.
        block_size: the side of a block, odd.
        inplace: whether to write into the input.
        eps: keeps a division from being by zero.
        training: whether to do so at all.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.ops import drop_block3d
        >>> drop_block3d(vistorch.ones(1, 1, 2, 2, 2), 0.0, 1).sum()
        tensor(8.)
    """
    return _dropped(3, input, p, block_size, inplace, eps, training)


class DropBlock2d(nn.Module):
    """`drop_block2d` as a module: it does nothing after `eval()`.

    Args:
        p: how likely an element is zero.
        block_size: the side of a block, odd.
        inplace: whether to write into the input.
        eps: keeps a division from being by zero.

    Example:
        >>> from vistorch.vision.ops import DropBlock2d
        >>> DropBlock2d(0.1, 3)
        DropBlock2d(p=0.1, block_size=3, inplace=False)
    """

    def __init__(self, p: float, block_size: int, inplace: bool = False, eps: float = 1e-6) -> None:
        super().__init__()
        self.p = p
        self.block_size = block_size
        self.inplace = inplace
        self.eps = eps

    def forward(self, input: Tensor) -> Tensor:
        """The input with zeros in it.

        Args:
            input: (N, C, height, width).
        """
        return drop_block2d(input, self.p, self.block_size, self.inplace, self.eps, self.training)

    def __repr__(self) -> str:
        return f"{self.__class__.__name__}(p={self.p}, block_size={self.block_size}, inplace={self.inplace})"


class DropBlock3d(DropBlock2d):
    """`drop_block3d` as a module: it does nothing after `eval()`.

    Args:
        p: how likely an element is zero.
        block_size: the side of a block, odd.
        inplace: whether to write into the input.
        eps: keeps a division from being by zero.

    Example:
        >>> from vistorch.vision.ops import DropBlock3d
        >>> DropBlock3d(0.1, 3)
        DropBlock3d(p=0.1, block_size=3, inplace=False)
    """

    def forward(self, input: Tensor) -> Tensor:
        """The input with zeros in it.

        Args:
            input: (N, C, depth, height, width).
        """
        return drop_block3d(input, self.p, self.block_size, self.inplace, self.eps, self.training)
