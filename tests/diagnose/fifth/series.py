"""Recurrent nets and series: programs with a fault each, and their healthy counterparts.

Invariant: written by people who had read no rule.
"""

from .program import fault

fault(
    "recurrence over the batch",
    "the GRU lacks batch_first, so it reads (batch, time, feature) as (time, batch, feature)",
    ("other axis",),
    (19,),
    """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


def make_windows(n, length=20):
    phase = torch.rand(n, 1) * 6.28
    speed = 0.2 + torch.rand(n, 1) * 0.6
    t = torch.arange(length + 1.0)
    wave = torch.sin(phase + speed * t) + 0.02 * torch.randn(n, length + 1)
    return wave[:, :-1, None], wave[:, -1:]


class Forecaster(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.gru = nn.GRU(1, hidden, num_layers=1, batch_first=True)
        self.readout = nn.Linear(hidden, 1)

    def forward(self, x):
        out, _ = self.gru(x)
        return self.readout(out[:, -1])


x_train, y_train = make_windows(1024)
x_val, y_val = make_windows(256)
loader = DataLoader(TensorDataset(x_train, y_train), batch_size=64, shuffle=True)
model = Forecaster()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=6, gamma=0.5)
loss_fn = nn.MSELoss()
for epoch in range(15):
    model.train()
    running = 0.0
    for xb, yb in loader:
        loss = loss_fn(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item() * len(xb)
    scheduler.step()
    model.eval()
    with torch.no_grad():
        val = loss_fn(model(x_val), y_val).item()
    print(f"epoch {epoch:2d} train mse {running / len(x_train):.4f} val mse {val:.4f}")
""",
    (", num_layers=1, batch_first=True)", ", num_layers=1)"),
)

