"""Modules that hold modules or parameters: in a row, in a list, by name.

Invariant: the children of a sequence are named by consecutive numbers from "0" on; a tensor that is put into a
container of parameters becomes a Parameter, and anything else is kept as it is.
"""

from __future__ import annotations

import operator
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from ...engine.core.registry import FUNCTIONS
from ...engine.core.tensor import Tensor
from ..parameter import Parameter
from .module import Module, _addindent

__all__ = ["Container", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]

typename = FUNCTIONS["typename"]


OLD_CONTAINER = (
    "`nn.Container` is deprecated. All of its functionality is now implemented in `nn.Module`. "
    "Subclass that instead."
)


def place_in(length: int, idx: Any) -> int:
    """A possibly negative position as one from 0 on."""
    idx = operator.index(idx)
    if not -length <= idx < length:
        raise IndexError(f"index {idx} is out of range")
    return idx % length


def pairs_of(given: Any, name: str, word: str, order: Callable) -> Iterator[tuple]:
    """The names and values of a mapping or of an iterable of pairs; PyTorch's sentence for anything else."""
    if not isinstance(given, Iterable):
        raise TypeError(
            f"{word}.update should be called with an iterable of key/value pairs, but got {type(given).__name__}"
        )
    if hasattr(given, "items") and (isinstance(given, (Mapping, Module))):
        yield from order(given.items())
        return
    for j, pair in enumerate(given):
        if not isinstance(pair, Iterable):
            raise TypeError(
                f"{name} update sequence element #{j} should be Iterable; is{type(pair).__name__}"
            )
        pair = list(pair)
        if len(pair) != 2:
            raise ValueError(f"{name} update sequence element #{j} has length {len(pair)}; 2 is required")
        yield tuple(pair)


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

    def _shift_from(self, index: int) -> None:
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
        self._shift_from(index)
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
        self._shift_from(index)
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


def _kept(value: Any) -> Any:
    """`value`, a tensor as a Parameter."""
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


def _line(key: Any, p: Any, kind: Any) -> str:
    if not isinstance(p, Tensor):
        return f"  ({key}): Object of type: {type(p).__name__}"
    what = "Parameter" if isinstance(p, Parameter) else "Tensor"
    where = f" ({p.device})" if p.device.type == "cuda" else ""
    return f"  ({key}): {what} containing: [{kind} of size {'x'.join(map(str, p.shape))}{where}]"


