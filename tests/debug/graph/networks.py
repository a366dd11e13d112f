"""Small networks and their graphs."""

import vistorch as L
from vistorch import nn
from vistorch.debug.graph import Calls, capture


class Block(nn.Module):
    """Two layers with one activation that is used twice, and a way around them."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.act = nn.Linear(4, 4), nn.Linear(4, 4), nn.Tanh()

    def forward(self, x):
        return x + self.act(self.b(self.act(self.a(x))))


class Net(nn.Module):
    """Two blocks in a container and a head."""

    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(), Block()])
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def run(listening=True, backward=False):
    """A network's loss, and the variables of the session."""
    L.manual_seed(0)
    net, x = Net(), L.randn(3, 4)
    if listening:
        with Calls(forget=True):
            loss = net(x).pow(2).mean()
    else:
        Calls(forget=True)
        loss = net(x).pow(2).mean()
    if backward:
        loss.backward()
    return loss, {"net": net, "x": x, "loss": loss}


def graph(listening=True, backward=False, **more):
    """The record of it."""
    loss, names = run(listening, backward)
    return capture(loss, namespace=names, **more)


def chain(n):
    """A leaf and a scalar n + 1 ops above it."""
    x = L.ones(3, requires_grad=True)
    y = x
    for _ in range(n):
        y = y * 1.01
    return x, y.sum()
