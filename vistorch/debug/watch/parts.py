"""Several modules that one optimizer trains and no common module calls: watched as if they were one model.

Invariant: it has what a run asks of a model; every tensor that the optimizer changes is in it, once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from .plain import Plain


class Parts:
    """Modules that are called one after the other, and tensors beside them.

    Args:
        modules: the modules, in the order of their calls.
        tensors: what the optimizer changes.
        names: the name of each tensor that has one, by tensor.
    """

    def __init__(self, modules: Sequence[Any], tensors: Iterable[Any], names: Any = None) -> None:
        known = {id(t): name for t, name in (names or {}).items()}
        self.named: dict[str, Any] = {}
        for m in modules:
            name = prefix = _name_of(m, known) if len(modules) > 1 else ""
            again = 1
            while name in self.named:
                again += 1
                name = f"{prefix}_{again}"
            self.named[name] = m
        held = {id(p) for m in modules for p in m.parameters()}
        self.beside = Plain([t for t in tensors if id(t) not in held], names)

    @property
    def training(self) -> bool:
        """Whether one of them trains."""
        return any(m.training for m in self.named.values())

    def named_parameters(self) -> Iterator[tuple[str, Any]]:
        """Each tensor with its name; a tensor that two modules share comes once."""
        seen = set()
        for path, m in self.named.items():
            for name, p in m.named_parameters():
                if id(p) not in seen:
                    seen.add(id(p))
                    yield f"{path}.{name}" if path else name, p
        yield from self.beside.named_parameters()

    def parameters(self) -> Iterator[Any]:
        """The tensors."""
        return (p for _, p in self.named_parameters())

    def buffers(self) -> Iterator[Any]:
        """The buffers of all."""
        return (b for m in self.named.values() for b in m.buffers())

    def modules(self) -> Iterator[Any]:
        """All modules in them, and they themselves."""
        return (m for part in self.named.values() for m in part.modules())

    def named_modules(self) -> Iterator[tuple[str, Any]]:
        """The same with their paths."""
        for path, part in self.named.items():
            for name, m in part.named_modules():
                yield f"{path}.{name}" if path and name else path or name, m


def parts_of(called: Iterable[Any], tensors: list) -> list:
    """Of the modules that were called, those that hold what an optimizer changes, in the order of the calls.

    A module within another that was called too is left out.

    Args:
        called: the modules, in the order of their calls.
        tensors: what the optimizer changes.
    """
    held = {id(t) for t in tensors}
    own = [(m, {id(p) for p in m.parameters()} & held) for m in called]
    covered: set[int] = set()
    chosen = set()
    for m, ids in sorted(own, key=lambda one: -len(one[1])):
        if ids - covered:
            covered |= ids
            chosen.add(id(m))
    return [m for m, _ in own if id(m) in chosen]


def _name_of(module: Any, known: dict[int, str]) -> str:
    for name, p in module.named_parameters():
        whole = known.get(id(p), "")
        if whole.endswith(f".{name}"):
            return whole[: -len(name) - 1]
    return type(module).__name__.lower()
