"""What passes reach: parameters that no gradient comes to, and those that nobody steps.

Invariant: a cut is one that was seen in the history of a loss of this run.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...layers import is_module
from ...lineage import SHAPED, Value, ancestors, beyond
from ..evidence import CONSTANT, LAYERS
from ..finding import DOUBTFUL, EXACT, LINEAGE, WRONG, Finding
from ..heads import of, outside
from ..ledger import Held, Ledger
from ..written import thaws
from .base import Counting, Rule
from .bookkeeping import names

CUTS = ("detach", "data", "item", "tolist", "numpy", "tensor(t)", "no history")
WRITTEN = {
    "item": "item()",
    "detach": "detach()",
    "data": ".data",
    "numpy": "numpy()",
    "tolist": "tolist()",
    "tensor(t)": "tensor(...)",
}
DROPPED = 400  # values behind a comparison that are looked at
STEPWISE = (
    "argmax",
    "argmin",
    "gt",
    "ge",
    "lt",
    "le",
    "eq",
    "ne",
    "round",
    "floor",
    "ceil",
    "sign",
    "trunc",
    "topk",
)


class NotReached(Rule):
    """An optimizer steps parameters that no backward pass reaches.

    Meaning: a parameter learns through the history that leads from the loss to it; where that ends, so does learning.
    Fires: when no pass ever reached a parameter in at least three steps of its optimizer, and one of these is seen:
    an op read it and the history of the loss is cut between the two; numbers that came of it were taken out, by
    `numpy()` and its like, within a model; a comparison with targets was computed from it in three looks, and is no
    part of a loss that a pass starts from (where one line computed several terms of each of three losses, and these
    hold the last alone, that line is named); what a model computed from it, but not from all that the optimizer
    holds, was read by no op in three looks; none of the optimizer's parameters is read by anything; or all such
    parameters belong to one or two layers that are never called, in a model that is, unless another model of its class
    calls them.
    Wrong if: the parameters are meant to stay, as an encoder behind `no_grad`; then they need not be in the
    optimizer.
    Healthy programs tried: frozen layers (`requires_grad_(False)`), target networks, a discriminator's and a
    generator's turn, embeddings that few batches use, models of one class with and without norms.
    """

    name, title, certainty, severity = "not reached", "parameters without a gradient", EXACT, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.cuts: dict[
            int, dict[tuple, list]
        ] = {}  # by parameter: (kind, place) -> [times, number of the value]
        self.newest: dict[int, dict[tuple, list]] = {}  # of the passes since the last step of any optimizer
        self.looks = 0
        self.last_call: Any = None  # of the newest pass that does not reach them
        self.given: dict[int, Any] = {}  # by optimizer: the call that is given what was cut off
        self.missing: set[int] = set()
        self.taken: dict[int, dict[tuple, int]] = {}  # by parameter: (kind, place) -> times
        self.dropped: dict[
            int, dict[Any, list]
        ] = {}  # by parameter: place of a loss -> [times, place of the pass]
        self.left: dict[
            int, list
        ] = {}  # by parameter: looks in which what it gave was used by nothing, where
        self.replaced: dict[
            Any, list[int]
        ] = {}  # by place: looks in which one of several terms was left, terms

    def at_taken(self, kind: str, value: Value, place: Any) -> None:
        """Numbers that are taken out within a model, and what they came of."""
        if not self.missing or self.looks > 24 or not self.ev.looked or value.call is None:
            return
        v = value.ins[0] if value.op in CUTS and value.ins else value
        if v.__class__ is not Value or v.shape == () or not v.needs:
            return
        for a in ancestors(v, lambda a: a.needs):
            if a.tensor is not None and id(a.tensor) in self.missing:
                entry = self.taken.setdefault(id(a.tensor), {})
                entry[(kind, place)] = entry.get((kind, place), 0) + 1

    def _drops(self, p: Any, missing: set[int]) -> None:
        """Comparisons with targets that were computed from such parameters, and that no pass starts from."""
        for v in self.ev.values:
            if not v.needs or (v.call is not None and v.call.owns):
                continue
            head = of(v)
            if head is None or head.target is None or head.target.needs:
                continue
            left = DROPPED
            for a in ancestors(v, lambda a: a.needs):
                left -= 1
                if a.tensor is not None and id(a.tensor) in missing:
                    entry = self.dropped.setdefault(id(a.tensor), {}).setdefault(v.place, [0, p.place])
                    entry[0] += 1
                if not left:
                    break

    def at_look(self, p: Any) -> None:
        """Follow the history of a loss past its cuts, down to the parameters that the pass does not reach."""
        if p.root is None or self.looks > 24 or not p.accumulates:
            return
        self.looks += 1
        reached = {id(v) for v in p.leaves}
        held = {i for one in self.ev.ledgers.values() for i, h in one.held.items() if h.tensor.requires_grad}
        missing = self.missing = {i for i in held - reached if i not in self.ev.reached}
        if not missing:
            return
        self._drops(p, missing)
        self._replaces(p)
        self._leaves(missing)
        self.last_call = p.calls[0].place if p.calls else None
        # what lies below each cut, each cut on its own
        for v in ancestors(p.root):
            for cut in self._cuts(v):
                below = [a for a in ancestors(cut[2]) if a.tensor is not None and id(a.tensor) in missing]
                for leaf in below:
                    entry = self.newest.setdefault(id(leaf.tensor), {}).setdefault(
                        (cut[0], cut[1]), [0, v.seq]
                    )
                    entry[0] += 1

    def _leaves(self, missing: set[int]) -> None:
        """What was computed from such parameters within a model, and then used by nothing."""
        used = {id(x) for v in self.ev.values for x in v.ins if x.__class__ is Value}
        loose = [v for v in self.ev.values if v.needs and v.model is not None and id(v) not in used]
        for v in loose[:64]:
            left = DROPPED
            for a in ancestors(v, lambda a: a.needs):
                left -= 1
                if a.tensor is not None and id(a.tensor) in missing:
                    entry = self.left.setdefault(id(a.tensor), [0, v.place, v])
                    entry[0] += 1
                    entry[1] = v.place
                if not left:
                    break

    def _left(self, ledger: Ledger, left: list, missing: list) -> Finding:
        ev = self.ev
        named = names([ev.name_of(h.tensor) for h in left], 2) or f"{len(left)} parameters"
        times, place, _ = self.left[id(left[0].tensor)]
        return self.found(
            f"No gradient comes to {named}: what this line computes from them is used by nothing.",
            place,
            "used by nothing",
            certainty=LINEAGE,
            layer=ev.name_of(left[0].tensor),
            proof=[
                ("parameters without a gradient", f"{len(missing)} of {len(ledger.each)}"),
                ("looks", times),
                ("steps", ledger.steps),
            ],
            confirm=("the gradients of these parameters", "None"),
            unless="the result is for later.",
            advice="Go on with what it gives, or take the layer out.",
            weight=6.0,
        )

    def _replaces(self, p: Any) -> None:
        """Lines that computed several terms in this turn, of which the loss holds the last alone."""
        kept = {id(v) for v in itertools.islice(ancestors(p.root, outside(p.root)), DROPPED)}
        terms: dict[Any, list[bool]] = {}
        for v in self.ev.values:
            if v.needs and v.place is not None and v.data is not None and v.data.size == 1:
                if v.op not in SHAPED and (v.model is None or v.model is p.root.model):
                    terms.setdefault((v.place, v.op), []).append(id(v) in kept)
        for (place, _), each in terms.items():
            if len(each) > 1 and each[-1] and not any(each[:-1]):
                entry = self.replaced.setdefault(place, [0, len(each)])
                entry[0] += 1

    def at_step(self, ledger: Ledger) -> None:
        """The cuts of its own passes are those that keep its parameters from learning."""
        newest, self.newest = self.newest, {}
        if newest and self.last_call is not None:
            self.given[id(ledger)] = self.last_call
        for i, cuts in newest.items():
            if i in ledger.held:
                for key, (times, seq) in cuts.items():
                    self.cuts.setdefault(i, {}).setdefault(key, [0, seq])[0] += times

    def _cuts(self, v: Value) -> Iterator[tuple[str, Any, Value]]:
        if v.op in CUTS and v.ins:
            place = v.consts[1] if len(v.consts) == 2 and v.op not in ("detach", "data") else v.place
            yield v.op, place, v.ins[0]
        elif not v.needs and v.ins and v.op != "source" and any(a.needs for a in v.parents):
            if v.grad:
                yield v.op.removesuffix("_at"), v.place, v
            else:
                yield "no_grad", v.place, v

    def findings(self) -> Iterator[Finding]:
        """Say of which optimizer, and where its history ends."""
        ev = self.ev
        for ledger in ev.ledgers.values():
            if ledger.steps < 3 or not self.looks:
                continue
            missing = [h for h in ledger.each if id(h.tensor) not in ev.reached and h.tensor.requires_grad]
            if not missing:
                continue
            cut = [h for h in missing if id(h.tensor) in self.cuts]
            dropped = [h for h in missing if id(h.tensor) in self.dropped]
            if cut:
                yield self._cut(ledger, cut, missing)
            elif taken := [h for h in missing if id(h.tensor) in self.taken]:
                for h in taken:
                    for key, times in self.taken[id(h.tensor)].items():
                        self.cuts.setdefault(id(h.tensor), {})[key] = [times, 0]
                yield self._cut(ledger, taken, missing)
            elif dropped and self._never(dropped) is not None:
                yield self._drop(ledger, dropped, missing)
            elif (left := [h for h in missing if self.left.get(id(h.tensor), [0])[0] >= 3]) and (
                len(missing) < len(ledger.each)
            ):
                yield self._left(ledger, left, missing)
            elif len(missing) == len(ledger.each) and not any(id(h.tensor) in ev.used for h in missing):
                yield self._elsewhere(ledger)
            elif not any(id(h.tensor) in ev.used for h in missing) and len(missing) < len(ledger.each):
                yield from self._idle(ledger, missing)

    def _cut(self, ledger: Ledger, cut: list, missing: list) -> Finding:
        ev = self.ev
        counted: dict[tuple, list] = {}
        for h in cut:
            for key, (times, seq) in self.cuts[id(h.tensor)].items():
                entry = counted.setdefault(key, [0, 0, seq])
                entry[0] += 1
                entry[1] += times
        # the cut that most parameters lie behind; of equals the one nearest the loss
        (kind, place), (many, times, _) = max(counted.items(), key=lambda pair: (pair[1][0], pair[1][2]))
        others = [
            (place, str(WRITTEN.get(kind, kind))) for kind, place in counted if (kind, place) != (kind, None)
        ]
        word = WRITTEN.get(kind, kind)
        what = (
            "no_grad()"
            if kind == "no_grad"
            else f"{word}"
            if kind in CUTS
            else f"{word}, which has no slope,"
        )
        named = names([ev.name_of(h.tensor) for h in cut], 2) or f"{len(cut)} parameters"
        return self.found(
            f"No gradient comes to {named}: {what} ends the history of the loss.",
            place,
            "history ends",
            certainty=LINEAGE,
            also=(self.given.get(id(ledger)), "is given it")
            if kind == "detach" and len(ev.ledgers) > 1
            else None,
            related=self.lines(
                (ledger.step_place, "steps them"), *[o for o in others if o[0] is not place][:1]
            ),
            proof=[
                ("parameters without a gradient", f"{len(missing)} of {len(ledger.each)}"),
                ("of them behind this cut", many),
                ("steps", ledger.steps),
            ],
            confirm=(
                f"[p.grad for p in {ev.variable(ledger.optimizer) or 'optimizer'}.param_groups[0]['params']]",
                "None",
            ),
            unless="they are meant to stay as they are: then leave them out of the optimizer.",
            advice=f"Compute the loss from the tensor itself, without {word}.",
            weight=7.0,
            explains=("learns nothing", "too small", "never moves"),
        )

    def _never(self, dropped: list) -> tuple[Any, list] | None:
        """The line of a loss that was computed in three looks and more, and never part of a pass."""
        found = [
            (place, entry)
            for h in dropped
            for place, entry in self.dropped[id(h.tensor)].items()
            if entry[0] >= 3
        ]
        return max(found, key=lambda pair: pair[1][0], default=None)

    def _drop(self, ledger: Ledger, dropped: list, missing: list) -> Finding:
        ev = self.ev
        place, (times, back) = self._never(dropped) or (None, [0, None])
        named = names([ev.name_of(h.tensor) for h in dropped], 2) or f"{len(dropped)} parameters"
        again = max((n[0], n[1], at) for at, n in self.replaced.items()) if len(self.replaced) == 1 else None
        if again is not None and again[0] >= 3:
            return self.found(
                f"No gradient comes to {named}: of {again[1]} terms that this line computes the loss holds the last.",
                again[2],
                "takes its place",
                certainty=LINEAGE,
                related=self.lines((place, "is computed"), (back, "starts from the last")),
                proof=[
                    ("parameters without a gradient", f"{len(missing)} of {len(ledger.each)}"),
                    ("terms computed, and used", f"{again[1]}, 1"),
                    ("looks", again[0]),
                ],
                confirm=("the gradients of these parameters", "None"),
                unless="they are measures, and these parameters are for later.",
                advice="Add each term to those before it: loss = loss + ...",
                weight=7.0,
                explains=("learns nothing", "too small", "never moves"),
            )
        return self.found(
            f"No gradient comes to {named}: the loss that is computed from them is no part of the pass.",
            back,
            "leaves it out",
            certainty=LINEAGE,
            related=self.lines((place, "is computed")),
            proof=[
                ("parameters without a gradient", f"{len(missing)} of {len(ledger.each)}"),
                ("times that loss was computed", times),
                ("passes that start from it", 0),
            ],
            confirm=("the gradients of these parameters", "None"),
            unless="it is a measure, and these parameters are for later.",
            advice="Call backward() on the sum of the losses.",
            weight=7.0,
            explains=("learns nothing", "too small", "never moves"),
        )

    def _elsewhere(self, ledger: Ledger) -> Finding:
        ev = self.ev
        optimizer = ev.variable(ledger.optimizer) or "The optimizer"
        trained = names([ev.module_name(m) for m, _ in ev.roots.values()], 2)
        return self.found(
            f"{optimizer} holds parameters that nothing computes with{f': {trained} has others' if trained else ''}.",
            ledger.place or ledger.step_place,
            "holds others",
            related=self.lines((ledger.step_place, "changes nothing")) if ledger.place else [],
            proof=[("its parameters", len(ledger.each)), ("read by an op", 0), ("reached by a pass", 0)],
            confirm=(f"[p.grad for p in {optimizer}.param_groups[0]['params']]", "None, each"),
            unless="",
            advice="Make the optimizer of the model that is trained, after that model was made.",
            weight=8.0,
            explains=("learns nothing", "not held", "never moves"),
        )

    def _idle(self, ledger: Ledger, missing: list) -> Iterator[Finding]:
        """A layer that is stepped and never called, although all else of its module is."""
        ev = self.ev
        idle = []
        for h in missing:
            module = ev.registered.get(id(h.tensor), (None,))[0]
            if module is not None and id(module) not in ev.parts and self._within(module):
                if self._called_elsewhere(module):
                    return  # what is called depends on how the model was made
                idle.append((h, module))
        if not idle or len(idle) != len(missing) or len({id(m) for _, m in idle}) > 2:
            return
        module = idle[0][1]
        made = ev.origins.get(id(module))
        yield self.found(
            f"{ev.module_name(module) or type(module).__name__} is never called: no gradient comes to it.",
            None if made is None else made[2],
            "never called",
            severity=DOUBTFUL,
            layer=ev.module_name(module),
            proof=[("calls", 0), ("steps", ledger.steps)],
            unless="it is for later.",
            advice="Call it in forward, or take it out.",
            weight=1.0,
        )

    def _called_elsewhere(self, module: Any) -> bool:
        """Whether another model of the same class has, and calls, a layer in that place."""
        roots = [root for root, _ in self.ev.roots.values() if is_module(root)]
        for root in roots:
            for path, m in root.named_modules():
                if m is not module or not path:
                    continue
                others = [
                    dict(other.named_modules()).get(path)
                    for other in roots
                    if other is not root and type(other) is type(root) and type(root).__name__ != "Sequential"
                ]
                if any(other is not None and id(other) in self.ev.parts for other in others):
                    return True
        return False

    def _within(self, module: Any) -> bool:
        return any(
            any(m is module for m in root.modules()) for root, _ in self.ev.roots.values() if is_module(root)
        )


class FreshLoss(Rule):
    """The loss that a pass starts from is a fresh tensor, which no op computed.

    Meaning: a backward pass walks the history of its loss; a tensor made of a number has none.
    Fires: when a pass starts from a leaf of one element that no optimizer holds.
    Wrong if: the leaf itself is to be trained by that pass; then an optimizer would hold it.
    Healthy programs tried: parameters of one element that are trained by hand, losses that are summed from parts.
    """

    name, title, certainty, severity, cheap = "fresh loss", "losses without history", EXACT, WRONG, True

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.seen: list[tuple[Any, Any, str]] = []

    def at_pass(self, p: Any) -> None:
        """Whether nothing but a leaf is below."""
        if len(p.leaves) != 1 or len(p.order) != 1 or not p.accumulates:
            return
        leaf = p.leaves[0]
        if leaf._data.size != 1 or any(id(leaf) in one.held for one in self.ev.ledgers.values()):
            return
        if len(self.seen) < 100:
            v = p.root
            kind = "" if v is None else v.op
            place = None if v is None else v.place
            if v is not None and v.needs is not True and v.ins:
                place = v.place
            self.seen.append((place, p.place, kind))

    def findings(self) -> Iterator[Finding]:
        """Say where it was made."""
        if not self.seen:
            return
        place, back, kind = self.seen[-1]
        said = f" after {WRITTEN[kind]}" if kind in WRITTEN else ""
        yield self.found(
            f"The loss is a new tensor without history{said}: its backward pass reaches no parameter.",
            place or back,
            "new, no history",
            related=self.lines((back, "reaches nothing")) if place else [],
            proof=[("passes that reach no parameter", len(self.seen)), ("passes", self.ev.passes)],
            confirm=("loss.grad_fn", "None"),
            advice="Call backward() on the loss that was computed.",
            weight=9.0,
            explains=("learns nothing", "never moves", "not reached"),
        )


class TermOfGradients(Counting):
    """A term of the loss is computed from gradients that have no history: it changes the loss and teaches nothing.

    Meaning: a penalty on gradients needs the graph of the pass that made them, `create_graph=True`.
    Fires: when in three looks the loss is a sum of which one term has no gradient, though it was computed from what
    `autograd.grad` gave, and another has one.
    Wrong if: the term is shown with the loss and not meant to be learned from.
    Healthy programs tried: penalties with `create_graph=True`, weights of a loss that are computed from gradients,
    adversarial examples, updates by hand with what `autograd.grad` gave.
    """

    name, title, certainty, severity = "term of gradients", "penalties on gradients", LINEAGE, WRONG

    def at_look(self, p: Any) -> None:
        """Look at the terms of the loss."""
        if p.root is None or not p.accumulates or not p.root.needs:
            return
        waiting, left = [p.root], 64
        while waiting and left:
            v, left = waiting.pop(), left - 1
            if not v.needs:
                made = next((x for x in itertools.islice(ancestors(v), 200) if x.op == "grad"), None)
                if made is not None and made.place is not None:
                    self.times.setdefault(made.place, [0, v.place])[0] += 1
            elif v.op in ("add", "sub") or (v.op in ("mul", "rmul", "div") and len(v.parents) == 1):
                waiting += v.parents

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        for place, (times, used) in self.times.items():
            if times < 3:
                continue
            yield self.found(
                "A term of the loss is computed from gradients without a history: it teaches nothing.",
                place,
                "makes them",
                related=self.lines((used, "the term"), (self.ev.last_place, "passes it by")),
                proof=[("looks in which the term has no gradient", times)],
                confirm=("the term's .requires_grad", "False"),
                unless="the term is only to be shown.",
                advice="Give autograd.grad create_graph=True.",
                weight=5.0,
            )


class NotHeld(Rule):
    """A pass reaches parameters that no optimizer holds, while others of the same model are stepped.

    Meaning: what has a gradient and computes should be stepped by an optimizer, or be made not to need a gradient.
    Fires: when three passes or more reached a parameter that is in no optimizer and that the program did not write,
    an optimizer made three steps, and one of these is seen: the parameter was registered after that optimizer was
    made; its module was called and is in no outermost model's `parameters()`; it is a plain tensor kept by a module,
    or the only variable that such a tensor was computed from, which has no name and is in no module; or it is a weight
    of such a model that still has the random values that its layer drew, or one of its parameters that was frozen in
    this run and needs a gradient by now.
    Wrong if: the part is meant to keep its random values.
    Healthy programs tried: a trained body with an optimizer for the head, updates by hand, adversarial inputs, two
    optimizers that share a model, saliency.
    """

    name, title, certainty, severity = "not held", "parameters in no optimizer", EXACT, WRONG

    def findings(self) -> Iterator[Finding]:
        """Say which, and why."""
        ev = self.ev
        ledgers = [one for one in ev.ledgers.values() if one.steps >= 3]
        if not ledgers:
            return
        held = {i for one in ev.ledgers.values() for i in one.held}
        loose = []
        for v, times in ev.reached.values():
            if id(v) in held or times < 3 or id(v._data) in ev.written or not v.requires_grad:
                continue
            loose.append(v)
        if not loose:
            return
        at = max(ledgers, key=lambda one: one.steps)
        optimizer = ev.variable(at.optimizer) or "the optimizer"
        late = [
            v
            for v in loose
            if id(v) in ev.registered and at.place is not None and ev.registered[id(v)][3] > at.order
        ]
        if late:
            named = names([ev.name_of(v) for v in late], 2)
            call = ev.made_beside.get(id(late[0]))
            yield self._say(
                f"{named or 'A parameter'} came after {optimizer} was made, which does not hold it.",
                call or self._outer(late[0]),
                "comes later",
                at,
                late,
                also=(at.place, "made before"),
                related=self.lines((self._outer(late[0]) if call else None, "makes it")),
                advice="Make the optimizer after the last layer is in its place.",
                weight=6.0,
            )
            return
        inside = {id(p) for root, _ in ev.roots.values() if is_module(root) for p in root.parameters()}
        hidden = [v for v in loose if id(v) not in inside and self._module_of(v) is not None]
        if hidden:
            module = self._module_of(hidden[0])
            kept, top = self._keeper(module, hidden[0])
            made = ev.origins.get(id(top if top is not None else module))
            yield self._say(
                f"{type(module).__name__}{f' in {kept}' if kept else ''} computes and is in nobody's parameters().",
                None if made is None else made[2],
                "not registered",
                at,
                hidden,
                layer=kept,
                advice="Keep modules in a ModuleList or a ModuleDict, and tensors as nn.Parameter.",
                weight=6.0,
            )
            return
        plain = [(v, keeper) for v in loose if (keeper := self._attribute(v))]
        if plain:
            v, (module, own) = plain[0]
            is_leaf = getattr(module, own, None) is v or not hasattr(getattr(module, own, None), "_data")
            yield self._say(
                f"{ev.module_name(module) or type(module).__name__}.{own} is a plain tensor: no optimizer holds it."
                if is_leaf
                else f"{ev.module_name(module) or type(module).__name__}.{own} is the result of an op, no Parameter: "
                "no optimizer holds it.",
                self._data_place(v) or self._written_as(module, own),
                "no Parameter",
                at,
                [v for v, _ in plain],
                layer=ev.module_name(module),
                advice=f"self.{own} = nn.Parameter(...)"
                if is_leaf
                else "Make a Parameter of the result: nn.Parameter(x * 0.1).",
                weight=6.0,
            )
            return
        inside_loose = [v for v in loose if id(v) in inside]
        thawed = [v for v in inside_loose if id(v) in ev.frozen_at]
        if thawed:
            named = names([ev.name_of(v) for v in thawed], 2)
            yield self._say(
                f"{named or 'A layer'} was frozen and is not any more: it gets gradients, and {optimizer} does not "
                "hold it.",
                at.place or at.step_place,
                "does not hold it",
                at,
                thawed,
                layer=ev.name_of(thawed[0]),
                also=(thaws(ev.line(at.place or at.step_place)), "thaws it"),
                related=self.lines((ev.frozen_at[id(thawed[0])], "freezes it")),
                advice="Add it when it is thawed: optimizer.add_param_group({'params': ...}).",
                weight=6.0,
            )
            return
        random = [v for v in inside_loose if v.ndim >= 2 and ev.is_random(v)]
        if random and len(inside_loose) >= len(random):
            named = names([ev.name_of(v) for v in random], 2)
            yield self._say(
                f"{named or 'A layer'} gets gradients, is in no optimizer, and keeps its random values.",
                at.place or at.step_place,
                "does not hold it",
                at,
                random,
                layer=ev.name_of(random[0]),
                advice="Give all parameters of the model to the optimizer.",
                weight=5.0,
            )

    def _say(self, text: str, place: Any, label: str, at: Ledger, loose: list, **more: Any) -> Finding:
        return self.found(
            text,
            place,
            label,
            proof=[
                ("reached and in no optimizer", len(loose)),
                ("in the optimizer", len(at.each)),
                ("steps", at.steps),
            ],
            confirm=(
                f"{{id(p) for g in {self.ev.variable(at.optimizer) or 'optimizer'}.param_groups for p in g['params']}}",
                "without them",
            ),
            unless="that part is meant to keep its first values: then requires_grad_(False) says so.",
            **more,
        )

    def _outer(self, v: Any) -> Any:
        return self.ev.registered[id(v)][2]

    def _module_of(self, v: Any) -> Any:
        for module, _ in self.ev.parts.values():
            if any(p is v for p in module._parameters.values()):
                return module
        return None

    def _keeper(self, module: Any, v: Any) -> tuple[str, Any]:
        """The attribute of a module in which another is kept without being registered, and what is kept."""
        for owner, _ in self.ev.parts.values():
            for own, value in vars(owner).items():
                if own.startswith("_"):
                    continue
                inner = (
                    value.values()
                    if isinstance(value, dict)
                    else value
                    if isinstance(value, (list, tuple))
                    else ()
                )
                for x in inner:
                    if x is module or (is_module(x) and any(m is module for m in x.modules())):
                        return f"{self.ev.module_name(owner) or type(owner).__name__}.{own}", x
        return "", None

    def _attribute(self, v: Any) -> tuple[Any, str] | None:
        for module, _ in self.ev.parts.values():
            for own, value in vars(module).items():
                if value is v or (
                    hasattr(value, "_data")
                    and value._node is not None
                    and self._nameless(v, self.ev.leaves_of(value))
                ):
                    return module, own
                if isinstance(value, (list, tuple)) and any(x is v for x in value):
                    return module, own
        return None

    def _nameless(self, v: Any, leaves: list) -> bool:
        """Whether a leaf is the only one of several that something came of, and nobody's variable or parameter."""
        return (
            len(leaves) == 1 and leaves[0] is v and id(v) not in self.ev.registered and not self.ev.name_of(v)
        )

    def _written_as(self, module: Any, own: str) -> Any:
        """The line of the module's class that assigns an attribute."""
        import linecache

        from ...line_lookup import Line, cell_of

        try:
            code = type(module).__init__.__code__
        except AttributeError:
            return None
        file, start = code.co_filename, code.co_firstlineno
        last = max((line for _, _, line in code.co_lines() if line), default=start)
        for number in range(start, last + 1):
            text = linecache.getline(file, number)
            if f"self.{own} =" in text or f"self.{own}=" in text:
                return Line(file, number, "__init__", text.strip(), cell_of(file))
        return None

    def _data_place(self, v: Any) -> Any:
        known = self.ev.table.get(id(v._data))
        if known is not None and known.place is not None:
            return known.place
        return None


