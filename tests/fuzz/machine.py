"""Running a program with one library, and comparing two runs.

Invariant: a forward line that raises is noted and the program goes on; a backward that raises ends it, since nobody
promises what had been accumulated by then.
"""

import contextlib
import random
import re
import warnings
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

import numpy as np
import torch

ENDING = re.compile(r"backward\(|autograd\.grad\(")
Code = list[tuple[CodeType, bool]]


@dataclass
class Run:
    """What a program did with a library."""

    errors: list[tuple[int, str, str]] = field(default_factory=list)
    registers: dict[str, dict[str, Any]] = field(default_factory=dict)


def compiled(lines: list[str]) -> Code:
    """The lines as code, and whether an error ends the program there."""
    return [(compile(line, "<program>", "exec"), bool(ENDING.search(line))) for line in lines]


def array(tensor: Any) -> np.ndarray:
    """The values, out of reach of later writes."""
    tensor = tensor.detach()
    return np.array((tensor.clone() if tensor.is_floating_point() else tensor).numpy())


# How a reshape came about depends on how its operand lies in memory: see "view size" below.
LAYOUT = frozenset(("UnsafeViewBackward0", "ReshapeAliasBackward0", "ViewBackward0"))


def describe(tensor: Any, owners: dict[int, str]) -> dict[str, Any]:
    """All that a person can ask a tensor."""
    node = tensor.grad_fn
    name = type(node).__name__
    kept = tensor.is_leaf or tensor.retains_grad
    grad = tensor.grad if kept else None
    return {
        "value": array(tensor),
        "shape": tuple(tensor.shape),
        "dtype": str(tensor.dtype).rpartition(".")[2],
        "requires_grad": tensor.requires_grad,
        "is_leaf": tensor.is_leaf,
        "retains_grad": tensor.retains_grad,
        "_version": None if tensor.is_inference() else tensor._version,
        "grad_fn": None if node is None else "ViewBackward0" if name in LAYOUT else name,
        "is_view": name not in LAYOUT and tensor._base is not None,
        "base": None if name in LAYOUT or tensor._base is None else owners.get(id(tensor._base)),
        "grad": None if grad is None else array(grad),
        "grad.requires_grad": None if grad is None else grad.requires_grad,
    }


def run(code: Code, lib: Any) -> Run:
    """Run a program."""
    scope: dict[str, Any] = {"L": lib}
    result = Run()
    with warnings.catch_warnings(), getattr(lib, "planted", contextlib.nullcontext)():
        warnings.simplefilter("ignore")
        for index, (line, ends) in enumerate(code):
            try:
                exec(line, scope)
            except Exception as error:
                text = str(error).strip().split("\n")[0]
                result.errors.append((index, type(error).__name__, text))
                if ends:
                    break
        tensors = {name: value for name, value in scope.items() if isinstance(value, lib.Tensor)}
        owners: dict[int, str] = {}
        for name, tensor in tensors.items():
            owners.setdefault(id(tensor), name)
        for name, tensor in tensors.items():
            try:
                result.registers[name] = describe(tensor, owners)
            except Exception as error:
                result.registers[name] = {
                    "error": f"{type(error).__name__}: {str(error).strip().splitlines()[0]}"
                }
    return result


