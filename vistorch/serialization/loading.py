"""`load`: what `save`, here or in PyTorch, wrote.

Invariant: unless a person says `weights_only=False`, nothing that the file names is imported or called but what is on
the allow-list.
"""

from __future__ import annotations

import io
import mmap as mapping
import os
import pickle
import re
import warnings
from typing import Any

from vistorch.engine.library_name import library

from ..engine.library_name import named
from .archive_in import ArchiveReader, file_length, is_archive, opened, pickle_of
from .budget import budget, limited, refuse
from .locations import current, restorer
from .machine import Truncated
from .memory import ArchiveStorages, LegacyStorages
from .names import counterpart, module_is_torchs
from .options import choice, skipping
from .saving import MAGIC_NUMBER, PROTOCOL_VERSION
from .weights_only import Unpickler

UNSAFE_MESSAGE = (
    "In PyTorch 2.6, we changed the default value of the `weights_only` argument in `vistorch.load` from `False` to "
    "`True`. Re-running `vistorch.load` with `weights_only` set to `False` will likely succeed, but it can result in "
    "arbitrary code execution. Do it only if you got the file from a trusted source."
)
_DOCS = (
    "\n\nCheck the documentation of vistorch.load to learn more about types accepted by default with weights_only "
    "https://pytorch.org/docs/stable/generated/torch.load.html."
)
_YES = ("1", "y", "yes", "true")


def load(
    f: Any,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Load an object from a file that `save` wrote, here or in PyTorch.

    Args:
        f: a path, or a file object that can seek, at the file's first byte.
        map_location: where the tensors go: a device or its string for all of them; a dict from the places they were
            saved at; or a function of a storage and that place, which returns a storage, or None for where it was.
        pickle_module: what unpickles, if not `pickle`; with `weights_only=False` only.
        weights_only: whether the file may hold only tensors, plain values and what `add_safe_globals` named. Say
            False only for a file whose maker you trust: it can run any code.
        mmap: map the file instead of reading it: elements are read when they are looked at.
        **pickle_load_args: for the unpickler, as `encoding`.

    With `weights_only`, a file takes at most 32 times its length and 64 MiB of memory beyond its own bytes.

    Raises:
        RuntimeError: the file is damaged, or is none of ours.
        pickle.UnpicklingError: the pickle in it is damaged, or asks for more than `weights_only` gives.

    Example:
        >>> import io, vistorch
        >>> f = io.BytesIO()
        >>> vistorch.save({"w": vistorch.tensor([1.0, 2.0])}, f)
        >>> _ = f.seek(0)
        >>> vistorch.load(f)
        {'w': tensor([1., 2.])}
    """
    weights_only = _only_weights(weights_only, pickle_module)
    if weights_only:
        if pickle_module is not None:
            raise RuntimeError("Can not safely load weights when explicit pickle_module is specified")
        if pickle_load_args:
            warnings.warn("pickle_load_args only works if `weights_only=False`.", UserWarning, stacklevel=2)
    elif pickle_module is None:
        pickle_module = pickle
    mmap = choice.mmap if mmap is None else mmap
    if isinstance(f, (str, os.PathLike)) and os.fspath(f).endswith(".safetensors"):
        return _safetensors(f, map_location)
    pickle_load_args.setdefault("encoding", "utf-8")
    before, current.map_location = current.map_location, map_location
    try:
        with opened(f) as file, limited(file_length(file)):
            if not is_archive(file):
                if mmap:
                    raise RuntimeError(_not_mappable(f))
                return _legacy(file, map_location, pickle_module, pickle_load_args)
            path = None
            if mmap:
                if not isinstance(f, (str, os.PathLike)):
                    raise ValueError("f must be a file path in order to use the mmap argument")
                path = os.fspath(f)
            return _archive(file, path, map_location, pickle_module, pickle_load_args)
    except pickle.UnpicklingError as error:
        if not weights_only:
            raise
        raise type(error)(_explained(str(error))) from None
    finally:
        current.map_location = before


def _only_weights(asked: bool | None, pickle_module: Any) -> bool:
    """Whether only weights are loaded: what was asked for, PyTorch's environment variables, or its default."""
    forced = os.getenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "0").lower() in _YES
    unforced = os.getenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "0").lower() in _YES
    if forced and unforced:
        raise RuntimeError(
            "Only one of `TORCH_FORCE_WEIGHTS_ONLY_LOAD` or `TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD` should be set, but both "
            "were set."
        )
    if forced:
        return True
    if asked is None and unforced:
        warnings.warn(
            "Environment variable TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD detected, since the`weights_only` argument was not "
            f"explicitly passed to `{library}.load`, forcing weights_only=False.",
            UserWarning,
            stacklevel=3,
        )
        return False
    return pickle_module is None if asked is None else bool(asked)


def _archive(file: Any, path: Any, map_location: Any, module: Any, load_args: dict) -> Any:
    """Load an archive."""
    archive = ArchiveReader(file)
    if "constants.pkl" in archive:
        raise RuntimeError(
            "the file is a TorchScript archive, which holds compiled code: vistorch cannot run it. In PyTorch, save "
            "the state_dict() of the module instead"
        )
    storages = ArchiveStorages(archive, restorer(map_location), path)
    data = pickle_of(archive)
    if module is None:
        return Unpickler(data, 0, storages.persistent_load, encoding=load_args["encoding"]).load()
    unpickler = _trusting(module)(io.BytesIO(data), **load_args)
    unpickler.persistent_load = storages.persistent_load
    return unpickler.load()


