"""Cures of signs, sides, axes and masks: one turned, two exchanged, another number.

Invariant: nothing but an operator, a number or the order of two expressions changes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from .case import Case, Cure, Edit, Program, argued, bracketed, keyword, name_of


def sides_exchanged(case: Case) -> Iterator[Cure]:
    """The two sides in the other order."""
    program = case.program
    for call in program.nodes(case.line, ast.Call):
        if "binary_cross_entropy" in name_of(call) and len(call.args) >= 2:
            a, b = call.args[:2]
            yield Cure(program, [*program.replaced(a, program.of(b)), *program.replaced(b, program.of(a))])
    for node in program.nodes(case.line, ast.BinOp):
        if isinstance(node.op, ast.Sub):
            a, b = node.left, node.right
            text = f"{bracketed(program, b)} - {bracketed(program, a)}"
            yield Cure(program, program.replaced(node, text))


def minus(case: Case) -> Iterator[Cure]:
    """The loss with its sign turned, or 1 minus an overlap."""
    program = case.program
    overlap = "overlap" in case.finding.text
    for statement in program.at(case.line):
        value = getattr(statement, "value", None)
        if isinstance(statement, (ast.Assign, ast.Return)) and value is not None:
            yield Cure(
                program,
                program.replaced(value, f"{'1 ' if overlap else ''}-{' ' * overlap}{_bare(program, value)}"),
            )


def _bare(program: Program, node: ast.expr) -> str:
    simple = isinstance(node, (ast.Call, ast.Name, ast.Attribute, ast.Subscript))
    return program.of(node) if simple else f"({program.of(node)})"


def plus(case: Case) -> Iterator[Cure]:
    """What is taken off, added."""
    program = case.program
    for node in program.nodes(case.line, ast.BinOp):
        if isinstance(node.op, ast.Sub):
            between = Edit(program.span(node.left)[1], program.span(node.right)[0], " + ")
            yield Cure(program, [between])


def divided(case: Case) -> Iterator[Cure]:
    """Divided by what cosines are multiplied by, or by a temperature."""
    program = case.program
    for node in program.nodes(case.line, ast.BinOp):
        text = program.text[program.span(node.left)[1] : program.span(node.right)[0]]
        if isinstance(node.op, ast.Mult) and text.strip() == "*":
            yield Cure(program, [Edit(program.span(node.left)[1], program.span(node.right)[0], " / ")])
    for statement in program.at(case.line):
        value = getattr(statement, "value", None)
        if value is not None:
            yield Cure(program, program.replaced(value, f"({program.of(value)}) / 0.1"))


def last_axis(case: Case) -> Iterator[Cure]:
    """The axis of the features."""
    program = case.program
    for call in program.nodes(case.line, ast.Call):
        axis: Any = keyword(call, "dim")
        if axis is None:
            axis = keyword(call, "axis")
        if axis is None:
            axis = next((a for a in call.args if isinstance(a, ast.Constant) and a.value == 0), None)
        if axis is not None:
            yield Cure(program, program.replaced(axis, "1"))


def through_nothing(case: Case) -> Iterator[Cure]:
    """The difference alone detached."""
    program = case.program
    for call in program.calls(case.line, "detach"):
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        if isinstance(owner, ast.BinOp) and isinstance(owner.op, ast.Add):
            first, rest = program.of(owner.left), program.of(owner.right).strip("()")
            yield Cure(program, program.replaced(call, f"{first} + ({rest}).detach()"))


def detached(case: Case) -> Iterator[Cure]:
    """The advantage detached."""
    program = case.program
    for node in program.nodes(case.line, ast.BinOp):
        if isinstance(node.op, ast.Sub):
            yield Cure(program, program.replaced(node, f"({program.of(node)}).detach()"))


def ratio(case: Case) -> Iterator[Cure]:
    """The smaller of two surrogates, its minus, or the ratio of the new to the old."""
    program, label = case.program, case.finding.label
    if label == "takes the larger":
        for call in program.calls(case.line, "max", "maximum"):
            name = name_of(call).replace("max", "min")
            owner = call.func.value if isinstance(call.func, ast.Attribute) else None
            yield Cure(program, program.replaced(call.func, f"{program.of(owner)}.{name}" if owner else name))
    elif label == "lacks its minus":
        yield from minus(case)
    elif label == "divides the old by the new":
        for node in program.nodes(case.line, ast.BinOp):
            if isinstance(node.op, (ast.Sub, ast.Div)):
                sign = "-" if isinstance(node.op, ast.Sub) else "/"
                text = f"{bracketed(program, node.right)} {sign} {bracketed(program, node.left)}"
                yield Cure(program, program.replaced(node, text))


def other_way_round(case: Case) -> Iterator[Cure]:
    """The mask turned."""
    swapped = {ast.Eq: "!=", ast.NotEq: "==", ast.Lt: ">=", ast.GtE: "<", ast.Gt: "<=", ast.LtE: ">"}
    program = case.program
    for node in program.nodes(case.line, ast.Compare):
        if len(node.ops) == 1 and type(node.ops[0]) in swapped:
            between = program.span(node.left)[1], program.span(node.comparators[0])[0]
            yield Cure(program, [Edit(*between, f" {swapped[type(node.ops[0])]} ")])
    for node in program.nodes(case.line, ast.UnaryOp):
        if isinstance(node.op, ast.Invert):
            yield Cure(program, program.replaced(node, program.of(node.operand)))


def along(case: Case) -> Iterator[Cure]:
    """Normalised along the axis that is picked from."""
    program = case.program
    other = case.finding.also[1].rpartition(" ")[2] if case.finding.also is not None else ""
    for call in program.calls(case.line, "log_softmax", "softmax"):
        axis = keyword(
            call, "dim", 0 if len(call.args) == 1 and isinstance(call.args[0], ast.Constant) else 1
        )
        if axis is not None and other.isdigit():
            yield Cure(program, program.replaced(axis, other))


def squared(case: Case) -> Iterator[Cure]:
    """The square of a deviation, or the root of a variance."""
    program = case.program
    for call in program.nodes(case.line, ast.Call):
        for at, name in ((2, "var"), (1, "scale")):
            given = keyword(call, name, at)
            if given is not None and (at == 2) == ("variance, and" in case.finding.text):
                text = (
                    f"{bracketed(program, given)} ** 2" if at == 2 else f"{bracketed(program, given)}.sqrt()"
                )
                yield Cure(program, argued(program, call, name, text, at))
                return


CURES = {
    "sides exchanged": sides_exchanged,
    "fit turned": minus,
    "reward turned": minus,
    "clipped ratio": ratio,
    "penalty turned": plus,
    "flat scores": divided,
    "norm over samples": last_axis,
    "answer axis": last_axis,
    "other pick": along,
    "through nothing": through_nothing,
    "advantage moves": detached,
    "wrong way round": other_way_round,
    "spread for variance": squared,
}
