"""Regression: programs with a fault each, and their healthy counterparts.

Invariant: written by someone who had read no rule.
"""

from .program import fault

fault(
    "column of predictions against a row of targets",
    "predictions (n, 1) less targets (n,) broadcast to (n, n), so that every prediction is pulled to the mean",
    ("broadcast",),
    (29, 30),
    """\
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, random_split

torch.manual_seed(5)


class Houses(Dataset):
    def __init__(self, n):
        area = torch.rand(n) * 2
        floors = torch.randint(1, 6, (n,)).float()
        age = torch.rand(n)
        self.features = torch.stack([area, floors / 5, age], dim=1)
        self.price = 1.5 * area + 0.8 * torch.sin(floors) - area * age + 0.05 * torch.randn(n)

    def __len__(self):
        return len(self.price)

    def __getitem__(self, i):
        return self.features[i], self.price[i]


class Trainer:
    def __init__(self, model, lr=1e-2):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)

    def loss(self, x, y):
        prediction = self.model(x).squeeze(1)
        return ((prediction - y) ** 2).mean()

    def fit(self, train, valid, epochs):
        for epoch in range(epochs):
            for x, y in train:
                self.optimizer.zero_grad()
                self.loss(x, y).backward()
                self.optimizer.step()
            print(f"epoch {epoch + 1}: r2 {self.r2(valid):.3f}")

    @torch.no_grad()
    def r2(self, loader):
        predicted = torch.cat([self.model(x).flatten() for x, _ in loader])
        truth = torch.cat([y for _, y in loader])
        return (1 - ((predicted - truth) ** 2).sum() / ((truth - truth.mean()) ** 2).sum()).item()


train_set, valid_set = random_split(Houses(1000), [800, 200])
net = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
trainer = Trainer(net)
trainer.fit(DataLoader(train_set, batch_size=40, shuffle=True), DataLoader(valid_set, batch_size=200), epochs=15)
""",
    ("        prediction = self.model(x).squeeze(1)\n", "        prediction = self.model(x)\n"),
)

fault(
    "activation after the last layer of a regressor",
    "every layer, the last too, ends in a ReLU, so that no negative target can be predicted",
    ("bounded",),
    (21, 22, 23),
    """\
import numpy as np
import torch
import torch.nn as nn

np.random.seed(2)
torch.manual_seed(2)

x = np.random.uniform(-3, 3, size=(600, 2)).astype(np.float32)
y = np.sin(x[:, :1]) * x[:, 1:] + 0.05 * np.random.randn(600, 1).astype(np.float32)
y = (y - y.mean()) / y.std()
x, y = torch.from_numpy(x), torch.from_numpy(y.astype(np.float32))
train_x, train_y, val_x, val_y = x[:480], y[:480], x[480:], y[480:]


class MLP(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes[:-1], sizes[1:]))

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = torch.relu(layer(x))
        return self.layers[-1](x)


model = MLP([2, 64, 64, 1])
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=500)
mse = nn.MSELoss()

for step in range(500):
    pick = torch.randint(0, len(train_x), (64,))
    loss = mse(model(train_x[pick]), train_y[pick])
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    if (step + 1) % 100 == 0:
        with torch.no_grad():
            val = mse(model(val_x), val_y)
        print(f"step {step + 1} train {loss.item():.4f} val {val.item():.4f}")
""",
    (
        "        for layer in self.layers[:-1]:\n",
        "        for layer in self.layers:\n",
    ),
    (
        "        return self.layers[-1](x)\n",
        "        return x\n",
    ),
)
