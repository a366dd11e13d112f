"""Regression: programs with a fault each, and their healthy counterparts.

Invariant: written by someone who had read no rule.
"""

from .program import fault

fault(
    "house scaling",
    "test features are not standardised as the training features were",
    ("other scale",),
    (29, 45),
    """\
import torch
import torch.nn as nn
from torch.utils.data import TensorDataset, DataLoader

torch.manual_seed(11)


def make_houses(n):
    area = 40 + 160 * torch.rand(n, 1)
    age = 60 * torch.rand(n, 1)
    dist = 20 * torch.rand(n, 1)
    price = 2.0 * area - 1.5 * age - 4.0 * dist + 30 + 5 * torch.randn(n, 1)
    return torch.cat([area, age, dist], 1), price


class Standardiser:
    def fit(self, x):
        self.m, self.s = x.mean(0), x.std(0)
        return self

    def transform(self, x):
        return (x - self.m) / self.s


Xtr, ytr = make_houses(400)
Xte, yte = make_houses(100)
sx, sy = Standardiser().fit(Xtr), Standardiser().fit(ytr)
Xtr, ytr = sx.transform(Xtr), sy.transform(ytr)
Xte, yte = sx.transform(Xte), sy.transform(yte)

net = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 1))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
loader = DataLoader(TensorDataset(Xtr, ytr), batch_size=32, shuffle=True)

for epoch in range(20):
    total = 0.0
    for xb, yb in loader:
        loss = nn.functional.mse_loss(net(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(xb)
    if epoch % 4 == 3:
        with torch.no_grad():
            val = nn.functional.mse_loss(net(Xte), yte).item()
        print(f"{epoch + 1:2d} train {total / len(Xtr):.4f} val {val:.4f}")
""",
    ("Xte, yte = sx.transform(Xte), sy.transform(yte)\n", "yte = sy.transform(yte)\n"),
)

fault(
    "moons modules",
    "blocks live in a python list, so their parameters are not the optimizer's",
    ("not held",),
    (11, 32),
    """\
import math
import torch
import torch.nn as nn

torch.manual_seed(2)


class Backbone(nn.Module):
    def __init__(self, sizes, n_out):
        super().__init__()
        self.blocks = nn.ModuleList()
        for a, b in zip(sizes[:-1], sizes[1:]):
            self.blocks.append(nn.Sequential(nn.Linear(a, b), nn.Tanh()))
        self.head = nn.Linear(sizes[-1], n_out)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def spiral(n):
    t = torch.rand(n) * 2.2 * math.pi + 0.6
    k = torch.randint(0, 2, (n,))
    phi = t + k.float() * math.pi
    pts = torch.stack([t * torch.cos(phi), t * torch.sin(phi)], 1) / 7
    return pts + 0.015 * torch.randn(n, 2), k


X, y = spiral(400)
model = Backbone([2, 8, 8], 2)
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for it in range(700):
    loss = nn.functional.cross_entropy(model(X), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if it % 100 == 99:
        print(f"{it + 1}: {loss.item():.4f}")
with torch.no_grad():
    Xv, yv = spiral(300)
    print("val acc", (model(Xv).argmax(1) == yv).float().mean().item())
""",
    ("        self.blocks = nn.ModuleList()\n", "        self.blocks = []\n"),
)

fault(
    "zero start",
    "constant initialisation: all hidden units stay the same",
    (),
    (10, 12, 14),
    """\
import torch
torch.manual_seed(6)

# two-layer perceptron, by hand
n, d, h = 300, 2, 16
X = torch.rand(n, d) * 2 - 1
y = ((X[:, 0] * X[:, 1]) > 0).float()

def init(*shape):
    return (0.5 * torch.randn(shape)).requires_grad_()

W1 = init(d, h)
b1 = torch.zeros(h, requires_grad=True)
W2 = init(h, 1)
b2 = torch.zeros(1, requires_grad=True)
params = [W1, b1, W2, b2]
lr = 0.8

for step in range(1500):
    a = torch.tanh(X @ W1 + b1)
    logit = (a @ W2 + b2).squeeze(1)
    loss = torch.nn.functional.binary_cross_entropy_with_logits(logit, y)
    for p in params:
        p.grad = None
    loss.backward()
    with torch.no_grad():
        for p in params:
            p -= lr * p.grad
    if step % 250 == 0 or step == 1499:
        acc = ((logit > 0).float() == y).float().mean()
        print(f"step {step:5d} loss {loss.item():.4f} acc {acc.item():.3f}")
""",
    (
        "    return (0.5 * torch.randn(shape)).requires_grad_()\n",
        "    return torch.full(shape, 0.1).requires_grad_()\n",
    ),
)

