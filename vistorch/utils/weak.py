"""Dictionaries with tensors as keys that keep none of them alive, and weak references that compare by identity.

Invariant: two keys are one key if they are the same object, whatever `==` says of them.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, MutableMapping
from copy import deepcopy
from typing import Any

from ..engine.core.tensor import Tensor
from ..engine.library_name import library

__all__ = ["TensorWeakRef", "WeakIdKeyDictionary", "WeakIdRef", "WeakTensorKeyDictionary"]


class WeakIdRef(weakref.ref):
    """A weak reference that is equal to another one if both are to the same object.

    Args:
        key: the object.
        callback: called when it is gone.

    Example:
        >>> import vistorch
        >>> from vistorch.utils.weak import WeakIdRef
        >>> x = vistorch.ones(2)
        >>> WeakIdRef(x) == WeakIdRef(x), WeakIdRef(x) == WeakIdRef(vistorch.ones(2))
        (True, False)
    """

    __slots__ = ("_id",)

    def __init__(self, key: Any, callback: Any = None) -> None:
        super().__init__(key, callback)  # type: ignore[call-arg]
        self._id = id(key)

    def __hash__(self) -> int:
        return self._id

    def __eq__(self, other: object) -> bool:
        mine, its = self(), other() if isinstance(other, weakref.ref) else None
        return mine is its if mine is not None and its is not None else self is other

    def __ne__(self, other: object) -> bool:
        return not self == other


class WeakIdKeyDictionary(MutableMapping):
    """A dictionary whose keys are compared by identity and are let go when nobody else holds them.

    Args:
        dict: what it begins with.
        ref_type: the class of its references.

    Example:
        >>> import vistorch
        >>> from vistorch.utils.weak import WeakIdKeyDictionary
        >>> x = vistorch.ones(2)
        >>> seen = WeakIdKeyDictionary({x: "first"})
        >>> seen[x], vistorch.ones(2) in seen
        ('first', False)
        >>> del x
        >>> len(seen)
        0
    """

    def __init__(self, dict: Any = None, ref_type: Any = WeakIdRef) -> None:
        self.data: Any = {}
        self.ref_type = ref_type
        here = weakref.ref(self)

        def remove(key: Any) -> None:
            if (there := here()) is not None:
                there.data.pop(key, None)

        self._remove = remove
        if dict is not None:
            self.update(dict)

    def _living(self) -> list[tuple[Any, Any]]:
        """The keys that are there and their values: a list, since others may be let go meanwhile."""
        return [(key, value) for ref, value in list(self.data.items()) if (key := ref()) is not None]

    def __getitem__(self, key: Any) -> Any:
        return self.data[self.ref_type(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.data[self.ref_type(key, self._remove)] = value

    def __delitem__(self, key: Any) -> None:
        del self.data[self.ref_type(key)]

    def __contains__(self, key: object) -> bool:
        try:
            return self.ref_type(key) in self.data
        except TypeError:  # nothing refers weakly to it
            return False

    def __iter__(self) -> Iterator[Any]:
        return iter([key for key, _ in self._living()])

    def __len__(self) -> int:
        return len(self.data)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {id(self):#x}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MutableMapping):
            return NotImplemented
        return {id(key): value for key, value in self.items()} == {
            id(key): value for key, value in other.items()
        }

    __hash__ = None  # type: ignore[assignment]

    def __or__(self, other: Any) -> Any:
        made = self.copy()
        made.update(other)
        return made

    def __ror__(self, other: Any) -> Any:
        made = type(self)(other)
        made.update(self)
        return made

    def __ior__(self, other: Any) -> Any:
        self.update(other)
        return self

    def __copy__(self) -> Any:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Any:
        made = type(self)()
        for key, value in self._living():
            made[key] = deepcopy(value, memo)
        return made

    def copy(self) -> Any:
        """Another one with the same keys and values.

        Example:
            >>> from vistorch.utils.weak import WeakIdKeyDictionary
            >>> len(WeakIdKeyDictionary().copy())
            0
        """
        return WeakIdKeyDictionary(self)

    def keyrefs(self) -> list[Any]:
        """The weak references themselves.

        Example:
            >>> from vistorch.utils.weak import WeakIdKeyDictionary
            >>> WeakIdKeyDictionary().keyrefs()
            []
        """
        return list(self.data)

    def popitem(self) -> tuple[Any, Any]:
        """Take the last one out.

        Example:
            >>> import vistorch
            >>> from vistorch.utils.weak import WeakIdKeyDictionary
            >>> x = vistorch.ones(1)
            >>> WeakIdKeyDictionary({x: 5}).popitem()
            (tensor([1.]), 5)
        """
        while True:
            ref, value = self.data.popitem()
            if (key := ref()) is not None:
                return key, value


WeakTensorKeyDictionary = WeakIdKeyDictionary


class TensorWeakRef:
    """A weak reference to a tensor.

    Args:
        tensor: the tensor.

    Example:
        >>> import vistorch
        >>> from vistorch.utils.weak import TensorWeakRef
        >>> x = vistorch.ones(1)
        >>> there = TensorWeakRef(x)
        >>> there() is x
        True
        >>> del x
        >>> there() is None
        True
    """

    def __init__(self, tensor: Tensor) -> None:
        if not isinstance(tensor, Tensor):
            raise AssertionError(f"expected {library}.Tensor, got {type(tensor)}.")
        self.ref = weakref.ref(tensor)

    def __call__(self) -> Tensor | None:
        """The tensor; None if it is gone."""
        return self.ref()
