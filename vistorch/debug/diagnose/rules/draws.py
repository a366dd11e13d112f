"""One draw for what belongs together: the noise that is mixed in and asked for, the moves of a picture and its map.

Invariant: draws and moves are known by the history of what is compared; the program's text says where.
"""

from __future__ import annotations

import ast
import itertools
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...line_lookup import Line
from ...lineage import SHAPED, Value, ancestors, beyond
from ..evidence import LAYERS
from ..finding import LINEAGE, WRONG, Finding, number
from ..heads import VALUES, array
from ..written import at_line, called_name, draws, functions_of, scope_of, tree_of
from .base import Counting, Rule
from .structure import heads_at

NORMAL = ("randn", "randn_like", "normal", "normal_")
DEEP = 6000  # values behind a prediction
LOOKS = 3


def drawn(v: Value, known: set[int]) -> bool:
    """Whether a value is normal numbers that were drawn in this turn.

    Args:
        v: which.
        known: the values from before the loop.
    """
    made = v.op == "source" and v.consts[:1] and v.consts[0] in NORMAL
    return bool(made or v.op in NORMAL) and id(v) not in known and v.place is not None


def draw_behind(v: Value, known: set[int], deep: int = 8) -> Value | None:
    """The draw that a value is, moved, scaled or turned in sign.

    Args:
        v: which.
        known: the values from before the loop.
        deep: factors that are gone through.
    """
    v = beyond(v, SHAPED - {"select", "slice", "narrow"})
    if drawn(v, known):
        return v
    if not deep or v.op not in ("mul", "div", "neg") or v.needs:
        return None
    found = [
        draw_behind(x, known, deep - 1) for x in v.parents if int(np.prod(x.shape)) == int(np.prod(v.shape))
    ]
    draws = [d for d in found if d is not None]
    return draws[0] if len(draws) == 1 else None


