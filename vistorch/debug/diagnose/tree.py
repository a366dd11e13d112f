"""The modules around the layer of a finding, two levels deep.

Invariant: a few rows, and the guilty one among them.
"""

from __future__ import annotations

from typing import Any

from ..layers import is_module, spoken
from .finding import Finding

DEEP, MOST = 2, 9


def tree_of(finding: Finding, named: dict[str, Any]) -> list[tuple[int, str, str, str]]:
    """Rows of (depth, name, class and size, role); none where the layer belongs to no module with a name.

    Args:
        finding: it names a layer or a parameter.
        named: what things are called.

    Example:
        >>> from vistorch import nn
        >>> from vistorch.debug.diagnose.finding import EXACT, WRONG, Finding
        >>> from vistorch.debug.diagnose.tree import tree_of
        >>> net = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
        >>> tree_of(Finding("x", WRONG, EXACT, "", layer="net[0].weight"), {"net": net})
        [(0, 'net', 'Sequential', ''), (1, 'net[0]', 'Linear, 9', 'guilty'), (1, 'net[1]', 'ReLU', '')]
    """
    layer = finding.layer.partition(" ")[0]  # its class and size may follow
    name = next((n for n, v in named.items() if is_module(v) and _within(layer, n)), "")
    if not layer or not name:
        return []
    root = named[name]
    rows, guilty = [], 0
    for path, module in root.named_modules():
        depth = path.count(".") + 1 if path else 0
        if depth > DEEP:
            continue
        text = spoken(path, root, name) if path else name
        text = text if text.startswith(name) else f"{name}.{text}"
        if _within(layer, text):
            guilty = len(rows)
        size = sum(p.numel() for p in module.parameters()) if depth else 0
        rows.append((depth, text, type(module).__name__ + (f", {size:,}" if size else ""), ""))
    start = max(1, min(guilty - MOST // 2, len(rows) - MOST + 1))
    depth, text, note, _ = rows[guilty]
    rows[guilty] = depth, text, note, "guilty"
    return rows[:1] + rows[start : start + MOST - 1]


def _within(layer: str, name: str) -> bool:
    """Whether a layer is a thing of that name, or a part of it."""
    return layer == name or layer.startswith((f"{name}.", f"{name}["))
