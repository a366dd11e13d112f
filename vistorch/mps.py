"""Apple's GPUs: there are none here.

Invariant: a program that asks whether there is one is told no; what needs one says so in one sentence.
"""

from .compat.said import unbuilt

globals().update(
    unbuilt(
        "vistorch.mps",
        "vistorch has CPU and CUDA devices.",
        "compile_shader current_allocated_memory driver_allocated_memory empty_cache get_rng_state manual_seed "
        "profiler recommended_max_memory seed set_per_process_memory_fraction set_rng_state synchronize",
        "Event",
    )
)


def is_available() -> bool:
    """False.

    Example:
        >>> import vistorch
        >>> vistorch.mps.is_available()
        False
    """
    return False


def device_count() -> int:
    """0.

    Example:
        >>> import vistorch
        >>> vistorch.mps.device_count()
        0
    """
    return 0
