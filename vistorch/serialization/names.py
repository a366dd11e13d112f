"""Which of our objects PyTorch's files know, and under which name: the dictionary between the two worlds.

Invariant: what is in `OURS`, or has a path in PyTorch (`paths`), is written under PyTorch's name and read from it;
everything else keeps its own.
"""

from __future__ import annotations

import pickle
import pickletools
from collections.abc import Iterable
from importlib import import_module
from typing import Any

from ..engine.base import dtypes
from ..engine.base.device import device
from ..engine.base.layout import strided
from ..engine.base.namespace import own_module
from ..engine.base.paths import BACK, path_in_torch
from ..engine.base.size import Size
from ..engine.core.tensor import Tensor
from ..engine.memory.storage import UntypedStorage
from ..engine.methods.typed_storage import STORAGE_CLASSES
from . import rebuild

Name = tuple[str, str]


def layout_named(name: Any) -> Any:
    """`torch.serialization._get_layout`: a layout by its text."""
    if name != "torch.strided":
        raise rebuild.refuse(f"vistorch has strided tensors only, not {str(name)[:40]}")
    return strided


OURS: dict[Name, Any] = {
    ("torch", "Size"): Size,
    ("torch", "Tensor"): Tensor,
    ("torch", "device"): device,
    ("torch.storage", "UntypedStorage"): UntypedStorage,
    ("torch._tensor", "_rebuild_from_type_v2"): rebuild.rebuild_from_type_v2,
    ("torch.serialization", "_get_layout"): layout_named,
    **{("torch._utils", name): function for name, function in rebuild.REBUILDERS.items()},
    **{("torch", d.name): d for d in (*dtypes.ALL, *dtypes.UNSIGNED, *dtypes.EIGHTS)},
    **{("torch", name): kind for name, kind in STORAGE_CLASSES.items()},
}
"""By PyTorch's name, our object."""

_LATER = {
    ("torch.nn.parameter", name): name
    for name in ("Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter")
}
_nn: Any = None


def parameters() -> dict[Name, Any]:
    """The tensors of `vistorch.nn` by PyTorch's names; asking imports that module."""
    global _nn
    if _nn is None:
        holder = import_module("vistorch.nn.parameter")
        _nn = {name: getattr(holder, ours) for name, ours in _LATER.items()}
    return _nn


def ours(name: Name) -> Any:
    """Our object for a name of PyTorch's, or None."""
    found = OURS.get(name)
    if found is None and name in _LATER:
        found = parameters()[name]
    return found


def counterpart(module: str, name: str) -> Any:
    """What a name of PyTorch's means in a file that is trusted: ours, or what stands at the same path here.

    Args:
        module: such as "torch.nn.modules.linear".
        name: such as "Linear".
    """
    if module in ("torch.tensor", "torch._tensor") and name == "Tensor":
        return Tensor
    found = ours((module, name))
    if found is not None:
        return found
    here, name = BACK.get((module, name), ("vis" + module, name))
    if module == "torch._C._nn":  # functions that PyTorch has not written in Python
        here = "vistorch.nn.functional"
    try:
        there: Any = import_module(here)
        for part in name.split("."):
            there = getattr(there, part)
        if getattr(there, "__dict__", {}).get("_is_unbuilt"):  # a name alone, which refuses to be called
            raise AttributeError(name)
    except (ImportError, AttributeError):
        raise pickle.UnpicklingError(
            f"the file needs {module}.{name}, which has no counterpart in vistorch. Save the state_dict() instead of "
            "the object, and load it into an object made here"
        ) from None
    return there


# ---- writing ------------------------------------------------------------------------------------------------------


def written_as(thing: Any) -> tuple[Name, Name] | None:
    """How pickle names one of our objects, and how PyTorch does; None for what PyTorch does not have."""
    known = _named.get(id(thing))
    if known is not None:
        return _pickled(thing), known
    if isinstance(thing, type) and own_module(thing) == "vistorch.nn.parameter":
        for name, kind in parameters().items():
            if kind is thing:
                return (kind.__module__, kind.__qualname__), name
    there = path_in_torch(thing)
    return None if there is None else (_pickled(thing), there)


def _pickled(thing: Any) -> Name:
    """The module and the name under which pickle writes one of our objects."""
    if type(thing) is dtypes.dtype:
        return getattr(thing, "__module__", type(thing).__module__), thing.name
    return thing.__module__, thing.__qualname__


_named = {id(thing): name for name, thing in OURS.items()}


def translated(data: bytes, used: Iterable[tuple[Name, Name]]) -> bytes:
    """A pickle with our names replaced by PyTorch's.

    Args:
        data: the pickle.
        used: the names in it to replace, and by which.
    """
    changed = data
    if data[:1] == b"\x80" and data[1] >= 4:  # names are texts on the stack there
        return _carefully(data, dict(used))
    for (module, name), (their_module, their_name) in used:
        old = f"c{module}\n{name}\n".encode()
        if data.count(old) != 1:  # a text of the person's has the same bytes
            return _carefully(data, dict(used))
        changed = changed.replace(old, f"c{their_module}\n{their_name}\n".encode())
    return changed


def _carefully(data: bytes, names: dict[Name, Name]) -> bytes:
    """`translated`, by reading the pickle instruction by instruction."""
    steps = list(pickletools.genops(data))
    ends = [at for _, _, at in steps[1:]] + [len(data)]
    pieces = [data[at:end] for (_, _, at), end in zip(steps, ends, strict=True)]
    memo: list[int] = []
    pushed: list[int] = []
    for i, (code, given, _) in enumerate(steps):
        value: Any = given
        if code.name == "GLOBAL":
            module, _, name = value.partition(" ")
            if (module, name) in names:
                pieces[i] = "c{}\n{}\n".format(*names[module, name]).encode()
        elif code.name == "MEMOIZE":
            memo.append(pushed[-1] if pushed else i)
        elif code.name in ("BINGET", "LONG_BINGET"):
            pushed.append(memo[value] if value < len(memo) else i)
        elif code.name == "STACK_GLOBAL":
            here, there = pushed[-2:]
            name = (steps[here][1], steps[there][1])
            if name in names:  # take both texts away again: others may share their places in the memo
                pieces[i] = "00c{}\n{}\n".format(*names[name]).encode()
        elif code.name == "FRAME":
            pieces[i] = b""  # lengths are no longer what they were, and a pickle need not say them
        if code.name not in ("MEMOIZE", "BINGET", "LONG_BINGET", "FRAME"):
            pushed.append(i)
    return b"".join(pieces)


def module_is_torchs(module: str) -> bool:
    """Whether a module's name is PyTorch's."""
    return module == "torch" or module.startswith("torch.")
