"""Graphs with a kernel: groups that open in any order, values of a node, a node against finite differences.

A view knows nothing of an engine: what it is asked about nodes it asks `inside`. Invariant: a node or group that the
page names is looked up in the record before anything is asked about it.
"""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

from .._frame import bundles, wire
from .._frame.display import Display
from .._frame.live import Live, Refused, whole
from .._frame.tiles import Tiles


class Inside(Protocol):
    """What a view asks about nodes; `LookupError` with a sentence where there is nothing to answer."""

    def look(self, node: int, /) -> Any:
        """What is seen of a node: `views`, displays with the arrays behind each, and `numbers`, (input, text)."""
        ...

    def check(self, node: int, /) -> list[tuple[bool, str]]:
        """What each witness says of a node's gradient: whether it is right, and a line."""
        ...


class NodeView(Live):
    """What views of graphs share.

    Args:
        display: the display of a record.
        graph: the graph record whose groups open; None where there is none.
        nodes: how many nodes the page can name.
        inside: what is asked about nodes.
    """

    answers: ClassVar[dict[str, str]] = {
        "fold": "_fold",
        "look": "_look",
        "check": "_check",
        "tile": "_tile",
        "here": "_here",
        **Live.answers,
    }

    def __init__(self, display: Display, graph: Any, nodes: int, inside: Inside) -> None:
        self.graph, self.nodes, self.inside = graph, nodes, inside
        self.tiles: list[Tiles] = []
        self.answered = False
        super().__init__(display)

    def ask(self) -> None:
        """Ask the pages whether one is open: `answered` is set when one says so."""
        self.send({"type": "there"})

    def _here(self, message: dict[str, Any]) -> None:
        self.answered = True

    def _fold(self, message: dict[str, Any]) -> None:
        from ...debug.graph import layout

        number, asked = whole(message.get("id")), message.get("open")
        if self.graph is None or type(asked) is not list:
            raise Refused(f"expected a list of groups, got {str(asked)[:40]!r}")
        groups = {whole(g, 0, max(0, len(self.graph.groups) - 1)) for g in asked[: len(self.graph.groups)]}
        record = self.graph.fold()
        for group in sorted(groups & set(self.graph.tree.frames)):
            record = record.unfold(group)
        self.send({"type": "folded", "id": number}, [wire.pack("layout", layout(record))])

    def _node(self, message: dict[str, Any]) -> tuple[int, int]:
        return whole(message.get("id")), whole(message.get("node"), 0, max(0, self.nodes - 1))

    def _look(self, message: dict[str, Any]) -> None:
        number, node = self._node(message)
        try:
            found = self.inside.look(node)
        except LookupError as why:
            self.send({"type": "looked", "id": number, "why": _sentence(why)})
            return
        self.tiles = [Tiles(shown.state()["items"], sources) for shown, sources in found.views]
        page = [bundles.source("array").read_bytes()] if message.get("page") is True else []
        facts = {"views": len(found.views), "numbers": found.numbers}
        self.send(
            {"type": "looked", "id": number, **facts}, [shown.payload() for shown, _ in found.views] + page
        )

    def _check(self, message: dict[str, Any]) -> None:
        number, node = self._node(message)
        try:
            lines = self.inside.check(node)
        except LookupError as why:
            lines = [(False, _sentence(why))]
        said = {"ok": all(good for good, _ in lines), "text": "; ".join(text for _, text in lines)}
        self.send({"type": "checked", "id": number, **said, "lines": [list(line) for line in lines]})

    def _tile(self, message: dict[str, Any]) -> None:
        if not self.tiles:
            raise Refused("no node is looked at")
        view = whole(message.get("view", 0), 0, len(self.tiles) - 1)
        content, buffers = self.tiles[view].answer(message)
        self.send({**content, "view": view}, buffers)


class GraphView(NodeView):
    """A backward graph whose nodes can be asked.

    Args:
        display: the display of a graph record.
        inside: what is asked about nodes.
    """

    def __init__(self, display: Display, inside: Inside) -> None:
        super().__init__(display, display.record, len(display.record.nodes), inside)


def _sentence(why: LookupError) -> str:
    return str(why.args[0]) if why.args else "nothing is known of it"
