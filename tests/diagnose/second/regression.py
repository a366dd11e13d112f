"""Regression: programs with a fault each, and healthy ones.

Invariant: written by someone who had read no rule.
"""

# ruff: noqa: E501  (a program is text)

from .program import fault, healthy

fault(
    "bike demand",
    "weight decay 2 in Adam: the weights are pulled to zero and only the mean is predicted",
    ("decay wins",),
    (38,),
    """\
from typing import Iterator, Tuple

import torch
from torch import Tensor, nn

torch.manual_seed(77)


def rides(n: int) -> Tuple[Tensor, Tensor]:
    hour = torch.rand(n) * 24
    temp = torch.randn(n)
    work = (torch.rand(n) < 0.7).float()
    peak = torch.exp(-((hour - 8) / 2) ** 2) + torch.exp(-((hour - 17) / 2) ** 2)
    demand = 2 * work * peak + 0.8 * temp - 0.3 * temp ** 2 + 0.1 * torch.randn(n)
    clock = 6.28319 * hour / 24
    x = torch.stack([clock.sin(), clock.cos(), (2 * clock).sin(), (2 * clock).cos(), temp, work], 1)
    return x, demand[:, None]


def batches(n: int, size: int) -> Iterator[Tensor]:
    yield from torch.randperm(n).split(size)


class Demand(nn.Module):
    def __init__(self, hidden: int = 48) -> None:
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(6, hidden), nn.SiLU(), nn.Linear(hidden, hidden), nn.SiLU(), nn.Linear(hidden, 1)
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.net(x)


x, y = rides(640)
xv, yv = rides(200)
model = Demand()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=1e-5)

for epoch in range(30):
    total = 0.0
    for idx in batches(640, 64):
        loss = nn.functional.huber_loss(model(x[idx]), y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() / 10
    if epoch % 3 == 0:
        with torch.no_grad():
            r2 = 1 - ((model(xv) - yv) ** 2).mean() / yv.var()
        print(f"epoch {epoch:2d} loss {total:.4f} validation R2 {r2.item():.3f}")
""",
    (
        "optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=1e-5)\n",
        "optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=2.0)\n",
    ),
)

fault(
    "calibration curve",
    "predictions of shape (N, 1) against targets of shape (N,): the difference broadcasts to (N, N) and the mean is learnt",
    ("broadcast",),
    (28,),
    """\
import torch
import torch.nn as nn

torch.manual_seed(0)

# voltage of a thermocouple against temperature
temperature = torch.rand(256) * 2 - 1
voltage = 0.8 * temperature + 0.5 * temperature ** 3 - 0.2 * torch.cos(4 * temperature)
voltage = voltage + 0.01 * torch.randn(256)

net = nn.Sequential(
    nn.Linear(1, 20),
    nn.Tanh(),
    nn.Linear(20, 1),
)
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)


def squared_error(prediction, target):
    return ((prediction - target) ** 2).mean()


for epoch in range(60):
    order = torch.randperm(200)
    total = 0.0
    for start in range(0, 200, 40):
        rows = order[start:start + 40]
        prediction = net(temperature[rows].unsqueeze(1)).squeeze(1)
        loss = squared_error(prediction, voltage[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    if (epoch + 1) % 10 == 0:
        print("epoch", epoch + 1, "loss", round(total / 5, 5))

with torch.no_grad():
    for t in (-0.9, -0.3, 0.3, 0.9):
        p = net(torch.tensor([[t]])).item()
        v = 0.8 * t + 0.5 * t ** 3 - 0.2 * torch.cos(torch.tensor(4 * t)).item()
        print(f"T {t:+.1f}   true {v:+.3f}   predicted {p:+.3f}")
""",
    (
        "        prediction = net(temperature[rows].unsqueeze(1)).squeeze(1)\n",
        "        prediction = net(temperature[rows].unsqueeze(1))\n",
    ),
)

