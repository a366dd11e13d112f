"""Training and evaluation: what drew where it should not, and what did not where it should.

Invariant: the op is asked what it did, so functional forms count; a class only tells whether a module is itself a
dropout or a norm.
"""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...line_lookup import Line
from ...lineage import ancestors
from ..course import Course
from ..finding import EXACT, LINEAGE, MEASURED, WRONG, Finding
from ..written import batches, literal
from .base import Rule

DEEP = 400  # values that are followed from a measure
TUNED = 20  # passes after which a model counts as trained


def _indent(line: Line) -> str:
    text = linecache.getline(line.file, line.line)
    return text[: len(text) - len(text.lstrip())]


def _print(call: Any) -> int:
    """A print of what a call was given."""
    d = None if call is None or call.inputs is None else call.inputs._data
    if d is None or not hasattr(d, "tobytes"):
        return 0
    return hash((d.shape, d[:8].tobytes() if d.ndim else d.tobytes()))


def repeated(prints: list) -> bool:
    """Whether the same numbers were given several times over, as an average over draws does.

    Args:
        prints: when each call came, and of what it was given.

    Example:
        >>> from vistorch.debug.diagnose.rules.modes import repeated
        >>> repeated([1, 1, 1, 1, 2, 2, 2, 2]), repeated([1, 2, 3, 1, 2, 3])
        (True, False)
    """
    runs = 1 + sum(a != b for a, b in itertools.pairwise(prints))
    return len(prints) >= 4 * runs and len(prints) >= 4


def drops(module: Any) -> bool:
    """Whether a module is itself a dropout or a norm."""
    kind = type(module).__name__
    return "Dropout" in kind or "BatchNorm" in kind or "InstanceNorm" in kind


def _frozen(module: Any) -> bool:
    """Whether a norm has weights, and none of them learns."""
    own = list(module.parameters()) if hasattr(module, "parameters") else []
    return bool(own) and not any(p.requires_grad for p in own)


def _has_statistics(module: Any) -> bool:
    """Whether the statistics of a norm are others than those that it begins with."""
    mean, spread = getattr(module, "running_mean", None), getattr(module, "running_var", None)
    return mean is not None and spread is not None and bool(mean._data.any() or (spread._data != 1).any())


