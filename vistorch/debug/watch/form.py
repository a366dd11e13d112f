"""The form of a record's state, as `record.py` describes it, to check one that comes out of a file.

Invariant: a state that passes can be shown, drawn, tabulated and exported; one that does not is refused before a record
is made of it, with the place and what was expected there.
"""

from __future__ import annotations

from typing import Any, get_args

from .commands import WORDS
from .progress import Status
from .value_checks import (
    EXACT,
    array,
    by_name,
    each,
    fields,
    finite,
    flag,
    maybe,
    number,
    one_of,
    row,
    text,
    whole,
)

STATUSES = get_args(Status)
LATER = "trace", "into", "meant"  # commands that files of earlier versions lack


def check(state: Any) -> None:
    """Refuse a state that is not one.

    Args:
        state: what a file holds.
    """
    _STATE(state, "state")
    _fits_together(state)


def _read(value: Any, where: str) -> None:
    if value not in (-1, -2) or type(value) is not int:  # -2 where nobody asked for it
        whole(value, where)


# ---- the sections ---------------------------------------------------------------------------------------------------
def _columns(value: Any, where: str) -> None:
    _COLUMNS(value, where)
    shape = value["mean"].shape
    if any(value[name].shape != shape for name in ("low", "high", "bad")):
        raise ValueError(f"{where} has columns of different lengths")
    if value["width"] < 1 or (value["from"] + shape[1]) * value["width"] >= EXACT:
        raise ValueError(f"{where} has columns of steps that nobody takes")


_COLUMNS = fields(
    width=whole,
    from_=whole,
    low=array("float32", 2),
    high=array("float32", 2),
    mean=array("float32", 2),
    bad=array("uint8", 2),
)
_counts_of = {
    "right": array("uint32", 1),
    "seen": array("uint32", 1),
    "pairs": array("uint16", 2, (2,)),
    "counts": array("uint32", 1),
}
_COUNTS = fields(("pairs", "counts"), **_counts_of)
_ALARM = fields(
    what=text,
    kind=text,
    name=text,
    step=whole,
    epoch=whole,
    last=whole,
    over=whole,
    now=flag,
    word=text,
    say=text,
    cause=text,
    rest=text,
    way=text,
    weights=each(text),
    snapshot=maybe(whole),
    how=one_of("", "paused", "on", "unanswered"),
)
_SCORE = fields(
    n=whole,
    r2=maybe(finite),
    mae=maybe(finite),
    rmse=maybe(finite),
    bias=maybe(finite),
    constant_mae=maybe(finite),
    constant_rmse=maybe(finite),
)
_VALUES = fields(
    outputs=each(text),
    pooled=whole,
    shape=each(whole),
    broadcast=flag,
    echo=flag,
    size=whole,
    n=whole,
    bad=whole,
    scores=each(_SCORE),
    r2=maybe(finite),
    predicted=array("float32", 2),
    target=array("float32", 2),
    bins=array("uint32", 2),
    span=array("float64", 2, (2,)),
    beyond=each(whole),
    worst=each(
        fields(
            step=whole,
            index=maybe(whole),
            error=maybe(finite),
            predicted=each(maybe(finite)),
            target=each(maybe(finite)),
        )
    ),
)
_TOKENS = fields(
    vocabulary=whole,
    length=whole,
    shifted=flag,
    n=whole,
    size=whole,
    bad=whole,
    loss=maybe(finite),
    perplexity=maybe(finite),
    accuracy=maybe(finite),
    looked=whole,
    position=maybe(array("float32", 1)),
    positions=maybe(array("uint32", 1)),
    hard=each(row(whole, finite, whole)),
    pairs=each(row(whole, whole, whole)),
    places=each(fields(step=whole, token=whole, read=_read, loss=finite, position=whole, before=each(whole))),
    names=by_name(text),
)
_TASK = fields(
    kind=one_of("", "classification", "regression", "language", "loss"),
    loss=text,
    constant=text,
    values=maybe(fields(window=maybe(_VALUES), validation=maybe(_VALUES))),
    tokens=maybe(fields(window=maybe(_TOKENS), validation=maybe(_TOKENS))),
)
_FINDING = fields(
    rule=text,
    severity=one_of("bad", "wrong", "doubtful"),
    certainty=one_of("exact", "lineage", "measured"),
    text=text,
    where=text,
    cell=maybe(whole),
    line=maybe(whole),
    layer=text,
    source=each(fields(line=whole, text=text, role=one_of("", "guilty", "related"), label=text)),
    proof=each(row(text, text)),
    confirm=text,
    gives=text,
    unless=text,
    cure=each(row(whole, text, text)),
    advice=text,
    tree=each(row(whole, text, text, text)),
)
_FINDINGS = fields(
    items=each(_FINDING),
    count=whole,
    withdrawn=whole,
    rules=each(fields(name=text, title=text, looked=flag)),
)
_CODED = fields(codes=array("uint8", 4), scale=finite)

