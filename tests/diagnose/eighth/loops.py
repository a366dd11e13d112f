"""Training loops: programs with a fault each, and their healthy counterparts.

Invariant: written by someone who had read no rule.
"""

from .program import fault

fault(
    "best weights by reference",
    "the best state_dict is kept without a copy, so the weights restored at the end are the last, overfitted ones",
    ("no copy",),
    (41,),
    """\
import copy

import torch
from torch import nn

torch.manual_seed(3)


def make(n):
    x = torch.randn(n, 12)
    clean = (x[:, 0] + x[:, 1] * x[:, 2] > 0).long()
    flip = torch.rand(n) < 0.1
    return x, torch.where(flip, 1 - clean, clean)


def evaluate(model, x, y, criterion):
    model.eval()
    with torch.no_grad():
        out = model(x)
        return criterion(out, y).item(), (out.argmax(1) == y).float().mean().item()


x_train, y_train = make(600)
x_val, y_val = make(600)
x_test, y_test = make(2000)
model = nn.Sequential(nn.Linear(12, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()
best_loss, best_epoch, best_state = float("inf"), -1, None

for epoch in range(50):
    model.train()
    order = torch.randperm(len(x_train))
    for idx in order.split(40):
        optimizer.zero_grad()
        loss = criterion(model(x_train[idx]), y_train[idx])
        loss.backward()
        optimizer.step()

    val_loss, val_acc = evaluate(model, x_val, y_val, criterion)
    if val_loss < best_loss:
        best_loss, best_epoch = val_loss, epoch
        best_state = copy.deepcopy(model.state_dict())
    if epoch % 10 == 0:
        print(f"epoch {epoch:2d} train {loss.item():.3f} val {val_loss:.3f} acc {val_acc:.3f}")

model.load_state_dict(best_state)
test_loss, test_acc = evaluate(model, x_test, y_test, criterion)
print(f"best epoch {best_epoch} val {best_loss:.3f}; test loss {test_loss:.3f} acc {test_acc:.3f}")
""",
    ("import copy\n\n", ""),
    ("        best_state = copy.deepcopy(model.state_dict())\n", "        best_state = model.state_dict()\n"),
)

fault(
    "schedule in the inner loop",
    "a StepLR meant to be stepped once an epoch is stepped after each batch, so the rate is nothing soon",
    ("rate",),
    (40, 25),
    """\
import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, TensorDataset


class Regressor(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        return self.out(self.net(x)).squeeze(-1)


class Trainer:
    def __init__(self, model, train, valid, epochs):
        self.model, self.train_loader, self.valid_loader = model, train, valid
        self.epochs = epochs
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
        self.scheduler = StepLR(self.optimizer, step_size=10, gamma=0.3)

    def step(self, x, y):
        loss = F.mse_loss(self.model(x), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def fit(self):
        for epoch in range(1, self.epochs + 1):
            self.model.train()
            total = 0.0
            for x, y in self.train_loader:
                total += self.step(x, y) * len(x)
            self.scheduler.step()
            if epoch % 5 == 0:
                mean = total / len(self.train_loader.dataset)
                print(f"epoch {epoch} train {mean:.4f} valid {self.validate():.4f}")

    def validate(self):
        self.model.eval()
        with torch.no_grad():
            losses = [F.mse_loss(self.model(x), y).item() for x, y in self.valid_loader]
        return sum(losses) / len(losses)


torch.manual_seed(0)
points = torch.rand(1200, 2) * 2 - 1
values = torch.sin(math.pi * points[:, 0]) * torch.cos(2 * points[:, 1])
train = TensorDataset(points[:1000], values[:1000])
valid = TensorDataset(points[1000:], values[1000:])
trainer = Trainer(
    Regressor(), DataLoader(train, batch_size=50, shuffle=True), DataLoader(valid, batch_size=100), epochs=30
)
trainer.fit()
""",
    (
        "                total += self.step(x, y) * len(x)\n            self.scheduler.step()\n",
        "                total += self.step(x, y) * len(x)\n                self.scheduler.step()\n",
    ),
)