class TrainsInEval(Rule):
    """A model is trained while it is in evaluation mode: its dropout does nothing, its norms do not follow the data.

    Meaning: training steps should come with the mode they are meant for.
    Fires: when at least three steps, and a fifth of all, used a call of a module in evaluation mode whose dropout or
    batch norm ran as in evaluation, and whose own parameters that call's pass reached and an optimizer holds. Norms
    whose weights are frozen are left out; so are all norms of a module that was trained in training mode for 20
    passes, or loaded, and was given no batch to measure it on since it went to evaluation mode; or that no pass went
    through in training mode since the optimizer was made, if it was loaded, or if the statistics of all its norms
    are others than 0 and 1 and it was given no such batch since its eval() was called last. So are the steps of an
    optimizer that tunes a part of a module: it was made after the newest pass through that module in training mode,
    and of the module's elements, tables of embeddings apart, half or more need no gradient or are held by no
    optimizer made since.
    Wrong if: a trained model is tuned with its statistics kept on purpose.
    Healthy programs tried: frozen norms (`norm.eval()` in a model in training mode), a discriminator in evaluation
    mode while the generator is stepped, teachers, models without dropout and norms, a frozen body of which one layer
    is thawed, trained models that are tuned with the statistics of their norms, biases, heads, adapters and prompts
    that are tuned with the dropout of the frozen rest switched off.
    """

    name, title, certainty, severity, cheap = (
        "trains in eval",
        "training in evaluation mode",
        EXACT,
        WRONG,
        True,
    )

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.pending: list[
            tuple[Any, Any, Any, bool]
        ] = []  # module, call, pass, whether its statistics may be kept
        self.count = self.all = 0
        self.first: tuple[Any, Any, Any] | None = None
        self.own: dict[int, set[int]] = {}
        self.trained: dict[int, int] = {}  # by module: its passes in training mode
        self.newest: dict[int, int] = {}  # by module: when the newest of them came
        self.parts: dict[tuple[int, int], bool] = {}  # by module and optimizer: whether it tunes a part
        self.measured: dict[
            int, int
        ] = {}  # by module: the pass before which it was last measured in evaluation mode
        self.measured_in: dict[int, Any] = {}  # by module: its setting to a mode that was the newest by then

    def at_call(self, call: Any) -> None:
        """When a model was measured."""
        if not call.grad and not call.training:
            self.measured[id(call.module)] = self.ev.passes
            self.measured_in[id(call.module)] = self._set(call.module)

    def _set(self, module: Any) -> Any:
        """When a module was set to a mode last."""
        return next((one for one in reversed(self.ev.modes) if one[1] is module), None)

    def at_pass(self, p: Any) -> None:
        """Remember calls in evaluation mode until a step shows what was trained."""
        self.pending = self.pending[-8:]
        for call in p.calls:
            if call.training:
                self.trained[id(call.module)] = self.trained.get(id(call.module), 0) + 1
                self.newest[id(call.module)] = self.ev.seq
            elif call.kept and call.grad and self._matters(call):
                self.pending.append((call.module, call, p, self._collected(call)))

    def _collected(self, call: Any) -> bool:
        """Whether all that ran as in evaluation are norms whose statistics are there, and are kept on purpose."""
        kept = [entry for entry in call.kept if not _frozen(entry[1])]
        if any("dropout" in entry[0] for entry in kept):
            return False
        if any(one[0] is call.module for one in self.ev.loads):
            return True
        newest = self._set(call.module)
        if newest is None or newest[0] != "eval" or self.measured_in.get(id(call.module)) is newest:
            return False
        return all(_has_statistics(entry[1]) for entry in kept)

    def _matters(self, call: Any) -> bool:
        """Whether something that ran as in evaluation should have run as in training."""
        kept = [entry for entry in call.kept if not _frozen(entry[1])]
        if not kept or any("dropout" in entry[0] for entry in kept):
            return bool(kept)
        module = call.module
        if self.trained.get(id(module), 0) < TUNED and not any(one[0] is module for one in self.ev.loads):
            return True
        since = 0
        for name, subject, _, passes in reversed(self.ev.modes):
            if subject is module:
                if name == "train":
                    break
                since = passes
        return self.measured.get(id(module), -1) >= since

    def at_step(self, ledger: Any) -> None:
        """Which of them this optimizer trains."""
        self.all += 1
        pending, self.pending = self.pending, []
        for module, call, p, collected in pending:
            own = self.own.get(id(module))
            if own is None:
                own = self.own[id(module)] = {id(p) for p in module.parameters()}
            used = [ledger.held[id(v)] for v in p.leaves if id(v) in own and id(v) in ledger.held]
            if any(p.number in h.used for h in used):
                if self._tunes(module, ledger):
                    return
                if collected and ledger.order > self.newest.get(id(module), -2):
                    return
                self.count += 1
                if self.first is None:
                    at = next((m for m in reversed(self.ev.modes) if m[0] == "eval"), None)
                    self.first = (None if at is None else at[2], call.place, call.kept[0])
                return
            self.pending.append((module, call, p, collected))

    def _tunes(self, module: Any, ledger: Any) -> bool:
        """Whether an optimizer, made for that, tunes a part of a module."""
        key = id(module), id(ledger)
        known = self.parts.get(key)
        if known is None:
            since = self.newest.get(id(module), -2)
            held = {i for one in self.ev.ledgers.values() if one.order > since for i in one.held}
            weights = [w for w in module.parameters() if id(w) not in self.ev.tables]
            learn = sum(w.numel() for w in weights if w.requires_grad and id(w) in held)
            known = ledger.order > since and 2 * learn <= sum(w.numel() for w in weights)
            self.parts[key] = known
        return known

    def findings(self) -> Iterator[Finding]:
        """Say where the mode was set."""
        if self.first is None or self.count < 3 or self.count < 0.2 * self.all:
            return
        place, call, (name, _, _drawn, _) = self.first
        word = "dropout drops nothing" if "dropout" in name else "batch norm does not follow the data"
        yield self.found(
            f"{self.count} of {self.all} training steps run in evaluation mode: {word}.",
            place or call,
            "evaluation mode",
            also=(batches(self.ev.line(call)), "train() before it") if place else None,
            related=self.lines((call if place else None, "trains")),
            proof=[("steps in evaluation mode", self.count), ("steps", self.all)],
            confirm=("model.training, in the loop", "False"),
            unless="a trained model is tuned with its statistics kept.",
            advice="Call model.train() before each epoch of training.",
            weight=4.0,
        )


