"""`device`, the name of a place: what kind of machine part, and which one. Nothing here touches hardware.

Invariant: there is one object for each (type, index), so equality and hashing are those of the object.
"""

import re
import threading
from typing import Any

from ..library_name import library
from . import cuda_probe

TYPES = (
    "cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, lazy, vulkan, mps, meta, "
    "hpu, mtia, privateuseone"
)
_KNOWN = frozenset(TYPES.split(", "))
_STRING = re.compile(r"([a-zA-Z_]+)(?::(0|[1-9][0-9]*))?")
_LARGEST = 127  # PyTorch keeps the index in 8 bits and wraps larger ones silently; here they are refused

_made: dict[tuple[str, int | None], "device"] = {}
_parsed: dict[str, "device"] = {}


class _Default(threading.local):
    """A thread's default device: the innermost `with`, else what `set_default_device` said, else None."""

    def __init__(self):
        self.base: device | None = None
        self.stack: list[device] = []
        self.device: device | None = None

    def settle(self) -> None:
        """Write down which of the two counts, so that reading it is one attribute."""
        self.device = self.stack[-1] if self.stack else self.base


default = _Default()


class device:
    """Where a tensor lives: a type, such as `"cpu"` or `"cuda"`, and an index, the one meant among several.

    Without an index a CUDA device means the current one. Used in a `with` statement, it is the device on
    which tensors are made there.

    Args:
        type: `"cuda"`, or with an index `"cuda:1"`; another `device`; or the index of an accelerator.
        index: the index, where `type` holds none.

    Example:
        >>> device("cuda:1")
        device(type='cuda', index=1)
        >>> device("cuda", 1) == device("cuda:1")
        True
        >>> print(device("cpu"))
        cpu
    """

    __slots__ = ("index", "type")

    type: str
    index: int | None

    def __new__(cls, *args: Any, **kwargs: Any) -> "device":
        """Return the device meant; the argument rules are PyTorch's."""
        if len(args) == 1 and not kwargs:
            return _from_one(args[0], args, kwargs)
        if len(kwargs) == 1 and not args and "device" in kwargs:
            return _from_one(kwargs["device"], args, kwargs)
        return _from_two(args, kwargs)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in device.__slots__:
            raise AttributeError(f"attribute '{name}' of '{library}.device' objects is not writable")
        raise AttributeError(f"'{library}.device' object has no attribute '{name}'")

    def __delattr__(self, name: str) -> None:
        self.__setattr__(name, None)

    def __init_subclass__(cls) -> None:
        raise TypeError(f"type '{library}.device' is not an acceptable base type")

    def __reduce__(self) -> tuple:
        return device, (self.type,) if self.index is None else (self.type, self.index)

    def __copy__(self) -> "device":
        return self

    def __deepcopy__(self, memo: dict) -> "device":
        return self

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{index})"

    def __enter__(self) -> "device":
        default.stack.append(self)
        default.settle()
        return self

    def __exit__(self, *exception: object) -> None:
        default.stack.pop()
        default.settle()


def set_default_device(device: Any) -> None:
    """Set where tensors are made when nothing else is said, in this thread; None means the CPU again.

    A `with device(...):` around the code counts more. A CUDA device without an index means the current one,
    also after a later `vistorch.cuda.set_device`.

    Args:
        device: a device, its string, or the index of an accelerator.

    Example:
        >>> set_default_device("cpu")
        >>> get_default_device()
        device(type='cpu')
        >>> set_default_device(None)
    """
    default.base = None if device is None else _class(device)
    default.settle()


def get_default_device() -> device:
    """Return where a tensor is made when nothing else is said; for "cuda" with the current index filled in.

    Example:
        >>> with device("cpu"):
        ...     get_default_device()
        device(type='cpu')
    """
    where = default.device
    if where is None:
        return CPU_DEVICE
    if where.index is None and where.type == "cuda":
        return make("cuda", cuda_probe.current_index())
    return where


def make(type: str, index: int | None) -> device:
    """Return the one device object of a type and an index; both must already be right."""
    found = _made.get((type, index))
    if found is None:
        found = object.__new__(device)
        object.__setattr__(found, "type", type)
        object.__setattr__(found, "index", index)
        found = _made.setdefault((type, index), found)
    return found


