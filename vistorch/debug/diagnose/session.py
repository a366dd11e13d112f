"""A run under diagnosis: it listens, and then says what it found.

Invariant: a rule that fails is left out and named; it ends neither the run nor the others.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from ..source import Unsupported, active, has, own
from .evidence import Evidence
from .exceptions import of_exception
from .finding import Finding, rank
from .mend import Mender
from .record import DiagnoseRecord
from .rules import RULES
from .tree import tree_of
from .trial import Standby
from .trial.rerun import Body

MOST = 3  # findings that are shown


class Diagnosis:
    """Listens to what runs, and finds what is wrong with it.

    Args:
        namespace: names that things have; without it, those of the frames that run.
        title: what is diagnosed.

    Example:
        >>> import vistorch
        >>> from vistorch.debug.diagnose import Diagnosis
        >>> net = vistorch.nn.Linear(2, 1)
        >>> opt = vistorch.optim.SGD(net.parameters(), lr=0.01)
        >>> x, y = vistorch.ones(8, 2), vistorch.ones(8, 1)
        >>> with Diagnosis({"opt": opt}) as diagnosis:
        ...     for _ in range(6):
        ...         loss = ((net(x) - y) ** 2).mean()
        ...         loss.backward()
        ...         opt.step()
        >>> diagnosis.record().findings[0].text
        'Gradients are never cleared: opt.step() uses those of earlier steps again.'
    """

    def __init__(self, namespace: dict[str, Any] | None = None, title: str = "diagnose") -> None:
        self.title = title
        self.evidence: Evidence = own().evidence(RULES, things(namespace or {}))
        self.failures: list[str] = []
        self.error: Finding | None = None
        self.standby: Standby | None = None
        self.on_pass: list[Callable[[Any], None]] = []  # called at each pass
        self._each: list[Any] = [self.evidence]
        self._known: list[Finding] | None = None

    def prepare(self, body: Body | None, why: str = "") -> None:
        """Make a copy of the program, on which cures can be tried when it is over.

        Args:
            body: what is run again; None where that is not known.
            why: the reason of that.
        """
        names = dict(self.evidence.named)
        self.standby = Standby(body, lambda: Diagnosis(names), why)

    def finish(self, error: BaseException | None = None) -> None:
        """The run is over: look for cures, try them, and let the copy go.

        Args:
            error: what ended it; where a person did, nothing is tried.
        """
        try:
            if error is None or isinstance(error, Exception):
                self._known = self.findings()
                self._mend(self._known)
        finally:
            if self.standby is not None:
                self.standby.end()

    def _mend(self, found: list[Finding]) -> None:
        mender = Mender(self.standby, self.evidence.named, self.evidence.losses)
        for one in found[:MOST]:
            try:
                mender.mend(one)
            except Exception as error:
                self.failures.append(f"the cure of {one.rule}: {type(error).__name__}: {error}")

    def __enter__(self) -> Diagnosis:
        """Begin to listen, to the engine and to PyTorch where a program has imported it."""
        self._each = [self.evidence]
        for source in active():
            if source.name == "vistorch" or not has(source, "diagnose"):
                continue
            try:
                self._each.append(source.evidence(RULES, dict(self.evidence.named)))
            except Unsupported as why:
                self.failures.append(str(why))
        for one in self._each:
            one.on_pass += self.on_pass
            one.__enter__()
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        """End; an exception goes on its way, and is a finding."""
        for one in reversed(self._each):
            one.__exit__(kind, error, trace)
        self._choose()
        for one in self._each:
            broken = getattr(one, "broken", None)
            if broken is not None:
                self.failures.append(f"the evidence ends early: {type(broken).__name__}: {broken}")
        if error is not None:
            self.failed(error)

    def failed(self, error: BaseException) -> None:
        """Note the exception that ended what ran.

        Args:
            error: which.
        """
        if self.error is None and isinstance(error, Exception):
            self._choose()
            with self._reading():
                self.error = of_exception(error, self.evidence)

    def _choose(self) -> None:
        """Take the evidence of the library that the program runs on."""
        self.evidence = max(self._each, key=lambda one: (one.passes, one.steps, one.seq))

    def findings(self) -> list[Finding]:
        """All that is found by now, the most certain first."""
        with self._reading():
            return findings_of(self.evidence, self.failures, () if self.error is None else (self.error,))

    def _reading(self) -> AbstractContextManager[None]:
        """Within, rules can read the tensors of the library that the program runs on."""
        reading = getattr(self.evidence, "reading", nullcontext)
        return reading()

    def record(self) -> DiagnoseRecord:
        """What is found by now."""
        ev = self.evidence
        found = self._known
        if found is None:
            found = self.findings()
            self._mend(found)
        for one in found[:MOST]:
            one.tree = tree_of(one, ev.named)
        looked = [(r.name, r.title, r.had_something) for r in ev.rules if r.title]
        return DiagnoseRecord(
            self.title,
            found[:MOST],
            len(found),
            looked,
            ev.steps,
            ev.passes,
            self._losses(),
            list(self.failures),
        )

    def _losses(self) -> list[float]:
        every = [x for _, x, _ in self.evidence.losses]
        return every[:: max(1, len(every) // 400)][:400]


def findings_of(evidence: Evidence, failures: list[str], more: tuple[Finding, ...] = ()) -> list[Finding]:
    """What the rules of an evidence have found by now, the most certain first.

    Args:
        evidence: of a run.
        failures: takes the sentences of rules that failed.
        more: findings of no rule.
    """
    found = list(more)
    evidence.diverged = None
    for rule in evidence.rules:
        if rule in evidence.failed:
            error = evidence.failed[rule]
            failures.append(f"{rule.name}: {type(error).__name__}: {error}")
            continue
        try:
            found += list(rule.findings())
        except Exception as error:
            failures.append(f"{rule.name}: {type(error).__name__}: {error}")
    found.sort(key=rank)
    superfluous: set[str] = set()
    kept, said = [], set()
    for one in found:
        if one.rule in superfluous or (one.rule, one.text) in said:
            continue
        said.add((one.rule, one.text))
        if one.place is None and not one.layer:
            continue
        kept.append(one)
        superfluous.update(one.explains)
    return kept


def things(namespace: dict[str, Any]) -> dict[str, Any]:
    """The modules and optimizers among names."""
    from ..layers import is_module, is_optimizer

    return {
        name: value
        for name, value in namespace.items()
        if not name.startswith("_")
        and not isinstance(value, type)
        and (is_module(value) or is_optimizer(value))
    }
