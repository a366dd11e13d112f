"""The words of a picture: in boxes, on pills, beside titles, in tooltips; and how wide boxes must be for them.

Invariant: what is found here depends on the record alone, not on which groups are open; it is found once and kept with
the tree that all fold states share.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

from ..layers import layer
from .words import bytes_text, cells, count_text, cut, number_text, shape_text

COLUMN = 6.93  # pixels of one sign of a fixed-width font of 11.5 px
SMALL = 6.63  # of 11 px
WORDS = 6.3  # of the font of titles, about
NODE, GROUP, ROOT = range(3)
GUTTER = 22  # for a mark: open, done, here
BOX = (140, 320)
PILLS = (84, 216)
NORM = 6  # letters of a gradient's norm


class Label(NamedTuple):
    """What stands in a box: a name, what it is, a number at the right."""

    bold: str
    plain: str
    right: str
    op: str = ""  # where the name of a layer stands first: left out where there is no room


def rank(label: str) -> int:
    """Weights before biases."""
    last = label.rpartition(".")[2]
    return 1 if "bias" in last else 0


def pills_of(record: Any) -> set[int]:
    """The leaves that stand beside an op and not in a box below it: a page knows it by the pills it gets."""
    found = record.tree.__dict__.get("pills")
    if found is None:
        out: dict[int, list[int]] = {}
        users: dict[int, list[int]] = {}
        for e in record.edges:
            out.setdefault(e.source, []).append(e.target)
            users.setdefault(e.target, []).append(e.source)
        found = set()
        for i, n in enumerate(record.nodes):
            if n.kind == "parameter" or (n.kind == "constant" and users.get(i)):
                found.add(i)
            elif n.kind == "input" and len(users.get(i, ())) == 1:
                # beside its op if the main way leads on elsewhere
                others = [
                    record.nodes[t].kind
                    for t in out[users[i][0]]
                    if not record.nodes[t].chip and (t < i or record.nodes[t].kind == "op")
                ]
                if "op" in others or "input" in others:
                    found.add(i)
        record.tree.pills = found
    return found


def labels_of(record: Any) -> list[Label]:
    """The words in the box of each node."""
    tree = record.tree
    found = tree.__dict__.get("labels")
    if found is None:
        found = []
        for i, n in enumerate(record.nodes):
            if n.kind in ("op", "failed"):
                g, step = tree.named[i], str(n.step or "")
                about = tree.about(g) if g >= 0 else ""
                if about:
                    found.append(Label(tree.label(g), about, step, tree.own(i)))
                else:
                    found.append(Label(tree.label(g) if g >= 0 else n.label, n.op, step))
            else:
                found.append(Label(n.label or n.kind, shape_text(n.shape), ""))
        tree.labels = found
    return found


def group_label(record: Any, g: int) -> Label:
    """The words in the box of a closed group."""
    steps = record.tree.__dict__.get("steps")
    if steps is None:
        steps = record.tree.steps = {}
        for i, n in enumerate(record.nodes):
            if not n.step:
                continue
            h = record.tree.home[i]
            for around in (h, *record.tree.around.get(h, ())):
                low, high = steps.get(around, (n.step, n.step))
                steps[around] = min(low, n.step), max(high, n.step)
    low, high = steps.get(g, (0, 0))
    plain = " · ".join(filter(None, [record.tree.about(g), count_text(record.tree.ops[g], "op")]))
    if record.groups[g].synthetic:  # its name says which steps
        return Label(record.tree.label(g), plain, "")
    return Label(record.tree.label(g), plain, f"{low}–{high}" if high > low else str(low or ""))


def detail_of(record: Any, g: int) -> str:
    """What stands at the right of a frame's title."""
    found = [record.tree.about(g), count_text(record.tree.ops[g], "op")]
    parameters = record.tree.parameters[g]
    return " · ".join([*filter(None, found), *([count_text(parameters, "parameter")] if parameters else [])])


def pill_label(record: Any, node: int, owner: tuple[int, int]) -> tuple[str, str, str]:
    """The words on a pill: its name below the group of its op, its shape, the norm of its gradient."""
    n = record.nodes[node]
    name = n.label or n.kind
    if owner[0] == NODE and n.kind == "parameter":
        group = record.nodes[owner[1]].group
        while group >= 0:
            path = record.groups[group].path
            if path and not record.groups[group].synthetic and name.startswith(path + "."):
                name = name[len(path) + 1 :]
                break
            group = record.groups[group].parent
    right = size_text(n.grad, n.value)
    return name, "×".join(map(str, n.shape)) or "scalar", right


