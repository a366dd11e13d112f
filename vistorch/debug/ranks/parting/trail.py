"""In a rank: what a run computed, op by op, and its parameters, buffers and gradients at each step, as checksums.

Invariant: listening changes nothing of the run; what is kept is bounded, and the earliest is kept.
"""

from __future__ import annotations

import hashlib
import linecache
from collections.abc import Iterable
from typing import Any

import numpy as np

from ....engine.base.events import Listener, where
from ....engine.core.tensor import Tensor
from ....engine.random.generators import default_generator
from ....nn.parallel import DistributedDataParallel
from ...breaks.modules import path_of
from ...layers import spoken
from ...line_lookup import line_of
from ...numbers import host, plain

OPS = 20_000  # ops that are kept; a comparison is about the beginning of a run
POINTS = 3_000  # points of the run at which parameters are looked at
BYTES = 256 << 20  # of arrays that are kept to be shown
SAMPLES = 4096  # rows of batches that are distinguished
AROUND = 2  # lines of source shown before and after one

UNNAMED = "parameter "  # how a name begins that no network has given
FORWARD, BACKWARD, BEFORE, AFTER = "forward begins", "after backward", "before step()", "after step()"


def checksum(data: Any) -> str:
    """Sixteen digits for all bytes of an array, its type and its shape.

    Args:
        data: an array.

    Example:
        >>> import numpy as np
        >>> from vistorch.debug.ranks.parting.trail import checksum
        >>> checksum(np.zeros(2)) == checksum(np.zeros(2)), checksum(np.zeros(2)) == checksum(np.zeros((2, 1)))
        (True, False)
    """
    found = host(data)
    made = hashlib.blake2b(f"{found.dtype.name}{found.shape}".encode(), digest_size=8)
    made.update(found.tobytes())
    return made.hexdigest()


def place_in_memory(tensor: Any) -> int:
    """What tells one array's memory from another's, also through views such as `.data`."""
    data = tensor._data
    try:
        return data.__array_interface__["data"][0]
    except (AttributeError, TypeError):
        return id(data)


