"""What a reader is asked at a step before its gradients are shown: a number, a sign, or a shape.

A number is asked for where it can be done in the head: an entry that at most two products give. Where none is, a
shape, if it changes, or else a sign. Invariant: what a question says is known is enough for its answer, and asking
changes nothing of the pass.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.base.numpy_warnings import without_warnings
from ..breaks.kinds import short
from ..device_reads import stays
from ..numbers import host, plain
from .numbers import Known, Numbers, Solved, place_of, solved
from .schema import Known as KnownState
from .schema import Question
from .why import why_of
from .words import index, number, shape

MOST = 12  # questions of one pass
ENTRIES = 24  # entries that are looked at for one that is easy
PRODUCTS = 2
FEW = 8  # entries of which the last is asked for; of more, one anywhere
SLIGHT = 1e-6  # of the largest entry: what is smaller has no sign to guess
HINT_SHAPE = "which tensor is this the gradient of, and what is its shape?"
HINT_SIGN = "the sign of what arrived, times that of the slope"


@dataclass
class Asked:
    """What is known of a step when it is taken, of which a question can be made.

    Args:
        frame: the step, as the stepper gives it.
        incoming: the gradient that came in, as hooks left it.
        known: what the formulas of its node may name.
        written: formulas with numbers, by input.
        source: who sent what arrived, "" for the start of the pass.
        names: what the inputs are called, by their names in the row.
        target: what a node is called, by its number.
        leaf: whether a node is a leaf.
    """

    frame: Any
    incoming: Any
    known: Known | None
    written: Mapping[str, Numbers]
    source: str
    names: Mapping[str, str]
    target: Callable[[int], str]
    leaf: Callable[[int], bool]

    def question(self) -> Question | None:
        """The question of this step, or None where there is nothing to ask."""
        flow = self._flow()
        if flow is None or isinstance(self.incoming, list) or self.incoming is None:
            return None
        if any(stays(one) for one in (flow.gradient, self.incoming)):  # only its shape is asked for
            shapes = tuple(self.incoming.shape), tuple(flow.gradient.shape)
            return self._shape(flow, *shapes) if shapes[0] and shapes[0] != shapes[1] else None
        sent, came = plain(host(flow.gradient)), host(self.incoming)
        if not sent.size or sent.dtype.kind != "f" or np.iscomplexobj(came):
            return None
        with without_warnings():
            found = solved(self.known, flow.input, flow.gradient) if self.known is not None else None
            at = None if found is None else self._easy(found)
            if found is not None and at is not None:
                return self._number(flow, found, at)
        if sent.shape != came.shape and came.ndim:
            return self._shape(flow, came.shape, sent.shape)
        return self._sign(flow, sent, np.broadcast_to(plain(came), sent.shape), bool(came.ndim))

    def _flow(self) -> Any:
        """What is asked about: the gradient that goes on, or else what the first leaf gets."""
        flows = [f for f in self.frame.outgoing if f.to is not None and f.gradient is not None]
        return next((f for f in flows if not self.leaf(f.to)), flows[0] if flows else None)

    def _easy(self, found: Solved) -> tuple[int, ...] | None:
        """An entry that can be done in the head."""
        result = found.result
        for flat in _entries(result.size, self.frame.index):
            at = tuple(int(i) for i in np.unravel_index(flat, result.shape))
            if np.isfinite(result[at]) and found.products(at) <= PRODUCTS:
                known = [value for *_, value in found.read(at)]
                if all(value is None or np.isfinite(value) for value in known):
                    return at
        return None

    # ---- kinds ------------------------------------------------------------------------------------------------
    def _number(self, flow: Any, found: Solved, at: tuple[int, ...]) -> Question:
        numbers, of = found.written(at), self.target(flow.to)
        alike = numbers.at is None
        knows: list[KnownState] = []
        for symbol, role, name, value in found.read(at):
            if role == "gradient":
                knows.append(self._came(value, None if alike or value is None else at))
            elif role:
                knows.append(self._forward(symbol, name, value, None if alike else at))
        if any(one["value"] is None for one in knows):
            knows = [one for one in knows if one["value"] is not None]
        said = numbers.text if alike else numbers.text.removeprefix(f"{index(at)}: ")
        named = self._named(flow, of)
        if found.result.size == 1:
            asks = f"What gradient does {of} get?" if named else f"What flows on to {of}?"
        elif alike:
            many = f"each of the {found.result.size:,} entries"
            asks = (
                f"What gradient does {many} of {of} get?" if named else f"What flows on to {of}, at {many}?"
            )
        elif named:
            asks = f"What gradient does {of}{index(at)} get?"
        else:
            asks = f"What flows on to {of}, at {index(at)}?"
        return self._made("number", flow, asks, knows, at, found.result[at].item(), said, self._hint(numbers))

    def _shape(self, flow: Any, came: tuple[int, ...], sent: tuple[int, ...]) -> Question:
        of = self.target(flow.to)
        knows: list[KnownState] = [
            {"letter": "g", "name": "", "text": self._arrived(), "value": None, "shape": list(came)}
        ]
        kept = None if self.known is None else self.known.inputs
        for name, value in (kept or {}).items():
            if name != flow.input and hasattr(value, "shape") and value.shape:
                text = self.names.get(name) or name
                knows.append(
                    {"letter": "", "name": text, "text": "went in", "value": None, "shape": list(value.shape)}
                )
        asks = (
            f"What shape has the gradient of {of}?"
            if self._named(flow, of)
            else f"What shape flows on to {of}?"
        )
        made = self._made("shape", flow, asks, knows, None, None, shape(sent), HINT_SHAPE)
        return {**made, "shape": list(sent), "choices": []}

    def _sign(self, flow: Any, sent: np.ndarray, came: np.ndarray, many: bool) -> Question | None:
        most = float(np.abs(sent[np.isfinite(sent)]).max(initial=0))
        written = self.written.get(flow.input)
        places = [written.at] if written is not None and written.at is not None else []
        places += [np.unravel_index(flat, sent.shape) for flat in _entries(sent.size, self.frame.index)]
        for place in [*places, place_of(sent)]:
            at = tuple(int(i) for i in place)
            value = float(sent[at])
            if not math.isfinite(value) or not math.isfinite(float(came[at])):
                continue
            if value == 0 or abs(value) > SLIGHT * most:
                break
        else:
            return None
        of, where = self.target(flow.to), "" if sent.size == 1 else index(at)
        named = self._named(flow, of)
        asks = (
            f"Which sign has the gradient of {of}{where}?"
            if named
            else f"Which sign has what flows on to {of}"
        )
        asks = asks if named else f"{asks}{f', at {where}' if where else ''}?"
        knows = [self._came(float(came[at]), at if many and where else None)]
        out = None if self.known is None else self.known.outputs.get("out")
        if out is not None and tuple(out.shape) == sent.shape:
            knows.append(self._forward("", "out", float(plain(host(out))[at]), at if where else None))
        knows += self._picked(sent.shape, at)
        said = number(value)
        if written is not None and written.at == at:
            said = written.text.removeprefix(f"{index(at)}: ")
        sign = (value > 0) - (value < 0)
        made = self._made("sign", flow, asks, knows, at, float(sign), said, HINT_SIGN)
        return {**made, "choices": ["−", "0", "+"]}

    def _picked(self, size: tuple[int, ...], at: tuple[int, ...]) -> list[KnownState]:
        """What an input of whole numbers says of the sample: its class."""
        found: list[KnownState] = []
        for name, value in ({} if self.known is None else self.known.inputs).items():
            if not hasattr(value, "shape") or tuple(value.shape) != size[:1] or len(size) < 2:
                continue
            classes = plain(host(value))
            if classes.dtype.kind in "iu":
                called, text = f"{self.names.get(name) or name}{index(at[:1])}", "the class of this sample"
                one = float(classes[at[0]])
                found.append({"letter": "", "name": called, "text": text, "value": one, "shape": None})
        return found

    # ---- words ------------------------------------------------------------------------------------------------
    def _named(self, flow: Any, of: str) -> bool:
        """Whether what is asked about is a variable or a parameter, which has a gradient of its own."""
        return self.leaf(flow.to) or self.names.get(flow.input, "") == of

    def _arrived(self) -> str:
        return f"arrived from {self.source}" if self.source else "starts the pass"

    def _came(self, value: Any, at: tuple[int, ...] | None) -> KnownState:
        text = self._arrived() + (f", at {index(at)}" if at else "")
        return {"letter": "g", "name": "", "text": text, "value": _float(value), "shape": None}

    def _forward(self, symbol: str, name: str, value: Any, at: tuple[int, ...] | None) -> KnownState:
        where = index(at) if at else ""
        if name == "out":
            said = f"forward gave here{f', at {where}' if where else ''}"
            return {"letter": symbol or "y", "name": "", "text": said, "value": _float(value), "shape": None}
        called = self.names.get(name, "")
        if called:
            text, letter = "went in", ""
            many = self.known is not None and math.prod(getattr(self.known.inputs.get(name), "shape", ())) > 1
            called = f"{called}{where}" if many else called
        else:
            text, letter = f"went in{f', at {where}' if where else ''}", symbol
        return {"letter": letter, "name": called, "text": text, "value": _float(value), "shape": None}

    def _hint(self, numbers: Numbers) -> str:
        """The formula in the names of the code."""
        said = ""
        for kind, part in numbers.parts:
            if kind != "array":
                said += str(part)
            elif part["role"] == "gradient":
                said += "g"
            elif part["role"] == "forward":
                said += self.names.get(part["input"], "") or part["symbol"]
        return said.removesuffix(" = ")

    def _made(
        self,
        kind: Any,
        flow: Any,
        asks: str,
        knows: list[KnownState],
        at: tuple[int, ...] | None,
        answer: float | None,
        working: str,
        hint: str,
    ) -> Question:
        why = why_of(short(self.frame.name), kind, answer)
        return {
            "kind": kind,
            "asks": asks,
            "input": flow.input,
            "at": None if at is None else list(at),
            "knows": knows,
            "choices": [],
            "answer": answer,
            "shape": [],
            "working": working,
            "why": why,
            "hint": hint,
        }


def thinned(asked: list[tuple[int, Asked]], most: int = MOST) -> list[tuple[int, Question]]:
    """The questions of a pass by frame: of more than `most`, as many, spread over the whole pass.

    Args:
        asked: what is known of each frame, by its number.
        most: how many are kept.
    """
    found: list[tuple[int, Question]] = []
    for i, one in _spread(asked, 2 * most):
        question = one.question()
        if question is not None:
            found.append((i, question))
    return _spread(found, most)


def _spread(items: list[Any], most: int) -> list[Any]:
    """As many of a list, the first and the last among them."""
    if len(items) <= most:
        return items
    return [items[round(k * (len(items) - 1) / (most - 1))] for k in range(most)]


def _entries(size: int, seed: int) -> list[int]:
    """Entries to try: of a few the last first, of many some that lie apart, the same ones each time."""
    if size <= FEW:
        return list(range(size - 1, -1, -1))
    return [(2654435761 * (seed + 7) * (k + 1) >> 5) % size for k in range(ENTRIES)]


def _float(value: Any) -> float | None:
    return None if value is None else float(value)
