"""Intel's GPUs: there are none here.

Invariant: a program that asks whether there is one is told no; what needs one says so in one sentence.
"""

from .compat.said import unbuilt

globals().update(
    unbuilt(
        "vistorch.xpu",
        "vistorch has CPU and CUDA devices.",
        "current_device current_stream device empty_cache get_device_name get_device_properties init manual_seed "
        "max_memory_allocated memory_allocated memory_reserved set_device stream synchronize",
        "Event Stream",
    )
)


def is_available() -> bool:
    """False.

    Example:
        >>> import vistorch
        >>> vistorch.xpu.is_available()
        False
    """
    return False


def is_initialized() -> bool:
    """False.

    Example:
        >>> import vistorch
        >>> vistorch.xpu.is_initialized()
        False
    """
    return False


def device_count() -> int:
    """0.

    Example:
        >>> import vistorch
        >>> vistorch.xpu.device_count()
        0
    """
    return 0
