"""vistorch on a real CUDA device against torch there, or against vistorch on the CPU where torch has no CUDA.

Rows: an eager call of each; `_captured` rows, a step that each library replays as a CUDA graph, beside torch's eager
step too; the share of the measured copy rate that rows bound by memory reach; and `_core` rows, numpy on one core.

Run as `python -m benchmarks.gpu`. The rest of the benchmarks measures the CPU. Times are wall time of a batch of calls
between two synchronisations; the libraries take turns, and a row's figure is the median of the paired ratios. A row
that fails says why, and the others run. `--rows NAME...` takes some, `--seconds S` is what a row may take.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import vistorch
from benchmarks import models

CALLS, ROUNDS, SECONDS = 50, 9, 12.0
Make = Callable[..., Any]


def add(lib: Any, make: Make) -> Callable:
    """Two small tensors: what a launch costs."""
    x, y = make(1000), make(1000)
    return lambda: x + y


def copy(lib: Any, make: Make) -> Callable:
    """The measured copy rate, which rows that only move memory are held against: 2^28 floats."""
    x = make(1 << 14, 1 << 14)
    return lambda: x.clone()


def large_add(lib: Any, make: Make) -> Callable:
    """Memory bandwidth: three times 2^28 floats."""
    x, y = make(1 << 14, 1 << 14), make(1 << 14, 1 << 14)
    return lambda: x + y


def chain(lib: Any, make: Make) -> Callable:
    """A chain of pointwise operations over 2^28 floats."""
    x = make(1 << 14, 1 << 14)
    return lambda: ((x * 2 + 1).sigmoid() - x).tanh()


def product(lib: Any, make: Make) -> Callable:
    """A product of matrices of 8192."""
    x, y = make(8192, 8192), make(8192, 8192)
    return lambda: x @ y


def product_tf32(lib: Any, make: Make) -> Callable:
    """The same in TF32, which the call switches on and off again."""
    x, y = make(8192, 8192), make(8192, 8192)
    switch = lib.backends.cuda.matmul

    def call() -> Any:
        switch.allow_tf32 = True
        try:
            return x @ y
        finally:
            switch.allow_tf32 = False

    return call


def product_bfloat16(lib: Any, make: Make) -> Callable:
    """The same in bfloat16."""
    x, y = make(8192, 8192).to(lib.bfloat16), make(8192, 8192).to(lib.bfloat16)
    return lambda: x @ y


def convolution(lib: Any, make: Make) -> Callable:
    """A 3x3 convolution of 64 channels over 32 images of 56x56."""
    x, w = make(32, 64, 56, 56), make(64, 64, 3, 3)
    return lambda: lib.nn.functional.conv2d(x, w, padding=1)


def reduction(lib: Any, make: Make) -> Callable:
    """A sum over the rows of 2^26 floats."""
    x = make(8192, 8192)
    return lambda: x.sum(0)


def softmax(lib: Any, make: Make) -> Callable:
    """Forward and backward of rows of 1024."""
    x = make(65536, 1024).requires_grad_()
    g = make(65536, 1024)

    def call() -> None:
        x.grad = None
        x.softmax(1).backward(g)

    return call


def layer_norm(lib: Any, make: Make) -> Callable:
    """Forward and backward of rows of 1024."""
    x, w, b = (make(*shape).requires_grad_() for shape in ((65536, 1024), (1024,), (1024,)))
    g = make(65536, 1024)

    def call() -> None:
        x.grad = w.grad = b.grad = None
        lib.nn.functional.layer_norm(x, x.shape[1:], w, b).backward(g)

    return call


def max_pool(lib: Any, make: Make) -> Callable:
    """Forward and backward of 3x3 windows, two apart."""
    x = make(64, 64, 112, 112).requires_grad_()

    def call() -> None:
        x.grad = None
        lib.nn.functional.max_pool2d(x, 3, 2, 1).sum().backward()

    return call


def attention(lib: Any, make: Make) -> Callable:
    """Forward and backward of 8 heads of 1024 places, causal."""
    q, k, v = (make(8, 8, 1024, 64).requires_grad_() for _ in range(3))

    def call() -> None:
        q.grad = k.grad = v.grad = None
        lib.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True).sum().backward()

    return call


def _replayed(lib: Any, step: Callable) -> Callable:
    """A step as the library replays it: vistorch's compiled step, torch's own graph of it."""
    if lib is vistorch:
        call = vistorch.compile(step, mode="reduce-overhead")
        for _ in range(6):
            call()
        return call
    side = lib.cuda.Stream()
    side.wait_stream(lib.cuda.current_stream())
    with lib.cuda.stream(side):
        for _ in range(3):
            step()
    lib.cuda.current_stream().wait_stream(side)
    graph = lib.cuda.CUDAGraph()
    with lib.cuda.graph(graph):
        step()
    return graph.replay


def adam(lib: Any, make: Make) -> Callable:
    """A step over 10^8 parameters in 100 tensors."""
    params = [lib.nn.Parameter(make(1000, 1000)) for _ in range(100)]
    for p in params:
        p.grad = make(1000, 1000)
    return lib.optim.Adam(params, lr=1e-4).step


def _training(
    lib: Any, make: Make, model: Any, optimizer: Any, inputs: Any, targets: Any, captured: bool = False
) -> Callable:
    model = model.to(make(1).device)
    step_of = optimizer(model.parameters())
    loss_of = lib.nn.CrossEntropyLoss()

    def step(*_: Any) -> None:
        step_of.zero_grad()
        out = model(inputs)
        loss_of(out.reshape(-1, out.shape[-1]), targets).backward()
        step_of.step()

    if not captured:
        return step
    if lib is vistorch:  # a step without tensors among its arguments is captured too if it is given one
        call = _replayed(lib, lambda *_: step())
        return lambda: call(inputs)
    return _replayed(lib, step)


def _images(batch: int, build: Callable, captured: bool = False) -> Callable:
    def prepare(lib: Any, make: Make) -> Callable:
        x = make(batch, 3, 32, 32)
        y = lib.randint(0, 10, (batch,)).to(x.device)

        def sgd(params: Any) -> Any:
            return lib.optim.SGD(params, lr=0.01, momentum=0.9)

        return _training(lib, make, build(lib.nn), sgd, x, y, captured)

    return prepare


def _texts(captured: bool) -> Callable:
    """A training step of a small language model, 64 texts of 64 tokens."""

    def prepare(lib: Any, make: Make) -> Callable:
        tokens = lib.randint(0, 256, (64, 64)).to(make(1).device)
        # torch's graph needs its counts on the device; vistorch counts between the pieces of its own
        more = {"capturable": True} if captured and lib is not vistorch else {}
        return _training(
            lib,
            make,
            models.gpt(lib),
            lambda p: lib.optim.AdamW(p, lr=3e-4, **more),
            tokens,
            tokens.reshape(-1),
            captured,
        )

    return prepare


ROWS: dict[str, Callable] = {
    row.__name__: row
    for row in (
        *(add, copy, large_add, chain, product, product_tf32, product_bfloat16, convolution, reduction),
        *(softmax, layer_norm, max_pool, attention, adam),
    )
} | {
    "lenet_4": _images(4, models.lenet),
    "lenet_1024": _images(1024, models.lenet),
    "resnet18_256": _images(256, models.resnet18),
    "gpt_64": _texts(False),
}
# Ours is replayed; theirs is a graph of their own, and then their eager step.
CAPTURED: dict[str, tuple[Callable, str]] = {
    "lenet_4_captured": (_images(4, models.lenet, True), "lenet_4"),
    "lenet_1024_captured": (_images(1024, models.lenet, True), "lenet_1024"),
    "resnet18_256_captured": (_images(256, models.resnet18, True), "resnet18_256"),
    "gpt_64_captured": (_texts(True), "gpt_64"),
}
# Bytes that a call must read and write: rows bound by memory, held against the measured copy rate.
MOVED = {
    "large_add": 3 << 30,
    "reduction": 1 << 28,
    "softmax": 5 << 28,
    "layer_norm": 6 << 28,
    "adam": 7 * 4 * 10**8,
}
# Ours on the device against numpy on one core: a smaller product, counted up by its work, and a convolution.
CORE = ("product_core", "convolution_core")


def maker(lib: Any, device: str) -> Make:
    """A function that makes a random float32 tensor there."""
    return lambda *shape: lib.rand(*shape, device=device)


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


def copy_rate(lib: Any, device: str, wait: Callable, rounds: int = 5) -> float:
    """Bytes a second that a clone of 2^28 floats reads and writes."""
    call = copy(lib, maker(lib, device))
    seconds(call, wait, 2)
    return (2 << 30) / min(seconds(call, wait, 5) for _ in range(rounds))


def measure_captured(name: str, calls: int, rounds: int, limit: float) -> str:
    """The line of a step that is replayed."""
    lib, device, wait = other()
    row, eager = CAPTURED[name]
    mine = row(vistorch, maker(vistorch, "cuda"))
    theirs = [ROWS[eager](lib, maker(lib, device))]
    if lib is not vistorch:
        theirs.insert(0, row(lib, maker(lib, device)))
    waits = [vistorch.cuda.synchronize, *([wait] * len(theirs))]
    runs = list(zip([mine, *theirs], waits, strict=True))
    once = sum(seconds(run, pause, 2) for run, pause in runs)
    calls = max(1, min(calls, int(limit / max(once, 1e-9) / rounds)))
    rows = [[seconds(run, pause, calls) for run, pause in runs] for _ in range(rounds)]
    names = ["graph", "eager"][-len(theirs) :]
    own = statistics.median(row[0] for row in rows) * 1e6
    said = [
        f"{lib.__name__} {label} {statistics.median(row[i + 1] for row in rows) * 1e6:.1f} us "
        f"ratio {statistics.median(row[0] / row[i + 1] for row in rows):.2f}"
        for i, label in enumerate(names)
    ]
    return f"{name:21} vistorch {own:11.1f} us   {'   '.join(said)}"


def measure_core(name: str, calls: int, rounds: int, limit: float) -> str:
    """The line of the device against numpy on one core."""
    size, factor = (2048, 64) if name == "product_core" else (1, 1)  # 8192^3 is 64 times 2048^3
    row = ROWS[name.removesuffix("_core")]
    mine = row(vistorch, maker(vistorch, "cuda"))
    if name == "product_core":
        x = vistorch.rand(size, size)

        def core() -> Any:
            return x @ x
    else:
        core = row(vistorch, maker(vistorch, "cpu"))
    before = vistorch.get_num_threads()
    vistorch.set_num_threads(1)
    try:
        slow = min(seconds(core, lambda: None, 1) for _ in range(3)) * factor
    finally:
        vistorch.set_num_threads(before)
    seconds(mine, vistorch.cuda.synchronize, 2)
    fast = min(seconds(mine, vistorch.cuda.synchronize, 5) for _ in range(rounds))
    return (
        f"{name:21} vistorch {fast * 1e6:11.1f} us   one core {slow * 1e6:11.1f} us   {slow / fast:.0f} times"
    )


def measure(name: str, calls: int, rounds: int, limit: float, rate: float = 0.0) -> str:
    """The line of one row; `rate` is the measured copy rate, for rows that memory bounds."""
    if name in CAPTURED:
        return measure_captured(name, calls, rounds, limit)
    if name in CORE:
        return measure_core(name, calls, rounds, limit)
    lib, device, wait = other()
    row = ROWS[name]
    mine = row(vistorch, maker(vistorch, "cuda"))
    theirs = row(lib, maker(lib, device))
    seconds(mine, vistorch.cuda.synchronize, 2)  # kernels are compiled at their first call
    seconds(theirs, wait, 2)
    once = seconds(mine, vistorch.cuda.synchronize, 1) + seconds(theirs, wait, 1)
    calls = max(1, min(calls, int(limit / max(once, 1e-9) / rounds)))
    pairs = [
        (seconds(mine, vistorch.cuda.synchronize, calls), seconds(theirs, wait, calls)) for _ in range(rounds)
    ]
    ratio = statistics.median(a / b for a, b in pairs)
    a, b = (statistics.median(times) * 1e6 for times in zip(*pairs, strict=True))
    share = ""
    if name in MOVED and rate:
        share = f"   {MOVED[name] / (a / 1e6) / rate:.0%} of the copy rate"
    return f"{name:21} vistorch {a:11.1f} us   {lib.__name__} {b:11.1f} us   ratio {ratio:.2f}{share}"


def main(
    calls: int = CALLS, rounds: int = ROUNDS, rows: list[str] | None = None, limit: float = SECONDS
) -> int:
    """Print the table; the status says whether every row ran."""
    found = vistorch.cuda.diagnose()
    if not found.ok or "simulated" in found.reason:
        print(f"not run: {found.reason}")
        return 1
    lib, device, _ = other()
    print(f"{vistorch.cuda.get_device_name()}: vistorch there, {lib.__name__} on {device}", flush=True)
    failed, rate = 0, 0.0
    chosen = rows or [*ROWS, *CAPTURED, *CORE]
    if any(name in MOVED for name in chosen):
        try:
            rate = copy_rate(vistorch, "cuda", vistorch.cuda.synchronize)
            print(f"{'copy rate':21} {rate / 1e9:.0f} GB/s", flush=True)
        except Exception as error:
            print(f"copy rate: {type(error).__name__}: {error}"[:160], flush=True)
    for name in chosen:
        try:
            print(measure(name, calls, rounds, limit, rate), flush=True)
        except Exception as error:
            failed = 1
            said = str(error).partition("\n")[0]
            print(f"{name:21} failed: {type(error).__name__}: {said[:160]}", flush=True)
    return failed


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", nargs="+", choices=[*ROWS, *CAPTURED, *CORE])
    parser.add_argument("--seconds", type=float, default=SECONDS)
    given = parser.parse_args()
    sys.exit(main(rows=given.rows, limit=given.seconds))
