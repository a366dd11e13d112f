"""Regression: programs with a fault each, and healthy ones.

Invariant: written by someone who had read no rule.
"""

from .program import fault, healthy

fault(
    "bias relu",
    "bias of -8 puts every ReLU unit in its dead zone",
    ("dead units",),
    (14,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(23)


class EnergyModel(nn.Module):
    def __init__(self, n_in: int, width: int):
        super().__init__()
        self.inp = nn.Linear(n_in, width)
        self.mid = nn.Linear(width, width)
        self.out = nn.Linear(width, 1)
        nn.init.constant_(self.mid.bias, 0.1)
        nn.init.constant_(self.inp.bias, 0.1)

    def forward(self, x):
        h = F.relu(self.inp(x))
        h = F.relu(self.mid(h))
        return self.out(h)


def energy(x):
    k = 0.5 * (x[:, :3] ** 2).sum(dim=1, keepdim=True)
    return k + x[:, 3:4]


def main() -> None:
    model = EnergyModel(4, 32)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    x = torch.randn(500, 4)
    e = energy(x)
    for epoch in range(25):
        perm = torch.randperm(500)
        total = 0.0
        for i in range(0, 500, 50):
            b = perm[i:i + 50]
            loss = F.mse_loss(model(x[b]), e[b])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() / 10
        if epoch % 3 == 0:
            print(f"epoch {epoch:2d} | mse {total:.4f}")
    xt = torch.randn(200, 4)
    with torch.no_grad():
        print("test mse", F.mse_loss(model(xt), energy(xt)).item(), "variance", energy(xt).var().item())


main()
""",
    ("        nn.init.constant_(self.mid.bias, 0.1)\n", "        nn.init.constant_(self.mid.bias, -8.0)\n"),
)

fault(
    "clip reg",
    "gradients clipped to a norm of 1e-5, SGD hardly moves",
    ("clipped away",),
    (8,),
    """\
import torch
import torch.nn as nn
from torch.nn.utils import clip_grad_norm_

torch.manual_seed(19)

HP = dict(hidden=20, lr=0.1, momentum=0.9, steps=250, batch=40)
HP["max_norm"] = 1.0


class MLP(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.l1 = nn.Linear(3, hidden)
        self.l2 = nn.Linear(hidden, 1)

    def forward(self, x):
        return self.l2(torch.tanh(self.l1(x)))


def f(x):
    return (torch.sin(x[:, 0]) + 0.5 * x[:, 1] * x[:, 2]).unsqueeze(1)


model = MLP(HP["hidden"])
opt = torch.optim.SGD(model.parameters(), lr=HP["lr"], momentum=HP["momentum"])
log = []
for step in range(HP["steps"]):
    x = torch.randn(HP["batch"], 3)
    loss = ((model(x) - f(x)) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    clip_grad_norm_(model.parameters(), HP["max_norm"])
    opt.step()
    log.append(loss.item())
    if (step + 1) % 25 == 0:
        print(step + 1, "mean loss", sum(log[-25:]) / 25)

xt = torch.randn(500, 3)
with torch.no_grad():
    print("test mse", ((model(xt) - f(xt)) ** 2).mean().item(), "variance", f(xt).var().item())
""",
    ('HP["max_norm"] = 1.0\n', 'HP["max_norm"] = 1e-5\n'),
)

fault(
    "half sum",
    "half precision sum of squares overflows to inf",
    ("not finite",),
    (14,),
    """\
import torch
import torch.nn as nn

torch.manual_seed(82)

# microphone levels, in raw units
N, D = 300, 32
gain = torch.randn(D, 1)
wave = 120.0 * torch.randn(N, D)
loud = (wave @ gain) / 120.0


def normalise(x):
    x = x.float()
    energy = (x * x).sum(dim=1, keepdim=True)
    rms = (energy / D).sqrt()
    return (x / rms).float(), rms.float() / 120.0


class Level(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(D, 1)
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, x):
        unit, rms = normalise(x)
        return self.fc(unit) * rms * self.scale


model = Level()
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
x, y = wave[:240], loud[:240]
for epoch in range(20):
    total = 0.0
    for idx in torch.randperm(240).split(40):
        loss = ((model(x[idx]) - y[idx]) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() / 6
    if epoch % 2 == 0:
        print(f"epoch {epoch} mse {total:.4f}")

with torch.no_grad():
    print("held out", ((model(wave[240:]) - loud[240:]) ** 2).mean().item(), "variance", loud[240:].var().item())
""",
    ("    x = x.float()\n", "    x = x.half()\n"),
)

fault(
    "house prices",
    "(N,1) prediction against (N,) target broadcasts in the loss",
    ("broadcast",),
    (24,),
    """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)

# columns: area, rooms, age, distance (all standardised)
N = 600
X = torch.randn(N, 4)
price = 3.0 * X[:, 0] + 1.2 * X[:, 1] - 0.8 * X[:, 2] - 1.5 * X[:, 3]
price = price + 0.4 * X[:, 0] * X[:, 3] + 0.1 * torch.randn(N)

train = TensorDataset(X[:500], price[:500])
loader = DataLoader(train, batch_size=50, shuffle=True)

net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)

for epoch in range(20):
    running = 0.0
    for xb, yb in loader:
        optimizer.zero_grad()
        out = net(xb).squeeze(1)
        loss = ((out - yb) ** 2).mean()
        loss.backward()
        optimizer.step()
        running += loss.item() * len(xb)
    if epoch % 2 == 0:
        print("epoch", epoch, "mse", round(running / 500, 4))

net.eval()
with torch.no_grad():
    pred = net(X[500:])[:, 0]
    mse = criterion(pred, price[500:]).item()
    print("held out mse", round(mse, 4), "variance of target", round(price[500:].var().item(), 4))
""",
    ("        out = net(xb).squeeze(1)\n", "        out = net(xb)\n"),
)

fault(
    "sensor drift",
    "a constant column is divided by its std of 0, inputs become NaN",
    ("not finite",),
    (20,),
    """\
import torch
import torch.nn as nn
from torch.utils.data import TensorDataset, DataLoader

torch.manual_seed(9)


def load_sensors(n=400):
    temp = 20 + 5 * torch.randn(n)
    pressure = 1013 + 8 * torch.randn(n)
    firmware = torch.full((n,), 7.0)
    humidity = 50 + 12 * torch.randn(n)
    drift = 0.3 * (temp - 20) - 0.05 * (pressure - 1013) + 0.02 * (humidity - 50)
    return torch.stack([temp, pressure, firmware, humidity], 1), drift.unsqueeze(1)


raw, target = load_sensors()
mu = raw.mean(dim=0)
sigma = raw.std(dim=0)
features = (raw - mu) / (sigma + 1e-6)

ds = TensorDataset(features[:320], target[:320])
dl = DataLoader(ds, batch_size=32, shuffle=True)

model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
mse = nn.MSELoss()

for epoch in range(15):
    total = 0.0
    for xb, yb in dl:
        opt.zero_grad()
        loss = mse(model(xb), yb)
        loss.backward()
        opt.step()
        total += loss.item()
    print(f"[{epoch:02d}] train mse {total / len(dl):.5f}")

with torch.no_grad():
    print("valid mse", mse(model(features[320:]), target[320:]).item(), "var", target[320:].var().item())
""",
    ("features = (raw - mu) / (sigma + 1e-6)\n", "features = (raw - mu) / sigma\n"),
)

fault(
    "weather bn",
    "BatchNorm trained with batches of one sample",
    ("norm of one",),
    (8,),
    """\
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(12)

config = {
    "batch_size": 20,
    "lr": 0.01,
    "epochs": 12,
    "maps": 6,
}

# 1-d weather maps: 6 stations, 8 hours each; the target depends on the overall level
x = torch.randn(160, 1, 8) * 0.3 + torch.randn(160, 1, 1)
y = x.mean(dim=(1, 2)) * 2.0 + 0.5

net = nn.Sequential(
    nn.Conv1d(1, config["maps"], 3, padding=1),
    nn.BatchNorm1d(config["maps"]),
    nn.ReLU(),
    nn.Flatten(),
    nn.Linear(config["maps"] * 8, 1),
)

loader = DataLoader(TensorDataset(x[:120], y[:120]), batch_size=config["batch_size"], shuffle=True)
opt = torch.optim.Adam(net.parameters(), lr=config["lr"])
loss_fn = nn.MSELoss()

for epoch in range(config["epochs"]):
    net.train()
    acc = 0.0
    for xb, yb in loader:
        opt.zero_grad()
        loss = loss_fn(net(xb).squeeze(1), yb)
        loss.backward()
        opt.step()
        acc += loss.item() * len(xb)
    print(f"epoch {epoch}: {acc / 120:.4f}")

net.eval()
with torch.no_grad():
    print("test", loss_fn(net(x[120:]).squeeze(1), y[120:]).item(), "variance", y[120:].var().item())
""",
    ('    "batch_size": 20,\n', '    "batch_size": 1,\n'),
)

healthy(
    "curriculum",
    """\
import torch
import torch.nn as nn

torch.manual_seed(13)
net = nn.Sequential(nn.Linear(1, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh(), nn.Linear(48, 1))
opt = torch.optim.Adam(net.parameters(), lr=4e-3)


def f(x):
    return torch.sin(2 * x) * x


for step in range(450):
    reach = 1.0 + step // 150
    x = (torch.rand(64, 1) * 2 - 1) * reach
    loss = ((net(x) - f(x)) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 40 == 0 or step % 150 == 149:
        print(f"step {step} reach {reach} loss {loss.item():.5f}")

x = torch.linspace(-3, 3, 200).unsqueeze(1)
with torch.no_grad():
    print("test", ((net(x) - f(x)) ** 2).mean().item(), "variance", f(x).var().item())
""",
)

healthy(
    "frozen",
    """\
import torch
import torch.nn as nn

torch.manual_seed(2)


class RandomFeatures(nn.Module):
    def __init__(self, d, width):
        super().__init__()
        self.lift = nn.Linear(d, width)
        self.read = nn.Linear(width, 1)
        nn.init.normal_(self.lift.weight, std=1.0)
        nn.init.uniform_(self.lift.bias, 0, 6.28)
        for p in self.lift.parameters():
            p.requires_grad = False

    def forward(self, x):
        return self.read(torch.cos(self.lift(x)))


model = RandomFeatures(2, 128)
trainable = [p for p in model.parameters() if p.requires_grad]
opt = torch.optim.Adam(trainable, lr=0.02)

x = torch.rand(400, 2) * 4 - 2
y = torch.sin(x[:, :1]) * torch.cos(x[:, 1:])
xt = torch.rand(200, 2) * 4 - 2
yt = torch.sin(xt[:, :1]) * torch.cos(xt[:, 1:])

for epoch in range(120):
    loss = ((model(x) - y) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if epoch % 12 == 0:
        print("epoch", epoch, "loss", loss.item())
with torch.no_grad():
    print("test mse", ((model(xt) - yt) ** 2).mean().item(), "variance", yt.var().item())
""",
)

healthy(
    "mc dropout",
    """\
import torch
import torch.nn as nn

torch.manual_seed(14)
net = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.01)


def f(x):
    return x[:, :1] * 2 - x[:, 1:].abs()


for step in range(300):
    x = torch.randn(64, 2)
    loss = ((net(x) - f(x)) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 30 == 0:
        print("step", step, "loss", loss.item())

x = torch.randn(200, 2)
net.train()
with torch.no_grad():
    draws = torch.stack([net(x) for _ in range(50)])
print("mse of the mean", ((draws.mean(0) - f(x)) ** 2).mean().item())
print("spread", draws.std(0).mean().item(), "variance of target", f(x).var().item())
""",
)
