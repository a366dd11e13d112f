"""What people call tensors and modules: names of variables, of parameters, paths as in `named_modules`.

Invariant: nothing of the user's is called but the `named_...` of modules; names are kept by identity, no tensor is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..layers import is_module, size_of, spoken
from ..line_lookup import line_of
from ..source import Source, named

MOST = 200  # entries of a list or dict in the namespace
HIDDEN = ("In", "Out", "_", "__", "___", "exit", "quit", "get_ipython")


class Names:
    """Names of leaves, of intermediate results and of modules.

    Attributes:
        leaves: id of a tensor to its name.
        parameters: ids of tensors that are parameters of a module.
        nodes: a result's node to the variable that holds it.
        paths: id of a module to (root, path).
        parts: (root, path) to the module.
    """

    def __init__(
        self,
        names: Any = None,
        modules: Any = None,
        namespace: Mapping[str, Any] | None = None,
        source: Source | None = None,
    ) -> None:
        self.source = named("vistorch") if source is None else source
        self.leaves: dict[int, str] = {}
        self.parameters: set[int] = set()
        self.nodes: dict[Any, str] = {}
        self.paths: dict[int, tuple[str, str]] = {}
        self.parts: dict[tuple[str, str], Any] = {}
        self.owner: dict[int, tuple[str, str]] = {}  # of a parameter: (root, path of its module)
        self.roots: list[tuple[str, Any]] = []
        self.alive: list[Any] = []  # so that an id stays that of its object
        self._given(names)
        known = {k: v for k, v in (namespace or {}).items() if not k.startswith("_") and k not in HIDDEN}
        if modules is not None:
            self.modules(_named(modules, known))
        self.modules((k, v) for k, v in known.items() if is_module(v))
        for name, value in known.items():
            self._variable(name, value)

    def _given(self, names: Any) -> None:
        for a, b in names.items() if isinstance(names, Mapping) else names or ():
            name, tensor = (a, b) if isinstance(a, str) else (b, a)
            self._tensor(name, tensor)

    def _variable(self, name: str, value: Any) -> None:
        is_tensor = self.source.is_tensor
        if is_tensor(value):
            self._tensor(name, value)
        elif isinstance(value, (list, tuple)) and len(value) <= MOST:
            for i, one in enumerate(value):
                if is_tensor(one):
                    self._tensor(f"{name}[{i}]", one)
        elif isinstance(value, dict) and len(value) <= MOST:
            for key, one in list(value.items()):
                if is_tensor(one):
                    self._tensor(f"{name}[{key!r}]", one)

    def _tensor(self, name: str, tensor: Any) -> None:
        self.alive.append(tensor)
        self.leaves.setdefault(id(tensor), name)
        node = self.source.grad_fn(tensor)
        if node is not None:
            self.nodes.setdefault(node, name)

    def modules(self, named: Iterable[tuple[str, Any]]) -> None:
        """Learn modules with their names; one inside another that is known already is no root."""
        found = [(name, module) for name, module in named if id(module) not in self.paths]
        inner = {id(part) for _, module in found for path, part in module.named_modules() if path}
        for name, module in found:
            if id(module) in inner or id(module) in self.paths:
                continue
            self.roots.append((name, module))
            self.alive.append(module)
            for path, part in module.named_modules():
                self.paths.setdefault(id(part), (name, path))
                self.parts.setdefault((name, path), part)
                for own, parameter in list(part._parameters.items()):
                    if parameter is not None:
                        self.owner.setdefault(id(parameter), (name, path))
                        self.leaves.setdefault(id(parameter), f"{path}.{own}" if path else own)
                        self.parameters.add(id(parameter))

    def path_of(self, module: Any) -> tuple[str, str] | None:
        """(root, path) of a module, None for an unknown one."""
        return self.paths.get(id(module))

    def spoken(self, root: str, path: str) -> str:
        """What the module at a path is called: `head[5]`; the root by its own name."""
        return spoken(path, self.parts.get((root, "")), root)

    def about(self, root: str, path: str) -> dict[str, str]:
        """Class and size of the module at a path, as fields of a group."""
        module = self.parts.get((root, path))
        return {} if module is None else {"kind": type(module).__name__, "size": size_of(module)}


def _named(modules: Any, known: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Modules in any form with names: those of variables, or of classes."""
    if isinstance(modules, Mapping):
        return list(modules.items())
    given = [modules] if is_module(modules) else list(modules)
    names = {id(v): k for k, v in known.items() if is_module(v)}
    return [(names.get(id(m), type(m).__name__), m) for m in given]


def line_text(place: Any) -> str:
    """A raw place as one line of text, "" if there is none."""
    line = line_of(place)
    return "" if line is None else str(line)
