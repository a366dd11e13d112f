"""Text: programs with a fault each, and healthy ones.

Invariant: written by someone who had read no rule.
"""

from .program import fault

fault(
    "attention pool",
    "softmax over the batch axis instead of the sequence axis",
    ("sample axis",),
    (31,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(44)
L, V, D = 10, 40, 24
MARK = 0


def make(n):
    \"\"\"The word after the marker decides the class.\"\"\"
    ids = torch.randint(1, V, (n, L))
    pos = torch.randint(0, L - 1, (n,))
    rows = torch.arange(n)
    ids[rows, pos] = MARK
    return ids, ids[rows, pos + 1] % 3


class AttnPool(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(V, D)
        self.conv = nn.Conv1d(D, D, 2, padding=1)
        self.score = nn.Linear(D, 1)
        self.value = nn.Linear(D, D)
        self.out = nn.Linear(D, 3)

    def forward(self, ids):
        h = self.emb(ids).transpose(1, 2)
        h = torch.tanh(self.conv(h)).transpose(1, 2)
        w = F.softmax(self.score(h) * 4, dim=1)
        pooled = (w * self.value(h)).sum(dim=1)
        return self.out(pooled)


model = AttnPool()
opt = torch.optim.Adam(model.parameters(), lr=0.01)
avg = 1.1
for step in range(250):
    ids, y = make(100)
    loss = F.cross_entropy(model(ids), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    avg = 0.95 * avg + 0.05 * loss.item()
    if step % 25 == 24:
        print(f"{step + 1} {avg:.4f}")

with torch.no_grad():
    ids, y = make(500)
    acc = (model(ids).argmax(1) == y).float().mean().item()
    one = (torch.cat([model(ids[i:i + 1]) for i in range(100)]).argmax(1) == y[:100]).float().mean().item()
print("accuracy in a batch", acc, "one at a time", one)
""",
    (
        "        w = F.softmax(self.score(h) * 4, dim=1)\n",
        "        w = F.softmax(self.score(h) * 4, dim=0)\n",
    ),
)

fault(
    "char lm",
    "targets are not shifted by one, the model copies its input and cannot generate",
    ("target given",),
    (29,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(170)

text = "the cat sat on the mat and the dog ran to the log while a bird sang in the tree. " * 4
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
data = torch.tensor([stoi[c] for c in text])
CTX = 16


class CharLM(nn.Module):
    def __init__(self, n, emb=16, hid=48):
        super().__init__()
        self.emb = nn.Embedding(n, emb)
        self.rnn = nn.GRU(emb, hid, batch_first=True)
        self.out = nn.Linear(hid, n)

    def forward(self, ids, h=None):
        y, h = self.rnn(self.emb(ids), h)
        return self.out(y), h


def get_batch(n=24):
    start = torch.randint(0, len(data) - CTX - 1, (n,)).tolist()
    x = torch.stack([data[s:s + CTX] for s in start])
    y = torch.stack([data[s + 1:s + CTX + 1] for s in start])
    return x, y


model = CharLM(len(chars))
opt = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(120):
    x, y = get_batch()
    logits, _ = model(x)
    loss = F.cross_entropy(logits.reshape(-1, len(chars)), y.reshape(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 15 == 0:
        print(f"step {step} loss {loss.item():.4f}")

with torch.no_grad():
    ids = data[:10].unsqueeze(0)
    logits, h = model(ids)
    written = []
    for _ in range(30):
        nxt = logits[:, -1:].argmax(-1)
        written.append(chars[nxt.item()])
        logits, h = model(nxt, h)
written = "".join(written)
print("prompt:", text[:10], "| written:", written)
print("characters right:", sum(a == b for a, b in zip(written, text[10:40])) / 30)
""",
    (
        "    y = torch.stack([data[s + 1:s + CTX + 1] for s in start])\n",
        "    y = torch.stack([data[s:s + CTX] for s in start])\n",
    ),
)

fault(
    "seq pad",
    "mean over padding: the mask is built from the wrong id (padding is 0, mask tests for 1)",
    (),
    (27,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(120)
PAD, UNK, VOCAB, MAXLEN = 0, 1, 25, 16
polarity = torch.randn(VOCAB)
polarity[:2] = 0.0


def reviews(n, short=False):
    length = torch.randint(2, 6 if short else MAXLEN + 1, (n,))
    ids = torch.randint(2, VOCAB, (n, MAXLEN))
    inside = torch.arange(MAXLEN).unsqueeze(0) < length.unsqueeze(1)
    ids = torch.where(inside, ids, torch.zeros_like(ids))
    rating = polarity[ids].sum(1) / length
    return ids, rating


class BagModel(nn.Module):
    def __init__(self, dim=12):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, dim)
        self.out = nn.Linear(dim, 1)

    def forward(self, ids):
        keep = (ids != PAD).float().unsqueeze(-1)
        e = self.emb(ids) * keep
        mean = e.sum(1) / keep.sum(1).clamp(min=1)
        return self.out(mean).squeeze(1)


net = BagModel()
opt = torch.optim.Adam(net.parameters(), lr=0.02)
avg = None
for step in range(250):
    ids, y = reviews(64)
    loss = F.mse_loss(net(ids), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    avg = loss.item() if avg is None else 0.9 * avg + 0.1 * loss.item()
    if step % 25 == 0:
        print(f"step {step} loss {avg:.5f}")

with torch.no_grad():
    for name, short in (("all", False), ("short", True)):
        ids, y = reviews(400, short)
        print(name, "mse", F.mse_loss(net(ids), y).item(), "variance", y.var().item())
""",
    (
        "        keep = (ids != PAD).float().unsqueeze(-1)\n",
        "        keep = (ids != UNK).float().unsqueeze(-1)\n",
    ),
)

fault(
    "vocab tags",
    "number of classes is one too small, a label is out of range",
    ("out of range",),
    (30,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(7)

TAGS = ["O", "NOUN", "VERB", "ADJ", "PUNCT"]
WORDS = 30
SENT = 6
lexicon = torch.randint(0, len(TAGS), (WORDS,))


def sentences(n):
    w = torch.randint(0, WORDS, (n, SENT))
    return w, lexicon[w]


class Tagger(nn.Module):
    def __init__(self, n_words, n_tags):
        super().__init__()
        self.emb = nn.Embedding(n_words, 16)
        self.rnn = nn.LSTM(16, 16, batch_first=True, bidirectional=True)
        self.fc = nn.Linear(32, n_tags)

    def forward(self, w):
        h, _ = self.rnn(self.emb(w))
        return self.fc(h)


n_tags = len(TAGS)
tagger = Tagger(WORDS, n_tags)
opt = torch.optim.Adam(tagger.parameters(), lr=0.02)

for step in range(80):
    w, t = sentences(24)
    logits = tagger(w)
    loss = F.cross_entropy(logits.reshape(-1, n_tags), t.reshape(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 10 == 0:
        print("step", step, "loss", round(loss.item(), 4))

with torch.no_grad():
    w, t = sentences(100)
    print("tag accuracy", (tagger(w).argmax(-1) == t).float().mean().item())
""",
    ("n_tags = len(TAGS)\n", "n_tags = len(TAGS) - 1\n"),
)
