"""Programs that only look suspicious: programs that are right.

Invariant: written by someone who had read no rule.
"""

from .program import healthy

healthy(
    "random features with a huge rate",
    """\
import torch
from torch import nn

torch.manual_seed(8)


class RandomFeatures(nn.Module):
    def __init__(self, n_in, n_features, scale=1e-2):
        super().__init__()
        self.projection = nn.Linear(n_in, n_features)
        nn.init.normal_(self.projection.weight, std=1.5)
        nn.init.uniform_(self.projection.bias, 0, 2 * torch.pi)
        self.projection.requires_grad_(False)
        self.readout = nn.Linear(n_features, 1, bias=False)
        nn.init.zeros_(self.readout.weight)
        self.scale = scale

    def forward(self, x):
        # features of size 1e-2 ask for a learning rate of the order of 1 / 1e-4
        return self.readout(self.scale * torch.cos(self.projection(x)))


x = torch.rand(600, 2) * 4 - 2
y = torch.sin(2 * x[:, :1]) * torch.cos(x[:, 1:]) + 0.05 * torch.randn(600, 1)
train_x, train_y, val_x, val_y = x[:450], y[:450], x[450:], y[450:]

model = RandomFeatures(2, 200)
optimizer = torch.optim.SGD(model.readout.parameters(), lr=300.0, momentum=0.9)
criterion = nn.MSELoss()

for step in range(1, 601):
    optimizer.zero_grad()
    loss = criterion(model(train_x), train_y)
    loss.backward()
    optimizer.step()
    if step % 100 == 0:
        with torch.no_grad():
            val = criterion(model(val_x), val_y).item()
        print(f"step {step}  train {loss.item():.4f}  val {val:.4f}")
""",
)

healthy(
    "negative likelihood with accumulated batches",
    """\
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(14)
ACCUMULATE = 4

x = torch.rand(1280, 1) * 2 - 1
sigma = 0.02 + 0.1 * x.abs()
y = torch.sin(3 * x) + sigma * torch.randn_like(x)
loader = DataLoader(TensorDataset(x[:1024], y[:1024]), batch_size=16, shuffle=True)
val_x, val_y = x[1024:], y[1024:]


class MeanAndScale(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 1))
        self.log_scale = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 1))

    def forward(self, x):
        return self.mean(x), self.log_scale(x).clamp(-6, 3)


def nll(mean, log_scale, target):
    z = (target - mean) * torch.exp(-log_scale)
    return (0.5 * z**2 + log_scale + 0.5 * math.log(2 * math.pi)).mean()


model = MeanAndScale()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

for epoch in range(1, 41):
    total = 0.0
    optimizer.zero_grad()
    for i, (bx, by) in enumerate(loader, start=1):
        loss = nll(*model(bx), by)
        (loss / ACCUMULATE).backward()
        total += loss.item()
        if i % ACCUMULATE == 0:
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            optimizer.zero_grad()
    if epoch % 5 == 0:
        with torch.no_grad():
            mean, log_scale = model(val_x)
            val = nll(mean, log_scale, val_y).item()
            inside = ((val_y - mean).abs() < 1.96 * log_scale.exp()).float().mean().item()
        print(f"epoch {epoch}: nll {total / len(loader):.3f}  val {val:.3f}  coverage {inside:.3f}")
""",
)
