"""The allow-list: what a file may name, and what it may call, when only weights are loaded.

Invariant: a callable of the list is called through the function here that checks its arguments; what a person added
with `add_safe_globals` is called as it is; nothing else is called, and no module is imported because a file names it.
"""

from __future__ import annotations

import pickle
import pickletools
import struct
from _codecs import encode
from _compat_pickle import IMPORT_MAPPING, NAME_MAPPING
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any

from ..engine.base.paths import path_in_torch
from ..engine.base.size import Size
from ..engine.library_name import library
from .archive_in import ArchiveReader, file_length, is_archive, opened, pickle_of
from .budget import budget, limited, refuse
from .keys import check_key, check_keys
from .names import OURS, layout_named, parameters
from .rebuild import REBUILDERS, device_of, rebuild_from_type_v2

BLOCKED = ("sys", "os", "posix", "nt")  # not even if a person adds something out of them

_added: set[Any] = set()


# ---- what a person adds ---------------------------------------------------------------------------------------------
def add_safe_globals(safe_globals: list) -> None:
    """Trust functions and classes: files may name them, call them and set their state when only weights are loaded.

    Args:
        safe_globals: the functions and classes, or pairs of one and the full name that it has in the file.

    Example:
        >>> import fractions, io, vistorch
        >>> f = io.BytesIO()
        >>> vistorch.save(fractions.Fraction(1, 3), f)
        >>> vistorch.serialization.add_safe_globals([fractions.Fraction])
        >>> _ = f.seek(0)
        >>> vistorch.load(f)
        Fraction(1, 3)
        >>> vistorch.serialization.clear_safe_globals()
    """
    _added.update(safe_globals)


def get_safe_globals() -> list:
    """What was added with `add_safe_globals`.

    Example:
        >>> import vistorch
        >>> vistorch.serialization.get_safe_globals()
        []
    """
    return list(_added)


def clear_safe_globals() -> None:
    """Trust nothing but what is always trusted.

    Example:
        >>> import fractions, vistorch
        >>> vistorch.serialization.add_safe_globals([fractions.Fraction])
        >>> vistorch.serialization.clear_safe_globals()
        >>> vistorch.serialization.get_safe_globals()
        []
    """
    _added.clear()


class safe_globals:
    """Trust functions and classes within a `with` block; see `add_safe_globals`.

    Args:
        safe_globals: the functions and classes, or pairs of one and its full name in the file.

    Example:
        >>> import fractions, vistorch
        >>> with vistorch.serialization.safe_globals([fractions.Fraction]):
        ...     vistorch.serialization.get_safe_globals()
        [<class 'fractions.Fraction'>]
        >>> vistorch.serialization.get_safe_globals()
        []
    """

    def __init__(self, safe_globals: list) -> None:
        self.safe_globals = safe_globals

    def __enter__(self) -> None:
        add_safe_globals(self.safe_globals)

    def __exit__(self, *exception: object) -> None:
        _added.difference_update(self.safe_globals)


def added_by_name() -> dict[str, Any]:
    """What a person trusts, by its full name."""
    found = {}
    for item in _added:
        if not isinstance(item, tuple):
            found[f"{item.__module__}.{item.__qualname__}"] = item
            there = path_in_torch(item)
            if there is not None:
                found[".".join(there)] = item
                if there[0] == "torch.nn.functional":  # some are not written in Python there
                    found[f"torch._C._nn.{there[1]}"] = item
            continue
        if len(item) != 2:
            raise ValueError(
                "Expected tuple of length 2 (global, str of callable full path), but got tuple of length: "
                f"{len(item)}"
            )
        if type(item[1]) is not str:
            raise TypeError(
                f"Expected second item in tuple to be str of callable full path, but got: {type(item[1])}"
            )
        found[item[1]] = item[0]
    return found


# ---- what is always trusted -----------------------------------------------------------------------------------------
def _text_to_bytes(text: Any, encoding: Any = "utf-8") -> bytes:
    """How pickles of protocol 2 spell bytes."""
    known = ("latin1", "latin-1", "utf-8", "utf8", "ascii")
    if type(text) is not str or encoding not in known:
        raise refuse(f"only text can be encoded, and only as one of {', '.join(known)}")
    budget.spend(2 * len(text))
    return encode(text, encoding)


def _byte_array(*args: Any) -> bytearray:
    if not args:
        return bytearray()
    if len(args) == 2 and type(args[0]) is str:
        return bytearray(_text_to_bytes(*args))
    if len(args) != 1 or type(args[0]) is not bytes:
        raise refuse("a bytearray is made of bytes, not of a length")
    budget.spend(len(args[0]))
    return bytearray(args[0])


def _no_bytes(*args: Any) -> bytes:
    if args:
        raise refuse("bytes are made of nothing here, not of a length")
    return b""


def _complex(real: Any, imag: Any = 0.0) -> complex:
    if not {type(real), type(imag)} <= {int, float}:
        raise refuse("a complex number is made of two numbers")
    return complex(real, imag)


def _set(items: Any = ()) -> set:
    if type(items) not in (list, tuple):
        raise refuse("a set is made of a list")
    budget.spend(100 * len(items))
    check_keys(items)
    return set(items)


def _size(items: Any = ()) -> Size:
    if type(items) not in (list, tuple):
        raise refuse("a Size is made of a tuple")
    budget.spend(8 * len(items))
    return Size(items)


