"""What the processes of these tests run: functions that a new process can import."""

import os
import signal
import time

import vistorch
import vistorch.multiprocessing as mp
from vistorch import nn


def answer(inbox, outbox, direct):
    """Write into what comes, report how it looks, and send back something of one's own."""
    direct += 1
    pair = inbox.get()
    row, whole = pair["row"], pair["whole"]
    row.mul_(10)
    outbox.put((row.untyped_storage() == whole.untyped_storage(), row.storage_offset(), whole.stride()))
    leaf = inbox.get()
    outbox.put((type(leaf).__name__, leaf.requires_grad, leaf.is_leaf, leaf.grad is None, leaf.is_shared()))
    mine = vistorch.arange(4.0)
    outbox.put(mine)
    assert inbox.get() == "seen"
    outbox.put(mine.tolist())


def send_and_end(outbox, n):
    for i in range(n):
        outbox.put((i, vistorch.full((3,), float(i)), vistorch.full((1 << 19,), float(i))))


def send_and_hang(pipe):
    pipe.send(vistorch.arange(5.0))
    pipe.recv()


def send_and_be_killed(pipe):
    pipe.send(vistorch.ones(3))
    os.kill(os.getpid(), signal.SIGKILL)


def pass_on(inbox, outbox):
    outbox.put(inbox.get())


def square(x):
    return x * x


def fill(x, value):
    x.fill_(value)
    return os.getpid()


def many(tensors, outbox):
    outbox.put([t.sum().item() for t in tensors])


def on_devices(x, outbox):
    outbox.put((str(x.device), (x + x).tolist()))


# ---- processes that stand and fall together -----------------------------------------------------------------------
def wait():
    """Not one long sleep: a signal that comes just before it would be seen after it."""
    while True:
        time.sleep(0.1)


def number(i, found):
    found[i] = i + 1


def raises(i, started):
    started.release()
    if i == 1:
        raise ValueError("the second one")
    wait()


def exits(i, code):
    os._exit(code)


def killed(i):
    os.kill(os.getpid(), signal.SIGKILL)


def talks_long(i):
    raise ValueError("x" * 100_000)


def pauses(i, started):
    started.release()
    wait()


# ---- Hogwild --------------------------------------------------------------------------------------------------------
def add_ones(i, p, lock, times):
    optimizer = vistorch.optim.SGD([p], lr=1.0)
    for _ in range(times):
        p.grad = -vistorch.ones_like(p)
        with lock:
            optimizer.step()


def learn(i, net, steps):
    vistorch.manual_seed(i)
    optimizer = vistorch.optim.SGD(net.parameters(), lr=0.05)
    for _ in range(steps):
        x = vistorch.randn(16, 3)
        loss = nn.functional.mse_loss(net(x), x.sum(1, keepdim=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


class Doubles(mp.Process):
    def __init__(self, x):
        super().__init__()
        self.x = x

    def run(self):
        self.x.mul_(2)
