"""Start and stop of NVIDIA's profiler, by cupy; on simulated devices nobody listens and nothing is done.

Invariant: without CUDA every call is refused.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from ..engine.kernels import simulated
from .devices import init

__all__ = ["profile", "start", "stop"]


def start() -> None:
    """Start to collect.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> vistorch.cuda.profiler.start()
        >>> total = vistorch.ones(3, device="cuda").sum()  # this is what a profiler would show
        >>> vistorch.cuda.profiler.stop()
        >>> vistorch.cuda.simulate(None)
    """
    init()
    if not simulated.count():
        import cupy

        cupy.cuda.profiler.start()


def stop() -> None:
    """Stop.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> vistorch.cuda.profiler.start()
        >>> vistorch.cuda.profiler.stop()
        >>> vistorch.cuda.simulate(None)
    """
    init()
    if not simulated.count():
        import cupy

        cupy.cuda.profiler.stop()


@contextmanager
def profile() -> Iterator[None]:
    """Collect inside a `with` block.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> with vistorch.cuda.profiler.profile():
        ...     vistorch.ones(3, device="cuda").sum()
        tensor(3., device='cuda:0')
        >>> vistorch.cuda.simulate(None)
    """
    start()
    try:
        yield
    finally:
        stop()
