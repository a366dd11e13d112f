"""Healthy trainings of many kinds, made by a generator: none of their layers is to be accused of anything.

Every program learns: its loss at the end is well below its loss at the beginning (`run` checks). What differs is size,
kind of layer, initialisation, optimizer, rate, loss, units of the targets, and what looks odd and is not: biases and
branches that begin at 0, Adam's first steps, targets in thousands, a warm-up, a decayed rate, a training that is done.
"""

from __future__ import annotations

import numpy as np

import vistorch
from vistorch import nn, optim
from vistorch.debug.watch import watch

F = nn.functional
STEPS = 240


def _numbers(seed, n=256, width=8, classes=4):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    x = rng.normal(0, 1, (n, width)) + 2.5 * rng.normal(0, 1, (classes, width))[y]
    return vistorch.tensor(x.astype(np.float32)), vistorch.tensor(y)


def _targets(seed, scale, n=256, width=8):
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 1, (n, width)).astype(np.float32)
    t = np.tanh(x @ rng.normal(0, 1, (width, 3))) @ rng.normal(0, 1, (3, 1)) * scale
    return vistorch.tensor(x), vistorch.tensor(t.astype(np.float32))


def _squares(seed, n=128):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    x = rng.normal(0, 0.2, (n, 1, 12, 12)).astype(np.float32)
    for i, c in enumerate(y):
        x[i, 0, 3:9, 4 * c : 4 * c + 4] += 1.5
    return vistorch.tensor(x), vistorch.tensor(y)


class Residual(nn.Module):
    """A branch whose last layer begins at 0."""

    def __init__(self, width):
        super().__init__()
        self.a, self.b = nn.Linear(width, width), nn.Linear(width, width)
        nn.init.zeros_(self.b.weight)
        nn.init.zeros_(self.b.bias)

    def forward(self, x):
        return x + self.b(F.relu(self.a(x)))


class Last(nn.Module):
    """The last output of a recurrent layer."""

    def __init__(self, kind, width, classes):
        super().__init__()
        self.rnn, self.head = kind(1, width, batch_first=True), nn.Linear(width, classes)

    def forward(self, x):
        return self.head(self.rnn(x[:, :, None])[0][:, -1])


def _mlp(width=16, depth=1, act=nn.ReLU, out=4, norm=None, into=8):
    parts = []
    for _ in range(depth):
        parts += [nn.Linear(into, width), *([norm(width)] if norm else []), act()]
        into = width
    return nn.Sequential(*parts, nn.Linear(into, out))


def _zero_bias(net):
    for m in net.modules():
        if isinstance(m, nn.Linear):
            nn.init.zeros_(m.bias)
    return net


def _conv():
    return nn.Sequential(
        nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(200, 3)
    )


def _sgd(lr, **more):
    return lambda ps: optim.SGD(ps, lr=lr, **more)


def _adam(lr, **more):
    return lambda ps: optim.Adam(ps, lr=lr, **more)


