"""From the rows of a trace to its record: the sentence, the marks on the lines, the table of ops.

Invariant: a trace may be asked at any time, also after an exception; what has not run is not in it.
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterator
from typing import Any, Protocol

from ..graph.record import GraphRecord
from ..layers import spoken
from ..line_lookup import Line, line_of, segment_of
from ..numbers import host, plain
from ..steps.words import count, index, number, shape
from .advice import cure_of, leaves_domain
from .bad_value import BadValue, counts
from .course import Growth
from .names import inputs_of
from .record import TraceRecord
from .recorder import Row

ROWS = 400
LINES = 40  # of a cell
DIVERGED = 1e3  # a loss that grew so many times needs no large numbers beside it
AROUND = 4  # lines before and after, of a file
STEP_INTO = (
    'To step into it, type `%vt break bad` (in a script `vt.break_("bad")`) and run this again: the pass stops before '
    "a bad result is used."
)
KINDS = ("nan", "inf", "-inf", "beyond the bound")


class Source(Protocol):
    """What a record is made from: `Trace` has it."""

    rows: list[Row]
    back_order: list[Row]
    leaves: dict[Any, tuple]
    bound: float | None
    seconds: float
    error: str | None
    ended: list[tuple[str, int | None]]
    growth: Growth | None
    graph: GraphRecord | None
    library: str  # whose ops they are: "vistorch", "PyTorch 2.13"

    def called(self, tensor: Any) -> str:
        """What a leaf is called."""
        ...


def build(trace: Source) -> TraceRecord:
    """The record of a trace."""
    origins = list(_origins(trace))
    first = origins[0] if origins else None
    made = TraceRecord(
        title="first bad value",
        sentence="",
        more="",
        cure="",
        forward=sum(r.state != "" for r in trace.rows),
        backward=len(trace.back_order),
        seconds=trace.seconds,
        rows=_rows(trace),
        bound=trace.bound,
        error=trace.error,
        library=trace.library,
    )
    made.leaves = _leaves(trace)
    if origins or any(r.state not in ("", "clean") or r.back not in ("", "clean") for r in trace.rows):
        made.graph = trace.graph
    if first is not None:
        made.first, *made.origins = [
            _state_of(*b, diverged=_is_growth(trace.growth, *b)) for b in origins[:9]
        ]
        made.sentence = _sentence(*first)
        made.cure = made.first["cure"]
        made.more = _more(trace, first, origins, made.leaves)
        if trace.growth is not None:
            made.course = _course(trace.growth, first)
    else:
        made.sentence = _without_origin(trace, made)
        if trace.growth is not None:
            made.course = _course(trace.growth, None)
    made.source = _source(trace, first)
    if trace.bound is None and any(r.back in ("origin", "propagated") for r in trace.rows):
        made.says.append(STEP_INTO)
    if len(made.rows) < len(trace.rows):
        made.says.append(f"{len(trace.rows) - len(made.rows)} clean ops are not listed")
    return made


def _origins(trace: Source) -> Iterator[tuple[Row, str, BadValue]]:
    """Origins in the order they happened, of which values are kept."""
    for row in trace.rows:
        if row.state == "origin" and row.facts is not None:
            yield row, "forward", row.facts
    for row in trace.back_order:
        if row.back == "origin" and row.back_facts is not None:
            yield row, "backward", row.back_facts


def op_of(row: Row) -> str:
    """What an op is called: as the person wrote it, where that is how the row's name begins."""
    written = re.search(r"(\w+)\s*\([^()]*(?:\([^()]*\)[^()]*)*\)$", segment_of(row.place) or "")
    if written and written.group(1) and row.name.startswith(written.group(1)):
        return written.group(1)
    return row.name


def place_of(line: Line | None) -> str:
    """A line as a sentence says it."""
    if line is None:
        return "a line nobody knows"
    return (
        f"cell [{line.cell}], line {line.line}" if line.cell is not None else f"{line.path}, line {line.line}"
    )


def _sentence(row: Row, which: str, facts: BadValue) -> str:
    where = place_of(line_of(row.place))
    if which == "forward":
        how = facts.how
    else:
        where, how = f"the backward of {where}", f"{op_of(row)} at {index(facts.at[0])}: {facts.how}"
    return (
        f"The first bad value comes from {where}: {how}, in {facts.count:,} of {count(facts.size, 'value')}"
        f"{_a(facts.outputs[0].shape)}."
    )