class MadeInForward(Rule):
    """A layer is made in `forward`: each call has a new one, at random, that no optimizer holds.

    Meaning: a layer keeps what it learns in its own parameters; they have to outlast the call.
    Fires: when one line of a method called forward made four layers or more with parameters that need a gradient,
    while optimizers that do not hold them stepped.
    Wrong if: random projections are wanted.
    Healthy programs tried: activations and losses that are made in forward, layers that are made lazily, once.
    """

    name, title, certainty, severity = "made in forward", "layers made in forward", EXACT, WRONG

    def findings(self) -> Iterator[Finding]:
        """Count what was made by line."""
        ev = self.ev
        held = {i for one in ev.ledgers.values() for i in one.held}
        by: dict[Any, list] = {}
        for what, module, place, _ in ev.origins.values():
            if what == "module" and place is not None and place[0].co_name == "forward":
                by.setdefault(place, []).append(module)
        for place, made in by.items():
            loose = [m for m in made if any(p.requires_grad and id(p) not in held for p in m.parameters())]
            if len(loose) < 4 or not any(one.steps >= 3 for one in ev.ledgers.values()):
                continue
            yield self.found(
                f"{type(made[0]).__name__} is made anew in each call of forward: it keeps nothing that it learns.",
                place,
                "made in forward",
                proof=[("layers made here", len(made)), ("of them in an optimizer", len(made) - len(loose))],
                confirm=("len(list(model.parameters()))", "without this layer's"),
                unless="random projections are wanted.",
                advice="Make it once, in __init__.",
                weight=7.0,
                explains=("learns nothing", "too small", "training in eval"),
            )


