"""Classes, tables and losses: programs with a fault each, and healthy ones.

Invariant: written by someone who had read no rule.
"""

# ruff: noqa: E501  (a program is text)

from .program import fault, healthy

fault(
    "call centre",
    "softmax written by hand with exp of large raw scores: exp overflows to inf, inf/inf = NaN",
    ("not finite",),
    (27, 28),
    """\
import torch

torch.manual_seed(14)

# seconds waited, minutes talked, age of the contract in days -> which desk takes the call
n = 480
wait = torch.rand(n) * 300
talk = torch.rand(n) * 40
days = torch.rand(n) * 900
desk = torch.zeros(n, dtype=torch.long)
desk[days > 300] = 1
desk[(days > 300) & (wait > 150)] = 2
X = torch.stack([wait, talk, days], dim=1) / 5

w1 = (torch.randn(3, 32) / 3 ** 0.5).requires_grad_()
c1 = torch.zeros(32, requires_grad=True)
w2 = (torch.randn(32, 3) / 32 ** 0.5).requires_grad_()
c2 = torch.zeros(3, requires_grad=True)
optimizer = torch.optim.Adam([w1, c1, w2, c2], lr=0.005)


def scores(x):
    return torch.relu(x @ w1 + c1) @ w2 + c2


def log_probabilities(s):
    return s - torch.logsumexp(s, dim=1, keepdim=True)


def train(epochs):
    for epoch in range(epochs):
        total = 0.0
        for idx in torch.randperm(400).split(40):
            logp = log_probabilities(scores(X[idx]))
            loss = -logp[torch.arange(len(idx)), desk[idx]].mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        if epoch % 10 == 0:
            print(f"epoch {epoch:2d} loss {total / 10:.3f}")


train(60)
with torch.no_grad():
    acc = (scores(X[400:]).argmax(1) == desk[400:]).float().mean().item()
print("accuracy", round(acc, 3))
""",
    (
        "    return s - torch.logsumexp(s, dim=1, keepdim=True)\n",
        "    e = torch.exp(s)\n    return torch.log(e / e.sum(dim=1, keepdim=True) + 1e-9)\n",
    ),
)

fault(
    "credit risk",
    "a column that is only known after the outcome (days overdue) stays among the training features; it is 0 for new customers",
    (),
    (22,),
    """\
from __future__ import annotations

import torch
from torch import Tensor, nn

torch.manual_seed(42)
COLUMNS = ["income", "debt", "age", "years_employed", "days_overdue"]


def sample_customers(n: int, new: bool) -> tuple[Tensor, Tensor]:
    \"\"\"Rows as they come from the warehouse; customers that are new have no history yet.\"\"\"
    x = torch.randn(n, 4)
    risk = 1.5 * x[:, 1] - 1.2 * x[:, 0] + 0.8 * x[:, 1] * x[:, 2] - 0.3
    default = (risk + 0.5 * torch.randn(n) > 0).float()
    overdue = default * (2.0 + torch.rand(n))
    if new:
        overdue = torch.zeros(n)
    return torch.cat([x, overdue[:, None]], dim=1), default


def select(table: Tensor) -> Tensor:
    return table[:, [COLUMNS.index(c) for c in COLUMNS if c != "days_overdue"]]


def accuracy(model: nn.Module, x: Tensor, y: Tensor) -> float:
    with torch.no_grad():
        return ((model(x).squeeze(1) > 0).float() == y).float().mean().item()


def main() -> None:
    raw, y = sample_customers(800, new=False)
    x = select(raw)
    model = nn.Sequential(nn.Linear(x.shape[1], 32), nn.ReLU(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    loss_fn = nn.BCEWithLogitsLoss()
    for epoch in range(25):
        losses = []
        for idx in torch.randperm(800).split(64):
            optimizer.zero_grad()
            loss = loss_fn(model(x[idx]).squeeze(1), y[idx])
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        if epoch % 4 == 0:
            print(f"epoch {epoch:2d} loss {sum(losses) / len(losses):.4f}")
    fresh, truth = sample_customers(400, new=True)
    print("train accuracy", round(accuracy(model, x, y), 3))
    print("new customers ", round(accuracy(model, select(fresh), truth), 3))


if __name__ == "__main__":
    main()
""",
    (
        '    return table[:, [COLUMNS.index(c) for c in COLUMNS if c != "days_overdue"]]\n',
        "    return table[:, [COLUMNS.index(c) for c in COLUMNS]]\n",
    ),
)