def _pairs_into(made: Any, items: Any) -> Any:
    """Fill a dict from a list of pairs, or from a dict."""
    if type(items) in (dict, OrderedDict, Counter):
        items = list(items.items())
    if type(items) not in (list, tuple):
        raise refuse("a dict is made of a list of pairs")
    budget.spend(200 * len(items))
    met: dict[int, int] = {}
    for pair in items:
        if type(pair) not in (list, tuple) or len(pair) != 2:
            raise refuse("a dict is made of a list of pairs")
        check_key(pair[0], met)
        made[pair[0]] = pair[1]
    return made


def _ordered(items: Any = ()) -> OrderedDict:
    return _pairs_into(OrderedDict(), items)


def _counter(items: Any = ()) -> Counter:
    return _pairs_into(Counter(), items)


def _parameter(data: Any = None, requires_grad: Any = True) -> Any:
    if data is not None:
        return REBUILDERS["_rebuild_parameter"](data, requires_grad, None)
    return parameters()["torch.nn.parameter", "Parameter"]()


_PLAIN: dict[str, tuple[Any, Callable]] = {
    "collections.OrderedDict": (OrderedDict, _ordered),
    "collections.Counter": (Counter, _counter),
    "_codecs.encode": (encode, _text_to_bytes),
    "builtins.bytearray": (bytearray, _byte_array),
    "builtins.bytes": (bytes, _no_bytes),
    "builtins.set": (set, _set),
    "builtins.complex": (complex, _complex),
}
_CALLED = {"torch.Size": _size, "torch.device": device_of}


def _named() -> dict[str, Any]:
    """Everything that may be named, by its full name."""
    found = {name: thing for name, (thing, _) in _PLAIN.items()}
    found.update((f"{module}.{name}", thing) for (module, name), thing in OURS.items())
    return found


NAMED = _named()
CALLED: dict[int, Callable] = {id(thing): call for thing, call in _PLAIN.values()}
CALLED.update((id(NAMED[name]), call) for name, call in _CALLED.items())
CALLED.update(
    (id(function), function) for function in (*REBUILDERS.values(), rebuild_from_type_v2, layout_named)
)
"""By the id of what a file names: what is called in its place. What is not here is data."""


def thing_named(module: str, name: str) -> Any:
    """What a file means by a name, if it is on the list.

    Args:
        module: as the pickle says it, Python 2's names included.
        name: likewise.
    """
    full = full_name(module, name)
    if full.rpartition(".")[0] in BLOCKED or module in BLOCKED:
        raise refuse(
            f"Trying to load unsupported GLOBAL {full} whose module {full.rpartition('.')[0]} is blocked."
        )
    found = NAMED.get(full)
    if found is not None:
        return found
    if full == "torch.nn.parameter.Parameter":
        parameter = parameters()["torch.nn.parameter", "Parameter"]
        CALLED[id(parameter)] = _parameter
        return parameter
    added = added_by_name() if _added else {}
    if full in added:
        return added[full]
    shown = full.removeprefix("builtins.")
    raise refuse(
        f"Unsupported global: GLOBAL {shown} was not an allowed global by default. Please use "
        f"`{library}.serialization.add_safe_globals([{shown}])` or the "
        f"`{library}.serialization.safe_globals([{shown}])` "
        "context manager to allowlist this global if you trust this class/function."
    )


def full_name(module: str, name: str) -> str:
    """A name in full, Python 2's modules under what they are called now."""
    if (module, name) in NAME_MAPPING:
        module, name = NAME_MAPPING[module, name]
    return f"{IMPORT_MAPPING.get(module, module)}.{name}"


def is_added(thing: Any) -> bool:
    """Whether a person trusts this very object."""
    return bool(_added) and any(thing is known for known in added_by_name().values())


# ---- asking without loading -----------------------------------------------------------------------------------------
def globals_in(data: bytes) -> set[str]:
    """The full names in a pickle."""
    found, texts, memo = set(), [], {}
    try:
        for code, given, _ in pickletools.genops(data):
            value: Any = given
            if code.name in ("GLOBAL", "INST"):
                module, _, name = value.partition(" ")
                found.add(full_name(module, name))
            elif code.name == "STACK_GLOBAL":
                found.add(full_name(*texts[-2:]))
            elif code.name == "MEMOIZE":
                memo[len(memo)] = texts[-1] if texts else ""
            elif code.name in ("BINPUT", "LONG_BINPUT"):
                memo[value] = texts[-1] if texts else ""
            elif code.name in ("BINGET", "LONG_BINGET"):
                texts.append(memo.get(value, ""))
            elif code.name.endswith("UNICODE") or code.name == "BINUNICODE8":
                texts.append(value)
    except (ValueError, TypeError, EOFError, IndexError, KeyError, OverflowError, struct.error) as error:
        raise pickle.UnpicklingError(f"the pickle cannot be read: {error}") from None
    return found


def get_unsafe_globals_in_checkpoint(f: Any) -> list[str]:
    """The functions and classes that a file names and that loading only weights would refuse.

    Args:
        f: a path, or a file object that can seek.

    Example:
        >>> import fractions, io, vistorch
        >>> f = io.BytesIO()
        >>> vistorch.save({"lr": fractions.Fraction(1, 3), "w": vistorch.ones(2)}, f)
        >>> _ = f.seek(0)
        >>> vistorch.serialization.get_unsafe_globals_in_checkpoint(f)
        ['fractions.Fraction']
    """
    with opened(f) as file, limited(file_length(file)):
        if not is_archive(file):
            raise ValueError(f"Expected input to be a checkpoint returned by {library}.save")
        archive = ArchiveReader(file)
        if "constants.pkl" in archive:
            raise ValueError(
                f"Expected input to be a checkpoint returned by {library}.save but got a torchscript checkpoint"
            )
        found = globals_in(pickle_of(archive))
    safe = {*NAMED, "torch.nn.parameter.Parameter", *added_by_name()}
    return sorted(found - safe)
