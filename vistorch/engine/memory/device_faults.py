"""What went wrong on a CUDA device, in PyTorch's words: said where the device was waited for.

Invariant: an error that is not the device's passes as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..base import errors

# After these the driver answers each call of this process with the same error.
LOST = frozenset((700, 702, 710, 714, 715, 716, 717, 718, 719, 720))
GONE = {
    46: "the device is busy or unavailable: another process may hold it alone",
    100: "no device is there any more",
    101: "the device is not there any more",
    802: "the device is not ready",
    999: "the device does not answer: it may have fallen off its bus; `nvidia-smi` says so",
}


def explained(error: BaseException) -> errors.AcceleratorError | None:
    """The error for what cupy raised; None for what is not a device's.

    Args:
        error: what was raised while a device was waited for.
    """
    status = getattr(error, "status", None)
    if not isinstance(status, int) or isinstance(error, MemoryError):
        return None
    words = str(error).partition("\n")[0].rpartition(": ")[2] or str(error)
    said = f"CUDA error: {words}"
    if status in LOST:
        said += (
            "\nCUDA kernel errors might be reported at a later call than the one that caused them, so the line above "
            "may be another; start with CUDA_LAUNCH_BLOCKING=1 to find it. This process cannot use the device any "
            "more: restart it, or the kernel of the notebook. Tensors of the CPU are whole"
        )
    elif status in GONE:
        said += f"\n{GONE[status]}"
    return errors.AcceleratorError(said)


@contextmanager
def waiting() -> Iterator[None]:
    """Say what went wrong on a device that is waited for inside a `with` block."""
    try:
        yield
    except Exception as error:
        said = explained(error)
        if said is None:
            raise
        raise said from error
