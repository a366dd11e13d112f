"""Recurrent networks: programs with a fault each, and healthy ones.

Invariant: written by someone who had read no rule.
"""

# ruff: noqa: E501  (a program is text)

from .program import fault, healthy

fault(
    "echo lstm",
    "gradients are clipped to a norm of 1e-5: plain SGD takes no steps worth the name",
    ("clipped away",),
    (12,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

hp = {
    "seed": 23,
    "steps": 220,
    "batch": 32,
    "length": 10,
    "hidden": 24,
    "lr": 0.5,
    "max_norm": 1.0,
}
torch.manual_seed(hp["seed"])


def make_batch():
    \"\"\"Which of the two marked symbols was the larger? 0 first, 1 second, 2 equal.\"\"\"
    value = torch.randint(0, 5, (hp["batch"], hp["length"]))
    flag = torch.zeros(hp["batch"], hp["length"])
    flag[:, 2] = 1
    flag[:, 7] = 1
    x = torch.stack([value.float() / 4, flag], dim=2)
    diff = value[:, 7] - value[:, 2]
    return x, torch.where(diff == 0, 2, (diff > 0).long())


class Judge(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(2, hp["hidden"], batch_first=True)
        self.head = nn.Linear(hp["hidden"], 3)

    def forward(self, x):
        out, (h, c) = self.lstm(x)
        return self.head(h[-1])


model = Judge()
optimizer = torch.optim.SGD(model.parameters(), lr=hp["lr"], momentum=0.9)
seen, right, losses = 0, 0, []
for step in range(1, hp["steps"] + 1):
    x, y = make_batch()
    logits = model(x)
    loss = F.cross_entropy(logits, y)
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), hp["max_norm"])
    optimizer.step()
    losses.append(loss.item())
    seen += len(y)
    right += (logits.argmax(1) == y).sum().item()
    if step % 20 == 0:
        print(f"step {step} loss {sum(losses) / len(losses):.4f} accuracy {right / seen:.3f}")
        seen, right, losses = 0, 0, []
""",
    ('    "max_norm": 1.0,\n', '    "max_norm": 1e-5,\n'),
)

fault(
    "film reviews",
    "learning rate far too low (Adam 1e-6): the loss hardly moves",
    ("too small",),
    (24,),
    """\
import torch, torch.nn as nn, random
random.seed(8); torch.manual_seed(8)

good = "great lovely funny moving superb brilliant warm clever".split()
bad = "dull awful boring weak clumsy terrible cold silly".split()
rest = "the film plot actor scene music ending camera was and very a of in with".split()
words = {w: i for i, w in enumerate(["<pad>"] + good + bad + rest)}


def review():
    label = random.randint(0, 1)
    ws = random.choices(rest, k=9) + random.choices(good if label else bad, k=2) + random.choices(good + bad, k=1)
    random.shuffle(ws)
    return [words[w] for w in ws], float(label)


data = [review() for _ in range(500)]
X = torch.tensor([d[0] for d in data])
y = torch.tensor([d[1] for d in data])

emb = nn.Embedding(len(words), 16, padding_idx=0)
head = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1))
params = list(emb.parameters()) + list(head.parameters())
opt = torch.optim.Adam(params, lr=1e-2)
crit = nn.BCEWithLogitsLoss()

for ep in range(20):
    tot = 0
    for i in torch.randperm(400).split(25):
        l = crit(head(emb(X[i]).mean(1)).squeeze(-1), y[i])
        opt.zero_grad(); l.backward(); opt.step()
        tot += l.item() / 16
    if ep % 3 == 0: print(f"ep {ep} loss {tot:.4f}")

with torch.no_grad():
    acc = ((head(emb(X[400:]).mean(1)).squeeze(-1) > 0).float() == y[400:]).float().mean()
