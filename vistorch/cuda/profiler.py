"""Start and stop of NVIDIA's profiler, by cupy; on simulated devices nobody listens and nothing is done.

Invariant: without CUDA every call is refused.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from ..engine.kernels import simulated
from .devices import init

__all__ = ["profile", "start", "stop"]


def start() -> None:
    """Start to collect."""
    init()
    if not simulated.count():
        import cupy

        cupy.cuda.profiler.start()


def stop() -> None:
    """Stop."""
    init()
    if not simulated.count():
        import cupy

        cupy.cuda.profiler.stop()


@contextmanager
def profile() -> Iterator[None]:
    """Collect inside a `with` block."""
    start()
    try:
        yield
    finally:
        stop()
