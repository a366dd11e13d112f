"""What is padded: steps after the end of a sequence that are read, attended to or learned as if they were there.

Invariant: padding is a run of one token, or of zeros, at one end of the rows, of different lengths; a mask is judged by
the places where its numbers leave something over.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...lineage import SHAPED, Value, beyond
from ..evidence import LAYERS, MOVES
from ..finding import BAD, DOUBTFUL, EXACT, LINEAGE, WRONG, Finding
from ..heads import CLASSES, PROBABILITIES, array
from .base import Counting
from .structure import heads_at, walked

LARGE = 1 << 20  # elements of arrays that are looked at
LOW = -1e4  # scores below it have no weight after a softmax
PICKS = ("select", "index", "index_select", "slice", "unbind", "narrow")
SCORES = ("masked_fill", "where", "add", "sub", "baddbmm", "source", "mul", "index_put", "fill", "copy")
PRODUCTS = ("bmm", "mm", "matmul", "einsum")
POOLS = ("sum_dims", "mean_dims", "sum_all", "mean_all", "sum", "mean")
SAME = MOVES | {"float", "to", "type", "bool", "int", "zeros_like", "repeat", "repeat_interleave"}
RUNNING = ("lstm_layer", "gru_layer", "rnn_layer")


class Padded:
    """Rows that are padded.

    Args:
        mask: sequences × steps, true where there is padding.
        token: that it is made of; None for rows of zeros.
        last: the tokens that stand last before it, or first after it, each once.
    """

    __slots__ = ("last", "mask", "token")

    def __init__(self, mask: np.ndarray, token: int | None, last: set[int] | None = None) -> None:
        self.mask, self.token, self.last = mask, token, last or set()


def runs(same: np.ndarray, least: int = 2) -> bool:
    """Whether what is true stands in runs at one end of the rows, of different lengths.

    Args:
        same: rows × steps.
        least: length of the longest run.
    """
    if same.ndim != 2 or same.shape[0] < 2 or same.shape[1] < 3:
        return False
    long = same.sum(1)
    if long.max() < least or long.max() == same.shape[1] or long.min() == long.max():
        return False
    end = np.logical_and.accumulate(same[:, ::-1], 1)[:, ::-1]
    return bool(np.array_equal(same, end) or np.array_equal(same, np.logical_and.accumulate(same, 1)))


def padding_of(ids: np.ndarray, token: int | None) -> Padded | None:
    """The padding of rows of tokens.

    Args:
        ids: rows × steps.
        token: of the padding, where that is known.
    """
    if token is not None:
        same = ids == token
        return Padded(same, token, set(ids[edges(same)].tolist())) if runs(same, 1) else None
    for edge in (ids[:, -1], ids[:, 0]):
        found, times = np.unique(edge, return_counts=True)
        one = found[int(times.argmax())]
        if runs(ids == one):
            same = ids == one
            return Padded(same, int(one), set(ids[edges(same)].tolist()))
    return None


def edges(mask: np.ndarray) -> np.ndarray:
    """The last place before the padding in each row that has some at its end."""
    out = np.zeros_like(mask)
    out[:, :-1] = mask[:, 1:] & ~mask[:, :-1]
    return out


def ids_of(v: Value) -> Value | None:
    """What is looked up in a table of rows.

    Args:
        v: the result.
    """
    return next(
        (x for x in v.parents if not x.needs and x.data is not None and x.data.dtype.kind in "iu"), None
    )


def token_of(v: Value) -> int | None:
    """The token of the padding that a table knows."""
    token = getattr(v.module, "padding_idx", None)
    if token is None and len(v.consts) == 2 and type(v.consts[0]) is int and v.consts[0] >= 0:
        token = v.consts[0]
    return token


def padded(ev: Any, p: Any) -> list[Padded]:
    """The rows that are padded in the newest pass, found once for all rules.

    Args:
        ev: the evidence.
        p: the pass.
    """
    known = ev.padded_at
    if known is not None and known[0] == p.number and known[1] is p.root:
        return known[2]
    out: list[Padded] = []
    seen: set[int] = set()
    for v in ev.values:
        one = None
        if v.op == "embedding":
            x = ids_of(v)
            if x is None or id(x) in seen or x.data is None or x.data.ndim != 2:
                continue
            seen.add(id(x))
            d = array(x)
            if d is None or d.size > LARGE:
                continue
            one = padding_of(d, token_of(v)) or padding_of(d.T, token_of(v))
        if one is not None:
            out.append(one)
    for x in ev.fed(p):
        d = array(x)
        if d is not None and d.ndim == 3 and d.dtype.kind == "f" and d.shape[-1] > 1 and d.size <= LARGE:
            zero = (d == 0).all(-1)
            if zero.any():
                out += [Padded(same, None) for same in (zero, zero.T) if runs(same, 1)]
    ev.padded_at = (p.number, p.root, out[:8])
    return out[:8]


def last_of(v: Value) -> tuple[Value, int] | None:
    """What a value is the last step of, with the axis of the steps; None where it is none.

    Args:
        v: which.
    """
    if v.op not in ("select", "index", "index_select", "getitem") or not v.parents or not v.needs:
        return None
    whole, d, x = v.parents[0], array(v.parents[0]), array(v)
    if (
        d is None
        or x is None
        or d.ndim != 3
        or d.shape[-1] < 2
        or d.size > LARGE
        or x.shape[-1:] != d.shape[-1:]
    ):
        return None
    if x.ndim != 2:
        return None
    for axis in (1, 0):
        if d.shape[axis] > 2 and d.shape[1 - axis] == x.shape[0] and np.array_equal(d.take(-1, axis), x):
            return whole, axis
    return None


def picked_elsewhere(every: list[Value], whole: Value, x: np.ndarray, axis: int) -> bool:
    """Whether steps of a value are picked that are not its last one.

    Args:
        every: values of the pass.
        whole: of which.
        x: its last step.
        axis: of the steps.
    """
    for u in every:
        if u.op in PICKS and u.parents and u.parents[0] is whole:
            d = array(u)
            if d is not None and d.ndim == len(whole.shape) and d.shape[axis] > 1:
                continue  # a part of the steps
            if (
                d is not None
                and d.shape != whole.shape
                and not (d.size == x.size and np.array_equal(d.reshape(x.shape), x))
            ):
                return True
    return False


def unpacked(v: Value) -> int:
    """The steps that a recurrent layer ran over, if these were as many for all samples; else 0.

    Args:
        v: a result of it.
    """
    x = v.parents[0] if v.parents else None
    if x is None or not v.shape:
        return 0
    sizes = v.consts[0] if v.consts else None
    if sizes is None and len(v.parents) > 1 and len(x.shape) == 2:
        d = array(v.parents[1])
        sizes = tuple(d.tolist()) if d is not None and d.ndim == 1 and d.dtype.kind in "iu" else None
    if isinstance(sizes, tuple):
        return len(sizes) if len(set(sizes)) == 1 and len(v.shape) > 1 and sizes[0] == v.shape[-2] else 0
    n = v.shape[-2] if len(v.shape) > 1 else 0
    if len(x.shape) != 3 or n not in x.shape[:2]:
        return 0
    return x.shape[1] if x.shape[0] == n else x.shape[0]


def _by_step(v: Value, n: int, steps: int) -> bool:
    """Whether a result of a recurrent layer holds all steps."""
    return v.shape[:2] in ((n, steps), (steps, n)) or (len(v.shape) == 2 and v.shape[0] == n * steps)


def _read_by_step(every: list[Value], v: Value) -> bool:
    """Whether something else than the next layer of a stack reads all that a recurrent layer gives."""
    known = {id(v)}
    for u in sorted(every, key=lambda one: one.seq):
        if any(id(x) in known for x in u.parents):
            if u.op in MOVES or u.op in ("dropout", "swap_steps"):
                known.add(id(u))
            elif u.op not in RUNNING or u.module is not v.module:
                return True
    return False


def goes_into_layers(every: list[Value], v: Value, layers: Any = LAYERS) -> bool:
    """Whether a layer computes with a value, and no row of it is masked before.

    Args:
        every: values of the pass.
        v: which.
        layers: the ops that count as such; others of layers are an end.
    """
    after: dict[int, list[Value]] = {}
    for u in every:
        for x in u.parents:
            after.setdefault(id(x), []).append(u)
    waiting, seen, left = [v], {id(v)}, 200
    while waiting and left:
        left -= 1
        for u in after.get(id(waiting.pop()), ()):
            if u.op == "mul" and any(not x.needs and x.shape != u.shape for x in u.parents):
                return False
            if u.op in layers:
                return True
            if u.op not in LAYERS and id(u) not in seen:
                seen.add(id(u))
                waiting.append(u)
    return False


class LastPadded(Counting):
    """The last step of a padded result is read for all samples: for the shorter ones that is padding, all zeros.

    Meaning: what a sequence comes to stands at its own last step, which is not that of the longest in the batch.
    Fires: when in three looks the last step of a result of three axes goes into a layer, the first steps of all rows
    are not zero, rows of zeros stand in runs at the end of the samples and nowhere else, of different lengths, a
    tenth or more of the samples are zero at that step, and no other single step of that result is picked.
    Wrong if: only the longest sequences are to count.
    Healthy programs tried: the last step by its length, `h_n`, means over steps, padding in front, losses at each
    step with a mask.
    """

    name, title, certainty, severity = "last padded step", "steps that are padding", LINEAGE, WRONG

    def at_look(self, p: Any) -> None:
        """Look at what is picked at the last step."""
        if p.root is None or not p.accumulates:
            return
        every = walked(p)
        for v in every:
            found = last_of(v)
            if found is None:
                continue
            whole, axis = found
            d, x = array(whole), array(v)
            if d is None or x is None or (x != 0).any(-1).all():
                continue
            zero = (np.moveaxis(d, axis, 1) == 0).all(-1)
            share = float(zero[:, -1].mean())
            if share < 0.1 or zero[:, 0].any() or not runs(zero, 1):
                continue
            if picked_elsewhere(every, whole, x, axis) or not goes_into_layers(every, v):
                continue
            entry = self.times.setdefault(self.ev.line(v.place), [0, 0.0, whole.place, v.module, zero.shape])
            entry[0] += 1
            entry[1] = max(entry[1], share)

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        for place, (times, share, made, module, shape) in self.times.items():
            if times < 3:
                continue
            yield self.found(
                f"The last of {shape[1]} steps is read for all samples: for {100 * share:.0f} % of them it is padding, "
                "all zeros.",
                place,
                "reads padding",
                layer=self.ev.module_name(module) if module is not None else "",
                related=self.lines((made, "is padded")),
                proof=[
                    ("samples that are zero there", f"{100 * share:.0f} %"),
                    ("steps", shape[1]),
                    ("looks", times),
                ],
                confirm=("(out[:, -1] == 0).all(-1).float().mean()", f"{share:.2f}"),
                unless="only the longest sequences are to count.",
                advice="Read each at its own end: out[torch.arange(len(out)), lengths - 1], or the final state h_n.",
                weight=6.0,
                explains=("learns nothing", "unrelated", "one class", "mean", "too small"),
            )


class ReadsPadding(Counting):
    """A recurrent layer runs on over the padding, and what it comes to at the end of that is the summary.

    Meaning: what a sequence comes to stands at its own last step; after it the layer has seen padding alone, and
    forgets.
    Fires: when in three looks the last step of what a recurrent layer that runs one way gives for padded inputs goes
    into a layer, three tenths of the samples or more are padding there, by a third of all steps of these on average,
    and no other single step of it is picked; or when the final state of such a layer goes into a linear layer under
    the same conditions, no result of its single steps is part of the loss, and it was not packed, or packed with
    equal lengths.
    Wrong if: short runs of padding do no harm.
    Healthy programs tried: packed sequences, the last step by its length, final states of these, means with a mask,
    padding in front, encoders whose final state begins a decoder, states beside an attention over all steps.
    """

    name, title, certainty, severity = "reads padding", "what follows a sequence", LINEAGE, DOUBTFUL

    def at_look(self, p: Any) -> None:
        """Look at what is picked at the last step."""
        if p.root is None or not p.accumulates:
            return
        every = walked(p)
        for v in every:
            found = last_of(v)
            if found is None:
                continue
            whole, axis = found
            inner = whole
            for _ in range(6):
                if (
                    inner.op in RUNNING
                    or not inner.parents
                    or (inner.op not in MOVES and inner.op not in ("dropout", "swap_steps"))
                ):
                    break
                inner = next((y for y in inner.parents if y.needs), inner.parents[0])
            x, module = array(v), inner.module
            if inner.op not in RUNNING or x is None or (x == 0).all(-1).any():
                continue
            if getattr(module, "bidirectional", False):
                continue
            for pad in padded(self.ev, p):
                steps = whole.shape[axis]
                if pad.mask.shape != (x.shape[0], steps) or not pad.mask[:, -1].any():
                    continue
                late = pad.mask[:, -1]
                if late.mean() < 0.3 or pad.mask[late].mean() < 1 / 3:
                    continue
                if picked_elsewhere(every, whole, x, axis) or not goes_into_layers(every, v):
                    continue
                entry = self.times.setdefault(self.ev.line(v.place), [0, 0.0, inner.place, module, steps])
                entry[0] += 1
                entry[1] = max(entry[1], float(late.mean()))
                break
        self._states(p, every)

    def _states(self, p: Any, every: list[Value]) -> None:
        """Look at the final states that are read."""
        running = [v for v in every if v.op in RUNNING]
        seen = set()
        for v in running:
            steps, x = unpacked(v), array(v)
            if not steps or x is None or getattr(v.module, "bidirectional", False):
                continue
            n = x.shape[-2]
            if x.ndim == 3 and x.shape[0] != getattr(v.module, "num_layers", 1):
                continue
            whole = any(
                u.module is v.module and _by_step(u, n, steps) and _read_by_step(every, u) for u in running
            )
            if v.place in seen or whole or x.ndim not in (2, 3):
                continue
            for pad in padded(self.ev, p):
                late = pad.mask[:, -1]
                if pad.mask.shape != (n, steps) or late.mean() < 0.3 or pad.mask[late].mean() < 1 / 3:
                    continue
                if not goes_into_layers(every, v, ("addmm", "mm", "linear", "matmul")):
                    continue
                seen.add(v.place)
                entry = self.times.setdefault(self.ev.line(v.place), [0, 0.0, None, v.module, steps])
                entry[0] += 1
                entry[1] = max(entry[1], float(late.mean()))
                break

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        for place, (times, share, runs_on, module, steps) in self.times.items():
            if times < 3:
                continue
            yield self.found(
                f"The {'last of' if runs_on else 'state after'} {steps} steps is read for all samples: for "
                f"{100 * share:.0f} % of them that is what the layer makes of padding.",
                place,
                "reads padding",
                layer=self.ev.module_name(module) if module is not None else "",
                related=self.lines((runs_on, "runs on over it")),
                proof=[
                    ("samples that are padding there", f"{100 * share:.0f} %"),
                    ("steps", steps),
                    ("looks", times),
                ],
                confirm=("the lengths beside out.size(1)", "shorter"),
                unless="short runs of padding do no harm.",
                advice="Read each at its own end: out[torch.arange(len(out)), lengths - 1], or pack the sequences.",
                weight=4.0,
                explains=("learns nothing", "unrelated", "one class", "mean", "too small"),
            )


class WrongWay(Counting):
    """A mask for padding is the wrong way round: what is there is left out, and the padding is what counts.

    Meaning: a `key_padding_mask`, and `masked_fill`, take true for what is left out; a mask of
    `scaled_dot_product_attention`, and one that is a factor, take true for what counts.
    Fires: when in two looks inputs are padded (runs of one token, or of zero rows, of different lengths at one end of
    the rows), and scores, or what is added to them, lie below -10,000 at all steps of all rows that are no padding,
    and at none that are padding for each query; or what is summed or averaged over the steps is zero, by a mask, at
    all steps that are no padding, not zero at nine tenths of the others, or is multiplied as a matrix by such a mask,
    and nothing else is masked the right way; or what an attention gives is that over the padding alone.
    Wrong if: never that was seen.
    Healthy programs tried: masks the right way round by module, by hand and by factor, causal masks beside them,
    masked tokens, a learned vector in place of the padding.
    """

    name, title, certainty, severity = "wrong way round", "masks of the padding", EXACT, WRONG

    def at_look(self, p: Any) -> None:
        """Look at all that a mask has been put on."""
        if p.root is None or not p.accumulates:
            return
        pads = padded(self.ev, p)
        if not pads:
            return
        said: set = set()
        for at, v in enumerate(self.ev.values):
            d = array(v)
            if d is None or d.size > LARGE or d.ndim < 2 or d.dtype.kind != "f":
                continue
            if (
                v.op == "scaled_dot_product_attention" and len(v.parents) > 2
            ):  # its mask may be no input that is seen
                for pad in pads:
                    q, k, values = v.parents[:3]
                    if sees_padding(array(q), array(k), array(values), array(v), pad.mask):
                        self._say(v, at, pad, "attention", said)
                        break
            if v.op in SCORES:
                for pad in pads:
                    if left_over(d, pad.mask):
                        self._say(v, at, pad, "attention", said)
                        break
        self._pools(pads, said)

    def _pools(self, pads: list[Padded], said: set) -> None:
        """Look at what is summed over the steps."""
        wrong, right = [], False
        for r in self.ev.values:
            if r.op in PRODUCTS and r.needs:
                for x in r.parents:
                    d = None if x.needs else array(x)
                    for pad in pads if d is not None and d.dtype.kind in "fb" else ():
                        if d is not None and d.size == pad.mask.size and pad.mask.shape[0] in d.shape[:1]:
                            z = d.reshape(pad.mask.shape) == 0
                            right = right or bool(z[pad.mask].all())
                            if z[~pad.mask].all() and not z[pad.mask].any():
                                wrong.append((r, pad))
            if r.op not in POOLS or not r.parents or not r.needs:
                continue
            v = beyond(r.parents[0])
            d = array(v)
            if (
                v.op not in ("mul", "masked_fill", "where")
                or not v.needs
                or d is None
                or d.ndim not in (2, 3)
            ):
                continue
            mask = _mask_of(v)
            if mask is None or mask.needs or d.size > LARGE:
                continue
            zero = d == 0 if d.ndim == 2 else (d == 0).all(-1)
            for pad in pads:
                for z in (zero, zero.T):
                    if z.shape != pad.mask.shape:
                        continue
                    if z[pad.mask].all():
                        right = True
                    elif z[~pad.mask].all() and z[pad.mask].mean() < 0.1:
                        wrong.append((v, pad))
        for v, pad in wrong:
            if not right:
                self._say(v, 0, pad, "mean", said)

    def _say(self, v: Value, at: int, pad: Padded, kind: str, said: set) -> None:
        values = self.ev.values
        mask = _mask_of(v)
        given = v.place
        if given is None:
            given = next(
                (u.place for u in values[at + 1 : at + 50] if u.place is not None and v in u.parents), None
            )
            given = given or next((u.place for u in values[at + 1 : at + 50] if u.place is not None), None)
        source = None if mask is None else _made(mask)
        if source is None or source.place is None:  # an own copy of a layer, or of a function
            source = None
            for u in values[: at or None]:
                b = array(u)
                if b is not None and b.dtype.kind == "b" and b.size == pad.mask.size and u.op not in SAME:
                    b = b.reshape(pad.mask.shape)
                    if np.array_equal(b, ~pad.mask) or np.array_equal(b, pad.mask):
                        source = u
        made = None if source is None else source.place
        elsewhere = source is not None and self._used_elsewhere(source, given)
        if (given, kind) in said:
            return
        said.add((given, kind))
        key = (self.ev.line(made), self.ev.line(given), kind)
        entry = self.times.setdefault(key, [0, elsewhere, v.module, float(pad.mask.mean()), True])
        entry[0] += 1
        last = self.ev.last
        entry[4] = entry[4] and (last is None or last.loss is None or bool(np.isfinite(last.loss)))

    def _used_elsewhere(self, mask: Value, given: Any) -> bool:
        """Whether what a mask says goes into something else as well."""
        known = {id(mask)}
        for u in self.ev.values:
            if any(id(x) in known for x in u.parents):
                if u.op in SAME:
                    known.add(id(u))
                elif (
                    u.place is not None
                    and u.place != given
                    and u.op not in ("logical_not", "bitwise_not", "invert")
                ):
                    line, other = self.ev.line(u.place), self.ev.line(given)
                    if line is not None and other is not None and line.line != other.line:
                        return True
        return False

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        best: dict[Any, tuple] = {}
        for (made, given, kind), (times, elsewhere, module, share, finite) in self.times.items():
            if times >= 2:
                best.setdefault(made or given, (made, given, kind, times, elsewhere, module, share, finite))
        for made, given, kind, times, elsewhere, module, share, finite in best.values():
            pair = [(made, "makes the mask"), (given, "is given it")]
            if elsewhere or made is None:
                pair.reverse()
            (place, label), other = pair
            yield self.found(
                "The mask is the wrong way round: it leaves out what is there, and "
                + (
                    "attention sees the padding alone."
                    if kind == "attention"
                    else "counts the padding alone."
                ),
                place,
                label,
                severity=WRONG
                if finite
                else BAD,  # a row without padding is left with nothing, which is not finite
                also=other,
                layer=self.ev.module_name(module) if module is not None else "",
                proof=[
                    ("steps that are no padding and count", 0),
                    ("share of padding", f"{100 * share:.0f} %"),
                    ("looks", times),
                ],
                confirm=("mask[0], beside the tokens of that row", "true where there are tokens"),
                unless="",
                advice="Turn it round: ~mask.",
                weight=8.0 if finite else 11.0,
                explains=(
                    "not finite",
                    "vanishes",
                    "learns nothing",
                    "unrelated",
                    "one class",
                    "mean",
                    "too small",
                    "diverges",
                    "course",
                ),
            )


def _mask_of(v: Value) -> Value | None:
    """What masks a value."""
    parents = v.parents
    if v.op == "where" and parents:
        return parents[0]
    if v.op == "masked_fill" and len(parents) > 1:
        return parents[1]
    if v.op in ("add", "sub", "baddbmm"):
        return next((x for x in parents if not x.needs), None)
    if v.op == "mul" or v.op in PRODUCTS:
        return next((x for x in parents if not x.needs), None)
    return None


def _made(mask: Value) -> Value:
    """The value that says what is masked, behind what turns it into numbers."""
    for _ in range(16):
        if mask.op in SAME and mask.parents:
            mask = mask.parents[0]
        elif mask.op in ("mul", "masked_fill", "rsub", "sub", "div", "where", "add") and mask.parents:
            inner = [x for x in mask.parents if x.op != "source" and x.shape]
            if len(inner) != 1 and not (mask.op == "masked_fill" and len(mask.parents) > 1):
                return mask
            if mask.op in ("sub", "rsub"):
                return mask  # 1 - mask turns it round
            mask = mask.parents[1] if mask.op == "masked_fill" and len(mask.parents) > 1 else inner[0]
        else:
            return mask
    return mask


class Counted(Counting):
    """A loss over time counts the padding: a good part of what is learned is to say that there is nothing.

    Meaning: what follows the end of a sequence is no target; `ignore_index`, a weight of 0 or a mask leaves it out.
    Fires: when in three looks or more the targets of a mean or a sum of a cross entropy are as many rows and steps as
    tokens (or zero rows) that a model is given, hold one number wherever these are padded, and that is a tenth or
    more of all; the number is not the one that is ignored, nor of weight 0; and it is not the target of the last
    token of each row, as a symbol that ends it would be, unless the tokens have one such symbol of their own.
    Wrong if: the model is to say where nothing is.
    Healthy programs tried: an ignored index, a weight of 0, masks on the losses, picked steps, a symbol for the end.
    """

    name, title, certainty, severity = "padding counted", "padding among the targets", LINEAGE, DOUBTFUL

    def at_look(self, p: Any) -> None:
        """Compare the targets with the padding of what is given."""
        if p.root is None or not p.accumulates:
            return
        pads = padded(self.ev, p)
        if not pads:
            return
        for head in heads_at(self.ev, p):
            v, t = head.value, head.target
            if (
                head.kind not in (CLASSES, PROBABILITIES)
                or t is None
                or t.needs
                or len(v.consts) < 2
                or not v.consts[1]
            ):
                continue
            for pad in pads:
                rows = _rows(t, pad.mask.shape)
                share = float(pad.mask.mean())
                if rows is None or rows.dtype.kind not in "iu" or share < 0.1:
                    continue
                found = np.unique(rows[pad.mask])
                ends = rows[edges(pad.mask)]
                if (
                    len(found) != 1
                    or not len(ends)
                    or (pad.token is None and (rows == found[0]).mean() > 1.2 * share)
                ):
                    continue
                token = int(found[0])
                if token == v.consts[0] or (bool((ends == token).all()) and len(pad.last) != 1):
                    continue
                if self._weightless(v, token):
                    continue
                entry = self.times.setdefault(self.ev.line(v.place), [0, token, share, v.module, head.name])
                entry[0] += 1
                break

    def _weightless(self, v: Value, token: int) -> bool:
        """Whether a class has no weight in a loss, or that cannot be known."""
        weight = getattr(v.module, "weight", None)
        d = None if weight is None else getattr(weight, "_data", None)
        if d is None and v.op.endswith("weighted") and len(v.parents) > 2:
            d = array(v.parents[2])
        if d is not None:
            return bool(token < len(d) and float(d[token]) == 0)
        line = self.ev.line(v.place)
        return line is not None and "weight" in line.text

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        for place, (times, token, share, module, name) in self.times.items():
            if times < 3:
                continue
            origin = self.ev.origins.get(id(module)) if module is not None else None
            yield self.found(
                f"{name} counts the padding: {100 * share:.0f} % of its targets are {token} where rows have ended.",
                place,
                "counts the padding",
                also=(None if origin is None else origin[2], "the loss is made"),
                proof=[
                    ("targets that are padding", f"{100 * share:.0f} %"),
                    ("their class", token),
                    ("looks", times),
                ],
                confirm=(f"(target == {token}).float().mean()", f"{share:.2f} or more"),
                unless="the model is to say where nothing is.",
                advice=f"Leave it out: ignore_index={token}, where {token} means nothing else.",
                weight=4.0,
            )


def _rows(t: Value, shape: tuple) -> np.ndarray | None:
    """Targets as rows of steps, where they were such rows."""
    for _ in range(8):
        d = array(t)
        if d is not None and d.ndim == 2:
            if d.shape == shape:
                return d
            return d.T if d.T.shape == shape else None
        if (
            t.op not in SHAPED
            or not t.parents
            or t.parents[0].data is None
            or t.parents[0].data.size != t.data.size
        ):
            return None
        t = t.parents[0]
    return None


def left_over(d: np.ndarray, pad: np.ndarray) -> bool:
    """Whether scores leave over the padding alone.

    Args:
        d: samples × … × keys, or samples × steps × features.
        pad: samples × keys.
    """
    n, t = pad.shape
    if d.shape[0] % n or not d.size:
        return False
    if d.shape[-1] == t:
        low = d.reshape(n, -1, t) < LOW
    elif d.ndim == 3 and d.shape[:2] == pad.shape:
        low = d.transpose(0, 2, 1) < LOW
    else:
        return False
    if not low.any():
        return False
    closed, opened = np.asarray(low.all(1)), np.asarray((~low).any(1))
    return bool(closed[~pad].all() and opened[pad].all())


def sees_padding(q: Any, k: Any, v: Any, out: Any, pad: np.ndarray) -> bool:
    """Whether the result of an attention is that over the padding alone, in two samples that have some.

    Args:
        q: queries, samples × … × queries × features.
        k: keys, likewise.
        v: values, likewise.
        out: the result.
        pad: samples × keys.
    """
    if any(x is None or x.ndim < 3 or x.shape[0] != len(pad) or x.size > LARGE for x in (q, k, v, out)):
        return False
    rows = np.flatnonzero(pad.any(1))[:2]
    if k.shape[-2] != pad.shape[1] or len(rows) < 2:
        return False
    for i in rows:
        scores = q[i] @ np.swapaxes(k[i], -1, -2)[..., pad[i]] / np.sqrt(q.shape[-1])
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        seen = weights / weights.sum(-1, keepdims=True) @ v[i][..., pad[i], :]
        if not np.allclose(seen, out[i], rtol=1e-3, atol=1e-5):
            return False
    return True


RULES = (LastPadded, ReadsPadding, WrongWay, Counted)
