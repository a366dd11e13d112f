"""How a model is put together: layers with nothing between, axes that change places, attention, states that are cut.

Invariant: each is read from shapes and from the history of a loss; the only values that decide are the weights of an
attention, tokens, and the losses of a model whose layers are one.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...lineage import SHAPED, Value, ancestors, beyond
from ..course import Course
from ..finding import DOUBTFUL, EXACT, LINEAGE, MEASURED, WRONG, Finding, number
from ..heads import CLASSES, Head, array, heads, of
from .base import Counting, Rule
from .reach import CUTS, WRITTEN

LINEAR = ("addmm", "linear", "mm", "matmul", "baddbmm")
# what keeps a product of linear layers a linear layer
PLAIN = SHAPED | {"dropout", "native_batch_norm", "batch_norm", "avg_pool2d", "mean_dims", "sum_dims"}
SPLITS = ("view", "reshape", "unflatten", "flatten", "view_as")
DEEP = 3000  # values of a pass that are looked at


def walked(p: Any, most: int = DEEP) -> list[Value]:
    """What the loss of a pass came from.

    Args:
        p: the pass.
        most: values.
    """
    out = []
    for v in ancestors(p.root):
        out.append(v)
        if len(out) >= most:
            break
    return out


def heads_at(ev: Any, p: Any) -> list[Head]:
    """The comparisons of the newest loss, found once for all rules.

    Args:
        ev: the evidence.
        p: the pass.
    """
    key = (id(p.root), p.number)
    if ev.heads_of is None or ev.heads_of[0] != key:
        ev.heads_of = (key, heads(p.root))
    return ev.heads_of[1]


class NothingBetween(Rule):
    """Linear layers follow each other with nothing between: together they are one linear layer.

    Meaning: a product of matrices is a matrix; only what is bent between two layers makes them more than one.
    Fires: when in one of the first nine looks, of two or more, every linear layer that is given neither data nor rows
    of an embedding is given what another gave, behind nothing but reshapes, means, sums, dropout, batch norms, and
    constant or learned factors and terms, nothing else in the model is more than linear, no layer between is narrower
    than what it stands between, and the run, of twelve losses or more, ends at a tenth or more of what the best
    constant prediction costs, or, where that is not known, of its first loss.
    Wrong if: a factored or a linear model is wanted; a factored one has a narrow layer between.
    Healthy programs tried: linear regression, linear autoencoders, low-rank adapters, attention, embeddings under a
    linear layer, linear layers around a bent one, probes of what a network gave without gradients.
    """

    name, title, certainty, severity = "nothing between", "layers that are one", EXACT, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.looks = 0
        self.found_at: tuple[Any, Any, int, int] | None = None

    def at_look(self, p: Any) -> None:
        """Look what each linear layer is given."""
        if p.root is None or not p.accumulates or self.looks > 8:
            return
        self.looks += 1
        layers = [(v, x) for v in walked(p) if v.needs and (x := _given(v)) is not None]
        pairs, bent = [], 0
        for v, x in layers:
            before = _behind(x)
            inner = _given(before) if before.needs else None  # what has no gradient is data
            if inner is not None:
                wide = before.shape[-1] if before.shape else 0
                if wide < min(v.shape[-1], inner.shape[-1] if inner.shape else 1):
                    return
                pairs.append((before, v))
            elif before.needs and before.op != "source" and not before.op.startswith("embedding"):
                bent += 1
        if bent or not pairs or any(_bends(v) for v in walked(p) if v.model is not None):
            return
        first, second = pairs[-1]
        self.found_at = self.ev.blamed(first), self.ev.blamed(second), len(layers), self.looks

    def findings(self) -> Iterator[Finding]:
        """Say which."""
        if self.found_at is None or self.looks < 2:
            return
        place, second, many, _ = self.found_at
        course = Course(self.ev)
        size = course.constant if course.constant else course.first
        if not course.known or course.late < 0.1 * abs(size):
            return
        yield self.found(
            f"{many} linear layers follow each other with nothing between: together they are one.",
            place,
            "nothing follows it",
            related=self.lines((second, "given it as it is")),
            proof=[
                ("linear layers of a pass", many),
                ("functions between that bend", 0),
                course.ends(),
            ],
            confirm=("model(2 * x) - model(x), and model(3 * x) - model(2 * x)", "the same numbers"),
            unless="a linear model is wanted.",
            advice="Put nn.ReLU() or another activation between them.",
            weight=5.0,
            explains=("learns nothing", "unrelated", "one class", "mean", "too small"),
        )


def _given(v: Value) -> Value | None:
    """What a linear layer computes with; None where the op is none."""
    if v.op not in LINEAR:
        return None
    parents = v.parents
    own = [x for x in parents if beyond(x).op == "source" and beyond(x).needs]
    others = [x for x in parents if not (beyond(x).op == "source" and beyond(x).needs)]
    return others[0] if own and len(others) == 1 else None


def _behind(v: Value) -> Value:
    """What is behind what only moves, scales or shifts."""
    while True:
        v = beyond(v, PLAIN)
        if v.op in ("add", "mul", "div", "sub") and v.needs:
            rest = [x for x in v.parents if not (beyond(x).op == "source" and not beyond(x).ins)]
            if len(rest) == 1:
                v = rest[0]
                continue
        return v


def _bends(v: Value) -> bool:
    """Whether an op of a model makes it more than linear."""
    return v.needs and not (
        v.op in LINEAR
        or v.op in PLAIN
        or v.op in ("source", "add", "sub", "mul", "div", "detach", "index", "cat", "stack", "t")
        or v.op.startswith(("embedding", "uniform", "native_batch_norm", "convolution"))
    )


class OtherAxis(Counting):
    """A recurrent layer, or an attention, takes the samples for the steps of time.

    Meaning: such a layer takes (time, batch, features), and (batch, time, features) with `batch_first=True`.
    Fires: when in two looks the axis that it takes for time is as long as there are targets, one for each sample, and
    the axis that it takes for the batch, of two or more, is not.
    Wrong if: there is a target for each step of one long row; then that row is a batch of one, which is seen.
    Healthy programs tried: time first with one target for each row, a target for each step, rows of one, language
    models, attention with the batch first.
    """

    name, title, certainty, severity = "other axis", "layers that run over time", EXACT, WRONG

    def at_look(self, p: Any) -> None:
        """Compare what such layers were given with the targets."""
        timed, self.ev.timed = self.ev.timed, {}
        if p.root is None or not p.accumulates or not timed:
            return
        found = [h for h in heads_at(self.ev, p) if h.target is not None and h.target.shape]
        if len(found) != 1 or not found[0].prediction.shape:
            return
        head = found[0]
        n = head.prediction.shape[0]
        wanted = head.target.shape if head.target is not None else ()
        if not wanted or wanted[0] != n or n < 2:
            return
        for module, shape, place in timed.values():
            first = bool(module.batch_first)
            batch, time = (shape[0], shape[1]) if first else (shape[1], shape[0])
            if time != n or batch == n or batch < 2 or (len(wanted) > 1 and wanted[1] in (batch, time)):
                continue
            entry = self.times.setdefault(id(module), [0, module, shape, place, head.value.place, set()])
            entry[0] += 1
            entry[5].add(n)

    def findings(self) -> Iterator[Finding]:
        """Say which layer."""
        for times, module, shape, place, loss, _ in self.times.values():
            if times < 2:
                continue
            first = bool(module.batch_first)
            made = self.ev.origins.get(id(module))
            size = " × ".join(map(str, shape))
            n = shape[1] if first else shape[0]
            yield self.found(
                f"{type(module).__name__} takes the {n} samples of the batch for steps of time: it is given {size}, "
                f"and {'the batch first' if first else 'time first'} is what it expects.",
                place if made is None else made[2],
                "expects another order",
                layer=self.ev.module_name(module),
                related=self.lines((None if made is None else place, "is given it"), (loss, f"{n} targets")),
                proof=[("given", size), ("targets", n), ("batch_first", str(first)), ("looks", times)],
                confirm=("the result for one sample alone, and within a batch", "it differs"),
                unless="there is one target for each step of time.",
                advice="Leave batch_first=True out, or transpose what it is given."
                if first
                else "Pass batch_first=True to it.",
                weight=6.0,
                explains=("learns nothing", "unrelated", "one class", "mean"),
            )


class Scrambled(Counting):
    """A reshape is used where axes should change places: it deals the elements out anew, and mixes what they mean.

    Meaning: `reshape` and `view` keep the order of the elements in memory; `permute` and `transpose` move axes.
    Fires: when on the way to a loss, in two looks, a tensor is reshaped to its own sizes in another order (sizes of 1
    apart), or so that an axis of it comes to stand where another was split or merged, as in (heads, time, d) to
    (time, heads·d).
    Wrong if: what is reshaped has no order, as noise.
    Healthy programs tried: heads of attention with `transpose`, patches, flattened images, sequences split into
    windows.
    """

    name, title, certainty, severity = "scrambled", "reshapes for a permute", EXACT, WRONG

    def at_look(self, p: Any) -> None:
        """Look at each reshape behind the loss."""
        if p.root is None or not p.accumulates:
            return
        seen = set()
        for v in walked(p):
            if v.op not in SPLITS or not v.parents or v.place in seen:
                continue
            old, new = v.parents[0].shape, v.shape
            if _scrambles(old, new):
                seen.add(v.place)
                entry = self.times.setdefault(v.place, [0, old, new, v.module])
                entry[0] += 1

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        for place, (times, old, new, module) in self.times.items():
            if times < 2:
                continue
            before, after = (" × ".join(map(str, shape)) for shape in (old, new))
            yield self.found(
                f"This line reshapes {before} to {after}: no axis is moved, the elements are dealt out anew.",
                place,
                "mixes the axes",
                layer=self.ev.module_name(module) if module is not None else "",
                proof=[("shape before", before), ("shape after", after), ("looks", times)],
                confirm=("the same with permute or transpose", "other numbers"),
                unless="what is reshaped has no order.",
                advice="Use permute or transpose to move axes, and reshape after it.",
                weight=6.0,
            )


def _scrambles(old: tuple, new: tuple) -> bool:
    """Whether a reshape gives an axis the place of another."""
    a, b = [n for n in old if n != 1], [n for n in new if n != 1]
    for one, other in _groups(a, b):
        if len(one) < 2 or len(other) < 2:
            continue
        if sorted(one) == sorted(other):
            return True  # never equal: equal axes are groups of their own
        if len(one) == 3 and len(other) == 2 and other[0] in one[1:] and other[0] != one[0]:
            return True
        if len(one) == 2 and len(other) == 3 and one[0] in other[1:] and one[0] != other[0]:
            return True
        if len(one) > 3 and len(other) == 2 and other[0] == one[-1] != one[0]:
            return True
    return False


def _groups(a: list[int], b: list[int]) -> Iterator[tuple[list[int], list[int]]]:
    """The smallest runs of axes of two shapes that hold as many elements."""
    i = j = 0
    while i < len(a) and j < len(b):
        one, other = [a[i]], [b[j]]
        m, n = a[i], b[j]
        i, j = i + 1, j + 1
        while m != n:
            if m < n and i < len(a):
                m *= a[i]
                one.append(a[i])
                i += 1
            elif n < m and j < len(b):
                n *= b[j]
                other.append(b[j])
                j += 1
            else:
                return
        yield one, other


class UnlikeSums(Counting):
    """A loss adds a mean over a batch and a sum over the same batch: the sum outweighs the mean by its size.

    Meaning: terms of a loss weigh as they are meant where all are means over the samples, or all are sums.
    Fires: when in two looks the loss is a sum of terms, one of them the mean of a comparison with targets, another a
    sum over a tensor with one row for each target that a model computed, of three samples or more, the factor of
    that sum times the number of samples is more than twice the factor of the mean, and none of the numbers that the
    sum is multiplied by is one over the number of samples or less; or when one is the mean over 32
    elements of each sample or more, the other the divergence of a latent Gaussian (a value and its exponential)
    summed over each sample, and in twelve looks or more, in the later half of them, that is below 0.05.
    Wrong if: the weight is meant.
    Healthy programs tried: a sum that is divided by the batch, with a large factor besides (the square of the
    temperature in a distillation), or has a small factor, penalties that are sums over weights, means or sums
    throughout, several means.
    """

    name, title, certainty, severity = "unlike sums", "terms of the loss", LINEAGE, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.priors: dict[tuple, list] = {}  # by the lines of an error and a divergence: its values, elements

    def at_look(self, p: Any) -> None:
        """Look at each term."""
        if p.root is None or not p.accumulates:
            return
        terms = _terms(p.root)
        if len(terms) < 2:
            return
        rows, means, sums = set(), [], []
        for v, factor, least in terms:
            head = of(v)
            if head is None and v.op == "mean_all" and v.parents:
                head = of(beyond(v.parents[0]))
                reduction = 1
            else:
                reduction = v.consts[-1] if head is not None and v.consts else 0
            if head is not None and head.target is not None and head.prediction.shape and reduction == 1:
                if head.target.model is None or not head.target.needs:
                    rows.add(head.prediction.shape[0])
                    means.append((v, abs(factor)))
            elif v.op in ("sum_all", "sum") and v.parents and v.parents[0].needs and v.parents[0].shape:
                if v.parents[0].op != "source" and _of_a_model(v.parents[0]):
                    shape = v.parents[0].shape
                    if least * shape[0] > 1.001:  # else it is a mean over the samples already
                        sums.append((v, abs(factor), shape))
        for v, factor, _ in terms:
            self._prior(v, factor, means, p)
        for v, factor, shape in sums:
            if shape[0] in rows and shape[0] > 2 and factor * shape[0] > 2 * max(f for _, f in means):
                entry = self.times.setdefault(v.place, [0, means[0][0].place, shape, factor])
                entry[0] += 1

    def _prior(self, v: Value, factor: float, means: list, p: Any) -> None:
        """A divergence that is a sum for each sample, beside a mean over all elements of what is made again."""
        inner = v.parents[0] if v.op == "mean_all" and v.parents else v
        if (
            inner.op not in ("sum_all", "sum", "sum_dims")
            or not inner.parents
            or v.data is None
            or v.data.size != 1
        ):
            return
        bent = inner.parents[0]
        sides = [a for a in itertools.islice(ancestors(bent), 12) if a.op == "exp" and a.parents]
        if not any(any(a is e.parents[0] for a in itertools.islice(ancestors(bent), 12)) for e in sides):
            return
        for mean, _ in means:
            head = of(mean) or of(beyond(mean.parents[0]))
            many = 0 if head is None else int(np.prod(head.prediction.shape[1:]))
            if many >= 32:
                self.priors.setdefault((mean.place, v.place), []).append((abs(factor * float(v.data)), many))
                return

    def _collapsed(self) -> Iterator[Finding]:
        """A latent that says nothing, as its divergence outweighs the mean."""
        for (mean, prior), seen in self.priors.items():
            late = [x for x, _ in seen[len(seen) // 2 :]]
            if len(seen) < 12 or max(late) > 0.05:
                continue
            many = seen[-1][1]
            yield self.found(
                f"The error is a mean over {many} elements and the divergence a sum for each sample: it outweighs the "
                "error, and the latent says nothing.",
                mean,
                "a mean",
                also=(prior, "a sum"),
                certainty=MEASURED,
                proof=[("elements in the mean", many), ("divergence, late in the run", number(max(late)))],
                confirm=("the divergence of each sample", "0, nearly"),
                unless="that weight is meant.",
                advice="Sum the error over the elements of a sample as well, and take the mean over samples of both.",
                weight=4.0,
                explains=("learns nothing", "mean", "too small"),
            )

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        yield from self._collapsed()
        for place, (times, mean, shape, factor) in self.times.items():
            if times < 2:
                continue
            size = " × ".join(map(str, shape))
            yield self.found(
                f"The loss adds a sum over {size} to a mean over the batch of {shape[0]}: the sum outweighs it.",
                mean,
                "a mean",
                related=self.lines((place, "a sum")),
                proof=[
                    ("summed over", size),
                    ("factor of the sum", number(factor)),
                    ("samples in the mean", shape[0]),
                    ("looks", times),
                ],
                confirm=("both terms, printed", "the sum is the larger by far"),
                unless="that weight is meant.",
                advice="Take the mean of both, or the sum of both, over the same samples.",
                weight=4.0,
                explains=("learns nothing", "mean"),
            )


def _terms(root: Value) -> list[tuple[Value, float, float]]:
    """The terms of a loss with the product of the numbers that they are multiplied by, and the smallest of these."""
    out, waiting = [], [(root, 1.0, 1.0)]
    while waiting and len(out) < 16:
        v, factor, least = waiting.pop()
        numbers = [x for x in v.ins if x.__class__ in (int, float)]
        parents = v.parents
        if v.op in ("add", "sub") and parents:
            waiting += [(x, factor, least) for x in parents]
        elif v.op == "neg" and parents:
            waiting.append((parents[0], factor, least))
        elif v.op in ("mul", "div") and len(parents) == 1 and len(numbers) == 1 and numbers[0]:
            one = numbers[0] if v.op == "mul" else 1 / numbers[0]
            waiting.append((parents[0], factor * one, min(least, abs(one))))
        elif (
            v.op in ("mul", "div")
            and len(parents) == 2
            and any(x.data is not None and x.data.size == 1 and not x.needs for x in parents)
        ):
            weight = next(x for x in parents if x.data is not None and x.data.size == 1 and not x.needs)
            x = next((x for x in parents if x is not weight), weight)
            size = float(weight.data) or 1.0
            one = size if v.op == "mul" else 1 / size
            waiting.append((x, factor * one, min(least, abs(one))))
        elif v.op not in ("source", "zeros"):
            out.append((v, factor, least))
    return out


def _of_a_model(v: Value) -> bool:
    """Whether a value comes from a call of a model, and not from weights alone."""
    left = 40
    for a in ancestors(v, lambda a: a.model is None):
        left -= 1
        if a.model is not None:
            return True
        if not left:
            break
    return False


class QueryAxis(Counting):
    """Weights of an attention sum to 1 over the queries, and are used as if they summed to 1 over the keys.

    Meaning: what a query gets is a mean of values, with weights that sum to 1 over the keys.
    Fires: when in two looks a softmax over the last axis but one of three or more goes, behind nothing but reshapes,
    products and dropout, into a matrix product as its left side.
    Wrong if: the queries compete on purpose; then the weights are brought to a sum of 1 after it, as slots do.
    Healthy programs tried: attention by hand and by module, slots, pooling by weights, gates over experts.
    """

    name, title, certainty, severity = "query axis", "weights of an attention", LINEAGE, WRONG

    def at_look(self, p: Any) -> None:
        """Look at products whose left side is a softmax."""
        if p.root is None or not p.accumulates:
            return
        seen = set()
        for v in walked(p):
            if v.op not in ("bmm", "matmul", "mm") or not v.parents or len(v.parents[0].shape) < 2:
                continue
            soft = beyond(v.parents[0], KEPT)
            if soft.op.strip("_") != "softmax" or not soft.consts or len(soft.shape) < 2:
                continue
            axis = soft.consts[0]
            axis = axis + len(soft.shape) if axis < 0 else axis
            same = v.parents[0].shape[-2:] == soft.shape[-2:]
            if axis == len(soft.shape) - 2 and same and len(soft.shape) >= 3 and soft.place not in seen:
                seen.add(soft.place)
                self.times.setdefault(soft.place, [0, v.place, soft.shape, soft.module])[0] += 1

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        for place, (times, used, shape, module) in self.times.items():
            if times < 2:
                continue
            size = " × ".join(map(str, shape))
            yield self.found(
                f"softmax runs over the queries, axis {len(shape) - 2} of {size}: the weights of a query do not sum "
                "to 1.",
                place,
                "over queries",
                layer=self.ev.module_name(module) if module is not None else "",
                related=self.lines((used, "weighs the values")),
                proof=[("looks", times), ("shape", size), ("axis", len(shape) - 2)],
                confirm=("weights.sum(-1)", "not 1"),
                unless="the queries compete on purpose.",
                advice="Give it the axis of the keys: dim=-1.",
                weight=6.0,
                explains=("learns nothing", "too small"),
            )


KEPT = frozenset(
    ("view", "reshape", "dropout", "mul", "contiguous", "cast", "expand", "unsqueeze", "squeeze_dim")
)


class ScaledUp(Counting):
    """Scores of an attention are made larger where they should be made smaller: nearly all weight goes to one key.

    Meaning: products of long vectors are large; divided by the root of their length they leave a softmax its slope.
    Fires: when in the first two looks the scores under a softmax over the keys, four of them or more, are a product
    of two computed values times a number above 1, and in half of the rows one key has nine tenths of the weight.
    Wrong if: one key is to be chosen, as by a low temperature.
    Healthy programs tried: scores divided by the root of the length or by another number above 1, normalised vectors
    times a scale, masks.
    """

    name, title, certainty, severity = "scaled up", "scores of an attention", MEASURED, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.looks = 0

    def at_look(self, p: Any) -> None:
        """Look at what goes into a softmax."""
        if p.root is None or not p.accumulates or self.looks >= 2:
            return
        self.looks += 1
        for v in walked(p):
            if v.op.strip("_") != "softmax" or len(v.shape) < 2 or not v.consts or v.shape[-1] < 4:
                continue
            if v.consts[0] not in (-1, len(v.shape) - 1) or not v.parents:
                continue
            weights, scaled = array(v), v.parents[0]
            for _ in range(8):  # behind masks
                if scaled.op in ("mul", "rmul", "div") or scaled.op not in MASKED or not scaled.parents:
                    break
                scaled = next((x for x in scaled.parents if x.needs), scaled.parents[0])
            by = factor(scaled)
            if weights is None or by is None or by <= 1.0 + 1e-6:
                continue
            product = beyond(scaled.parents[0])
            if product.op not in ("bmm", "matmul", "mm") or not all(x.needs for x in product.parents):
                continue
            if len(product.parents) == 2 and float(np.median(weights.max(-1))) >= 0.9:
                entry = self.times.setdefault(scaled.place, [0, v.place, by, product.parents[0].shape[-1]])
                entry[0] += 1

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        for place, (times, soft, by, size) in self.times.items():
            if times < 2:
                continue
            yield self.found(
                f"Scores of an attention are multiplied by {number(by)}: nearly all weight goes to one key.",
                place,
                "makes them larger",
                related=self.lines((soft, "weighs")),
                proof=[
                    ("factor of the scores", number(by)),
                    ("length of a query", size),
                    ("one over its root", number(size**-0.5)),
                    ("largest weight, median", "above 0.9"),
                ],
                confirm=("weights.max(-1).values.median()", "nearly 1, before anything is learned"),
                unless="one key is to be chosen.",
                advice=f"Divide by the root of the length: / {size} ** 0.5.",
                weight=3.0,
                explains=("learns nothing", "vanishes"),
            )


MASKED = SHAPED | {"masked_fill", "where", "add", "sub", "dropout"}


def factor(v: Value) -> float | None:
    """The number that a value is multiplied by; None where it is no such product."""
    if v.op not in ("mul", "rmul", "div") or not v.parents:
        return None
    others = [x for x in v.ins if x is not v.parents[0]]
    if len(others) != 1:
        return None
    other = others[0]
    if other.__class__ is Value:
        d = None if other.needs else array(other)
        if d is None or d.size != 1:
            return None
        other = d.reshape(-1)[0]
    by = abs(float(other))
    if v.op == "div":
        return 1 / by if by and v.ins[0] is v.parents[0] else None
    return by


class SeesAhead(Counting):
    """A model that is to say the next token is given it: attention without a mask, or a layer that runs both ways.

    Meaning: where the targets are the inputs moved by one place, a prediction must not depend on later places.
    Fires: when in two looks the targets are the tokens that the model is given, moved by one place, and an attention
    on the way gives weight to later places (by its weights, by its result being that over all keys, or by what the
    first query of each sample gets being no multiple of the first value), or a recurrent layer runs both ways; and
    both the queries and the keys of that attention, or what that layer gives, were computed from these very tokens.
    Wrong if: never that was seen.
    Healthy programs tried: masks of -inf by hand and by module, recurrent language models, masked tokens, tagging,
    encoders of another sequence that see all of it, attention and additive attention to these.
    """

    name, title, certainty, severity = "sees ahead", "what a language model is given", LINEAGE, WRONG

    def at_look(self, p: Any) -> None:
        """Compare the targets with what the model is given, and look at each attention."""
        if p.root is None or not p.accumulates:
            return
        found = [h for h in heads_at(self.ev, p) if h.target is not None and h.kind == CLASSES]
        if len(found) != 1 or found[0].target is None:
            return
        d = array(found[0].target)
        moved = []
        for given in self.ev.fed(p):
            x = array(given)
            if x is None or d is None or x.dtype.kind not in "iu" or d.dtype.kind not in "iu":
                continue
            if x.ndim == 2 and x.size == d.size and x.shape[1] > 2:
                y = d.reshape(x.shape)
                if np.array_equal(y[:, :-1], x[:, 1:]) and not np.array_equal(x, y):
                    moved.append(given)
        if not moved:
            return
        n, every = moved[0].shape[1], walked(p)
        of_them = _descent(every, moved)
        for v in every:
            if id(v) not in of_them:
                continue
            if _unmasked(v, n) and all(id(x) in of_them for x in v.parents[:2]):
                self.times.setdefault((v.place, "attention"), [0, v.module, None])[0] += 1
                return
            if _first_sees(v, n) and all(id(x) in of_them for x in v.parents[:2]):
                mask = _mask_made(self.ev, v.parents[3]) if len(v.parents) > 3 else None
                self.times.setdefault((v.place, "attention"), [0, v.module, mask])[0] += 1
                return
            if (
                v.op.strip("_") in ("softmax", "safe_softmax")
                and len(v.shape) >= 3
                and v.shape[-2:] == (n, n)
            ):
                w = array(v)
                ahead = w is not None and float(np.triu(w.reshape(-1, n, n)[0], 1).max()) > 1e-6
                if w is not None and ahead and _of_itself(v, of_them):
                    self.times.setdefault(
                        (v.place, "attention"), [0, v.module, self._made(w) or self._mask(v)]
                    )[0] += 1
                    return
            module = v.module
            if getattr(module, "bidirectional", False):
                made = self.ev.origins.get(id(module))
                place = v.place if made is None else made[2]
                self.times.setdefault((place, "both ways"), [0, module, None])[0] += 1
                return

    def _made(self, weights: np.ndarray) -> Any:
        """Where, before the loop, the mask was made that weights of an attention show; None where none was."""
        n = weights.shape[-1]
        seen = (weights.reshape(-1, n, n) > 1e-9).any(0)
        if seen.all():
            return None
        for v in self.ev.setup or ():
            d = array(v)
            if d is None or v.place is None or d.ndim < 2 or min(d.shape[-2:]) < n or d.size > 1 << 20:
                continue
            part = d[(0,) * (d.ndim - 2)][:n, :n]
            with np.errstate(all="ignore"):
                if np.array_equal(part != 0, seen) or np.array_equal(part == 0, seen):
                    return v.place
        return None

    def _mask(self, v: Value) -> Any:
        """Where the mask was made that a softmax stands behind; None where there is none."""
        for _ in range(6):
            if not v.parents:
                return None
            if v.op in ("masked_fill", "where", "add") and len(v.parents) > 1:
                mask = next((x for x in v.parents if not x.needs and x.shape[-1:] == v.shape[-1:]), None)
                if mask is not None:
                    return _mask_made(self.ev, mask)
            v = next((x for x in v.parents if x.needs), v.parents[0])
        return None

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        for (place, kind), (times, module, mask) in self.times.items():
            if times < 2:
                continue
            yield self.found(
                "The targets are the tokens that follow, and this attention gives weight to them: the model sees them."
                if kind == "attention"
                else "The targets are the tokens that follow, and this layer runs both ways: the model sees them.",
                place,
                "sees what follows",
                also=(mask, "the mask"),
                layer=self.ev.module_name(module) if module is not None else "",
                proof=[("targets", "the tokens given, one place on"), ("looks", times)],
                confirm=("the result at one place, with another token after it", "it changes"),
                unless="",
                advice="Mask what follows: masked_fill with -inf above the diagonal, or is_causal=True."
                if kind == "attention"
                else "Leave bidirectional=True out.",
                weight=5.0,
            )


def _descent(every: list[Value], first: list[Value]) -> set[int]:
    """Which values are computed from some, or are these, by their ids.

    Args:
        every: the values of a pass.
        first: those.
    """
    found = {id(v) for v in first}
    for v in sorted(every, key=lambda v: v.seq):
        if any(id(x) in found for x in v.parents):
            found.add(id(v))
    return found


def _of_itself(soft: Value, of_them: set[int]) -> bool:
    """Whether the scores under a softmax compare a sequence with itself: both sides are computed from it.

    Args:
        soft: the softmax.
        of_them: the values that are computed from the sequence.
    """
    v = soft
    for _ in range(24):
        sides = [x for x in v.parents if x.needs and beyond(x).ins]  # no weights
        mine = [x for x in sides if id(x) in of_them]
        if not mine:
            return False
        if len(sides) > 1 and (v.op not in MASKED or (len({x.shape for x in sides}) > 1 and len(mine) > 1)):
            return len(mine) == len(sides)
        v = mine[0]  # the other, if any, is a bias of places
    return False


def _mask_made(ev: Any, mask: Value) -> Any:
    """Where a mask was made, behind what only moves it, or turns true and false into numbers by a `where`."""
    while mask.parents and (
        mask.op in SHAPED or mask.op.startswith("index") or mask.op in ("where", "masked_fill")
    ):
        inner = mask.parents
        mask = inner[1] if mask.op == "masked_fill" and len(inner) > 1 else inner[0]
    if mask.op != "source":
        return mask.place
    d, place = array(mask), ev.prepared(mask)
    if place is not None or d is None or d.ndim < 2:
        return place
    hidden = d[(0,) * (d.ndim - 2)] < -1e4
    for v in itertools.chain(ev.setup or (), ev.values):  # an own copy of a layer, in numbers
        b = array(v)
        if b is not None and b.dtype.kind == "b" and b.shape[-2:] == hidden.shape and v.place is not None:
            if b.size == hidden.size and np.array_equal(b.reshape(hidden.shape), hidden):
                return v.place
    return None


def _first_sees(v: Value, n: int) -> bool:
    """Whether in an op that is all of an attention, and masked, the first query of all samples sees more than one key.

    What it then gives is no multiple of the first value; a dropout leaves it one.
    """
    if v.op not in ("masked_attention", "scaled_dot_product_attention") or len(v.parents) < 3:
        return False
    q, k, values, out = (array(x) for x in (*v.parents[:3], v))
    if q is None or k is None or values is None or out is None or values.shape != out.shape:
        return False
    if q.shape[-2:-1] != (n,) or k.shape[-2:-1] != (n,) or out.shape[-1] < 3 or out.ndim < 3:
        return False
    a, b = out[..., 0, :].astype(np.float64), values[..., 0, :].astype(np.float64)
    lengths = np.sqrt((a * a).sum(-1) * (b * b).sum(-1))
    if not np.isfinite(a).all() or not lengths.all():
        return False
    other = np.abs((a * b).sum(-1)) / lengths < 0.999
    return bool(
        other.reshape(len(other), -1).any(1).all()
    )  # a row that is padded in front may have no first key


def _unmasked(v: Value, n: int) -> bool:
    """Whether an op that is all of an attention, over as many steps, was given no mask."""
    if v.op == "multi_head_attention_forward":
        return bool(v.consts) and v.consts[0] is False and n in v.shape[:2]
    if v.op not in ("attention", "scaled_dot_product_attention") or len(v.parents) < 3:
        return False
    q, k, values, out = (array(x) for x in (*v.parents[:3], v))
    if (
        q is None
        or k is None
        or values is None
        or out is None
        or q.shape[-2:-1] != (n,)
        or k.shape[-2:-1] != (n,)
    ):
        return False
    q, k, values, out = (x.reshape(-1, *x.shape[-2:])[0].astype(np.float64) for x in (q, k, values, out))
    scores = q @ k.T / np.sqrt(q.shape[-1])
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    whole = weights / weights.sum(-1, keepdims=True) @ values
    return bool(np.allclose(whole[:-1], out[:-1], rtol=1e-3, atol=1e-4))


class SameLayer(Rule):
    """A list of layers holds one layer several times: they share their weights.

    Meaning: `[layer] * 3` is one layer, three times; each needs to be made by itself.
    Fires: when a Sequential or a ModuleList of a model that was called holds one module with parameters more than
    once, and a pass reaches them.
    Wrong if: the weights are to be shared.
    Healthy programs tried: one activation used in several places, tied embeddings, a cell that is called in a loop.
    """

    name, title, certainty, severity = "same layer", "layers that are one object", EXACT, DOUBTFUL

    def findings(self) -> Iterator[Finding]:
        """Say which list."""
        ev, seen = self.ev, set()
        for root, _ in ev.roots.values():
            if not hasattr(root, "modules"):
                continue
            for owner in root.modules():
                if type(owner).__name__ not in ("Sequential", "ModuleList") or id(owner) in seen:
                    continue
                seen.add(id(owner))
                inner = [m for m in owner._modules.values() if m is not None]
                again = [m for m in inner if sum(m is o for o in inner) > 1]
                if not again or not any(id(p) in ev.reached for p in again[0].parameters()):
                    continue
                many = sum(m is again[0] for m in inner)
                made = ev.origins.get(id(owner))
                yield self.found(
                    f"{type(again[0]).__name__} stands {many} times in one list, and is one layer: the weights are "
                    "shared.",
                    None if made is None else made[2],
                    "one layer",
                    layer=ev.module_name(owner),
                    proof=[("places in the list", many), ("layers", 1)],
                    confirm=("len({id(m) for m in layers})", "fewer than there are places"),
                    unless="the weights are to be shared.",
                    advice="Make each by itself: [nn.Linear(...) for _ in range(n)].",
                    weight=4.0,
                )


class CutEachStep(Rule):
    """A state that goes from step to step within one pass is cut off at each: only the last step learns.

    Meaning: a recurrent network learns what to keep by gradients that go back through the steps.
    Fires: when in three looks the way from the loss goes through three cuts or more of one line, one behind the
    other, with no pass between them, and nothing that is cut off is reached by another way.
    Wrong if: only the last step is to learn.
    Healthy programs tried: truncated backpropagation with `detach` between passes, targets and teachers that are
    detached, refinement with a loss at each step, straight-through estimators, a state that is detached once.
    """

    name, title, certainty, severity = "cut each step", "states that are cut", LINEAGE, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.times: dict[Any, list] = {}
        self.before = 0  # number of the newest value at the pass before

    def at_look(self, p: Any) -> None:
        """Count the cuts that stand behind one another."""
        before, self.before = self.before, self.ev.seq
        if p.root is None or not p.accumulates:
            return
        every = walked(p)
        cuts = [v for v in every if v.op in CUTS and v.ins and v.seq > before and v.parents[0].needs]
        if len(cuts) < 3:
            return
        reached = {id(v) for v in ancestors(p.root, lambda v: v.op not in CUTS)}
        if any(id(v.parents[0]) in reached for v in cuts):
            return
        depth: dict[int, dict[Any, int]] = {}
        for v in sorted(every, key=lambda v: v.seq):
            mine: dict[Any, int] = {}
            for x in v.parents:
                for place, n in depth.get(id(x), {}).items():
                    mine[place] = max(n, mine.get(place, 0))
            if v.op in CUTS and v.ins and v.seq > before and v.parents[0].needs:
                place = v.consts[1] if len(v.consts) == 2 and v.op not in ("detach", "data") else v.place
                mine[place] = mine.get(place, 0) + 1
                if mine[place] >= 3:
                    entry = self.times.setdefault(place, [set(), v.op, 0])
                    entry[0].add(p.number)
                    entry[2] = max(entry[2], mine[place])
            if mine:
                depth[id(v)] = mine

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        for place, (passes, op, deep) in self.times.items():
            if len(passes) < 3 or place is None:
                continue
            word = WRITTEN.get(op, op)
            yield self.found(
                f"{word} cuts the state off at each of {deep} steps: only the last one learns.",
                place,
                "cuts each step",
                severity=WRONG if deep > 3 else DOUBTFUL,
                proof=[("cuts behind one another in a pass", deep), ("looks", len(passes))],
                confirm=("the gradient of the state at the first step", "None"),
                unless="only the last step is to learn.",
                advice=f"Hand the state on as it is, without {word}.",
                weight=5.0,
                explains=("learns nothing", "too small", "unrelated", "mean"),
            )


RULES = (
    NothingBetween,
    OtherAxis,
    Scrambled,
    UnlikeSums,
    QueryAxis,
    ScaledUp,
    SeesAhead,
    SameLayer,
    CutEachStep,
)
