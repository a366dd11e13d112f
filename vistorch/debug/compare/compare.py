"""Two recordings op by op: which one is the first to differ, and whether by its own doing.

Ops are matched by name and module in their order; what only one run has is said. An op that differs is then fed the
inputs of the reference: if it computes what the reference did, its difference is inherited, else it is its own.

Invariant: neither recording is changed.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.base.numpy_warnings import without_warnings
from ...engine.core.rules import TABLE
from ..layers import spoken
from ..numbers import plain
from ..steps.words import count, index, number
from ..values import encoded
from .record import CompareRecord
from .recording import Op, Recording
from .replay import backward_again, forward_again, inputs_of

# how far two results of one computation may lie apart, by type: (relative, absolute)
TOLERANCES = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5),
    "complex128": (1e-7, 1e-7),
}
CELLS = 1024
# how many results these have: what they give beside is for their own backward, and libraries differ in it
RESULTS = {
    "attention": 1,
    "lstm_layer": 3,
    "masked_attention": 1,
    "max_pool2d": 1,
    "native_batch_norm": 1,
    "native_group_norm": 1,
    "native_layer_norm": 1,
    "nll_loss": 1,
}
# libraries reshape and transpose in another order
SHAPING = frozenset(
    ("clone", "contiguous", "expand", "permute", "reshape", "squeeze", "t", "transpose", "unsqueeze", "view")
)
NAMED = 3  # ops that a sentence names


@dataclass
class Difference:
    """How far two arrays lie apart: the largest absolute and relative difference, how many elements are beyond."""

    largest: float
    relative: float
    beyond: int
    size: int
    at: tuple[int, ...] = ()
    shapes: str = ""

    @property
    def differs(self) -> bool:
        """Whether anything is beyond the tolerance."""
        return bool(self.beyond or self.shapes)

    def wire(self) -> dict[str, Any]:
        """As it travels."""
        return {**vars(self), "at": list(self.at), "differs": self.differs}


def compare(
    a: Recording,
    b: Recording,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    single_step: bool = True,
) -> CompareRecord:
    """Compare a run with a reference.

    Args:
        a: the reference.
        b: the other run.
        rtol: relative tolerance; by default one for each type, as `testing.assert_close` has.
        atol: absolute tolerance.
        single_step: feed each op that differs the reference's inputs, so that it is not blamed for earlier ops.

    Example:
        >>> import vistorch
        >>> from vistorch.debug.compare import Record, compare
        >>> x = vistorch.ones(2, requires_grad=True)
        >>> runs = []
        >>> for scale in (2.0, 2.5):
        ...     with Record(f"times {scale}") as run:
        ...         y = (x.exp() * scale).sin().sum()
        ...     runs.append(run.recording())
        >>> compare(*runs).sentence.partition(":")[0]
        'The first difference is in mul (number 2)'
    """
    return _Comparison(a, b, rtol, atol, single_step).run()


class _Comparison:
    def __init__(self, a: Recording, b: Recording, rtol: Any, atol: Any, single_step: bool) -> None:
        self.a, self.b, self.rtol, self.atol, self.single = a, b, rtol, atol, single_step

    def run(self) -> CompareRecord:
        pairs = aligned(self.a.ops, self.b.ops)
        made = CompareRecord(
            "",
            self.a.title,
            self.b.title,
            self.rtol,
            self.atol,
            "",
        )
        made.title = " against ".join(made.names)
        made.libraries = list(
            dict.fromkeys("PyTorch" if one.source == "torch" else one.source for one in (self.a, self.b))
        )
        found: list[tuple[int, int, str, Op, Op, Difference, int]] = []
        with without_warnings():
            made.leaves = self._leaves()
            # where all gradients agree, an op that went backward in one run only is one of a Function's own
            self.alone = bool(made.leaves)
            for number_, (i, j) in enumerate(pairs):
                row = self._row(number_, i, j, found)
                made.rows.append(row)
            self._first(made, found)
        return made

    def _leaves(self) -> list[dict[str, Any]]:
        """The gradients that differ, by name; where the runs share no name, by their order."""
        a, b = self.a.leaves, self.b.leaves
        names = {name: name for name in a.keys() | b.keys()}
        if not a.keys() & b.keys() and [x.shape for x in a.values()] == [y.shape for y in b.values()]:
            names = dict(zip(a, b, strict=True))
        parts: list[dict[str, Any]] = []
        for name, other in sorted(names.items()):
            x, y = a.get(name), b.get(other)
            both = name if name == other else f"{name} and {other}"
            if x is None or y is None:
                parts.append({"name": both, "only": "a" if y is None else "b"})
            elif (d := self.difference(x, y)).differs:
                parts.append({"name": both, "only": "", **d.wire()})
        return parts

    def _first(self, made: CompareRecord, found: list) -> None:
        """The first op that differs: in forward, or else in the order of the pass; by its own doing if any does.

        Where the runs have other ops in one place, and what follows inherits a difference from there, those come first.
        """
        parted = self._parted(made)
        # forward in its order, then backward in the order of the pass
        ordered = sorted(found, key=lambda f: (f[2] == "backward", f[0] if f[2] == "forward" else f[6]))
        states = [made.rows[f[0]][f[2]]["state"] for f in ordered]
        if not ordered:
            agree = f"The runs agree: {count(len(made.rows), 'op')} compared."
            made.sentence = f"{_alone(made, parted[0])}; all others agree." if parted else agree
            return
        one, before = ordered[0], _before(ordered[0], states[0], parted)
        given = next((f for f in ordered if self._begins(f[2], f[3], f[4])), None)
        if states[0] == "inherited" and before is None:
            own = next((nr for nr, state in enumerate(states) if state != "inherited"), None)
            if own is not None:
                one, before = ordered[own], _before(ordered[own], states[own], parted)
            else:
                one = given or one
        row, nr, which, x, y, d, _ = one
        made.first = self._state_of(made.rows[row], nr, which, x, y, d)
        begins = self._begins(which, x, y)
        if made.rows[row][which]["state"] == "inherited" and before is None and given is None:
            made.sentence = _rounding(made, ordered)
            return
        made.sentence = _sentence(made.rows[row], which, made.first, d, begins)
        if before is not None:
            made.sentence = f"{_alone(made, before)}. {made.sentence}"

    def _parted(self, made: CompareRecord) -> list[dict]:
        """The first row of each place where the runs have other ops; not where libraries only shape otherwise."""
        same, found, within = self.a.source == self.b.source, [], False
        for row in made.rows:
            if row["a"] is not None and row["b"] is not None:
                within = False
            elif not within and (same or row["op"] not in SHAPING):
                found.append(row)
                within = True
        return found

    def _row(self, row: int, i: int | None, j: int | None, found: list) -> dict[str, Any]:
        x = None if i is None else self.a.ops[i]
        y = None if j is None else self.b.ops[j]
        op = x or y
        assert op is not None
        state = {
            "id": row,
            "a": i,
            "b": j,
            "op": op.name,
            "module": op.called or spoken(op.module),
            "layer": " ≠ ".join(dict.fromkeys(one.layer for one in (x, y) if one is not None and one.layer)),
            "line": op.line,
            "forward": None,
            "backward": None,
        }
        if x is None or y is None:
            return state
        shared = (
            len(x.outs) if self.a.source == self.b.source == "vistorch" else RESULTS.get(x.name, len(x.outs))
        )
        state["forward"] = self._side(
            "forward", row, x, y, list(enumerate(x.outs[:shared])), list(enumerate(y.outs)), found
        )
        if (x.sent and y.sent) or (self.alone and (x.sent or y.sent)):
            state["backward"] = self._side("backward", row, x, y, x.sent, y.sent, found)
        return state

    def _side(
        self, which: str, row: int, x: Op, y: Op, ours: list, theirs: list, found: list
    ) -> dict[str, Any]:
        """One side of a pair: its worst difference, and whether it is its own."""
        other = dict(theirs)
        worst, at = Difference(0.0, 0.0, 0, 0), 0
        for nr, value in ours:
            d = (
                self.difference(value, other[nr])
                if nr in other
                else Difference(0, 0, 0, 0, (), "only in the reference")
            )
            if (bool(d.shapes), d.beyond, d.largest) > (
                bool(worst.shapes),
                worst.beyond,
                worst.largest,
            ) or nr == ours[0][0]:
                worst, at = d, nr
        state, own = "same", None
        if worst.differs:
            state = "differs"
            if self.single:
                own = self._own(which, x, y, dict(ours))
                if own is not None:
                    state = "own" if own.differs else "inherited"
            found.append((row, at, which, x, y, worst, x.order if x.order is not None else row))
        return {"state": state, **worst.wire(), "own": None if own is None else own.largest}

    def _own(self, which: str, x: Op, y: Op, ours: dict) -> Difference | None:
        """How far the other run's op is from the reference when it is fed the reference's inputs."""
        ins = inputs_of(self.a, x)
        for k, (kind, *rest) in enumerate(y.ins[: len(ins)]):
            if kind == "number":  # a number the person typed belongs to the op, not to what came before
                ins[k] = rest[0]
        if which == "forward":
            again = forward_again(y, ins, x.outs)
            found = None if again is None else dict(enumerate(again))
        else:
            found = backward_again(y, ins, x.outs, x.given)
        if found is None:
            return None
        both = [self.difference(ours[nr], found[nr]) for nr in ours if nr in found]
        return max(both, key=lambda d: (d.differs, d.largest), default=None)

    def _begins(self, which: str, x: Op, y: Op) -> str:
        """The inputs of an op that no op made and that the runs do not share, if it is to them that it owes all."""
        if which == "backward":
            return ""
        rule = TABLE.get(y.name)
        names = rule.inputs if rule is not None and len(rule.inputs) == len(y.ins) else ()
        parts = []
        for k, (p, q) in enumerate(zip(x.ins, y.ins, strict=False)):
            if p[0] == q[0] == "array" and (d := self.difference(p[1], q[1])).differs:
                what = f"its {names[k]}" if names else f"its input {k + 1}"
                how = f"is {d.shapes}" if d.shapes else f"differs by up to {number(d.largest)}"
                parts.append(f"{what} of shape {list(p[1].shape)} {how}")
        return ", ".join(parts)

    def difference(self, x: np.ndarray, y: np.ndarray) -> Difference:
        """How far two arrays lie apart; NaN at the same place is the same."""
        if x.shape != y.shape:
            return Difference(0.0, 0.0, 0, int(x.size), (), f"{list(x.shape)} and {list(y.shape)}")
        if x.dtype != y.dtype:
            kinds = f"{x.dtype.name} and {y.dtype.name}"
        else:
            kinds = ""
        if not x.size:
            return Difference(0.0, 0.0, 0, 0, (), kinds)
        rtol, atol = TOLERANCES.get(x.dtype.name, (0.0, 0.0))
        rtol = self.rtol if self.rtol is not None else rtol
        atol = self.atol if self.atol is not None else atol
        wide = np.complex128 if "c" in (x.dtype.kind, y.dtype.kind) else np.float64
        p, q = plain(x).astype(wide), plain(y).astype(wide)
        same = (p == q) | (np.isnan(p) & np.isnan(q))
        apart = np.where(same, 0.0, np.abs(p - q))
        apart = np.where(np.isnan(apart), np.inf, apart)
        relative = np.where(same, 0.0, apart / np.maximum(np.maximum(np.abs(p), np.abs(q)), 1e-300))
        relative = np.where(np.isnan(relative), np.inf, relative)
        beyond = ~same & ~((apart <= atol + rtol * np.abs(p)) & np.isfinite(apart))
        flat = int(np.argmax(apart))
        at = tuple(int(i) for i in np.unravel_index(flat, x.shape))
        return Difference(
            float(apart.max()), float(relative.max()), int(beyond.sum()), int(x.size), at, kinds
        )

    def _state_of(self, row: dict, nr: int, which: str, x: Op, y: Op, d: Difference) -> dict[str, Any]:
        ours = dict(enumerate(x.outs)) if which == "forward" else dict(x.sent)
        theirs = dict(enumerate(y.outs)) if which == "forward" else dict(y.sent)
        p, q = ours.get(nr), theirs.get(nr)
        state: dict[str, Any] = {
            "row": row["id"],
            "pass": which,
            "output": nr,
            "at": list(d.at),
            "values": [],
            "apart": "",
        }
        for key, value in (("a", p), ("b", q)):
            state[key] = None if value is None else encoded(plain(value), CELLS, value.dtype.name)
        state["difference"] = None
        if p is not None and q is not None and p.shape == q.shape:
            state["values"] = _apart(*[plain(v)[d.at].item() for v in (p, q)]) if p.size else []
            wide = np.complex128 if p.dtype.kind == "c" else np.float64
            p, q = plain(p).astype(wide), plain(q).astype(wide)
            same = (p == q) | (np.isnan(p) & np.isnan(q))
            between = np.where(same, 0, q - p)
            state["apart"] = number(between[d.at].item()) if between.size else ""
            state["difference"] = encoded(between, CELLS)
        return state


def _before(found: tuple, state: str, parted: list[dict]) -> dict | None:
    """The last place where the runs have other ops, before a difference in the order in which all ran."""
    row, which = found[0], found[2]
    if which == "forward":
        return next((r for r in reversed(parted) if r["id"] < row), None)
    return next((r for r in parted if r["id"] > row), None) if state == "inherited" else None


def _rounding(made: CompareRecord, found: list) -> str:
    """Each op gives the reference's results when it is fed the reference's inputs, and the runs were given the same."""
    row, _, which, _, _, d, _ = max(found, key=lambda f: f[5].relative if f[5].largest else 0.0)
    what = f"{'the backward of ' if which == 'backward' else ''}{made.rows[row]['op']} (number {row + 1})"
    layer = f" in {_layer(made.rows[row]['module'])}" if made.rows[row]["module"] else ""
    return (
        f"The runs agree but for rounding: {count(len(made.rows), 'op')} compared, and each gives the reference's "
        f"results from the reference's inputs; rounding grows to {number(d.largest)} in {what}{layer}."
    )


def _alone(made: CompareRecord, first: dict) -> str:
    """The ops that one run has and the other has not, or has others in the place of."""
    mine: list[list[str]] = [[], []]
    for row in made.rows[first["id"] :]:
        if row["a"] is not None and row["b"] is not None:
            break
        mine[row["a"] is None].append(row["op"])
    here = f"number {first['id'] + 1}" + (f", in {_layer(first['module'])}" if first["module"] else "")
    parts = [
        ", ".join(ops[:NAMED]) + (f" and {len(ops) - NAMED} more" if len(ops) > NAMED else "") for ops in mine
    ]
    a, b = made.names
    if all(parts):
        return f"Where {a} has {parts[0]}, {b} has {parts[1]} ({here})"
    return f"Only {b if parts[1] else a} has {parts[0] or parts[1]} ({here})"


def _layer(name: str) -> str:
    """A layer's name after "in": an index alone needs a noun."""
    return f"layer {name}" if name.startswith("[") else name


