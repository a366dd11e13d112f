"""Random whole numbers: randint, randint_like, randperm."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import dtypes, errors
from ...core import out_argument
from ...core.registry import public
from ...core.tensor import Tensor
from ...kernels import sampling
from ...memory.placement import place_of
from ...random.generators import pick
from .arguments import check_layout, check_pinned, invalid, leaf, no_more, size_tuple, too_large, whole
from .constants import bare, into
from .data import put
from .like import like
from .rand import drawn, store, values_for

INT64 = np.dtype("i8")

_RANDINT = " * (int high, tuple of ints size, *, ...)\n * (int low, int high, tuple of ints size, *, ...)\n"


def _bounds(given: tuple, named: dict, name: str) -> tuple[int, int, Any]:
    """`(high, size)` or `(low, high, size)` in any mixture of position and name."""
    low, high, size = named.pop("low", None), named.pop("high", None), named.pop("size", None)
    rest = list(given)
    if size is None and rest and (len(rest) + (high is not None) + (low is not None)) >= 2:
        size = rest.pop()
    for value in reversed(rest):
        if high is None:
            high = value
        elif low is None:
            low = value
        else:
            raise invalid(name, given, named, _RANDINT)
    no_more(name, named)
    if high is None or size is None:
        raise invalid(name, given, named, _RANDINT)
    position = 1 if low is None else 2
    return (
        0 if low is None else whole(low, name, "low", 1),
        whole(high, name, "high", position),
        size_tuple(size, name, position + 1),
    )


def _whole_numbers(low: int, high: int) -> Any:
    """A sampler of `randint` for fixed bounds."""
    return lambda generator, shape, dt: sampling.randint(generator, shape, low, high, dt)


@public(method=False)
def randint(
    *bounds: Any,
    generator: Any = None,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    **named: Any,
) -> Tensor:
    """Whole numbers uniform in [low, high).

    Args:
        *bounds: `high, size` or `low, high, size`.
        generator: where the numbers come from; without it the device's default generator.
        out: where to write the result.
        dtype: the element type; without it int64.
        layout: `vistorch.strided` or None.
        device: where the tensor will be.
        requires_grad: whether backward passes compute its gradient.
        pin_memory: accepted; memory of the CPU is not page-locked here.
        **named: `low`, `high`, `size`, where they are not given by position.

    Example:
        >>> import vistorch
        >>> _ = vistorch.manual_seed(0)
        >>> vistorch.randint(10, (3,))
        tensor([4, 9, 3])
    """
    if pin_memory is not False:
        check_pinned(pin_memory, "randint")
    low, high, shape = _bounds(bounds, named, "randint")
    draw = _whole_numbers(low, high)
    if out is not None:
        out_argument.check_out("aten::randint", out)
        source = pick(generator, out._place, "randint")
        return into(out, shape, dtype, "randint", store(draw, source, out._place))
    check_layout(layout, "randint")
    dt = INT64 if dtype is None else dtypes.as_np(dtype, "randint")
    place = place_of(device, "randint")
    d = drawn(draw, pick(generator, place, "randint"), shape, dt)
    return leaf(bare(put(d, place), place), requires_grad, "randint")


@public(method=False)
def randint_like(
    input: Tensor,
    *bounds: Any,
    generator: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = None,
    **named: Any,
) -> Tensor:
    """Whole numbers uniform in [low, high) in the shape of a tensor.

    Args:
        input: the tensor to take after: its shape, and its dtype and device where they are not named.
        *bounds: `high` or `low, high`.
        generator: where the numbers come from; without it the device's default generator.
        dtype: the element type.
        layout: `vistorch.strided` or None.
        device: where the tensor will be.
        pin_memory: accepted; memory of the CPU is not page-locked here.
        requires_grad: whether backward passes compute its gradient.
        memory_format: the order in memory; without it that of `input`.
        **named: `low`, `high`, where they are not given by position.

    Example:
        >>> import vistorch
        >>> vistorch.randint_like(vistorch.zeros(3), 1)
        tensor([0., 0., 0.])
    """
    if pin_memory is not False:
        check_pinned(pin_memory, "randint_like")
    if not isinstance(input, Tensor):
        raise errors.must_be_tensor("randint_like", "input", 1, input)
    if not bounds and "high" not in named:
        raise invalid("randint_like", (input,), named, " * (Tensor input, int high, *, ...)\n")
    low, high, _ = _bounds(bounds, {**named, "size": ()}, "randint_like")
    d, place = like(input, dtype, device, memory_format, "randint_like")
    source = pick(generator, place, "randint_like")
    d[...] = put(values_for(d, _whole_numbers(low, high), source), place)
    return leaf(bare(d, place), requires_grad, "randint_like")


@public(method=False)
def randperm(
    n: int,
    *,
    generator: Any = None,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """The numbers from 0 to n - 1 in random order.

    Args:
        n: how many.
        generator: where the numbers come from; without it the device's default generator.
        out: where to write the result.
        dtype: the element type; without it int64.
        layout: `vistorch.strided` or None.
        device: where the tensor will be.
        requires_grad: whether backward passes compute its gradient.
        pin_memory: accepted; memory of the CPU is not page-locked here.

    Example:
        >>> import vistorch
        >>> _ = vistorch.manual_seed(0)
        >>> vistorch.randperm(4)
        tensor([0, 1, 3, 2])
    """
    if pin_memory is not False:
        check_pinned(pin_memory, "randperm")
    n = whole(n, "randperm", "n", 1)
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    if out is not None:
        out_argument.check_out("aten::randperm", out)
        source = pick(generator, out._place, "randperm")

        def write(d: Any) -> None:
            d[...] = put(sampling.permutation(source, n, d.dtype), out._place)

        return into(out, (n,), dtype, "randperm", write)
    check_layout(layout, "randperm")
    dt: Any = INT64 if dtype is None else dtypes.as_np(dtype, "randperm")
    place = place_of(device, "randperm")
    try:
        d = sampling.permutation(pick(generator, place, "randperm"), n, dt)
    except MemoryError:
        raise too_large((n,), dt.itemsize) from None
    return leaf(bare(put(d, place), place), requires_grad, "randperm")
