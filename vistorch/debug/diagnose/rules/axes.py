"""Axes that are taken for others: positions by sample, norms over samples, and weights that turn from what is hard.

Invariant: which axis is the batch is known by the rows of what the loss asks for.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...lineage import SHAPED, ancestors, beyond
from ..finding import DOUBTFUL, LINEAGE, WRONG, Finding
from ..heads import array
from .base import Counting

LOOKS = 3
NORMS = ("vector_norm_dims", "linalg_vector_norm", "normalize", "norm_dims")


def rows_of(ev: Any, p: Any) -> int:
    """The number of samples of a pass: the rows that its only comparison asks for; 0 where that is not known.

    Args:
        ev: the evidence.
        p: the pass.
    """
    cached = ev.heads_of
    if cached is None or cached[0] != (id(p.root), p.number):
        return 0
    rows = {h.target.shape[0] for h in cached[1] if h.target is not None and h.target.shape}
    inputs = {c.inputs._data.shape[0] for c in p.calls if c.inputs is not None and c.inputs._data.ndim}
    both = rows & inputs or inputs
    return both.pop() if len(both) == 1 else 0


class PositionBySample(Counting):
    """A table of positions is cut by the number of samples: each sample gets one position, and no step its own.

    Meaning: what is added to a step should tell its place in the sequence.
    Fires: when in three looks samples × steps × features, steps being another number than samples, are given an
    addend of samples × 1 × features that was cut from the beginning of a longer table of so many × 1 × features.
    Wrong if: each sample is to be told apart.
    Healthy programs tried: positions with the time first, positions with the batch first, class tokens.
    """

    name, title, certainty, severity = "position by sample", "tables of positions", LINEAGE, WRONG

    def at_look(self, p: Any) -> None:
        """Look at what is added within models."""
        if p.root is None or not p.accumulates:
            return
        n = rows_of(self.ev, p)
        for v in self.ev.values if n > 1 else ():
            if (
                v.op != "add"
                or len(v.parents) != 2
                or len(v.shape) != 3
                or v.shape[0] != n
                or v.shape[1] in (1, n)
            ):
                continue
            for x in v.parents:
                if (
                    x.shape != (n, 1, v.shape[2])
                    or x.op not in ("slice", "select", "narrow")
                    or not x.parents
                ):
                    continue
                table = beyond(x.parents[0], frozenset(("alias", "cast", "clone")))
                if (
                    table.op in ("source", "alias")
                    and len(table.shape) == 3
                    and table.shape[0] > n
                    and table.shape[1] == 1
                ):
                    entry = self.times.setdefault(v.place, [0, x.place, v.shape, v.module])
                    entry[0] += 1

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        for place, (times, cut, shape, module) in self.times.items():
            if times >= LOOKS:
                size = " × ".join(map(str, shape))
                yield self.found(
                    f"Positions are cut by the number of samples, {shape[0]}, and not by the {shape[1]} steps: all "
                    "steps of a sample get one position.",
                    place,
                    "one for each sample",
                    also=(cut, "cuts the table"),
                    layer=self.ev.module_name(module) if module is not None else "",
                    proof=[("looks", times), ("what it is added to", size), ("positions", f"{shape[0]} × 1")],
                    confirm=("pe[:x.size(0)].shape, x.shape", f"{shape[0]} × 1 × {shape[2]}, {size}"),
                    unless="each sample is to be told apart.",
                    advice="Cut it by the steps and add it along them: x + pe[:x.size(1)].transpose(0, 1).",
                    weight=6.0,
                )


class NormOverSamples(Counting):
    """Vectors are divided by a norm over the samples of the batch: what one is depends on the others.

    Meaning: a unit vector is one whose own numbers have a norm of 1.
    Fires: when in three looks a norm with a gradient is taken along the first of two axes, as long as there are
    samples and another length than the second, of what layers gave.
    Wrong if: features are to be scaled over the batch.
    Healthy programs tried: norms of features, norms of weights, batch norms.
    """

    name, title, certainty, severity = "norm over samples", "norms over samples", LINEAGE, WRONG

    def at_look(self, p: Any) -> None:
        """Look at the norms."""
        if p.root is None or not p.accumulates:
            return
        sizes = {c.inputs._data.shape[0] for c in p.calls if c.inputs is not None and c.inputs._data.ndim}
        for v in itertools.islice(ancestors(p.root), 1500) if len(sizes) == 1 else ():
            if v.op not in NORMS or not v.parents or not v.needs or not v.consts:
                continue
            x = v.parents[0]
            axes = v.consts[1] if v.op != "normalize" and len(v.consts) > 1 else v.consts[:1]
            axis = axes[0] if isinstance(axes, tuple) and len(axes) == 1 else None
            if axis in (0, -2) and len(x.shape) == 2 and x.shape[0] in sizes and x.shape[0] != x.shape[1]:
                if beyond(x, SHAPED).tensor is None and x.shape[0] > 1 and x.shape[1] > 1:
                    entry = self.times.setdefault(v.place, [0, x.shape])
                    entry[0] += 1

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        for place, (times, shape) in self.times.items():
            if times >= LOOKS:
                size = " × ".join(map(str, shape))
                yield self.found(
                    f"The norm runs over the samples of the batch: axis 0 of {size}.",
                    place,
                    "over samples",
                    proof=[("looks", times), ("shape", size), ("axis", 0)],
                    confirm=("z.norm(dim=1)", "not 1"),
                    unless="features are to be scaled over the batch.",
                    advice="Give it the axis of the features: dim=1 or dim=-1.",
                    weight=6.0,
                    explains=("learns nothing", "too small", "flat scores"),
                )


class EasyFirst(Counting):
    """Each sample's loss is weighed by how well it is predicted already: what is hard counts least.

    Meaning: a focal loss turns to the hard samples, by (1 - p) to a power, p being the probability of the answer.
    Fires: when in three looks losses of eight samples or more are multiplied by something computed from these losses
    themselves, by an exponential of minus them, that falls as they rise in all of them, and by nothing that rises.
    Wrong if: samples with wrong labels are to be left out.
    Healthy programs tried: focal losses, weights of samples that are given, weights of classes.
    """

    name, title, certainty, severity = "easy first", "weights of samples", LINEAGE, DOUBTFUL

    def at_look(self, p: Any) -> None:
        """Look at what losses are multiplied by."""
        cached = self.ev.heads_of
        if p.root is None or not p.accumulates or cached is None or cached[0] != (id(p.root), p.number):
            return
        losses = {
            id(h.value): h.value for h in cached[1] if h.value.shape and int(np.prod(h.value.shape)) >= 8
        }
        if not losses:
            return
        for v in itertools.islice(ancestors(p.root), 60):
            if v.op != "mul" or len(v.parents) != 2:
                continue
            for loss, weight in (v.parents, v.parents[::-1]):
                own, w = array(loss), array(weight)
                if id(beyond(loss, SHAPED)) not in losses or own is None or w is None or own.shape != w.shape:
                    continue
                if not any(a is beyond(loss, SHAPED) for a in itertools.islice(ancestors(weight), 12)):
                    continue
                order = np.argsort(own.reshape(-1))
                falls = np.diff(w.reshape(-1)[order])
                if bool((falls <= 1e-7).all()) and float(w.max() - w.min()) > 1e-3:
                    self.times.setdefault(weight.place, [0, v.place])[0] += 1

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        for place, (times, product) in self.times.items():
            if times >= LOOKS:
                yield self.found(
                    "Losses are weighed by how small they are: samples that are predicted well count most.",
                    place,
                    "turns from the hard",
                    also=(product, "weighs them"),
                    proof=[("looks", times), ("weights that rise with the loss", 0)],
                    confirm=("the weights of the largest losses", "the smallest"),
                    unless="samples with wrong labels are to be left out.",
                    advice="Weigh by (1 - p) ** gamma.",
                    weight=4.0,
                )


RULES = (PositionBySample, NormOverSamples, EasyFirst)
