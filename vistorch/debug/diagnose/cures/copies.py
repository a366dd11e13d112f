"""Cures of what is kept, loaded, used up, made anew or named only: a copy, a list, another place, a call.

Invariant: a statement that moves keeps its text.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .case import Case, Cure, Edit, Program, argued, bracketed, keyword, name_of, receiver

VIEWS = ("view", "reshape", "squeeze", "unsqueeze", "detach", "flatten", "contiguous", "view_as")
COPY = "{{name: t.clone() for name, t in {}.items()}}"


def no_copy(case: Case) -> Iterator[Cure]:
    """A copy of what is kept."""
    program = case.program
    for call in program.calls(case.line, "state_dict"):
        outer = program.parents.get(call)
        copied = isinstance(outer, ast.Call) and name_of(outer) in ("copy", "dict", "OrderedDict")
        yield Cure(
            program, program.replaced(outer if copied and outer else call, COPY.format(program.of(call)))
        )
    for call in program.calls(case.line, "detach"):
        yield Cure(program, program.replaced(call, f"{program.of(call)}.clone()"))
    for node in program.nodes(case.line, ast.Attribute):
        if node.attr == "data" and isinstance(node.ctx, ast.Load):
            yield Cure(program, program.replaced(node, f"{program.of(node)}.clone()"))


def loaded_nothing(case: Case) -> Iterator[Cure]:
    """The names as the model has them; or initial values before what is loaded."""
    program = case.program
    words = case.finding.text.rpartition("(")[2].rstrip(").").split(", not ")
    for call in program.calls(case.line, "load_state_dict"):
        if len(words) == 2 and call.args and words[0].endswith(words[1]):
            prefix = words[0].removesuffix(words[1])
            given = program.of(call.args[0])
            text = f"{{name.removeprefix({prefix!r}): t for name, t in {given}.items()}}"
            yield Cure(program, program.replaced(call.args[0], text))
    also = case.finding.also
    if also is not None:
        loads = case.call(also[0], "load_state_dict")
        if loads is not None:
            program, call = loads
            statement = program.statement(call)
            for one in ast.walk(program.tree):
                drawn = isinstance(one, ast.Call) and name_of(one) == "apply"
                if drawn and one.lineno > call.lineno:  # type: ignore[attr-defined]
                    edits = [
                        *program.without(statement),
                        *program.after(program.statement(one), program.of(statement)),
                    ]
                    yield Cure(program, edits)


def statistics_left(case: Case) -> Iterator[Cure]:
    """The buffers as well."""
    program = case.program
    for loop in [n for n in program.at(case.line) if isinstance(n, ast.For)]:
        zipped = loop.iter
        if (
            not isinstance(zipped, ast.Call)
            or name_of(zipped) != "zip"
            or not isinstance(loop.target, ast.Tuple)
        ):
            continue
        owners = [receiver(program, a) for a in zipped.args if isinstance(a, ast.Call)]
        names = [program.of(t) for t in loop.target.elts]
        written = _written(loop, names)
        if len(owners) == len(names) == 2 and written:
            other = names[1 - names.index(written)]
            text = f"for {', '.join(names)} in zip({', '.join(f'{o}.buffers()' for o in owners)}):\n    "
            yield Cure(program, program.after(loop, f"{text}{written}.copy_({other})"))


def _written(loop: ast.For, names: list[str]) -> str:
    """Which of a loop's names is written in its body."""
    for node in ast.walk(loop):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr.endswith("_")
        ):
            owner = ast.unparse(node.func.value).removesuffix(".data")
            if owner in names:
                return owner
    return ""


def used_up(case: Case) -> Iterator[Cure]:
    """A list, that can be gone through again."""
    also = case.finding.also
    if also is None:
        return
    program = case.file(also[0])
    for statement in program.at(also[0].line):
        if isinstance(statement, ast.Assign):
            yield Cure(program, program.replaced(statement.value, f"list({program.of(statement.value)})"))


def made_each_round(case: Case) -> Iterator[Cure]:
    """The model, and what is made of it, before the loop."""
    program = case.program
    for first in program.at(case.line):
        loop = program.parents.get(first)
        if not isinstance(loop, ast.For):
            continue
        model = {t.id for t in getattr(first, "targets", ()) if isinstance(t, ast.Name)}
        moved = [first]
        for one in loop.body[loop.body.index(first) + 1 :]:
            uses = {n.id for n in ast.walk(one) if isinstance(n, ast.Name)}
            if isinstance(one, ast.Assign) and uses & model and "parameters" in program.of(one):
                moved.append(one)
        text = "\n".join(program.of(one) for one in moved)
        yield Cure(
            program, [*program.before(loop, text), *(e for one in moved for e in program.without(one))]
        )


