"""Texts: programs with a fault each, and healthy ones.

Invariant: written by someone who had read no rule.
"""

# ruff: noqa: E501  (a program is text)

from .program import fault, healthy

fault(
    "char lm",
    "backward or step missing or at the wrong place: optimizer.step() once an epoch, out of the batch loop",
    ("unused",),
    (30,),
    """\
import torch
from torch import nn
from torch.utils.data import TensorDataset, DataLoader

torch.manual_seed(0)
text = "the cat sat on the mat and the dog sat on the log while the rat ran to the hat " * 8
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
data = torch.tensor([stoi[c] for c in text])
context = 4
X = torch.stack([data[i:i + context] for i in range(len(data) - context)])
Y = data[context:]
loader = DataLoader(TensorDataset(X, Y), batch_size=32, shuffle=True)

model = nn.Sequential(
    nn.Embedding(len(chars), 8),
    nn.Flatten(),
    nn.Linear(8 * context, 48),
    nn.ReLU(),
    nn.Linear(48, len(chars)),
)
loss_fn = nn.CrossEntropyLoss()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)

for epoch in range(12):
    for xb, yb in loader:
        opt.zero_grad()
        loss = loss_fn(model(xb), yb)
        loss.backward()
        opt.step()
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1}: loss {loss.item():.3f}")

with torch.no_grad():
    print("final loss %.3f" % loss_fn(model(X), Y).item())
""",
    ("        opt.step()\n", "    opt.step()\n"),
)

