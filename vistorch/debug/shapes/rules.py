"""From an error's sentence and what the op was given to the sides that should be equal.

Each rule reads one of PyTorch's sentences. Invariant: a side is marked only if the sizes in the sentence are those of
what was given; where they are not, the operands are shown without marks.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from .record import Operand

Given = list[Operand]


@dataclass
class Verdict:
    """What does not fit: two operands with marks, the sign between them, and a sentence."""

    sentence: str
    operands: list[Operand]
    op: str = ""
    result: tuple[int, ...] | None = None
    sides: list[tuple[str, int]] = field(default_factory=list)


RULES: list[tuple[re.Pattern[str], Callable[..., Verdict | None]]] = []
SIGNS = {
    "add": "+", "sub": "−", "mul": "*", "div": "/", "true_divide": "/", "pow": "**", "lt": "<", "gt": ">", "le": "≤",
    "ge": "≥", "eq": "=", "ne": "≠", "matmul": "@", "mm": "@", "bmm": "@", "mv": "@", "addmm": "@", "linear": "@",
}  # fmt: skip
DIMS = r"\[([-\d, ]*)\]"
SIZE = r"(?:\w+\.)?Size\(\[([\d, ]*)\]\)"
NEAR = re.compile(
    r"\b(sizes?|shapes?|dimensions?|dimensional|channels?|elements|\dD|columns?|inconsistent)\b"
)


def judge(message: str, given: Given, op: str, takes: str) -> Verdict | None:
    """What does not fit.

    Args:
        message: the error's sentence.
        given: the tensors that the op was given, named.
        op: its name.
        takes: the module whose op it is, "" if it is none's.
    """
    for pattern, rule in RULES:
        found = pattern.search(message)
        if found is not None:
            verdict = rule(found, given, op, takes)
            if verdict is not None:
                verdict.op = verdict.op or SIGNS.get(op.strip("_"), op.strip("_"))
                return verdict
    if given and len(given) <= 6 and NEAR.search(message.split("\n")[0]):
        return Verdict(message.split("\n")[0].split(". ")[0], given, SIGNS.get(op.strip("_"), op.strip("_")))
    return None


def rule(pattern: str) -> Callable[[Any], Any]:
    """Register what reads a sentence."""

    def add(fn: Any) -> Any:
        RULES.append((re.compile(pattern, re.S), fn))
        return fn

    return add


def dims(text: str) -> tuple[int, ...]:
    """A shape as a sentence prints it."""
    return tuple(int(part) for part in re.split(r"[,x ]+", text.strip()) if part)


def marked(operand: Operand, *at: int) -> Operand:
    """An operand with sides marked; from the end where negative."""
    n = len(operand.shape)
    return replace(operand, marks=tuple(i % n for i in at))


def pairs(given: Given) -> Iterator[tuple[Operand, Operand]]:
    """Every two operands, in their order first."""
    yield from ((a, b) for i, a in enumerate(given) for b in given[i + 1 :])
    yield from ((b, a) for i, a in enumerate(given) for b in given[i + 1 :])


def of_shape(given: Given, shape: tuple[int, ...], name: str) -> Operand:
    """The operand of a shape, or one that stands for what the sentence says."""
    return next((one for one in given if one.shape == shape), Operand(name, shape))


def differing(a: tuple, b: tuple) -> tuple[list[int], list[int]]:
    """Where two shapes differ, counted from the end; a side that only one has differs too."""
    n = max(len(a), len(b))
    left = [i - n + len(a) for i in range(n) if i >= n - len(a) and (i < n - len(b) or a[i - n] != b[i - n])]
    right = [i - n + len(b) for i in range(n) if i >= n - len(b) and (i < n - len(a) or a[i - n] != b[i - n])]
    return left, right


def unequal(
    a: Operand, b: Operand, i: int, j: int, sentence: str, result: tuple[int, ...] | None = None
) -> Verdict | None:
    """Two sides that should be equal; None where they are, so that the fault is elsewhere."""
    if a.shape[i] == b.shape[j]:
        return None
    sides = [(a.name, a.shape[i]), (b.name, b.shape[j])]
    return Verdict(sentence, [marked(a, i), marked(b, j)], result=result, sides=sides)


def arrive(n: int) -> str:
    """So many arrive."""
    return f"{n} arrive{'s' if n == 1 else ''}"


def both(a: Operand, b: Operand, op: str = "", word: str = "Both must have the same shape") -> Verdict | None:
    """Two shapes that should be equal."""
    if a.shape == b.shape:
        return None
    left, right = differing(a.shape, b.shape)
    sentence = f"{a.name} is {a.text}, {b.name} is {b.text}: {word[0].lower()}{word[1:]}."
    return Verdict(sentence, [marked(a, *left), marked(b, *right)], op)


@rule(r"mat1 and mat2 shapes cannot be multiplied \(\d+x(\d+) and (\d+)x\d+\)")
def _product(m: Any, given: Given, op: str, takes: str) -> Verdict | None:
    inner, outer = int(m[1]), int(m[2])
    factors = [one for one in given if one.argument in ("mat1", "mat2")]
    given = factors if len(factors) == 2 else given
    for a, b in pairs(given):
        if not a.shape or a.shape[-1] != inner or len(b.shape) < 2:
            continue
        if op == "linear" and b.argument == "weight":
            b = replace(b, name=f"{b.name}.T", shape=b.shape[::-1])
        if b.shape[-2] != outer:
            continue
        word = "column" if len(a.shape) > 1 else "entry"
        sentence = (
            f"{a.name} has {_many(inner, word)}, {b.name} has {_many(outer, 'row')}: they must be equal."
        )
        if takes:
            sentence = f"{takes} takes {_many(outer, 'feature')}, {arrive(inner)}."
        result = (*a.shape[:-1], b.shape[-1]) if len(b.shape) == 2 else None
        return replace_op(unequal(a, b, -1, -2, sentence, result), "@")
    return None


def _many(n: int, what: str) -> str:
    return f"{n} {what if n == 1 else 'entries' if what == 'entry' else what + 's'}"


@rule(r"size mismatch, got input \(\d+\), mat \(\d+x(\d+)\), vec \((\d+)\)")
def _matrix_vector(m: Any, given: Given, op: str, takes: str) -> Verdict | None:
    for a, b in pairs(given):
        if len(a.shape) == 2 and a.shape[1] == int(m[1]) and b.shape == (int(m[2]),):
            said = (
                f"{a.name} has {_many(int(m[1]), 'column')}, {b.name} has {m[2]} entries: they must be equal."
            )
            return replace_op(unequal(a, b, 1, 0, said, a.shape[:1]), "@")
    return None


@rule(r"size mismatch, got input \((\d+)\), mat \((\d+)x\d+\), vec \(\d+\)")
def _added(m: Any, given: Given, op: str, takes: str) -> Verdict | None:
    for a, b in pairs(given):
        if a.shape == (int(m[1]),) and len(b.shape) == 2 and b.shape[0] == int(m[2]):
            said = f"{a.name} has {m[1]} entries, {b.name} has {_many(int(m[2]), 'row')}: they must be equal."
            return replace_op(unequal(a, b, 0, 0, said), "+")
    return None


@rule(r"batch2 tensor to be: \[(\d+), (\d+)\] but got: \[(\d+), (\d+)\]")
def _batches(m: Any, given: Given, op: str, takes: str) -> Verdict | None:
    batch, inner, other, outer = map(int, m.groups())
    for a, b in pairs(given):
        if min(len(a.shape), len(b.shape)) < 3 or a.shape[-1] != inner or b.shape[-2] != outer:
            continue
        if inner != outer:
            said = f"{a.name} has {_many(inner, 'column')}, {b.name} has {_many(outer, 'row')}: they must be equal."
            return replace_op(unequal(a, b, -1, -2, said, (*a.shape[:-1], b.shape[-1])), "@")
        if len(a.shape) == len(b.shape) == 3 and (a.shape[0], b.shape[0]) == (batch, other):
            said = (
                f"{a.name} holds {batch} matrices, {b.name} holds {other}: the batches must be equally long."
            )
            return unequal(a, b, 0, 0, said)
    return None


@rule(
    r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\) at non-singleton dimension (\d+)"
)
def _broadcast(m: Any, given: Given, op: str, takes: str) -> Verdict | None:
    p, q, at = map(int, m.groups())
    for cut in (
        (0, 2) if op.strip("_") in ("@", "matmul", "rmatmul") else (0,)
    ):  # there the last two are no batch
        for a, b in pairs(given):
            n = max(len(a.shape), len(b.shape)) - cut
            i, j = at - n + len(a.shape) - cut, at - n + len(b.shape) - cut
            if i < 0 or j < 0 or i >= len(a.shape) or j >= len(b.shape):
                continue
            if (a.shape[i], b.shape[j]) == (p, q):
                where = f"dimension {at}" if len(a.shape) == len(b.shape) else f"dimension {at} of the result"
                said = (
                    f"In {where}, {a.name} is {p} and {b.name} is {q}: they must be equal, or one of them 1."
                )
                return unequal(a, b, i, j, said)
    return None


@rule(r"Expected input batch_size \((\d+)\) to match target batch_size \((\d+)\)")
def _batch_sizes(m: Any, given: Given, op: str, takes: str) -> Verdict | None:
    a, b = [one for one in given if one.shape][:2] or (None, None)
    if a is None or b is None or (a.shape[0], b.shape[0]) != (int(m[1]), int(m[2])):
        return None
    return unequal(
        a, b, 0, 0, f"{a.name} has {m[1]} samples, {b.name} has {m[2]}: one target for each sample."
    )


@rule(r"except in dimension (\d+)\. Expected size (\d+) but got size (\d+) for tensor number (\d+)")
def _concatenated(m: Any, given: Given, op: str, takes: str) -> Verdict | None:
    along, p, q, nr = map(int, m.groups())
    if nr >= len(given):
        return None
    for one in range(nr):
        a, b = given[one], given[nr]
        for i, sizes in enumerate(zip(a.shape, b.shape, strict=False)):
            if i != along and sizes == (p, q):
                said = f"In dimension {i}, {a.name} is {p} and {b.name} is {q}: only dimension {along} may differ."
                return unequal(a, b, i, i, said)
    return None


@rule(rf"stack expects each tensor to be equal size, but got {DIMS} at entry (\d+) and {DIMS} at entry (\d+)")
def _stacked(m: Any, given: Given, op: str, takes: str) -> Verdict | None:
    nrs = int(m[2]), int(m[4])
    if max(nrs) >= len(given) or (given[nrs[0]].shape, given[nrs[1]].shape) != (dims(m[1]), dims(m[3])):
        return both(Operand(f"entry {nrs[0]}", dims(m[1])), Operand(f"entry {nrs[1]}", dims(m[3])), "stack")
    return both(given[nrs[0]], given[nrs[1]], "stack")


@rule(rf"[Tt]arget size \({SIZE}\) .*?input size \({SIZE}\)")
def _target(m: Any, given: Given, op: str, takes: str) -> Verdict | None:
    a, b = of_shape(given, dims(m[2]), "input"), of_shape(given, dims(m[1]), "target")
    return both(a, b)


@rule(r"shape '\[([-\d, ]*)\]' is invalid for input of size (\d+)")
def _viewed(m: Any, given: Given, op: str, takes: str) -> Verdict | None:
    asked, has = dims(m[1]), int(m[2])
    a = next((one for one in given if math.prod(one.shape) == has), None)
    if a is None:
        return None
    known = math.prod(n for n in asked if n != -1)
    b = Operand("asked for", asked)
    if -1 in asked:
        said = f"{a.name} has {_many(has, 'element')}, which is no multiple of the {known} that {b.text} asks for."
    else:
        said = f"{a.name} has {_many(has, 'element')}, {b.text} asks for {known}."
    return Verdict(said, [marked(a, *range(len(a.shape))), marked(b, *range(len(asked)))], "→", sides=[
        (a.name, has), ("asked for", known)])  # fmt: skip


@rule(rf"unflatten: Provided sizes {DIMS} don't multiply up to the size of dim (-?\d+) \((\d+)\)")
def _unflattened(m: Any, given: Given, op: str, takes: str) -> Verdict | None:
    asked, at, has = dims(m[1]), int(m[2]), int(m[3])
    a = next((one for one in given if -len(one.shape) <= at < len(one.shape) and one.shape[at] == has), None)
    if a is None:
        return None
    b = Operand("asked for", asked)
    said = f"Dimension {at} of {a.name} is {has}, {b.text} asks for {math.prod(asked)}."
    sides = [(a.name, has), ("asked for", math.prod(asked))]
    return Verdict(said, [marked(a, at), marked(b, *range(len(asked)))], "→", sides=sides)


@rule(
    rf"expanded size of the tensor \((-?\d+)\) must match the existing size \((\d+)\) at non-singleton dimension "
    rf"(\d+)\.  Target sizes: {DIMS}\.  Tensor sizes: {DIMS}"
)
def _expanded(m: Any, given: Given, op: str, takes: str) -> Verdict | None:
    at, target, shape = int(m[3]), dims(m[4]), dims(m[5])
    a, b = of_shape(given, shape, "the value"), of_shape(given, target, "asked for")
    i = at - len(target) + len(shape)
    if a is b or not 0 <= i < len(shape) or at >= len(target):
        return None
    said = f"{a.name} has {shape[i]} where {target[at]} are needed: only a side of 1 can be expanded."
    return replace_op(unequal(a, b, i, at, said), "→")


def replace_op(verdict: Verdict | None, op: str) -> Verdict | None:
    """A verdict with another sign between its operands."""
    if verdict is not None:
        verdict.op = op
    return verdict


@rule(
    rf"Given (groups|transposed)=(\d+), weight of size {DIMS}, expected input{DIMS} to have (\d+) channels, "
    r"but got (\d+)"
)
def _channels(m: Any, given: Given, op: str, takes: str) -> Verdict | None:
    weight, shape, wants, got = dims(m[3]), dims(m[4]), int(m[5]), int(m[6])
    a = next((one for one in given if one.shape in (shape, shape[1:])), None)
    b = next((one for one in given if one.shape == weight and one is not a), None)
    if a is None or b is None:
        return None
    said = f"{takes or b.name} takes {_many(wants, 'channel')}, {arrive(got)}."
    if got == wants:
        return None
    sides = [(a.name, got), (b.name, wants)]
    at = len(a.shape) - len(shape) + 1
    channel = 0 if m[1] == "transposed" else 1
    return Verdict(said, [marked(a, at), marked(b, channel)], "conv", sides=sides)


@rule(r"Calculated padded input size per channel: \(([\dx ]+)\)\. Kernel size: \(([\dx ]+)\)")
def _kernel(m: Any, given: Given, op: str, takes: str) -> Verdict | None:
    padded, kernel = dims(m[1]), dims(m[2])
    a = given[0] if given else None
    b = next((one for one in given[1:] if one.shape[-len(kernel) :] == kernel), None)
    if a is None or b is None or len(a.shape) < len(kernel):
        return None
    at = [i - len(kernel) for i, (p, k) in enumerate(zip(padded, kernel, strict=True)) if k > p]
    said = (
        f"The kernel is {' × '.join(map(str, kernel))}, the padded input only {' × '.join(map(str, padded))}."
    )
    sides = [("padded input", padded[at[0]]), ("kernel", kernel[at[0]])] if at else []
    return Verdict(said, [marked(a, *at), marked(b, *at)], "conv", sides=sides)


@rule(rf"Given normalized_shape={DIMS}, expected input with shape .*?, but got input of size ?{DIMS}")
def _normalized(m: Any, given: Given, op: str, takes: str) -> Verdict | None:
    a, b = of_shape(given, dims(m[2]), "input"), Operand("normalized_shape", dims(m[1]))
    left, right = differing(a.shape, b.shape)
    left = [i for i in left if i >= len(a.shape) - len(b.shape)]
    said = f"{takes or 'layer_norm'} is made for a last side of {b.text}, {a.name} is {a.text}."
    return Verdict(said, [marked(a, *left), marked(b, *right)], "norm")


@rule(r"running_mean should contain (\d+) elements not (\d+)")
def _running(m: Any, given: Given, op: str, takes: str) -> Verdict | None:
    got, wants = int(m[1]), int(m[2])
    a = next((one for one in given if len(one.shape) > 1 and one.shape[1] == got), None)
    b = next((one for one in given if one.shape == (wants,)), None)
    if a is None or b is None:
        return None
    return replace_op(
        unequal(a, b, 1, 0, f"{takes or 'batch_norm'} takes {_many(wants, 'channel')}, {arrive(got)}."),
        "norm",
    )
