"""One step on all ranks: who came to each operation when, and who waited for whom.

An operation begins for good when the last rank has come to it: what a rank spends before that is waiting for that rank.

Invariant: all times are milliseconds since the first rank began the step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any, TypedDict

from ..wire_types import Finite


class Span(TypedDict):
    """A part of a step on one rank."""

    kind: str  # load, forward, backward, wait, exchange, optimizer
    begin: Finite
    end: Finite


class Exchange(TypedDict):
    """An operation as one rank saw it: it came at `ready`, all were there at `begin`."""

    bucket: int  # among those of the backward pass; -1 of others
    name: str
    ready: Finite
    begin: Finite
    end: Finite


class Lane(TypedDict):
    """One rank's part of a step."""

    rank: int
    spans: list[Span]
    exchanges: list[Exchange]
    waited: Finite
    last: int  # the rank it waited for longest; -1 if for none


class Step(TypedDict):
    """One step on all ranks; `last` came last to the operation that was waited for longest, at `meet`."""

    number: int
    total: Finite
    lanes: list[Lane]
    last: int
    meet: Finite


NOTHING = 0.05  # milliseconds that are no waiting


def step_of(number: int, by_rank: Mapping[int, Mapping[str, Any]]) -> Step:
    """Put one step of all ranks together.

    Args:
        number: of the step.
        by_rank: what each rank's `Collector` sent of it.

    Example:
        >>> from vistorch.debug.ranks.timeline import step_of
        >>> def sent(load):
        ...     come = 0.1 + load
        ...     spans = [["load", 0.1, come], ["forward", come, come + 0.02], ["backward", come + 0.02, 0.19]]
        ...     ops = [["0", "all_reduce", 1, "float32 [9]", come + 0.05, 0.18, True]]
        ...     return {"begin": 0.1, "end": 0.2, "spans": [*spans, ["optimizer", 0.19, 0.2]], "ops": ops}
        >>> step = step_of(0, {0: sent(0.001), 1: sent(0.021)})
        >>> step["last"], [round(lane["waited"]) for lane in step["lanes"]], step["lanes"][0]["last"]
        (1, [20, 0], 1)
    """
    ranks = sorted(by_rank)
    zero = min(by_rank[rank]["begin"] for rank in ranks)

    def ms(seconds: float) -> float:
        return round(1000 * (seconds - zero), 3)

    came: dict[tuple[str, int], dict[int, float]] = {}
    for rank in ranks:
        for group, _, op, _, begin, *_ in by_rank[rank]["ops"]:
            came.setdefault((group, op), {})[rank] = begin
    meets = {key: max(times.items(), key=lambda item: item[1]) for key, times in came.items()}
    lanes, worst = [], (NOTHING / 1000, -1, 0.0)
    for rank in ranks:
        sent = by_rank[rank]
        exchanges: list[Exchange] = []
        waits: list[tuple[float, int, float, float, float]] = []
        buckets = [op for op in sent["ops"] if op[6]]
        for op in sent["ops"]:
            group, name, number_of_op, _, begin, end, inside = op
            last, meet = meets[group, number_of_op]
            exchanges.append(
                {
                    "bucket": buckets.index(op) if inside else -1,
                    "name": name,
                    "ready": ms(begin),
                    "begin": ms(min(meet, end)),
                    "end": ms(end),
                }
            )
            if not inside or op is buckets[-1]:  # the loop itself waits; earlier buckets wait beside it
                waits.append((max(0.0, min(meet, end) - begin), last, begin, min(meet, end), end))
        longest = max(waits, default=(0.0, -1, 0.0, 0.0, 0.0))
        if longest[0] > worst[0]:
            worst = longest[0], longest[1], longest[3]
        lanes.append(
            Lane(
                rank=rank,
                spans=_cut(sent["spans"], waits, ms),
                exchanges=exchanges,
                waited=round(1000 * sum(one[0] for one in waits), 3),
                last=longest[1] if longest[0] > NOTHING / 1000 and longest[1] != rank else -1,
            )
        )
    total = ms(max(by_rank[rank]["end"] for rank in ranks))
    return {
        "number": number,
        "total": total,
        "lanes": lanes,
        "last": worst[1],
        "meet": ms(worst[2]) if worst[1] >= 0 else 0.0,
    }