class ParameterList(Module):
    """A list of parameters; like a Python list, and known to the module that holds it.

    Args:
        values: parameters, tensors (which become parameters) or anything else.

    Example:
        >>> import vistorch
        >>> vistorch.nn.ParameterList([vistorch.ones(2)])
        ParameterList(  (0): Parameter containing: [vistorch.float32 of size 2])
        >>> kept = vistorch.nn.ParameterList().append(vistorch.zeros(1)).extend([vistorch.ones(2), "no tensor"])
        >>> kept
        ParameterList(
            (0): Parameter containing: [vistorch.float32 of size 1]
            (1): Parameter containing: [vistorch.float32 of size 2]
            (2): Object of type: str
        )
    """

    def __init__(self, values: Iterable | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, slice):
            return type(self)(self[i] for i in range(*idx.indices(len(self))))
        return getattr(self, str(place_in(len(self), idx)))

    def __setitem__(self, idx: int, param: Any) -> None:
        setattr(self, str(place_in(len(self), idx)), _kept(param))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator:
        return (self[i] for i in range(len(self)))

    def __iadd__(self, parameters: Iterable) -> Any:
        return self.extend(parameters)

    def __dir__(self) -> list[str]:
        return [key for key in super().__dir__() if not key.isdigit()]

    def append(self, value: Any) -> Any:
        """Add a value at the end.

        Args:
            value: a parameter, a tensor or anything else.
        """
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Iterable) -> Any:
        """Add values at the end.

        Args:
            values: parameters, tensors or anything else.
        """
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError(
                "ParameterList.extend should be called with an iterable, but got " + type(values).__name__
            )
        for value in values:
            self.append(value)
        return self

    def extra_repr(self) -> str:
        """One line for each value."""
        return "\n".join(_line(i, p, getattr(p, "dtype", None)) for i, p in enumerate(self))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Refused: a list computes nothing."""
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """Parameters by name; like a Python dict, and known to the module that holds it.

    Args:
        parameters: names and parameters, tensors (which become parameters) or anything else.

    Example:
        >>> import vistorch
        >>> list(vistorch.nn.ParameterDict({"scale": vistorch.ones(2)}))
        ['scale']
        >>> kept = vistorch.nn.ParameterDict({"scale": vistorch.ones(2)})
        >>> kept.update({"shift": vistorch.zeros(2)})
        >>> list(kept.keys()), [p.sum().item() for p in kept.values()]
        (['scale', 'shift'], [2.0, 0.0])
        >>> kept.get("power"), kept.setdefault("power", 3), kept.get("power")
        (None, 3, 3)
        >>> kept.pop("power"), kept.popitem()[0]
        (3, 'shift')
        >>> again = kept.copy()
        >>> kept.clear()
        >>> [name for name, _ in again.items()], len(kept)
        (['scale'], 0)
        >>> again.fromkeys(["a", "b"], 0)
        ParameterDict(
            (a): Object of type: int
            (b): Object of type: int
        )
    """

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def _key_to_attr(self, key: str) -> str:
        if not isinstance(key, str):
            raise TypeError(
                "Index given to ParameterDict cannot be used as a key as it is not a string (type is "
                f"'{type(key).__name__}'). Open an issue on github if you need non-string keys."
            )
        return key

    def __getitem__(self, key: str) -> Any:
        return getattr(self, self._key_to_attr(key))

    def __setitem__(self, key: str, value: Any) -> None:
        name = self._key_to_attr(key)
        setattr(self, name, _kept(value))
        self._keys[key] = None

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._keys)

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def copy(self) -> ParameterDict:
        """Another dict of the same parameters."""
        return ParameterDict(OrderedDict(self.items()))

    def setdefault(self, key: str, default: Any = None) -> Any:
        """The value of a name, put in first if it is not there.

        Args:
            key: the name.
            default: the value to put in.
        """
        if key not in self:
            self[key] = default
        return self[key]

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a name, or `default`.

        Args:
            key: the name.
            default: what to return where it is not there.
        """
        return self[key] if key in self else default

    def pop(self, key: str) -> Any:
        """Take a value out and return it.

        Args:
            key: its name.
        """
        found = self[key]
        del self[key]
        return found

    def popitem(self) -> tuple[str, Any]:
        """Take the last value out and return it with its name."""
        key = next(reversed(self._keys))
        return key, self.pop(key)

    def clear(self) -> None:
        """Take all values out."""
        for key in list(self._keys):
            del self[key]

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """A new dict with these names, all of the same value.

        Args:
            keys: the names.
            default: the value.
        """
        return ParameterDict((k, default) for k in keys)

    def keys(self) -> Any:
        """The names."""
        return self._keys.keys()

    def items(self) -> Iterable[tuple[str, Any]]:
        """The names and values."""
        return ((k, self[k]) for k in self._keys)

    def values(self) -> Iterable:
        """The values."""
        return (self[k] for k in self._keys)

    def update(self, parameters: Any) -> None:
        """Add values by name; those of a plain dict in the order of their names, as PyTorch does.

        Args:
            parameters: a mapping, another ParameterDict, or pairs.
        """
        ordered = isinstance(parameters, (OrderedDict, ParameterDict)) or not isinstance(parameters, Mapping)
        order = iter if ordered else sorted
        for key, value in pairs_of(parameters, "ParameterDict", "ParametersDict", order):
            self[key] = value

    def extra_repr(self) -> str:
        """One line for each value."""
        return "\n".join(_line(k, p, typename(p)) for k, p in self.items())

    def __call__(self, input: Any) -> Any:
        """Refused: a dict computes nothing."""
        raise RuntimeError("ParameterDict should not be called.")

    def __or__(self, other: ParameterDict) -> ParameterDict:
        made = self.copy()
        made.update(other)
        return made

    def __ror__(self, other: ParameterDict) -> ParameterDict:
        made = other.copy()
        made.update(self)
        return made

    def __ior__(self, other: ParameterDict) -> Any:
        self.update(other)
        return self
