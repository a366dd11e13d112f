"""What a program that imported `torch` is shown: PyTorch's names in texts, in classes, in versions and pickles.

Invariant: only names change, never an object; `drop` gives every name back as it was.
"""

from __future__ import annotations

import importlib.machinery
import importlib.metadata
import sys
from types import FunctionType, ModuleType
from typing import Any

from vistorch.compat.classes import unwatch_classes, watch_classes
from vistorch.compat.versions import TORCH, TORCHVISION
from vistorch.engine.base import namespace
from vistorch.engine.base.paths import path_in_torch
from vistorch.engine.library_name import library
from vistorch.torch_version import TorchVersion

# Folders of ours that PyTorch has nothing of.
_OURS_ALONE = frozenset(
    "engine debug widgets vt magics ranks torch_source torch_api compat tutorials cli".split()
)
# Files of ours whose names are all one module there, or in another file of the package.
_JOINED = tuple(
    f"vistorch.{name}."
    for name in """
    amp autograd.custom autograd.jacobians cpu.amp cuda.amp cuda.devices cuda.pools cuda.statistics func multiprocessing
    serialization testing
    """.split()
)
# Files whose public names are helpers of ours, and names that PyTorch has not, in files that it has.
_HELPERS = tuple(
    f"vistorch.{name}"
    for name in """
    distributions.chances distributions.factors distributions.family distributions.regions nn.modules.backward_hook
    optim.executors optim.hooks optim.line_search optim.per_parameter rare_values utils.checkpoint_frame
    utils.checkpoint_policy utils.data._utils.worker
    """.split()
)
_ALONE = frozenset(
    """
    Alike Casting Diagnosis Half Memory OfCategorical StreamContext begins get_printoptions printoptions qr
    """.split()
)
_RETURN_TYPES = "vistorch.engine.base.return_types"
_before: dict[tuple[Any, str], Any] = {}
_MISSING = object()


def name_in_torch(module: str) -> str | None:
    """What PyTorch calls a module of ours; None for what is ours alone.

    Args:
        module: its name here.

    Example:
        >>> name_in_torch("vistorch.nn.functional"), name_in_torch("vistorch.vision.models")
        ('torch.nn.functional', 'torchvision.models')
        >>> name_in_torch("vistorch.widgets") is None
        True
    """
    root, _, rest = module.partition(".")
    first, _, inside = rest.partition(".")
    if root != "vistorch" or first in _OURS_ALONE or (first.startswith("_") and first[:2] != "__"):
        return None
    if first == "vision":
        return f"torchvision.{inside}" if inside else "torchvision"
    return f"torch.{rest}" if rest else "torch"


def is_assumed() -> bool:
    """Whether texts say `torch` at present.

    Example:
        >>> is_assumed()
        False
    """
    return library.name == "torch"


def assume() -> None:
    """Let everything that is loaded, and what is loaded from now on, go by PyTorch's names."""
    if is_assumed():
        return
    library.name = "torch"
    watch_classes()
    root = sys.modules["vistorch"]
    _set(root, "torch", root)
    _set(root, "__version__", TorchVersion(TORCH))
    for module in list(sys.modules.values()):
        if isinstance(module, ModuleType) and type(module.__name__) is str:
            take(module)


def take(module: ModuleType) -> None:
    """Let one loaded module go by PyTorch's name, and what it defines.

    Args:
        module: a module of vistorch; others stay as they are.
    """
    spec = getattr(module, "__spec__", None)
    own = module.__name__ if spec is None else spec.name
    if own.partition(".")[0] != "vistorch":
        return
    name = name_in_torch(own)
    if name is not None:
        _set(module, "__name__", name)
        sys.modules.setdefault(name, module)
        if own == "vistorch.version":
            _set(module, "__version__", TORCH)
        elif own == "vistorch.torch_version":
            _set(module, "__version__", TorchVersion(TORCH))
        elif own == "vistorch.vision":
            _set(module, "__version__", TORCHVISION)
    for value in list(vars(module).values()):
        if isinstance(value, (type, FunctionType)) and str(value.__module__).startswith("vistorch"):
            there = _path(value)
            if there is not None:
                namespace.rename(value, there)


def _path(thing: Any) -> str | None:
    """The module under which PyTorch has a class or function of ours; None where it has none of that name."""
    module, name = thing.__module__, thing.__qualname__
    if module == _RETURN_TYPES:
        return "torch.return_types" if isinstance(thing, type) and not name.startswith("_") else None
    if name in _ALONE or name.startswith("_") or module.startswith(_HELPERS):
        return None
    found = path_in_torch(thing)
    if found == ("torch", name) and name.endswith("_"):  # in place: methods, all but a few
        return None
    if found is not None:
        ours = sys.modules.get("vis" + found[0])
        reached = isinstance(thing, type) or getattr(ours, name, None) is thing
        return found[0] if reached and found[1] == name else None
    if module.startswith("vistorch.vision"):
        return name_in_torch(module)
    if isinstance(thing, FunctionType):
        return None
    if module not in sys.modules and not f"{module}.".startswith(_JOINED):  # a name it was given
        return name_in_torch(module)
    parts = module.split(".")
    for length in range(len(parts), 0, -1):  # the innermost public module that offers it
        at = ".".join(parts[:length])
        place = sys.modules.get(at)
        there = name_in_torch(at)
        if place is None or there is None or (f"{at}.".startswith(_JOINED) and "." in at[9:]):
            continue
        offered = getattr(place, "__all__", None)
        if vars(place).get(name) is thing and (offered is None or name in offered):
            return there
    return None


def drop() -> None:
    """Give every name back."""
    namespace.restore()
    for (holder, name), value in _before.items():
        if value is _MISSING:
            vars(holder).pop(name, None)
        else:
            setattr(holder, name, value)
    _before.clear()
    library.name = "vistorch"
    unwatch_classes()


def _set(holder: Any, name: str, value: Any) -> None:
    _before.setdefault((holder, name), vars(holder).get(name, _MISSING))
    setattr(holder, name, value)


def follow(spec: importlib.machinery.ModuleSpec | None) -> Any:
    """Take a module of ours as soon as it is loaded.

    Args:
        spec: where it is found; None where it is not.
    """
    if spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
        loader: Any = spec.loader
        run = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            run(module)
            if is_assumed():
                take(module)

        loader.exec_module = exec_module
    return spec
