"""Walk a pass to its end and back, and write down each step.

Invariant: the stepper stands afterwards where it stood, with every `.grad` as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ...engine.base.numpy_warnings import without_warnings
from ..breaks.kinds import short
from ..device_reads import Answer, Batch, brought, place_of, stays
from ..layers import spoken
from ..line_lookup import Line, line_of
from ..numbers import ask_norm, host, norm_of
from ..source import is_torch
from ..values import Values
from .called import Called
from .numbers import Numbers
from .questions import Asked, thinned
from .record import StepsRecord
from .slopes import ask_numbers
from .walk import Walk
from .words import number, shape

BUDGET = 96_000
Reading = Callable[[Batch], Callable[[], None]]  # asks for more, and gives what writes it down
MOST = 600  # frames of one record
RICH = 150  # steps up to which formulas come with arrays, too, not only as a line
BRIEF = 40  # characters of a formula that stands beside others in one line


def record(
    stepper: Any,
    *,
    title: str = "backward()",
    budget: int = BUDGET,
    at: int | None = None,
    graph: Any = None,
    places: Sequence[int] = (),
    namespace: Mapping[str, Any] | None = None,
) -> StepsRecord:
    """The record of a whole pass. Hooks run once more, as they do each time a step is taken.

    Args:
        stepper: a Stepper, wherever it stands.
        title: what is stepped.
        budget: bytes of all values together; the largest become overviews.
        at: the step that is shown first; by default the one the stepper stands at.
        graph: the record of the graph that is walked, if there is one.
        places: the number of each of the stepper's nodes in that graph, or -1.
        namespace: variables by name, for the names of what went into a node.

    Example:
        >>> import vistorch
        >>> from vistorch.debug import Stepper
        >>> from vistorch.debug.steps import record
        >>> x = vistorch.ones(2, 2, requires_grad=True)
        >>> out = (3 * (x + 2) ** 2).mean()
        >>> print(record(Stepper(out, names={x: "x"}), title="out.backward()").text())
        out.backward(): 4 steps, 1 leaf
        1 of 4  MeanBackward0  1 / 4 = 0.25
        2 of 4  MulBackward0   0.25 · 3 = 0.75
        3 of 4  PowBackward0   0.75 · 2 · 3 = 4.5
        4 of 4  AddBackward0   4.5
                -> x.grad: 0 + 4.5
    """
    made = StepsRecord(title, [], [], [], source=stepper.source.chip, graph=graph, places=list(places))
    return _Builder(stepper, made, budget, at, Called(stepper, graph, places, namespace or {})).build()


class _Builder:
    def __init__(self, stepper: Any, made: StepsRecord, budget: int, at: int | None, called: Called) -> None:
        self.stepper, self.values, self.at = stepper, Values(budget), at
        self.reads = stepper.reads
        self.forward = stepper.source.forward(stepper.nodes, stepper.outputs)
        self.made, self.called = made, called
        self.waiting: set[int] = set()
        self.senders: dict[int, str] = {}
        self.asked: list[tuple[int, Asked]] = []
        self.later: list[Reading] = []  # what is written down of a device's arrays, when they have come
        self.needs: list[Any] = []
        self.far: dict[int, tuple[Any, Any]] = {}  # what large ones amount to, by id

    def build(self) -> StepsRecord:
        stepper, made = self.stepper, self.made
        stood = stepper.position
        is_leaf = self.reads.is_leaf
        first = sum(not is_leaf(n) for n in stepper.ran)
        stepper.first()
        ops = sum(not is_leaf(n) for n in stepper.nodes)
        wanted = first if self.at is None else self.at
        if ops > MOST:
            made.skipped = max(0, min(wanted - MOST // 2, ops - MOST))
        self.rich = ops <= RICH
        with without_warnings():
            try:
                Walk(stepper).to(made.skipped)
            except Exception as exc:
                made.failed = self._why(exc)
            window = self._window(made.skipped)
            made.nodes = [
                self._node(i, n) if n in window else self._brief(i, n) for i, n in enumerate(stepper.nodes)
            ]
            made.done = [stepper.number[n] for n in stepper.ran]
            for i, n in enumerate(stepper.nodes):
                if is_leaf(n):
                    made.start.append([i, self.values.add(self._grad_of(n))])
            for i, g in stepper.pending().items():
                self.waiting.add(i)
                made.waits += [
                    [i, nr, self.values.add(x)] for nr, x in enumerate(g if isinstance(g, list) else [g])
                ]
            try:
                made.whole = made.failed is not None or self._walk()
            except Exception as exc:
                made.failed = self._why(exc)
            with brought(self.needs, *self._asks()) as batch:
                done = [read(batch) for read in self.later]
                batch.send()  # slopes depend on what came in
                for finish in done:
                    finish()
                for i, question in thinned(self.asked):
                    made.frames[i]["question"] = question
            self.later.clear()
            self.needs.clear()
            self.far.clear()
            self.asked.clear()  # what is asked refers to this builder
            made.total = made.skipped + len(made.frames) if made.whole or made.failed else ops
        if stepper.position > stood:
            stepper.take_back_to(stood)
        while stepper.position < stood and stepper.step() is not None:
            pass
        made.values = self.values.close()
        made.at = min(wanted, made.count)
        if made.total > len(made.frames):
            made.says.append(
                f"steps {made.skipped + 1:,} to {made.skipped + len(made.frames):,} of {made.total:,} are kept here"
            )
        if self.values.pooled:
            made.says.append(
                f"{self.values.pooled} of {len(made.values)} tensors are shown as overviews, a pixel for several "
                "values: the page carries the numbers of the small ones"
            )
        if stepper.says:
            made.says.append(stepper.says)
        elif stepper.has_hooks:
            made.says.append("hooks ran while this was recorded, and run each time their step is taken")
        return made

    def _asks(self) -> list[Callable[[Batch], Any]]:
        """What is asked together with the arrays that are needed whole."""
        return [self.values.ask, self._ask_amounts] if self.later else []

    def _ask_amounts(self, batch: Batch) -> None:
        for data, _ in list(self.far.values()):
            self.far[id(data)] = data, ask_amount(batch, data)

    def _when_here(self, read: Reading, arrays: Iterable[Any]) -> None:
        """Write down what is said of arrays: at once where all are on the host, or else when they have come."""
        there = [data_of(a) for a in arrays if a is not None and place_of(data_of(a)) is not None]
        if not there and not self.later:
            read(Batch())()
            return
        self.later.append(read)
        for data in there:
            if stays(data):
                self.far.setdefault(id(data), (data, None))
            else:
                self.needs.append(data)

    def _why(self, exc: Exception) -> str:
        following = self.stepper.next_node
        name = "the next node" if following is None else self._name_of(following)
        return f"the pass ends before {name}: {type(exc).__name__}: {_line(str(exc))}"

    def _walk(self) -> bool:
        """Write down frames until the pass ends, or as many as a record holds; says whether it is the end."""
        stepper, frames = self.stepper, self.made.frames
        while True:
            if len(frames) == MOST and not self._at_leaf(stepper.next_node):
                return stepper.next_node is None
            frame = stepper.step()
            if frame is None:
                return True
            n = frame.node
            leaf = self.reads.is_leaf(n)
            if leaf and frames:
                frames[-1]["grads"].append(self._grad(frame))
                frames[-1]["done"].append(frame.index)
                continue
            frames.append(self._frame(frame))
            if leaf:
                frames[-1]["grads"].append(self._grad(frame))

    # ---- a node -----------------------------------------------------------------------------------------------
    def _name_of(self, n: Any) -> str:
        if self.reads.is_leaf(n):
            return self._label(n) or f"leaf {self.stepper.number[n]}"
        return self.reads.full_name(n)

    def _at_leaf(self, n: Any) -> bool:
        return n is not None and self.reads.is_leaf(n)

    def _label(self, n: Any) -> str:
        """What a leaf is called, "" if nobody knows."""
        return self.stepper.names.get(self.reads.variable(n)) or "" if self.reads.is_leaf(n) else ""

    def _grad_of(self, leaf: Any) -> Any:
        return self.stepper.gradient(self.reads.variable(leaf))

    def _brief(self, i: int, n: Any) -> dict[str, Any]:
        """A node of which no frame is kept."""
        leaf = self.reads.is_leaf(n)
        return {"id": i, "name": self.reads.name(n), "label": self._label(n), "leaf": leaf}

    def _node(self, i: int, n: Any) -> dict[str, Any]:
        reads = self.reads
        leaf, name = reads.is_leaf(n), reads.name(n)
        state: dict[str, Any] = {
            "id": i,
            "name": name,
            "op": "" if leaf else short(name),
            "label": self._label(n),
            "leaf": leaf,
            "module": (path := self.stepper.modules(n) or ""),
            "layer": spoken(path),
            "shape": list(reads.shape(n)),
            "dtype": reads.dtype(n),
            "line": None if leaf else line_state(line_of(reads.place(n))),
            "forward": self.values.add(self.forward.of(n)),
            "formulas": [],
            "to": [],
            "saved": [],
            "bytes": 0,
        }
        if leaf:
            return state
        formulas = reads.formulas(n)
        state["formulas"] = [{"input": f.input, "latex": f.latex, "reads": list(f.reads)} for f in formulas]
        for f, e in zip(formulas, reads.edges(n), strict=True):
            if e is not None:
                state["to"].append([f.input, self.stepper.number.get(e.node), e.output])
        state["saved"] = self._saved(n)
        state["bytes"] = sum(s["bytes"] for s in state["saved"] if not s["alias"])
        return state

    def _saved(self, n: Any) -> list[dict[str, Any]]:
        seen = self.__dict__.setdefault("seen", self._owned())
        out = []
        for name, what, value, memory in self.reads.saved(n):
            if memory is None:
                text = number(value) if isinstance(value, (int, float, complex)) else _line(repr(value), 60)
                out.append(
                    {"name": name, "what": what, "value": None, "text": text, "bytes": 0, "alias": False}
                )
                continue
            alias = memory in seen
            seen.add(memory)
            out.append(
                {
                    "name": name,
                    "what": what,
                    "value": self.values.add(value),
                    "text": shape(value.shape),
                    "bytes": int(value.nbytes),
                    "alias": alias,
                }
            )
        return out

    def _owned(self) -> set:
        reads, source = self.reads, self.stepper.source
        return {source.memory(reads.variable(n)) for n in self.stepper.nodes if reads.is_leaf(n)}

    def _window(self, skipped: int) -> set:
        """The nodes that frames are kept of, and all leaves."""
        leaves = [n for n in self.stepper.nodes if self.reads.is_leaf(n)]
        ops = [n for n in self.stepper.nodes if not self.reads.is_leaf(n)]
        return {*ops[skipped : skipped + MOST], *leaves}

    # ---- a step -----------------------------------------------------------------------------------------------
    def _frame(self, frame: Any) -> dict[str, Any]:
        incoming = frame.incoming if frame.hooked is None else frame.hooked
        leaf, vjp = self.reads.is_leaf(frame.node), self.stepper.source.vjp
        known = None if leaf else self.forward.known(frame.node, incoming)
        names = {} if leaf else self.called.inputs(frame.node, known)
        outgoing = [
            {
                "input": flow.input,
                "to": flow.to,
                "output": flow.output,
                "gradient": self.values.add(flow.gradient),
                "before": self.values.add(flow.before),
                "after": self.values.add(flow.after),
                "sum": "",
                "numbers": None,
            }
            for flow in frame.outgoing
        ]
        questioned = self.rich and not leaf and not self.called.rides(frame.index)
        place, source = len(self.made.frames), self.senders.get(frame.index, "")
        for flow in frame.outgoing:
            if flow.to is not None:
                self.senders.setdefault(flow.to, self.called.node(frame.index))
        self.waiting.discard(frame.index)
        now = {flow.to for flow in frame.outgoing if flow.to is not None} - self.waiting
        self.waiting |= now
        state = {
            "node": frame.index,
            "says": "",
            "incoming": self._each(frame.incoming),
            "hooked": None
            if frame.hooked is None or _same(frame.hooked, frame.incoming)
            else self._each(frame.hooked),
            "outgoing": outgoing,
            "grads": [],
            "done": [frame.index],
            "pending": sorted(now),
            "question": None,
        }

        def read(batch: Batch) -> Callable[[], None]:
            asked = None if known is None else ask_numbers(batch, frame, known, incoming, vjp)

            def finish() -> None:
                written = {} if asked is None else asked()
                for numbers in written.values():
                    for kind, part in numbers.parts:
                        if kind == "array" and part["role"] == "forward":
                            part["input"] = names.get(part["input"], "")
                self._say(state, frame, written)
                if questioned:
                    about = (written, source, names, self.called.node, self._is_leaf)
                    self.asked.append((place, Asked(frame, incoming, known, *about)))

            return finish

        flows = [g for flow in frame.outgoing for g in (flow.gradient, flow.before)]
        formula = () if known is None else (*known.inputs.values(), *known.outputs.values())
        came = incoming if isinstance(incoming, list) else [incoming]
        self._when_here(read, [*flows, *came, *[v for v in formula if hasattr(v, "shape")]])
        return state

    def _say(self, state: dict[str, Any], frame: Any, written: dict[str, Numbers]) -> None:
        """What a step did, in words and numbers."""
        says = []
        for flow, entry in zip(frame.outgoing, state["outgoing"], strict=True):
            numbers = written.get(flow.input)
            amounts = self._amount(flow.gradient)
            if numbers is not None and (len(frame.outgoing) == 1 or len(numbers.text) <= BRIEF):
                amounts = numbers.text
            says.append(amounts if len(frame.outgoing) == 1 else f"{flow.input}: {amounts}")
            entry["sum"] = self._summed(flow.before, flow.gradient)
            entry["numbers"] = None if numbers is None else numbers.wire(self.rich)
        state["says"] = "; ".join(says)

    def _is_leaf(self, number: int) -> bool:
        return self.reads.is_leaf(self.stepper.nodes[number])

    def _each(self, g: Any) -> list[int | None]:
        return [self.values.add(x) for x in (g if isinstance(g, list) else [g])]

    def _grad(self, frame: Any) -> dict[str, Any]:
        """What a leaf received, and its `.grad` before and after."""
        self.waiting.discard(frame.index)
        before, _ = frame.accumulated or (None, None)
        added = frame.incoming if frame.hooked is None else frame.hooked
        state = {
            "node": frame.index,
            "before": self.values.add(before if frame.accumulated else self._grad_of(frame.node)),
            "after": self.values.add(self._grad_of(frame.node)),  # hooks have had their say
            "sum": "nothing is accumulated",
        }
        if frame.accumulated:

            def finish() -> None:
                state["sum"] = self._summed(before, added)

            self._when_here(lambda batch: finish, [before, added])
        return state

    def _amount(self, value: Any) -> str:
        """An array in a few characters: its value where all entries are the same, else its norm and shape."""
        far = self.far.get(id(data_of(value)))
        return amount(value) if far is None else far[1].value

    def _summed(self, before: Any, added: Any) -> str:
        """What was accumulated: values where all entries are the same, else norms."""
        first = "0" if before is None else self._amount(before)
        more = self._amount(added)
        text = f"{_brief(first)} + {_brief(more)}"
        if before is not None and before.ndim and "norm" in first + more:
            return f"{text} (norms)"
        return text + (" (norm)" if more.startswith("norm") else "")


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, list) or isinstance(b, list):
        return (
            isinstance(a, list)
            and isinstance(b, list)
            and all(x is y or _same(x, y) for x, y in zip(a, b, strict=True))
        )
    return a is b or (a is not None and b is not None and hasattr(a, "_data") and a._data is b._data)


def data_of(value: Any) -> Any:
    """The array of a tensor of the engine; anything else as it is."""
    return value if is_torch(value) else getattr(value, "_data", value)


def amount(value: Any) -> str:
    """An array in a few characters: its value where all entries are the same, else its norm and shape."""
    d = host(value)
    if d.size and (d.size == 1 or bool((d == d.reshape(-1)[0]).all())):
        return number(d.reshape(-1)[0].item())
    return f"norm {number(norm_of(d)) if d.size else 0}, {shape(d.shape)}"


def ask_amount(batch: Batch, data: Any) -> Answer:
    """The same of a large array of a device, as part of a batch.

    Args:
        batch: what brings it.
        data: the array.
    """
    with place_of(data):
        norm, flat = ask_norm(batch, data), data.reshape(-1)

        def read(parts: list) -> str:
            alike, first = parts
            if bool(alike):
                return number(first.reshape(-1)[0].item())
            return f"norm {number(norm.value)}, {shape(data.shape)}"

        return batch.ask(data, [(flat == flat[:1]).all(), flat[:1]], read)


def _brief(amount: str) -> str:
    return amount.removeprefix("norm ").partition(",")[0]


def line_state(line: Line | None) -> dict[str, Any] | None:
    """A line as records send it."""
    if line is None:
        return None
    return {"text": line.text, "file": line.path, "line": line.line, "cell": line.cell}


def _line(text: str, most: int = 200) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 1] + "…"
