"""Cures of how a model is put together, and of what is left over: what is put between, moved, cleared or let go.

Invariant: the names are those of the program.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .case import Case, Cure, argued, dropped, keyword, name_of, receiver
from .steps import STEPS, optimizer_of


def nothing_between(case: Case) -> Iterator[Cure]:
    """A ReLU after each layer but the last, in their list or where they are called."""
    program = case.program
    for call in program.nodes(case.line, ast.Call):
        if name_of(call) == "Sequential":
            layers = [a for a in call.args if isinstance(a, ast.Call)]
            inner = [a for a in layers[:-1] if name_of(a) in ("Linear", "LazyLinear")]
            start = receiver(program, call)
            relu = f"{start}.ReLU()" if start else "ReLU()"
            if inner:
                yield Cure(
                    program, [e for a in inner for e in program.replaced(a, f"{program.of(a)}, {relu}")]
                )
    for call in reversed(list(program.nodes(case.line, ast.Call))):
        if name_of(call) not in ("Sequential", "Linear", "relu"):
            yield Cure(program, program.replaced(call, f"{program.of(call)}.relu()"))


def other_axis(case: Case) -> Iterator[Cure]:
    """The axis of the batch first, where the layer is made."""
    program = case.program
    first = case.proof("batch_first") == "True"
    for call in program.nodes(case.line, ast.Call):
        given = next((k for k in call.keywords if k.arg == "batch_first"), None)
        if first and given is not None:
            yield Cure(program, dropped(program, call, given))
        elif not first and name_of(call) in ("RNN", "LSTM", "GRU", "MultiheadAttention", *LAYERS):
            yield Cure(program, argued(program, call, "batch_first", "True"))


LAYERS = ("TransformerEncoderLayer", "TransformerDecoderLayer", "Transformer")


def scrambled(case: Case) -> Iterator[Cure]:
    """Axes that change places, in the place of a reshape, or before it."""
    program = case.program
    old, new = ([int(n) for n in case.proof(f"shape {w}").split(" × ")] for w in ("before", "after"))
    for call in program.calls(case.line, "reshape", "view", "unflatten"):
        text = receiver(program, call)
        if not text:
            continue
        if sorted(old) == sorted(new):
            left = list(range(len(old)))
            order = []
            for n in new:
                at = next(i for i in left if old[i] == n)
                left.remove(at)
                order.append(at)
            yield Cure(program, program.replaced(call, f"{text}.permute({', '.join(map(str, order))})"))
        for i in range(1, len(old) - 1):
            assert isinstance(call.func, ast.Attribute)
            turned = f"{text}.transpose({i}, {i + 1})"
            whole = program.of(call)
            rest = whole[len(program.of(call.func)) :]
            yield Cure(program, program.replaced(call, f"{turned}.reshape{rest}"))


def other_order(case: Case) -> Iterator[Cure]:
    """Axes brought to the order of the other side before they are flattened."""
    program = case.program
    one, other = (case.proof(f"axes of the {side}").split(" × ") for side in ("answers", "targets"))
    classes = len(one) > 2 and sorted(one) != sorted(other)
    apart = [i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b]
    for place in (case.place, case.finding.also and case.finding.also[0]):
        if place is None or place.file != case.place.file:
            continue
        for call in program.calls(place.line, "reshape", "view", "flatten"):
            text = receiver(program, call)
            if not text or (not classes and not apart):
                continue
            turned = f"{text}.movedim(1, -1)" if classes else f"{text}.transpose({apart[0]}, {apart[-1]})"
            verb = "reshape" if name_of(call) == "view" else name_of(call)  # what was turned has no view
            rest = program.of(call)[len(program.of(call.func)) :]
            yield Cure(program, program.replaced(call, f"{turned}.{verb}{rest}"))


def left_over(case: Case) -> Iterator[Cure]:
    """Clear right before its own pass."""
    step = case.call(case.place, *STEPS)
    if step is None:
        return
    program, call = step
    statement = program.statement(call)
    suite = program.suite(statement)
    for before in reversed(suite[: suite.index(statement)]):
        if any(isinstance(n, ast.Attribute) and n.attr == "backward" for n in ast.walk(before)):
            yield Cure(program, program.before(before, f"{optimizer_of(program, call)}.zero_grad()"))
            return


def unused(case: Case) -> Iterator[Cure]:
    """The step right after the backward pass."""
    step, back = case.call(case.place, *STEPS), case.call(case.related("a pass"), "backward")
    if step is None or back is None or step[0] is not back[0]:
        return
    program = step[0]
    moved, after = program.statement(step[1]), program.statement(back[1])
    yield Cure(program, [*program.without(moved), *program.after(after, program.of(moved))])


def by_hand(case: Case) -> Iterator[Cure]:
    """Clear each gradient after its update."""
    program = case.program
    here = next(iter(program.at(case.line)), None)
    if here is None:
        return
    updates = [s for s in program.suite(here) if ".grad" in program.of(s) and _updated(s)]
    edits = [e for s in updates for e in program.after(s, f"{_updated(s)}.grad = None")]
    if edits:
        yield Cure(program, edits)


def _updated(statement: ast.stmt) -> str:
    """The name that a statement updates; "" where it is none."""
    node: ast.AST = statement
    if isinstance(node, ast.AugAssign):
        node = node.target
    elif isinstance(node, ast.Assign):
        node = node.targets[0]
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        node = node.value.func
        node = node.value if isinstance(node, ast.Attribute) else node
    else:
        return ""
    while isinstance(node, ast.Attribute) and node.attr == "data":
        node = node.value
    return ast.unparse(node) if isinstance(node, (ast.Name, ast.Attribute)) else ""


def kept(case: Case) -> Iterator[Cure]:
    """What is kept, without its history."""
    program = case.program
    for call in program.calls(case.line, "append"):
        if len(call.args) == 1:
            given = call.args[0]
            plain = isinstance(given, (ast.Name, ast.Call, ast.Attribute, ast.Subscript))
            text = program.of(given) if plain else f"({program.of(given)})"
            for word in ("detach", "item"):
                yield Cure(program, program.replaced(given, f"{text}.{word}()"))


def clipped_away(case: Case) -> Iterator[Cure]:
    """A bound of 1."""
    program = case.program
    for call in program.calls(case.line, "clip_grad_norm_", "clip_grad_value_"):
        for name in ("max_norm", "clip_value"):
            if keyword(call, name, 1) is not None:
                yield Cure(program, argued(program, call, name, "1.0", 1))
                break


def same_layer(case: Case) -> Iterator[Cure]:
    """As many layers as there are places."""
    program = case.program
    for product in program.nodes(case.line, ast.BinOp):
        if isinstance(product.op, ast.Mult) and isinstance(product.left, ast.List):
            inner, many = program.of(product.left)[1:-1].strip(), program.of(product.right)
            if len(product.left.elts) == 1:
                text = f"[{inner} for _ in range({many})]"
            else:
                text = f"[layer for _ in range({many}) for layer in ({inner},)]"
            yield Cure(program, program.replaced(product, text))


def made_anew(case: Case) -> Iterator[Cure]:
    """The optimizer once, before the loop."""
    program = case.program
    for statement in program.at(case.line):
        loops = list(program.within(statement, ast.For, ast.While))
        if loops:
            edits = [*program.without(statement), *program.before(loops[-1], program.of(statement))]
            yield Cure(program, edits)


CURES = {
    "nothing between": nothing_between,
    "other axis": other_axis,
    "scrambled": scrambled,
    "other order": other_order,
    "left over": left_over,
    "unused": unused,
    "used twice by hand": by_hand,
    "kept": kept,
    "clipped away": clipped_away,
    "same layer": same_layer,
    "made anew": made_anew,
}
