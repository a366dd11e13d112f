"""Tables that are looked up by rows: rows that stand for padding and are none, and rows that are never reached.

Invariant: what is kept of the indices are counts by row and by column.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...line_lookup import Line, cell_of
from ...lineage import Value, beyond
from ..evidence import MOVES
from ..finding import DOUBTFUL, EXACT, LINEAGE, WRONG
from ..heads import CLASSES, PROBABILITIES, array
from ..written import LOOPS, at_line, given_by, mentions, tree_of
from .base import Counting, Rule
from .overwritten import spoils
from .padding import ids_of, token_of
from .structure import heads_at

MOST = 1 << 16  # rows of tables that are looked at
FIELDS = 64
LOOKS = 3


def table_of(v: Value) -> Any:
    """The table that a lookup reads; None where it is no parameter."""
    return next((beyond(x).tensor for x in v.parents if x.needs and beyond(x).tensor is not None), None)


def lookups(ev: Any, before: int) -> Iterator[tuple[Value, Any, Value, np.ndarray]]:
    """Each lookup of a pass: its value, the table, the indices and their numbers.

    Args:
        ev: the evidence.
        before: number of the newest value at the pass before.
    """
    left = 256
    for v in ev.values:
        if v.op != "embedding" or v.seq <= before or not v.needs:
            continue
        ids, table = ids_of(v), table_of(v)
        d = array(ids)
        if ids is None or d is None or table is None or len(table.shape) != 2 or table.shape[0] > MOST:
            continue
        if d.size and d.size <= MOST:
            yield v, table, ids, d
        left -= 1
        if not left:
            return


def bags(ev: Any, before: int) -> Iterator[tuple[Value, Any, Value, np.ndarray, int]]:
    """Each lookup of bags of one length in a pass: its value, the table, the indices, their numbers and the padding.

    Args:
        ev: the evidence.
        before: number of the newest value at the pass before.
    """
    for v in [v for v in ev.values if v.op == "embedding_bag" and v.seq > before and v.needs][:64]:
        ids, table = ids_of(v), table_of(v)
        token = getattr(v.module, "padding_idx", None)
        if token is None and len(v.consts) == 4:
            token = v.consts[2]
        while ids is not None and ids.op == "view" and len(ids.shape) == 1 and ids.parents:
            ids = ids.parents[0]
        d = array(ids)
        if ids is None or d is None or table is None or len(table.shape) != 2 or table.shape[0] > MOST:
            continue
        if type(token) is int and 0 <= token < table.shape[0] and d.ndim == 2 and 0 < d.size <= MOST:
            yield v, table, ids, d, token


def wide(ids: Value) -> Value | None:
    """The rows of several columns that indices were picked from; None where they come from one."""
    v = ids
    for _ in range(12):
        d = v.data
        if d is not None and d.ndim >= 2 and d.shape[-1] > 1 and d.dtype.kind in "iu":
            return v
        if not v.parents or not (v.op in MOVES or v.op in ("long", "to", "cast", "int")):
            return None
        v = v.parents[0]
    return None


def inner(same: np.ndarray) -> np.ndarray:
    """What is true with something else before and after it in its row."""
    other = ~same
    before = np.logical_or.accumulate(other, 1)
    after = np.logical_or.accumulate(other[:, ::-1], 1)[:, ::-1]
    return same & before & after


def common(count: float, counts: np.ndarray) -> bool:
    """Whether a row, counted apart, is met about as often as the others are.

    Args:
        count: of that row.
        counts: of all others that were met.
    """
    others = counts[counts > 0]
    if len(others) < 2 or count < 3:
        return False
    return bool(0.4 <= count / others.mean() <= 2.5)


class RealPadding(Counting):
    """A number that is given as that of the padding belongs to a real category: its vector is never learned.

    Meaning: the row `padding_idx` of a table gets no gradient, and a target `ignore_index` counts for nothing.
    Fires: when in three looks or more a table with a `padding_idx` is looked up by rows of single numbers, not picked
    from rows of several, in which that number stands elsewhere than in one run at the end, or by rows of several, or
    bags of one length, in which it stands between others, each time in data and not in what an op made, and nothing
    that was seen wrote into whole numbers at random places; or, likewise, the targets of a cross
    entropy whose `ignore_index` is a class; and over all looks it is met 0.4 to 2.5 times as often as the mean of the
    other numbers that are met.
    Wrong if: that number stands for what is not known.
    Healthy programs tried: padded rows, numbers that begin at 1, words that are masked out, numbers that are rare or
    more frequent than others, targets of masked words, segments of pictures, bags of which items are dropped.
    """

    name, title, certainty, severity = "real padding", "numbers that mean padding", LINEAGE, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.before = 0
        self.texts: dict[Any, bool] = {}  # by place of a write into numbers: whether it is at random
        self.hidden = False  # whether such a write was seen

    def at_write(self, tensor: Any, value: Any, place: Any) -> None:
        """Note that numbers are hidden at random, in place."""
        if self.hidden or tensor._rg or tensor._data.dtype.kind not in "iu":
            return
        if place not in self.texts and len(self.texts) < 256:
            self.texts[place] = spoils(self.ev.line(place)) is not None
        self.hidden = self.texts.get(place, False)

    def at_look(self, p: Any) -> None:
        """Count the numbers."""
        before, self.before = self.before, self.ev.seq
        if p.root is None or not p.accumulates:
            return
        columns: dict[Any, set] = {}
        found = []
        for v, table, ids, d in lookups(self.ev, before):
            token = token_of(v)
            if token is None or not 0 <= token < table.shape[0]:
                continue
            if d.ndim == 1:
                columns.setdefault((id(table), id(wide(ids))), set()).add(id(d))
            found.append((v, table, ids, d, token))
        for v, table, ids, d, token in bags(self.ev, before):
            self._count((id(table), token), table.shape[0], ids, d, token, False, (v.place, v.module, None))
        for v, table, ids, d, token in found:
            many = len(columns.get((id(table), id(wide(ids))), ())) > 1 and wide(ids) is not None
            self._count((id(table), token), table.shape[0], ids, d, token, many, (v.place, v.module, None))
        for head in heads_at(self.ev, p):
            consts = head.value.consts
            t = head.target
            d = array(t)
            if head.kind not in (CLASSES, PROBABILITIES) or t is None or d is None or len(consts) < 2:
                continue
            token, shape = consts[0], head.prediction.shape
            if type(token) is not int or len(shape) not in (2, 3) or d.dtype.kind not in "iu" or t.needs:
                continue
            classes = shape[1] if head.axis in (1, -1) or len(shape) == 2 else shape[-1]
            if 0 <= token < classes <= MOST:
                key = (self.ev.line(head.value.place), token, "loss")
                self._count(
                    key, classes, t, d, token, False, (head.value.place, head.value.module, head.name)
                )

    def _count(
        self, key: Any, rows: int, ids: Value, d: np.ndarray, token: int, many: bool, more: tuple
    ) -> None:
        entry = self.times.setdefault(key, [0, 0, np.zeros(rows, np.int64), True, more])
        base = wide(ids) if d.ndim == 1 else ids
        back = beyond(ids, MOVES)
        if many or d.ndim > 2 or (back.op not in ("source", "alias") and not back.op.startswith("index")):
            entry[3] = False
            return
        rows_of = d if d.ndim == 2 else None
        if d.ndim == 1 and base is not None and base.data is not None and base.data.size == d.size:
            rows_of = np.asarray(base.data).reshape(
                -1, base.data.shape[-1]
            )  # a row of tokens after the other
        if d.min() < 0 or d.max() >= rows:
            return
        counts = np.bincount(d.reshape(-1), minlength=rows)
        counts[token] = 0
        entry[2] += counts
        if rows_of is not None:
            met = int(inner(rows_of == token).sum())
        else:
            same = d == token
            met = 0 if runs_out(same) else int(same.sum())
        entry[0] += met > 0
        entry[1] += met

    def findings(self) -> Iterator:
        """Say where."""
        for key, (times, met, counts, good, (place, module, loss)) in self.times.items():
            if not good or times < LOOKS or not common(met, counts) or (self.hidden and loss is None):
                continue
            token = key[1]
            if loss is not None:
                text = f"{loss} ignores class {token}, which real samples have: they count for nothing."
            else:
                text = f"Row {token} of the table stands for padding, and {token} is a real number among the data: "
                text += "its vector is never learned."
            origin = self.ev.origins.get(id(module)) if module is not None else None
            made = None if origin is None else origin[2]
            yield self.found(
                text,
                made or place,
                "ignores a class" if loss else "padding_idx",
                layer=self.ev.module_name(module) if module is not None else "",
                related=self.lines((place if made else None, "is given it")),
                proof=[
                    (f"times that {token} was met, no padding", met),
                    ("times that others were met, mean", f"{counts[counts > 0].mean():.1f}"),
                    ("looks", times),
                ],
                confirm=(
                    f"(target == {token}).sum()"
                    if loss
                    else f"(ids == {token}).sum(), table.weight[{token}]",
                    "not 0" if loss else "not 0, and zeros after training",
                ),
                unless=f"{token} stands for what is not known.",
                advice="Leave ignore_index out, or give it a number that no sample has."
                if loss
                else "Leave padding_idx out, or count the categories from 1 in a table with one row more.",
                weight=6.0,
            )


def runs_out(same: np.ndarray) -> bool:
    """Whether what is true in a row stands in one run at its end."""
    first = int(same.argmax()) if same.any() else len(same)
    return bool(same[first:].all())


class NoOffsets(Counting):
    """Fields share one table, and each counts from 0: they get the same rows, and the rest is never used.

    Meaning: a table for several fields is as long as all their ranges together; each field needs its own rows.
    Fires: when in three looks or more one table is looked up by the same number of columns, 2 to 64, at least as many
    rows of data as it has rows, each column takes 7 tenths or more of the numbers up to its largest, these largest,
    plus 1 each, are not all the same and add up to 95 to 100 % of the rows of the table.
    Wrong if: the fields are of one kind, and the table is larger than it needs to be.
    Healthy programs tried: offsets, a table for each field, sentences, numbers of places, pairs of words.
    """

    name, title, certainty, severity = "no offsets", "fields of one table", LINEAGE, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.before = 0

    def at_look(self, p: Any) -> None:
        """Note what each column holds."""
        before, self.before = self.before, self.ev.seq
        if p.root is None or not p.accumulates:
            return
        given: dict[int, list] = {}
        for v, table, ids, d in lookups(self.ev, before):
            given.setdefault(id(table), [table, v, []])[2].append((ids, d))
        for key, (table, v, each) in given.items():
            if len(each) == 1:
                d = each[0][1]
            else:
                base = wide(each[0][0])
                if base is None or any(wide(x) is not base or y.ndim != 1 for x, y in each):
                    self.times.setdefault(key, [0, None, set(), 0, False, None])[4] = False
                    continue
                d = np.stack([y for _, y in each], 1) if len({y.shape for _, y in each}) == 1 else each[0][1]
            entry = self.times.setdefault(key, [0, table, [set() for _ in range(d.shape[-1])], 0, True, None])
            if d.ndim != 2 or not 2 <= d.shape[1] <= FIELDS or len(entry[2]) != d.shape[1] or not entry[4]:
                entry[4] = False
                continue
            if d.size > 1 << 14:
                d = d[: (1 << 14) // d.shape[1]]
            entry[0] += 1
            entry[3] += len(d)
            for seen, column in zip(entry[2], d.T, strict=True):
                seen.update(column.tolist())
            entry[5] = v.place, v.module

    def findings(self) -> Iterator:
        """Say where."""
        for times, table, seen, many, good, more in self.times.values():
            if not good or times < LOOKS or table is None or more is None or any(len(s) < 2 for s in seen):
                continue
            rows, ranges = table.shape[0], [max(s) + 1 for s in seen]
            if many < rows or any(len(s) < 0.7 * r for s, r in zip(seen, ranges, strict=True)):
                continue
            if not 0.95 * rows <= sum(ranges) <= rows or min(ranges) == max(ranges):
                continue
            place, module = more
            origin = self.ev.origins.get(id(module)) if module is not None else None
            words = " + ".join(map(str, ranges[:6])) + (" + …" if len(ranges) > 6 else "")
            yield self.found(
                f"The table has {rows:,} rows for {len(ranges)} fields ({words}), and each counts from 0: rows above "
                f"{max(ranges) - 1} are never used.",
                place,
                "no offsets",
                layer=self.ev.module_name(module) if module is not None else "",
                related=self.lines((None if origin is None else origin[2], f"{rows:,} rows")),
                proof=[("rows of the table", rows), ("largest number that is looked up", max(ranges) - 1)],
                confirm=("ids.max(0), table.num_embeddings", f"{max(ranges) - 1} at most, and {rows}"),
                unless="the fields are of one kind.",
                advice="Add to each field the sizes of those before it: table(ids + offsets).",
                weight=6.0,
            )


class OtherRange(Counting):
    """Random rows of a table are drawn from a part of it: the range is that of another table.

    Meaning: what is drawn in the place of a row, as a negative sample is, has to come from all rows.
    Fires: when over three looks or more, and 100 draws or more, uniform random integers that are drawn in the loop
    look up a table, with nothing but moves between, and all of them lie below three quarters of its rows, while a
    tenth or more of other lookups of that table in the same looks, in data, reach beyond all of them.
    Wrong if: only those rows are to be drawn.
    Healthy programs tried: negatives from all rows, random batches of data, draws from a list of candidates.
    """

    name, title, certainty, severity = "other range", "rows that are drawn", LINEAGE, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.before = 0
        self.sizes: dict[int, int] = {}
        self.read: list[tuple[Line, int | None, bool]] | None = None  # the draws in the program's text

    def at_look(self, p: Any) -> None:
        """Tell draws from data."""
        before, self.before = self.before, self.ev.seq
        if p.root is None or not p.accumulates:
            return
        known = {id(one) for one in self.ev.setup or ()}
        for v, table, ids, d in lookups(self.ev, before):
            self.sizes[id(table)] = table.shape[0]
            entry = self.times.setdefault(id(table), [0, 0, -1, [], None, 0, v.module])
            source = beyond(ids, MOVES)
            drawn = source.op == "randint_like" or (source.op == "source" and not source.ins)
            if drawn and source.op == "source" and "randint" not in source.consts:
                hidden = self.ev.ready != "torch." and source.place is None  # draws are no events everywhere
                drawn = hidden and bool(self._draws(v.place))
            drawn = drawn and id(source) not in known
            if drawn:
                entry[0] += 1
                entry[1] += d.size
                entry[2] = max(entry[2], int(d.max()))
                entry[4] = (source.place, v.place)
            elif len(entry[3]) < 64:
                entry[3].append(np.sort(d.reshape(-1))[:: max(1, d.size // 256)])

    def _draws(self, place: Any) -> list[tuple[Line, int | None, bool]]:
        """The lines that draw integers, not to pick by: the bound if it is known, and whether they run again."""
        if self.read is not None:
            return self.read
        line = self.ev.line(place)
        files = {code.co_filename for code in self.ev.seen_code} | (
            {line.file} if line is not None else set()
        )
        out = []
        for file in sorted(files):
            here = Line(file, 1, "<module>", "", cell_of(file))
            tree = tree_of(file)
            picks = (
                [n.slice for n in ast.walk(tree) if isinstance(n, ast.Subscript)] if tree is not None else []
            )
            inside = {id(n) for one in picks for n in ast.walk(one)}
            names = {n.id for one in picks for n in ast.walk(one) if isinstance(n, ast.Name)}
            for node in () if tree is None else ast.walk(tree):
                if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == "randint":
                    if id(node) not in inside and _taker(tree, node) not in names:
                        out.append(
                            (at_line(here, node.lineno), _bound(tree, node), _again(tree, node.lineno))
                        )
        self.read = out
        return out

    def findings(self) -> Iterator:
        """Say where."""
        for key, (times, many, top, others, more, _, module) in self.times.items():
            rows = self.sizes[key]
            if times < LOOKS or many < 100 or top + 1 > 0.75 * rows or not others or more is None:
                continue
            beyond_it = float(np.mean(np.concatenate(others) > top))
            if beyond_it < 0.1:
                continue
            place, used = more
            line = self.ev.line(place)
            if line is None:
                drawn = [one for one in self._draws(used) if one[1] is None or top < one[1] <= 0.75 * rows]
                drawn = [one for one in drawn if one[2]] or drawn
                drawn = [one for one in drawn if one[1] is not None] or drawn
                if len({one[0].line for one in drawn}) != 1:
                    continue
                line = drawn[0][0]
            other = next(
                (n for k, n in self.sizes.items() if k != key and top < n <= 1.1 * (top + 1) + 1), None
            )
            yield self.found(
                f"Rows are drawn from 0 to {top} for a table of {rows:,}: {100 * beyond_it:.0f} % of the others lie "
                "beyond.",
                line,
                "draws from a part",
                related=self.lines((used, "looks them up")),
                layer=self.ev.module_name(module) if module is not None else "",
                proof=[
                    ("largest of the rows drawn", top),
                    ("rows of the table", rows),
                    ("draws", many),
                    *([("rows of another table", other)] if other else []),
                ],
                confirm=("drawn.max(), table.num_embeddings", f"{top}, {rows}"),
                unless="only those rows are to be drawn.",
                advice=f"Draw from all rows: randint(0, {rows}, …).",
                weight=6.0,
            )


def _taker(tree: Any, call: ast.Call) -> str:
    """The name that what a call gives is assigned to."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and node.value is call and len(node.targets) == 1:
            return ast.unparse(node.targets[0])
    return ""


