"""Transformers: programs with a fault each, and healthy ones.

Invariant: written by someone who had read no rule.
"""

from .program import fault, healthy

fault(
    "copy transformer",
    "attention mask is inverted (True marks the allowed positions where True means blocked)",
    ("sees ahead",),
    (20,),
    """\
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(8)
V, T, E = 12, 10, 32


class TinyLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(V, E)
        self.pos = nn.Embedding(T, E)
        self.qkv = nn.Linear(E, 3 * E)
        self.ff = nn.Sequential(nn.Linear(E, 2 * E), nn.ReLU(), nn.Linear(2 * E, E))
        self.ln1 = nn.LayerNorm(E)
        self.ln2 = nn.LayerNorm(E)
        self.lm = nn.Linear(E, V)
        self.blocked = torch.triu(torch.ones(T, T), diagonal=1).bool()

    def forward(self, ids):
        x = self.tok(ids) + self.pos(torch.arange(ids.shape[1]))
        q, k, v = self.qkv(self.ln1(x)).chunk(3, dim=-1)
        att = q @ k.transpose(1, 2) / math.sqrt(E)
        att = att.masked_fill(self.blocked, -1e9)
        x = x + torch.softmax(att, dim=-1) @ v
        x = x + self.ff(self.ln2(x))
        return self.lm(x)


def sequences(n):
    start = torch.randint(0, V, (n, 1))
    stride = torch.randint(1, 5, (n, 1))
    return (start + stride * torch.arange(T + 1)) % V


def generate(model, prefix, steps):
    ids = prefix
    for _ in range(steps):
        pad = torch.zeros(len(ids), T - ids.shape[1], dtype=torch.long)
        logits = model(torch.cat([ids, pad], 1))
        ids = torch.cat([ids, logits[:, ids.shape[1] - 1].argmax(1, keepdim=True)], 1)
    return ids


model = TinyLM()
opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
for step in range(180):
    seq = sequences(48)
    logits = model(seq[:, :-1])
    loss = F.cross_entropy(logits.reshape(-1, V), seq[:, 1:].reshape(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 50 == 0:
        print(step, round(loss.item(), 4))

with torch.no_grad():
    seq = sequences(100)
    out = generate(model, seq[:, :4], 5)
    print("continuation right:", (out[:, 4:] == seq[:, 4:9]).float().mean().item())
""",
    (
        "        self.blocked = torch.triu(torch.ones(T, T), diagonal=1).bool()\n",
        "        self.blocked = torch.tril(torch.ones(T, T)).bool()\n",
    ),
)

healthy(
    "warmup",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.lr_scheduler import LambdaLR

torch.manual_seed(1)
WARM, TOTAL = 40, 200

net = nn.Sequential(nn.Linear(10, 32), nn.LayerNorm(32), nn.GELU(), nn.Linear(32, 4))
opt = torch.optim.AdamW(net.parameters(), lr=0.01, weight_decay=0.05)
sched = LambdaLR(opt, lambda s: s / WARM if s < WARM else max(0.0, (TOTAL - s) / (TOTAL - WARM)))
W = torch.randn(10, 4)


def batch(n=64):
    x = torch.randn(n, 10)
    return x, (x @ W).argmax(1)


for step in range(TOTAL):
    x, y = batch()
    loss = F.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    if step % 20 == 0:
        print(f"step {step} lr {opt.param_groups[0]['lr']:.5f} loss {loss.item():.4f}")

x, y = batch(500)
with torch.no_grad():
    print("accuracy", (net(x).argmax(1) == y).float().mean().item())
""",
)