# What torch refuses and we compute, with the reason why that is all right; a program ends there.
REFUSALS = (
    # torch loses the history of a tensor detached after it was saved; our nodes keep the edge
    re.compile(r"has been detached in-place"),
    # the backward pass of a masked write to an expanded tensor writes to expanded memory in torch
    re.compile(r"more than one element of the written-to tensor"),
    # torch calls a hook on an output that got no gradient with None; ours is not called
    re.compile(r"unsupported operand type\(s\) for .: 'NoneType'"),
    # torch asks a saved view made in no_grad for a history that no gradient needs
    re.compile(r"A view was created in no_grad mode and its base or another view"),
    # where operands lie differently in memory, torch's result lies like the first, numpy's like the most
    re.compile(r"view size is not compatible with input tensor's size and stride"),
    # a leaf that was reshaped: torch's older graphs know its former shape, ours lead to the leaf as it is
    re.compile(r"returned an invalid gradient at index|variable\.sizes\(\) == new_grad\.sizes\(\)"),
    # torch's lerp with a complex weight has no gradient for real ends
    re.compile(r"Expected isFloatingType\(grad\.scalar_type\(\)\)"),
    # torch compares stretches of memory; we read all operands before we write
    re.compile(
        r"some elements of the input tensor and the written-to tensor refer to a single memory location"
    ),
    # torch's accumulation looks at a leaf that became a result in the meantime
    re.compile(r"leaf variable has been moved into the graph interior"),
    # torch's own words for a fault of its own
    re.compile(r"INTERNAL ASSERT FAILED"),
    # torch writes a view whose base became a result since only after somebody has read the view's `grad_fn`
    re.compile(r"^a leaf Variable that requires grad is being used in an in-place operation"),
)
UNCOUNTED = ("_version", "is_view", "base")
# torch writes such a tensor and raises then; what came of it is nobody's business
INFERENCE = re.compile(r"Inplace update to inference tensor outside InferenceMode")
# What we refuse and torch computes: a gradient for the former shape of a leaf, which happens to broadcast.
OURS = re.compile(
    r"had shape \[.*\] when the graph was made|the tensor got another shape after the forward pass|"
    # a write through `detach()` of an inference tensor, which torch lets pass, though not through a view of it
    r"Inplace update to inference tensor outside|"
    # an expanded tensor that is copied to itself, which torch takes for no write
    r"unsupported operation: more than one element of the written-to tensor|"
    # what a formula saves of an inference tensor is the formula's own matter
    r"Inference tensors cannot be saved for backward"
)
# `x.data = ` of another shape: torch's older graphs know the former shape, ours end there.
OTHER_DATA = re.compile(r"\w+\.data = \w+\.data\.")
# A write through `.data` is silent: what a gradient is then depends on which of its values a formula reads.
SILENT = re.compile(r"\.data\.")
ALIAS = re.compile(r"^(\w+) = \w+\.data$")
WRITES = re.compile(r"\w_\(|\][^=<>!]{0,3}=[^=]|out=")
# Of a view made in no_grad some of torch's ops save a value that no gradient needs, and free it.
NOTHING_SAVED = re.compile(r"Trying to backward through the graph a second time")
BLIND = re.compile(r"with L\.no_grad\(\): .*\w = ")
# A tensor written to itself: values stay, and what the node is called is no promise.
SELF = re.compile(r"(\w+)\[[^=]*\] = \1\b|\b(\w+)\.copy_\(\2\)")
# Of what torch makes of a view made in no_grad nothing is saved; here its values are, and guarded.
TOLD = re.compile(
    r"^Output \d+ of |has been modified by an inplace operation|A view was created in no_grad mode|"
    r"cannot register a hook on a tensor that doesn't|can't retain_grad on Tensor that"
)
# What was asked of a tensor that `t_()` and the like reshaped: torch routes its older views through it.
RESHAPES = re.compile(r"\.(t|swapaxes|squeeze|unsqueeze|transpose|swapaxes)_\(")
# What gives a view of some layouts and a copy of others, so that a later write is seen or not.
BY_LAYOUT = re.compile(r"\b(reshape|view|flatten|ravel|contiguous|unflatten|view_as|reshape_as)\(")


