"""An exception as a finding: what did not fit, with the line and what led to it.

Invariant: nothing is run again; where nothing is known beyond the exception's own words, those are the sentence.
"""

from __future__ import annotations

import itertools
import re
import traceback
from typing import Any

import numpy as np

from ..line_lookup import Line
from ..lineage import ancestors, beyond
from ..lines import overwritten
from ..shapes import explain
from . import misfits, missing
from .finding import BAD, EXACT, LINEAGE, Finding
from .frames import assigned, given, line_in, outside, users
from .pictures import samples_of
from .rules.reach import CUTS, STEPWISE, WRITTEN
from .written import literal, returned, without_gradients


def of_exception(error: BaseException, ev: Any) -> Finding | None:
    """The finding that an exception is; None for those that are no matter of tensors.

    Args:
        error: what was raised.
        ev: the evidence of the run.
    """
    line = innermost(error)
    text = str(error)
    if ev.overwritten is not None and "modified by an inplace operation" in text:
        return _in_place(ev, line)
    if "does not require grad and does not have a grad_fn" in text:
        return _no_grad(ev, line)
    if "second time" in text and "backward" in text:
        return _second_pass(ev, line)
    for cause in (missing.no_leaf, missing.no_gradient_there, missing.nothing_back):
        known = cause(error, ev, line)
        if known is not None:
            return known
    found = re.search(
        r"Target (-?\d+) is out of bounds|index (-?\d+) is out of bounds|index out of range", text
    )
    if found is not None and isinstance(error, (IndexError, RuntimeError)):
        return _out_of_range(error, line, ev)
    if "var has negative entry/entries" in text:
        return Finding(
            "negative variance",
            BAD,
            EXACT,
            "gaussian_nll_loss takes variances, and is given numbers below 0: scores, or logarithms.",
            line,
            "takes variances",
            advice="Give it the exponential, or the softplus, of what the model gives.",
            weight=20.0,
        )
    if "Expected more than 1 value per channel when training" in text:
        return Finding(
            "one sample",
            BAD,
            EXACT,
            "A batch norm in training mode is given a single value per channel: a batch of one.",
            line,
            "one sample",
            also=_loader(error, ev) or (None if ev.loaders else misfits.loop(error)),
            advice="Drop the last batch (drop_last=True), or call eval().",
            weight=20.0,
        )
    shapes = explain(error)
    if shapes is not None:
        return Finding(
            "shapes",
            BAD,
            EXACT,
            shapes.sentence,
            line,
            "does not fit",
            also=misfits.typed(error, ev) or misfits.sized(error, ev),
            layer=shapes.module,
            proof=[(one.name, one.text + (f", {one.note}" if one.note else "")) for one in shapes.operands],
            confirm=("the shapes on that line", " and ".join(one.text for one in shapes.operands)),
            shapes=shapes,
            weight=20.0,
        )
    if line is None:
        return None
    first = text.strip().splitlines()[0] if text.strip() else type(error).__name__
    return Finding(
        "exception",
        BAD,
        EXACT,
        f"{type(error).__name__}: {first[:160]}",
        line,
        "raises",
        also=misfits.typed(error, ev)
        or missing.taken_for(error, ev)
        or misfits.unregistered(error)
        or (misfits.sized(error, ev) if any(word in first for word in misfits.SIZES) else None),
        weight=20.0,
    )


def _loader(error: BaseException, ev: Any) -> tuple[Line, str] | None:
    """Where the loader was made whose last batch is one sample."""
    if not ev.loaders:
        return None
    loader = ev.loaders[-1][0]
    size, rows = getattr(loader, "batch_size", None), len(getattr(loader, "dataset", ()))
    if not size or getattr(loader, "drop_last", False) or (size > 1 and rows % size != 1):
        return None
    line = assigned(error, ev, loader)
    return None if line is None else (line, "its last batch is one sample" if size > 1 else "batches of one")


