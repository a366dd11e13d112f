"""vistorch on a real CUDA device against torch there, or against vistorch on the CPU where torch has no CUDA.

Run as `python -m benchmarks.gpu`. The rest of the benchmarks measures the CPU. Times are wall time of a batch of calls
between two synchronisations; the libraries take turns, and a row's figure is the median of the paired ratios.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import vistorch

CALLS, ROUNDS = 50, 15


def add(lib: Any, make: Callable) -> Callable:
    """Two small tensors: what a launch costs."""
    x, y = make(1000), make(1000)
    return lambda: x + y


def large_add(lib: Any, make: Callable) -> Callable:
    """Memory bandwidth."""
    x, y = make(4096, 4096), make(4096, 4096)
    return lambda: x + y


def matmul(lib: Any, make: Callable) -> Callable:
    """A product of matrices."""
    x, y = make(2048, 2048), make(2048, 2048)
    return lambda: x @ y


def reduction(lib: Any, make: Callable) -> Callable:
    """A sum over the rows."""
    x = make(4096, 4096)
    return lambda: x.sum(0)


def layers(lib: Any, make: Callable) -> Callable:
    """Forward and backward of two layers."""
    x, first, second = make(256, 512), make(512, 512).requires_grad_(), make(512, 10).requires_grad_()

    def step() -> None:
        first.grad = second.grad = None
        ((x @ first).tanh() @ second).sum().backward()

    return step


ROWS = (add, large_add, matmul, reduction, layers)


def maker(lib: Any, device: str) -> Callable:
    """A function that makes a random float32 tensor there."""
    return lambda *shape: lib.rand(*shape).to(device)


def seconds(call: Callable, wait: Callable, calls: int) -> float:
    """Time of one call."""
    wait()
    start = time.perf_counter()
    for _ in range(calls):
        call()
    wait()
    return (time.perf_counter() - start) / calls


def other() -> tuple[Any, str, Callable]:
    """What to compare with."""
    try:
        import torch
    except ImportError:
        return vistorch, "cpu", lambda: None
    return (
        (torch, "cuda", torch.cuda.synchronize)
        if torch.cuda.is_available()
        else (vistorch, "cpu", lambda: None)
    )


def main(calls: int = CALLS, rounds: int = ROUNDS) -> int:
    """Print the table."""
    found = vistorch.cuda.diagnose()
    if not found.ok or "simulated" in found.reason:
        print(f"not run: {found.reason}")
        return 1
    lib, device, wait = other()
    print(f"{vistorch.cuda.get_device_name()}: vistorch there, {lib.__name__} on {device}")
    for row in ROWS:
        mine = row(vistorch, maker(vistorch, "cuda"))
        theirs = row(lib, maker(lib, device))
        seconds(mine, vistorch.cuda.synchronize, 3)  # kernels are compiled at their first call
        seconds(theirs, wait, 3)
        pairs = [
            (seconds(mine, vistorch.cuda.synchronize, calls), seconds(theirs, wait, calls))
            for _ in range(rounds)
        ]
        ratio = statistics.median(a / b for a, b in pairs)
        a, b = (statistics.median(times) * 1e6 for times in zip(*pairs, strict=True))
        print(f"{row.__name__:12} vistorch {a:9.1f} us   {lib.__name__} {b:9.1f} us   ratio {ratio:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
