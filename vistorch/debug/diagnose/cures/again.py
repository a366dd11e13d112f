"""Cures of what a loop does again, and of terms and factors: a seed left out, a sample changed in a copy.

Invariant: what is replaced keeps the names of the program.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .case import Case, Cure, argued, bracketed, name_of, receiver

SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}


def seed_again(case: Case) -> Iterator[Cure]:
    """No seed in the loop."""
    program = case.program
    for call in program.calls(case.line, "manual_seed"):
        yield Cure(program, program.without(program.statement(call)))


def worn(case: Case) -> Iterator[Cure]:
    """The change made in a copy."""
    program = case.program
    for one in program.nodes(case.line, ast.AugAssign):
        sign = SIGNS.get(type(one.op))
        if sign and isinstance(one.target, ast.Name):
            name = program.of(one.target)
            yield Cure(
                program, program.replaced(one, f"{name} = {name} {sign} {bracketed(program, one.value)}")
            )
    for call in program.nodes(case.line, ast.Call):
        name, on = name_of(call), receiver(program, call)
        if not name.endswith("_") or name.endswith("__") or not isinstance(call.func, ast.Attribute):
            continue
        end = program.span(call.func)[1]
        text = f"{on}.{name[:-1]}{program.text[end : program.span(call)[1]]}"
        statement = program.statement(call)
        if isinstance(statement, ast.Expr) and statement.value is call:
            if on.isidentifier():
                yield Cure(program, program.replaced(call, f"{on} = {text}"))
        else:
            yield Cure(program, program.replaced(call, text))


def term_of_gradients(case: Case) -> Iterator[Cure]:
    """The graph of the gradients kept."""
    program = case.program
    for call in program.calls(case.line, "grad"):
        yield Cure(program, argued(program, call, "create_graph", "True", 4))


def scaled_up(case: Case) -> Iterator[Cure]:
    """Divided by what the scores are multiplied by, or the other way round."""
    program = case.program
    for node in program.nodes(case.line, ast.BinOp):
        other = {ast.Mult: "/", ast.Div: "*"}.get(type(node.op))
        between = program.span(node.left)[1], program.span(node.right)[0]
        sign = program.text[between[0] : between[1]]
        if other and sign.strip() in ("*", "/"):
            swapped = sign.replace(sign.strip(), other)
            yield Cure(
                program, program.replaced(node, program.of(node.left) + swapped + program.of(node.right))
            )


CURES = {
    "seed again": seed_again,
    "worn": worn,
    "term of gradients": term_of_gradients,
    "scaled up": scaled_up,
}
