"""An entry of what a node sent as the sum of the chain rule: gradients that came in, each times a slope.

For nodes whose formula is no plain arithmetic: softmax, a convolution, pooling, a gather. The slopes are read off the
node itself: its own formulas are given one unit gradient after another.

Invariant: nothing of the node or the pass changes, and terms that do not give what was sent are not shown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...engine.base.numpy_warnings import without_warnings
from ..device_reads import Answer, Batch, current
from ..numbers import host, plain
from .numbers import Known, Numbers, numbers_of, place_of, signed, size_of, sum_of
from .words import index, number

UNITS = 64  # unit gradients that are sent for one node
MOST = 4096  # elements of a gradient, in or out
Vjp = Callable[[Any, list], list | None]
NOTE = "gradients that came in, each times the slope of the output there"


def numbers_in(frame: Any, known: Known, incoming: Any, vjp: Vjp) -> dict[str, Numbers]:
    """What a step sent, with numbers, by input: as its formula says, or else as the terms of an entry.

    Args:
        frame: the step.
        known: what is known of its node.
        incoming: the gradient that came in, as hooks left it.
        vjp: a node's gradients for others that come in, as a source has it.
    """
    return ask_numbers(current(), frame, known, incoming, vjp)()


def ask_numbers(
    batch: Batch, frame: Any, known: Known, incoming: Any, vjp: Vjp
) -> Callable[[], dict[str, Numbers]]:
    """The same in two steps, for several steps together: the slopes of nodes on a device come with a batch.

    Args:
        batch: what brings the slopes.
        frame: the step.
        known: what is known of its node.
        incoming: the gradient that came in, as hooks left it.
        vjp: as for `numbers_in`.
    """
    made, rest = {}, {}
    place = {formula.input: k for k, formula in enumerate(frame.formulas)}
    for flow in frame.outgoing:
        numbers = numbers_of(known, flow.input, flow.gradient)
        if numbers is not None:
            made[flow.input] = numbers
        elif flow.input in place:
            rest[place[flow.input]] = flow.gradient
    slopes = ask_slopes(batch, frame.node, incoming, rest, vjp) if rest else None

    def read() -> dict[str, Numbers]:
        found = {} if slopes is None else slopes()
        return made | {frame.formulas[k].input: numbers for k, numbers in found.items()}

    return read


def ask_slopes(
    batch: Batch, node: Any, incoming: Any, sent: dict[int, Any], vjp: Vjp
) -> Callable[[], dict[int, Numbers]]:
    """By input, one entry of what was sent there with its terms; what is not known is left out.

    Args:
        batch: what brings the slopes.
        node: the node, which still has what it saved.
        incoming: the gradient that came, a list of them for a node with several outputs.
        sent: what the node sent, by the number of the input.
        vjp: as for `numbers_in`.
    """
    many = isinstance(incoming, list)
    given = [g for g in (*(incoming if many else [incoming]), *sent.values()) if g is not None]
    if any(size_of(g) > MOST for g in given):
        return dict
    came = [None if g is None else plain(host(g)) for g in (incoming if many else [incoming])]
    results = {k: plain(host(g)) for k, g in sent.items()}
    arrays = [a for a in (*came, *results.values()) if a is not None]
    if any(a.dtype.kind != "f" for a in arrays):
        return dict
    # a gradient of zero may have its part in what is not finite
    bad = not all(np.isfinite(r).all() for r in results.values())
    units = [
        (o, i, float(g[i]))
        for o, g in enumerate(came)
        if g is not None
        for i in np.ndindex(g.shape)
        if bad or g[i] != 0
    ]
    if not 0 < len(units) <= UNITS:
        return dict
    places = {k: place_of(r) for k, r in results.items() if r.size}
    terms: dict[int, list[tuple[float, Answer]]] = {k: [] for k in places}
    try:
        with without_warnings():
            for o, i, value in units:
                found = vjp(node, _unit(came, o, i))
                if found is None:
                    return dict
                for k, at in places.items():
                    data = getattr(found[k], "_data", found[k])
                    terms[k].append((value, batch.ask(data, [data[at]], _float)))
    except Exception:  # what was saved was overwritten since, or a formula wants more than a unit
        return dict

    def read() -> dict[int, Numbers]:
        written = {
            k: _written([(value, slope.value) for value, slope in terms[k]], results[k], at)
            for k, at in places.items()
        }
        return {k: numbers for k, numbers in written.items() if numbers is not None}

    return read


def _float(parts: list) -> float:
    return float(parts[0])


def _unit(came: list, o: int, i: tuple[int, ...]) -> list:
    """A gradient that is one in one place."""
    units = [None if g is None else np.zeros(g.shape, g.dtype) for g in came]
    unit: Any = units[o]
    unit[i] = 1
    return units


def _written(terms: list[tuple[float, float]], result: np.ndarray, at: tuple[int, ...]) -> Numbers | None:
    value = result[at]
    with np.errstate(all="ignore"):
        products = [g * slope for g, slope in terms]
        total, size = sum(products), sum(abs(p) for p in products)
    if not np.isclose(total, float(value), rtol=1e-3, atol=1e-4 * size, equal_nan=True):
        return None
    kept = [term for term, p in zip(terms, products, strict=True) if p != 0] or terms[:1]
    text = sum_of(len(kept), [_term(g, slope) for g, slope in kept])
    short = number(value.item())
    line = short if text == short else f"{text} = {short}"
    where = at if result.size > 1 else None
    line = line if where is None else f"{index(where)}: {line}"
    slopes = any(slope != 1 for _, slope in kept)
    return Numbers(line, "", [("op", line)], where, NOTE if slopes else "")


def _term(g: float, slope: float) -> str:
    return number(g) if slope == 1 else f"{number(g)} · {signed(slope)}"
