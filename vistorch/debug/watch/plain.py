"""Tensors that an optimizer changes and that are in no module that is called: watched as if they were a model.

Invariant: it has what a run asks of a model, and holds nothing but the tensors and their names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any


class Plain:
    """Parameters without a module.

    Args:
        tensors: the tensors.
        names: the name of each that has one, by tensor.
    """

    training = True

    def __init__(self, tensors: Iterable[Any], names: Any = None) -> None:
        known = {id(t): name for t, name in (names or {}).items()}
        self.named: dict[str, Any] = {}
        for i, t in enumerate(tensors):
            name = known.get(id(t), f"tensor {i}")
            while name in self.named:
                name += "'"
            self.named[name] = t

    def named_parameters(self) -> Iterator[tuple[str, Any]]:
        """Each tensor with its name."""
        return iter(self.named.items())

    def parameters(self) -> Iterator[Any]:
        """The tensors."""
        return iter(self.named.values())

    def buffers(self) -> Iterator[Any]:
        """None."""
        return iter(())

    modules = named_modules = buffers
