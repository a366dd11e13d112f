"""Recurrent nets: programs with a fault each, and their healthy counterparts.

Invariant: written by someone who had read no rule.
"""

from .program import fault

fault(
    "last state of padded series",
    "the output of the last padded step is taken as the summary instead of that of each series' last real step",
    ("reads padding",),
    (31,),
    """\
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset


class Walks(Dataset):
    # Series of steps; the class says whether the last three go up.

    def __init__(self, n, seed):
        gen = torch.Generator().manual_seed(seed)
        lengths = torch.randint(5, 60, (n,), generator=gen).tolist()
        self.items = [torch.randn(length, 2, generator=gen) for length in lengths]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        walk = self.items[i]
        return walk, int(walk[-3:, 0].sum() > 0)


class Net(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.rnn = nn.GRU(2, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, 2)

    def forward(self, x, lengths):
        out, _ = self.rnn(x)
        last = out[torch.arange(len(x)), lengths - 1]
        return self.fc(last)


def collate(batch):
    walks, labels = zip(*batch)
    lengths = torch.tensor([len(w) for w in walks])
    return pad_sequence(walks, batch_first=True), lengths, torch.tensor(labels)


torch.manual_seed(0)
train_loader = DataLoader(Walks(800, 1), batch_size=40, shuffle=True, collate_fn=collate)
val_loader = DataLoader(Walks(300, 2), batch_size=100, collate_fn=collate)
net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
loss_fn = nn.CrossEntropyLoss()
for epoch in range(6):
    for x, lengths, y in train_loader:
        loss = loss_fn(net(x, lengths), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        right = sum((net(x, lengths).argmax(1) == y).sum().item() for x, lengths, y in val_loader)
    print(f"epoch {epoch}: last loss {loss.item():.3f}, val accuracy {right / 300:.3f}")
""",
    ("        last = out[torch.arange(len(x)), lengths - 1]\n", "        last = out[:, -1]\n"),
)

fault(
    "forecast of waves",
    "the LSTM lacks batch_first, so it runs along the batch instead of along time",
    ("other axis",),
    (20, 24),
    """\
import math

import torch
import torch.nn as nn

torch.manual_seed(7)


def waves(n, steps=30):
    t = torch.arange(steps + 1, dtype=torch.float32)
    freq = torch.rand(n, 1) * 0.6 + 0.2
    phase = torch.rand(n, 1) * 2 * math.pi
    x = torch.sin(freq * t + phase) + 0.02 * torch.randn(n, steps + 1)
    return x[:, :-1].unsqueeze(-1), x[:, -1:]


class Forecaster(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.lstm = nn.LSTM(input_size=1, hidden_size=hidden, num_layers=1, batch_first=True)
        self.linear = nn.Linear(hidden, 1)

    def forward(self, x):
        out, (h, c) = self.lstm(x)
        return self.linear(out[:, -1, :])


X_train, y_train = waves(1000)
X_test, y_test = waves(200)
model = Forecaster()
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(15):
    model.train()
    perm = torch.randperm(X_train.size(0))
    epoch_loss = 0.0
    for i in range(0, X_train.size(0), 50):
        batch = perm[i : i + 50]
        optimizer.zero_grad()
        loss = criterion(model(X_train[batch]), y_train[batch])
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item()
    model.eval()
    with torch.no_grad():
        test_loss = criterion(model(X_test), y_test)
    print(f"Epoch {epoch + 1:2d}  train {epoch_loss / 20:.4f}  test {test_loss.item():.4f}")
""",
    (", num_layers=1, batch_first=True)", ", num_layers=1)"),
)

fault(
    "sum over a long series by hand",
    "gradients are clipped before the backward pass, when there are none, so the steps are not bounded",
    ("clipped nothing",),
    (47, 48),
    """\
import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_

torch.manual_seed(11)


class ElmanCell(nn.Module):
    def __init__(self, n_in, n_hidden):
        super().__init__()
        self.w_in = nn.Parameter(torch.randn(n_in, n_hidden) * 0.3)
        self.w_rec = nn.Parameter(torch.eye(n_hidden))
        self.bias = nn.Parameter(torch.zeros(n_hidden))

    def forward(self, x, h):
        return torch.relu(x @ self.w_in + h @ self.w_rec + self.bias)


class Adder(nn.Module):
    # Adds up the marked numbers of a series.

    def __init__(self, n_hidden=32):
        super().__init__()
        self.n_hidden = n_hidden
        self.cell = ElmanCell(2, n_hidden)
        self.readout = nn.Linear(n_hidden, 1)

    def forward(self, x):
        h = x.new_zeros(x.size(0), self.n_hidden)
        for t in range(x.size(1)):
            h = self.cell(x[:, t], h)
        return self.readout(h).squeeze(-1)


def batch(n, length=40):
    values = torch.rand(n, length)
    marks = (torch.rand(n, length) < 0.1).float()
    return torch.stack([values, marks], dim=-1), (values * marks).sum(1)


model = Adder()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
for step in range(1, 401):
    x, y = batch(64)
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    clip_grad_norm_(model.parameters(), max_norm=1.0)
    optimizer.step()
    if step % 50 == 0:
        print(f"step {step}: mse {loss.item():.4f}")
""",
    (
        "    loss.backward()\n    clip_grad_norm_(model.parameters(), max_norm=1.0)\n",
        "    clip_grad_norm_(model.parameters(), max_norm=1.0)\n    loss.backward()\n",
    ),
)