fault(
    "no reset mlp",
    "zero_grad is never called: gradients add up",
    ("used twice",),
    (30, 31, 28),
    """\
from typing import Iterator, Tuple
import torch
from torch import Tensor, nn

torch.manual_seed(21)


def batches(x: Tensor, y: Tensor, size: int) -> Iterator[Tuple[Tensor, Tensor]]:
    order = torch.randperm(len(x))
    for chunk in order.split(size):
        yield x[chunk], y[chunk]


def target(x: Tensor) -> Tensor:
    return torch.sin(3 * x[:, :1]) + 0.5 * x[:, 1:2] ** 2


x: Tensor = torch.rand(512, 2) * 2 - 1
y: Tensor = target(x)

model: nn.Module = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loss_fn = nn.MSELoss()

for epoch in range(40):
    epoch_loss: float = 0.0
    for xb, yb in batches(x, y, 64):
        pred = model(xb)
        loss = loss_fn(pred, yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item() * len(xb) / len(x)
    if epoch % 5 == 0 or epoch == 39:
        print(f"{epoch:3d} {epoch_loss:.5f}")
""",
    ("        optimizer.zero_grad()\n", ""),
)

fault(
    "raw units sgd",
    "unscaled inputs near 1000 with plain SGD at 0.05: explodes, then only the mean is predicted",
    ("big start",),
    (15, 13, 19),
    """\
import numpy as np
import torch
import torch.nn as nn

# energy demand from outside temperature (F), hour, and pressure (hPa)
rs = np.random.RandomState(0)
n = 365
temp = rs.uniform(20, 95, n)
hour = rs.uniform(0, 24, n)
pressure = rs.normal(1013, 8, n)
demand = 30 + 0.8 * np.abs(temp - 62) + 6 * np.sin(hour / 24 * 2 * np.pi) + rs.normal(0, 1, n)

X = torch.tensor(np.stack([temp, hour, pressure], axis=1), dtype=torch.float32)
Y = torch.tensor(demand, dtype=torch.float32).unsqueeze(1)
X = (X - X.mean(0)) / X.std(0)
Y = (Y - Y.mean()) / Y.std()

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 40), nn.ReLU(), nn.Linear(40, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
mse = nn.MSELoss()

for epoch in range(60):
    for i in range(0, n, 73):
        xb, yb = X[i:i + 73], Y[i:i + 73]
        optimizer.zero_grad()
        loss = mse(model(xb), yb)
        loss.backward()
        optimizer.step()
    if epoch % 10 == 9:
        with torch.no_grad():
            print("epoch", epoch + 1, "loss", mse(model(X), Y).item())
""",
    ("X = (X - X.mean(0)) / X.std(0)\n", ""),
)

