"""Hundreds of displays and watched runs in one process: memory, threads and files do not grow with their number."""

import gc
import os
import threading

import vistorch
from vistorch import nn, vt
from vistorch.widgets._frame.live import Live

from .result import Result


def resident() -> float:
    """Megabytes of memory this process holds."""
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def tensors() -> int:
    """How many tensors are alive."""
    gc.collect()
    return sum(isinstance(one, vistorch.Tensor) for one in gc.get_objects())


def show_all(net: nn.Module, x: vistorch.Tensor) -> None:
    """One display of each kind."""
    loss = net(x).square().mean()
    vt.show(x)
    vt.show(net)
    vt.vars(namespace={"x": x, "loss": loss})
    vt.graph(loss)
    vt.memory(loss)
    vt.step(loss, live="off")


def displays(tries: int, seed: int = 0) -> Result:
    """Show every kind over and over: memory after a tenth and at the end, tensors alive, threads, files."""
    result = Result()
    net, x = nn.Sequential(nn.Linear(16, 32), nn.Tanh(), nn.Linear(32, 4)), vistorch.randn(8, 16)
    show_all(net, x)
    rounds = max(2, tries // 6)
    for _ in range(max(1, rounds // 10)):
        show_all(net, x)
    before = resident(), tensors(), threading.active_count(), len(os.listdir("/proc/self/fd"))
    for _ in range(rounds):
        show_all(net, x)
        for _ in range(6):
            result.add("")
    after = resident(), tensors(), threading.active_count(), len(os.listdir("/proc/self/fd"))
    result.notes.append(
        f"{before[0]:.0f} -> {after[0]:.0f} MB, tensors {before[1]} -> {after[1]}, threads {before[2]} -> {after[2]}"
    )
    if after[0] > before[0] + 16 + 0.01 * tries:
        result.failures.append(f"memory grew from {before[0]:.0f} to {after[0]:.0f} MB")
    if after[1] > before[1] + 8:
        result.failures.append(f"tensors alive: {before[1]}, then {after[1]}")
    if after[2:] > (before[2], before[3] + 4):
        result.failures.append(f"threads and files: {before[2:]}, then {after[2:]}")
    for _, view in list(Live._open.values()):
        view.close()
    return result


def runs(tries: int, seed: int = 0) -> Result:
    """Watch one short training after the other."""
    result, before = Result(), None
    for i in range(tries):
        net = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
        optimizer = vistorch.optim.Adam(net.parameters())
        x, y = vistorch.randn(32, 16), vistorch.randint(4, (32,))
        with vt.watch(net, optimizer):
            for _ in range(5):
                optimizer.zero_grad()
                nn.functional.cross_entropy(net(x), y).backward()
                optimizer.step()
        result.add("")
        if i == tries // 10:
            before = resident(), threading.active_count(), len(os.listdir("/proc/self/fd"))
    after = resident(), threading.active_count(), len(os.listdir("/proc/self/fd"))
    result.notes.append(f"{before[0]:.0f} -> {after[0]:.0f} MB")
    if after[0] > before[0] + 16 + 0.1 * tries:
        result.failures.append(f"memory grew from {before[0]:.0f} to {after[0]:.0f} MB")
    if after[1:] > (before[1], before[2] + 4):
        result.failures.append(f"threads and files: {before[1:]}, then {after[1:]}")
    return result
