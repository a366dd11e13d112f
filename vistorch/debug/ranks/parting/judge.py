"""Which tensor is the first in which ranks part, where it was written, and by what.

What has to be alike is parameters and buffers as a network is called, gradients as an optimizer steps, and parameters
after it. Data, and what is computed from it, is each rank's own, unless all were to be given the same.

Invariant: nothing is read but what the ranks sent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict

import numpy as np

from ...steps.words import count, number
from ...wire_types import Finite
from ..named import named
from .trail import AFTER, BACKWARD, BEFORE, FORWARD, UNNAMED

ROWS = 8  # tensors in the table
DIGITS = 4
FRESH = 67280421310721  # the seed of a process that has set none


class Part(TypedDict):
    """One tensor at one point of a step, on all ranks."""

    tensor: str
    when: str
    sums: list[str]  # by rank
    odd: list[bool]
    differs: Finite | None  # by how much at most
    first: bool


class Code(TypedDict):
    """A line of source."""

    number: int
    text: str
    hit: bool


class Seed(TypedDict):
    """Something of the generator, by rank."""

    name: str
    values: list[str]
    odd: list[bool]


class Parting(TypedDict):
    """What travels."""

    title: str
    text: str
    apart: bool
    rank: int  # the first that differs; -1 if none does
    step: int
    rows: list[Part]
    file: str
    code: list[Code]
    seeds: list[Seed]
    cure: str
    notes: list[str]


Values = Callable[[int, list[str]], Mapping[str, np.ndarray]]


def judge(
    trails: Mapping[int, Mapping[str, Any]], same: bool = False, values: Values | None = None
) -> Parting:
    """Find where ranks part.

    Args:
        trails: what each rank's `Trail` sends, by rank.
        same: whether all ranks were to be given the same data, so that every op has to be alike.
        values: gives the arrays behind checksums of a rank, for how much they differ.

    Example:
        >>> import vistorch
        >>> from vistorch.debug.ranks.parting import Trail, judge
        >>> trails = {}
        >>> for rank in range(2):
        ...     net = vistorch.nn.Linear(1, 1)  # each draws its own
        ...     with Trail() as trail:
        ...         y = net(vistorch.ones(1, 1))
        ...     trails[rank] = trail.wire()
        >>> judge(trails)["title"]
        'Ranks part at step 0: weight differs first on rank 1'
    """
    return _Judge(trails, same, values).parting()


class _Judge:
    def __init__(self, trails: Mapping[int, Mapping[str, Any]], same: bool, values: Values | None) -> None:
        self.trails, self.same, self.values = dict(sorted(trails.items())), same, values
        self.ranks = list(self.trails)
        self.points = self._aligned()
        self._rename()

    # ---- what is compared ---------------------------------------------------------------------------------------
    def _aligned(self) -> list[list[dict[str, Any]]]:
        """The points of all ranks, put together by what they are and how often that came before."""
        found: dict[tuple[str, int], list[dict[str, Any]]] = {}
        for rank in self.ranks:
            seen: dict[str, int] = {}
            for point in self.trails[rank]["points"]:
                nr = seen[point["what"]] = seen.get(point["what"], -1) + 1
                found.setdefault((point["what"], nr), []).append(point)
        return [points for points in found.values() if len(points) == len(self.ranks)]

    def _rename(self) -> None:
        """Give a parameter that a rank never used the name that it has on the others: optimizers list them alike."""
        for points in self.points:
            if points[0]["what"] not in (BEFORE, AFTER) or len({len(one["tensors"]) for one in points}) > 1:
                continue
            for names in list(zip(*(list(one["tensors"]) for one in points), strict=True)):
                best = next((name for name in names if not name.startswith(UNNAMED)), names[0])
                for one, name in zip(points, names, strict=True):
                    if name != best and name.startswith(UNNAMED):
                        for field in ("tensors", "wrote"):
                            one[field] = {best if n == name else n: value for n, value in one[field].items()}

    def odd(self, sums: Sequence[Any]) -> list[bool]:
        """Which differ from what most have; of two, the second."""
        most = max(dict.fromkeys(sums), key=list(sums).count)
        return [one != most for one in sums]

    def apart(self, points: Sequence[Mapping[str, Any]], field: str = "tensors") -> list[str]:
        """The names of what differs at a point, in their order."""
        fields = [one.get(field) or {} for one in points]
        return [
            name
            for name in fields[0]
            if all(name in f for f in fields) and len({f[name] for f in fields}) > 1
        ]

    def _first_point(self) -> int | None:
        for at, points in enumerate(self.points):
            what = points[0]["what"]
            if what == BACKWARD and not self.same:
                continue
            if self.apart(points):
                return at
        return None

    def _first_op(self) -> tuple[int, dict[str, Any]] | None:
        """The first op that differs, where every op has to be alike."""
        rows = [self.trails[rank]["ops"] for rank in self.ranks]
        for at in range(max(map(len, rows), default=0)):
            ops = [one[at] if at < len(one) else None for one in rows]
            if any(op is None or op["name"] != (ops[0] or {}).get("name") for op in ops):
                return at, {"kind": "path", "op": at}
            if len({tuple(op["outs"]) for op in ops if op is not None}) > 1:
                return at, self._cause(at)
        return None

    # ---- why ----------------------------------------------------------------------------------------------------
    def _cause(self, at: int) -> dict[str, Any]:
        """Follow an op that differs to the first that differs by itself, or to what it was given."""
        for _ in range(at + 1):
            ops = [self.trails[rank]["ops"][at] for rank in self.ranks if at < len(self.trails[rank]["ops"])]
            if len(ops) < len(self.ranks) or len({(op["name"], len(op["ins"])) for op in ops}) > 1:
                return {"kind": "path", "op": at}
            if len({tuple(op["drawn"]) for op in ops}) > 1:
                return {"kind": "drawn", "op": at}
            leaf: dict[str, Any] | None = None
            back = None
            for ins in zip(*(op["ins"] for op in ops), strict=True):
                kind = ins[0][0]
                if any(one[0] != kind for one in ins):
                    return {"kind": "path", "op": at}
                if kind == "op":
                    outs = {
                        self.trails[r]["ops"][i[1]]["outs"][i[2]]
                        for r, i in zip(self.ranks, ins, strict=True)
                    }
                    if len(outs) > 1 and len({i[1] for i in ins}) == 1 and ins[0][1] < at:
                        back = ins[0][1] if back is None else min(back, ins[0][1])
                elif len({one[1] for one in ins}) > 1:
                    leaf = {"kind": kind, "op": at, "values": [one[1] for one in ins]}
                    if kind == "array":
                        leaf |= {"name": ins[0][2], "shape": ins[0][3]}
            if leaf is not None:
                return leaf
            if back is None:
                consts = {tuple(op["consts"]) for op in ops}
                return {
                    "kind": "own" if len(consts) == 1 else "consts",
                    "op": at,
                    "values": [op["consts"] for op in ops],
                }
            at = back
        return {"kind": "own", "op": at}

    def _place(self, rank: int, op: int) -> Mapping[str, Any]:
        return self.trails[rank]["places"][self.trails[rank]["ops"][op]["place"]]

    # ---- in words -----------------------------------------------------------------------------------------------
    def parting(self) -> Parting:
        point = self._first_point()
        op = self._first_op() if self.same else None
        if op is not None and (point is None or op[0] < self.points[point][0]["op"]):
            made = self._of_op(*op)
        elif point is not None:
            made = self._of_point(point)
        else:
            made = self._alike()
        made["notes"] += self._notes(made)
        return made

    def _empty(self, **known: Any) -> Parting:
        return {
            "title": "",
            "text": "",
            "apart": True,
            "rank": -1,
            "step": 0,
            "rows": [],
            "file": "",
            "code": [],
            "seeds": [],
            "cure": "",
            "notes": [],
            **known,
        }  # type: ignore[typeddict-item]

    def _alike(self) -> Parting:
        steps = max(
            (points[0]["step"] + 1 for points in self.points if points[0]["what"] == AFTER), default=0
        )
        ops = max((len(trail["ops"]) for trail in self.trails.values()), default=0)
        wrong = self._data()
        if wrong:
            return self._empty(title=wrong[0], text=wrong[1], cure=wrong[2])
        if not self.points and not ops:
            return self._empty(title="Nothing ran that could be compared", apart=False)
        what = "every op is" if self.same else "parameters, buffers and gradients are"
        ran = f"{count(steps, 'step')} and {count(ops, 'op')}"
        text = f"In {ran} {what} the same on all {len(self.ranks)} ranks, bit for bit."
        return self._empty(title="Ranks agree", text=text, apart=False)

    def _of_op(self, at: int, cause: dict[str, Any]) -> Parting:
        at = cause["op"]
        ops = [self.trails[r]["ops"][at] if at < len(self.trails[r]["ops"]) else None for r in self.ranks]
        seen = [None if op is None else (op["name"], *op["outs"]) for op in ops]
        odd = self.odd(seen)
        rank = self.ranks[odd.index(True)]
        op = next(op for op in ops if op is not None)
        step = max((p["step"] for p in self.trails[rank]["points"] if p["op"] <= at), default=0)
        name = f"{op['name']} (op {at + 1}{', in ' + op['module'] if op['module'] else ''})"
        others = [r for r, o in zip(self.ranks, odd, strict=True) if not o]
        text, cure, hint = self._said(cause, odd)
        here = rank if at < len(self.trails[rank]["ops"]) else others[0]
        sums = ["–" if op is None else "".join(o[:DIGITS] for o in op["outs"][:1]) for op in ops]
        row = Part(tensor=op["name"], when=f"op {at + 1}", sums=sums, odd=odd, differs=None, first=True)
        return self._empty(
            title=f"Ranks part at step {step:,}: {name} differs first on {named([rank])}{hint}",
            text=f"{text} {self._line(here, at)}".strip(),
            rank=rank,
            step=step,
            rows=[row],
            cure=cure,
            seeds=self._seeds(at),
            **self._code(self._place(here, at)),
        )

    def _line(self, rank: int, op: int) -> str:
        line = self._place(rank, op)["line"]
        return f"({line})" if line else ""

    def _said(self, cause: Mapping[str, Any], odd: list[bool]) -> tuple[str, str, str]:
        """What an op differs by; the cure; and a hint for the title."""
        who, others = self._sides(odd)
        kind = cause["kind"]
        if kind == "path":
            names = [
                self.trails[r]["ops"][cause["op"]]["name"]
                if cause["op"] < len(self.trails[r]["ops"])
                else "no op"
                for r in self.ranks
            ]
            return (
                f"On {who} {names[odd.index(True)]} runs here, on {others} {names[odd.index(False)]}: the program "
                "takes another way there.",
                "",
                "",
            )
        if kind == "drawn":
            return self._drawn(who)
        if kind in ("number", "consts"):
            given = [str(one) for one in cause["values"]]
            return (
                f"It is given {given[odd.index(True)]} on {who}, {given[odd.index(False)]} on {others}.",
                "",
                "",
            )
        if kind == "array" and not cause["name"]:
            order = self._order(cause)
            if order:
                return (
                    order,
                    "Shuffle with a generator of the same seed on every rank.",
                    " (another order of batches)",
                )
            said = (
                f"It is given an array of shape {cause['shape']} that no op made, with other values on {who}"
            )
            if self._seeds_differ():
                return (
                    f"{said}: drawn, or data of its own.",
                    "Set the seed on every rank, or load the same data.",
                    "",
                )
            return f"{said}: data of its own.", "", ""
        if kind == "array":
            return f"Its {cause['name']} is not the same on {who}.", "", ""
        return f"From the same inputs it computes something else on {who}.", "", ""

    def _sides(self, odd: Sequence[bool]) -> tuple[str, str]:
        """The ranks that differ, and the others, in words."""
        mine = [r for r, o in zip(self.ranks, odd, strict=True) if o]
        theirs = [r for r, o in zip(self.ranks, odd, strict=True) if not o]
        return named(mine), named(theirs)

    def _drawn(self, who: str) -> tuple[str, str, str]:
        if self._seeds_differ():
            return (
                f"It draws random numbers, others on {who}: the seeds are not the same.",
                "`torch.manual_seed(0)` on every rank, before the first step.",
                " (forgotten seed?)",
            )
        return (
            f"It draws random numbers, others on {who}: the seed is the same, but more or fewer were drawn before.",
            "Draw as often on every rank, or give this a `torch.Generator` of its own.",
            " (generators out of step)",
        )

    def _order(self, cause: Mapping[str, Any]) -> str:
        """A batch that another rank was given in another step."""
        batches = [self.trails[r]["batches"] for r in self.ranks]
        for steps in zip(*batches, strict=False):
            odd = self.odd([tuple(one["rows"]) for one in steps])
            if not any(odd):
                continue
            one, two = odd.index(True), odd.index(False)
            rank, main = self.ranks[one], self.ranks[two]
            mine = steps[one]["rows"]
            given = f"Rank {rank} is given"
            for other in batches[two]:
                if other["rows"] == mine:
                    step, there = steps[one]["step"], other["step"]
                    return f"{given} in step {step:,} the batch that rank {main} is given in step {there:,}."
            if sorted(mine) == sorted(steps[two]["rows"]):
                return f"{given} the samples of the batch in another order."
            if {row for batch in batches[two] for row in batch["rows"]}.issuperset(mine):
                return f"{given} the samples that rank {main} is given, in another order."
            return ""
        return ""

    def _seeds_differ(self) -> bool:
        return any(len({one["seed"] for one in points}) > 1 for points in self.points)

    def _of_point(self, at: int) -> Parting:
        points = self.points[at]
        step = points[0]["step"]
        name = self.apart(points)[0]
        sums = [one["tensors"][name] for one in points]
        odd = self.odd(sums)
        rank = self.ranks[odd.index(True)]
        who, _ = self._sides(odd)
        before = self._before(at, name)
        text, cure, hint, place = self._why(at, name, odd, before)
        return self._empty(
            title=f"Ranks part at step {step:,}: {name} differs first on {who}{hint}",
            text=text,
            rank=rank,
            step=step,
            rows=self._rows(at, name, before),
            cure=cure,
            seeds=self._seeds(points[0]["op"], at),
            **self._code(place),
        )

    def _before(self, at: int, name: str) -> int | None:
        """The newest earlier point at which the ranks had a tensor alike."""
        for i in range(at - 1, -1, -1):
            if all(name in one["tensors"] for one in self.points[i]):
                return i if name not in self.apart(self.points[i]) else None
        return None

    def _why(
        self, at: int, name: str, odd: list[bool], before: int | None
    ) -> tuple[str, str, str, Mapping[str, Any] | None]:
        points = self.points[at]
        what = points[0]["what"]
        place, cause = self._written(points, name, odd, before)
        when = "" if before is None else self._when(before)
        since = f"Equal on all ranks {when}." if when else ""
        who, _ = self._sides(odd)
        if what == AFTER:
            said, cure = self._of_step(at, name, odd)
            return f"{since} {said}".strip(), cure, "", place
        none = [one["tensors"][name] == "none" for one in points]
        if any(none):
            lacking = named([r for r, o in zip(self.ranks, none, strict=True) if o])
            return (
                f"No gradient has come to it on {lacking}: the loss does not depend on it there.",
                "DistributedDataParallel(find_unused_parameters=True) averages what some ranks do not use.",
                "",
                place,
            )
        if what == BEFORE and before is None:
            if not points[0]["averaged"]:
                return (
                    "Nothing has averaged the gradients of the ranks.",
                    "Wrap the network in DistributedDataParallel, or all_reduce each gradient before step().",
                    " (gradients not averaged)",
                    place,
                )
            return (
                "DistributedDataParallel has not averaged this gradient: the pass ran in no_sync(), or the parameter "
                "is not of the network that was wrapped.",
                "",
                " (gradient not averaged)",
                place,
            )
        said, cure, hint = self._said(cause, odd) if cause is not None else ("", "", "")
        if place is not None and place["line"]:
            said = f"Then {place['line']} writes it. {said}".strip()
        if before is None and not said:
            said = f"It was not the same when the run began: its values are others on {who}."
        seeds = len({one["seed"] for one in points}) > 1
        if seeds and not hint and before is not None and (cause is None or cause["kind"] == "array"):
            hint, cure = " (forgotten seed?)", "`torch.manual_seed(0)` on every rank, before the first step."
            said = f"{said} The seeds of the ranks are not the same."
        elif seeds and not hint and before is None and what == FORWARD:
            hint, cure = (
                " (forgotten seed?)",
                cure
                or "`torch.manual_seed(0)` on every rank before the network is made, or DistributedDataParallel, "
                "which gives all ranks the parameters of rank 0.",
            )
        elif not cure and what == FORWARD:
            cure = "`torch.distributed.broadcast(tensor, 0)` gives all ranks what rank 0 has."
        return f"{since} {said}".strip(), cure, hint, place

    def _written(
        self, points: Sequence[Mapping[str, Any]], name: str, odd: list[bool], before: int | None
    ) -> tuple[Mapping[str, Any] | None, dict[str, Any] | None]:
        """Where a tensor was written since it was alike, and why that differs."""
        wrote = [one["wrote"].get(name) for one in points]
        old = None if before is None else [one["wrote"].get(name) for one in self.points[before]]
        order = [i for i, o in enumerate(odd) if o] + [i for i, o in enumerate(odd) if not o]
        for i in order:
            if wrote[i] is None or (old is not None and wrote[i] == old[i] and wrote[i][0] >= 0):
                continue
            op, place = wrote[i]
            found = self.trails[self.ranks[i]]["places"][place]
            if op < 0:
                return found, None
            if all(w is not None and w[0] == op for w in wrote):
                cause = self._cause(op)
                if cause["op"] != op or not found["line"]:
                    deeper = self._place(self.ranks[i], cause["op"])
                    if deeper["line"] and cause["kind"] in ("drawn", "number", "consts"):
                        return deeper, cause
                return found, cause
            return found, None
        return None, None

    def _of_step(self, at: int, name: str, odd: list[bool]) -> tuple[str, str]:
        """What else than the gradient makes steps differ."""
        points = self.points[at]
        who, others = self._sides(odd)
        start = next(
            (
                p
                for p in reversed(self.points[:at])
                if p[0]["what"] == BEFORE and p[0]["step"] == points[0]["step"]
            ),
            None,
        )
        for key in self.apart(start, "rates") if start is not None else ():
            values = [one["rates"][key] for one in start or ()]
            return (
                f"The gradients are the same, {key} is not: {values[odd.index(True)]} on {who}, "
                f"{values[odd.index(False)]} on {others}.",
                f"Give the optimizer the same {key} on every rank.",
            )
        held = self.apart(start, "held") if start is not None else []
        if held:
            return (
                f"The gradients are the same, but not what the optimizer remembers: {held[0]} differs on {who}.",
                "Load the optimizer's state on every rank.",
            )
        if start is not None and len({len(one.get("held") or {}) for one in start}) > 1:
            return (
                f"The gradients are the same, but the optimizer of {who} remembers something else of earlier steps.",
                "Load the optimizer's state on every rank.",
            )
        return f"The gradients are the same, but step() has another result on {who}.", ""

    def _when(self, at: int) -> str:
        point = self.points[at][0]
        before = {FORWARD: "when forward began", BACKWARD: "after the backward pass"}
        return f"{before.get(point['what'], point['what'])} in step {point['step']:,}"

    # ---- the table ----------------------------------------------------------------------------------------------
    def _rows(self, at: int, name: str, before: int | None) -> list[Part]:
        """The tensor when it was alike, the ones beside it, and what differs later in the step."""
        rows = []
        for other in [n for n in self.points[at][0]["tensors"] if n != name][:2]:
            if other not in self.apart(self.points[at]) and all(
                other in p["tensors"] for p in self.points[at]
            ):
                rows.append(self._part(at, other))
        if before is not None:
            rows.append(self._part(before, name))
        rows.append({**self._part(at, name), "first": True})
        for other in self.apart(self.points[at])[1:]:
            if len(rows) < ROWS - 1:
                rows.append(self._part(at, other))
        base = name.removesuffix(".grad")
        for later in range(at + 1, len(self.points)):
            if base in self.apart(self.points[later]):
                rows.append(self._part(later, base))
                break
        return rows[:ROWS]

    def _part(self, at: int, name: str) -> Part:
        points = self.points[at]
        sums = [one["tensors"][name] for one in points]
        odd = self.odd(sums)
        return {
            "tensor": name,
            "when": f"{points[0]['what']}, step {points[0]['step']:,}",
            "sums": [one[:DIGITS] for one in sums],
            "odd": odd,
            "differs": self._amount(sums, odd) if any(odd) else 0.0,
            "first": False,
        }

    def _amount(self, sums: list[str], odd: list[bool]) -> float | None:
        if self.values is None:
            return None
        one, other = odd.index(False), odd.index(True)
        a = self.values(self.ranks[one], [sums[one]]).get(sums[one])
        b = self.values(self.ranks[other], [sums[other]]).get(sums[other])
        if a is None or b is None or a.shape != b.shape or not a.size:
            return None
        with np.errstate(all="ignore"):
            found = float(np.nanmax(np.abs(a - b)))
        return found if np.isfinite(found) else None

    def _code(self, place: Mapping[str, Any] | None) -> dict[str, Any]:
        if place is None:
            return {"file": "", "code": []}
        return {
            "file": place["file"],
            "code": [Code(number=n, text=text, hit=hit) for n, text, hit in place["code"]],
        }

    def _seeds(self, op: int, at: int | None = None) -> list[Seed]:
        points = (
            self.points[at]
            if at is not None
            else next((p for p in reversed(self.points) if p[0]["op"] <= op), None)
        )
        if points is None:
            return []
        rows = []
        for name, field in (("torch.initial_seed()", "seed"), ("state of the generator", "generator")):
            values = [str(one[field])[: None if field == "seed" else DIGITS] for one in points]
            odd = self.odd(values)
            if field == "seed" or any(odd):
                rows.append(Seed(name=name, values=values, odd=odd))
        return rows if any(any(row["odd"]) for row in rows) else []

    # ---- beside it ----------------------------------------------------------------------------------------------
    def _notes(self, made: Parting) -> list[str]:
        notes = []
        if any(value == str(FRESH) for row in made["seeds"] for value in row["values"]):
            notes.append(f"{FRESH} is the seed of a process that has set none.")
        if made["apart"] and made["rank"] >= 0 and (wrong := self._data()):
            notes.append(f"{wrong[0]}. {wrong[1]}")
        counts = {rank: len(trail["ops"]) for rank, trail in self.trails.items()}
        if len(set(counts.values())) > 1 and made["rank"] < 0:
            said = ", ".join(f"{n} on {named([rank])}" for rank, n in counts.items())
            notes.append(f"Ranks run different numbers of ops: {said}.")
        if any(trail["full"] for trail in self.trails.values()):
            notes.append("The run was longer than what is compared: only its beginning was.")
        return notes

    def _data(self) -> tuple[str, str, str] | None:
        """What is wrong with the parts of the data that ranks were given."""
        if self.same or len(self.ranks) < 2:
            return None
        parts = []
        for rank in self.ranks:
            batches = self.trails[rank]["batches"]
            first = [one for one in batches if one["epoch"] == batches[0]["epoch"]]
            rows = [row for one in first for row in one["rows"]]
            if len(rows) < 2 or len(set(rows)) < len(rows):  # alike samples tell nothing
                return None
            parts.append(set(rows))
        cure = "A DistributedSampler, with one seed on all ranks and set_epoch() in each epoch, gives each its part."
        if all(part == parts[0] for part in parts):
            return (
                "All ranks are given the same data",
                "So they compute the same gradients, and none is faster.",
                cure,
            )
        for i, part in enumerate(parts):
            for j in range(i + 1, len(parts)):
                shared = len(part & parts[j])
                if shared >= max(2, len(self.ranks)):  # a sampler that fills up repeats fewer
                    return (
                        f"{named([self.ranks[i], self.ranks[j]]).capitalize()} are given the same samples",
                        f"{shared} of {len(part)} samples of one epoch go to both: their data is in another order.",
                        cure,
                    )
        return None


def text_of(parting: Parting) -> str:
    """A parting as text: the sentence, the table, the cure.

    Args:
        parting: what `judge` found.
    """
    lines = [f"{parting['title']}. {parting['text']}".strip()]
    if parting["rows"]:
        ranks = range(len(parting["rows"][0]["sums"]))
        table = [("", "tensor", "when", *(str(r) for r in ranks), "differs by")]
        for row in parting["rows"]:
            sums = [f"{'≠' if odd else ' '}{one}" for one, odd in zip(row["sums"], row["odd"], strict=True)]
            far = "–" if row["differs"] is None else number(row["differs"])
            table.append(("→" if row["first"] else "", row["tensor"], row["when"], *sums, far))
        wide = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
        lines += ["  ".join(f"{c:<{w}}" for c, w in zip(row, wide, strict=True)).rstrip() for row in table]
    for one in parting["code"]:
        lines.append(f"{'→' if one['hit'] else ' '} {one['number']:>4}  {one['text']}")
    for seed in parting["seeds"]:
        lines.append(f"{seed['name']}: {', '.join(seed['values'])}")
    lines += parting["notes"]
    if parting["cure"]:
        lines.append(f"Cure: {parting['cure']}")
    return "\n".join(lines)
