"""What an exception misses: a gradient, a result, a history; and where that was lost.

Invariant: the line that raised is the second one of a finding whose first is another.
"""

from __future__ import annotations

import ast
import itertools
import re
import traceback
from collections.abc import Iterator
from types import FrameType
from typing import Any

import numpy as np

from ..layers import is_module
from ..line_lookup import Line, cell_of
from ..lineage import Value, ancestors
from .finding import BAD, EXACT, Finding
from .frames import assignment, given, is_tensor, line_in, looked_up, nodes_at, outside, users
from .written import at_line, tree_of

WEIGHT = 20.0


def no_leaf(error: BaseException, ev: Any, line: Line | None) -> Finding | None:
    """An optimizer is given the result of an op.

    Args:
        error: that it raises.
        ev: the evidence.
        line: that raises.
    """
    if "can't optimize a non-leaf Tensor" not in str(error):
        return None
    for names in given(error):
        for value in list(names.values()):
            if is_tensor(value) and value._node is not None:
                return _of_an_op(ev, value, _name_in(error, value), line, "holds it", "is no leaf")
    return None


def _name_in(error: BaseException, thing: Any) -> str:
    """What the user's frames call a thing; "" where they do not."""
    for frame, _ in users(error):
        for name, value in [*frame.f_locals.items(), *frame.f_globals.items()]:
            if value is thing and not name.startswith("_"):
                return name
            if type(value) is dict and not name.startswith("_"):
                found = next((k for k, x in value.items() if x is thing and isinstance(k, str)), None)
                if found is not None:
                    return f"{name}[{found!r}]"
    return ""


def _of_an_op(ev: Any, t: Any, name: str, line: Line | None, label: str, end: str) -> Finding:
    op, place = ev.made_by(t)
    at = ev.line(place)
    what = name or "A tensor"
    made = f"the result of {op}" if op else "the result of an op"
    return Finding(
        "no leaf",
        BAD,
        EXACT,
        f"{what} is {made}, not a leaf: its .grad stays None."
        if end != "is no leaf"
        else f"{what} is {made}, not a leaf, and an optimizer takes leaves alone.",
        at or line,
        "no leaf" if at is not None else label,
        also=None if at is None or line is None else (line, label),
        layer=name,
        proof=[("op that made it", op or "not known"), ("shape", " × ".join(map(str, t.shape)) or "()")],
        confirm=(f"{name or 'tensor'}.is_leaf", "False"),
        advice="Call requires_grad_() on it last: (torch.randn(3, 1) * 0.1).requires_grad_().",
        weight=WEIGHT,
    )


def no_gradient_there(error: BaseException, ev: Any, line: Line | None) -> Finding | None:
    """A gradient is used that is None: whose, and why.

    Args:
        error: that came of it.
        ev: the evidence.
        line: that raises.
    """
    if not isinstance(error, (TypeError, AttributeError)) or "NoneType" not in str(error):
        return None
    for frame, number in users(error)[:1]:
        for text, t in _gradients(frame, number):
            if t._node is not None:
                return _of_an_op(ev, t, text, line, "uses its gradient", "")
            return _of_a_leaf(ev, t, text, line)
    return None


def _gradients(frame: FrameType, number: int) -> Iterator[tuple[str, Any]]:
    """Tensors whose `.grad` a line reads, or read into a variable of it, and that is None; with their text."""
    reads = [n for n in nodes_at(frame, number, ast.Attribute) if n.attr == "grad"]
    for name in {n.id for n in nodes_at(frame, number, ast.Name)}:
        if looked_up(ast.Name(name), frame) is None:
            made = assignment(frame, number, name)
            if made is not None and isinstance(made.value, ast.Attribute) and made.value.attr == "grad":
                reads.append(made.value)
    for node in reads:
        t = looked_up(node.value, frame)
        if is_tensor(t) and t._grad is None:
            yield ast.unparse(node.value), t


def _of_a_leaf(ev: Any, t: Any, text: str, line: Line | None) -> Finding | None:
    name = ev.name_of(t) or text
    more: dict[str, Any] = {"proof": [("passes", ev.passes)], "confirm": (f"{text}.grad", "None")}
    if not t._rg:
        op, place = ev.made_by(t)
        at = ev.line(ev.frozen_at.get(id(t)) or place)
        said = f"{name}.grad is None: it needs no gradient."
        more |= {"advice": "Call requires_grad_() on it."}
        label = "needs no gradient"
        if op and op not in ("source", "alias"):
            said = f"{name}.grad is None: the result of {op}, made here, needs no gradient."
    elif id(t) in ev.reached and ev.cleared_at is not None:
        at, said, label = (
            ev.line(ev.cleared_at),
            f"{name}.grad is None: it was cleared after the pass.",
            "clears it",
        )
        more |= {"advice": "Clear gradients after they are used, or before the pass."}
    elif id(t) not in ev.reached and ev.passes:
        module = ev.registered.get(id(t), (None,))[0]
        made = ev.origins.get(id(module)) if module is not None and id(module) not in ev.parts else None
        at = None if made is None else ev.line(made[2])
        said = f"{name}.grad is None: {'its layer is never called' if at else 'no pass has reached it'}."
        label = "never called"
        more |= {"advice": "Skip parameters without a gradient, or compute the loss from them."}
    else:
        return None
    return Finding(
        "no gradient there",
        BAD,
        EXACT,
        said,
        at or line,
        label if at is not None else "uses it",
        also=None if at is None or line is None else (line, "uses it"),
        layer=name,
        weight=WEIGHT,
        **more,
    )


