"""What a notebook's names hold: every tensor, parameter, module and array as one row of a table.

The cost is bounded: norms and small pictures are made until a budget of time is spent, the rows come in any case.
Invariant: a row holds numbers and text, never a tensor; no value of the user's is changed, called or kept alive.
"""

from __future__ import annotations

import math
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, TypedDict

import numpy as np

from ..engine.core.tensor import Tensor
from ..engine.memory.array_memory import owner
from .device_reads import Batch, place_of
from .layers import is_module
from .source import Unsupported, is_torch, named, source_of
from .thumbnail import Thumb, ThumbState, ask_thumbnail

KINDS = ("tensor", "parameter", "module", "array")
ORDERS = ("name", "kind", "shape", "dtype", "device", "bytes", "grad")
MOST = 300  # rows
SECONDS = 0.25  # for norms and pictures
CHUNK = 1 << 20
PIECE = 1 << 24  # elements that are squared at once on a device


@dataclass(frozen=True)
class Row:
    """One name. `None` stands for what its kind has not: a module has no shape, an array no gradient."""

    name: str
    kind: str
    shape: tuple[int, ...] | None
    dtype: str
    device: str
    nbytes: int
    requires_grad: bool | None = None
    grad_norm: float | None = None
    thumb: Thumb | None = None
    says: str = ""
    number: str = ""


class RowState(TypedDict):
    """A row as it travels."""

    name: str
    kind: Literal["tensor", "parameter", "module", "array"]
    shape: list[int] | None
    dtype: str
    device: str
    nbytes: int
    requires_grad: bool | None
    grad_norm: float | None
    thumb: ThumbState | None
    says: str
    number: str  # what a scalar is


class State(TypedDict):
    """The table as it travels."""

    title: str
    rows: list[RowState]


@dataclass(frozen=True)
class Vars:
    """The table."""

    kind: ClassVar[str] = "vars"
    title: str
    rows: tuple[Row, ...]

    def text(self) -> str:
        """The table in columns, aligned."""
        if not self.rows:
            return f"{self.title}: make one, as in x = vistorch.ones(3)"
        head = ("name", "kind", "shape", "dtype", "device", "bytes", "grad", "grad norm", "")
        cells = [head, *(_cells(row) for row in self.rows)]
        wide = [max(len(line[column]) for line in cells) for column in range(len(head))]
        right = (head.index("bytes"), head.index("grad norm"))
        lines = [
            "  ".join(
                word.rjust(width) if column in right else word.ljust(width)
                for column, (word, width) in enumerate(zip(line, wide, strict=True))
            ).rstrip()
            for line in cells
        ]
        return "\n".join([self.title, *lines])

    def wire(self) -> State:
        """The state, as it travels."""
        rows: list[Any] = []
        for row in self.rows:
            state = {**vars(row), "shape": None if row.shape is None else list(row.shape)}
            rows.append({**state, "thumb": None if row.thumb is None else row.thumb.wire()})
        return {"title": self.title, "rows": rows}


def survey(
    namespace: Mapping[str, Any],
    *,
    sort: str = "name",
    reverse: bool = False,
    kind: str = "all",
    seconds: float = SECONDS,
) -> Vars:
    """Look at every name that holds a tensor, a module or an array.

    Args:
        namespace: names and values.
        sort: one of ORDERS; numbers begin with the largest.
        reverse: the other way round.
        kind: one of KINDS, or "all".
        seconds: how long norms and pictures may take together.

    Example:
        >>> import vistorch
        >>> print(survey({"x": vistorch.zeros(2, 3)}).text())
        1 name, 24 bytes
        name  kind    shape   dtype    device  bytes  grad  grad norm
        x     tensor  (2, 3)  float32  cpu        24  no            -
    """
    found = [(name, value, which) for name, value, which in _look(namespace) if kind in ("all", which)]
    pairs = [(row, value) for row, value in zip(_rows(found), (value for _, value, _ in found), strict=True)]
    pairs.sort(key=lambda pair: _order(pair[0], sort), reverse=reverse)
    title = _title(len(pairs), _memory(found))
    if len(pairs) > MOST:
        title += f"; the first {MOST} by {sort}"
    until, batch = time.perf_counter() + seconds, Batch()
    asked = [
        (row, _asked_norm(batch, row, value), _asked_picture(batch, row, value))
        for row, value in pairs[:MOST]
    ]
    batch.send()
    rows = [(replace(row, grad_norm=norm(until)), picture) for row, norm, picture in asked]
    if sort == "grad":  # known only now
        rows.sort(key=lambda pair: _order(pair[0], sort), reverse=reverse)
    return Vars(title, tuple(picture(row, until) for row, picture in rows))