print("held-out acc", round(acc.item(), 3))
""",
    ("opt = torch.optim.Adam(params, lr=1e-2)\n", "opt = torch.optim.Adam(params, lr=1e-6)\n"),
)

fault(
    "gait sensor",
    "(time, batch, channel) is brought to (batch, time, channel) with reshape instead of transpose: samples are mixed",
    ("scrambled",),
    (21,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(13)
T, C = 20, 3


def record(n):
    \"\"\"Accelerometer windows as the logger delivers them: (time, window, axis).\"\"\"
    gait = torch.randint(0, 3, (n,))
    speed = torch.tensor([0.4, 0.8, 1.3])[gait]
    t = torch.arange(T).float()
    phase = 6.28 * torch.rand(n)
    wave = torch.sin(t[:, None] * speed + phase)
    axes = torch.stack([wave, 0.5 * wave.roll(1, 0), 0 * wave], dim=2)
    return axes + 0.2 * torch.randn(T, n, C), gait


def prepare(seq):
    return seq.transpose(0, 1)


class GaitNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv1d(C, 12, 5, padding=2)
        self.conv2 = nn.Conv1d(12, 12, 5, padding=2)
        self.fc = nn.Linear(12, 3)

    def forward(self, x):
        x = x.transpose(1, 2)
        x = F.relu(self.conv1(x))
        x = F.relu(self.conv2(x))
        return self.fc(x.mean(dim=2))


raw, y = record(384)
x = prepare(raw)
raw_v, yv = record(150)
xv = prepare(raw_v)

net = GaitNet()
opt = torch.optim.Adam(net.parameters(), lr=4e-3)
for epoch in range(18):
    losses = []
    for idx in torch.randperm(384).split(32):
        loss = F.cross_entropy(net(x[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    if epoch % 3 == 2:
        with torch.no_grad():
            acc = (net(xv).argmax(1) == yv).float().mean().item()
        print(f"epoch {epoch + 1}: loss {sum(losses) / len(losses):.3f} valid acc {acc:.3f}")
""",
    ("    return seq.transpose(0, 1)\n", "    return seq.reshape(-1, T, C)\n"),
)

