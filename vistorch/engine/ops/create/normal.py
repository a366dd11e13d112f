"""`normal`: of numbers, of tensors, of both."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import dtypes, errors
from ...base.events import listeners
from ...core import out_argument
from ...core.op_factory import op
from ...core.registry import public
from ...core.tensor import Tensor
from ...kernels import sampling, sampling_checks
from ...memory.placement import place_of
from ...random.generators import pick
from .arguments import check_layout, check_pinned, invalid, leaf, size_tuple
from .constants import bare, into
from .data import put
from .fill import NO_GRADIENT, zero
from .rand import drawn, store

INT64 = np.dtype("i8")

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
    if pin_memory is not False:
        check_pinned(pin_memory, "normal")
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
    options = dtype, layout, device, requires_grad, pin_memory
    if size is not None or options != (None, None, None, False, False):
        raise invalid("normal", (mean, std, size), {}, " * (Tensor mean, Tensor std, *, generator, out)\n")
    place = tensors[0]._place
    if out is not None:
        out_argument.check_out("normal", out, tensors)
    source = pick(generator, place, "normal")
    if out is None:
        return _of_tensors(mean, std, tensors, place, source, tensors[0]._data.dtype)
    sampling_checks.unsupported("normal_kernel_cpu", out.dtype.to_real().np)
    if not isinstance(std, Tensor):
        said = errors.broadcast(mean._data.shape, out._data.shape)
        if said is not None:
            raise RuntimeError(said)
    return out_argument.deliver(out, _of_tensors(mean, std, tensors, place, source, out._data.dtype))


def _by_numbers(mean: Any, std: Any, size: Any, generator: Any, out: Any, options: tuple) -> Tensor:
    dtype, layout, device, requires_grad = options
    shape = size_tuple(size, "normal", 3)
    sampling_checks.check_normal(std)

    def draw(source: Any, shape: tuple, dt: Any, *serial: Any) -> Any:
        return sampling.normal(source, shape, dt, float(mean), float(std), bool(serial))

    if out is not None:
        source = pick(generator, out._place, "normal")
        return into(out, shape, dtype, "normal", store(draw, source, out._place))
    check_layout(layout, "normal")
    dt = dtypes.default.np if dtype is None else dtypes.as_np(dtype, "normal")
    place = place_of(device, "normal")
    d = drawn(draw, pick(generator, place, "normal"), shape, dt)
    o = leaf(bare(put(d, place), place), requires_grad, "normal")
    if (emit := listeners.data) is not None:
        emit(o, "normal")
    return o


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
