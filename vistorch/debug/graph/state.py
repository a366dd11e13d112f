"""The state of a graph record for a page: columns of numbers with one table of texts; `record.py` says what is in it.

Invariant: what a page needs to open and close groups without a kernel is in `layouts`, as far as a budget goes that
counts bytes and boxes and never time, so that the same record gives the same state.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from ..meaning import meaning_of
from .folding import stages
from .labels import fitted, labels_of, scale_of, sizes_of
from .schema import State
from .words import KINDS, MARKS, count_text

BYTES = 64_000  # of all layouts before they are packed
BOXES = 1200  # in all of them, beside the first
WHOLE = 400  # boxes: up to here everything open is among the layouts


class _Table:
    """Values met so far, each with its number."""

    def __init__(self) -> None:
        self.number: dict[Any, int] = {}

    def __call__(self, value: Any) -> int:
        return self.number.setdefault(value, len(self.number))


def state(record: Any) -> State:
    """What travels of a record.

    Args:
        record: the record.
    """
    text, shape, formulas = _Table(), _Table(), _Table()
    nodes, edges, tree = record.nodes, record.edges, record.tree
    width = sizes_of(record)[0]
    labels = [fitted(label, width) for label in labels_of(record)]
    kept = [(i, k) for i, n in enumerate(nodes) for k in n.kept]
    found: dict[str, Any] = {
        "title": record.title,
        "text": record.text(),
        "name": record.title,
        "meta": list(record.meta),
        "source": record.source,
        "says": list(record.says),
        "nodes": {
            "kind": _array([KINDS.index(n.kind) for n in nodes], np.uint8),
            "step": _array([n.step for n in nodes]),
            "group": _array([n.group for n in nodes]),
            "shape": _array([shape(n.shape) for n in nodes]),
            "saved": _array([n.saved for n in nodes], np.int64),
            "shared": _array([n.shared for n in nodes], np.int64),
            "grad": _array([_norm(n.grad) for n in nodes], np.float64),
            "value": _array([_norm(n.value) for n in nodes], np.float64),
            "formulas": _array([formulas(n.formulas) for n in nodes]),
            "mark": _array([MARKS.index(n.mark) for n in nodes], np.uint8),
            "row": _array([n.row for n in nodes]),
            "bold": _array([text(label.bold) for label in labels]),
            "plain": _array([text(label.plain) for label in labels]),
            "right": _array([text(label.right) for label in labels]),
            "does": _array([text(meaning_of(n.name) if n.kind == "op" else "") for n in nodes]),
            "layer": _array([text(tree.layer(i)) for i in range(len(nodes))]),
            **{
                name: _array([text(getattr(n, name)) for n in nodes])
                for name in ("op", "name", "label", "dtype", "device", "line", "says", "chip")
            },
        },
        "kept": {
            "node": _array([i for i, _ in kept]),
            "name": _array([text(k.name) for _, k in kept]),
            "shape": _array([shape(k.shape) for _, k in kept]),
            "bytes": _array([k.bytes for _, k in kept], np.int64),
            "alias": _array([k.alias for _, k in kept], np.uint8),
        },
        "edges": {
            "source": _array([e.source for e in edges]),
            "target": _array([e.target for e in edges]),
            "input": _array([text(e.input) for e in edges]),
            "output": _array([e.output for e in edges]),
            "shape": _array([shape(e.shape) for e in edges]),
            "norm": _array([_norm(e.norm) for e in edges], np.float64),
            "value": _array([_norm(e.value) for e in edges], np.float64),
            "dead": _array([e.dead for e in edges], np.uint8),
        },
        "groups": [
            {
                "name": tree.label(g),
                "path": group.path,
                "kind": group.kind,
                "about": tree.about(g),
                "parent": group.parent,
                "use": group.use,
                "note": group.note,
                "synthetic": group.synthetic,
                "ops": tree.ops[g],
                "parameters": tree.parameters[g],
                "saved": tree.saved[g],
            }
            for g, group in enumerate(record.groups)
        ],
        "roots": [{"node": node, "text": words} for node, words in record.roots],
        "scale": scale_of(record) and list(scale_of(record) or ()),
        "failed": record.failed,
    }
    found["layouts"], found["stages"] = layouts(record)
    found["strings"] = list(text.number)
    found["shapes"] = [list(one) for one in shape.number]
    found["formulas"] = [[list(pair) for pair in one] for one in formulas.number]
    return cast("State", found)


def _array(values: list, dtype: Any = np.int32) -> np.ndarray:
    return np.asarray(values, dtype)


def _norm(value: float | None) -> float:
    return float("nan") if value is None else value


def layout(record: Any) -> dict[str, Any]:
    """The layout of one fold state, as it travels; a kernel answers a page with this."""
    scene = record.scene
    points: list = []
    links = []
    for link in scene.links:
        links.append(
            (link.source, link.target, link.edges[0] if link.edges else -1, len(link.edges), len(points))
        )
        points += link.path
    return {
        "open": _array(sorted(record.open)),
        "width": scene.width,
        "height": scene.height,
        "boxes": _rows([(b.what, b.number, *b.rect) for b in scene.boxes], 6),
        "pills": _rows([(p.node, p.owner, p.ride, *p.rect) for p in scene.pills], 7),
        "frames": _rows([(f.group, *f.rect) for f in scene.frames], 5),
        "edges": _rows(links, 5),
        "norms": _array([_norm(link.norm) for link in scene.links], np.float64),
        "points": _rows(points, 2),
    }


def _rows(rows: list, wide: int) -> np.ndarray:
    return np.asarray(rows, np.int32).reshape(-1, wide)


def layouts(record: Any) -> tuple[list[dict[str, Any]], np.ndarray]:
    """The layouts that travel, and which of them are stages from all closed to what is open at first.

    The first layout is that of the record; the stages follow, then all open, then those that toggling leads to, nearest
    first, until the budget is spent.
    """
    found = [layout(record)]
    met = {record.open: 0}

    def add(one: Any) -> int:
        if one.open not in met:
            met[one.open] = len(found)
            found.append(layout(one))
        return met[one.open]

    steps = _array([add(record._with(opened)) for opened in stages(record)])
    if len(record.nodes) <= WHOLE:
        add(record.unfold())
    spent = sum([_bytes(made) for made in found])
    boxes = 0
    waiting = [record]
    for one in waiting:  # grows while it is walked
        for following in _toggled(one):
            if following.open in met:
                continue
            made = layout(following)
            boxes += len(made["boxes"])
            spent += _bytes(made)
            if spent > BYTES or boxes > BOXES:
                return found, steps
            met[following.open] = len(found)
            found.append(made)
            waiting.append(following)
    return found, steps


def _toggled(record: Any) -> list[Any]:
    """The records that one toggle leads to: closed groups that show are opened first, then open ones closed."""
    tree = record.tree
    shows = [g for g in tree.frames if all(h in record.open for h in tree.around[g])]
    shows.sort(key=lambda g: (g in record.open, tree.first[g], g))
    return [record.toggle(g) for g in shows]


def _bytes(made: dict[str, Any]) -> int:
    return sum([value.nbytes for value in made.values() if isinstance(value, np.ndarray)])


def summary(record: Any) -> str:
    """One sentence for a reader who cannot see the picture."""
    frames = len(record.scene.frames)
    seen = count_text(len(record.scene.boxes) - len(record.roots), "box")
    return f"{record.title}: {', '.join(record.meta)}; {seen}, {count_text(frames, 'open group')}"