def _cut(
    spans: Sequence[Sequence[Any]], waits: Sequence[tuple[float, int, float, float, float]], ms: Any
) -> list[Span]:
    """Cut what is waiting and exchanging out of the parts of a step."""
    found: list[Span] = []
    for kind, begin, end in spans:
        at = begin
        for _, _, came, meet, done in sorted(waits, key=lambda one: one[2]):
            if not begin <= came < end:
                continue
            if came > at:
                found.append(Span(kind=kind, begin=ms(at), end=ms(came)))
            if ms(meet) - ms(came) > NOTHING:
                found.append(Span(kind="wait", begin=ms(came), end=ms(meet)))
            found.append(Span(kind="exchange", begin=ms(meet), end=ms(min(done, end))))
            at = min(done, end)
        if end > at:
            found.append(Span(kind=kind, begin=ms(at), end=ms(end)))
    return found


def middle_of(steps: Sequence[Step]) -> Step:
    """The median of steps that are alike; the newest where they are not.

    Args:
        steps: the oldest first.
    """
    newest = steps[-1]

    def form(step: Step) -> Any:
        return [
            (
                lane["rank"],
                [one["kind"] for one in lane["spans"] if one["kind"] != "wait"],
                len(lane["exchanges"]),
            )
            for lane in step["lanes"]
        ]

    alike = [step for step in steps if form(step) == form(newest)]
    if len(alike) < 3:
        return newest
    lanes = []
    for at, lane in enumerate(newest["lanes"]):
        own = [step["lanes"][at] for step in alike]
        spans = [
            _timed(lane_spans, i)
            for lane_spans in [[_whole(one) for one in own]]
            for i in range(len(lane_spans[0]))
        ]
        exchanges = [
            Exchange(
                bucket=one["bucket"],
                name=one["name"],
                ready=_mid(o["exchanges"][i]["ready"] for o in own),
                begin=_mid(o["exchanges"][i]["begin"] for o in own),
                end=_mid(o["exchanges"][i]["end"] for o in own),
            )
            for i, one in enumerate(lane["exchanges"])
        ]
        lanes.append(
            Lane(
                rank=lane["rank"],
                spans=[one for one in spans if one["end"] - one["begin"] > NOTHING or one["kind"] != "wait"],
                exchanges=exchanges,
                waited=_mid(o["waited"] for o in own),
                last=_most([o["last"] for o in own]),
            )
        )
    last = _most([step["last"] for step in alike])
    return {
        "number": newest["number"],
        "total": _mid(step["total"] for step in alike),
        "lanes": lanes,
        "last": last,
        "meet": _mid(step["meet"] for step in alike if step["last"] == last),
    }


def _whole(lane: Lane) -> list[Span]:
    """The parts of a lane with a waiting before each exchange, of no length where there was none."""
    found: list[Span] = []
    for one in lane["spans"]:
        if one["kind"] == "exchange" and (not found or found[-1]["kind"] != "wait"):
            found.append(Span(kind="wait", begin=one["begin"], end=one["begin"]))
        found.append(one)
    return found


def _timed(lanes: Sequence[Sequence[Span]], i: int) -> Span:
    return Span(
        kind=lanes[0][i]["kind"],
        begin=_mid(one[i]["begin"] for one in lanes),
        end=_mid(one[i]["end"] for one in lanes),
    )


def _mid(values: Any) -> float:
    return round(median(values), 3)


def _most(values: Sequence[int]) -> int:
    return max(dict.fromkeys(values), key=values.count)
