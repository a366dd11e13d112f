"""Values brought to a common scale."""

from __future__ import annotations

from ...engine.base import dims as _dims
from ...engine.base.casting import casting
from ...engine.base.dtypes import bfloat16, float16, float32, float64, int64
from ...engine.core.registry import FUNCTIONS
from ...engine.ops.norm import checks
from ...engine.ops.norm.window import window_sum

__all__ = [
    "batch_norm",
    "group_norm",
    "instance_norm",
    "layer_norm",
    "local_response_norm",
    "normalize",
    "rms_norm",
]

_batch_norm, _instance_norm = FUNCTIONS["batch_norm"], FUNCTIONS["instance_norm"]
_layer_norm, _group_norm, _rms_norm = (FUNCTIONS[n] for n in ("layer_norm", "group_norm", "rms_norm"))
_div = FUNCTIONS["div"]
_POOLED = (float32, float64, int64)


def _several(shape: tuple | list) -> None:
    """Refuse a batch that has one value for each channel."""
    count = shape[0]
    for n in shape[2:]:
        count *= n
    if count == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {shape}")


def batch_norm(
    input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5
):
    """Each channel brought to mean zero and variance one over the batch, or by running statistics.

    Args:
        input: (batch, channels, ...).
        running_mean: what is used outside of training, and updated by it, or None.
        running_var: likewise.
        weight: a factor for each channel, or None.
        bias: an offset for each channel, or None.
        training: use the statistics of this batch.
        momentum: how far the running statistics move.
        eps: added to the variance.

    Example:
        >>> import vistorch
        >>> x = vistorch.tensor([[1.0], [3.0]])
        >>> vistorch.nn.functional.batch_norm(x, None, None, training=True)
        tensor([[-1.0000],
                [ 1.0000]])
    """
    if training:
        checks.tensor("batch_norm", "input", 1, input)
        _several(input.shape)
    if training and eps <= 0.0:
        raise ValueError(f"batch_norm eps must be positive during training, but got {eps}")
    if eps < 0.0:
        raise ValueError(f"batch_norm eps must be non-negative, but got {eps}")
    _dims.flag(training, "batch_norm", "training", 6)
    return _batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, True)


def instance_norm(
    input,
    running_mean=None,
    running_var=None,
    weight=None,
    bias=None,
    use_input_stats=True,
    momentum=0.1,
    eps=1e-5,
):
    """Each channel of each sample brought to mean zero and variance one, or by running statistics.

    Args:
        input: (batch, channels, ...).
        running_mean: what is used without `use_input_stats`, and updated with it, or None.
        running_var: likewise.
        weight: a factor for each channel, or None.
        bias: an offset for each channel, or None.
        use_input_stats: use the statistics of this input.
        momentum: how far the running statistics move.
        eps: added to the variance.

    Example:
        >>> import vistorch
        >>> vistorch.nn.functional.instance_norm(vistorch.tensor([[[1.0, 3.0]]]))
        tensor([[[-1.0000,  1.0000]]])
    """
    if use_input_stats:
        checks.tensor("instance_norm", "input", 1, input)
        count = 1
        for n in input.shape[2:]:
            count *= n
        if count == 1:
            raise ValueError(
                f"Expected more than 1 spatial element when training, got input size {input.shape}"
            )
    _dims.flag(use_input_stats, "instance_norm", "use_input_stats", 6)
    return _instance_norm(
        input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, True
    )


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    """The last dims of each sample brought to mean zero and variance one.

    Args:
        input: (..., *normalized_shape).
        normalized_shape: the sizes of the dims that are normalised together.
        weight: a factor of that shape, or None.
        bias: an offset of that shape, or None.
        eps: added to the variance.

    Example:
        >>> import vistorch
        >>> vistorch.nn.functional.layer_norm(vistorch.tensor([[1.0, 3.0]]), (2,))
        tensor([[-1.0000,  1.0000]])
    """
    if casting.on and (recast := casting.ask(layer_norm, locals())):
        return recast[0]
    return _layer_norm(input, normalized_shape, weight, bias, eps)


def rms_norm(input, normalized_shape, weight=None, eps=None):
    """The last dims of each sample divided by the root of their mean square.

    Args:
        input: (..., *normalized_shape).
        normalized_shape: the sizes of the dims that are normalised together.
        weight: a factor of that shape, or None.
        eps: added to the mean square; the type's own where None.

    Example:
        >>> import vistorch
        >>> vistorch.nn.functional.rms_norm(vistorch.tensor([[2.0, -2.0]]), (2,))
        tensor([[ 1., -1.]])
    """
    if casting.on and (recast := casting.ask(rms_norm, locals())):
        return recast[0]
    return _rms_norm(input, normalized_shape, weight, eps)


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5):
    """The channels of each group brought to mean zero and variance one, for each sample.

    Args:
        input: (batch, channels, ...).
        num_groups: how many groups of neighbouring channels there are.
        weight: a factor for each channel, or None.
        bias: an offset for each channel, or None.
        eps: added to the variance.

    Example:
        >>> import vistorch
        >>> vistorch.nn.functional.group_norm(vistorch.tensor([[1.0, 3.0, 5.0, 9.0]]), 2)
        tensor([[-1.0000,  1.0000, -1.0000,  1.0000]])
    """
    if casting.on and (recast := casting.ask(group_norm, locals())):
        return recast[0]
    checks.tensor("group_norm", "input", 1, input)
    shape = input.shape
    if len(shape) < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {len(shape)}")
    _several([shape[0] * shape[1] // num_groups, num_groups, *shape[2:]])
    return _group_norm(input, num_groups, weight, bias, eps)


def local_response_norm(input, size, alpha=1e-4, beta=0.75, k=1.0):
    """Each value divided by a power of the mean square of its neighbours in other channels.

    Args:
        input: (batch, channels, ...).
        size: how many neighbouring channels count.
        alpha: a factor of their mean square.
        beta: the power.
        k: added to it.

    Example:
        >>> import vistorch
        >>> x = vistorch.ones(1, 2, 1)
        >>> vistorch.nn.functional.local_response_norm(x, 2, alpha=2.0, beta=1.0)
        tensor([[[0.5000],
                 [0.3333]]])
    """
    checks.tensor("local_response_norm", "input", 1, input)
    ndim = input.ndim
    if ndim < 3:
        raise ValueError(
            f"Expected 3D or higher dimensionality                          input (got {ndim} dimensions)"
        )
    if input.numel() == 0:
        return input
    size = _dims.whole(size, "local_response_norm", "size", 2)
    if size <= 0:
        raise RuntimeError("kernel size should be greater than zero, but got " + str(size))
    if input.dtype not in (_POOLED if ndim > 3 else (*_POOLED, float16, bfloat16)):
        kernel = "avg_pool3d_out_frame" if ndim > 3 else "avg_pool2d"
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{input.dtype.scalar_name}'")
    total = window_sum(input.mul(input), size)
    mean = total // size if input.dtype is int64 else total / size
    return input / mean.mul(alpha).add(k).pow(beta)


def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    """Vectors along a dim divided by their norm.

    Args:
        input: a floating point or complex tensor.
        p: which norm.
        dim: the dim of the vectors.
        eps: the least that a norm counts as.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.nn.functional.normalize(vistorch.tensor([[3.0, 4.0]]))
        tensor([[0.6000, 0.8000]])
    """
    if casting.on and (recast := casting.ask(normalize, locals())):
        return recast[0]
    checks.tensor("norm", "input", 1, input)
    length = input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    return input / length if out is None else _div(input, length, out=out)
