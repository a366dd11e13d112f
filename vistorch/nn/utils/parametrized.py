"""The class that a parametrized module gets, and what a parametrization may not change.

Invariant: the class is made for one module: its properties are that module's.
"""

from __future__ import annotations

import copyreg
from copy import deepcopy
from typing import Any

from ...engine.core.tensor import Tensor
from ...engine.library_name import of_module
from ..parameter import Parameter

NO_PICKLE = (
    "Serialization of parametrized modules is only supported through state_dict(). See:\n"
    "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
    "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training"
)


def class_of_own(cls: type) -> type:
    """A subclass for one parametrized module: it can be copied deeply, but not pickled."""
    body: dict[str, Any] = {
        "__getstate__": _refuse_pickle,
        "__module__": of_module("vistorch.nn.utils.parametrize"),
    }
    if not hasattr(cls, "__deepcopy__"):
        body["__deepcopy__"] = _deepcopy
    return type(f"Parametrized{cls.__name__}", (cls,), body)


def _refuse_pickle(self: Any) -> None:
    raise RuntimeError(NO_PICKLE)


def _deepcopy(self: Any, memo: dict) -> Any:
    """A copy of the same class: the usual way would ask for the state that is refused."""
    found = memo.get(id(self))
    if found is not None:
        return found
    cls: Any = type(self)
    made = memo[id(self)] = cls.__new__(cls)
    made.__dict__ = deepcopy(self.__dict__, memo)
    slots: Any = copyreg._slotnames(cls)  # type: ignore[attr-defined]
    for slot in slots:
        if hasattr(self, slot):
            setattr(made, slot, deepcopy(getattr(self, slot), memo))
    return made


def enter(module: Any, name: str, tensor: Tensor) -> None:
    """Make a tensor a parameter of a module if it is one, and a buffer if not."""
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def checked(
    given: Any, shape: Any, dtype: Any, no_tensor: str, changed: str, labels: tuple[str, str]
) -> None:
    """Refuse what is no tensor, or one of another type or shape."""
    if not isinstance(given, Tensor):
        raise ValueError(no_tensor.format(type(given).__name__))
    for what, before in (("dtype", dtype), ("shape", shape)):
        after = getattr(given, what)
        if before != after:
            raise ValueError(
                f"{changed.format(what)}\n{labels[0].format(what)}: {before}\n{labels[1].format(what)}: {after}"
            )


def same_kind(said: str, name: str, old: Tensor, new: Tensor) -> tuple[Tensor, Tensor]:
    """Both tensors, if they are of the same type."""
    if old.dtype != new.dtype:
        raise ValueError(f"{said} has dtype {new.dtype} while {name} has dtype {old.dtype}")
    return old, new