class DrawsInEvaluation(Rule):
    """A measure is taken from a model in training mode: dropout draws, batch norm uses and moves its statistics.

    Meaning: an evaluation should give the same number twice, and change nothing.
    Fires: when numbers were taken out (`item()` and its like, also behind `argmax` and comparisons) of a call in
    training mode that no pass came from, in which dropout drew or a batch norm used its batch, of a module that other
    passes came from; once, or three times where each such call recorded its history. A module whose results another
    one judges, which another optimizer holds, is left out; and so is one that follows another: no pass reached a
    parameter of it, and the first 64 numbers of its first are others than when a pass was first seen to use it.
    Wrong if: several draws are averaged on purpose; where only the dropouts are in training mode, or the same numbers
    are given four times over, nothing is said.
    Healthy programs tried: targets and teachers that follow a network in training mode, a generator that runs under
    `no_grad` for the discriminator's step, dropout kept on by hand for uncertainty, an average over draws, accuracy
    of the training batch itself.
    """

    name, title, certainty, severity = "draws in evaluation", "evaluation in training mode", LINEAGE, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.seen: dict[int, tuple[Any, Any]] = {}
        self.given: list[tuple[int, int]] = []  # pass, print
        self.makers: set[int] = set()  # modules whose results another optimizer's module judges
        self.begun: dict[int, bytes] = {}  # by module: weights of it, when a pass was first seen to use it

    def _weights(self, module: Any) -> bytes:
        """The first numbers of the first weights of a module."""
        first = next(iter(module.parameters()), None) if hasattr(module, "parameters") else None
        d = None if first is None else first._data
        return d.reshape(-1)[:64].tobytes() if isinstance(d, np.ndarray) else b""

    def _follows(self, module: Any) -> bool:
        """Whether a module learns nothing itself, and the program brings it up to date."""
        if any(id(w) in self.ev.reached for w in module.parameters()):
            return False
        return self.begun.get(id(module), b"") not in (b"", self._weights(module))

    def at_look(self, p: Any) -> None:
        """Which modules generate what others judge."""
        if p.accumulates:
            for call in p.calls:
                if id(call.module) not in self.begun:
                    self.begun[id(call.module)] = self._weights(call.module)
        if len(p.calls) < 2 or len(self.ev.ledgers) < 2:
            return
        for call in p.calls:
            known = None if call.inputs is None else self.ev.table.get(id(call.inputs._data))
            for v in (
                itertools.islice(ancestors(known, lambda v: v.model is None), 24) if known is not None else ()
            ):
                if v.model is not None and v.model.module is not call.module:
                    if self._holder(v.model.module) != self._holder(call.module):
                        self.makers.add(id(v.model.module))

    def _holder(self, module: Any) -> int:
        """The optimizer that holds the first parameter of a module; 0 where none does."""
        first = next(iter(module.parameters()), None) if hasattr(module, "parameters") else None
        return next((i for i, one in self.ev.ledgers.items() if id(first) in one.held), 0)

    def at_taken(self, kind: str, value: Any, place: Any) -> None:
        """Which calls a number comes from."""
        if len(self.seen) > 500:
            return
        for call in self._calls(value):
            if call.drew and call.training and id(call) not in self.seen:
                call.measured = place
                self.seen[id(call)] = (call, place)
                self.given.append((self.ev.passes, _print(call)))

    def _calls(self, value: Any) -> list:
        return self.ev.calls_of(value, DEEP)

    def findings(self) -> Iterator[Finding]:
        """Say where it was called."""
        if not self.ev.steps:
            return
        seen = [
            (c, p) for c, p in self.seen.values() if not c.trained and any(self._forgotten(e) for e in c.drew)
        ]
        seen = [
            (c, p)
            for c, p in seen
            if id(c.module) in self.ev.trained_modules
            and id(c.module) not in self.makers
            and not self._follows(c.module)
        ]
        graded = [pair for pair in seen if pair[0].grad]
        if len(graded) == len(seen) and len(graded) < 3:
            return  # a loss whose pass never came
        if not seen or repeated(self.given):
            return
        call, place = seen[0]
        name = next(e[0] for e in call.drew if self._forgotten(e))
        word = "dropout draws" if "dropout" in name else "batch norm uses the batch"
        yield self.found(
            f"The model is measured in training mode: {word} in {len(seen)} evaluation "
            f"call{'s' if len(seen) > 1 else ''}.",
            self._begins(call),
            "in training mode",
            related=self.lines((call.place, "draws"), (place, "measured")),
            proof=[("evaluations in training mode", len(seen)), ("layers that draw", len(call.drew))],
            confirm=("the same call twice", "two results"),
            unless="several draws are averaged on purpose.",
            advice="Call model.eval() before it, and model.train() after it.",
            weight=4.0,
        )

    def _begins(self, call: Any) -> Any:
        """The line that the evaluation begins with: the `with` around the call, where it is near; else the call."""
        line = self.ev.line(call.place)
        if line is None:
            return call.place
        for nr in range(line.line, max(0, line.line - 6), -1):
            text = linecache.getline(line.file, nr)
            if text.strip().startswith(("with ", "@")) and ("no_grad" in text or "inference_mode" in text):
                if len(text) - len(text.lstrip()) <= len(_indent(line)):
                    return Line(line.file, nr, line.function, text.strip(), line.cell)
                break
            if text.strip().startswith("def "):
                break
        return line

    def _forgotten(self, entry: tuple) -> bool:
        return entry[1] is None or bool(getattr(entry[1], "training", True)) or not drops(entry[1])


