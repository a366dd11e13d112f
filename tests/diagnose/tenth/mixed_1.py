"""Programs with a fault each, their healthy counterparts, and others that only look suspicious.

Invariant: written by someone who had read no rule.
"""

# ruff: noqa: E501  (what is wrong is one string)

from .program import fault

fault(
    "support ticket routing with an embedding bag",
    "forward returns softmax probabilities and CrossEntropyLoss applies log-softmax again, so gradients are squashed, the loss cannot fall below about 2.1 and learning crawls",
    ("soft twice",),
    (31,),
    """\
import random
import torch
from torch import nn

random.seed(3)
torch.manual_seed(3)

QUEUES = ["billing", "login", "refund", "delivery", "api", "mobile", "invoice", "hardware",
          "network", "backup", "license", "account", "printer", "email", "security", "training",
          "export", "search", "reports", "other"]
VOCAB = 400
topic_words = {q: random.sample(range(VOCAB), 20) for q in QUEUES}


def make_ticket(queue):
    n = random.randint(8, 25)
    return [random.choice(topic_words[queue]) if random.random() < 0.5 else random.randrange(VOCAB)
            for _ in range(n)]


class TicketRouter(nn.Module):
    def __init__(self, vocab, dim, n_queues):
        super().__init__()
        self.words = nn.EmbeddingBag(vocab, dim, mode="mean")
        self.hidden = nn.Linear(dim, dim)
        self.out = nn.Linear(dim, n_queues)

    def forward(self, tokens, offsets):
        x = self.words(tokens, offsets)
        x = torch.relu(self.hidden(x))
        return self.out(x)


class Trainer:
    def __init__(self, model, lr):
        self.model = model
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)

    @staticmethod
    def collate(batch):
        tokens, offsets, labels = [], [], []
        for words, label in batch:
            offsets.append(len(tokens))
            tokens.extend(words)
            labels.append(label)
        return torch.tensor(tokens), torch.tensor(offsets), torch.tensor(labels)

    def fit(self, data, epochs, batch_size=32):
        for epoch in range(epochs):
            random.shuffle(data)
            total = 0.0
            for i in range(0, len(data), batch_size):
                tokens, offsets, labels = self.collate(data[i:i + batch_size])
                loss = self.criterion(self.model(tokens, offsets), labels)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                total += loss.item() * len(labels)
            print(f"epoch {epoch}: loss {total / len(data):.3f}")

    @torch.no_grad()
    def accuracy(self, data):
        tokens, offsets, labels = self.collate(data)
        return (self.model(tokens, offsets).argmax(-1) == labels).float().mean().item()


tickets = []
for i in range(4000):
    label = random.randrange(len(QUEUES))
    tickets.append((make_ticket(QUEUES[label]), label))
train, test = tickets[:3200], tickets[3200:]

trainer = Trainer(TicketRouter(VOCAB, 32, len(QUEUES)), lr=0.3)
trainer.fit(train, epochs=5)
print("test accuracy %.3f" % trainer.accuracy(test))
""",
    ("        return self.out(x)\n", "        return torch.softmax(self.out(x), dim=-1)\n"),
)

