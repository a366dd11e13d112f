"""What anomaly mode adds to its exception: which line, which values, at which indices.

The facts are notes of the exception (`__notes__`, shown below it) and its attribute `facts`. Invariant: the exception's
own sentence is PyTorch's, and a failure in here leaves it as it is.
"""

from __future__ import annotations

import contextlib
from typing import Any

from ..line_lookup import Line, cell_of
from ..lines import add_note, note_of
from ..numbers import host
from ..steps.words import count, index
from .advice import cure_of
from .bad_value import BadValue, bad_mask, largest, matching, places, table
from .build import place_of


def explain(exc: BaseException, node: Any, g: Any, results: list, which: int) -> None:
    """Add to an exception what is known of the first NaN.

    Args:
        exc: what is about to be raised.
        node: whose backward gave it.
        g: what came in.
        results: what it computed for each input.
        which: the input whose gradient holds the NaN.
    """
    with contextlib.suppress(Exception):
        facts = _facts(node, g, results[which], which)
        note = note_of(node)
        parts = [
            f"{node.name()} was made in {place_of(_line(note))}",
            f"NaN at {index(facts.at[0])}, in {facts.count:,} of {count(facts.size, 'value')}: {facts.how}",
        ]
        already = [t.name for t in facts.inputs if t.name == "incoming gradient" and t.bad.any()]
        if already:
            parts.append("the incoming gradient was already bad")
        names = [t.name for t in facts.inputs if t.name != "incoming gradient"]
        parts.append(f"what usually helps: {cure_of(node.rule.name if node.rule else '', True, names)}")
        exc.facts = facts  # type: ignore[attr-defined]
        for sentence in parts:
            add_note(exc, sentence)


def _line(note: dict) -> Line | None:
    """The line of the forward call, from the stack that anomaly mode keeps."""
    stack = note.get("where")
    if not stack:
        return None
    last = stack[-1]
    return Line(last.filename, last.lineno or 0, last.name, last.line or "", cell_of(last.filename))


def _facts(node: Any, g: Any, result: Any, which: int) -> BadValue:
    from ..steps.forward import Forward
    from ..steps.numbers import numbers_of

    d = host(result)
    at, kinds = places(d, None)
    first = tuple(int(i) for i in at[0])
    facts = BadValue(at, kinds, int(bad_mask(d, None).sum()), int(d.size))
    rule = node.rule
    sources = [("incoming gradient", x) for x in (g if isinstance(g, list) else [g]) if x is not None]
    how = ""
    if rule is not None:
        known = Forward([node]).known(node, g)
        assert known is not None
        sources += [(n, v) for n, v in known.inputs.items() if hasattr(v, "shape")]
        sources += [("its output", v) for n, v in known.outputs.items() if n == "out"]
        if which < len(rule.inputs):
            numbers = numbers_of(known, rule.inputs[which], d)
            how = "" if numbers is None else numbers.text.split(": ", 1)[-1]
    for name, value in sources:
        x = host(value)
        place = matching(first, d.shape, x.shape)
        facts.inputs.append(table(name, x, place if place is not None else largest(x), None))
    facts.outputs.append(table("gradient", d, first, None))
    facts.how = how or "it has no formula that says how"
    return facts
