"""The list of the rules of a diagnosis, as `docs/diagnose.md` has it: made from their docstrings and fields.

Invariant: every rule that says something stands on the page, in the order in which they are asked.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from pathlib import Path

PAGE = Path(__file__).parents[1] / "diagnose.md"
BEGIN = "<!-- rules: made by `make generated` from their docstrings -->"
WIDE = 118
PARTS = ("Meaning", "Fires", "Wrong if", "Healthy programs tried")
MODULES = {
    "finite": "Values that are not finite",
    "bookkeeping": "Gradients and optimizers",
    "leftover": "What is left over",
    "reach": "What passes reach",
    "leaves": "Leaves",
    "modes": "Training and evaluation",
    "meaning": "What a loss means",
    "structure": "How a model is put together",
    "data": "The data",
    "again": "What is done again",
    "kept": "What is kept and put back",
    "schedules": "Schedules",
    "scores": "Scores and signs",
    "pairs": "Networks in pairs",
    "policies": "Policies and values",
    "chances": "What distributions are given",
    "still": "What stays and should not",
    "loops": "Loops and their names",
    "samples": "What samples hold",
    "refilled": "Samples in one memory",
    "memory": "States of recurrent nets",
    "padding": "Padding",
    "tables": "Tables of vectors",
    "axes": "Axes",
    "order": "Orders of rows",
    "draws": "What is drawn",
    "overwritten": "Targets that are written over",
    "classes": "Weights of classes",
    "measures": "Measures",
    "named": "What is named and not done",
    "terms": "Terms of a loss",
    "places": "Places that come twice",
    "takes": "What losses take",
    "untrained": "What is measured",
    "collapse": "Branches that meet",
    "start": "The beginning",
    "learning": "How it learns",
}


def parts_of(rule: type) -> tuple[str, dict[str, str]]:
    """The first sentence of a rule's docstring, and its parts by name.

    Args:
        rule: its class.
    """
    text = inspect.getdoc(rule) or ""
    first, _, rest = text.partition("\n\n")
    found: dict[str, str] = {}
    for piece in re.split(rf"(?m)^(?=(?:{'|'.join(PARTS)}):)", rest):
        name, _, said = piece.partition(":")
        if name in PARTS:
            found[name] = " ".join(said.split())
    missing = [name for name in PARTS if name not in found]
    if missing:
        raise SystemExit(f"the docstring of {rule.__name__} does not say: {', '.join(missing)}")
    return " ".join(first.split()), found


def section(rule: type) -> str:
    """One rule.

    Args:
        rule: its class.
    """
    from vistorch.debug.diagnose.cures import CURES

    title, certainty, name = rule.title, rule.certainty, rule.name  # type: ignore[attr-defined]
    first, parts = parts_of(rule)
    lines = [f"### {title[0].upper()}{title[1:]}", "", *_wrapped(f"{first} ({certainty})"), ""]
    for part in PARTS:
        lines += _wrapped(f"- **{part}**: {parts[part]}", "  ")
    if name in CURES:
        said = " ".join((inspect.getdoc(CURES[name]) or "").split("\n\n")[0].split())
        lines += _wrapped(f"- **Cure as code**: {said[0].lower()}{said[1:]}", "  ")
    return "\n".join(lines)


def _wrapped(text: str, more: str = "") -> list[str]:
    return textwrap.wrap(text, WIDE, subsequent_indent=more, break_long_words=False, break_on_hyphens=False)


def page() -> str:
    """The page with its list anew; what stands before the list is written by hand."""
    from vistorch.debug.diagnose.rules import RULES

    text = PAGE.read_text(encoding="utf-8")
    before, begin, _ = text.partition(BEGIN)
    if not begin:
        raise SystemExit(f"docs/diagnose.md has no line `{BEGIN}`: put it back")
    pieces, module = [f"{before}{BEGIN}"], ""
    for rule in RULES:
        if not rule.title:
            continue
        own = rule.__module__.rpartition(".")[2]
        if own != module:
            module = own
            pieces.append(f"## {MODULES[module]}")
        pieces.append(section(rule))
    return "\n\n".join(pieces) + "\n"
