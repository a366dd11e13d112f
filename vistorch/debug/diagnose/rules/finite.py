"""Values that are not finite: where the first one came from, forward and backward.

Invariant: the op that is named is the first to give a value that is not finite, infinities of a mask apart; for a
gradient, the first that overflows or has no finite slope at a value it was given.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...lineage import Value, ancestors
from ..finding import BAD, EXACT, Finding, number
from ..heads import array
from .base import Rule

THROWN = 1.0  # a step changed a weight by more than all of it
GROWN = 10.0  # times the loss before: it had left its course
MASKS = ("masked_fill", "full", "where", "triu")
# where an op's slope is infinite or missing: a test of its first input
EDGES = {
    "sqrt": lambda x: x == 0,
    "rsqrt": lambda x: x == 0,
    "norm": lambda x: x == 0,
    "std": lambda x: x == 0,
    "log": lambda x: x == 0,
    "log2": lambda x: x == 0,
    "log10": lambda x: x == 0,
    "acos": lambda x: np.abs(x) >= 1,
    "asin": lambda x: np.abs(x) >= 1,
    "atanh": lambda x: np.abs(x) >= 1,
    "reciprocal": lambda x: x == 0,
    "acosh": lambda x: x <= 1,
}
MEANS = {
    "log": "log of 0 or less",
    "sqrt": "square root",
    "div": "division",
    "exp": "exp",
    "pow": "power",
    "acos": "acos",
}


class NotFinite(Rule):
    """The first value that is not finite.

    Meaning: a NaN or an infinity spreads to all that is computed from it; what matters is the first.
    Fires: when a loss, or a gradient that a step uses, is not finite. For a loss, the first op on its way whose
    result is not finite is named, infinities of a mask apart; for a gradient, the first op that has no finite slope
    at a value it was given, or overflows there. Of a loss whose weights were no longer finite, or that had grown
    tenfold, or before which a step had changed a weight by more than all of it, the rule on the course of the loss
    speaks instead.
    Wrong if: infinities are meant, as in masks; they are followed only from a loss that is not finite.
    Healthy programs tried: masks of -inf before a softmax, a log, a root and an acos kept away from their edges, an
    exp that is clamped, large finite numbers as masks, numbers that are kept from an edge before a choice between
    branches.
    """

    name, title, certainty, severity, cheap = "not finite", "values that are not finite", EXACT, BAD, True

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.first: dict[str, Any] | None = None
        self.before: Any = None  # the newest pass whose loss was finite

    def at_pass(self, p: Any) -> None:
        """Look at the loss."""
        if self.first is not None or p.root is None:
            return
        if p.loss is not None and not self.ev.ledgers and self._by_hand():
            leaf = next((v for v in p.leaves if not _finite(v._data)), None)
            if leaf is not None:
                found = self._gradient(self.before, leaf, leaf._data, self.ev.passes - 1)
                if found["op"]:
                    self.first = found
                    return
        if p.loss is not None and not np.isfinite(p.loss):
            self._loss(p)
        else:
            self.before = p

    def _loss(self, p: Any) -> None:
        before = [x for _, x, _ in self.ev.losses[:-1] if np.isfinite(x)]
        origin = None
        for v in sorted(ancestors(p.root), key=lambda v: v.seq):
            d = array(v)
            if d is None or d.dtype.kind not in "fc":
                continue
            if not np.isfinite(d).all():
                origin = v
                if v.op != "source" or not v.needs:
                    [array(x) for x in v.parents]
                    # a mask of -inf that goes on to a softmax is meant
                    if v.op in MASKS and not np.isnan(d).any():
                        continue
                break
        weights = origin is not None and origin.op == "source" and origin.needs
        self.first = {
            "what": "loss",
            "step": self.ev.steps + 1,
            "kind": "NaN" if np.isnan(p.loss) else "infinite",
            "place": None if origin is None else origin.place,
            "op": "" if origin is None else origin.op,
            "weights": weights,
            "source": origin is not None and origin.op in ("source", "alias") and not weights,
            "facts": None if origin is None else facts(origin),
            "back": p.place,
            "before": before[-12:],
            "start": before[:3],
            "module": None if origin is None else origin.module,
            "tensor": None if origin is None else origin.tensor,
            "fed": p.calls[0].place if p.calls else None,
        }

    def at_step(self, ledger: Any) -> None:
        """Look at the gradients of a step whose losses were finite."""
        if self.first is not None:
            return
        bad = None
        for h in ledger.each:
            g = h.tensor._grad
            d = None if g is None else g._data
            if isinstance(d, np.ndarray) and not _finite(d):
                bad = h
                break
        if bad is None:
            return
        self.first = self._gradient(self.ev.last, bad.tensor, bad.tensor._grad._data, ledger.steps + 1)

    def _by_hand(self) -> bool:
        """Whether the pass before is known, and its loss had not left its course."""
        p = self.before
        if p is None or p.root is None or p.loss is None or not p.accumulates or not self.ev.losses:
            return False
        return bool(abs(p.loss) <= GROWN * abs(self.ev.losses[0][1]) + 1e-12)

    def _gradient(self, p: Any, leaf: Any, bad: Any, step: int) -> dict[str, Any]:
        """What is known of a gradient that is not finite, and the op that it comes from.

        Args:
            p: the pass it came of.
            leaf: whose it is.
            bad: it, or what it has spoiled.
            step: that used it.
        """
        v = found = hider = None
        if p is not None and p.root is not None:
            every = [one for one in sorted(ancestors(p.root), key=lambda v: v.seq) if one.needs]
            v = next((one for one in every if _spoils(one)), None)
            if v is not None:
                found, hider = facts(v), _hider(v, every)
            else:
                v, found = next(((one, e) for one in every if (e := _edge(one))), (None, None))
        return {
            "what": f"gradient of {self.ev.name_of(leaf) or 'a parameter'}",
            "step": step,
            "kind": "NaN" if np.isnan(bad).any() else "infinite",
            "place": None if v is None else v.place,
            "op": "" if v is None else v.op,
            "weights": False,
            "source": False,
            "facts": found,
            "hider": hider,
            "back": None if p is None else p.place,
            "before": [x for _, x, _ in self.ev.losses[-12:] if np.isfinite(x)],
            "start": [x for _, x, _ in self.ev.losses[:3] if np.isfinite(x)],
            "module": None if v is None else v.module,
            "tensor": None,
            "fed": None,
            "slope": True,
        }

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        f = self.first
        if f is None:
            return
        what = f["what"][0].upper() + f["what"][1:]
        before, start = f["before"], f["start"]
        grown = (
            len(before) > 1 and bool(start) and max(abs(x) for x in before) > GROWN * abs(start[0]) + 1e-12
        )
        proof: list = [
            ("first in step", f["step"]),
            ("losses before", ", ".join(number(x) for x in before[-5:]) or "none"),
        ]
        if f["facts"]:
            proof.append(f["facts"])
        moves = [
            m for one in self.ev.ledgers.values() for h in one.each for _, m in h.moves if h.tensor.ndim >= 2
        ]
        thrown = max(moves, default=0.0) > THROWN and len(before) >= 2 and not f["source"]
        if f["weights"] or ((grown or thrown) and not f.get("slope")):
            self.ev.diverged = f
            if len(before) >= 2 or f["weights"]:
                return  # the run diverged: it is for the rule that looks at the course
        op = f["op"]
        if f["source"]:
            text = (
                f"{what} is {f['kind']} from step {f['step']:,} on: the data it was computed from holds it."
            )
            place, label = f["place"] or f["fed"] or f["back"], "is given it"
        elif op:
            fact = f" ({f['facts'][0]}: {f['facts'][1]})" if f["facts"] else ""
            hider = f.get("hider")
            ends = (
                f"{op} gives what is not finite{fact}, and {hider.op} hides it."
                if hider is not None
                else f"{op} has no finite slope there{fact}."
                if f.get("slope")
                else f"it comes from {op}{fact}."
            )
            text = f"{what} is {f['kind']} from step {f['step']:,} on: {ends}"
            place, label = f["place"], "first one"
        else:
            text, place, label = (
                f"{what} is {f['kind']} from step {f['step']:,} on.",
                f["back"],
                "starts the pass",
            )
        yield self.found(
            text,
            place,
            label,
            also=None if f.get("hider") is None else (f["hider"].place, "hides it"),
            layer=self.ev.module_name(f["module"]) if f["module"] is not None else "",
            related=self.lines((f["back"], "backward")) if op else [],
            proof=proof,
            confirm=("torch.isfinite of what goes into that line, and of what comes out", "True, then False"),
            unless="",
            advice=ADVICE.get(
                op, "Keep what goes into it away from its edge, as by clamp or a small constant."
            ),
            weight=10.0,
            explains=(
                "diverges",
                "learns nothing",
                "course",
                "dead units",
                "saturated",
                "too small",
                "big start",
                "equal units",
            ),
        )


ADVICE = {
    "log": "Use log_softmax, or clamp what goes into log: x.clamp(min=1e-8).",
    "sqrt": "Add a small constant before the root: (x + 1e-12).sqrt().",
    "div": "Keep the divisor away from 0: a / (b + 1e-8).",
    "exp": "Subtract the largest value first, or use logsumexp or softmax.",
    "norm": "Add a small constant before the root.",
    "acos": "Clamp what goes into acos to -1 + 1e-7 ... 1 - 1e-7.",
}


def facts(v: Value) -> tuple[str, str] | None:
    """What of an op's inputs explains what it gave."""
    for i, x in enumerate(v.ins):
        d = array(x) if x.__class__ is Value else None
        if d is None or d.dtype.kind != "f" or not np.isfinite(d).all():
            continue
        if v.op in ("log", "log2", "log10") or (v.op in ("div", "reciprocal") and i == len(v.ins) - 1):
            n, low = int((d == 0).sum()), int((d < 0).sum())
            if n:
                return "inputs that are 0", f"{n} of {d.size}"
            if low and v.op.startswith("log"):
                return "inputs below 0", f"{low} of {d.size}"
        if v.op in ("sqrt", "pow", "rsqrt") and (d < 0).any():
            return "inputs below 0", f"{int((d < 0).sum())} of {d.size}"
        if v.op in ("exp", "pow", "mul", "square", "expm1", "cosh"):
            return "largest input", number(float(np.abs(d).max()))
    return None


