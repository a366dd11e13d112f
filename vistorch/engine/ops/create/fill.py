"""One value into a tensor that is there: fill, fill_, zero_.

What was overwritten gets a gradient of zero; a value that is itself a tensor gets the sum. Invariant: a number that the
dtype cannot hold is refused before anything is written.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import errors
from ...base.dims import flag
from ...base.events import listeners
from ...base.modes import mode
from ...core.base_ops import to_place
from ...core.graph import UNTRACKED, sync_rg, version
from ...core.inplace import replace
from ...core.op_factory import op
from ...core.registry import FUNCTIONS, METHODS, public
from ...core.tensor import Tensor
from ...core.views import before_write
from ...memory.placement import META
from .arguments import type_name
from .data import cast_array
from .numbers import fit

PLAIN = frozenset((bool, int, float, complex))
NO_GRADIENT = r"\bar x = 0"


def zero(F: Any, g: Any) -> Any:
    """The formula of what was overwritten."""
    return F.zeros_like(g)


def _filled(xp: Any, input: Any, value: Any) -> Any:
    out = xp.empty_like(input)
    out.fill(value)
    return out


def _filled_by(xp: Any, input: Any, value: Any) -> Any:
    out = xp.empty_like(input)
    out[...] = value if value.dtype == input.dtype else cast_array(value, input.dtype)
    return out


def _rows(name: str, numbers: tuple[str, str]) -> tuple[Any, Any]:
    """The rows of a fill with a number and with a tensor."""
    plain = op(
        name,
        _filled,
        inputs="input",
        widen=False,
        name_in_graph=numbers[0],
        formula=NO_GRADIENT,
        input=zero,
    )
    by_tensor = op(
        name + "_by",
        _filled_by,
        inputs="input value",
        widen=False,
        name_in_graph=numbers[1],
        formula={"input": NO_GRADIENT, "value": r"\bar v = \sum \bar y"},
        input=zero,
        value=lambda F, g: F.sum_to(g, ()),
    )
    return plain, by_tensor


_FILL = _rows("fill", ("FillBackward0", "FillBackward1"))
_FILL_IN_PLACE = _rows("fill_in_place", ("FillBackward2", "FillBackward3"))
_ZERO = op(
    "zero",
    lambda xp, input: xp.zeros_like(input),
    widen=False,
    formula=NO_GRADIENT,
    input=zero,
)


def _fill_with(rows: tuple, input: Tensor, value: Any, name: str) -> Tensor:
    """`input`'s shape full of a number or of a tensor's only element."""
    if isinstance(value, Tensor):
        if value._data.ndim:
            raise RuntimeError(
                f"{name} only supports 0-dimension value tensor but got tensor with {value._data.ndim} dimensions."
            )
        if value._place is not input._place:
            value = to_place(value, input._place)
        return rows[1](input, value)
    if not isinstance(value, (int, float, complex, np.number, np.bool_)):
        raise TypeError(
            f"{name}() received an invalid combination of arguments - got ({type_name(value)}), but expected one of:\n"
            " * (Tensor value)\n * (Number value)\n"
        )
    return rows[0](input, fit(value.item() if isinstance(value, np.generic) else value, input._data.dtype))


@public(method=False)
def fill(input: Tensor, value: Any) -> Tensor:
    """A tensor of one value in the shape of another.

    Args:
        input: the tensor that gives shape and dtype.
        value: a number, or a tensor of no dimensions.

    Example:
        >>> import vistorch
        >>> vistorch.fill(vistorch.zeros(2), 7)
        tensor([7., 7.])
    """
    if not isinstance(input, Tensor):
        raise errors.must_be_tensor("fill", "input", 1, input)
    return _fill_with(_FILL, input, value, "fill_")


def _direct(x: Tensor, value: Any) -> Tensor | None:
    """Write a number into memory that no history watches; None where the general way is needed."""
    if x._ver is UNTRACKED or (mode.on and sync_rg(x)):
        return None
    if (emit := listeners.overwrite) is not None:
        emit(x)
    if x._place is not META:
        x._data.fill(value)
    version(x).n += 1
    if (emit := listeners.write) is not None:
        emit(x, _ZERO.rule)
    return x


def fill_(input: Tensor, value: Any) -> Tensor:
    """Set every element to a value.

    Args:
        input: the tensor to write to.
        value: a number, or a tensor of no dimensions.

    Example:
        >>> import vistorch
        >>> vistorch.zeros(2).fill_(7)
        tensor([7., 7.])
    """
    if value.__class__ in PLAIN and isinstance(input, Tensor):
        before_write(input, bool(mode.on) and sync_rg(input))
        fitted = fit(value, input._data.dtype)
        done = _direct(input, fitted)
        if done is not None:
            return done
    return replace(
        input,
        lambda old, v: _fill_with(_FILL_IN_PLACE, old, v, "fill_"),
        (value,),
        {},
        repeated=not isinstance(value, Tensor),
    )


def zero_(input: Tensor) -> Tensor:
    """Set every element to zero.

    Args:
        input: the tensor to write to.

    Example:
        >>> import vistorch
        >>> vistorch.ones(2).zero_()
        tensor([0., 0.])
    """
    if isinstance(input, Tensor):
        done = _direct(input, 0)
        if done is not None:
            return done
    return replace(input, _ZERO, (), {}, _ZERO.rule, repeated=True)


def fill_diagonal_(input: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """Set the main diagonal to a value.

    Args:
        input: the tensor to write to; with more than two dimensions, all of one length.
        fill_value: the number.
        wrap: for a tall matrix, begin again below the end of the diagonal, a row left out.

    Example:
        >>> import vistorch
        >>> vistorch.zeros(2, 2).fill_diagonal_(5)
        tensor([[5., 0.],
                [0., 5.]])
    """
    if isinstance(fill_value, Tensor):
        fill_value = fill_value.item()
    if not isinstance(fill_value, (int, float, complex)):
        raise TypeError(
            f"fill_diagonal_(): argument 'fill_value' (position 1) must be Number, not {type_name(fill_value)}"
        )
    wrap = flag(wrap, "fill_diagonal_", "wrap")
    shape = input._data.shape
    if len(shape) < 2:
        raise RuntimeError("dimensions must larger than 1")
    if len(shape) > 2 and len(set(shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    rows, columns = shape[0], shape[1]
    starts = range(0, rows, columns + 1) if wrap and len(shape) == 2 and rows > columns + 1 else (0,)
    for start in starts:
        line = input[start:] if start else input
        while line._data.ndim > 1:
            line = line.diagonal()
        line.fill_(fill_value)
    return input


METHODS.update(fill_=fill_, zero_=zero_, fill_diagonal_=fill_diagonal_)
FUNCTIONS.update(fill_=fill_, zero_=zero_)
