"""The safetensors format: a JSON header and the tensors' bytes. Nothing in such a file can be run.

Invariant: a header is taken only if its tensors fill the file from end to end, without gap or overlap.
"""

from __future__ import annotations

import json
import math
import mmap
import os
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..engine.base import dtypes
from ..engine.core.tensor import Tensor, wrap
from ..engine.library_name import library
from ..engine.memory.array_memory import bytes_of
from ..engine.memory.placement import CPU, move, place_of
from .atomic import replacing

MOST = 100_000_000  # bytes of a header
_KINDS: dict[str, dtypes.dtype] = {
    "BOOL": dtypes.bool,
    "U8": dtypes.uint8,
    "I8": dtypes.int8,
    "I16": dtypes.int16,
    "F16": dtypes.float16,
    "BF16": dtypes.bfloat16,
    "I32": dtypes.int32,
    "F32": dtypes.float32,
    "C64": dtypes.complex64,
    "F64": dtypes.float64,
    "I64": dtypes.int64,
}
"""By the format's name, our type; in the order in which files are sorted, from the last to the first."""
_NAMES = {kind: name for name, kind in _KINDS.items()}
_RANK = {name: -i for i, name in enumerate(_KINDS)}


class SafetensorError(RuntimeError):
    """A file that is not what the format says, or a tensor that it cannot hold."""


class _Entry(NamedTuple):
    """A tensor in a file: its type and shape, and where its bytes are, counted from the header's end."""

    kind: dtypes.dtype
    shape: tuple[int, ...]
    begin: int
    end: int


# ---- writing --------------------------------------------------------------------------------------------------------
def save_file(tensors: dict[str, Tensor], filename: Any, metadata: dict[str, str] | None = None) -> None:
    """Save tensors under names; the file is replaced when the new one is complete.

    Args:
        tensors: by name.
        filename: the path.
        metadata: texts to keep with them.

    Example:
        >>> import os, tempfile, vistorch
        >>> from vistorch.serialization.safetensors import load_file, save_file
        >>> path = os.path.join(tempfile.mkdtemp(), "w.safetensors")
        >>> save_file({"w": vistorch.ones(2)}, path)
        >>> load_file(path)
        {'w': tensor([1., 1.])}
    """
    parts = list(_parts(tensors, metadata))
    with replacing(os.fspath(filename)) as file:
        for part in parts:
            file.write(_content(part))


def save(tensors: dict[str, Tensor], metadata: dict[str, str] | None = None) -> bytes:
    """The bytes of a file with these tensors.

    Args:
        tensors: by name.
        metadata: texts to keep with them.

    Example:
        >>> import vistorch
        >>> from vistorch.serialization import safetensors
        >>> safetensors.load(safetensors.save({"w": vistorch.ones(2)}))
        {'w': tensor([1., 1.])}
    """
    return b"".join([_content(part) for part in _parts(tensors, metadata)])


def _parts(tensors: Any, metadata: Any) -> Iterator[Any]:
    """What a file consists of: its header, and then the tensors."""
    if not isinstance(tensors, dict):
        raise ValueError(f"Expected a dict of [str, {library}.Tensor] but received {type(tensors)}")
    for name, t in tensors.items():
        if not isinstance(t, Tensor):
            raise ValueError(f"Key `{name}` is invalid, expected {library}.Tensor but received {type(t)}")
        if not isinstance(name, str) or name == "__metadata__":
            raise ValueError(f"a tensor cannot be named {name!r}")
        if t.dtype not in _NAMES:
            raise SafetensorError(f"dtype {t.dtype.name} is not covered by the format (key `{name}`)")
        if not t.is_contiguous():
            raise ValueError(
                f"You are trying to save a non contiguous tensor: `{name}` which is not allowed. It either means you "
                "are trying to save tensors which are reference of each other in which case it's recommended to save "
                "only the full tensors, and reslice at load time, or simply call `.contiguous()` on your tensor to "
                "pack it before saving."
            )
    _refuse_shared(tensors)
    header: dict[str, Any] = {}
    if metadata is not None:
        if not all(isinstance(text, str) for pair in metadata.items() for text in pair):
            raise ValueError("metadata must be a dict of str to str")
        header["__metadata__"] = metadata
    order = sorted(tensors, key=lambda name: (_RANK[_NAMES[tensors[name].dtype]], name.encode()))
    at = 0
    for name in order:
        t = tensors[name]
        size = t._data.nbytes
        header[name] = {
            "dtype": _NAMES[t.dtype],
            "shape": list(t._data.shape),
            "data_offsets": [at, at + size],
        }
        at += size
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    yield len(text).to_bytes(8, "little") + text
    for name in order:
        yield tensors[name]