fault(
    "cell called without its state",
    "the cell is called without the previous state and so starts from zeros at every time step",
    ("state cleared",),
    (16,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F


class RunningSum(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.hidden = hidden
        self.cell = nn.GRUCell(2, hidden)
        self.head = nn.Linear(hidden, 1)

    def forward(self, x):
        h, outputs = x.new_zeros(x.size(0), self.hidden), []
        for t in range(x.size(1)):
            h = self.cell(x[:, t], h)
            outputs.append(self.head(h))
        return torch.cat(outputs, dim=1)


def running_sums(n, steps):
    value = torch.rand(n, steps) * 2 - 1
    counts = (torch.rand(n, steps) < 0.4).float()
    return torch.stack([value, counts], dim=-1), (value * counts).cumsum(1)


torch.manual_seed(11)
net = RunningSum(24)
opt = torch.optim.Adam(net.parameters(), lr=8e-3)
test_x, test_y = running_sums(256, 12)
print(f"variance of the test targets {test_y.var():.3f}")
for step in range(1, 351):
    x, y = running_sums(64, 12)
    loss = F.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
    if step % 50 == 0:
        with torch.no_grad():
            test = F.mse_loss(net(test_x), test_y)
        print(f"step {step} train {loss.item():.4f} test {test.item():.4f}")
""",
    ("self.cell(x[:, t], h)", "self.cell(x[:, t])"),
)

fault(
    "target inside the window",
    "the target is the last value of its own window, so the net learns to copy instead of to forecast",
    ("target given",),
    (18,),
    """\
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class SeriesDataset(Dataset):
    def __init__(self, values, window):
        self.values = torch.tensor(values, dtype=torch.float32)
        self.window = window

    def __len__(self):
        return len(self.values) - self.window

    def __getitem__(self, i):
        end = i + self.window
        past = self.values[i:end]
        return past, self.values[end]


rng = np.random.default_rng(5)
torch.manual_seed(5)
t = np.arange(1500)
values = np.sin(t / 7.0) + 0.5 * np.sin(t / 3.1) + 0.01 * rng.normal(size=len(t))
train_set, held_out = SeriesDataset(values[:1300], 24), torch.tensor(values[1300:], dtype=torch.float32)
loader = DataLoader(train_set, batch_size=64, shuffle=True)
model = nn.Sequential(nn.Linear(24, 64), nn.Tanh(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)


@torch.no_grad()
def rollout_error(horizon=20):
    errors = []
    for start in range(0, 150, 10):
        window = held_out[start : start + 24].clone()
        for k in range(horizon):
            nxt = model(window[None])[0]
            errors.append((nxt - held_out[start + 24 + k]).abs().item())
            window = torch.cat([window[1:], nxt])
    return sum(errors) / len(errors)


for epoch in range(20):
    losses = []
    for past, target in loader:
        loss = nn.functional.mse_loss(model(past).squeeze(1), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    if epoch % 4 == 3:
        print(f"epoch {epoch + 1} mse {np.mean(losses):.5f} rollout mae {rollout_error():.3f}")
""",
    ("return past, self.values[end]", "return past, self.values[end - 1]"),
)

fault(
    "time axis made by view",
    "batch and time are exchanged with view, which deals the values out anew instead of transposing",
    ("scrambled",),
    (27,),
    """\
import math

import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(5)


def waves(n, length=20):
    freq = torch.rand(n, 1) * 0.5 + 0.2
    phase = torch.rand(n, 1) * 2 * math.pi
    t = torch.arange(length + 1)
    y = torch.sin(freq * t + phase) + 0.02 * torch.randn(n, length + 1)
    return TensorDataset(y[:, :-1].unsqueeze(-1), y[:, -1:])


class Forecaster(nn.Module):
    \"\"\"Expects (batch, time, features); the LSTM inside is time first.\"\"\"

    def __init__(self, hidden=32):
        super().__init__()
        self.lstm = nn.LSTM(1, hidden)
        self.fc = nn.Linear(hidden, 1)

    def forward(self, x):
        x = x.permute(1, 0, 2)
        out, _ = self.lstm(x)
        return self.fc(out[-1])


train_loader = DataLoader(waves(1280), batch_size=64, shuffle=True, drop_last=True)
valid_loader = DataLoader(waves(256), batch_size=64)
net = Forecaster()
optimizer = optim.Adam(net.parameters(), lr=5e-3)
loss_fn = nn.MSELoss()

for epoch in range(10):
    net.train()
    train_loss = 0.0
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = loss_fn(net(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        train_loss += loss.item() / len(train_loader)
    net.eval()
    with torch.no_grad():
        valid_loss = sum(loss_fn(net(x), y).item() for x, y in valid_loader) / len(valid_loader)
    print(f"epoch {epoch} train {train_loss:.4f} valid {valid_loss:.4f}")
""",
    ("        x = x.permute(1, 0, 2)\n", "        x = x.view(x.size(1), x.size(0), x.size(2))\n"),
)

fault(
    "state cleared at every time step",
    "the hidden state is set to zero inside the loop over time, so the cell has no memory",
    ("state cleared",),
    (19,),
    """\
import torch
import torch.nn as nn

torch.manual_seed(2)


class Recurrent(nn.Module):
    def __init__(self, inputs, hidden):
        super().__init__()
        self.hidden = hidden
        self.wx = nn.Parameter(torch.randn(inputs, 3 * hidden) * inputs**-0.5)
        self.wh = nn.Parameter(torch.randn(hidden, 3 * hidden) * hidden**-0.5)
        self.b = nn.Parameter(torch.zeros(3 * hidden))
        self.readout = nn.Linear(hidden, 1)

    def forward(self, x):
        outputs = []
        h = x.new_zeros(x.size(0), self.hidden)
        for t in range(x.size(1)):
            xr, xz, xn = (x[:, t] @ self.wx + self.b).chunk(3, dim=-1)
            hr, hz, hn = (h @ self.wh).chunk(3, dim=-1)
            r, z = torch.sigmoid(xr + hr), torch.sigmoid(xz + hz)
            h = (1 - z) * torch.tanh(xn + r * hn) + z * h
            outputs.append(self.readout(h))
        return torch.stack(outputs, dim=1)


def batch(n, steps=15):
    load = torch.randn(n, steps, 1)
    level, levels = torch.zeros(n, 1), []
    for t in range(steps):
        level = 0.8 * level + 0.5 * load[:, t]
        levels.append(level)
    return load, torch.stack(levels, dim=1)


rnn = Recurrent(1, 24)
optimizer = torch.optim.RMSprop(rnn.parameters(), lr=2e-3)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=150, gamma=0.5)
test_x, test_y = batch(256)
for step in range(401):
    x, y = batch(32)
    loss = ((rnn(x) - y) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    if step % 80 == 0:
        with torch.no_grad():
            test = ((rnn(test_x) - test_y) ** 2).mean()
        print(f"{step:4d} train {loss.item():.4f} test {test.item():.4f} (variance {test_y.var().item():.3f})")
""",
    (
        """\
        h = x.new_zeros(x.size(0), self.hidden)
        for t in range(x.size(1)):
""",
        """\
        for t in range(x.size(1)):
            h = x.new_zeros(x.size(0), self.hidden)
""",
    ),
)

fault(
    "last padded step read",
    "after unpacking, the output at the last padded step is read: zeros for all but the longest series",
    ("last padded step",),
    (31,),
    """\
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

torch.manual_seed(8)


def make_series(n):
    series, labels = [], []
    for _ in range(n):
        length = int(torch.randint(4, 25, (1,)))
        drift = 0.4 * torch.randn(1)
        series.append(torch.cumsum(drift + 0.5 * torch.randn(length), 0).unsqueeze(-1))
        labels.append(float(series[-1][-1] > series[-1][0]))
    return series, torch.tensor(labels)


class TrendNet(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.gru = nn.GRU(1, hidden, batch_first=True)
        self.smooth = nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU())
        self.head = nn.Linear(hidden, 1)
        self.value = nn.Linear(hidden, 1)

    def forward(self, padded, lengths):
        packed = pack_padded_sequence(padded, lengths, batch_first=True, enforce_sorted=False)
        out, h = self.gru(packed)
        out, _ = pad_packed_sequence(out, batch_first=True)
        step_ahead = self.value(self.smooth(out[:, :-1])).squeeze(-1)
        return self.head(h[-1]).squeeze(-1), step_ahead


train_x, train_y = make_series(800)
test_x, test_y = make_series(200)
model = TrendNet()
opt = torch.optim.Adam(model.parameters(), lr=4e-3)
bce = nn.BCEWithLogitsLoss()


def run(series, labels):
    lengths = torch.tensor([len(s) for s in series])
    padded = pad_sequence(series, batch_first=True)
    logits, ahead = model(padded, lengths)
    real = (torch.arange(1, padded.size(1)) < lengths.unsqueeze(1)).float()
    errors = (ahead - padded[:, 1:, 0]) ** 2 * real
    return bce(logits, labels) + 0.05 * errors.sum() / real.sum(), ((logits > 0) == (labels > 0.5)).float().mean()


for epoch in range(8):
    order = torch.randperm(len(train_x)).tolist()
    for i in range(0, len(order), 40):
        picked = order[i : i + 40]
        loss, _ = run([train_x[j] for j in picked], train_y[picked])
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        test_loss, accuracy = run(test_x, test_y)
    print(f"epoch {epoch} loss {loss.item():.3f} test {test_loss.item():.3f} accuracy {accuracy.item():.3f}")
""",
    (
        "        return self.head(h[-1]).squeeze(-1), step_ahead\n",
        "        return self.head(out[:, -1]).squeeze(-1), step_ahead\n",
    ),
)
