"""Tensors that take after another: zeros_like, ones_like, empty_like, full_like.

Invariant: without a `memory_format` the result has the strides PyTorch gives: those of a dense input, else the order of
its axes in memory.
"""

from __future__ import annotations

from typing import Any

from ...base import dtypes, errors
from ...base.layout import RANKS, axes_last, check_rank, contiguous_format, preserve_format
from ...core.registry import expose, public
from ...core.tensor import Tensor
from ...memory.placement import place_of
from .arguments import allocate, check_format, check_layout, check_pinned, leaf
from .constants import bare
from .numbers import as_scalar, fit


def like(t: Any, dtype: Any, device: Any, memory_format: Any, name: str) -> tuple:
    """An array of `t`'s shape, type, place and order of memory, unless something else is named; and its place."""
    try:
        a = t._data
    except AttributeError:
        raise errors.must_be_tensor(name, "input", 1, t) from None
    dt = a.dtype if dtype is None else dtypes.as_np(dtype, name)
    place = t._place if device is None else place_of(device, name)
    xp = place.xp
    if memory_format is None or memory_format is preserve_format:
        if a.flags.c_contiguous:
            return allocate(xp.empty, a.shape, dt, place), place
        if not dense(a):
            order = (
                sorted(range(a.ndim), key=lambda i: -a.strides[i]) if 0 not in a.strides else range(a.ndim)
            )
        else:
            order = sorted(range(a.ndim), key=lambda i: (-a.strides[i], i))
        made = allocate(xp.empty, tuple(a.shape[i] for i in order), dt, place)
        back = [0] * a.ndim
        for at, i in enumerate(order):
            back[i] = at
        return made.transpose(back), place
    check_format(memory_format, name)
    if memory_format is contiguous_format:
        return allocate(xp.empty, a.shape, dt, place), place
    check_rank(memory_format, a.ndim)
    there, back_ = axes_last(RANKS[memory_format])
    return allocate(xp.empty, tuple(a.shape[i] for i in there), dt, place).transpose(back_), place


def dense(a: Any) -> bool:
    """Whether the elements fill their stretch of memory, in some order of the axes, each once."""
    expected = a.itemsize
    for stride, n in sorted((s, n) for s, n in zip(a.strides, a.shape, strict=True) if n > 1):
        if stride != expected:
            return False
        expected *= n
    return True


def _like(name: str, value: Any, meaning: str, example: str) -> Any:
    """`zeros_like`, `ones_like` and `empty_like`."""

    def make(
        input: Tensor,
        *,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        pin_memory: bool = False,
        requires_grad: bool = False,
        memory_format: Any = None,
    ) -> Tensor:
        if pin_memory is not False:
            check_pinned(pin_memory, name)
        if layout is not None:
            check_layout(layout, name)
        d, place = like(input, dtype, device, memory_format, name)
        if value is not None:
            d.fill(value)
        o = bare(d, place)
        return o if requires_grad is False else leaf(o, requires_grad, name)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"""{meaning}

    Args:
        input: the tensor to take after: its shape, and its dtype and device where they are not named.
        dtype: the element type.
        layout: `vistorch.strided` or None.
        device: where the tensor will be.
        pin_memory: accepted; memory of the CPU is not page-locked here.
        requires_grad: whether backward passes compute its gradient.
        memory_format: the order in memory; without it that of `input`.

    Example:
        >>> import vistorch
        >>> {example}
    """
    return make


zeros_like = expose(
    _like(
        "zeros_like",
        0,
        "Zeros in the shape of a tensor.",
        "vistorch.zeros_like(vistorch.ones(2))\n        tensor([0., 0.])",
    ),
    method=False,
)
ones_like = expose(
    _like(
        "ones_like",
        1,
        "Ones in the shape of a tensor.",
        "vistorch.ones_like(vistorch.zeros(2))\n        tensor([1., 1.])",
    ),
    method=False,
)
empty_like = expose(
    _like(
        "empty_like",
        None,
        "A tensor in the shape of another, its elements whatever was in memory.",
        "vistorch.empty_like(vistorch.zeros(2)).shape\n        vistorch.Size([2])",
    ),
    method=False,
)


@public(method=False)
def full_like(
    input: Tensor,
    fill_value: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """One value in the shape of a tensor.

    Args:
        input: the tensor to take after: its shape, and its dtype and device where they are not named.
        fill_value: the value.
        dtype: the element type.
        layout: `vistorch.strided` or None.
        device: where the tensor will be.
        pin_memory: accepted; memory of the CPU is not page-locked here.
        requires_grad: whether backward passes compute its gradient.
        memory_format: the order in memory; without it that of `input`.

    Example:
        >>> import vistorch
        >>> vistorch.full_like(vistorch.zeros(2), 2.5)
        tensor([2.5000, 2.5000])
    """
    if pin_memory is not False:
        check_pinned(pin_memory, "full_like")
    value = as_scalar(fill_value, "full_like", "fill_value", 2)
    check_layout(layout, "full_like")
    d, place = like(input, dtype, device, memory_format, "full_like")
    d.fill(fit(value, d.dtype))
    return leaf(bare(d, place), requires_grad, "full_like")