def _content(part: Any) -> Any:
    """What to write of a part of a file: a tensor's bytes, taken when their turn comes."""
    if isinstance(part, bytes):
        return part
    a = part._data
    return memoryview(move(bytes_of(a), part._place, CPU) if part._place.kind else bytes_of(a))


def _refuse_shared(tensors: dict[str, Tensor]) -> None:
    """Refuse tensors that share memory: the format cannot say it."""
    spans = sorted((t.data_ptr(), t._data.nbytes, name) for name, t in tensors.items() if t._data.size)
    groups: list[set[str]] = []
    reach, inside = 0, ""
    for start, size, name in spans:
        if start < reach:
            if not groups or inside not in groups[-1]:
                groups.append({inside})
            groups[-1].add(name)
        if start + size > reach:
            reach = start + size
            inside = name
    if groups:
        raise RuntimeError(
            "Some tensors share memory, this will lead to duplicate memory on disk and potential differences when "
            f"loading them again: {groups}. Save a copy of one, `.clone()`, or only one of them"
        )


# ---- reading --------------------------------------------------------------------------------------------------------
def _bad(why: str) -> SafetensorError:
    """The error for a header that cannot be."""
    return SafetensorError(f"Error while deserializing header: {why}")


def _no_duplicates(pairs: list) -> dict:
    """A JSON object, whose names must differ."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _bad("a name occurs twice")
    return found


def _header(data: Any, length: int) -> tuple[dict[str, _Entry], dict[str, str] | None, int]:
    """The tensors of a file, its texts, and where its header ends.

    Args:
        data: the file's bytes, or its first ones: all of the header.
        length: how long the file is.
    """
    if length < 8:
        raise _bad("header too small")
    size = int.from_bytes(data[:8], "little")
    if size > MOST:
        raise _bad("header too large")
    if size > length - 8:
        raise _bad("invalid header length")
    try:
        text = bytes(data[8 : 8 + size]).decode("utf-8")
        if not text.startswith("{"):
            raise _bad("invalid start character in header, must be `{`")
        header = json.loads(text, object_pairs_hook=_no_duplicates)
    except UnicodeDecodeError:
        raise _bad("invalid UTF-8 in header") from None
    except (ValueError, RecursionError):
        raise _bad("invalid JSON in header") from None
    metadata = header.pop("__metadata__", None)
    if metadata is not None and not (
        type(metadata) is dict and all(type(value) is str for value in metadata.values())
    ):
        raise _bad("the metadata are not texts")
    entries = {name: _entry(name, found) for name, found in header.items()}
    at = 0
    for name, entry in sorted(entries.items(), key=lambda pair: pair[1][2:]):
        if entry.begin != at:
            raise _bad(f"invalid offset for tensor `{name[:60]}`")
        at = entry.end
    if at != length - 8 - size:
        raise _bad("incomplete metadata, file not fully covered")
    return entries, metadata, 8 + size


def _entry(name: str, found: Any) -> _Entry:
    """One tensor of a header."""
    if type(found) is not dict or found.keys() != {"dtype", "shape", "data_offsets"}:
        raise _bad(f"tensor `{name[:60]}` is not described by dtype, shape and data_offsets")
    kind = _KINDS.get(found["dtype"]) if type(found["dtype"]) is str else None
    if kind is None:
        raise _bad(
            f"tensor `{name[:60]}` has the type {str(found['dtype'])[:20]}, which vistorch does not have"
        )
    shape, offsets = found["shape"], found["data_offsets"]
    for numbers in (shape, offsets):
        if type(numbers) is not list or not all(type(n) is int and 0 <= n < 1 << 63 for n in numbers):
            raise _bad(f"tensor `{name[:60]}` has a shape or offsets that are not sizes")
    if len(offsets) != 2 or len(shape) > 64:
        raise _bad(f"tensor `{name[:60]}` has a shape or offsets of a wrong length")
    if math.prod(shape) * kind.itemsize != offsets[1] - offsets[0]:
        raise _bad(f"invalid shape, data type, or offset for tensor `{name[:60]}`")
    if math.prod([n for n in shape if n]) * kind.itemsize >= 1 << 63:
        raise _bad(f"tensor `{name[:60]}` has sizes that no array has")
    return _Entry(kind, tuple(shape), offsets[0], offsets[1])


def _array(entry: _Entry, data: Any, start: int) -> np.ndarray:
    """A tensor's elements as they lie in the file; no copy."""
    if not math.prod(entry.shape):
        return np.empty(entry.shape, entry.kind.np)
    count = math.prod(entry.shape)
    return np.frombuffer(data, entry.kind.np, count, start + entry.begin).reshape(entry.shape)


