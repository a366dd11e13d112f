"""Networks in pairs: a discriminator and a generator, an encoder and its latent Gaussian.

Invariant: what is generated is known by its history, through detach; what a pass trains, by the parameters it reaches.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...layers import is_module
from ...lineage import SHAPED, Value, ancestors, beyond
from ..finding import LINEAGE, WRONG, Finding, number
from ..heads import LOGITS, VALUES, array, signed
from ..written import argument
from .base import Counting, Rule

LOOKS = 3
DETACHED = ("detach", "data", "no history", "no_grad")


class Opponents(Rule):
    """A discriminator is asked the same for real and generated samples, or the generator wants what it is asked for.

    Meaning: the two networks want opposite answers for what is generated; without that, neither learns.
    Fires: when, in three looks, the answers of one network are compared with one number for samples that another
    network made, and with the same number (within a fifth) for others, or have there the same sign in the loss; or
    when the pass that trains the maker asks for the answer that the other's own pass asks for, or gives it the same
    sign; the maker has parameters, and two optimizers step.
    Wrong if: the two are to help each other.
    Healthy programs tried: binary, least-squares, hinge and Wasserstein losses, smoothed labels, losses in two
    passes, perceptual losses, actors and critics.
    """

    name, title, certainty, severity = "opponents", "generators and discriminators", LINEAGE, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.turn = -1
        self.asked: dict[tuple, tuple[float, Any]] = {}  # in this turn, by (network, kind): what, where
        self.times: dict[tuple, list] = {}

    def at_look(self, p: Any) -> None:
        """Take in what each pass asks of a network that judges."""
        if p.root is None or not p.accumulates or len(self.ev.ledgers) < 2 or not p.calls:
            return
        if self.turn != self.ev.turn:
            self.turn, self.asked = self.ev.turn, {}
        reached = {id(v) for v in p.leaves}
        found: list[tuple[Any, Any, str, float, Any]] = []  # judge, maker, form, what, place
        cached = self.ev.heads_of
        heads = cached[1] if cached is not None and cached[0] == (id(p.root), p.number) else []
        for head in heads:
            d = array(head.target)
            if head.kind not in (LOGITS, VALUES) or d is None or not d.size or head.target.needs:
                continue
            call = self._call(head.prediction)
            if call is not None and float(np.ptp(d)) <= 0.2 and -1.01 <= float(d.mean()) <= 1.01:
                for judge, maker in self._made(call, head.prediction):
                    found.append((judge, maker, "asked", float(d.mean()), head.value.place))
        if not found:
            used: dict[int, Any] = {}  # by an answer: where it is used first
            for v, sign, _ in signed(p.root):
                if v.model is None:
                    used.update({id(x): v.place for x in v.parents if x.model is not None})
                elif v.shape[1:] in ((), (1,)):
                    for judge, maker in self._made(v.model, v):
                        found.append((judge, maker, "sign", sign, used.get(id(v), p.root.place)))
        real = {id(judge) for judge, maker, *_ in found if maker is None}
        for judge, maker, form, what, place in found:
            kind = "real"
            if maker is not None:
                trains = any(id(q) in reached for q in maker.parameters())
                kind = "maker" if trains and id(judge) not in real else "made"
            if kind == "made" and id(judge) not in real:  # a pass of its own, unless there was one for both
                self.asked.setdefault((id(judge), kind, form), (what, place))
            else:
                self.asked[(id(judge), kind, form)] = (what, place)
        for judge in {id(judge): judge for judge, *_ in found}.values():
            self._compare(judge)

    @staticmethod
    def _call(v: Value) -> Any:
        """The call of a network that a value comes from."""
        for _ in range(8):
            if v.model is not None:
                return v.model
            if v.op not in SHAPED and v.op not in ("mean_all", "mean_dims", "mean", "sigmoid"):
                return None
            if not v.parents:
                return None
            v = v.parents[0]
        return None

    def _made(self, call: Any, answer: Value) -> list[tuple[Any, Any]]:
        """Who judges, and who made what is judged: a network, or None."""
        known = None if call.inputs is None else self.ev.table.get(id(call.inputs._data))
        if known is None or not is_module(call.module):
            return []
        for v in itertools.islice(ancestors(known, lambda v: v.model is None), 200):
            if v.model is not None and v.model.module is not call.module and is_module(v.model.module):
                return [(call.module, v.model.module)]
            if v.op in DETACHED and v.ins and v.ins[0].__class__ is Value and v.ins[0].model is not None:
                if v.ins[0].model.module is not call.module:
                    return [(call.module, v.ins[0].model.module)]
        return [(call.module, None)]

    def _compare(self, judge: Any) -> None:
        for form in ("asked", "sign"):
            real, made, maker = (
                self.asked.get((id(judge), kind, form)) for kind in ("real", "made", "maker")
            )
            near = 0.2 if form == "asked" else 0.0
            if real is not None and made is not None and abs(real[0] - made[0]) <= near:
                right = (
                    real[0] > 0.5 if form == "asked" else real[0] < 0
                )  # real ones are 1, and raise the score
                wrong, other = (made, real) if right else (real, made)
                self._note(("both", form, wrong[1]), judge, other[1], wrong[0])
            elif (
                made is not None
                and maker is not None
                and abs(made[0] - maker[0]) <= near
                and real is not None
            ):
                self._note(("maker", form, maker[1]), judge, made[1], maker[0])
            elif real is not None and made is not None and maker is not None:
                self._note(("opposed", form, None), judge, None, 0.0)

    def _note(self, key: tuple, judge: Any, other: Any, what: float) -> None:
        entry = self.times.setdefault(key, [0, judge, other, what, -1])
        if entry[4] != self.turn:
            entry[0], entry[4] = entry[0] + 1, self.turn

    def findings(self) -> Iterator[Finding]:
        """Say which of the two."""
        if sum(one.steps > 2 for one in self.ev.ledgers.values()) < 2:
            return
        for (kind, form, place), (times, judge, other, what, _) in self.times.items():
            if times < LOOKS or kind == "opposed":
                continue
            named = self.ev.module_name(judge) or type(judge).__name__
            asks = f"asked for {number(what)}" if form == "asked" else "pushed the same way"
            yield self.found(
                f"{named} is {asks} for generated samples and for real ones: it is never asked to tell them apart."
                if kind == "both"
                else f"The generator is trained for the answer that {named} itself is trained for: nobody is its "
                "opponent.",
                place,
                "asks the same",
                also=(other, "the other one"),
                layer=named,
                proof=[
                    ("looks", times),
                    ("asked for", number(what)) if form == "asked" else ("sign", number(what)),
                ],
                confirm=("the targets of both comparisons", "the same number"),
                unless="the two are to help each other.",
                advice="Ask the discriminator for 1 where samples are real and 0 where they are generated, and the "
                "generator for 1.",
                weight=7.0,
                explains=("learns nothing", "too small", "one class"),
            )
            return


class SameNoise(Rule):
    """A generator is trained on one and the same noise in every step.

    Meaning: a generator turns noise into samples; of noise that never changes it learns as many samples as there are
    rows.
    Fires: when in four looks, and all, a network whose parameters a pass reaches was given the very same numbers, of
    about mean 0 and deviation 1 or within 0 and 1, what it made was judged by another network in that pass, and two
    optimizers step.
    Wrong if: these few samples are what is wanted.
    Healthy programs tried: noise that is kept for pictures alone, fresh noise, conditional generators.
    """

    name, title, certainty, severity = "same noise", "noise of generators", LINEAGE, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.seen: dict[int, list] = {}  # by network: prints, looks, place of its call, network

    def at_look(self, p: Any) -> None:
        """Take a print of what makers are given."""
        if p.root is None or not p.accumulates or len(p.calls) < 2 or len(self.ev.ledgers) < 2:
            return
        reached = {id(v) for v in p.leaves}
        for call in p.calls:
            d = None if call.inputs is None else call.inputs._data
            if (
                not isinstance(d, np.ndarray)
                or d.dtype.kind != "f"
                or d.size < 8
                or not is_module(call.module)
            ):
                continue
            known = self.ev.table.get(id(d))
            if (known is not None and known.needs) or not self._judged(call, p):
                continue
            if not any(id(q) in reached for q in call.module.parameters()):
                continue
            noise = abs(float(d.mean())) < 0.6 and 0.2 < float(d.std()) < 1.5
            entry = self.seen.setdefault(id(call.module), [set(), 0, call.place, call.module])
            entry[0].add(
                hash(np.ascontiguousarray(d).reshape(-1)[:4096].tobytes()) if noise else self.ev.turn
            )
            entry[1] += 1

    def _judged(self, call: Any, p: Any) -> bool:
        """Whether another network of the pass was given what came of a call."""
        for other in p.calls:
            if other is not call and other.module is not call.module and other.inputs is not None:
                known = self.ev.table.get(id(other.inputs._data))
                if known is not None and any(
                    v.model is call
                    for v in itertools.islice(ancestors(known, lambda v: v.model is None), 100)
                ):
                    return True
        return False

    def findings(self) -> Iterator[Finding]:
        """Say where it was made."""
        if sum(one.steps > 2 for one in self.ev.ledgers.values()) < 2:
            return
        for prints, looks, place, module in self.seen.values():
            if looks < 4 or len(prints) > 1:
                continue
            line = self.ev.line(place)
            made = self.ev.assigned(argument(line, 0), line)
            named = self.ev.module_name(module) or type(module).__name__
            yield self.found(
                f"{named} is given the very same noise in each step.",
                line,
                "the same noise",
                also=(made, "made once"),
                layer=named,
                proof=[("looks", looks), ("different noise", 1)],
                confirm=("the noise of two steps", "the same numbers"),
                unless="these few samples are what is wanted.",
                advice="Draw noise anew in each step.",
                weight=6.0,
            )
            return


class Latent(Counting):
    """The divergence of a latent Gaussian is rewarded, or its noise is scaled by the variance.

    Meaning: 0.5 (mu² + exp(s) - 1 - s) is 0 at best; with s the logarithm of the variance, noise is scaled by
    exp(s / 2).
    Fires: when in three looks a loss holds a value s and its exponential with opposite signs, the exponential with
    the negative one (or a ratio and its logarithm, the ratio with the negative one); or when it holds them the right
    way and a value without a gradient is multiplied by exp(s), as it is, on the way to the loss, or a draw of uniform
    numbers between 0 and 1, of the shape of s, by exp(s), by exp of s times a number, or by a power or root of these.
    Wrong if: s is the logarithm of the deviation, and the divergence is written for that; then it holds exp(2 s).
    Healthy programs tried: autoencoders with logarithms of variances and of deviations, divergences of
    distributions, weights of several tasks that are learned, Poisson losses.
    """

    name, title, certainty, severity = "latent", "latent Gaussians", LINEAGE, WRONG

    def at_look(self, p: Any) -> None:
        """Look for a value and its exponential."""
        if p.root is None or not p.accumulates:
            return
        seen = list(signed(p.root))
        for v, sign, place in seen:
            if v.op not in ("exp", "log") or not v.parents or not v.needs:
                continue
            x = v.parents[0]
            if x.shape == () or not any(other is x and s != sign for other, s, _ in seen):
                continue
            wrong = sign < 0 if v.op == "exp" else sign > 0
            if not self._squares(seen, sign if v.op == "exp" else -sign):
                continue
            if wrong:
                root = p.root
                if root.op == "sub" and len(root.parents) == 2:
                    if any(a is v for a in itertools.islice(ancestors(root.parents[1]), 400)):
                        place = root.place  # all of it is taken off
                self.times.setdefault(("sign", place or v.place), [0, v.place])[0] += 1
            elif v.op == "exp":
                self._noise(p, x, v)
            return

    @staticmethod
    def _squares(seen: list, sign: float) -> bool:
        """Whether a square with a gradient stands beside them, with the sign of the exponential."""
        return any(
            v.needs and v.parents and s == sign and (v.op in ("pow", "square") or _twice(v))
            for v, s, _ in seen
        )

    def _noise(self, p: Any, x: Value, term: Value) -> None:
        for v in itertools.islice(ancestors(p.root), 4000):
            if v.op != "mul" or len(v.parents) != 2:
                continue
            for scale, noise in (v.parents, v.parents[::-1]):
                e = beyond(scale, SHAPED)
                if uniform(beyond(noise)) and noise.shape == x.shape and _deviation(e, x):
                    self.times.setdefault(("uniform", beyond(noise).place), [0, v.place])[0] += 1
                    return
                if (
                    e.op == "exp"
                    and e.parents
                    and e.parents[0] is x
                    and not noise.needs
                    and noise.shape == x.shape
                ):
                    self.times.setdefault(("noise", e.place), [0, term.place])[0] += 1
                    return

    def findings(self) -> Iterator[Finding]:
        """Say which of the two."""
        for (kind, place), (times, other) in self.times.items():
            if times < LOOKS:
                continue
            text, label, second, confirm, unless, advice = SAYS[kind]
            yield self.found(
                text,
                place,
                label,
                also=(other, second) if other != place else (None, ""),
                proof=[("looks", times)],
                confirm=confirm,
                unless=unless,
                advice=advice,
                weight=7.0,
                explains=("diverges", "course", "learns nothing"),
            )
            return


SAYS = {
    "sign": (
        "The divergence of the latent Gaussian stands in the loss with a minus: each step makes it larger.",
        "turns the sign",
        "the divergence",
        ("the divergence over the steps", "it grows"),
        "",
        "Add -0.5 * (1 + s - mu ** 2 - s.exp()) to the loss.",
    ),
    "noise": (
        "Noise is scaled by exp of what the divergence takes for the logarithm of the variance: by the "
        "variance, not the deviation.",
        "scales by the variance",
        "the divergence",
        ("noise.std() beside exp(0.5 * s)", "its square"),
        "the divergence is the wrong one.",
        "Scale by (0.5 * s).exp().",
    ),
    "uniform": (
        "The noise of the latent Gaussian is uniform between 0 and 1: it is never negative, and not normal.",
        "draws uniform numbers",
        "scales them",
        ("eps.mean(), eps.std()", "0.5, 0.29"),
        "",
        "Draw it with torch.randn_like.",
    ),
}
UNIFORM = ("rand", "rand_like")


def uniform(v: Value) -> bool:
    """Whether a value is a draw of uniform numbers between 0 and 1."""
    return v.place is not None and (
        v.op in UNIFORM or (v.op == "source" and v.consts[:1] in ((u,) for u in UNIFORM))
    )


def _deviation(v: Value, x: Value) -> bool:
    """Whether a value is an exponential of another one, times a number, or a power or root of that."""
    for _ in range(6):
        v = beyond(v, SHAPED)
        if v is x:
            return True
        if v.op not in ("exp", "sqrt", "pow", "mul", "div") or len(v.parents) != 1:
            return False
        v = v.parents[0]
    return False


def _twice(v: Value) -> bool:
    return v.op == "mul" and len(v.parents) == 2 and v.parents[0] is v.parents[1]


RULES = (Opponents, SameNoise, Latent)