def size_text(norm: float | None, value: float | None, digits: int = 2) -> str:
    """How large a gradient is: one number with its sign, of several the norm, "" where it is not known."""
    return "" if norm is None else number_text(norm if value is None else value, digits)


def sizes_of(record: Any) -> tuple[int, int]:
    """The width of all boxes, and of all pills, in every fold state."""
    found = record.tree.__dict__.get("sizes")
    if found is None:
        words = [label for i, label in enumerate(labels_of(record)) if record.nodes[i].kind != "parameter"]
        words += [group_label(record, g) for g in record.tree.frames]
        widest = max([_columns(label) for label in words], default=10)
        box = min(max(int(GUTTER + widest * COLUMN + 10), BOX[0]), BOX[1])
        pills = [pill_label(record, i, (NODE, user)) for i, user in _users(record) if i in pills_of(record)]
        # with room for the norm: the stepper writes it there, and the same graph has one after its pass
        widest = max([cells(p[0]) + cells(p[1]) + max(cells(p[2]), NORM) + 3 for p in pills], default=8)
        found = record.tree.sizes = box + box % 2, min(max(int(widest * SMALL + 26), PILLS[0]), PILLS[1])
    return found


def _users(record: Any) -> Iterable[tuple[int, int]]:
    """(leaf, op beside which it stands), views passed over."""
    ride: dict[int, int] = {}  # a view on the way to a parameter, and who uses it
    for e in record.edges:
        user = ride[e.source] if e.source in ride else e.source
        if record.nodes[e.target].chip:
            ride[e.target] = user
        elif record.nodes[e.target].kind not in ("op", "failed"):
            yield e.target, user


def _columns(label: Label) -> int:
    return sum(map(cells, label)) + bool(label.bold and label.plain) + bool(label.right) * 2 + bool(label.op)


def fitted(label: Label, width: int) -> Label:
    """A label cut to what a box holds: first its op, then what it is, then its name. What is right holds the op."""
    if label.op:
        whole = label._replace(right=f"{label.op} {label.right}".rstrip(), op="")
        short = label._replace(op="")
        return fitted(whole if GUTTER + 8 + _columns(whole) * COLUMN <= width else short, width)
    space = int((width - GUTTER - 8) / COLUMN) - (cells(label.right) + 2 if label.right else 0)
    plain = cut(label.plain, max(3, space - cells(label.bold) - 1)) if label.bold else cut(label.plain, space)
    bold = cut(label.bold, space - cells(plain) - 1) if plain else cut(label.bold, space)
    return Label("" if bold == "…" else bold, plain, label.right)


def scale_of(record: Any) -> tuple[float, float] | None:
    """The ends of the scale of gradient norms: logarithms to base 10, at least one decade apart."""
    norms = [e.norm for e in record.edges if e.norm and math.isfinite(e.norm)]
    norms += [n.grad for n in record.nodes if n.grad and math.isfinite(n.grad)]
    if not norms:
        return None
    low, high = math.log10(min(norms)), math.log10(max(norms))
    low = max(low, high - 6)
    return (low, high) if high - low >= 1 else ((low + high) / 2 - 0.5, (low + high) / 2 + 0.5)


def width_of(norm: float | None, scale: tuple[float, float] | None) -> float:
    """The width of an edge in pixels: 1.25 where no norm is known, otherwise 1.5 to 6 on the log scale."""
    if norm is None or scale is None:
        return 1.25
    if math.isnan(norm) or norm == 0:
        return 1.5
    if math.isinf(norm):
        return 6.0
    place = (math.log10(norm) - scale[0]) / (scale[1] - scale[0])
    return round(1.5 + 4.5 * min(1.0, max(0.0, place)), 2)


def about(record: Any, i: int) -> str:
    """All that is known of a node in lines: for a tooltip."""
    n = record.nodes[i]
    path = record.groups[n.group].path if n.group >= 0 else ""
    lines = [n.name or n.op] if n.kind in ("op", "failed") else [n.kind]
    around = record.groups[n.group] if path else None
    lines += [layer(path, around.kind, around.size)] if around else []
    lines.append(" ".join(filter(None, [n.label, shape_text(n.shape), n.dtype, n.device])))
    if n.saved or n.shared:
        shared = f", {bytes_text(n.shared)} shared" if n.shared else ""
        lines.append(f"saved {bytes_text(n.saved)}{shared}")
    return "\n".join([*lines, *filter(None, [n.line, n.says])])
