"""Regression: programs with a fault each, and their healthy counterparts.

Invariant: written by someone who had read no rule.
"""

from .program import fault

fault(
    "house prices by hand",
    "the predictions are a column and the targets a row, so the difference is a square of all pairs",
    ("broadcast",),
    (19, 23, 37),
    """\
import torch
from torch import nn, optim

torch.manual_seed(42)


class PriceNet(nn.Module):
    def __init__(self, n_features, hidden=32):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(n_features, hidden),
            nn.ReLU(),
            nn.Linear(hidden, hidden),
            nn.ReLU(),
            nn.Linear(hidden, 1),
        )

    def forward(self, x):
        return self.layers(x).squeeze(1)


def rmse(pred, target):
    return ((pred - target) ** 2).mean().sqrt()


n = 1200
features = torch.randn(n, 6)
prices = 2.0 * features[:, 0] - features[:, 1] * features[:, 2] + features[:, 3].abs() + 0.1 * torch.randn(n)
x_train, x_val, y_train, y_val = features[:1000], features[1000:], prices[:1000], prices[1000:]

model = PriceNet(6)
optimizer = optim.Adam(model.parameters(), lr=3e-3)
print(f"spread of the prices: {prices.std().item():.3f}")
for epoch in range(1, 31):
    for rows in torch.randperm(1000).split(64):
        optimizer.zero_grad()
        loss = rmse(model(x_train[rows]), y_train[rows])
        loss.backward()
        optimizer.step()
    if epoch % 5 == 0:
        with torch.no_grad():
            val = rmse(model(x_val), y_val)
        print(f"epoch {epoch}: train rmse {loss.item():.3f}, val rmse {val.item():.3f}")
""",
    ("        return self.layers(x).squeeze(1)\n", "        return self.layers(x)\n"),
)

fault(
    "curve fit in batches",
    "the gradients are cleared once an epoch, so every batch's step goes along the sum of those before it",
    ("used twice",),
    (36,),
    """\
import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


@dataclass
class Config:
    lr: float = 0.05
    epochs: int = 30
    batch_size: int = 25
    momentum: float = 0.9


class Trainer:
    def __init__(self, model, config):
        self.model = model
        self.config = config
        self.opt = torch.optim.SGD(model.parameters(), lr=config.lr, momentum=config.momentum)

    @torch.no_grad()
    def evaluate(self, loader):
        self.model.eval()
        total, count = 0.0, 0
        for x, y in loader:
            total += F.mse_loss(self.model(x), y, reduction="sum").item()
            count += y.numel()
        return total / count

    def fit(self, train_loader, val_loader):
        for epoch in range(self.config.epochs):
            self.model.train()
            for x, y in train_loader:
                self.opt.zero_grad()
                loss = F.mse_loss(self.model(x), y)
                loss.backward()
                self.opt.step()
            if (epoch + 1) % 5 == 0:
                scores = self.evaluate(train_loader), self.evaluate(val_loader)
                print("epoch {}: train mse {:.4f}, val mse {:.4f}".format(epoch + 1, *scores))


torch.manual_seed(5)
x = torch.rand(600, 1) * 4 - 2
y = torch.sin(2 * math.pi * x / 2.0) * torch.exp(-x.abs() / 2) + 0.05 * torch.randn_like(x)
train_set, val_set = random_split(TensorDataset(x, y), [500, 100])
config = Config()
net = nn.Sequential(nn.Linear(1, 40), nn.Tanh(), nn.Linear(40, 40), nn.Tanh(), nn.Linear(40, 1))
Trainer(net, config).fit(
    DataLoader(train_set, batch_size=config.batch_size, shuffle=True), DataLoader(val_set, batch_size=100)
)
""",
    (
        "            for x, y in train_loader:\n                self.opt.zero_grad()\n",
        "            self.opt.zero_grad()\n            for x, y in train_loader:\n",
    ),
)

fault(
    "intervals from a net with two outputs",
    "the likelihood is given the standard deviation where it takes the variance, so the intervals are wrong",
    ("spread for variance",),
    (34,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(2)


def noisy(n):
    x = torch.rand(n, 1) * 6 - 3
    spread = 0.05 + 0.15 * torch.sigmoid(2 * x)
    return x / 3, torch.sin(x) + spread * torch.randn(n, 1)


class MeanAndSpread(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(1, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU())
        self.mean = nn.Linear(width, 1)
        self.spread = nn.Linear(width, 1)

    def forward(self, x):
        h = self.trunk(x)
        return self.mean(h), F.softplus(self.spread(h)) + 1e-3


x, y = noisy(2000)
x_test, y_test = noisy(1000)
net = MeanAndSpread()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=40)
for epoch in range(40):
    for idx in torch.randperm(len(x)).split(100):
        mu, sigma = net(x[idx])
        loss = F.gaussian_nll_loss(mu, y[idx], sigma**2)
        opt.zero_grad()
        loss.backward()
        opt.step()
    scheduler.step()
    if epoch % 8 == 7:
        with torch.no_grad():
            mu, sigma = net(x_test)
            inside = ((y_test - mu).abs() < 1.96 * sigma).float().mean().item()
            log_lik = torch.distributions.Normal(mu, sigma).log_prob(y_test).mean().item()
        print(f"epoch {epoch + 1}: nll {loss.item():.3f}, test log-lik {log_lik:.3f}, in 95% interval {inside:.3f}")
""",
    ("y[idx], sigma**2)", "y[idx], sigma)"),
)