def _tensor(a: np.ndarray, place: Any) -> Tensor:
    """A tensor with memory of its own at a place."""
    if a.dtype == np.bool_:
        a = a.view(np.uint8) != 0  # other bytes than 0 and 1 are true too, and dangerous to keep
    else:
        a = a.copy()
    return wrap(a if place is CPU else move(a, CPU, place), place)


def load(data: bytes) -> dict[str, Tensor]:
    """The tensors of a file's bytes, by name.

    Args:
        data: all of the file.

    Example:
        >>> import vistorch
        >>> from vistorch.serialization import safetensors
        >>> safetensors.load(safetensors.save({"n": vistorch.arange(3)}))["n"]
        tensor([0, 1, 2])
    """
    entries, _, start = _header(data, len(data))
    return {name: _tensor(_array(entry, data, start), CPU) for name, entry in entries.items()}


def load_file(filename: Any, device: Any = "cpu") -> dict[str, Tensor]:
    """The tensors of a file, by name.

    Args:
        filename: the path.
        device: where they go.

    Example:
        >>> import os, tempfile, vistorch
        >>> from vistorch.serialization.safetensors import load_file, save_file
        >>> path = os.path.join(tempfile.mkdtemp(), "w.safetensors")
        >>> save_file({"b": vistorch.tensor([True])}, path)
        >>> load_file(path)
        {'b': tensor([True])}
    """
    with safe_open(filename, "pt", device) as f:
        return {name: f.get_tensor(name) for name in f.keys()}


class safe_open:
    """A file whose tensors are read one by one, when they are asked for.

    Args:
        filename: the path.
        framework: accepted, as in the `safetensors` library: "pt" or another.
        device: where the tensors go.

    Example:
        >>> import os, tempfile, vistorch
        >>> from vistorch.serialization.safetensors import safe_open, save_file
        >>> path = os.path.join(tempfile.mkdtemp(), "w.safetensors")
        >>> save_file({"w": vistorch.arange(6).reshape(2, 3)}, path, {"made by": "me"})
        >>> with safe_open(path, "pt") as f:
        ...     f.keys(), f.metadata(), f.get_slice("w")[1, :2]
        (['w'], {'made by': 'me'}, tensor([3, 4]))
    """

    def __init__(self, filename: Any, framework: str = "pt", device: Any = "cpu") -> None:
        self._place = place_of(device)
        with open(filename, "rb") as file:
            length = os.fstat(file.fileno()).st_size
            self._data: Any = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if length else b""
        try:
            self._entries, self._metadata, self._start = _header(self._data, length)
        except SafetensorError:
            self.__exit__()
            raise

    def __enter__(self) -> safe_open:
        return self

    def __exit__(self, *exception: object) -> None:
        if isinstance(self._data, mmap.mmap):
            self._data.close()
        self._data = None

    def keys(self) -> list[str]:
        """The tensors' names, sorted."""
        return sorted(self._entries)

    def offset_keys(self) -> list[str]:
        """The tensors' names, in the order in which they lie in the file."""
        return sorted(self._entries, key=lambda name: self._entries[name][2:])

    def metadata(self) -> dict[str, str] | None:
        """The texts kept with the tensors."""
        return self._metadata

    def get_tensor(self, name: str) -> Tensor:
        """One tensor.

        Args:
            name: its name.
        """
        return self.get_slice(name)[...]

    def get_slice(self, name: str) -> SafeSlice:
        """One tensor, of which nothing is read before it is indexed.

        Args:
            name: its name.
        """
        if self._data is None:
            raise SafetensorError("File is not open")
        if name not in self._entries:
            raise SafetensorError(f"File does not contain tensor {name}")
        return SafeSlice(self, self._entries[name])


class SafeSlice:
    """A tensor in a file; an index reads a part of it.

    Args:
        file: the open file.
        entry: where it is there.
    """

    def __init__(self, file: safe_open, entry: _Entry) -> None:
        self._file, self._entry = file, entry

    def get_shape(self) -> list[int]:
        """The tensor's sizes."""
        return list(self._entry.shape)

    def get_dtype(self) -> str:
        """The format's name of the tensor's type, as "F32"."""
        return _NAMES[self._entry.kind]

    def __getitem__(self, index: Any) -> Tensor:
        if self._file._data is None:
            raise SafetensorError("File is not open")
        for part in index if isinstance(index, tuple) else (index,):
            if not (part is Ellipsis or isinstance(part, (int, slice))):
                raise SafetensorError(f"a slice is taken by numbers and ranges, not by {type(part).__name__}")
        found = _array(self._entry, self._file._data, self._file._start)[index]
        return _tensor(np.asarray(found), self._file._place)