fault(
    "face pairs",
    "the distance of a row to itself is sqrt(0), whose gradient is infinite: NaN in the weights after one step",
    ("not finite",),
    (27,),
    """\
import torch
import torch.nn as nn

torch.manual_seed(18)
PEOPLE, DIM = 6, 20
prototype = torch.randn(PEOPLE, DIM)
nuisance = torch.randn(4, DIM) * 1.5


def photos(n):
    who = torch.randint(0, PEOPLE, (n,))
    light = torch.randn(n, 4) @ nuisance
    return prototype[who] + light + 0.2 * torch.randn(n, DIM), who


class Embedder(nn.Module):
    def __init__(self, out=6):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(DIM, 32), nn.ReLU(), nn.Linear(32, out))

    def forward(self, x):
        return self.net(x)


def pairwise_distance(e):
    diff = e.unsqueeze(0) - e.unsqueeze(1)
    return (diff.pow(2).sum(dim=2) + 1e-8).sqrt()


def contrastive(e, who, margin=2.0):
    d = pairwise_distance(e)
    same = (who.unsqueeze(0) == who.unsqueeze(1)).float()
    pull = same * d ** 2
    push = (1 - same) * torch.relu(margin - d) ** 2
    return pull.sum() / same.sum() + push.sum() / (1 - same).sum()


model = Embedder()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
x, who = photos(400)
for epoch in range(25):
    total = 0.0
    for idx in torch.randperm(400).split(40):
        loss = contrastive(model(x[idx]), who[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() / 10
    if epoch % 5 == 0:
        print(f"epoch {epoch:2d} loss {total:.4f}")

# nearest neighbour among the training photos
test, truth = photos(150)
with torch.no_grad():
    gallery, query = model(x), model(test)
    nearest = ((query[:, None] - gallery[None]) ** 2).sum(2).argmin(1)
print("recognised:", round((who[nearest] == truth).float().mean().item(), 3))
""",
    ("    return (diff.pow(2).sum(dim=2) + 1e-8).sqrt()\n", "    return diff.pow(2).sum(dim=2).sqrt()\n"),
)

fault(
    "factory line",
    "one sensor is constant, its standard deviation is 0: the standardised column is 0/0 = NaN",
    ("not finite",),
    (16,),
    """\
import torch
import torch.nn as nn

# --- cell 1
torch.manual_seed(28)
n = 450
pressure = 101.3 + 2.0 * torch.randn(n)
speed = 1500 + 60 * torch.randn(n)
valve = torch.full((n,), 4.0)
heat = 70 + 5 * torch.randn(n)
sensors = torch.stack([pressure, speed, valve, heat], dim=1)
faulty = (((heat - 70) / 5 + (speed - 1500) / 60 + 0.5 * ((pressure - 101.3) / 2) ** 2) > 0.8).long()

# --- cell 2
mu, sigma = sensors.mean(dim=0), sensors.std(dim=0)
z = (sensors - mu) / sigma.clamp(min=1e-6)
train_z, train_c = z[:350], faulty[:350]
valid_z, valid_c = z[350:], faulty[350:]
print("rows", len(z), "stops", int(faulty.sum()))

# --- cell 3
model = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
opt = torch.optim.Adam(model.parameters(), lr=0.01)
lossfn = nn.CrossEntropyLoss()

# --- cell 4
curve = []
for epoch in range(25):
    for k in range(0, 350, 35):
        out = model(train_z[k:k + 35])
        loss = lossfn(out, train_c[k:k + 35])
        opt.zero_grad()
        loss.backward()
        opt.step()
    curve.append(loss.item())
    if epoch % 6 == 0:
        print(epoch, round(curve[-1], 4))

# --- cell 5
with torch.no_grad():
    good = (model(valid_z).argmax(1) == valid_c).float().mean().item()
print("validation accuracy", round(good, 3), "always-fine would be",
      round((valid_c == 0).float().mean().item(), 3))
""",
    ("z = (sensors - mu) / sigma.clamp(min=1e-6)\n", "z = (sensors - mu) / sigma\n"),
)