class Trail(Listener):
    """Listens while a run goes on, and keeps what ranks are compared by.

    Example:
        >>> import vistorch
        >>> from vistorch.debug.ranks.parting import Trail
        >>> with Trail() as trail:
        ...     y = vistorch.ones(2) * 3
        >>> [op["name"] for op in trail.wire()["ops"]]
        ['mul']
    """

    def __init__(self) -> None:
        self.ops: list[dict[str, Any]] = []
        self.points: list[dict[str, Any]] = []
        self.batches: list[dict[str, Any]] = []
        self.kept: dict[str, np.ndarray] = {}  # by checksum
        self.bytes = self.samples = self.steps = self.epoch = 0
        self.full = False
        self.stack: list[Any] = []
        self.names: dict[int, str] = {}  # of parameters and buffers, by their identity
        self.known: dict[int, Any] = {}  # the tensors themselves, so that an identity stays theirs
        self.params: list[int] = []
        self.roots = 1  # networks that were called
        self.wrapped = False  # whether DistributedDataParallel averages gradients
        self.makers: dict[int, tuple[Any, int, int]] = {}  # arrays that an op made, by their identity
        self.writes: dict[int, tuple[int, int]] = {}  # the newest op and line that wrote a memory
        self.places: dict[Any, int] = {}

    # ---- events -------------------------------------------------------------------------------------------------
    def op(self, rule: Any, ins: tuple, consts: tuple, outs: tuple) -> None:
        """An op ran; in a backward pass, one of a hook."""
        if len(self.ops) >= OPS:
            self.full = True
            return
        index = len(self.ops)
        inputs: list[list[Any]] = []
        for one in ins:
            if not isinstance(one, Tensor):
                inputs.append(["number", repr(one)])
                continue
            made = self.makers.get(id(one._data))
            if made is not None and made[0] is one._data:
                inputs.append(["op", made[1], made[2]])
            else:
                inputs.append(["array", self._sum(one), self.names.get(id(one), ""), list(one.shape)])
        drawn = [checksum(one) for one in consts if isinstance(one, np.ndarray)]
        self.ops.append(
            {
                "name": rule.name,
                "module": self._module(),
                "place": self._place(where()),
                "ins": inputs,
                "drawn": drawn,
                "consts": [repr(one)[:80] for one in consts if not isinstance(one, np.ndarray)],
                "outs": [self._sum(one) for one in outs],
            }
        )
        for nr, one in enumerate(outs):
            self.makers[id(one._data)] = one._data, index, nr
        if len(self.makers) > 5000:  # the oldest arrays are let go
            for key in list(self.makers)[:2500]:
                del self.makers[key]

    def write(self, tensor: Any, rule: Any) -> None:
        """A memory was written."""
        raw = where()
        op, last = -1, self.ops[-1] if self.ops else None
        if rule is not None and last is not None and (last["name"] == rule.name or self._beside(last, raw)):
            op = len(self.ops) - 1
        self.writes[place_in_memory(tensor)] = op, self._place(raw)
        if op >= 0:
            self.makers[id(tensor._data)] = tensor._data, op, 0
        else:
            self.makers.pop(id(tensor._data), None)

    def _beside(self, op: dict[str, Any], raw: Any) -> bool:
        """Whether an op stands in the line of a place: an update in place may be no op of its own."""
        other = list(self.places)[op["place"]]
        if raw is None or other is None or raw[0] is not other[0]:
            return False
        one, two = line_of(raw), line_of(other)
        return one is not None and two is not None and one.line == two.line

    def phase(self, name: str, subject: Any, *details: Any) -> None:
        """Modules, and steps of optimizers."""
        if name == "forward":
            if isinstance(subject, DistributedDataParallel):
                self.wrapped = True
            elif not self.stack or isinstance(self.stack[-1], DistributedDataParallel):
                self._learn(subject)
                if subject.training:
                    self._batch(details[0], details[1])
                self._point(FORWARD, self._state())
            self.stack.append(subject)
        elif name == "forward_end" and self.stack:
            self.stack.pop()
        elif name == "loader":
            self.epoch += 1
        elif name == "step":
            owned = [p for group in subject.param_groups for p in group["params"]]
            self._point(BEFORE, self._grads(owned), subject)
        elif name == "step_end":
            owned = [p for group in subject.param_groups for p in group["params"]]
            self._point(AFTER, [(self._name(p), p) for p in owned], subject)
            self.steps += 1

    def backward_end(self, run: Any, outputs: tuple) -> None:
        """Gradients have arrived, and were averaged if they are at all."""
        if run.accumulate:
            self._point(BACKWARD, self._grads([self.known[i] for i in self.params]))

    # ---- what is kept -------------------------------------------------------------------------------------------
    def _learn(self, root: Any) -> None:
        """The names of a network's parameters and buffers; those that ranks share out are left aside."""
        aside = {
            id(one)
            for module in root.modules()
            if type(module).__module__.startswith("vistorch.distributed.tensor")
            for one in module.parameters(recurse=False)
        }
        ignored = set(getattr(root, "_ddp_params_and_buffers_to_ignore", ()))
        taken, before = set(self.names.values()), ""
        if any(name in taken for name, one in root.named_parameters() if id(one) not in self.names):
            self.roots += 1  # another network with the same names
            before = f"{type(root).__name__} {self.roots}: "
        for name, one in [*root.named_parameters(), *root.named_buffers()]:
            if id(one) not in aside and name not in ignored and id(one) not in self.names:
                self.names[id(one)], self.known[id(one)] = before + name, one
                if one.requires_grad:
                    self.params.append(id(one))

    def _name(self, tensor: Any) -> str:
        found = self.names.get(id(tensor))
        if found is None:
            self.names[id(tensor)] = found = f"{UNNAMED}{len(self.params)}"
            self.known[id(tensor)] = tensor
            self.params.append(id(tensor))
        return found

    def _state(self) -> list[tuple[str, Any]]:
        return [(self.names[i], one) for i, one in self.known.items()]

    def _grads(self, params: Iterable[Any]) -> list[tuple[str, Any]]:
        return [(f"{self._name(one)}.grad", one.grad) for one in params]

    def _point(self, what: str, tensors: list[tuple[str, Any]], optimizer: Any = None) -> None:
        if len(self.points) >= POINTS:
            self.full = True
            return
        sums, wrote = {}, {}
        for name, one in tensors:
            sums[name] = "none" if one is None else self._sum(one, keep=True)
            if one is not None and (found := self.writes.get(place_in_memory(one))) is not None:
                wrote[name] = list(found)
        state = default_generator.get_state()
        made = {
            "what": what,
            "step": self.steps,
            "op": len(self.ops),
            "tensors": sums,
            "wrote": wrote,
            "seed": default_generator.initial_seed(),
            "generator": checksum(state),
            "averaged": self.wrapped,
            "rates": {},
        }
        if optimizer is not None:
            made["rates"] = {
                (key if len(optimizer.param_groups) == 1 else f"{key} of group {i}"): repr(value)
                for i, group in enumerate(optimizer.param_groups)
                for key, value in group.items()
                if isinstance(value, (int, float, tuple)) and key != "params"
            }
            if what == BEFORE:
                made["held"] = self._held(optimizer)
        self.points.append(made)

    def _held(self, optimizer: Any) -> dict[str, str]:
        """What an optimizer remembers of each parameter."""
        found = {}
        for tensor, kept in list(getattr(optimizer, "state", {}).items()):
            if isinstance(kept, dict) and isinstance(tensor, Tensor):
                for key, value in kept.items():
                    if isinstance(value, Tensor):
                        found[f"{key} of {self._name(tensor)}"] = self._sum(value)
        return found

    def _batch(self, args: Any, kwargs: Any) -> None:
        """The first tensor that a network is called with, a checksum for each of its rows."""
        for one in [*args, *kwargs.values()]:
            if isinstance(one, Tensor) and one.ndim and self.samples < SAMPLES:
                rows = [checksum(row) for row in host(one)[: SAMPLES - self.samples]]
                self.samples += len(rows)
                self.batches.append({"step": self.steps, "epoch": self.epoch, "rows": rows})
                return

    def _sum(self, tensor: Any, keep: bool = False) -> str:
        found = checksum(tensor)
        if keep and found not in self.kept and self.bytes + tensor._data.nbytes <= BYTES:
            copy = self.kept[found] = np.array(host(tensor))
            self.bytes += copy.nbytes
        return found

    def _module(self) -> str:
        if not self.stack:
            return ""
        root = next((m for m in self.stack if not isinstance(m, DistributedDataParallel)), self.stack[0])
        path = path_of(root, self.stack[-1])
        return spoken(path, root) if path else ""

    def _place(self, raw: Any) -> int:
        return self.places.setdefault(raw, len(self.places))

    # ---- what travels -------------------------------------------------------------------------------------------
    def wire(self) -> dict[str, Any]:
        """All but the arrays, as JSON can say it."""
        return {
            "ops": self.ops,
            "points": self.points,
            "batches": self.batches,
            "places": [_source(raw) for raw in self.places],
            "full": self.full,
        }

    def values(self, sums: Iterable[str]) -> dict[str, np.ndarray]:
        """The numbers behind checksums, of the arrays that were kept.

        Args:
            sums: which.
        """
        found = {}
        for one in sums:
            if one in self.kept:
                numbers = plain(self.kept[one])
                found[one] = numbers.astype(np.complex128 if numbers.dtype.kind == "c" else np.float64)
        return found


def _source(raw: Any) -> dict[str, Any]:
    """A place with the lines around it."""
    line = line_of(raw)
    if line is None:
        return {"line": "", "file": "", "code": []}
    lines = linecache.getlines(line.file)
    first = max(1, line.line - AROUND)
    last = min(len(lines), line.line + AROUND)
    code = [[n, lines[n - 1].rstrip("\n"), n == line.line] for n in range(first, last + 1)]
    return {
        "line": str(line),
        "file": f"In [{line.cell}]" if line.cell is not None else line.path,
        "code": code,
    }
