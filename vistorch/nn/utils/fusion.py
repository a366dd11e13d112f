"""A batch norm in evaluation is a scale and a shift: taken into the weights of the layer before it.

Invariant: the given layers stay as they are; the fused one is a copy.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from ...engine.core.registry import FUNCTIONS
from ...engine.core.tensor import Tensor
from ..parameter import Parameter

__all__ = ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"]

ones_like, rsqrt, zeros_like = (FUNCTIONS[name] for name in ("ones_like", "rsqrt", "zeros_like"))


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """A convolution that does what `conv` and then `bn` do, both in evaluation mode.

    Args:
        conv: a convolution.
        bn: the batch norm behind it.
        transpose: whether the convolution is a transposed one.

    Example:
        >>> import vistorch
        >>> conv, bn = vistorch.nn.Conv2d(3, 4, 3).eval(), vistorch.nn.BatchNorm2d(4).eval()
        >>> fused = vistorch.nn.utils.fuse_conv_bn_eval(conv, bn)
        >>> x = vistorch.ones(1, 3, 5, 5)
        >>> vistorch.allclose(fused(x), bn(conv(x)), atol=1e-5)
        True
    """
    _check_eval(conv, bn)
    fused = deepcopy(conv)
    _check_running(bn)
    moments = bn.running_mean, bn.running_var, bn.eps
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight, fused.bias, *moments, bn.weight, bn.bias, transpose
    )
    return fused


def fuse_conv_bn_weights(
    conv_w: Tensor,
    conv_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    """The weight and the bias of a convolution with a batch norm taken in.

    Args:
        conv_w: the convolution's weight.
        conv_b: its bias.
        bn_rm: the running mean.
        bn_rv: the running variance.
        bn_eps: what is added to the variance.
        bn_w: the batch norm's weight.
        bn_b: its bias.
        transpose: whether the convolution is a transposed one.

    Example:
        >>> import vistorch
        >>> bn = vistorch.nn.BatchNorm2d(1)
        >>> weight, bias = vistorch.nn.utils.fuse_conv_bn_weights(
        ...     vistorch.ones(1, 1, 1, 1), None, vistorch.tensor([2.0]), vistorch.tensor([4.0]), 0.0, bn.weight, bn.bias
        ... )
        >>> weight.item(), bias.item()  # (x - 2) / 2
        (0.5, -1.0)
    """
    bias = zeros_like(bn_rm) if conv_b is None else conv_b
    gain = ones_like(bn_rm) if bn_w is None else bn_w
    shift = zeros_like(bn_rm) if bn_b is None else bn_b
    root = rsqrt(bn_rv + bn_eps)
    out_first = [1, -1] if transpose else [-1, 1]
    scale = (gain * root).reshape(out_first + [1] * (conv_w.ndim - 2))
    fused_b = (bias - bn_rm) * root * gain + shift
    kind = conv_w.dtype if conv_b is None else conv_b.dtype
    return (
        Parameter((conv_w * scale).to(dtype=conv_w.dtype), conv_w.requires_grad),
        Parameter(fused_b.to(dtype=kind), bias.requires_grad),
    )


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """A linear layer that does what `linear` and then `bn` do, both in evaluation mode.

    Args:
        linear: a linear layer.
        bn: the batch norm behind it.

    Example:
        >>> import vistorch
        >>> linear, bn = vistorch.nn.Linear(3, 4).eval(), vistorch.nn.BatchNorm1d(4).eval()
        >>> fused = vistorch.nn.utils.fuse_linear_bn_eval(linear, bn)
        >>> vistorch.allclose(fused(vistorch.ones(1, 3)), bn(linear(vistorch.ones(1, 3))), atol=1e-5)
        True
    """
    _check_eval(linear, bn)
    fused = deepcopy(linear)
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError(
            "To fuse, linear.out_features == bn.num_features or bn.num_features == 1, got "
            f"linear.out_features={linear.out_features} and bn.num_features={bn.num_features}"
        )
    _check_running(bn)
    moments = bn.running_mean, bn.running_var, bn.eps
    fused.weight, fused.bias = fuse_linear_bn_weights(fused.weight, fused.bias, *moments, bn.weight, bn.bias)
    return fused


def fuse_linear_bn_weights(
    linear_w: Tensor,
    linear_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor,
    bn_b: Tensor,
) -> tuple[Parameter, Parameter]:
    """The weight and the bias of a linear layer with a batch norm taken in.

    Args:
        linear_w: the layer's weight.
        linear_b: its bias.
        bn_rm: the running mean.
        bn_rv: the running variance.
        bn_eps: what is added to the variance.
        bn_w: the batch norm's weight.
        bn_b: its bias.

    Example:
        >>> import vistorch
        >>> bn = vistorch.nn.BatchNorm1d(1)
        >>> weight, bias = vistorch.nn.utils.fuse_linear_bn_weights(
        ...     vistorch.ones(1, 1), None, vistorch.tensor([2.0]), vistorch.tensor([4.0]), 0.0, bn.weight, bn.bias
        ... )
        >>> weight.item(), bias.item()  # (x - 2) / 2
        (0.5, -1.0)
    """
    bias = zeros_like(bn_rm) if linear_b is None else linear_b
    scale = bn_w * rsqrt(bn_rv + bn_eps)
    fused_b = (bias - bn_rm) * scale + bn_b
    kind = linear_w.dtype if linear_b is None else linear_b.dtype
    return (
        Parameter(linear_w * scale.unsqueeze(-1).to(dtype=linear_w.dtype), linear_w.requires_grad),
        Parameter(fused_b.to(dtype=kind), bias.requires_grad),
    )


def _check_eval(layer: Any, bn: Any) -> None:
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")


def _check_running(bn: Any) -> None:
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("bn.running_mean and bn.running_var must not be None")
