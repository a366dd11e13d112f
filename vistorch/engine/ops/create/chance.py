"""Tensors of random numbers: rand, randn, randint, randperm, their `_like` forms, normal.

Invariant: the numbers are PyTorch's, bit by bit, for the same seed; a tensor that is not contiguous is filled in the
order of its memory, as PyTorch fills it.
"""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

from ... import dtypes, errors, outs
from ...call import op
from ...face import public
from ...generators import pick
from ...kernels import sampling, sampling_checks
from ...places import CPU, place_of
from ...tensor import Tensor
from .arguments import check_layout, leaf, no_more, size_tuple, sizes, too_large, type_name
from .data import put
from .fill import NO_GRADIENT, zero
from .fills import bare, check_target, into, like

INT64 = np.dtype("i8")
LOOSE = frozenset((sampling.normal, sampling.log_normal, sampling.exponential, sampling.geometric))


def drawn(draw: Any, generator: Any, shape: tuple, *args: Any) -> Any:
    """`draw(generator, shape, *args)`, a lack of memory told as PyTorch tells it."""
    if 0 in shape and draw in LOOSE:
        return np.empty(shape, *args)
    try:
        return draw(generator, shape, *args)
    except MemoryError:
        raise too_large(shape, 4) from None


def memory_order(a: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The axes from the slowest to the fastest in memory, and the shape in that order."""
    order = tuple(sorted(range(a.ndim), key=lambda i: (-a.strides[i], i)))
    return order, tuple(a.shape[i] for i in order)


def values_for(a: Any, draw: Any, generator: Any, *args: Any) -> Any:
    """Numbers for the elements of `a`, drawn in the order of its memory; a numpy array of `a`'s shape."""
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


def _store(draw: Any, generator: Any, place: Any) -> Any:
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
        shape = sizes(size, name, named)
        if out is not None:
            check_target(out, dtype, name)
            source = pick(generator, out._place, name)
            if requires_grad:
                values_for(out._data.reshape(-1)[:1], draw, source.clone_state())
            return into(out, shape, dtype, name, _store(draw, source, out._place), requires_grad)
        if layout is not None:
            check_layout(layout, name)
        dt = dtypes.default.np if dtype is None else dtypes.as_np(dtype, name)
        place = place_of(device, name)
        d = drawn(draw, pick(generator, place, name), shape, dt)
        o = bare(d if place is CPU else put(d, place), place)
        return o if requires_grad is False else leaf(o, requires_grad, name)

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
        check_layout(layout, name)
        d, place = like(input, dtype, device, memory_format, name)
        d[...] = put(values_for(d, draw, pick(generator, place, name)), place)
        return leaf(bare(d, place), requires_grad, name)

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


def whole(value: Any, name: str, argument: str, position: int) -> int:
    """A Python int from an argument that must be one."""
    if value.__class__ is int:
        return value
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        return index(value)
    except TypeError:
        raise TypeError(
            f"{name}(): argument '{argument}' (position {position}) must be int, not {type_name(value)}"
        ) from None


def invalid(name: str, given: tuple, named: dict, forms: str) -> TypeError:
    """The error for arguments that fit no form of a function."""
    got = [type_name(x) for x in given] + [f"{k}={type_name(v)}" for k, v in named.items()]
    return TypeError(
        f"{name}() received an invalid combination of arguments - got ({', '.join(got)}), but expected one of:\n{forms}"
    )


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
    low, high, shape = _bounds(bounds, named, "randint")
    draw = _whole_numbers(low, high)
    if out is not None:
        outs.check_out("randint", out)
        source = pick(generator, out._place, "randint")
        return into(out, shape, dtype, "randint", _store(draw, source, out._place))
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
        tensor([2, 0, 1, 3])
    """
    n = whole(n, "randperm", "n", 1)
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    if out is not None:
        outs.check_out("randperm", out)
        source = pick(generator, out._place, "randperm")

        def write(d: Any) -> None:
            d[...] = put(sampling.permutation(source, n, d.dtype), out._place)

        return into(out, (n,), dtype, "randperm", write)
    check_layout(layout, "randperm")
    dt = INT64 if dtype is None else dtypes.as_np(dtype, "randperm")
    place = place_of(device, "randperm")
    try:
        d = sampling.permutation(pick(generator, place, "randperm"), n, dt)
    except MemoryError:
        raise too_large((n,), dt.itemsize) from None
    return leaf(bare(put(d, place), place), requires_grad, "randperm")


# ---- normal: of numbers, of tensors, of both -------------------------------------------------------------------
_by_mean = op(
    "normal_by_mean",
    lambda xp, input, values: values,
    widen=False,
    name_in_graph="NormalBackward1",
    formula=NO_GRADIENT,
    input=zero,
)
_by_std = op(
    "normal_by_std",
    lambda xp, input, values: values,
    widen=False,
    name_in_graph="NormalBackward2",
    formula=NO_GRADIENT,
    input=zero,
)
_by_both = op(
    "normal_by_both",
    lambda xp, mean, std, values: values,
    inputs="mean std",
    widen=False,
    name_in_graph="NormalBackward3",
    formula={"mean": NO_GRADIENT, "std": NO_GRADIENT},
    mean=zero,
    std=zero,
)


@public(method=False)
def normal(
    mean: Any = 0.0,
    std: Any = 1.0,
    size: Any = None,
    *,
    generator: Any = None,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Normal numbers, each with its own mean and standard deviation where these are tensors.

    Args:
        mean: a number or a tensor.
        std: a number or a tensor.
        size: the sizes, where both are numbers.
        generator: where the numbers come from; without it the device's default generator.
        out: where to write the result.
        dtype: the element type, where both are numbers.
        layout: `vistorch.strided` or None.
        device: where the tensor will be, where both are numbers.
        pin_memory: accepted; memory of the CPU is not page-locked here.
        requires_grad: whether backward passes compute the result's gradient, where both are numbers.

    Example:
        >>> import vistorch
        >>> _ = vistorch.manual_seed(0)
        >>> vistorch.normal(vistorch.tensor([0.0, 100.0]), 1.0)
        tensor([ 1.5410, 99.7066])
    """
    tensors = tuple(t for t in (mean, std) if isinstance(t, Tensor))
    for value in (mean, std):
        if not isinstance(value, (Tensor, int, float, np.number)):
            raise invalid("normal", (mean, std, size), {}, " * (Tensor mean, Tensor std, *, ...)\n")
    if not tensors:
        if size is None:
            raise invalid(
                "normal", (mean, std), {}, " * (float mean, float std, tuple of ints size, *, ...)\n"
            )
        return _by_numbers(mean, std, size, generator, out, (dtype, layout, device, requires_grad))
    if size is not None:
        raise invalid("normal", (mean, std, size), {}, " * (Tensor mean, Tensor std, *, ...)\n")
    place = tensors[0]._place
    if out is not None:
        outs.check_out("normal", out, tensors)
    source = pick(generator, place, "normal")
    if out is None:
        return _of_tensors(mean, std, tensors, place, source, tensors[0]._data.dtype)
    sampling_checks.unsupported("normal_kernel_cpu", out.dtype.to_real().np)
    if not isinstance(std, Tensor):
        said = errors.broadcast(mean._data.shape, out._data.shape)
        if said is not None:
            raise RuntimeError(said)
    return outs.deliver(out, _of_tensors(mean, std, tensors, place, source, out._data.dtype))


def _by_numbers(mean: Any, std: Any, size: Any, generator: Any, out: Any, options: tuple) -> Tensor:
    dtype, layout, device, requires_grad = options
    shape = size_tuple(size, "normal", 3)
    sampling_checks.check_normal(std)

    def draw(source: Any, shape: tuple, dt: Any, *serial: Any) -> Any:
        return sampling.normal(source, shape, dt, float(mean), float(std), bool(serial))

    if out is not None:
        source = pick(generator, out._place, "normal")
        return into(out, shape, dtype, "normal", _store(draw, source, out._place))
    check_layout(layout, "normal")
    dt = dtypes.default.np if dtype is None else dtypes.as_np(dtype, "normal")
    place = place_of(device, "normal")
    d = drawn(draw, pick(generator, place, "normal"), shape, dt)
    return leaf(bare(put(d, place), place), requires_grad, "normal")


def _of_tensors(mean: Any, std: Any, tensors: tuple, place: Any, source: Any, dt: Any) -> Tensor:
    for t in tensors:
        if t._place is not place:
            raise RuntimeError(errors.devices(place, t._place))
    if isinstance(std, Tensor):
        if std._data.dtype.kind == "c":
            raise RuntimeError("normal expects standard deviation to be non-complex")
        if std._data.size and bool((std._data < 0).any()):
            raise RuntimeError("normal expects all elements of std >= 0.0")
    else:
        sampling_checks.check_normal(std)
    m, s = (t._data if isinstance(t, Tensor) else t for t in (mean, std))
    try:
        shape = np.broadcast_shapes(*(t._data.shape for t in tensors))
    except ValueError:
        raise RuntimeError(errors.broadcast(m.shape, s.shape)) from None
    if 0 in shape:
        d = place.xp.empty(shape, dt)
    else:
        d = put(sampling.normal(source, shape, dt), place)
    # rounded after each step, as PyTorch's two in-place operations are
    d *= s.astype(dt) if isinstance(std, Tensor) else dt.type(s)
    d += m.astype(dt) if isinstance(mean, Tensor) else dt.type(m)
    if len(tensors) == 2:
        return _by_both(mean, std, d)
    return (_by_mean if isinstance(mean, Tensor) else _by_std)(tensors[0], d)