_STATE = fields(
    ("findings",),
    version=whole,
    title=text,
    head=fields(
        status=one_of(*STATUSES),
        say=text,
        error=maybe(fields(kind=text, message=text, module=text, where=text, line=maybe(whole), say=text)),
        step=whole,
        steps=maybe(whole),
        epoch=maybe(whole),
        epochs=maybe(whole),
        epoch_steps=maybe(whole),
        batch=maybe(whole),
        speed=maybe(number),
        left=maybe(number),
        seconds=finite,
        overhead=maybe(number),
        cost=by_name(number),
        device=text,
        memory=maybe(each(whole, 2)),
        parameters=whole,
        loss=maybe(number),
        accuracy=maybe(number),
        lr=maybe(each(number)),
        why=by_name(text, tuple([word for word in WORDS if word not in LATER])),
        alarm=maybe(_ALARM),
        autopause=maybe(flag),
        tries=whole,
        begins=each(row(whole, whole, whole)),
        says=each(text),
    ),
    classes=each(text),
    several=flag,
    loss=fields(curve=_columns, lr=maybe(_columns), undone=each(_columns)),
    validation=each(
        fields(
            ("without", "r2", "perplexity"),
            step=whole,
            epoch=maybe(whole),
            loss=maybe(number),
            accuracy=maybe(number),
            samples=whole,
            without=whole,
            r2=maybe(number),
            perplexity=maybe(number),
        )
    ),
    accuracy=fields(
        window=maybe(fields(("pairs", "counts"), **_counts_of, size=whole, first=whole, last=whole)),
        without=whole,
        without_from=whole,
        epoch=maybe(_COUNTS),
        validation=maybe(_COUNTS),
        before=maybe(_COUNTS),
        epochs=each(
            fields(epoch=maybe(whole), step=whole, right=array("uint32", 1), seen=array("uint32", 1))
        ),
    ),
    mistakes=fields(
        whole=flag,
        after=whole,
        items=each(
            fields(
                label=whole,
                read=whole,
                step=whole,
                index=maybe(whole),
                where=one_of("training", "validation"),
                top=each(row(whole, number)),
                image=maybe(array("uint8", 3, (1, 3, 4))),
            )
        ),
    ),
    flow=fields(
        names=each(text),
        shapes=each(each(whole)),
        columns=maybe(_columns),
        now=array("float64", 1),
        there=array("uint8", 1),
        bounds=each(number, 2),
    ),
    health=fields(
        band=each(finite, 2),
        window=whole,
        flag=finite,
        layers=each(
            fields(
                name=text,
                module=text,
                parameters=whole,
                ratio=maybe(number),
                mean=maybe(number),
                low=maybe(number),
                high=maybe(number),
                kind=one_of("", "rectifier", "ends"),
                units=maybe(array("uint8", 1)),
                dead=maybe(array("uint8", 1)),
                saturated=maybe(array("uint8", 1)),
                seen=whole,
                state=text,
                cure=text,
            )
        ),
    ),
    filters=maybe(
        fields(
            choices=each(fields(name=text, shape=each(whole))),
            chosen=text,
            step=maybe(whole),
            weight=maybe(_CODED),
            gradient=maybe(_CODED),
        )
    ),
    log=fields(
        whole=flag,
        items=each(
            fields(
                number=whole,
                step=whole,
                what=text,
                from_=maybe(lambda value, where: _logged(value, where)),
                to=maybe(lambda value, where: _logged(value, where)),
                effect=text,
                undone=flag,
            )
        ),
    ),
    task=_TASK,
    findings=_FINDINGS,
    snapshots=fields(steps=each(whole), bytes=whole, budget=whole),
)


def _logged(value: Any, where: str) -> None:
    """What a line of the log came from or went to."""
    if type(value) is list:
        each(number)(value, where)
    elif type(value) is not str:
        number(value, where)


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
    for name in ("values", "tokens"):
        for when, part in (state["task"][name] or {}).items():
            if part is not None:
                _TOGETHER[name](part, f"state.task.{name}.{when}")
    flow = state["flow"]
    rows = len(flow["names"]) if flow["columns"] is None else len(flow["columns"]["mean"])
    if not len(flow["names"]) == len(flow["shapes"]) == rows or not {
        len(flow["now"]),
        len(flow["there"]),
    } <= {0, rows}:
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


def _values_together(part: dict, where: str) -> None:
    """Refuse a regression whose arrays do not fit its outputs."""
    n = len(part["outputs"])
    arrays = [part[name] for name in ("predicted", "target", "bins", "span")]
    if any(len(a) != n for a in arrays) or len(part["beyond"]) != n or len(part["scores"]) not in (0, n):
        raise ValueError(f"{where} has not as many rows as outputs")
    if part["predicted"].shape != part["target"].shape:
        raise ValueError(f"{where} has predictions and targets of different numbers")


def _tokens_together(part: dict, where: str) -> None:
    """Refuse tokens that are in no vocabulary, and positions that are not there."""
    by_position = [part["position"], part["positions"]]
    if (
        any(a is not None and len(a) != part["length"] for a in by_position)
        or sum(a is None for a in by_position) == 1
    ):
        raise ValueError(f"{where} has not as many positions as its length")
    tokens = [c for c, _, _ in part["hard"]] + [c for a, b, _ in part["pairs"] for c in (a, b)]
    tokens += [c for one in part["places"] for c in (one["token"], one["read"], *one["before"])]
    if max(tokens, default=-1) >= part["vocabulary"]:
        raise ValueError(f"{where} has a token that is not in its vocabulary")


_TOGETHER = {"values": _values_together, "tokens": _tokens_together}
