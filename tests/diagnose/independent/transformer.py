"""Attention: programs with a fault each, and healthy ones.

Invariant: written by someone who had read no rule.
"""

# ruff: noqa: E501  (a program is text)

from .program import fault, healthy

fault(
    "all padding",
    "NaN and infinity: softmax over a row that is masked as a whole (an empty sentence)",
    ("not finite",),
    (15,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

class AttentionPool(nn.Module):
    def __init__(self, vocab=40, d=16):
        super().__init__()
        self.emb = nn.Embedding(vocab, d, padding_idx=0)
        self.score = nn.Linear(d, 1)
        self.fc = nn.Linear(d, 2)

    def forward(self, ids):
        h = self.emb(ids)
        s = self.score(h).squeeze(-1)
        s = s.masked_fill(ids == 0, -1e9)
        a = F.softmax(s, dim=1)
        return self.fc((a.unsqueeze(-1) * h).sum(1))

def sentences(n, length=8):
    ids = torch.randint(1, 40, (n, length))
    label = torch.randint(0, 2, (n,))
    ids[:, 0] = 5 + label
    lengths = torch.randint(0, length + 1, (n,))
    lengths[torch.rand(n) < 0.98] = length
    ids[torch.arange(length).unsqueeze(0) >= lengths.unsqueeze(1)] = 0
    return ids, label

torch.manual_seed(3)
model = AttentionPool()
opt = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(300):
    ids, label = sentences(32)
    loss = F.cross_entropy(model(ids), label)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 30 == 0:
        print("step", step, "loss", loss.item())
print("last loss", loss.item())
""",
    ("        s = s.masked_fill(ids == 0, -1e9)\n", '        s = s.masked_fill(ids == 0, float("-inf"))\n'),
)

fault(
    "functional dropout",
    "modes: F.dropout without training=self.training stays on in evaluation",
    ("draws always",),
    (19,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

class Encoder(nn.Module):
    def __init__(self, vocab=5, d=16):
        super().__init__()
        self.embed = nn.Embedding(vocab, d)
        self.attn = nn.MultiheadAttention(d, 2, batch_first=True)
        self.ff = nn.Sequential(nn.Linear(d, 32), nn.ReLU(), nn.Linear(32, d))
        self.norm = nn.LayerNorm(d)
        self.out = nn.Linear(d, vocab)

    def forward(self, ids):
        x = self.embed(ids)
        a, _ = self.attn(x, x, x)
        x = self.norm(x + a)
        x = x + self.ff(x)
        x = F.dropout(x.mean(1), 0.6, training=self.training)
        return self.out(x)

def batch(n):
    ids = torch.randint(0, 5, (n, 9))
    return ids, F.one_hot(ids, 5).sum(1).argmax(1)

torch.manual_seed(0)
model = Encoder()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
model.train()
for step in range(150):
    ids, y = batch(64)
    loss = F.cross_entropy(model(ids), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 30 == 0:
        print("step", step, loss.item())

model.eval()
ids, y = batch(500)
with torch.no_grad():
    first, second = model(ids), model(ids)
print("test acc %.3f, two runs differ by %.3f" % ((first.argmax(1) == y).float().mean(), (first - second).abs().mean()))
""",
    (
        "        x = F.dropout(x.mean(1), 0.6, training=self.training)\n",
        "        x = F.dropout(x.mean(1), 0.6)\n",
    ),
)

healthy(
    "masks",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
PAD, V, T = 0, 9, 8

def batch(n=32):
    start = torch.randint(1, V, (n, 1))
    rows = (start + 2 * torch.arange(T + 1) - 1) % (V - 1) + 1
    lengths = torch.randint(3, T + 2, (n, 1))
    return torch.where(torch.arange(T + 1) < lengths, rows, torch.full_like(rows, PAD))

class CausalLM(nn.Module):
    def __init__(self, d=16):
        super().__init__()
        self.emb = nn.Embedding(V, d, padding_idx=PAD)
        self.pos = nn.Embedding(T, d)
        self.attn = nn.MultiheadAttention(d, 2, batch_first=True)
        self.norm = nn.LayerNorm(d)
        self.out = nn.Linear(d, V)

    def forward(self, x):
        h = self.emb(x) + self.pos(torch.arange(x.size(1)))
        causal = torch.ones(x.size(1), x.size(1), dtype=torch.bool).triu(1)
        a, _ = self.attn(h, h, h, attn_mask=causal, key_padding_mask=x == PAD, need_weights=False)
        return self.out(self.norm(h + a))

lm = CausalLM()
opt = torch.optim.Adam(lm.parameters(), lr=0.01)
for step in range(150):
    rows = batch()
    logits = lm(rows[:, :-1])
    loss = F.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten(), ignore_index=PAD)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 25 == 0:
        print("step", step, "loss %.4f" % loss.item())
print("last loss %.4f" % loss.item())
""",
)

healthy(
    "warmup",
    """\
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
STEPS, WARMUP = 180, 30

def schedule(step):
    if step < WARMUP:
        return step / WARMUP
    return 0.5 * (1 + math.cos(math.pi * (step - WARMUP) / (STEPS - WARMUP)))

class Parity(nn.Module):
    def __init__(self, d=24):
        super().__init__()
        self.emb = nn.Embedding(6, d)
        self.pos = nn.Parameter(torch.randn(5, d))
        self.block = nn.TransformerEncoderLayer(d, 4, 48, dropout=0.0, batch_first=True, norm_first=True)
        self.out = nn.Linear(d, 6)

    def forward(self, x):
        return self.out(self.block(self.emb(x) + self.pos))

model = Parity()
optimizer = torch.optim.AdamW(model.parameters(), lr=8e-3, weight_decay=0.01)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, schedule)
for step in range(STEPS):
    x = torch.randint(0, 6, (48, 5))
    y = x.flip(1)
    loss = F.cross_entropy(model(x).transpose(1, 2), y)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    scheduler.step()
    if step % 20 == 0:
        print("step %d lr %.5f loss %.4f" % (step, scheduler.get_last_lr()[0], loss.item()))
