"""In-place random writers: uniform_, normal_, random_ and the others.

All go by `inplace.replace`, which makes the checks, the version and the history; what was overwritten gets a gradient
of zero. Invariant: a refused call draws no number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...base import errors
from ...base.modes import mode
from ...core.graph import sync_rg
from ...core.inplace import replace
from ...core.op_factory import op
from ...core.registry import METHODS, public
from ...core.tensor import Tensor
from ...kernels import sampling
from ...random.generators import of_nothing, pick
from .arguments import no_more, type_name, whole
from .data import put
from .fill import NO_GRADIENT, zero
from .rand import values_for


def row_of(name: str, in_graph: str) -> Any:
    """The row of a random writer: its kernel is handed the numbers already drawn."""
    return op(
        name,
        lambda xp, input, values: values,
        inputs="input",
        widen=False,
        name_in_graph=in_graph,
        formula=NO_GRADIENT,
        input=zero,
    )


def number(value: Any, name: str, argument: str, position: int) -> Any:
    """A real number from an argument that must be one."""
    if value.__class__ is float or value.__class__ is int:
        return value
    if isinstance(value, Tensor) and value._data.ndim == 0 and not value._rg:
        value = value._data.item()
    if isinstance(value, (bool, complex)) or not isinstance(value, (int, float, np.number)):
        raise TypeError(
            f"{name}(): argument '{argument}' (position {position}) must be float, not {type_name(value)}"
        )
    return value


def write(x: Any, row: Any, draw: Callable, generator: Any, name: str, *args: Any) -> Tensor:
    """Overwrite `x` with what `draw` gives for it."""
    if not isinstance(x, Tensor):
        raise errors.must_be_tensor(name, "input", 1, x)
    source = pick(generator, x._place, name)
    if source is of_nothing and not (mode.on and sync_rg(x)):
        return x  # there are no values to overwrite

    def fresh(old: Tensor) -> Tensor:
        values = values_for(old._data, draw, source, *args)
        return row(old, put(values, old._place))

    return replace(x, fresh, (), {}, row.rule)


def _writer(name: str, draw: Callable, in_graph: str, first: tuple, second: tuple | None, text: str) -> None:
    """A writer with one or two real parameters, each (name, default, what it is)."""
    row = row_of(name, in_graph)
    names = [first[0]] if second is None else [first[0], second[0]]
    defaults = [first[1]] if second is None else [first[1], second[1]]

    def call(input: Tensor, *given: Any, generator: Any = None, **named: Any) -> Tensor:
        if len(given) > len(names):
            raise TypeError(
                f"{name}() takes {len(names) + 1} positional arguments but {len(given) + 1} were given"
            )
        values = list(defaults)
        values[: len(given)] = given
        for key, value in named.items():
            no_more(name, {key: value}, tuple(names))
            values[names.index(key)] = value
        for at, value in enumerate(values):
            if value is None:
                raise TypeError(f'{name}() missing 1 required positional arguments: "{names[at]}"')
            values[at] = number(value, name, names[at], at + 1)
        return write(input, row, draw, generator, name, *values)

    call.__name__ = call.__qualname__ = name
    meant = "".join(f"\n        {p[0]}: {p[2]}." for p in (first, second) if p)
    call.__doc__ = f"""Overwrite every element with a {text} number.

    Args:
        input: the tensor to write to.
        *given: the parameters below, by position.
        generator: where the numbers come from; without it the device's default generator.
        **named: the parameters by name:{meant}

    Example:
        >>> import vistorch
        >>> vistorch.zeros(2).{name}({"0.5" if first[1] is None else ""}).shape
        vistorch.Size([2])
    """
    METHODS[name] = call


_writer(
    "uniform_",
    sampling.uniform,
    "UniformBackward0",
    ("from", 0.0, "the lowest"),
    ("to", 1.0, "the bound above"),
    "uniform",
)
_writer(
    "normal_",
    sampling.normal,
    "NormalBackward0",
    ("mean", 0.0, "the mean"),
    ("std", 1.0, "the standard deviation"),
    "normal",
)
_writer(
    "log_normal_",
    sampling.log_normal,
    "LogNormalBackward0",
    ("mean", 1.0, "the mean of the logarithm"),
    ("std", 2.0, "the standard deviation of the logarithm"),
    "log-normal",
)
_writer(
    "cauchy_",
    sampling.cauchy,
    "CauchyBackward0",
    ("median", 0.0, "the median"),
    ("sigma", 1.0, "the half width"),
    "Cauchy",
)
_writer(
    "exponential_",
    sampling.exponential,
    "ExponentialBackward0",
    ("lambd", 1.0, "the rate"),
    None,
    "exponential",
)
_writer(
    "geometric_",
    sampling.geometric,
    "GeometricBackward0",
    ("p", None, "the probability of success"),
    None,
    "geometric",
)

_RANDOM = tuple(row_of(f"random_{n}", f"RandomBackward{n}") for n in range(3))


@public(function=False)
def random_(input: Tensor, *bounds: Any, generator: Any = None, **named: Any) -> Tensor:
    """Overwrite every element with a whole number.

    Args:
        input: the tensor to write to.
        *bounds: nothing for all numbers the dtype counts without gaps; `to`; or `from, to`.
        generator: where the numbers come from; without it the device's default generator.
        **named: `from` and `to`, where they are not given by position.

    Example:
        >>> import vistorch
        >>> vistorch.zeros(3).random_(1)
        tensor([0., 0., 0.])
    """
    no_more("random_", named, ("from", "to"))
    given = list(bounds)
    low = (
        named["from"]
        if "from" in named
        else given.pop(0)
        if len(given) > 1 or ("to" in named and given)
        else None
    )
    high = named["to"] if "to" in named else given.pop(0) if given else None
    if low is None and high is None and "to" not in named:
        return write(input, _RANDOM[2], _full_range, generator, "random_")
    start = 0 if low is None else whole(low, "random_", "from", 1)
    end = None if high is None else whole(high, "random_", "to", 1 if low is None else 2)

    def draw(source: Any, shape: tuple, dt: Any) -> Any:
        return sampling.randint(source, shape, start, end, dt)

    return write(input, _RANDOM[1 if low is None else 0], draw, generator, "random_")


def _full_range(source: Any, shape: tuple, dt: Any) -> Any:
    return sampling.random_full(source, shape, dt)
