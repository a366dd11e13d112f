"""Which group each node belongs to: the call of a module it was made in, or what its parameters show.

Calls are exact. Where nobody listened, an op that uses a parameter belongs to the parameter's module, and an op between
two such ops to what is around both; a module that was used twice cannot be told apart then.

Invariant: a group's name is its path below the group around it.
"""

from __future__ import annotations

from typing import Any

from ..layers import below, size_of
from ..source import Nodes
from .build import Builder
from .module_calls import Call
from .names import Names


class Groups:
    """The groups of one graph, made as its nodes ask for them."""

    def __init__(
        self, builder: Builder, names: Names, nodes: list, calls: dict[Any, Call], reads: Nodes
    ) -> None:
        self.builder, self.names, self.reads = builder, names, reads
        self.found: dict[Any, int] = {}  # node to group
        self.made: dict[Any, int] = {}  # call, or (root, path), to group
        if calls:
            self._by_calls(nodes, calls)
        else:
            self._by_owners(nodes)

    def of_op(self, node: Any) -> int:
        """The group of an op, -1 if it has none."""
        return self.found.get(node, -1)

    def of_leaf(self, leaf: Any) -> int:
        """The group of a leaf: none, it stands beside its user."""
        return -1

    def by_path(self, place: tuple[str, str]) -> int:
        """The newest group of a module's path, made if there is none; -1 for the whole network.

        Args:
            place: (root, path) of the module.
        """
        (root, path), parent, names = place, -1, []
        while path:
            found = next((g for g, group in enumerate(self.builder.groups) if group.path == path), -1)
            if found >= 0:
                parent = found
                break
            path, _, name = path.rpartition(".")
            names.append(name)
        for name in reversed(names):
            around = self.names.spoken(root, path) if path else ""
            path = f"{path}.{name}" if path else name
            parent = self._named(root, path, around, parent)
        return parent

    def _named(self, root: str, path: str, around: str, parent: int) -> int:
        """A group for a module by its path, named below what is around it."""
        said = self.names.spoken(root, path)
        return self.builder.group(
            below(said, around), parent, path=path, said=said, **self.names.about(root, path)
        )

    # ---- by calls ---------------------------------------------------------------------------------------------
    def _by_calls(self, nodes: list, calls: dict[Any, Call]) -> None:
        outer = {id(c.around()[0]): c.around()[0] for c in calls.values()}
        whole = None
        if len(outer) == 1:  # everything is one call of one network: no frame around it all
            (only,) = outer.values()
            path = self._place(only)[1]
            whole = only if path == "" else None
        for n in nodes:
            call = calls.get(n)
            if call is not None:
                self.found[n] = self._group_of(call, whole)

    def _group_of(self, call: Call, whole: Call | None) -> int:
        if call is whole:
            return -1
        if call in self.made:
            return self.made[call]
        parent, above = -1, ""
        for one in call.around():
            if one is whole:
                continue
            if one not in self.made:
                root, path = self._place(one)
                if path == "":
                    name = full = said = root or _kind(one)
                else:
                    full, said = path, self.names.spoken(root, path)
                    name = below(said, above)
                size = size_of(one.module())
                self.made[one] = self.builder.group(
                    name, parent, path=full, kind=_kind(one), size=size, said=said
                )
            parent = self.made[one]
            root, path = self._place(one)
            above = self.names.spoken(root, path) if path else ""
        return parent

    def _place(self, call: Call) -> tuple[str, str]:
        """(root, path) of a call's module; its class where it has no name."""
        module = call.module()
        found = None if module is None else self.names.path_of(module)
        return found or ("", "a module that is gone" if module is None else type(module).__name__)

    # ---- by owners of parameters ------------------------------------------------------------------------------
    def _by_owners(self, nodes: list) -> None:
        path: dict[Any, tuple[str, ...]] = {}
        for n in nodes:
            if not self.reads.is_leaf(n):
                owner = self._owner(n)
                if owner is not None:
                    path[n] = owner
        if not path:
            return
        above: dict[Any, tuple[str, ...]] = {}
        for n in nodes:  # what uses it comes before it
            mine = path.get(n, above.get(n))
            if mine is not None:
                for target in self._below(n):
                    above.setdefault(target, mine)
        below: dict[Any, tuple[str, ...]] = {}
        for n in reversed(nodes):
            for target in self._below(n):
                found = path.get(target, below.get(target))
                if found is not None:
                    below.setdefault(n, found)
        one_root = len({root for root, _ in self.names.owner.values()}) == 1
        for n in nodes:
            mine = path.get(n)
            if mine is None and n in above and n in below:
                mine = _common(above[n], below[n])
            if mine and not self.reads.is_leaf(n):
                self.found[n] = self._path_group(mine, 1 if one_root else 0)

    def _owner(self, n: Any) -> tuple[str, ...] | None:
        """The path of the module whose parameter an op uses, itself or through a view of it.

        Of an op that uses parameters of several modules it is what is around them all.
        """
        owner: tuple[str, ...] | None = None
        reads = self.reads
        for first in reads.edges(n):
            e = first
            while e is not None and not reads.is_leaf(e.node):
                e = reads.onward(e)
            found = None if e is None else self.names.owner.get(id(reads.variable(e.node)))
            if found is not None:
                mine = (found[0], *[part for part in found[1].split(".") if part])
                owner = mine if owner is None else _common(owner, mine)
        return owner

    def _below(self, n: Any) -> list[Any]:
        return [] if self.reads.is_leaf(n) else [e.node for e in self.reads.edges(n) if e is not None]

    def _path_group(self, place: tuple[str, ...], start: int) -> int:
        """The group of a root and the parts of a path below it; the root is one itself if `start` is 0."""
        parent, root, around = -1, place[0], ""
        for i in range(start, len(place)):
            key, path = place[: i + 1], ".".join(place[1 : i + 1])
            if key not in self.made:
                if path:
                    said = self.names.spoken(root, path)
                    name, full = below(said, around), path if start else f"{root}.{path}"
                    if not start and not said.startswith(f"{root}["):
                        said = f"{root}.{said}"
                else:
                    name = full = said = root
                more = self.names.about(root, path)
                self.made[key] = self.builder.group(name, parent, path=full, said=said, **more)
            parent = self.made[key]
            around = self.names.spoken(root, path) if path else ""
        return parent


def _kind(call: Call) -> str:
    module = call.module()
    return "" if module is None else type(module).__name__


def _common(a: tuple[str, ...], b: tuple[str, ...]) -> tuple[str, ...]:
    i = 0
    while i < len(a) and i < len(b) and a[i] == b[i]:
        i += 1
    return a[:i]
