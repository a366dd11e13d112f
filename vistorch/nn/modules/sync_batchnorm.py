"""Batch normalisation over the batches of all ranks: two short messages forward, one back.

Invariant: every rank normalises by the same mean and variance, bit for bit, whatever its own batch, an empty one too.
"""

from __future__ import annotations

from typing import Any

from ...autograd.function import Function
from ...engine.base.modes import no_grad
from ...engine.core.registry import FUNCTIONS
from ...engine.core.tensor import Tensor
from ...ranks.collectives import all_reduce

__all__ = ["normalise"]


def _shaped(t: Tensor, like: Tensor) -> Tensor:
    """One value a channel, to be combined with (batch, channels, ...)."""
    return t.reshape(1, -1, *[1] * (like.dim() - 2))


def _wide(t: Tensor) -> Tensor:
    """In float32 at least: sums of half precision lose too much."""
    return t.float() if t.dtype.itemsize < 4 else t


class _Normalise(Function):
    @staticmethod
    def forward(
        ctx: Any,
        input: Tensor,
        weight: Any,
        bias: Any,
        mean: Tensor,
        inverse: Tensor,
        count: float,
        group: Any,
    ) -> Any:
        """Normalise by the statistics of all."""
        wide = _wide(input)
        normal = (wide - _shaped(mean, input)) * _shaped(inverse, input)
        ctx.save_for_backward(normal, weight, inverse)
        ctx.count, ctx.group = count, group
        out = normal if weight is None else normal * _shaped(_wide(weight), input)
        out = out if bias is None else out + _shaped(_wide(bias), input)
        return out.to(input.dtype)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple:
        """The gradients, with the sums of all ranks."""
        normal, weight, inverse = ctx.saved_tensors
        dims = [d for d in range(g.dim()) if d != 1]
        wide = _wide(g)
        sum_g, sum_gn = wide.sum(dims), (wide * normal).sum(dims)
        given = weight is not None
        gw = sum_gn.to(weight.dtype) if given and ctx.needs_input_grad[1] else None
        gb = sum_g.to(weight.dtype if given else g.dtype) if ctx.needs_input_grad[2] else None
        both = FUNCTIONS["stack"]([sum_g, sum_gn])
        all_reduce(both, group=ctx.group)
        gi = None
        if ctx.needs_input_grad[0]:
            scale = inverse if weight is None else inverse * _wide(weight)
            mean_g, mean_gn = _shaped(both[0] / ctx.count, g), _shaped(both[1] / ctx.count, g)
            gi = ((wide - mean_g - normal * mean_gn) * _shaped(scale, g)).to(g.dtype)
        return gi, gw, gb, None, None, None, None


def normalise(module: Any, input: Tensor, group: Any) -> Tensor:
    """What a SyncBatchNorm gives while it is trained.

    Args:
        module: the SyncBatchNorm.
        input: (batch, channels, ...).
        group: the ranks.
    """
    dims = [d for d in range(input.dim()) if d != 1]
    with no_grad():
        wide = _wide(input.detach())
        channels = input.size(1)
        here = float(input.numel() // channels)
        sums = FUNCTIONS["zeros"](channels + 1, dtype=wide.dtype, device=input.device)
        sums[:channels], sums[channels] = wide.sum(dims), here
        all_reduce(sums, group=group)
        count = float(sums[channels].item())
        if count <= 1:
            raise ValueError(
                f"Expected more than 1 value per channel when training, got input size {input.size()}"
            )
        mean = sums[:channels] / count
        # around the mean of all: the variance as a difference of squares would lose its digits
        spread = ((wide - _shaped(mean, input)) ** 2).sum(dims)
        all_reduce(spread, group=group)
        variance = spread / count
        inverse = (variance + module.eps).rsqrt()
        if module.track_running_stats:
            module.num_batches_tracked.add_(1)
            rate = module.momentum
            if rate is None:
                rate = 1.0 / float(module.num_batches_tracked)
            for kept, new in (
                (module.running_mean, mean),
                (module.running_var, variance * (count / (count - 1))),
            ):
                kept.mul_(1 - rate).add_(new.to(kept.dtype), alpha=rate)
    return _Normalise.apply(input, module.weight, module.bias, mean, inverse, count, group)