class FrozenRandom(Rule):
    """A layer that an optimizer holds needs no gradient, and still has the random values that it drew.

    Meaning: freezing keeps what a layer has learned; a layer that has learned nothing has nothing to keep.
    Fires: when an optimizer that made three steps holds a weight with `requires_grad` off whose values are those of
    its initialisation: drawn in this run and written by nobody since, or spread as its layer draws them; or when it
    is in none, the program switched its gradient off, gradients went three times through its layer, and passes reach
    other parameters of its model; or when it holds a tensor, no Parameter, that ops read and that never needed a
    gradient.
    Wrong if: random features are wanted; then they come first, and nothing before them is trained.
    Healthy programs tried: frozen layers of a trained model, random features under a head, teachers, averages of
    weights.
    """

    name, title, certainty, severity, cheap = "frozen random", "frozen layers", EXACT, WRONG, True

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.between: dict[int, list] = {}
        self.read: set[int] = set()  # tensors that optimizers hold without a gradient, and ops read

    def at_look(self, p: Any) -> None:
        """Frozen weights that gradients go through."""
        idle = {
            id(h.tensor) for one in self.ev.ledgers.values() for h in one.each if not h.tensor.requires_grad
        } - self.read
        if idle and p.accumulates:
            self.read |= {
                id(v.tensor) for v in self.ev.values if v.tensor is not None and id(v.tensor) in idle
            }
        if p.root is None or not p.accumulates or not self.ev.frozen_at:
            return
        for v in self.ev.values:
            if not v.needs or v.op not in LAYERS or len(v.parents) < 2:
                continue
            for x in v.parents:
                weight = beyond(x)
                t = weight.tensor
                if t is not None and not weight.needs and id(t) in self.ev.frozen_at:
                    entry = self.between.setdefault(id(t), [t, 0])
                    entry[1] += 1

    def findings(self) -> Iterator[Finding]:
        """Say which layer."""
        ev = self.ev
        held = {i for one in ev.ledgers.values() for i in one.held}
        for ledger in ev.ledgers.values():
            if ledger.steps < 3:
                continue
            frozen = [h for h in ledger.each if not h.tensor.requires_grad and id(h.tensor) not in ev.reached]
            random: list = [h for h in frozen if ev.is_random(h.tensor)]
            random += [
                Held(t, 0, 0)
                for t, times in self.between.values()
                if times >= 3
                and id(t) not in held
                and id(t) not in ev.reached
                and not t.requires_grad
                and ev.is_random(t)
                and self._trained(t)
            ]
            plain = [h for h in frozen if self._plain(h) and h not in random]
            if not random and plain:
                yield self._no_gradient(ledger, plain)
                continue
            if not random:
                continue
            named = names([ev.name_of(h.tensor) for h in random], 2)
            place = ev.frozen_at.get(id(random[0].tensor))
            yield self.found(
                f"{named or 'A layer'} is frozen at the random values it was made with.",
                place or ledger.place or ledger.step_place,
                "freezes it" if place else "holds it",
                layer=ev.name_of(random[0].tensor),
                proof=[("frozen weights with random values", len(random)), ("steps", ledger.steps)],
                confirm=(f"{ev.name_of(random[0].tensor) or 'weight'}.requires_grad", "False"),
                unless="random features are wanted.",
                advice="Freeze it after it was loaded, or train it.",
                weight=4.0,
            )

    def _plain(self, held: Held) -> bool:
        """Whether it is a tensor, and no Parameter, that nobody has frozen and that ops read."""
        t = held.tensor
        return type(t).__name__ == "Tensor" and id(t) not in self.ev.frozen_at and id(t) in self.read

    def _no_gradient(self, ledger: Ledger, plain: list) -> Finding:
        ev = self.ev
        named = names([ev.name_of(h.tensor) or ev.variable(h.tensor) for h in plain], 2)
        own = ev.line(ev.computed.get(id(plain[0].tensor)))
        return self.found(
            f"{named or 'A tensor'} is in the optimizer and needs no gradient: it stays as it was made.",
            own or ledger.place or ledger.step_place,
            "needs no gradient",
            also=(ledger.place, "holds it") if own else None,
            proof=[("tensors without requires_grad", len(plain)), ("steps", ledger.steps)],
            confirm=("[p.requires_grad for p in optimizer.param_groups[0]['params']]", "False among them"),
            unless="it is meant to stay.",
            advice="Make it with requires_grad=True.",
            weight=6.0,
            explains=("too small", "learns nothing"),
        )

    def _trained(self, t: Any) -> bool:
        """Whether a model that it is part of has other parameters that passes reach."""
        return any(
            any(p is t for p in root.parameters())
            and any(id(p) in self.ev.reached for p in root.parameters())
            for root, _ in self.ev.roots.values()
            if is_module(root)
        )


