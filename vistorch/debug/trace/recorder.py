"""What ran, forward and backward, as rows in the order it ran in: the base of a trace and of a comparison.

A row keeps names, shapes, a norm and whether everything was finite; with `values` also copies of what came out, so that
later writes do not reach them.

What a device computed is not asked for at once: its events wait (`deferred`) and are taken in their order, at the end
of each backward pass and of the recording.

Invariant: recording changes no value, no gradient and nothing of what a pass frees.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any
from weakref import ref as ref_to

from numpy import ndarray, vdot

from ...engine.base.events import _listeners, where
from ...engine.base.modes import mode
from ...engine.core.graph import NUMBERS, Leaf, Out
from ...engine.core.tensor import Tensor
from ..backward_driver import BackwardDriver
from ..device_reads import Answers, place_of
from ..lines import note_of
from ..numbers import finite, norm_of, plain
from .deferred import Deferred, Event, bring, largest_of, may_be_bad
from .reads import MOVES, NAMES, PASS_ON, needs_nan, read, retains
from .row import Row

INF = math.inf
WRITES = ("clip", "step")  # phases that write many arrays
UNREAD = 64  # rows that wait for the first write of what they pass on


@dataclass(eq=False)
class Write:
    """A memory was written: its tensor, by which row, and rows of ours: its own if it has one, and the last before."""

    tensor: Any
    rule: Any
    row: Row | None
    last: Row | None = None


class Inside(threading.local):
    """The modules that run in this thread, the outermost first."""

    def __init__(self) -> None:
        self.stack: list = []


class Recorder(BackwardDriver):
    """Listens to all that runs and writes a row for each op.

    `numbers` says whether results that are one number are kept.

    Args:
        values: keep copies of all values.
        bound: also what is larger than this counts as bad.

    Example:
        >>> import vistorch
        >>> from vistorch.debug.trace.recorder import Recorder
        >>> class Loud(Recorder):
        ...     def forward_bad(self, row, *details):
        ...         super().forward_bad(row, *details)
        ...         print(f"{row.name}, forward: {row.state}")
        ...
        ...     def backward_bad(self, row, *details):
        ...         super().backward_bad(row, *details)
        ...         print(f"{row.name}, backward: {row.back}")
        >>> p = vistorch.tensor([0.5, 0.0], requires_grad=True)
        >>> with Loud():  # `where` hides the bad value, not its gradient
        ...     vistorch.where(p > 0, p.log(), 0.0).sum().backward()
        log, forward: origin
        where, forward: healed
        log, backward: origin
    """

    numbers = False

    def __init__(self, *, values: bool = False, bound: float | None = None) -> None:
        self.values, self.bound = values, bound
        self._here = Inside()
        self.rows: list[Row] = []
        self.leaves: dict[Any, tuple] = {}  # by leaf: (tensor, gradient, whether it is bad)
        self.passes = 0
        self._bad: dict[int, Any] = {}  # arrays that hold something bad, weakly, by id
        self._seen: dict[
            int, Any
        ] = {}  # arrays that were looked at, weakly, by id: (array, row, output, sum of squares)
        self._stepped: dict[int, Any] = {}  # arrays that an optimizer wrote, the same way
        self._arrived: set = set()  # nodes that something bad was sent to
        self._sums: dict[Any, tuple] = {}
        # rows that only pass on what memory holds that no op made, and what they gave
        self._unread: list[tuple[Row, Any]] = []
        self._later = Deferred(size_of)
        self._sizes: dict[int, float] | None = None  # of the event that is taken, by the ids of its arrays

    def __exit__(self, *exc: Any) -> None:
        """Stop; what waits is taken."""
        self.settle()
        super().__exit__(*exc)

    def phase(self, name: str, subject: Any, *details: Any) -> None:
        """Follow modules as they begin and end."""
        if name in WRITES:
            self.settle()
        if name == "forward":
            self._here.stack.append(subject)
        elif name == "forward_end" and self._here.stack:
            self._here.stack.pop()

    # ---- forward ----------------------------------------------------------------------------------------------
    def op(self, rule: Any, ins: tuple, consts: tuple, outs: tuple) -> None:
        """Write the row of an op."""
        run = mode.run
        if run is not None and not run.create_graph:
            return  # an op within a plain pass belongs to its node
        stack = self._here.stack
        rows = self.rows
        row = Row(len(rows), rule, rule.name, where(2), (stack[0], stack[-1]) if stack else None)
        rows.append(row)
        if self.values:
            self._keep(row, ins, consts, outs)
        elif self._later.events or (
            outs and outs[0]._data.__class__ is not ndarray and is_there(outs[0]._data)
        ):
            self._op_waits(row, ins, consts, outs)
            return
        self._took(row, ins, consts, outs)

    def _took(self, row: Row, ins: tuple, consts: tuple, outs: tuple) -> None:
        """Write what an op did into its row."""
        rule, seen = row.rule, self._seen
        bad, bad_out = self._bad, False
        bad_in = (bool(bad) or rule.name not in PASS_ON) and self._bad_among(ins)
        if len(outs) == 1:  # the common case, without lists
            t = outs[0]
            d, node = t._data, t._node
            shape = d.shape
            square = self._square(rule, ins, d) if rule.view else self.size(d)
            row.shapes, row.squares = (shape,), (square,)
            if not shape and self.numbers and self._sizes is None:
                row.made = d.copy()
            seen[id(d)] = (ref_to(d), row.index, 0, square)
            if self.bound is None and square < INF:
                if bad:
                    bad.pop(id(d), None)
            else:
                bad_out = self._note(d, square)
        else:
            row.shapes = [t._data.shape for t in outs]
            row.squares = [self.size(t._data) for t in outs]
            node = next((t._node for t in outs if t._node is not None), None)
            for nr, (t, square) in enumerate(zip(outs, row.squares, strict=True)):
                seen[id(t._data)] = (ref_to(t._data), row.index, nr, square)
                bad_out = self._note(t._data, square) or bad_out
        if node is not None and self._sizes is None:
            _mark(node, row)
        if len(seen) > 20_000:
            self._forget()
        if bad_in or bad_out:
            bad_in = bad_in or self._bad_among(ins, but=outs)
            if bad_in:
                bad_in = self._is_read(row, ins, consts, outs, bad_out)
            if bad_in or bad_out:
                self.forward_bad(row, ins, consts, outs, bad_in, bad_out)

    def _is_read(self, row: Row, ins: tuple, consts: tuple, outs: tuple, bad_out: bool) -> bool:
        """Whether an op reads what is bad among its inputs, or at least keeps it.

        Memory that no op made may hold anything until it is first written, so views of it and partial writes are only
        noted: they are clean after all if the rest is written before it is read.
        """
        others = read(row.rule, ins, consts)
        if others is not ins:
            return self._bad_among(others, but=outs)
        if not retains(row.rule, consts):
            return True
        known = self._seen.get(id(ins[0]._data)) if ins and isinstance(ins[0], Tensor) else None
        if known is None or id(ins[0]._data) in self._stepped:
            return True
        if known[1] is not None and all(known[1] != passed.index for passed, _ in self._unread):
            return True
        if self._bad_among(ins[1:], but=outs):
            return True
        if bad_out and len(self._unread) < UNREAD:
            self._unread.append((row, outs[0]._data))
        return bad_out

    def _note(self, d: Any, square: float) -> bool:
        """Remember whether an array is bad, and say so."""
        if self._is_bad(d, square):
            self._bad[id(d)] = ref_to(d)
            return True
        self._bad.pop(id(d), None)
        return False

    def _square(self, rule: Any, ins: tuple, d: Any) -> float:
        """The size of a view: that of its input, if it has all of its elements."""
        source = ins[0]._data
        known = self._seen.get(id(source))
        if known is not None and known[0]() is source and source.size == d.size:
            return known[3]
        return self.size(d)

    # ---- what waits -------------------------------------------------------------------------------------------
    def waits(self, arrays: Iterable[Any]) -> bool:
        """Whether something about these arrays is looked at later: a device has them, or what was before waits."""
        return not self.values and (bool(self._later.events) or any(map(is_there, arrays)))

    def wait(
        self, take: Any, arrays: list, ask: list | None = None, alike: Any = None, written: Any = None
    ) -> None:
        """Let something that happened wait; see `Deferred.add`. Within `take` `size` answers for the arrays."""
        self._later.add(take, arrays, arrays if ask is None else ask, alike, written)
        if self._later.full:
            self.settle()

    def _op_waits(self, row: Row, ins: tuple, consts: tuple, outs: tuple) -> None:
        """An op on a device: what it did is looked at later."""
        given = [t._data for t in ins if isinstance(t, Tensor)]
        made = [t._data for t in outs]
        node = next((t._node for t in outs if t._node is not None), None)
        if node is not None:
            _mark(node, row)
        row.shapes = [d.shape for d in made]
        if len(made) == 1 and not made[0].shape and self.numbers:
            row.made = made[0].copy()
        alike = None
        if row.rule.view and given and len(made) == 1 and given[0].size == made[0].size:
            alike = given[0], made[0]
        ask = list(made)
        if alike is not None and not self._later.knows(given[0]) and self._is_seen(given[0]):
            ask = []
        if row.rule.name not in PASS_ON:
            ask += [d for d in given if not self._is_seen(d)]
        self.wait(partial(self._took, row, ins, consts, outs), [*given, *made], ask, alike)

    def _is_seen(self, d: Any) -> bool:
        known = self._seen.get(id(d))
        return known is not None and known[0]() is d

    def settle(self) -> None:
        """Take what waits, in its order: one question to each device, one more if something is bad."""
        if not self._later.events or self._sizes is not None:
            return
        events, number = self._later.taken()
        sizes = [{key: number(size) for key, size in event.sizes.items()} for event in events]
        bad = [any(self._beyond(size) for size in found.values()) for found in sizes]
        tables: list[dict] = [{} for _ in events]
        if self._bad or any(bad):  # now what every op was given counts
            tables = bring(events, sizes, bad)
        self._leave_out(events, sizes)
        try:
            for event, self._sizes, table in zip(events, sizes, tables, strict=True):
                with Answers(table):
                    event.take()
        finally:
            self._sizes = None

    def _beyond(self, size: float) -> bool:
        return not size < INF or (self.bound is not None and size > self.bound)

    def size(self, d: Any) -> float:
        """What says whether an array is bad: the sum of its squares, or what came of it from a device."""
        if self._sizes is not None and (size := self._sizes.get(id(d))) is not None:
            return size
        return size_of(d)

    def _bad_among(self, ins: tuple, but: tuple = ()) -> bool:
        """Whether any input is bad; arrays that no op made are looked at now."""
        bad, seen, found = self._bad, self._seen, False
        written = [t._data for t in but]
        for t in ins:
            if t.__class__ in NUMBERS or any(t._data is d for d in written):
                continue
            d = t._data
            known = seen.get(id(d))
            if known is None or known[0]() is not d:
                self._look(d)
            if bad and id(d) in bad and bad[id(d)]() is d:
                found = True
        return found

    def _is_bad(self, d: Any, square: float) -> bool:
        """Whether an array is bad, given its size."""
        if is_there(d):
            return self._beyond(square)
        if not square < INF and not finite(d):
            return True
        if self.bound is None or square <= self.bound * self.bound:  # no entry is larger than the norm
            return False
        return bool((abs(plain(d)) > self.bound).any())

    def _look(self, d: Any) -> None:
        """Look at an array that no row made."""
        square = self.size(d)
        self._seen[id(d)] = (ref_to(d), None, 0, square)
        if self._is_bad(d, square):
            self._bad[id(d)] = ref_to(d)

    def _forget(self) -> None:
        for table in (self._seen, self._bad, self._stepped):
            for key in [k for k, v in table.items() if (v[0] if isinstance(v, tuple) else v)() is None]:
                del table[key]

    def overwrite(self, tensor: Any) -> None:
        """A memory is about to be written: what waits keeps what it held."""
        self._later.overwrite(tensor._data)
        if self._later.full:
            self.settle()

    def write(self, tensor: Any, rule: Any) -> None:
        """A memory was written: what its arrays hold is looked at again; what became bad gets a row."""
        if mode.run is not None and not mode.run.create_graph:
            return
        d = tensor._data
        last = self.rows[-1] if self.rows else None
        if self.waits([] if rule is None else [d]):
            self._later.overwritten(d)
            row = self._row_of_write(rule, d)  # it goes again where nothing is bad
            written = Write(tensor, rule, row)
            self.rows.append(row)
            self.wait(partial(self._wrote, written), [d], [] if rule is None else [d], written=written)
            return
        self._wrote(Write(tensor, rule, None, last))

    def _row_of_write(self, rule: Any, d: Any) -> Row:
        stack = self._here.stack
        name = "" if rule is None else NAMES.get(rule.name, f"{rule.name}_")
        inside = (stack[0], stack[-1]) if stack else None
        row = Row(len(self.rows), rule, name, where(1), inside)
        row.shapes = (d.shape,)
        return row

    def _wrote(self, written: Write) -> None:
        """Look at what was written."""
        tensor, rule, last = written.tensor, written.rule, written.last
        d = tensor._data
        self._seen.pop(id(d), None)
        known = self._bad.pop(id(d), None)
        was_bad = known is not None and known() is d
        if d.base is not None:
            for base in _bases(d):
                self._seen.pop(id(base), None)
                self._bad.pop(id(base), None)
        if self._unread and self._settle(last if rule is None else None, d):
            return
        if rule is None:
            self._stepped[id(d)] = ref_to(d)
            return  # an optimizer's: its parameters are looked at when they are next used
        self._look(d)
        if last is not None and last.rule is rule and d.shape in last.shapes:
            self._seen[id(d)] = (ref_to(d), last.index, 0, self.size(d))
            return  # the op that computed it has reported it
        if id(d) in self._bad:
            row = written.row
            if row is None:
                row = self._row_of_write(rule, d)
                self.rows.append(row)
            row.squares = (self.size(d),)
            if rule.name in MOVES:
                if len(self._unread) < UNREAD:
                    self._unread.append((row, d))
            else:
                self._seen[id(d)] = (ref_to(d), row.index, 0, INF)
                was_bad = was_bad or needs_nan(rule, d)
            self.forward_bad(row, (), (), (tensor,), was_bad or rule.name in MOVES, True)

    def _leave_out(self, events: list[Event], sizes: list[dict]) -> None:
        """Keep the rows of those writes alone that made something bad."""
        writes = {
            e.written.row: (e.written, s) for e, s in zip(events, sizes, strict=True) if e.written is not None
        }
        if not writes:
            return
        first = min(row.index for row in writes)
        kept = self.rows[:first]
        for row in self.rows[first:]:
            if row in writes:
                written, found = writes[row]
                written.last = last = kept[-1] if kept else None
                d = written.tensor._data
                if (
                    written.rule is None
                    or not self._is_bad(d, found[id(d)])
                    or (last is not None and last.rule is written.rule and d.shape in last.shapes)
                ):
                    continue
            row.index = len(kept)
            kept.append(row)
        self.rows[:] = kept

    def _settle(self, last: Row | None, d: Any) -> bool:
        """Forget what was bad in memory that has been written since, and that nothing read.

        Returns whether the write only moved what the last row made into its target.
        """
        moved = False
        for pair in list(self._unread):
            row, held = pair
            if row is last and held.shape == d.shape:
                self._unread[self._unread.index(pair)] = (row, d)
                moved = True
            elif not self._is_bad(held, size_of(held)):
                row.state, row.came, row.bad, row.facts = "clean", "", None, None
                self._unread.remove(pair)
        return moved

    def forward_bad(
        self, row: Row, ins: tuple, consts: tuple, outs: tuple, bad_in: bool, bad_out: bool
    ) -> None:
        """Something bad went into an op or came out."""
        row.state = "healed" if not bad_out else "propagated" if bad_in else "origin"

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
        cache[id(t._data)] = (ref_to(t._data), version, copy)
        return copy

    # ---- backward ---------------------------------------------------------------------------------------------
    def begin(self, run: Any) -> None:
        """A pass is about to start."""
        self.passes += 1
        self._arrived, self._sums = set(), {}

    def end(self) -> None:
        """No array of the pass stays alive."""
        self.settle()
        self._arrived, self._sums = set(), {}

    def step(self, n: Any, entry: Any, pending: dict) -> None:
        """Write what a step did into its row."""
        row = None
        if n.__class__ is not Leaf:
            try:
                row = n.note["row"]
            except (AttributeError, KeyError):
                row = None
            if row is None or row.index >= len(self.rows) or self.rows[row.index] is not row:
                row = self._unseen(n)
        if self.values or not self._step_waits(n, entry, pending, row):
            self._ran(n, entry, pending, row)

    def _step_waits(self, n: Any, entry: Any, pending: dict, row: Row | None) -> bool:
        """Let a step on a device wait; False on the host."""
        g = _incoming(entry)
        if g.__class__ is ndarray and not self._later.events:
            return False
        came = [getattr(x, "_data", x) for x in (g if g.__class__ is list else [g]) if x is not None]
        sent = [
            getattr(c[3], "_data", c[3])
            for c in entry[3]
            if n.__class__ is not Leaf and c[0] is pending and len(c) == 4
        ]
        if not self.waits((*came, *sent)):
            return False
        alike = None
        if row is not None and row.rule is not None and row.rule.view and len(came) == len(sent) == 1:
            alike = (came[0], sent[0]) if came[0].size == sent[0].size else None
        saved = getattr(n, "saved", None)  # which the pass may free meanwhile
        kept = [x[0] for x in saved or () if x.__class__ is tuple and hasattr(x[0], "nbytes")]

        def take() -> None:
            now = getattr(n, "saved", None)
            if saved is not None:
                n.saved = saved
            try:
                self._ran(n, entry, pending, row)
            finally:
                if saved is not None:
                    n.saved = now

        self.wait(take, [*came, *sent, *kept], [*came, *sent], alike)
        return True

    def _ran(self, n: Any, entry: Any, pending: dict, row: Any) -> None:
        """Write what a step did into its row."""
        g = _incoming(entry)
        sums, arrived = self._sums, self._arrived
        if n.__class__ is Leaf:
            d = g if g.__class__ is ndarray else getattr(g, "_data", g)
            known = sums.get(n)
            square = known[1] if known is not None and known[0] is d else self.size(d)
            bad = (self.bound is not None or not square < INF) and self._is_bad(d, square)
            self.leaves[n] = (n.variable, d if self.values or bad else None, bad)
            return
        known = sums.pop(n, None)
        alike = known if known is not None and n.rule is not None and n.rule.view and known[0] is g else None
        bad_out = False
        squares = []
        for c in entry[3]:
            if c[0] is not pending or len(c) != 4:
                continue
            e, d = c[1], c[3]
            d = d if d.__class__ is ndarray else getattr(d, "_data", d)
            square = alike[1] if alike is not None and d.size == alike[0].size else self.size(d)
            squares.append(square)
            sums[e] = (d, square)
            if (self.bound is not None or not square < INF) and self._is_bad(d, square):
                bad_out = True
                arrived.add(e.node if e.__class__ is Out else e)
        row.back, row.back_squares = "clean", squares
        bad_in = n in arrived if arrived else False
        self.ran(row)
        if not (self.values or bad_in or bad_out):
            return
        sent = [(c[1], getattr(c[3], "_data", c[3])) for c in entry[3] if len(c) == 4 and c[0] is pending]
        if self.values:
            row.given = [getattr(x, "_data", x) for x in (g if g.__class__ is list else [g])]
            row.sent = [(self._input_of(n, e), d) for e, d in sent]
        if bad_in or bad_out:
            if not bad_in:  # finite gradients may have met and overflowed on their way here
                some = [getattr(x, "_data", x) for x in (g if g.__class__ is list else [g]) if x is not None]
                bad_in = any(self._is_bad(d, self.size(d)) for d in some)
            self.backward_bad(row, n, g, sent, bad_in, bad_out)

    def ran(self, row: Row) -> None:
        """A row's backward has run; reported in the order of the pass."""

    def _unseen(self, n: Any) -> Row:
        """The row of a node that was made before anybody recorded."""
        note = note_of(n)
        name = n.rule.name if n.rule is not None else type(n).__name__.removesuffix("Backward")
        row = Row(len(self.rows), n.rule, name, note.get("line"), None)
        row.path = note.get("module")
        row.state = ""
        self.rows.append(row)
        n.note = {**note, "row": row}
        return row

    @staticmethod
    def _input_of(n: Any, e: Any) -> int:
        return next(i for i, x in enumerate(n.edges) if x is e)

    def backward_bad(self, row: Row, n: Any, g: Any, sent: list, bad_in: bool, bad_out: bool) -> None:
        """Something bad came into a node's backward or went out."""
        row.back = "healed" if not bad_out else "propagated" if bad_in else "origin"


