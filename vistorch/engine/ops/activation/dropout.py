"""Dropout: what is switched off at random in training, element by element or whole channels.

On a CUDA device plain dropout is one kernel, and what it saves is its mask, a byte to each element. Invariant: the
random numbers are PyTorch's for the same seed; they are drawn in the order of the mask's memory, and none where nothing
is dropped.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base import errors
from ...base.dims import flag
from ...base.events import listeners
from ...core.op_factory import op
from ...core.registry import FUNCTIONS, METHODS, public
from ...core.tensor import Tensor, wrap
from ...core.type_promotion import FLOATS
from ...kernels import device_sampling, sampling
from ...random.generators import pick
from ..create.data import put
from ..create.like import like
from ..create.rand import memory_order, values_for
from ..elementwise.dtype_checks import missing

_ALPHA = 1.7580993408473766  # how far below 0 selu comes
_mul, _mul_ = FUNCTIONS["mul"], METHODS["mul_"]
_add, _add_ = FUNCTIONS["add"], METHODS["add_"]


def _chance(p: Any, name: str) -> float:
    """A probability; PyTorch takes any real number of one element."""
    if p.__class__ is not float:
        value: Any = p._data.item() if isinstance(p, Tensor) and p._data.size == 1 and not p._rg else p
        if isinstance(value, (str, bytes)) or isinstance(value, Tensor) or not hasattr(value, "__float__"):
            raise TypeError(f"{name}(): argument 'p' (position 2) must be float, not {errors.type_name(p)}")
        p = float(value)
    if not 0 <= p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p:g}")
    return p


def _coins(source: Any, shape: tuple, dt: Any, keep: float) -> Any:
    return sampling.bernoulli(source, keep, shape, dt)


def _kept(input: Tensor, keep: float, features: bool) -> Any:
    """An array of ones and zeros: ones with probability `keep`."""
    place = input._place
    d = input._data
    if features:
        model: Any = np.empty((*d.shape[:2], *([1] * (d.ndim - 2))), d.dtype)
    elif d.flags.c_contiguous:
        model = d
    else:
        model = like(input, None, "cpu" if place.kind else None, None, "dropout")[0]
    source = pick(None, place, "dropout")
    if model.flags.c_contiguous:
        return sampling.bernoulli(source, keep, model.shape, d.dtype)
    return values_for(model, _coins, source, keep)


def _in_one(xp: Any, input: Any, stream: tuple, lanes: int, keep: float) -> tuple[Any, Any]:
    """Dropout of an array of a device and its mask, in the order of memory where it has no gaps."""
    order, _ = memory_order(input)
    x = input.transpose(order)
    run = device_sampling.run_of(x.size, x.dtype.itemsize)
    if not x.flags.c_contiguous:
        order, x, run = tuple(range(input.ndim)), xp.ascontiguousarray(input), 1
    back = [order.index(i) for i in range(input.ndim)]
    return tuple([a.transpose(back) for a in device_sampling.dropout(xp, x, stream, lanes, run, keep)])  # type: ignore[return-value]


_fused = op(
    "native_dropout",
    _in_one,
    inputs="input",
    widen=False,
    formula=r"\bar x = \bar y \cdot m / (1 - p)",
    input=lambda F, g, out1, keep: F.native_dropout_backward(g, out1, 1 / keep),
)
op(
    "native_dropout_backward",
    lambda xp, grad, mask, scale: device_sampling.dropout_gradient(xp, grad, mask, scale),
    inputs="grad mask",
    widen=False,
    formula={"grad": r"\bar g = \bar x \cdot m / (1 - p)"},
    grad=lambda F, g, mask, scale: F.native_dropout_backward(g, mask, scale),
)


def _check_type(input: Tensor, alpha: bool) -> None:
    """Refuse what cannot be scaled; of integers, with the sentence about the first step that would make floats."""
    d = input._data
    missing("bernoulli_scalar_cpu_", "c")(d.dtype)
    if d.dtype.kind in "iub":
        kind = "Long" if alpha and d.dtype.kind == "b" else input.dtype.scalar_name
        raise RuntimeError(f"result type Float can't be cast to the desired output type {kind}")


def _applied(input: Tensor, p: float, features: bool, alpha: bool, mul: Any, add: Any) -> Tensor:
    """The input with its dropout, by out-of-place or in-place arithmetic."""
    d = input._data
    if p == 1:
        return mul(input, wrap(input._place.xp.zeros((), d.dtype), input._place))
    if features and d.ndim < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    if d.dtype not in FLOATS:
        _check_type(input, alpha)
    keep = 1 - p
    if mul is _mul and not features and not alpha:
        source = pick(None, input._place, "dropout")
        if source.on_device and d.dtype.kind != "c":
            return _fused(input, *device_sampling.dropout_stream(source, d.size), keep)[0]
    noise = _kept(input, keep, features)
    wide = noise if noise.dtype in FLOATS else noise.astype("f4")
    if not alpha:
        wide /= keep
        noise = wide.astype(noise.dtype, copy=False)
        return mul(input, wrap(put(noise, input._place), input._place))
    scale = 1 / math.sqrt((_ALPHA * _ALPHA * p + 1) * keep)
    shift = wide - 1
    shift *= _ALPHA * scale
    shift += _ALPHA * scale * p
    wide *= scale
    noise, shift = (a.astype(noise.dtype, copy=False) for a in (wide, shift))
    out = mul(input, wrap(put(noise, input._place), input._place))
    return add(out, wrap(put(shift, input._place), input._place))


def _forms(name: str, features: bool, alpha: bool, meaning: str, shown: str) -> None:
    """A dropout and its in-place form."""
    for label, mul, add in ((name, _mul, _add_), (name + "_", _mul_, _add_)):

        def call(input: Tensor, p: float, train: bool, *, _label=label, _multiply=mul, _shift=add) -> Tensor:
            try:
                size = input._data.size
            except AttributeError:
                raise errors.must_be_tensor(_label, "input", 1, input) from None
            chance = _chance(p, _label)
            if train is not True:
                if not flag(train, _label, "train", 3):
                    if (emit := listeners.drew) is not None:
                        emit(_label, input, False, chance)
                    return input
            if (emit := listeners.drew) is not None:
                emit(_label, input, True, chance)
            if chance == 0 or not size:
                return input
            return _applied(input, chance, features, alpha, _multiply, _shift)

        call.__name__ = call.__qualname__ = label
        place = "in place" if label[-1] == "_" else ""
        call.__doc__ = f"""{meaning}{"" if not place else " It happens in place."}

    Args:
        input: a tensor.
        p: the probability of an element to be dropped.
        train: whether anything is done.

    Example:
        >>> import vistorch
        >>> _ = vistorch.manual_seed(0)
        >>> vistorch.{label}(vistorch.ones(2, 3), 0.5, True)
        {shown}
    """
        public(method=False)(call)


_forms(
    "dropout",
    False,
    False,
    "Replace elements by 0 at random, and divide the others by the probability to stay.",
    "tensor([[0., 0., 2.],\n                [0., 0., 0.]])",
)
_forms(
    "feature_dropout",
    True,
    False,
    "Replace whole channels by 0 at random, and divide the others by the probability to stay.",
    "tensor([[0., 0., 2.],\n                [0., 0., 0.]])",
)
_forms(
    "alpha_dropout",
    False,
    True,
    "Replace elements at random by the value selu saturates at, and keep mean and variance.",
    "tensor([[-0.7792, -0.7792,  1.6656],\n                [-0.7792, -0.7792, -0.7792]])",
)
_forms(
    "feature_alpha_dropout",
    True,
    True,
    "Replace whole channels at random by the value selu saturates at, and keep mean and variance.",
    "tensor([[-0.7792, -0.7792,  1.6656],\n                [-0.7792, -0.7792, -0.7792]])",
)