fault(
    "fraud alarm",
    "cross-entropy by hand takes log of a sigmoid that is exactly 0 or 1 (float32): 0 * -inf gives NaN",
    ("not finite",),
    (26, 27),
    """\
import torch
from torch import nn

torch.manual_seed(16)

n = 500
amount = torch.exp(2.5 + 1.2 * torch.randn(n))         # euros, long tail
night = (torch.rand(n) < 0.3).float()
abroad = (torch.rand(n) < 0.2).float()
fraud = ((amount > 25) & ((night + abroad) > 0)).float()
X = torch.stack([amount, 10 * night, 10 * abroad], dim=1)
Y = fraud.unsqueeze(1)


class Alarm(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(3, 24)
        self.out = nn.Linear(24, 1)

    def forward(self, x):
        return self.out(torch.relu(self.hidden(x)))


def cross_entropy(logit, target):
    return nn.functional.binary_cross_entropy_with_logits(logit, target)


alarm = Alarm()
optimizer = torch.optim.Adam(alarm.parameters(), lr=0.01)
for epoch in range(40):
    running, count = 0.0, 0
    for rows in torch.randperm(400).split(50):
        loss = cross_entropy(alarm(X[rows]), Y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item()
        count += 1
    if epoch % 5 == 0:
        print("epoch", epoch, "loss", round(running / count, 4))

with torch.no_grad():
    flagged = (alarm(X[400:]) > 0).float()
    print("share of fraud", round(Y[400:].mean().item(), 3))
    print("accuracy", round((flagged == Y[400:]).float().mean().item(), 3))
""",
    (
        "    return nn.functional.binary_cross_entropy_with_logits(logit, target)\n",
        "    p = torch.sigmoid(logit)\n    return -(target * torch.log(p) + (1 - target) * torch.log(1 - p)).mean()\n",
    ),
)

fault(
    "handmade relu",
    "hidden biases start at -12: every ReLU is dead for every sample",
    ("dead units",),
    (12,),
    """\
import torch
import torch.nn.functional as F

torch.manual_seed(9)

# checkerboard quadrants
X = torch.rand(400, 2) * 2 - 1
Y = ((X[:, 0] * X[:, 1]) > 0).long()

H = 40
W1 = (torch.randn(2, H) * 1.0).requires_grad_()
b1 = torch.full((H,), 0.1, requires_grad=True)
W2 = (torch.randn(H, 2) * 0.2).requires_grad_()
b2 = torch.zeros(2, requires_grad=True)
params = [W1, b1, W2, b2]
lr = 0.3


def forward(x):
    hidden = F.relu(x @ W1 + b1)
    return hidden @ W2 + b2


for step in range(500):
    i = torch.randint(0, 300, (64,))
    loss = F.cross_entropy(forward(X[i]), Y[i])
    loss.backward()
    with torch.no_grad():
        for p in params:
            p -= lr * p.grad
            p.grad = None
    if step % 50 == 0:
        print("step", step, "loss", round(loss.item(), 4))

with torch.no_grad():
    right = (forward(X[300:]).argmax(1) == Y[300:]).float().mean()
print("test accuracy", round(right.item(), 3))
""",
    (
        "b1 = torch.full((H,), 0.1, requires_grad=True)\n",
        "b1 = torch.full((H,), -12.0, requires_grad=True)\n",
    ),
)

