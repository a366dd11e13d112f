"""The weights of convolutions in another order in memory."""

from __future__ import annotations

from typing import Any

from ..modules.conv import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]


def convert_conv2d_weight_memory_format(module: Any, memory_format: Any) -> Any:
    """Bring the weights of all two-dimensional convolutions into a memory format.

    Args:
        module: a module; those below it are converted too.
        memory_format: such as `vistorch.channels_last`.

    Example:
        >>> import vistorch
        >>> net = vistorch.nn.Sequential(vistorch.nn.Conv2d(2, 3, 2))
        >>> net = vistorch.nn.utils.convert_conv2d_weight_memory_format(net, vistorch.channels_last)
        >>> net[0].weight.is_contiguous(memory_format=vistorch.channels_last)
        True
    """
    return _converted(module, (Conv2d, ConvTranspose2d), memory_format)


def convert_conv3d_weight_memory_format(module: Any, memory_format: Any) -> Any:
    """Bring the weights of all three-dimensional convolutions into a memory format.

    Args:
        module: a module; those below it are converted too.
        memory_format: such as `vistorch.channels_last_3d`.

    Example:
        >>> import vistorch
        >>> conv = vistorch.nn.Conv3d(2, 3, 2)
        >>> conv = vistorch.nn.utils.convert_conv3d_weight_memory_format(conv, vistorch.channels_last_3d)
        >>> conv.weight.is_contiguous(memory_format=vistorch.channels_last_3d)
        True
    """
    return _converted(module, (Conv3d, ConvTranspose3d), memory_format)


def _converted(module: Any, kinds: tuple, memory_format: Any) -> Any:
    for each in module.modules():
        if isinstance(each, kinds):
            each.weight.data = each.weight.detach().clone(memory_format=memory_format)
    return module