def _trusting(module: Any) -> Any:
    """The unpickler of a module, which finds PyTorch's names here."""
    base: Any = module.Unpickler

    class Trusting(base):
        """The module's unpickler, which knows what PyTorch's names mean here."""

        def find_class(self, module: str, name: str) -> Any:
            """What a name in the file means."""
            if module_is_torchs(module):
                return counterpart(module, name)
            return super().find_class(module, name)

    return Trusting


def _legacy(file: Any, map_location: Any, module: Any, load_args: dict) -> Any:
    """Load a file from before 1.6: pickles one after another, then the elements."""
    length = file_length(file)
    if not length:
        raise Truncated("Ran out of input")
    storages = LegacyStorages(restorer(map_location), length)
    late = budget.late = []
    if module is None:
        return _legacy_weights(file, storages, late, load_args)
    _check_head(*(module.load(file, **load_args) for _ in range(3)))
    unpickler = _trusting(module)(file, **load_args)
    unpickler.persistent_load = storages.persistent_load
    result = unpickler.load()
    keys = module.load(file, **load_args)
    _fill(file, storages, keys, late)
    return result


def _legacy_weights(file: Any, storages: LegacyStorages, late: list, load_args: dict) -> Any:
    """`_legacy` for weights only."""
    start = file.tell()
    data: Any
    try:  # a real file is mapped, so that its storages are not held twice
        data, base = mapping.mmap(file.fileno(), 0, access=mapping.ACCESS_READ), start
    except (OSError, AttributeError, ValueError, TypeError):
        data, base = file.read(), 0
    at = base

    def one(persistent_load: Any = None) -> Any:
        nonlocal at
        unpickler = Unpickler(data, at, persistent_load, encoding=load_args["encoding"])
        result = unpickler.load()
        at = unpickler.at
        return result

    try:
        _check_head(one(), one(), one())
        result = one(storages.persistent_load)
        keys = one()
    finally:
        if isinstance(data, mapping.mmap):
            data.close()
    file.seek(start + at - base)
    _fill(file, storages, keys, late)
    return result


def _fill(file: Any, storages: LegacyStorages, keys: Any, late: list) -> None:
    """Read the elements, and do what waited for them."""
    if not skipping.on:
        storages.fill(keys, _reader(file))
    for write in late:
        write()


def _check_head(magic: Any, version: Any, system: Any) -> None:
    """Refuse what does not begin as a file of ours does."""
    if type(magic) is not int or magic != MAGIC_NUMBER:
        raise RuntimeError("Invalid magic number; corrupt file?")
    if type(version) is not int or version != PROTOCOL_VERSION:
        raise RuntimeError(
            f"Invalid protocol version: {version if type(version) is int else type(version).__name__}"
        )
    if type(system) is not dict:
        raise refuse("the third pickle of the file must be a dict")


def _reader(file: Any) -> Any:
    """A function that fills an array of bytes from a file, and returns how many it got."""

    def fill(target: Any) -> int:
        view, done = memoryview(target), 0
        while done < len(view):
            part = file.read(min(len(view) - done, 1 << 24))
            if not part:
                break
            view[done : done + len(part)] = part
            done += len(part)
        return done

    return fill


def _not_mappable(f: Any) -> str:
    """PyTorch's sentence for a legacy file that should be mapped."""
    name = f"{f}, " if isinstance(f, str) else ""
    return (
        f"mmap can only be used with files saved with `{library}.save({name}_use_new_zipfile_serialization=True), "
        f"please {library}.save your checkpoint with this option in order to use mmap."
    )


def _safetensors(f: Any, map_location: Any) -> Any:
    """Load the other format, which PyTorch tells by the file's ending."""
    from . import safetensors

    for kind, given in (("dict", isinstance(map_location, dict)), ("callable", callable(map_location))):
        if given:
            raise RuntimeError(
                f"Loading safetensors file with {kind} map_location is not supported. Use a device string or "
                f"{library}.device instead."
            )
    return safetensors.load_file(f, device="cpu" if map_location is None else map_location)


def _explained(message: str) -> str:
    """PyTorch's long sentence around what was wrong."""
    if re.search(r"GLOBAL (\S+) was not an allowed global by default.", message):
        return (
            "Weights only load failed. This file can still be loaded, to do so you have two options, "
            "\033[1mdo those steps only if you trust the source of the checkpoint\033[0m. "
            f"\n\t(1) {named(UNSAFE_MESSAGE)}\n\t(2) Alternatively, to load with `weights_only=True` please check the "
            f"recommended steps in the following error message.\n\tWeightsUnpickler error: {message}{named(_DOCS)}"
        )
    text = f"Weights only load failed. {named(UNSAFE_MESSAGE)}\n"
    if not re.search(r"whose module (\S+) is blocked", message):
        text += (
            "Please file an issue with the following so that we can make `weights_only=True` compatible with your use "
            "case: WeightsUnpickler error: "
        )
    return f"{text}\n\n{message}{named(_DOCS)}"
