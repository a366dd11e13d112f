"""Running a program with one library, and comparing two runs.

Invariant: a forward line that raises is noted and the program goes on; a backward that raises ends it, since nobody
promises what had been accumulated by then.
"""

import contextlib
import functools
import random
import re
import warnings
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

import numpy as np
import torch

from tests.fuzz.excuses import ENDING, OTHER_DATA, excuse

Code = list[tuple[CodeType, bool]]


@dataclass
class Run:
    """What a program did with a library."""

    errors: list[tuple[int, str, str]] = field(default_factory=list)
    registers: dict[str, dict[str, Any]] = field(default_factory=dict)


def compiled(lines: list[str]) -> Code:
    """The lines as code, and whether an error ends the program there."""
    return [of_line(line) for line in lines]


@functools.lru_cache(1000)
def of_line(line: str) -> tuple[CodeType, bool]:
    """One line of it: a program is run several times, and programs have lines in common."""
    return compile(line, "<program>", "exec"), bool(ENDING.search(line))


def array(tensor: Any) -> np.ndarray:
    """The values, out of reach of later writes."""
    tensor = tensor.detach().cpu()
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


def run(code: Code, lib: Any, clones: bool = False) -> Run:
    """Run a program; `clones`: with nodes that save copies."""
    scope: dict[str, Any] = {"L": lib}
    result = Run()
    with contextlib.ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        stack.enter_context(getattr(lib, "planted", contextlib.nullcontext)())
        if clones:
            hooks = lib.autograd.graph.saved_tensors_hooks
            stack.enter_context(hooks(lambda t: t.detach().clone(), lambda t: t))
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


# A write that the graph does not see: what a gradient is then depends on which of its values a formula reads.
SILENT = re.compile(r"\.data\b(?!\s*=)")
# torch writes such a tensor and raises then; what came of it is nobody's business
INFERENCE = re.compile(r"Inplace update to inference tensor outside InferenceMode")
WRITTEN = "has been modified by an inplace operation"
# What a tensor that was reshaped in place is asked, that its older views answer otherwise.
ASKS = re.compile(r"retain_grad\(|register_hook\(|detach_\(|requires_grad_\(")
ITSELF = re.compile(r"\b(\w+)\.copy_\(\1\)|\b(\w+)\[0:\d\] = \2\b")
# A hook that writes the gradient it is given, and one that gives another instead.
WRITES_GRADIENT = re.compile(r"lambda g: \(?g\.(mul|add|neg)_\(([^()]*)\)(?:, None\)\[1\])?")
RESHAPES = re.compile(r"\b(\w+)\.(?:t|swapaxes|squeeze|unsqueeze|transpose)_\(")
# What gives a view of some layouts and a copy of others, so that a later write is seen or not.
BY_LAYOUT = re.compile(r"\b(reshape|view|flatten|ravel|contiguous|unflatten|view_as|reshape_as)\(")
BAD = ("WRONG", "outcome differs")
Verdict = tuple[str, str]


def compare(lines: list[str], lib: Any, clones: bool = False) -> tuple[list[str], list[Verdict]]:
    """Run a program with a library and with torch: the lines that count in both, and all that differs.

    A line at which one library raises for an excused reason is left out, and so is a write that torch makes and
    then refuses. A program ends before a pass that raises in both: nobody promises what had been accumulated. All
    that remains is compared.
    """
    found: list[Verdict] = []
    while True:
        code = compiled(lines)
        mine, theirs = run(code, lib, clones), run(code, torch, clones)
        ours = {at: (kind, text) for at, kind, text in mine.errors}
        expected = {at: (kind, renamed(text, lib.__name__)) for at, kind, text in theirs.errors}
        at = next((i for i, (_, said) in expected.items() if i in ours and INFERENCE.search(said)), None)
        if at is not None:
            lines = lines[:at] + lines[at + 1 :]
            continue
        at = next((i for i in sorted(ours | expected) if (i in ours) != (i in expected)), None)
        if at is not None:
            verdict, said = (
                ("refused here", ours[at][1]) if at in ours else ("torch refuses", expected[at][1])
            )
            if excuse(lines, at, verdict, said) is None:
                found.append(("outcome differs", f"line {at}: {ours.get(at)}\n  torch: {expected.get(at)}"))
                return lines, found
            found.append((verdict, said))
            lines = lines[:at] + lines[at + 1 :]
            continue
        at = next((i for i in expected if ENDING.search(lines[i])), None)
        if at is None:
            break
        found.append(("both raise", "written" if WRITTEN in expected[at][1] else ""))
        found += [differing for differing in [spoken(at, ours[at], expected[at])] if differing]
        lines = lines[:at]
        if not any(ENDING.search(line) for line in lines):  # no other pass: no gradient has to be known
            for one in (*mine.registers.values(), *theirs.registers.values()):
                one.update(dict.fromkeys({"grad", "grad.requires_grad"} & one.keys()))
            del expected[at]
            break
    found += [differing for i, b in expected.items() if (differing := spoken(i, ours[i], b))]
    found += [("both raise", "")] * bool(expected)
    return lines, found + registers(lines, mine, theirs, lib.__name__)