def _again(tree: Any, number: int) -> bool:
    """Whether a line stands in a loop or in a function."""
    kinds = (ast.FunctionDef, ast.Lambda, *LOOPS)
    return any(isinstance(n, kinds) and n.lineno < number <= (n.end_lineno or 0) for n in ast.walk(tree))


def _bound(tree: Any, call: ast.Call) -> int | None:
    """The bound of a draw, where it is written as a number, or as a name that is given one number."""
    args = [a for a in call.args if not isinstance(a, (ast.Tuple, ast.List))]
    found = next((k.value for k in call.keywords if k.arg == "high"), None)
    if found is None:
        found = args[1] if len(args) > 1 else args[0] if args else None
    if isinstance(found, (ast.Name, ast.Attribute)):
        name = ast.unparse(found).rpartition(".")[2]
        values = []
        for node in ast.walk(tree):
            if isinstance(node, (ast.Assign, ast.AnnAssign)):
                values += [v for t, v in given_by(node) if ast.unparse(t).rpartition(".")[2] == name]
        numbers = {v.value for v in values if isinstance(v, ast.Constant) and type(v.value) is int}
        return numbers.pop() if len(numbers) == 1 else None
    if isinstance(found, ast.Constant) and type(found.value) is int:
        return found.value
    return None