fault(
    "froze the head",
    "parameters that are not trained: the test on the names freezes the head and not the embedding",
    ("frozen random",),
    (27,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
vocab, classes = 60, 6
topic = torch.randint(0, classes, (vocab,))

def sample(n):
    tokens = torch.randint(0, vocab, (n, 9))
    counts = F.one_hot(topic[tokens], classes).sum(1)
    return tokens, counts.argmax(1)

class TextNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(vocab, 64)
        self.fc1 = nn.Linear(64, 64)
        self.fc2 = nn.Linear(64, classes)

    def forward(self, tokens):
        h = self.embedding(tokens).mean(1)
        return self.fc2(torch.relu(self.fc1(h)))

net = TextNet()
for name, param in net.named_parameters():
    if "fc" not in name:
        param.requires_grad = False
optimizer = torch.optim.Adam((p for p in net.parameters() if p.requires_grad), lr=2e-3)

for step in range(300):
    tokens, target = sample(64)
    loss = F.cross_entropy(net(tokens), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 60 == 0:
        print("step %d loss %.3f" % (step, loss.item()))
tokens, target = sample(1000)
with torch.no_grad():
    print("accuracy %.3f" % (net(tokens).argmax(1) == target).float().mean())
""",
    ('    if "fc" not in name:\n', '    if "fc" in name:\n'),
)

healthy(
    "accumulation",
    """\
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
tokens = torch.randint(0, 100, (640, 12))
labels = ((tokens < 30).sum(1) > (tokens > 70).sum(1)).long()
loader = DataLoader(TensorDataset(tokens, labels), batch_size=8, shuffle=True)
model = nn.Sequential(nn.EmbeddingBag(100, 16), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
criterion = nn.CrossEntropyLoss()
accumulate = 4

for epoch in range(8):
    optimizer.zero_grad()
    running = 0.0
    for i, (x, y) in enumerate(loader):
        loss = criterion(model(x), y) / accumulate
        loss.backward()
        running += loss.item() * accumulate
        if (i + 1) % accumulate == 0:
            optimizer.step()
            optimizer.zero_grad()
    print("epoch", epoch, "loss %.4f" % (running / len(loader)))
""",
)

healthy(
    "sparse rows",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
VOCAB, GROUPS = 400, 8

class SkipGram(nn.Module):
    def __init__(self, dim=12):
        super().__init__()
        self.centre = nn.Embedding(VOCAB, dim)
        self.context = nn.Embedding(VOCAB, dim)
        nn.init.zeros_(self.context.weight)

    def forward(self, c, pos, neg):
        v = self.centre(c)
        good = (v * self.context(pos)).sum(1)
        bad = torch.bmm(self.context(neg), v.unsqueeze(2)).squeeze(2)
        return -(F.logsigmoid(good).mean() + F.logsigmoid(-bad).sum(1).mean())

model = SkipGram()
opt = torch.optim.Adagrad(model.parameters(), lr=0.3)
for step in range(500):
    c = torch.randint(0, VOCAB, (32,))
    pos = (torch.randint(0, VOCAB // GROUPS, (32,)) * GROUPS + c % GROUPS)
    neg = torch.randint(0, VOCAB, (32, 3))
    loss = model(c, pos, neg)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 100 == 0:
        print("step", step, "loss %.4f" % loss.item())
print("last loss %.4f (4 x log 2 = 2.773 at the start)" % loss.item())
""",
)

healthy(
    "two optimizers",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
emb = nn.Embedding(50, 8)
mlp = nn.Sequential(nn.Linear(8, 24), nn.ReLU(), nn.Linear(24, 1))
emb_opt = torch.optim.SGD(emb.parameters(), lr=1.0)
mlp_opt = torch.optim.Adam(mlp.parameters(), lr=0.01)
value = torch.randn(50)
for step in range(400):
    words = torch.randint(0, 50, (32, 5))
    target = value[words].mean(1)
    loss = F.mse_loss(mlp(emb(words).mean(1)).squeeze(1), target)
    for o in (emb_opt, mlp_opt):
        o.zero_grad()
    loss.backward()
    for o in (emb_opt, mlp_opt):
        o.step()
    if step % 80 == 0:
        print(step, loss.item())
print("last loss %.4f, variance of the targets %.4f" % (loss.item(), target.var()))
""",
)

fault(
    "labels from one",
    "exceptions: labels out of range for CrossEntropyLoss",
    ("out of range",),
    (15, 25),
    """\
import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader

class Reviews(Dataset):
    def __init__(self, n):
        self.tokens = torch.randint(0, 50, (n, 10))
        strength = (self.tokens.float().mean(1) - 24.5) / 4.6
        self.stars = (strength.clamp(-1.4, 1.4) * 1.7).round().clamp(-2, 2).long() + 3

    def __len__(self):
        return len(self.stars)

    def __getitem__(self, i):
        return self.tokens[i], self.stars[i] - 1

def main():
    torch.manual_seed(0)
    loader = DataLoader(Reviews(500), batch_size=50, shuffle=True)
    model = nn.Sequential(nn.EmbeddingBag(50, 8), nn.Linear(8, 5))
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
    for epoch in range(12):
        for tokens, stars in loader:
            loss = criterion(model(tokens), stars)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if epoch % 3 == 0:
            print("epoch", epoch, "loss", loss.item())
    print("last loss", loss.item())

main()
""",
    ("        return self.tokens[i], self.stars[i] - 1\n", "        return self.tokens[i], self.stars[i]\n"),
)

fault(
    "nll without log",
    "outputs and loss do not fit: softmax, without log, before nll_loss",
    ("no logs",),
    (20, 28),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
freq = torch.softmax(0.7 * torch.randn(4, 26), dim=1)

def words(n, length=6):
    lang = torch.randint(0, 4, (n,))
    return torch.multinomial(freq[lang], length, replacement=True), lang

class LanguageNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.letters = nn.Embedding(26, 8)
        self.fc = nn.Linear(8, 4)

    def forward(self, w):
        h = self.letters(w).mean(dim=1)
        return F.log_softmax(self.fc(h), dim=1)

model = LanguageNet()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for i in range(300):
    w, lang = words(32)
    optimizer.zero_grad()
    out = model(w)
    loss = F.nll_loss(out, lang)
    loss.backward()
    optimizer.step()
    if i % 60 == 0:
        print(i, "loss", loss.item())
w, lang = words(2000)
p = model(w).detach()
p = p.exp()
print("cross entropy of the probabilities %.3f" % F.nll_loss(p.log(), lang).item())
""",
    ("        return F.log_softmax(self.fc(h), dim=1)\n", "        return F.softmax(self.fc(h), dim=1)\n"),
    ("p = p.exp()\n", "p = p.clamp(min=1e-12)\n"),
)

fault(
    "numpy pooling",
    "the history is cut: a detour over numpy between the recurrent layer and the head",
    ("not reached",),
    (17,),
    """\
import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(0)
VOCAB = 20

class LSTMClassifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, 8)
        self.lstm = nn.LSTM(8, 12, batch_first=True)
        self.out = nn.Linear(12, 2)

    def forward(self, tokens):
        states, _ = self.lstm(self.embed(tokens))
        pooled = states.max(dim=1).values
        return self.out(pooled)

def get_batch(n=32):
    tokens = torch.randint(1, VOCAB, (n, 8))
    label = torch.randint(0, 2, (n,))
    where = torch.randint(0, 7, (n,))
    rows = torch.arange(n)
    tokens[rows, where] = 3
    tokens[rows, where + 1] = torch.where(label == 1, 5, 6)
    return tokens, label

model = LSTMClassifier()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
recent = []
for step in range(120):
    tokens, label = get_batch()
    optimizer.zero_grad()
    loss = criterion(model(tokens), label)
    loss.backward()
    optimizer.step()
    recent.append(loss.item())
    if step % 20 == 0:
        print("step", step, "loss", round(loss.item(), 3))
print("mean of the last 20 losses", round(float(np.mean(recent[-20:])), 3))
""",
    (
        "        pooled = states.max(dim=1).values\n",
        "        pooled = torch.from_numpy(np.max(states.detach().numpy(), axis=1))\n",
    ),
)

fault(
    "review bag",
    "gradients not cleared: zero_grad never called",
    ("used twice",),
    (26, 28),
    """\
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
VOCAB, LENGTH = 200, 12
words = torch.randint(0, VOCAB, (800, LENGTH))
mood = torch.randn(VOCAB)
labels = (mood[words].sum(1) > 0).float()
train = TensorDataset(words[:600], labels[:600])
loader = DataLoader(train, batch_size=32, shuffle=True)

class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.EmbeddingBag(VOCAB, 16, mode="mean")
        self.fc = nn.Linear(16, 1)

    def forward(self, x):
        return self.fc(self.emb(x)).squeeze(1)

model = Bag()
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=1.0, momentum=0.9)
for epoch in range(12):
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
    if epoch % 3 == 0:
        print("epoch", epoch, "loss", loss.item())
with torch.no_grad():
    held = model(words[600:])
    print("held-out loss %.3f acc %.3f" % (criterion(held, labels[600:]), ((held > 0) == (labels[600:] > 0)).float().mean()))
""",
    ("        optimizer.zero_grad()\n", ""),
)

fault(
    "scheduler in batches",
    "learning rate: scheduler.step() once a batch in place of once an epoch",
    ("rate",),
    (26,),
    """\
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
VOCAB, TOPICS = 80, 5
topic_words = torch.randint(0, VOCAB, (TOPICS, 10))
y = torch.randint(0, TOPICS, (640,))
pick = torch.randint(0, 10, (640, 6))
x = topic_words[y].gather(1, pick)
x = torch.where(torch.rand(640, 6) < 0.4, torch.randint(0, VOCAB, (640, 6)), x)

loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
model = nn.Sequential(nn.EmbeddingBag(VOCAB, 16), nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, TOPICS))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
criterion = nn.CrossEntropyLoss()

for epoch in range(10):
    total = 0.0
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
        total += loss.item()
    scheduler.step()
    print("epoch %d loss %.4f lr %.2g" % (epoch, total / len(loader), optimizer.param_groups[0]["lr"]))
print("last mean loss %.4f" % (total / len(loader)))
""",
    ("        optimizer.step()\n", "        optimizer.step()\n        scheduler.step()\n"),
    ("        total += loss.item()\n    scheduler.step()\n", "        total += loss.item()\n"),
)

fault(
    "shuffled labels",
    "labels and data: inputs and labels are shuffled by two different permutations",
    ("apart",),
    (18, 19),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
POSITIVE, NEGATIVE = list(range(0, 10)), list(range(10, 20))
sentences, labels = [], []
for i in range(800):
    good = i % 2
    words = torch.randint(20, 60, (8,))
    key = POSITIVE if good else NEGATIVE
    words[torch.randint(0, 8, (1,))] = key[i % 10]
    sentences.append(words)
    labels.append(good)
sentences = torch.stack(sentences)
labels = torch.tensor(labels)

perm = torch.randperm(800)
sentences = sentences[perm]
labels = labels[perm]
train_x, test_x = sentences[:600], sentences[600:]
train_y, test_y = labels[:600], labels[600:]

embedding = nn.Embedding(60, 12)
linear = nn.Linear(12, 2)
opt = torch.optim.Adam([*embedding.parameters(), *linear.parameters()], lr=0.01)
for epoch in range(15):
    for x, y in zip(train_x.split(30), train_y.split(30)):
        loss = F.cross_entropy(linear(embedding(x).mean(1)), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 3 == 0:
        print("epoch", epoch, "train loss %.3f" % loss.item())
with torch.no_grad():
    print("test accuracy %.3f" % (linear(embedding(test_x).mean(1)).argmax(1) == test_y).float().mean())
""",
    (
        "perm = torch.randperm(800)\nsentences = sentences[perm]\nlabels = labels[perm]\n",
        "sentences = sentences[torch.randperm(800)]\nlabels = labels[torch.randperm(800)]\n",
    ),
)

fault(
    "warmup never stepped",
    "learning rate: the scheduler that warms up from almost nothing is never stepped",
    ("rate",),
    (29,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
words = "a rose is a rose is a rose and a nose is a nose but a rose is not a nose".split() * 12
vocab = sorted(set(words))
ids = torch.tensor([vocab.index(w) for w in words])

class TrigramLM(nn.Module):
    def __init__(self, n, d=16):
        super().__init__()
        self.emb = nn.Embedding(n, d)
        self.fc1 = nn.Linear(2 * d, 48)
        self.fc2 = nn.Linear(48, n)

    def forward(self, x):
        return self.fc2(torch.tanh(self.fc1(self.emb(x).flatten(1))))

lm = TrigramLM(len(vocab))
optimizer = torch.optim.Adam(lm.parameters(), lr=5e-3)
warmup = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1.0, (s + 1) / 400))
for step in range(300):
    at = torch.randint(0, len(ids) - 2, (32,))
    context = torch.stack([ids[at], ids[at + 1]], 1)
    loss = F.cross_entropy(lm(context), ids[at + 2])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    warmup.step()
    if step % 50 == 0:
        print("step", step, "loss %.3f" % loss.item())
print("last loss %.3f" % loss.item())
""",
    ("    warmup.step()\n", ""),
)
