"""One op as a plain record: names, shapes, what was broadcast, dtypes, constants.

Invariant: a record holds numbers, strings and tuples only: no tensor, no array, nothing of the engine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..engine.base import dtypes
from ..engine.base.events import where
from ..engine.base.modes import mode
from ..engine.core.rules import REC
from ..engine.core.tensor import Tensor
from .line_lookup import Line, line_of

# Rows whose operands are all broadcast, beside the pointwise ones of two operands; and those that broadcast one.
ALL = frozenset(
    (
        "add_scaled",
        "addcdiv",
        "addcmul",
        "clamp_both",
        "clamp_high",
        "clamp_low",
        "complex",
        "lerp",
        "lerp_tensor",
        "normal_by_both",
        "polar",
        "rsub_scaled",
        "sub_scaled",
        "where",
    )
)
FIRST = frozenset(("addbmm", "addmm", "addmv", "addr", "baddbmm"))


@dataclass(frozen=True)
class Operand:
    """A tensor that went in or came out, or a plain number (then `value` is it and there is no dtype).

    `broadcast`: the dims of the output along which this input repeats; () if it fits as it is; None for an output, a
    number, or an op that does not broadcast. `finite`: whether all elements are; None if nobody asked or it cannot be.

    Example:
        >>> from vistorch.debug import Operand
        >>> Operand("input", (2, 3), "float32", "cpu").shape
        (2, 3)
    """

    name: str
    shape: tuple[int, ...]
    dtype: str | None
    device: str | None
    broadcast: tuple[int, ...] | None = None
    finite: bool | None = None
    value: Any = None


@dataclass(frozen=True)
class Operation:
    """One op that ran. `module` is the path of the module it ran in, where one is known.

    Example:
        >>> import vistorch
        >>> from vistorch.debug import describe
        >>> from vistorch.engine.base.events import Listener
        >>> class Print(Listener):
        ...     def op(self, *details):
        ...         operation = describe(*details)
        ...         print(operation.name, operation.broadcasts)
        >>> with Print():
        ...     _ = vistorch.ones(2, 3) * vistorch.ones(3)
        mul True
    """

    name: str
    line: Line | None
    module: str | None
    ins: tuple[Operand, ...]
    outs: tuple[Operand, ...]
    consts: dict[str, Any]
    device: str
    grad_mode: str

    @property
    def broadcasts(self) -> bool:
        """Whether any input was broadcast."""
        return any(i.broadcast for i in self.ins)


def describe(rule: Any, ins: tuple, consts: tuple, outs: tuple, *, finite: bool = False) -> Operation:
    """What an op event carries, as a plain record.

    Args:
        rule: the row.
        ins: its operands.
        consts: its constants.
        outs: its results.
        finite: also look at every element.

    Example:
        >>> import vistorch
        >>> from vistorch.debug import describe
        >>> from vistorch.engine.base.events import Listener
        >>> class Print(Listener):
        ...     def op(self, *details):
        ...         record = describe(*details)
        ...         print(record.name, [(i.name, i.shape, i.broadcast) for i in record.ins])
        >>> with Print():
        ...     _ = vistorch.ones(2, 3) * vistorch.ones(3)
        mul [('input', (2, 3), ()), ('other', (3,), (0,))]
    """
    shape = tuple(outs[0]._data.shape) if outs else ()
    names = tuple(rule.inputs) + tuple(f"input {i}" for i in range(len(rule.inputs), len(ins)))
    operands = tuple(
        [
            _operand(
                name, x, finite, _repeats(tuple(x._data.shape), shape) if _broadcasts(rule, i, x) else None
            )
            for i, (name, x) in enumerate(zip(names, ins, strict=False))
        ]
    )
    made = tuple([_operand(f"out{i or ''}", x, finite, None) for i, x in enumerate(outs)])
    # a custom function has one constant: all it was called with
    values = consts if len(rule.consts) == len(consts) else (consts,)
    return Operation(
        name=rule.name,
        line=line_of(where()),
        module=None,
        ins=operands,
        outs=made,
        consts={k: _plain(v) for k, v in zip(rule.consts, values, strict=False)},
        device=str(outs[0]._place.device) if outs else "cpu",
        grad_mode={None: "inference", False: "no_grad"}.get(mode.on, "grad"),
    )


def _operand(name: str, x: Any, finite: bool, broadcast: tuple | None) -> Operand:
    if not isinstance(x, Tensor):
        return Operand(name, (), None, None, value=x)
    d = x._data
    return Operand(
        name,
        tuple(d.shape),
        str(dtypes.of(d.dtype)),
        str(x._place.device),
        broadcast,
        _finite(x) if finite else None,
    )


def _finite(x: Tensor) -> bool | None:
    d = x._data
    if d.dtype.kind in "biu":
        return None
    return bool(x._place.xp.isfinite(d if d.dtype.kind in "fc" else d.astype(np.float32)).all())


def _broadcasts(rule: Any, i: int, x: Any) -> bool:
    """Whether operand `i` of a row is stretched to the shape of the output."""
    if not isinstance(x, Tensor):
        return False
    if rule.name in FIRST:
        return i == 0
    return rule.name in ALL or (len(rule.inputs) == 2 and hasattr(getattr(REC, rule.name, None), "kind"))


def _repeats(small: tuple, large: tuple) -> tuple[int, ...]:
    """The dims of `large` along which an array of shape `small` repeats."""
    lead = len(large) - len(small)
    return tuple(d for d, n in enumerate(large) if d < lead or (small[d - lead] == 1 and n != 1))


def _plain(value: Any) -> Any:
    """A constant without anything of the engine in it."""
    if isinstance(value, Tensor):
        return f"tensor of shape {tuple(value._data.shape)}"
    if isinstance(value, np.ndarray):
        return f"array of shape {value.shape}"
    if isinstance(value, np.dtype):
        return str(dtypes.of(value))
    if isinstance(value, (tuple, list)):
        return tuple(_plain(v) for v in value)
    return value if isinstance(value, (int, float, complex, str, slice, type(None))) else repr(value)