fault(
    "photo tags",
    "BCEWithLogitsLoss is given probabilities: the model already ends in a sigmoid, so a tag can never go below one half",
    ("soft twice",),
    (18,),
    """\
import torch
import torch.nn as nn

torch.manual_seed(50)
TAGS = ["sky", "sea", "tree", "dog", "car", "night", "snow", "cake"]
BASE_RATE = 0.15


class Tagger(nn.Module):
    def __init__(self, n_features, n_tags):
        super().__init__()
        self.fc1 = nn.Linear(n_features, 40)
        self.fc2 = nn.Linear(40, n_tags)
        self.act = nn.ReLU()

    def forward(self, x):
        x = self.act(self.fc1(x))
        return self.fc2(x)


codebook = torch.randn(len(TAGS), 16)


def album(n):
    tags = (torch.rand(n, len(TAGS)) < BASE_RATE).float()
    features = tags @ codebook + 0.5 * torch.randn(n, 16)
    return features, tags


x, t = album(600)
xv, tv = album(200)
model = Tagger(16, len(TAGS))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
criterion = nn.BCEWithLogitsLoss()


def f1(logits, truth):
    found = (torch.sigmoid(logits) > 0.5).float()
    hit = (found * truth).sum()
    return (2 * hit / (found.sum() + truth.sum())).item()


for epoch in range(30):
    total = 0.0
    for idx in torch.randperm(600).split(50):
        out = model(x[idx])
        loss = criterion(out, t[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    if epoch % 5 == 4:
        with torch.no_grad():
            out = model(xv)
            print(f"epoch {epoch + 1}: loss {total / 12:.4f}  F1 {f1(out, tv):.3f}  "
                  f"tags per photo {(torch.sigmoid(out) > 0.5).float().sum(1).mean().item():.2f}")
""",
    ("        return self.fc2(x)\n", "        return torch.sigmoid(self.fc2(x))\n"),
)

fault(
    "two spirals",
    "no activation between the linear layers: the network stays linear",
    ("nothing between",),
    (23,),
    """\
import math
import torch
import torch.nn as nn

torch.manual_seed(7)
n = 200
r = (0.1 + 0.9 * torch.rand(n).sqrt()) * 2.5 * math.pi
arm = torch.arange(n) % 2
angle = r + arm * math.pi
pts = torch.stack([r * torch.cos(angle), r * torch.sin(angle)], 1) / 5 + 0.02 * torch.randn(n, 2)
lab = arm.float().unsqueeze(1)


class Net(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.fc1 = nn.Linear(2, width)
        self.fc2 = nn.Linear(width, width)
        self.fc3 = nn.Linear(width, 1)

    def forward(self, x):
        x = self.fc1(x)
        x = torch.tanh(x)
        x = torch.tanh(self.fc2(x))
        return self.fc3(x)


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=0.02)
bce = nn.BCEWithLogitsLoss()

for it in range(700):
    opt.zero_grad()
    loss = bce(net(pts), lab)
    loss.backward()
    opt.step()
    if it % 50 == 0:
        print("iter %4d  loss %.4f" % (it, loss.item()))

with torch.no_grad():
    acc = ((net(pts) > 0).float() == lab).float().mean()
print("accuracy on the spirals: %.2f" % acc.item())
""",
    ("        x = torch.tanh(x)\n        x = torch.tanh(self.fc2(x))\n", "        x = self.fc2(x)\n"),
)

fault(
    "wine table",
    "features normalised per row (dim 1) and not per column: the level of the sample is lost",
    ("by row",),
    (15,),
    """\
import torch
from torch import nn

torch.manual_seed(3)

# three growers; acidity, sugar, alcohol, colour: all go up together with the grower
N = 600
y = torch.randint(0, 3, (N,))
ripeness = y.float() * 1.5 + 0.4 * torch.randn(N)
base = torch.tensor([4.0, 20.0, 11.0, 300.0])
gain = torch.tensor([0.3, 1.5, 0.8, 22.0])
X = base + ripeness[:, None] * gain + 0.05 * base * torch.randn(N, 4) * 0.2

def standardise(a):
    return (a - a.mean(dim=0, keepdim=True)) / a.std(dim=0, keepdim=True)

X = standardise(X)
train_X, train_y = X[:450], y[:450]
test_X, test_y = X[450:], y[450:]

class Wine(nn.Module):
    def __init__(self, hidden=16):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, hidden), nn.ReLU(), nn.Linear(hidden, 3))

    def forward(self, a):
        return self.body(a)

net = Wine()
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
criterion = nn.CrossEntropyLoss()

for epoch in range(40):
    order = torch.randperm(len(train_X))
    total = 0.0
    for i in range(0, len(order), 50):
        idx = order[i:i + 50]
        loss = criterion(net(train_X[idx]), train_y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1:3d}  loss {total / 9:.4f}")

with torch.no_grad():
    acc = (net(test_X).argmax(1) == test_y).float().mean().item()
print(f"test accuracy {acc:.3f}")
""",
    (
        "    return (a - a.mean(dim=0, keepdim=True)) / a.std(dim=0, keepdim=True)\n",
        "    return (a - a.mean(dim=1, keepdim=True)) / a.std(dim=1, keepdim=True)\n",
    ),
)