def size_of(d: Any) -> float:
    """The sum of squares; of a device's array the largest absolute value. Not finite: the array may be bad."""
    if d.dtype.kind == "f" and d.dtype.itemsize != 2 and d.__class__ is ndarray:
        flat = d.ravel("K")  # in the order of memory: no copy of what is only transposed
        return float(vdot(flat, flat))  # unlike dot, it does not warn of an overflow
    if not may_be_bad(d):
        return 0.0
    if is_there(d):
        with place_of(d):
            return float(largest_of(d))
    return norm_of(d) ** 2


def is_there(d: Any) -> bool:
    """Whether an array is a device's."""
    return d.__class__ is not ndarray and place_of(d) is not None


def _incoming(entry: Any) -> Any:
    """What came into a node: a gradient, or a list where the node has several outputs."""
    return entry[4] if len(entry) > 4 else entry[2]


def _mark(node: Any, row: Row) -> None:
    """Tell a node which row it is of."""
    if node.__class__ is Out:
        node = node.node
    note = {"line": row.place, "row": row}
    node.note = note if len(_listeners) == 1 and not mode.anomaly else {**note_of(node), **note}


def _bases(d: Any) -> list:
    found = []
    while getattr(d, "base", None) is not None and hasattr(d.base, "dtype"):
        d = d.base
        found.append(d)
    return found
