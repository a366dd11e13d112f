"""Cures of what losses take, of writes that lose values, and of tables and derivatives that are constants by default.

Invariant: a call is given a word more, or another function that takes what it is given.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .case import Case, Cure, argued, bracketed, keyword, name_of
from .meaning import LOGS, renamed


def last_stays(case: Case) -> Iterator[Cure]:
    """All values are added: `index_put_` with `accumulate=True`."""
    program = case.program
    for statement in program.at(case.line):
        target = sign = value = None
        if isinstance(statement, ast.AugAssign):
            target, sign, value = statement.target, statement.op, statement.value
        elif isinstance(statement, ast.Assign) and isinstance(statement.value, ast.BinOp):
            target, sign = statement.targets[0], statement.value.op
            one, other = statement.value.left, statement.value.right
            value = other if program.of(one) == program.of(target) else one
        if not isinstance(target, ast.Subscript) or value is None or not isinstance(sign, (ast.Add, ast.Sub)):
            continue
        picks = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
        if any(isinstance(x, (ast.Slice, ast.Constant, ast.Starred)) for x in picks):
            continue
        index = ", ".join(program.of(x) for x in picks)
        text = f"-{bracketed(program, value)}" if isinstance(sign, ast.Sub) else program.of(value)
        call = f"{bracketed(program, target.value)}.index_put_(({index},), {text}, accumulate=True)"
        yield Cure(program, program.replaced(statement, call))


def paths_without_logs(case: Case) -> Iterator[Cure]:
    """`log_softmax` for `softmax`, or over the classes of the scores."""
    program = case.program
    if case.finding.also is not None:
        line = case.finding.also[0]
        other = case.file(line)
        for call in other.nodes(line.line, ast.Call):
            if name_of(call) in ("softmax", "Softmax"):
                yield Cure(other, renamed(other, call, LOGS[name_of(call)]))
    for call in program.nodes(case.line, ast.Call):
        if len(call.args) >= 4:
            given = call.args[0]
            yield Cure(program, program.replaced(given, f"{bracketed(program, given)}.log_softmax(-1)"))


def frozen_blank(case: Case) -> Iterator[Cure]:
    """The table learns."""
    program = case.program
    for call in program.calls(case.line, "from_pretrained"):
        yield Cure(program, argued(program, call, "freeze", "False", 1))


def marks_for_labels(case: Case) -> Iterator[Cure]:
    """The loss that takes marks, or marks of signs."""
    program = case.program
    for call in program.calls(case.line, "multilabel_margin_loss"):
        yield Cure(program, renamed(program, call, "multilabel_soft_margin_loss"))
    for node in ast.walk(program.tree):
        if isinstance(node, ast.Call) and name_of(node) == "MultiLabelMarginLoss":
            yield Cure(program, renamed(program, node, "MultiLabelSoftMarginLoss"))
    if "-1 to 1" in case.finding.text:
        for call in program.nodes(case.line, ast.Call):
            given = keyword(call, "target", 1)
            if given is not None:
                yield Cure(program, program.replaced(given, f"({bracketed(program, given)} + 1) / 2"))
                return


def rates_for_logs(case: Case) -> Iterator[Cure]:
    """The loss takes rates."""
    program = case.program
    for call in program.calls(case.line, "poisson_nll_loss"):
        yield Cure(program, argued(program, call, "log_input", "False", 2))
    for node in ast.walk(program.tree):
        if isinstance(node, ast.Call) and name_of(node) == "PoissonNLLLoss":
            yield Cure(program, argued(program, node, "log_input", "False", 0))


def flat_derivative(case: Case) -> Iterator[Cure]:
    """The derivative is taken with its graph."""
    program = case.program
    for call in program.calls(case.line, "grad"):
        yield Cure(program, argued(program, call, "create_graph", "True", 4))


CURES = {
    "last stays": last_stays,
    "paths without logs": paths_without_logs,
    "frozen blank": frozen_blank,
    "marks for labels": marks_for_labels,
    "rates for logs": rates_for_logs,
    "flat derivative": flat_derivative,
}
