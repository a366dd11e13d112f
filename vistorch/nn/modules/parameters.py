"""Modules that hold parameters: in a list, by name.

Invariant: a tensor that is put in becomes a Parameter; anything else is kept as it is.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...engine.face import FUNCTIONS
from ...engine.tensor import Tensor
from ..parameter import Parameter
from .entries import pairs_of, place_in
from .module import Module

__all__ = ["ParameterDict", "ParameterList"]

typename = FUNCTIONS["typename"]


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