def _squares(x: np.ndarray) -> np.ndarray:
    """Where a divisor, or its square, which the slope divides by, is 0 or too large for its type."""
    most = np.sqrt(np.finfo(x.dtype).max)
    return (np.abs(x) > most) | (np.abs(x) < 1 / most)


def _finite(d: Any) -> bool:
    """Whether all real numbers of an array are finite; their squares are summed first, which is fast."""
    if not isinstance(d, np.ndarray) or d.dtype.kind != "f":
        return True
    total = float(np.vdot(d, d).real)
    return total - total == 0.0 or bool(np.isfinite(d).all())


def _spoils(v: Value) -> bool:
    """Whether an op made a NaN, or of finite numbers an infinity; not one that puts an infinity in as a mask."""
    out = array(v)
    if out is None or out.dtype.kind not in "fc" or not v.parents or np.isfinite(out).all():
        return False
    given = [d for x in v.parents if (d := array(x)) is not None and d.dtype.kind in "fc"]
    if np.isnan(out).any():
        if v.op.startswith("log") and not any((d == 0).any() for d in given):
            return False  # below 0 its slope is finite
        return not any(np.isnan(d).any() for d in given)
    return v.op not in MASKS and all(np.isfinite(d).all() for d in given)


def _hider(v: Value, later: list[Value]) -> Value | None:
    """The first op that was given what is not finite, as it came of a value, and whose result is.

    Args:
        v: the value.
        later: values of the same history, the older first.
    """
    spoiled = {id(v)}
    for one in later:
        if one.seq > v.seq and any(id(x) in spoiled for x in one.parents):
            d = array(one)
            if d is not None and np.isfinite(d).all():
                return one
            spoiled.add(id(one))
    return None


