"""Recurrent networks: programs with a fault each, and healthy ones.

Invariant: written by someone who had read no rule.
"""

from .program import fault

fault(
    "keyword gru",
    "optimizer.zero_grad() is never called, gradients pile up",
    ("used twice",),
    (34,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(5)
VOCAB, SEQ, EMB, HID = 20, 8, 12, 24
KEYWORDS = [3, 7, 11]


def batch(n: int):
    tokens = torch.randint(0, VOCAB, (n, SEQ))
    hits = sum((tokens == k).long() for k in KEYWORDS)
    return tokens, (hits.sum(1) > 0).long()


class KeywordSpotter(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.emb = nn.Embedding(VOCAB, EMB)
        self.rnn = nn.GRU(EMB, HID, batch_first=True)
        self.cls = nn.Linear(HID, 2)

    def forward(self, tokens):
        out, h = self.rnn(self.emb(tokens))
        return self.cls(out.mean(dim=1))


net = KeywordSpotter()
optimizer = torch.optim.SGD(net.parameters(), lr=0.3, momentum=0.9)

history = []
for step in range(150):
    tokens, labels = batch(48)
    optimizer.zero_grad()
    logits = net(tokens)
    loss = F.cross_entropy(logits, labels)
    loss.backward()
    optimizer.step()
    history.append(loss.item())
    if (step + 1) % 25 == 0:
        print("step", step + 1, "loss", sum(history[-25:]) / 25)

with torch.no_grad():
    tokens, labels = batch(400)
    acc = (net(tokens).argmax(1) == labels).float().mean()
print("accuracy", acc.item(), "majority", max(labels.float().mean().item(), 1 - labels.float().mean().item()))
""",
    ("    optimizer.zero_grad()\n", ""),
)

fault(
    "stateful rnn",
    "hidden state carried over batches without detach, backward through the freed graph",
    ("second pass",),
    (27,),
    """\
import torch
import torch.nn as nn

torch.manual_seed(29)

HIDDEN, CHUNK, STREAMS = 20, 15, 8


def make_stream(length):
    t = torch.arange(length).float().unsqueeze(1)
    phase = torch.rand(1, STREAMS) * 6.28
    return torch.sin(0.25 * t + phase) + 0.3 * torch.sin(0.6 * t + 2 * phase)


series = make_stream(CHUNK * 20 + 1)
rnn = nn.GRU(1, HIDDEN)
head = nn.Linear(HIDDEN, 1)
params = [*rnn.parameters(), *head.parameters()]
optimizer = torch.optim.Adam(params, lr=0.01)

for epoch in range(8):
    h = torch.zeros(1, STREAMS, HIDDEN)
    total = 0.0
    for c in range(20):
        x = series[c * CHUNK:(c + 1) * CHUNK].unsqueeze(-1)
        y = series[c * CHUNK + 1:(c + 1) * CHUNK + 1].unsqueeze(-1)
        out, h = rnn(x, h.detach())
        loss = ((head(out) - y) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch} mean loss {total / 20:.5f}")
""",
    ("        out, h = rnn(x, h.detach())\n", "        out, h = rnn(x, h)\n"),
)

fault(
    "stock leak",
    "the target (next value) is inside the input window, at test time it is not there",
    ("target given",),
    (17,),
    """\
import torch
import torch.nn as nn

torch.manual_seed(95)
LAGS = 6

T = 700
noise = 0.2 * torch.randn(T)
series = torch.zeros(T)
for t in range(2, T):
    series[t] = 1.6 * series[t - 1] - 0.8 * series[t - 2] + noise[t]


def windows(s):
    xs, ys = [], []
    for t in range(LAGS, len(s) - 1):
        xs.append(s[t - LAGS:t])
        ys.append(s[t])
    return torch.stack(xs), torch.stack(ys)


X, Y = windows(series[:500])
net = nn.Sequential(nn.Linear(LAGS, 24), nn.ReLU(), nn.Linear(24, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.01)

for epoch in range(30):
    total = 0.0
    for idx in torch.randperm(len(X)).split(64):
        loss = nn.functional.mse_loss(net(X[idx]).squeeze(1), Y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    if epoch % 3 == 0:
        print(f"epoch {epoch}: mse {total / len(X):.5f}")

# live use: only the past is known
live = []
with torch.no_grad():
    for t in range(500 + LAGS, T):
        past = series[t - LAGS:t]
        live.append((net(past.unsqueeze(0)).item() - series[t].item()) ** 2)
print("live mse", sum(live) / len(live), "noise floor", 0.04)
""",
    ("        xs.append(s[t - LAGS:t])\n", "        xs.append(s[t - LAGS + 1:t + 1])\n"),
)

fault(
    "wave lstm",
    "learning rate far too high for Adam, loss stays high",
    ("too large",),
    (27,),
    """\
import torch
import torch.nn as nn

torch.manual_seed(33)


class Forecaster(nn.Module):
    def __init__(self, hidden: int = 16):
        super().__init__()
        self.lstm = nn.LSTM(1, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, 1)

    def forward(self, x):
        out, _ = self.lstm(x)
        return self.fc(out[:, -1]).squeeze(-1)


def windows(n: int, length: int = 12):
    phase = torch.rand(n, 1) * 6.28
    freq = 0.3 + 0.4 * torch.rand(n, 1)
    t = torch.arange(length + 1).float()
    wave = torch.sin(phase + freq * t)
    return wave[:, :-1].unsqueeze(-1), wave[:, -1]


model = Forecaster()
opt = torch.optim.Adam(model.parameters(), lr=0.01)
loss_fn = nn.MSELoss()
xv, yv = windows(200)

for step in range(150):
    x, y = windows(32)
    opt.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    opt.step()
    if step % 15 == 0:
        print(f"step {step} train {loss.item():.4f}")

with torch.no_grad():
    print(f"validation {loss_fn(model(xv), yv).item():.4f} (variance {yv.var().item():.4f})")
""",
    (
        "opt = torch.optim.Adam(model.parameters(), lr=0.01)\n",
        "opt = torch.optim.Adam(model.parameters(), lr=1.0)\n",
    ),
)
