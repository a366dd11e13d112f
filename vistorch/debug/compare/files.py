"""A recording as a file: a zip of `recording.json` and one `.npy` for each array.

Reading it runs nothing: arrays are read without pickle, constants are rebuilt from a few kinds of plain values, and ops
are names. Invariant: a file that is not what `save` writes is refused with one sentence, before anything is made of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine.base import dtypes
from ..bundle import reading, write

FORMAT = "vistorch recording"
VERSION = 1
DTYPES = {d.name: d.np for d in dtypes.ALL}
MOST_INPUTS = 1 << 20  # of an op; a copy's gradient goes to an input that is no operand
HALF = {"bfloat16": np.dtype("u2")}  # types that `.npy` does not know travel as numbers of their size


def save(recording: Any, path: Any) -> None:
    """Write a recording, whole or not at all: a file that was there stays until the new one is complete.

    Args:
        recording: what to write.
        path: a file name, or an open binary file.
    """
    arrays: list[np.ndarray] = []
    number: dict[int, int] = {}

    def ref(a: Any) -> int | None:
        if a is None:
            return None
        if id(a) not in number:
            number[id(a)] = len(arrays)
            arrays.append(a)
        return number[id(a)]

    ops = [
        {
            "name": op.name,
            "module": op.module,
            "called": op.called,
            "layer": op.layer,
            "line": op.line,
            "outs": [ref(a) for a in op.outs],
            "ins": [
                ["array", ref(i[1])]
                if i[0] == "array"
                else ["number", _plain(i[1])]
                if i[0] == "number"
                else list(i)
                for i in op.ins
            ],
            "consts": _consts(op.consts),
            "given": [ref(a) for a in op.given],
            "sent": [[i, ref(a)] for i, a in op.sent],
            "order": op.order,
        }
        for op in recording.ops
    ]
    head = {
        "format": FORMAT,
        "version": VERSION,
        "title": recording.title,
        "source": recording.source,
        "ops": ops,
        "leaves": {name: ref(a) for name, a in recording.leaves.items()},
    }
    head["types"] = [a.dtype.name for a in arrays]
    plain = [np.ascontiguousarray(a).reshape(a.shape) for a in arrays]
    write(path, "recording.json", head, [a.view(HALF.get(a.dtype.name, a.dtype)) for a in plain], 1)


def load(path: Any) -> tuple[str, list[tuple], dict[str, np.ndarray], str]:
    """Read a recording's title, the fields of its ops in their order, the gradients of its leaves, and its source.

    Args:
        path: a file name, or an open binary file.

    Raises:
        ValueError: it is not a recording; the sentence says what is wrong.
    """
    with reading(path, "recording.json", "recording") as file:
        head = file.head
        if not isinstance(head, dict) or head.get("format") != FORMAT:
            raise ValueError("its recording.json is not one of a recording")
        if head["version"] != VERSION:
            raise ValueError(f"it has version {head['version']!r}; this vistorch reads version {VERSION}")
        if type(head["types"]) is not list:
            raise ValueError("its types are no list")
        arrays = [_array(file.array(i), name) for i, name in enumerate(head["types"])]
        return _parts(head, arrays)


def _array(a: np.ndarray, name: Any) -> np.ndarray:
    if name in HALF and a.dtype == HALF[name]:
        return a.view(dtypes.bfloat16.np)
    if a.dtype.name != name:
        raise ValueError(f"an array has type {a.dtype.name}, not {str(name)[:40]}")
    return a


def _parts(head: dict, arrays: list[np.ndarray]) -> tuple[str, list[tuple], dict[str, np.ndarray], str]:
    def get(i: Any) -> Any:
        return arrays[_whole(i, len(arrays))]

    ops: list[tuple] = []
    outputs: list[int] = []  # how many each op has
    for row in _typed(head["ops"], list):
        ins: list[tuple] = []
        for kind, *rest in _typed(row["ins"], list):
            if kind == "array":
                ins.append(("array", get(rest[0])))
            elif kind == "number":
                ins.append(("number", _typed(_back(rest[0]), (bool, int, float, complex))))
            elif kind == "row":
                at = _whole(rest[0], len(ops))
                ins.append(("row", at, _whole(rest[1], outputs[at])))
            else:
                raise ValueError(f"an input is of kind {str(kind)[:40]!r}")
        consts = None if row["consts"] is None else tuple(_back(c) for c in _typed(row["consts"], list))
        ops.append(
            (
                _typed(row["name"], str),
                _typed(row["module"], str),
                _typed(row["line"], str),
                [get(i) for i in _typed(row["outs"], list)],
                ins,
                consts,
                [None if i is None else get(i) for i in _typed(row["given"], list)],
                [(_whole(i, MOST_INPUTS), get(a)) for i, a in _typed(row["sent"], list)],
                None if row["order"] is None else _whole(row["order"], 1 << 40),
                _typed(row.get("called", ""), str),  # not in the oldest files
                _typed(row.get("layer", ""), str),
            )
        )
        outputs.append(len(ops[-1][3]))
    leaves = _typed(head["leaves"], dict)
    source = _typed(head.get("source", "vistorch"), str)
    return _typed(head["title"], str), ops, {k: get(v) for k, v in leaves.items()}, source


def _whole(i: Any, below: int) -> int:
    if type(i) is not int or not 0 <= i < below:
        raise ValueError(f"{str(i)[:40]} is no number of one of {below}")
    return i


def _typed(value: Any, kind: Any) -> Any:
    if not isinstance(value, kind):
        raise ValueError(f"{str(value)[:40]!r} is a {type(value).__name__}, which does not stand there")
    return value


class _Strange(Exception):
    """A constant that does not travel."""


def _consts(consts: Any) -> list | None:
    if consts is None:
        return None
    try:
        return [_plain(c) for c in consts]
    except _Strange:
        return None


def _plain(value: Any) -> Any:
    """A constant as JSON: plain ones as they are, others as {"kind": value}."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return {"float": repr(value)}
    if isinstance(value, complex):
        return {"complex": [repr(value.real), repr(value.imag)]}
    if isinstance(value, (tuple, list)):
        return {"tuple": [_plain(v) for v in value]}
    if isinstance(value, slice):
        return {"slice": [_plain(value.start), _plain(value.stop), _plain(value.step)]}
    if isinstance(value, np.dtype):
        return {"dtype": value.name}
    if isinstance(value, np.generic):
        return _plain(value.item())
    raise _Strange


def _back(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, str)):
        return value
    ((kind, inside),) = value.items()
    if kind == "float":
        return float(inside)
    if kind == "complex":
        return complex(float(inside[0]), float(inside[1]))
    if kind == "tuple":
        return tuple(_back(v) for v in _typed(inside, list))
    if kind == "slice":
        return slice(*[_back(v) for v in _typed(inside, list)])
    if kind == "dtype" and inside in DTYPES:
        return DTYPES[inside]
    raise ValueError(f"a constant is of kind {str(kind)[:40]!r}")