def _labels(ev: Any) -> tuple[Line, str] | None:
    """Where a data set of the user's own gives its labels."""
    data = getattr(ev.loaders[-1][0], "dataset", None) if ev.loaders else None
    give = getattr(type(data), "__getitem__", None)
    if give is None or not hasattr(give, "__code__") or not outside(give.__code__.co_filename):
        return None
    line = returned(give)
    return None if line is None else (line, "counts from 1")


def _asked(error: BaseException, ev: Any) -> tuple[Line, str] | None:
    """Where the layer that gives a score for each class was made, or the number of its classes was written."""
    for names in given(error):
        scores = names.get("input")
        d = getattr(scores, "_data", None)
        known = None if d is None else ev.table.get(id(d))
        if known is None or known.data is not d:
            continue
        last = beyond(known)
        made = None if last.model is None else ev.origins.get(id(last.module))
        line = None if made is None else ev.line(made[2])
        line = literal(line, ("out_features",), 1) or line
        if line is not None:
            return line, "has too few"
    return None


def innermost(error: BaseException) -> Line | None:
    """The user's own line that an exception came from."""
    every = users(error)
    return line_in(*every[0]) if every else None


def _second_pass(ev: Any, line: Line | None) -> Finding:
    """A pass through a graph that an earlier one has freed: what of it is old."""
    kept = _not_detached(ev)
    if kept is not None:
        used, made, name = kept
        return Finding(
            "second pass",
            BAD,
            EXACT,
            "Two passes go through one result, and this use keeps its history: the first pass has freed its graph.",
            used,
            "keeps its history",
            also=None if line is None else (line, "second pass"),
            related=[] if made is None else [(made, "computes it")],
            proof=[("parameters behind it that the optimizer of this pass holds", 0)],
            confirm=("the same with .detach() here", "no exception"),
            advice=f"Detach it where {name} learns nothing of it: .detach().",
            weight=20.0,
        )
    once = _made_once(ev)
    joins = ev.line(ev.older[-1][2]) if ev.older else None
    if once is not None:
        op, made = once
        return Finding(
            "second pass",
            BAD,
            EXACT,
            f"The {op} of this line is computed once, and each pass goes through it: the first has freed its graph.",
            made,
            "computed once",
            also=None if line is None else (line, "second pass"),
            related=[] if joins is None else [(joins, "joins the old graph")],
            confirm=("the same with retain_graph=True", "no exception"),
            advice="Compute it anew in each step; what is to be learned should be a leaf: requires_grad_() comes last.",
            weight=20.0,
        )
    earlier = ev.line(ev.marks[0][1]) if len(ev.marks) > 1 and joins is None else None
    related = [] if line is None or joins is None else [(line, "second pass")]
    return Finding(
        "second pass",
        BAD,
        EXACT,
        "This pass goes through a graph that an earlier pass has freed."
        if joins is None
        else "A result of an earlier step is used with its history, which the pass of that step has freed.",
        joins or line,
        "second pass" if joins is None else "joins the old graph",
        also=None if earlier is None else (earlier, "frees it"),
        related=related,
        advice="Detach what goes from one step to the next, or call backward() once on the sum.",
        weight=20.0,
    )


