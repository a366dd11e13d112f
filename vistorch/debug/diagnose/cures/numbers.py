"""Cures that change a number or an order: rates, momentum, decay, sizes, batches.

Invariant: a number is changed where it was written.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .case import Case, Cure, Program, argued, bracketed, keyword, name_of
from .meaning import renamed
from .steps import LOOPS, USUAL


def made(case: Case) -> Iterator[tuple[Program, ast.Call]]:
    """The call that makes the optimizer."""
    for call in case.program.nodes(case.line, ast.Call):
        if any(k.arg in ("lr", "momentum", "weight_decay") for k in call.keywords) or len(call.args) > 1:
            yield case.program, call


def scaled(case: Case, factor: float) -> Iterator[Cure]:
    """The learning rate times a factor.

    Args:
        case: the finding.
        factor: which.
    """
    for program, call in made(case):
        known = keyword(call, "lr", 1)
        if isinstance(known, ast.Constant) and isinstance(known.value, (int, float)):
            yield Cure(program, argued(program, call, "lr", f"{known.value * factor:.3g}", 1))
        elif known is not None:
            text = bracketed(program, known)
            yield Cure(
                program,
                argued(
                    program,
                    call,
                    "lr",
                    f"{text} {'/' if factor < 1 else '*'} {max(factor, 1 / factor):.0f}",
                    1,
                ),
            )


def diverges(case: Case) -> Iterator[Cure]:
    """What makes steps so large, made smaller."""
    program, label = case.program, case.finding.label
    if label == "adds up":
        many = next((w for w in case.finding.text.split(": ")[-1].split() if w.isdigit()), "")
        for call in program.calls(case.line, "backward"):
            if many and isinstance(call.func, ast.Attribute):
                loss = call.func.value
                yield Cure(program, program.replaced(loss, f"({program.of(loss)} / {many})"))
    elif label == "a sum":
        for call in program.nodes(case.line, ast.Call):
            if any(k.arg == "reduction" for k in call.keywords):
                yield Cure(program, argued(program, call, "reduction", '"mean"'))
            elif name_of(call) == "sum":
                yield Cure(program, renamed(program, call, "mean"))
        for node in ast.walk(program.tree):
            if isinstance(node, ast.keyword) and node.arg == "reduction":
                if isinstance(node.value, ast.Constant) and node.value.value == "sum":
                    yield Cure(program, program.replaced(node.value, '"mean"'))
    elif label.startswith("epsilon"):
        for _, call in made(case):
            yield Cure(program, argued(program, call, "eps", "1e-4"))
    elif label == "momentum":
        for _, call in made(case):
            yield Cure(program, argued(program, call, "momentum", "0.9"))
    else:
        for factor in (0.1, 0.01, 0.001):
            yield from scaled(case, factor)


def too_large(case: Case) -> Iterator[Cure]:
    """A tenth of the rate, or less; or the loss divided by the passes that are added up."""
    if case.finding.label == "adds up":
        yield from diverges(case)
    for factor in (0.1, 0.01, 0.001):
        yield from scaled(case, factor)


def too_small(case: Case) -> Iterator[Cure]:
    """A usual rate, or a hundred times as much."""
    for program, call in made(case):
        if keyword(call, "lr", 1) is not None:
            yield Cure(program, argued(program, call, "lr", USUAL.get(name_of(call), "1e-3"), 1))
    for factor in (100.0, 10_000.0):
        yield from scaled(case, factor)


def decay_wins(case: Case) -> Iterator[Cure]:
    """A small decay."""
    for program, call in made(case):
        yield Cure(program, argued(program, call, "weight_decay", "0.01"))
        yield Cure(program, argued(program, call, "weight_decay", "1e-4"))


def sorted_labels(case: Case) -> Iterator[Cure]:
    """A loader that shuffles; an order that is drawn."""
    program = case.program
    for call in program.calls(case.line, "DataLoader"):
        yield Cure(program, argued(program, call, "shuffle", "True"))
    for call in program.calls(case.line, "argsort", "arange"):
        head = program.alias("randperm").rpartition(".")[0] or "torch"
        if name_of(call) == "arange" and len(call.args) == 1:
            yield Cure(program, program.replaced(call, f"{head}.randperm({program.of(call.args[0])})"))
    yield from _slices(program, case.line)


def _slices(program: Program, line: int) -> Iterator[Cure]:
    """Batches that are slices: the whole is brought into another order before each epoch."""
    first = next(iter(program.at(line)), None)
    loop = None if first is None else next(iter(program.within(first, ast.For)), None)
    if first is None or loop is None:
        return
    names = [
        n.value.id
        for s in loop.body
        for n in ast.walk(s)
        if isinstance(n, ast.Subscript)
        and isinstance(n.value, ast.Name)
        and isinstance(n.slice, ast.Slice)
        and any(isinstance(x, ast.Name) and x.id == program.of(loop.target) for x in ast.walk(n.slice))
    ]
    names = list(dict.fromkeys(names))
    if len(names) >= 2 and program.alone(loop):
        head = program.alias("randperm").rpartition(".")[0] or "torch"
        order = f"shuffled = {head}.randperm(len({names[0]}))"
        text = f"{order}\n{', '.join(names)} = {', '.join(f'{n}[shuffled]' for n in names)}"
        yield Cure(program, program.before(loop, text))


def apart(case: Case) -> Iterator[Cure]:
    """The index of the inputs for the targets; or no order for one of the two alone."""
    program = case.program
    other = case.related("picks the inputs")
    for statement in program.at(case.line):
        if other is not None and other.file == program.file:
            ours = [n for n in ast.walk(statement) if isinstance(n, ast.Subscript)]
            theirs = [n for s in program.at(other.line) for n in ast.walk(s) if isinstance(n, ast.Subscript)]
            if ours and theirs and program.of(ours[0].slice) != program.of(theirs[0].slice):
                yield Cure(program, program.replaced(ours[0].slice, program.of(theirs[0].slice)))
        elif isinstance(statement, ast.Assign):
            yield Cure(program, program.without(statement))


def same_batch(case: Case) -> Iterator[Cure]:
    """The loop over the loader itself."""
    program = case.program
    for statement in program.at(case.line):
        call = getattr(statement, "value", None)
        if not isinstance(statement, ast.Assign) or not isinstance(call, ast.Call) or name_of(call) != "next":
            continue
        inner = call.args[0] if call.args else None
        loop = next(iter(program.within(statement, ast.For)), None)
        if loop is None or not isinstance(inner, ast.Call) or name_of(inner) != "iter" or not inner.args:
            continue
        taken, loader = program.of(statement.targets[0]), program.of(inner.args[0])
        counted = any(
            isinstance(n, ast.Name) and n.id == program.of(loop.target)
            for b in loop.body
            for n in ast.walk(b)
        )
        head = f"{program.of(loop.target)}, ({taken})" if counted else taken
        over = f"enumerate({loader})" if counted else loader
        edits = [
            *program.replaced(loop.target, head),
            *program.replaced(loop.iter, over),
            *program.without(statement),
        ]
        yield Cure(program, edits)
    for statement in program.at(case.line):
        inner_loop = next(iter(program.within(statement, *LOOPS)), None)
        if isinstance(statement, ast.Break) and inner_loop is not None:
            yield Cure(program, program.without(statement))


def big_start(case: Case) -> Iterator[Cure]:
    """Inputs of mean 0 and deviation 1; weights as the layer draws them."""
    program = case.program
    if case.finding.label == "not scaled":
        for call in program.nodes(case.line, ast.Call):
            if program.of(call.func) in case.named and call.args:
                x = bracketed(program, call.args[0])
                low, high = 0.0, 0.0
                words = case.finding.text.split(" from ")[-1].split(" to ")
                try:
                    low, high = float(words[0]), float(words[1].split()[0])
                except (ValueError, IndexError):
                    pass
                if low >= 0 and 100 < high <= 255:
                    yield Cure(program, program.replaced(call.args[0], f"{x} / 255"))
                yield Cure(
                    program, program.replaced(call.args[0], f"({x} - {x}.mean(0)) / ({x}.std(0) + 1e-6)")
                )
        return
    yield from own_start(case)


def own_start(case: Case) -> Iterator[Cure]:
    """Without the line that fills weights: the layer's own values stay."""
    program = case.program
    for statement in program.at(case.line):
        parent = program.parents[statement]
        if isinstance(parent, ast.For) and len(parent.body) == 1:
            yield Cure(program, program.without(parent))
        if isinstance(statement, ast.Expr) or isinstance(statement, ast.AugAssign):
            yield Cure(program, program.without(statement))