fault(
    "dropout report",
    "no eval() before validation: dropout acts on the predictions",
    ("draws in evaluation",),
    (39, 40),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(31)
conf = {"n": 500, "d": 12, "width": 64, "p": 0.5, "lr": 3e-3, "iters": 600}

w = torch.randn(conf["d"], 1)
make = lambda n: (lambda x: (x, torch.tanh(x @ w / 2)))(torch.randn(n, conf["d"]))
x_train, y_train = make(conf["n"])
x_val, y_val = make(200)


class Net(nn.Module):
    def __init__(self, d, width, p):
        super().__init__()
        self.l1 = nn.Linear(d, width)
        self.l2 = nn.Linear(width, width)
        self.l3 = nn.Linear(width, 1)
        self.drop = nn.Dropout(p)

    def forward(self, x):
        x = self.drop(F.relu(self.l1(x)))
        x = self.drop(F.relu(self.l2(x)))
        return self.l3(x)


net = Net(conf["d"], conf["width"], conf["p"])
opt = torch.optim.Adam(net.parameters(), lr=conf["lr"])
for it in range(conf["iters"]):
    i = torch.randint(0, conf["n"], (64,))
    opt.zero_grad()
    loss = F.mse_loss(net(x_train[i]), y_train[i])
    loss.backward()
    opt.step()
    if it % 100 == 0:
        print(it, "train loss", round(loss.item(), 4))

net.eval()
with torch.no_grad():
    pred = net(x_val)
    again = net(x_val)
print("val mse", F.mse_loss(pred, y_val).item())
print("two predictions differ by", (pred - again).abs().mean().item())
""",
    ("net.eval()\n", ""),
)

fault(
    "batchnorm resume",
    "after evaluate() the model is never set back to train mode: BatchNorm never gathers its statistics",
    ("trains in eval",),
    (28, 27, 20, 26),
    """\
import torch
from torch import nn
from torch.utils.data import TensorDataset, DataLoader, random_split

torch.manual_seed(17)
x = torch.randn(600, 16) * torch.linspace(0.2, 30, 16) + torch.linspace(-40, 60, 16)
score = ((x - x.mean(0)) / x.std(0))[:, :4]
y = (score[:, 0] * score[:, 1] + score[:, 2] - 0.5 * score[:, 3] > 0).long()
train_set, val_set = random_split(TensorDataset(x, y), [480, 120])
train_dl = DataLoader(train_set, batch_size=48, shuffle=True)
val_dl = DataLoader(val_set, batch_size=120)

model = nn.Sequential(
    nn.BatchNorm1d(16), nn.Linear(16, 48), nn.BatchNorm1d(48), nn.ReLU(), nn.Linear(48, 2))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


def evaluate():
    model.eval()
    with torch.no_grad():
        hit = sum((model(a).argmax(1) == b).sum().item() for a, b in val_dl)
    return hit / len(val_set)


print("before training", evaluate())
for epoch in range(12):
    model.train()
    seen = 0.0
    for a, b in train_dl:
        optimizer.zero_grad()
        loss = criterion(model(a), b)
        loss.backward()
        optimizer.step()
        seen += loss.item()
    if epoch % 2 == 1:
        print(f"epoch {epoch + 1:2d} loss {seen / len(train_dl):.3f} val {evaluate():.3f}")
""",
    ("    model.train()\n", ""),
)

fault(
    "manual softmax",
    "softmax and log by hand: exp overflows, log of 0",
    ("not finite",),
    (18, 23, 19),
    """\
import numpy as np
import torch

rng = np.random.default_rng(42)
torch.manual_seed(42)

# toy wine: 13 measurements in their own units
n, d, k = 300, 13, 3
scale = 10.0 ** rng.uniform(0, 3, d)
centres = rng.normal(0, 1, (k, d))
labels = rng.integers(0, k, n)
feats = (centres[labels] + 0.7 * rng.normal(size=(n, d))) * scale
X = torch.tensor(feats, dtype=torch.float32)
y = torch.tensor(labels)


def softmax(z):
    return torch.log_softmax(z, dim=1)


def cross_entropy(p, t):
    return -p[torch.arange(len(t)), t].mean()


W = (0.1 * torch.randn(d, k)).requires_grad_()
b = torch.zeros(k, requires_grad=True)
opt = torch.optim.Adam([W, b], lr=0.01)

for epoch in range(200):
    p = softmax(X @ W + b)
    loss = cross_entropy(p, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if epoch % 40 == 0 or epoch == 199:
        acc = (p.argmax(1) == y).float().mean().item()
        print(f"epoch {epoch} loss {loss.item():.4f} acc {acc:.3f}")
""",
    (
        "    return torch.log_softmax(z, dim=1)\n",
        """\
    e = torch.exp(z)
    return e / e.sum(dim=1, keepdim=True)
""",
    ),
    (
        "    return -p[torch.arange(len(t)), t].mean()\n",
        "    return -torch.log(p[torch.arange(len(t)), t]).mean()\n",
    ),
)

fault(
    "siamese norm",
    "sqrt at 0 (a point paired with itself): its gradient is infinite",
    ("not finite",),
    (18, 33),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(18)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 4))

    def forward(self, x):
        return self.net(x)


def distance(a, b):
    return torch.sqrt(((a - b) ** 2).sum(1) + 1e-8)


def contrastive(d, same, margin=2.0):
    return (same * d ** 2 + (1 - same) * F.relu(margin - d) ** 2).mean()


protos = torch.randn(5, 10)
labels = torch.randint(0, 5, (200,))
points = protos[labels] + 0.4 * torch.randn(200, 10)

model = Encoder()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(300):
    i = torch.randint(0, 200, (64,))
    j = torch.randint(0, 200, (64,))
    same = (labels[i] == labels[j]).float()
    d = distance(model(points[i]), model(points[j]))
    loss = contrastive(d, same)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 0 or step == 299:
        print(step, "loss", loss.item())

with torch.no_grad():
    z = model(points)
    nearest = torch.cdist(z, z).add(1e3 * torch.eye(200)).argmin(1)
    print("1-nn accuracy", (labels[nearest] == labels).float().mean().item())
""",
    (
        "    return torch.sqrt(((a - b) ** 2).sum(1) + 1e-8)\n",
        "    return torch.sqrt(((a - b) ** 2).sum(1))\n",
    ),
)

fault(
    "sensor zscore",
    "division by the deviation of a dead (constant) channel: 0/0",
    ("not finite",),
    (21,),
    """\
import torch
from torch import nn
from torch.utils.data import Dataset, DataLoader


class SensorData(Dataset):
    \"\"\"eight channels; windows are standardised one by one\"\"\"

    def __init__(self, n, seed, length=20):
        g = torch.Generator().manual_seed(seed)
        self.x = torch.cumsum(torch.randn(n, 8, length, generator=g), dim=2)
        self.y = (self.x[:, 0, -1] > self.x[:, 0].mean(1)).long()
        dead = torch.rand(n, generator=g) < 0.03
        self.x[dead, 5] = 0.0

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        w = self.x[i]
        w = (w - w.mean(1, keepdim=True)) / (w.std(1, keepdim=True) + 1e-6)
        return w, self.y[i]


torch.manual_seed(0)
loader = DataLoader(SensorData(320, 1), batch_size=32, shuffle=True)
net = nn.Sequential(
    nn.Conv1d(8, 16, 5), nn.ReLU(), nn.Flatten(), nn.Linear(16 * 16, 32), nn.ReLU(), nn.Linear(32, 2))
opt = torch.optim.AdamW(net.parameters(), lr=2e-3)
ce = nn.CrossEntropyLoss()
for epoch in range(10):
    tot, hits = 0.0, 0
    for w, y in loader:
        out = net(w)
        loss = ce(out, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item()
        hits += (out.argmax(1) == y).sum().item()
    if epoch % 3 == 0:
        print(f"epoch {epoch} loss {tot / len(loader):.4f} acc {hits / 320:.3f}")
""",
    (
        "        w = (w - w.mean(1, keepdim=True)) / (w.std(1, keepdim=True) + 1e-6)\n",
        "        w = (w - w.mean(1, keepdim=True)) / w.std(1, keepdim=True)\n",
    ),
)

fault(
    "poisson rates",
    "a rate of relu is exactly 0 for some rows: log of 0",
    ("not finite",),
    (21, 18),
    """\
import torch, torch.nn as nn
torch.manual_seed(27)

# bicycle counts per hour
N = 600
hour = torch.randint(0, 24, (N,)).float()
temp = 35 * torch.rand(N)
rain = (torch.rand(N) < .3).float()
lam = torch.exp(3.2 + torch.sin((hour - 6) / 24 * 6.2832) + 0.03 * temp - 0.9 * rain)
count = torch.poisson(lam)

X = torch.stack([torch.sin(hour / 24 * 6.2832), torch.cos(hour / 24 * 6.2832), temp / 35, rain], 1)

net = nn.Sequential(nn.Linear(4, 24), nn.Tanh(), nn.Linear(24, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.01)

def nll(rate, k):
    return (rate - k * torch.log(rate)).mean()

for ep in range(400):
    rate = torch.exp(net(X)).squeeze(1)
    loss = nll(rate, count)
    opt.zero_grad(); loss.backward(); opt.step()
    if ep % 80 == 0 or ep == 399:
        print(ep, f"nll {loss.item():.3f}  mean abs error {(rate - lam).abs().mean().item():.3f}")
""",
    ("    rate = torch.exp(net(X)).squeeze(1)\n", "    rate = torch.relu(net(X)).squeeze(1)\n"),
)

fault(
    "concrete mse",
    "predictions (N,1) against targets (N,): the difference broadcasts to N x N",
    ("broadcast",),
    (35, 25, 21),
    """\
import torch
import torch.nn as nn
from torch.utils.data import TensorDataset, DataLoader

torch.manual_seed(19)
X = torch.randn(400, 6)
beta = torch.tensor([2.0, -1.0, 0.5, 0.0, 3.0, -2.0])
strength = X @ beta + 0.5 * X[:, 0] * X[:, 1] + 0.1 * torch.randn(400)

ds = TensorDataset(X, strength)
dl = DataLoader(ds, batch_size=50, shuffle=True)


class Regressor(nn.Module):
    def __init__(self, n_features, hidden=32):
        super().__init__()
        self.fc1 = nn.Linear(n_features, hidden)
        self.fc2 = nn.Linear(hidden, 1)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))


def criterion(pred, true):
    return ((pred - true) ** 2).mean()


model = Regressor(6)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(60):
    epoch_loss = 0.0
    for features, target in dl:
        optimizer.zero_grad()
        output = model(features)
        loss = criterion(output.squeeze(1), target)
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item() / len(dl)
    if epoch % 10 == 9:
        print(f"Epoch {epoch + 1}: {epoch_loss:.4f}")
with torch.no_grad():
    p = model(X)[:, 0]
    print("R2", 1 - ((p - strength) ** 2).mean().item() / strength.var().item())
""",
    ("        loss = criterion(output.squeeze(1), target)\n", "        loss = criterion(output, target)\n"),
)

fault(
    "keep best",
    "the best state is kept by reference: it goes on changing, the last one is restored",
    ("no copy",),
    (32,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(33)


def load(n):
    x = torch.randn(n, 25)
    y = (x[:, :3].sum(1) + 1.2 * torch.randn(n) > 0).long()
    return x, y


x_train, y_train = load(90)
x_val, y_val = load(400)
net = nn.Sequential(nn.Linear(25, 128), nn.ReLU(), nn.Linear(128, 2))
opt = torch.optim.Adam(net.parameters(), lr=5e-3)

best_val, best_state, best_epoch = float("inf"), None, -1
for epoch in range(150):
    net.train()
    loss = F.cross_entropy(net(x_train), y_train)
    opt.zero_grad()
    loss.backward()
    opt.step()

    net.eval()
    with torch.no_grad():
        val = F.cross_entropy(net(x_val), y_val).item()
    if val < best_val:
        best_val, best_epoch = val, epoch
        best_state = {k: v.clone() for k, v in net.state_dict().items()}
    if epoch % 30 == 0:
        print(f"epoch {epoch} train {loss.item():.3f} val {val:.3f}")

net.load_state_dict(best_state)
with torch.no_grad():
    final = F.cross_entropy(net(x_val), y_val).item()
print(f"best epoch {best_epoch} with {best_val:.4f}; restored model has {final:.4f}")
""",
    (
        "        best_state = {k: v.clone() for k, v in net.state_dict().items()}\n",
        "        best_state = net.state_dict()\n",
    ),
)

fault(
    "accumulate",
    "operator precedence: i + 1 % 4 == 0 never holds, no step is taken",
    ("never steps",),
    (27,),
    """\
import torch
from torch import nn
from torch.utils.data import TensorDataset, DataLoader

torch.manual_seed(22)

HP = {"micro_batch": 8, "accum": 4, "lr": 3e-3, "epochs": 12}


def xor_bits(n, bits=3):
    b = torch.randint(0, 2, (n, bits))
    x = b.float() * 2 - 1 + 0.2 * torch.randn(n, bits)
    return x, (b.sum(1) % 2).float().unsqueeze(1)


loader = DataLoader(TensorDataset(*xor_bits(480)), batch_size=HP["micro_batch"], shuffle=True)
model = nn.Sequential(nn.Linear(3, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=HP["lr"])
criterion = nn.BCEWithLogitsLoss()

for epoch in range(HP["epochs"]):
    optimizer.zero_grad()
    total = 0.0
    for i, (x, y) in enumerate(loader):
        loss = criterion(model(x), y) / HP["accum"]
        loss.backward()
        if (i + 1) % HP["accum"] == 0:
            optimizer.step()
            optimizer.zero_grad()
        total += loss.item() * HP["accum"]
    if epoch % 2 == 1:
        print(f"epoch {epoch + 1}: loss {total / len(loader):.4f}")
""",
    ('        if (i + 1) % HP["accum"] == 0:\n', '        if i + 1 % HP["accum"] == 0:\n'),
)

fault(
    "first batch",
    "a new iterator at every step: only ever the first batch is seen",
    ("same batch",),
    (21,),
    """\
import torch, torch.nn as nn
from torch.utils.data import TensorDataset, DataLoader
torch.manual_seed(35)

# --- cell 1
n = 640
y = torch.arange(n) % 5
c = 1.3 * torch.randn(5, 30)
x = c[y] * (0.4 + torch.rand(n, 1)) + 2.2 * torch.randn(n, 30)
xv = c[y[:200]] + 2.2 * torch.randn(200, 30)

# --- cell 2
dl = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=False)
net = nn.Sequential(nn.Linear(30, 64), nn.ReLU(), nn.Linear(64, 5))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)

# --- cell 3
it = iter(dl)
for step in range(300):
    try:
        xb, yb = next(it)
    except StopIteration:
        it = iter(dl)
        xb, yb = next(it)
    loss = nn.functional.cross_entropy(net(xb), yb)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 60 == 0:
        print("step", step, "loss", round(loss.item(), 4))

# --- cell 4
with torch.no_grad():
    print("train acc", (net(x).argmax(1) == y).float().mean().item())
    print("val acc", (net(xv).argmax(1) == y[:200]).float().mean().item())
""",
    (
        """\
    try:
        xb, yb = next(it)
    except StopIteration:
""",
        """\
    try:
        xb, yb = next(iter(dl))
    except StopIteration:
""",
    ),
)

fault(
    "seq2seq dedent",
    "the step stands outside of the loop over batches: one step per epoch",
    (),
    (48, 47, 46),
    """\
from dataclasses import dataclass
import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Config:
    vocab: int = 8
    length: int = 5
    hidden: int = 48
    lr: float = 5e-3
    epochs: int = 6
    batches: int = 50
    batch_size: int = 32


class Reverser(nn.Module):
    def __init__(self, cfg: Config):
        super().__init__()
        self.emb = nn.Embedding(cfg.vocab + 1, 16)      # last id: start
        self.enc = nn.GRU(16, cfg.hidden, batch_first=True)
        self.dec = nn.GRU(16, cfg.hidden, batch_first=True)
        self.out = nn.Linear(cfg.hidden, cfg.vocab)
        self.start = cfg.vocab

    def forward(self, src, tgt):
        _, h = self.enc(self.emb(src))
        start = torch.full((len(src), 1), self.start, dtype=torch.long)
        z, _ = self.dec(self.emb(torch.cat([start, tgt[:, :-1]], 1)), h)
        return self.out(z)


cfg = Config()
torch.manual_seed(10)
model = Reverser(cfg)
optim = torch.optim.Adam(model.parameters(), lr=cfg.lr)
for epoch in range(cfg.epochs):
    history = []
    for _ in range(cfg.batches):
        src = torch.randint(0, cfg.vocab, (cfg.batch_size, cfg.length))
        tgt = src.flip(1)
        logits = model(src, tgt)
        loss = F.cross_entropy(logits.reshape(-1, cfg.vocab), tgt.reshape(-1))
        history.append(loss.item())
        optim.zero_grad()
        loss.backward()
        optim.step()
    print(f"epoch {epoch}: mean loss {sum(history) / len(history):.4f}")
""",
    (
        """\
        optim.zero_grad()
        loss.backward()
        optim.step()
""",
        """\
    optim.zero_grad()
    loss.backward()
    optim.step()
""",
    ),
)

fault(
    "numpy double",
    "float64 inputs from numpy meet float32 weights",
    ("exception",),
    (21, 34),
    """\
import numpy as np
import torch
import torch.nn as nn

# --- Franke's function from scattered points ---
np.random.seed(0)
torch.manual_seed(0)


def franke(x, y):
    a = 0.75 * np.exp(-((9 * x - 2) ** 2 + (9 * y - 2) ** 2) / 4)
    b = 0.75 * np.exp(-((9 * x + 1) ** 2) / 49 - (9 * y + 1) / 10)
    c = 0.5 * np.exp(-((9 * x - 7) ** 2 + (9 * y - 3) ** 2) / 4)
    d = -0.2 * np.exp(-((9 * x - 4) ** 2) - (9 * y - 7) ** 2)
    return a + b + c + d


pts = np.random.rand(400, 2)
val = franke(pts[:, 0], pts[:, 1])[:, None]

inputs = torch.from_numpy(pts).float()
targets = torch.from_numpy(val).float()

model = nn.Sequential(
    nn.Linear(2, 40),
    nn.Tanh(),
    nn.Linear(40, 40),
    nn.Tanh(),
    nn.Linear(40, 1),
)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

for epoch in range(600):
    prediction = model(inputs)
    loss = nn.functional.mse_loss(prediction, targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 100 == 0 or epoch == 599:
        print("epoch {} loss {:.6f}".format(epoch, loss.item()))
""",
    ("inputs = torch.from_numpy(pts).float()\n", "inputs = torch.from_numpy(pts)\n"),
)