def _not_detached(ev: Any) -> tuple[Line, Line | None, str] | None:
    """Where a result is used first in the pass that is to move none of the parameters behind it, as another has it too.

    Of two passes of one turn, an optimizer steps between them. The pass is that before this step where that optimizer
    holds none of the parameters behind the result and another that has not stepped does, else the newest, where the
    optimizer that stepped holds them all and others, which the pass reaches as well, are for the one that has not.

    Returns:
        The lines of the use and of the result, and the name of the optimizer of that pass.
    """
    p = ev.last
    if p is None or p.root is None or len(ev.marks) < 2 or not ev.stepped:
        return None
    mark = ev.marks[0][0]
    first = next(
        (
            v
            for v in reversed(ev.values)
            if v.seq <= mark and v.needs and not v.shape and v.place is not None and v.model is None
        ),
        None,
    )
    if p.root.seq <= mark or first is None:
        return None
    before = {id(v): v for v in itertools.islice(ancestors(first, lambda v: v.needs), 8000)}
    now = {id(v): v for v in itertools.islice(ancestors(p.root, lambda v: v.needs), 8000)}
    both = [v for i, v in now.items() if i in before and v.needs and v.parents]
    if not both:
        return None
    last = max(both, key=lambda v: v.seq)
    behind = {
        id(v.tensor)
        for v in itertools.islice(ancestors(last, lambda v: v.needs), 8000)
        if v.tensor is not None and v.needs
    }
    ledgers = list(ev.ledgers.values())
    moved = [one for one in ledgers if id(one.optimizer) in ev.stepped]
    others = [one for one in ledgers if id(one.optimizer) not in ev.stepped]
    theirs = {i for one in moved for i in one.held}
    rest = {i for one in others for i in one.held}
    if len(moved) != 1 or not behind or not others:
        return None
    if not behind & theirs and behind <= rest:
        used, owner = before, moved[0]
    elif behind <= theirs and not behind & rest and any(id(v) in rest for v in p.leaves):
        used, owner = now, others[0]
    else:
        return None
    uses = [v for v in used.values() if any(x is last for x in v.parents)]
    if not uses:
        return None
    use = min(uses, key=lambda v: v.seq)
    inner = None if use.call is None or use.call is last.call else use.call.place
    line = ev.line(inner or use.place)
    made = ev.line(last.place if last.call is None else last.call.place or last.place)
    return None if line is None else (line, made, ev.variable(owner.optimizer) or "the optimizer")


def _made_once(ev: Any) -> tuple[str, Line] | None:
    """What the newest pass goes through that was computed before the pass before it, at a line that ran once."""
    p = ev.last
    if p is None or p.root is None or len(ev.marks) < 2:
        return None
    mark = ev.marks[0][0]
    if p.root.seq <= mark:  # two passes from one graph
        return None
    again = {v.place for v in ev.values if v.seq > mark}
    found = None
    for v in itertools.islice(ancestors(p.root, lambda v: v.needs), 4000):
        op, place = v.op, v.place
        if op in ("source", "alias") and v.tensor is not None and v.tensor._node is not None:
            op, place = ev.made_by(v.tensor)
        elif op in ("source", "alias") or not v.needs or v.seq > mark:
            continue
        if op and place is not None and place not in again and (found is None or v.seq > found[2]):
            found = op, place, v.seq
    made = None if found is None else ev.line(found[1])
    return None if found is None or made is None else (found[0], made)


def _in_place(ev: Any, line: Line | None) -> Finding:
    node, entry = ev.overwritten
    lines = overwritten(node, entry)
    saved, written = lines.saved, lines.written
    for part in entry if isinstance(entry, tuple) else ():
        cell = getattr(part, "_ver", part)
        written = written or ev.line(ev.wrote.get(id(cell)))
        d = getattr(part, "_data", part)
        known = ev.table.get(id(d))
        if saved is None and known is not None and known.data is d:
            saved = ev.line(known.place)
    written = written or line
    return Finding(
        "in place",
        BAD,
        EXACT,
        "This line overwrites what the backward pass still needs.",
        written,
        "overwrites",
        related=[
            (at, label) for at, label in ((saved, "computed here"), (line, "backward")) if at is not None
        ],
        confirm=("the same without the in-place form", "no exception"),
        advice="Write it out of place: x = x + 1 in the place of x += 1.",
        weight=20.0,
    )