fault(
    "review polarity with negation, LSTM",
    "the LSTM is built without batch_first=True but is fed (batch, time, features), so it runs over the batch and each review is judged by its last word only",
    ("other axis",),
    (36,),
    """\
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(11)

words = ["<pad>", "not", "good", "great", "nice", "bad", "awful", "boring", "the", "film", "was",
         "actor", "plot", "really", "so", "and", "then", "scene", "music", "ending"]
idx = {w: i for i, w in enumerate(words)}
filler = words[8:]
LENGTH = 10


def build(n, gen):
    xs, ys = [], []
    for _ in range(n):
        tokens = [filler[k] for k in torch.randint(len(filler), (LENGTH,), generator=gen).tolist()]
        pos = int(torch.randint(1, LENGTH - 2, (1,), generator=gen))
        positive = bool(torch.randint(2, (1,), generator=gen))
        negated = bool(torch.randint(2, (1,), generator=gen))
        choices = ["good", "great", "nice"] if positive else ["bad", "awful", "boring"]
        tokens[pos] = choices[int(torch.randint(3, (1,), generator=gen))]
        if negated:
            tokens[pos - 1] = "not"
        elif torch.rand(1, generator=gen) < 0.5:
            tokens[pos + 1] = "not"
        xs.append([idx[t] for t in tokens])
        ys.append(int(positive != negated))
    return torch.tensor(xs), torch.tensor(ys)


class Polarity(nn.Module):
    def __init__(self, emb=24, hid=48):
        super().__init__()
        self.emb = nn.Embedding(len(words), emb, padding_idx=0)
        self.lstm = nn.LSTM(emb, hid, batch_first=True)
        self.fc = nn.Linear(hid, 2)

    def forward(self, x):
        out, _ = self.lstm(self.emb(x))
        return self.fc(out[:, -1])


g = torch.Generator().manual_seed(5)
x_train, y_train = build(2000, g)
x_val, y_val = build(400, g)
loader = DataLoader(TensorDataset(x_train, y_train), batch_size=50, shuffle=True)

model = Polarity()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
criterion = nn.CrossEntropyLoss()

for epoch in range(9):
    model.train()
    running = 0.0
    for xb, yb in loader:
        opt.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        opt.step()
        running += loss.item()
    model.eval()
    with torch.no_grad():
        acc = (model(x_val).argmax(1) == y_val).float().mean()
    print(f"{epoch:2d} loss {running / len(loader):.3f} val acc {acc:.3f}")
""",
    ("nn.LSTM(emb, hid, batch_first=True)", "nn.LSTM(emb, hid)"),
)

fault(
    "small GPT on generated sentences",
    "self-attention is not causal, so every position sees the token it has to predict: training loss falls far below the entropy of the text while word-by-word prediction is bad",
    ("sees ahead",),
    (45,),
    """\
import math
import random
import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(0)
torch.manual_seed(0)

SUBJ = ["cat", "dog", "bird", "horse"]
VERB = {"cat": ["sees", "hunts"], "dog": ["chases", "sees"], "bird": ["picks", "finds"], "horse": ["finds", "eats"]}
OBJ = {"sees": ["mice", "stars"], "hunts": ["mice", "flies"], "chases": ["cars", "balls"],
       "picks": ["rain", "songs"], "finds": ["seeds", "grass"], "eats": ["grass", "hay"]}


def sentence():
    s = random.choice(SUBJ)
    v = random.choice(VERB[s])
    return ["the", s, v, random.choice(OBJ[v]), "."]


corpus = [w for _ in range(3000) for w in sentence()]
vocab = sorted(set(corpus))
stoi = {w: i for i, w in enumerate(vocab)}
data = torch.tensor([stoi[w] for w in corpus])

CTX, DIM, HEADS, LAYERS = 16, 48, 4, 2


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1 = nn.LayerNorm(DIM)
        self.qkv = nn.Linear(DIM, 3 * DIM, bias=False)
        self.proj = nn.Linear(DIM, DIM)
        self.ln2 = nn.LayerNorm(DIM)
        self.mlp = nn.Sequential(nn.Linear(DIM, 4 * DIM), nn.GELU(), nn.Linear(4 * DIM, DIM))

    def attend(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).split(C, dim=2)
        q = q.view(B, T, HEADS, C // HEADS).transpose(1, 2)
        k = k.view(B, T, HEADS, C // HEADS).transpose(1, 2)
        v = v.view(B, T, HEADS, C // HEADS).transpose(1, 2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(y.transpose(1, 2).reshape(B, T, C))

    def forward(self, x):
        x = x + self.attend(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(len(vocab), DIM)
        self.pos = nn.Parameter(torch.randn(CTX, DIM) * 0.02)
        self.blocks = nn.Sequential(*[Block() for _ in range(LAYERS)])
        self.head = nn.Sequential(nn.LayerNorm(DIM), nn.Linear(DIM, len(vocab)))

    def forward(self, idx):
        return self.head(self.blocks(self.tok(idx) + self.pos[: idx.size(1)]))


model = GPT()
opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
for step in range(251):
    start = torch.randint(len(data) - CTX - 1, (32,)).tolist()
    x = torch.stack([data[i:i + CTX] for i in start])
    y = torch.stack([data[i + 1:i + CTX + 1] for i in start])
    loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    if step % 50 == 0:
        print(step, round(loss.item(), 3), "ppl", round(math.exp(loss.item()), 2))

model.eval()
held_out = [[stoi[w] for w in sentence() + sentence() + sentence()] for _ in range(200)]
held_out = torch.tensor(held_out)
nll = []
with torch.no_grad():
    for t in range(1, held_out.size(1)):
        logits = model(held_out[:, :t])[:, -1]
        nll.append(F.cross_entropy(logits, held_out[:, t]).item())
print("held-out sentences, word by word: ppl %.2f" % math.exp(sum(nll) / len(nll)))
""",
    ("F.scaled_dot_product_attention(q, k, v, is_causal=True)", "F.scaled_dot_product_attention(q, k, v)"),
)

