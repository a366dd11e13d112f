"""Run a program under diagnosis, and judge what is said of it.

Invariant: a program is run in a namespace of its own, on `vistorch` under the name `torch`, with its own seed.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.abc
import importlib.machinery
import io
import linecache
import sys
import time
import warnings
from dataclasses import dataclass, field
from typing import Any

import vistorch
from vistorch.debug.diagnose import Diagnosis

NEAR = 2  # lines


@dataclass
class Said:
    """What was said of a program."""

    name: str
    findings: list = field(default_factory=list)
    error: str = ""
    failures: list = field(default_factory=list)
    seconds: float = 0.0
    plain: float = 0.0


class Named(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Modules of `torch` that are imported by name are those of `vistorch`, and no second copies of them."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Such a module is loaded here."""
        return importlib.machinery.ModuleSpec(name, self) if name.startswith("torch.") else None

    def create_module(self, spec: Any) -> Any:
        """The module that is meant."""
        module = importlib.import_module(f"vis{spec.name}")
        self.own = module.__spec__
        return module

    def exec_module(self, module: Any) -> None:
        """It has run; what importing writes into it is taken back."""
        module.__spec__ = self.own


@contextlib.contextmanager
def imported():
    """`import torch` gives vistorch, within; modes are as before afterwards."""
    before = _taken_out()
    named = Named()
    sys.modules["torch"] = vistorch
    sys.meta_path.insert(0, named)
    recording, real = vistorch.is_grad_enabled(), vistorch.get_default_dtype()
    try:
        yield
    finally:
        vistorch.set_grad_enabled(recording)  # some programs switch it off for good
        vistorch.set_default_dtype(real)
        sys.meta_path.remove(named)
        _taken_out()
        sys.modules.update(before)


def _taken_out() -> dict[str, Any]:
    """Torch's modules, which nothing imports any more."""
    return {
        name: sys.modules.pop(name) for name in [*sys.modules] if name == "torch" or name.startswith("torch.")
    }


def run(name: str, text: str, watch: bool = True) -> Said:
    """Run a program.

    Args:
        name: of it.
        text: its lines.
        watch: under diagnosis, or for its time alone.
    """
    file = f"<program {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space: dict[str, Any] = {"__name__": "__main__"}
    said = Said(name)
    out = io.StringIO()
    with imported(), warnings.catch_warnings(), contextlib.redirect_stdout(out):
        warnings.simplefilter("ignore")
        code = compile(text, file, "exec")
        diagnosis = Diagnosis() if watch else contextlib.nullcontext()
        start = time.perf_counter()
        try:
            with diagnosis:
                exec(code, space)
        except Exception as error:
            said.error = f"{type(error).__name__}: {error}"
        said.seconds = time.perf_counter() - start
        if watch:
            said.findings = diagnosis.findings()
            said.failures = list(diagnosis.failures)
    return said


def judge(said: Said, rules: tuple[str, ...], lines: Any) -> tuple[bool, bool]:
    """Whether the cause is among the first three, and with its place.

    Args:
        said: what was said.
        rules: that mean this cause.
        lines: the guilty one, or several of which any is right; none for any place.
    """
    cause = place = False
    lines = (lines,) if isinstance(lines, int) else lines or ()
    for one in said.findings[:3]:
        if one.rule not in rules:
            continue
        cause = True
        here = one.place is not None and any(abs(one.place.line - line) <= NEAR for line in lines)
        place = place or here or (not lines and (one.place is not None or bool(one.layer)))
    return cause, place


def either(said: Said, rules: tuple[str, ...], lines: Any) -> bool:
    """Whether the place is found, or the second line that the first finding names is the guilty one.

    Args:
        said: what was said.
        rules: that mean this cause.
        lines: as in `judge`.
    """
    if judge(said, rules, lines)[1]:
        return True
    first = said.findings[0] if said.findings else None
    also = None if first is None or first.rule not in rules else getattr(first, "also", None)
    lines = (lines,) if isinstance(lines, int) else lines or ()
    return also is not None and any(abs(also[0].line - line) <= NEAR for line in lines)
