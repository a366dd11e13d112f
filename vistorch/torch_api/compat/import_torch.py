"""`import torch` gives vistorch: a finder that answers for `torch` and `torchvision` with our own modules.

Invariant: this file imports nothing of vistorch, because `start/sitecustomize.py` loads it by its path in every
interpreter of a program run by `vistorch run`: one that never asks for torch pays for one small file.
An aliased module is the very same object as ours: its `__spec__` and `__loader__` stay what they are. What a program
is shown of it (`__name__`, classes, texts, versions) says `torch` as long as the alias holds: `identity.py`.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import threading
from types import ModuleType
from typing import Any

OURS = {"torch": "vistorch", "torchvision": "vistorch.vision"}
# Modules that have another name here.
RENAMED = {"torch.nn.modules.utils": "vistorch.nn.modules.tuples"}
_HERE = os.path.dirname(os.path.abspath(__file__))
HOME = os.path.dirname(os.path.dirname(os.path.dirname(_HERE)))  # where the package lies
START = os.path.join(_HERE, "start")
# Which interpreter the programs that it starts are meant for: another one may have no vistorch.
PREFIX = "VISTORCH_ALIAS"

_lock = threading.RLock()
_put_aside: dict[str, ModuleType] = {}  # PyTorch's own modules, while `force=True` holds them back
_environment: dict[str, str | None] | None = None  # what the variables were before


class _SecondName(importlib.abc.Loader):
    """Loads a module under a second name; it is imported under its own name and left as it is."""

    def __init__(self, own: str) -> None:
        self.own = own

    def create_module(self, spec: Any) -> ModuleType:
        """The module itself; Python is about to write the second name into its `__spec__`."""
        module = importlib.import_module(self.own)
        if is_torch(spec.name):  # else a second name of our own
            _identity().assume()
        self.before = module.__spec__, getattr(module, "__loader__", None)
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Undo what Python wrote."""
        module.__spec__, module.__loader__ = self.before

    def _code(self) -> Any:
        spec = importlib.util.find_spec(self.own)
        if spec is None or not hasattr(spec.loader, "get_code"):
            raise ImportError(f"{self.own} has no code to run")
        return spec.loader.get_code(self.own)  # type: ignore[union-attr]

    def get_code(self, fullname: str) -> Any:
        """For `python -m torch.utils.x`."""
        return self._code()


class Finder(importlib.abc.MetaPathFinder):
    """Answers for torch.* and torchvision.*: with our module of that name, or that there is none."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        """Where a module is; ModuleNotFoundError where vistorch has none, so that nobody else is asked."""
        root, _, rest = fullname.partition(".")
        if root == "vistorch":
            return _followed(fullname, path, target)
        if root not in OURS:
            return None
        own = RENAMED.get(fullname) or OURS[root] + ("." + rest if rest else "")
        findable()
        if (spec := second_name(fullname, own)) is None:
            asker = sys._getframe(1).f_back
            if asker is not None and asker.f_globals.get("__name__") == "importlib.util":
                return None  # `importlib.util.find_spec`: a question, not an import
            raise ModuleNotFoundError(f"vistorch has no {fullname}", name=fullname)
        return spec

    def find_distributions(self, context: Any = None) -> Any:
        """The metadata of torch and torchvision, for `importlib.metadata.version` and its like."""
        return _beside("versions").distributions(getattr(context, "name", None))


def _followed(fullname: str, path: Any, target: Any) -> Any:
    """Where a module of ours is, to be called by PyTorch's name when it is loaded; None before the alias is in use."""
    identity = sys.modules.get("vistorch.compat.identity")
    if identity is None or not getattr(identity, "is_assumed", bool)():
        return None
    for finder in sys.meta_path:
        if type(finder) is not Finder and (spec := finder.find_spec(fullname, path, target)) is not None:
            return identity.follow(spec)
    return None


def second_name(fullname: str, own: str) -> Any:
    """Return where a module is by a second name; None if there is no such module.

    Args:
        fullname: the second name.
        own: the name of the module itself.
    """
    if (found := _spec(own)) is None:
        return None
    spec = importlib.machinery.ModuleSpec(fullname, _SecondName(own), origin=found.origin)
    spec.submodule_search_locations = found.submodule_search_locations
    return spec


def _spec(own: str) -> Any:
    loaded = sys.modules.get(own)
    if loaded is not None and loaded.__spec__ is not None:
        return loaded.__spec__
    try:
        return importlib.util.find_spec(own)
    except ModuleNotFoundError as missing:
        # A parent that is no package, or is not there; what a module of ours fails to import is another matter.
        if missing.name is not None and (own + ".").startswith(missing.name + "."):
            return None
        raise


