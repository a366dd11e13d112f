"""Small programs with a fault planted in them, run on either engine.

Invariant: the program without the fault is one of the tests as well.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import warnings
from dataclasses import dataclass

import torch

from vistorch.debug.diagnose import Diagnosis

from .harness import run

HEAD = """\
import copy
import math
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, TensorDataset
torch.manual_seed(0)
"""


@dataclass(frozen=True)
class Planted:
    """A fault.

    Args:
        rule: that finds it.
        text: the healthy program.
        changes: (old, new), each made once.
        at: what the guilty line of the faulty program holds, once.
        both: whether PyTorch shows what the rule needs.
        also: whether the second line that is named may be the guilty one.
    """

    rule: str
    text: str
    changes: tuple[tuple[str, str], ...]
    at: str
    both: bool = True
    also: bool = False

    @property
    def faulty(self) -> str:
        """The program with the fault."""
        return changed(self.text, *self.changes)

    @property
    def line(self) -> int:
        """The guilty line."""
        found = [i for i, one in enumerate(self.faulty.splitlines(), 1) if self.at in one]
        assert len(found) == 1, (self.rule, self.at, found)
        return found[0]


def changed(text: str, *changes: tuple[str, str]) -> str:
    """A text with replacements, each of which fits once."""
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def said(engine: str, name: str, text: str) -> tuple[list, list, str]:
    """What is found in a program, which rules failed, and the error that ended it."""
    if engine == "vistorch":
        one = run(name, text)
        return one.findings, one.failures, one.error
    file = f"<torch {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    state, error = torch.get_rng_state(), ""
    diagnosis = Diagnosis()
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            try:
                with diagnosis:
                    exec(compile(text, file, "exec"), {"__name__": "__main__"})
            except Exception as why:
                error = f"{type(why).__name__}: {why}"
            found = diagnosis.findings()
    finally:
        torch.set_rng_state(state)
        torch.set_grad_enabled(True)
        torch.set_default_dtype(torch.float32)
    return found, list(diagnosis.failures), error


def accused(engine: str, planted: Planted) -> None:
    """Assert that the fault is found at its line by its rule."""
    found, failures, error = said(engine, planted.rule, planted.faulty)
    shown = [(f.rule, f.where, f.text) for f in found]
    assert found and found[0].rule == planted.rule, (shown, error)
    lines = [found[0].place, found[0].also[0] if planted.also and found[0].also else None]
    assert any(line is not None and line.line == planted.line for line in lines), (shown, planted.line)
    assert not failures


def healthy(engine: str, name: str, text: str) -> None:
    """Assert that nothing is said of a program, and that it ends."""
    found, failures, error = said(engine, name, text)
    assert [(f.rule, f.where, f.text) for f in found] == []
    assert not failures and not error
