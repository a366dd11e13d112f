"""The beginning: how large inputs, layers and the first loss are, beside what they should be.

Invariant: sizes are those of the first pass, and are said to be wrong only where the first loss, units at their ends,
or the run show that it matters.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..course import Course
from ..evidence import MOVES
from ..finding import MEASURED, WRONG, Finding, number
from ..heads import CLASSES, array, heads, rms
from .base import Rule

POOR = 0.9  # of what the best constant costs
RAW = 20.0  # root mean square of inputs that nobody brought to scale
LARGE, SMALL = 4.0, 0.05  # deviation of a weight times the root of its inputs
LAYERS = ("addmm", "mm", "linear", "conv", "convolution", "matmul", "baddbmm")
NORMS = (
    "batch_norm",
    "native_batch_norm",
    "layer_norm",
    "group_norm",
    "instance_norm",
    "rms_norm",
    "native_layer_norm",
)


class BigStart(Rule):
    """The first loss is far above chance: inputs are not scaled, or weights begin too large.

    Meaning: a network that knows nothing should say so: its first loss is log(classes), or about the variance of
    its targets.
    Fires: when the first cross entropy is above three times log(classes) plus 2, or the run learns nothing, more than
    doubles its loss, is not finite, or ends above nine tenths of what the best constant costs, and the inputs, the
    few that lie far out left out, have a root mean square above 20 with no norm before the first layer, or a weight,
    tables of embeddings apart, begins with more than four times the deviation that keeps sizes (where all are of one
    sign: the mean that does). Of weights that were drawn in this run it is also said where they bring 85 % of what a
    sigmoid or a tanh gives to its ends at once. The place of a weight in no module is the one line that gives it its
    name, else that which computed its values. Weights come before inputs; of inputs the line before the loop that
    made them is named, and with it the one that brought them to the type of the weights.
    Wrong if: the weights are loaded, or the loss is weighted; loaded weights fit their inputs and begin with a
    small loss.
    Healthy programs tried: inputs under a norm, large targets, pixels from 0 to 1, embeddings, wide and narrow
    layers, a few rows that lie far out, positive weights that sum to 1.
    """

    name, title, certainty, severity = "big start", "sizes at the first pass", MEASURED, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.inputs: tuple[float, Any, float, float] | None = None
        self.first: tuple[float, float] | None = None  # loss, chance
        self.large: list[tuple[float, Any]] = []
        self.small: list[tuple[float, Any]] = []
        self.normed = False
        self.done = 0
        self.out_rms = 0.0
        self.cast_at: Any = None  # where they were brought to the type of the weights
        self.made_at: Any = None  # where those inputs were made

    def at_look(self, p: Any) -> None:
        """Look at the first pass."""
        if not p.accumulates or p.root is None or self.done > 1:
            return
        self.done += 1
        if self.done == 2:  # what the second batch shares with the first was made before the loop
            fed = self.ev.fed(p)
            made = [self.ev.prepared(x, computed=True) for x in fed]
            self.cast_at = next((at for at in map(self._cast, fed) if at is not None), None)
            self.made_at = next((at for at in made if at is not None), None)
            return
        for given in self.ev.fed(p):
            d = array(given)
            if (
                d is not None
                and d.dtype.kind == "f"
                and d.size
                and np.isfinite(d).all()  # a mask of -inf is no input
                and (self.inputs is None or rms(d) > self.inputs[0])
            ):
                place = p.calls[-1].place if p.calls else given.place
                # the few that lie far out do not count
                size = min(rms(d), 1.5 * float(np.quantile(np.abs(d.reshape(-1)[: 1 << 16]), 0.9)))
                self.inputs = (size, place, float(d.min()), float(d.max()))
        mine = [v for v in self.ev.values if v.call is not None]
        for v in mine:
            if v.op in NORMS:
                self.normed = True
            if v.op in LAYERS or v.op.startswith("conv"):
                break
        for found in heads(p.root)[:1]:
            if found.kind == CLASSES and p.loss is not None and len(found.prediction.shape) > 1:
                axis = found.axis if found.axis >= 0 else found.axis + len(found.prediction.shape)
                self.first = (p.loss, float(np.log(max(2, found.prediction.shape[axis]))))
                out = array(found.prediction)
                self.out_rms = 0.0 if out is None else rms(out)
        for v in p.leaves:
            w = v._data
            if isinstance(w, np.ndarray) and w.ndim >= 2 and w.size >= 16:
                fan = w[0].size
                scale = float(w.std()) * np.sqrt(fan)
                if self.ev.is_embedding(v):
                    continue
                if w.size > 2 * fan and fan >= 8 and (float(w.min()) >= 0 or float(w.max()) <= 0):
                    scale = max(scale, abs(float(w.mean())) * fan)  # what all have in common adds up
                if scale > LARGE:
                    self.large.append((scale, v))
                elif 0 < scale < SMALL:
                    self.small.append((scale, v))

    def _cast(self, v: Any) -> Any:
        """Where numbers were brought to the type of the weights; None where they were not, or within a model."""
        for _ in range(16):
            if v.op == "cast" and v.call is None:
                return v.place
            if not v.parents or (v.op not in MOVES and not v.op.startswith("index")):
                return None
            v = v.parents[0]
        return None

    def findings(self) -> Iterator[Finding]:
        """Say what is too large."""
        if not self.done:
            return
        course = Course(self.ev)
        high = self.first is not None and self.first[0] > 3 * self.first[1] + 2
        bad = course.stays or course.rises or course.bad is not None or self.ev.diverged is not None
        if course.known and course.constant and course.late > POOR * course.constant:
            bad = True
        full = bool(self.large) and self._saturated()
        if not (high or bad or full):
            return
        shown: list = []
        if self.first is not None:
            shown = [("first loss", number(self.first[0])), ("log(classes)", number(self.first[1]))]
        if self.large:
            scale, tensor = max(self.large, key=lambda pair: pair[0])
            begun = self.ev.begun.get(id(tensor))
            written = self.ev.writes.get(id(tensor))
            late = written is not None and (begun is None or written[0] > begun[3])
            place = written[1] if late and written is not None else None if begun is None else begun[1]
            named = self.ev.name_of(tensor)
            made, also = made_at(self.ev, tensor, named) if place is None else (None, None)
            if place is None and id(tensor) in self.ev.registered:
                made, also = self.ev.registered[id(tensor)][2], None
            place = place or made
            yield self.found(
                f"{named or 'A weight'} begins {scale:.0f} times as large as keeps sizes"
                + (
                    f": the first loss is {number(self.first[0])}, chance is {number(self.first[1])}."
                    if high and self.first
                    else "."
                ),
                place,
                "begins too large",
                also=(also, "makes the values"),
                layer=named,
                proof=[
                    *shown,
                    ("deviation times the root of inputs", number(scale)),
                    ("as layers begin", "0.6 to 1.4"),
                ],
                confirm=(f"{named or 'weight'}.std() * {named or 'weight'}[0].numel() ** 0.5", number(scale)),
                unless="the weights were loaded.",
                advice="Keep the initial values of the layer, or use nn.init.kaiming_normal_.",
                weight=5.0,
                explains=("diverges", "learns nothing", "saturated", "course", "dead units", "too large"),
            )
            return
        if self.inputs is not None and self.inputs[0] > RAW and not self.normed and (high or bad):
            size, place, low, high_ = self.inputs
            yield self.found(
                f"The model is given numbers from {number(low)} to {number(high_)} as they are"
                + (
                    f": the first loss is {number(self.first[0])}, chance is {number(self.first[1])}."
                    if high and self.first
                    else "."
                ),
                self.made_at or place,
                "not scaled",
                also=(self.cast_at, "scale here"),
                related=self.lines((place, "is given them")) if self.made_at else [],
                proof=[
                    *shown,
                    ("root mean square of the inputs", number(size)),
                    ("as layers expect", "about 1"),
                ],
                confirm=("x.mean(), x.std()", "far from 0 and 1"),
                unless="the model scales them itself.",
                advice="Bring them to mean 0 and deviation 1, or divide by 255.",
                weight=4.0,
                explains=("diverges", "learns nothing", "course", "dead units", "saturated", "too large"),
            )

    def _saturated(self) -> bool:
        """Whether a layer's units were at the ends of their range at the first look, by weights drawn in this run."""
        units = next((r for r in self.ev.rules if r.name == "dead units"), None)
        drawn = any(id(tensor) in self.ev.begun for _, tensor in self.large)
        if units is None or not drawn:
            return False
        return any(key[1] != "relu" and shares[0] >= 0.85 for key, (shares, _) in units.seen.items())


