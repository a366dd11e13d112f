"""A backward graph as a plain record: nodes, edges, groups, which groups are open, and nothing of an engine.

Nodes stand in the order in which a backward pass runs them: the root first, so an edge leads to a later node. A
record is never changed: to open or close a group makes another one that shares the rest.

What `wire()` gives (kind "graph"); every text is data, every `[i]` into `strings` is one:

- `title`, `text`, `name`: as for all records; `source`: the library whose graph it is; `meta`: short facts for the
  head; `says`: sentences about the whole.
- `strings`: list of texts. `shapes`: list of lists. `formulas`: list of lists of [input, LaTeX].
- `nodes`: columns, one entry a node: `kind` u8 (0 op, 1 parameter, 2 input, 3 constant, 4 the op that failed), `step`
  i32 (its number among the ops, 0 for others), `group` i32 (-1: none), `shape` i32 (number in `shapes`), `saved` and
  `shared` i64 (bytes kept for backward; those that another node counts), `grad` f64 (norm of a leaf's `.grad`, nan if
  not known), `formulas` i32, and numbers in `strings`: `op`, `name` (PyTorch's grad_fn name), `label` (variable or
  parameter), `bold` and `plain` (what stands in its box, cut to its width), `dtype`, `device`, `line`, `says`, `does`
  (a sentence: what the op computes), `chip` (not empty: a view that has no box, this sign rides on the
  way to its parameter).
  Where a trace or an account of memory has looked: `mark` u8 (0 nothing or clean, 1 healed, 2 propagated, 3 origin of a
  bad value) and `row` i32 (its row there, -1).
- `kept`: columns `node` i32, `name` (string), `shape`, `bytes` i64, `alias` u8: what each node saved.
- `edges`: columns `source`, `target` i32 (nodes), `input` (string: which input of the op), `output` i32 (which output
  of the target), `shape` i32, `norm` f64 (of the gradient that flowed; nan if not known), `dead` u8 (none flows).
- `groups`: list of {name, path, kind, parent, use, note, ops, parameters, saved, synthetic}.
- `roots`: list of {node, text}: what stands above the first boxes. `failed`: number of the node that failed, or -1.
- `scale`: [low, high], base 10 logarithms of the least and the largest norm on the scale, or null. An edge's width:
  see `width_of` in `labels.py`.
- `stages`: i32, numbers of layouts: from everything closed to what is open unless someone says otherwise, each with all
  of the one before it open, so that a page can show the finest that it can show legibly.
- `layouts`: list; the first is what the record has open, then the stages, then what one toggle from there leads to,
  then two, as far as a budget of bytes goes; everything open is among them where it has at most 400 boxes. A page finds
  a layout by its `open`. Each: {`open`: i32 groups that are open, sorted; `width`, `height`; `boxes` i32 (n, 6): what
  (0 node, 1 closed group, 2 root), its number, x, y, width, height; `pills` i32 (n, 7): node, row of the box it stands
  beside, the view between the two or -1, x, y, width, height; `frames` i32 (n, 5): group, x, y, width, height; `edges`
  i32 (n, 5): rows of the two boxes, number of the first edge it stands for (-1 from a root), how many it stands for,
  first of its `points`; `norms` f64 of these, `points` i32 (n, 2)}. Points run to the next edge's first. How a path
  is drawn: see `layout/model.py`.

Search: a node is found by its `op`, `name`, `label`, path of its group, `line` and shape, lower case.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from .schema import State
from .state import state
from .words import shape_text

if TYPE_CHECKING:
    from .scene import Scene


@dataclass(frozen=True)
class Kept:
    """One value that a node keeps for backward; an alias is memory that another node, or a leaf, has already."""

    name: str
    shape: tuple[int, ...]
    bytes: int
    alias: bool = False


@dataclass(frozen=True)
class GraphNode:
    """One op, leaf or constant.

    Args:
        kind: one of `words.KINDS`.
        op: short name, "Addmm".
        name: what PyTorch calls the grad_fn, "AddmmBackward0".
        label: name of the parameter or variable, "" if it has none.
        step: its number among the ops in the order of the pass, from 1; 0 for others.
        group: number of its group, -1 if it has none.
        saved: bytes it keeps for backward that no node before it in the forward pass keeps.
        shared: bytes it keeps that are counted elsewhere.
        grad: norm of a leaf's gradient.
        value: that gradient with its sign, where it is one real number.
        chip: set for a view of a parameter that rides on the way to it: the sign that is drawn there.
        says: a sentence about it.
        mark: one of `words.MARKS`: what a trace found here.
        row: number of its row in the record that goes with the graph, -1 if there is none.
    """

    kind: str
    op: str
    name: str = ""
    label: str = ""
    shape: tuple[int, ...] = ()
    dtype: str = ""
    device: str = ""
    step: int = 0
    group: int = -1
    saved: int = 0
    shared: int = 0
    line: str = ""
    formulas: tuple[tuple[str, str], ...] = ()
    kept: tuple[Kept, ...] = ()
    grad: float | None = None
    chip: str = ""
    says: str = ""
    mark: str = ""
    row: int = -1
    value: float | None = None


@dataclass(frozen=True)
class GraphEdge:
    """The way of a gradient: from a node, for its input of that name, to the node (its output number) that made it.

    A dead one is the way to an input that no gradient reaches. `norm` is that of what flowed; `value` what flowed, with
    its sign, where it was one real number.
    """

    source: int
    target: int
    shape: tuple[int, ...] = ()
    input: str = ""
    output: int = 0
    norm: float | None = None
    dead: bool = False
    value: float | None = None


@dataclass(frozen=True)
class GraphGroup:
    """A call of a module, or (synthetic) a run of nodes that would be too many for one picture.

    `name` is what it is called below its parent, `path` the whole path as in `named_modules`, `kind` the module's
    class, `size` its size as "84 → 10", `note` what is said beside the name, such as "2nd use", `said` its whole name
    as code writes it, "net.head[5]".
    """

    name: str
    path: str = ""
    kind: str = ""
    parent: int = -1
    use: int = 1
    note: str = ""
    synthetic: bool = False
    size: str = ""
    said: str = ""

    @property
    def title(self) -> str:
        """Name and note."""
        return f"{self.name} ({self.note})" if self.note else self.name


@dataclass(frozen=True)
class GraphRecord:
    """The graph that `backward()` will run, or as much of it as there is.

    Args:
        title: what is shown, "loss.backward()".
        nodes: in the order of the pass.
        edges: from earlier to later nodes.
        groups: parents before their children.
        roots: (node, text) of the tensors it starts from.
        says: sentences about the whole.
        open: the groups that are open.
        failed: number of the node that failed, -1 if none did.
        source: the library whose graph it is, as pages call it.
    """

    kind: ClassVar[str] = "graph"
    replaces_text: ClassVar[bool] = True  # a page of it says all that the text does
    title: str
    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    groups: tuple[GraphGroup, ...] = ()
    roots: tuple[tuple[int, str], ...] = ()
    says: tuple[str, ...] = ()
    open: frozenset[int] = field(default_factory=frozenset)
    failed: int = -1
    source: str = "vistorch"

    @cached_property
    def tree(self) -> Any:
        """The groups as a tree with their counts; the same for every fold state."""
        from .folding import Tree

        return Tree(self)

    def _with(self, opened: Iterable[int]) -> GraphRecord:
        made = replace(self, open=frozenset(opened))
        made.__dict__["tree"] = self.tree  # shared, because it does not depend on what is open
        return made

    def unfold(self, group: int | str | None = None) -> GraphRecord:
        """The record with a group open, and those around it; with all open if none is named.

        Args:
            group: its number or its path.
        """
        if group is None:
            return self._with(self.tree.frames)
        number = self.find_group(group)
        return self._with(self.open | {number, *self.tree.around[number]})

    def fold(self, group: int | str | None = None) -> GraphRecord:
        """The record with a group closed, and those inside it; with all closed if none is named.

        Args:
            group: its number or its path.
        """
        if group is None:
            return self._with(())
        number = self.find_group(group)
        return self._with(g for g in self.open if g != number and number not in self.tree.around[g])

    def toggle(self, group: int | str) -> GraphRecord:
        """The record with a group open that was closed, or the other way round."""
        number = self.find_group(group)
        return self.fold(number) if number in self.open else self.unfold(number)

    def find_group(self, group: int | str) -> int:
        """The number of a group that can be opened, by number or by path."""
        if isinstance(group, str):
            number = next((g for g in self.tree.frames if group in self.tree.paths(g)), None)
        else:
            number = group if group in self.tree.around else None
        if number is None:
            known = ", ".join([repr(self.groups[g].path) for g in sorted(self.tree.frames)][:12])
            raise ValueError(f"no such group: {group!r}; it has {known or 'none'}")
        return number

    def search_text(self, node: int) -> str:
        """What a node is found by."""
        n = self.nodes[node]
        path = self.groups[n.group].path if n.group >= 0 else ""
        layer = self.tree.layer(node)
        return " ".join([n.op, n.name, n.label, path, layer, n.line, shape_text(n.shape)]).lower()

    def find(self, query: str) -> list[int]:
        """The nodes whose search text has all words of a query.

        Args:
            query: words with spaces between.
        """
        words = query.lower().split()
        if not words:
            return []
        return [i for i in range(len(self.nodes)) if all(word in self.search_text(i) for word in words)]

    @cached_property
    def scene(self) -> Scene:
        """The picture of the groups that are open: boxes, frames and paths with their places."""
        from .scene import Scene

        return Scene(self)

    @property
    def ops(self) -> int:
        """How many ops there are, views that ride on the way to a parameter not counted."""
        return sum(n.kind == "op" and not n.chip for n in self.nodes)

    @property
    def meta(self) -> tuple[str, ...]:
        """Short facts about the whole."""
        from .words import bytes_text, count_text

        parameters = sum(n.kind == "parameter" for n in self.nodes)
        saved = sum(n.saved for n in self.nodes)
        facts = [count_text(self.ops, "op")]
        facts += [count_text(parameters, "parameter")] if parameters else []
        facts += [f"saved {bytes_text(saved)}"] if saved else []
        return tuple(facts)

    def text(self) -> str:
        """The graph as an aligned tree, closed groups in one line."""
        from .text import text

        return text(self)

    def wire(self) -> State:
        """The state, as it travels."""
        return state(self)