def _edge(v: Value) -> tuple[str, str] | None:
    """Where an op has no finite slope: how many of its inputs are there."""
    first = v.ins[0] if v.ins and v.ins[0].__class__ is Value else None
    d = array(first)
    if d is None or d.dtype.kind != "f":
        return None
    test = EDGES.get(v.op)
    if v.op == "pow" and len(v.ins) > 1 and v.ins[1].__class__ is not Value and v.ins[1] < 1:
        test = EDGES["sqrt"]
    if v.op == "pow" and len(v.parents) > 1:
        exponent = array(v.parents[1])
        if exponent is None:
            return None
        if v.parents[1].needs and (d < 0).any():  # its slope there is a logarithm
            return "inputs below 0", f"{int((d < 0).sum())} of {d.size}"
        n = int(((d == 0) & (exponent < 1) & (exponent != 0)).sum())
        return ("inputs at its edge", f"{n} of {d.size}") if n else None
    if v.op == "pow" and v.consts and isinstance(v.consts[0], (int, float)) and v.consts[0] < 1:
        test = EDGES["sqrt"]
    if v.op in ("div", "true_divide") and len(v.parents) > 1:
        d = array(v.parents[1])
        test = _squares
        if d is None:
            return None
    if v.op.startswith(("norm", "linalg_vector_norm", "std", "vector_norm")):
        out = array(v)
        n = 0 if out is None else int((out == 0).sum())
        return ("results that are 0", f"{n} of {out.size}") if n and out is not None else None
    if test is None:
        return None
    n = int(test(d).sum())
    return ("inputs at its edge", f"{n} of {d.size}") if n else None


RULES = (NotFinite,)