class OtherNoise(Counting):
    """A network is asked for a noise that its input does not hold: another one was drawn for that.

    Meaning: what is to be found in a mixture of data and noise is the noise that was mixed in.
    Fires: when in three looks, and in all in which the target of a distance is normal numbers drawn in that turn
    (moved, scaled, turned in sign, or plus or minus something that the prediction came from), 32 or more, that draw is
    not in the history of the prediction, though another draw of as many normal numbers is that the target does not
    come from: it was added there to something else of its size (where the target is a sum or difference, both scaled
    by tensors); and that sum goes with the noise that was added (a correlation above 5 over the root of their count)
    and not with the one that is asked for (below it).
    Wrong if: the answer is to be the mean of the noise.
    Healthy programs tried: diffusion with noise drawn outside or within, noise in place, flows, noisy labels, inputs
    and targets that are both noisy, denoising, variational autoencoders, random targets of random inputs.
    """

    name, title, certainty, severity = "other noise", "noise that is asked for", LINEAGE, WRONG

    def at_look(self, p: Any) -> None:
        """Look whether what is asked for is there."""
        if p.root is None or not p.accumulates:
            return
        known: set[int] | None = None
        for head in heads_at(self.ev, p):
            if head.kind != VALUES or head.target is None or head.target.needs:
                continue
            if known is None:
                known = {id(v) for v in self.ev.setup or ()}
            self._compare(head.prediction, head.target, head.value.place, known)

    def _compare(self, prediction: Value, target: Value, place: Any, known: set[int]) -> None:
        asked, rest = draw_behind(target, known), None
        base = beyond(target)
        if asked is None and base.op in ("add", "sub") and len(base.parents) == 2:
            found = [draw_behind(x, known) for x in base.parents]
            if sum(d is not None for d in found) == 1:
                i = 0 if found[0] is not None else 1
                asked, rest = found[i], beyond(base.parents[1 - i])
        if asked is None or int(np.prod(asked.shape)) < 32:
            return
        behind = list(itertools.islice(ancestors(prediction), DEEP))
        if len(behind) == DEEP:
            return
        entry = self.times.setdefault(place, [0, 0, None])
        ids = {id(v) for v in behind}
        mixed = None
        if id(asked) not in ids and (rest is None or _held(rest, ids)):
            mixed = self._mixed(behind, target, asked, known, rest is not None)
        if mixed is None:
            entry[1] += 1
        else:
            entry[0] += 1
            entry[2] = asked.place, mixed[0].place, mixed[1].place, mixed[2], mixed[3], asked.shape

    def _mixed(
        self, behind: list[Value], target: Value, asked: Value, known: set[int], scaled: bool
    ) -> tuple[Value, Value, float, float] | None:
        """The other draw, the sum that it went into, and how far that goes with each of the two."""
        own = {id(v) for v in itertools.islice(ancestors(target), DEEP)}
        many = int(np.prod(asked.shape))
        for v in behind:
            if v.op not in ("add", "sub") or len(v.parents) != 2 or int(np.prod(v.shape)) != many:
                continue
            for x, y in (v.parents, v.parents[::-1]):
                other = draw_behind(x, known)
                if other is None or id(other) in own or int(np.prod(other.shape)) != many:
                    continue
                if int(np.prod(y.shape)) != many or draw_behind(y, known) is not None:
                    continue
                if scaled and not (_scaled(x) and _scaled(y)):
                    continue
                added, wanted = (_alike(v, one) for one in (other, asked))
                least = 5 / many**0.5
                if added > least > wanted >= 0:
                    return other, v, added, wanted
        return None

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        for place, (times, fine, found) in self.times.items():
            if times < LOOKS or fine or found is None:
                continue
            asked, other, mixed, added, wanted, shape = found
            here, also = self._lines(asked, other, mixed, place)
            yield self.found(
                "The noise that is asked for is not in the input: another one was drawn for that.",
                here,
                "another noise",
                also=(also, "draws it") if also != here else (None, ""),
                related=self.lines((place, "asks for the other")),
                proof=[
                    ("looks", times),
                    ("numbers of the noise", " × ".join(map(str, shape))),
                    ("correlation of the input with the noise that was added", number(added)),
                    ("with the noise that is asked for", number(wanted)),
                ],
                confirm=("((x_t - noise) * noise).mean()", "-1, whatever was mixed in"),
                unless="the mean of the noise is wanted.",
                advice="Draw the noise once: mix it in, and ask for the same tensor.",
                weight=8.0,
                explains=("learns nothing", "unrelated", "mean", "other scale", "too small"),
            )

    def _lines(self, asked: Any, other: Any, mixed: Any, loss: Any) -> tuple[Line | None, Line | None]:
        """The line to blame, and the second one."""
        want, drew, sum_at = (self.ev.line(place) for place in (asked, other, mixed))
        if want is None or drew is None or want.file != drew.file:
            return drew, want
        tree = tree_of(want.file)
        if tree is None:
            return drew, want
        if not _named(tree, want.line):  # drawn where it is compared
            return want, drew
        if scope_of(tree, want.line) is not scope_of(tree, drew.line):
            call = _call_after(tree, want, drew.function)
            return (at_line(want, call), drew) if call else (drew, want)
        if _named(tree, drew.line) and sum_at is not None:  # both have a name: one was taken for the other
            return sum_at, self.ev.line(loss)
        return drew, want


def _held(v: Value, ids: set[int]) -> bool:
    return id(v) in ids and int(np.prod(v.shape)) > 1


def _scaled(v: Value) -> bool:
    """Whether a value is a product with a tensor that is smaller."""
    v = beyond(v)
    return v.op in ("mul", "div") and len(v.parents) == 2 and v.parents[0].shape != v.parents[1].shape


def _alike(v: Value, noise: Value) -> float:
    """How far the numbers of a value go with a noise; -1 where that is not known."""
    a, b = array(v), array(noise)
    if a is None or b is None or a.size != b.size:
        return -1.0
    a, b = a.reshape(-1).astype(np.float64), b.reshape(-1).astype(np.float64)
    if not np.isfinite(a).all() or not a.std() > 0 or not b.std() > 0:
        return -1.0
    return float(abs(np.corrcoef(a, b)[0, 1]))