def _a(dims: tuple) -> str:
    return f" of a {shape(dims)} tensor" if len(dims) > 1 else ""


def _state_of(row: Row, which: str, facts: BadValue, diverged: bool = False) -> dict[str, Any]:
    names = inputs_of(
        segment_of(row.place),
        getattr(row.rule, "inputs", ()),
        max(1, len(getattr(row.rule, "inputs", ()))),
        row.name,
    )
    return {
        "row": row.index,
        "pass": which,
        "op": op_of(row),
        "where": place_of(line_of(row.place)),
        "cure": cure_of(row.name, which == "backward", names, facts.overflowed, diverged),
        "how": facts.how,
        "at": facts.at,
        "which": facts.which,
        "count": facts.count,
        "size": facts.size,
        "inputs": [t.wire() for t in facts.inputs],
        "outputs": [t.wire() for t in facts.outputs],
    }


def _more(trace: Source, first: tuple, origins: list, leaves: list) -> str:
    """What came of the first bad value."""
    row, which, _ = first
    parts = []
    if which == "forward":
        after = trace.rows[row.index + 1 :]
        healed = [r for r in after if r.state == "healed"]
        last = next((r for r in reversed(trace.rows) if r.state), row)
        if healed and last.state in ("clean", "healed"):
            parts.append(f"{_line(healed[-1])} heals the forward pass")
        elif last.state in ("propagated", "origin") and last is not row:
            parts.append(f"it reaches {op_of(last)} in {_line(last, False)}, the last op")
        there = next((b for b in origins if b[1] == "backward"), None)
        if there is not None:
            word = "but the" if healed else "the"
            parts.append(
                f"{word} backward of {_line(there[0], False)} ({op_of(there[0])}) has {there[2].how}"
            )
    if leaves:
        worst = leaves[0]
        bad = worst["nan"] + worst["posinf"] + worst["neginf"] + worst["beyond"]
        more = f" and in {count(len(leaves) - 1, 'more gradient')}" if len(leaves) > 1 else ""
        parts.append(f"it ends in {bad:,} of {count(worst['size'], 'value')} of {worst['name']}.grad{more}")
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}." if text else ""


def _is_growth(growth: Growth | None, row: Row, which: str, facts: BadValue) -> bool:
    """Whether a bad value is what a loss that grew ends in, so that the op has no cure.

    Then large numbers went in, or the loss had grown beyond all measure, and the op did not leave its domain.
    """
    if growth is None or leaves_domain(row.name):
        return False
    return facts.large or growth.fold >= DIVERGED


def _course(growth: Growth, first: tuple | None) -> str:
    """What the losses did before, as a sentence."""
    text = growth.text()
    end = ""
    if first is not None and _is_growth(growth, *first):
        end = f": the run diverged, and {op_of(first[0])} is only where the range of the type ended"
    return f"{text[0].upper()}{text[1:]}{end}."


def _line(row: Row, capital: bool = True) -> str:
    line = line_of(row.place)
    word = "Line" if capital else "line"
    return f"{word} {line.line}" if line is not None else f"{word} unknown"


def _without_origin(trace: Source, made: TraceRecord) -> str:
    row = next((r for r in trace.rows if r.state in ("propagated", "healed")), None)
    what = "no bad value" if trace.bound is None else f"no bad value and none beyond {number(trace.bound)}"
    ran = f"{count(made.forward, 'op')} forward and {made.backward} back"
    if row is not None:
        return (
            f"No op produced a bad value; one was given to {row.name} in {place_of(line_of(row.place))}"
            + (f": {row.facts.how}." if row.facts is not None else ".")
        )
    if any(r.back in ("propagated", "healed") for r in trace.back_order):
        return "No op produced a bad value; one was in the gradient the pass began with."
    return f"There is {what} in {ran}."


def _leaves(trace: Source) -> list[dict[str, Any]]:
    out = []
    for t, d, bad in trace.leaves.values():
        if bad:
            nan, plus, minus, beyond = counts(d, trace.bound)
            out.append(
                {
                    "name": trace.called(t),
                    "nan": nan,
                    "posinf": plus,
                    "neginf": minus,
                    "beyond": beyond,
                    "size": int(d.size),
                }
            )
    return out


