"""Cures of what a loss is given: an activation taken out, an axis, a shape, targets, a sign.

Invariant: an expression is replaced by a part of itself, or by itself with a word more.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .case import Case, Cure, Edit, Program, argued, bracketed, dropped, keyword, name_of

MODULES = ("Softmax", "Sigmoid", "ReLU", "Tanh")
LOGS = {"softmax": "log_softmax", "Softmax": "LogSoftmax", "sigmoid": "logsigmoid", "Sigmoid": "LogSigmoid"}


def activation(case: Case) -> Iterator[Cure]:
    """The line without its activation, as a function, a method or a module."""
    program = case.program
    for call in program.nodes(case.line, ast.Call):
        kind = name_of(call)
        if kind in MODULES:
            parent = program.parents[call]
            if isinstance(parent, ast.Call) and call in parent.args:
                yield Cure(program, dropped(program, parent, call))
            else:
                yield Cure(program, program.replaced(call, f"{program.alias('nn')}.Identity()"))
        elif kind in ("softmax", "sigmoid", "relu", "tanh"):
            method = isinstance(call.func, ast.Attribute) and not _module(program.of(call.func.value))
            inner = call.func.value if method and isinstance(call.func, ast.Attribute) else None
            inner = inner if inner is not None else call.args[0] if call.args else None
            if inner is not None:
                yield Cure(program, program.replaced(call, bracketed(program, inner)))
    for call in program.nodes(case.line, ast.Call):
        # a call of a module of one's own: self.act(x)
        if isinstance(call.func, ast.Attribute) and len(call.args) == 1 and not call.keywords:
            if any(word in call.func.attr.lower() for word in ("soft", "sigmoid", "act", "relu", "tanh")):
                if name_of(call) not in ("softmax", "sigmoid", "relu", "tanh"):
                    yield Cure(program, program.replaced(call, bracketed(program, call.args[0])))


def _module(text: str) -> bool:
    return text in ("F", "torch", "nn.functional", "vistorch", "torch.nn.functional", "functional", "special")


def renamed(program: Program, call: ast.Call, name: str) -> list[Edit]:
    """A call of another function of the same place.

    Args:
        program: the file.
        call: which.
        name: of the other.
    """
    _, end = program.span(call.func)
    return [Edit(end - len(name_of(call)), end, name)]


def no_logs(case: Case) -> Iterator[Cure]:
    """`log_softmax` for `softmax`, or cross entropy for the likelihood."""
    for line in [line for line, _ in case.finding.related] + [case.place]:
        program = case.file(line)
        for call in program.nodes(line.line, ast.Call):
            if name_of(call) in LOGS:
                yield Cure(program, renamed(program, call, LOGS[name_of(call)]))
    program = case.program
    for call in program.calls(case.line, "nll_loss"):
        yield Cure(program, renamed(program, call, "cross_entropy"))
    for node in ast.walk(program.tree):
        if isinstance(node, ast.Call) and name_of(node) == "NLLLoss":
            yield Cure(program, renamed(program, node, "CrossEntropyLoss"))


def kl_without_logs(case: Case) -> Iterator[Cure]:
    """`log_softmax` for the first argument."""
    for line in [line for line, _ in case.finding.related] + [case.place]:
        program = case.file(line)
        for call in program.nodes(line.line, ast.Call):
            if name_of(call) in ("softmax", "Softmax"):
                yield Cure(program, renamed(program, call, LOGS[name_of(call)]))


def sample_axis(case: Case) -> Iterator[Cure]:
    """The axis of the classes."""
    program = case.program
    for call in program.nodes(case.line, ast.Call):
        kind = name_of(call)
        if kind not in ("softmax", "log_softmax", "Softmax", "LogSoftmax"):
            continue
        method = isinstance(call.func, ast.Attribute) and not _module(program.of(call.func.value))
        at = 0 if method or kind[0] in "SL" else 1
        yield Cure(program, argued(program, call, "dim", "1", at))
        yield Cure(program, argued(program, call, "dim", "-1", at))


def broadcast(case: Case) -> Iterator[Cure]:
    """The column without its last axis."""
    program = case.program
    sides: list[ast.expr] = []
    for node in program.nodes(case.line, ast.expr):
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Sub, ast.Mult, ast.Add)):
            sides += [node.left, node.right]
        elif isinstance(node, ast.Compare):
            sides += [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and len(node.args) >= 2:
            sides += node.args[:2]
    for side in sides:
        if not isinstance(side, ast.Constant):
            yield Cure(program, program.replaced(side, f"{bracketed(program, side)}.squeeze(-1)"))


def odd_targets(case: Case) -> Iterator[Cure]:
    """Targets brought to where the loss takes them."""
    program = case.program
    low, _, high = case.proof("targets").partition(" to ")
    for call in program.nodes(case.line, ast.Call):
        given = keyword(call, "target", 1)
        if given is None:
            continue
        text = bracketed(program, given)
        if case.proof("targets") == "1 class":
            scores = keyword(call, "input", 0)
            if scores is not None and name_of(call) == "cross_entropy":
                yield Cure(
                    program,
                    [
                        *renamed(program, call, "binary_cross_entropy_with_logits"),
                        *program.replaced(scores, f"{bracketed(program, scores)}.squeeze(1)"),
                        *program.replaced(given, f"{text}.float()"),
                    ],
                )
        elif not high:
            yield Cure(program, program.replaced(given, f"{text} / {text}.sum(1, keepdim=True)"))
        else:
            a, b = float(low), float(high)
            if (a, b) == (-1.0, 1.0):
                yield Cure(program, program.replaced(given, f"({text} + 1) / 2"))
            elif b - a == 1.0:
                yield Cure(program, program.replaced(given, f"{text} {'-' if a > 0 else '+'} {abs(a):g}"))
            elif a >= 0:
                yield Cure(
                    program, program.replaced(given, f"{text} / {255 if 100 < b <= 255 else f'{b:g}'}")
                )
            else:
                yield Cure(program, program.replaced(given, f"{text}.clamp(0, 1)"))


def wrong_sign(case: Case) -> Iterator[Cure]:
    """The loss without its minus."""
    program = case.program
    for statement in program.at(case.line):
        value = getattr(statement, "value", None)
        if value is None:
            continue
        if isinstance(statement, ast.Assign) and isinstance(value, ast.UnaryOp):
            if program.of(statement.targets[0]) == program.of(value.operand):
                yield Cure(program, program.without(statement))
        for node in ast.walk(value):
            if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
                if isinstance(node.operand, ast.Constant):
                    continue
                yield Cure(program, program.replaced(node, program.of(node.operand)))
            elif isinstance(node, ast.Call) and name_of(node) in ("neg", "negative"):
                if isinstance(node.func, ast.Attribute) and not node.args:
                    yield Cure(program, program.replaced(node, program.of(node.func.value)))
            elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Sub)):
                for one, other in ((node.left, node.right), (node.right, node.left)):
                    if program.of(one).lstrip("(").startswith("-") or program.of(one) in ("0", "0.0"):
                        yield Cure(program, program.replaced(node, program.of(other)))


def moving_target(case: Case) -> Iterator[Cure]:
    """The target without its history."""
    program = case.program
    for statement in program.at(case.line):
        value = getattr(statement, "value", None)
        if isinstance(statement, (ast.Assign, ast.Return)) and value is not None:
            yield Cure(program, program.replaced(value, f"{bracketed(program, value)}.detach()"))


def flat(case: Case) -> Iterator[Cure]:
    """The gradient passed by."""
    program = case.program
    for call in program.calls(case.line, "round", "sign", "floor", "ceil", "trunc", "sgn"):
        func = call.func
        inner = call.args[0] if call.args else func.value if isinstance(func, ast.Attribute) else None
        if inner is not None:
            x = bracketed(program, inner)
            yield Cure(program, program.replaced(call, f"({x} + ({program.of(call)} - {x}).detach())"))


def target_given(case: Case) -> Iterator[Cure]:
    """Targets that stand one place further: the last score and the first token have no counterpart."""
    if case.finding.label != "asks for the input":
        yield from _column(case)
        return
    program = case.program
    for call in program.nodes(case.line, ast.Call):
        scores, target = keyword(call, "input", 0), keyword(call, "target", 1)
        if scores is None or target is None:
            continue
        a, b = _flattened(scores), _flattened(target)
        if a is None or b is None:
            continue
        (inner, _), (tokens, _) = a, b
        x, t = bracketed(program, inner), bracketed(program, tokens)
        edits = [
            *program.replaced(inner, f"{x}[:, :-1]"),
            *program.replaced(tokens, f"{t}[:, 1:]"),
        ]
        yield Cure(program, edits)


def _flattened(node: ast.expr) -> tuple[ast.expr, ast.Call] | None:
    """What is behind a reshape to rows."""
    if isinstance(node, ast.Call) and name_of(node) in ("reshape", "view", "flatten", "transpose", "permute"):
        if isinstance(node.func, ast.Attribute):
            return node.func.value, node
    return None


def _column(case: Case) -> Iterator[Cure]:
    """A column set to nothing, so that no layer changes its size."""
    words = case.finding.text.split("column ")
    if len(words) < 2:
        return
    column, program = words[1].split()[0], case.program
    for call in program.nodes(case.line, ast.Call):
        if program.of(call.func) in case.named and len(call.args) == 1:
            given = call.args[0]
            at = program.statement(call)
            if isinstance(given, ast.Name):
                if program.alone(at):
                    yield Cure(program, program.before(at, _emptied(given.id, column)))
    for statement in program.at(case.line):
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            if isinstance(statement.value, ast.Subscript) and program.alone(statement):
                yield Cure(program, program.after(statement, _emptied(statement.targets[0].id, column)))


def _emptied(name: str, column: str) -> str:
    return f"{name} = {name}.clone()\n{name}[:, {column}] = 0"


CURES = {
    "soft twice": activation,
    "bounded": activation,
    "no logs": no_logs,
    "kl without logs": kl_without_logs,
    "sample axis": sample_axis,
    "broadcast": broadcast,
    "odd targets": odd_targets,
    "wrong sign": wrong_sign,
    "moving target": moving_target,
    "flat": flat,
    "target given": target_given,
}
