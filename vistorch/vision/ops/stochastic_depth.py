"""Blocks that are left out at random while a network is trained.

Invariant: the mean over many calls is the input.
"""

from __future__ import annotations

from ... import Tensor, empty, nn


def stochastic_depth(input: Tensor, p: float, mode: str, training: bool = True) -> Tensor:
    """Set the whole input, or whole samples of it, to zero at random; what is left grows.

    Args:
        input: (N, ...).
        p: how likely it is zero.
        mode: `batch` for all of it at once, `row` for each sample.
        training: whether to do so at all.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.ops import stochastic_depth
        >>> stochastic_depth(vistorch.ones(2), 1.0, "batch")
        tensor([0., 0.])
    """
    if p < 0.0 or p > 1.0:
        raise ValueError(f"drop probability has to be between 0 and 1, but got {p}")
    if mode not in ["batch", "row"]:
        raise ValueError(f"mode has to be either 'batch' or 'row', but got {mode}")
    if not training or p == 0.0:
        return input
    survives = 1.0 - p
    first = input.shape[0] if mode == "row" else 1
    size = [first, *[1] * (input.ndim - 1)] if input.ndim else []
    noise = empty(size, dtype=input.dtype, device=input.device).bernoulli_(survives)
    if survives > 0.0:
        noise.div_(survives)
    return input * noise


class StochasticDepth(nn.Module):
    """`stochastic_depth` as a module: it does nothing after `eval()`.

    Args:
        p: how likely the input is zero.
        mode: `batch` for all of it at once, `row` for each sample.

    Example:
        >>> from vistorch.vision.ops import StochasticDepth
        >>> StochasticDepth(0.2, "row")
        StochasticDepth(p=0.2, mode=row)
    """

    def __init__(self, p: float, mode: str) -> None:
        super().__init__()
        self.p = p
        self.mode = mode

    def forward(self, input: Tensor) -> Tensor:
        """The input, or zeros.

        Args:
            input: (N, ...).
        """
        return stochastic_depth(input, self.p, self.mode, self.training)

    def __repr__(self) -> str:
        return f"{self.__class__.__name__}(p={self.p}, mode={self.mode})"
