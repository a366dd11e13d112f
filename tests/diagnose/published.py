"""What is published, over the same events: rules of DeepLocalize, UMLAUT and AutoTrainer, and PyTorch's anomaly mode.

Each symptom is as its paper has it, with its thresholds; beside it stand the causes that it may mean, read generously.
A symptom that names no cause ("the loss does not fall") is an accusation and finds none.
Invariant: these rules are no part of vistorch.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import re
import traceback
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

import vistorch
from vistorch.debug.diagnose.evidence import LAYERS, Evidence
from vistorch.debug.diagnose.finding import MEASURED, WRONG, Finding
from vistorch.debug.diagnose.heads import CLASSES, PROBABILITIES
from vistorch.debug.diagnose.rules.base import Rule
from vistorch.debug.diagnose.rules.meaning import Heads
from vistorch.debug.diagnose.session import findings_of
from vistorch.debug.lineage import beyond

from .harness import Said, imported

UNCHANGED = (
    "never steps",
    "rate",
    "not reached",
    "not held",
    "frozen random",
    "cleared",
    "fresh loss",
    "unused",
)
NO_CAUSE = ()


class Symptom(Rule):
    """Base: symptoms by (tool, name), each with the causes it may mean and the module it is seen at."""

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.seen: dict[str, tuple[tuple[str, ...], Any]] = {}

    def note(self, name: str, causes: tuple[str, ...], where: Any) -> None:
        """Enter a symptom, with a place or a module."""
        self.seen.setdefault(name, (causes, where))

    def findings(self) -> Iterator[Finding]:
        """Each of them, at the line where its layer was made."""
        for name, (causes, where) in self.seen.items():
            made = self.ev.origins.get(id(where))
            place = made[2] if made is not None else where if isinstance(where, tuple) else self.ev.last_place
            for cause in causes or ("no cause",):
                one = self.found(name, place, name, severity=WRONG, certainty=MEASURED)
                one.rule, one.text = cause, f"{name}: {cause}"
                yield one


class DeepLocalize(Symptom):
    """Wardat, Le, Rajan 2021: the first layer whose values, weights or changes are not finite or stay; the loss."""

    def at_look(self, p: Any) -> None:
        """Values of layers, the nearest the input first."""
        for v in self.ev.values:
            d = v.data if v.needs else None
            if isinstance(d, np.ndarray) and d.dtype.kind == "f" and not np.isfinite(d).all():
                self.note("error in forward", ("not finite", "diverges", "too large"), v.module)
                return

    def at_step(self, ledger: Any) -> None:
        """Weights and gradients."""
        for h in ledger.each:
            g = h.tensor._grad
            module = self.ev.registered.get(id(h.tensor), (None,))[0]
            if g is not None and not np.isfinite(g._data).all():
                self.note("error in backward", ("not finite", "diverges"), module)
            elif ledger.steps == 10 and h.moves and max(m for _, m in h.moves) == 0:
                self.note("weights do not change", UNCHANGED, module)

    def findings(self) -> Iterator[Finding]:
        """And the loss after the run."""
        losses = [x for _, x, _ in self.ev.losses]
        if len(losses) > 20 and not np.mean(losses[-10:]) < np.mean(losses[:10]):
            self.note("the loss does not fall", NO_CAUSE, None)
        yield from super().findings()


class Umlaut(Heads, Symptom):
    """Schoop, Huang, Hartmann 2021: inputs beyond -1 to 1, rates, missing activations and softmax, NaN."""

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.seen = {}
        self.looks = 0

    def at_look(self, p: Any) -> None:
        """Inputs, layers and the loss."""
        super().at_look(p)
        self.looks += 1
        if p.root is None or self.looks > 3:
            return
        for x in self.ev.fed(p):
            d = x.data
            if isinstance(d, np.ndarray) and d.dtype.kind == "f" and d.size and np.abs(d).max() > 1:
                place = p.calls[-1].place if p.calls else x.place
                self.seen.setdefault("inputs beyond -1 to 1", (("big start", "other scale"), place))
        for v in self.ev.values:
            if v.op in LAYERS and v.needs and v.parents:
                before = beyond(v.parents[1] if len(v.parents) > 2 else v.parents[0])
                if before.op in LAYERS and before.needs and before.module is not v.module:
                    self.seen.setdefault("no activation", (("nothing between",), before.module))
        if p.loss is not None and not np.isfinite(p.loss):
            self.seen.setdefault("loss is NaN", (("not finite", "diverges"), p.place))

    def look(self, head: Any, p: Any) -> None:
        """A loss that takes probabilities is given none, or the other way."""
        soft = beyond(head.prediction).op.strip("_") in ("softmax", "sigmoid")
        if head.kind == CLASSES and soft:
            self.seen.setdefault(
                "softmax where scores are asked for", (("soft twice",), beyond(head.prediction).module)
            )
        if head.kind == PROBABILITIES and beyond(head.prediction).op != "log_softmax":
            self.seen.setdefault("missing softmax", (("no logs",), head.value.place))

    def at_step(self, ledger: Any) -> None:
        """Rates out of their range."""
        rate = ledger.rates[-1]
        if rate > 0.01:
            self.seen.setdefault("rate is high", (("diverges", "too large", "big start"), ledger.place))
        elif rate < 1e-5:
            self.seen.setdefault("rate is low", (("too small", "rate"), ledger.place))


class AutoTrainer(Symptom):
    """Zhang, Zhai, Ma, Shen 2021: vanishing and exploding gradients, dying ReLU, oscillating loss, slow convergence."""

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.zero: dict[int, int] = {}

    def at_step(self, ledger: Any) -> None:
        """Gradients by layer."""
        norms = [(h, h.norms[-1][1]) for h in ledger.each if h.tensor.ndim >= 2 and h.norms]
        if len(norms) < 2 or not self.ev.looked:
            return
        first, last = norms[0][1], norms[-1][1]
        module = self.ev.registered.get(id(norms[0][0].tensor), (None,))[0]
        if last > 0 and first / last < 1e-3:
            self.note("vanishing gradient", ("vanishes", "small start", "dead units"), module)
        if max(n for _, n in norms) > 70:
            self.note("exploding gradient", ("diverges", "too large", "big start"), ledger.place)
        for h, _ in norms:
            g = h.tensor._grad
            if g is not None and float((g._data == 0).mean()) > 0.7:
                self.note("dying ReLU", ("dead units",), self.ev.registered.get(id(h.tensor), (None,))[0])

    def findings(self) -> Iterator[Finding]:
        """And the course of the loss."""
        losses = np.array([x for _, x, _ in self.ev.losses if np.isfinite(x)])
        if len(losses) > 20:
            steps = np.diff(losses)
            turns = float((np.sign(steps[1:]) != np.sign(steps[:-1])).mean())
            if turns > 0.5 and np.abs(steps).mean() > 0.03 * np.abs(losses).mean():
                self.note("oscillating loss", NO_CAUSE, None)
            if abs(losses[:5].mean() - losses[-5:].mean()) < 0.01 * abs(losses[:5].mean()):
                self.note("slow convergence", ("too small",), None)
        yield from super().findings()


TOOLS = {"DeepLocalize": (DeepLocalize,), "UMLAUT": (Umlaut,), "AutoTrainer": (AutoTrainer,)}


def published(tool: str, name: str, text: str) -> Said:
    """Run a program under a published tool.

    Args:
        tool: of `TOOLS`, or "anomaly mode".
        name: of the program.
        text: its lines.
    """
    file = f"<program {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    said, space = Said(name), {"__name__": "__main__"}
    evidence = None if tool == "anomaly mode" else Evidence(TOOLS[tool])
    with (
        imported(),
        warnings.catch_warnings(record=True) as warned,
        contextlib.redirect_stdout(io.StringIO()),
    ):
        warnings.simplefilter("always")
        code = compile(text, file, "exec")
        noted = io.StringIO()
        looks: Any = vistorch.autograd.detect_anomaly() if evidence is None else evidence
        try:
            with looks, contextlib.redirect_stderr(noted):
                exec(code, space)
        except Exception as error:
            said.error = f"{type(error).__name__}: {error}"
            if evidence is None:
                words = noted.getvalue() + "".join(str(w.message) for w in warned) + str(error)
                said.findings = list(_of(error, file, words))
    if evidence is not None:
        said.findings = findings_of(evidence, said.failures)
    return said


class At:
    """A place as `judge` reads it."""

    def __init__(self, rule: str, line: int | None) -> None:
        self.rule, self.layer, self.text = rule, "", rule
        self.place = None if line is None else type("Place", (), {"line": line})()


SAYS = (
    ("nan values", "not finite"),
    ("inplace operation", "in place"),
    ("does not require grad", "no gradient"),
    ("second time", "second pass"),
    ("out of", "out of range"),
    ("shapes cannot be multiplied", "shapes"),
    ("size of tensor", "shapes"),
)


def _of(error: Exception, file: str, noted: str) -> Iterator[At]:
    """What an exception says: its own line, and that of the forward op where the mode names it."""
    lines = [n for frame, n in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == file]
    forward = re.findall(rf'{re.escape(file)}", line (\d+)', noted)
    line = int(forward[-1]) if forward else lines[-1] if lines else None
    yield At(next((rule for words, rule in SAYS if words in str(error)), "exception"), line)
    yield At("exception", line)
