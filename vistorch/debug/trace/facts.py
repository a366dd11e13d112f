"""What is around a bad value, put together from the arrays of one op: what went in, what came out, and how.

Invariant: arrays of any library are taken as they are and only parts of them are kept.
"""

from __future__ import annotations

from typing import Any

from ..line_lookup import segment_of
from ..numbers import host, plain
from ..steps.numbers import numbers_of
from ..steps.words import index, number, shape
from .bad_value import BadValue, bad_mask, largest, matching, places, table
from .names import entry, inputs_of
from .row import Row

WHOLE = frozenset(
    ("bmm", "convolution", "dot", "logsumexp", "mm", "mv")
)  # beside reductions: no entry explains one


def forward_facts(row: Row, ins: list, outs: list, bound: float | None) -> BadValue:
    """What is around the first bad value of an op's output.

    Args:
        row: the op.
        ins: its inputs, arrays and plain numbers.
        outs: its outputs, arrays, of which at least one is bad.
        bound: also an absolute value above this is bad.
    """
    out = next(d for d in outs if bad_mask(d, bound).any())
    at, which = places(out, bound)
    first = tuple(int(i) for i in at[0])
    facts = BadValue(at, which, int(bad_mask(out, bound).sum()), int(out.size))
    names = inputs_of(segment_of(row.place), getattr(row.rule, "inputs", ()), len(ins), row.name)
    parts = []
    entries = not _reduces(row.rule, ins, out)
    for name, d in zip(names, ins, strict=False):
        if not hasattr(d, "dtype"):
            parts.append(
                f"{name} = {number(d)}"
                if isinstance(d, (int, float, complex)) and name != str(d)
                else str(name)
            )
            continue
        place = matching(first, out.shape, d.shape) if entries else None
        where = place if place is not None else largest(d)
        facts.inputs.append(table(name, d, where, bound))
        if not d.size:
            parts.append(f"{name} ({shape(d.shape)}, empty)")
            continue
        value = number(plain(host(d))[where].item())
        if place is None:
            parts.append(f"{name} ({shape(d.shape)}, largest {value} at {index(where)})")
        else:
            parts.append(f"{entry(name, index(where) if where else '')} = {value}")
    facts.outputs.append(table(row.name, out, first, bound))
    result = number(plain(host(out))[first].item())
    facts.how = (
        f"{row.name} of {' and '.join(parts)} gives {result}" if parts else f"{row.name} gives {result}"
    )
    return facts


def backward_facts(
    row: Row,
    inputs: tuple[str, ...],
    edges: int,
    incoming: list,
    known: Any,
    edge: int,
    d: Any,
    bound: float | None,
) -> BadValue:
    """What is around the first bad gradient that a node sent.

    Args:
        row: the op.
        inputs: what its rule calls its inputs.
        edges: how many of them get a gradient.
        incoming: the gradients that came in.
        known: what the formulas of the node may name, None where no rule is known.
        edge: which input the bad gradient is for.
        d: that gradient, an array.
        bound: also an absolute value above this is bad.
    """
    at, which = places(d, bound)
    first = tuple(int(i) for i in at[0])
    facts = BadValue(at, which, int(bad_mask(d, bound).sum()), int(d.size))
    names = inputs_of(segment_of(row.place), inputs, edges, row.name)
    for x in incoming:
        facts.inputs.append(_around("incoming gradient", x, first, d.shape, bound))
    how = ""
    if known is not None:
        for name, value in (*known.inputs.items(), *known.outputs.items()):
            called = names[inputs.index(name)] if name in inputs[: len(names)] else "its output"
            if hasattr(value, "shape"):
                facts.inputs.append(_around(called, value, first, d.shape, bound))
        numbers = numbers_of(known, inputs[edge], d) if edge < len(inputs) else None
        if numbers is not None:
            how = numbers.text.split(": ", 1)[-1]
    facts.outputs.append(
        table(f"gradient of {names[edge]}" if edge < len(names) else "gradient", d, first, bound)
    )
    if not how:
        result = number(plain(host(d))[first].item())
        value = next(
            (
                number(plain(host(x))[m].item())
                for x in incoming
                if (m := matching(first, d.shape, tuple(x.shape))) is not None
            ),
            "",
        )
        how = f"a gradient of {value} becomes {result}" if value else f"it gives {result}"
    facts.how = how
    return facts


def _around(name: str, x: Any, at: tuple, to: tuple, bound: float | None) -> Any:
    x = host(x)
    place = matching(at, to, x.shape)
    return table(name, x, place if place is not None else largest(x), bound)


def _reduces(rule: Any, ins: list, out: Any) -> bool:
    """Whether one entry of the output follows from many of an input."""
    if getattr(rule, "name", "") in WHOLE:
        return True
    return any(d.size > out.size for d in ins if hasattr(d, "dtype"))
