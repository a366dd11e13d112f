"""Transformers: programs with a fault each, and healthy ones.

Invariant: written by someone who had read no rule.
"""

from .program import fault, healthy

fault(
    "tiny gpt",
    "the causal mask begins one diagonal too late (diagonal=2): every position sees the character it must predict",
    ("sees ahead",),
    (18,),
    """\
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(6)
corpus = ("the cat sat on the mat and the dog sat on the log while the bird sang to the sun ") * 3
vocab = sorted(set(corpus))
ids = torch.tensor([vocab.index(c) for c in corpus])
V, T, D, HEADS = len(vocab), 12, 32, 4


class SelfAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(D, 3 * D)
        self.proj = nn.Linear(D, D)
        self.register_buffer("mask", torch.triu(torch.ones(T, T), diagonal=1).bool())

    def forward(self, x):
        B, L, _ = x.shape
        q, k, v = (z.view(B, L, HEADS, D // HEADS).transpose(1, 2) for z in self.qkv(x).chunk(3, dim=-1))
        score = q @ k.transpose(-2, -1) / math.sqrt(D // HEADS)
        score = score.masked_fill(self.mask[:L, :L], float("-inf"))
        out = F.softmax(score, dim=-1) @ v
        return self.proj(out.transpose(1, 2).reshape(B, L, D))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(V, D)
        self.pos = nn.Embedding(T, D)
        self.ln1, self.ln2, self.lnf = nn.LayerNorm(D), nn.LayerNorm(D), nn.LayerNorm(D)
        self.att = SelfAttention()
        self.mlp = nn.Sequential(nn.Linear(D, 64), nn.GELU(), nn.Linear(64, D))
        self.head = nn.Linear(D, V)

    def forward(self, idx):
        x = self.tok(idx) + self.pos(torch.arange(idx.shape[1]))
        x = x + self.att(self.ln1(x))
        x = x + self.mlp(self.ln2(x))
        return self.head(self.lnf(x))


gpt = GPT()
optimizer = torch.optim.AdamW(gpt.parameters(), lr=4e-3)
for step in range(400):
    s = torch.randint(0, len(ids) - T - 1, (12,)).tolist()
    xb = torch.stack([ids[i:i + T] for i in s])
    yb = torch.stack([ids[i + 1:i + T + 1] for i in s])
    loss = F.cross_entropy(gpt(xb).flatten(0, 1), yb.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 0:
        print("step", step, "loss %.3f" % loss.item())

# give it eight characters, ask for the ninth
with torch.no_grad():
    starts = range(0, 80)
    context = torch.stack([ids[i:i + 8] for i in starts])
    truth = torch.stack([ids[i + 8] for i in starts])
    guess = gpt(context)[:, -1].argmax(1)
print("next character right: %.2f" % (guess == truth).float().mean().item())
""",
    (
        '        self.register_buffer("mask", torch.triu(torch.ones(T, T), diagonal=1).bool())\n',
        '        self.register_buffer("mask", torch.triu(torch.ones(T, T), diagonal=2).bool())\n',
    ),
)

healthy(
    "warmup",
    """\
import torch
import torch.nn as nn
from torch.optim.lr_scheduler import LambdaLR

torch.manual_seed(1)
VOCAB, LENGTH, WARM, STEPS = 12, 6, 40, 300


def batch(n=24):
    \"\"\"Does the first symbol occur again?\"\"\"
    x = torch.randint(0, VOCAB, (n, LENGTH))
    y = (x[:, 1:] == x[:, :1]).any(dim=1).long()
    return x, y


class Classifier(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, d)
        self.pos = nn.Parameter(0.1 * torch.randn(LENGTH, d))
        layer = nn.TransformerEncoderLayer(d, 4, 64, dropout=0.0, batch_first=True, norm_first=True)
        self.enc = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.out = nn.Linear(d, 2)

    def forward(self, x):
        return self.out(self.enc(self.tok(x) + self.pos)[:, 0])


model = Classifier()
opt = torch.optim.AdamW(model.parameters(), lr=5e-3)
sched = LambdaLR(opt, lambda k: k / WARM if k < WARM else max(0.0, (STEPS - k) / (STEPS - WARM)))

losses = []
for step in range(STEPS):
    x, y = batch()
    loss = nn.functional.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    losses.append(loss.item())
    if step % 25 == 24:
        print(f"step {step + 1} lr {sched.get_last_lr()[0]:.5f} loss {sum(losses[-25:]) / 25:.4f}")

with torch.no_grad():
    x, y = batch(400)
    print("accuracy", (model(x).argmax(1) == y).float().mean().item())
""",
)