fault(
    "deep bn signal",
    "the first validation puts the model into eval mode and nothing brings it back: BatchNorm never normalises in training",
    ("trains in eval",),
    (35,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(10)


def block(a, b):
    return nn.Sequential(nn.Linear(a, b), nn.BatchNorm1d(b), nn.Sigmoid())


model = nn.Sequential(block(10, 32), block(32, 32), block(32, 32), nn.Linear(32, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=0.005)

directions = torch.randn(4, 10)


def sample(n):
    x = torch.randn(n, 10)
    label = (x @ directions.T).argmax(dim=1)
    return x * 0.02, label


train_x, train_y = sample(640)
valid_x, valid_y = sample(200)


def validate():
    model.eval()
    with torch.no_grad():
        return (model(valid_x).argmax(1) == valid_y).float().mean().item()


def train_epoch():
    model.train()
    total = 0.0
    for idx in torch.randperm(640).split(32):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(train_x[idx]), train_y[idx])
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / 20


print(f"untrained accuracy {validate():.3f}")
for epoch in range(30):
    loss = train_epoch()
    acc = validate()
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1:2d} loss {loss:.4f} accuracy {acc:.3f}")
""",
    ("    model.train()\n", ""),
)

fault(
    "deep wave",
    "all weights start at one constant: the units of a layer stay copies of each other (symmetry never broken)",
    ("equal units",),
    (22,),
    """\
import torch
from torch import nn

torch.manual_seed(2)

x = torch.linspace(-3, 3, 256).unsqueeze(1)
y = torch.sin(2 * x) + 0.3 * x

WIDTH, DEPTH = 32, 3


def build():
    layers = [nn.Linear(1, WIDTH), nn.Tanh()]
    for _ in range(DEPTH - 1):
        layers += [nn.Linear(WIDTH, WIDTH), nn.Tanh()]
    layers += [nn.Linear(WIDTH, 1)]
    return nn.Sequential(*layers)


def init(m):
    if isinstance(m, nn.Linear):
        nn.init.xavier_uniform_(m.weight)
        nn.init.zeros_(m.bias)


model = build()
model.apply(init)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

for epoch in range(60):
    perm = torch.randperm(256)
    losses = []
    for idx in perm.split(32):
        out = model(x[idx])
        loss = ((out - y[idx]) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    if epoch % 10 == 9:
        print(f"[{epoch + 1}/60] mse {sum(losses) / len(losses):.4f}")

with torch.no_grad():
    final = ((model(x) - y) ** 2).mean().item()
print("variance of y", round(y.var().item(), 4), "final mse", round(final, 4))
""",
    ("        nn.init.xavier_uniform_(m.weight)\n", "        nn.init.constant_(m.weight, 0.05)\n"),
)

fault(
    "early stop",
    "validation runs on the training rows: early stopping never sees the overfitting and keeps the last, worst model",
    (),
    (48,),
    """\
import copy
import torch
import torch.nn as nn

torch.manual_seed(1)


def experiment(n):
    x = torch.randn(n, 40)
    x[:, :3] *= 2
    y = 1.5 * x[:, 0] - x[:, 1] + x[:, 2] + 1.5 * torch.randn(n)
    return x, y.unsqueeze(1)


x, y = experiment(120)
x_test, y_test = experiment(400)
x_train, y_train = x[:44], y[:44]
x_valid, y_valid = x[44:], y[44:]

net = nn.Linear(40, 1)
opt = torch.optim.Adam(net.parameters(), lr=0.02)
loss_fn = nn.MSELoss()


class EarlyStopping:
    def __init__(self, patience):
        self.patience, self.best, self.bad, self.state = patience, float("inf"), 0, None

    def __call__(self, value, model):
        if value < self.best - 1e-5:
            self.best, self.bad = value, 0
            self.state = copy.deepcopy(model.state_dict())
        else:
            self.bad += 1
        return self.bad >= self.patience


stopper = EarlyStopping(patience=100)
for epoch in range(1500):
    net.train()
    opt.zero_grad()
    loss = loss_fn(net(x_train), y_train)
    loss.backward()
    opt.step()

    net.eval()
    with torch.no_grad():
        valid = loss_fn(net(x_valid), y_valid).item()
    if epoch % 100 == 0:
        print(f"epoch {epoch} train {loss.item():.4f} valid {valid:.4f}")
    if stopper(valid, net):
        print("stopped at epoch", epoch)
        break

net.load_state_dict(stopper.state)
with torch.no_grad():
    print("best valid", round(stopper.best, 3), " test", round(loss_fn(net(x_test), y_test).item(), 3),
          " (the noise alone is 2.25)")
""",
    (
        "        valid = loss_fn(net(x_valid), y_valid).item()\n",
        "        valid = loss_fn(net(x_train), y_train).item()\n",
    ),
)

fault(
    "gated flow",
    "the gate is changed in place after sigmoid, whose output is needed for its own gradient: backward raises",
    ("in place",),
    (15,),
    """\
import torch
from torch import nn

torch.manual_seed(24)


class GatedBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.value = nn.Linear(width, width)
        self.gate = nn.Linear(width, width)

    def forward(self, x):
        g = torch.sigmoid(self.gate(x))
        g = g * 2
        return x + g * torch.tanh(self.value(x))


class River(nn.Module):
    def __init__(self, n_in, width=20, blocks=2):
        super().__init__()
        self.inp = nn.Linear(n_in, width)
        self.blocks = nn.Sequential(*[GatedBlock(width) for _ in range(blocks)])
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        return self.out(self.blocks(self.inp(x))).squeeze(-1)


# gauge readings upstream -> level downstream
rain = torch.rand(500, 4)
level = rain[:, 0] * rain[:, 1] + torch.sin(4 * rain[:, 2]) * 0.5 + 0.3 * rain[:, 3] ** 2
level = (level - level.mean()) / level.std()

net = River(4)
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(25):
    err = 0.0
    for idx in torch.randperm(400).split(40):
        loss = nn.functional.mse_loss(net(rain[idx]), level[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        err += loss.item()
    if epoch % 4 == 0:
        print(f"epoch {epoch:2d} mse {err / 10:.4f}")

with torch.no_grad():
    print("held out", round(nn.functional.mse_loss(net(rain[400:]), level[400:]).item(), 4))
""",
    ("        g = g * 2\n", "        g *= 2\n"),
)

fault(
    "half regressor",
    "weights and Adam states in float16: squared gradients underflow to 0 in the state, the updates blow up (inf; NaN in real PyTorch)",
    ("diverges",),
    (5,),
    """\
import torch
from torch import nn

torch.manual_seed(30)
DTYPE = torch.float32


def waves(n):
    x = torch.rand(n, 2) * 2 - 1
    y = 0.05 * (torch.sin(3 * x[:, :1]) + x[:, 1:] ** 2)
    return x.to(DTYPE), y.to(DTYPE)


model = nn.Sequential(
    nn.Linear(2, 32),
    nn.ReLU(),
    nn.Linear(32, 32),
    nn.ReLU(),
    nn.Linear(32, 1),
).to(DTYPE)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
x, y = waves(512)
xv, yv = waves(128)
print("variance of the target: %.6f" % yv.float().var().item())

for epoch in range(20):
    total, batches = 0.0, 0
    for idx in torch.randperm(512).split(64):
        prediction = model(x[idx])
        loss = ((prediction - y[idx]) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
        batches += 1
    if epoch % 4 == 0:
        print("epoch %d loss %.6f" % (epoch, total / batches))

with torch.no_grad():
    error = ((model(xv) - yv).float() ** 2).mean().item()
print("validation error: %.6f" % error)
""",
    ("DTYPE = torch.float32\n", "DTYPE = torch.float16\n"),
)

fault(
    "house energy",
    "F.dropout without training=self.training: units are dropped in the evaluation too",
    ("draws always",),
    (15,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F


class EnergyNet(nn.Module):
    def __init__(self, n_in=5, n_hidden=64, p=0.5):
        super().__init__()
        self.p = p
        self.a = nn.Linear(n_in, n_hidden)
        self.b = nn.Linear(n_hidden, 1)

    def forward(self, x):
        h = F.relu(self.a(x))
        h = F.dropout(h, self.p, training=self.training)
        return self.b(h).squeeze(1)


def simulate(n):
    x = torch.randn(n, 5)
    y = 2.0 * x[:, 0] - 1.5 * x[:, 1] + x[:, 2].abs() + 0.5 * x[:, 3] * x[:, 4] + 4.0
    return x, y


def fit(model, x, y, epochs=60, lr=0.01):
    opt = torch.optim.Adam(model.parameters(), lr=lr)
    for e in range(epochs):
        model.train()
        order = torch.randperm(len(x))
        s = 0.0
        for i in range(0, len(x), 64):
            j = order[i:i + 64]
            opt.zero_grad()
            loss = F.mse_loss(model(x[j]), y[j])
            loss.backward()
            opt.step()
            s += loss.item()
        if e % 10 == 9:
            model.eval()
            with torch.no_grad():
                v = F.mse_loss(model(xv), yv).item()
                jitter = (model(xv) - model(xv)).abs().mean().item()
            print(f"epoch {e + 1} train {s / (len(x) // 64):.3f} validation {v:.3f} "
                  f"two predictions differ by {jitter:.3f}")


torch.manual_seed(101)
x, y = simulate(640)
xv, yv = simulate(300)
print("variance of the target", round(yv.var().item(), 3))
fit(EnergyNet(), x, y)
""",
    ("        h = F.dropout(h, self.p, training=self.training)\n", "        h = F.dropout(h, self.p)\n"),
)

fault(
    "house price",
    "targets in whole euros are not scaled: plain SGD diverges to infinity",
    ("diverges",),
    (22,),
    """\
import torch
from torch import nn

CONFIG = {"seed": 11, "n": 400, "lr": 0.01, "epochs": 30, "batch": 40, "hidden": 24}
torch.manual_seed(CONFIG["seed"])


def make_houses(n):
    area = 60 + 30 * torch.rand(n)
    rooms = torch.randint(2, 6, (n,)).float()
    age = 50 * torch.rand(n)
    price = 2500 * area + 9000 * rooms - 700 * age + 3000 * torch.randn(n)
    return torch.stack([area, rooms, age], 1), price.unsqueeze(1)


def scale(t):
    return (t - t.mean(0)) / t.std(0)


features, price = make_houses(CONFIG["n"])
features = scale(features)
target = scale(price)

model = nn.Sequential(
    nn.Linear(3, CONFIG["hidden"]),
    nn.ReLU(),
    nn.Linear(CONFIG["hidden"], 1),
)
optimizer = torch.optim.SGD(model.parameters(), lr=CONFIG["lr"], momentum=0.9)
mse = nn.MSELoss()

split = 320
for epoch in range(CONFIG["epochs"]):
    running = 0.0
    batches = torch.randperm(split).split(CONFIG["batch"])
    for idx in batches:
        loss = mse(model(features[idx]), target[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item()
    if epoch % 5 == 0:
        print(f"epoch {epoch} train mse {running / len(batches):.5g}")

with torch.no_grad():
    held = target[split:]
    r2 = 1 - mse(model(features[split:]), held) / held.var()
print("held-out R2:", round(r2.item(), 4))
""",
    ("target = scale(price)\n", "target = price\n"),
)

fault(
    "numpy weather",
    "the table comes from numpy in float64, the layers are float32: the first matrix product raises",
    ("exception",),
    (23,),
    """\
import numpy as np
import torch
import torch.nn as nn

rng = np.random.default_rng(7)
torch.manual_seed(7)

# ---------------------------------------------------------------- data (numpy, as the csv reader gives it)
n = 500
day = rng.integers(0, 365, n)
pressure = rng.normal(1013, 8, n)
humidity = rng.uniform(20, 100, n)
temp = 10 - 9 * np.cos(2 * np.pi * day / 365) + 0.1 * (pressure - 1013) - 0.03 * (humidity - 60) \\
    + rng.normal(0, 0.5, n)
table = np.column_stack([
    np.sin(2 * np.pi * day / 365),
    np.cos(2 * np.pi * day / 365),
    (pressure - 1013) / 8,
    (humidity - 60) / 23,
])
target = ((temp - temp.mean()) / temp.std())[:, None]

X = torch.from_numpy(table).float()
Y = torch.from_numpy(target).float()
cut = 400

# ---------------------------------------------------------------- model
model = nn.Sequential(nn.Linear(4, 16), nn.ELU(), nn.Linear(16, 1))
optimizer = torch.optim.RMSprop(model.parameters(), lr=3e-3)
criterion = nn.L1Loss()

# ---------------------------------------------------------------- training
for epoch in range(25):
    total = 0.0
    for idx in torch.randperm(cut).split(40):
        optimizer.zero_grad()
        loss = criterion(model(X[idx]), Y[idx])
        loss.backward()
        optimizer.step()
        total += loss.item() / 10
    if epoch % 4 == 0:
        print(f"epoch {epoch} mean absolute error {total:.4f}")

with torch.no_grad():
    print("held out:", round(criterion(model(X[cut:]), Y[cut:]).item(), 4))
""",
    (
        "X = torch.from_numpy(table).float()\nY = torch.from_numpy(target).float()\n",
        "X = torch.from_numpy(table)\nY = torch.from_numpy(target)\n",
    ),
)

fault(
    "plant table",
    "the last batch of the loader holds one sample (drop_last is missing): BatchNorm1d raises in training mode",
    ("one sample",),
    (14,),
    """\
import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(19)

N, K = 385, 3
centres = torch.tensor([[5.0, 3.4, 1.5, 0.2], [5.9, 2.8, 4.3, 1.3], [6.6, 3.0, 5.6, 2.0]])
species = torch.randint(0, K, (N,))
measured = centres[species] + 0.35 * torch.randn(N, 4)

everything = TensorDataset(measured, species)
train_set, valid_set = random_split(everything, [321, 64])
train_loader = DataLoader(train_set, batch_size=32, shuffle=True, drop_last=True)
valid_loader = DataLoader(valid_set, batch_size=32)

net = nn.Sequential(
    nn.Linear(4, 16),
    nn.BatchNorm1d(16),
    nn.ReLU(),
    nn.Linear(16, 16),
    nn.BatchNorm1d(16),
    nn.ReLU(),
    nn.Linear(16, K),
)
opt = optim.SGD(net.parameters(), lr=0.05, momentum=0.9, nesterov=True)
criterion = nn.CrossEntropyLoss()

for epoch in range(10):
    net.train()
    for i, (a, b) in enumerate(train_loader):
        opt.zero_grad()
        loss = criterion(net(a), b)
        loss.backward()
        opt.step()
        if i % 5 == 0:
            print(f"epoch {epoch} batch {i} loss {loss.item():.4f}")
    net.eval()
    with torch.no_grad():
        right = sum((net(a).argmax(1) == b).sum().item() for a, b in valid_loader)
    print(f"epoch {epoch} validation accuracy {right / len(valid_set):.3f}")
""",
    (
        "train_loader = DataLoader(train_set, batch_size=32, shuffle=True, drop_last=True)\n",
        "train_loader = DataLoader(train_set, batch_size=32, shuffle=True)\n",
    ),
)

fault(
    "residual tower",
    "the blocks are kept in a plain Python list: their parameters are not registered and never trained",
    ("not held",),
    (20,),
    """\
import torch
import torch.nn as nn


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm = nn.LayerNorm(d)
        self.up = nn.Linear(d, 2 * d)
        self.down = nn.Linear(2 * d, d)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))


class Tower(nn.Module):
    def __init__(self, n_in, d=8, depth=3):
        super().__init__()
        self.stem = nn.Linear(n_in, d)
        self.blocks = nn.ModuleList([Block(d) for _ in range(depth)])
        self.head = nn.Linear(d, 1)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


torch.manual_seed(17)
X = torch.rand(512, 3) * 4 - 2
Y = (torch.sin(2 * X[:, :1]) * X[:, 1:2] + torch.cos(3 * X[:, 2:3]))
Xv, Yv = X[:128], Y[:128]
Xt, Yt = X[128:], Y[128:]

net = Tower(3)
opt = torch.optim.AdamW(net.parameters(), lr=8e-3, weight_decay=0.0)
for epoch in range(45):
    s = 0.0
    for idx in torch.randperm(len(Xt)).split(48):
        l = nn.functional.mse_loss(net(Xt[idx]), Yt[idx])
        opt.zero_grad(); l.backward(); opt.step()
        s += l.item()
    if epoch % 5 == 0:
        print(epoch, "train", round(s / 8, 4))
with torch.no_grad():
    print("target variance", round(Yv.var().item(), 3), "validation mse",
          round(nn.functional.mse_loss(net(Xv), Yv).item(), 4))
""",
    (
        "        self.blocks = nn.ModuleList([Block(d) for _ in range(depth)])\n",
        "        self.blocks = [Block(d) for _ in range(depth)]\n",
    ),
)

healthy(
    "accumulation",
    """\
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(4)
config = {"micro": 8, "accumulate": 8, "epochs": 30, "lr": 0.1}

x = torch.rand(512, 3) * 2 - 1
y = (x[:, :1] * 2 - x[:, 1:2] ** 2 + torch.sin(3 * x[:, 2:]))
train = TensorDataset(x[:448], y[:448])
loader = DataLoader(train, batch_size=config["micro"], shuffle=True)

model = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=config["lr"], momentum=0.9)
loss_fn = nn.MSELoss()

optimizer.zero_grad()
for epoch in range(config["epochs"]):
    total = 0.0
    for i, (xb, yb) in enumerate(loader, start=1):
        loss = loss_fn(model(xb), yb) / config["accumulate"]
        loss.backward()
        total += loss.item() * config["accumulate"]
        if i % config["accumulate"] == 0:
            optimizer.step()
            optimizer.zero_grad()
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1} loss {total / len(loader):.5f}")

with torch.no_grad():
    print("held out", round(loss_fn(model(x[448:]), y[448:]).item(), 5),
          "variance", round(y[448:].var().item(), 4))
""",
)

healthy(
    "by hand",
    """\
import torch

torch.manual_seed(13)
g = torch.Generator().manual_seed(13)
n, d, k = 400, 6, 3
centres = 1.5 * torch.randn(k, d, generator=g)
label = torch.randint(0, k, (n,), generator=g)
data = centres[label] + torch.randn(n, d, generator=g)

W = torch.zeros(d, k, requires_grad=True)
b = torch.zeros(k, requires_grad=True)
velocity = [torch.zeros_like(W), torch.zeros_like(b)]


def nll(z, t):
    z = z - z.max(dim=1, keepdim=True).values
    return (z.exp().sum(1).log() - z.gather(1, t[:, None]).squeeze(1)).mean()


lr, mu = 0.05, 0.9
for epoch in range(15):
    total = 0.0
    for i in range(0, 320, 32):
        loss = nll(data[i:i + 32] @ W + b, label[i:i + 32])
        loss.backward()
        with torch.no_grad():
            for p, v in zip((W, b), velocity):
                v.mul_(mu).add_(p.grad)
                p -= lr * v
                p.grad.zero_()
        total += loss.item()
    if epoch % 3 == 0:
        print(epoch, "loss", round(total / 10, 4))

with torch.no_grad():
    hit = ((data[320:] @ W + b).argmax(1) == label[320:]).float().mean().item()
print("accuracy", round(hit, 3))
""",
)

healthy(
    "ema weights",
    """\
from __future__ import annotations

import copy

import torch
from torch import Tensor, nn

torch.manual_seed(14)


class EMA:
    def __init__(self, model: nn.Module, decay: float = 0.98) -> None:
        self.model = copy.deepcopy(model).requires_grad_(False)
        self.decay = decay

    @torch.no_grad()
    def update(self, model: nn.Module) -> None:
        for mine, theirs in zip(self.model.parameters(), model.parameters()):
            mine.lerp_(theirs, 1 - self.decay)


def target_function(x: Tensor) -> Tensor:
    return torch.sin(3 * x[:, :1]) * torch.cos(2 * x[:, 1:])


def noisy_batch(n: int) -> tuple[Tensor, Tensor]:
    x = torch.rand(n, 2) * 2 - 1
    return x, target_function(x) + 0.5 * torch.randn(n, 1)


model = nn.Sequential(nn.Linear(2, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh(), nn.Linear(48, 1))
ema = EMA(model)
opt = torch.optim.Adam(model.parameters(), lr=8e-3)
grid = torch.rand(400, 2) * 2 - 1
print("variance of the function", round(target_function(grid).var().item(), 4))

for step in range(1, 601):
    x, y = noisy_batch(16)
    loss = nn.functional.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    ema.update(model)
    if step % 100 == 0:
        with torch.no_grad():
            raw = nn.functional.mse_loss(model(grid), target_function(grid)).item()
            avg = nn.functional.mse_loss(ema.model(grid), target_function(grid)).item()
        print(f"step {step} loss {loss.item():.3f} error of the model {raw:.4f} of its average {avg:.4f}")
""",
)

healthy(
    "gaussian nll",
    """\
import torch
import torch.nn as nn

torch.manual_seed(17)


def sample(n):
    x = torch.rand(n, 1) * 4 - 2
    sigma = 0.02 + 0.1 * x.abs()
    return x, torch.sin(2 * x) + sigma * torch.randn(n, 1), sigma


class MeanAndSpread(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh())
        self.mean = nn.Linear(32, 1)
        self.logvar = nn.Linear(32, 1)

    def forward(self, x):
        h = self.trunk(x)
        return self.mean(h), self.logvar(h).clamp(-10, 4)


net = MeanAndSpread()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
x, y, _ = sample(1024)
for epoch in range(40):
    s = 0.0
    for idx in torch.randperm(1024).split(64):
        mean, logvar = net(x[idx])
        loss = 0.5 * (logvar + (y[idx] - mean) ** 2 / logvar.exp()).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        s += loss.item() / 16
    if epoch % 5 == 4:
        print("epoch", epoch + 1, "nll", round(s, 4))

with torch.no_grad():
    xt, yt, sigma = sample(500)
    mean, logvar = net(xt)
    inside = ((yt - mean).abs() < (0.5 * logvar).exp()).float().mean().item()
print("within one predicted sigma:", round(inside, 3), "(0.683 expected)")
""",
)

healthy(
    "heavy decay",
    """\
import torch
from torch import nn

torch.manual_seed(11)
ROWS, GENES = 60, 60

truth = torch.zeros(GENES, 1)
truth[:10] = 0.3


def patients(n):
    shared = torch.randn(n, 1)
    x = torch.randn(n, GENES)
    x[:, :10] += 1.5 * shared
    y = x @ truth + 3.0 * torch.randn(n, 1)
    return x, y


x, y = patients(ROWS)
xt, yt = patients(400)


def train(decay):
    torch.manual_seed(0)
    model = nn.Linear(GENES, 1)
    opt = torch.optim.AdamW(model.parameters(), lr=0.01, weight_decay=decay)
    for epoch in range(600):
        opt.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        opt.step()
        if epoch % 120 == 119:
            print(f"  decay {decay} epoch {epoch + 1} loss {loss.item():.4f} norm {model.weight.norm().item():.3f}")
    with torch.no_grad():
        return nn.functional.mse_loss(model(xt), yt).item()


if __name__ == "__main__":
    error = train(3.0)
    print("variance of the target", round(yt.var().item(), 2), "test error", round(error, 2))
""",
)

healthy(
    "lbfgs",
    """\
import torch
import torch.nn as nn

torch.manual_seed(15)
t = torch.linspace(0, 1, 80).unsqueeze(1)
signal = torch.exp(-3 * t) * torch.cos(12 * t)
observed = signal + 0.02 * torch.randn_like(signal)


class Oscillator(nn.Module):
    \"\"\"Three physical constants, nothing else.\"\"\"

    def __init__(self):
        super().__init__()
        self.damping = nn.Parameter(torch.tensor(1.0))
        self.omega = nn.Parameter(torch.tensor(10.0))
        self.phase = nn.Parameter(torch.tensor(0.3))

    def forward(self, t):
        return torch.exp(-self.damping * t) * torch.cos(self.omega * t + self.phase)


model = Oscillator()
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=5, history_size=5)


def closure():
    optimizer.zero_grad()
    loss = ((model(t) - observed) ** 2).mean()
    loss.backward()
    return loss


for step in range(15):
    loss = optimizer.step(closure)
    print("step", step, "loss", round(loss.item(), 6))

print("damping %.3f (3)  omega %.3f (12)  phase %.3f (0)" % tuple(p.item() for p in model.parameters()))
""",
)

healthy(
    "mc dropout",
    """\
import torch
from torch import nn

SEED, SAMPLES = 18, 40
torch.manual_seed(SEED)

x = torch.cat([torch.rand(150, 1) * 1.5 - 2, torch.rand(150, 1) * 1.5 + 0.5])
y = x ** 3 / 4 + 0.05 * torch.randn_like(x)

net = nn.Sequential(
    nn.Linear(1, 64), nn.ReLU(), nn.Dropout(0.1),
    nn.Linear(64, 64), nn.ReLU(), nn.Dropout(0.1),
    nn.Linear(64, 1),
)
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
net.train()
for epoch in range(60):
    total = 0.0
    for idx in torch.randperm(300).split(50):
        loss = nn.functional.mse_loss(net(x[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() / 6
    if epoch % 10 == 9:
        print(f"epoch {epoch + 1} loss {total:.4f}")

# the spread of many random passes tells where the net does not know
where = torch.tensor([[-1.5], [0.0], [1.5], [4.0]])
with torch.no_grad():
    passes = torch.stack([net(where) for _ in range(SAMPLES)])
for w, m, s in zip(where.flatten().tolist(), passes.mean(0).flatten().tolist(), passes.std(0).flatten().tolist()):
    print(f"x {w:+.1f} mean {m:+.3f} spread {s:.3f} truth {w ** 3 / 4:+.3f}")
""",
)
