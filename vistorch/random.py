"""Random state, under PyTorch's names."""

from .engine.random.generators import (
    Generator,
    default_generator,
    fork_rng,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)


def thread_safe_generator() -> Generator | None:
    """The generator of a loader's worker that is a thread: always None, because workers here are processes.

    Example:
        >>> import vistorch
        >>> vistorch.random.thread_safe_generator() is None
        True
    """
    return None


__all__ = [
    "Generator",
    "default_generator",
    "fork_rng",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
    "thread_safe_generator",
]
