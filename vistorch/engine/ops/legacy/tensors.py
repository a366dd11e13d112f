"""Attributes and methods of a tensor from PyTorch's first years.

Invariant: what has no meaning any more answers as PyTorch does, with its warning.
"""

from __future__ import annotations

import warnings

from ...base import errors
from ...base.warn_once import user_level
from ...core.registry import METHODS, public
from ...core.tensor import Tensor

METHODS["name"] = property(
    lambda self: None,
    doc="""None: tensors have no names.

    Example:
        >>> import vistorch
        >>> vistorch.ones(2).name is None
        True
    """,
)


@public(function=False)
def resize(input, *sizes):
    """`reshape` to the same number of elements; PyTorch warns, and so does this.

    Args:
        input: a tensor.
        *sizes: the new sizes.

    Example:
        >>> import vistorch
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     vistorch.arange(4).resize(2, 2).shape
        vistorch.Size([2, 2])
    """
    warnings.warn("non-inplace resize is deprecated", stacklevel=user_level())
    return _resized(input, sizes[0] if len(sizes) == 1 and not isinstance(sizes[0], int) else sizes)


@public(function=False)
def resize_as(input, tensor):
    """`reshape` to the sizes of another tensor; PyTorch warns, and so does this.

    Args:
        input: a tensor.
        tensor: one of the wanted sizes.

    Example:
        >>> import vistorch, warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     vistorch.arange(4).resize_as(vistorch.ones(2, 2)).shape
        vistorch.Size([2, 2])
    """
    if not isinstance(tensor, Tensor):
        raise errors.must_be_tensor("resize_as", "tensor", 2, tensor)
    warnings.warn("non-inplace resize_as is deprecated", stacklevel=user_level())
    return _resized(input, tuple(tensor.shape))


def _resized(input: Tensor, sizes: tuple) -> Tensor:
    wanted = 1
    for size in sizes:
        wanted *= size
    if wanted != input.numel():
        own, new = ("x".join(str(size) for size in one) for one in (input.shape, sizes))
        raise RuntimeError(
            f"requested resize to {new} ({wanted} elements in total), but the given tensor has a size of {own} "
            f"({input.numel()} elements). autograd's resize can only change the shape of a given tensor, while "
            "preserving the number of elements. "
        )
    return input.reshape(sizes)