class DrawsAlways(Rule):
    """A functional dropout does not follow the mode of its module: it draws in evaluation, or never in training.

    Meaning: `F.dropout(x, p)` draws unless it is passed `training=self.training`, and
    `F.scaled_dot_product_attention` drops weights whenever its `dropout_p` is not 0.
    Fires: when a dropout, that of fused attention too, drew within a module in evaluation mode that is no dropout
    itself, or three times did not draw, by `training=False`, within a module in training mode.
    Wrong if: several draws are averaged on purpose: where the draws in evaluation mode are given the same numbers
    four times over, nothing is said of them.
    Healthy programs tried: `training=self.training`, dropout modules set to training mode by hand, chances of 0,
    an average over draws, attention whose chance is 0 in evaluation mode.
    """

    name, title, certainty, severity, cheap = (
        "draws always",
        "dropout that ignores its mode",
        EXACT,
        WRONG,
        True,
    )

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.draws: list = []
        self.never: list = []
        self.given: list[tuple[int, int]] = []  # pass, print

    def at_drew(self, entry: tuple, training: bool, call: Any) -> None:
        """Compare an op with its module."""
        name, module, place, _chance = entry
        if (
            module is None
            or "dropout" not in name
            or drops(module)
            or len(self.draws) + len(self.never) > 100
        ):
            return
        if training and not module.training:
            self.draws.append((place, module))
            self.given.append((self.ev.passes, _print(call)))
        elif not training and module.training:
            self.never.append((place, module))

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        for seen, text, label in (
            (self.draws, "Dropout draws in evaluation mode too: it does not ask its module.", "draws always"),
            (
                self.never,
                "Dropout never draws, also in training mode: it does not ask its module.",
                "never draws",
            ),
        ):
            if len(seen) < (1 if label == "draws always" else 3):
                continue
            if label == "draws always" and repeated(self.given):
                continue
            place, module = seen[-1]
            line = self.ev.line(place)
            fused = line is not None and "dropout_p" in line.text
            yield self.found(
                text,
                place,
                label,
                layer=self.ev.module_name(module),
                proof=[("times", len(seen))],
                confirm=("model.eval(), then the same call twice", "two results"),
                unless="several draws are averaged on purpose.",
                advice="Pass dropout_p=p if self.training else 0.0."
                if fused
                else "Pass training=self.training.",
                weight=5.0,
                explains=("draws in evaluation",),
            )