print("last loss %.4f" % loss.item())
""",
)

fault(
    "list of blocks",
    "parameters that are not trained: the blocks are kept in a plain Python list",
    ("not held",),
    (23,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

class Block(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.attn = nn.MultiheadAttention(d, heads, batch_first=True)
        self.norm1 = nn.LayerNorm(d)
        self.norm2 = nn.LayerNorm(d)
        self.mlp = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))

    def forward(self, x):
        h = self.norm1(x)
        x = x + self.attn(h, h, h, need_weights=False)[0]
        return x + self.mlp(self.norm2(x))

class Transformer(nn.Module):
    def __init__(self, vocab=8, d=16, depth=2, length=6):
        super().__init__()
        self.tok = nn.Embedding(vocab, d)
        self.pos = nn.Parameter(torch.randn(length, d) * 0.02)
        self.blocks = nn.ModuleList([Block(d, 2) for _ in range(depth)])
        self.head = nn.Linear(d, 2)

    def forward(self, x):
        x = self.tok(x) + self.pos
        for block in self.blocks:
            x = block(x)
        return self.head(x[:, 0])

torch.manual_seed(0)
model = Transformer()
print(sum(p.numel() for p in model.parameters()), "parameters")
opt = torch.optim.Adam(model.parameters(), lr=6e-3)
for step in range(200):
    x = torch.randint(0, 8, (40, 6))
    y = (x[:, 1:] == x[:, :1]).any(dim=1).long()
    loss = F.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 20 == 0:
        print("step", step, "loss", loss.item())
print("last loss", loss.item())
""",
    (
        "        self.blocks = nn.ModuleList([Block(d, 2) for _ in range(depth)])\n",
        "        self.blocks = [Block(d, 2) for _ in range(depth)]\n",
    ),
)

fault(
    "lora both zero",
    "initialisation: both factors of the low-rank product start at zero, so neither gets a gradient",
    ("equal units",),
    (10,),
    """\
import torch
import torch.nn as nn

class LoRALinear(nn.Module):
    def __init__(self, base, rank=4, alpha=8.0):
        super().__init__()
        self.base = base
        for p in self.base.parameters():
            p.requires_grad = False
        self.A = nn.Parameter(torch.randn(rank, base.in_features) * 0.1)
        self.B = nn.Parameter(torch.zeros(base.out_features, rank))
        self.scale = alpha / rank

    def forward(self, x):
        return self.base(x) + self.scale * (x @ self.A.T @ self.B.T)

def train(layer, x, y, steps=250):
    trainable = [p for p in layer.parameters() if p.requires_grad]
    opt = torch.optim.AdamW(trainable, lr=1e-2)
    for step in range(steps):
        opt.zero_grad(set_to_none=True)
        loss = nn.functional.mse_loss(layer(x), y)
        loss.backward()
        opt.step()
        if step % 50 == 0:
            print("step", step, "loss", loss.item())
    return loss.item()

torch.manual_seed(0)
pretrained = nn.Linear(24, 24)
x = torch.randn(256, 24)
change = torch.randn(24, 2) @ torch.randn(2, 24) * 0.3
y = (pretrained(x) + x @ change).detach()
print("final loss %.4f" % train(LoRALinear(pretrained), x, y))
""",
    (
        "        self.A = nn.Parameter(torch.randn(rank, base.in_features) * 0.1)\n",
        "        self.A = nn.Parameter(torch.zeros(rank, base.in_features))\n",
    ),
)

