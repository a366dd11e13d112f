"""How it learns: divergence, steps that are too large or too small, units that are off, decay that wins.

Invariant: a size is said to be wrong only where the run shows that it matters: little is learned, or all is lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...lineage import ancestors
from ..course import Course
from ..evidence import CONSTANT
from ..finding import MEASURED, WRONG, Finding, number
from ..heads import array, of, signed
from ..written import argument, half_written, literal
from .base import Rule
from .data import Collects  # noqa: F401  (its heads are read here)
from .policies import scores_a_draw

TINY, LARGE, WILD = 1e-5, 0.2, 3.0  # update / weight
WIDE = 1000.0  # targets that nobody brought to scale
OFF = 0.9  # share of units


def first_held(ev: Any) -> Any:
    """The ledger of the optimizer that steps most."""
    return max((one for one in ev.ledgers.values() if one.steps), key=lambda one: one.steps, default=None)


def written(ev: Any, at: Any, name: str) -> Any:
    """The line in which an argument of an optimizer was written, where that is not the line that makes it."""
    return literal(ev.line(at.place), (name,), 1 if name == "lr" else None)


class Diverges(Rule):
    """The loss grows without end; what makes steps so large is named, what is most often the reason first.

    Meaning: a step that is longer than the loss is curved makes the loss larger, and the next step longer still.
    Fires: when the loss, of six passes or more, begins above 0, ends above twice what it was at first (and more than
    four times its noise above it) and is above one and a half times that for the last fifth; when it is not finite
    after it had grown tenfold, a step had changed a weight by more than all of it, or weights were not finite; or
    when the run learns nothing after the loss had grown tenfold and the units of a relu had turned off. Named is the
    first that holds: an epsilon that is 0 in half precision, where the loss is not finite; targets above 1000 that
    are compared as they are, under SGD; gradients of about two passes or more added up for each step without being
    divided; a loss that is a sum; a momentum of 0.98 or more; else the learning rate. A sum under SGD, and a momentum
    of 0.98 or more, are named too where the run learns nothing; a momentum of 0.995 or more where the run ends above
    three tenths of what the best constant costs, or, where that is not known, of its first loss.
    Wrong if: the loss is to be made larger, or competes with another.
    Healthy programs tried: warm-up, spikes that pass, adversarial training, losses below 0, rewards.
    """

    name, title, certainty, severity = "diverges", "the course of the loss", MEASURED, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.sums: list[Any] = []
        self.looks = 0
        self.target: Any = None  # the line that gives them their name
        self.asked: Any = None  # where the targets were made

    def at_look(self, p: Any) -> None:
        """Whether the loss is a sum over samples."""
        cached = self.ev.heads_of
        early = 0 < p.turn <= 3 and self.asked is None
        if early and cached is not None and cached[0] == (id(p.root), p.number):
            target = cached[1][0].target if len(cached[1]) == 1 else None
            if target is not None:
                line = self.ev.line(cached[1][0].value.place)
                self.asked = self.ev.prepared(target)
                self.target = self.ev.assigned(argument(line, 1), line)
        if p.root is None or not p.accumulates or self.looks > 16:
            return
        self.looks += 1
        left = 10
        v = p.root
        while v is not None and left:
            left -= 1
            head = of(v)
            if head is not None and head.name != "difference":
                if (
                    head.value.consts
                    and head.value.consts[-1] == 2
                    and head.prediction.shape
                    and head.prediction.shape[0] > 1
                ):
                    made = self.ev.origins.get(id(head.value.module))
                    self.sums.append(v.place if made is None else made[2])
                return
            if v.op in ("sum_all", "sum") and v.parents and v.parents[0].shape and v.parents[0].shape[0] > 1:
                self.sums.append(v.place)
                return
            if v.op == "add" and len(v.parents) == 2:  # of several terms
                found = next(
                    (h for h in map(of, v.parents) if h is not None and h.value.consts[-1:] == (2,)), None
                )
                if found is not None and found.prediction.shape[:1] > (1,):
                    made = self.ev.origins.get(id(found.value.module))
                    self.sums.append(found.value.place if made is None else made[2])
            if v.op in ("div", "mul", "mean_all", "add"):
                return
            v = v.parents[0] if len(v.parents) == 1 else None

    def findings(self) -> Iterator[Finding]:
        """Say what makes steps so large."""
        ev = self.ev
        course = Course(ev)
        at = first_held(ev)
        if at is None or not course.alone:
            return
        lost = ev.diverged is not None
        group = at.optimizer.param_groups[0]
        heavy = group.get("momentum", 0) or 0
        size = abs(course.constant or course.first)
        # it went far, and came to rest where units are off
        burst = course.stays and course.most > 10 * abs(course.first) and self._off()
        inert = course.known and (
            (heavy >= 0.98 and (course.stays or course.rises))
            or (heavy >= 0.995 and course.late > 0.3 * size)
        )
        plain = type(at.optimizer).__name__ == "SGD"
        summed = plain and not inert and course.stays and len(self.sums) >= 0.8 * max(1, self.looks)
        if (
            not lost
            and not inert
            and not summed
            and not burst
            and not (course.count >= 6 and course.rises and self._steadily(course))
        ):
            return
        optimizer = ev.variable(at.optimizer) or "the optimizer"
        rate = number(float(at.rates[0])) if at.rates else "?"
        end = "until it is not finite" if lost or course.bad is not None else f"to {number(course.late)}"
        start = f"The loss {'goes' if (inert or summed) and not lost else 'grows'} from {number(course.first)} {end}"
        proof = [
            ("loss, first", number(course.first)),
            ("loss, largest", number(course.most)),
            ("steps", at.steps),
            ("learning rate", rate),
        ]
        if burst and not lost and not course.rises:
            start = (
                f"The loss goes up from {number(course.first)} to {number(course.most)}, and learns nothing"
            )
        each = ev.passes / max(1, ev.steps)
        momentum = max(group.get("momentum", 0) or 0, 0)
        wide, also = self._wide(), None
        held = [h.tensor for h in at.each]
        eps = group.get("eps")
        if (
            lost
            and isinstance(eps, float)
            and any(p._data.dtype == np.float16 for p in held)
            and not np.float16(eps)
        ):
            text, place, label = (
                f"{start}: weights are float16, in which an epsilon of {eps:g} is 0.",
                at.place or at.step_place,
                f"epsilon {eps:g}",
            )
            also = (half_written(ev.line(at.place)), "half precision")
            advice = "Keep the weights in float32 and use autocast, or give an epsilon of 1e-4."
        elif wide is not None and not inert and each < 1.9 and not self.sums:
            size, made = wide
            text, place, label = (
                f"{start}: the targets are as large as {number(size)}, and so are the gradients.",
                made,
                "not scaled",
            )
            also = (self.target, "the targets")
            advice = "Bring the targets to mean 0 and deviation 1."
        elif each >= 1.9 and not self._divided() and not inert and not summed:
            text, place, label = (
                f"{start}: {each:.0f} passes are added up for each step, undivided.",
                ev.last_place,
                "adds up",
            )
            advice = f"Divide the loss by {each:.0f} before backward()."
        elif len(self.sums) >= 0.8 * max(1, self.looks) and not inert:
            text, place, label = f"{start}: it is a sum over the batch, not a mean.", self.sums[-1], "a sum"
            advice = 'Use reduction="mean", or divide by the number of samples.'
        elif momentum >= 0.98:
            text, place, label = (
                f"{start}: a momentum of {momentum:g} makes steps {1 / max(1e-9, 1 - momentum):.0f} times as long.",
                at.place or at.step_place,
                "momentum",
            )
            advice = "Use a momentum of 0.9."
        else:
            text, place, label = (
                f"{start}: steps of a learning rate of {rate} are too large.",
                at.place or at.step_place,
                f"rate {rate}",
            )
            advice = "Lower the learning rate by ten, warm it up, or clip the gradients."
        yield self.found(
            text,
            place,
            label,
            severity=WRONG,
            also=also or (written(self.ev, at, "momentum" if label == "momentum" else "lr"), "is written"),
            related=self.lines((at.step_place, "steps")) if at.place else [],
            proof=proof,
            confirm=(f"{optimizer} with a tenth of the rate, the first ten losses", "they fall"),
            unless="the loss is to be made larger.",
            advice=advice,
            weight=3.0,
            explains=("learns nothing", "dead units", "saturated", "too large", "one class", "unrelated"),
        )

    def _off(self) -> bool:
        """Whether a relu's units, which were on at first, are off in the end."""
        units = next((r for r in self.ev.rules if isinstance(r, Units)), None)
        seen = (
            [] if units is None else [shares for key, (shares, _) in units.seen.items() if key[1] == "relu"]
        )
        return any(len(one) > 3 and one[0] < 0.5 and min(one[-3:]) >= OFF for one in seen)

    def _wide(self) -> tuple[float, Any] | None:
        """The size of targets that a square is taken of as they are, and where they were made."""
        values = self.ev.targets.values
        at = first_held(self.ev)
        if not values or self.asked is None or type(at.optimizer).__name__ != "SGD":
            return None
        size = float(np.sqrt(np.median([mean * mean + spread for mean, spread, _ in values])))
        return (size, self.asked) if size > WIDE else None

    def _steadily(self, course: Course) -> bool:
        finite = course.losses[np.isfinite(course.losses)]
        k = max(2, len(finite) // 5)
        return bool(np.min(finite[-k:]) > 1.5 * abs(course.first) + 1e-9 and course.first > 0)

    def _divided(self) -> bool:
        """Whether the loss is divided, or multiplied by less than 1, on its way."""
        return self.ev.divided


class TooLarge(Rule):
    """Steps are so long that nothing is learned, though the loss stays finite.

    Meaning: a step should change a weight by about a thousandth of its size.
    Fires: when a run learns nothing, or ends above twice its first loss, all losses were finite, and the median step,
    the first two apart, changed weights by a fifth or more, or one of the first eight by three times their size. The
    size of weights that are smaller than those a layer is drawn with, a mean square of one over three times the
    inputs, is taken as that. Nothing is said where in one of the first three looks a loss holds the log-probability
    of something drawn times a value without a gradient, or a product with such a value of both signs: a policy's loss
    does not tell how well it does.
    Where about two passes or more are added up for each step, undivided, that is named, else the rate.
    Wrong if: large steps are wanted.
    Healthy programs tried: warm-up, small networks, biases, heads of zeros or of small numbers, Adam's first steps,
    policies.
    """

    name, title, certainty, severity = "too large", "steps that are too large", MEASURED, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.looks = 0
        self.weighed = False  # whether the loss is a policy's

    def at_look(self, p: Any) -> None:
        """Whether the loss weighs what is computed by something that has no gradient."""
        if p.root is None or not p.accumulates or self.looks >= 3 or self.weighed:
            return
        self.looks += 1
        for v, _, _ in signed(p.root):
            if v.op != "mul" or len(v.parents) != 2:
                continue
            for logs, weight in (v.parents, v.parents[::-1]):
                d = array(weight)
                if logs.needs and not weight.needs and d is not None and d.size > 1:
                    both = bool((d > 0).any() and (d < 0).any())
                    self.weighed = self.weighed or both or scores_a_draw(logs, self.ev)

    def findings(self) -> Iterator[Finding]:
        """Say how large."""
        at, course = first_held(self.ev), Course(self.ev)
        if self.weighed or at is None or not (course.stays or course.rises) or course.bad is not None:
            return
        every = [(s, m) for h in at.each if h.tensor.ndim >= 2 for s, m in _moves(h)]
        moves, early = [m for s, m in every if s >= 2], [m for s, m in every if s < 8]
        if len(moves) < 4 or (float(np.median(moves)) < LARGE and max(early, default=0) < WILD):
            return
        ratio, rate = max(float(np.median(moves)), float(np.median(early))), number(float(at.rates[0]))
        each = self.ev.passes / max(1, self.ev.steps)
        if each >= 1.9 and not self.ev.divided:
            yield self.found(
                f"A step changes weights by {100 * ratio:.0f} % of their size: {each:.0f} passes are added up for "
                "each, undivided.",
                self.ev.last_place,
                "adds up",
                also=(at.place, f"rate {rate}"),
                related=self.lines((at.step_place, "steps")),
                proof=[
                    ("update / weight, median", number(ratio)),
                    ("passes for each step", number(each)),
                    course.ends(),
                ],
                confirm=(f"the loss divided by {each:.0f}", "it falls"),
                unless="the sum is wanted.",
                advice=f"Divide the loss by {each:.0f} before backward().",
                weight=3.0,
                explains=("learns nothing", "dead units", "saturated", "unrelated", "one class", "mean"),
            )
            return
        yield self.found(
            f"A step changes weights by {100 * ratio:.0f} % of their size: the learning rate of {rate} is too large.",
            at.place or at.step_place,
            f"rate {rate}",
            also=(written(self.ev, at, "lr"), "is written"),
            related=self.lines((at.step_place, "steps")) if at.place else [],
            proof=[
                ("update / weight, median", number(ratio)),
                ("as usual", "0.001"),
                course.ends(),
            ],
            confirm=("a tenth of the rate", "the loss falls"),
            unless="large steps are wanted.",
            advice="Lower the learning rate by ten.",
            weight=3.0,
            explains=("learns nothing", "dead units", "saturated", "unrelated", "one class", "mean"),
        )


def _moves(held: Any) -> list[tuple[int, float]]:
    """The steps of a matrix of weights with how far they went, beside its size or, if that is more, a usual one.

    Args:
        held: the matrix, as its optimizer's ledger has it.
    """
    sizes = {s: size for s, _, size in held.norms}
    usual = float(np.sqrt(held.tensor.shape[0] / 3))
    return [(s, m * sizes[s] / max(sizes[s], usual)) if s in sizes else (s, m) for s, m in held.moves]


class TooSmall(Rule):
    """Steps are so short that nothing is learned, though there is something to learn.

    Meaning: a step should change a weight by about a thousandth of its size.
    Fires: when a run keeps nine tenths of its first loss, or learns nothing, the median step changed weights by less
    than a hundred-thousandth, and their gradients are a thousandth of them or more; unless the smallest rate is less
    than half of the largest, and one step changed a weight by more than a ten-thousandth.
    Wrong if: the run has found its end already.
    Healthy programs tried: fine-tuning with small rates, runs that have converged, warm-up.
    """

    name, title, certainty, severity = "too small", "steps that are too small", MEASURED, WRONG

    def findings(self) -> Iterator[Finding]:
        """Say how small."""
        at, course = first_held(self.ev), Course(self.ev)
        if at is None or not course.known or (course.falls and course.late < 0.9 * course.first):
            return
        if course.bad is not None or self.ev.diverged is not None or course.rises:
            return
        if course.constant is None and abs(course.late) < 1e-6:
            return
        moves = [m for h in at.each if h.tensor.ndim >= 2 for s, m in h.moves if s >= 1]
        norms = [g / w for h in at.each if h.tensor.ndim >= 2 for _, g, w in h.norms if w > 0]
        if len(moves) < 4 or float(np.median(moves)) >= TINY or not norms or float(np.median(norms)) < 1e-3:
            return
        if 0 < max(at.rates) and min(at.rates) < 0.5 * max(at.rates) and float(max(moves)) > 10 * TINY:
            return
        ratio, rate = float(np.median(moves)), number(float(np.median(at.rates)))
        yield self.found(
            f"A step changes weights by {number(ratio)} of their size: a learning rate of {rate} is too small.",
            at.place or at.step_place,
            f"rate {rate}",
            also=(written(self.ev, at, "lr"), "is written"),
            related=self.lines((at.step_place, "steps")) if at.place else [],
            proof=[
                ("update / weight, median", number(ratio)),
                ("as usual", "0.001"),
                ("gradient / weight, median", number(float(np.median(norms)))),
                course.ends(),
            ],
            confirm=("a hundred times the rate", "the loss falls"),
            unless="the run is at its end already.",
            advice="Raise the learning rate by a hundred.",
            weight=4.0,
            explains=("learns nothing", "unrelated", "one class", "mean", "vanishes"),
        )


class DecayWins(Rule):
    """Weight decay pulls weights to 0 faster than gradients move them.

    Meaning: decay should be a small pull beside the gradient's.
    Fires: when the weights, all together, fell to three tenths of their first size or less, decay at first pulled
    them by as much as their gradients or more, or by a hundredth with each step, and the run learns nothing or keeps
    more than seven tenths of its first loss.
    Wrong if: weights are to vanish, as in pruning.
    Healthy programs tried: a decay of 0.1 with AdamW, heavy decay of a model that learns, sparse codes.
    """

    name, title, certainty, severity = "decay wins", "weight decay", MEASURED, WRONG

    def findings(self) -> Iterator[Finding]:
        """Say how far."""
        at, course = first_held(self.ev), Course(self.ev)
        if (
            at is None
            or not course.known
            or not (course.stays or course.rises or course.late > 0.7 * course.first)
        ):
            return
        decay = max(float(g.get("weight_decay", 0) or 0) for g in at.optimizer.param_groups)
        weights = [h for h in at.each if h.tensor.ndim >= 2 and h.norms]
        if not decay or not weights:
            return
        first = float(np.sqrt(sum(h.first_norm**2 for h in weights)))
        late = float(np.sqrt(sum(h.norms[-1][2] ** 2 for h in weights)))
        pull = [decay * w / max(g, 1e-30) for h in weights for _, g, w in h.norms[1:4]]
        if (
            late > 0.3 * first
            or not pull
            or (float(np.median(pull)) < 1 and decay * float(at.rates[0]) < 0.01)
        ):
            return
        yield self.found(
            f"A weight decay of {decay:g} pulls weights to {100 * late / max(first, 1e-30):.0f} % of "
            "their first size: it is stronger than the gradients.",
            at.place or at.step_place,
            f"decay {decay:g}",
            also=(written(self.ev, at, "weight_decay"), "is written"),
            related=self.lines((at.step_place, "steps")) if at.place else [],
            proof=[
                ("size of all weights, first and last", f"{number(first)}, {number(late)}"),
                ("decay / gradient at first", number(float(np.median(pull)))),
                course.ends(),
            ],
            confirm=("sum(p.norm() for p in model.parameters())", "it shrinks to nothing"),
            unless="weights are to vanish.",
            advice="Use a decay of 0.01 or less.",
            weight=5.0,
            explains=(
                "learns nothing",
                "vanishes",
                "dead units",
                "unrelated",
                "one class",
                "mean",
                "equal units",
                "too small",
            ),
        )


class Units(Rule):
    """Units of a layer are off, or at the end of their range, for all samples: no gradient comes through.

    Meaning: a relu that is 0 for every sample, or a sigmoid that is 0 or 1, has no slope.
    Fires: when in each of the last three looks nine tenths of the units of a relu are off for all samples, or nine
    tenths of what a sigmoid or a tanh gives are within 0.01 of its ends, and the run learns nothing; or when all
    units of a relu are off for all samples in every look, six or more. A bias that the program wrote is named where
    all units after it were off, else the layer.
    Wrong if: few units are meant to answer, as in gates and mixtures.
    Healthy programs tried: wide relu layers, sparse codes, gates of recurrent layers, runs that learn.
    """

    name, title, certainty, severity = "dead units", "units that are off", MEASURED, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.seen: dict[Any, list] = {}
        self.biased: dict[Any, Any] = {}  # where the bias before units that are off was written

    def _bias(self, v: Any) -> Any:
        """Where a bias of the layer before was written by the program; None where it was not."""
        for x in v.parents:
            t = x.tensor
            if t is None or len(x.shape) != 1:
                continue
            begun, written = self.ev.begun.get(id(t)), self.ev.writes.get(id(t))
            if begun is not None and begun[0] in CONSTANT and begun[0] != "zeros_":
                return begun[1]
            if written is not None and (begun is None or written[0] > begun[3]):
                return written[1]
            if id(t) not in self.ev.registered and (t._data < 0).all():
                return self.ev.assigned(self.ev.name_of(t))
        return None

    def at_look(self, p: Any) -> None:
        """Count units."""
        if p.root is None or not p.accumulates:
            return
        for v in self.ev.values:
            if v.op not in ("relu", "sigmoid", "tanh") or not v.needs or len(v.shape) < 2 or v.shape[0] < 4:
                continue
            d = array(v)
            if d is None or not np.isfinite(d).all():
                continue
            axis = 1 if d.ndim == 4 else d.ndim - 1
            others = tuple(i for i in range(d.ndim) if i != axis)
            if d.shape[axis] < 4:
                continue
            if v.op == "relu":
                share = float((d <= 0).all(others).mean())
            else:
                edge = np.abs(d) > 0.99 if v.op == "tanh" else (d < 0.01) | (d > 0.99)
                share = float(edge.mean())
            entry = self.seen.setdefault((self.ev.blamed(v), v.op, id(v.module)), [[], v.module])
            entry[0].append(share)
            key = (self.ev.blamed(v), v.op, id(v.module))
            if share == 1.0 and v.op == "relu" and key not in self.biased and v.parents:
                self.biased[key] = self._bias(v.parents[0])

    def findings(self) -> Iterator[Finding]:
        """Say which layer."""
        course = Course(self.ev)
        for key, (shares, module) in self.seen.items():
            place, op, _ = key
            late = shares[-3:]
            whole = op == "relu" and len(shares) >= 6 and min(shares) == 1.0
            if len(late) < 3 or min(late) < OFF or not (whole or course.stays):
                continue
            written_at = self.biased.get(key)
            place = written_at or place
            named = self.ev.module_name(module) if module is not None else ""
            within = f"{op} in {named}" if named else op
            what = (
                f"the units of {within} are 0 for every sample"
                if op == "relu"
                else f"what {within} gives is at the ends of its range"
            )
            yield self.found(
                f"{100 * min(late):.0f} % of {what}: no gradient comes through.",
                place,
                "off" if op == "relu" else "saturated",
                layer=named,
                proof=[
                    ("share, at first and in the end", f"{100 * shares[0]:.0f} %, {100 * late[-1]:.0f} %"),
                    course.ends(),
                ],
                confirm=(
                    "(out > 0).any(0).float().mean()" if op == "relu" else "out.abs().min()",
                    "0, nearly",
                ),
                unless="few units are meant to answer.",
                advice="Lower the learning rate, scale inputs and weights, or normalise before it.",
                weight=2.0,
                explains=("learns nothing", "unrelated", "one class", "vanishes", "mean"),
            )
            return


class Vanishes(Rule):
    """The gradient of the first layer is nothing beside that of the last.

    Meaning: each layer should get as much as the next.
    Fires: when a run learns nothing and the first weight's gradient, beside the weight, is a ten-thousandth of the
    last one's or less, both the median of three to eight looks, of at least four weights, tables of embeddings left
    out.
    Wrong if: the first layers are to stay.
    Healthy programs tried: residual networks, embeddings of rare tokens, norms, fine-tuning.
    """

    name, title, certainty, severity = "vanishes", "gradients by layer", MEASURED, WRONG

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        at, course = first_held(self.ev), Course(self.ev)
        if at is None or not course.stays:
            return
        weights = [
            h
            for h in at.each
            if h.tensor.ndim >= 2 and len(h.norms) >= 3 and not self.ev.is_embedding(h.tensor)
        ]
        if len(weights) < 4:
            return
        first, last = ([g / w for _, g, w in h.norms[:8] if w > 0] for h in (weights[0], weights[-1]))
        if not first or not last or float(np.median(last)) <= 0:
            return
        share = float(np.median(first)) / float(np.median(last))
        if share > 1e-4:
            return
        acts = {v for v in self.ev.activations if v[0] in ("sigmoid", "tanh")}
        place = next((x[1] for x in acts), None)
        yield self.found(
            f"The gradient vanishes: that of {self.ev.name_of(weights[0].tensor) or 'the first layer'} "
            f"is {number(share)} of the last layer's.",
            place,
            "shrinks it",
            layer=self.ev.name_of(weights[0].tensor),
            proof=[
                ("gradient / weight, first layer beside last", number(share)),
                ("weights between", len(weights) - 2),
                course.ends(),
            ],
            confirm=("[p.grad.norm() for p in model.parameters()]", "it falls towards the input"),
            unless="the first layers are to stay.",
            advice="Use ReLU or residual connections, normalise, or initialise for the activation.",
            weight=3.0,
            explains=("learns nothing", "unrelated", "one class", "mean", "too small"),
        )


class NoSign(Rule):
    """An op whose slope is 0 everywhere stands between parameters and the loss: they get gradients of exactly 0.

    Meaning: `round`, `sign`, `floor` and comparisons are flat: their derivative is 0 wherever it exists.
    Fires: when in three looks such an op with a gradient lies on the way to the loss, and at least half of the
    parameters behind it that an optimizer holds had a gradient of 0 in all steps that were looked at.
    Wrong if: the gradient is put in place by hand, as by a straight-through estimator, whose gradient is not 0.
    Healthy programs tried: straight-through rounding, masks, indices, quantization with a bypass.
    """

    name, title, certainty, severity = "flat", "ops without a slope", "lineage", WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.flat: dict[Any, list] = {}

    def at_look(self, p: Any) -> None:
        """Look for flat ops."""
        if p.root is None or not p.accumulates:
            return
        for v in ancestors(p.root):
            if v.op in ("round", "sign", "floor", "ceil", "trunc", "heaviside", "sgn") and v.needs:
                entry = self.flat.setdefault((v.place, v.op), [0, set()])
                entry[0] += 1
                entry[1].update(id(a.tensor) for a in ancestors(v) if a.tensor is not None and a.needs)

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        for (place, op), (times, behind) in self.flat.items():
            held = [
                h for one in self.ev.ledgers.values() for h in one.each if id(h.tensor) in behind and h.norms
            ]
            still = [h for h in held if all(g == 0 for _, g, _ in h.norms)]
            if times < 3 or not still or len(still) < len(held) * 0.5:
                continue
            yield self.found(
                f"{op} has a slope of 0 everywhere: "
                f"{self.ev.name_of(still[0].tensor) or 'what is before it'} gets gradients of exactly 0.",
                place,
                "slope 0",
                proof=[("parameters with a gradient of 0", len(still)), ("looks", times)],
                confirm=("p.grad.abs().max()", "0"),
                unless="",
                advice=f"Leave {op} out of the loss, or pass the gradient by: x + (x.{op}() - x).detach().",
                weight=7.0,
                explains=("learns nothing", "too small", "vanishes", "dead units", "unrelated"),
            )


RULES = (Diverges, TooLarge, TooSmall, DecayWins, Units, Vanishes, NoSign)