class DrawsOutside(Rule):
    """A functional dropout outside of any module draws while the program measures.

    Meaning: `F.dropout(x, p)` draws unless it is passed `training=False`; a function has no mode that it could ask.
    Fires: when one line drew in three passes or more, within no module, and also drew without gradients, four times
    the same numbers apart, and numbers were taken out of what was computed without gradients.
    Wrong if: several draws are averaged on purpose.
    Healthy programs tried: a flag that is passed on, modules, averages over draws.
    """

    name, title, certainty, severity = "draws outside", "dropout in functions", EXACT, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.trained: dict[Any, set[int]] = {}  # by line: passes before which it drew with gradients
        self.measured: dict[Any, list[int]] = {}  # by line: prints of what it drew from without
        self.taken = False

    def at_drew(self, entry: tuple, training: bool, call: Any) -> None:
        """Whether it trains or measures."""
        name, module, place, _ = entry
        if module is not None or call is not None or "dropout" not in name or not training:
            return
        line = self.ev.line(place)
        if self.ev.recording:
            self.trained.setdefault(line, set()).add(self.ev.passes)
        else:
            d = getattr(self.ev.drawn, "_data", None)
            if isinstance(d, np.ndarray) and len(seen := self.measured.setdefault(line, [])) < 1000:
                seen.append(hash(np.ascontiguousarray(d).reshape(-1)[:1024].tobytes()))

    def at_taken(self, kind: str, value: Any, place: Any) -> None:
        """A measure."""
        self.taken = self.taken or bool(self.measured)

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        for line, prints in self.measured.items():
            most = max(prints.count(one) for one in set(prints))
            if line is None or not self.taken or most >= 4 or len(self.trained.get(line, ())) < 3:
                continue
            yield self.found(
                f"Dropout draws while the program measures: {len(prints)} times without gradients.",
                line,
                "draws always",
                proof=[
                    ("draws without gradients", len(prints)),
                    ("passes it drew for", len(self.trained[line])),
                ],
                confirm=("the same call twice, under no_grad", "two results"),
                unless="several draws are averaged on purpose.",
                advice="Pass training=..., and give the function a flag for it.",
                weight=5.0,
            )
            return