def names_worth_looking_at(namespace: Mapping[str, Any]) -> list[str]:
    """Return the names that hold a tensor, a module or an array, in natural order."""
    return sorted((name for name, _, _ in _look(namespace)), key=_natural)


def kind_of(value: Any) -> str:
    """Return one of KINDS, or nothing for anything else."""
    if isinstance(value, Tensor):
        nn = sys.modules.get("vistorch.nn")
        return "parameter" if nn is not None and isinstance(value, nn.Parameter) else "tensor"
    if is_torch(value):
        torch = named("torch")
        if torch.is_tensor(value):
            return "parameter" if torch.is_parameter(value) else "tensor"
        return "module" if is_module(value) else ""
    if isinstance(value, np.ndarray) or _is_cupy(value):
        return "array"
    nn = sys.modules.get("vistorch.nn")
    return "module" if nn is not None and isinstance(value, nn.Module) else ""


def _is_cupy(value: Any) -> bool:
    """Say whether a value is a cupy array, without importing cupy."""
    cupy = sys.modules.get("cupy")
    return cupy is not None and isinstance(value, cupy.ndarray)


def _look(namespace: Mapping[str, Any]) -> Iterator[tuple[str, Any, str]]:
    """Walk over the names that count; those that begin with _ do not, so neither does IPython's history."""
    for name, value in list(namespace.items()):
        if isinstance(name, str) and not name.startswith("_") and (kind := kind_of(value)):
            yield name, value, kind


def _rows(found: list[tuple[str, Any, str]]) -> list[Row]:
    """Make the rows, without what takes time; say which names share memory."""
    rows = [_row(name, value, kind) for name, value, kind in found]
    # an owner of memory -> the row that others are views of: one that is none itself, and shows most
    first: dict[int, int] = {}
    rank = [
        (kind == "module" or not _is_view(value), row.nbytes)
        for row, (_, value, kind) in zip(rows, found, strict=True)
    ]
    roots = [None if kind == "module" else _memory_of(value) for _, value, kind in found]
    for index, root in enumerate(roots):
        if root is not None:
            best = first.setdefault(root, index)
            if rank[index] > rank[best]:
                first[root] = index
    for index, root in enumerate(roots):
        best = index if root is None else first[root]
        if best != index:
            value, base, name = found[index][1], found[best][1], found[best][0]
            how = "the same as" if value is base else "view of" if _is_view(value) else "shares memory with"
            rows[index] = replace(rows[index], says=f"{how} {name}")
    seen: dict[int, str] = {}
    for index, (name, value, kind) in enumerate(found):
        if kind == "module" and (other := seen.setdefault(id(value), name)) != name:
            rows[index] = replace(rows[index], says=f"the same as {other}")
    return rows


def _row(name: str, value: Any, kind: str) -> Row:
    """Make one row."""
    if kind == "module":
        return _module_row(name, value)
    if kind == "array":
        device = f"cuda:{value.device.id}" if _is_cupy(value) else "cpu"
        return Row(name, kind, tuple(value.shape), str(value.dtype), device, value.nbytes)
    source = source_of(value)
    assert source is not None
    facts = source.facts(value)
    return Row(
        name, kind, facts.shape, facts.dtype, facts.device, facts.nbytes, facts.requires_grad, says=facts.says
    )


