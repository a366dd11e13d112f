"""What is not here: a function mapped over a batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["vmap"]


def vmap(
    func: Callable,
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable:
    """Refused: operations here do not know how to work on a batch that their function does not see.

    Args:
        func: a function of single samples.
        in_dims: which dim of each argument counts the samples.
        out_dims: which dim of each result does.
        randomness: how random numbers are drawn.
        chunk_size: how many samples at a time.

    Example:
        >>> import vistorch
        >>> vistorch.func.vmap(vistorch.sin)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        NotImplementedError: vistorch has no vmap: write the batch as a dimension ...
        >>> vistorch.stack([vistorch.dot(x, x) for x in vistorch.arange(4).reshape(2, 2)])
        tensor([ 1, 13])
    """
    raise NotImplementedError(
        "vistorch has no vmap: write the batch as a dimension of the function's arguments, or loop over the samples "
        "and vistorch.stack the results."
    )