def compare(lines: list[str], mine: Run, theirs: Run, name: str) -> tuple[str, str]:
    """The verdict (same, both raise, torch refuses, sentence differs, outcome differs, WRONG) and what differs.

    `judge` adds two: "knife edge", where torch's own result turns over by rounding, and "layout differs", where a
    result lies differently in memory, and a reshape of it is a view in one library and a copy in the other.

    "sentence differs" is an error at the same line in other words: where a line has two faults, which one is
    named is no promise. Types and sentences are pinned by the tests of each op.
    """
    expected = [(i, kind, renamed(text, name)) for i, kind, text in theirs.errors]
    worst = ("", "")
    reshaped = any(RESHAPES.search(line) for line in lines)
    refused = {i for i, _, _ in mine.errors}
    if any(INFERENCE.search(text) and i in refused for i, _, text in expected):
        return "both raise", ""
    blind = any(BLIND.search(line) for line in lines)
    if any(OTHER_DATA.search(line) for line in lines) and mine.errors != expected:
        return "refused here", f"errors: {mine.errors}\n  torch: {expected}"
    if mine.errors != expected:
        ours, torchs = ({i: (kind, text) for i, kind, text in errors} for errors in (mine.errors, expected))
        for at in sorted({*ours, *torchs}):
            a, b = ours.get(at), torchs.get(at)
            if a == b:
                continue
            if a is None and (
                any(r.search(b[1]) for r in REFUSALS) or (blind and NOTHING_SAVED.search(b[1]))
            ):
                return "torch refuses", b[1]
            unsure = blind or any("L.func." in line for line in lines)
            if (
                b is None and reshaped and "NoneType" in a[1]
            ):  # a view that was made before knows of no gradient
                return "refused here", a[1]
            if b is None and (OURS.search(a[1]) or (unsure and TOLD.search(a[1]))):
                return "refused here", a[1]
            if a is None or b is None:
                return "outcome differs", f"errors at {at}: {a}\n  torch: {b}"
            if not worst[0]:
                worst = "sentence differs", f"errors at {at}: {a}\n  torch: {b}"
    lost = reshaped or any(OTHER_DATA.search(line) for line in lines)
    if set(mine.registers) != set(theirs.registers) and not lost:
        return (
            "outcome differs",
            f"registers {sorted(set(mine.registers) ^ set(theirs.registers))} are in one only",
        )
    # single precision loses digits in every step, and steps multiply
    tolerance = 5e-3 if any("float32" in line or ".float()" in line for line in lines) else 1e-8
    tolerance = 0.1 if any("autocast" in line or "bfloat16" in line for line in lines) else tolerance
    silent = any(SILENT.search(line) for line in lines) or writes_alias(lines)
    past = ("register_hook", "detach_(")  # what happens to a reshaped tensor is not seen by its older views
    silent = silent or (reshaped and any(word in line for line in lines for word in past))
    # nobody promises what a pass that raised had accumulated
    broken = any(ENDING.search(lines[i]) for i, _, _ in theirs.errors)
    uncounted = any("inference_mode" in line for line in lines)  # what such tensors count differs op by op
    for register, want in theirs.registers.items():
        if register not in mine.registers:
            continue
        got = mine.registers[register]
        if uncounted:
            want, got = ({k: v for k, v in r.items() if k not in UNCOUNTED} for r in (want, got))
        if silent or broken or (reshaped and want.get("retains_grad")):
            want, got = ({k: v for k, v in r.items() if not k.startswith("grad")} for r in (want, got))
        if blind and ("error" in got) != ("error" in want):
            return "refused here", f"{register}: {got.get('error')}\n  torch: {want.get('error')}"
        for key in {**want, **got}:
            a, b = got.get(key), want.get(key)
            if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
                if not near(a, b, tolerance):
                    return "WRONG", f"{register}.{key}: {a.tolist()}\n  torch: {b.tolist()}"
            elif isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
                return "WRONG", f"{register}.{key}: {a}\n  torch: {b}"
            elif a == (renamed(b, name) if isinstance(b, str) else b):
                continue
            elif key in ("requires_grad", "is_leaf", "grad_fn") and any("L.func." in line for line in lines):
                continue  # what a result of func remembers of tensors that its function found outside
            elif key == "_version" or (key == "grad_fn" and any(SELF.search(line) for line in lines)):
                worst = (
                    worst if worst[0] else ("count or name differs", f"{register}.{key}: {a}\n  torch: {b}")
                )
            elif worst[0] != "outcome differs":
                both = key == "error" and a is not None and b is not None
                worst = (
                    "sentence differs" if both else "outcome differs",
                    f"{register}.{key}: {a}\n  torch: {b}",
                )
    if worst[0]:
        return worst
    return ("both raise" if theirs.errors else "same"), ""