def _from_one(value: Any, args: tuple, kwargs: dict) -> device:
    """Make a device of a single argument: a device, a string, or the index of an accelerator."""
    kind = type(value)
    if kind is device:
        return value
    if kind is str:
        found = _parsed.get(value)
        return _parse(value) if found is None else found
    if isinstance(value, (str, bytes)):
        return _parse(value if isinstance(value, str) else value.decode("utf-8", "replace"))
    if is_index(value):
        index = _index(value)
        if not cuda_probe.find().ok:
            raise RuntimeError("Cannot access accelerator device when none is available.")
        return make("cuda", index)
    raise _mismatch(args, kwargs, "types")


def _from_two(args: tuple, kwargs: dict) -> device:
    """Make a device of a type and an index, by position or by name."""
    given = len(args) + len(kwargs)
    if given == 0 or given > 2:
        raise _mismatch(args, kwargs)
    if given == 1 and not isinstance(kwargs.get("type"), (str, bytes)):
        raise _mismatch(args, kwargs, "names")
    if args and "type" in kwargs and isinstance(args[0], (str, bytes)):
        raise TypeError("device() got multiple values for argument 'type'")
    if not args and "type" not in kwargs:
        raise TypeError('device() missing 1 required positional arguments: "type"')
    kind = args[0] if args else kwargs["type"]
    if not isinstance(kind, (str, bytes)):
        raise TypeError(f"device(): argument 'type' (position 1) must be str, not {_named(kind)}")
    for name in kwargs:
        if name not in ("type", "index"):
            raise TypeError(f"device() got an unexpected keyword argument '{name}'")
    index = args[1] if len(args) == 2 else kwargs.get("index")
    if index is not None and not is_index(index):
        raise TypeError(f"device(): argument 'index' (position 2) must be int, not {_named(index)}")
    text = kind if isinstance(kind, str) else kind.decode("utf-8", "replace")
    bare = _parse(text)
    if ":" in text:
        raise RuntimeError(
            f"type (string) must not include an index because index was passed explicitly: {text}"
        )
    return bare if index is None else make(bare.type, _index(index))


def _parse(text: str) -> device:
    """Make a device of a string, with PyTorch's sentences for a bad one."""
    if not text:
        raise RuntimeError("Device string must not be empty")
    match = _STRING.fullmatch(text)
    if match is None:
        raise RuntimeError(f"Invalid device string: '{text}'")
    kind, digits = match.groups()
    if kind not in _KNOWN:
        raise RuntimeError(f"Expected one of {TYPES} device type at start of device string: {kind}")
    if digits is not None and int(digits) >= 2**31:
        raise RuntimeError(f"Could not parse device index '{digits}' in device string '{text}'")
    found = _parsed[text] = make(kind, None if digits is None else _index(int(digits)))
    return found


def is_index(value: Any) -> bool:
    """Say whether a value is a whole number, numpy's included; a bool is none."""
    return not isinstance(value, bool) and hasattr(value, "__index__") and not hasattr(value, "__len__")


def _index(value: Any) -> int:
    """Return a number as a device index, or raise."""
    number = value.__index__()
    if not -(2**63) <= number < 2**63:
        raise ValueError("Overflow when unpacking long long")
    if number < 0:
        raise RuntimeError("Device index must not be negative")
    if number > _LARGEST:
        raise RuntimeError(f"Device index must not be larger than {_LARGEST}, got {number}")
    return number


def _mismatch(args: tuple, kwargs: dict, fault: str = "") -> TypeError:
    """Return PyTorch's error for arguments that fit no signature; `fault` is "types", "names" or empty."""
    got = ", ".join([_named(value) for value in args] + [f"{k}={_named(v)}" for k, v in kwargs.items()])
    got += ", " if kwargs and not args else ""
    why = ""
    if fault == "types":
        wrong = f"!{_members(args[0])}!" if args else f"!device={_members(kwargs['device'])}!, "
        why = f"      didn't match because some of the arguments have invalid types: ({wrong})\n"
    elif fault == "names":
        why = f"      didn't match because some of the keywords were incorrect: {', '.join(kwargs)}\n"
    return TypeError(
        f"device() received an invalid combination of arguments - got ({got}), but expected one of:\n"
        f" * ({library}.device device)\n{why} * (str type, int index = -1)\n"
    )


def _named(value: Any) -> str:
    """Name a value's type as PyTorch's argument errors do."""
    return f"{library}.device" if isinstance(value, device) else type(value).__name__


def _members(value: Any) -> str:
    """Name a value's type and, for a list or a tuple, the types in it."""
    inside = ", ".join(map(_named, value)) if isinstance(value, (list, tuple)) else ""
    if isinstance(value, list):
        return f"list of [{inside}]"
    return f"tuple of ({inside})" if isinstance(value, tuple) else _named(value)


_class = device
CPU_DEVICE = make("cpu", None)