def _rows(trace: Source) -> list[dict[str, Any]]:
    rows = trace.rows
    if len(rows) > ROWS:
        wrong = [r for r in rows if r.state not in ("", "clean") or r.back not in ("", "clean")][:ROWS]
        near = {r.index + d for r in wrong[:20] for d in (-2, -1, 1, 2)} | set(range(8))
        rows = [r for r in rows if r in wrong or r.index in near][:ROWS]
    return [_row(trace, r) for r in rows]


def _row(trace: Source, row: Row) -> dict[str, Any]:
    line, path = line_of(row.place), row.module
    return {
        "id": row.index,
        "line": None if line is None else line.line,
        "where": place_of(line),
        "op": op_of(row),
        "code": segment_of(row.place) or (line.text if line is not None else ""),
        "module": spoken(path) if path and not row.called else row.called,
        "layer": row.layer,
        "forward": _mark(row.state, row.bad, row) if row.state else None,
        "backward": _mark(row.back, row.back_bad, None, row.back_facts) if row.back else None,
    }


def _mark(state: str, bad: Any, row: Row | None, facts: Any = None) -> dict[str, Any]:
    nan, plus, minus, beyond, size = bad or (0, 0, 0, 0, 0)
    if state == "origin" and isinstance(facts, BadValue):
        text = facts.how
    elif state == "clean":
        text = _scalar(row)
    else:
        words = [f"{n:,} {kind}" for n, kind in zip((nan, plus, minus, beyond), KINDS, strict=True) if n]
        text = f"{' + '.join(words)} of {size:,}" if len(words) > 1 else ""
        if len(words) == 1:
            n, _, kind = words[0].partition(" ")
            text = f"{n} of {size:,} {kind}"
        if not words and state == "healed":
            text = f"0 of {size:,}" if size else ""
    return {
        "state": state,
        "nan": nan,
        "posinf": plus,
        "neginf": minus,
        "beyond": beyond,
        "size": size,
        "text": text,
    }


def _scalar(row: Row | None) -> str:
    """The value of a clean result that is one number, as far as its norm tells it."""
    if row is None or row.made is None or len(row.shapes) != 1:
        return ""
    return number(plain(host(row.made)).item())


def _source(trace: Source, first: tuple | None) -> dict[str, Any] | None:
    """The lines around, with what happened on each."""
    lines = [(r, line) for r in trace.rows if (line := line_of(r.place)) is not None]
    if not lines:
        return None
    centre = line_of(first[0].place) if first is not None else lines[0][1]
    if centre is None:
        centre = lines[0][1]
    every = linecache.getlines(centre.file)
    if not every:
        return None
    marks: dict[int, dict[str, str]] = {}
    again = any(r.back in ("origin", "propagated") for r in trace.back_order)
    for row, line in lines:
        if line.file == centre.file:
            marks.setdefault(line.line, {}).update(_marks(row, first, again))
    ended = [line for file, line in trace.ended if file == centre.file and line is not None]
    if ended:
        marks.setdefault(ended[-1], {})["ended here"] = "failed"
    at = centre.line
    if centre.cell is not None and len(every) <= LINES:
        span = range(1, len(every) + 1)
    else:
        span = range(max(1, at - AROUND), min(len(every), at + AROUND) + 1)
    parts = [
        {
            "number": n,
            "text": every[n - 1].rstrip("\n"),
            "marks": [[w, s] for w, s in marks.get(n, {}).items()],
        }
        for n in span
    ]
    where = f"In [{centre.cell}]" if centre.cell is not None else centre.file
    return {"where": where, "lines": parts}


def _marks(row: Row, first: tuple | None, again: bool) -> dict[str, str]:
    found = {}
    if first is not None and row is first[0]:
        found["starts here" if first[1] == "forward" else "starts here in backward"] = "origin"
    elif row.state == "origin":
        found["another origin"] = "origin"
    if row.state == "healed":
        found["healed forward only" if again else "healed"] = "healed"
    if row.back == "origin" and not (first is not None and row is first[0] and first[1] == "backward"):
        found["bad again in backward"] = "origin"
    return found