fault(
    "stateful character GRU over one long text",
    "the hidden state is carried to the next chunk without detach, so the second backward goes into the freed graph of the first chunk and raises",
    ("second pass",),
    (35, 38),
    """\
import torch
from torch import nn

torch.manual_seed(21)

lines = ["row row row your boat", "gently down the stream", "merrily merrily merrily merrily",
         "life is but a dream", "the wheels on the bus go round and round", "all through the town"]
order = torch.randint(len(lines), (500,), generator=torch.Generator().manual_seed(2)).tolist()
text = "\\n".join(lines[i] for i in order)
chars = sorted(set(text))
codes = torch.tensor([chars.index(c) for c in text])

BATCH, BPTT, HIDDEN = 16, 32, 96

# each row is one contiguous part of the text
usable = (len(codes) - 1) // BATCH * BATCH
inputs = codes[:usable].view(BATCH, -1)
targets = codes[1:usable + 1].view(BATCH, -1)

embed = nn.Embedding(len(chars), 32)
gru = nn.GRU(32, HIDDEN, batch_first=True)
readout = nn.Linear(HIDDEN, len(chars))
params = [*embed.parameters(), *gru.parameters(), *readout.parameters()]
optimizer = torch.optim.RMSprop(params, lr=2e-3)
criterion = nn.CrossEntropyLoss()


def run_epoch():
    h = torch.zeros(1, BATCH, HIDDEN)
    total, n = 0.0, 0
    for t in range(0, inputs.size(1) - BPTT, BPTT):
        x = inputs[:, t:t + BPTT]
        y = targets[:, t:t + BPTT]
        h = h.detach()
        optimizer.zero_grad()
        out, h = gru(embed(x), h)
        loss = criterion(readout(out).reshape(-1, len(chars)), y.reshape(-1))

        loss.backward()
        nn.utils.clip_grad_norm_(params, 1.0)
        optimizer.step()
        total, n = total + loss.item(), n + 1
    return total / n


def sample(length, start="r"):
    h, c, out = None, torch.tensor([[chars.index(start)]]), [start]
    with torch.no_grad():
        for _ in range(length):
            o, h = gru(embed(c), h)
            c = readout(o[:, -1]).argmax(-1, keepdim=True)
            out.append(chars[c.item()])
    return "".join(out)


for epoch in range(8):
    print("epoch", epoch, "bits per char %.3f" % (run_epoch() / 0.6931))
print(repr(sample(60)))
""",
    ("        h = h.detach()\n", ""),
)

