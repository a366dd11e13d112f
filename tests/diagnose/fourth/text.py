"""Text: programs with a fault each, and their healthy counterparts.

Invariant: written by someone who had read no rule.
"""

from .program import fault

fault(
    "char lm targets",
    "targets are the inputs themselves, not shifted by one character",
    ("target given",),
    (16,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
text = "the cat sat on the mat. the dog sat on the log. " * 12
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
data = torch.tensor([stoi[c] for c in text])
cfg = dict(seq=16, batch=16, emb=16, hid=48, steps=220, lr=5e-3)


def get_batch():
    ix = torch.randint(0, len(data) - cfg["seq"] - 1, (cfg["batch"],)).tolist()
    x = torch.stack([data[i:i + cfg["seq"]] for i in ix])
    y = torch.stack([data[i + 1:i + 1 + cfg["seq"]] for i in ix])
    return x, y


class CharRNN(nn.Module):
    def __init__(self, vocab):
        super().__init__()
        self.emb = nn.Embedding(vocab, cfg["emb"])
        self.rnn = nn.GRU(cfg["emb"], cfg["hid"], batch_first=True)
        self.out = nn.Linear(cfg["hid"], vocab)

    def forward(self, x, h=None):
        z, h = self.rnn(self.emb(x), h)
        return self.out(z), h


model = CharRNN(len(chars))
opt = torch.optim.Adam(model.parameters(), lr=cfg["lr"])
for step in range(cfg["steps"]):
    x, y = get_batch()
    logits, _ = model(x)
    loss = F.cross_entropy(logits.reshape(-1, len(chars)), y.reshape(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 40 == 0 or step == cfg["steps"] - 1:
        print(step, round(loss.item(), 4))

with torch.no_grad():
    s, h = "the c", None
    logits, h = model(torch.tensor([[stoi[c] for c in s]]), h)
    for _ in range(40):
        nxt = logits[0, -1].argmax().item()
        s += chars[nxt]
        logits, h = model(torch.tensor([[nxt]]), h)
print("sample:", s)
""",
    (
        '    y = torch.stack([data[i + 1:i + 1 + cfg["seq"]] for i in ix])\n',
        '    y = torch.stack([data[i:i + cfg["seq"]] for i in ix])\n',
    ),
)

fault(
    "attn pool",
    "attention softmax over the batch, not over the positions",
    ("sample axis",),
    (24,),
    """\
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(9)
B, T, D, V = 32, 10, 16, 30
KEY = 7   # the token after KEY decides the class

def sample(n):
    x = torch.randint(8, V, (n, T))
    p = torch.randint(0, T - 1, (n,))
    y = torch.randint(0, 4, (n,))
    x[torch.arange(n), p] = KEY
    x[torch.arange(n), p + 1] = 8 + y
    x = torch.where((torch.arange(T)[None] > p[:, None] + 1) & (x < 12), x + 4, x)
    return x, y

class Pool(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(V, D)
        self.mix = nn.Conv1d(D, D, 2)
        self.score = nn.Linear(D, 1)
        self.cls = nn.Linear(D, 4)
    def forward(self, x):
        h = torch.tanh(self.mix(self.emb(x).transpose(1, 2))).transpose(1, 2)
        a = F.softmax(self.score(h), dim=1)
        return self.cls((a * h).sum(1))

net = Pool()
opt = torch.optim.Adam(net.parameters(), 1e-2)
for it in range(361):
    x, y = sample(B)
    loss = F.cross_entropy(net(x), y)
    opt.zero_grad(); loss.backward(); opt.step()
    if it % 60 == 0: print(it, round(loss.item(), 4))
x, y = sample(400)
with torch.no_grad():
    full = (net(x).argmax(1) == y).float().mean().item()
    one = torch.cat([net(x[i:i + 1]) for i in range(200)])
print("accuracy in one batch %.3f, one at a time %.3f" % (full, (one.argmax(1) == y[:200]).float().mean().item()))
""",
    ("        a = F.softmax(self.score(h), dim=1)\n", "        a = F.softmax(self.score(h), dim=0)\n"),
)

fault(
    "functional drop",
    "F.dropout without training=self.training stays on in eval mode",
    ("draws always",),
    (25, 27),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F
torch.manual_seed(40)

VOCAB, LEN = 40, 12
GOOD, BAD = range(2, 8), range(8, 14)

def reviews(n):
    x = torch.randint(14, VOCAB, (n, LEN))
    y = torch.randint(0, 2, (n,))
    for i in range(n):
        words = GOOD if y[i] == 1 else BAD
        for p in torch.randperm(LEN)[:2].tolist():
            x[i, p] = words[int(torch.randint(0, 6, (1,)))]
    return x, y

class TextCNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, 16)
        self.conv = nn.Conv1d(16, 24, 3, padding=1)
        self.fc = nn.Linear(24, 2)
    def forward(self, x):
        h = F.dropout(self.emb(x), p=0.6, training=self.training)
        h = F.relu(self.conv(h.transpose(1, 2))).max(dim=2)[0]
        h = F.dropout(h, p=0.5, training=self.training)
        return self.fc(h)

xtr, ytr = reviews(400)
xte, yte = reviews(200)
net = TextCNN()
opt = torch.optim.Adam(net.parameters(), lr=4e-3)
for epoch in range(20):
    net.train()
    tot = 0
    for b in torch.randperm(400).split(40):
        loss = F.cross_entropy(net(xtr[b]), ytr[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() / 10
    net.eval()
    with torch.no_grad():
        acc = (net(xte).argmax(1) == yte).float().mean().item()
    if epoch % 4 == 3:
        print(f"epoch {epoch + 1} loss {tot:.3f} test acc {acc:.3f}")
""",
    (
        "        h = F.dropout(self.emb(x), p=0.6, training=self.training)\n",
        "        h = F.dropout(self.emb(x), p=0.6)\n",
    ),
    ("        h = F.dropout(h, p=0.5, training=self.training)\n", "        h = F.dropout(h, p=0.5)\n"),
)

fault(
    "nll scores",
    "NLLLoss gets raw scores: it falls without bound",
    ("no logs",),
    (37, 41),
    """\
import torch
import torch.nn as nn

torch.manual_seed(13)

SENT = [
    ("book a table for two", 0), ("reserve a table tonight", 0), ("i want a table at eight", 0),
    ("a table for two at eight tonight", 0), ("i want a table for two for tonight", 0),
    ("set a table for two at eight", 0), ("a table at eight for two", 0),
    ("play some jazz", 1), ("play the next song", 1), ("put on some music", 1),
    ("what is the weather", 2), ("will it rain tonight", 2), ("is it sunny at eight", 2),
    ("set an alarm", 3), ("wake me at eight", 3), ("set a timer for two hours", 3),
]
vocab = {}
for s, _ in SENT:
    for w in s.split():
        vocab.setdefault(w, len(vocab))


def bag(s):
    v = torch.zeros(len(vocab))
    for w in s.split():
        v[vocab[w]] += 1
    return v


X = torch.stack([bag(s) for s, _ in SENT])
Y = torch.tensor([t for _, t in SENT])


class BoW(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(len(vocab), 4)

    def forward(self, v):
        return torch.log_softmax(self.linear(v), dim=-1)


model = BoW()
loss_function = nn.NLLLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
for epoch in range(200):
    model.zero_grad()
    scores = model(X)
    loss = loss_function(scores, Y)
    loss.backward()
    optimizer.step()
    if epoch % 40 == 39:
        print(epoch + 1, loss.item())
with torch.no_grad():
    print("right", (model(X).argmax(1) == Y).sum().item(), "of", len(Y))
print("largest weight", model.linear.weight.abs().max().item())
""",
    ("        return torch.log_softmax(self.linear(v), dim=-1)\n", "        return self.linear(v)\n"),
)

fault(
    "star ratings",
    "labels run from 1 to 5 with five outputs: 5 is out of range",
    ("out of range",),
    (18, 24, 40, 31),
    """\
import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader, random_split

torch.manual_seed(20)
STARS = 5


class Ratings(Dataset):
    \"\"\"word counts of a review, and the stars (1 to 5) that it came with\"\"\"

    def __init__(self, n=500, words=30):
        mood = torch.randn(words)
        self.counts = torch.poisson(torch.full((n, words), 0.8))
        s = (self.counts - 0.8) @ mood
        s = s / s.std()
        cuts = torch.tensor([-1.2, -0.4, 0.4, 1.2])
        self.stars = (s[:, None] > cuts).sum(1)

    def __len__(self):
        return len(self.stars)

    def __getitem__(self, idx):
        return self.counts[idx], self.stars[idx]


train_set, test_set = random_split(Ratings(), [400, 100])
train_loader = DataLoader(train_set, batch_size=40, shuffle=True)
test_loader = DataLoader(test_set, batch_size=100)

model = nn.Sequential(nn.Linear(30, 64), nn.ReLU(), nn.Linear(64, STARS))
loss_fn = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)


def run(loader, training):
    total, right, n = 0.0, 0, 0
    for counts, stars in loader:
        logits = model(counts)
        loss = loss_fn(logits, stars)
        if training:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        total += loss.item() * len(stars)
        right += (logits.argmax(1) == stars).sum().item()
        n += len(stars)
    return total / n, right / n


for epoch in range(1, 26):
    result = run(train_loader, True)
    if epoch % 5 == 0:
        print("epoch", epoch, "train %.3f %.3f" % result, "test %.3f %.3f" % run(test_loader, False))
""",
    (
        "        self.stars = (s[:, None] > cuts).sum(1)\n",
        "        self.stars = 1 + (s[:, None] > cuts).sum(1)\n",
    ),
)