fault(
    "lr typo",
    "learning rate: far too small, 3e-7 in place of 3e-3",
    ("too small",),
    (20,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

class Adder(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.embed = nn.Embedding(10, d)
        self.pos = nn.Parameter(torch.zeros(2, d))
        layer = nn.TransformerEncoderLayer(d, 4, 48, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1)
        self.fc = nn.Linear(d, 19)

    def forward(self, x):
        return self.fc(self.encoder(self.embed(x) + self.pos).mean(1))

def main(steps=180, batch=64):
    torch.manual_seed(0)
    model = Adder()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
    for step in range(steps):
        x = torch.randint(0, 10, (batch, 2))
        loss = F.cross_entropy(model(x), x.sum(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 30 == 0:
            print(f"step {step} loss {loss.item():.4f}")
    print(f"last loss {loss.item():.4f}")

if __name__ == "__main__":
    main()
""",
    (
        "    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)\n",
        "    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-7, weight_decay=0.01)\n",
    ),
)

fault(
    "no grad embedding",
    "the history is cut: no_grad around embedding and position, which should be trained",
    ("not reached",),
    (13,),
    """\
import torch
import torch.nn as nn

class Tagger(nn.Module):
    def __init__(self, vocab=30, d=4, tags=5):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d)
        self.position = nn.Embedding(10, d)
        self.encoder = nn.TransformerEncoderLayer(d, nhead=2, dim_feedforward=8, dropout=0.0, batch_first=True)
        self.to_tags = nn.Linear(d, tags)

    def forward(self, ids):
        if ids.size(1) <= 10:
            h = self.embedding(ids)
            h = h + self.position(torch.arange(ids.size(1)))
        h = self.encoder(h)
        return self.to_tags(h)

torch.manual_seed(0)
table = torch.randint(0, 5, (30,))
net = Tagger()
optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
loss_fn = nn.CrossEntropyLoss()
for step in range(200):
    ids = torch.randint(0, 30, (32, 8))
    tags = table[ids]
    logits = net(ids)
    loss = loss_fn(logits.reshape(-1, 5), tags.reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 40 == 0:
        print("step", step, "loss %.3f" % loss.item())
print("accuracy %.3f" % (logits.argmax(-1) == tags).float().mean())
""",
    ("        if ids.size(1) <= 10:\n", "        with torch.no_grad():\n"),
)

fault(
    "vocab too small",
    "exceptions: a token outside the embedding's table, the padding token was not counted",
    ("out of range",),
    (21, 24),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
lines = ["open the gate", "close the gate please", "open it", "please close it now", "open the window now", "close"] * 20
words = sorted({w for line in lines for w in line.split()})
index = {w: i + 1 for i, w in enumerate(words)}
longest = max(len(line.split()) for line in lines)
ids = torch.tensor([[index[w] for w in line.split()] + [0] * (longest - len(line.split())) for line in lines])
labels = torch.tensor([int("open" in line) for line in lines])

class Intent(nn.Module):
    def __init__(self, vocab_size, d=16):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, d)
        self.layer = nn.TransformerEncoderLayer(d, 2, 32, dropout=0.0, batch_first=True)
        self.fc = nn.Linear(d, 2)

    def forward(self, x):
        h = self.embed(x)
        return self.fc(self.layer(h).mean(1))

model = Intent(len(words) + 1)
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
for step in range(60):
    pick = torch.randint(0, len(ids), (24,))
    loss = F.cross_entropy(model(ids[pick]), labels[pick])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 10 == 0:
        print("step", step, "loss", loss.item())
print("last loss", loss.item())
""",
    ("model = Intent(len(words) + 1)\n", "model = Intent(len(words))\n"),
)

fault(
    "wrong axis attention",
    "outputs and loss do not fit: softmax over the batch and not over the keys",
    ("sample axis",),
    (13,),
    """\
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

class SelfAttention(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x):
        scores = self.q(x) @ self.k(x).transpose(1, 2) / math.sqrt(x.size(-1))
        weights = F.softmax(scores, dim=-1)
        return weights @ self.v(x)

class Reader(nn.Module):
    def __init__(self, keys=6, values=5, d=24):
        super().__init__()
        self.key, self.value = nn.Embedding(keys, d), nn.Embedding(values + 1, d)
        self.attn = SelfAttention(d)
        self.out = nn.Linear(d, values)

    def forward(self, keys, values):
        h = self.key(keys) + self.value(values)
        return self.out(self.attn(h)[:, -1])

torch.manual_seed(0)
net = Reader()
opt = torch.optim.Adam(net.parameters(), lr=0.01)

def questions(n):
    keys = torch.rand(n, 6).argsort(1)[:, :4]
    values = torch.randint(0, 5, (n, 4))
    asked = torch.randint(0, 4, (n, 1))
    k = torch.cat([keys, keys.gather(1, asked)], 1)
    v = torch.cat([values, torch.full((n, 1), 5)], 1)
    return k, v, values.gather(1, asked).squeeze(1)

for step in range(160):
    k, v, target = questions(64)
    loss = F.cross_entropy(net(k, v), target)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 50 == 0:
        print("step", step, "loss %.3f" % loss.item())
with torch.no_grad():
    k, v, target = questions(100)
    one_by_one = torch.cat([net(k[i:i + 1], v[i:i + 1]) for i in range(100)])
print("last loss %.3f, accuracy one by one %.3f" % (loss.item(), (one_by_one.argmax(1) == target).float().mean()))
""",
    ("        weights = F.softmax(scores, dim=-1)\n", "        weights = F.softmax(scores, dim=0)\n"),
)