class SmallStart(Rule):
    """Weights begin so small that nothing of the input arrives.

    Meaning: each layer should pass on the size of what it is given; a product of small layers is nothing.
    Fires: when two weights or more, tables of embeddings apart, begin with less than a twentieth of the deviation
    that keeps sizes, and not at 0, there is no norm in the model, and the run learns nothing.
    Wrong if: the run is short; a slow start may pass.
    Healthy programs tried: residual networks whose last weights begin at 0, zero heads, wide and narrow layers.
    """

    name, title, certainty, severity = "small start", "weights that begin too small", MEASURED, WRONG

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        big = next((r for r in self.ev.rules if isinstance(r, BigStart)), None)
        if big is None or len(big.small) < 2 or self.ev.any_norm:
            return
        course = Course(self.ev)
        if not course.stays:
            return
        scale, tensor = min(big.small, key=lambda pair: pair[0])
        begun, written = self.ev.begun.get(id(tensor)), self.ev.writes.get(id(tensor))
        late = written is not None and (begun is None or written[0] > begun[3])
        place = written[1] if late and written is not None else None if begun is None else begun[1]
        named = self.ev.name_of(tensor)
        made, also = made_at(self.ev, tensor, named) if place is None else (None, None)
        yield self.found(
            f"{len(big.small)} weights begin at {number(scale)} of the size that keeps sizes: nothing "
            "of the input arrives.",
            place or made,
            "begins too small",
            also=(also, "makes the values"),
            layer=named,
            proof=[
                ("deviation times the root of inputs", number(scale)),
                ("as layers begin", "0.6 to 1.4"),
                course.ends(),
            ],
            confirm=("the deviation of the outputs over the batch", "0, nearly"),
            unless="the run is short.",
            advice="Keep the initial values of the layers, or use nn.init.kaiming_normal_.",
            weight=4.0,
            explains=("learns nothing", "vanishes", "too small"),
        )


def made_at(ev: Any, tensor: Any, named: str) -> tuple[Any, Any]:
    """The line that gives a leaf its name, or else that of its values, and a second one, which a helper has.

    Args:
        ev: the evidence.
        tensor: a leaf that is in no module.
        named: what it is called.
    """
    values = ev.line(ev.computed.get(id(tensor)))
    given = ev.assigned(named, values)
    if given is None or values is None or (given.file, given.line) == (values.file, values.line):
        return given or values, None
    return given, values


RULES = (BigStart, SmallStart)
