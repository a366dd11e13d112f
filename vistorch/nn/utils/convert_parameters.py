"""Parameters as one vector, and a vector as parameters.

Invariant: both ways take the parameters in the same order and each row by row.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...engine.core.registry import FUNCTIONS
from ...engine.core.tensor import Tensor
from ...engine.library_name import library

__all__ = ["parameters_to_vector", "vector_to_parameters"]

cat, typename = FUNCTIONS["cat"], FUNCTIONS["typename"]


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All parameters behind one another.

    Args:
        parameters: tensors on one device.

    Example:
        >>> import vistorch
        >>> layer = vistorch.nn.Linear(2, 3)
        >>> vistorch.nn.utils.parameters_to_vector(layer.parameters()).shape
        vistorch.Size([9])
    """
    return cat([p.view(-1) for p in _on_one_device(parameters)])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Give the parameters the values of a vector, whose memory they then share.

    Args:
        vec: as `parameters_to_vector` gives it.
        parameters: the parameters to change.

    Example:
        >>> import vistorch
        >>> p = vistorch.nn.Parameter(vistorch.zeros(2, 2))
        >>> vistorch.nn.utils.vector_to_parameters(vistorch.arange(4.0), [p])
        >>> p
        Parameter containing:
        tensor([[0., 1.],
                [2., 3.]], requires_grad=True)
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected {library}.Tensor, but got: {typename(vec)}")
    start = 0
    for p in _on_one_device(parameters):
        end = start + p.numel()
        p.data = vec[start:end].view_as(p).data
        start = end


def _on_one_device(parameters: Iterable[Tensor]) -> Any:
    """The parameters one by one, as long as they are all in the same place."""
    first: Any = None
    for p in parameters:
        first = p if first is None else first
        if p.get_device() != first.get_device():
            raise TypeError("Found two parameters on different devices, this is currently not supported.")
        yield p
