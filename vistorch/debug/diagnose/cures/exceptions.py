"""Cures of what ends a program, and of values that are not finite.

Invariant: where the numbers that did not fit are not known, nothing is written.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .case import Case, Cure, Edit, argued, bracketed, keyword, name_of
from .reach import uncut
from .steps import detached_state


def second_pass(case: Case) -> Iterator[Cure]:
    """State, or what another optimizer learns of, without its history."""
    made = case.related("computes it") if case.finding.label == "keeps its history" else None
    if made is not None:
        bound = {
            n.id
            for one in case.file(made).at(made.line)
            for n in ast.walk(one)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        for name in case.program.nodes(case.line, ast.Name):
            if name.id in bound and isinstance(name.ctx, ast.Load):
                yield Cure(case.program, case.program.replaced(name, f"{name.id}.detach()"))
    for line in [line for line, _ in case.finding.related] + [case.place]:
        program = case.file(line)
        yield from detached_state(program, line.line)
    program = case.program
    for node in ast.walk(program.tree):
        if isinstance(node, ast.Assign):
            yield from detached_state(program, node.lineno)


OUT_OF_PLACE = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}


def in_place(case: Case) -> Iterator[Cure]:
    """The same out of place."""
    program = case.program
    for statement in program.at(case.line):
        if isinstance(statement, ast.AugAssign) and type(statement.op) in OUT_OF_PLACE:
            target, value = program.of(statement.target), program.of(statement.value)
            sign = OUT_OF_PLACE[type(statement.op)]
            if isinstance(statement.value, (ast.BinOp, ast.IfExp)):
                value = f"({value})"
            if isinstance(statement.target, ast.Name):
                yield Cure(program, program.replaced(statement, f"{target} = {target} {sign} {value}"))
            elif isinstance(statement.target, ast.Subscript) and isinstance(statement.target.value, ast.Name):
                name = statement.target.value.id
                yield Cure(program, program.before(statement, f"{name} = {name}.clone()"))
        for call in [n for n in ast.walk(statement) if isinstance(n, ast.Call)]:
            name = name_of(call)
            flag = next((k for k in call.keywords if k.arg == "inplace"), None)
            if flag is not None:
                yield Cure(program, program.replaced(flag.value, "False"))
            if name.endswith("_") and not name.endswith("__") and isinstance(call.func, ast.Attribute):
                end = program.span(call.func)[1]
                own = program.of(call.func.value)
                plain = (
                    program.of(call)[: -1 - (program.span(call)[1] - end)]
                    + program.text[end : program.span(call)[1]]
                )
                alone = isinstance(statement, ast.Expr) and statement.value is call
                if alone and isinstance(call.func.value, ast.Name):
                    yield Cure(program, program.replaced(statement, f"{own} = {plain}"))
                elif not alone:
                    yield Cure(program, program.replaced(call, plain))
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript):
            owner = statement.targets[0].value
            if isinstance(owner, ast.Name):
                yield Cure(program, program.before(statement, f"{owner.id} = {owner.id}.clone()"))


def no_gradient(case: Case) -> Iterator[Cure]:
    """The history whole."""
    yield from uncut(case.program, case.line)


def out_of_range(case: Case) -> Iterator[Cure]:
    """Labels counted from 0; or an embedding with a row for each number."""
    program = case.program
    labels, classes = case.proof("labels"), case.proof("classes")
    if labels and classes:
        low, _, high = labels.partition(" to ")
        for call in program.nodes(case.line, ast.Call):
            target = keyword(call, "target", 1)
            if target is None or isinstance(target, ast.Constant):
                continue
            text = program.of(target)
            if isinstance(target, ast.BinOp) and isinstance(target.right, ast.Constant):
                yield Cure(program, program.replaced(target, program.of(target.left)))
            if int(low) >= 1 and int(high) == int(classes):
                yield Cure(program, program.replaced(target, f"{text} - 1"))
        need = int(high) + 1
        sizes = [
            node
            for node in ast.walk(program.tree)
            if isinstance(node, ast.Call)
            and name_of(node) == "Linear"
            and int(low) >= 0
            and isinstance(keyword(node, "out_features", 1), ast.Constant)
            and getattr(keyword(node, "out_features", 1), "value", None) == int(classes)
        ]
        if sizes:
            yield Cure(program, argued(program, sizes[-1], "out_features", str(need), 1))
    rows = case.proof("rows")
    if rows:
        need = next((w for w in case.finding.text.split() if w.lstrip("-").isdigit()), "")
        high = case.proof("indices").partition(" to ")[2] or need
        for node in ast.walk(program.tree):
            if isinstance(node, ast.Call) and name_of(node) == "Embedding" and node.args and int(high) >= 0:
                first = node.args[0]
                if isinstance(first, ast.Constant) and str(first.value) == rows:
                    yield Cure(program, program.replaced(first, str(int(high) + 1)))


def one_sample(case: Case) -> Iterator[Cure]:
    """The last batch left out."""
    program = case.program
    for node in ast.walk(program.tree):
        if isinstance(node, ast.Call) and name_of(node) == "DataLoader":
            yield Cure(program, argued(program, node, "drop_last", "True"))


SUMS = (ast.Constant, ast.BinOp, ast.operator)  # of which a size may be written


def shapes(case: Case) -> Iterator[Cure]:
    """A linear layer with as many inputs as arrive."""
    state = case.finding.shapes
    wanted = [one for one in getattr(state, "operands", ()) if len(one.shape) == 2]
    if len(wanted) < 2:
        return
    arrives = wanted[0].shape[-1]
    for program in list(case.programs.values()) or [case.program]:
        for node in ast.walk(program.tree):
            if not isinstance(node, ast.Call) or name_of(node) != "Linear":
                continue
            first = keyword(node, "in_features", 0)
            if first is None or not all(isinstance(n, SUMS) for n in ast.walk(first)):
                continue
            written = eval(compile(ast.Expression(first), "<size>", "eval"), {})
            if written in wanted[1].shape and written != arrives:
                yield Cure(program, argued(program, node, "in_features", str(arrives), 0))


def not_finite(case: Case) -> Iterator[Cure]:
    """What goes into the op kept away from its edge."""
    program, text = case.program, case.finding.text
    op = next(
        (
            o
            for o in EDGES
            if f" from {o}" in text or any(f": {o} {does}" in text for does in ("has", "gives"))
        ),
        "",
    )
    every: list[Edit] = []
    for call in program.calls(case.line, op, f"{op}_") if op else ():
        func = call.func
        method = isinstance(func, ast.Attribute) and not call.args
        inner = (
            func.value if method and isinstance(func, ast.Attribute) else call.args[0] if call.args else None
        )
        if inner is None:
            continue
        x = bracketed(program, inner)
        for form in EDGES[op]:
            yield Cure(program, program.replaced(inner, form.format(x)))
            every += program.replaced(inner, form.format(x)) if form == EDGES[op][0] else []
    if every:
        yield Cure(program, every)
    if op in ("div", "reciprocal"):
        for node in program.nodes(case.line, ast.BinOp):
            if isinstance(node.op, ast.Div):
                yield Cure(
                    program, program.replaced(node.right, f"({bracketed(program, node.right)} + 1e-8)")
                )
    if op == "pow":
        for node in program.nodes(case.line, ast.BinOp):
            if isinstance(node.op, ast.Pow):
                x = bracketed(program, node.left)
                yield Cure(program, program.replaced(node.left, f"({x} + 1e-8)"))
                yield Cure(program, program.replaced(node.left, f"{x}.clamp(min=1e-8)"))


EDGES = {
    "log": ("{}.clamp(min=1e-8)",),
    "log2": ("{}.clamp(min=1e-8)",),
    "log10": ("{}.clamp(min=1e-8)",),
    "log1p": ("{}.clamp(min=-1 + 1e-6)",),
    "sqrt": ("({} + 1e-12)", "{}.clamp(min=1e-12)"),
    "rsqrt": ("({} + 1e-12)",),
    "exp": ("{}.clamp(max=20)",),
    "acos": ("{}.clamp(-1 + 1e-6, 1 - 1e-6)",),
    "asin": ("{}.clamp(-1 + 1e-6, 1 - 1e-6)",),
    "atanh": ("{}.clamp(-1 + 1e-6, 1 - 1e-6)",),
    "norm": ("({} + 1e-8)",),
    "std": ("({} + 1e-8)",),
    "div": (),
    "reciprocal": ("({} + 1e-8)",),
    "pow": ("{}.clamp(min=1e-8)",),
}


CURES = {
    "second pass": second_pass,
    "in place": in_place,
    "no gradient": no_gradient,
    "out of range": out_of_range,
    "one sample": one_sample,
    "shapes": shapes,
    "not finite": not_finite,
}
