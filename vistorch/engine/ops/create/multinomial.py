"""Draws by the probabilities, rates or weights in a tensor: bernoulli, poisson, multinomial."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...base import errors
from ...base.dims import flag
from ...core import out_argument
from ...core.inplace import replace
from ...core.op_factory import op
from ...core.registry import public
from ...core.tensor import Tensor, wrap
from ...core.views import aliased
from ...kernels import device_sampling, sampling, sampling_checks, sampling_counts
from ...methods.conversion import host
from ...random.generators import pick
from .arguments import whole
from .constants import into
from .data import put
from .fill import NO_GRADIENT, zero
from .random_inplace import number, row_of, write

_BERNOULLI_NUMBER = row_of("bernoulli_number", "BernoulliBackward2")
_BERNOULLI_TENSOR = op(
    "bernoulli_tensor",
    lambda xp, input, p, values: values,
    inputs="input p",
    widen=False,
    name_in_graph="BernoulliBackward1",
    formula={"input": NO_GRADIENT, "p": r"\bar p = 0"},
    input=zero,
    p=zero,
)
_BERNOULLI = row_of("bernoulli", "BernoulliBackward0")
_POISSON = row_of("poisson", "PoissonBackward0")


def _coins(p: Any) -> Callable:
    """A sampler of coins with probability `p`, a number."""
    return lambda source, shape, dt: sampling.bernoulli(source, p, shape, dt)


@public(function=False)
def bernoulli_(input: Tensor, p: Any = 0.5, *, generator: Any = None) -> Tensor:
    """Overwrite every element with 1, with probability p, or 0.

    Args:
        input: the tensor to write to.
        p: a number, or a tensor of probabilities that broadcasts to `input`.
        generator: where the numbers come from; without it the device's default generator.

    Example:
        >>> import vistorch
        >>> vistorch.zeros(2).bernoulli_(1.0)
        tensor([1., 1.])
    """
    if not isinstance(p, Tensor):
        chance = number(p, "bernoulli_", "p", 1)
        if aliased(input._data):
            sampling_checks.check_bernoulli(chance)  # before the complaint about the memory, as PyTorch does
        coins = _coins(chance)
        return write(input, _BERNOULLI_NUMBER, coins, generator, "bernoulli_")
    source = pick(generator, input._place, "bernoulli_")
    if input._data.size:
        sampling_checks.unsupported(
            "bernoulli_tensor_cpu_self_", input._data.dtype, integers=True, boolean=True
        )
        sampling_checks.unsupported("bernoulli_tensor_cpu_p_", p._data.dtype)

    def fresh(old: Tensor, p: Tensor) -> Tensor:
        d = old._data
        try:
            chances = _spread(source, p, d.shape)
        except ValueError:
            raise RuntimeError(_cannot_expand(d.shape, p._data.shape)) from None
        if not d.size:
            return _BERNOULLI_TENSOR(old, p, d)
        order = sorted(range(d.ndim), key=lambda i: (-d.strides[i], i))
        shape = tuple(d.shape[i] for i in order)
        values = sampling.bernoulli(source, chances.transpose(order), shape, d.dtype)
        back = [order.index(i) for i in range(d.ndim)]
        return _BERNOULLI_TENSOR(old, p, put(values.transpose(back), old._place))

    return replace(input, fresh, (p,), {}, _BERNOULLI_TENSOR.rule)


def _spread(source: Any, p: Tensor, shape: tuple) -> Any:
    """Probabilities broadcast to a shape, where the source draws: on the host or on its device."""
    if source.on_device:
        return p._place.xp.broadcast_to(p._data, shape)
    return np.broadcast_to(host(p), shape)


def _cannot_expand(target: tuple, given: tuple) -> str:
    """The sentence for probabilities that do not fit."""
    if len(given) > len(target):
        return (
            f"expand({errors.sizes(given)}, size={errors.sizes(target)}): the number of sizes provided "
            f"({len(target)}) must be greater or equal to the number of dimensions in the tensor ({len(given)})"
        )
    lead = len(target) - len(given)
    at = next(i for i in range(len(target) - 1, -1, -1) if given[i - lead] not in (1, target[i]))
    return (
        f"The expanded size of the tensor ({target[at]}) must match the existing size ({given[at - lead]}) at "
        f"non-singleton dimension {at}.  Target sizes: {errors.sizes(target)}.  Tensor sizes: {errors.sizes(given)}"
    )


@public()
def bernoulli(input: Tensor, p: Any = None, *, generator: Any = None, out: Any = None) -> Tensor:
    """Coins: 1 with the probability each element says, or with `p` for all.

    Args:
        input: the probabilities; with `p`, only shape and dtype count.
        p: one probability for all.
        generator: where the numbers come from; without it the device's default generator.
        out: where to write the result.

    Example:
        >>> import vistorch
        >>> vistorch.bernoulli(vistorch.tensor([0.0, 1.0]))
        tensor([0., 1.])
    """
    if not isinstance(input, Tensor):
        raise errors.must_be_tensor("bernoulli", "input", 1, input)
    if out is not None:
        out_argument.check_out("bernoulli", out, (input,))
    place = input._place
    source = pick(generator, place, "bernoulli")
    chance = None if p is None else number(p, "bernoulli", "p", 2)
    if out is None:
        return _BERNOULLI(input, put(_tossed(source, input, chance, input._data.dtype), place))

    def write_to(d: Any) -> None:
        d[...] = put(_tossed(source, input, chance, d.dtype), place)

    return into(out, input._data.shape, None, "bernoulli", write_to)


def _tossed(source: Any, input: Tensor, chance: Any, dt: Any) -> Any:
    """Coins for every element."""
    shape = input._data.shape
    if not input._data.size:
        if chance is not None:
            sampling_checks.check_bernoulli(chance)
        return np.empty(shape, dt)
    return sampling.bernoulli(source, _spread(source, input, shape) if chance is None else chance, shape, dt)


@public(method=False)
def poisson(input: Tensor, generator: Any = None) -> Tensor:
    """Counts, each of a Poisson distribution with the rate that the element says.

    Args:
        input: the rates.
        generator: where the numbers come from; without it the device's default generator.

    Example:
        >>> import vistorch
        >>> vistorch.poisson(vistorch.zeros(2))
        tensor([0., 0.])
    """
    if not isinstance(input, Tensor):
        raise errors.must_be_tensor("poisson", "input", 1, input)
    source = pick(generator, input._place, "poisson")
    return _POISSON(input, put(sampling_counts.poisson(source, host(input)), input._place))


@public()
def multinomial(
    input: Tensor, num_samples: int, replacement: bool = False, *, generator: Any = None, out: Any = None
) -> Tensor:
    """Categories drawn with the weights of each row.

    Args:
        input: one row of weights, or a matrix of rows; they need not add up to 1.
        num_samples: draws from each row.
        replacement: whether a category can be drawn again.
        generator: where the numbers come from; without it the device's default generator.
        out: where to write the result.

    Example:
        >>> import vistorch
        >>> vistorch.multinomial(vistorch.tensor([0.0, 1.0, 0.0]), 2, replacement=True)
        tensor([1, 1])
    """
    if not isinstance(input, Tensor):
        raise errors.must_be_tensor("multinomial", "input", 1, input)
    count = whole(num_samples, "multinomial", "num_samples", 2)
    place = input._place
    if out is not None:
        if not isinstance(out, Tensor):
            out_argument.check_out("multinomial", out)
        if out._data.dtype != np.dtype("i8"):
            raise RuntimeError(f"multinomial expects Long tensor out, got: {out.dtype.scalar_name}")
    source = pick(generator, place, "multinomial")
    again = flag(replacement, "multinomial", "replacement")
    if source.on_device and (count == 1 or not again):
        d = place.xp.ascontiguousarray(device_sampling.race(source, input._data, count))
    else:
        d = np.ascontiguousarray(sampling_counts.multinomial(source, host(input), count, again))
    if out is None:
        return wrap(put(d, place), place)
    return into(out, d.shape, None, "multinomial", lambda target: target.__setitem__(..., put(d, place)))
