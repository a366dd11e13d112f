"""Terms that have no history: they stand in a sum beside others that have one, and teach nothing.

Invariant: a term is looked at in the history of the loss alone, and what ends its history was seen there.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from ...lineage import SHAPED, Value, ancestors, beyond
from ..evidence import LAYERS
from ..finding import LINEAGE, WRONG, Finding
from ..heads import DISTANCES
from .base import Counting
from .reach import STEPWISE

MEANS = ("mean_all", "sum_all", "mean_dims", "sum_dims", "mean", "sum")
SUMS = ("add", "sub", "add_scaled", "sub_scaled", "rsub")
SCALES = ("mul", "rmul", "div")
STACKS = ("stack", "cat")
CUTS = ("detach", "data", "no history")
BENT = ("pow", "square", "abs", "sqrt", "log1p", *DISTANCES)  # what a residual goes through
TERMS = 64  # values of a sum that are looked at
BELOW = 600  # values that a term was computed from
LIVE = 6000  # values that the others were computed from
LOOKS = 3


def size_of(v: Value) -> int:
    """How many elements a value has."""
    n = 1
    for s in v.shape:
        n *= s
    return n


def summands(root: Value) -> tuple[list[Value], list[Value], list[tuple[Value, float]]]:
    """The terms of a loss: those with a history, those without one, and the numbers that are added.

    Args:
        root: the loss.
    """
    live: list[Value] = []
    still: list[Value] = []
    numbers: list[tuple[Value, float]] = []
    waiting, left = [root], TERMS
    while waiting and left:
        v, left = waiting.pop(), left - 1
        parents = v.parents
        if not v.needs:
            still.append(v)
        elif v.op in SUMS:
            waiting += parents
            numbers += [(v, float(x)) for x in v.ins if x.__class__ is not Value]
        elif v.op in SCALES and len(parents) == 1 and v.ins[0].__class__ is Value:
            waiting += parents
        elif v.op in SCALES and len(parents) == 2 and not parents[1].needs and size_of(parents[1]) == 1:
            waiting.append(parents[0])
        elif v.op == "neg" or v.op in MEANS or v.op in SHAPED:
            waiting.append(parents[0])
        elif v.op in STACKS and all(size_of(x) == 1 for x in parents):
            waiting += parents
        else:
            live.append(v)
    return live, still, numbers


def plain(v: Value) -> bool:
    """Whether a value is a sum, a mean or a multiple of what it came from."""
    if v.op in SUMS or v.op in SHAPED or v.op in MEANS or v.op in STACKS or v.op == "neg":
        return True
    return v.op in SCALES and len(v.parents) == 1


class ConstantTerm(Counting):
    """A term of the loss is computed from outputs of the model that have no history: it teaches nothing.

    Meaning: a loss teaches through the history of what it was computed from; log-probabilities that were stored
    under `no_grad()`, or outputs that are detached, have none.
    Fires: when in three looks the loss that an optimizer's step follows is a sum of which one term has no history,
    though it was computed outside of `no_grad()`, by more than sums, means and multiples of numbers, and others have
    one; and this term came, through nothing that compares or rounds, from what a layer gave under `no_grad()` that no
    other term came from, or from what was detached with more than one element and that no other term came from
    without its history; in the latter case, where another term came from it with its history, the term came from
    nothing else. A parameter of that layer, or one that the detached came from, is one that the pass reaches and that
    this optimizer holds, and no term with a history was ever computed in that line. Likewise when the number that is
    added is what `item()` gave of a value, of which no other term came, in the same turn.
    Wrong if: the term is shown with the loss and not meant to be learned from.
    Healthy programs tried: advantages and targets of actor-critics, old log-probabilities in ratios and in
    divergences, straight-through sums, `loss - loss.detach()`, terms that are detached as a whole or computed under
    `no_grad()`, frozen critics and teachers, critics under `no_grad()` in a generator's turn, commitment losses,
    kernels of detached features, penalties on weights that are shown.
    """

    name, title, certainty, severity = "constant term", "terms of the loss", LINEAGE, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.pending: list[tuple] = []  # of the passes since the last step: place, cut, kind, parameters
        self.learned: set[Any] = set()  # places of terms that had a history
        self.taken: dict[float, tuple[Value, Any]] = {}  # numbers that `item()` gave in this turn
        self.turn = -1

    def at_taken(self, kind: str, value: Value, place: Any) -> None:
        """Numbers that may be added to a loss."""
        if kind != "item" or not self.ev.looked:
            return
        if self.turn != self.ev.turn:
            self.taken, self.turn = {}, self.ev.turn
        d = value.data
        if value.needs and d is not None and getattr(d, "size", 0) == 1 and len(self.taken) < TERMS:
            self.taken[float(d.reshape(-1)[0])] = value, place

    def at_look(self, p: Any) -> None:
        """Look at the terms of the loss."""
        if p.root is None or not p.accumulates or not p.root.needs or not self.ev.ledgers:
            return
        live, still, numbers = summands(p.root)
        self.learned.update((v.place, v.op) for v in live)
        self.learned.update((v.place, v.op) for one in live for v in _bends(one))
        still = [v for v in still if v.grad and v.op not in CUTS]
        taken = [(v, *self.taken[x]) for v, x in numbers if self.turn == self.ev.turn and x in self.taken]
        if not live or not (still or taken):
            return
        others = {id(v): v for one in live for v in itertools.islice(ancestors(one), LIVE)}
        detached = {id(beyond(v.ins[0])) for v in others.values() if v.op in CUTS and v.ins}
        reached = {id(x) for x in p.leaves}
        for term in still[:8]:
            found = self._cut(term, others, detached)
            if found is not None:
                top, kind, cut, held = found
                if mine := self._parameters(held) & reached:
                    self.pending.append(((top.place, top.op), cut.place, kind, mine))
        summed = (
            {id(v) for v in itertools.islice(ancestors(p.root, lambda a: a.needs), LIVE)} if taken else ()
        )
        for v, value, place in taken:
            if id(value) not in summed and value.op != "source":
                if mine := self._parameters([value]) & reached:
                    self.pending.append(((v.place, "item"), place, "item", mine))

    def _cut(
        self, term: Value, others: dict[int, Value], detached: set[int]
    ) -> tuple[Value, str, Value, list[Value]] | None:
        """What a term without a history was computed from that had one: the op, the kind, where, and what it was."""
        seen: set[tuple[int, bool]] = set()
        waiting: list[tuple[Value, Value | None]] = [(term, None)]
        found: list[tuple[Value, str, Value, list[Value]]] = []
        data, left = False, BELOW
        while waiting and left:
            v, top = waiting.pop()
            left -= 1
            if v.op in CUTS and v.ins and v.ins[0].__class__ is Value and v.ins[0].needs:
                base = beyond(v.ins[0])
                if top is not None and size_of(base) > 1 and id(base) not in detached and base.op != "source":
                    found.append((top, v.op, v, [base]))
                continue
            if not v.grad and any(x.needs for x in v.parents):
                if top is not None and v.op in LAYERS and id(v) not in others:
                    found.append((top, "no_grad", v, [x for x in v.parents if x.needs]))
            elif v.op in STEPWISE:
                continue
            elif not v.parents and size_of(v) > 1:
                data = True
            if v.grad and not plain(v) and top is None and v.op not in CUTS:
                top = v
            for x in v.parents:
                if not x.needs and (key := (id(x), top is None)) not in seen:
                    seen.add(key)
                    waiting.append((x, top))
        # a term of nothing but what was cut off is one of its own, whatever else that is used for
        found.sort(key=lambda one: one[1] != "no_grad")
        return next(
            (one for one in found if one[1] == "no_grad" or not data or id(one[3][0]) not in others), None
        )

    def _parameters(self, values: list[Value]) -> set[int]:
        """The parameters that values were computed from."""
        ids, found = {i for one in self.ev.ledgers.values() for i in one.held}, set()
        for v in values:
            for a in itertools.islice(ancestors(v, lambda a: a.needs), LIVE):
                t = a.tensor if a.tensor is not None else self.ev.leaves.get(id(a.data))
                if t is not None and id(t) in ids:
                    found.add(id(t))
        return found

    def at_step(self, ledger: Any) -> None:
        """Whether the optimizer that steps holds what the term was to teach."""
        if not self.pending:
            return
        pending, self.pending = self.pending, []
        counted = set()
        for key, cut, kind, mine in pending:
            if key not in counted and any(i in ledger.held for i in mine):
                counted.add(key)
                entry = self.times.setdefault(key, [0, cut, kind])
                entry[0] += 1

    def findings(self) -> Iterator[Finding]:
        """Say which term."""
        for (place, op), (times, cut, kind) in self.times.items():
            if times < LOOKS or (place, op) in self.learned:
                continue
            word = {"no_grad": "no_grad()", "item": "item()", "data": ".data"}.get(kind, "detach()")
            what = (
                "is given by item()" if kind == "item" else f"comes from outputs without a history, by {word}"
            )
            yield self.found(
                f"A term of the loss {what}: it changes the loss and teaches nothing.",
                place,
                "has no history",
                also=None if cut == place else (cut, "ends its history"),
                proof=[("looks in which the term has no gradient", times), ("others with one", "yes")],
                confirm=("the term's .requires_grad", "False"),
                unless="the term is only to be shown.",
                advice="Compute the term from what the model gives with its history.",
                weight=6.0,
                explains=("too small", "learns nothing"),
            )
            return


def _bends(v: Value) -> Iterator[Value]:
    """The first ops below a term, with a history, that are more than sums, means and multiples."""
    waiting, left = [v], 16
    while waiting and left:
        one, left = waiting.pop(), left - 1
        if plain(one):
            waiting += [x for x in one.parents if x.needs]
        else:
            yield one


class FlatDerivative(Counting):
    """A derivative is taken without a graph and stands in a residual beside others: it is a constant to the pass.

    Meaning: a residual of derivatives teaches through each of them; one that `autograd.grad` gave without
    `create_graph=True` has no history.
    Fires: when in three looks the loss leads, through sums, means, multiples, picks, powers, absolute values and
    distances alone, to a sum, difference or distance of two values of more than one element, one of which has no
    history and came, through element-wise ops, from what `autograd.grad` gave, with respect to leaves that are no
    parameters, of something that has a history and shares with the other value something that a model gave.
    Wrong if: the derivative is meant to be a fixed target.
    Healthy programs tried: residuals with `create_graph=True`, gradients of a known function or of another network as
    targets, weights that are computed from gradients, adapted weights, adversarial inputs, samples by gradients.
    """

    name, title, certainty, severity = "flat derivative", "derivatives in residuals", LINEAGE, WRONG

    def at_look(self, p: Any) -> None:
        """Look for residuals."""
        if p.root is None or not p.accumulates or not p.root.needs:
            return
        if not any(v.op == "grad" and not v.needs for v in self.ev.values):
            return
        waiting, seen, left, found = [p.root], {id(p.root)}, 4 * TERMS, {}
        while waiting and left:
            v, left = waiting.pop(), left - 1
            parents = v.parents
            twice = v.op == "mul" and len(parents) == 2 and parents[0] is parents[1]
            if (v.op in SUMS or v.op in DISTANCES) and len(parents) == 2:
                for still, other in (parents, parents[::-1]):
                    if other.needs and not still.needs and size_of(still) > 1:
                        g = self._derivative(still)
                        if g is not None and g.place is not None and self._shares(g, other):
                            found[g.place] = v.place
            onward = plain(v) or v.op in BENT or twice or v.op.startswith(("index", "getitem"))
            if onward or (v.op in SCALES and not all(x.needs for x in parents)):
                fresh = [x for x in parents if x.needs and id(x) not in seen]
                seen.update(map(id, fresh))
                waiting += fresh
        for place, used in found.items():
            self.times.setdefault(place, [0, used])[0] += 1

    @staticmethod
    def _derivative(v: Value) -> Value | None:
        """What `autograd.grad` gave, behind element-wise ops; None where it is something else."""
        left = 32
        for a in ancestors(v, lambda a: a.op != "grad" and a.op not in LAYERS and not a.needs):
            left -= 1
            if a.op == "grad" and not a.needs:
                return (
                    a if a.consts and a.consts[0] and a.ins[0].__class__ is Value and a.ins[0].needs else None
                )
            if not left:
                break
        return None

    @staticmethod
    def _shares(g: Value, other: Value) -> bool:
        """Whether what was differentiated and another value came from one thing that was computed."""

        def made(v: Value) -> set[int]:
            found = itertools.islice(ancestors(v, lambda a: a.needs), LIVE)
            return {id(a) for a in found if a.needs and a.grad and a.parents and a.op not in SHAPED}

        return bool(made(g.ins[0]) & made(other))

    def findings(self) -> Iterator[Finding]:
        """Say where it is taken."""
        for place, (times, used) in self.times.items():
            if times >= LOOKS:
                yield self.found(
                    "A derivative in the residual is taken without a graph: the pass treats it as a constant.",
                    place,
                    "keeps no graph",
                    related=self.lines((used, "the residual")),
                    proof=[("looks in which it has no gradient, and the others have", times)],
                    confirm=("the derivative's .requires_grad", "False"),
                    unless="it is meant to be a fixed target.",
                    advice="Give autograd.grad create_graph=True.",
                    weight=6.0,
                    explains=("too small", "learns nothing", "term of gradients"),
                )
                return


RULES = (ConstantTerm, FlatDerivative)
