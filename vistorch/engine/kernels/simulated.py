"""Pretended CUDA devices: plain numpy arrays whose place says `cuda:i`, for lessons and tests without a GPU.

Invariant: a pretended device computes with the numpy kernels, and whatever names it says "Simulated".
"""

import os
import threading

VARIABLE = "VISTORCH_SIMULATED_CUDA"
LARGEST = 64


class _Current(threading.local):
    """The pretended device that is current, one per thread as in the CUDA runtime."""

    index = 0


_current = _Current()
_count: int | None = None
_complaint = ""


def from_environment() -> tuple[int, str]:
    """Read how many devices the environment asks for, and what is wrong with the value if something is."""
    text = os.environ.get(VARIABLE, "").strip()
    if not text:
        return 0, ""
    if not text.isdecimal() or int(text) > LARGEST:
        return 0, f"{VARIABLE}={text!r} was ignored: it must be a number of devices from 0 to {LARGEST}"
    return _visible(int(text)), ""


def _visible(number: int) -> int:
    """Return how many of the devices CUDA_VISIBLE_DEVICES leaves, as the CUDA runtime reads its list of indices.

    An empty list, -1 and the names of real cards say something of real devices only.
    """
    entries = [entry.strip() for entry in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")]
    if not entries[0].isdecimal():
        return number
    seen: list[int] = []
    for entry in entries:  # the first that is no device ends the list
        if not entry.isdecimal() or int(entry) >= number:
            break
        if int(entry) in seen:  # the runtime then shows none
            return 0
        seen.append(int(entry))
    return len(seen)


def count() -> int:
    """Return how many devices are pretended; the environment is read at the first question and not again."""
    global _count, _complaint
    if _count is None:
        _count, _complaint = from_environment()
    return _count


def complaint() -> str:
    """Return what was wrong with the environment variable, or an empty string."""
    count()
    return _complaint


def set_count(number: int | None) -> None:
    """Pretend `number` devices from now on; None means: as the environment says."""
    global _count, _complaint
    if number is not None:
        if isinstance(number, bool) or not isinstance(number, int):
            raise TypeError(f"simulate() takes a number of devices, not {type(number).__name__}")
        if not 0 <= number <= LARGEST:
            raise ValueError(f"simulate() takes a number of devices from 0 to {LARGEST}, got {number}")
    _count, _complaint = number, ""


def current() -> int:
    """Return the current pretended device of this thread; one that was taken away counts as 0."""
    index = _current.index
    return index if index < count() else 0


def set_current(index: int) -> None:
    """Make a pretended device current in this thread; the caller has checked the index."""
    _current.index = index


def name(index: int) -> str:
    """Return the name that every listing shows for a pretended device."""
    return f"Simulated CUDA device {index} (numpy on the CPU, no speed claimed)"


def host_memory() -> tuple[int, int]:
    """Return (free, total) bytes of the host, where the arrays are; (0, 0) where the system does not say."""
    try:
        page = os.sysconf("SC_PAGE_SIZE")
        return os.sysconf("SC_AVPHYS_PAGES") * page, os.sysconf("SC_PHYS_PAGES") * page
    except (AttributeError, ValueError, OSError):
        return 0, 0
