"""Saved tensors over time: what each node keeps for backward, from when until when, and the peak.

Invariant: memory that several nodes keep counts once, while any of them keeps it; what a leaf owns does not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypedDict, cast
from weakref import ref as ref_to

import numpy as np

from ..engine.backward.backward_pass import order_of
from ..engine.base.events import where
from ..engine.core.graph import Leaf, Out, edge
from ..engine.core.tensor import Tensor
from .backward_driver import BackwardDriver
from .breaks.modules import path_of
from .graph import schema as graphs
from .graph.linked import linked, travelling
from .layers import about, spoken
from .layers import layer as named
from .line_lookup import line_of
from .lines import note_of
from .memory import array_of, root_of
from .steps.words import columns
from .trace.recorder import Inside
from .wire_types import Array1

SHOWN = 12
ROWS = 400  # that travel


class Row(TypedDict):
    """What one node keeps."""

    id: int
    name: str
    where: str
    module: str
    layer: str  # its class and size
    device: str
    bytes: int  # what this node alone brought
    shared: int  # what it keeps of memory that another row counts
    shapes: list[list[int]]
    made: int  # ticks
    freed: int | None
    at_peak: bool


class Peak(TypedDict):
    """When most is kept."""

    tick: int
    bytes: int
    what: str
    where: str


class State(TypedDict):
    """What travels; a tick is one op forward or one node backward."""

    title: str
    report: str
    peak: Peak
    ticks: Array1
    bytes: Array1  # alive after each tick
    devices: dict[str, Array1]  # the same of each, where there are several
    backward: list[tuple[int, int]]  # first and last tick
    leaves: int  # bytes that leaves own of what is saved
    opaque: int  # how many saved values only an unpack hook knows
    says: list[str]
    nodes: int  # how many kept something
    alive: Array1  # how many do after each tick
    rows: list[Row]  # at most ROWS, the largest first
    graph: graphs.State | None  # its nodes have the `id` of their row
    source: str  # whose nodes these are: "vistorch", "PyTorch 2.13"


@dataclass
class MemoryRecord:
    """What was kept for backward, over time.

    Example:
        >>> import vistorch
        >>> from vistorch.debug import Timeline
        >>> with Timeline("a run") as memory:
        ...     vistorch.ones(1000, requires_grad=True).exp().sum().backward()
        >>> record = memory.record()
        >>> print(record.text().splitlines()[0])
        a run: at most 4000 B saved for backward after ExpBackward0
        >>> state = record.wire()  # dicts, lists, numbers, text and arrays: what a page shows
        >>> state["alive"], [row["name"] for row in state["rows"]]  # how many nodes keep something, tick by tick
        (array([0, 1, 1, 1, 0], dtype=int32), ['ExpBackward0'])
    """

    kind: ClassVar[str] = "memory"
    replaces_text: ClassVar[bool] = True  # the page says all of it, and copies it

    title: str
    ticks: np.ndarray
    bytes: np.ndarray
    rows: list[dict[str, Any]]
    peak: dict[str, Any]
    backward: list[list[int]] = field(default_factory=list)
    devices: dict[str, np.ndarray] = field(default_factory=dict)
    leaves: int = 0
    opaque: int = 0
    says: list[str] = field(default_factory=list)
    graph: Any = None
    source: str = "vistorch"

    def text(self) -> str:
        """The peak, and the nodes that keep most."""
        what = f" after {self.peak['what']}" if self.peak["what"] else ""
        out = [f"{self.title}: at most {size(self.peak['bytes'])} saved for backward{what}"]
        table: list[tuple[str, ...]] = []
        for r in self.rows[:SHOWN]:
            bytes_kept = size(r["bytes"]) if r["bytes"] or not r["shared"] else f"shares {size(r['shared'])}"
            shapes = ", ".join(" × ".join(map(str, s)) or "a number" for s in r["shapes"])
            table.append((bytes_kept, named(r["module"], r["layer"]), r["name"], shapes, r["where"]))
        wide = max((len(row[0]) for row in table), default=0)
        out += columns([(f"{row[0]:>{wide}}", *row[1:]) for row in table])
        if len(self.rows) > SHOWN:
            out.append(f"… and {len(self.rows) - SHOWN} more nodes")
        return "\n".join([*out, *self.says])

    def wire(self) -> State:
        """As it travels."""
        change = np.zeros(len(self.ticks) + 1, np.int32)
        for r in self.rows:
            change[r["made"]] += 1
            if r["freed"] is not None:
                change[r["freed"]] -= 1
        state = {
            **vars(self),
            "rows": self.rows[:ROWS],
            "graph": travelling(self.graph),
            "nodes": len(self.rows),
            "alive": np.cumsum(change[:-1], dtype=np.int32),
            "report": self.text(),
        }
        return cast("State", state)


def size(n: float) -> str:
    """Bytes as people read them."""
    for unit in ("B", "kB", "MB"):
        if n < 1000 or (unit == "B" and n < 10_000):
            return f"{n:.0f} B" if unit == "B" else f"{n:.3g} {unit}"
        n /= 1000
    return f"{n:.3g} GB"


class Account:
    """Who keeps which memory, tick by tick."""

    def __init__(self) -> None:
        self.tick = 0
        self.rows: list[dict[str, Any]] = []
        self.live: dict[str, int] = {}
        self.series: list[tuple[int, str, int]] = []  # tick, device, bytes alive there
        self.owned: set = set()
        self.owned_bytes: dict[Any, int] = {}
        self.opaque = 0
        self.top, self.top_tick, self.what, self.where = 0, 0, "", ""
        self._holders: dict[Any, tuple[int, str, set]] = {}
        self._kept: dict[Any, tuple[int, list]] = {}  # by node's key: its row, the memories it keeps

    def hold(
        self,
        key: Any,
        name: str,
        device: str,
        saved: Iterable[tuple[Any, int, Iterable[int]]],
        place: str,
        module: str,
        layer: str = "",
    ) -> None:
        """A node was made.

        Args:
            key: what tells the node from others that live.
            name: its class.
            device: where it computed.
            saved: of each value that it keeps what tells its memory, the bytes of that, and the shape of the value.
            place: the line that made it.
            module: the layer it belongs to.
            layer: the class and size of that.
        """
        mine: dict[Any, int] = {}
        shapes = []
        for root, nbytes, sides in saved:
            if root in self.owned:
                self.owned_bytes[root] = nbytes
                continue
            mine[root] = nbytes
            shapes.append(list(sides))
        if not mine:
            return
        new = {r: n for r, n in mine.items() if r not in self._holders}
        for r, n in mine.items():
            self._holders.setdefault(r, (n, device, set()))[2].add(key)
        self._kept[key] = len(self.rows), list(mine)
        self.rows.append(
            {
                "id": len(self.rows),
                "name": name,
                "where": place,
                "module": module,
                "layer": layer,
                "device": device,
                "bytes": sum(new.values()),
                "shared": sum(n for r, n in mine.items() if r not in new),
                "shapes": shapes,
                "made": self.tick,
                "freed": None,
                "at_peak": False,
            }
        )
        self._change(device, sum(new.values()), name, place)

    def row_of(self, key: Any) -> int:
        """The row of a node, -1 if it keeps nothing."""
        return self._kept.get(key, (-1,))[0]

    def release(self, key: Any) -> None:
        """A node let go of what it saved."""
        if key not in self._kept:
            return
        row, roots = self._kept.pop(key)
        self.rows[row]["freed"] = self.tick
        for r in roots:
            n, device, holders = self._holders[r]
            holders.discard(key)
            if not holders:
                del self._holders[r]
                self._change(device, -n, "", "")

    def _change(self, device: str, n: int, what: str, place: str) -> None:
        self.live[device] = self.live.get(device, 0) + n
        self.series.append((self.tick, device, self.live[device]))
        total = sum(self.live.values())
        if total > self.top:
            self.top, self.top_tick, self.what, self.where = total, self.tick, what, place

    def record(self, title: str, backward: list[list[int]]) -> MemoryRecord:
        """What was seen."""
        devices = sorted({d for _, d, _ in self.series})
        each = {d: np.zeros(self.tick + 1) for d in devices}
        for d in devices:
            state = [(t, n) for t, at, n in self.series if at == d]
            for (t, n), (end, _) in zip(state, [*state[1:], (self.tick + 1, 0)], strict=True):
                each[d][t:end] = n
        total = sum(each.values()) if each else np.zeros(self.tick + 1)
        rows = [dict(r) for r in self.rows]
        for r in rows:
            r["at_peak"] = r["made"] <= self.top_tick and (r["freed"] is None or r["freed"] > self.top_tick)
        rows.sort(key=lambda r: (-r["bytes"], -r["shared"], r["made"]))
        made = MemoryRecord(
            title,
            np.arange(self.tick + 1, dtype=np.int32),
            np.asarray(total, np.float64),
            rows,
            {"tick": self.top_tick, "bytes": self.top, "what": self.what, "where": self.where},
            backward,
            each if len(each) > 1 else {},
            sum(self.owned_bytes.values()),
            self.opaque,
        )
        if self.opaque:
            made.says.append(
                f"{self.opaque} saved values were packed by a hook, so nobody knows how large they are"
            )
        return made


def _hold(account: Account, node: Any, place: str, module: str, layer: str = "") -> None:
    """Account for a node of the engine."""
    saved = []
    for value in node.saved or ():
        found = array_of(value)
        if found is None:
            account.opaque += hasattr(value, "unpack")
        else:
            saved.append((*root_of(found), found.shape))
    account.hold(id(node), type(node).__name__, str(node.place.device), saved, place, module, layer)


class Timeline(BackwardDriver):
    """Listens to a run and accounts for what its nodes keep.

    Args:
        title: what the run is called.
        namespace: variables by name, for the names on the graph.

    Example:
        >>> import vistorch
        >>> from vistorch.debug.timeline import Timeline
        >>> x = vistorch.ones(1000, requires_grad=True)
        >>> with Timeline() as memory:
        ...     x.exp().sin().sum().backward()
        >>> record = memory.record()
        >>> record.peak["bytes"], record.bytes.tolist()
        (4000, [0.0, 4000.0, 4000.0, 4000.0, 4000.0, 4000.0, 0.0])
    """

    def __init__(self, title: str = "memory", namespace: Mapping[str, Any] | None = None) -> None:
        self.title = title
        self.account = Account()
        self._nodes: dict[int, Any] = {}
        self._here = Inside()
        self._passes: list[list[int]] = []
        self._frees = True
        self.namespace = namespace
        self._graph: Any = None
        self._drawn = 0  # bytes that were kept when it was

    def phase(self, name: str, subject: Any, *details: Any) -> None:
        """Follow modules.

        Example:
            >>> import vistorch
            >>> from vistorch.debug import Timeline
            >>> net = vistorch.nn.Sequential(vistorch.nn.Linear(2, 50), vistorch.nn.Tanh())
            >>> with Timeline() as memory:
            ...     y = net(vistorch.ones(4, 2))
            >>> [(row["module"], row["bytes"]) for row in memory.record().rows]
            [('[1]', 800), ('[0]', 32)]
        """
        if name == "forward":
            self._here.stack.append(subject)
        elif name == "forward_end" and self._here.stack:
            self._here.stack.pop()

    def op(self, rule: Any, ins: tuple, consts: tuple, outs: tuple) -> None:
        """A node may have been made.

        Example:
            >>> import vistorch
            >>> from vistorch.debug import Timeline
            >>> x = vistorch.ones(1000, requires_grad=True)
            >>> with Timeline() as memory:
            ...     y = x.exp().neg()  # a node that keeps its result, and one that keeps nothing
            >>> memory.record().bytes.tolist()
            [0.0, 4000.0, 4000.0]
        """
        node = next((t._node for t in outs if t._node is not None), None)
        if node is None:
            return
        node = node.node if node.__class__ is Out else node
        account = self.account
        for t in ins:
            if isinstance(t, Tensor) and t._rg and t._node is None:
                account.owned.add(root_of(t._data)[0])
        account.tick += 1
        key = id(node)
        if key in self._nodes:
            return
        self._nodes[key] = ref_to(node, lambda _, key=key: self._gone(key))
        module = layer = ""
        stack = self._here.stack
        if stack and (path := path_of(stack[0], stack[-1])):
            module, layer = spoken(path, stack[0]), about(stack[-1])
        _hold(account, node, str(line_of(where(2)) or ""), module, layer)

    def _gone(self, key: int) -> None:
        """A node is no more, or has let go of what it saved."""
        self._nodes.pop(key, None)
        self.account.release(key)

    def begin(self, run: Any) -> None:
        """A pass is about to start."""
        self._frees = run.free
        if self.account.top > self._drawn:  # the graph of the pass that begins where most is kept
            self._drawn = self.account.top
            self._graph = linked(list(run.order), None, self.namespace, lambda n: self.account.row_of(id(n)))
        self._passes.append([self.account.tick + 1, self.account.tick + 1])

    def step(self, n: Any, entry: Any, pending: dict) -> None:
        """A node has run, and lets go of what it saved."""
        if n.__class__ is Leaf:
            return
        self.account.tick += 1
        self._passes[-1][1] = self.account.tick
        if self._frees:
            self.account.release(id(n))

    def record(self) -> MemoryRecord:
        """What was seen so far."""
        made = self.account.record(self.title, [list(p) for p in self._passes])
        made.graph = self._graph
        return made


def memory(
    tensors: Tensor | Iterable[Tensor], title: str = "memory", namespace: Mapping[str, Any] | None = None
) -> MemoryRecord:
    """What the graph below tensors keeps, as if it were made now and then run backward.

    Args:
        tensors: results with history.
        title: what is shown.
        namespace: variables by name, for the names on the graph.

    Example:
        >>> import vistorch
        >>> from vistorch.debug.timeline import memory
        >>> x = vistorch.ones(1000, requires_grad=True)
        >>> y = x.exp()
        >>> print(memory((y * y).sum()).text())
        memory: at most 4000 B saved for backward after ExpBackward0
               4000 B  ExpBackward0  1000
        shares 4000 B  MulBackward0  1000, 1000
    """
    given = (tensors,) if isinstance(tensors, Tensor) else tuple(tensors)
    for i, t in enumerate(given):
        if not t.requires_grad:
            raise ValueError(
                f"tensor {i} has no history: it was computed from nothing that requires a gradient"
            )
    order = order_of(list(dict.fromkeys(edge(t) for t in given)))
    nodes = [n for n in order if n.__class__ is not Leaf and n.__class__ is not Out]
    account = Account()
    account.owned = {root_of(n.variable._data)[0] for n in order if n.__class__ is Leaf}
    for n in reversed(nodes):
        account.tick += 1
        note = note_of(n)
        module, layer = note.get("module"), ""
        if module is None and "row" in note:
            module, layer = note["row"].module, note["row"].layer
            module = note["row"].called or module
        _hold(account, n, str(line_of(note.get("line")) or ""), spoken(module or ""), layer)
    first = account.tick + 1
    graph = linked(order, None, namespace, lambda n: account.row_of(id(n)))
    for n in nodes:
        account.tick += 1
        account.release(id(n))
    made = account.record(title, [[first, account.tick]] if nodes else [])
    made.graph = graph
    if graph is not None:
        name_layers(made.rows, graph)
    return made


def name_layers(rows: list[dict[str, Any]], graph: Any) -> None:
    """Name the layers of rows as the graph does, where no listener did.

    Args:
        rows: of a record.
        graph: the graph that goes with it.
    """
    numbered = {r["id"]: r for r in rows}
    for node in graph.nodes:
        row = numbered.get(node.row)
        if row is None or node.group < 0 or row["layer"]:
            continue
        group = graph.groups[node.group]
        if group.path and not group.synthetic and row["module"] in ("", spoken(group.path)):
            row["module"] = group.said or spoken(group.path)
            row["layer"] = named("", group.kind, group.size)
