"""Run a program under diagnosis, and judge what is said of it.

Invariant: a program is run in a namespace of its own, on `vistorch` under the name `torch`, with its own seed.
"""

from __future__ import annotations

import contextlib
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


def modules() -> dict[str, Any]:
    """The names under which programs import."""
    found = {"torch": vistorch}
    for path in (
        "nn",
        "nn.functional",
        "nn.init",
        "nn.utils",
        "nn.utils.rnn",
        "optim",
        "optim.lr_scheduler",
        "utils",
        "utils.data",
        "distributions",
        "func",
        "autograd",
    ):
        __import__(f"vistorch.{path}")
        found[f"torch.{path}"] = sys.modules[f"vistorch.{path}"]
    return found


@contextlib.contextmanager
def imported():
    """`import torch` gives vistorch, within; modes are as before afterwards."""
    found = modules()
    before = {
        name: sys.modules.get(name)
        for name in [n for n in sys.modules if n == "torch" or n.startswith("torch.")]
    }
    for name in before:
        del sys.modules[name]
    sys.modules.update(found)
    recording, real = vistorch.is_grad_enabled(), vistorch.get_default_dtype()
    try:
        yield
    finally:
        vistorch.set_grad_enabled(recording)  # some programs switch it off for good
        vistorch.set_default_dtype(real)
        for name in found:
            sys.modules.pop(name, None)
        sys.modules.update({k: v for k, v in before.items() if v is not None})


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