def findable() -> None:
    """See to it that vistorch itself can be imported: a program's own `sys.path` may not lead to it."""
    if "vistorch" not in sys.modules and importlib.machinery.PathFinder.find_spec("vistorch") is None:
        sys.path.append(HOME)


def environment() -> dict[str, str]:
    """The variables that make every Python of this kind, started below this one, alias torch as it starts."""
    paths = [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p and p != START]
    return {"PYTHONPATH": os.pathsep.join([START, *paths]), PREFIX: sys.prefix}


def _advice() -> ModuleType:
    """What says a sentence more under an error; `start/sitecustomize.py` has loaded it by its path."""
    return importlib.import_module("vistorch.compat.advice")


def _identity() -> ModuleType:
    """What lets our names be PyTorch's; it imports vistorch, so it is imported when that is."""
    return importlib.import_module("vistorch.compat.identity")


def _beside(name: str) -> ModuleType:
    """A file beside this one that imports nothing of vistorch, by its path."""
    full = f"vistorch.compat.{name}"
    if full not in sys.modules:
        spec = importlib.util.spec_from_file_location(full, os.path.join(_HERE, f"{name}.py"))
        assert spec is not None and spec.loader is not None  # a file that is there has both
        sys.modules[full] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[full]


def is_torch(name: str) -> bool:
    """Whether a module's name is one of those we answer for."""
    return name.partition(".")[0] in OURS


def put_aside(name: str) -> ModuleType | None:
    """Return a module of PyTorch's that the alias holds back; None if it holds none of that name.

    Args:
        name: the module's name, such as "torch".
    """
    return _put_aside.get(name)


def is_aliased() -> bool:
    """Whether `import torch` gives vistorch in this process.

    Example:
        >>> from vistorch.compat import is_aliased
        >>> is_aliased()
        False
    """
    return any(type(finder) is Finder for finder in sys.meta_path)


class alias_torch:
    """Let `import torch` and `import torchvision`, and all below them, give vistorch in this process.

    Holds until `unalias_torch()`, or to the end of a `with` block. Processes that this one starts with
    multiprocessing, or as `sys.executable`, alias torch too.

    Args:
        force: also when PyTorch itself is already imported. Its modules are put aside, and come back
            with `unalias_torch()`; what the program already holds of them stays PyTorch's.

    Example:
        >>> from vistorch.compat import alias_torch
        >>> with alias_torch(force=True):
        ...     import torch
        ...     torch.__name__
        'torch'
    """

    def __init__(self, force: bool = False) -> None:
        with _lock:
            self.began = not is_aliased()
            if self.began:
                _begin(force)
                _announce()
                _advice().begin()

    def __enter__(self) -> alias_torch:
        return self

    def __exit__(self, *exc: object) -> None:
        if self.began:
            unalias_torch()


def begin() -> None:
    """Alias torch in an interpreter that has just started; the environment already says so."""
    if not is_aliased():
        _begin(False)


def _begin(force: bool) -> None:
    theirs = {name: module for name, module in sys.modules.items() if is_torch(name)}
    if theirs and not force:
        first = next(iter(theirs)).partition(".")[0]
        name = "PyTorch" if first == "torch" else first
        raise RuntimeError(
            f"{name} itself is already imported in this process: call alias_torch() before the first "
            f"`import {first}`, or alias_torch(force=True) to put it aside"
        )
    for name in theirs:
        del sys.modules[name]
    _put_aside.update(theirs)
    sys.meta_path.insert(0, Finder())
    if hasattr(sys.modules.get("vistorch"), "utils"):  # not in an interpreter that only starts
        _identity().assume()


def _announce() -> None:
    global _environment
    new = environment()
    _environment = {name: os.environ.get(name) for name in new}
    os.environ.update(new)


def unalias_torch() -> None:
    """Undo `alias_torch()`: `import torch` gives PyTorch again, or fails where it is not installed.

    Example:
        >>> from vistorch.compat import alias_torch, is_aliased, unalias_torch
        >>> _ = alias_torch(force=True)
        >>> unalias_torch()
        >>> is_aliased()
        False
    """
    global _environment
    with _lock:
        if not is_aliased():
            return
        sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder) is not Finder]
        _identity().drop()
        for name in [name for name in sys.modules if is_torch(name)]:
            del sys.modules[name]
        sys.modules.update(_put_aside)
        _put_aside.clear()
        _advice().end()
        for name, value in (_environment or dict.fromkeys(environment())).items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        _environment = None
