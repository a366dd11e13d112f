"""A recording: what every op of a run computed, forward and backward, as arrays of this process's memory.

Invariant: a recording holds numpy arrays, numbers and text, and no tensor: it can be kept, saved, and compared with one
that another program, another device or another day made.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..line_lookup import line_of
from ..numbers import host
from ..steps.words import count
from ..timeline import size
from ..trace.recorder import Recorder, Row
from . import files


@dataclass
class Op:
    """One op. `ins` are ("row", op, output), ("array", array) or ("number", value); `sent` pairs (input, gradient).

    `consts` are its constants, None where they do not travel; `order` says when its backward ran; `called` is how code
    names the module, `layer` its class and size; `again` stands in for an op that no row of the engine computes.
    """

    name: str
    module: str
    line: str
    outs: list[np.ndarray]
    ins: list[tuple]
    consts: tuple | None = ()
    given: list[np.ndarray | None] = field(default_factory=list)
    sent: list[tuple[int, np.ndarray]] = field(default_factory=list)
    order: int | None = None
    called: str = ""
    layer: str = ""
    again: Any = field(default=None, repr=False, compare=False)  # runs it on other inputs; does not travel


@dataclass
class Recording:
    """A run: its ops in order, and the gradient each leaf received, by name.

    Example:
        >>> import vistorch
        >>> from vistorch.debug import Record
        >>> x = vistorch.ones(2, requires_grad=True)
        >>> with Record("first", {x: "x"}) as run:
        ...     (x * 3).sum().backward()
        >>> run.recording()
        recording 'first': 2 ops, gradients of 1 leaf, 40 B
        >>> run.recording().leaves["x"].tolist()
        [3.0, 3.0]
    """

    title: str
    ops: list[Op]
    leaves: dict[str, np.ndarray] = field(default_factory=dict)
    source: str = "vistorch"  # the library that it ran on

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays.

        Example:
            >>> import vistorch
            >>> from vistorch.debug import Record
            >>> x = vistorch.ones(1000, requires_grad=True)
            >>> with Record() as run:
            ...     y = x.exp()
            >>> run.recording().nbytes  # of x and of y, 4 for each number
            8000
        """
        arrays = [*self.leaves.values()]
        for op in self.ops:
            arrays += op.outs + [g for g in op.given if g is not None] + [g for _, g in op.sent]
            arrays += [i[1] for i in op.ins if i[0] == "array"]
        return sum({id(a): a.nbytes for a in arrays}.values())

    def __repr__(self) -> str:
        leaves = f", gradients of {count(len(self.leaves), 'leaf', 'leaves')}" if self.leaves else ""
        return f"recording {self.title!r}: {count(len(self.ops), 'op')}{leaves}, {size(self.nbytes)}"

    def save(self, path: Any) -> None:
        """Write it to a file: a zip of arrays and JSON, nothing that runs when it is read.

        Example:
            >>> import io
            >>> import vistorch
            >>> from vistorch.debug import Record, Recording
            >>> with Record("yesterday") as run:
            ...     y = vistorch.ones(2).exp()
            >>> file = io.BytesIO()  # or a path
            >>> run.recording().save(file)
            >>> Recording.load(file)
            recording 'yesterday': 1 op, 16 B
        """
        files.save(self, path)

    @staticmethod
    def load(path: Any) -> Recording:
        """Read what `save` wrote.

        Example:
            >>> import io
            >>> import vistorch
            >>> from vistorch.debug import Record, Recording
            >>> from vistorch.debug.compare import compare
            >>> runs, file = [], io.BytesIO()
            >>> for base in (1.0, 2.0):
            ...     with Record(f"from {base}") as run:
            ...         y = vistorch.full((2,), base).exp().sum()
            ...     runs.append(run.recording())
            >>> runs[0].save(file)  # a reference for another day
            >>> compare(Recording.load(file), runs[1]).first["values"]
            ['2.718', '7.389']
        """
        title, ops, leaves, source = files.load(path)
        return Recording(title, [Op(*fields) for fields in ops], leaves, source)


class Record(Recorder):
    """Records a run with all its values.

    Args:
        title: what the run is called.
        names: what leaves are called: a dict from tensors, or a function of a tensor.

    Example:
        >>> import vistorch
        >>> from vistorch.debug.compare import Record
        >>> x = vistorch.ones(2, requires_grad=True)
        >>> with Record("first") as run:
        ...     (x * 3).sum().backward()
        >>> [op.name for op in run.recording().ops]
        ['mul', 'sum_all']
    """

    def __init__(self, title: str = "", names: dict | Callable[[Any], str | None] | None = None) -> None:
        super().__init__(values=True)
        self.title, self.names = title, names
        self._order: list[Row] = []

    def ran(self, row: Row) -> None:
        """Keep the order of the pass.

        Example:
            >>> import vistorch
            >>> from vistorch.debug import Record
            >>> with Record() as run:
            ...     vistorch.ones(1, requires_grad=True).exp().sum().backward()
            >>> [(op.name, op.order) for op in run.recording().ops]  # the last op goes backward first
            [('exp', 1), ('sum_all', 0)]
        """
        self._order.append(row)

    def recording(self) -> Recording:
        """What was recorded so far."""
        when = {id(row): i for i, row in enumerate(self._order)}
        ops = [self._op(row, when.get(id(row))) for row in self.rows]
        leaves = {}
        for i, (t, g, _) in enumerate(self.leaves.values()):
            name = self.names(t) if callable(self.names) else (self.names or {}).get(t)
            leaves[name or f"leaf {i}"] = host(g)
        return Recording(self.title, ops, leaves)

    @staticmethod
    def _op(row: Row, order: int | None) -> Op:
        ins = [("array", host(i[1])) if i[0] == "array" else tuple(i) for i in row.ins or ()]
        return Op(
            row.name,
            row.module or "",
            str(line_of(row.place) or ""),
            [host(d) for d in row.outs or ()],
            ins,
            row.consts if row.ins is not None else None,
            [None if g is None else host(g) for g in row.given or ()],
            [(i, host(g)) for i, g in row.sent or ()],
            order,
            row.called,
            row.layer,
        )
