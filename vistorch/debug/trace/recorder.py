"""What ran, forward and backward, as rows in the order it ran in: the base of a trace and of a comparison.

A row keeps names, shapes, a norm and whether everything was finite; with `values` also copies of what came out, so that
later writes do not reach them.

Invariant: recording changes no value, no gradient and nothing of what a pass frees.
"""

from __future__ import annotations

import math
import weakref
from typing import Any

from ...engine.events import where
from ...engine.graph import Leaf, Out
from ...engine.modes import mode
from ...engine.quiet import hushed
from ...engine.tensor import Tensor
from ..breaks.modules import Modules
from ..lines import note_of
from ..numbers import finite, norm_of, plain
from .driving import drive


class Row:
    """One op: its forward, and its backward where a pass came to it.

    `state` and `back` are "clean", "birth", "propagated" or "healed"; `back` is "" where nothing ran. `norms` are of
    the outputs, `back_norms` of what was sent, by input.
    """

    __slots__ = (
        "back",
        "back_bad",
        "back_norms",
        "bad",
        "consts",
        "dtypes",
        "facts",
        "given",
        "grads",
        "index",
        "ins",
        "made",
        "module",
        "name",
        "node",
        "norms",
        "outs",
        "place",
        "rule",
        "sent",
        "shapes",
        "state",
    )

    def __init__(self, index: int, rule: Any, name: str, place: Any, module: str | None) -> None:
        self.index, self.rule, self.name, self.place, self.module = index, rule, name, place, module
        self.state, self.back = "clean", ""
        self.bad: Any = None
        self.back_bad: Any = None
        self.facts: Any = None
        self.norms: list[float] = []
        self.back_norms: list[float | None] = []
        self.shapes: list[tuple] = []
        self.dtypes: list[str] = []
        self.ins: Any = None
        self.consts: Any = None
        self.outs: Any = None
        self.grads: Any = None
        self.given: Any = None
        self.sent: Any = None
        self.made: Any = None
        self.node: Any = None  # weakly