def rate_overwritten(case: Case) -> Iterator[Cure]:
    """The state first, the rate afterwards."""
    also, program = case.finding.also, case.program
    for call in program.calls(case.line, "load_state_dict"):
        statement = program.statement(call)
        writes = [] if also is None else program.at(also[0].line)
        for one in writes:
            outer = program.parents.get(one)
            first = outer if isinstance(outer, ast.For) else one
            yield Cure(program, [*program.without(statement), *program.before(first, program.of(statement))])


def keeps_worst(case: Case) -> Iterator[Cure]:
    """The comparison turned, or a beginning that can be improved on."""
    program = case.program
    turned = {ast.Gt: "<", ast.GtE: "<=", ast.Lt: ">", ast.LtE: ">="}
    flips: list[Edit] = []
    best, down = "", False
    for node in program.nodes(case.line, ast.Compare):
        if len(node.ops) == 1 and type(node.ops[0]) in turned:
            a, b = node.left, node.comparators[0]
            best = program.of(b if "best" in program.of(b).lower() else a)
            wrong = case.finding.label == "the wrong way"
            down = isinstance(node.ops[0], (ast.Gt, ast.GtE)) == wrong
            if wrong:
                between = Edit(program.span(a)[1], program.span(b)[0], f" {turned[type(node.ops[0])]} ")
                flips = [between]
    begins = [
        v
        for n in ast.walk(program.tree)
        if isinstance(n, ast.Assign) and n.lineno < case.line
        for t, v in _given(n)
        if program.of(t) == best
    ]
    start = [program.replaced(begins[0], 'float("inf")' if down else '-float("inf")')] if begins else []
    if flips:
        yield Cure(program, flips)
    for edits in start:
        yield Cure(program, [*flips, *edits])


def _given(node: ast.Assign) -> list[tuple[ast.expr, ast.expr]]:
    """What an assignment gives to what, a tuple by its parts."""
    pairs: list[tuple[ast.expr, ast.expr]] = [(t, node.value) for t in node.targets]
    for target in node.targets:
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            pairs += zip(target.elts, node.value.elts, strict=False)
    return pairs


def not_called(case: Case) -> Iterator[Cure]:
    """The call."""
    program = case.program
    for statement in program.at(case.line):
        if isinstance(statement, ast.Expr):
            yield Cure(program, program.replaced(statement, f"{program.of(statement)}()"))


def idle_name(case: Case) -> Iterator[Cure]:
    """The method that does what is meant."""
    program = case.program
    for statement in program.at(case.line):
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Attribute):
            target, value = statement.targets[0], program.of(statement.value)
            owner = program.of(target.value)
            method = "train" if target.attr == "training" else "requires_grad_"
            yield Cure(program, program.replaced(statement, f"{owner}.{method}({value})"))


def once_round(case: Case) -> Iterator[Cure]:
    """The last statement after the loop."""
    program = case.program
    for statement in program.at(case.line):
        loop = program.parents.get(statement)
        if isinstance(loop, (ast.For, ast.While)):
            last = program.of(statement)
            edits = program.without(statement)
            yield Cure(program, edits if last == "break" else [*program.after(loop, last), *edits])


def one_model_for_folds(case: Case) -> Iterator[Cure]:
    """The model made within the loop."""
    also, program = case.finding.also, case.program
    loops = [] if also is None else [n for n in program.at(also[0].line) if isinstance(n, ast.For)]
    for made in program.at(case.line):
        for loop in loops:
            yield Cure(program, [*program.without(made), *program.before(loop.body[0], program.of(made))])


def coded_anew(case: Case) -> Iterator[Cure]:
    """The vocabulary of the training rows."""
    also, program = case.finding.also, case.program
    for made in [] if also is None else program.at(also[0].line):
        target = getattr(made, "targets", [None])[0]
        value = getattr(made, "value", None)
        if isinstance(target, ast.Name) and isinstance(value, ast.Call):
            for call in program.calls(case.line, name_of(value)):
                yield Cure(program, program.replaced(call, target.id))


def not_written(case: Case) -> Iterator[Cure]:
    """In place."""
    program = case.program
    for statement in program.at(case.line):
        value = getattr(statement, "value", None)
        if isinstance(statement, ast.Assign) and isinstance(value, ast.BinOp):
            sign = {ast.Sub: "-=", ast.Add: "+="}.get(type(value.op))
            if sign:
                text = f"{program.of(value.left)} {sign} {program.of(value.right)}"
                yield Cure(program, program.replaced(statement, text))


def kept_nowhere(case: Case) -> Iterator[Cure]:
    """Changed in place."""
    program = case.program
    for statement in program.at(case.line):
        target = getattr(statement, "targets", [None])[0]
        if isinstance(statement, ast.Assign) and isinstance(target, ast.Name):
            yield Cure(
                program, program.replaced(statement, f"{target.id}.copy_({program.of(statement.value)})")
            )