def _named(tree: ast.Module, line: int) -> bool:
    """Whether the draw in a line has a name of its own."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and node.lineno <= line <= (node.end_lineno or node.lineno):
            value = node.value
            parts = (
                zip(node.targets[0].elts, value.elts, strict=False)
                if (isinstance(node.targets[0], ast.Tuple) and isinstance(value, ast.Tuple))
                else [(node.targets[0], value)]
            )
            for target, one in parts:
                if isinstance(target, ast.Name) and isinstance(one, ast.Call):
                    if any(word in ast.unparse(one.func) for word in ("rand", "normal")):
                        return True
    return False


def _call_after(tree: ast.Module, line: Line, function: str) -> int | None:
    """The line of the only call of a function in the scope of a line, directly or through one that calls it alone."""
    for _ in range(3):
        scope = scope_of(tree, line.line)
        inner = (
            {id(n) for f in functions_of(tree) if f is not scope for n in ast.walk(f)}
            if scope is tree
            else set()
        )
        found = {
            n.lineno
            for n in ast.walk(scope)
            if isinstance(n, ast.Call) and id(n) not in inner and called_name(n.func) == function
        }
        if len(found) == 1:
            return found.pop()
        callers = {
            f.name
            for f in functions_of(tree)
            if f.name != function
            and any(isinstance(n, ast.Call) and called_name(n.func) == function for n in ast.walk(f))
        }
        if found or len(callers) != 1:
            return None
        function = callers.pop()
    return None


# ---- moves ---------------------------------------------------------------------------------------------------------
MOVES = ("flip", "fliplr", "flipud", "roll", "rot90")
COINS = ("flip", "fliplr", "flipud", "rot90")
CUTS = ("slice", "select", "narrow")
LEAST, LEAST_BATCHES = 24, 8


def moves(v: Value, known: set[int]) -> tuple[list[tuple[Any, Value]] | None, Value]:
    """How a picture was moved, the last move first, and where its way begins; None where that is not known.

    Args:
        v: the picture, or pictures.
        known: the values from before the loop, behind which no way leads.
    """
    found: list[tuple[Any, Value]] = []
    for _ in range(DEEP // 100):
        parents = v.parents
        if (
            not parents
            or id(v) in known
            or v.op in LAYERS
            or v.needs
            or v.op == "stack"
            or (v.op == "cat" and len(parents) > 1)
        ):
            return found, v
        x = parents[0]
        if v.op in MOVES:
            move = _move(v)
            if move is None:
                return None, v
            if move[1:]:
                found.append((move, v))
        elif v.op in CUTS and len(x.shape) >= 2 and v.shape[-2:] != x.shape[-2:]:
            at = _cut_at(v, x)
            if at is None:
                return None, v
            found.append((("cut", *at), v))
        elif "pad" in v.op or v.op in CUTS or v.op.startswith("index"):
            pass
        else:
            same = [y for y in parents if y.shape[-2:] == v.shape[-2:] and not _noise(y)]
            if len(same) != 1:
                return (found, v) if not same else (None, v)
            x = same[0]
        v = x
    return None, v


def _noise(v: Value) -> bool:
    v = beyond(v)
    while v.op in ("mul", "div") and v.parents:
        v = beyond(v.parents[0])
    if v.op == "source":
        return v.consts[:1] != () and v.consts[0] in (*NORMAL, "rand", "rand_like")
    return "rand" in v.op or "normal" in v.op


def _move(v: Value) -> tuple | None:
    """A move of the last two axes, its axes counted from the end; alone its name where it moves others."""
    many = len(v.shape)
    if v.op in ("fliplr", "flipud"):
        return v.op, 0
    if v.op == "flip" and v.consts and isinstance(v.consts[0], tuple):
        dims = tuple(sorted(d - many for d in v.consts[0] if d - many >= -2))
        return ("flip", *dims)
    if v.op == "rot90" and len(v.consts) == 3:
        k, a, b = v.consts
        turn = k % 4 if a < b else -k % 4
        return ("rot90", turn) if {a - many, b - many} == {-1, -2} else None
    if v.op == "roll" and len(v.consts) == 2 and len(v.consts[0]) == len(v.consts[1]):
        return (
            "roll",
            *sorted((d - many, s % v.shape[d]) for s, d in zip(*v.consts, strict=True) if d - many >= -2),
        )
    return None


def _cut_at(v: Value, x: Value) -> tuple[int, int] | None:
    """Where the last two axes of a picture were cut out."""
    a, b = array(v), array(x)
    if a is None or b is None or a.ndim < 2 or b.ndim < 2 or not np.may_share_memory(a, b):
        return None
    down, across = b.strides[-2:]
    if not down > across > 0:
        return None
    far = (a.__array_interface__["data"][0] - b.__array_interface__["data"][0]) % (down * b.shape[-2])
    return far // down, far % down // across


class DrawnTwice(Rule):
    """A picture and its map are moved by draws of their own: one function was called for each.

    Meaning: what is flipped, turned, rolled or cut out at random must be so with its target: one draw for both.
    Fires: when the input of the only call and the target of the only comparison have the same last two axes, neither
    comes from a network, nor both from one picture, nothing that the network gave was moved, and their ways through
    flips, turns, rolls and cuts of these axes are known, for each sample of a loader, or for whole batches; over 24
    samples in two looks, or 8 batches, both are moved by the same kinds of moves, two or more of them differ, and
    neither tells the other: there are two that share the move of the one and not that of the other, both ways; and
    both were moved at one line, in a function that draws, or, where all moves are flips and turns, at no line that
    they share.
    Wrong if: the two are views that need not fit.
    Healthy programs tried: both moved together or by one coin, a seed set before each call, noise for the picture
    alone, two views without a map, the next frame of a moving picture.
    """

    name, title, certainty, severity = "drawn twice", "moves of pictures and maps", LINEAGE, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.looks = self.samples = 0
        self.pairs: Counter[tuple] = Counter()
        self.kinds: tuple[set[str], set[str]] = set(), set()
        self.places: tuple[set[Any], set[Any]] = set(), set()
        self.batches = False

    def at_look(self, p: Any) -> None:
        """Compare the ways of input and target."""
        if p.root is None or not p.accumulates or len(p.calls) != 1 or p.calls[0].inputs is None:
            return
        found = heads_at(self.ev, p)
        if len(found) != 1 or found[0].target is None:
            return
        x, y = self.ev.of(p.calls[0].inputs), found[0].target
        if y.needs or x.needs or len(x.shape) < 3 or len(y.shape) < 3 or x.shape[-2:] != y.shape[-2:]:
            return
        if x.shape[0] != y.shape[0]:
            return
        known = {id(v) for v in self.ev.setup or ()}
        (mx, ex), (my, ey) = moves(x, known), moves(y, known)
        if mx is None or my is None or ex is ey or ex.model is not None or ey.model is not None:
            return
        if any(v.op in MOVES for v in ancestors(found[0].prediction, lambda v: v.model is None)):
            return
        each = [(mx, my)]
        whole = True
        if (
            ex.op == ey.op == "stack"
            and len(ex.parents) == len(ey.parents) == x.shape[0]
            and not mx
            and not my
        ):
            each = []
            whole = False
            for a, b in zip(ex.parents, ey.parents, strict=True):
                (one, begin), (other, start) = moves(a, known), moves(b, known)
                if one is None or other is None or begin is start:
                    return
                each.append((one, other))
        if not any(a or b for a, b in each):
            return
        self.looks += 1
        self.batches = whole
        for one, other in each:
            self.samples += 1
            self.pairs[tuple(m for m, _ in one), tuple(m for m, _ in other)] += 1
            for i, ways in enumerate((one, other)):
                self.kinds[i].update(m[0] for m, _ in ways)
                self.places[i].update(v.place for _, v in ways)

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        enough = self.samples >= (LEAST_BATCHES if self.batches else LEAST) and self.looks >= 2
        unlike = sum(n for (a, b), n in self.pairs.items() if a != b)
        if not enough or unlike < 2 or self.kinds[0] != self.kinds[1] or not self.kinds[0]:
            return
        if not (_free(a for a in self.pairs) and _free((b, a) for a, b in self.pairs)):
            return
        shared = sorted((self.places[0] & self.places[1]) - {None}, key=lambda at: at[1])
        found = [at for at in shared if self._draws(at)]
        if not found and (self.kinds[0] - set(COINS) or shared):
            return
        here, also = self._calls(found[0]) if found else self._apart()
        if here is None:
            return
        yield self.found(
            "A picture and its map are moved by draws of their own: they no longer lie on each other.",
            here,
            "draws for one",
            also=(also, "draws again for the other") if also != here else (None, ""),
            proof=[
                ("batches" if self.batches else "samples", self.samples),
                ("moved unlike their targets", unlike),
                ("moves", ", ".join(sorted(self.kinds[0]))),
            ],
            confirm=("a picture beside its map", "one is moved otherwise"),
            unless="they are views that need not fit.",
            advice="Draw once, and move both: call it with the two joined, or pass the draw to it.",
            weight=7.0,
            explains=("learns nothing", "unrelated", "too small", "mean", "moved apart", "one class"),
        )

    def _draws(self, place: Any) -> bool:
        """Whether the function of a place draws."""
        line = self.ev.line(place)
        tree = None if line is None else tree_of(line.file)
        if tree is None or line is None:
            return False
        scope = scope_of(tree, line.line)
        return scope is not tree and draws(scope)

    def _calls(self, place: Any) -> tuple[Line | None, Line | None]:
        """The two calls that each draw."""
        line = self.ev.line(place)
        tree = None if line is None else tree_of(line.file)
        if line is None or tree is None:
            return line, None
        name = getattr(
            scope_of(tree, line.line), "name", line.function
        )  # of the function around a comprehension
        for _ in range(3):
            pair = _two_calls(tree, name)
            if pair is not None:
                return at_line(line, pair[0]), at_line(line, pair[1])
            callers = {
                f.name
                for f in functions_of(tree)
                if f.name != name
                and any(isinstance(n, ast.Call) and called_name(n.func) == name for n in ast.walk(f))
            }
            if len(callers) != 1:
                break
            name = callers.pop()
        return line, None

    def _apart(self) -> tuple[Line | None, Line | None]:
        """The lines that move the one and the other."""
        first = [
            self.ev.line(min(places - {None}, key=lambda at: at[1], default=None)) for places in self.places
        ]
        return first[1], first[0]


def _free(pairs: Any) -> bool:
    """Whether there is a first that comes with two others."""
    seen: dict[Any, Any] = {}
    return any(seen.setdefault(a, b) != b for a, b in pairs)


def _two_calls(tree: ast.Module, name: str) -> tuple[int, int] | None:
    """Two calls of one function in one scope, that are given different things."""
    best: tuple[int, int] | None = None
    for scope in (*functions_of(tree), tree):
        inner = (
            {id(n) for f in functions_of(tree) if f is not scope for n in ast.walk(f)}
            if scope is tree
            else set()
        )
        by: dict[str, list[ast.Call]] = {}
        for n in ast.walk(scope):
            if (
                isinstance(n, ast.Call)
                and id(n) not in inner
                and n.args
                and isinstance(n.func, (ast.Name, ast.Attribute))
            ):
                last = called_name(n.func)
                instance = name in ("__call__", "forward") and getattr(scope, "name", "") == "__getitem__"
                if last == name or instance:
                    by.setdefault(ast.dump(n.func), []).append(n)
        for calls in by.values():
            calls.sort(key=lambda n: (n.lineno, n.col_offset))
            for one, other in itertools.pairwise(calls):
                if ast.dump(one.args[0]) != ast.dump(other.args[0]):
                    found = one.lineno, other.lineno
                    if best is None or found[1] - found[0] < best[1] - best[0]:
                        best = found
    return best


RULES = (OtherNoise, DrawnTwice)