def _sentence(row: dict, which: str, first: dict, d: Difference, begins: str) -> str:
    what = f"{'the backward of ' if which == 'backward' else ''}{row['op']} (number {row['id'] + 1})"
    where = f" in {_layer(row['module'])}" if row["module"] else ""
    if d.shapes:
        how = f"its results are {d.shapes}"
    else:
        place = f"at {index(d.at)} " if d.at else ""
        how = f"{place}it gives {' and '.join(first['values'])}, the largest difference {number(d.largest)}"
    whose = {
        "own": ", by its own doing",
        "inherited": f"; the runs gave it different numbers: {begins}"
        if begins
        else ", inherited from what it was given",
        "differs": "",
    }[row[which]["state"]]
    line = f" ({row['line']})" if row["line"] else ""
    return f"The first difference is in {what}{where}: {how}{whose}{line}."


def _apart(p: Any, q: Any) -> list[str]:
    """Two numbers, in so many digits that they can be told apart."""
    made = [number(p), number(q)]
    for digits in range(5, 18):
        if made[0] != made[1] or p == q or not isinstance(p, float) or not isinstance(q, float):
            break
        made = [f"{p:.{digits}g}", f"{q:.{digits}g}"]
    return made


def aligned(a: list[Op], b: list[Op]) -> list[tuple[int | None, int | None]]:
    """Pairs of ops of two runs; None where only one has an op.

    Ops of the same name, module and shapes come first; what lies between is matched by name and module alone, but for
    what only shapes, which says little of what it is.
    """
    named = [[(op.name, op.module) for op in ops] for ops in (a, b)]
    if named[0] == named[1]:
        return [(i, i) for i in range(len(a))]
    shaped = [
        [(*name, op.outs[0].shape if op.outs else ()) for name, op in zip(names, ops, strict=True)]
        for names, ops in zip(named, (a, b), strict=True)
    ]
    pairs: list[tuple[int | None, int | None]] = []
    for same, i0, i1, j0, j1 in _blocks(*shaped):
        if same:
            pairs += zip(range(i0, i1), range(j0, j1), strict=True)
        elif named[0][i0:i1] == named[1][j0:j1]:
            pairs += zip(range(i0, i1), range(j0, j1), strict=True)
        else:
            pairs += [
                (None if i is None else i + i0, None if j is None else j + j0)
                for i, j in _by_name(named[0][i0:i1], named[1][j0:j1])
            ]
    return pairs


def _by_name(x: list[tuple], y: list[tuple]) -> list[tuple[int | None, int | None]]:
    """Pairs of what has the same name and module."""
    keys = [
        [(nr, side) if name[0] in SHAPING else name for nr, name in enumerate(names)]
        for side, names in enumerate((x, y))
    ]
    pairs: list[tuple[int | None, int | None]] = []
    for same, i0, i1, j0, j1 in _blocks(*keys):
        if same:
            pairs += zip(range(i0, i1), range(j0, j1), strict=True)
        else:
            pairs += [(i, None) for i in range(i0, i1)] + [(None, j) for j in range(j0, j1)]
    return pairs


def _blocks(x: list, y: list) -> list[tuple[bool, int, int, int, int]]:
    """Runs of two lists in their order: (whether they are the same, from, to, from, to)."""
    found = difflib.SequenceMatcher(None, x, y, autojunk=len(x) > 4000).get_opcodes()
    return [(i1 - i0 == j1 - j0 and x[i0:i1] == y[j0:j1], i0, i1, j0, j1) for _, i0, i1, j0, j1 in found]
