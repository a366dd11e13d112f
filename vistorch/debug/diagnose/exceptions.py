"""An exception as a finding: what did not fit, with the line and what led to it.

Invariant: nothing is run again; where nothing is known beyond the exception's own words, those are the sentence.
"""

from __future__ import annotations

import re
import traceback
from typing import Any

import numpy as np

from ...engine.base.events import OUTSIDE, kind_of
from ..line_lookup import Line, cell_of
from ..lines import overwritten
from ..shapes import explain
from .evidence import MOVES
from .finding import BAD, EXACT, LINEAGE, Finding
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
        joins = ev.line(ev.older[-1][2]) if ev.older else None
        return Finding(
            "second pass",
            BAD,
            EXACT,
            "This pass goes through a graph that an earlier pass has freed."
            if joins is None
            else "A result of an earlier step is used with its history, which the pass of that step has freed.",
            joins or line,
            "second pass" if joins is None else "joins the old graph",
            related=[] if joins is None or line is None else [(line, "second pass")],
            advice="Detach what goes from one step to the next, or call backward() once on the sum.",
            weight=20.0,
        )
    found = re.search(
        r"Target (-?\d+) is out of bounds|index (-?\d+) is out of bounds|index out of range", text
    )
    if found is not None and isinstance(error, (IndexError, RuntimeError)):
        return _out_of_range(error, line, ev)
    if "Expected more than 1 value per channel when training" in text:
        return Finding(
            "one sample",
            BAD,
            EXACT,
            "A batch norm in training mode is given a single value per channel: a batch of one.",
            line,
            "one sample",
            also=_loader(error, ev),
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
            also=_made(error, ev),
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
        also=_wide(error, ev) if "dtype" in first or "scalar type" in first else None,
        weight=20.0,
    )


def _given(error: BaseException) -> Any:
    """What the frames of the library that raised were given, the innermost first."""
    every = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    for frame in reversed(every):
        if kind_of(frame.f_code.co_filename) == OUTSIDE:
            return
        yield frame.f_locals


def _made(error: BaseException, ev: Any) -> tuple[Line, str] | None:
    """Where the layer that raised was made."""
    for names in _given(error):
        made = ev.origins.get(id(names.get("self")))
        if made is not None and made[0] == "module":
            line = ev.line(made[2])
            return None if line is None else (line, "made here")
    return None


def _loader(error: BaseException, ev: Any) -> tuple[Line, str] | None:
    """Where the loader was made whose last batch is one sample."""
    if not ev.loaders:
        return None
    loader = ev.loaders[-1][0]
    size, rows = getattr(loader, "batch_size", None), len(getattr(loader, "dataset", ()))
    if not size or getattr(loader, "drop_last", False) or (size > 1 and rows % size != 1):
        return None
    line = _assigned(error, ev, loader)
    return None if line is None else (line, "its last batch is one sample" if size > 1 else "batches of one")


def _assigned(error: BaseException, ev: Any, thing: Any) -> Line | None:
    """The line that gives a thing its name."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        for name, value in [*frame.f_locals.items(), *frame.f_globals.items()]:
            if value is thing and not name.startswith("_"):
                found = ev.assigned(name)
                if found is not None:
                    return found
    return None


def _wide(error: BaseException, ev: Any) -> tuple[Line, str] | None:
    """Where the values of 64 bits were made that meet others of 32."""
    for names in _given(error):
        for value in list(names.values()):
            d = getattr(value, "_data", None)
            if d is None or str(d.dtype) != "float64":
                continue
            known = ev.table.get(id(d))
            if known is None or known.data is not d:
                continue
            while known.parents and (known.op in MOVES or known.op.startswith("index")):
                if str(known.parents[0].data.dtype if known.parents[0].data is not None else "") != "float64":
                    break
                known = known.parents[0]
            line = ev.line(known.place)
            if line is not None:
                return line, "makes float64"
    return None


def _labels(ev: Any) -> tuple[Line, str] | None:
    """Where a data set of the user's own gives its labels."""
    data = getattr(ev.loaders[-1][0], "dataset", None) if ev.loaders else None
    give = getattr(type(data), "__getitem__", None)
    if give is None or not hasattr(give, "__code__") or kind_of(give.__code__.co_filename) != OUTSIDE:
        return None
    line = returned(give)
    return None if line is None else (line, "counts from 1")


def _asked(error: BaseException, ev: Any) -> tuple[Line, str] | None:
    """Where the layer that gives a score for each class was made, or the number of its classes was written."""
    from ..lineage import beyond

    for names in _given(error):
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
    found = None
    for frame, number in traceback.walk_tb(error.__traceback__):
        code = frame.f_code
        if kind_of(code.co_filename) == OUTSIDE and not code.co_filename.startswith("<frozen"):
            import linecache

            text = linecache.getline(code.co_filename, number).strip()
            found = Line(code.co_filename, number, code.co_name, text, cell_of(code.co_filename))
    return found


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
    from ..lineage import ancestors

    place, word, calls = None, "", None
    root = ev.newest_scalar()
    if root is not None:
        for v in ancestors(root):
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
        outer = outer or without_gradients(line)
        also = None if outer is None else (outer, "switches it off")
    text = (
        f"The loss has no history: {word} ends it."
        if word
        else "The loss has no history: nothing it was computed from needs a gradient."
    )
    at = ev.line(place)
    return Finding(
        "no gradient",
        BAD,
        LINEAGE,
        text,
        at or line,
        "history ends" if at else "starts the pass",
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
    return Finding(
        "out of range",
        BAD,
        EXACT,
        text,
        line,
        "takes classes",
        also=_labels(ev) if from_one else _asked(error, ev),
        proof=proof,
        samples=samples,
        confirm=("y.min(), y.max()", "beyond the classes"),
        advice="Count classes from 0, and give the last layer one score for each.",
        weight=20.0,
    )
