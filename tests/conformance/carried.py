"""A sample of PyTorch's database, carried over: tensors, types and functions as vistorch has them.

A function of the database is run as written, with vistorch where its text says `torch`.

Invariant: a tensor keeps its values, its strides, and what it shares memory with.
"""

import contextlib
import functools
import types
from collections.abc import Callable
from typing import Any

import torch

import vistorch as L
from tests.ops.library import attempt

NAMESPACES = (
    "",
    "nn.functional",
    "linalg",
    "special",
    "fft",
    "masked",
    "sparse",
    "signal.windows",
    "Tensor",
    "nn",
    "autograd",
    "_C._nn",
    "nn.init",
)


class NotFound(Exception):
    """A name of PyTorch that vistorch does not have."""


class CannotCarry(Exception):
    """A sample that is out of question here."""


def at(library: Any, path: str) -> Any:
    """The object at a dotted path."""
    for part in path.split(".") if path else ():
        library = getattr(library, part)
    return library


@functools.cache
def paths() -> dict[int, str]:
    """Where PyTorch has an object, by its identity; the first place counts."""
    found: dict[int, str] = {}
    for space in NAMESPACES:
        home = at(torch, space)
        for name in sorted(dir(home), key=lambda name: name.startswith("_")):
            with contextlib.suppress(Exception):
                found.setdefault(id(getattr(home, name)), f"{space}.{name}".lstrip("."))
    return found


def named(path: str) -> Any:
    """What vistorch has at a path."""
    try:
        return at(L, path)
    except (AttributeError, ImportError) as missing:
        raise NotFound(f"vistorch has no {path}") from missing


@contextlib.contextmanager
def freeze_rng_state() -> Any:
    """Random numbers drawn within do not count outside."""
    state = L.get_rng_state()
    try:
        yield
    finally:
        L.set_rng_state(state)


def refusal(call: Callable[[], Any]) -> tuple[str, str] | None:
    """The type and the sentence of what a call raises, in PyTorch's words; None where it raises nothing."""
    error = attempt(call).error
    return None if error is None else (type(error).__name__, str(error).replace("vistorch", "torch"))


class Carrier:
    """Carries the values of one sample; what shared memory there shares it here."""

    def __init__(self) -> None:
        self.memory: dict[tuple, Any] = {}
        self.seen: dict[int, Any] = {}
        self.leaves: list[tuple[Any, Any]] = []
        self.alive: list[Any] = []  # what was resolved, lest another one get its address

    def value(self, x: Any) -> Any:
        """Anything, as vistorch has it."""
        if isinstance(x, torch.Tensor):
            return self.tensor(x)
        if isinstance(x, torch.dtype):
            return named(str(x).removeprefix("torch."))
        if isinstance(x, torch.layout | torch.memory_format):
            return named(str(x).removeprefix("torch."))
        if isinstance(x, torch.device):
            return L.device(str(x))
        if isinstance(x, torch.Size):
            return L.Size(x)
        if isinstance(x, torch.Generator):
            return L.Generator().manual_seed(x.initial_seed())
        if isinstance(x, types.ModuleType):
            whole, _, rest = x.__name__.partition(".")
            return named(rest) if whole == "torch" and not rest.startswith(("testing", "_")) else x
        if isinstance(x, slice):
            return slice(self.value(x.start), self.value(x.stop), self.value(x.step))
        if isinstance(x, tuple) and hasattr(x, "_fields"):
            return type(x)(*[self.value(part) for part in x])
        if type(x) in (tuple, list):
            return type(x)(self.value(part) for part in x)
        if isinstance(x, dict):
            return {key: self.value(part) for key, part in x.items()}
        if isinstance(x, torch.nn.Module):
            return getattr(L.nn, type(x).__name__)()
        return self.function(x) if callable(x) else x

    def tensor(self, x: torch.Tensor) -> Any:
        """The same values in the same layout over memory of the same form."""
        if id(x) in self.seen:
            return self.seen[id(x)][1]
        if x.layout != torch.strided or x.is_quantized:
            raise NotFound("vistorch's tensors are dense")
        if x.ndim > 64 or x.device.type == "meta":
            raise CannotCarry("numpy's arrays have 64 dims at most, and there is no meta device")
        dtype = self.value(x.dtype)
        flat = x.detach().resolve_conj().resolve_neg()
        self.alive.append(flat)
        storage = flat.untyped_storage()
        key = (storage.data_ptr() if len(storage) else id(x), x.dtype)
        if key not in self.memory:
            data = L.tensor(list(bytes(storage)), dtype=L.uint8) if len(storage) < 64 else None
            if data is None:
                data = L.from_numpy(torch.empty(0, dtype=torch.uint8).set_(storage).clone().numpy())
            count = len(storage) // max(x.element_size(), 1)
            self.memory[key] = (
                data[: count * x.element_size()].view(dtype) if count else L.empty(0, dtype=dtype)
            )
        made = self.memory[key].as_strided(tuple(flat.shape), flat.stride(), flat.storage_offset())
        if x.requires_grad:
            made = made.detach().requires_grad_()
            if not (x.is_leaf and x._is_view()):  # PyTorch has no gradient for a view made without a graph
                self.leaves.append((x, made))
        self.seen[id(x)] = (x, made)
        return made

    def function(self, f: Any) -> Any:
        """A function of PyTorch by its name; one of the database with its names looked up in vistorch."""
        if id(f) in self.seen:
            return self.seen[id(f)][1]
        if isinstance(f, functools.partial):
            return functools.partial(
                self.function(f.func), *self.value(f.args), **self.value(f.keywords or {})
            )
        if getattr(f, "__name__", "") == "freeze_rng_state":
            return freeze_rng_state
        module = getattr(f, "__module__", None) or ""
        if isinstance(f, types.FunctionType) and module.startswith("torch.testing"):
            return self.rebuilt(f)
        path = paths().get(id(f))
        if path is None and isinstance(f, types.MethodDescriptorType | types.WrapperDescriptorType):
            path = f"Tensor.{f.__name__}"
        if path is None and isinstance(f, types.BuiltinFunctionType) and hasattr(torch, f.__name__):
            path = f.__name__
        return named(path) if path is not None else f

    def rebuilt(self, f: types.FunctionType) -> Any:
        """The same code, whose globals and closed-over values are vistorch's."""
        scope: dict[str, Any] = {"__builtins__": __builtins__}
        made = types.FunctionType(
            f.__code__, scope, f.__name__, None, tuple(types.CellType() for _ in f.__closure__ or ())
        )
        self.seen[id(f)] = (f, made)
        for name in names_in(f.__code__):
            if name in f.__globals__:
                value = f.__globals__[name]
                if isinstance(value, type) and not (value.__module__ or "").startswith("torch"):
                    scope[name] = value
                elif value is torch.Tensor:
                    scope[name] = L.Tensor
                else:
                    scope[name] = self.value(value)
        for ours, theirs in zip(made.__closure__ or (), f.__closure__ or (), strict=True):
            with contextlib.suppress(ValueError):  # an empty cell
                ours.cell_contents = self.value(theirs.cell_contents)
        made.__defaults__ = self.value(f.__defaults__)
        made.__kwdefaults__ = self.value(f.__kwdefaults__)
        return made


def names_in(code: types.CodeType) -> set[str]:
    """The global names that a code and those within it use."""
    found = set(code.co_names)
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            found |= names_in(part)
    return found