class EqualUnits(Rule):
    """All units of a layer have equal weights and equal gradients: they will stay one unit.

    Meaning: units learn different things because they begin different; equal rows with equal gradients stay equal.
    Fires: when all rows of a weight of two rows or more, or all its columns, are equal but for rounding (1e-4 of the
    largest), and so are those of its gradient, in three looks or more and in all, the last of them at least four
    steps after the first. What parts are picked of is not asked while its gradient is 0. Of leaves that no optimizer
    holds: when at the passes 1, 2, 5, 10 and 20 of one line, of those with a loss, all columns of a matrix are equal
    and all rows of another that is as long there, or all rows and all columns, two or more, and at each of them one
    of the two has changed since the one before; then units are given the same and are asked for the same.
    Wrong if: nothing is to be learned there.
    Healthy programs tried: an output layer that begins at 0 (its gradients differ), zero-initialised residual
    branches and adapters (they leave 0 after the first step), embeddings of which few rows are used, tables of values
    that begin at 0 and learn once something is won; by hand, last layers that begin at 0, products of two matrices of
    which one does, layers of one unit, linear models that begin at 0, weights that are only read.
    """

    name, title, certainty, severity = "equal units", "layers whose units are equal", EXACT, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.seen: dict[int, list[int]] = {}
        self.apart: set[int] = set()
        self.by_hand: dict[Any, list] = {}  # by line of a pass: passes, pairs, how often they were equal

    def at_pass(self, p: Any) -> None:
        """Compare the units between two matrices that no optimizer holds."""
        entry = self.by_hand.get(p.place)
        if entry is None:
            if p.loss is None or p.root is None or len(self.by_hand) >= 8:
                return
            entry = self.by_hand[p.place] = [0, None, 0]
        entry[0] += 1
        if entry[0] not in PASSES or p.loss is None or (entry[1] is not None and not entry[1]):
            return
        held = {i for one in self.ev.ledgers.values() for i in one.held}
        given = [v for v in p.leaves if id(v) not in held and isinstance(v._data, np.ndarray)][:64]
        first = entry[1] is None
        if first:
            entry[1] = self._between([v._data for v in given])
            for pair in entry[1] or ():
                if not given[pair[0]]._data.any():  # equal by being 0 is what a last layer may be
                    pair[:3] = pair[1], pair[0], 1 - pair[2]
                known = [self.ev.table.get(id(given[k]._data)) for k in pair[:2]]
                pair[3] = [None if one is None else one.place for one in known]
                pair[4] = self.ev.name_of(given[pair[0]])
        kept = []
        for pair in entry[1] or ():
            one, other, axis, _, _, before = pair
            if max(one, other) >= len(given):
                continue
            a, b = given[one]._data, given[other]._data
            if a.ndim != 2 or b.ndim != 2 or not (_level(a, axis) and _level(b, 1 - axis)):
                continue
            pair[5] = a.shape, b.shape, a.tobytes(), b.tobytes()
            if first or (before[:2] == pair[5][:2] and before[2:] != pair[5][2:]):
                kept.append(pair)
        entry[1], entry[2] = kept, entry[2] + 1

    @staticmethod
    def _between(arrays: list[np.ndarray]) -> list[list]:
        """The matrices whose units are equal, with one that takes them: their numbers, and the axis of the units."""
        level = [
            [
                d.ndim == 2
                and d.dtype.kind == "f"
                and d.shape[axis] > 1
                and d.size <= MATRIX
                and _level(d, axis)
                for axis in (0, 1)
            ]
            for d in arrays
        ]
        found = []
        for i, a in enumerate(arrays):
            for j, b in enumerate(arrays):
                for axis in (0, 1):
                    if (
                        i != j
                        and level[i][axis]
                        and level[j][1 - axis]
                        and a.shape[axis] == b.shape[1 - axis]
                    ):
                        found.append([i, j, axis, [], "", ()])
        return found[:32]

    def at_step(self, ledger: Ledger) -> None:
        """Compare rows."""
        if not self.ev.looked:
            return
        for h in ledger.each:
            d, g = h.tensor._data, h.tensor._grad
            if (
                id(h.tensor) in self.apart
                or not isinstance(d, np.ndarray)
                or d.ndim < 2
                or len(d) < 2
                or g is None
                or (id(h.tensor) in self.ev.picked and not g._data.any())
            ):
                continue
            if _alike(d, g._data, 0) or (d.ndim == 2 and d.shape[1] > 1 and _alike(d, g._data, 1)):
                self.seen.setdefault(id(h.tensor), []).append(ledger.steps)
            else:
                self.apart.add(id(h.tensor))

    def findings(self) -> Iterator[Finding]:
        """Say which layer."""
        ev = self.ev
        guilty = [
            i
            for i, steps in self.seen.items()
            if i not in self.apart and len(steps) >= 3 and steps[-1] - steps[0] >= 4
        ]
        if not guilty:
            yield from self._found_by_hand()
            return
        known = {i: h.tensor for one in ev.ledgers.values() for i, h in one.held.items()}
        tensor = known[guilty[0]]
        begun = ev.begun.get(guilty[0])
        written = ev.writes.get(guilty[0])
        place = (
            begun[1]
            if begun is not None and begun[0] in CONSTANT
            else None
            if written is None
            else written[1]
        )
        if place is None:
            place = ev.assigned(ev.name_of(tensor))
        if place is None and guilty[0] in ev.registered:
            place = ev.registered[guilty[0]][2]
        named = names([ev.name_of(known[i]) for i in guilty], 2)
        yield self.found(
            f"All units of {named or 'a layer'} are equal and get equal gradients: they stay one unit.",
            place,
            "makes them equal",
            layer=ev.name_of(tensor),
            proof=[
                ("weights with equal rows", len(guilty)),
                ("looks in which they were", len(self.seen[guilty[0]])),
            ],
            confirm=(
                f"({ev.name_of(tensor) or 'weight'} == {ev.name_of(tensor) or 'weight'}[0]).all()",
                "True",
            ),
            unless="",
            advice="Draw the weights at random, as the layers do by themselves.",
            weight=7.0,
            explains=("learns nothing", "too small", "dead units", "one class"),
        )

    def _found_by_hand(self) -> Iterator[Finding]:
        """Say where a matrix that no optimizer holds was made."""
        for at, (_, pairs, looks) in self.by_hand.items():
            if looks < len(PASSES) or not pairs:
                continue
            pair = next((one for one in pairs if one[3][0] is not None), pairs[0])
            _, _, axis, (place, other), named, (shape, *_) = pair
            yield self.found(
                f"All {shape[axis]} units of {named or 'a layer'} begin equal and stay equal: they are one unit.",
                place or at,
                "makes them equal",
                also=(other, "takes them alike"),
                layer=named,
                proof=[
                    ("shape of the weight", " × ".join(map(str, shape))),
                    ("passes after which they were equal", ", ".join(map(str, PASSES))),
                ],
                confirm=("weight.std(0), weight.std(1)", "0 in one of them"),
                unless="",
                advice="Draw the weights at random.",
                weight=7.0,
                explains=("learns nothing", "too small", "dead units", "one class"),
            )
            return


PASSES = (1, 2, 5, 10, 20)  # of those by hand, that are looked at
MATRIX = 1 << 20  # elements of a matrix that is compared
_ROUNDING = 1e-4  # a processor rounds the last columns of a product otherwise than the first ones


def _alike(d: np.ndarray, g: np.ndarray, axis: int) -> bool:
    """Whether all rows, or columns, are equal but for rounding, and so are those of the gradient."""
    return _level(d, axis) and _level(g, axis)


def _level(a: np.ndarray, axis: int) -> bool:
    first = a.take(0, axis)
    near = abs(first).max(initial=0) * _ROUNDING
    if not (abs(a.take(-1, axis) - first) <= near).all():
        return False
    return bool((abs(a - np.expand_dims(first, axis)) <= near).all())


RULES = (NotReached, FreshLoss, TermOfGradients, NotHeld, MadeInForward, FrozenRandom, EqualUnits)
