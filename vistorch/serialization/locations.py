"""Where storages were and where they go: the location tags of files, and what `map_location` makes of them.

Invariant: a storage that is loaded passes through exactly one of the registered functions, or through the person's own.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import Any

from ..engine.base import cuda_probe
from ..engine.base.device import device as named_device
from ..engine.library_name import library
from ..engine.memory.placement import META
from ..engine.memory.storage import UntypedStorage

_registered: list[tuple[int, Callable, Callable]] = []


class _Current(threading.local):
    """The `map_location` of the load that this thread is in."""

    map_location: Any = None


current = _Current()


def register_package(priority: int, tagger: Callable, deserializer: Callable) -> None:
    """Teach `save` and `load` another kind of place.

    Args:
        priority: when these two are asked, the lowest number first.
        tagger: from a storage to its location tag, or None.
        deserializer: from a storage on the CPU and its tag to a storage at that place, or None.

    Example:
        >>> import vistorch
        >>> vistorch.serialization.register_package(90, lambda storage: None, lambda storage, tag: None)
    """
    _registered.append((priority, tagger, deserializer))
    _registered.sort(key=lambda entry: entry[0])


def location_tag(storage: Any) -> str:
    """The tag that a file keeps for where a storage is.

    Args:
        storage: the storage.

    Example:
        >>> import vistorch
        >>> vistorch.serialization.location_tag(vistorch.ones(2).untyped_storage())
        'cpu'
    """
    if storage._place is META:
        raise NotImplementedError("a meta tensor has no data to save: to_empty() and load values first")
    for _, tagger, _ in _registered:
        location = tagger(storage)
        if location:
            return location
    raise RuntimeError(f"don't know how to determine data location of {_named(storage)}")


def default_restore_location(storage: Any, location: Any) -> Any:
    """Bring a storage to the place that a tag names.

    Args:
        storage: a storage on the CPU.
        location: the tag, as "cuda:1".

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(2)
        >>> storage = vistorch.ones(2).untyped_storage()
        >>> vistorch.serialization.default_restore_location(storage, "cuda:1").device
        device(type='cuda', index=1)
        >>> vistorch.cuda.simulate(None)
    """
    for _, _, deserializer in _registered:
        result = deserializer(storage, location)
        if result is not None:
            return result
    raise RuntimeError(
        f"don't know how to restore data location of {_named(storage)} (tagged with {str(location)[:60]})"
    )


def _named(storage: Any) -> str:
    """A storage's type for a sentence."""
    return f"{type(storage).__module__}.{type(storage).__name__}"


def restorer(map_location: Any) -> Callable[[UntypedStorage, str], Any]:
    """The function that `load` calls for each storage.

    Args:
        map_location: what the person gave: None, a device, its string, a dict of tags, or a function.
    """
    if map_location is None:
        return default_restore_location
    if isinstance(map_location, dict):
        return lambda storage, tag: default_restore_location(storage, map_location.get(tag, tag))
    if isinstance(map_location, (str, named_device)):
        return lambda storage, tag: default_restore_location(storage, str(map_location))
    if not callable(map_location):
        raise TypeError(f"'{type(map_location).__name__}' object is not callable")

    def ask(storage: UntypedStorage, tag: str) -> Any:
        result = map_location(storage, tag)
        if result is None:
            return default_restore_location(storage, tag)
        if not isinstance(result, UntypedStorage):
            raise TypeError(
                f"map_location must return None or a {library}.UntypedStorage, but got {type(result).__name__}"
            )
        return result

    return ask


def remapped_device(device: Any) -> Any:
    """The device that the current load puts in the place of another."""
    given = current.map_location
    if given is None:
        return device
    if isinstance(given, dict):
        return given.get(device, device)
    if isinstance(given, (str, named_device)):
        return given
    raise RuntimeError(
        "Callable map_location not supported with _rebuild_wrapper_subclass or _rebuild_device_tensor_from_numpy"
    )


def validate_cuda_device(location: str) -> int:
    """The index of the CUDA device that a tag names, if it is there.

    Args:
        location: the tag, as "cuda:1".

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(2)
        >>> vistorch.serialization.validate_cuda_device("cuda:1")
        1
        >>> vistorch.serialization.validate_cuda_device("cuda:5")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        RuntimeError: Attempting to deserialize object on CUDA device 5 but vistorch.cuda.device_count() is 2. ...
        >>> vistorch.cuda.simulate(None)
    """
    return _validated(location, "cuda").index or 0


def validate_hpu_device(location: str) -> int:
    """Refused: there are no HPU devices here.

    Args:
        location: the tag.

    Example:
        >>> import vistorch
        >>> vistorch.serialization.validate_hpu_device("hpu:0")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        RuntimeError: The HPU device module is not registered. ...
    """
    return _validated(location, "hpu").index or 0


def validated(location: str) -> named_device:
    """A device out of a file, if it is there.

    Args:
        location: as "cuda:1".
    """
    kind = named_device(location).type
    return named_device("cpu") if kind == "cpu" else _validated(location, kind)


def _validated(location: str, kind: str) -> named_device:
    """A device of a kind that must be there."""
    upper = kind.upper()
    advice = (
        f"If you are running on a CPU-only machine, please use {library}.load with "
        f"map_location={library}.device('cpu') to map your storages to the CPU."
    )
    if kind != "cuda":
        raise RuntimeError(f"The {upper} device module is not registered. {advice}")
    wanted = named_device(location)
    found = cuda_probe.find()
    if not found.ok:
        raise RuntimeError(
            f"Attempting to deserialize object on a {upper} device but {library}.{kind}.is_available() is False. "
            f"{advice}"
        )
    index = cuda_probe.current_index() if wanted.index is None else wanted.index
    if index >= found.number:
        raise RuntimeError(
            f"Attempting to deserialize object on {upper} device {index} but {library}.{kind}.device_count() is "
            f"{found.number}. Please use {library}.load with map_location to map your storages to an existing device."
        )
    return named_device(kind, index)


def _tag_cpu(storage: Any) -> str | None:
    return "cpu" if storage.device.type == "cpu" else None


def _restore_cpu(storage: Any, location: Any) -> Any:
    return storage if location == "cpu" else None


def _register_devices() -> None:
    """Enter the places PyTorch knows."""
    register_package(10, _tag_cpu, _restore_cpu)
    for priority, kind in ((20, "cuda"), (24, "hpu"), (25, "xpu"), (26, "mtia")):

        def tag(storage: Any, kind: str = kind) -> str | None:
            return str(storage.device) if storage.device.type == kind else None

        def restore(storage: Any, location: str, kind: str = kind) -> Any:
            if location == kind or re.match(f"{kind}(:|[0-9]+)", location):
                return storage.to(device=_validated(location, kind))
            return None

        register_package(priority, tag, restore)


_register_devices()
