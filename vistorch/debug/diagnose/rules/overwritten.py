"""Data that are written where a copy was meant: targets that are the memory of inputs, rows that are spoiled for good.

Invariant: one memory is known by its arrays; that it was meant to be two, by the names that the text gives it.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...line_lookup import Line
from ...lineage import SHAPED, Value, ancestors
from ..evidence import ENOUGH, MOVES
from ..finding import EXACT, WRONG, Finding
from ..heads import CLASSES, PROBABILITIES, VALUES, array
from ..written import at_line, called_name, draws, functions_of, given_by, scope_of, tree_of
from .base import Counting
from .structure import heads_at

DEEP = 6000  # values behind a loss
LOOKS = 3
PARTS = frozenset(("select", "slice", "narrow", "expand"))
BLOCKS = 4096  # parts of memory that are kept apart
OWNERS = 64  # memories they belong to, which are kept so that no other has their number
AGAIN = 2  # writes of what was written in an earlier turn
CHANGES = ("add", "sub", "mul", "div", "true_divide", "masked_fill", "index_fill", "addcmul", "lerp")
VIEWS = ("view", "reshape", "squeeze", "unsqueeze", "detach", "flatten", "contiguous", "view_as")


class TargetOverwritten(Counting):
    """The targets are the memory of the inputs, into which something random was written in between.

    Meaning: `labels = inputs` gives one tensor two names; what is written into the one is in the other.
    Fires: when in three looks, and in all in which such a write was made, what a loss asks for is, moved, picked from
    or stacked, all of the memory that the model was given too, or looked up rows by, and in that turn it was written
    by an assignment to a part, an assignment like `+=`, or an in-place method, through a variable of which the text
    says, in the same scope and before it, that it is another name of a second one (an assignment of the variable or
    of a view of it), or that it is an argument of the function, which gives it back and whose result, in its only
    call, has another name than what it was given, which is used on; and a random function stands in the index of that
    assignment, or in the other statements, or in what gave their names values there.
    Wrong if: the targets are to be written as well.
    Healthy programs tried: labels that are cloned, autoencoders whose input is scaled in place, next words of one
    row, batches that are filled in place, noise that is added to data and to its copy, words dropped from both.
    """

    name, title, certainty, severity = "target overwritten", "memory of targets and inputs", EXACT, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.turn = -1
        self.written: list[
            tuple[Any, Any, int]
        ] = []  # in this turn: arrays, places, the newest value by then
        self.texts: dict[Any, Any] = {}  # by place: the lines of the text, if it says so

    def at_write(self, tensor: Any, value: Any, place: Any) -> None:
        """Note what is written in a turn that is looked at."""
        if not self.ev.looked or tensor._rg or place is None or self.ev.looks >= ENOUGH:
            return
        if self.turn != self.ev.turn:
            self.turn, self.written = self.ev.turn, []
        if len(self.written) < 256 and tensor._node is None and isinstance(tensor._data, np.ndarray):
            if self._texts_of(place) is not None:
                self.written.append((tensor._data, place, self.ev.seq))

    def at_look(self, p: Any) -> None:
        """Compare the memory of inputs and targets."""
        written, self.written = self.written if self.turn == self.ev.turn else [], []
        if p.root is None or not p.accumulates or not written:
            return
        given = [self.ev.of(c.inputs) for c in p.calls if c.inputs is not None] + self.ev.fed(p)
        for v in itertools.islice(ancestors(p.root), DEEP):
            if v.op.startswith("embedding"):
                given += [x for x in v.parents if not x.needs]
        asked = [
            h.target
            for h in heads_at(self.ev, p)
            if h.target is not None and not h.target.needs and h.kind in (CLASSES, PROBABILITIES, VALUES)
        ]
        seen: dict[Any, bool] = {}
        for d, place, when in written if asked else ():
            hit = _reads(d, asked, when) and _reads(d, given, when)
            seen[place] = seen.get(place, False) or hit
        for place, hit in seen.items():
            entry = self.times.setdefault(place, [0, 0, p.root.place])
            entry[0 if hit else 1] += 1

    def _texts_of(self, place: Any) -> tuple[Line, Line] | None:
        if place not in self.texts:
            self.texts[place] = named_before(self.ev.line(place)) if len(self.texts) < 256 else None
        return self.texts[place]

    def findings(self) -> Iterator[Finding]:
        """Say where the second name is given."""
        for place, (times, other, loss) in self.times.items():
            known = self.texts.get(place)
            if times < LOOKS or other or known is None:
                continue
            named, write = known
            yield self.found(
                "The targets are the inputs themselves, and this line gives no copy: what is written is asked for.",
                named,
                "one memory",
                also=(write, "writes into both") if write.line != named.line else (None, ""),
                related=self.lines((loss, "asks for what was written")),
                proof=[("looks", times), ("memories of inputs and targets", 1)],
                confirm=("labels.data_ptr() == inputs.data_ptr()", "True"),
                unless="the targets are to be written as well.",
                advice="Take a copy before the write: .clone().",
                weight=8.0,
                explains=("one class", "learns nothing", "unrelated", "mean", "target given", "zero loss"),
            )


class DataSpoiled(Counting):
    """Noise, or a mask, is written into the training data themselves, again in each epoch.

    Meaning: a slice is no copy: what is written into it in place stays in the data, and the next epoch adds to it.
    Fires: when a part of a memory was written twice or more by a statement that had written the very same part in
    an earlier turn, nothing but such statements wrote the memory it belongs to, and in three looks, and in all in
    which the statement ran after the first turn, a model was given first, or where no module is called an op with a
    parameter, what shares that memory, was picked from it, or computed from it and not from picked rows, after the
    write, with no other memory from before the loop of more than half its size; and each look compared something
    with targets that are, moved or picked, of memory from before the loop or of the written one. The statement
    changes what is there at random: an assignment like `+=`, one of a number to places drawn at random or of what
    is computed from the variable itself, or a call of `add_`, `sub_`, `mul_`, `div_`, `masked_fill_`,
    `index_fill_`, `addcmul_` or `lerp_`, where a random function stands in it or in what gave its names values in
    its function, and nothing there is named after gradients.
    Wrong if: the data are to drift.
    Healthy programs tried: clones and rows picked by a list, which are copies, batches of a loader, rows shuffled anew
    in each epoch, buffers that are filled again, walks and chains that a model is trained beside, centres that drift,
    replay memories, perturbations that are learned, data normalised once, noise with a memory that is added.
    """

    name, title, certainty, severity = "data spoiled", "writes into the data", EXACT, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.turn = -1
        self.texts: dict[Any, Any] = {}  # by place: the line of the statement, None where it is none of these
        self.blocks: dict[tuple, int] = {}  # by place, owner, address and size: the turn of the newest write
        self.owners: dict[int, Any] = {}
        self.refilled: set[int] = set()  # of the owners
        self.again: dict[Any, int] = {}  # by place
        self.from_owner: dict[Any, set[int]] = {}  # by place
        self.views: dict[Any, Any] = {}  # by place: where the part was taken
        self.written: list[
            tuple[Any, Any, int]
        ] = []  # in this turn: arrays, places, the newest value by then

    def at_write(self, tensor: Any, value: Any, place: Any) -> None:
        """Note which part of which memory is written."""
        if tensor._rg or place is None or tensor._node is not None:
            return
        if place not in self.texts:
            self.texts[place] = spoils(self.ev.line(place)) if len(self.texts) < 256 else None
        if self.texts[place] is None:
            if self.owners and (i := id(self.ev.memory_of(tensor)[0])) in self.owners:
                self.refilled.add(i)
            return
        d = tensor._data
        if not isinstance(d, np.ndarray) or d.size < 2:
            return
        owner, address = self.ev.memory_of(tensor)
        if id(owner) not in self.owners:
            if len(self.owners) >= OWNERS:
                return
            self.owners[id(owner)] = owner
        key = (place, id(owner), address, d.size)
        before = self.blocks.get(key)
        if before is None and len(self.blocks) >= BLOCKS:
            return
        self.blocks[key] = self.ev.turn
        if before is not None and before < self.ev.turn:
            self.again[place] = self.again.get(place, 0) + 1
        self.from_owner.setdefault(place, set()).add(id(owner))
        if self.ev.looked and self.ev.looks < ENOUGH:
            if self.turn != self.ev.turn:
                self.turn, self.written = self.ev.turn, []
            if len(self.written) < 64:
                self.written.append((d, place, self.ev.seq))
            if place not in self.views:
                self.views[place] = _taken(self.ev.table.get(id(d)))

    def at_look(self, p: Any) -> None:
        """Look whether the model was given what was written."""
        written, self.written = self.written if self.turn == self.ev.turn else [], []
        if p.root is None or not p.accumulates or not written or not p.turn:
            return  # what the first turn computes is not known from what is older
        given = [self.ev.of(c.inputs) for c in p.calls if c.inputs is not None] or self.ev.fed(p)
        asked = [h.target for h in heads_at(self.ev, p) if h.target is not None and not h.target.needs]
        older = {id(v) for v in self.ev.setup or ()}
        seen: dict[Any, bool] = {}
        for d, place, when in written:
            hit = (
                bool(asked)
                and any(_shows(v, d, when, older) for v in given)
                and all(_lasts(v, d, older) for v in asked)
            )
            seen[place] = seen.get(place, False) or hit
        for place, hit in seen.items():
            self.times.setdefault(place, [0, 0])[0 if hit else 1] += 1

    def findings(self) -> Iterator[Finding]:
        """Say where they are written."""
        for place, (times, other) in self.times.items():
            again = self.again.get(place, 0)
            if times < LOOKS or other or again < AGAIN or self.from_owner[place] & self.refilled:
                continue
            line, name = self.texts[place]
            yield self.found(
                f"This line writes into the training data: {name} is no copy, and each epoch changes it again.",
                line,
                "written in place",
                also=(self.views.get(place), "takes no copy"),
                proof=[("looks", times), ("writes of rows written before", again)],
                confirm=(f"{name}._base is not None", "True"),
                unless="the data are to drift.",
                advice=f"Compute a new tensor, or take a copy before: {name}.clone().",
                weight=9.0,
                explains=(
                    "diverges",
                    "learns nothing",
                    "unrelated",
                    "too small",
                    "too large",
                    "one class",
                    "mean",
                    "target given",
                    "zero loss",
                ),
            )


def _taken(value: Value | None) -> Any:
    """Where a part of a memory was taken that a value is, or was written into; None where it is not known."""
    for _ in range(8):
        if value is None:
            return None
        if value.op in ("slice", "select", "narrow", "split", "chunk", "unbind") and value.place is not None:
            return value.place
        value = value.parents[0] if value.parents else None
    return None


def _shows(value: Value, d: np.ndarray, when: int, older: set[int]) -> bool:
    """Whether a value is some memory, or was computed from it after a write, and from no other data.

    Args:
        value: that a model is given.
        d: the memory.
        when: the newest value at the write.
        older: the values from before the loop.
    """
    waiting, seen, found, left = [(value, False, False)], {id(value)}, False, 64
    while waiting and left:
        v, before, computed = waiting.pop()
        left -= 1
        own = array(v)
        if own is not None and np.may_share_memory(own, d):
            if before:
                return False  # a copy that was taken before the write
            found = True
            continue
        if v.needs or v.model is not None:
            return False
        if id(v) in older or (v.op in ("source", "alias") and not v.consts):
            if own is None or 2 * own.size > d.size:
                return False
            continue
        picks = v.op.startswith("index") or v.op in ("gather", "select", "embedding", "take")
        if picks and computed:
            return False  # samples that are made of a few things
        moves = picks or v.op in MOVES
        parents = v.parents[:1] if moves and v.op not in ("stack", "cat") else v.parents
        for parent in parents:
            if id(parent) not in seen:
                seen.add(id(parent))
                waiting.append((parent, before or v.seq <= when, computed or not moves))
    return found and not waiting


def _lasts(value: Value, d: np.ndarray, older: set[int]) -> bool:
    """Whether a target is, moved or picked, of memory from before the loop, or of some memory.

    Args:
        value: the target.
        d: the memory.
        older: the values from before the loop.
    """
    for _ in range(32):
        own = array(value)
        if id(value) in older or (own is not None and np.may_share_memory(own, d)):
            return True
        if not value.parents:
            return value.op == "source" and not value.consts
        if value.op not in MOVES and not value.op.startswith("index"):
            return False
        value = value.parents[0]
    return False


def spoils(line: Line | None) -> tuple[Line, str] | None:
    """The statement of a line, and the variable whose memory it changes at random; None where it does not.

    Args:
        line: of a write.
    """
    tree = None if line is None else tree_of(line.file)
    if tree is None or line is None:
        return None
    scope = scope_of(tree, line.line)
    nodes = list(ast.walk(scope))
    assigns = [n for n in nodes if isinstance(n, ast.Assign)]
    for node in nodes:
        simple = isinstance(node, (ast.Expr, ast.Return, ast.Assign, ast.AugAssign))
        if not simple or not node.lineno <= line.line <= (node.end_lineno or node.lineno):
            continue
        name = _written(node) or _called_on(node)
        if name and _changes(node, name) and _at_random(node, assigns, name):
            behind = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} - {name}
            texts = [ast.unparse(node), *(ast.unparse(a.value) for a in assigns if behind & _names(a))]
            if not any("grad" in text for text in texts):
                return at_line(line, node.lineno), name
    return None


def _called_on(node: ast.stmt) -> str:
    """The variable of a call within a statement that writes in place; "" where there is none."""
    for n in ast.walk(node):
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr[:-1] in CHANGES:
            if n.func.attr.endswith("_") and isinstance(n.func.value, ast.Name):
                return n.func.value.id
    return ""


def _changes(node: ast.stmt, name: str) -> bool:
    """Whether a statement leaves something of what it writes over, or takes some of it away."""
    if isinstance(node, ast.AugAssign):
        return True
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
        value = node.value.operand if isinstance(node.value, ast.UnaryOp) else node.value
        index = {n.id for n in ast.walk(node.targets[0].slice) if isinstance(n, ast.Name)}
        whole = not index and not draws(node.targets[0].slice)
        own = any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node.value))
        return own if whole else own or isinstance(value, (ast.Constant, ast.Name))
    called = [
        n.func.attr for n in ast.walk(node) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)
    ]
    inplace = [one for one in called if one.endswith("_") and not one.endswith("__")]
    return bool(inplace) and all(one[:-1] in CHANGES for one in inplace)


def _reads(d: np.ndarray, values: list[Value], when: int) -> bool:
    """Whether values are some memory, or were picked from it or put together of it after it was written."""
    waiting, left = list(values), 1024
    while waiting and left:
        v = waiting.pop()
        left -= 1
        own = array(v)
        if own is not None and (own is d or (own.size == d.size and _start(own) == _start(d))):
            return True
        if v.model is not None or v.needs or not v.parents:
            continue
        before = array(v.parents[0])
        copied = own is None or before is None or not np.may_share_memory(own, before)
        if copied and v.seq <= when:
            continue
        if v.op == "stack":
            waiting += v.parents
        elif v.op in SHAPED - PARTS or v.op.startswith("index"):
            waiting.append(v.parents[0])
    return False


def _start(d: np.ndarray) -> int:
    return d.__array_interface__["data"][0]


def named_before(line: Line | None) -> tuple[Line, Line] | None:
    """The line that gave what is written at random in a line a second name, and that of the write.

    Args:
        line: of the write.
    """
    tree = None if line is None else tree_of(line.file)
    if tree is None or line is None:
        return None
    scope = scope_of(tree, line.line)
    inner = {
        id(n) for f in functions_of(tree) if f is not scope and f.lineno > line.line for n in ast.walk(f)
    }
    inner |= {id(n) for f in functions_of(tree) if scope is tree for n in ast.walk(f)}
    nodes = [n for n in ast.walk(scope) if id(n) not in inner]
    assigns = [n for n in nodes if isinstance(n, ast.Assign)]
    for node in nodes:
        if isinstance(node, ast.stmt) and node.lineno <= line.line <= (node.end_lineno or node.lineno):
            name = _written(node)
            if name and _at_random(node, assigns, name):
                at = _second_name(name, node, assigns) or _returned(tree, scope, name, assigns)
                if at is not None:
                    return at_line(line, at), at_line(line, node.lineno)
    return None


def _written(node: ast.stmt) -> str:
    """The variable whose memory a statement writes; "" where it writes none."""
    target: Any = None
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Subscript):
        target = node.targets[0].value
    elif isinstance(node, ast.AugAssign):
        target = node.target.value if isinstance(node.target, ast.Subscript) else node.target
    elif isinstance(node, (ast.Expr, ast.Return)) or isinstance(node, ast.Assign):
        value = node.value
        while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
            if value.func.attr.endswith("_") and not value.func.attr.startswith("_"):
                target = value.func.value
            value = value.func.value
    return target.id if isinstance(target, ast.Name) else ""


def _at_random(node: ast.stmt, assigns: list[ast.Assign], name: str) -> bool:
    """Whether a random function says what a statement writes: where, or how much it adds, not all that is there."""
    picked: ast.AST = node
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
        picked = node.targets[0].slice
    if draws(picked):
        return True
    names = {n.id for n in ast.walk(picked) if isinstance(n, ast.Name)} - {name}
    for _ in range(2):
        given = [a for a in assigns if names & _names(a)]
        if any(draws(a.value) for a in given):
            return True
        names |= {n.id for a in given for n in ast.walk(a.value) if isinstance(n, ast.Name)} - {name}
    return False


def _second_name(name: str, write: ast.stmt, assigns: list[ast.Assign]) -> int | None:
    """The line before a write that gives its variable a second name, none of the two being bound again by then."""
    for node in sorted(assigns, key=lambda n: -n.lineno):
        if node.lineno >= write.lineno:
            continue
        pairs: list[tuple[str, str]] = []
        for t, v in given_by(node):
            source = _viewed(v)
            if isinstance(t, ast.Name) and source and source != t.id:
                pairs.append((t.id, source))
        both = [t.id for t in node.targets if isinstance(t, ast.Name)]
        if len(both) == 2 and not isinstance(node.value, ast.Constant):
            pairs.append((both[0], both[1]))
        if any(name in pair for pair in pairs):
            pair = next(pair for pair in pairs if name in pair)
            again = [a for a in assigns if node.lineno < a.lineno < write.lineno and _names(a) & set(pair)]
            return None if again else node.lineno
        if name in _names(node):
            return None
    return None


def _viewed(node: ast.expr) -> str:
    """The variable that an expression is another name of."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in VIEWS:
        node = node.func.value
    return node.id if isinstance(node, ast.Name) else ""


