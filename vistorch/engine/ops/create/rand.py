"""Tensors of random numbers: rand, randn and their `_like` forms; what all random functions share.

Invariant: the numbers are PyTorch's, bit by bit, for the same seed; a tensor that is not contiguous is filled in the
order of its memory, as PyTorch fills it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import dtypes
from ...base.events import listeners
from ...core.registry import public
from ...core.tensor import Tensor
from ...kernels import sampling
from ...memory.placement import CPU, place_of
from ...random.generators import of_nothing, pick
from .arguments import check_layout, check_pinned, leaf, sizes, too_large
from .constants import bare, check_target, into
from .data import put
from .like import like

INT64 = np.dtype("i8")
LOOSE = frozenset((sampling.normal, sampling.log_normal, sampling.exponential, sampling.geometric))


def drawn(draw: Any, generator: Any, shape: tuple, *args: Any) -> Any:
    """`draw(generator, shape, *args)`, a lack of memory reported as PyTorch reports it."""
    if (0 in shape and draw in LOOSE) or generator is of_nothing:
        return np.zeros(shape, *args[:1])
    try:
        return draw(generator, shape, *args)
    except (MemoryError, ValueError) as error:
        if isinstance(error, ValueError) and "dimension" not in str(error) and "too big" not in str(error):
            raise
        raise too_large(shape, args[0].itemsize) from None


def memory_order(a: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The axes from the slowest to the fastest in memory, and the shape in that order."""
    order = tuple(sorted(range(a.ndim), key=lambda i: (-a.strides[i], i)))
    return order, tuple(a.shape[i] for i in order)


def values_for(a: Any, draw: Any, generator: Any, *args: Any) -> Any:
    """Numbers for the elements of `a`, drawn in the order of its memory; a numpy array of `a`'s shape."""
    if generator is of_nothing:
        return np.zeros(a.shape, a.dtype)
    if (
        not a.size
    ):  # nothing to fill: PyTorch looks at the parameters, but at the dtype only in the strict ones
        draw(generator, (0,), np.dtype("f4") if draw in LOOSE else a.dtype, *args)
        return a
    if a.flags.c_contiguous:
        return draw(generator, a.shape, a.dtype, *args)
    order, shape = memory_order(a)
    if draw is sampling.normal:
        args = (*args, True) if len(args) == 2 else (0.0, 1.0, True)
    back = [0] * a.ndim
    for at, i in enumerate(order):
        back[i] = at
    return draw(generator, shape, a.dtype, *args).transpose(back)


def store(draw: Any, generator: Any, place: Any) -> Any:
    """A writer for `into`."""

    def write(d: Any) -> None:
        d[...] = put(values_for(d, draw, generator), place)

    return write


def _plain(name: str, draw: Any, meaning: str, shown: str) -> Any:
    """`rand` and `randn`."""

    def make(
        *size: Any,
        generator: Any = None,
        out: Any = None,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
        **named: Any,
    ) -> Tensor:
        if pin_memory is not False:
            check_pinned(pin_memory, name)
        shape = sizes(size, name, named)
        if out is not None:
            check_target(out, dtype, name)
            source = pick(generator, out._place, name)
            if requires_grad:
                values_for(out._data.reshape(-1)[:1], draw, source.clone_state())
            return into(out, shape, dtype, name, store(draw, source, out._place), requires_grad)
        if layout is not None:
            check_layout(layout, name)
        dt = dtypes.default.np if dtype is None else dtypes.as_np(dtype, name)
        place = place_of(device, name)
        d = drawn(draw, pick(generator, place, name), shape, dt)
        o = bare(d if place is CPU else put(d, place), place)
        if requires_grad is not False:
            leaf(o, requires_grad, name)
        if (emit := listeners.data) is not None:
            emit(o, name)
        return o

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"""{meaning}

    Args:
        *size: the sizes, one by one or as one sequence.
        generator: where the numbers come from; without it the device's default generator.
        out: where to write the result.
        dtype: the element type; without it the default one.
        layout: `vistorch.strided` or None.
        device: where the tensor will be.
        requires_grad: whether backward passes compute its gradient.
        pin_memory: accepted; memory of the CPU is not page-locked here.
        **named: `size`, where the sizes are not given by position.

    Example:
        >>> import vistorch
        >>> _ = vistorch.manual_seed(0)
        >>> vistorch.{name}(2)
        {shown}
    """
    return public(method=False)(make)


rand = _plain("rand", sampling.uniform, "Numbers uniform in [0, 1).", "tensor([0.4963, 0.7682])")
randn = _plain("randn", sampling.normal, "Standard normal numbers.", "tensor([ 1.5410, -0.2934])")


def _like(name: str, draw: Any, meaning: str) -> Any:
    """`rand_like` and `randn_like`."""

    def make(
        input: Tensor,
        *,
        generator: Any = None,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        pin_memory: bool = False,
        requires_grad: bool = False,
        memory_format: Any = None,
    ) -> Tensor:
        if pin_memory is not False:
            check_pinned(pin_memory, name)
        check_layout(layout, name)
        d, place = like(input, dtype, device, memory_format, name)
        d[...] = put(values_for(d, draw, pick(generator, place, name)), place)
        o = leaf(bare(d, place), requires_grad, name)
        if (emit := listeners.data) is not None:
            emit(o, name)
        return o

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"""{meaning}

    Args:
        input: the tensor to take after: its shape, and its dtype and device where they are not named.
        generator: where the numbers come from; without it the device's default generator.
        dtype: the element type.
        layout: `vistorch.strided` or None.
        device: where the tensor will be.
        pin_memory: accepted; memory of the CPU is not page-locked here.
        requires_grad: whether backward passes compute its gradient.
        memory_format: the order in memory; without it that of `input`.

    Example:
        >>> import vistorch
        >>> vistorch.{name}(vistorch.zeros(2, 3)).shape
        vistorch.Size([2, 3])
    """
    return public(method=False)(make)


rand_like = _like("rand_like", sampling.uniform, "Numbers uniform in [0, 1) in the shape of a tensor.")
randn_like = _like("randn_like", sampling.normal, "Standard normal numbers in the shape of a tensor.")
