"""A graph record as an aligned tree: one line an op or a closed group, leaves below the op that uses them.

Invariant: the same graph gives the same text; it names no file and no address, so a saved notebook can be compared.
"""

from __future__ import annotations

from typing import Any

from .labels import pill_label, pills_of, size_text
from .words import bytes_text, cells, count_text, shape_text

NODE = 0


def text(record: Any) -> str:
    """The tree of a record's fold state.

    Args:
        record: the record.
    """
    rows = _rows(record)
    norms = any(row[4] for row in rows)
    signed = any(one.value is not None for one in (*record.nodes, *record.edges))
    head = ("step", "op", "output", "saved", "‖gradient‖ or value" if signed else "‖gradient‖")
    # columns that nobody fills are left out
    kept = [0, 1, 2, *([3] if any(row[3] for row in rows) else []), *([4] if norms else [])]
    table = [[line[k] for k in kept] for line in [head, *rows]]
    wide = [max(cells(line[k]) for line in table) for k in range(len(kept))]
    right = {0, 3, 4}
    lines = [f"{record.title}: {', '.join(record.meta)}"]
    for line in table:
        words = [
            " " * (width - cells(word)) + word if kept[k] in right else word + " " * (width - cells(word))
            for k, (word, width) in enumerate(zip(line, wide, strict=True))
        ]
        lines.append("  ".join(words).rstrip())
    return "\n".join([*lines, *record.says])


def _rows(record: Any) -> list[tuple[str, str, str, str, str]]:
    tree, nodes = record.tree, record.nodes
    hidden = tree.shown(record.open)
    beside = pills_of(record)
    below: dict[int, list[int]] = {}
    ride: dict[int, int] = {}  # a view on the way to a parameter, and who uses it
    flows: dict[int, str] = {}
    for e in record.edges:
        user = ride[e.source] if e.source in ride else e.source
        if nodes[e.target].chip:
            ride[e.target] = user
        elif nodes[e.target].kind not in ("op", "failed"):
            mine = below.setdefault(user, [])
            mine += [] if e.target in mine else [e.target]
        elif e.norm is not None:
            flows[e.target] = size_text(e.norm, e.value, 3) if e.target not in flows else ""
    rows = []
    titled: set[tuple[int, int]] = set()
    last: list[int] = []  # the frames around the last line
    for i, n in enumerate(nodes):
        if n.kind not in ("op", "failed") or n.chip:
            continue
        home = tree.home[i]
        frames = [g for g in reversed((home, *tree.around.get(home, ()))) if g >= 0]
        around = frames if hidden[i] < 0 else frames[: frames.index(hidden[i])]
        for depth, g in enumerate(around):
            if last[: depth + 1] != around[: depth + 1]:
                again = " (continued)" if (1, g) in titled else ""
                titled.add((1, g))
                facts = [tree.about(g), count_text(tree.ops[g], "op")]
                facts += [count_text(tree.parameters[g], "parameter")] if tree.parameters[g] else []
                rows.append(("", f"{'  ' * depth}▾ {tree.label(g)}{again}: {_facts(facts)}", "", "", ""))
                last = around[: depth + 1]
        last = around
        indent = "  " * len(around)
        if hidden[i] >= 0:
            g = hidden[i]
            if (1, g) not in titled:
                titled.add((1, g))
                rows.append(_closed(record, g, indent, n))
            continue
        bold = tree.layer(i) or n.label
        name = "  ".join(filter(None, [bold, tree.own(i)]))
        rows.append(
            (
                str(n.step or "×"),
                indent + name + (f"  ! {n.mark}" if n.mark else ""),
                shape_text(n.shape) if n.kind == "op" else n.says,
                bytes_text(n.saved) if n.saved else "",
                flows.get(i, ""),
            )
        )
        for leaf in sorted(below.get(i, ()), key=lambda j: ("bias" in nodes[j].label, j)):
            rows.append(_leaf(record, leaf, i, indent, leaf in beside))
    return rows


def _facts(facts: list[str]) -> str:
    return ", ".join([fact for fact in facts if fact])


def _closed(record: Any, g: int, indent: str, first: Any) -> tuple[str, str, str, str, str]:
    tree = record.tree
    facts = [tree.about(g), count_text(tree.ops[g], "op")]
    facts += [count_text(tree.parameters[g], "parameter")] if tree.parameters[g] else []
    saved = bytes_text(tree.saved[g]) if tree.saved[g] else ""
    return str(first.step), f"{indent}▸ {tree.label(g)}: {_facts(facts)}", shape_text(first.shape), saved, ""


def _leaf(record: Any, leaf: int, user: int, indent: str, beside: bool) -> tuple[str, str, str, str, str]:
    n = record.nodes[leaf]
    name = pill_label(record, leaf, (NODE, user))[0]
    kind = "" if n.kind == "parameter" else f" ({n.kind})"
    grad = size_text(n.grad, n.value, 3)
    return (
        "",
        f"{indent}    {name}{kind}" if n.label else f"{indent}    {n.kind}",
        shape_text(n.shape),
        "",
        grad,
    )
