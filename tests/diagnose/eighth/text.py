"""Text: programs with a fault each, and their healthy counterparts.

Invariant: written by someone who had read no rule.
"""

from .program import fault

fault(
    "transformer attends across the batch",
    "the encoder layer is made without batch_first although the batches are (batch, time, features), so that "
    "it mixes examples instead of tokens",
    ("other axis",),
    (24,),
    """\
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
VOCAB, LENGTH, DIM = 20, 12, 32


def make(n):
    tokens = torch.randint(2, VOCAB, (n, LENGTH))
    label = torch.randint(0, 2, (n,))
    place = torch.randint(0, LENGTH, (n,))
    tokens[torch.arange(n), place] = label
    return tokens, label


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, DIM)
        self.position = nn.Parameter(torch.randn(1, LENGTH, DIM) * 0.1)
        layer = nn.TransformerEncoderLayer(
            d_model=DIM,
            nhead=4,
            dim_feedforward=64,
            dropout=0.0,
            batch_first=True,
        )
        self.encoder = nn.TransformerEncoder(layer, num_layers=1, enable_nested_tensor=False)
        self.head = nn.Linear(DIM, 2)

    def forward(self, tokens):
        x = self.embed(tokens) * math.sqrt(DIM) + self.position
        x = self.encoder(x)
        return self.head(x[:, 0])


train = DataLoader(TensorDataset(*make(2048)), batch_size=64, shuffle=True)
valid_x, valid_y = make(512)
model = Classifier()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
loss_fn = nn.CrossEntropyLoss()
for epoch in range(6):
    model.train()
    total = 0.0
    for x, y in train:
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        accuracy = (model(valid_x).argmax(1) == valid_y).float().mean().item()
    print(f"epoch {epoch}: loss {total / len(train):.3f}, validation accuracy {accuracy:.3f}")
""",
    ("            dropout=0.0,\n            batch_first=True,\n", "            dropout=0.0,\n"),
)

fault(
    "language model's logits reshaped for the loss",
    "the logits (batch, time, vocabulary) are brought to (batch, vocabulary, time) by a reshape, not by a "
    "transpose, so that scores are paired with the wrong places",
    ("scrambled",),
    (47,),
    """\
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1)
corpus = "the cat sat on the mat and the dog lay by the gate while rain fell on the old town square " * 20
chars = sorted(set(corpus))
index = {c: i for i, c in enumerate(chars)}
data = torch.tensor([index[c] for c in corpus])
BLOCK, BATCH, DIM = 24, 32, 48


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attention = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x, mask):
        h = self.norm1(x)
        x = x + self.attention(h, h, h, attn_mask=mask, need_weights=False)[0]
        return x + self.mlp(self.norm2(x))


class CharModel(nn.Module):
    def __init__(self, vocab):
        super().__init__()
        self.tokens = nn.Embedding(vocab, DIM)
        self.places = nn.Embedding(BLOCK, DIM)
        self.block = Block(DIM, 4)
        self.out = nn.Linear(DIM, vocab)

    def forward(self, x):
        t = x.size(1)
        mask = torch.triu(torch.ones(t, t, dtype=torch.bool), diagonal=1)
        return self.out(self.block(self.tokens(x) + self.places(torch.arange(t)), mask))


model = CharModel(len(chars))
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for step in range(300):
    starts = torch.randint(0, len(data) - BLOCK - 1, (BATCH,))
    x = torch.stack([data[s : s + BLOCK] for s in starts])
    y = torch.stack([data[s + 1 : s + BLOCK + 1] for s in starts])
    logits = model(x)
    loss = F.cross_entropy(logits.transpose(1, 2), y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    if step % 50 == 49:
        right = (logits.argmax(-1) == y).float().mean()
        print(f"step {step + 1}: loss {loss.item():.3f}, next character right {right.item():.3f}")
""",
    (
        "    loss = F.cross_entropy(logits.transpose(1, 2), y)\n",
        "    loss = F.cross_entropy(logits.reshape(BATCH, len(chars), BLOCK), y)\n",
    ),
)
