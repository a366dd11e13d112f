"""Max pooling with windows at random places."""

from __future__ import annotations

from typing import Any

from ....engine.base import dims, dtypes, errors
from ....engine.base.casting import casting
from ....engine.core.registry import FUNCTIONS
from ....engine.core.tensor import Tensor
from ....engine.ops.pool import unpool

__all__ = [
    "fractional_max_pool2d",
    "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices",
]


def fractional_max_pool2d(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """The largest elements of windows at random places of the last two dims.

    Args:
        input: a tensor (channels, height, width), with or without a batch dim in front.
        kernel_size: the size of a window, one int or two.
        output_size: how many windows.
        output_ratio: how many windows, as fractions of the sizes.
        return_indices: return where the elements are, too.
        _random_samples: numbers between 0 and 1 that choose the places, 2 for each channel.

    Example:
        >>> import vistorch
        >>> import vistorch.nn.functional as F
        >>> F.fractional_max_pool2d(vistorch.arange(16.0).reshape(1, 4, 4), 2, 1)
        tensor([[[15.]]])
    """
    if casting.on and (recast := casting.ask(fractional_max_pool2d, locals())):
        return recast[0]
    pair = fractional_max_pool2d_with_indices(
        input, kernel_size, output_size, output_ratio, return_indices, _random_samples
    )
    return pair if return_indices else pair[0]


def fractional_max_pool2d_with_indices(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """The largest elements of windows at random places of the last two dims, and where they are.

    Args:
        input: a tensor (channels, height, width), with or without a batch dim in front.
        kernel_size: the size of a window, one int or two.
        output_size: how many windows.
        output_ratio: how many windows, as fractions of the sizes.
        return_indices: accepted; the indices come in any case.
        _random_samples: numbers between 0 and 1 that choose the places, 2 for each channel.

    Example:
        >>> import vistorch
        >>> import vistorch.nn.functional as F
        >>> F.fractional_max_pool2d_with_indices(vistorch.arange(16.0).reshape(1, 4, 4), 2, 1)[1]
        tensor([[[15]]])
    """
    if casting.on and (recast := casting.ask(fractional_max_pool2d_with_indices, locals())):
        return recast[0]
    made, samples = _chosen(2, input, output_size, output_ratio, _random_samples)
    return unpool.fractional(2, input, kernel_size, made, samples)


def fractional_max_pool3d(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """The largest elements of windows at random places of the last three dims.

    Args:
        input: a tensor (channels, depth, height, width), with or without a batch dim in front.
        kernel_size: the size of a window, one int or three.
        output_size: how many windows.
        output_ratio: how many windows, as fractions of the sizes.
        return_indices: return where the elements are, too.
        _random_samples: numbers between 0 and 1 that choose the places, 3 for each channel.

    Example:
        >>> import vistorch
        >>> import vistorch.nn.functional as F
        >>> F.fractional_max_pool3d(vistorch.arange(64.0).reshape(1, 4, 4, 4), 2, 1)
        tensor([[[[63.]]]])
    """
    if casting.on and (recast := casting.ask(fractional_max_pool3d, locals())):
        return recast[0]
    pair = fractional_max_pool3d_with_indices(
        input, kernel_size, output_size, output_ratio, return_indices, _random_samples
    )
    return pair if return_indices else pair[0]


def fractional_max_pool3d_with_indices(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """The largest elements of windows at random places of the last three dims, and where they are.

    Args:
        input: a tensor (channels, depth, height, width), with or without a batch dim in front.
        kernel_size: the size of a window, one int or three.
        output_size: how many windows.
        output_ratio: how many windows, as fractions of the sizes.
        return_indices: accepted; the indices come in any case.
        _random_samples: numbers between 0 and 1 that choose the places, 3 for each channel.

    Example:
        >>> import vistorch
        >>> import vistorch.nn.functional as F
        >>> F.fractional_max_pool3d_with_indices(vistorch.arange(64.0).reshape(1, 4, 4, 4), 2, 1)[1]
        tensor([[[[63]]]])
    """
    if casting.on and (recast := casting.ask(fractional_max_pool3d_with_indices, locals())):
        return recast[0]
    made, samples = _chosen(3, input, output_size, output_ratio, _random_samples)
    return unpool.fractional(3, input, kernel_size, made, samples)


def _chosen(d: int, input: Any, output_size: Any, output_ratio: Any, samples: Any) -> tuple:
    """The output sizes, and the random numbers, drawn if there are none."""
    name = f"fractional_max_pool{d}d"
    if output_size is None and output_ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    if not isinstance(input, Tensor):
        raise errors.must_be_tensor(name, "input", 1, input)
    shape = input._data.shape
    if output_size is None:
        if d == 2 and len(output_ratio) > 2:
            raise ValueError(f"{name} requires output_ratio to either be a single Int or tuple of Ints.")
        ratio = output_ratio if isinstance(output_ratio, (tuple, list)) else (output_ratio,) * d
        output_size = [int(shape[dims.one(i - d, len(shape))] * ratio[i]) for i in range(d)]
    if samples is None:
        if not shape:
            raise IndexError("Dimension specified as 0 but tensor has no dimensions")
        channels = shape[dims.one(-d - 1, len(shape))]
        batch = 1 if len(shape) == d + 1 else shape[0]
        dtype, device = dtypes.of(input._data.dtype), input.device
        samples = FUNCTIONS["rand"](batch, channels, d, dtype=dtype, device=device)
    return output_size, samples