def spoken(at: int, mine: tuple[str, str], theirs: tuple[str, str]) -> Verdict | None:
    """An error at the same line in other words: where a line has two faults, which one is named is no promise."""
    return None if mine == theirs else ("sentence differs", f"line {at}: {mine}\n  torch: {theirs}")


def registers(lines: list[str], mine: Run, theirs: Run, name: str) -> list[Verdict]:
    """All that differs between the tensors that two runs of a program left behind."""
    found: list[Verdict] = []
    if set(mine.registers) != set(theirs.registers):
        lost = sorted(set(mine.registers) ^ set(theirs.registers))
        found.append(("outcome differs", f"registers {lost} are in one only"))
    empty = any(0 in register.get("shape", ()) for register in theirs.registers.values())
    # single precision loses digits in every step, and steps multiply
    tolerance = 5e-3 if any("float32" in line or ".float()" in line for line in lines) else 1e-8
    tolerance = 0.1 if any("autocast" in line or "bfloat16" in line for line in lines) else tolerance
    for register, want in theirs.registers.items():
        got = mine.registers.get(register, want)
        for key in {**want, **got}:
            a, b = got.get(key), want.get(key)
            what = f"{register}.{key}: {shown(a)}\n  torch: {shown(b)}"
            if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
                if a.shape != b.shape and any(re.search(OTHER_DATA, line) for line in lines):
                    found.append(("former shape", what))  # torch sums a gradient to what the leaf once was
                elif not near(a, b, tolerance):
                    found.append(("WRONG", what))
            elif isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
                found.append(("WRONG", what))
            elif a != (renamed(b, name) if isinstance(b, str) else b):
                excused = recorded(lines, key, a, b, empty)
                both = key == "error" and a is not None and b is not None
                found.append(("sentence differs" if both else excused or "outcome differs", what))
    return found


def recorded(lines: list[str], key: str, mine: Any, theirs: Any, empty: bool) -> str:
    """ "record differs" where torch counts what its own kernels write to the result of an op on inference tensors.

    An expanded tensor that is copied to itself keeps its history, and its base keeps its node: the name differs too.
    The gradient of a view without elements, rebuilt after a write, is zeros without history in torch.
    """
    if key == "grad_fn" and any(ITSELF.search(line) for line in lines):
        return "record differs"
    if empty and key.rpartition(".")[2] in ("requires_grad", "is_leaf", "grad_fn"):
        return "record differs"
    inference = any("inference_mode()" in line for line in lines)
    more = isinstance(mine, int) and isinstance(theirs, int) and theirs > mine
    return "record differs" if key == "_version" and inference and more else ""


def shown(value: Any) -> Any:
    """A value as a report says it."""
    return value.tolist() if isinstance(value, np.ndarray) else value


def nan_factor(lines: list[str], said: str) -> bool:
    """Whether torch has a nan where it may have divided a product by a nan among its factors."""
    return any("prod(" in line for line in lines) and "nan" in said.partition("torch: ")[2]


def hooked_around(lines: list[str]) -> bool:
    """Whether a tensor has hooks from before and from after an in-place reshape, which torch runs in another order."""
    hooks = [
        (at, name) for at, line in enumerate(lines) for name in re.findall(r"\b(\w+)\.register_hook\(", line)
    ]
    turned = [(at, name) for at, line in enumerate(lines) for name in RESHAPES.findall(line)]
    return any(
        name == one == other and before < at < after
        for at, name in turned
        for before, one in hooks
        for after, other in hooks
    )


def views_of_replaced_data(lines: list[str]) -> bool:
    """Whether a tensor that has views gets other data: of what they are views is then a matter of opinion."""
    scope: dict[str, Any] = {"L": torch}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for line in lines:
            x = (
                scope.get(line.split(";")[-1].split(".data = ")[0].strip())
                if re.search(OTHER_DATA, line)
                else None
            )
            if isinstance(x, torch.Tensor) and family(x, scope):
                return True
            try:
                exec(line, scope)
            except Exception:
                if ENDING.search(line):
                    return False
    return False


