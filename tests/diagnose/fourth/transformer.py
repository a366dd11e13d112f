"""Transformers: programs with a fault each, and their healthy counterparts.

Invariant: written by someone who had read no rule.
"""

from .program import fault

fault(
    "causal lm",
    "no causal mask: attention sees the token to be predicted",
    ("sees ahead",),
    (27, 26),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(4)
V, T, C = 12, 14, 32


def batch(n):
    # x[t+1] = x[t] + step, the step fixed per row
    start = torch.randint(0, V, (n, 1))
    step = torch.randint(1, 4, (n, 1))
    return (start + step * torch.arange(T + 1)) % V


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Linear(C, C, bias=False)
        self.k = nn.Linear(C, C, bias=False)
        self.v = nn.Linear(C, C, bias=False)
        self.register_buffer("mask", torch.tril(torch.ones(T, T)))

    def forward(self, x):
        n = x.shape[1]
        w = self.q(x) @ self.k(x).transpose(1, 2) / C ** 0.5
        w = w.masked_fill(self.mask[:n, :n] == 0, float("-inf"))
        return F.softmax(w, -1) @ self.v(x)


class TinyGPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok, self.pos = nn.Embedding(V, C), nn.Embedding(T, C)
        self.h1, self.h2 = Head(), Head()
        self.ff = nn.Sequential(nn.Linear(C, 64), nn.ReLU(), nn.Linear(64, C))
        self.out = nn.Linear(C, V)

    def forward(self, ids):
        x = self.tok(ids) + self.pos(torch.arange(ids.shape[1]))
        x = x + self.h1(x)
        x = x + self.h2(x)
        return self.out(x + self.ff(x))


model = TinyGPT()
opt = torch.optim.Adam(model.parameters(), lr=4e-3)
for i in range(401):
    s = batch(48)
    logits = model(s[:, :-1])
    loss = F.cross_entropy(logits.reshape(-1, V), s[:, 1:].reshape(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
    if i % 80 == 0:
        print(i, f"{loss.item():.4f}")

s = batch(64)
ids = s[:, :4]
with torch.no_grad():
    while ids.shape[1] < T:
        ids = torch.cat([ids, model(ids)[:, -1:].argmax(-1)], 1)
print("generated right:", (ids[:, 4:] == s[:, 4:T]).float().mean().item())
""",
    ('        w = w.masked_fill(self.mask[:n, :n] == 0, float("-inf"))\n', ""),
)

fault(
    "finetune head",
    "the head is replaced after the optimizer was built on the old one",
    ("not held",),
    (42, 43),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(12)


def task(n, classes, noise=0.4):
    g = torch.Generator().manual_seed(77)
    centres = 1.5 * torch.randn(8, 20, generator=g)
    c = torch.randint(0, classes, (n,))
    return centres[c] + noise * torch.randn(n, 20), c


def fit(net, opt, x, y, steps, tag):
    for s in range(steps):
        i = torch.randint(0, len(x), (64,))
        loss = F.cross_entropy(net(x[i]), y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
        if s % (steps // 4) == 0:
            print(f"[{tag}] step {s} loss {loss.item():.4f}")


class Net(nn.Module):
    def __init__(self, n_out):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU())
        self.fc = nn.Linear(32, n_out)

    def forward(self, x):
        return self.fc(self.features(x))


net = Net(4)
fit(net, torch.optim.Adam(net.parameters(), lr=5e-3), *task(600, 4), 200, "pretrain")

# transfer: freeze the features, new head for eight classes
for p in net.features.parameters():
    p.requires_grad = False
net.fc = nn.Linear(32, 8)
finetune = torch.optim.Adam(net.fc.parameters(), lr=1e-2)
fit(net, finetune, *task(600, 8), 400, "finetune")

xt, yt = task(300, 8)
with torch.no_grad():
    print("accuracy", (net(xt).argmax(1) == yt).float().mean().item())
""",
    (
        """\
    p.requires_grad = False
net.fc = nn.Linear(32, 8)
finetune = torch.optim.Adam(net.fc.parameters(), lr=1e-2)
fit(net, finetune, *task(600, 8), 400, "finetune")
""",
        """\
    p.requires_grad = False
finetune = torch.optim.Adam(net.fc.parameters(), lr=1e-2)
net.fc = nn.Linear(32, 8)
fit(net, finetune, *task(600, 8), 400, "finetune")
""",
    ),
)