fault(
    "nursery rhyme",
    "targets are not shifted by one: the network learns to repeat the character it was given",
    ("target given",),
    (28,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(1)
text = "twinkle twinkle little star how i wonder what you are up above the world so high " * 4
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
data = torch.tensor([stoi[c] for c in text])
V, T, B = len(chars), 16, 16


class CharGRU(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(V, 16)
        self.rnn = nn.GRU(16, 48, batch_first=True)
        self.out = nn.Linear(48, V)

    def forward(self, x, h=None):
        z, h = self.rnn(self.emb(x), h)
        return self.out(z), h


def get_batch():
    starts = torch.randint(0, len(data) - T - 1, (B,)).tolist()
    x = torch.stack([data[s:s + T] for s in starts])
    y = torch.stack([data[s + 1:s + T + 1] for s in starts])
    return x, y


model = CharGRU()
opt = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(180):
    x, y = get_batch()
    logits, _ = model(x)
    loss = F.cross_entropy(logits.reshape(-1, V), y.reshape(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 30 == 0 or step == 179:
        print(f"step {step:3d} loss {loss.item():.3f}")

# let it speak
with torch.no_grad():
    out, h = "twinkle ", None
    logits, h = model(torch.tensor([[stoi[c] for c in out]]))
    for _ in range(40):
        c = logits[0, -1].argmax().item()
        out += chars[c]
        logits, h = model(torch.tensor([[c]]), h)
print(repr(out))
""",
    (
        "    y = torch.stack([data[s + 1:s + T + 1] for s in starts])\n",
        "    y = torch.stack([data[s:s + T] for s in starts])\n",
    ),
)

fault(
    "parcel sums",
    "the hidden state of the last batch is handed to the next one, though the sequences have nothing to do with each other",
    (),
    (38,),
    """\
import torch
from torch import nn

torch.manual_seed(90)


class Counter(nn.Module):
    \"\"\"Total weight of the parcels on a belt; a belt has 8 slots, most are empty.\"\"\"

    def __init__(self, hidden=32):
        super().__init__()
        self.hidden = hidden
        self.gru = nn.GRU(1, hidden)
        self.read = nn.Linear(hidden, 1)

    def start(self, n):
        return torch.zeros(1, n, self.hidden)

    def forward(self, x, h):
        out, h = self.gru(x, h)
        return self.read(out[-1]), h


def belts(n, slots=8):
    weight = torch.rand(slots, n, 1) * (torch.rand(slots, n, 1) < 0.4).float()
    return weight, weight.sum(dim=0)


model = Counter()
optimizer = torch.optim.Adam(model.parameters(), lr=8e-3)
mse = nn.MSELoss()
BATCH = 32

h = model.start(BATCH)
total = 0.0
for step in range(1, 301):
    x, y = belts(BATCH)
    h = model.start(BATCH)
    guess, h = model(x, h)
    loss = mse(guess, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += loss.item()
    if step % 50 == 0:
        print(f"step {step} loss {total / 50:.4f}")
        total = 0.0

with torch.no_grad():
    x, y = belts(300)
    guess, _ = model(x, model.start(300))
    print("variance of the totals", round(y.var().item(), 4), " error on new belts", round(mse(guess, y).item(), 4))
""",
    ("    h = model.start(BATCH)\n", "    h = h.detach()\n"),
)

fault(
    "tide tbptt",
    "the hidden state is not detached between windows: the second backward runs through the first window's freed graph",
    ("second pass",),
    (35,),
    """\
import math
import torch
import torch.nn as nn

torch.manual_seed(35)

hours = torch.arange(600).float()
tide = torch.sin(2 * math.pi * hours / 12.4) + 0.4 * torch.sin(2 * math.pi * hours / 24.0)
tide = tide + 0.03 * torch.randn(600)
series = tide.view(-1, 1, 1)                      # time, batch, feature
WINDOW = 20


class Forecaster(nn.Module):
    def __init__(self, hidden=20):
        super().__init__()
        self.rnn = nn.RNN(1, hidden)
        self.head = nn.Linear(hidden, 1)

    def forward(self, x, h):
        out, h = self.rnn(x, h)
        return self.head(out), h


model = Forecaster()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
criterion = nn.MSELoss()

for epoch in range(8):
    h = torch.zeros(1, 1, 20)
    total, windows = 0.0, 0
    for start in range(0, 480, WINDOW):
        x = series[start:start + WINDOW]
        y = series[start + 1:start + WINDOW + 1]
        h = h.detach()
        guess, h = model(x, h)
        loss = criterion(guess, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
        windows += 1
        if windows == 1 or windows % 12 == 0:
            print(f"epoch {epoch} window {windows} loss {loss.item():.4f}")

with torch.no_grad():
    guess, _ = model(series[480:599], torch.zeros(1, 1, 20))
    print("variance", round(tide.var().item(), 4), "test error",
          round(criterion(guess[20:], series[501:600]).item(), 4))
""",
    ("        h = h.detach()\n", ""),
)

healthy(
    "curriculum",
    """\
import torch
from torch import nn

torch.manual_seed(8)


class Reader(nn.Module):
    def __init__(self, symbols=8, hidden=40):
        super().__init__()
        self.embed = nn.Embedding(symbols, 16)
        self.gru = nn.GRU(16, hidden, batch_first=True)
        self.head = nn.Linear(hidden, symbols)

    def forward(self, x):
        out, _ = self.gru(self.embed(x))
        return self.head(out[:, -1])


def lesson(length, n=32):
    \"\"\"Repeat the first symbol after the whole sequence has been read.\"\"\"
    x = torch.randint(0, 8, (n, length))
    return x, x[:, 0]


model = Reader()
opt = torch.optim.Adam(model.parameters(), lr=8e-3)
recent = []
for step in range(270):
    length = 2 + 3 * (step // 90)
    x, y = lesson(length)
    loss = nn.functional.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    recent.append(loss.item())
    if step % 30 == 29:
        print(f"step {step + 1} length {length} loss {sum(recent) / 30:.4f}")
        recent = []

with torch.no_grad():
    for length in (2, 5, 8):
        x, y = lesson(length, 300)
        print("length", length, "accuracy", round((model(x).argmax(1) == y).float().mean().item(), 3))
""",
)

healthy(
    "stateful series",
    """\
import math
import torch
from torch import nn

torch.manual_seed(20)
STREAMS, WINDOW, WINDOWS = 8, 10, 20

steps = torch.arange(WINDOW * WINDOWS + 1).float()
period = 15 + 20 * torch.rand(STREAMS)
streams = torch.sin(2 * math.pi * steps[:, None] / period) + 0.02 * torch.randn(len(steps), STREAMS)


class Stateful(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.lstm = nn.LSTM(1, hidden)
        self.out = nn.Linear(hidden, 1)
        self.state = None

    def reset(self):
        self.state = None

    def forward(self, x):
        y, state = self.lstm(x, self.state)
        self.state = tuple(s.detach() for s in state)
        return self.out(y)


model = Stateful()
optimizer = torch.optim.Adam(model.parameters(), lr=8e-3)
for epoch in range(10):
    model.reset()
    total = 0.0
    for w in range(WINDOWS):
        part = streams[w * WINDOW:(w + 1) * WINDOW + 1].unsqueeze(2)
        loss = nn.functional.mse_loss(model(part[:-1]), part[1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() / WINDOWS
    print(f"epoch {epoch} loss {total:.5f}")
print("variance of the streams", round(streams.var().item(), 4))
""",
)