def writes_alias(lines: list[str]) -> bool:
    """Whether something is written after a name was given to the `.data` of a tensor: perhaps through that name."""
    begun = next((i for i, line in enumerate(lines) if ALIAS.search(line)), len(lines))
    return any(WRITES.search(line) for line in lines[begun + 1 :])


def lies(code: Code, lib: Any) -> list[dict[str, tuple]]:
    """After each line, how every named tensor lies in memory: its strides, but those of dims that say nothing."""
    scope: dict[str, Any] = {"L": lib}
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for line, ends in code:
            try:
                exec(line, scope)
            except Exception:
                if ends:
                    break
            found.append(
                {
                    name: tuple(s for s, n in zip(x.stride(), x.shape, strict=True) if n > 1)
                    for name, x in scope.items()
                    if isinstance(x, lib.Tensor) and x.numel()
                }
            )
    return found


def differs_by_layout(lines: list[str], code: Code, lib: Any) -> bool:
    """Whether a result lay differently in memory before a line whose result is a view or a copy by layout."""
    for at, (mine, theirs) in enumerate(zip(lies(code, lib), lies(code, torch), strict=False)):
        if any(mine.get(name) != way for name, way in theirs.items()):
            return any(BY_LAYOUT.search(line) for line in lines[at:])
    return False


NUMBER = re.compile(r"(?<![\w.])\d+\.\d+(?:e-?\d+)?")


def knife_edge(lines: list[str], step: float = 1e-13) -> bool:
    """Whether torch itself gives something else when the numbers of the program move by less than rounding does."""
    if any(word in line for line in lines for word in ("float32", ".float()")):
        step = 1e-6
    if any(word in line for line in lines for word in ("autocast", "bfloat16")):
        step = 4e-3
    theirs, draw = run(compiled(lines), torch), random.Random(0)
    for size in (1, 1, 3, 10, 100, 1000):
        moved = [
            NUMBER.sub(lambda m, k=size: repr(float(m[0]) * (1 + k * step * draw.uniform(-1, 1))), line)
            for line in lines
        ]
        if compare(moved, run(compiled(moved), torch), theirs, "torch")[0] in ("WRONG", "outcome differs"):
            return True
    return False


def renamed(text: str, name: str) -> str:
    """A sentence of torch as the library says it: with its own name, and without C++ namespaces."""
    if name == "torch":
        return text
    return re.sub(r"\btorch([./])", rf"{name}\1", text.replace("torch::autograd::", ""))


def near(a: np.ndarray, b: np.ndarray, tolerance: float) -> bool:
    """Equal up to rounding, measured against the largest value."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    with np.errstate(all="ignore"):
        finite = np.isfinite(b)
        if not np.array_equal(a[~finite], b[~finite], equal_nan=b.dtype.kind == "f"):
            return False
        scale = 1.0 + np.max(np.abs(b[finite]), initial=0.0)
        return bool(np.all(np.abs(a[finite] - b[finite]) <= tolerance * scale))


def judge(lines: list[str], lib: Any) -> tuple[str, str]:
    """Run a program with a library and with torch, and compare."""
    code = compiled(lines)
    verdict, what = compare(lines, run(code, lib), run(code, torch), lib.__name__)
    if verdict in ("WRONG", "outcome differs") and differs_by_layout(lines, code, lib):
        return "layout differs", what
    if verdict == "WRONG" and knife_edge(lines):
        return "knife edge", what
    return verdict, what


def shrink(lines: list[str], lib: Any) -> list[str]:
    """Leave out lines, one after the other, as long as the runs still differ in the same way."""
    verdict = judge(lines, lib)[0]
    smaller = True
    while smaller:
        smaller = False
        for index in reversed(range(len(lines))):
            shorter = lines[:index] + lines[index + 1 :]
            if shorter and judge(shorter, lib)[0] == verdict:
                lines, smaller = shorter, True
    return lines
