"""Modules that hold modules: in a row, in a list, by name.

Invariant: the children of a sequence are named by consecutive numbers from "0" on.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from .entries import pairs_of, place_in
from .module import Module, _addindent

__all__ = ["Container", "ModuleDict", "ModuleList", "Sequential"]


OLD_CONTAINER = (
    "`nn.Container` is deprecated. All of its functionality is now implemented in `nn.Module`. "
    "Subclass that instead."
)


class Container(Module):
    """The base of containers in PyTorch of old; Module does all it did.

    Args:
        **kwargs: modules by name.

    Example:
        >>> import vistorch, warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     vistorch.nn.Container(act=vistorch.nn.ReLU())
        Container(
          (act): ReLU()
        )
    """

    def __init__(self, **kwargs: Any) -> None:
        warnings.warn(OLD_CONTAINER, FutureWarning, stacklevel=2)
        super().__init__()
        for key, value in kwargs.items():
            self.add_module(key, value)


class _Row(Module):
    """What Sequential and ModuleList have in common."""

    _modules: dict

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def __dir__(self) -> list[str]:
        return [key for key in super().__dir__() if not key.isdigit()]

    def __delitem__(self, idx: int | slice) -> None:
        names = list(self._modules)
        for name in names[idx] if isinstance(idx, slice) else [names[place_in(len(names), idx)]]:
            delattr(self, name)
        self._modules = OrderedDict((str(i), m) for i, m in enumerate(self._modules.values()))

    def pop(self, key: int | slice) -> Any:
        """Take a module out and return it.

        Args:
            key: its position, or a slice.

        Example:
            >>> import vistorch
            >>> from vistorch import nn
            >>> net = nn.Sequential(nn.ReLU(), nn.Tanh(), nn.Sigmoid())
            >>> net.pop(0)
            ReLU()
            >>> net
            Sequential(
              (0): Tanh()
              (1): Sigmoid()
            )
        """
        found = self[key]
        del self[key]
        return found

    def __getitem__(self, idx: Any) -> Any:
        raise NotImplementedError

    def append(self, module: Module) -> Any:
        """Add a module at the end.

        Args:
            module: the module.

        Example:
            >>> import vistorch
            >>> from vistorch import nn
            >>> nn.ModuleList([nn.ReLU()]).append(nn.Tanh())
            ModuleList(
              (0): ReLU()
              (1): Tanh()
            )
        """
        self.add_module(str(len(self)), module)
        return self

    def _make_room(self, index: int) -> None:
        for i in range(len(self._modules), index, -1):
            self._modules[str(i)] = self._modules[str(i - 1)]


class Sequential(_Row):
    """Modules in a row: the output of each is the input of the next.

    Args:
        *args: the modules, or one OrderedDict that names them.

    Example:
        >>> import vistorch
        >>> from vistorch import nn
        >>> net = nn.Sequential(nn.Linear(2, 3), nn.Identity())
        >>> net
        Sequential(
          (0): Linear(in_features=2, out_features=3, bias=True)
          (1): Identity()
        )
        >>> net(vistorch.ones(1, 2)).shape
        vistorch.Size([1, 3])
        >>> net.insert(1, nn.ReLU()).extend([nn.Tanh()])
        Sequential(
          (0): Linear(in_features=2, out_features=3, bias=True)
          (1): ReLU()
          (2): Identity()
          (3): Tanh()
        )
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for key, module in args[0].items():
                self.add_module(key, module)
        else:
            for i, module in enumerate(args):
                self.add_module(str(i), module)

    def forward(self, input: Any) -> Any:
        """Run one module after the other."""
        for module in self._modules.values():
            input = module(input)
        return input

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, slice):
            return type(self)(OrderedDict(list(self._modules.items())[idx]))
        return list(self._modules.values())[place_in(len(self), idx)]

    def __setitem__(self, idx: int, module: Module) -> None:
        setattr(self, list(self._modules)[place_in(len(self), idx)], module)

    def __add__(self, other: Any) -> Sequential:
        self._must_be_sequential(other)
        return Sequential(*self, *other)

    def __iadd__(self, other: Any) -> Any:
        self._must_be_sequential(other)
        return self.extend(list(other))

    @staticmethod
    def _must_be_sequential(other: Any) -> None:
        if not isinstance(other, Sequential):
            raise ValueError(
                f"add operator supports only objects of Sequential class, but {type(other)} is given."
            )

    def __mul__(self, other: int) -> Sequential:
        self._must_be_count(other)
        return Sequential(*list(self) * other)

    __rmul__ = __mul__

    def __imul__(self, other: int) -> Any:
        self._must_be_count(other)
        return self.extend(list(self) * (other - 1))

    def _must_be_count(self, other: Any) -> None:
        if not isinstance(other, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(other)}")
        if other <= 0:
            raise ValueError(f"Non-positive multiplication factor {other} for {type(self)}")

    def insert(self, index: int, module: Module) -> Any:
        """Put a module at a position; those behind it move up.

        Args:
            index: the position.
            module: the module.
        """
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        n = len(self)
        if not -n <= index <= n:
            raise IndexError(f"Index out of range: {index}")
        index += n if index < 0 else 0
        self._make_room(index)
        self._modules[str(index)] = module
        return self

    def extend(self, sequential: Iterable[Module]) -> Any:
        """Add modules at the end.

        Args:
            sequential: the modules.
        """
        for module in sequential:
            self.append(module)
        return self


