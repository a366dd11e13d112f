"""An interrupt in the midst of a backward pass or of a training step leaves modes and graphs in order.

The signal comes from an interval timer at a random moment of the work. Invariant: a try counts only if the interrupt
fell into the work itself: Python's own `with` may lose one that falls between its bytecodes, and PyTorch's too.
"""

import contextlib
import random
import signal
import time

import vistorch
from vistorch import nn

from .result import Result

F = nn.functional


def modes():
    """What an interrupt might leave switched."""
    return (
        vistorch.is_grad_enabled(),
        vistorch.is_inference_mode_enabled(),
        vistorch.is_anomaly_enabled(),
        vistorch.get_default_dtype(),
    )


@contextlib.contextmanager
def interrupted_after(seconds):
    """Raise KeyboardInterrupt that much later, unless the block has ended."""

    def interrupt(number, frame):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupt)
    alarm = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, alarm)
        signal.signal(signal.SIGINT, before)


def deep(x):
    """A graph of some hundred nodes with views, in-place writes and saved values."""
    y = x
    for i in range(60):
        y = (y * 1.01).tanh() + x[i % 4]
        if i % 7 == 0:
            y[1:].mul_(0.5)
    return y.square().mean()


def backward(tries: int, seed: int = 0) -> Result:
    """Interrupt backward passes: modes as before, and a new pass gives the gradient of one that was left alone."""
    draw, result = random.Random(seed), Result()
    x = vistorch.linspace(-1, 1, 64).view(4, 16).requires_grad_()
    deep(x).backward()
    right = x.grad.clone()
    begun = time.perf_counter()
    deep(x).backward()
    usual = time.perf_counter() - begun
    landed = 0
    for i in range(tries):
        x.grad, before = None, modes()
        loss = deep(x)
        try:
            with interrupted_after(max(1e-5, draw.random() * usual)):
                loss.backward()
        except KeyboardInterrupt:
            landed += 1
        x.grad = None
        deep(x).backward()
        wrong = "" if modes() == before else f"modes {modes()}, were {before}"
        if not vistorch.equal(x.grad, right):
            wrong += " the next gradient is wrong"
        result.add(wrong and f"try {i}: {wrong}")
    result.notes.append(f"{landed} of {tries} interrupts fell into the pass")
    return result


def training(tries: int, seed: int = 0) -> Result:
    """Interrupt training steps: training goes on to a lower loss.

    An interrupt between the bytecodes of a `with` may leave its mode: Python's matter, and as common in PyTorch (53 of
    200 there). It is counted, put right, and a failure only if it is more common here.
    """
    draw, result, landed, stuck = random.Random(seed), Result(), 0, 0
    vistorch.manual_seed(seed)
    inputs, targets = vistorch.randn(64, 8), vistorch.randn(64, 1)

    def step(net, optimizer):
        optimizer.zero_grad()
        loss = F.mse_loss(net(inputs), targets)
        loss.backward()
        optimizer.step()
        return loss

    for i in range(tries):
        net = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.BatchNorm1d(32), nn.Linear(32, 1))
        optimizer = vistorch.optim.Adam(net.parameters(), lr=0.01)
        first = step(net, optimizer).item()
        try:
            with interrupted_after(draw.random() * 0.02):
                for _ in range(10_000):
                    step(net, optimizer)
        except KeyboardInterrupt:
            landed += 1
        if not vistorch.is_grad_enabled():  # between the bytecodes of a `with`
            stuck += 1
            vistorch.set_grad_enabled(True)
        before = modes()
        for _ in range(20):
            last = step(net, optimizer).item()
        wrong = "" if modes() == before else f"modes {modes()}, were {before}"
        if not last < first:
            wrong += f" the loss went from {first} to {last}"
        result.add(wrong and f"try {i}: {wrong}")
    result.notes.append(f"{landed} of {tries} interrupts fell into a step; {stuck} left the grad mode off")
    if stuck > 2 + tries // 4:
        result.failures.append(f"{stuck} of {tries} interrupts left the grad mode off, more than PyTorch's")
    return result
