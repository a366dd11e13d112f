"""The CPU under the names of a device module.

Invariant: there is one CPU, always there, and nothing to wait for.
"""

from __future__ import annotations

from typing import Any

from . import amp

__all__ = [
    "Event",
    "Stream",
    "StreamContext",
    "amp",
    "current_device",
    "current_stream",
    "device_count",
    "get_capabilities",
    "is_available",
    "is_initialized",
    "set_device",
    "stream",
    "synchronize",
]


def is_available() -> bool:
    """True.

    Example:
        >>> import vistorch
        >>> vistorch.cpu.is_available()
        True
    """
    return True


is_initialized = is_available


def device_count() -> int:
    """1.

    Example:
        >>> import vistorch
        >>> vistorch.cpu.device_count()
        1
    """
    return 1


def current_device() -> str:
    """Give "cpu": there is one.

    Example:
        >>> import vistorch
        >>> vistorch.cpu.current_device()
        'cpu'
    """
    return "cpu"


def set_device(device: Any) -> None:
    """Nothing to choose.

    Example:
        >>> import vistorch
        >>> vistorch.cpu.set_device("cpu")
        >>> vistorch.cpu.current_device()
        'cpu'
    """


def synchronize(device: Any = None) -> None:
    """Nothing to wait for.

    Example:
        >>> import vistorch
        >>> y = vistorch.ones(2) * 2
        >>> vistorch.cpu.synchronize()
        >>> y  # it was there before the call, too
        tensor([2., 2.])
    """


def get_capabilities() -> dict[str, Any]:
    """Which instructions are used is numpy's affair (`numpy.show_config()`); nothing is known here.

    Example:
        >>> import vistorch
        >>> vistorch.cpu.get_capabilities()
        {}
    """
    return {}


class Stream:
    """The one order in which the CPU works.

    Example:
        >>> import vistorch
        >>> stream = vistorch.cpu.Stream()
        >>> event = stream.record_event()
        >>> event.query()
        True
        >>> stream.wait_event(event)
        >>> stream.wait_stream(vistorch.cpu.current_stream())
    """

    def __init__(self, priority: int = -1) -> None:
        self.priority = priority

    def wait_stream(self, stream: Any) -> None:
        """Nothing to wait for."""

    def record_event(self) -> Event:
        """An event that has happened."""
        return Event()

    def wait_event(self, event: Any) -> None:
        """Nothing to wait for."""


class Event:
    """A point in that order: it has always happened.

    Example:
        >>> import vistorch
        >>> event = vistorch.cpu.Event()
        >>> event.record()
        >>> y = vistorch.ones(2) * 2
        >>> event.query()
        True
        >>> event.wait()
        >>> event.synchronize()
    """

    def query(self) -> bool:
        """True."""
        return True

    def record(self, stream: Any = None) -> None:
        """Nothing to record."""

    def synchronize(self) -> None:
        """Nothing to wait for."""

    def wait(self, stream: Any = None) -> None:
        """Nothing to wait for."""


class StreamContext:
    """Accepted as a `with` block; changes nothing.

    Example:
        >>> import vistorch
        >>> with vistorch.cpu.StreamContext(vistorch.cpu.Stream()):
        ...     vistorch.ones(2) * 2
        tensor([2., 2.])
    """

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        pass


_only = Stream()


def current_stream(device: Any = None) -> Stream:
    """The one stream.

    Example:
        >>> import vistorch
        >>> vistorch.cpu.current_stream() is vistorch.cpu.current_stream()
        True
    """
    return _only


def stream(stream: Any) -> StreamContext:
    """Accepted; changes nothing.

    Example:
        >>> import vistorch
        >>> with vistorch.cpu.stream(vistorch.cpu.Stream()):
        ...     vistorch.ones(2) * 2
        tensor([2., 2.])
    """
    return StreamContext(stream)