class DropsMost(Rule):
    """A dropout drops nine tenths or more, and the run keeps half of its loss or more.

    Meaning: the chance of a dropout is that of being set to 0, not that of being kept.
    Fires: when a dropout within a module drew with a chance of 0.9 or more in ten calls, and the late loss is at
    least half of what the best constant prediction costs, or, where that is not known, of the first loss.
    Wrong if: inputs that are mostly redundant are to be hidden; then the run learns.
    Healthy programs tried: chances of 0.5 and 0.6, embeddings that are dropped, inputs of which nine tenths are
    dropped before the model, runs that learn.
    """

    name, title, certainty, severity = "drops most", "chances of dropout", MEASURED, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.seen: dict[Any, list] = {}

    def at_drew(self, entry: tuple, training: bool, call: Any) -> None:
        """Count those with a large chance."""
        name, module, place, chance = entry
        if training and "dropout" in name and chance is not None and chance >= 0.9 and module is not None:
            made = self.ev.origins.get(id(module)) if module is not None and drops(module) else None
            key = place if made is None else made[2]
            self.seen.setdefault(key, [0, chance, module])[0] += 1

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        course = Course(self.ev)
        size = abs(course.constant or course.first)
        if not course.known or course.late < 0.5 * size:
            return
        for place, (times, chance, module) in self.seen.items():
            if times >= 10:
                yield self.found(
                    f"A dropout sets {100 * chance:.0f} % to 0: little of what is learned arrives.",
                    place,
                    f"drops {100 * chance:.0f} %",
                    also=(literal(self.ev.line(place), ("p",), 0), "the chance"),
                    layer=self.ev.module_name(module) if module is not None else "",
                    proof=[("chance", f"{chance:g}"), ("calls", times), course.ends()],
                    confirm=("the same run with a chance of 0.2", "it learns"),
                    unless="what is dropped is redundant.",
                    advice="Use a chance of 0.1 to 0.5: it is that of being dropped.",
                    weight=3.0,
                    explains=("learns nothing", "too small", "one class", "mean", "unrelated"),
                )
                return


class NormOfOne(Rule):
    """A batch norm is trained on batches of one sample, and evaluated with the statistics of all.

    Meaning: a norm over one sample takes away what tells that sample from others; in evaluation it stays.
    Fires: when batch norms ran as in training in twelve calls or more that recorded their history, all of one sample
    and not all of the same, twelve steps or more were made, and a batch norm ran as in evaluation as well.
    Wrong if: samples are normalised one by one on purpose; then there is a norm for that.
    Healthy programs tried: one sample that is fitted, instance norms, group norms, norms frozen in evaluation mode,
    batches of twelve.
    """

    name, title, certainty, severity = "norm of one", "batches of one sample", EXACT, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.ones = self.more = self.kept = 0
        self.prints: set[int] = set()
        self.first: tuple[Any, Any, Any] | None = None

    def at_drew(self, entry: tuple, training: bool, call: Any) -> None:
        """Count the samples."""
        name, module, place, _ = entry
        d = None if call is None or call.inputs is None else call.inputs._data
        if "batch_norm" not in name or d is None or not d.ndim:
            return
        if not training:
            self.kept += 1
        elif d.shape[0] > 1:
            self.more += 1
        elif call is not None and call.grad:
            self.ones += 1
            if len(self.prints) < 4:
                self.prints.add(_print(call))
            if self.first is None:
                self.first = (module, place, call.place)

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        ev = self.ev
        if self.first is None or self.ones < 12 or self.more or not self.kept or len(self.prints) < 2:
            return
        if ev.steps < 12:
            return
        module, place, call = self.first
        made = ev.origins.get(id(module))
        loader = next((one for one, _ in reversed(ev.loaders) if getattr(one, "batch_size", None) == 1), None)
        origin = None if loader is None else ev.origins.get(id(loader))
        batches_at = None if origin is None else ev.line(origin[2])
        yield self.found(
            "A batch norm is trained on batches of one sample: it takes away what tells that sample from others.",
            literal(batches_at, ("batch_size",), 1) or batches_at or call,
            "one sample",
            also=(place if made is None else made[2], "normalises it"),
            layer=ev.module_name(module) if module is not None else "",
            related=self.lines((call, "is given it")),
            proof=[
                ("calls with one sample", self.ones),
                ("with more", 0),
                ("calls in evaluation", self.kept),
            ],
            confirm=("x.shape[0], in the loop", "1"),
            unless="each sample is to be normalised by itself.",
            advice="Use larger batches, or a norm that takes samples one by one: GroupNorm or LayerNorm.",
            weight=5.0,
            explains=("learns nothing", "too small", "other scale"),
        )


RULES = (TrainsInEval, DrawsInEvaluation, DrawsAlways, DrawsOutside, DropsMost, NormOfOne)