def _module_row(name: str, module: Any) -> Row:
    """Make a module's row: all of its parameters and buffers together."""
    parameters, buffers = list(module.parameters()), list(module.buffers())
    tensors = [*parameters, *buffers]
    number = len(parameters)
    rows = [_row("", tensor, "tensor") for tensor in tensors]
    values = sum(math.prod(row.shape or ()) for row in rows[:number])
    return Row(
        name,
        "module",
        None,
        _one_or_many(row.dtype for row in rows),
        _one_or_many(row.device for row in rows),
        sum(row.nbytes for row in rows),
        any(parameter.requires_grad for parameter in parameters),
        says=f"{type(module).__name__}: {values:,} values in {number} parameter{'s' * (number != 1)}",
    )


def _one_or_many(words: Iterator[str]) -> str:
    """Return the one word there is, or all in a row."""
    return ", ".join(sorted(set(words)))


def _raw(value: Any) -> Any:
    """Return the numpy or cupy array of a tensor or of itself; of PyTorch's one on the CPU."""
    if is_torch(value):
        return named("torch").host(value)
    return value._data if isinstance(value, Tensor) else value


def _memory_of(value: Any) -> Any:
    """Return what tells the memory of a value from others."""
    return named("torch").memory(value) if is_torch(value) else id(owner(_raw(value)))


def _is_view(value: Any) -> bool:
    """Say whether a value was made as a view of another."""
    if is_torch(value):
        return named("torch").is_view(value)
    return value._is_view() if isinstance(value, Tensor) else value.base is not None


def _memory(found: list[tuple[str, Any, str]]) -> int:
    """Return the bytes that all of it takes, shared memory once."""
    owners: dict[Any, int] = {}
    for _, value, kind in found:
        tensors = [*value.parameters(), *value.buffers()] if kind == "module" else [value]
        for tensor in tensors:
            if is_torch(tensor):
                owners[_memory_of(tensor)] = named("torch").facts(tensor).memory
                continue
            root = owner(_raw(tensor))
            owners[id(root)] = root.nbytes
    return sum(owners.values())


def _title(number: int, memory: int) -> str:
    """Return the sentence above the table."""
    if not number:
        return "no tensors, modules or arrays here"
    return f"{number} name{'s' * (number > 1)}, {said_bytes(memory)}"


