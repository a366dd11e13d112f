"""Which scale shows an array best, which others may be chosen, and the sentence that says what each does.

The first is chosen from the data: fixed ends for booleans, probabilities and what fills [-1, 1]; logarithmic for
positive values over more than three decades; clipped at p99 of |x| where few values are far from the rest; else to the
largest. Diverging around zero where both signs occur, sequential where only one does.
Invariant: lo < hi, both finite; `under`, `over` and `counts` together are all finite elements.
"""

from __future__ import annotations

import math

import numpy as np

from .spread import Spread
from .state import Scale, Stats
from .words import MINUS, short

STEPS = 60
HEAVY = 2.5  # the largest is this many times p99 of |x|: the ends are clipped
DECADES = 1000.0  # p99 is this many times p1: logarithmic
FULL = 0.9  # from here to 1 the largest counts as "up to one"
OFFSET = 0.5  # the least is this much of the largest: the scale need not begin at zero
NEAR = 1e-3  # of the largest: where a logarithm of both signs is still linear

CLIP, MAX, LOG, FIXED = "clip at p99", "to max |x|", "log", "fixed"


def scales_for(
    stats: Stats, spread: Spread, *, whole: bool = False, truth: bool = False, map: str = "tide"
) -> tuple[list[Scale], int]:
    """All scales that make sense, and the index of the chosen one.

    Args:
        stats: the statistics.
        spread: counts.
        whole: the values are integers.
        truth: they are booleans.
        map: the colour map.
    """
    if stats.min is None or stats.max is None:
        return [_scale(spread, "max", MAX, map, 0.0, 1.0, centre=False, say="nothing finite to show")], 0
    least, most = float(stats.min), float(stats.max)
    if truth:
        say = "false is 0, true is 1"
        return [_scale(spread, "fixed", "false, true", map, 0.0, 1.0, centre=False, say=say)], 0
    centre = least < 0 < most
    largest = max(abs(least), abs(most))
    clip = min(float(spread.size(0.99)), largest)
    made = [
        _clipped(spread, map, least, most, clip, centre),
        _to_max(spread, map, least, most, centre),
        _log(spread, map, least, most, clip),
    ]
    ids = ["clip", "max", "log"]
    if largest <= 1 and not whole:
        made.append(_fixed(spread, map, least))
        ids.append("fixed")
    wanted = _wanted(spread, least, most, clip, whole)
    return made, ids.index(wanted) if wanted in ids else 1


def _wanted(spread: Spread, least: float, most: float, clip: float, whole: bool) -> str:
    """The scale that shows most."""
    largest = max(abs(least), abs(most))
    if spread.n == 1 and not whole and 0 <= least <= 1:
        return "fixed"
    if not whole and FULL <= most <= 1 and (least >= 0 or least <= -FULL) and least >= -1:
        if least < 0 or (most > OFFSET and spread.n > 1):
            return "fixed"
    if least > 0 and most / DECADES > least:
        low, high = float(spread.quantile(0.01)), float(spread.quantile(0.99))
        if low > 0 and high / DECADES > low:
            return "log"
    if clip > 0 and largest / HEAVY > clip:
        return "clip"
    return "max"


def plain_scale(stats: Stats, map: str) -> Scale:
    """From the smallest to the largest value, with nothing counted along it: for a small picture."""
    from .glance import Ends

    if stats.min is None or stats.max is None:
        made = scales_for(stats, Ends(0), map=map)[0][0]
    else:
        least, most = float(stats.min), float(stats.max)
        made = _to_max(Ends(stats.finite), map, least, most, least < 0 < most)
    made.counts, made.edges = np.empty(0, np.uint32), np.empty(0)
    return made


def phase_scale(spread: Spread) -> Scale:
    """The whole circle."""
    say = f"phase · from {MINUS}π to π, where the colours meet"
    return _scale(spread, "phase", "phase", "phase", -math.pi, math.pi, centre=True, say=say)


def _clipped(spread: Spread, map: str, least: float, most: float, clip: float, centre: bool) -> Scale:
    if centre:
        lo, hi = -clip, clip
    elif least >= 0:
        lo, hi = (0.0 if least < OFFSET * most else least), clip
    else:
        lo, hi = -clip, (0.0 if most > OFFSET * least else most)
    if not lo < hi:
        lo, hi = _ends(least, most, centre)
    words = "linear · clipped at p99 of |x|, {beyond} beyond"
    return _scale(spread, "clip", CLIP, map, lo, hi, centre=centre, say=words)