def _returned(tree: ast.Module, scope: ast.AST, name: str, assigns: list[ast.Assign]) -> int | None:
    """The line of the only call of a function that writes into what it is given, where that is used on as well."""
    if not isinstance(scope, ast.FunctionDef):
        return None
    every = [a.arg for a in scope.args.args]
    if name not in every or any(name in _names(a) for a in assigns):
        return None
    back = [n.value for n in ast.walk(scope) if isinstance(n, ast.Return) and n.value is not None]
    if not any(_viewed(e) == name for v in back for e in (v.elts if isinstance(v, ast.Tuple) else [v])):
        return None
    at = every.index(name) - (every[0] == "self")
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and called_name(n.func) == scope.name]
    if len(calls) != 1 or len(calls[0].args) <= at:
        return None
    call, given = calls[0], _viewed(calls[0].args[at])
    around = scope_of(tree, call.lineno)
    for node in ast.walk(around):
        if isinstance(node, ast.Assign) and node.value is call and given and given not in _names(node):
            later = [
                n
                for n in ast.walk(around)
                if isinstance(n, ast.Name) and n.id == given and n.lineno > call.lineno
            ]
            return call.lineno if any(isinstance(n.ctx, ast.Load) for n in later) else None
    return None


def _names(node: ast.Assign) -> set[str]:
    """The variables that an assignment binds."""
    return {
        t.id
        for x in node.targets
        if not isinstance(x, ast.Subscript)
        for t in ast.walk(x)
        if isinstance(t, ast.Name)
    }


RULES = (TargetOverwritten, DataSpoiled)
