"""Transformers: programs with a fault each, and their healthy counterparts.

Invariant: written by someone who had read no rule.
"""

from .program import fault

fault(
    "padded sentences through an encoder",
    "the padding mask given to the encoder is true at the words instead of at the padding",
    ("wrong way round",),
    (27,),
    """\
import torch
from torch import nn

torch.manual_seed(0)
PAD, VOCAB, MAX_LEN = 0, 30, 16


def make_data(n):
    lengths = torch.randint(4, MAX_LEN + 1, (n,))
    tokens = torch.randint(1, VOCAB, (n, MAX_LEN))
    tokens[torch.arange(MAX_LEN)[None, :] >= lengths[:, None]] = PAD
    labels = ((tokens > 0) & (tokens < 6)).sum(1).clamp(max=3)
    return tokens, labels


class Classifier(nn.Module):
    def __init__(self, dim=32, classes=4):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, dim, padding_idx=PAD)
        self.pos = nn.Parameter(torch.randn(MAX_LEN, dim) * 0.02)
        layer = nn.TransformerEncoderLayer(dim, nhead=4, dim_feedforward=64, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=1, enable_nested_tensor=False)
        self.out = nn.Linear(dim, classes)

    def forward(self, tokens):
        real = tokens != PAD
        x = self.encoder(self.embed(tokens) + self.pos, src_key_padding_mask=~real)
        x = x.masked_fill(~real.unsqueeze(-1), 0.0)
        return self.out(x.sum(1) / 8)


train_x, train_y = make_data(1500)
test_x, test_y = make_data(500)
model = Classifier()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
criterion = nn.CrossEntropyLoss()
for epoch in range(8):
    model.train()
    order = torch.randperm(len(train_x))
    total = 0.0
    for idx in order.split(50):
        loss = criterion(model(train_x[idx]), train_y[idx])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        total += loss.item() * len(idx)
    model.eval()
    with torch.no_grad():
        acc = (model(test_x).argmax(1) == test_y).float().mean().item()
    print(f"epoch {epoch + 1}: loss {total / len(train_x):.4f}, test accuracy {acc:.3f}")
""",
    ("src_key_padding_mask=~real)", "src_key_padding_mask=real)"),
)

fault(
    "warm-up by the step",
    "the schedule counts warm-up in steps but is advanced once an epoch, so the rate stays tiny",
    ("rate as factor",),
    (56, 44, 43),
    """\
import math

import torch
import torch.nn as nn
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)
VOCAB, LENGTH, DIM = 12, 10, 32


class Reverser(nn.Module):
    # Writes the sequence backwards.

    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, DIM)
        self.pos = nn.Embedding(LENGTH, DIM)
        self.blocks = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(DIM, 2, 64, dropout=0.0, batch_first=True, norm_first=True),
            num_layers=2,
            enable_nested_tensor=False,
        )
        self.head = nn.Linear(DIM, VOCAB)

    def forward(self, x):
        h = self.tok(x) + self.pos(torch.arange(x.size(1)))
        return self.head(self.blocks(h))


def warmup_cosine(step, warmup, total):
    if step < warmup:
        return (step + 1) / warmup
    progress = (step - warmup) / (total - warmup)
    return 0.5 * (1.0 + math.cos(math.pi * progress))


data = torch.randint(0, VOCAB, (2000, LENGTH))
loader = DataLoader(TensorDataset(data, data.flip(1)), batch_size=50, shuffle=True)
epochs = 6
model = Reverser()
opt = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
total_steps = epochs * len(loader)
sched = LambdaLR(opt, lambda s: warmup_cosine(s, warmup=60, total=total_steps))
for epoch in range(epochs):
    running, right = 0.0, 0.0
    for src, tgt in loader:
        opt.zero_grad()
        logits = model(src)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), tgt.flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        sched.step()
        running += loss.item()
        right += (logits.argmax(-1) == tgt).float().mean().item()
    print(f"epoch {epoch} | loss {running / len(loader):.4f} | acc {right / len(loader):.3f}")
""",
    ("        opt.step()\n        sched.step()\n", "        opt.step()\n"),
    (
        "        right += (logits.argmax(-1) == tgt).float().mean().item()\n",
        "        right += (logits.argmax(-1) == tgt).float().mean().item()\n    sched.step()\n",
    ),
)

fault(
    "small language model that writes",
    "no causal mask is given, so the model reads the next token it is to predict",
    ("sees ahead",),
    (36,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(3)
VOCAB, CONTEXT = 16, 20
TABLE = torch.stack([torch.randperm(VOCAB) for _ in range(VOCAB)])


def next_token(a, b):
    return TABLE[a % 4, b]


def sample_text(n, length):
    seq = torch.randint(0, VOCAB, (n, length))
    for t in range(2, length):
        seq[:, t] = next_token(seq[:, t - 2], seq[:, t - 1])
    return seq


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.heads = heads
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def split(self, t):
        b, n, d = t.shape
        return t.view(b, n, self.heads, d // self.heads).transpose(1, 2)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = (self.split(t) for t in self.qkv(self.ln1(x)).chunk(3, dim=-1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).reshape(b, n, d))
        return x + self.mlp(self.ln2(x))


tok, pos = nn.Embedding(VOCAB, 32), nn.Embedding(CONTEXT, 32)
body = nn.Sequential(Block(32, 2), Block(32, 2), nn.LayerNorm(32), nn.Linear(32, VOCAB))
params = [*tok.parameters(), *pos.parameters(), *body.parameters()]
optimizer = torch.optim.Adam(params, lr=3e-3)
for step in range(301):
    text = sample_text(32, CONTEXT + 1)
    inputs, targets = text[:, :-1], text[:, 1:]
    logits = body(tok(inputs) + pos(torch.arange(CONTEXT)))
    loss = F.cross_entropy(logits.reshape(-1, VOCAB), targets.reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 60 == 0:
        with torch.no_grad():
            out = sample_text(64, 4)
            while out.size(1) < CONTEXT:
                logits = body(tok(out) + pos(torch.arange(out.size(1))))
                out = torch.cat([out, logits[:, -1].argmax(-1, keepdim=True)], dim=1)
            good = (out[:, 4:] == next_token(out[:, 2:-2], out[:, 3:-1])).float().mean()
        print(f"step {step}: loss {loss.item():.3f}, right tokens written {good.item():.2f}")
""",
    ("(q, k, v, is_causal=True)", "(q, k, v)"),
)