def _to_max(spread: Spread, map: str, least: float, most: float, centre: bool) -> Scale:
    lo, hi = _ends(least, most, centre)
    if spread.n == 1:  # where a single number stands between zero and itself says nothing
        lo, hi = -_round_up(-lo), _round_up(hi)
    if centre:
        words = "linear · ends at ±max |x|"
    else:
        words = f"linear · from {short(lo)} to {short(hi)}"
    return _scale(spread, "max", MAX if centre else "to max", map, lo, hi, centre=centre, say=words)


def _ends(least: float, most: float, centre: bool) -> tuple[float, float]:
    """All values fit; never two equal ends."""
    if centre:
        largest = max(-least, most)
        return -largest, largest
    if least >= 0:
        lo, hi = (0.0 if least < OFFSET * most else least), most
    else:
        lo, hi = least, (0.0 if most > OFFSET * least else most)
    if lo < hi:
        return lo, hi
    if least == 0:
        return 0.0, 1.0
    return (0.0, most) if least > 0 else (least, 0.0)


def _round_up(value: float) -> float:
    """The next of 1, 2 and 5 times a power of ten; zero stays."""
    if value <= 0 or not 1e-300 < value < 1e300:
        return value
    power = 10.0 ** math.floor(math.log10(value))
    return next(float(f"{n * power:.0e}") for n in (1, 2, 5, 10, 20) if n * power >= value)


def _log(spread: Spread, map: str, least: float, most: float, clip: float) -> Scale:
    largest = max(abs(least), abs(most))
    if least >= 0 and largest > 0:
        lo = least if least > 0 else float(spread.positive() or largest)
        if not 0 < lo < most:
            lo = most / 10 if most / 10 > 0 else 0.0
        if lo > 0:
            words = f"log · from {short(lo)} to {short(most)}"
            return _scale(spread, "log", LOG, map, lo, most, centre=False, curve="log", say=words)
    if largest == 0:
        return _scale(
            spread, "log", LOG, map, 1e-3, 1.0, centre=False, curve="log", say="log · from 0.001 to 1"
        )
    near = min(clip if clip > 0 else largest, largest) * NEAR or largest
    words = f"log of |x| with its sign · linear below {short(near)} · ends at ±max |x|"
    return _scale(
        spread, "log", LOG, map, -largest, largest, centre=True, curve="log", linear=near, say=words
    )


def _fixed(spread: Spread, map: str, least: float) -> Scale:
    if least < 0:
        return _scale(spread, "fixed", "fixed at ±1", map, -1.0, 1.0, centre=True, say="linear · fixed at ±1")
    return _scale(
        spread, "fixed", "fixed 0 to 1", map, 0.0, 1.0, centre=False, say="linear · fixed from 0 to 1"
    )


def _scale(
    spread: Spread,
    id: str,
    label: str,
    map: str,
    lo: float,
    hi: float,
    *,
    centre: bool,
    curve: str = "linear",
    linear: float = 0.0,
    say: str,
) -> Scale:
    """A scale with its counts; `say` lacks only how it begins and how many values are beyond."""
    wanted = _edges(lo, hi, centre, curve, linear)
    counts, under, over = np.zeros(STEPS, np.uint32), 0, 0
    if spread.n:
        under, over = spread.beyond(lo, hi)
        below, borders = spread.below(wanted[1:-1])
        steps = np.concatenate([[under], below, [spread.n - over]])
        counts = np.diff(np.maximum.accumulate(steps))
        counts = counts.astype(np.uint32 if spread.n < 2**32 else np.float64)
        wanted[1:-1] = borders
    beyond = under + over
    if id in ("clip", "max", "log", "fixed") and "·" in say:
        say = f"{'diverging around 0' if centre else 'sequential'} · {say.format(beyond=f'{beyond:,}')}"
    if curve == "log" and not centre and under:
        say += f", {under:,} below"
    return Scale(id, label, map, centre, curve, lo, hi, linear, beyond, say, counts, under, over, wanted)


def _edges(lo: float, hi: float, centre: bool, curve: str, linear: float) -> np.ndarray:
    """Equal steps of the scale, as values."""
    if curve == "linear":
        if centre:
            edges = hi * np.linspace(-1, 1, STEPS + 1)
        else:
            edges = lo + (hi - lo) * np.linspace(0, 1, STEPS + 1)
    elif centre:
        t = np.linspace(-1, 1, STEPS + 1)
        edges = np.sign(t) * np.expm1(np.abs(t) * np.log1p(hi / linear)) * linear
    else:
        t = np.linspace(0, 1, STEPS + 1)
        edges = np.exp(math.log(lo) + t * (math.log(hi) - math.log(lo)))
    edges[0], edges[-1] = lo, hi
    return edges