class FrozenBlank(Rule):
    """A table that `from_pretrained` froze by its default has rows of zeros that are looked up: they stay the same.

    Meaning: `Embedding.from_pretrained` freezes its table unless it is given `freeze=False`; words without a vector of
    their own cannot be told apart, and never learn one.
    Fires: when a table without a gradient was made by a call of `from_pretrained` that is given no `freeze`, in a file
    that does not mention `requires_grad`, an optimizer that made three steps holds it, and over three looks or more at
    least 8 of its rows, that of the padding apart, that were looked up hold nothing but zeros, and these are 15 % or
    more of all rows that were looked up, and of all lookups.
    Wrong if: words without a vector are to count for nothing.
    Healthy programs tried: `freeze=False`, tables that are frozen on purpose, whole tables, a row for the padding and
    one for what is unknown, rows that are rarely met.
    """

    name, title, certainty, severity = "frozen blank", "tables that are frozen by default", EXACT, DOUBTFUL

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.before = 0
        self.met: dict[int, list] = {}  # by table: it, its module, how often each row was met, looks

    def at_look(self, p: Any) -> None:
        """Count what is looked up in tables without a gradient."""
        before, self.before = self.before, self.ev.seq
        if p.root is None or not p.accumulates:
            return
        for v in self.ev.values:
            weight = getattr(v.module, "weight", None)
            if v.op != "embedding" or v.seq <= before or v.needs or weight is None or weight._rg:
                continue
            d, rows = array(ids_of(v)), weight.shape[0]
            if d is None or not d.size or rows > MOST or d.min() < 0 or d.max() >= rows:
                continue
            entry = self.met.setdefault(id(weight), [weight, v.module, np.zeros(rows, np.int64), set()])
            entry[2] += np.bincount(d.reshape(-1), minlength=rows)
            entry[3].add(p.number)

    def findings(self) -> Iterator:
        """Say which table."""
        ev = self.ev
        for weight, module, met, looks in self.met.values():
            held = any(id(weight) in one.held and one.steps >= LOOKS for one in ev.ledgers.values())
            table = getattr(weight, "_data", None)
            made = ev.origins.get(id(module))
            line = None if made is None else ev.line(made[2])
            if not held or len(looks) < LOOKS or not isinstance(table, np.ndarray) or line is None:
                continue
            padding = getattr(module, "padding_idx", None)
            if padding is not None:
                met[padding] = 0
            blank = (met > 0) & ~table.any(1)
            rows, every = int(blank.sum()), int((met > 0).sum())
            if rows < 8 or rows < 0.15 * every or met[blank].sum() < 0.15 * met.sum():
                continue
            if not _by_default(line) or mentions(line, ("requires_grad", "requires_grad_")):
                continue
            yield self.found(
                f"from_pretrained freezes its table: {rows} rows of zeros that are looked up stay what they are.",
                line,
                "freezes it",
                layer=ev.module_name(module),
                proof=[
                    ("rows that were looked up", every),
                    ("of them all zeros", rows),
                    ("share of the lookups", f"{met[blank].sum() / met.sum():.2f}"),
                ],
                confirm=("table.weight.requires_grad", "False"),
                unless="words without a vector are to count for nothing.",
                advice="Give it freeze=False.",
                weight=4.0,
            )
            return


def _by_default(line: Line) -> bool:
    """Whether a line makes a table by `from_pretrained` and does not say whether it is frozen."""
    tree = tree_of(line.file)
    for n in () if tree is None else ast.walk(tree):
        if isinstance(n, ast.Call) and n.lineno <= line.line <= (n.end_lineno or n.lineno):
            if getattr(n.func, "attr", "") == "from_pretrained":
                named = [k.arg for k in n.keywords]
                return len(n.args) < 2 and "freeze" not in named and None not in named
    return False


RULES = (RealPadding, NoOffsets, OtherRange, FrozenBlank)
