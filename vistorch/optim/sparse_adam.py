"""What is not here: Adam for sparse gradients."""

from __future__ import annotations

from typing import Any

from ..engine.base.argument_docs import arguments
from ..engine.library_name import library
from .argument_table import ARGUMENTS
from .optimizer import Optimizer

__all__ = ["SparseAdam"]


@arguments(ARGUMENTS, params="parameters.")
class SparseAdam(Optimizer):
    """Refused: all gradients here are dense, and `Adam` is for those.

    Example:
        >>> import vistorch
        >>> vistorch.optim.SparseAdam([vistorch.ones(1, requires_grad=True)])
        Traceback (most recent call last):
            ...
        NotImplementedError: vistorch has no sparse gradients: use vistorch.optim.Adam instead of SparseAdam.
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        raise NotImplementedError(
            f"vistorch has no sparse gradients: use {library}.optim.Adam instead of SparseAdam."
        )
