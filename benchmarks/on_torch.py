"""What it costs to look at a program on real PyTorch: `python -m benchmarks.on_torch`, with `--quick` in a minute.

On four networks the lines of a graph and a trace are set beside torch's own anomaly mode, and the forward pass alone
beside TorchLens, where that is installed; watching beside the plain loop at two sizes of batch.
Invariant: what is compared runs in turns in one process, and a ratio is the median of the turns'.
"""

import contextlib
import os
import statistics
import sys
import time
from importlib.util import find_spec

import torch
from torch import nn
from torch.nn import functional as F


class Residual(nn.Module):
    """Two convolutions and a way around them."""

    def __init__(self, narrow, wide, stride):
        super().__init__()
        self.first, self.second = (
            nn.Conv2d(narrow, wide, 3, stride, 1, bias=False),
            nn.Conv2d(wide, wide, 3, 1, 1, bias=False),
        )
        self.norms = nn.ModuleList([nn.BatchNorm2d(wide), nn.BatchNorm2d(wide)])
        same = stride == 1 and narrow == wide
        self.around = nn.Identity() if same else nn.Conv2d(narrow, wide, 1, stride, bias=False)

    def forward(self, x):
        """Scores, or what the next layer is given."""
        h = F.relu(self.norms[0](self.first(x)))
        return F.relu(self.norms[1](self.second(h)) + self.around(x))


class Block(nn.Module):
    """Attention and a feed-forward part."""

    def __init__(self, width=64, heads=4):
        super().__init__()
        self.heads, self.norms = heads, nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.three, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        """Scores, or what the next layer is given."""
        n, t, d = x.shape
        parts = self.three(self.norms[0](x)).split(d, -1)
        q, k, v = (part.view(n, t, self.heads, -1).transpose(1, 2) for part in parts)
        seen = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).reshape(n, t, d))
        return x + self.wide(self.norms[1](x))


class Gpt(nn.Module):
    """Two blocks, with the embedding as the last layer too."""

    def __init__(self, words=64, width=64, length=32):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
        self.blocks, self.head = nn.Sequential(Block(), Block()), nn.Linear(width, words, bias=False)
        self.head.weight = self.words.weight

    def forward(self, x):
        """Scores, or what the next layer is given."""
        return self.head(self.blocks(self.words(x) + self.places(torch.arange(x.shape[1]))))


class Last(nn.Module):
    """Two layers of LSTM, of which the last step is read."""

    def __init__(self):
        super().__init__()
        self.lstm, self.head = nn.LSTM(16, 32, 2, batch_first=True), nn.Linear(32, 10)

    def forward(self, x):
        """Scores, or what the next layer is given."""
        return self.head(self.lstm(x)[0][:, -1])


def lenet():
    """LeNet for 28 by 28."""
    first = nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2)
    second = nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()
    third = nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10)
    return nn.Sequential(*first, *second, *third)


def resnet18(width=32):
    """ResNet-18, narrow."""
    layers = [
        nn.Conv2d(3, width, 7, 2, 3, bias=False),
        nn.BatchNorm2d(width),
        nn.ReLU(),
        nn.MaxPool2d(3, 2, 1),
    ]
    before = width
    for i in range(4):
        wide = width << i
        layers += [Residual(before, wide, 1 if i == 0 else 2), Residual(wide, wide, 1)]
        before = wide
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, 10))


def nets():
    """The four networks, with a batch of each and how many steps are a turn."""
    labels = torch.randint(0, 10, (16,))
    return {
        "LeNet": (lenet(), torch.randn(16, 1, 28, 28), labels, 40),
        "ResNet-18": (resnet18(), torch.randn(8, 3, 64, 64), labels[:8], 6),
        "GPT": (Gpt(), torch.randint(0, 64, (4, 32)), torch.randint(0, 64, (128,)), 40),
        "LSTM": (Last(), torch.randn(8, 20, 16), labels[:8], 80),
    }


def in_turns(ways, step, steps, turns=7):
    """The time of each way as a multiple of the first, the median of some turns; and the first's in milliseconds."""
    taken = {name: [] for name in ways}
    for _ in range(turns):
        for name, context in ways.items():
            with context():
                for _ in range(2):
                    step()
                begun = time.process_time()
                for _ in range(steps):
                    step()
                taken[name].append(time.process_time() - begun)
    plain = next(iter(taken.values()))
    ratios = {
        name: statistics.median(a / b for a, b in zip(some, plain, strict=True))
        for name, some in taken.items()
    }
    return ratios, statistics.median(plain) / steps * 1000


def logged(net, x, turns):
    """The time of a forward pass that TorchLens logs as a multiple of the plain one, and the milliseconds of that."""
    import torchlens  # pyright: ignore[reportMissingImports]

    plain, taken = [], []
    for _ in range(turns):
        begun = time.process_time()
        for _ in range(10):
            net(x)
        middle = time.process_time()
        torchlens.trace(net, x)
        plain.append((middle - begun) / 10)
        taken.append(time.process_time() - middle)
    ratio = statistics.median(a / b for a, b in zip(taken, plain, strict=True))
    return ratio, statistics.median(plain) * 1000


def main(quick=False):
    """Print a line for each network and each size of batch.

    Args:
        quick: fewer turns.
    """
    from vistorch.debug.source import named
    from vistorch.debug.watch import watch
    from vistorch.torch_source.notes import Noting

    torch.set_num_threads(1)
    torch.manual_seed(0)
    turns = 3 if quick else 7
    load = " ".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"torch {torch.__version__}, one thread, load {load}, the median of {turns} turns")
    lens = find_spec("torchlens") is not None
    if not lens:
        print("TorchLens is not installed: its column is left out")
    for name, (net, x, y, steps) in nets().items():

        def step(net=net, x=x, y=y):
            out = net(x)
            net.zero_grad()
            F.cross_entropy(out.reshape(-1, out.shape[-1]), y).backward()

        ways = {
            "plain": contextlib.nullcontext,
            "lines": Noting,
            "detect_anomaly": lambda: torch.autograd.set_detect_anomaly(True),
            "trace": lambda: named("torch").tracer(),
        }
        ratios, took = in_turns(ways, step, steps, turns)
        said = ", ".join(f"{way} {ratio:.2f}x" for way, ratio in ratios.items() if way != "plain")
        print(f"{name:10} {took:6.2f} ms  {said}", flush=True)
        if lens:
            ratio, took = logged(net, x, turns)
            print(f"{'':10} {took:6.2f} ms  forward alone: TorchLens {ratio:.1f}x", flush=True)
    for batch in (128, 4):
        net, x, y = lenet(), torch.randn(batch, 1, 28, 28), torch.randint(0, 10, (batch,))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)

        def train(net=net, optimizer=optimizer, x=x, y=y):
            optimizer.zero_grad()
            F.cross_entropy(net(x), y).backward()
            optimizer.step()

        ways = {"plain": contextlib.nullcontext, "watch": lambda net=net, o=optimizer: watch(net, o)}
        ratios, took = in_turns(ways, train, 3200 // (batch + 12), turns)
        print(f"LeNet, batch {batch:3}  {took:6.2f} ms  watch {ratios['watch']:.3f}x", flush=True)


if __name__ == "__main__":
    import warnings

    warnings.filterwarnings("ignore", message="Anomaly Detection")
    main("--quick" in sys.argv[1:])