class ModuleList(_Row):
    """A list of modules; like a Python list, and known to the module that holds it.

    Args:
        modules: the modules.

    Example:
        >>> from vistorch import nn
        >>> nn.ModuleList(nn.Linear(2, 2) for _ in range(3))
        ModuleList(
          (0-2): 3 x Linear(in_features=2, out_features=2, bias=True)
        )
        >>> layers = nn.ModuleList([nn.ReLU()]).extend([nn.Tanh(), nn.Tanh()])
        >>> layers.insert(0, nn.Identity())
        >>> layers
        ModuleList(
          (0): Identity()
          (1): ReLU()
          (2-3): 2 x Tanh()
        )
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, slice):
            return type(self)(list(self._modules.values())[idx])
        return self._modules[str(place_in(len(self), idx))]

    def __setitem__(self, idx: int, module: Module) -> None:
        setattr(self, str(place_in(len(self), idx)), module)

    def __iadd__(self, modules: Iterable[Module]) -> Any:
        return self.extend(modules)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList(chain(self, other))

    def insert(self, index: int, module: Module) -> None:
        """Put a module at a position; those behind it move up.

        Args:
            index: the position.
            module: the module.
        """
        self._make_room(index)
        self._modules[str(index)] = module

    def extend(self, modules: Iterable[Module]) -> Any:
        """Add modules at the end.

        Args:
            modules: the modules.
        """
        if not isinstance(modules, Iterable):
            raise TypeError(
                "ModuleList.extend should be called with an iterable, but got " + type(modules).__name__
            )
        offset = len(self)
        for i, module in enumerate(modules):
            self.add_module(str(offset + i), module)
        return self

    def __repr__(self) -> str:
        blocks: list[list] = []  # [first, last, text]: equal neighbours are written once
        for i, text in enumerate(repr(module) for module in self):
            if blocks and blocks[-1][2] == text:
                blocks[-1][1] = i
            else:
                blocks.append([i, i, text])
        if not blocks:
            return self._get_name() + "()"
        lines = [
            _addindent(f"({i}): {text}" if i == j else f"({i}-{j}): {j - i + 1} x {text}", 2)
            for i, j, text in blocks
        ]
        return self._get_name() + "(\n  " + "\n  ".join(lines) + "\n)"


class ModuleDict(Module):
    """Modules by name; like a Python dict, and known to the module that holds it.

    Args:
        modules: names and modules.

    Example:
        >>> from vistorch import nn
        >>> nn.ModuleDict({"same": nn.Identity()})["same"]
        Identity()
        >>> acts = nn.ModuleDict({"relu": nn.ReLU(), "tanh": nn.Tanh()})
        >>> acts.update({"same": nn.Identity()})
        >>> list(acts.keys()), list(acts.values())
        (['relu', 'tanh', 'same'], [ReLU(), Tanh(), Identity()])
        >>> acts.pop("tanh"), list(acts.items())
        (Tanh(), [('relu', ReLU()), ('same', Identity())])
        >>> acts.clear()
        >>> acts
        ModuleDict()
    """

    _modules: dict

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: object) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Take all modules out."""
        self._modules.clear()

    def pop(self, key: str) -> Any:
        """Take a module out and return it.

        Args:
            key: its name.
        """
        found = self[key]
        del self[key]
        return found

    def keys(self) -> Any:
        """The names."""
        return self._modules.keys()

    def items(self) -> Any:
        """The names and modules."""
        return self._modules.items()

    def values(self) -> Any:
        """The modules."""
        return self._modules.values()

    def update(self, modules: Any) -> None:
        """Add modules by name.

        Args:
            modules: a mapping, another ModuleDict, or pairs.
        """
        for key, module in pairs_of(modules, "ModuleDict", "ModuleDict", lambda items: items):
            self[key] = module


from .parameters import ParameterDict, ParameterList  # noqa: E402, F401  PyTorch has them in this file
