"""Cures of what is cleared, used, used again or never used: calls that are put in, taken out or moved.

Invariant: the names are those of the program.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from .case import Case, Cure, Program, argued, keyword, name_of, receiver

STEPS = ("step",)
LOOPS = (ast.For, ast.AsyncFor, ast.While)


def optimizer_of(program: Program, call: ast.Call) -> str:
    """The optimizer of a step: what it is called on, or what a scaler is given.

    Args:
        program: the file.
        call: the step.
    """
    return program.of(call.args[0]) if call.args and not _closure(call) else receiver(program, call)


def _closure(call: ast.Call) -> bool:
    return "closure" in ast.dump(call.args[0]) or isinstance(call.args[0], ast.Lambda)


def used_twice(case: Case) -> Iterator[Cure]:
    """Clear before the pass, where pass and step stand together; else after the step."""
    found = case.call(case.place, *STEPS) or case.call(case.related("uses old ones again"), *STEPS)
    if found is None:
        return
    program, call = found
    step, clear = program.statement(call), f"{optimizer_of(program, call)}.zero_grad()"
    back = case.call(case.related("adds to them"), "backward")
    if back is not None and back[0] is program:
        start = program.statement(back[1])
        if start in program.suite(step) and program.suite(step).index(start) < program.suite(step).index(
            step
        ):
            yield Cure(program, program.before(start, clear))
    yield Cure(program, program.after(step, clear))


def cleared(case: Case) -> Iterator[Cure]:
    """Move the clearing behind the step, or before the pass."""
    found = case.call(case.place, "zero_grad")
    if found is None:
        return
    program, call = found
    clear = program.statement(call)
    text = program.of(clear)
    for line, names, put in (
        (case.related("makes it"), ("backward",), program.before),
        (case.related("finds nothing"), STEPS, program.after),
    ):
        at = case.call(line, *names)
        if at is not None and at[0] is program and program.statement(at[1]) is not clear:
            yield Cure(program, [*program.without(clear), *put(program.statement(at[1]), text)])


def never_steps(case: Case) -> Iterator[Cure]:
    """Step after the pass, or call what was only named."""
    program = case.program
    for node in ast.walk(program.tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Attribute) and node.value.attr == "step":
            yield Cure(program, program.replaced(node, f"{program.of(node)}()"))
    found = case.call(case.place, "backward")
    optimizer = case.finding.text.partition(" ")[0]
    if found is not None and optimizer.replace(".", "").isidentifier() and optimizer != "The":
        yield Cure(program, program.after(program.statement(found[1]), f"{optimizer}.step()"))


def clipped_nothing(case: Case) -> Iterator[Cure]:
    """Move the clipping between the pass and the step."""
    program = case.program
    clip = next(iter(program.at(case.line)), None)
    if clip is None:
        return
    text = program.of(clip)
    for line, names, put in (
        (case.related("uses them"), STEPS, program.before),
        (case.related("makes gradients"), ("backward",), program.after),
    ):
        at = case.call(line, *names)
        if at is not None and at[0] is program and program.statement(at[1]) is not clip:
            yield Cure(program, [*program.without(clip), *put(program.statement(at[1]), text)])


USUAL = {"SGD": "0.01", "LBFGS": "1", "Adadelta": "1.0", "Rprop": "0.01"}


def _once_an_epoch(case: Case) -> Iterator[Cure]:
    """What lowers the rate, behind the loop over batches."""
    program, step = case.program, case.related("steps")
    for one in program.at(case.line):
        around = [one, *program.within(one, *LOOPS)]
        for moved, batches in itertools.pairwise(around):
            if step is None or not batches.lineno <= step.line <= (batches.end_lineno or 0):
                continue
            if any(program.within(batches, *LOOPS)):
                indent = program.indent(moved)
                text = "\n".join(line.removeprefix(indent) for line in program.of(moved).split("\n"))
                yield Cure(program, [*program.without(moved), *program.after(batches, text)])
            return


def rate(case: Case) -> Iterator[Cure]:
    """A usual rate; a scheduler, or what lowers the rate, that moves once an epoch, or with each batch."""
    program = case.program
    if case.finding.label == "with every batch":
        call = next(iter(program.calls(case.line, "step")), None)
        if call is None:
            return
        step = program.statement(call)
        loops = list(program.within(step, *LOOPS))
        if len(loops) > 1:
            yield Cure(program, [*program.without(step), *program.after(loops[0], program.of(step))])
        return
    if case.finding.label == "too seldom":
        step = case.call(case.related("steps"), *STEPS)
        for call in program.calls(case.line, "step"):
            if step is not None and step[0] is program:
                moved = program.statement(call)
                after = program.after(program.statement(step[1]), program.of(moved))
                yield Cure(program, [*program.without(moved), *after])
        return
    if case.finding.label == "lowers it":
        yield from _once_an_epoch(case)
        return
    if case.finding.label == "moves no rate":
        step, made = case.call(case.place, *STEPS), case.related("made here")
        for one in program.at(made.line) if made is not None and step is not None else ():
            for target in getattr(one, "targets", ()):
                assert step is not None
                yield Cure(program, program.after(program.statement(step[1]), f"{program.of(target)}.step()"))
        return
    call = next(iter(program.nodes(case.line, ast.Call)), None)
    if call is None:
        return
    kind = name_of(call)
    given = keyword(call, "lr", 1)
    if not _schedules(call) and not (isinstance(given, ast.Constant) and given.value == 0):
        name = case.finding.text.partition(" ")[0]
        call = next(
            (
                node
                for node in ast.walk(program.tree)
                if isinstance(node, ast.Call)
                and _schedules(node)
                and node.args
                and program.of(node.args[0]) == name
            ),
            call,
        )
    if _schedules(call):
        made = program.statement(call)
        names = [t.id for t in getattr(made, "targets", ()) if isinstance(t, ast.Name)]
        edits = list(program.without(made))
        for name in names:
            for node in ast.walk(program.tree):
                if isinstance(node, ast.Expr) and program.of(node) == f"{name}.step()":
                    edits += program.without(node)
        yield Cure(program, edits)
    elif keyword(call, "lr", 1) is not None or kind in USUAL or kind[:4] == "Adam":
        yield Cure(program, argued(program, call, "lr", USUAL.get(kind, "1e-3"), 1))


def _schedules(call: ast.Call) -> bool:
    kind = name_of(call)
    return kind.endswith("LR") or "Warm" in kind or "Scheduler" in kind or kind == "ReduceLROnPlateau"


def joins_older(case: Case) -> Iterator[Cure]:
    """Take the number, or the state without its history."""
    program = case.program
    for statement in program.at(case.line):
        if isinstance(statement, ast.AugAssign):
            inner = statement.value
            text = program.of(inner) if isinstance(inner, (ast.Name, ast.Call, ast.Attribute)) else ""
            text = text or f"({program.of(inner)})"
            for word in ("item", "detach"):
                yield Cure(program, program.replaced(inner, f"{text}.{word}()"))
        elif isinstance(statement, ast.Assign):
            if isinstance(statement.value, ast.BinOp):
                yield from _sum(program, statement)
            yield from _losses(program, statement.value)
        yield from _kept(program, statement)
    yield from detached_state(program, case.line)


def _losses(program: Program, value: ast.expr) -> Iterator[Cure]:
    """What passes start from, as numbers."""
    starts = {
        program.of(node.func.value)
        for node in ast.walk(program.tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "backward"
    }
    found = [n for n in ast.walk(value) if isinstance(n, ast.Name) and n.id in starts]
    for word in ("item", "detach") if found else ():
        yield Cure(program, [e for n in found for e in program.replaced(n, f"{n.id}.{word}()")])


def _kept(program: Program, statement: ast.stmt) -> Iterator[Cure]:
    """Lists that a statement reads, or adds to: what is put into them, as numbers."""
    lists = {n.id for n in ast.walk(statement) if isinstance(n, ast.Name)}
    for node in ast.walk(program.tree):
        if isinstance(node, ast.Call) and name_of(node) == "append" and len(node.args) == 1:
            if receiver(program, node) in lists and isinstance(node.args[0], (ast.Name, ast.Call)):
                for word in ("item", "detach"):
                    text = f"{program.of(node.args[0])}.{word}()"
                    yield Cure(program, program.replaced(node.args[0], text))


def _sum(program: Program, statement: ast.Assign) -> Iterator[Cure]:
    """`total = total + loss`."""
    targets = {program.of(t) for t in statement.targets}
    value = statement.value
    assert isinstance(value, ast.BinOp)
    for own, other in ((value.left, value.right), (value.right, value.left)):
        if program.of(own) in targets:
            text = program.of(other) if isinstance(other, (ast.Name, ast.Call)) else f"({program.of(other)})"
            for word in ("item", "detach"):
                yield Cure(program, program.replaced(other, f"{text}.{word}()"))


def detached_state(program: Program, line: int) -> Iterator[Cure]:
    """Detach what a call is given of its own result: `out, h = net(x, h)`; where it stands in a function, at its call.

    Args:
        program: the file.
        line: of the call.
    """
    for statement in [*_callers(program, line), *program.at(line)]:
        targets = getattr(statement, "targets", None)
        if not targets:
            continue
        assigned = {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
        for call in ast.walk(statement.value):
            if not isinstance(call, ast.Call):
                continue
            for given in call.args:
                names = [n for n in ast.walk(given) if isinstance(n, ast.Name) and n.id in assigned]
                if names and isinstance(given, ast.Name):
                    yield Cure(program, program.replaced(given, f"{given.id}.detach()"))
                elif names and isinstance(given, ast.Tuple):
                    whole = ", ".join(
                        f"{program.of(e)}.detach()" if isinstance(e, ast.Name) else program.of(e)
                        for e in given.elts
                    )
                    yield Cure(program, program.replaced(given, f"({whole})"))
                    continue
                if names and isinstance(given, ast.Name):
                    yield Cure(
                        program,
                        program.replaced(given, f"tuple(s.detach() for s in {given.id})"),
                    )


def _callers(program: Program, line: int) -> list[ast.Assign]:
    """Assignments in loops whose call may have led to a line of a function or method: those that give a name anew."""
    inside = program.at(line)
    if not inside or not any(True for _ in program.within(inside[0], ast.FunctionDef)):
        return []
    return [
        node
        for node in ast.walk(program.tree)
        if isinstance(node, ast.Assign) and any(trains(loop) for loop in program.within(node, *LOOPS))
    ]


def trains(loop: ast.stmt) -> bool:
    """Whether a loop starts backward passes.

    Args:
        loop: which.
    """
    return any(isinstance(n, ast.Attribute) and n.attr == "backward" for n in ast.walk(loop))


CURES = {
    "used twice": used_twice,
    "cleared": cleared,
    "never steps": never_steps,
    "rate": rate,
    "clipped nothing": clipped_nothing,
    "joins older": joins_older,
}
