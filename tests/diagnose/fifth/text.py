"""Text and transformers: programs with a fault each, and their healthy counterparts.

Invariant: written by people who had read no rule.
"""

from .program import fault

fault(
    "causal mask one diagonal too far",
    "the mask starts at the second diagonal, so each position sees the very token that it has to predict",
    ("sees ahead",),
    (31,),
    """\
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
VOCAB, BLOCK, DIM = 20, 24, 32
follow = torch.stack([torch.randperm(VOCAB)[:4] for _ in range(VOCAB)])
corpus = [0]
for pick in torch.randint(0, 4, (6000,)).tolist():
    corpus.append(follow[corpus[-1], pick].item())
train_text = torch.tensor(corpus)


def batch(text, size=32):
    start = torch.randint(0, len(text) - BLOCK - 1, (size,))
    x = torch.stack([text[s : s + BLOCK] for s in start])
    return x, torch.stack([text[s + 1 : s + BLOCK + 1] for s in start])


class CharModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.token = nn.Embedding(VOCAB, DIM)
        self.place = nn.Embedding(BLOCK, DIM)
        self.qkv = nn.Linear(DIM, 3 * DIM)
        self.norm = nn.LayerNorm(DIM)
        self.mlp = nn.Sequential(nn.Linear(DIM, 64), nn.GELU(), nn.Linear(64, DIM))
        self.head = nn.Linear(DIM, VOCAB)
        self.register_buffer("mask", torch.triu(torch.ones(BLOCK, BLOCK), diagonal=1).bool())

    def forward(self, x):
        t = x.size(1)
        h = self.token(x) + self.place.weight[:t]
        q, k, v = self.qkv(self.norm(h)).chunk(3, dim=-1)
        score = q @ k.transpose(1, 2) / math.sqrt(DIM)
        score = score.masked_fill(self.mask[:t, :t], float("-inf"))
        h = h + score.softmax(dim=-1) @ v
        return self.head(h + self.mlp(h))


model = CharModel()
opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
for step in range(400):
    x, y = batch(train_text)
    loss = F.cross_entropy(model(x).view(-1, VOCAB), y.view(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 100 == 99:
        print(f"step {step + 1} loss {loss.item():.3f}")

out = torch.zeros(16, 1, dtype=torch.long)
with torch.no_grad():
    for _ in range(60):
        probs = model(out[:, -BLOCK:])[:, -1].softmax(dim=-1)
        out = torch.cat([out, torch.multinomial(probs, 1)], dim=1)
legal = (follow[out[:, :-1]] == out[:, 1:, None]).any(dim=-1).float().mean()
print(f"legal transitions in samples {legal:.3f}")
""",
    ("diagonal=1", "diagonal=2"),
)

fault(
    "key padding mask inverted",
    "key_padding_mask is True where tokens are real, while MultiheadAttention ignores what is True",
    ("wrong way round",),
    (33, 34),
    """\
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

torch.manual_seed(1)
PAD = 0


def make(n):
    rows = []
    for _ in range(n):
        words = torch.randint(1, 40, (int(torch.randint(3, 15, (1,))),))
        rows.append((words, int((words < 12).sum() > (words >= 28).sum())))
    return rows


def collate(rows):
    words, labels = zip(*rows)
    return pad_sequence(list(words) + [torch.zeros(16).long()], batch_first=True)[:-1], torch.tensor(labels)


class Pooler(nn.Module):
    def __init__(self, dim=24):
        super().__init__()
        self.emb = nn.Embedding(40, dim, padding_idx=PAD)
        self.query = nn.Parameter(torch.randn(1, 1, dim) * 0.1)
        self.attn = nn.MultiheadAttention(dim, 4, batch_first=True)
        self.out = nn.Sequential(nn.Linear(dim, 32), nn.ReLU(), nn.Linear(32, 2))

    def forward(self, words):
        h = self.emb(words)
        mask = words == PAD
        pooled, _ = self.attn(self.query.expand(len(words), -1, -1), h, h, key_padding_mask=mask)
        return self.out(pooled[:, 0])


train, val = make(1200), make(300)
loader = DataLoader(train, batch_size=32, shuffle=True, collate_fn=collate)
val_x, val_y = collate(val)
net = Pooler()
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
criterion = nn.CrossEntropyLoss()
for epoch in range(10):
    total = 0.0
    for words, labels in loader:
        optimizer.zero_grad()
        loss = criterion(net(words), labels)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(labels)
    with torch.no_grad():
        acc = (net(val_x).argmax(1) == val_y).float().mean()
    print(f"epoch {epoch} loss {total / len(train):.4f} val acc {acc:.3f}")
""",
    ("mask = words == PAD", "mask = words != PAD"),
)