def reshaped_views(lines: list[str]) -> bool:
    """Whether torch reshapes a tensor in place that has views, older or later: documented to be otherwise here."""
    scope: dict[str, Any] = {"L": torch}
    reshaped: dict[str, torch.Tensor] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for line in lines:
            nameless = any(re.search(rf"\b{name}(\[|\.view\(|\.t\(\)\.)", line) for name in reshaped)
            if nameless or any(family(x, scope) for x in reshaped.values()):
                return True
            found = {name: scope.get(name) for name in RESHAPES.findall(line)}
            reshaped |= {name: x for name, x in found.items() if isinstance(x, torch.Tensor)}
            try:
                exec(line, scope)
            except Exception:
                if ENDING.search(line):
                    return False
    return False


def shares_gradient(lines: list[str], lib: Any, clones: bool) -> bool:
    """Whether only what hooks write in place differs: torch hands the same tensor to several operands of a write."""
    given = [WRITES_GRADIENT.sub(r"lambda g: g.\1(\2)", line) for line in lines]
    return given != lines and all(verdict not in BAD for verdict, _ in compare(given, lib, clones)[1])


def family(x: torch.Tensor, scope: dict[str, Any]) -> bool:
    """Whether another named tensor is a view of the same base."""
    try:
        base = x if x._base is None else x._base
        others = [t for t in scope.values() if isinstance(t, torch.Tensor) and t is not x]
        return any(t is base or t._base is base for t in others)
    except RuntimeError:
        return True


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
        again = run(compiled(moved), torch)
        if [at for at, *_ in again.errors] != [at for at, *_ in theirs.errors]:
            return True
        if any(verdict in BAD for verdict, _ in registers(moved, again, theirs, "torch")):
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


# From the mildest to the worst; a program has the worst verdict of all that was found.
SEVERITY = (
    "same",
    "both raise",
    "torch refuses",
    "refused here",
    "sentence differs",
    "record differs",
    "reshaped",
    "former shape",
    "nan factor",
    "shared gradient",
    "silent write",
    "layout differs",
    "knife edge",
    *BAD[::-1],
)


def judge(lines: list[str], lib: Any) -> Verdict:
    """Run a program with a library and with torch, and compare: the worst verdict, and what differs.

    A program that writes what the graph does not see, or that is refused because a saved value was written, runs a
    second time with copies of all that is saved: no later write reaches those, and every gradient is that of the
    recorded values, whatever a formula saves.
    """
    worst, written = once(lines, lib)
    silent = any(SILENT.search(line) for line in lines)
    if silent or written:
        plain = [line for line in lines if "L.func." not in line]  # which takes no such hooks
        again, _ = once(plain, lib, clones=True)
        if silent and again[0] not in BAD and worst[0] == "WRONG":
            worst = ("silent write", worst[1])
        if SEVERITY.index(again[0]) > SEVERITY.index(worst[0]):
            worst = (again[0], f"with copies saved: {again[1]}")
    return worst


def once(lines: list[str], lib: Any, clones: bool = False) -> tuple[Verdict, bool]:
    """The worst of one comparison, and whether a pass was refused because a saved value was written."""
    kept, found = compare(lines, lib, clones)
    worst = max(found, key=lambda one: SEVERITY.index(one[0]), default=("same", ""))
    if worst[0] in BAD:
        code = compiled(kept)
        if any(verdict == "former shape" for verdict, _ in found):
            worst = ("former shape", worst[1])  # and what follows from it
        elif differs_by_layout(kept, code, lib):
            worst = ("layout differs", worst[1])
        elif any(ASKS.search(line) for line in kept) and (reshaped_views(kept) or hooked_around(kept)):
            worst = ("reshaped", worst[1])
        elif worst[0] == "WRONG" and nan_factor(kept, worst[1]):
            worst = ("nan factor", worst[1])
        elif worst[0] == "WRONG" and views_of_replaced_data(kept):
            worst = ("former shape", worst[1])
        elif worst[0] == "WRONG" and shares_gradient(kept, lib, clones):
            worst = ("shared gradient", worst[1])
        elif worst[0] == "WRONG" and knife_edge(kept):
            worst = ("knife edge", worst[1])
    return worst, any(one[0] == "both raise" and one[1] for one in found)


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