def vanishes(case: Case) -> Iterator[Cure]:
    """ReLU for a sigmoid or tanh."""
    program = case.program
    for call in program.nodes(case.line, ast.Call):
        kind = name_of(call)
        if kind in ("sigmoid", "tanh"):
            yield Cure(program, renamed(program, call, "relu"))
    edits = []
    for node in ast.walk(program.tree):
        if isinstance(node, ast.Call) and name_of(node) in ("Sigmoid", "Tanh"):
            edits += renamed(program, node, "ReLU")
    if edits:
        yield Cure(program, edits)


def wraps(case: Case) -> Iterator[Cure]:
    """The first operand as a float."""
    program = case.program
    for node in program.nodes(case.line, ast.BinOp):
        yield Cure(program, program.replaced(node.left, f"{bracketed(program, node.left)}.float()"))


def norm_of_one(case: Case) -> Iterator[Cure]:
    """Sixteen samples in a batch, where it was written that there is one."""
    program = case.program
    for node in ast.walk(program.tree):
        pairs: list[tuple[object, ast.expr]] = []
        if isinstance(node, ast.keyword):
            pairs = [(node.arg, node.value)]
        elif isinstance(node, ast.Dict):
            pairs = [(getattr(k, "value", None), v) for k, v in zip(node.keys, node.values, strict=True)]
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            pairs = [("batch_size", node.value)]
        for name, value in pairs:
            one = isinstance(value, ast.Constant) and value.value == 1 and value.value is not True
            if name == "batch_size" and one and value.lineno == case.line:
                yield Cure(program, program.replaced(value, "16"))


CURES = {
    "diverges": diverges,
    "too large": too_large,
    "too small": too_small,
    "decay wins": decay_wins,
    "sorted": sorted_labels,
    "apart": apart,
    "same batch": same_batch,
    "big start": big_start,
    "small start": own_start,
    "vanishes": vanishes,
    "wraps": wraps,
    "norm of one": norm_of_one,
}
