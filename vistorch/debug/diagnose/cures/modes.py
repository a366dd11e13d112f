"""Cures of training and evaluation that are mixed up: `train()`, `eval()`, `training=self.training`.

Invariant: a mode is set right before what it is meant for.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from ...layers import is_module
from ...line_lookup import Line
from .case import Case, Cure, Program, argued, bracketed, keyword, receiver
from .steps import LOOPS, trains


def model_at(case: Case, line: Line) -> str:
    """The model that a line calls, by the names that are known.

    Args:
        case: the finding.
        line: which.
    """
    program = case.file(line)
    for call in program.nodes(line.line, ast.Call):
        text = program.of(call.func)
        if text in case.named and _has_parameters(case.named[text]):
            return text
    models = [name for name, value in case.named.items() if _has_parameters(value)]
    return models[0] if len(models) == 1 else ""


def _has_parameters(value: Any) -> bool:
    return is_module(value) and next(iter(value.parameters()), None) is not None


def trains_in_eval(case: Case) -> Iterator[Cure]:
    """`train()` before what trains."""
    trains = case.related("trains") or case.place
    found = case.call(case.place, "eval")
    model = receiver(*found) if found is not None else ""
    if not model or model == "self":
        model = model_at(case, trains)
    program = case.file(trains)
    at = next(iter(program.at(trains.line)), None)
    if not model or at is None:
        return
    inner = next(iter(program.within(at, *LOOPS)), None)
    if inner is not None:
        if next(iter(program.within(inner, *LOOPS)), None) is not None or not _modes_in(
            program, inner, model
        ):
            yield Cure(program, program.before(inner, f"{model}.train()"))
        yield Cure(program, program.before(inner.body[0], f"{model}.train()"))
    function = next(iter(program.within(at, ast.FunctionDef)), None)
    if function is not None:
        first = function.body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and len(function.body) > 1:
            first = function.body[1]
        yield Cure(program, program.before(first, f"{model}.train()"))
    yield Cure(program, program.before(at, f"{model}.train()"))


def _modes_in(program: Program, loop: ast.stmt, model: str) -> bool:
    return any(isinstance(n, ast.Call) and program.of(n) == f"{model}.eval()" for n in ast.walk(loop))


def draws_in_evaluation(case: Case) -> Iterator[Cure]:
    """`eval()` before the measure, and `train()` after it."""
    program, model = case.program, model_at(case, case.place)
    at = next(iter(program.at(case.line)), None)
    if not model or at is None:
        return
    whole: ast.stmt = at
    for block in program.within(at, ast.With, *LOOPS):
        if isinstance(block, ast.With) or not trains(block):
            whole = block
    before = program.before(whole, f"{model}.eval()")
    again = any(
        isinstance(n, ast.Call) and program.of(n) == f"{model}.train()" for n in ast.walk(program.tree)
    )
    if again or not any(True for _ in program.within(whole, *LOOPS)):
        yield Cure(program, before)
    if not isinstance(whole, ast.Return):
        yield Cure(program, [*before, *program.after(whole, f"{model}.train()")])
    yield Cure(program, before)


def draws_always(case: Case) -> Iterator[Cure]:
    """The mode of the module."""
    program = case.program
    for call in program.nodes(case.line, ast.Call):
        if "dropout" in program.of(call.func).rpartition(".")[2]:
            yield Cure(program, argued(program, call, "training", "self.training", 2))
        chance = keyword(call, "dropout_p")
        if chance is not None:
            text = f"{bracketed(program, chance)} if self.training else 0.0"
            yield Cure(program, program.replaced(chance, text))


def draws_outside(case: Case) -> Iterator[Cure]:
    """Drawing where gradients are asked for alone."""
    program = case.program
    for call in program.calls(case.line, "dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout"):
        yield Cure(program, argued(program, call, "training", "torch.is_grad_enabled()", 2))


CURES = {
    "draws outside": draws_outside,
    "trains in eval": trains_in_eval,
    "draws in evaluation": draws_in_evaluation,
    "draws always": draws_always,
}
