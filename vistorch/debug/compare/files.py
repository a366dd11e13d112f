"""A recording as a file: a zip of `recording.json` and one `.npy` for each array.

Reading it runs nothing: arrays are read without pickle, constants are rebuilt from a few kinds of plain values, and ops
are names. Invariant: a file that is not what `save` writes is refused with one sentence.
"""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import numpy as np

from ...engine import dtypes
from ...serialization.atomic import whole
from .recording import Op, Recording

FORMAT = "vistorch recording"
VERSION = 1
MOST = 1 << 34  # bytes that a file may unfold to
HALF = {"bfloat16": np.dtype("u2")}  # types that `.npy` does not know travel as numbers of their size


def save(recording: Recording, path: Any) -> None:
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
        "ops": ops,
        "leaves": {name: ref(a) for name, a in recording.leaves.items()},
    }
    head["types"] = [a.dtype.name for a in arrays]
    with whole(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as z:
        z.writestr("recording.json", json.dumps(head, allow_nan=False))
        for i, a in enumerate(arrays):
            held = io.BytesIO()
            plain = np.ascontiguousarray(a).reshape(a.shape)
            np.lib.format.write_array(held, plain.view(HALF.get(a.dtype.name, a.dtype)), allow_pickle=False)
            z.writestr(f"{i}.npy", held.getvalue())


def load(path: Any) -> Recording:
    """Read a recording.

    Args:
        path: a file name, or an open binary file.

    Raises:
        ValueError: it is not a recording; the sentence says what is wrong.
    """
    try:
        with zipfile.ZipFile(path) as z:
            size = sum(i.file_size for i in z.infolist())
            if size > MOST:
                raise ValueError(f"it unfolds to {size:,} bytes, more than {MOST:,}")
            head = json.loads(z.read("recording.json"))
            if not isinstance(head, dict) or head.get("format") != FORMAT:
                raise ValueError("its recording.json is not one of a recording")
            if head["version"] != VERSION:
                raise ValueError(f"it has version {head['version']!r}; this vistorch reads version {VERSION}")
            arrays = [_array(z.read(f"{i}.npy"), str(name)) for i, name in enumerate(head["types"])]
        return _rebuilt(head, arrays)
    except OSError:
        raise
    except (zipfile.BadZipFile, KeyError, IndexError, TypeError, ValueError, AttributeError, EOFError) as exc:
        raise ValueError(
            f"{path} is no recording: {' '.join(str(exc).split()) or type(exc).__name__}"
        ) from None


def _array(data: bytes, name: str) -> np.ndarray:
    a = np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
    if name in HALF:
        return a.view(dtypes.bfloat16.np)
    if a.dtype.name != name:
        raise ValueError(f"an array has type {a.dtype.name}, not {name}")
    return a


def _rebuilt(head: dict, arrays: list[np.ndarray]) -> Recording:
    def get(i: Any) -> Any:
        return None if i is None else arrays[_whole(i, len(arrays))]

    ops: list[Op] = []
    for told in head["ops"]:
        ins: list[tuple] = []
        for kind, *rest in told["ins"]:
            if kind == "array":
                ins.append(("array", get(rest[0])))
            elif kind == "number":
                ins.append(("number", _back(rest[0])))
            elif kind == "row":
                at = _whole(rest[0], len(ops))
                ins.append(("row", at, _whole(rest[1], len(ops[at].outs))))
            else:
                raise ValueError(f"an input is of kind {kind!r}")
        consts = None if told["consts"] is None else tuple(_back(c) for c in told["consts"])
        ops.append(
            Op(
                str(told["name"]),
                str(told["module"]),
                str(told["line"]),
                [get(i) for i in told["outs"]],
                ins,
                consts,
                [get(i) for i in told["given"]],
                [(_whole(i, 1 << 20), get(a)) for i, a in told["sent"]],
                None if told["order"] is None else _whole(told["order"], 1 << 40),
            )
        )
    return Recording(str(head["title"]), ops, {str(k): get(v) for k, v in head["leaves"].items()})


def _whole(i: Any, below: int) -> int:
    if not isinstance(i, int) or isinstance(i, bool) or not 0 <= i < below:
        raise ValueError(f"{i!r} is no number of one of {below}")
    return i


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
        return tuple(_back(v) for v in inside)
    if kind == "slice":
        return slice(*[_back(v) for v in inside])
    if kind == "dtype":
        return dtypes.bfloat16.np if inside == "bfloat16" else np.dtype(str(inside))
    raise ValueError(f"a constant is of kind {kind!r}")
