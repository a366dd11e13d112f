"""Hooks that average gradients as they are, or in half precision.

Invariant: the future has the average, in the dtype of the bucket.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....engine.base.dtypes import bfloat16, float16
from ....ranks.collectives import all_reduce
from ....ranks.group import chosen

__all__ = [
    "allreduce_hook",
    "bf16_compress_hook",
    "bf16_compress_wrapper",
    "fp16_compress_hook",
    "fp16_compress_wrapper",
    "noop_hook",
]


def _averaged(group: Any, tensor: Any) -> Any:
    group = chosen(group)
    tensor.div_(group.size())
    work = all_reduce(tensor, group=group, async_op=True)
    assert work is not None
    return work.get_future().then(lambda future: future.value()[0])


def allreduce_hook(process_group: Any, bucket: Any) -> Any:
    """Average a bucket.

    Args:
        process_group: the ranks; all if None.
        bucket: the gradients.

    Example:
        >>> from vistorch.distributed.algorithms.ddp_comm_hooks import default_hooks
        >>> default_hooks.allreduce_hook.__name__  # net.register_comm_hook(None, default_hooks.allreduce_hook)
        'allreduce_hook'
    """
    return _averaged(process_group, bucket.buffer())


def _compressed(group: Any, bucket: Any, dtype: Any) -> Any:
    buffer = bucket.buffer()
    return _averaged(group, buffer.to(dtype)).then(lambda future: buffer.copy_(future.value()))


def fp16_compress_hook(process_group: Any, bucket: Any) -> Any:
    """Average a bucket in float16.

    Args:
        process_group: the ranks; all if None.
        bucket: the gradients.

    Example:
        >>> from vistorch.distributed.algorithms.ddp_comm_hooks import default_hooks
        >>> default_hooks.fp16_compress_hook.__name__
        'fp16_compress_hook'
    """
    return _compressed(process_group, bucket, float16)


def bf16_compress_hook(process_group: Any, bucket: Any) -> Any:
    """Average a bucket in bfloat16.

    Args:
        process_group: the ranks; all if None.
        bucket: the gradients.

    Example:
        >>> from vistorch.distributed.algorithms.ddp_comm_hooks import default_hooks
        >>> default_hooks.bf16_compress_hook.__name__
        'bf16_compress_hook'
    """
    return _compressed(process_group, bucket, bfloat16)


def _wrapped(hook: Callable, dtype: Any) -> Callable:
    def call(state: Any, bucket: Any) -> Any:
        whole = bucket.buffer()
        bucket.set_buffer(whole.to(dtype))

        def back(future: Any) -> Any:
            value = future.value()
            whole.copy_(value[0] if isinstance(value, (list, tuple)) else value)
            bucket.set_buffer(whole)
            return whole

        return hook(state, bucket).then(back)

    return call


def fp16_compress_wrapper(hook: Callable) -> Callable:
    """Another hook, of buckets in float16.

    Args:
        hook: the other one.

    Example:
        >>> from vistorch.distributed.algorithms.ddp_comm_hooks import default_hooks as hooks
        >>> callable(hooks.fp16_compress_wrapper(hooks.allreduce_hook))
        True
    """
    return _wrapped(hook, float16)


def bf16_compress_wrapper(hook: Callable) -> Callable:
    """Another hook, of buckets in bfloat16.

    Args:
        hook: the other one.

    Example:
        >>> from vistorch.distributed.algorithms.ddp_comm_hooks import default_hooks as hooks
        >>> callable(hooks.bf16_compress_wrapper(hooks.allreduce_hook))
        True
    """
    return _wrapped(hook, bfloat16)


class _Ready:
    """A future of what is already there."""

    def __init__(self, value: Any) -> None:
        self.wait = self.value = lambda: value


def noop_hook(_: Any, bucket: Any) -> Any:
    """Average nothing: to see what the averaging costs.

    Args:
        _: not used.
        bucket: the gradients.

    Example:
        >>> from vistorch.distributed.algorithms.ddp_comm_hooks import default_hooks
        >>> default_hooks.noop_hook.__name__
        'noop_hook'
    """
    return _Ready(bucket.buffer())
