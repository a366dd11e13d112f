"""Small trainings that tests watch."""

import numpy as np

import vistorch
from vistorch import nn, optim

F = nn.functional


def blobs(n=60, classes=3, seed=0):
    """Points around three corners, and which corner."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    x = rng.normal(0, 0.5, (n, 4)) + np.eye(classes, 4)[y] * 2
    return vistorch.tensor(x.astype(np.float32)), vistorch.tensor(y)


def small_net(seed=0, classes=3):
    vistorch.manual_seed(seed)
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, classes))


def small_training(steps=20, seed=0, lr=0.1, run=None):
    """Make a net, its optimizer and a loop over batches of 10."""
    net = small_net(seed)
    opt = optim.SGD(net.parameters(), lr=lr, momentum=0.9)
    x, y = blobs()

    def loop(count=steps, at=None):
        losses = []
        for i in range(count):
            part = slice(10 * (i % 6), 10 * (i % 6) + 10)
            opt.zero_grad()
            loss = F.cross_entropy(net(x[part]), y[part])
            loss.backward()
            opt.step()
            losses.append(loss.item())
            if at is not None:
                at(i + 1)
        return losses

    return net, opt, loop


def pictures(n=24, seed=0):
    """Bright squares on dark ground: left, right or nowhere."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    x = rng.normal(0, 0.1, (n, 3, 12, 12)).astype(np.float32)
    x[y == 0, :, 3:9, :5] += 2
    x[y == 1, :, 3:9, 7:] += 2
    return vistorch.tensor(x), vistorch.tensor(y)


def conv_net(seed=0):
    vistorch.manual_seed(seed)
    return nn.Sequential(
        nn.Conv2d(3, 4, 3),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(100, 16),
        nn.Tanh(),
        nn.Linear(16, 3),
    )
