"""Recurrent nets: programs with a fault each, and their healthy counterparts.

Invariant: written by someone who had read no rule.
"""

from .program import fault

fault(
    "lstm axes",
    "batch_first is missing: the LSTM runs along the batch",
    ("other axis",),
    (26,),
    """\
import numpy as np
import torch
from torch import nn

torch.manual_seed(8)
np.random.seed(8)

CFG = {"hidden": 24, "lr": 0.01, "epochs": 30, "bs": 40}


def waves(n, T=24):
    \"\"\"0 = rising chirp, 1 = falling chirp\"\"\"
    y = np.random.randint(0, 2, n)
    t = np.linspace(0, 1, T)
    out = []
    for lab in y:
        f = 1 + 3 * (t if lab == 0 else 1 - t)
        out.append(np.sin(2 * np.pi * np.cumsum(f) / T + np.random.rand() * 6.28))
    x = np.array(out)[:, :, None] + 0.1 * np.random.randn(n, T, 1)
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y)


class WaveNet(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.lstm = nn.LSTM(1, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, 2)

    def forward(self, x):              # x: batch, time, 1
        out, _ = self.lstm(x)
        return self.fc(out[:, -1])


xtr, ytr = waves(400)
xte, yte = waves(200)
net = WaveNet(CFG["hidden"])
opt = torch.optim.Adam(net.parameters(), lr=CFG["lr"])
for ep in range(CFG["epochs"]):
    perm = torch.randperm(len(xtr))
    losses = []
    for b in perm.split(CFG["bs"]):
        loss = nn.functional.cross_entropy(net(xtr[b]), ytr[b])
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        losses.append(loss.item())
    if ep % 5 == 4:
        print(f"epoch {ep + 1} loss {np.mean(losses):.3f}")
with torch.no_grad():
    print("test acc", (net(xte).argmax(1) == yte).float().mean().item())
""",
    (
        "        self.lstm = nn.LSTM(1, hidden, batch_first=True)\n",
        "        self.lstm = nn.LSTM(1, hidden)\n",
    ),
)

fault(
    "gru gates",
    "mul_ changes the output of tanh in place, which backward needs",
    ("in place",),
    (22, 20, 21),
    """\
import torch
from torch import nn

torch.manual_seed(44)


class HandGRU(nn.Module):
    def __init__(self, n_in: int, n_hid: int) -> None:
        super().__init__()
        self.n_hid = n_hid
        self.gates = nn.Linear(n_in + n_hid, 2 * n_hid)
        self.cand = nn.Linear(n_in + n_hid, n_hid)
        self.read = nn.Linear(n_hid, 1)

    def forward(self, seq: torch.Tensor) -> torch.Tensor:
        h = torch.zeros(seq.shape[0], self.n_hid)
        for t in range(seq.shape[1]):
            x = seq[:, t]
            z, r = torch.sigmoid(self.gates(torch.cat([x, h], 1))).chunk(2, 1)
            new = torch.tanh(self.cand(torch.cat([x, r * h], 1)))
            h = h * z
            h += new * (1 - z)
        return self.read(h)


def adding_problem(n: int, T: int = 10):
    value = torch.rand(n, T)
    flag = torch.zeros(n, T)
    first = torch.randint(0, T // 2, (n,))
    second = torch.randint(T // 2, T, (n,))
    rows = torch.arange(n)
    flag[rows, first] = 1.0
    flag[rows, second] = 1.0
    return torch.stack([value, flag], 2), (value * flag).sum(1, keepdim=True)


net = HandGRU(2, 24)
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for it in range(301):
    x, y = adding_problem(48)
    loss = nn.functional.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 60 == 0:
        print(f"iteration {it}: {loss.item():.4f}")
""",
    ("            h += new * (1 - z)\n", "            h += new.mul_(1 - z)\n"),
)

fault(
    "tbptt",
    "the hidden state is carried over without detach: backward a second time through the last window",
    ("second pass",),
    (40, 42, 39),
    """\
import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(7)
t = np.arange(0, 1500)
series = np.sin(t / 6.0) + 0.5 * np.sin(t / 17.0)
series = torch.tensor(series, dtype=torch.float32)

BATCH, WINDOW = 10, 15
usable = (len(series) - 1) // BATCH * BATCH
inputs = series[:usable].view(BATCH, -1)
targets = series[1:usable + 1].view(BATCH, -1)


class Forecaster(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.rnn = nn.RNN(1, hidden, batch_first=True)
        self.linear = nn.Linear(hidden, 1)

    def init_hidden(self, batch):
        return torch.zeros(1, batch, self.rnn.hidden_size)

    def forward(self, x, hidden):
        out, hidden = self.rnn(x.unsqueeze(-1), hidden)
        return self.linear(out).squeeze(-1), hidden


model = Forecaster()
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)

for epoch in range(12):
    hidden = model.init_hidden(BATCH)
    losses = []
    for s in range(0, inputs.shape[1] - WINDOW, WINDOW):
        x, y = inputs[:, s:s + WINDOW], targets[:, s:s + WINDOW]
        optimizer.zero_grad()
        out, hidden = model(x, hidden.detach())
        loss = criterion(out, y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    if epoch % 3 == 0 or epoch == 11:
        print(f"epoch {epoch:2d} | mse {np.mean(losses):.5f}")
""",
    ("        out, hidden = model(x, hidden.detach())\n", "        out, hidden = model(x, hidden)\n"),
)
