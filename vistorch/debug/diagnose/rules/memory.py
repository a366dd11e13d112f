"""What a recurrent network remembers: states that are never handed on, and summaries of one half of it.

Invariant: a state is judged by its numbers in every call of every turn that is looked at closely; the program's text
says only which line made it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from ...line_lookup import Line
from ...lineage import Value, beyond
from ..evidence import LAYERS, MOVES
from ..finding import DOUBTFUL, LINEAGE, WRONG
from ..heads import array
from ..written import LOOPS, at_line, given_by, tree_of
from .base import Counting
from .padding import goes_into_layers, last_of, picked_elsewhere
from .structure import walked

CELLS = ("lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell", "rnn_cell")
RUNNING = ("lstm_layer", "gru_layer", "rnn_layer")
PICKED = ("select", "slice", "unbind", "split", "chunk", "narrow", "alias", "index", "index_select")
MANY = 3  # calls in a pass


def one_step(ev: Any, v: Value) -> bool:
    """Whether a recurrent layer was called for one step.

    Args:
        ev: the evidence.
        v: its result.
    """
    if v.op in CELLS:
        return True
    shape = v.ins[0].shape
    if len(shape) == 3:
        first = ev.ready == "torch." and bool(getattr(v.module, "batch_first", False))
        return bool(shape[1 if first else 0] == 1)
    many = v.consts[0] if v.consts else None
    return isinstance(many, tuple) and len(many) == 1


def sequence_of(v: Value) -> Value | None:
    """What the input of a step was picked from; None where that is not seen.

    Args:
        v: the input.
    """
    for _ in range(24):
        if v.op in PICKED and v.parents and v.parents[0].shape != v.shape:
            return v.parents[0]
        if v.op in LAYERS or v.op in ("add", "cat", "relu", "tanh"):
            inner = [x for x in v.parents if beyond(x).op != "source" or beyond(x).ins]
            inner = inner or [x for x in v.parents if not x.needs]
            if v.op == "embedding":
                inner = [x for x in v.parents if not x.needs]
            if not inner:
                return None
            v = inner[0]
        elif v.parents and (v.op in MOVES or v.op in ("float", "to", "cast", "mul", "dropout", "one_hot")):
            v = v.parents[0]
        else:
            return None
    return None


class StateCleared(Counting):
    """The state of a recurrent network is zero at every step: nothing that was seen before is remembered.

    Meaning: a cell is given what came of the step before; without it, it begins anew each time.
    Fires: when in three looks or more, in all of them, a recurrent cell, or a recurrent layer that is given one step,
    is called three times or more by one line in a pass, with steps of one sequence that differ, and its state is all
    zeros in every call; or when a linear layer, given no gradient and nothing but zeros (or a part of what is joined
    before it), which are as wide as its result or as a half, a third or a quarter of it, is called so in every look,
    one of them four turns or more after the first, beside a sequence that is read step by step.
    Wrong if: each step stands for itself.
    Healthy programs tried: states handed on, by cell and by hand, a layer called for each sample, states that are
    cleared between sequences, a decoder after an encoder, noise and conditions of zeros in one call.
    """

    name, title, certainty, severity = "state cleared", "states between steps", LINEAGE, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.before = 0
        self.looks = 0

    def at_look(self, p: Any) -> None:
        """Look at the state of each call."""
        before, self.before = self.before, self.ev.seq
        if p.root is None or not p.accumulates:
            return
        self.looks += 1
        calls: dict[Any, list] = {}
        others: dict[Any, dict[int, Value]] = {}
        seen: set[int] = set()
        for v in self.ev.values:
            if v.seq <= before or not v.needs or not v.ins or id(v.ins) in seen:
                continue
            if v.op in CELLS or v.op in RUNNING:
                seen.add(id(v.ins))
                key, states, x = self._cell(v)
            elif v.op in LAYERS and v.op != "embedding":
                seen.add(id(v.ins))
                key, states, x = self._layer(v)
            else:
                continue
            if key is None:
                continue
            zero = bool(states) and all(d is not None and d.size and not d.any() for d in map(array, states))
            entry = calls.setdefault(key, [0, v, True, states[0] if states else None])
            entry[0] += 1
            entry[2] = entry[2] and zero
            whole = None if x is None else sequence_of(x)
            if whole is not None and x is not None:
                others.setdefault((key, id(whole)), {})[id(x.data)] = x
        stepped = any(len(found) >= MANY for found in others.values())
        for key, (many, v, zero, state) in calls.items():
            own = any(len(found) >= MANY for (k, _), found in others.items() if k == key)
            entry = self.times.setdefault(key, [0, 0, True, self.ev.line(v.place), v.module, None, many])
            beside = own or (v.op not in CELLS + RUNNING and stepped)
            if many < MANY or not zero or not beside or self.ev.line(v.place) != entry[3]:
                entry[2] = False
                continue
            entry[0] += 1
            entry[1] = max(entry[1], self.ev.turn)
            entry[5], entry[6] = None if state is None else state.place, many

    def _cell(self, v: Value) -> tuple[Any, list[Value], Value | None]:
        """A recurrent layer: its key, its states, its input."""
        if not all(x.__class__ is Value for x in v.ins[:3]):
            return None, [], None
        states = list(v.ins[1 : 3 if "lstm" in v.op else 2])
        if any(x.data is None or x.data.dtype.kind != "f" for x in states) or not one_step(self.ev, v):
            return None, [], None
        weight = next((beyond(x).tensor for x in v.parents if x.needs and beyond(x).tensor is not None), None)
        return (None if weight is None else (id(weight), "state")), states, v.ins[0]

    def _layer(self, v: Value) -> tuple[Any, list[Value], Value | None]:
        """A linear layer: its key, what may be a state among what it is given, the rest of that."""
        own = [
            x
            for x in v.parents
            if beyond(x).op == "source" and beyond(x).needs and beyond(x).tensor is not None
        ]
        given = [x for x in v.parents if not (beyond(x).op == "source" and beyond(x).needs)]
        if len(given) != 1 or not own or not v.shape:
            return None, [], None
        weight, x = beyond(max(own, key=lambda w: len(w.shape))).tensor, beyond(given[0])
        parts = x.parents if x.op == "cat" else [given[0]]
        for at, part in enumerate(parts):
            d = array(part)
            wide = part.shape[-1] if part.shape else 0
            if (
                part.needs
                or d is None
                or d.ndim != 2
                or wide < 2
                or v.shape[-1] not in (wide, 2 * wide, 3 * wide, 4 * wide)
            ):
                continue
            if d.dtype.kind == "f" and not d.any():
                rest = next((y for y in parts if y is not part), None)
                return (id(weight), "given", at), [part], rest
        return (id(weight), "given", 0 if len(parts) == 1 else len(parts) - 1), [], parts[0]

    def findings(self) -> Iterator:
        """Say where."""
        said: set = set()
        for (_, kind, *_), (times, turn, always, line, module, made, many) in self.times.items():
            if not always or times < 3 or times < self.looks - 1 or (kind == "given" and turn < 4):
                continue
            if line is None or (line.file, line.line) in said:
                continue
            said.add((line.file, line.line))
            at, label, also = _where(line)
            if also is None and made is not None:
                zeros = self.ev.line(made)
                if zeros is not None and zeros.file == line.file and zeros.line != line.line:
                    also = (zeros, "makes zeros")
            word = type(module).__name__ if module is not None and kind == "state" else "The recurrence"
            yield self.found(
                f"{word} runs for {many} steps in a pass, and its state is all zeros at each: it remembers nothing.",
                at,
                label,
                also=also,
                layer=self.ev.module_name(module) if module is not None else "",
                proof=[
                    ("calls in a pass", many),
                    ("calls with a state that is not zero", 0),
                    ("looks", times),
                ],
                confirm=("the result at one step, with other steps before it", "the same"),
                unless="each step stands for itself.",
                advice="Make the state once before the loop, and hand on what each step gives: h = cell(x[:, t], h).",
                weight=7.0,
                explains=("learns nothing", "unrelated", "one class", "mean", "too small"),
            )


class OneHalf(Counting):
    """What a layer that runs both ways gives at its last step is the summary: one half of it has seen one step.

    Meaning: the half that runs backwards has seen all at the first step, and at the last one only that step.
    Fires: when in three looks the last step of what a bidirectional recurrent layer gives for three steps or more
    goes into a layer, behind nothing but moves, factors and dropout, is zero in no row, and nothing else of its
    result is used: no other step, no mean, no final state.
    Wrong if: the last step matters most, and what came before it less.
    Healthy programs tried: final states of both halves, means over steps, labels for each step, layers one way.
    """

    name, title, certainty, severity = "one half", "layers that run both ways", LINEAGE, DOUBTFUL

    def at_look(self, p: Any) -> None:
        """Look at what is picked from such a layer."""
        if p.root is None or not p.accumulates:
            return
        every = walked(p)
        for v in every:
            found = last_of(v)
            if found is None:
                continue
            whole = inner = found[0]
            for _ in range(6):
                if getattr(inner.module, "bidirectional", False) or not inner.parents:
                    break
                if inner.op not in MOVES and inner.op not in ("dropout", "mul"):
                    break
                inner = next((y for y in inner.parents if y.needs), inner.parents[0])
            module, x = inner.module, array(v)
            if (
                module is None
                or not getattr(module, "bidirectional", False)
                or x is None
                or (x == 0).all(-1).any()
            ):
                continue
            chain = {id(whole), id(inner)}
            final = (2 * module.num_layers, x.shape[0], module.hidden_size)
            if any(
                (
                    u is not v
                    and u.op not in ("slice", "select")
                    and any(id(y) in chain for y in u.parents)
                    and id(u) not in chain
                )
                or (u.module is module and u.shape == final and u.op != "source")
                for u in every
            ):
                continue
            if picked_elsewhere(every, whole, x, found[1]) or not goes_into_layers(every, v):
                continue
            self.times.setdefault(self.ev.line(v.place), [0, module, whole.shape[found[1]]])[0] += 1

    def findings(self) -> Iterator:
        """Say where."""
        for place, (times, module, steps) in self.times.items():
            if times >= 3:
                yield self.found(
                    f"{type(module).__name__} runs both ways, and only its last step is used: the backward half has "
                    f"seen one of {steps} steps there.",
                    place,
                    "one half is new",
                    layer=self.ev.module_name(module),
                    proof=[("steps", steps), ("steps that the backward half has seen", 1), ("looks", times)],
                    confirm=("out[:, -1, hidden:] with other steps before the last", "the same"),
                    unless="the last step is what matters.",
                    advice="Join the final states of both: torch.cat([h_n[-2], h_n[-1]], 1).",
                    weight=4.0,
                )


def _where(line: Line) -> tuple[Line, str, tuple[Line, str] | None]:
    """The line to change for a call whose state is lost, what it does, and a second one."""
    tree = tree_of(line.file)
    if tree is None:
        return line, "without its state", None
    loop = _loop(tree, line.line)
    if loop is None:  # in a function of its own: where that is called step by step
        outer = _called(tree, line)
        if outer is not None:
            loop = _loop(tree, outer)
            zeros = None if loop is None else _zeros(loop, outer)
            if zeros is not None:
                return at_line(line, zeros), "zeros at each step", (at_line(line, outer), "begins anew")
            return at_line(line, outer), "without a state", (line, "is given zeros")
        return line, "without its state", None
    zeros = _zeros(loop, line.line)
    if zeros is not None:
        return at_line(line, zeros), "zeros at each step", (line, "begins anew")
    return line, "without its state", None


def _loop(tree: ast.AST, number: int) -> ast.AST | None:
    """The innermost loop around a line, within its function."""
    found = None
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        for child in ast.iter_child_nodes(node):
            first, last = getattr(child, "lineno", 0), getattr(child, "end_lineno", 0) or 0
            if first <= number <= last:
                if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                    found = None
                if isinstance(child, (*LOOPS, ast.ListComp, ast.GeneratorExp)):
                    found = child
                waiting.append(child)
    return found


def _zeros(loop: ast.AST, number: int) -> int | None:
    """The line of a loop that makes the state which a line of it uses."""
    used: set[str] = set()
    for node in ast.walk(loop):
        if isinstance(node, ast.stmt) and not isinstance(node, LOOPS):
            if node.lineno <= number <= (node.end_lineno or node.lineno):
                used |= {ast.unparse(n) for n in ast.walk(node) if isinstance(n, (ast.Name, ast.Attribute))}
    for node in ast.walk(loop):
        if not isinstance(node, ast.Assign) or node.lineno > number:
            continue
        text = ast.unparse(node.value)
        empty = "zeros" in text or (isinstance(node.value, ast.Constant) and node.value.value is None)
        names = {
            ast.unparse(n)
            for t in node.targets
            for n in ast.walk(t)
            if isinstance(n, (ast.Name, ast.Attribute))
        }
        if empty and names & used and not node.lineno <= number <= (node.end_lineno or 0):
            return node.lineno
    return None


def _called(tree: ast.AST, line: Line) -> int | None:
    """The only line that calls the function around a line within a loop."""
    owner = function = None
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.lineno <= line.line <= (
            node.end_lineno or 0
        ):
            if isinstance(node, ast.ClassDef):
                owner = node
            else:
                function = node
    if function is None:
        return None
    names = {function.name if owner is None else f"self.{function.name}"}
    if function.name in ("forward", "__call__") and owner is not None:
        names = set()
        for node in ast.walk(tree):
            for target, value in given_by(node) if isinstance(node, ast.Assign) else ():
                if isinstance(value, ast.Call) and ast.unparse(value.func) == owner.name:
                    names.add(ast.unparse(target))
    found = {
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in names
        and _loop(tree, node.lineno) is not None
    }
    return found.pop() if len(found) == 1 else None


RULES = (StateCleared, OneHalf)
