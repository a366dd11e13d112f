"""The clipped ratio of a policy's surrogate: which of the two is taken, what is clipped, and what the ratio is.

Invariant: looked at is only a pair that stands in a loss as the larger or the smaller of a product and the same
product with a clip in it; that pair has one use.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ...lineage import SHAPED, Value, beyond
from ..finding import LINEAGE, WRONG, Finding
from ..heads import array, signed
from .base import Counting

LOOKS = 3
ONES = 4  # looks, of which none has a ratio but 1
EXTREMA = ("minimum", "maximum")
PICKS = (
    "index",
    "gather",
    "index_select",
    "select",
    "slice",
    "split",
    "take",
    "broadcast_tensors",
)
SAYS = {
    "larger": (
        "The larger of the two surrogates is taken, and made large: the clip holds nothing back.",
        "takes the larger",
        "Take torch.min of the two, with the minus before it.",
    ),
    "smaller": (
        "The smaller of the two surrogates stands in the loss with a plus: it is made smaller still.",
        "lacks its minus",
        "Put a minus before it: -torch.min(surr1, surr2).mean().",
    ),
    "product": (
        "The clip is put on ratio times advantage, and not on the ratio: advantages are cut to about 1.",
        "clips the product",
        "Clip the ratio, and multiply that by the advantage.",
    ),
    "turned": (
        "The ratio is turned over: it is the old probability over the new one.",
        "divides the old by the new",
        "Take (new_log_prob - old_log_prob).exp().",
    ),
    "no exp": (
        "The ratio that is clipped about 1 is made of log-probabilities without exp: it is no ratio.",
        "has no exp",
        "Take (new_log_prob - old_log_prob).exp().",
    ),
    "ones": (
        "The ratio is 1 in every step: the old log-probabilities are computed anew by the policy that has learned.",
        "is always 1",
        "Keep the log-probabilities of the rollout, and use these in all its epochs.",
    ),
}


class Pair(NamedTuple):
    """A product, and the same with a clip.

    Args:
        best: the larger or the smaller of the two. clip: the clip's own value.
        ratio: what is clipped. product: whether that is the whole product.
    """

    best: Value
    clip: Value
    ratio: Value
    product: bool


class ClippedRatio(Counting):
    """The surrogate of a policy is not what its clip is for: the wrong one of two, or no ratio of new to old.

    Meaning: the loss is minus the smaller of ratio × advantage and clipped ratio × advantage, or the larger of both
    with the advantage negated; the ratio is that of the new probability to the one of the rollout.
    Fires: when in three looks a loss of an optimizer that does not maximise holds the larger or the smaller of two
    values with a gradient, of which one is a product, and the other either the same product with one factor clamped
    (the other factor holding the same numbers) or the clamp of that product to bounds of which one is above 1 and
    one between 0 and 1; and one of these holds. The larger stands there with a minus. The smaller stands there with a
    plus. The whole product is clamped, and a factor of it is an exponential of a difference. The factor is the
    exponential of a difference (or a quotient of exponentials), of which the first has no gradient and the second
    has one. The factor is the difference, or the quotient, of one value with a gradient and one without, neither is
    an exponential, in a quotient both are nowhere positive, and the bounds are those above. Or when in four looks,
    and in all, each ratio is within 1e-6 of 1, the clamp is of the exponential of a difference, and what its
    log-probabilities were picked by (an index of a gather) came out of one array so often that it has been used more
    than once, and what has no gradient there did not come out of one array in the same two looks.
    Wrong if: the pair is meant for something else.
    Healthy programs tried: surrogates with minus and min, with negated advantages and max, with a second clip, with a
    value that is clipped, one epoch for each rollout, ratios of probabilities, policies of actions that are numbers.
    """

    name, title, certainty, severity = "clipped ratio", "clipped ratios", LINEAGE, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.ones: dict[
            Any, list
        ] = {}  # by place of the ratio: looks, those that were not all 1, uses, whether twice
        self.actions: tuple[list, int] = (
            [],
            0,
        )  # what the newest actions were picked out of, since which turn
        self.old: list = []  # what the newest old log-probabilities were picked out of

    def at_look(self, p: Any) -> None:
        """Look at each such pair."""
        if p.root is None or not p.accumulates or not self.ev.ledgers:
            return
        found: set = set()
        for v, sign, _ in signed(p.root):
            if v.op not in EXTREMA or len(v.parents) != 2 or not all(x.needs for x in v.parents):
                continue
            pair = _pair(v)
            if pair is None or self._maximises():
                continue
            for kind, place in self._wrongs(pair, sign):
                found.add((kind, place, p.root.place if kind == "smaller" else v.place))
            self._all_one(pair, p.turn)
        for key in found:
            self.times[key] = self.times.get(key, 0) + 1

    def _maximises(self) -> bool:
        return any(
            group.get("maximize") for one in self.ev.ledgers.values() for group in one.optimizer.param_groups
        )

    def _wrongs(self, pair: Pair, sign: float) -> Iterator[tuple[str, Any]]:
        """What is wrong with a pair, and where."""
        if pair.product:
            yield "product", pair.clip.place
        else:
            made = _made(pair.ratio)
            if made is None:
                return  # what is no ratio may be clipped for other reasons
            kind, place = made
            if kind == "no exp" and not _about_one(pair.clip):
                return
            if kind:
                yield kind, place
        if pair.best.op == "maximum" and sign < 0:
            yield "larger", pair.best.place
        elif pair.best.op == "minimum" and sign > 0:
            yield "smaller", pair.best.place

    def _all_one(self, pair: Pair, turn: int) -> None:
        """Count ratios that are 1, and whether their actions were used before."""
        ratio = beyond(pair.ratio)
        d = array(ratio)
        if pair.product or ratio.op != "exp" or d is None or d.size < 2 or _made(ratio) != ("", None):
            return
        entry = self.ones.setdefault(ratio.place, [0, 0, False, pair.clip.place])
        entry[0] += 1
        entry[1] += bool(np.abs(d - 1).max() > 1e-6)
        new, old = beyond(ratio.parents[0]).parents
        scored = beyond(new)
        arrays = _picked(scored.parents[1]) if scored.op == "gather" and len(scored.parents) > 1 else []
        (before, since), kept, self.old = self.actions, self.old, _picked(old)
        same = [a for a in arrays if any(a is b for b in before)]
        if not same:
            self.actions = arrays, turn
        elif not any(a is b for a in self.old for b in kept):
            if (turn - since + 1) * d.shape[0] > 1.01 * len(same[-1]):
                entry[2] = True

    def findings(self) -> Iterator[Finding]:
        """Say which it is."""
        seen = [(key, times) for key, times in self.times.items() if times >= LOOKS]
        seen += [
            (("ones", place, clip), looks)
            for place, (looks, other, twice, clip) in self.ones.items()
            if looks >= ONES and not other and twice
        ]
        for (kind, place, second), times in seen:
            text, label, advice = SAYS[kind]
            yield self.found(
                text,
                place,
                label,
                also=(second, "is made small") if second != place else (None, ""),
                proof=[("looks", times)],
                confirm=("(ratio - 1).abs().max() in the last epoch of a rollout", "0")
                if kind == "ones"
                else ("the mean reward over the rollouts", "it does not rise as it should"),
                unless="" if kind != "ones" else "each rollout is used once.",
                advice=advice,
                weight=7.0,
                explains=("learns nothing", "too small", "diverges", "course"),
            )
            return


def _pair(v: Value) -> Pair | None:
    """The pair that an extremum is of; None where it is none."""
    for x, y in (v.parents, v.parents[::-1]):
        x, y = beyond(x), beyond(y)
        while x.op == "neg" and y.op == "neg":
            x, y = beyond(x.parents[0]), beyond(y.parents[0])
        if x.op != "mul" or len(x.parents) != 2:
            continue
        if y.op in ("clamp", "clip") and y.parents and _equal(y.parents[0], x):
            if _about_one(y) and any(_made(f) is not None and _is_exp(f) for f in x.parents):
                return Pair(v, y, x, True)
        if y.op != "mul" or len(y.parents) != 2:
            continue
        for clip, other in (y.parents, y.parents[::-1]):
            c = beyond(clip)
            if c.op not in ("clamp", "clip") or not c.parents:
                continue
            for ratio, weight in (x.parents, x.parents[::-1]):
                if beyond(c.parents[0]) is beyond(ratio) and _equal(weight, other):
                    return Pair(v, c, beyond(ratio), False)
    return None


def _equal(a: Value, b: Value) -> bool:
    """Whether two values hold the same numbers."""
    a, b = beyond(a), beyond(b)
    if a is b:
        return True
    x, y = array(a), array(b)
    return x is not None and y is not None and x.shape == y.shape and bool(np.array_equal(x, y))


def _is_exp(v: Value) -> bool:
    return beyond(v).op == "exp"


def _made(ratio: Value) -> tuple[str, Any] | None:
    """What is wrong with a ratio, "" where nothing is, and where; None where it is none."""
    r = beyond(ratio)
    if r.op == "exp" and r.parents:
        inner = beyond(r.parents[0])
        if inner.op != "sub" or len(inner.parents) != 2:
            return None
        new, old = inner.parents
        if old.needs and not new.needs:
            return "turned", inner.place
        return ("", None) if new.needs and not old.needs else None
    if r.op not in ("sub", "div") or len(r.parents) != 2:
        return None
    first, second = (beyond(x) for x in r.parents)
    if r.op == "div" and first.op == second.op == "exp":
        if second.needs and not first.needs:
            return "turned", r.place
        return ("", None) if first.needs and not second.needs else None
    if first.needs == second.needs or first.op == "exp" or second.op == "exp":
        return None
    if r.op == "div":
        x, y = array(first), array(second)
        if x is None or y is None or not x.size or not (x <= 0).all() or not (y <= 0).all():
            return ("", None) if first.needs else None  # probabilities
    return "no exp", r.place


def _about_one(clip: Value) -> bool:
    """Whether a clip's bounds are known to lie about 1."""
    numbers = [x for x in (*clip.consts, *clip.ins) if x.__class__ in (int, float)]
    return len(numbers) == 2 and 0 < numbers[0] < 1 < numbers[1]


def _picked(v: Value) -> list:
    """The arrays that a value is, or was picked out of: those with the most rows."""
    arrays = []
    for _ in range(16):
        if isinstance(v.data, np.ndarray) and v.data.ndim:
            arrays.append(v.data)
        if not v.parents or not (v.op in SHAPED or v.op in PICKS or v.op == "alias"):
            break
        v = v.parents[0]
    longest = max((len(a) for a in arrays), default=0)
    return [a for a in arrays if len(a) == longest]


RULES = (ClippedRatio,)