def said_bytes(number: int) -> str:
    """Return a number of bytes as a person says it.

    Example:
        >>> said_bytes(24), said_bytes(4_000_000)
        ('24 bytes', '4.0 MB')
    """
    if number < 10_000:
        return f"{number:,} bytes"
    power = min(int(math.log10(number)) // 3, 4)
    return f"{number / 1000**power:.1f} {('', 'kB', 'MB', 'GB', 'TB')[power]}"


def _asked_norm(batch: Batch, row: Row, value: Any) -> Callable[[float], float | None]:
    """Ask for the norm of the gradient, and give what tells it if there is time."""
    if row.kind == "array":
        return lambda until: None
    tensors = list(value.parameters()) if row.kind == "module" else [value]
    if is_torch(value):
        torch = named("torch")
        gradients = [g for tensor in tensors if (g := torch.gradient(tensor)) is not None]
    else:
        gradients = [tensor._grad._data for tensor in tensors if tensor._grad is not None]
    squares = []
    try:
        for gradient in gradients:
            squares.append(_asked_square(batch, gradient))
    except Unsupported:
        squares.clear()

    def norm(until: float) -> float | None:
        total = 0.0
        for square in squares:
            found = square(until)
            if found is None:
                return None
            total += found
        return (math.sqrt(total) if total == total else math.nan) if squares else None

    return norm


def _asked_square(batch: Batch, gradient: Any) -> Callable[[float], float | None]:
    """The same for the sum of squares of one gradient."""
    if place_of(gradient) is None:
        flat = _raw(gradient).reshape(-1)
        return lambda until: _square(flat, until)
    if is_torch(gradient):
        answer = batch.ask(gradient, [named("torch").square(gradient)], float_of)
    else:
        with place_of(gradient):
            flat = gradient.reshape(-1)
            parts = [abs(flat[at : at + PIECE]).astype(np.float64) for at in range(0, flat.size, PIECE)]
            answer = batch.ask(gradient, [part.dot(part) for part in parts], float_of)
    return lambda until: answer.value


def float_of(parts: list) -> float:
    """Return the sum of numbers that came over."""
    return float(sum(float(part) for part in parts))


def _square(flat: Any, until: float) -> float | None:
    """Return the sum of squares of an array of the host; None when the time is over."""
    total = 0.0
    for start in range(0, flat.shape[0], CHUNK):
        if time.perf_counter() > until:
            return None
        part = abs(flat[start : start + CHUNK]).astype(np.float64)
        total += float(part @ part)
    return total


def _asked_picture(batch: Batch, row: Row, value: Any) -> Callable[[Row, float], Row]:
    """Ask for the small picture, and give what adds it if there is time.

    A module shows its largest parameter and says which.
    """
    said, shown, scalar = "", value, row.shape == ()
    if row.kind == "module":
        largest = max(value.named_parameters(), key=lambda pair: _count(pair[1]), default=None)
        if largest is None:
            return lambda row, until: row
        said, shown, scalar = f"; pictured: {largest[0]}", largest[1], False
    elif is_torch(value) and row.says:  # it has no values
        return lambda row, until: row
    try:
        data = shown if is_torch(shown) or not isinstance(shown, Tensor) else shown._data
        number = batch.whole(data) if scalar else None
        picture = None if scalar else ask_thumbnail(batch, data)
    except Unsupported as error:  # a subclass that gives none
        why = str(error)
        return lambda row, until: row if row.kind == "module" else replace(row, says=row.says or why)

    def add(row: Row, until: float) -> Row:
        left = until - time.perf_counter()
        if left < 0:
            return row
        if number is not None:
            return replace(row, number=_number(number.value))
        own = row.says.startswith(
            f"{type(value).__name__}:"
        )  # else it says which other name it is the same as
        return replace(row, thumb=picture and picture(left), says=row.says + said if own else row.says)

    return add


def _count(parameter: Any) -> int:
    """How many values a parameter has; none, where it waits for its shape."""
    try:
        return parameter.numel()
    except (ValueError, RuntimeError):
        return 0


def _number(array: Any) -> str:
    """Return what a scalar is, in four digits."""
    value = array.item()
    if isinstance(value, (bool, int)):
        return str(value) if abs(value) < 10**9 else f"{value:.3e}"
    return f"{value:.4g}" if isinstance(value, (float, complex)) else ""


def _order(row: Row, sort: str) -> Any:
    """Return what a row is sorted by: text as it reads, numbers from the largest down."""
    name = _natural(row.name)
    if sort == "bytes":
        return -row.nbytes, name
    if sort == "grad":
        norm = -1.0 if row.grad_norm is None else row.grad_norm
        return 0.0 if norm != norm else 1.0, -norm if norm == norm else 0.0, name  # NaN is what one looks for
    if sort == "shape":
        return -1 if row.shape is None else -math.prod(row.shape), name
    return (name,) if sort == "name" else (getattr(row, sort), name)


def _natural(name: str) -> Any:
    """Return a key that puts x2 before x10."""
    return [
        (part.isdigit(), int(part) if part.isdigit() else 0, part.lower())
        for part in re.split(r"(\d+)", name)
    ], name


def _cells(row: Row) -> tuple[str, ...]:
    """Return a row's words."""
    norm = "-" if row.grad_norm is None else f"{row.grad_norm:.4g}"
    grad = "-" if row.requires_grad is None else "yes" if row.requires_grad else "no"
    shape = "-" if row.shape is None else str(row.shape)
    return (row.name, row.kind, shape, row.dtype, row.device, f"{row.nbytes:,}", grad, norm, row.says)