healthy(
    "noisy labels",
    """\
import torch
import torch.nn as nn

torch.manual_seed(3)
NOISE = 0.35


def crescents(n):
    y = torch.randint(0, 2, (n,))
    t = torch.rand(n) * 3.1416
    x = torch.stack([torch.cos(t), torch.sin(t)], 1)
    flip = torch.where(y[:, None] == 1, torch.tensor([-1.0, -1.0]), torch.tensor([1.0, 1.0]))
    shift = torch.where(y[:, None] == 1, torch.tensor([1.0, 0.4]), torch.tensor([0.0, 0.0]))
    return x * flip + shift + 0.1 * torch.randn(n, 2), y


x, clean = crescents(1000)
# annotators get a third of them wrong
wrong = torch.rand(1000) < NOISE
y = torch.where(wrong, 1 - clean, clean)
xt, yt = crescents(300)

net = nn.Sequential(nn.Linear(2, 24), nn.ReLU(), nn.Linear(24, 24), nn.ReLU(), nn.Linear(24, 2))
opt = torch.optim.Adam(net.parameters(), lr=3e-3, weight_decay=1e-4)
loss_fn = nn.CrossEntropyLoss(label_smoothing=0.1)

for epoch in range(20):
    total = 0.0
    for idx in torch.randperm(1000).split(50):
        loss = loss_fn(net(x[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() / 20
    if epoch % 3 == 1:
        with torch.no_grad():
            acc = (net(xt).argmax(1) == yt).float().mean().item()
        print(f"epoch {epoch:2d} training loss {total:.4f} accuracy on clean test {acc:.3f}")
""",
)

healthy(
    "siamese",
    """\
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(16)
DIM, KINDS = 16, 4
centres = 2.0 * torch.randn(KINDS, DIM)


def view(x):
    \"\"\"a random augmentation: some channels dropped, some noise\"\"\"
    return x * (torch.rand_like(x) > 0.2).float() + 0.3 * torch.randn_like(x)


kind = torch.randint(0, KINDS, (512,))
x = centres[kind] + 0.7 * torch.randn(512, DIM)

encoder = nn.Sequential(nn.Linear(DIM, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 16), nn.BatchNorm1d(16))
predictor = nn.Sequential(nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 16))
opt = torch.optim.SGD([*encoder.parameters(), *predictor.parameters()], lr=0.05, momentum=0.9)


def D(p, z):
    return -F.cosine_similarity(p, z.detach(), dim=1).mean()


for epoch in range(12):
    total = 0.0
    for idx in torch.randperm(512).split(64):
        a, b = encoder(view(x[idx])), encoder(view(x[idx]))
        loss = 0.5 * D(predictor(a), b) + 0.5 * D(predictor(b), a)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() / 8
    if epoch % 2 == 1:
        with torch.no_grad():
            spread = F.normalize(encoder(x), dim=1).std(0).mean().item()
        print(f"epoch {epoch + 1} loss {total:+.4f} spread of the codes {spread:.3f}")

encoder.eval()
with torch.no_grad():
    z = F.normalize(encoder(x), dim=1)
    sim = z[256:] @ z[:256].T
    acc = (kind[:256][sim.argmax(1)] == kind[256:]).float().mean().item()
print("nearest neighbour accuracy", round(acc, 3))
""",
)
