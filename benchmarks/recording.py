"""What recording costs: a training step while a trace or a recording listens, beside what others ask for the like.

Summaries are what a trace keeps (names, norms, whether all is finite), full values what a comparison keeps. The rows of
torch hold torch against itself in the same process, so that all ratios are of one run.

Invariant: both sides of a row do the same work and leave the same tensors behind.
"""

from importlib.util import find_spec

from benchmarks import models
from benchmarks.rows import add
from benchmarks.training import images, step_of


def lenet(library, batch):
    """LeNet's training step in one library, by name: rows of torch are asked for in the process of another."""
    import importlib

    lib = importlib.import_module(library)
    lib.manual_seed(0)
    model = models.lenet(lib.nn)
    return step_of(lib, model, lib.optim.SGD(model.parameters(), lr=0.001, momentum=0.9), *images(lib, batch))


def plain(batch, library="vistorch"):
    return lambda lib: lenet(library, batch)


def received(batch, listener):
    """The same step while a listener listens."""

    def prepare(lib):
        step, listen = lenet("vistorch", batch), listener()

        def run():
            with listen():
                step()

        return run

    return prepare


def summaries():
    from vistorch.debug.trace import Trace

    return Trace


def values():
    from vistorch.debug.compare import Record

    return Record


def memory():
    from vistorch.debug.timeline import Timeline

    return Timeline


def breakpoints():
    from contextlib import contextmanager

    from vistorch.debug import Breakpoints

    @contextmanager
    def listen():
        session = Breakpoints()
        session.add("bad or grad.norm > 1e9")
        try:
            yield
        finally:
            session.clear()

    return listen


def anomaly(batch):
    """A step of torch in its anomaly mode."""

    def prepare(lib):
        import warnings

        import torch

        torch.set_num_threads(1)
        step = lenet("torch", batch)

        def run():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                with torch.autograd.detect_anomaly():
                    step()

        return run

    return prepare


def forward(batch):
    """A forward pass of torch."""

    def prepare(lib):
        import torch

        torch.set_num_threads(1)
        torch.manual_seed(0)
        model, x = models.lenet(torch.nn), torch.randn(batch, 3, 32, 32)
        return lambda: model(x)

    return prepare


def logged(batch):
    """The same while TorchLens logs it with all values; there is no such row where it is not installed."""

    def prepare(lib):
        import torch
        import torchlens  # pyright: ignore[reportMissingImports]

        torch.set_num_threads(1)
        torch.manual_seed(0)
        model, x = models.lenet(torch.nn), torch.randn(batch, 3, 32, 32)
        return lambda: torchlens.trace(model, x)

    return prepare


def walk(batch):
    """One step of a stepper forward and back, in the middle of the pass, with its frame."""

    def prepare(lib):
        import vistorch
        from vistorch.debug import Stepper
        from vistorch.debug.steps import Walk

        model = models.lenet(vistorch.nn)
        x, y = images(vistorch, batch)
        stepper = Stepper(vistorch.nn.functional.cross_entropy(model(x), y))
        moves = Walk(stepper)
        moves.to(8)

        def run():
            moves.step()
            assert stepper.frame is not None
            moves.back()

        return run

    return prepare


def record(batch):
    """The record of a whole walk, as a page gets it."""

    def prepare(lib):
        import vistorch
        from vistorch.debug import Stepper
        from vistorch.debug.steps import record
        from vistorch.widgets._frame import wire

        model = models.lenet(vistorch.nn)
        x, y = images(vistorch, batch)
        loss = vistorch.nn.functional.cross_entropy(model(x), y)
        return lambda: wire.pack("steps", record(Stepper(loss)).wire())

    return prepare


for batch in (4, 128):
    base = plain(batch)
    add(
        "recording",
        f"LeNet step, batch {batch}, summaries",
        received(batch, summaries),
        base=base,
        budget=1.3,
    )
    add(
        "recording", f"LeNet step, batch {batch}, full values", received(batch, values), base=base, budget=3.0
    )
    add("recording", f"LeNet step, batch {batch}, memory", received(batch, memory), base=base)
    add("recording", f"LeNet step, batch {batch}, a breakpoint", received(batch, breakpoints), base=base)
    add(
        "recording",
        f"LeNet step, batch {batch}, torch's detect_anomaly",
        anomaly(batch),
        base=plain(batch, "torch"),
    )
    if find_spec("torchlens") is not None:
        add("recording", f"LeNet forward, batch {batch}, TorchLens", logged(batch), base=forward(batch))
    add("recording", f"one step of a walk and back, batch {batch}", walk(batch), base=base)
    add("recording", f"record of a walk, batch {batch}", record(batch), base=base)