class Recorder(Modules):
    """Listens to all that runs and writes a row for each op.

    Args:
        values: keep copies of all values.
        bound: also what is larger than this counts as bad.
    """

    def __init__(self, *, values: bool = False, bound: float | None = None) -> None:
        super().__init__()
        self.values, self.bound = values, bound
        self.rows: list[Row] = []
        self.leaves: dict[Any, tuple] = {}  # by leaf: (tensor, gradient, whether it is bad)
        self.passes = 0
        self._bad: dict[int, Any] = {}  # arrays that hold something bad, weakly, by id
        self._seen: dict[int, Any] = {}  # arrays that were looked at, weakly, by id: (array, row, output)
        self._depth = 0

    # ---- forward ----------------------------------------------------------------------------------------------
    def op(self, rule: Any, ins: tuple, consts: tuple, outs: tuple) -> None:
        """Write the row of an op."""
        if mode.run is not None and not mode.run.create_graph:
            return  # an op within a plain pass belongs to its node
        stack = getattr(self._here, "stack", None)
        rows = self.rows
        row = Row(len(rows), rule, rule.name, where(2), stack[-1] if stack else None)
        rows.append(row)
        seen = self._seen
        if self.values:
            self._keep(row, ins, consts, outs)
        bad_in = False
        for t in ins:
            if hasattr(t, "_data"):
                d = t._data
                known = seen.get(id(d))
                if known is None or known[0]() is not d:
                    self._look(d)
                if self._bad and id(d) in self._bad and self._bad[id(d)]() is d:
                    bad_in = True
        bad_out = False
        node: Any = None
        for nr, t in enumerate(outs):
            d = t._data
            if node is None:
                node = t._node
            if not d.shape and row.made is None:
                row.made = d.copy()
            row.shapes.append(d.shape)
            row.dtypes.append(d.dtype.name)
            norm = self._norm(d)
            row.norms.append(norm)
            seen[id(d)] = (weakref.ref(d), row.index, nr)
            if not math.isfinite(norm) and self._is_bad(d, norm):
                bad_out = True
                self._bad[id(d)] = weakref.ref(d)
            elif self.bound is not None and self._is_bad(d, norm):
                bad_out = True
                self._bad[id(d)] = weakref.ref(d)
            elif self._bad:
                self._bad.pop(id(d), None)
        if node is not None:
            if node.__class__ is Out:
                node = node.node
            node.note = {**note_of(node), "line": row.place, "module": row.module, "row": row}
            row.node = weakref.ref(node)
        if len(seen) > 20_000:
            self._forget()
        if bad_in or bad_out:
            self.forward_bad(row, ins, consts, outs, bad_in, bad_out)

    def _norm(self, d: Any) -> float:
        """The norm; not finite if anything is not, or if a sum of squares overflows: then look again."""
        if d.dtype.kind == "f" and d.dtype.itemsize != 2:
            flat = d.reshape(-1)
            total = float(hushed(flat.dot, flat))
            if total > 1e-30:
                return math.sqrt(total) if total != math.inf else norm_of(d)
            return total if total == 0.0 and not flat.any() else norm_of(d)
        return norm_of(d) if d.size else 0.0

    def _is_bad(self, d: Any, norm: float) -> bool:
        if not finite(d):
            return True
        if self.bound is None or norm <= self.bound:  # no entry is larger than the norm
            return False
        return bool((abs(plain(d)) > self.bound).any())

    def _look(self, d: Any) -> None:
        """Look at an array that no row made."""
        self._seen[id(d)] = (weakref.ref(d), None, 0)
        if d.dtype.kind not in "iub" and self._is_bad(d, self._norm(d)):
            self._bad[id(d)] = weakref.ref(d)

    def _forget(self) -> None:
        for table in (self._seen, self._bad):
            for key in [k for k, v in table.items() if (v[0] if isinstance(v, tuple) else v)() is None]:
                del table[key]

    def write(self, tensor: Any, rule: Any) -> None:
        """A memory was written: what its arrays hold is looked at again; what became bad gets a row."""
        if mode.run is not None and not mode.run.create_graph:
            return
        d = tensor._data
        last = self.rows[-1] if self.rows else None
        self._seen.pop(id(d), None)
        self._bad.pop(id(d), None)
        self._look(d)
        for base in _bases(d):
            self._seen.pop(id(base), None)
            self._bad.pop(id(base), None)
        if last is not None and rule is not None and last.rule is rule and d.shape in last.shapes:
            self._seen[id(d)] = (weakref.ref(d), last.index, 0)
            return  # the op that computed it has told
        if id(d) in self._bad:
            name = "write" if rule is None else f"{rule.name}_"
            row = Row(len(self.rows), rule, name, where(2), self.path)
            row.shapes, row.dtypes, row.norms = [d.shape], [d.dtype.name], [self._norm(d)]
            self.rows.append(row)
            self._seen[id(d)] = (weakref.ref(d), row.index, 0)
            self.forward_bad(row, (), (), (tensor,), False, True)

    def forward_bad(
        self, row: Row, ins: tuple, consts: tuple, outs: tuple, bad_in: bool, bad_out: bool
    ) -> None:
        """Something bad went into an op or came out."""
        row.state = "healed" if not bad_out else "propagated" if bad_in else "birth"

    def _keep(self, row: Row, ins: tuple, consts: tuple, outs: tuple) -> None:
        """Copies of what came out, and where each input came from."""
        kept = []
        for t in ins:
            if not isinstance(t, Tensor):
                kept.append(("number", t))
                continue
            known = self._seen.get(id(t._data))
            if known is not None and known[0]() is t._data and known[1] is not None:
                kept.append(("row", known[1], known[2]))
            else:
                kept.append(("array", self._copy(t)))
        row.ins, row.consts = kept, consts
        row.outs = [t._data.copy() for t in outs]

    def _copy(self, t: Any) -> Any:
        """One copy of an array for all ops that read it before it is written."""
        cache = self.__dict__.setdefault("_copies", {})
        version = 0 if t._ver is None else t._ver.n
        found = cache.get(id(t._data))
        if found is not None and found[0]() is t._data and found[1] == version:
            return found[2]
        copy = t._data.copy()
        cache[id(t._data)] = (weakref.ref(t._data), version, copy)
        return copy

    # ---- backward ---------------------------------------------------------------------------------------------
    def backward(self, run: Any, outputs: tuple) -> None:
        """Run a pass in the place of whoever prepared it."""
        if run.journal is not None or mode.run is not None:
            return  # a stepper drives it, or it is a pass within one
        self.passes += 1
        self._arrived: set = set()
        drive(run, self.step)

    def step(self, n: Any, entry: Any, pending: dict) -> None:
        """Write what a step did into its row."""
        g = entry[4] if len(entry) > 4 else entry[2]
        if n.__class__ is Leaf:
            d = getattr(g, "_data", g)
            norm = self._norm(d)
            bad = (not math.isfinite(norm) or self.bound is not None) and self._is_bad(d, norm)
            self.leaves[n] = (n.variable, d if self.values or bad else None, bad)
            return
        row = note_of(n).get("row")
        if row is None or row.index >= len(self.rows) or self.rows[row.index] is not row:
            row = Row(
                len(self.rows),
                n.rule,
                type(n).__name__.removesuffix("Backward0"),
                note_of(n).get("line"),
                None,
            )
            row.module = note_of(n).get("module")
            row.state = ""
            self.rows.append(row)
            n.note = {**note_of(n), "row": row}
            row.node = weakref.ref(n)
        bad_out = False
        arrived = self._arrived
        bad_in = n in arrived
        sent = []
        for c in entry[3]:
            if len(c) != 4 or c[0] is not pending:
                continue
            e, d = c[1], getattr(c[3], "_data", c[3])
            norm = self._norm(d)
            row.back_norms.append(norm)
            sent.append((e, d))
            if (not math.isfinite(norm) or self.bound is not None) and self._is_bad(d, norm):
                bad_out = True
                arrived.add(e.node if e.__class__ is Out else e)
        row.back = "clean"
        if self.values:
            row.given = [getattr(x, "_data", x) for x in (g if g.__class__ is list else [g])]
            row.sent = [(self._input_of(n, e), d) for e, d in sent]
        if bad_in or bad_out:
            if not bad_in:  # finite gradients may have met and overflowed on their way here
                some = [getattr(x, "_data", x) for x in (g if g.__class__ is list else [g]) if x is not None]
                bad_in = any(self._is_bad(d, self._norm(d)) for d in some)
            self.backward_bad(row, n, g, sent, bad_in, bad_out)

    @staticmethod
    def _input_of(n: Any, e: Any) -> int:
        return next(i for i, x in enumerate(n.edges) if x is e)

    def backward_bad(self, row: Row, n: Any, g: Any, sent: list, bad_in: bool, bad_out: bool) -> None:
        """Something bad came into a node's backward or went out."""
        row.back = "healed" if not bad_out else "propagated" if bad_in else "birth"


def _bases(d: Any) -> list:
    found = []
    while getattr(d, "base", None) is not None and hasattr(d.base, "dtype"):
        d = d.base
        found.append(d)
    return found