def nothing_back(error: BaseException, ev: Any, line: Line | None) -> Finding | None:
    """A function of the program's gives nothing back, and what it should give is used.

    Args:
        error: that came of it.
        ev: the evidence.
        line: that raises.
    """
    if not isinstance(error, (TypeError, AttributeError)) or "NoneType" not in str(error):
        return None
    ran = {id(frame.f_locals.get("self")) for frame, _ in traceback.walk_tb(error.__traceback__)}
    found = None
    for module in reversed(list(ev.gave_nothing.values())):
        if id(module) not in ran and outside(type(module).forward.__code__.co_filename):
            found = f"{type(module).__name__}.forward", type(module).forward.__code__
            break
    if found is None:
        for frame, number in users(error)[:1]:
            for name in {n.id for n in nodes_at(frame, number, ast.Name)}:
                made = assignment(frame, number, name) if looked_up(ast.Name(name), frame) is None else None
                if made is not None and isinstance(made.value, ast.Call):
                    function = looked_up(made.value.func, frame)
                    code = getattr(function, "__code__", None)
                    if code is not None and outside(code.co_filename):
                        found = function.__name__, code
    end = None if found is None else _last_line(found[1])
    if found is None or end is None:
        return None
    return Finding(
        "nothing back",
        BAD,
        EXACT,
        f"{found[0]} ends without a return: it gives None back.",
        end,
        "gives None",
        also=None if line is None else (line, "uses it"),
        confirm=("what it gives", "None"),
        advice="End it with return and what it computed.",
        weight=WEIGHT,
    )


def _last_line(code: Any) -> Line | None:
    """The last line of a function that gives nothing back; None where it gives something."""
    tree = tree_of(code.co_filename)
    for node in () if tree is None else ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            if first == code.co_firstlineno:
                gives = [n for n in ast.walk(node) if isinstance(n, ast.Return) and n.value is not None]
                yields = any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in ast.walk(node))
                if yields or (gives and gives[-1] is node.body[-1]):
                    return None
                here = Line(code.co_filename, node.lineno, node.name, "", cell_of(code.co_filename))
                return at_line(here, node.body[-1].end_lineno or node.lineno)
    return None


def taken_for(error: BaseException, ev: Any) -> tuple[Line, str] | None:
    """Where a variable was given a tuple, or a number, that the line takes for a tensor.

    Args:
        error: that it raises.
        ev: the evidence.
    """
    found = re.search(
        r"'(float|int)' object has no attribute '(backward|item|detach|requires_grad)'", str(error)
    )
    for frame, number in users(error)[:1]:
        names = {n.id: looked_up(n, frame) for n in nodes_at(frame, number, ast.Name)}
        if found is not None:
            for value in names.values():
                if type(value) in (float, int):
                    return _taken_out(ev, value)
        if "tuple" in str(error):
            for name, value in names.items():
                made = assignment(frame, number, name) if type(value) is tuple else None
                if made is not None and made.lineno != number and any(is_tensor(x) for x in value):
                    return line_in(frame, made.lineno), f"is a tuple of {len(value)}"
    return None


def _taken_out(ev: Any, number: float) -> tuple[Line, str] | None:
    """Where a number was taken out of a tensor with a history."""
    every = [cut for cut in ev.cuts if cut[0] in ("item", "tolist", "numpy") and cut[2].needs]
    same = [cut for cut in every if cut[3].size == 1 and float(cut[3].reshape(-1)[0]) == number]
    cut = (same or every or [None])[-1]
    line = None if cut is None else ev.line(cut[1])
    return None if line is None else (line, "takes the number out")


def taken_out_of(ev: Any, root: Value | None) -> tuple[Any, str] | None:
    """Where numbers were taken out of a tensor with a history, of which a loss was made again as a list.

    Args:
        ev: the evidence.
        root: the loss.
    """
    listed = [v for v in (() if root is None else itertools.islice(ancestors(root), 400)) if _is_list(v)]
    held = {float(x) for v in listed for x in v.data.reshape(-1)[:4096]}
    for kind, place, value, was in reversed(ev.cuts):
        if kind in ("item", "tolist", "numpy") and value.needs and was.size == 1:
            if float(was.reshape(-1)[0]) in held:
                return place, "item()" if kind == "item" else f"{kind}()"
    return None


def _is_list(v: Value) -> bool:
    """Whether a value was made of numbers of Python's."""
    return v.op == "source" and bool(v.consts) and isinstance(v.data, np.ndarray) and v.data.dtype.kind == "f"


def frozen(ev: Any, line: Line | None) -> Line | None:
    """Where the gradients of all that was called were switched off, if none of its parameters needs one.

    Args:
        ev: the evidence.
        line: of the pass.
    """
    weights = [p for module, _ in ev.roots.values() if is_module(module) for p in module.parameters()]
    if not weights or any(p.requires_grad for p in weights):
        return None
    return ev.line(next((ev.frozen_at[id(p)] for p in weights if id(p) in ev.frozen_at), None)) or freezes(
        line
    )


def freezes(line: Line | None) -> Line | None:
    """The only line of a file that switches gradients off: of parameters, or of all that follows.

    Args:
        line: of the file.
    """
    tree = None if line is None else tree_of(line.file)
    if tree is None or line is None:
        return None
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            off = [a.value for a in node.args if isinstance(a, ast.Constant)]
            if name in ("requires_grad_", "set_grad_enabled") and off == [False]:
                found.add(node.lineno)
        elif (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Constant)
            and node.value.value is False
        ):
            if any(isinstance(t, ast.Attribute) and t.attr == "requires_grad" for t in node.targets):
                found.add(node.lineno)
    return at_line(line, found.pop()) if len(found) == 1 else None