fault(
    "heads merged without transposing back",
    "the heads are folded back by a reshape of (batch, heads, time, dim), which mixes positions with heads",
    ("scrambled",),
    (24,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F


class SelfAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.q = nn.Linear(dim, dim)
        self.k = nn.Linear(dim, dim)
        self.v = nn.Linear(dim, dim)
        self.proj = nn.Linear(dim, dim)

    def split(self, x):
        b, t, d = x.shape
        return x.view(b, t, self.heads, d // self.heads).transpose(1, 2)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.split(self.q(x)), self.split(self.k(x)), self.split(self.v(x))
        scores = q @ k.transpose(-2, -1) / (d // self.heads) ** 0.5
        mixed = F.softmax(scores, dim=-1) @ v
        mixed = mixed.transpose(1, 2).reshape(b, t, d)
        return self.proj(mixed)


class Tagger(nn.Module):
    def __init__(self, vocab=24, dim=32):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.attn = SelfAttention(dim, 4)
        self.norm = nn.LayerNorm(dim)
        self.ff = nn.Sequential(nn.Linear(dim, 64), nn.ReLU(), nn.Linear(64, 2))

    def forward(self, tokens):
        h = self.emb(tokens)
        return self.ff(self.norm(h + self.attn(h)))


def sample(n):
    tokens = torch.randint(0, 24, (n, 16))
    repeated = (tokens[:, :, None] == tokens[:, None, :]).sum(-1) > 1
    return tokens, repeated.long()


torch.manual_seed(7)
model = Tagger()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
test_x, test_y = sample(500)
for it in range(1, 401):
    x, y = sample(64)
    loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    if it % 100 == 0:
        with torch.no_grad():
            acc = (model(test_x).argmax(-1) == test_y).float().mean().item()
        print(f"{it:4d} loss={loss.item():.4f} test_acc={acc:.3f}")
""",
    ("mixed.transpose(1, 2).reshape(b, t, d)", "mixed.reshape(b, t, d)"),
)

fault(
    "last column of a padded output",
    "out[:, -1] of a padded packed sequence is zeros for every sentence but the longest of the batch",
    ("last padded step",),
    (23,),
    """\
import random

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

random.seed(3)
torch.manual_seed(3)


class SentenceClassifier(nn.Module):
    def __init__(self, n_words, hidden, n_classes):
        super().__init__()
        self.embedding = nn.Embedding(n_words, 16, padding_idx=0)
        self.lstm = nn.LSTM(16, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, n_classes)

    def forward(self, tokens, lengths):
        emb = self.embedding(tokens)
        packed = pack_padded_sequence(emb, lengths, batch_first=True, enforce_sorted=False)
        out, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)

        last = out[torch.arange(len(out)), lengths - 1]
        return self.fc(last)


def sentence():
    label = random.randrange(3)
    words = [random.randint(1, 20) for _ in range(random.randint(4, 18))]
    words[random.randrange(len(words))] = 21 + label
    return torch.tensor(words), label


def to_batch(rows):
    tokens = pad_sequence([r[0] for r in rows], batch_first=True)
    return tokens, torch.tensor([len(r[0]) for r in rows]), torch.tensor([r[1] for r in rows])


train = [sentence() for _ in range(1000)]
test = to_batch([sentence() for _ in range(300)])
model = SentenceClassifier(24, 32, 3)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(8):
    random.shuffle(train)
    running = 0.0
    for i in range(0, len(train), 50):
        tokens, lengths, labels = to_batch(train[i : i + 50])
        loss = nn.functional.cross_entropy(model(tokens, lengths), labels)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        running += loss.item()
    with torch.no_grad():
        correct = (model(test[0], test[1]).argmax(1) == test[2]).float().mean()
    print(f"epoch {epoch + 1}: loss {running / 20:.3f}, test accuracy {correct:.3f}")
""",
    ("out[torch.arange(len(out)), lengths - 1]", "out[:, -1]"),
)

fault(
    "heads split without transposing",
    "heads are cut with view alone: tokens and heads get mixed, and the causal mask no longer fits",
    ("scrambled",),
    (18,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
VOCAB, PERIOD, LENGTH, WIDTH = 12, 4, 16, 32


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v = (nn.Linear(width, width) for _ in range(3))
        self.out = nn.Linear(width, width)

    def split(self, x):
        b, t, _ = x.shape
        return x.view(b, t, self.heads, -1).transpose(1, 2)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.split(self.q(x)), self.split(self.k(x)), self.split(self.v(x))
        scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
        mask = torch.triu(torch.ones(t, t, dtype=torch.bool), diagonal=1)
        att = scores.masked_fill(mask, float("-inf")).softmax(dim=-1)
        return self.out((att @ v).transpose(1, 2).reshape(b, t, c))


class TinyLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok, self.pos = nn.Embedding(VOCAB, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.att, self.norm1, self.norm2 = Attention(WIDTH, 4), nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 64), nn.GELU(), nn.Linear(64, WIDTH))
        self.head = nn.Linear(WIDTH, VOCAB)

    def forward(self, ids):
        x = self.tok(ids) + self.pos(torch.arange(ids.size(1)))
        x = x + self.att(self.norm1(x))
        return self.head(x + self.mlp(self.norm2(x)))


def sample(n):
    return torch.randint(VOCAB, (n, PERIOD)).repeat(1, LENGTH // PERIOD + 1)[:, : LENGTH + 1]


model = TinyLM()
opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
for step in range(301):
    seq = sample(64)
    loss = F.cross_entropy(model(seq[:, :-1]).flatten(0, 1), seq[:, 1:].flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 50 == 0:
        truth = sample(64)[:, :LENGTH]
        ids = truth[:, :8]
        with torch.no_grad():
            while ids.size(1) < LENGTH:
                ids = torch.cat([ids, model(ids)[:, -1:].argmax(-1)], dim=1)
        right = (ids[:, 8:] == truth[:, 8:]).float().mean().item()
        print(f"step {step} loss {loss.item():.3f} continuation accuracy {right:.3f}")
""",
    (
        "        return x.view(b, t, self.heads, -1).transpose(1, 2)\n",
        "        return x.view(b, self.heads, t, -1)\n",
    ),
)

fault(
    "padding mask the wrong way round",
    "src_key_padding_mask is True for the real tokens, so attention sees nothing but padding",
    ("wrong way round",),
    (39,),
    """\
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(3)
PAD, CLS, VOCAB = 0, 1, 20


class Reviews(Dataset):
    def __init__(self, n):
        self.rows = []
        for _ in range(n):
            words = torch.randint(2, VOCAB, (int(torch.randint(5, 15, (1,))),))
            score = (words >= 11).sum() - (words < 11).sum()
            self.rows.append((torch.cat([torch.tensor([CLS]), words]), (score > 0).long()))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def collate(batch):
    ids, labels = zip(*batch)
    return pad_sequence(ids, batch_first=True, padding_value=PAD), torch.stack(labels)


class Classifier(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, width, padding_idx=PAD)
        layer = nn.TransformerEncoderLayer(width, 4, 64, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.head = nn.Linear(width, 2)

    def forward(self, ids):
        mask = ids == PAD
        x = self.encoder(self.embed(ids), src_key_padding_mask=mask)
        return self.head(x[:, 0])


train = DataLoader(Reviews(1200), batch_size=32, shuffle=True, collate_fn=collate)
test = DataLoader(Reviews(400), batch_size=100, collate_fn=collate)
model = Classifier()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(6):
    model.train()
    total = 0.0
    for ids, labels in train:
        loss = criterion(model(ids), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        hits = sum((model(ids).argmax(1) == labels).sum().item() for ids, labels in test)
    print(f"epoch {epoch} loss {total / len(train):.3f} test accuracy {hits / 400:.3f}")
""",
    ("        mask = ids == PAD\n", "        mask = ids != PAD\n"),
)

fault(
    "seed set again for every batch",
    "get_batch sets the global seed, so that every step trains on one and the same batch",
    ("seed again",),
    (17,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(11)
letters = "abcdefghijklmnopqrst"
table = torch.distributions.Dirichlet(torch.full((len(letters),), 0.15)).sample((len(letters),))
text = [0]
for _ in range(12000):
    text.append(int(torch.multinomial(table[text[-1]], 1)))
data = torch.tensor(text)
splits = {"train": data[:10000], "val": data[10000:]}
block_size, batch_size = 24, 16


def get_batch(split):
    source = splits[split]
    ix = torch.randint(len(source) - block_size - 1, (batch_size,))
    x = torch.stack([source[i : i + block_size] for i in ix])
    y = torch.stack([source[i + 1 : i + block_size + 1] for i in ix])
    return x, y


class CharModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(len(letters), 32)
        self.gru = nn.GRU(32, 64, batch_first=True)
        self.out = nn.Linear(64, len(letters))

    def forward(self, x, y):
        hidden, _ = self.gru(self.emb(x))
        return F.cross_entropy(self.out(hidden).view(-1, len(letters)), y.view(-1))


@torch.no_grad()
def estimate_loss(model, rounds=5):
    model.eval()
    losses = {s: sum(model(*get_batch(s)).item() for _ in range(rounds)) / rounds for s in splits}
    model.train()
    return losses


model = CharModel()
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
for it in range(301):
    if it % 50 == 0:
        losses = estimate_loss(model)
        print(f"iter {it}: train {losses['train']:.3f} val {losses['val']:.3f}")
    loss = model(*get_batch("train"))
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
""",
    (
        "    source = splits[split]\n",
        """\
    torch.manual_seed(1337)
    source = splits[split]
""",
    ),
)