def _no_grad(ev: Any, line: Line | None) -> Finding:
    place, word, calls = None, "", None
    root = ev.newest_scalar()
    if root is not None:
        for v in ancestors(root):
            if v.op == "no history":
                continue  # it learns no more: see below
            if v.op in CUTS and v.ins:
                place, word = (v.consts[1] if len(v.consts) == 2 else v.place), WRITTEN.get(v.op, v.op)
            elif v.op.removesuffix("_at") in STEPWISE and any(a.needs for a in v.parents):
                place, word = v.place, v.op.removesuffix("_at")
            elif not v.grad and v.op != "source" and any(a.needs for a in v.parents):
                place, word = v.place, "no_grad()"
            if place is not None:
                calls = None if v.call is None else v.call.place
                break
    also = None
    if word == "no_grad()":
        outer = without_gradients(ev.line(place))
        if outer is None and calls is not None:
            outer = without_gradients(ev.line(calls))
        outer = outer or without_gradients(line) or missing.freezes(line)
        also = None if outer is None else (outer, "switches it off")
    if not word and (numbers := missing.taken_out_of(ev, root)) is not None:
        place, word = numbers
    frozen = None if word else missing.frozen(ev, line)
    text = (
        "The loss has no history: no parameter of what was called needs a gradient."
        if frozen is not None
        else f"The loss has no history: {word} ends it."
        if word
        else "The loss has no history: nothing it was computed from needs a gradient."
    )
    at = ev.line(place) or frozen
    return Finding(
        "no gradient",
        BAD,
        LINEAGE,
        text,
        at or line,
        "freezes them" if frozen is not None else "history ends" if at else "starts the pass",
        also=also,
        related=[(line, "backward")] if at is not None and line is not None else [],
        confirm=("loss.requires_grad", "False"),
        advice=f"Compute the loss without {word}." if word else "",
        weight=20.0,
    )


def _out_of_range(error: BaseException, line: Line | None, ev: Any) -> Finding:
    """Which sample has a label that is no class."""
    proof: list = []
    from_one = False
    samples: list = []
    text = str(error).splitlines()[0]
    for frame, _ in traceback.walk_tb(error.__traceback__):
        scores: Any = frame.f_locals.get("input")
        target: Any = frame.f_locals.get("target")
        if (
            hasattr(scores, "_data")
            and hasattr(target, "_data")
            and len(scores.shape) >= 2
            and target._data.dtype.kind in "iu"
        ):
            classes, labels = scores.shape[1], np.asarray(target._data).reshape(-1)
            bad = np.flatnonzero(((labels < 0) & (labels != -100)) | (labels >= classes))
            if len(bad):
                samples = samples_of(labels, bad)
                from_one = bool(labels.min() >= 1 and labels.max() == classes)
                text = (
                    f"Label {int(labels[bad[0]])} is no class: there are {classes}, from 0 to {classes - 1}."
                )
                proof = [
                    ("first such sample of the batch", int(bad[0])),
                    ("such samples", f"{len(bad)} of {len(labels)}"),
                    ("labels", f"{int(labels.min())} to {int(labels.max())}"),
                    ("classes", classes),
                ]
                break
        index: Any = frame.f_locals.get("input")
        weight: Any = frame.f_locals.get("weight")
        if (
            hasattr(index, "_data")
            and hasattr(weight, "_data")
            and index._data.dtype.kind in "iu"
            and len(weight.shape) == 2
        ):
            rows, numbers = weight.shape[0], np.asarray(index._data).reshape(-1)
            bad = np.flatnonzero((numbers < 0) | (numbers >= rows))
            if len(bad):
                samples = samples_of(numbers, bad)
                text = f"Index {int(numbers[bad[0]])} is no row of the embedding: it has {rows}, from 0 to {rows - 1}."
                proof = [
                    ("first such place", int(bad[0])),
                    ("such places", f"{len(bad)} of {len(numbers)}"),
                    ("indices", f"{int(numbers.min())} to {int(numbers.max())}"),
                    ("rows", rows),
                ]
                break
    table = misfits.rows(error, ev)
    return Finding(
        "out of range",
        BAD,
        EXACT,
        text,
        line,
        "takes classes" if table is None else "looks it up",
        also=table or (_labels(ev) or misfits.counted(error, ev) if from_one else _asked(error, ev)),
        proof=proof,
        samples=samples,
        confirm=("y.min(), y.max()", "beyond the classes"),
        advice="Count classes from 0, and give the last layer one score for each.",
        weight=20.0,
    )
