"""Where the first bad value comes from: every op of forward and backward, marked.

clean: nothing bad. origin: good went in, bad came out. propagated: bad went in and out. healed: bad went in, good came
out. An infinity that a person put there (a constant, an array they gave) is no origin; a NaN made from it is.

Invariant: where nothing is bad, nothing is kept but names, shapes and norms.
"""

from __future__ import annotations

import math
import time
import weakref
from collections.abc import Callable, Mapping
from traceback import extract_tb
from typing import Any

import numpy as np

from ...engine.backward.backward_pass import order_of
from ...engine.base.events import where
from ...engine.base.modes import mode
from ...engine.core.tensor import Tensor
from ..device_reads import brought
from ..graph.failed_forward import capture_last
from ..graph.linked import linked
from ..graph.record import GraphRecord
from ..numbers import host, plain
from ..steps.forward import Forward
from ..steps.words import shape
from .bad_value import BadValue, counts
from .course import Course, Growth
from .facts import backward_facts, forward_facts
from .record import TraceRecord
from .recorder import Recorder, Row, is_there

ORIGINS = 20  # of so many the values around are kept


class Trace(Recorder):
    """Records what runs and finds where the first bad value came from.

    Args:
        bound: also an absolute value above this is bad.
        names: what leaves are called: a dict from tensors, or a function of a tensor.
        namespace: variables by name, for the names on the graph.

    Example:
        >>> import vistorch
        >>> from vistorch.debug.trace import Trace
        >>> p = vistorch.tensor([0.5, 0.0], requires_grad=True)
        >>> with Trace() as trace:
        ...     h = vistorch.where(p > 0, -p * p.log(), 0.0)
        ...     h.sum().backward()
        >>> trace.record().first["op"], trace.record().first["pass"]
        ('log', 'forward')
    """

    library = "vistorch"

    def __init__(
        self,
        *,
        bound: float | None = None,
        names: dict | Callable[[Any], str | None] | None = None,
        namespace: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(bound=bound)
        self.names, self.namespace = names, namespace
        self.graph: GraphRecord | None = None  # of the first pass with something bad in it
        self._run: Any = None
        self._worst: Any = lambda: None  # the newest node with a bad result, weakly
        self.back_order: list[Row] = []
        self.origins = 0
        self.seconds = 0.0
        self.error: str | None = None
        self.ended: list[tuple[str, int | None]] = []  # the lines that the exception came through
        self._placed: dict[int, Any] = {}
        self._course: Course | None = Course()
        self.growth: Growth | None = None  # of the loss, before the first bad value

    def __enter__(self) -> Trace:
        """Start to record."""
        self._began = time.perf_counter()
        return super().__enter__()

    def __exit__(self, *exc: Any) -> None:
        """Stop; an exception goes on its way, and what ran before it is in the record."""
        self.settle()
        self.seconds += time.perf_counter() - self._began
        self.failed(exc[1] if exc else None)
        super().__exit__(*exc)

    def failed(self, error: BaseException | None) -> None:
        """Note the exception that ended what was recorded.

        Example:
            >>> import vistorch
            >>> from vistorch.debug import Trace
            >>> x = vistorch.zeros(2, 3)
            >>> try:
            ...     with Trace() as trace:
            ...         x.exp() @ x
            ... except RuntimeError as error:  # leaving the block has noted it: `failed(error)`
            ...     trace.failed(error)
            >>> [row.name for row in trace.rows], trace.record().error.partition(":")[0]
            (['exp'], 'RuntimeError')
        """
        if error is not None:
            self.error = f"{type(error).__name__}: {' '.join(str(error).split())}"
            self.ended = [(frame.filename, frame.lineno) for frame in extract_tb(error.__traceback__)]
            if self.graph is None:
                try:
                    self.graph = capture_last(error, self._given_names(), namespace=self.namespace)
                except ValueError:  # the exception came from no op
                    pass

    def record(self) -> TraceRecord:
        """What was found, as a record."""
        from .build import build

        self.settle()
        if self.graph is None and (node := self._worst()) is not None:
            self.graph = linked(order_of([node]), self._given_names(), self.namespace)
        with brought([row.made for row in self.rows]):
            return build(self)

    def _given_names(self) -> Any:
        return None if callable(self.names) else self.names

    def called(self, tensor: Any) -> str:
        """What a leaf is called.

        Example:
            >>> import vistorch
            >>> from vistorch.debug import Trace
            >>> x = vistorch.zeros(2, 3, requires_grad=True)
            >>> Trace(names={x: "x"}).called(x), Trace().called(x)
            ('x', 'a leaf of shape 2 × 3')
        """
        name = self.names(tensor) if callable(self.names) else (self.names or {}).get(tensor)
        return name or f"a leaf of shape {shape(tensor.shape)}"

    # ---- forward ----------------------------------------------------------------------------------------------
    def forward_bad(
        self, row: Row, ins: tuple, consts: tuple, outs: tuple, bad_in: bool, bad_out: bool
    ) -> None:
        """Distinguish a new bad value from one that was put there."""
        self._stop_course()
        with brought([t for t in (*ins, *outs) if isinstance(t, Tensor)]):
            self._found(row, ins, consts, outs, bad_in, bad_out)

    def _found(self, row: Row, ins: tuple, consts: tuple, outs: tuple, bad_in: bool, bad_out: bool) -> None:
        counted = [counts(t._data, self.bound) for t in outs]
        nan, plus, minus, beyond = (sum(c[i] for c in counted) for i in range(4))
        row.bad = (nan, plus, minus, beyond, sum(t._data.size for t in outs))
        given = any(_not_finite(v) for v in (*consts, *[t for t in ins if not isinstance(t, Tensor)]))
        wrong = [t for t in ins if isinstance(t, Tensor) and self._known_bad(t._data)]
        placed = bool(given or wrong) and all(self._is_placed(t._data) for t in wrong)
        nan_came = any(np.isnan(plain(host(t._data))).any() for t in wrong)
        row.came = "placed" if placed else "nan" if nan_came else "inf"
        if not bad_out:
            row.state = "healed"
            return
        row.state = "propagated" if bad_in or given else "origin"
        node = next((t._node for t in outs if t._node is not None), None)
        if node is not None:
            self._worst = weakref.ref(node)
        if placed:
            if nan and not nan_came:
                row.state = "origin"
            elif not nan:
                for t in outs:
                    self._placed[id(t._data)] = weakref.ref(t._data)
        if row.state == "origin" or self.origins == 0:
            self._facts(row, ins, outs)

    def _known_bad(self, d: Any) -> bool:
        return id(d) in self._bad and self._bad[id(d)]() is d

    def _is_placed(self, d: Any) -> bool:
        """Whether what is bad in an array was put there: infinities of an array that no op made, or made from such."""
        known = self._placed.get(id(d))
        if known is not None and known() is d:
            return True
        stepped = self._stepped.get(id(d))
        if stepped is not None and stepped() is d:
            return False
        seen = self._seen.get(id(d))
        return seen is not None and seen[0]() is d and seen[1] is None and not np.isnan(plain(host(d))).any()

    def _facts(self, row: Row, ins: tuple, outs: tuple) -> None:
        """Keep what is around the first bad value of an op's output."""
        if row.state == "origin":
            self.origins += 1
        if self.origins > ORIGINS:
            return
        row.facts = forward_facts(
            row,
            [t._data if isinstance(t, Tensor) else t for t in ins],
            [t._data for t in outs],
            self.bound,
        )

    def _stop_course(self) -> None:
        """Something is bad: what the losses did before is what counts."""
        if self._course is not None:
            self.growth, self._course = self._course.growth(), None

    # ---- backward ---------------------------------------------------------------------------------------------
    def backward(self, run: Any, outputs: tuple) -> None:
        """A pass was prepared: note its loss, then run it."""
        if self._course is not None and mode.run is None and len(outputs) == 1:
            place, loss = where(1), outputs[0]
            if self.waits([loss._data]):
                self.wait(lambda: self._note_loss(place, loss), [loss._data])
            else:
                self._note_loss(place, loss)
        super().backward(run, outputs)

    def _note_loss(self, place: Any, loss: Any) -> None:
        d = loss._data
        if self._course is None:
            return
        if is_there(d) and d.size == 1 and d.dtype.kind == "f":
            self._course.add(place, self.size(d))
        else:
            self._course.note(place, loss)

    def begin(self, run: Any) -> None:
        """A pass is about to start."""
        super().begin(run)
        self._run = run

    def end(self) -> None:
        """A pass is over: if something bad was in it, its graph is kept."""
        super().end()
        run, self._run = self._run, None
        if self.graph is None and self.origins:
            self.graph = linked(list(run.order), self._given_names(), self.namespace)

    def ran(self, row: Row) -> None:
        """Keep the order of the pass.

        Example:
            >>> import vistorch
            >>> from vistorch.debug import Trace
            >>> with Trace() as trace:
            ...     vistorch.ones(1, requires_grad=True).exp().sum().backward()
            >>> [row.name for row in trace.rows], [row.name for row in trace.back_order]
            (['exp', 'sum_all'], ['sum_all', 'exp'])
        """
        self.back_order.append(row)

    def backward_bad(self, row: Row, n: Any, g: Any, sent: list, bad_in: bool, bad_out: bool) -> None:
        """Note a new bad value, and keep what is around it."""
        self._stop_course()
        super().backward_bad(row, n, g, sent, bad_in, bad_out)
        with brought([*(g if isinstance(g, list) else [g]), *[d for _, d in sent]]):
            self._found_back(row, n, g, sent)

    def _found_back(self, row: Row, n: Any, g: Any, sent: list) -> None:
        counted = [counts(d, self.bound) for _, d in sent]
        worst = max(range(len(sent)), key=lambda i: sum(counted[i]), default=None)
        if worst is None:
            row.back_bad = (0, 0, 0, 0, 0)
            return
        row.back_bad = (*counted[worst], sent[worst][1].size)
        if row.back == "origin" and row.state == "propagated" and row.came != "placed":
            if (
                row.came == "nan" or not counted[worst][0]
            ):  # it is what came in forward; a NaN of an infinity is new
                row.back = "propagated"
        if row.back == "origin":
            self.origins += 1
            if self.origins <= ORIGINS:
                row.back_facts = self._back_facts(row, n, g, *sent[worst])

    def _back_facts(self, row: Row, n: Any, g: Any, e: Any, d: Any) -> BadValue:
        some = [x for x in (g if g.__class__ is list else [g]) if x is not None]
        known = None if n.rule is None else Forward([n]).known(n, g)
        return backward_facts(
            row, getattr(n.rule, "inputs", ()), len(n.edges), some, known, self._input_of(n, e), d, self.bound
        )


def _not_finite(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return any(_not_finite(v) for v in value)
    if isinstance(value, complex):
        return not (math.isfinite(value.real) and math.isfinite(value.imag))
    return isinstance(value, float) and not math.isfinite(value)
