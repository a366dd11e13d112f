"""How data and noise are mixed for a network that is to find the noise: by which table, and by which noise.

Invariant: a mixture is known by its history: a sum of data and of the very draw that the network is asked for, each
times a coefficient for each sample.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ...lineage import Value, ancestors, beyond
from ..finding import LINEAGE, WRONG, Finding, number
from ..heads import VALUES, array
from .base import Counting
from .draws import DEEP, drawn
from .pairs import uniform
from .structure import heads_at

PRODUCTS = ("cumprod", "cumprod_dim")
LEAST = 32  # numbers of the noise
LOOKS = 3
EQUAL, UNLIKE = 1e-3, 0.05


class Mixture(NamedTuple):
    """Data and noise, each with its coefficients.

    Args:
        value: the sum. data, noise: what is mixed. of_data, of_noise: the coefficients.
    """

    value: Value
    data: Value
    noise: Value
    of_data: Value
    of_noise: Value


class NoiseSchedule(Counting):
    """Data and noise are mixed by the factors of one step, by squares that do not sum to 1, or with uniform noise.

    Meaning: after t steps, data is left with the root of the product of t factors, and noise with the root of 1 minus
    that product; each step adds normal noise.
    Fires: when in three looks, and in all in which the target of a distance is a draw of that turn of 32 numbers or
    more and the prediction comes from a sum of two products of its size, one of that draw, each with a tensor of
    fewer numbers that has no gradient: the draw is uniform between 0 and 1, and the squares of both coefficients sum
    to 1 within 0.001 in all rows; or the draw is normal, a coefficient comes from a `cumprod`, the squares differ
    from 1 by more than 0.05 in a quarter of the rows or more, and the coefficients sum to 1 within 0.001 in all rows,
    or one of them and the square of the other do; or the draw is normal, the squares sum to 1, neither coefficient
    comes from a `cumprod`, that of the data comes from what a `cumprod` before the loop was computed from, and what
    is mixed comes from no normal draw of that turn.
    Wrong if: only one step is to be learned.
    Healthy programs tried: tables of products and of their roots, schedules within the loop, flows between data and
    noise, noise that is added without a factor for the data, data that is scaled besides, steps that are mixed one
    after another.
    """

    name, title, certainty, severity = "noise schedule", "mixtures of data and noise", LINEAGE, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.fine = 0  # looks in which a mixture was as it should be

    def at_look(self, p: Any) -> None:
        """Look at what the network is given."""
        if p.root is None or not p.accumulates or self.fine > LOOKS:
            return
        known: set[int] | None = None
        for head in heads_at(self.ev, p):
            if head.kind != VALUES or head.target is None or head.target.needs:
                continue
            asked = beyond(head.target)
            if int(np.prod(asked.shape)) < LEAST:
                continue
            if known is None:
                known = {id(v) for v in self.ev.setup or ()}
            even = uniform(asked) and id(asked) not in known
            if not even and not drawn(asked, known):
                continue
            mixture = _mixture(head.prediction, asked)
            if mixture is None:
                continue
            wrong = self._wrong(mixture, even, known)
            if wrong is None:
                self.fine += 1
            else:
                entry = self.times.setdefault(wrong[:2], [0, wrong[2], mixture.value.place])
                entry[0] += 1

    def _wrong(self, mixture: Mixture, even: bool, known: set[int]) -> tuple[str, Any, float] | None:
        """What is wrong, where, and a number that shows it."""
        a, b = array(mixture.of_data), array(mixture.of_noise)
        if a is None or b is None or not a.size or not b.size or a.dtype.kind != "f" or b.dtype.kind != "f":
            return None
        if a.size != b.size and 1 not in (a.size, b.size):
            return None
        a, b = (one.reshape(-1).astype(np.float64) for one in (a, b))
        squares = a**2 + b**2
        whole = bool((abs(squares - 1) < EQUAL).all())
        if even:
            return ("uniform", mixture.noise.place, 0.5) if whole else None
        products = [v for c in (mixture.of_data, mixture.of_noise) for v in _behind(c) if v.op in PRODUCTS]
        if products:
            missing = any(bool((abs(s - 1) < EQUAL).all()) for s in (a + b, a**2 + b, a + b**2))
            if missing and float(np.mean(abs(squares - 1) > UNLIKE)) >= 0.25:
                return "squares", mixture.value.place, float(squares[np.argmax(abs(squares - 1))])
            return None
        if not whole or any(drawn(v, known) for v in itertools.islice(ancestors(mixture.data), 64)):
            return None
        sources = {id(x.data) for v in self.ev.setup or () if v.op in PRODUCTS for x in v.parents[:1]}
        sources.discard(id(None))
        for v in _behind(mixture.of_data):
            for x in v.parents:
                if x.data is not None and id(x.data) in sources:
                    return "one step", v.place, float(a.min())
        return None

    def findings(self) -> Iterator[Finding]:
        """Say which it is."""
        if self.fine:
            return
        for (kind, place), (times, shown, mixed) in self.times.items():
            if times < LOOKS or place is None:
                continue
            text, label, proof, confirm, advice = SAYS[kind]
            yield self.found(
                text,
                place,
                label,
                also=(mixed, "mixes") if mixed != place else (None, ""),
                proof=[("looks", times), (proof, number(shown))],
                confirm=confirm,
                unless="only one step is to be learned." if kind == "one step" else "",
                advice=advice,
                weight=7.0,
                explains=("learns nothing", "mean", "too small"),
            )
            return


SAYS = {
    "uniform": (
        "The noise that is mixed in is uniform between 0 and 1: it is never negative, and no normal noise.",
        "draws uniform numbers",
        "mean of the noise",
        ("noise.mean(), noise.std()", "0.5, 0.29"),
        "Draw it with torch.randn_like.",
    ),
    "squares": (
        "Data and noise are mixed by coefficients whose squares do not sum to 1: a root is missing.",
        "mixes without roots",
        "sum of the squares, farthest from 1",
        ("a ** 2 + b ** 2 of the two coefficients", "not 1"),
        "Multiply data by alpha_bar.sqrt(), and noise by (1 - alpha_bar).sqrt().",
    ),
    "one step": (
        "Data and noise are mixed by the factor of one step, and not by the product of all steps so far.",
        "takes the factor of one step",
        "smallest coefficient of the data",
        ("the coefficient of the data at the last step", "near 1, not near 0"),
        "Take it from the cumulative product.",
    ),
}


def _mixture(prediction: Value, asked: Value) -> Mixture | None:
    """The sum behind a prediction that a draw was mixed into."""
    many = int(np.prod(asked.shape))
    for v in itertools.islice(ancestors(prediction, lambda v: v.op != "source"), DEEP):
        if v.needs or v.op != "add" or len(v.parents) != 2 or int(np.prod(v.shape)) != many:
            continue
        for x, y in (v.parents, v.parents[::-1]):
            noise, data = _scaled(beyond(x), many), _scaled(beyond(y), many)
            if noise is not None and data is not None and beyond(noise[0]) is asked:
                return Mixture(v, data[0], asked, data[1], noise[1])
    return None


def _scaled(v: Value, many: int) -> tuple[Value, Value] | None:
    """What a product is of: a value of its size, and coefficients that are fewer and have no gradient."""
    if v.op != "mul" or len(v.parents) != 2:
        return None
    for x, c in (v.parents, v.parents[::-1]):
        size = int(np.prod(beyond(c).shape))
        if int(np.prod(x.shape)) == many > size and not c.needs:
            return x, beyond(c)
    return None


def _behind(v: Value) -> list[Value]:
    return list(itertools.islice(ancestors(v), 64))


RULES = (NoiseSchedule,)
