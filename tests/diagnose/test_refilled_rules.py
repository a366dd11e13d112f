"""Samples that are one memory, filled again for each."""

import pytest

from .marked import guilty, said

FAULTY = {
    "tensor buffer, append": """\
rows, labels = [], []
buf = torch.zeros(6)
for i in range(200):
    y = i % 2
    buf.copy_(torch.randn(6) + y)
    rows.append(buf)  # <-
    labels.append(y)
X, Y = torch.stack(rows), torch.tensor(labels)

net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(6):
    for idx in torch.randperm(len(X)).split(32):
        loss = F.cross_entropy(net(X[idx]), Y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
""",
    "numpy, setitem in a function": """\
import numpy as np
rng = np.random.default_rng(0)
def simulate(n):
    state = np.zeros(6, dtype=np.float32)
    out = []
    for i in range(n):
        state[:] = rng.normal(size=6)
        q = 0
        out.append((state, int(state[0] > 0)))  # <-
    return out
data = simulate(200)
X = torch.from_numpy(np.stack([d[0] for d in data]))
Y = torch.tensor([d[1] for d in data])

net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(6):
    for idx in torch.randperm(len(X)).split(32):
        loss = F.cross_entropy(net(X[idx]), Y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
""",
    "a walk": """\
import numpy as np
rng = np.random.default_rng(0)
pos = np.zeros(6)
walk, turns = [], []
for i in range(200):
    step = rng.normal(size=6)
    pos += step  # <-
    walk.append(pos)
    turns.append(int(step[0] > 0))
X = torch.tensor(np.array(walk), dtype=torch.float32)
Y = torch.tensor(turns)

net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(6):
    for idx in torch.randperm(len(X)).split(32):
        loss = F.cross_entropy(net(X[idx]), Y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
""",
    "a data set that returns its buffer": """\
from torch.utils.data import Dataset, DataLoader
class Data(Dataset):
    def __init__(self):
        self.raw = torch.randn(128, 6)
        self.y = (self.raw[:, 0] > 0).long()
        self.buf = torch.empty(6)
    def __len__(self):
        return len(self.raw)
    def __getitem__(self, i):
        self.buf.copy_(self.raw[i])
        self.buf[1] = 0
        return self.buf, self.y[i]  # <-
net = nn.Linear(6, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(4):
    for x, y in DataLoader(Data(), batch_size=16, shuffle=True):
        loss = F.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
""",
    "batches by a generator, no module": """\
w = torch.zeros(6, 1, requires_grad=True)
true = torch.randn(6, 1)
window = torch.zeros(6)
def stream(n):
    for i in range(n):
        window[0] = torch.randn(()).item()
        window[1:] += 0.1 * i
        yield window  # <-
for step in range(30):
    x = torch.stack(list(stream(16)))
    loss = ((x @ w - x @ true) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 1e-4 * w.grad
        w.grad = None
""",
}

HEALTHY = {
    "cloned": """\
rows, labels = [], []
buf = torch.zeros(6)
for i in range(200):
    y = i % 2
    buf.copy_(torch.randn(6) + y)
    rows.append(buf.clone())
    labels.append(y)
X, Y = torch.stack(rows), torch.tensor(labels)

net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(6):
    for idx in torch.randperm(len(X)).split(32):
        loss = F.cross_entropy(net(X[idx]), Y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
""",
    "made anew": """\
rows, labels = [], []
buf = torch.zeros(6)
for i in range(200):
    y = i % 2
    buf = torch.zeros(6); buf.copy_(torch.randn(6) + y)
    rows.append(buf)  
    labels.append(y)
X, Y = torch.stack(rows), torch.tensor(labels)

net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(6):
    for idx in torch.randperm(len(X)).split(32):
        loss = F.cross_entropy(net(X[idx]), Y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
""",
    "one context, list of counts": """\
X = torch.ones(200, 6)
Y = torch.arange(200) % 2
seen, n = [], 0
for i in range(10):
    k = i + 1
    seen.append(k)

net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(6):
    for idx in torch.randperm(len(X)).split(32):
        loss = F.cross_entropy(net(X[idx]), Y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
""",
    "ring buffer of a view": """\
X = torch.zeros(200, 6)
Y = torch.zeros(200, dtype=torch.long)
history = []
stats = torch.zeros(2)
for i in range(200):
    X[i] = torch.randn(6) + i % 2
    Y[i] = i % 2
    stats[0] += 1
    history.append(stats)

net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(6):
    for idx in torch.randperm(len(X)).split(32):
        loss = F.cross_entropy(net(X[idx]), Y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
""",
}


@pytest.mark.parametrize("name", FAULTY)
def test_its_line_is_named(name):
    text = FAULTY[name]
    found = said(text, name)
    assert "one buffer" in found, found
    assert any(abs(line - mark) <= 2 for line in found["one buffer"] for mark in guilty(text)), found


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_program_is_not_accused(name):
    assert "one buffer" not in said(HEALTHY[name], name)
