"""The form of a record's state, as `record.py` describes it, to check one that comes out of a file.

Invariant: a state that passes can be shown, drawn, tabulated and exported; one that does not is refused before a record
is made of it, with the place and what was expected there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .controls import WORDS

STATUSES = ("waiting", "running", "paused", "finished", "stopped", "interrupted", "error")
EXACT = 1 << 53  # whole numbers a page can hold

Check = Callable[[Any, str], None]


def check(state: Any) -> None:
    """Refuse a state that is not one.

    Args:
        state: what a file holds.
    """
    _STATE(state, "state")
    _fits_together(state)


def _wrong(where: str, value: Any, expected: str) -> ValueError:
    given = str(value)[:40] if isinstance(value, (str, int, float)) else type(value).__name__
    return ValueError(f"{where} is {given!r}, expected {expected}")


# ---- what a value may be --------------------------------------------------------------------------------------------
def _text(value: Any, where: str) -> None:
    if type(value) is not str:
        raise _wrong(where, value, "a text")


def _flag(value: Any, where: str) -> None:
    if type(value) is not bool:
        raise _wrong(where, value, "true or false")


def _whole(value: Any, where: str) -> None:
    if type(value) is not int or not 0 <= value < EXACT:
        raise _wrong(where, value, "a whole number from 0 on")


def _number(value: Any, where: str) -> None:
    if type(value) not in (int, float) or (type(value) is int and abs(value) >= EXACT):
        raise _wrong(where, value, "a number")


def _finite(value: Any, where: str) -> None:
    _number(value, where)
    if not math.isfinite(value):
        raise _wrong(where, value, "a finite number")


def _one_of(*texts: str) -> Check:
    def look(value: Any, where: str) -> None:
        if type(value) is not str or value not in texts:
            raise _wrong(where, value, f"one of {', '.join(map(repr, texts))}")

    return look


def _maybe(inner: Check) -> Check:
    return lambda value, where: None if value is None else inner(value, where)


def _each(inner: Check, length: int | None = None) -> Check:
    def look(value: Any, where: str) -> None:
        if type(value) is not list or (length is not None and len(value) != length):
            raise _wrong(where, value, "a list" if length is None else f"a list of {length}")
        for i, item in enumerate(value):
            inner(item, f"{where}[{i}]")

    return look


def _pair(first: Check, second: Check) -> Check:
    def look(value: Any, where: str) -> None:
        if type(value) is not list or len(value) != 2:
            raise _wrong(where, value, "a list of 2")
        first(value[0], f"{where}[0]")
        second(value[1], f"{where}[1]")

    return look


def _by_name(inner: Check, names: tuple[str, ...] = ()) -> Check:
    def look(value: Any, where: str) -> None:
        if type(value) is not dict or any(name not in value for name in names):
            raise _wrong(where, value, f"values for {', '.join(names) or 'names'}")
        for name, item in value.items():
            inner(item, f"{where}.{name[:40]}")

    return look


def _fields(optional: tuple[str, ...] = (), **checks: Check) -> Check:
    def look(value: Any, where: str) -> None:
        if type(value) is not dict:
            raise _wrong(where, value, "an object")
        for name, inner in checks.items():
            name = name.rstrip("_")  # `from_`
            if name in value:
                inner(value[name], f"{where}.{name}")
            elif name not in optional:
                raise ValueError(f"{where} has no {name!r}")
        if len(value) > len(checks) or any(name not in checks and f"{name}_" not in checks for name in value):
            raise ValueError(f"{where} has more than it should: {str(sorted(map(str, value)))[:100]}")

    return look


def _array(kind: str, dims: int, last: tuple[int, ...] = ()) -> Check:
    def look(value: Any, where: str) -> None:
        fine = isinstance(value, np.ndarray) and value.dtype == kind and value.ndim == dims
        if not fine or (last and value.shape[-1] not in last):
            raise _wrong(where, value, f"an array of {kind} of {dims} dimensions")

    return look


# ---- the sections ---------------------------------------------------------------------------------------------------
def _columns(value: Any, where: str) -> None:
    _COLUMNS(value, where)
    shape = value["mean"].shape
    if any(value[name].shape != shape for name in ("low", "high", "bad")):
        raise ValueError(f"{where} has columns of different lengths")
    if value["width"] < 1 or (value["from"] + shape[1]) * value["width"] >= EXACT:
        raise ValueError(f"{where} has columns of steps that nobody takes")


_COLUMNS = _fields(
    width=_whole,
    from_=_whole,
    low=_array("float32", 2),
    high=_array("float32", 2),
    mean=_array("float32", 2),
    bad=_array("uint8", 2),
)
_counts_of = {
    "right": _array("uint32", 1),
    "seen": _array("uint32", 1),
    "pairs": _array("uint16", 2, (2,)),
    "counts": _array("uint32", 1),
}
_COUNTS = _fields(("pairs", "counts"), **_counts_of)
_CODED = _fields(codes=_array("uint8", 4), scale=_finite)

_STATE = _fields(
    version=_whole,
    title=_text,
    head=_fields(
        status=_one_of(*STATUSES),
        say=_text,
        error=_maybe(
            _fields(kind=_text, message=_text, module=_text, where=_text, line=_maybe(_whole), say=_text)
        ),
        step=_whole,
        steps=_maybe(_whole),
        epoch=_maybe(_whole),
        epochs=_maybe(_whole),
        epoch_steps=_maybe(_whole),
        batch=_maybe(_whole),
        speed=_maybe(_number),
        left=_maybe(_number),
        seconds=_finite,
        overhead=_maybe(_number),
        cost=_by_name(_number),
        device=_text,
        memory=_maybe(_each(_whole, 2)),
        parameters=_whole,
        loss=_maybe(_number),
        accuracy=_maybe(_number),
        lr=_maybe(_each(_number)),
        why=_by_name(_text, tuple(WORDS)),
        says=_each(_text),
    ),
    classes=_each(_text),
    several=_flag,
    loss=_fields(curve=_columns, lr=_maybe(_columns), undone=_each(_columns)),
    validation=_each(
        _fields(
            step=_whole, epoch=_maybe(_whole), loss=_maybe(_number), accuracy=_maybe(_number), samples=_whole
        )
    ),
    accuracy=_fields(
        window=_maybe(_fields(("pairs", "counts"), **_counts_of, size=_whole)),
        epoch=_maybe(_COUNTS),
        validation=_maybe(_COUNTS),
        before=_maybe(_COUNTS),
        epochs=_each(
            _fields(epoch=_maybe(_whole), step=_whole, right=_array("uint32", 1), seen=_array("uint32", 1))
        ),
    ),
    mistakes=_fields(
        whole=_flag,
        after=_whole,
        items=_each(
            _fields(
                label=_whole,
                read=_whole,
                step=_whole,
                index=_maybe(_whole),
                where=_one_of("training", "validation"),
                top=_each(_pair(_whole, _number)),
                image=_maybe(_array("uint8", 3, (1, 3, 4))),
            )
        ),
    ),
    flow=_fields(
        names=_each(_text), shapes=_each(_each(_whole)), columns=_maybe(_columns), now=_array("float64", 1)
    ),
    health=_fields(
        band=_each(_finite, 2),
        window=_whole,
        flag=_finite,
        layers=_each(
            _fields(
                name=_text,
                parameters=_whole,
                ratio=_maybe(_number),
                mean=_maybe(_number),
                low=_maybe(_number),
                high=_maybe(_number),
                kind=_one_of("", "rectifier", "ends"),
                units=_maybe(_array("uint8", 1)),
                dead=_maybe(_array("uint8", 1)),
                saturated=_maybe(_array("uint8", 1)),
                seen=_whole,
                state=_text,
                cure=_text,
            )
        ),
    ),
    filters=_maybe(
        _fields(
            choices=_each(_fields(name=_text, shape=_each(_whole))),
            chosen=_text,
            step=_maybe(_whole),
            weight=_maybe(_CODED),
            gradient=_maybe(_CODED),
        )
    ),
    log=_fields(
        whole=_flag,
        items=_each(
            _fields(
                number=_whole,
                step=_whole,
                what=_text,
                from_=_maybe(lambda value, where: _logged(value, where)),
                to=_maybe(lambda value, where: _logged(value, where)),
                effect=_text,
                undone=_flag,
            )
        ),
    ),
    snapshots=_fields(steps=_each(_whole), bytes=_whole, budget=_whole),
)


def _logged(value: Any, where: str) -> None:
    """What a line of the log came from or went to."""
    if type(value) is list:
        _each(_number)(value, where)
    elif type(value) is not str:
        _number(value, where)


def _fits_together(state: dict) -> None:
    """Refuse parts that contradict each other."""
    classes, accuracy = len(state["classes"]), state["accuracy"]
    if state["loss"]["curve"]["mean"].shape[0] != 1:
        raise ValueError("state.loss.curve has more than one row")
    lr = state["loss"]["lr"]
    if lr is not None and 0 in lr["mean"].shape:
        raise ValueError("state.loss.lr is empty")
    for name in ("window", "epoch", "validation", "before"):
        if accuracy[name] is not None:
            _same_classes(accuracy[name], f"state.accuracy.{name}", classes)
    for i, epoch in enumerate(accuracy["epochs"]):
        _same_classes(epoch, f"state.accuracy.epochs[{i}]", classes)
    for i, item in enumerate(state["mistakes"]["items"]):
        if max(item["label"], item["read"], *[c for c, _ in item["top"]]) >= classes:
            raise ValueError(f"state.mistakes.items[{i}] is of a class that is not there")
    flow = state["flow"]
    rows = len(flow["names"]) if flow["columns"] is None else len(flow["columns"]["mean"])
    if not len(flow["names"]) == len(flow["shapes"]) == rows or len(flow["now"]) not in (0, rows):
        raise ValueError("state.flow has not as many names as rows")
    for i, layer in enumerate(state["health"]["layers"]):
        units = [layer[name] for name in ("units", "dead", "saturated")]
        if len({None if u is None else len(u) for u in units}) != 1:
            raise ValueError(f"state.health.layers[{i}] has different numbers of units")
    filters = state["filters"]
    if filters is not None and filters["weight"] and filters["gradient"]:
        if filters["weight"]["codes"].shape != filters["gradient"]["codes"].shape:
            raise ValueError("state.filters has a gradient of another shape than its weight")


def _same_classes(counts: dict, where: str, classes: int) -> None:
    """Refuse counts of classes that are not there."""
    if len(counts["right"]) != len(counts["seen"]) or len(counts["seen"]) > classes:
        raise ValueError(f"{where} has not as many counts as there are classes")
    pairs = counts.get("pairs")
    if (pairs is None) != ("counts" not in counts):
        raise ValueError(f"{where} has pairs or counts alone")
    if pairs is not None and (len(pairs) != len(counts["counts"]) or (len(pairs) and pairs.max() >= classes)):
        raise ValueError(f"{where} has pairs of classes that are not there")
