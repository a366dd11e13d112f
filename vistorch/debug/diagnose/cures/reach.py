"""Cures of what passes do not reach, and of what nobody steps.

Invariant: what is written anew is the expression without what cuts it, or the same thing in another place.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from ...layers import is_module
from .case import Case, Cure, Edit, Program, bracketed, dropped, keyword, name_of

BARE = ("item", "detach", "numpy", "cpu", "tolist", "requires_grad_")
WRAPS = ("tensor", "as_tensor", "from_numpy", "float", "Variable", "FloatTensor", "asarray", "array")


def bare(program: Program, node: ast.expr) -> tuple[str, bool]:
    """An expression without what takes it out of its history: its text, and whether anything was taken away.

    Args:
        program: the file.
        node: the expression.
    """
    changed = False
    while True:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in BARE:
            node = node.func.value
        elif isinstance(node, ast.Attribute) and node.attr == "data":
            node = node.value
        elif isinstance(node, ast.Call) and name_of(node) in WRAPS and node.args:
            node = node.args[0]
        else:
            return (bracketed(program, node) if changed else program.of(node)), changed
        changed = True


def uncut(program: Program, line: int) -> Iterator[Cure]:
    """A line without what ends the history on it.

    Args:
        program: the file.
        line: which.
    """
    found: list[tuple[ast.expr, str]] = []
    for node in program.nodes(line, ast.expr):
        if any(
            program.span(node)[0] >= program.span(o)[0] and program.span(node)[1] <= program.span(o)[1]
            for o, _ in found
        ):
            continue
        text, changed = bare(program, node)
        if changed:
            found.append((node, text))
    for node, text in found:
        yield Cure(program, program.replaced(node, text))
    if len(found) > 1:
        yield Cure(program, [e for node, text in found for e in program.replaced(node, text)])
    for statement in program.at(line):
        yield from ungrad(program, statement)


def ungrad(program: Program, statement: ast.stmt) -> Iterator[Cure]:
    """A statement out of the `no_grad` it stands in.

    Args:
        program: the file.
        statement: which.
    """
    for block in (statement, *program.within(statement, ast.With, ast.FunctionDef)):
        for decorator in getattr(block, "decorator_list", ()):
            if name_of(decorator) in ("no_grad", "inference_mode"):
                start, end = program.span(decorator)
                line = program.text.rfind("\n", 0, start) + 1
                stop = program.text.find("\n", end) + 1
                yield Cure(program, [Edit(line, stop, "")])
        if isinstance(block, ast.With) and len(block.items) == 1:
            call = block.items[0].context_expr
            if name_of(call) not in ("no_grad", "inference_mode"):
                continue
            first, last = block.body[0], block.body[-1]
            begin = program.text.rfind("\n", 0, program.span(block)[0]) + 1
            end = program.text.find("\n", program.span(last)[1]) + 1 or len(program.text)
            if first.lineno == block.lineno:
                inner = program.indent(block) + program.text[program.span(first)[0] : end]
            else:
                deep = len(program.indent(first)) - len(program.indent(block))
                start = program.text.rfind("\n", 0, program.span(first)[0]) + 1
                lines = program.text[start:end].splitlines(keepends=True)
                inner = "".join(line[deep:] if not line[:deep].strip() else line for line in lines)
            yield Cure(program, [Edit(begin, end, inner)])


def not_reached(case: Case) -> Iterator[Cure]:
    """The history whole; or the optimizer of what is trained; or a layer that is called."""
    if case.finding.label == "holds others":
        yield from other_parameters(case)
    elif case.finding.label == "history ends":
        yield from uncut(case.program, case.line)


def other_parameters(case: Case) -> Iterator[Cure]:
    """The optimizer with the parameters of what computes, made after it."""
    program = case.program
    call = next((c for c in program.nodes(case.line, ast.Call) if c.args or keyword(c, "params")), None)
    given = None if call is None else keyword(call, "params", 0)
    if call is None or given is None:
        return
    text = program.of(given)
    held = case.finding.text
    trained = held.partition(": ")[2].rpartition(" has others")[0].split(", ")
    for name in [n for n in trained if n and n.replace(".", "").isidentifier()]:
        if f"{name}.parameters()" != text:
            yield Cure(program, program.replaced(given, f"{name}.parameters()"))
    made = program.statement(call)
    own = [n.id for n in ast.walk(given) if isinstance(n, ast.Name)]
    later = [
        node
        for node in ast.walk(program.tree)
        if isinstance(node, ast.Assign)
        and node.lineno > made.lineno
        and any(isinstance(t, ast.Name) and t.id in own for t in node.targets)
    ]
    if later:
        yield moved(program, made, later[-1])
    known = [
        n for n, v in case.named.items() if is_module(v) and f"{n}.parameters()" != text and n not in trained
    ]
    for name in known:
        yield Cure(program, program.replaced(given, f"{name}.parameters()"))


def moved(program: Program, statement: ast.stmt, behind: ast.stmt) -> Cure:
    """A statement behind another.

    Args:
        program: the file.
        statement: which.
        behind: the other.
    """
    return Cure(program, [*program.without(statement), *program.after(behind, program.of(statement))])


def fresh_loss(case: Case) -> Iterator[Cure]:
    """The loss itself."""
    program = case.program
    for statement in program.at(case.line):
        value = getattr(statement, "value", None)
        if not isinstance(statement, (ast.Assign, ast.AnnAssign)) or value is None:
            continue
        text, changed = bare(program, value)
        if not changed:
            continue
        target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
        yield Cure(
            program,
            program.without(statement) if program.of(target) == text else program.replaced(value, text),
        )
    yield from uncut(program, case.line)


def not_held(case: Case) -> Iterator[Cure]:
    """A Parameter, a ModuleList, an optimizer made later, or one that holds all."""
    program, label = case.program, case.finding.label
    if label == "comes later":
        made = case.finding.also[0] if case.finding.also else None
        here = next(iter(program.at(case.line)), None)
        if made is not None and here is not None and made.file == case.place.file:
            optimizer = next(iter(program.at(made.line)), None)
            if optimizer is not None:
                yield moved(program, optimizer, here)
    elif label == "not registered":
        yield from _registered(case, program)
    elif label == "no Parameter":
        yield from _parameter(case, program)
    elif label == "does not hold it":
        yield from _all_held(case, program)


def _registered(case: Case, program: Program) -> Iterator[Cure]:
    own = case.finding.layer.rpartition(".")[2]
    nn = program.alias("nn")
    for node in ast.walk(program.tree):
        if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
            continue
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        if not isinstance(target, ast.Attribute) or (own and target.attr != own):
            continue
        kind = {
            "List": "ModuleList",
            "ListComp": "ModuleList",
            "Dict": "ModuleDict",
            "DictComp": "ModuleDict",
            "Tuple": "ModuleList",
        }.get(type(node.value).__name__)
        if kind is not None and (own or node.lineno <= case.line <= (node.end_lineno or 0)):
            empty = isinstance(node.value, (ast.List, ast.Dict)) and not ast.dump(node.value).count("Call")
            text = "" if empty and program.of(node.value) in ("[]", "{}") else program.of(node.value)
            yield Cure(program, program.replaced(node.value, f"{nn}.{kind}({text})"))


def _parameter(case: Case, program: Program) -> Iterator[Cure]:
    nn = program.alias("nn")
    for statement in program.at(case.line):
        if not isinstance(statement, ast.Assign):
            continue
        value: Any = statement.value
        edits: list[Edit] = []
        if isinstance(value, ast.Call) and name_of(value) == "requires_grad_":
            value = value.func.value  # type: ignore[attr-defined]
        start, end = program.span(value)
        text = program.text[start:end]
        if isinstance(value, ast.Call):
            flag = next((k for k in value.keywords if k.arg == "requires_grad"), None)
            if flag is not None:
                every = [*value.args, *value.keywords]
                at = every.index(flag)
                cut = (program.span(every[at - 1])[1] if at else program.span(flag)[0], program.span(flag)[1])
                text = text[: cut[0] - start] + text[cut[1] - start :]
        edits = program.replaced(statement.value, f"{nn}.Parameter({text})")
        yield Cure(program, edits)


def _all_held(case: Case, program: Program) -> Iterator[Cure]:
    call = next((c for c in program.nodes(case.line, ast.Call) if c.args or keyword(c, "params")), None)
    given = None if call is None else keyword(call, "params", 0)
    if given is None:
        return
    layer = case.finding.layer
    root = next(
        (n for n, v in case.named.items() if is_module(v) and layer.startswith((f"{n}.", f"{n}["))), ""
    )
    if not root:
        return
    text = program.of(given)
    whole = f"{root}.parameters()"
    yield_first = text.startswith((f"{root}.", f"{root}["))
    together = f"[*{text}, *{whole}]"
    for new in (whole, together) if yield_first else (together, whole):
        yield Cure(program, program.replaced(given, new))
    if isinstance(given, ast.Name):
        for node in ast.walk(program.tree):
            if isinstance(node, ast.Assign) and any(
                isinstance(t, ast.Name) and t.id == given.id for t in node.targets
            ):
                yield Cure(program, program.replaced(node.value, f"[*{program.of(node.value)}, *{whole}]"))


def frozen_random(case: Case) -> Iterator[Cure]:
    """Without the line that freezes."""
    if case.finding.label != "freezes it":
        return
    program = case.program
    for statement in program.at(case.line):
        parent = program.parents[statement]
        if isinstance(parent, ast.For) and len(parent.body) == 1:
            yield Cure(program, program.without(parent))
        yield Cure(program, program.without(statement))


DRAWS = ("zeros", "ones", "full", "zeros_like", "ones_like", "full_like")
FILLS = ("zeros_", "ones_", "constant_", "fill_", "zero_")


def equal_units(case: Case) -> Iterator[Cure]:
    """Random numbers in the place of equal ones."""
    program = case.program
    for call in program.calls(case.line, *DRAWS):
        size = call.args[0] if call.args else keyword(call, "size")
        if size is None:
            continue
        kind = name_of(call)
        head = program.of(call.func).rpartition(".")[0]
        if kind.endswith("_like"):
            text = f"{head}.randn_like({program.of(size)}) * 0.1"
        else:
            sizes = program.of(size) if kind == "full" else ", ".join(program.of(a) for a in call.args)
            text = f"{head}.randn({sizes}) * 0.1"
        rest = ", ".join(
            program.of(k) for k in call.keywords if k.arg not in ("size", "fill_value", "requires_grad")
        )
        if rest:
            text = text.replace(") * 0.1", f", {rest}) * 0.1")
        grad = next((k for k in call.keywords if k.arg == "requires_grad"), None)
        dotted = isinstance(program.parents[call], ast.Attribute)
        text = f"({text}).requires_grad_()" if grad is not None else f"({text})" if dotted else text
        yield Cure(program, program.replaced(call, text))
    for statement in program.at(case.line):
        fill = next((c for c in ast.walk(statement) if isinstance(c, ast.Call) and name_of(c) in FILLS), None)
        if fill is None:
            continue
        parent = program.parents[statement]
        if isinstance(parent, ast.For) and len(parent.body) == 1:
            yield Cure(program, program.without(parent))
        yield Cure(program, program.without(statement))


def no_leaf(case: Case) -> Iterator[Cure]:
    """A gradient that is asked for last."""
    program = case.program
    asking = [
        c
        for c in program.nodes(case.line, ast.Call)
        if getattr(keyword(c, "requires_grad"), "value", False) is True
    ]
    for call in asking:
        whole: ast.expr = call
        while isinstance(parent := program.parents[whole], (ast.BinOp, ast.UnaryOp, ast.Attribute)) or (
            isinstance(parent, ast.Call) and parent.func is whole
        ):
            whole = parent
        flag = next(k for k in call.keywords if k.arg == "requires_grad")
        (edit,) = dropped(program, call, flag)
        start, end = program.span(whole)
        text = program.text[start : edit.start] + edit.text + program.text[edit.end : end]
        text = text if isinstance(whole, ast.Call) else f"({text})"
        if whole is not call:
            yield Cure(program, program.replaced(whole, f"{text}.requires_grad_()"))
    for statement in program.at(case.line) if not asking else ():
        value = getattr(statement, "value", None)
        if isinstance(statement, (ast.Assign, ast.Return)) and isinstance(value, (ast.BinOp, ast.Call)):
            yield Cure(
                program, program.replaced(value, f"{bracketed(program, value)}.detach().requires_grad_()")
            )


CURES = {
    "no leaf": no_leaf,
    "not reached": not_reached,
    "fresh loss": fresh_loss,
    "not held": not_held,
    "frozen random": frozen_random,
    "equal units": equal_units,
}
