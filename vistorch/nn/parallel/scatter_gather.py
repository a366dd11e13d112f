"""Inputs to several devices and outputs back, whatever tuples, lists and dicts the tensors are in.

Invariant: what is no tensor goes to every device as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.core.tensor import Tensor
from ._functions import Gather, Scatter

__all__ = ["gather", "scatter", "scatter_kwargs"]


def _is_namedtuple(obj: Any) -> bool:
    return isinstance(obj, tuple) and hasattr(obj, "_asdict") and hasattr(obj, "_fields")


def scatter(inputs: Any, target_gpus: Sequence, dim: int = 0) -> Any:
    """Tensors in chunks, one for each device; other objects as they are.

    Args:
        inputs: a tensor, or tuples, lists and dicts of them.
        target_gpus: the devices.
        dim: along which dimension.

    Example:
        >>> import vistorch
        >>> from vistorch.nn.parallel import scatter
        >>> scatter({"x": vistorch.arange(3), "n": 7}, ["cpu", "cpu"])
        [{'x': tensor([0, 1]), 'n': 7}, {'x': tensor([2]), 'n': 7}]
    """
    if isinstance(inputs, Tensor):
        return Scatter.apply(target_gpus, None, dim, inputs)
    if not isinstance(inputs, (tuple, list, dict)) or (not inputs and not _is_namedtuple(inputs)):
        return [inputs for _ in target_gpus]
    parts = inputs.items() if isinstance(inputs, dict) else inputs
    rows = zip(*[scatter(part, target_gpus, dim) for part in parts], strict=False)
    if _is_namedtuple(inputs):
        return [type(inputs)(*row) for row in rows]
    if isinstance(inputs, tuple):
        return list(rows)
    if isinstance(inputs, list):
        return [list(row) for row in rows]
    return [type(inputs)(row) for row in rows]


def scatter_kwargs(
    inputs: tuple, kwargs: dict | None, target_gpus: Sequence, dim: int = 0
) -> tuple[tuple, tuple]:
    """The arguments of a call in chunks: for each device its positional and its named ones.

    Args:
        inputs: the positional arguments.
        kwargs: the named ones.
        target_gpus: the devices.
        dim: along which dimension.
    """
    rows = list(scatter(inputs, target_gpus, dim)) if inputs else []
    named = list(scatter(kwargs, target_gpus, dim)) if kwargs else []
    rows += [()] * (len(named) - len(rows))
    named += [{} for _ in range(len(rows) - len(named))]
    return tuple(rows), tuple(named)


def gather(outputs: Any, target_device: Any, dim: int = 0) -> Any:
    """The outputs of several devices as one.

    Args:
        outputs: for each device a tensor, or the same tuples, lists and dicts of them.
        target_device: the device of the result.
        dim: along which dimension.

    Example:
        >>> import vistorch
        >>> from vistorch.nn.parallel import gather
        >>> gather([vistorch.ones(2), vistorch.zeros(1)], "cpu")
        tensor([1., 1., 0.])
    """
    first = outputs[0]
    if isinstance(first, Tensor):
        return Gather.apply(target_device, dim, *outputs)
    if first is None:
        return None
    if isinstance(first, dict):
        if not all(len(first) == len(d) for d in outputs):
            raise ValueError("All dicts must have the same number of keys")
        return type(first)((key, gather([d[key] for d in outputs], target_device, dim)) for key in first)
    parts = [gather(row, target_device, dim) for row in zip(*outputs, strict=True)]
    return type(first)._make(parts) if _is_namedtuple(first) else type(first)(parts)