fault(
    "used car prices from tabular features",
    "F.dropout without training=self.training stays on in eval mode, so half of the units are dropped at test time and the predictions are noisy",
    ("draws always",),
    (45, 47),
    """\
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

rng = np.random.default_rng(42)
torch.manual_seed(42)

N = 3000
brand = rng.integers(0, 8, N)
fuel = rng.integers(0, 3, N)
age = rng.uniform(0, 15, N)
mileage = age * rng.uniform(8, 20, N)
power = rng.normal(110, 30, N)
brand_level = rng.normal(0, 0.35, 8)
log_price = (3.2 + brand_level[brand] - 0.11 * age - 0.0015 * mileage + 0.008 * (power - 110)
             + np.array([0.0, 0.05, 0.25])[fuel] * (age < 6) + rng.normal(0, 0.05, N))

numeric = np.stack([age, mileage, power], 1)
train_rows = np.arange(N) < 2400
mu, sd = numeric[train_rows].mean(0), numeric[train_rows].std(0)
numeric = torch.tensor((numeric - mu) / sd, dtype=torch.float32)
cats = torch.tensor(np.stack([brand, fuel], 1))
y = torch.tensor((log_price - log_price[train_rows].mean()) / log_price[train_rows].std(), dtype=torch.float32)
train_rows = torch.tensor(train_rows)


class PriceNet(nn.Module):

    def __init__(self, cardinalities, n_numeric, width=96, p=0.5):
        super().__init__()
        self.p = p
        self.embs = nn.ModuleList([nn.Embedding(c, 4) for c in cardinalities])
        self.fc1 = nn.Linear(n_numeric + 4 * len(cardinalities), width)
        self.fc2 = nn.Linear(width, width)
        self.out = nn.Linear(width, 1)

    def features(self, num, cat):
        e = [emb(cat[:, i]) for i, emb in enumerate(self.embs)]
        return torch.cat([num, *e], dim=1)

    def forward(self, num, cat):
        h = self.features(num, cat)
        h = F.relu(self.fc1(h))
        h = F.dropout(h, p=self.p, training=self.training)
        h = F.relu(self.fc2(h))
        h = F.dropout(h, self.p, self.training)
        return self.out(h).squeeze(-1)


def r2(model, rows):
    model.eval()
    with torch.no_grad():
        pred = model(numeric[rows], cats[rows])
    resid = ((y[rows] - pred) ** 2).mean()
    return (1 - resid / y[rows].var(unbiased=False)).item()


net = PriceNet([8, 3], 3)
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
rows = train_rows.nonzero().squeeze(1)
for epoch in range(25):
    net.train()
    for chunk in rows[torch.randperm(len(rows))].split(64):
        loss = F.mse_loss(net(numeric[chunk], cats[chunk]), y[chunk])
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1} loss {loss.item():.3f} R2 test {r2(net, ~train_rows):.3f}")
""",
    ("F.dropout(h, p=self.p, training=self.training)", "F.dropout(h, p=self.p)"),
    ("F.dropout(h, self.p, self.training)", "F.dropout(h, self.p)"),
)

fault(
    "vote counting transformer with padded sequences",
    "src_key_padding_mask is given True for real tokens instead of for padding, so attention looks at padding only and the CLS position learns nothing about the sequence",
    ("wrong way round",),
    (47,),
    """\
import torch
from torch import nn

torch.manual_seed(1)
PAD, CLS, YES, NO = 0, 1, 2, 3
VOCAB = 12
MAX_LEN = 18


def sample_batch(size):
    tokens = torch.full((size, MAX_LEN), PAD)
    lengths = torch.randint(6, MAX_LEN, (size,))
    labels = torch.empty(size, dtype=torch.long)
    tokens[:, 0] = CLS
    for i, n in enumerate(lengths.tolist()):
        body = torch.randint(4, VOCAB, (n - 1,))
        votes = torch.rand(n - 1) < 0.7
        yes = torch.rand(n - 1) < torch.rand(1)
        body[votes & yes] = YES
        body[votes & ~yes] = NO
        tokens[i, 1:n] = body
        labels[i] = int((body == YES).sum() > (body == NO).sum())
    return tokens, lengths, labels


def length_mask(lengths, max_len):
    return torch.arange(max_len)[None, :] < lengths[:, None]


class VoteModel(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, d, padding_idx=PAD)
        self.pos = nn.Embedding(MAX_LEN, d)
        layer = nn.TransformerEncoderLayer(d, nhead=4, dim_feedforward=64, dropout=0.0,
                                           batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=2, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(d)
        self.head = nn.Linear(d, 2)

    def forward(self, tokens, lengths):
        mask = length_mask(lengths, tokens.size(1))

        h = self.tok(tokens) + self.pos.weight[: tokens.size(1)]

        # the pad positions must not take part in attention
        h = self.encoder(h, src_key_padding_mask=~mask)
        return self.head(self.norm(h[:, 0]))


pool = sample_batch(2500)
held_out = sample_batch(600)
model = VoteModel()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
loss_fn = nn.CrossEntropyLoss()

for epoch in range(3):
    model.train()
    losses = []
    for ids in torch.randperm(2500).split(50):
        tokens, lengths, labels = (t[ids] for t in pool)
        loss = loss_fn(model(tokens, lengths), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    model.eval()
    with torch.no_grad():
        hit = model(held_out[0], held_out[1]).argmax(-1) == held_out[2]
    print(f"epoch {epoch} loss {torch.stack(losses).mean():.4f} held-out accuracy {hit.float().mean():.3f}")
""",
    ("src_key_padding_mask=~mask", "src_key_padding_mask=mask"),
)
