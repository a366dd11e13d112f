"""What a loss means: probabilities where scores are asked for, axes, shapes, targets that cannot be met, signs.

Invariant: each of them is read from the history of a loss or of a measure, through ops that move, pick or join
elements, and from the numbers that are compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...lineage import SHAPED, Value, ancestors, beyond
from ..evidence import MOVES
from ..finding import DOUBTFUL, EXACT, LINEAGE, WRONG, Finding, number
from ..heads import CLASSES, JOINED, LOGITS, PROBABILITIES, VALUES, Head, array, dim_of, heads, outside
from ..written import literal
from .base import Counting

SOFT = ("softmax", "_softmax")
PASSED = SHAPED | {"dropout", "cat", "stack", "index", "index_select", "gather", "broadcast_tensors"}
TURNED = frozenset(("transpose", "permute", "swap_steps"))
BOUNDS = {"sigmoid": (0.0, 1.0), "tanh": (-1.0, 1.0), "softmax": (0.0, 1.0), "relu": (0.0, np.inf)}


class Heads(Counting):
    """Base of the rules that look at what a loss compares."""

    def at_look(self, p: Any) -> None:
        """Look at each comparison."""
        if p.root is None or not p.accumulates:
            return
        key = id(p.root)
        cached = self.ev.heads_of
        if cached is None or cached[0] != (key, p.number):
            cached = self.ev.heads_of = ((key, p.number), heads(p.root))
        for head in cached[1]:
            self.look(head, p)

    def look(self, head: Head, p: Any) -> None:
        """Look at one comparison."""

    def note(self, key: Any, *details: Any) -> None:
        """Count a case; the details of the newest are kept."""
        entry = self.times.setdefault(key, [0, ()])
        entry[0] += 1
        entry[1] = details


class SoftTwice(Heads):
    """A loss that takes scores is given probabilities: softmax or sigmoid is applied twice.

    Meaning: cross entropy and the binary one with logits apply softmax or sigmoid themselves.
    Fires: when their scores are the result of a softmax, a sigmoid, or for classes a relu, behind nothing but
    reshapes, picks, joins and dropout.
    Wrong if: bounded scores are wanted, which are then scaled.
    Healthy programs tried: a log_softmax (which changes nothing when applied twice), attention before a last layer,
    scaled cosines, distillation with temperatures.
    """

    name, title, certainty, severity = "soft twice", "probabilities given as scores", LINEAGE, WRONG

    def look(self, head: Head, p: Any) -> None:
        """Look behind the scores."""
        if head.kind not in (CLASSES, LOGITS):
            return
        v = beyond(head.prediction, PASSED)
        if v.op in SOFT or v.op == "sigmoid" or (v.op == "relu" and head.kind == CLASSES):
            classes = (
                head.prediction.shape[dim_of(head.prediction, head.axis)]
                if head.kind == CLASSES and head.prediction.shape
                else 2
            )
            self.note((v.op, self.ev.blamed(v)), head.value.place, head.name, classes, v.module)

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        for (op, place), (times, (loss, name, classes, module)) in self.times.items():
            op = op.strip("_")
            proof: list = [("passes", times)]
            if op == "softmax" and name == "cross_entropy" and classes > 1:
                floor = np.log(np.e + classes - 1) - 1
                proof += [
                    ("the least this loss can be", number(float(floor))),
                    ("log(classes)", number(float(np.log(classes)))),
                ]
            yield self.found(
                f"{name} takes scores, and is given the result of {op}."
                + (" Softmax is applied twice." if op == "softmax" and name == "cross_entropy" else ""),
                place,
                f"{op} before the loss",
                severity=DOUBTFUL if op == "relu" else WRONG,
                related=self.lines((loss, "takes scores")),
                layer=self.ev.module_name(module) if module is not None else "",
                proof=proof,
                confirm=(
                    "(out.sum(1) - 1).abs().max()" if op == "softmax" else "out.min(), out.max()",
                    "0" if op == "softmax" else "within its bounds",
                ),
                unless="bounded scores are wanted.",
                advice=f"Leave {op} out: give the loss the scores.",
                weight=6.0,
                explains=("learns nothing", "too small", "bounded"),
            )


class DroppedOutput(Heads):
    """A dropout stands between the last layer and the loss: predictions are set to 0 at random.

    Meaning: dropout is for what layers are given, not for what is compared with the targets.
    Fires: when in three looks a comparison is given, behind nothing but reshapes, the result of a dropout that drew,
    or of a product with a mask of 0 and one number above 1.
    Wrong if: never that was seen.
    Healthy programs tried: dropout before the last layer, dropped inputs of a denoising autoencoder, masks of a loss.
    """

    name, title, certainty, severity = "dropped output", "dropout before the loss", LINEAGE, WRONG

    def look(self, head: Head, p: Any) -> None:
        """Look behind the predictions."""
        v = beyond(head.prediction)
        dropped = v.op == "dropout"
        if v.op == "mul" and len(v.parents) == 2:  # by a mask of 0 and more than 1
            mask = array(v.parents[1])
            seen = np.unique(mask.reshape(-1)[:1024]) if mask is not None and not v.parents[1].needs else ()
            dropped = len(seen) == 2 and seen[0] == 0 and seen[1] > 1
        if dropped and v.needs:
            self.note(self.ev.blamed(v), head.value.place, v.module)

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        for place, (times, (loss, module)) in self.times.items():
            if times >= 3:
                yield self.found(
                    "A dropout sets predictions to 0 right before the loss compares them.",
                    place,
                    "drops predictions",
                    layer=self.ev.module_name(module) if module is not None else "",
                    related=self.lines((loss, "compares")),
                    proof=[("looks", times)],
                    confirm=("(out == 0).float().mean()", "the chance of the dropout"),
                    unless="",
                    advice="Take it out, or put it before the last layer.",
                    weight=5.0,
                )


class NoLogs(Heads):
    """The negative log likelihood is given something that is no log-probability.

    Meaning: `nll_loss` takes log-probabilities: their exponentials sum to 1 over the classes; `kl_div` the same for
    its first argument.
    Fires: when in two looks the sums differ from 1 by more than a tenth, on average over the first 64 samples.
    Wrong if: scores that are not normalised are meant, as in some energy models.
    Healthy programs tried: log_softmax before `nll_loss` and before `NLLLoss`.
    """

    name, title, certainty, severity = "no logs", "log-probabilities that are none", EXACT, WRONG

    def look(self, head: Head, p: Any) -> None:
        """Sum the exponentials."""
        d = array(head.prediction)
        if head.kind != PROBABILITIES or d is None or d.ndim < 2 or d.shape[1] < 2:
            return
        with np.errstate(all="ignore"):
            off = float(np.mean(np.abs(np.exp(d[:64].astype(np.float64)).sum(1) - 1)))
        if off > 0.1:
            v = beyond(head.prediction, PASSED)
            self.note(head.value.place, v.op, v.place, off)

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        for place, (times, (op, behind, off)) in self.times.items():
            if times < 2:
                continue
            soft = op in (*SOFT, "sigmoid")
            yield self.found(
                f"nll_loss takes log-probabilities, and is given {'probabilities' if soft else 'scores'}.",
                place,
                "takes logs",
                related=self.lines((behind, f"{op.strip('_')} makes them")),
                proof=[("sum of exp over the classes, off 1 by", number(off)), ("looks", times)],
                confirm=("out.exp().sum(1)", "not 1"),
                unless="what it is given need not be normalised.",
                advice="Use log_softmax before it, or cross_entropy with the scores.",
                weight=6.0,
                explains=("learns nothing", "diverges", "course", "too small"),
            )


class KlNoLogs(Counting):
    """`kl_div` is given probabilities as its first argument, which should be log-probabilities.

    Meaning: see `NoLogs`; its targets are probabilities unless `log_target=True`, of which nothing is said.
    Fires: when in two looks its input comes from a softmax or a sigmoid, behind nothing but reshapes, picks, joins
    and dropout.
    Wrong if: never that was seen.
    Healthy programs tried: log_softmax and softmax, with and without a temperature.
    """

    name, title, certainty, severity = "kl without logs", "divergences of no logs", LINEAGE, WRONG

    def at_look(self, p: Any) -> None:
        """Look at what it is given."""
        if p.root is None:
            return
        for v in ancestors(p.root, outside(p.root)):
            # target * log(target) - target * input
            if (
                v.op == "sub"
                and len(v.parents) == 2
                and v.parents[0].op == "xlogy"
                and v.parents[1].op == "mul"
            ):
                given = [x for x in v.parents[1].parents if x is not v.parents[0].parents[0]]
                a = beyond(given[0], PASSED) if given else v
                if a.op in (*SOFT, "sigmoid"):
                    self.times.setdefault(v.place, [0, a])[0] += 1

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        for place, (times, a) in self.times.items():
            if times >= 2:
                yield self.found(
                    "kl_div takes log-probabilities first, and is given probabilities.",
                    place,
                    "takes logs",
                    related=self.lines((a.place, f"{a.op.strip('_')} makes them")),
                    proof=[("passes", times)],
                    confirm=("input.exp().sum(-1)", "not 1"),
                    advice="Use log_softmax for its first argument.",
                    weight=6.0,
                    explains=("learns nothing",),
                )


class SampleAxis(Counting):
    """A softmax normalises over the samples of a batch: what one sample gets depends on the others.

    Meaning: probabilities sum to 1 over the classes, for each sample.
    Fires: when in two looks a softmax or log_softmax on the way to the loss runs over the first of two axes or more,
    which is as long as there are targets, none of the others being so; or, where the loss compares with no targets,
    when one that is computed outside of a model runs over the first of two axes of what the model gave, which is as
    long as what it was given.
    Wrong if: samples compete on purpose.
    Healthy programs tried: attention with the time first, contrastive losses over a batch, gates over experts.
    """

    name, title, certainty, severity = "sample axis", "softmax over samples", LINEAGE, WRONG

    def at_look(self, p: Any) -> None:
        """Look at each softmax on the way to the loss."""
        if p.root is None or not p.accumulates:
            return
        sizes = {c.inputs._data.shape[0] for c in p.calls if c.inputs is not None and c.inputs._data.ndim}
        cached = self.ev.heads_of
        found = cached[1] if cached is not None and cached[0] == (id(p.root), p.number) else heads(p.root)
        rows = {h.target.shape[0] for h in found if h.target is not None and h.target.shape}
        batch = (sizes & rows) or rows
        alone = not found  # then only scores that leave a model are looked at
        batch = batch or (sizes if alone else set())
        if len(batch) != 1:
            return
        n = next(iter(batch))
        for v in ancestors(p.root):
            if (
                v.op not in ("softmax", "_softmax", "log_softmax")
                or not v.consts
                or len(v.shape) < 2
                or n < 2
            ):
                continue
            at = dim_of(v, v.consts[0])
            if alone and (
                len(v.shape) != 2 or v.model is not None or not v.parents or v.parents[0].model is None
            ):
                continue
            if v.shape[at] == n and at == 0 and n not in v.shape[1:]:
                entry = self.times.setdefault((v.place, v.op), [0, set(), v.shape, v.module])
                entry[0] += 1
                entry[1].add(n)

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        for (place, op), (times, _, shape, module) in self.times.items():
            if times < 2:
                continue
            size = " × ".join(map(str, shape))
            yield self.found(
                f"{op.strip('_')} runs over the samples of the batch: axis 0 of {size}.",
                place,
                "over samples",
                layer=self.ev.module_name(module) if module is not None else "",
                proof=[("passes", times), ("shape", size), ("axis", 0)],
                confirm=("out.sum(0), out.sum(1)", "ones over the samples, not over the classes"),
                unless="samples compete on purpose.",
                advice="Give it the axis of the classes: dim=1 or dim=-1.",
                weight=7.0,
                explains=("learns nothing", "too small", "soft twice", "no logs", "other pick"),
            )


class Broadcast(Counting):
    """A column meets a row: (N, 1) and (N,) broadcast to N × N, and every prediction meets every target.

    Meaning: predictions and targets are compared element by element when their shapes are equal.
    Fires: when in two looks an op on the way to a loss, or to a measure, takes sides of shapes (..., N, 1) and (...,
    N), N above 1, of which a model or a parameter has a part in one alone, or, for a loss, of which one alone has a
    gradient.
    Wrong if: all pairs are wanted; then both sides come from the same place, or one is turned by hand.
    Healthy programs tried: pairwise distances, masks of equal labels, attention scores, contrastive losses over
    pairs.
    """

    name, title, certainty, severity = "broadcast", "columns that meet rows", LINEAGE, WRONG

    def at_look(self, p: Any) -> None:
        """Look at the ops near the loss."""
        if p.root is not None and p.accumulates:
            self._walk(p.root, True)

    def at_taken(self, kind: str, value: Any, place: Any) -> None:
        """A measure, in turns that are looked at."""
        if self.ev.looked and len(value.shape) <= 1:
            self._walk(value, False)

    def _walk(self, root: Value, loss: bool) -> None:
        left = 200
        for v in ancestors(root, lambda v: v.model is None):
            left -= 1
            if not left:
                return
            parents = v.parents
            if len(parents) < 2 or v.op in ("mm", "bmm", "matmul", "addmm", "cat", "stack", "where", "index"):
                continue
            a, b = self._whole(parents[0]), self._whole(parents[1])
            for x, y in ((a, b), (b, a)):
                if (
                    len(x.shape) == len(y.shape) + 1
                    and x.shape[-1] == 1
                    and x.shape[:-1] == y.shape
                    and y.shape
                    and y.shape[-1] > 1
                ):
                    if self._modelled(x) != self._modelled(y) or (loss and x.needs != y.needs):
                        entry = self.times.setdefault((v.place, v.op, loss), [0, a.shape, b.shape, None])
                        entry[0] += 1
                        call = next((s.model for s in (x, y) if s.model is not None), None)
                        entry[3] = None if call is None else call.place

    @staticmethod
    def _whole(v: Value) -> Value:
        while v.op in ("expand", "broadcast_to", "cast") and v.parents:
            v = v.parents[0]
        return v

    @staticmethod
    def _modelled(v: Value) -> bool:
        """Whether a model, or a parameter, has a part in it."""
        left = 100
        for a in ancestors(v, lambda a: a.model is None):
            left -= 1
            if a.model is not None or (a.op == "source" and a.needs):
                return True
            if not left:
                break
        return False

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        for (place, _op, loss), (times, a, b, call) in self.times.items():
            if times < 2:
                continue
            wide = max((a, b), key=len)
            full = [*wide[:-1], wide[-2]]
            yield self.found(
                f"{_sized(a)} meets {_sized(b)} and becomes {_sized(tuple(full))}: all pairs are compared.",
                place,
                "all pairs",
                also=(call, "computes one side"),
                severity=WRONG if loss else DOUBTFUL,
                proof=[("shapes", f"{_sized(a)} and {_sized(b)}"), ("passes", times)],
                confirm=("prediction.shape, target.shape", f"{_sized(a)} and {_sized(b)}"),
                unless="all pairs are wanted.",
                advice="Make the shapes equal: prediction.squeeze(1), or target.unsqueeze(1).",
                weight=8.0,
                explains=("learns nothing", "too small", "mean"),
            )


class Bounded(Heads):
    """The last activation cannot reach the targets.

    Meaning: a sigmoid or a softmax gives 0 to 1, a tanh -1 to 1, a relu nothing below 0.
    Fires: when in two looks a distance compares the result of such an activation with targets of which a tenth are
    more than 0.02 out of its reach; or one model is given the result of such an activation in one call, or in one
    part of a batch, and data of which a tenth are as far out of its reach in another, as a discriminator is.
    Wrong if: the targets beyond are to be cut off.
    Healthy programs tried: images between 0 and 1, actions between -1 and 1, a bounded generator whose data is
    bounded too.
    """

    name, title, certainty, severity = "bounded", "targets out of reach", LINEAGE, WRONG

    def at_look(self, p: Any) -> None:
        """Compare also what one model is given in several calls."""
        super().at_look(p)
        if p.root is None or not p.accumulates or len(p.calls) < 2:
            return
        given: dict[int, list] = {}
        for call in p.calls:
            if call.inputs is not None:
                known = self.ev.table.get(id(call.inputs._data))
                if known is not None:
                    whole = known.op == "cat" and all(x.shape[1:] == known.shape[1:] for x in known.parents)
                    parts = known.parents if whole else [known]  # of a batch, not of a sample
                    given.setdefault(id(call.module), []).extend((x, call) for x in parts)
        for pairs in given.values():
            if len(pairs) < 2:
                continue
            for x, call in pairs:
                v = beyond(x, PASSED | {"detach"})
                op = v.op.strip("_")
                if op not in BOUNDS or v.call is None or v.call is call:
                    continue
                low, high = BOUNDS[op]
                for y, _ in pairs:
                    d = array(y)
                    if (
                        d is None
                        or d.dtype.kind != "f"
                        or not d.size
                        or y.needs
                        or y.shape[1:] != x.shape[1:]
                    ):
                        continue
                    if beyond(y, PASSED | {"detach"}).call is not None:
                        continue
                    share = float(np.mean((d < low - 0.02) | (d > high + 0.02)))
                    if share >= 0.1:
                        self.note(
                            (op, self.ev.blamed(v)),
                            call.place,
                            share,
                            float(d.min()),
                            float(d.max()),
                            v.module,
                            "data given beside it lies",
                        )

    def look(self, head: Head, p: Any) -> None:
        """Compare the targets with the reach of the last activation."""
        if head.kind != VALUES or head.name == "binary_cross_entropy":
            return
        v = beyond(head.prediction, PASSED)
        d = array(head.target)
        op = v.op.strip("_")
        if op not in BOUNDS or d is None or not d.size or head.target is None or head.target.needs:
            return
        low, high = BOUNDS[op]
        slack = 0.02
        share = float(np.mean((d < low - slack) | (d > high + slack)))
        if share >= 0.1:
            self.note(
                (op, self.ev.blamed(v)),
                head.value.place,
                share,
                float(d.min()),
                float(d.max()),
                v.module,
                "targets lie",
            )

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        for (op, place), (times, (loss, share, low, high, module, what)) in self.times.items():
            if times < 2:
                continue
            a, b = BOUNDS[op]
            reach = f"{a:g} to {b:g}" if b < np.inf else "0 and above"
            yield self.found(
                f"{op} gives {reach}; {100 * share:.0f} % of the {what} beyond ({number(low)} to {number(high)}).",
                place,
                f"gives {reach}",
                related=self.lines((loss, "compares")),
                layer=self.ev.module_name(module) if module is not None else "",
                proof=[
                    ("targets out of reach", f"{100 * share:.0f} %"),
                    ("targets", f"{number(low)} to {number(high)}"),
                ],
                confirm=("target.min(), target.max()", f"{number(low)}, {number(high)}"),
                unless="what lies beyond is to be cut off.",
                advice=f"Leave {op} out, or scale the targets into its reach.",
                weight=5.0,
                explains=("learns nothing", "too small", "dead units", "saturated", "mean"),
            )


class OddTargets(Heads):
    """Targets that a loss does not take: beyond 0 to 1, probabilities that do not sum to 1, a single class.

    Meaning: the binary cross entropy is bounded below for targets from 0 to 1 only; cross entropy over one score is
    0.
    Fires: when in two looks a binary target lies more than 0.01 outside of 0 to 1, probabilities given as targets
    differ from a sum of 1 by more than a tenth on average, or cross entropy is given a single score for each sample;
    or when a loss of cosines, hinges, ranks or soft margins, whose targets are 1 and -1, is given both 0 and 1 in two
    looks and in all.
    Wrong if: never that was seen; label smoothing stays within.
    Healthy programs tried: smoothed labels, binary labels as floats, masks and pixels as targets.
    """

    name, title, certainty, severity = "odd targets", "targets a loss does not take", EXACT, WRONG

    def look(self, head: Head, p: Any) -> None:
        """Look at the targets."""
        d = array(head.target)
        place = head.value.place
        if head.kind == CLASSES and len(head.prediction.shape) >= 2:
            if head.prediction.shape[dim_of(head.prediction, head.axis)] == 1:
                self.note(
                    (place, "one"),
                    "cross_entropy over one score for each sample is always 0.",
                    "1 class",
                    "Use binary_cross_entropy_with_logits, or one score for each class.",
                )
            elif d is not None and d.dtype.kind == "f" and d.ndim >= 2 and d.shape == head.prediction.shape:
                off = float(np.mean(np.abs(d.sum(1) - 1)))
                if off > 0.1:
                    self.note(
                        (place, "sum"),
                        f"Class probabilities given as targets do not sum to 1: off by {number(off)}.",
                        number(off),
                        "Divide each row by its sum.",
                    )
        if (head.kind == LOGITS or head.name == "binary_cross_entropy") and d is not None and d.size:
            low, high = float(d.min()), float(d.max())
            if low < -0.01 or high > 1.01:
                self.note(
                    (place, "binary"),
                    f"Binary targets go from {number(low)} to {number(high)}: this loss takes 0 to 1.",
                    f"{number(low)} to {number(high)}",
                    "Map them to 0 and 1.",
                )

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        for (place, _), (times, (text, value, advice)) in self.times.items():
            if times >= 2:
                yield self.found(
                    text,
                    place,
                    "takes other targets",
                    proof=[("targets", value), ("looks", times)],
                    confirm=("target.min(), target.max()", value),
                    advice=advice,
                    weight=7.0,
                    explains=("learns nothing", "diverges", "course", "one class"),
                )
        for (name, place), (looks, ones) in self.ev.signs.items():
            if looks >= 2 and ones == looks:
                yield self.found(
                    f"{name} takes targets of 1 and -1, and is given 1 and 0: a 0 counts for neither or for both.",
                    place,
                    "takes signs",
                    proof=[("targets", "0, 1"), ("looks", looks)],
                    confirm=("target.unique()", "0, 1"),
                    advice="Give it 2 * target - 1.",
                    weight=7.0,
                    explains=("learns nothing", "too small"),
                )


class WrongSign(Counting):
    """The loss is a comparison with its sign turned: training makes it worse.

    Meaning: an optimizer lowers its loss; a distance or a cross entropy is lowered by predictions that fit.
    Fires: when in three looks a loss is a comparison times a negative number, or a number minus it, and nothing else,
    in a run in which one optimizer steps; or a comparison itself, and that optimizer was made with `maximize=True`.
    Wrong if: an adversary is trained, which then has an opponent with an optimizer of its own.
    Healthy programs tried: policy gradients, likelihoods written by hand, entropy bonuses, generators.
    """

    name, title, certainty, severity = "wrong sign", "losses with their sign turned", LINEAGE, WRONG

    def at_look(self, p: Any) -> None:
        """Follow the loss to a comparison, through signs alone."""
        from ..heads import of

        v, sign, place = p.root, 1.0, None
        left = 12
        while v is not None and left and p.accumulates:
            left -= 1
            head = of(v)
            if head is not None:
                if head.target is not None and not head.target.needs:
                    place = place if sign < 0 else None
                    self.times[place] = self.times.get(place, 0) + 1
                return
            numbers = [x for x in v.ins if x.__class__ is not Value]
            parents = v.parents
            if v.op == "neg":
                sign, place = -sign, v.place
            elif v.op in ("mul", "div") and len(numbers) == 1:
                if numbers[0] < 0:
                    sign, place = -sign, v.place
            elif v.op == "rsub" and len(numbers) == 1:
                sign, place = -sign, v.place
            elif v.op == "sub" and len(numbers) == 1 and v.ins[0].__class__ is not Value:
                sign, place = -sign, v.place
            elif v.op not in JOINED and v.op not in SHAPED and not (v.op == "add" and numbers):
                return
            if len(parents) != 1:
                return
            v = parents[0]

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        active = [one for one in self.ev.ledgers.values() if one.steps]
        if len(active) != 1:
            return
        if active[0].optimizer.param_groups[0].get("maximize") and self.times.get(None, 0) >= 3:
            made = self.ev.line(active[0].place or active[0].step_place)
            yield self.found(
                "The optimizer maximizes, and the loss compares predictions with targets: each step makes them worse.",
                made,
                "maximizes",
                also=(literal(made, ("maximize",)), "written here"),
                proof=[("passes", self.times[None])],
                confirm=("optimizer.param_groups[0]['maximize']", "True"),
                advice="Leave maximize=True out.",
                weight=8.0,
                explains=("learns nothing", "diverges", "course", "dead units", "saturated"),
            )
        for place, times in self.times.items():
            if times >= 3 and place is not None:
                yield self.found(
                    "The sign of the loss is turned: each step makes predictions worse.",
                    place,
                    "turns the sign",
                    proof=[
                        ("passes", times),
                        (
                            "loss, first and last",
                            f"{number(self.ev.losses[0][1])}, {number(self.ev.losses[-1][1])}",
                        ),
                    ],
                    confirm=("the loss without the minus, over the steps", "it grows"),
                    unless="an adversary is trained.",
                    advice="Leave the minus out.",
                    weight=8.0,
                    explains=("learns nothing", "diverges", "course", "dead units", "saturated"),
                )


class TargetGiven(Heads):
    """The model is given what it is to predict.

    Meaning: what is asked for should not be among what is known.
    Fires: when the tokens that a cross entropy asks for are, place by place, those that the model was given; or
    when a column of the model's input, or one place of a window, equals the target in all samples; in two looks of
    eight samples or more.
    Wrong if: copying is the task.
    Healthy programs tried: autoencoders, language models with shifted targets, masked tokens, features that
    correlate.
    """

    name, title, certainty, severity = "target given", "targets among the inputs", EXACT, WRONG
    joined: Any = None  # where the inputs were put together

    def look(self, head: Head, p: Any) -> None:
        """Compare targets with what the model was given."""
        d = array(head.target)
        if d is None or d.size < 8:
            return
        for given in self.ev.fed(p):
            given = beyond(given, TURNED)
            x = given.data
            if not isinstance(x, np.ndarray):
                continue
            place = p.calls[0].place if p.calls else given.place
            made = self._made(head.target, given)
            if head.kind == CLASSES and x.dtype.kind in "iu" and d.dtype.kind in "iu" and x.size == d.size:
                same = np.array_equal(x.reshape(-1), d.reshape(-1))
                same = same or (x.ndim == 2 and np.array_equal(x.T.reshape(-1), d.reshape(-1)))
                if same and len(np.unique(d)) > 1:
                    self.note((made or head.value.place, "tokens"), place, "tokens", p.loss)
            elif x.ndim >= 2 and x.dtype.kind == "f" and d.size == len(x) and 1 < x[0].size <= 4096:
                y = d.reshape(-1).astype(x.dtype)
                if y.std() == 0:
                    continue
                if x.ndim > 2:
                    window = np.flatnonzero((x.reshape(len(x), -1) == y[:, None]).all(0))
                    if len(window):
                        at = np.unravel_index(int(window[0]), x.shape[1:])
                        what = f"place {', '.join(str(int(i)) for i in at)} of the window"
                        self.note((made or head.value.place, "window"), place, what, p.loss)
                    continue
                same = np.flatnonzero((x == y[:, None]).all(0))
                if len(same) and x.shape[1] > len(same):
                    what = f"column {int(same[0])}"
                    self.note((made or head.value.place, "window" if made else "column"), place, what, p.loss)
                    if p.turn and self.joined is None:
                        self.joined = self.ev.prepared(given)

    def _made(self, target: Value | None, given: Value) -> Any:
        """The line that takes targets out of what the inputs are taken out of; None where it is not seen."""
        if target is None:
            return None
        sources = {id(a) for a in _moved(given)}
        chain = _moved(target)
        if not any(id(a) in sources for a in chain):
            return None
        picks = [a for a in chain if a.place is not None and a.op in ("select", "slice", "narrow", "unfold")]
        return picks[-1].place if picks else None

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        for (place, kind), (times, (call, what, _)) in self.times.items():
            if times < 2:
                continue
            text = (
                "The targets are the tokens that the model is given, place by place: nothing is to be predicted."
                if kind == "tokens"
                else f"The target stands among the inputs: {what} equals it in every sample."
            )
            yield self.found(
                text,
                call if kind == "column" else place,
                "gives the target" if kind == "column" else "asks for the input",
                also=(self.joined, "puts the inputs together") if kind != "tokens" else None,
                related=self.lines(
                    (
                        place if kind == "column" else call,
                        "asks for it" if kind == "column" else "is given it",
                    )
                ),
                proof=[("looks", times), ("equal", "all")],
                confirm=(
                    "(inputs == targets).all()"
                    if kind == "tokens"
                    else f"(x[:, {what.split()[-1]}] == y).all()"
                    if kind == "column"
                    else "(x == y.reshape(-1, 1, 1)).all(0).any()",
                    "True",
                ),
                unless="copying is the task.",
                advice="Shift the targets by one place."
                if kind != "column"
                else "Take that column out of the inputs.",
                weight=5.0,
            )


class NoSlope(Heads):
    """Both sides of a comparison move: the target has a gradient and comes from the same parameters.

    Meaning: a target is what a prediction is drawn to; if it has a gradient, it is drawn to the prediction as well.
    Fires: when in three looks the target of a distance needs a gradient, comes from a call of the same module as the
    prediction, and is a reward plus a largest value or a product with a number between 0.5 and 1, as a bootstrapped
    return is.
    Wrong if: both sides are meant to meet.
    Healthy programs tried: siamese and contrastive networks, autoencoders, consistency losses, target networks.
    """

    name, title, certainty, severity = "moving target", "targets with a gradient", LINEAGE, DOUBTFUL

    def look(self, head: Head, p: Any) -> None:
        """Look at the target."""
        t = head.target
        if head.kind != VALUES or t is None or not t.needs:
            return
        for a, b in ((head.prediction, t), (t, head.prediction)):
            line = [v for v in _short(b) if v.op in ("amax", "max_dim", "max", "max_all", "add", "mul")]
            kinds = {v.op for v in line}
            rewarded = any(
                v.op == "add" and len(v.parents) == 2 and {x.needs for x in v.parents} == {True, False}
                for v in line
            )
            scaled = any(
                v.op == "mul" and any(x.__class__ is not Value and 0.5 < x < 1 for x in v.ins) for v in line
            )
            if (rewarded and (scaled or kinds & {"amax", "max_dim", "max"})) and self._modules(
                a
            ) & self._modules(b):
                place = next(v.place for v in line if v.op == "add")
                self.note(place, head.value.place)
                return

    def _modules(self, v: Value) -> set[int]:
        return {id(c.module) for c in self.ev.calls_of(v)}

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        for place, (times, (loss,)) in self.times.items():
            if times >= 3:
                yield self.found(
                    "The target is computed with a gradient from the network it is a target for.",
                    place,
                    "moves too",
                    severity=WRONG,
                    related=self.lines((loss, "compares")),
                    proof=[("passes", times)],
                    confirm=("target.requires_grad", "True"),
                    unless="both sides are meant to meet.",
                    advice="Compute the target under torch.no_grad(), or detach it.",
                    weight=4.0,
                )


def _moved(v: Value, most: int = 64) -> list[Value]:
    """What a value was picked, cut or joined out of, the nearest first."""
    out: list[Value] = []
    while len(out) < most:
        out.append(v)
        if not v.parents or not (v.op in MOVES or v.op.startswith("index")):
            break
        v = v.parents[0]
    return out


def _short(v: Value, most: int = 24) -> list[Value]:
    out = []
    for a in ancestors(v, lambda a: a.model is None):
        out.append(a)
        if len(out) >= most:
            break
    return out


def _sized(shape: tuple) -> str:
    return "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"


RULES = (
    SoftTwice,
    DroppedOutput,
    NoLogs,
    KlNoLogs,
    SampleAxis,
    Broadcast,
    Bounded,
    OddTargets,
    WrongSign,
    TargetGiven,
    NoSlope,
)