def made_in_forward(case: Case) -> Iterator[Cure]:
    """The layer made once, in `__init__`."""
    program = case.program
    for function in [
        n for n in ast.walk(program.tree) if isinstance(n, ast.FunctionDef) and n.name == "forward"
    ]:
        if not function.lineno <= case.line <= (function.end_lineno or 0):
            continue
        owner = program.parents[function]
        begins = [
            n for n in getattr(owner, "body", ()) if isinstance(n, ast.FunctionDef) and n.name == "__init__"
        ]
        for call in program.nodes(case.line, ast.Call):
            plain = all(isinstance(a, (ast.Constant, ast.keyword)) for a in [*call.args, *call.keywords])
            if begins and plain and name_of(call)[:1].isupper():
                statement = program.statement(call)
                target = getattr(statement, "targets", [None])[0]
                name = target.id if isinstance(target, ast.Name) else f"{name_of(call).lower()}_kept"
                made = program.after(begins[0].body[-1], f"self.{name} = {program.of(call)}")
                yield Cure(program, [*made, *program.replaced(call, f"self.{name}")])


def rate_as_factor(case: Case) -> Iterator[Cure]:
    """What the function gives over the optimizer's own rate; a true division; or a step with every batch."""
    also = case.finding.also
    if case.finding.label == "cuts off":
        for node in case.program.nodes(case.line, ast.BinOp):
            if isinstance(node.op, ast.FloorDiv):
                text = f"{bracketed(case.program, node.left)} / {bracketed(case.program, node.right)}"
                yield Cure(case.program, case.program.replaced(node, text))
        return
    for line in (case.place, *(() if also is None else (also[0],))):
        program = case.file(line)
        if case.finding.label != "gives a rate":
            break
        for call in program.calls(line.line, "LambdaLR"):
            function = keyword(call, "lr_lambda", 1)
            if function is not None and call.args:
                rate = f'{program.of(call.args[0])}.defaults["lr"]'
                text = f"lambda step: {bracketed(program, function)}(step) / {rate}"
                yield Cure(program, argued(program, call, "lr_lambda", text, 1))
    program = case.program
    for call in program.calls(case.line, "step"):
        statement, steps = program.statement(call), _optimizer_step(program, call)
        if steps is not None:
            yield Cure(program, [*program.without(statement), *program.after(steps, program.of(statement))])


def target_overwritten(case: Case) -> Iterator[Cure]:
    """A copy: in the place of another name, or of what a function writes into."""
    program = case.program
    for node in program.nodes(case.line, ast.Assign):
        value = node.value
        if isinstance(value, ast.Call) and not (
            isinstance(value.func, ast.Attribute) and name_of(value) in VIEWS
        ):
            for given in value.args:
                if isinstance(given, ast.Name):
                    yield Cure(program, program.replaced(given, f"{program.of(given)}.clone()"))
        else:
            yield Cure(program, program.replaced(value, f"{bracketed(program, value)}.clone()"))


def data_spoiled(case: Case) -> Iterator[Cure]:
    """A copy before the write, of what is taken or given anew each time."""
    program, name = case.program, case.finding.confirm[0].removesuffix("._base is not None")
    for statement in program.at(case.line):
        around = next(program.within(statement, ast.For, ast.While), None)
        if around is None:
            function = next(program.within(statement, ast.FunctionDef), None)
            bound = function is not None and any(a.arg == name for a in function.args.args)
        else:
            bound = any(
                isinstance(n, ast.Name)
                and n.id == name
                and isinstance(n.ctx, ast.Store)
                and n.lineno < statement.lineno
                for n in ast.walk(around)
            )
        if bound:
            yield Cure(program, program.before(statement, f"{name} = {name}.clone()"))


def _optimizer_step(program: Program, scheduler: ast.Call) -> ast.stmt | None:
    """The statement in which an optimizer steps, the nearest before a scheduler does."""
    found = [
        n
        for n in ast.walk(program.tree)
        if isinstance(n, ast.Call) and name_of(n) == "step" and n.lineno < scheduler.lineno
    ]
    return program.statement(max(found, key=lambda n: n.lineno)) if found else None


CURES = {
    "no copy": no_copy,
    "loaded nothing": loaded_nothing,
    "statistics left": statistics_left,
    "used up": used_up,
    "made each round": made_each_round,
    "rate overwritten": rate_overwritten,
    "keeps worst": keeps_worst,
    "not called": not_called,
    "idle name": idle_name,
    "once round": once_round,
    "one model for folds": one_model_for_folds,
    "coded anew": coded_anew,
    "not written": not_written,
    "kept nowhere": kept_nowhere,
    "made in forward": made_in_forward,
    "rate as factor": rate_as_factor,
    "target overwritten": target_overwritten,
    "data spoiled": data_spoiled,
}