def programs():
    """(name, data, net, optimizer, loss, scheduler or None) of each program; called one by one."""
    classes, ce = _numbers, F.cross_entropy

    def cells():
        for lr in (0.01, 0.1, 0.5):
            yield f"mlp sgd {lr}", classes, _mlp, _sgd(lr), ce, None
        for lr in (1e-3, 1e-2):
            yield f"mlp adam {lr}", classes, _mlp, _adam(lr), ce, None
        yield "tiny net, adam 0.05", classes, lambda: _mlp(4), _adam(0.05), ce, None
        yield "linear, sgd 0.5", classes, lambda: nn.Linear(8, 4), _sgd(0.5), ce, None
        yield "linear, sgd 1e-3", classes, lambda: nn.Linear(8, 4), _sgd(1e-3), ce, None
        yield "zero biases", classes, lambda: _zero_bias(_mlp(32)), _adam(3e-3), ce, None
        yield (
            "zero branch",
            classes,
            lambda: nn.Sequential(nn.Linear(8, 16), Residual(16), nn.Linear(16, 4)),
            _adam(3e-3),
            ce,
            None,
        )
        yield "zero head", classes, lambda: _zeroed(_mlp(16)), _sgd(0.1, momentum=0.9), ce, None
        yield (
            "all linear at zero",
            classes,
            lambda: _zeroed(nn.Sequential(nn.Linear(8, 4))),
            _sgd(0.1),
            ce,
            None,
        )
        yield "momentum", classes, lambda: _mlp(32, 2), _sgd(0.05, momentum=0.9, nesterov=True), ce, None
        yield "weight decay", classes, _mlp, lambda ps: optim.AdamW(ps, lr=5e-3, weight_decay=0.1), ce, None
        yield "rmsprop", classes, _mlp, lambda ps: optim.RMSprop(ps, lr=2e-3), ce, None
        yield "adagrad", classes, _mlp, lambda ps: optim.Adagrad(ps, lr=0.05), ce, None
        yield "adadelta", classes, _mlp, lambda ps: optim.Adadelta(ps, lr=1.0), ce, None
        yield "deep tanh", classes, lambda: _mlp(16, 4, nn.Tanh), _adam(2e-3), ce, None
        yield (
            "gelu and layer norm",
            classes,
            lambda: _mlp(24, 2, nn.GELU, norm=nn.LayerNorm),
            _adam(3e-3),
            ce,
            None,
        )
        yield "batch norm", classes, lambda: _mlp(24, 2, norm=nn.BatchNorm1d), _sgd(0.1), ce, None
        yield "wide", classes, lambda: _mlp(128), _sgd(0.05), ce, None
        yield "dropout", classes, lambda: nn.Sequential(_mlp(32), nn.Dropout(0.1)), _adam(5e-3), ce, None
        yield "conv and batch norm", _squares, _conv, _sgd(0.05, momentum=0.9), ce, None
        yield "conv, adam", _squares, _conv, _adam(1e-3), ce, None
        yield "lstm", _squares_rows, lambda: Last(nn.LSTM, 12, 3), _adam(1e-2), ce, None
        yield "gru", _squares_rows, lambda: Last(nn.GRU, 12, 3), _adam(1e-2), ce, None
        for scale in (0.01, 1.0, 100.0):
            rate = 3e-3 * max(1.0, scale)
            yield (
                f"targets of {scale}",
                _scaled(scale),
                lambda: _mlp(16, out=1),
                _adam(rate),
                F.mse_loss,
                None,
            )
        yield "l1 loss", _scaled(1.0), lambda: _mlp(16, out=1), _adam(1e-2), F.l1_loss, None
        yield (
            "large units, normalised loss",
            _scaled(1000.0),
            lambda: _mlp(16, out=1),
            _adam(1.0),
            F.smooth_l1_loss,
            None,
        )
        yield "warm-up", classes, _mlp, _adam(1e-2), ce, _warm
        yield "cosine to nothing", classes, _mlp, _sgd(0.3), ce, _cosine
        yield "steps to a thousandth", classes, _mlp, _sgd(0.3, momentum=0.5), ce, _steps
        yield "sums", classes, _mlp, _sgd(1e-3), lambda out, y: F.cross_entropy(out, y, reduction="sum"), None
        yield "already learnt", classes, _learnt, _sgd(0.01), ce, None

    yield from cells()


def _zeroed(net):
    nn.init.zeros_(net[-1].weight)
    nn.init.zeros_(net[-1].bias)
    return net


def _learnt():
    """A net that has learnt its data: there is little left to learn."""
    x, y = _numbers(0)
    net = _mlp(32)
    opt = optim.Adam(net.parameters(), lr=0.02)
    for _ in range(150):
        opt.zero_grad()
        F.cross_entropy(net(x), y).backward()
        opt.step()
    return net


def _squares_rows(seed):
    x, y = _squares(seed)
    return x.mean(2)[:, 0], y


def _scaled(scale):
    return lambda seed: _targets(seed, scale)


def _warm(opt):
    return optim.lr_scheduler.LambdaLR(opt, lambda i: min(1.0, (i + 1) / 60))


def _cosine(opt):
    return optim.lr_scheduler.CosineAnnealingLR(opt, STEPS)


def _steps(opt):
    return optim.lr_scheduler.StepLR(opt, 80, 0.03)


def accused(program, seed=0, steps=STEPS):
    """Train it, and say what its layers are called that are not in range: (first loss, last loss, what was said)."""
    _, data, build, optimizer, loss_of, schedule = program
    x, y = data(seed)
    vistorch.manual_seed(seed)
    net = build()
    opt = optimizer(net.parameters())
    scheduler = schedule(opt) if schedule else None
    rng = np.random.default_rng(seed)
    said, losses = set(), []
    with watch(net, opt, snapshot_every=0) as run:
        for job in run.budget.jobs.values():
            job.share, job.every = 1e9, 1
        run.budget.share = 1e9
        for step in range(steps):
            rows = vistorch.tensor(rng.permutation(len(x))[:32])
            opt.zero_grad()
            loss = loss_of(net(x[rows]), y[rows])
            loss.backward()
            opt.step()
            if scheduler is not None:
                scheduler.step()
            losses.append(loss.item())
            if step % 20 == 19:
                run.refresh()
                said |= {f"{h['name']}: {h['state']}" for h in run.health() if h["state"] != "in range"}
    assert run.alarm is None and not run.says, (run.alarm, run.says)
    return float(np.mean(losses[:20])), float(np.mean(losses[-20:])), said


def main():
    """`python -m tests.debug.watch.healthy`: every program with several seeds."""
    for seed in range(3):
        for program in programs():
            first, last, said = accused(program, seed)
            print(f"{seed} {program[0]:<30} {first:10.4g} -> {last:10.4g}  {sorted(said) or ''}")


if __name__ == "__main__":
    main()
